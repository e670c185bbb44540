package api

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/media"
	"lyceum/internal/view"
)

// message is an entry of a transcript.
type message struct {
	Number   int        `json:"number"`
	Seq      uint64     `json:"seq"`
	Time     event.Time `json:"time"`
	Role     string     `json:"role"`
	From     string     `json:"from"`
	Parts    []part     `json:"parts"`
	Usage    *usage     `json:"usage,omitempty"`
	Cost     *view.USD  `json:"cost_usd,omitempty"`
	Duration int64      `json:"duration_us,omitempty"`
	Error    string     `json:"error,omitempty"`
}

type usage struct {
	Input    int64 `json:"input"`
	Cached   int64 `json:"cached"`
	Output   int64 `json:"output"`
	Thinking int64 `json:"thinking"`
}

// part is a piece of a message. Long texts are cut, and behind Ref whole.
type part struct {
	Kind      string     `json:"kind"`
	Text      string     `json:"text,omitempty"`
	Ref       *event.Ref `json:"ref,omitempty"`
	ID        string     `json:"id,omitempty"`
	Tool      string     `json:"tool,omitempty"`
	Args      string     `json:"args,omitempty"`
	Call      uint64     `json:"call,omitempty"`
	Done      bool       `json:"done,omitempty"`
	Output    string     `json:"output,omitempty"`
	OutputRef *event.Ref `json:"output_ref,omitempty"`
	OutputSeq uint64     `json:"output_seq,omitempty"`
	Failed    bool       `json:"failed,omitempty"`
	Duration  int64      `json:"duration_us,omitempty"`
	// Attachments came with the text, or with the result of the call.
	Attachments []attachedFile `json:"attachments,omitempty"`
}

// attachedFile is a file that came with something. Picture says that its blob can be shown
// as one.
type attachedFile struct {
	Media   string    `json:"media"`
	Name    string    `json:"name,omitempty"`
	Ref     event.Ref `json:"ref"`
	Picture bool      `json:"picture,omitempty"`
}

func attachedFiles(list []event.Attachment) (out []attachedFile) {
	for _, a := range list {
		out = append(out, attachedFile{a.Media, a.Name, a.Ref, media.Showable(a.Media, a.Ref.Size)})
	}
	return out
}

// maxShown is how many bytes of a text a page shows.
const maxShown = 64 << 10

// show returns a text up to what a page shows of it, and where it is whole if that is
// more.
func (s *Server) show(ctx context.Context, t event.Text) (string, *event.Ref, error) {
	if t.Ref == nil {
		return t.Text, nil, nil
	}
	if t.Ref.Size > 16*maxShown && t.Text != "" {
		return t.Text, t.Ref, nil // what it begins with is there
	}
	data, err := s.rt.Blob(ctx, *t.Ref)
	if err != nil {
		return "", nil, err
	}
	return strings.ToValidUTF8(event.Cut(string(data), maxShown), "\uFFFD"), t.Ref, nil
}

// window reads which of n things are wanted: from and to, to not included.
func window(p *params, n, most, otherwise int64) (from, to int64) {
	after, before := p.number("after", -1, maxSeq, -1), p.number("before", 0, maxSeq, n)
	limit, tail := p.number("limit", 1, most, otherwise), p.number("tail", 1, most, 0)
	to = min(before, n)
	from = min(after+1, to)
	switch {
	case tail > 0:
		from = max(n-tail, 0)
		to = n
	case p.values.Has("before") && !p.values.Has("after"):
		from = max(to-limit, 0)
	default:
		to = min(to, from+limit)
	}
	return from, to
}

func (s *Server) transcript(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r)
	window(p, 0, 500, 50) // a fault is told before the quest is looked for
	if err := p.done(); err != nil {
		return err
	}
	b, a, done, err := s.openAgent(r)
	if err != nil {
		return err
	}
	all := b.Desks.Agent(a.Name).Entries
	total := int64(len(all))
	from, to := window(p, total, 500, 50)
	entries := append([]view.Entry{}, all[from:to]...)
	name, model := b.name, cmp.Or(a.Executor, a.Model)
	var seqs []uint64
	for i := range entries {
		entries[i].Uses = append([]view.Use{}, entries[i].Uses...)
		seqs = append(seqs, entries[i].Seq)
		for _, u := range entries[i].Uses {
			if u.Result > 0 {
				seqs = append(seqs, u.Result)
			}
		}
	}
	done() // reading texts takes its time, and others want the book
	events, err := s.some(r.Context(), name, seqs)
	if err != nil {
		return err
	}
	out := struct {
		Messages []message `json:"messages"`
		Total    int       `json:"total"`
		Next     *int64    `json:"next,omitempty"`
		Previous *int64    `json:"previous,omitempty"`
	}{Messages: []message{}, Total: int(total)}
	for i, entry := range entries {
		m, err := s.message(r.Context(), events, model, entry)
		if err != nil {
			return err
		}
		m.Number = int(from) + i
		out.Messages = append(out.Messages, *m)
	}
	if to < total {
		out.Next = new(to - 1)
	}
	if from > 0 {
		out.Previous = &from
	}
	return s.send(w, http.StatusOK, out)
}

