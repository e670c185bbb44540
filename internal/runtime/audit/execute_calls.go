package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"
	"sync"

	"lyceum/internal/agent"
	"lyceum/internal/blob"
	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"

	"github.com/go-json-experiment/json"
)

// recordedCall is what a ledger says of one computer call.
type recordedCall struct {
	seq   uint64
	actor string
	kind  string
	what  string

	// Of a command: how it began and ended, what it wrote and was given to read, the
	// home before and, if that changed, after, and the computer.
	run            *event.CliRun
	exit           *event.CliExit
	stdout, stderr strings.Builder
	stdin          []byte
	before, after  *event.TreeRef
	computer       *event.ComputerStarted
	// beside says that something else of the agent's ran at the same time that may
	// have changed files; fed, that it was given input while it ran; connected, that a
	// program of its computer connected to a host meanwhile.
	beside, fed, connected bool

	// server is the MCP server that a tool is of.
	server string

	// Of a call that a workshop answers: who can run it again, the call, and its result.
	shop   Repeater
	call   event.Event
	result *event.Event
}

// uncheckable says why a command is not worth running again, whatever would come of it.
func (c *recordedCall) uncheckable() string {
	switch {
	case strings.HasPrefix(c.run.Command, runtime.ShellPrefix):
		return "it is a person's"
	case c.exit == nil:
		return "it has not ended, as far as is known"
	case c.exit.End == "lost":
		return "it was interrupted, and how it ended is not known"
	case c.exit.End != "":
		return "it did not end by itself: " + c.exit.End
	case c.fed:
		return "it was given input while it ran"
	case c.connected:
		return "it connected to the network"
	}
	return ""
}

// excuses are what could make a command come out otherwise and is not recorded.
func (c *recordedCall) excuses() (out []string) {
	if c.beside {
		out = append(out, "others that change files ran beside it")
	}
	if c.exit.Met != "" {
		out = append(out, "it met the limit on "+c.exit.Met+" then")
	}
	return out
}

// callReader finds the computer calls in a quest's events.
type callReader struct {
	rt  *runtime.Runtime
	ctx context.Context
	s   *quest.State
	all []*recordedCall
	// open are commands that have not ended, by agent and id; results are calls that
	// wait for theirs.
	open    map[[2]string]*recordedCall
	results map[uint64]*recordedCall
	// stdins are what calls of exec give to their commands; writing are the open tool
	// calls of each agent that may change files; crowd are those that were not alone.
	stdins    map[uint64][]byte
	writing   map[string]map[uint64]bool
	crowd     map[uint64]bool
	computers map[event.Hash]*event.ComputerStarted
	last      map[string]*recordedCall
}

// recordedCalls are the computer calls of a quest, and its state at the end.
func recordedCalls(ctx context.Context, r *runtime.Runtime, name string) ([]*recordedCall, *quest.State, error) {
	x := &callReader{
		rt: r, ctx: ctx, open: map[[2]string]*recordedCall{}, results: map[uint64]*recordedCall{}, stdins: map[uint64][]byte{},
		writing: map[string]map[uint64]bool{}, crowd: map[uint64]bool{}, computers: map[event.Hash]*event.ComputerStarted{}, last: map[string]*recordedCall{},
	}
	for e, err := range r.Ledger.Read(ctx, name, 1) {
		if err != nil {
			return nil, nil, err
		}
		if x.s == nil {
			if x.s, err = quest.New(e, r.Societies); err != nil {
				return nil, nil, err
			}
		}
		if err := x.s.Fold(e); err != nil {
			return nil, nil, fmt.Errorf("event %d: %w", e.Seq, err)
		}
		if err := x.take(e); err != nil {
			return nil, nil, fmt.Errorf("event %d: %w", e.Seq, err)
		}
	}
	return x.all, x.s, nil
}

// take looks at an event after it is in the state.
func (x *callReader) take(e event.Event) error {
	switch b := e.Body.(type) {
	case *event.ToolCall:
		return x.used(e)
	case *event.ToolResult:
		delete(x.writing[e.Actor], b.Call)
	case *event.ToolAnswered:
		delete(x.writing[e.Actor], b.Call)
	case *event.QuestForked:
		// The calls that were open are asked again, by other seqs.
		clear(x.writing)
	case *event.ComputerStarted:
		x.computers[b.Fingerprint] = b
	default:
		x.asked(e)
		return x.command(e)
	}
	return nil
}

// asked notes calls that a workshop can run again, and their results.
func (x *callReader) asked(e event.Event) {
	if r, ok := e.Body.(event.Result); ok {
		if c := x.results[r.Answers()]; c != nil {
			c.result = &e
		}
		return
	}
	shop, ok := x.rt.Workshop(x.s.Rules).(Repeater)
	if !ok || !e.Type.Call() {
		return
	}
	if kind, what := shop.Recorded(x.s, e); kind != "" {
		x.add(e, &recordedCall{kind: kind, what: what, shop: shop, call: e})
	}
}

func (x *callReader) add(e event.Event, c *recordedCall) {
	c.seq, c.actor, c.what = e.Seq, e.Actor, runtime.AtMost(c.what, 200)
	x.all = append(x.all, c)
	x.results[e.Seq] = c
}

