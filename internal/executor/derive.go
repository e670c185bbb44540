package executor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"lyceum/internal/acp/wire"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/workspace"
)

// The methods of the protocol that are spoken.
const (
	methodInitialize   = "initialize"
	methodAuthenticate = "authenticate"
	methodNew          = "session/new"
	methodLoad         = "session/load"
	methodResume       = "session/resume"
	methodMode         = "session/set_mode"
	methodOption       = "session/set_config_option"
	methodPrompt       = "session/prompt"
	methodCancel       = "session/cancel"
	methodUpdate       = "session/update"
	methodPermission   = "session/request_permission"
	methodRead         = "fs/read_text_file"
	methodWrite        = "fs/write_text_file"
	methodTakenBack    = "$/cancel_request"
	terminalMethods    = "terminal/"
)

// Bounds of what is taken from an agent's words into events.
const (
	maxName    = 200
	maxOptions = 16
	maxPaths   = 20
	maxPath    = 500
	maxPlan    = 50
	maxStep    = 500
)

// errNoAnswer is why a prompt is over that was not answered.
var errNoAnswer = errors.New("the agent did not answer the prompt")

// Derive tells what the frames of a prompt say: what was reported and asked, in order, and what
// came of it. It is what was told when they came.
func Derive(frames []byte) ([]event.Body, Turn, error) {
	var d deriver
	var out []event.Body
	for len(frames) > 0 {
		line, rest, ok := bytes.Cut(frames, []byte{'\n'})
		if !ok {
			return nil, Turn{}, io.ErrUnexpectedEOF
		}
		frames = rest
		who, at, text, err := parseFrame(line)
		if err != nil {
			return nil, Turn{}, err
		}
		if who == '>' {
			out = append(out, d.sent(parseSent(text))...)
		} else {
			bodies, _ := d.received(at, wire.Parse(text))
			out = append(out, bodies...)
		}
	}
	t, err := d.turn()
	return out, t, err
}

// deriver follows a conversation. It looks at nothing but lines, so that the same lines always
// give the same events.
type deriver struct {
	// seq is the number of the last prompt, session the one it was said in.
	seq     uint64
	session string
	// open says that it has no answer; cancelled that the agent was told to stop.
	open, cancelled bool
	words           [2]words // what was said, and what to itself, since the last call
	last            int64    // the place of the last line of the agent's
	calls           map[string]*call
	stop            string
	err             error
}

// words are what was said, the last of it at a place.
type words struct {
	text []byte
	at   int64
}

// call is a call that the agent makes itself, as far as it was told.
type call struct {
	title, kind, input, output string
	paths                      []string
	status                     string
	over                       bool
}

// promptID is the id of the request that says a prompt.
func promptID(seq uint64) string { return "p" + strconv.FormatUint(seq, 10) }

// sent takes a line of ours. What a process had said that did not come to an answer, is told
// before another is asked the same.
func (d *deriver) sent(s sent) (out []event.Body) {
	switch s.method {
	case methodPrompt:
		seq, _ := strconv.ParseUint(strings.TrimPrefix(s.id, "p"), 10, 64)
		if d.open && d.seq == seq {
			out = d.rest()
		}
		*d = deriver{seq: seq, session: s.session, open: true, calls: map[string]*call{}}
	case methodCancel:
		d.cancelled = d.cancelled || d.open
	}
	return out
}

// live is what was just said, for whoever looks on.
type live struct{ kind, text string }

// received takes a line of the agent's, which ends at a place.
func (d *deriver) received(at int64, m wire.Message) ([]event.Body, live) {
	d.last = at
	switch {
	case !d.open || m.Fault != "":
	case m.Method == methodUpdate && m.ID == nil:
		return d.update(at, m.Params)
	case m.Method == methodPermission && m.ID != nil:
		return d.permission(at, m.Params), live{}
	case m.Method == "" && string(m.ID) == strconv.Quote(promptID(d.seq)):
		d.answered(m)
	}
	return nil, live{}
}

func (d *deriver) answered(m wire.Message) {
	d.open = false
	if m.Err != nil {
		d.err = fmt.Errorf("the agent answered the prompt with an error: %s (code %d)", plain.Line(plain.Cut(m.Err.Message, 2000)), m.Err.Code)
		return
	}
	var r struct {
		StopReason string `json:"stopReason"`
	}
	err := json.Unmarshal(m.Result, &r)
	switch r.StopReason {
	case "end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled":
		d.stop = r.StopReason
	default:
		d.err = errors.Join(fmt.Errorf("the agent answered the prompt, and does not say why it stopped: %q is no reason", plain.Cut(r.StopReason, 50)), err)
	}
}