// message makes a message of an entry of a transcript and the events that it names.
func (s *Server) message(ctx context.Context, events map[uint64]event.Event, model string, at view.Entry) (_ *message, err error) {
	e := events[at.Seq]
	m := &message{Seq: e.Seq, Time: e.Time, Role: "user", From: "rules", Parts: []part{}}
	if at.Said {
		m.Role, m.From = "assistant", model
		if b, ok := e.Body.(*event.ModelResult); ok {
			return m, s.answer(ctx, events, m, b, at.Uses)
		}
		return m, s.outsider(ctx, events, m, e, at.Uses)
	}
	var text event.Text
	p := part{Kind: "text"}
	switch b := e.Body.(type) {
	case *event.QuestCreated:
		m.From, text = "person", b.Problem
	case *event.UserMessage:
		m.From, text, p.Attachments = "person", b.Text, attachedFiles(b.Attachments)
	case *event.MessageSent:
		text = b.Text
		if b.Performative != "" {
			m.From = e.Actor
		}
	case *event.AdvisorySent:
		text = b.Text
	case *event.StandingShown:
		text = b.Text
	case *event.GuidanceShown:
		text = b.Text
	}
	p.Text, p.Ref, err = s.show(ctx, text)
	m.Parts = append(m.Parts, p)
	return m, err
}

// answer fills in what a model said, and what came of its tool calls.
func (s *Server) answer(ctx context.Context, events map[uint64]event.Event, m *message, b *event.ModelResult, uses []view.Use) (err error) {
	m.Duration = b.Duration
	m.Usage = &usage{b.Usage.Input, b.Usage.Cached, b.Usage.Output, b.Usage.Thinking}
	if !b.Unpriced {
		m.Cost = new(view.USD(b.Cost))
	}
	if b.Error != nil {
		m.Error = b.Error.Text
	}
	for i, said := range b.Parts {
		p := part{Kind: said.Kind, ID: said.ID, Tool: said.Name}
		if said.Text != nil {
			if p.Text, p.Ref, err = s.show(ctx, *said.Text); err != nil {
				return err
			}
		}
		if said.Args != nil {
			if p.Args, p.Ref, err = s.show(ctx, *said.Args); err != nil {
				return err
			}
		}
		for _, u := range uses {
			if u.Part == int64(i) && said.Kind == event.PartToolCall {
				if err := s.outcome(ctx, events, &p, u); err != nil {
					return err
				}
			}
		}
		m.Parts = append(m.Parts, p)
	}
	return nil
}

// outsider fills in what an executor said or did, by its word or as it was proposed.
func (s *Server) outsider(ctx context.Context, events map[uint64]event.Event, m *message, e event.Event, uses []view.Use) (err error) {
	text := func(kind string, t event.Text) {
		if t.Text == "" && t.Ref == nil || err != nil {
			return
		}
		p := part{Kind: kind}
		p.Text, p.Ref, err = s.show(ctx, t)
		m.Parts = append(m.Parts, p)
	}
	switch b := e.Body.(type) {
	case *event.SaidReported:
		kind := event.PartText
		if b.Thought {
			kind = event.PartThinking
		}
		text(kind, b.Text)
	case *event.PromptResult:
		text(event.PartThinking, b.Thought)
		text(event.PartText, b.Text)
		m.Duration, m.Error = b.Duration, b.Error.Text
	case *event.ToolProposed:
		p := part{Kind: event.PartToolCall, ID: b.ID, Tool: b.Name}
		if p.Args, p.Ref, err = s.show(ctx, b.Args); err != nil {
			return err
		}
		for _, u := range uses {
			if err := s.outcome(ctx, events, &p, u); err != nil {
				return err
			}
		}
		m.Parts = append(m.Parts, p)
	case *event.ToolReported:
		p := part{Kind: event.PartToolCall, ID: b.ID, Call: e.Seq}
		for _, u := range uses {
			if last, ok := events[u.Result].Body.(*event.ToolReported); ok {
				b, p.Done, p.OutputSeq, p.Failed = last, true, u.Result, last.Status == "failed"
			}
		}
		p.Tool = cmp.Or(b.Title.Text, b.Kind, "call")
		if p.Args, p.Ref, err = s.show(ctx, b.Input); err != nil {
			return err
		}
		p.Output, p.OutputRef, err = s.show(ctx, b.Output)
		m.Parts = append(m.Parts, p)
	}
	return err
}

