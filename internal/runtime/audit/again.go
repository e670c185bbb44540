package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"time"

	"lyceum/internal/agent"
	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/tool"
)

// maxAgain is how long the calculations of one quest may take when they are run again, all together: those of a
// stranger's quest could keep a verify, an import or a page busy for days. What is left over then counts as not
// checkable.
const maxAgain = 2 * time.Minute

// repeats runs the calls of tools again that give the same for the same arguments, on whatever machine: nothing but
// the arguments and the ledger goes into them, and for those that read files the recorded files. It does so whenever a
// quest is verified.
type repeats struct {
	rt    *runtime.Runtime
	homes *homes
	// busy are the agents in whose workspaces something may change files that no call tells of: programs they
	// have begun, or servers.
	busy map[string]bool
	// open are the calls under way, by their seq.
	open map[uint64]repeatable
	left time.Duration
	// found is what came of it. Of calls that are the same it has the number alone.
	found Execution
}

// repeatable is a call that can be run again.
type repeatable struct {
	args string
	cut  bool // they are not there
	// excerpt is what a call of read_result shows, refused why it shows nothing.
	excerpt *quest.Excerpt
	refused error
	window  int64
	// reads is the tool of a call that reads files, if it is one.
	reads *tool.Tool
}

func newRepeats(rt *runtime.Runtime) *repeats {
	return &repeats{rt: rt, homes: &homes{rt: rt}, busy: map[string]bool{}, open: map[uint64]repeatable{}, left: maxAgain, found: Execution{Calls: []Executed{}}}
}

// repeatable reports whether a tool of an agent gives the same for the same arguments, or which one does for the same
// files.
func (v *repeats) repeatable(s *quest.State, e event.Event) (reads *tool.Tool, is bool) {
	if e.Tool == quest.ReadResult {
		return nil, s.Own(e.Tool) != nil
	}
	a := s.Agent(e.Actor)
	if v.rt.Tools == nil || a == nil || a.Sources[e.Tool].Source != "" || s.Own(e.Tool) != nil {
		return nil, false
	}
	t, ok := v.rt.Tools.Lookup(e.Tool)
	switch {
	case !ok || t.Same:
		return nil, ok
	case readsFiles(t):
		return &t, true
	}
	return nil, false
}

// look takes an event in that has been applied to s. Made says that it was a result, and came out the same.
func (v *repeats) look(ctx context.Context, s *quest.State, e event.Event, note Note) (d *Difference, made bool, err error) {
	switch b := e.Body.(type) {
	case *event.QuestForked:
		clear(v.open)
	case *event.CliRun, *event.PromptCall:
		v.busy[e.Actor] = true
	case *event.ToolCall:
		reads, is := v.repeatable(s, e)
		if !is {
			return nil, false, nil
		}
		u, err := s.Agent(e.Actor).Use(e.Seq)
		if err != nil {
			return nil, false, nil // it does not fold, and that is told
		}
		c := repeatable{window: s.Agent(e.Actor).Limit, reads: reads}
		c.args, err = agent.Read(u.Args, func(ref event.Ref) ([]byte, error) { return v.rt.Whole(ctx, ref) })
		if c.cut = errors.Is(err, blob.ErrNotFound); err != nil && !c.cut {
			return nil, false, err
		}
		if e.Tool == quest.ReadResult {
			var x *quest.Delivery
			if x, c.refused = s.Deliver(s.Agent(e.Actor), &u); x != nil {
				c.excerpt = x.Excerpt
			}
		}
		v.open[e.Seq] = c
	case *event.ToolResult:
		c, ok := v.open[b.Call]
		delete(v.open, b.Call)
		if !ok {
			return nil, false, nil
		}
		same := v.found.Same
		if c.reads != nil {
			d, err = v.read(ctx, s, e, b, c, note)
		} else {
			d, err = v.again(ctx, s, e, b, c)
		}
		return d, v.found.Same > same, err
	}
	return nil, false, nil
}