// turn is what came of the prompt.
func (d *deriver) turn() (Turn, error) {
	t := Turn{Stop: d.stop, Text: string(d.words[0].text), Thought: string(d.words[1].text)}
	if d.cancelled {
		t.Stop = event.StopInterrupted
		return t, nil
	}
	if d.open || d.seq == 0 && d.stop == "" {
		return t, errNoAnswer
	}
	return t, d.err
}

// said is what was said so far, as events of their own: something else comes after it, in a line
// that ends at a place. Words have places of their own in that line, in front of it: behind all
// that was told before, and never that of another event.
func (d *deriver) said(at int64) (out []event.Body) {
	order := []int{0, 1}
	if d.words[1].at < d.words[0].at {
		order = []int{1, 0}
	}
	for i, which := range order {
		if w := d.words[which]; len(w.text) > 0 {
			out = append(out, &event.SaidReported{At: at - 2 + int64(i), Prompt: d.seq, Text: event.Text{Text: string(w.text)}, Thought: which == 1})
		}
	}
	d.words = [2]words{}
	return out
}

// rest is what a process said that will not say more, behind its last line.
func (d *deriver) rest() []event.Body { return d.said(d.last + 3) }

// block is a piece of content. All of its members may be missing.
type block struct {
	Type string `json:"type"`
	Text string `json:"text"`
	// Content is that of a piece of a call, Path that of a change.
	Content *block `json:"content"`
	Path    string `json:"path"`
	URI     string `json:"uri"`
}

func (b *block) words() string {
	switch {
	case b == nil:
		return ""
	case b.Type == "text":
		return b.Text
	case b.Type == "content":
		return b.Content.words()
	case b.Type == "diff":
		return "changed " + plain.Cut(b.Path, maxPath)
	case b.Type == "terminal":
		return "" // what it wrote is told elsewhere
	case b.Type == "resource_link":
		return plain.Cut(b.URI, maxPath)
	case b.Type == "":
		return ""
	}
	return "[" + plain.Cut(b.Type, 50) + "]"
}

// toolCall is what is said of a call, in an update or a request. What is missing stays as it
// was.
type toolCall struct {
	ID        string          `json:"toolCallId"`
	Title     *string         `json:"title"`
	Kind      *string         `json:"kind"`
	Status    *string         `json:"status"`
	Content   *[]block        `json:"content"`
	Input     json.RawMessage `json:"rawInput"`
	Output    json.RawMessage `json:"rawOutput"`
	Locations *[]struct {
		Path string `json:"path"`
	} `json:"locations"`
}

// update takes a session/update. One that nobody knows is left alone.
func (d *deriver) update(at int64, params []byte) ([]event.Body, live) {
	var n struct {
		SessionID string          `json:"sessionId"`
		Update    json.RawMessage `json:"update"`
	}
	var kind struct {
		Kind string `json:"sessionUpdate"`
	}
	if json.Unmarshal(params, &n) != nil || n.SessionID != d.session || json.Unmarshal(n.Update, &kind) != nil {
		return nil, live{}
	}
	switch kind.Kind {
	case "agent_message_chunk", "agent_thought_chunk":
		var u struct {
			Content *block `json:"content"`
		}
		if json.Unmarshal(n.Update, &u) != nil {
			return nil, live{}
		}
		which, name := 0, "text"
		if kind.Kind == "agent_thought_chunk" {
			which, name = 1, "thought"
		}
		text := u.Content.words()
		if text == "" {
			return nil, live{}
		}
		d.words[which].text = append(d.words[which].text, text...)
		d.words[which].at = at
		return nil, live{name, text}
	case "tool_call", "tool_call_update":
		var u toolCall
		if json.Unmarshal(n.Update, &u) != nil {
			return nil, live{}
		}
		return d.call(at, u), live{}
	case "plan":
		var u struct {
			Entries []struct{ Content, Priority, Status string } `json:"entries"`
		}
		if json.Unmarshal(n.Update, &u) != nil {
			return nil, live{}
		}
		b := &event.PlanReported{At: at, Prompt: d.seq, More: int64(max(0, len(u.Entries)-maxPlan)), Entries: []event.PlanEntry{}}
		for _, e := range u.Entries[:min(len(u.Entries), maxPlan)] {
			b.Entries = append(b.Entries, event.PlanEntry{
				Priority: oneOf(e.Priority, "", "high", "medium", "low"),
				Status:   oneOf(e.Status, "pending", "pending", "in_progress", "completed"), Text: plain.Cut(e.Content, maxStep),
			})
		}
		return []event.Body{b}, live{}
	}
	return nil, live{}
}

func oneOf(s, otherwise string, known ...string) string {
	if slices.Contains(known, s) {
		return s
	}
	return otherwise
}