// outcome fills in the result of a tool call.
func (s *Server) outcome(ctx context.Context, events map[uint64]event.Event, p *part, u view.Use) (err error) {
	p.Call = u.Call
	if u.Result == 0 {
		return nil
	}
	e := events[u.Result]
	p.Done, p.OutputSeq = true, e.Seq
	switch b := e.Body.(type) {
	case *event.ToolResult:
		p.Failed, p.Duration, p.Attachments = b.Error, b.Duration, attachedFiles(b.Attachments)
		p.Output, p.OutputRef, err = s.show(ctx, b.Output)
	case *event.ToolAnswered:
		p.Failed, p.Attachments = b.Error, attachedFiles(b.Attachments)
		p.Output, p.OutputRef, err = s.show(ctx, b.Output)
	}
	return err
}

// line is something that happened in a computer.
type line struct {
	Seq     uint64     `json:"seq"`
	Time    event.Time `json:"time"`
	Kind    string     `json:"kind"`
	Command string     `json:"command,omitempty"`
	Text    string     `json:"text"`
	Ref     *event.Ref `json:"ref,omitempty"`
	Exit    *int64     `json:"exit,omitempty"`
	Call    uint64     `json:"call,omitempty"`
}

func (s *Server) terminal(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r)
	after := uint64(p.number("after", 0, maxSeq, 0))
	limit, tail := int(p.number("limit", 1, 2000, 500)), int(p.number("tail", 1, 2000, 0))
	if err := p.done(); err != nil {
		return err
	}
	b, a, done, err := s.openAgent(r)
	if err != nil {
		return err
	}
	log := b.Desks.Agent(a.Name).Log
	first, _ := slices.BinarySearch(log, after+1)
	log = append([]uint64{}, log[first:]...)
	name := b.name
	done()
	if tail > 0 {
		log = log[max(len(log)-tail, 0):]
	}
	out := struct {
		Lines []line  `json:"lines"`
		Next  *uint64 `json:"next,omitempty"`
	}{Lines: []line{}}
	shown := log[:min(len(log), max(limit, tail))]
	events, err := s.some(r.Context(), name, slices.Clone(shown))
	if err != nil {
		return err
	}
	for _, seq := range shown {
		l, err := s.line(r.Context(), events[seq])
		if err != nil {
			return err
		}
		out.Lines = append(out.Lines, *l)
	}
	if n := len(out.Lines); n < len(log) {
		out.Next = &out.Lines[n-1].Seq
	}
	return s.send(w, http.StatusOK, out)
}

func (s *Server) line(ctx context.Context, e event.Event) (*line, error) {
	l := &line{Seq: e.Seq, Time: e.Time}
	var err error
	switch b := e.Body.(type) {
	case *event.ComputerStarted:
		l.Kind, l.Text = "start", fmt.Sprintf("%s, %s, %s", b.Driver, b.Arch, b.Kernel)
	case *event.CliRun:
		l.Kind, l.Command, l.Call = "run", b.Command, b.Call
		if l.Text, l.Ref, err = s.show(ctx, b.Args); err == nil {
			l.Text = commandLine(l.Text)
		}
	case *event.CliStdout:
		l.Kind, l.Command, l.Call = "stdout", b.Command, b.Call
		l.Text, l.Ref, err = s.show(ctx, b.Text)
	case *event.CliStderr:
		l.Kind, l.Command, l.Call = "stderr", b.Command, b.Call
		l.Text, l.Ref, err = s.show(ctx, b.Text)
	case *event.CliExit:
		l.Kind, l.Command, l.Call, l.Exit, l.Text = "exit", b.Command, b.Call, &b.Exit, b.End
		if b.Stdout.Ref != nil {
			l.Ref = b.Stdout.Ref
		}
	case *event.FileDiff:
		l.Kind, l.Call = "files", b.Call
		var names []string
		for _, c := range b.Changes {
			names = append(names, c.Kind+" "+c.Path)
		}
		l.Text = strings.Join(names, "\n")
	case *event.NetConnection:
		l.Kind, l.Text = "net", fmt.Sprintf("%s:%d", b.Host, b.Port)
		if b.Refused != "" {
			l.Text += " refused: " + b.Refused
		}
	}
	return l, err
}

// commandLine is a JSON array of arguments as a person would type it. What a shell is
// given to run is what an agent typed; that there is a shell goes without saying.
func commandLine(args string) string {
	var words []string
	if json.Unmarshal([]byte(args), &words) != nil {
		return args
	}
	if len(words) == 3 && words[0] == "sh" && words[1] == "-c" {
		return words[2]
	}
	return strings.Join(words, " ")
}
