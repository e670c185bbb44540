package policy

import (
	"fmt"
	"strconv"
	"strings"

	"lyceum/internal/behavior"
	"lyceum/internal/event"

	"github.com/go-json-experiment/json"
)

// Facts are what is known of a proposal or of something that has happened. The
// names in Field are the words that policies use.
type Facts struct {
	Agent string
	Tool  string
	// Model is the one that is asked, of a model call or a request to the gateway.
	Model string
	// Source is where the tool comes from, empty for Lyceum's own; Trust is own, trusted
	// or stranger.
	Source, Trust string
	// To is who a message is for, Text what was said. Hidden says that it is too
	// long to be seen.
	To     string
	Text   string
	Hidden bool
	// Call is the seq of the tool.call, once it has been made.
	Call uint64
	// Args and Output are those of a tool call. Paths are the arguments that are paths of
	// the workspace; nil means that the tool has not said which are.
	Args   *Args
	Paths  []string
	Output *event.Text
	// Outcome is how the call went, an object in JSON, if the tool tells it.
	Outcome string
	// Named are further paths that it is about, as whoever wants it says.
	Named []string
	// Attached is what the tool gave besides: two results are the same only if this is.
	Attached []event.Attachment
	// Ended says that a result is there; Error, that it is a failure; Changed,
	// that the call has changed the agent's files.
	Ended, Error, Changed bool
	// Stop is why a model ended its answer, Calls how many tools it calls for in it.
	Stop  string
	Calls int64
	// Refused is the type of proposal that was blocked.
	Refused event.Type
	Turn    int64
	// Ref is the paper that it is about; Author and Status are that paper's, as they
	// are before it happens. Asked are the papers that the agent is to review.
	Ref, Author, Status string
	Asked               []string
	// Lacks are the policies of a study whose wants a move does not meet.
	Lacks []string
	// Again says that the call has had its effect already, before a fork: all that
	// is left is to tell the agent.
	Again bool
	// Spent is what the quest and the agent have used; Over is the limit that is
	// reached, if one is.
	Spent, AgentSpent Spent
	Over              *Over
	// Allowed says that a person was asked about the proposal and lets it pass. Policies
	// do not see it.
	Allowed bool
}

// Spent is what has been used so far.
type Spent struct{ Cost, Turns, Tokens, Duration, Storage int64 }

// Over is a limit that is reached.
type Over struct {
	// Of is quest or agent, Limit cost, turns, tokens, duration or storage.
	Of, Limit string
	Max, Used int64
	// Next is what the next call can use at most, if there is something left, but less
	// than that.
	Next int64
}

// Figures say how much of the limit is used.
func (o *Over) Figures() string {
	text := fmt.Sprintf("%s of %s", Amount(o.Limit, o.Used), Amount(o.Limit, o.Max))
	if o.Limit == "storage" {
		text += " of storage"
	}
	if o.Next > 0 {
		text += ", and the next call can use " + Amount(o.Limit, o.Next)
	}
	return text
}

var _ behavior.Detail = (*Facts)(nil)

// Role is what an agent's name says it is: executor-1 is an executor.
func Role(name string) string {
	if i := strings.LastIndexByte(name, '-'); i > 0 && strings.Trim(name[i+1:], "0123456789") == "" {
		return name[:i]
	}
	return name
}

// Field implements behavior.Detail.
func (f *Facts) Field(path []string) behavior.Value {
	if len(path) == 0 {
		return behavior.Value{Kind: behavior.Object}
	}
	switch path[0] {
	case "args":
		return f.Args.field(path[1:])
	case "output":
		return f.output(path[1:])
	case "spent":
		return f.Spent.field(path[1:])
	case "agent_spent":
		return f.AgentSpent.field(path[1:])
	case "over":
		return f.Over.field(path[1:])
	}
	if len(path) > 1 {
		return behavior.Value{}
	}
	switch path[0] {
	case "agent":
		return text(f.Agent)
	case "role":
		return text(Role(f.Agent))
	case "tool":
		return text(f.Tool)
	case "model":
		return text(f.Model)
	case "source":
		return text(f.Source)
	case "trust":
		return text(f.Trust)
	case "to":
		return text(f.To)
	case "text":
		if f.Hidden {
			return behavior.Value{Kind: behavior.Unknown}
		}
		return text(f.Text)
	case "ref":
		return text(f.Ref)
	case "author":
		return text(f.Author)
	case "status":
		return text(f.Status)
	case "proposal":
		return text(string(f.Refused))
	case "error":
		if f.Ended {
			return behavior.BoolValue(f.Error)
		}
	case "changed":
		if f.Ended {
			return behavior.BoolValue(f.Changed)
		}
	case "stop":
		return text(f.Stop)
	case "calls":
		if f.Stop != "" {
			return number(f.Calls)
		}
	case "turn":
		return number(f.Turn)
	}
	return behavior.Value{}
}