// again runs a call again, and compares. If it does not come out as recorded it is run once more: what differs between
// two runs of ours says nothing about the recorded one.
func (v *repeats) again(ctx context.Context, s *quest.State, e event.Event, b *event.ToolResult, c repeatable) (*Difference, error) {
	out := Executed{Seq: b.Call, Actor: e.Actor, Kind: "calculation", What: runtime.AtMost(e.Tool+" "+c.args, 200)}
	recorded, err := v.recorded(ctx, b)
	if c.cut || errors.Is(err, blob.ErrNotFound) {
		v.found.add(out.Not("its arguments or its result were redacted, or are lost"))
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if v.left <= 0 {
		v.found.add(out.Not(fmt.Sprintf("all calculations before it took %s together, and no more are run", maxAgain)))
		return nil, nil
	}
	now, err := v.run(ctx, s, e, b.Call, c, nil)
	if err != nil {
		return nil, err
	}
	if matches(b, recorded, now) {
		v.found.Same++ // it needs no words
		return nil, nil
	}
	if why := excused(b, recorded, now); why != "" {
		v.found.add(out.Not(why))
		return nil, nil
	}
	second, err := v.run(ctx, s, e, b.Call, c, nil)
	if err != nil {
		return nil, err
	}
	if second.Output != now.Output {
		v.found.add(out.Not("two runs here differ, too"))
		return nil, nil
	}
	return v.differs(e, out, "run again with the same arguments, gives something else", recorded, now), nil
}

// differs is a call that came out otherwise.
func (v *repeats) differs(e event.Event, out Executed, how, recorded string, now tool.Result) *Difference {
	v.found.add(out.Judged([]string{"its output differs"}, nil))
	return &Difference{Seq: e.Seq, What: e.Tool + ", " + how, Recorded: event.Shorten(recorded, 400), Computed: event.Shorten(now.Text, 400)}
}

// recorded is the whole text of a result.
func (v *repeats) recorded(ctx context.Context, b *event.ToolResult) (string, error) {
	if b.Output.Ref == nil {
		return b.Output.Text, nil
	}
	return agent.Read(event.Text{Ref: b.Output.Ref}, func(ref event.Ref) ([]byte, error) { return v.rt.Whole(ctx, ref) })
}

// run does a call, in a workspace if it needs one.
func (v *repeats) run(ctx context.Context, s *quest.State, e event.Event, call uint64, c repeatable, home *os.Root) (tool.Result, error) {
	begun := v.rt.Clock()
	defer func() { v.left -= time.Duration(v.rt.Clock()-begun) * time.Microsecond }()
	var out tool.Result
	switch {
	case e.Tool != quest.ReadResult:
		out = v.rt.Tools.Do(ctx, e.Tool, tool.Call{ID: fmt.Sprintf("c%d", call), Agent: e.Actor, Args: []byte(c.args), Home: home, Closed: s.Closed(e.Tool), Bounds: runtime.BoundsOf(s)})
	case c.refused != nil:
		out.Output = tool.Output{Text: "error: " + c.refused.Error(), Error: true}
	default:
		text, err := v.rt.Excerpt(ctx, c.excerpt, c.window)
		if out.Output = (tool.Output{Text: text, Error: err != nil}); err != nil {
			out.Text += "error: " + err.Error()
		}
	}
	if c.reads != nil {
		out.Text = runtime.Mark(s, *c.reads, c.args) + out.Text
	}
	out.Text = runtime.Clean(v.rt.Redact(out.Text))
	return out, ctx.Err()
}

// storageNote is what may stand behind a result: how much room the agent has left.
var storageNote = regexp.MustCompile(`^\n\(Your files and outputs have taken [0-9.]+ (bytes|MiB) of the [0-9.]+ (bytes|MiB) of storage that you have\. Every change is kept, so rewriting large files costs anew\.\)$`)

// matches reports whether a result is what came out now, to the letter.
func matches(b *event.ToolResult, recorded string, now tool.Result) bool {
	if b.Error != now.Error || b.Outcome != now.Outcome || len(b.Attachments) > 0 || !strings.HasPrefix(recorded, now.Text) {
		return false
	}
	rest := recorded[len(now.Text):]
	return rest == "" || storageNote.MatchString(rest)
}

// excused says why a difference says nothing: the agent was told something else than what the tool said, because of the
// machine. That is for the reader to weigh, and so it is counted.
func excused(b *event.ToolResult, recorded string, now tool.Result) string {
	switch {
	case b.Full != nil:
		return "there was no room to keep its result then"
	case b.Error && outOfTime.MatchString(recorded):
		return "it ran out of time then"
	case now.Error && outOfTime.MatchString(now.Text):
		return "it ran out of time here"
	case b.Error && strings.HasPrefix(recorded, "Interrupted, outcome unknown"):
		return "it was interrupted then"
	}
	return ""
}

// outOfTime is what a calculation says at last that took too long by the clock. That it took too many steps is no matter
// of the machine.
var outOfTime = regexp.MustCompile(`error: it took more than [0-9.]+m?s; use a smaller problem[^\n]*$`)