// command takes what happened in an agent's computer.
func (x *callReader) command(e event.Event) error {
	if x.s.Agent(e.Actor) == nil {
		return nil // what a server or a browser does depends on what it is told
	}
	switch b := e.Body.(type) {
	case *event.CliRun:
		c := &recordedCall{kind: "command", what: commandWords(b.Args.Text), run: b, stdin: x.stdins[b.Call], before: x.s.Agent(e.Actor).Tree, beside: x.crowd[b.Call]}
		for key, other := range x.open {
			if key[0] == e.Actor { // one that was started runs on
				c.beside, other.beside = true, true
			}
		}
		x.add(e, c)
		x.open[[2]string{e.Actor, b.Command}], x.last[e.Actor] = c, c
	case *event.CliStdout:
		return x.piece(e.Actor, b.Command, b.Text, func(c *recordedCall) *strings.Builder { return &c.stdout })
	case *event.CliStderr:
		return x.piece(e.Actor, b.Command, b.Text, func(c *recordedCall) *strings.Builder { return &c.stderr })
	case *event.CliExit:
		key := [2]string{e.Actor, b.Command}
		if c := x.open[key]; c != nil {
			c.exit, c.computer, c.beside = b, x.computers[b.Fingerprint], c.beside || x.crowd[b.Call]
			delete(x.open, key)
		}
	case *event.FileDiff:
		if c := x.last[e.Actor]; c != nil && b.Call == c.run.Call {
			c.after = &b.After
		}
	case *event.NetConnection:
		if b.Refused != "" {
			return nil
		}
		// It is told when it has ended, which may be after the command has.
		if c := x.last[e.Actor]; c != nil {
			c.connected = true
		}
		for key, c := range x.open {
			c.connected = c.connected || key[0] == e.Actor
		}
	}
	return nil
}

// piece keeps what a command wrote, as far as it is worth it: a long output is a blob.
func (x *callReader) piece(actor, command string, t event.Text, of func(*recordedCall) *strings.Builder) error {
	c := x.open[[2]string{actor, command}]
	if c == nil {
		return nil
	}
	text, err := agent.Read(t, func(ref event.Ref) ([]byte, error) { return x.rt.Blob(x.ctx, ref) })
	if b := of(c); b.Len() <= computer.MaxHead {
		b.WriteString(text)
	}
	return err
}

// used notes what a tool call means for the commands of its agent.
func (x *callReader) used(e event.Event) error {
	t, _ := x.rt.Tools.Lookup(e.Tool)
	if server, ok := strings.CutPrefix(x.s.Agent(e.Actor).Sources[e.Tool].Source, "mcp:"); ok {
		x.all = append(x.all, &recordedCall{seq: e.Seq, actor: e.Actor, kind: "server", what: e.Tool, server: server})
		t.Writes = true // it may have
	}
	if own := x.s.Own(e.Tool); own != nil {
		t.Writes = own.Step == quest.DeliveredTool && !own.Reads
	}
	if t.Writes {
		if x.writing[e.Actor] == nil {
			x.writing[e.Actor] = map[uint64]bool{}
		}
		for other := range x.writing[e.Actor] {
			x.crowd[other], x.crowd[e.Seq] = true, true
		}
		x.writing[e.Actor][e.Seq] = true
		for key, c := range x.open {
			c.beside = c.beside || key[0] == e.Actor
		}
	}
	if e.Tool != runtime.ExecTool && e.Tool != "write_input" {
		return nil
	}
	u, err := x.s.Agent(e.Actor).Use(e.Seq)
	if err != nil {
		return err
	}
	text, err := agent.Read(u.Args, func(ref event.Ref) ([]byte, error) { return x.rt.Blob(x.ctx, ref) })
	if err != nil {
		return err
	}
	var args struct {
		Stdin string `json:"stdin"`
		ID    string `json:"id"`
	}
	if json.Unmarshal([]byte(text), &args) != nil {
		return nil // the agent was told so
	}
	x.stdins[e.Seq] = []byte(args.Stdin)
	if c := x.open[[2]string{e.Actor, args.ID}]; c != nil && e.Tool != runtime.ExecTool {
		c.fed = true
	}
	return nil
}

// commandWords is a command for people, without the shell around it.
func commandWords(args string) string {
	var list []string
	if json.Unmarshal([]byte(args), &list) != nil {
		return args
	}
	if len(list) == 3 && list[0] == "sh" && list[1] == "-c" {
		return list[2]
	}
	return strings.Join(list, " ")
}

// passing is a store whose new blobs are not kept: of what is put whole, such as trees,
// it remembers the bytes, of streams the hash.
type passing struct {
	blob.Store
	mu  sync.Mutex
	put map[event.Hash][]byte
}

func (s *passing) Put(_ context.Context, data []byte) (event.Ref, error) {
	ref := event.RefOf(data)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.put == nil {
		s.put = map[event.Hash][]byte{}
	}
	s.put[ref.Hash] = bytes.Clone(data)
	return ref, nil
}

func (s *passing) Create(_ context.Context, in io.Reader) (event.Ref, error) {
	h := sha256.New()
	n, err := io.Copy(h, in)
	return event.Ref{Hash: event.Hash(h.Sum(nil)), Size: n}, err
}

func (s *passing) has(h event.Hash) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.put[h]
	return data, ok
}

func (s *passing) Get(ctx context.Context, h event.Hash) ([]byte, error) {
	if data, ok := s.has(h); ok {
		return data, nil
	}
	return s.Store.Get(ctx, h)
}

func (s *passing) Open(ctx context.Context, h event.Hash) (io.ReadCloser, error) {
	if data, ok := s.has(h); ok {
		return io.NopCloser(bytes.NewReader(data)), nil
	}
	return s.Store.Open(ctx, h)
}

func (s *passing) Has(ctx context.Context, h event.Hash) (bool, error) {
	if _, ok := s.has(h); ok {
		return true, nil
	}
	return s.Store.Has(ctx, h)
}