// upsert takes in what is said of a call, and reports whether it is a new one.
func (d *deriver) upsert(u toolCall) (c *call, fresh bool) {
	c = d.calls[u.ID]
	if fresh = c == nil; fresh {
		c = &call{}
		d.calls[u.ID] = c
	}
	if c.over {
		return c, false
	}
	if u.Title != nil {
		c.title = *u.Title
	}
	if u.Kind != nil {
		c.kind = oneOf(*u.Kind, "other", event.CallKinds...)
	}
	if u.Status != nil {
		c.status = oneOf(*u.Status, c.status, "pending", "in_progress", "completed", "failed")
	}
	if s := rawText(u.Input); s != "" {
		c.input = s
	}
	if u.Locations != nil {
		for _, l := range *u.Locations {
			c.touches(l.Path)
		}
	}
	if u.Content != nil {
		var out []string
		for _, b := range *u.Content {
			if b.Type == "diff" {
				c.touches(b.Path)
			}
			if s := b.words(); s != "" {
				out = append(out, s)
			}
		}
		c.output = strings.Join(out, "\n")
	}
	if s := rawText(u.Output); s != "" && c.output == "" {
		c.output = s
	}
	return c, fresh
}

// touches notes a path that a call is about.
func (c *call) touches(p string) {
	if p = InHome(p); p != "" && len(p) <= maxPath && len(c.paths) < maxPaths && !slices.Contains(c.paths, p) {
		c.paths = append(c.paths, p)
	}
}

// InHome is what a path of an agent's is called in its home, or the path from the root on if
// that is elsewhere.
func InHome(p string) string {
	if p == "" {
		return ""
	}
	if name, err := workspace.Path(p); err == nil {
		return name
	}
	if !path.IsAbs(p) {
		p = path.Join(workspace.Home, p)
	}
	return path.Clean(p)
}

// rawText is JSON that an agent gives as it is; a text stands for itself.
func rawText(raw json.RawMessage) string {
	var s string
	switch text := string(raw); {
	case text == "" || text == "null" || text == "{}":
		return ""
	case text[0] == '"' && json.Unmarshal(raw, &s) == nil:
		return s
	}
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return ""
	}
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// call takes what is said of a call: it is told when it begins and when it is over.
func (d *deriver) call(at int64, u toolCall) (out []event.Body) {
	if u.ID == "" {
		return nil
	}
	c, fresh := d.upsert(u)
	if c.over {
		return nil
	}
	if fresh {
		out = d.said(at)
	}
	over := c.status == "completed" || c.status == "failed"
	if !fresh && !over {
		return nil
	}
	b := &event.ToolReported{
		At: at, ID: plain.Cut(u.ID, maxName), Kind: c.kind, Paths: slices.Clone(c.paths), Prompt: d.seq, Status: c.status,
		Input: event.Text{Text: c.input}, Title: event.Text{Text: c.title},
	}
	if b.Status == "" {
		b.Status = "pending"
	}
	if over {
		b.Output.Text = c.output
		*c = call{over: true}
	}
	return append(out, b)
}

// permission takes a session/request_permission. A call that nobody has heard of begins with it.
// After the agent was told to stop it is not asked for any more.
func (d *deriver) permission(at int64, params []byte) []event.Body {
	var r struct {
		ToolCall toolCall `json:"toolCall"`
		Options  []struct {
			ID   string `json:"optionId"`
			Kind string `json:"kind"`
			Name string `json:"name"`
		} `json:"options"`
	}
	if json.Unmarshal(params, &r) != nil || d.cancelled || r.ToolCall.ID == "" {
		return nil
	}
	known := d.calls[r.ToolCall.ID]
	var out []event.Body
	if known == nil {
		out = d.call(at, r.ToolCall)
	}
	c, _ := d.upsert(r.ToolCall)
	b := &event.PermissionAsked{
		At: at, ID: "r" + strconv.FormatInt(at, 10), Input: event.Text{Text: c.input}, Kind: c.kind, Paths: slices.Clone(c.paths), Prompt: d.seq,
		Title: event.Text{Text: c.title}, Tool: plain.Cut(r.ToolCall.ID, maxName), Options: []event.PermissionOption{},
	}
	if b.Input.Text == "" {
		b.Input.Text = c.output
	}
	for _, o := range r.Options {
		if k := oneOf(o.Kind, "", "allow_once", "allow_always", "reject_once", "reject_always"); k != "" && len(o.ID) <= maxName && len(b.Options) < maxOptions {
			b.Options = append(b.Options, event.PermissionOption{ID: o.ID, Kind: k, Name: plain.Cut(o.Name, maxName)})
		}
	}
	return append(out, b)
}

// placeOf is where what is reported stands.
func placeOf(b event.Body) int64 {
	if r, ok := b.(event.Report); ok {
		_, at := r.Reported()
		return at
	}
	return math.MaxInt64
}