// Fields are the names that Field knows.
var Fields = []string{"agent", "role", "tool", "model", "source", "trust", "to", "text", "proposal", "error", "changed", "stop", "calls", "turn", "ref", "author", "status", "args", "output", "spent", "agent_spent", "over"}

func text(s string) behavior.Value {
	if s == "" {
		return behavior.Value{}
	}
	return behavior.TextValue(s)
}

func number(n int64) behavior.Value {
	return behavior.Value{Kind: behavior.Number, Text: strconv.FormatInt(n, 10)}
}

// field returns one of the sums: cost in dollars, duration in seconds, storage in bytes.
func (s Spent) field(path []string) behavior.Value {
	if len(path) != 1 {
		return behavior.Value{}
	}
	switch path[0] {
	case "cost":
		return behavior.Value{Kind: behavior.Number, Text: fixed(s.Cost, 9)}
	case "duration":
		return behavior.Value{Kind: behavior.Number, Text: fixed(s.Duration, 6)}
	case "storage":
		return behavior.Value{Kind: behavior.Number, Text: strconv.FormatInt(s.Storage, 10)}
	case "turns":
		return number(s.Turns)
	case "tokens":
		return number(s.Tokens)
	}
	return behavior.Value{}
}

// fixed writes n × 10^-places as a decimal number.
func fixed(n int64, places int) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	if len(s) <= places {
		s = strings.Repeat("0", places-len(s)+1) + s
	}
	return sign + s[:len(s)-places] + "." + s[len(s)-places:]
}

func (o *Over) field(path []string) behavior.Value {
	if o == nil || len(path) != 1 {
		return behavior.Value{}
	}
	switch path[0] {
	case "of":
		return text(o.Of)
	case "limit":
		return text(o.Limit)
	}
	return behavior.Value{}
}

// output is what a tool put out: a text, and the members of its outcome; if the text is JSON
// also its members. What is not whole here cannot be read.
func (f *Facts) output(path []string) behavior.Value {
	if f.Output == nil {
		return behavior.Value{}
	}
	if f.Outcome != "" && len(path) > 0 {
		if d, err := behavior.JSONDetail(f.Outcome); err == nil {
			if v := d.Field(path); v.Kind != behavior.Missing {
				return v
			}
		}
	}
	if f.Output.Ref != nil {
		return behavior.Value{Kind: behavior.Unknown}
	}
	if len(path) == 0 {
		return behavior.TextValue(f.Output.Text)
	}
	d, err := behavior.JSONDetail(f.Output.Text)
	if err != nil {
		return behavior.Value{}
	}
	return d.Field(path)
}

// rawOutput is what a tool put out as one text, for comparing.
func rawOutput(f *Facts) string {
	out := outputOf(f)
	for _, a := range f.Attached {
		out += "\n" + a.Ref.Hash.String()
	}
	return out
}

func outputOf(f *Facts) string {
	switch {
	case f.Output == nil:
		return ""
	case f.Output.Ref != nil:
		return f.Output.Ref.Hash.String()
	}
	return f.Output.Text
}

// JSON implements behavior.Detail.
func (f *Facts) JSON() string {
	b, err := json.Marshal(struct {
		Agent    string     `json:"agent,omitzero"`
		Args     string     `json:"args,omitzero"`
		Author   string     `json:"author,omitzero"`
		Call     uint64     `json:"call,omitzero"`
		Changed  bool       `json:"changed,omitzero"`
		Error    bool       `json:"error,omitzero"`
		Output   string     `json:"output,omitzero"`
		Proposal event.Type `json:"proposal,omitzero"`
		Ref      string     `json:"ref,omitzero"`
		Status   string     `json:"status,omitzero"`
		Text     string     `json:"text,omitzero"`
		To       string     `json:"to,omitzero"`
		Tool     string     `json:"tool,omitzero"`
		Turn     int64      `json:"turn,omitzero"`
	}{f.Agent, f.Args.Raw(), f.Author, f.Call, f.Changed, f.Error, rawOutput(f), f.Refused, f.Ref, f.Status, f.Text, f.To, f.Tool, f.Turn})
	if err != nil {
		return "{}" // a text that is not UTF-8, which no event holds
	}
	return string(b)
}
