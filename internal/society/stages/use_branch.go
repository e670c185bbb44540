package stages

import (
	"errors"
	"fmt"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/society/stages/study"
)

const (
	prepareBranch  = "prepare_branch"
	activateBranch = "activate_branch"
	checkpoint     = "checkpoint"
	compareTool    = "compare"
	gitGraph       = "render_git_graph"
)

const messageSchema = `"message":{"type":"string","minLength":1,"maxLength":1000,"description":"what has changed and why, the point in the first line"}`

// branchTools are about lines of work and their checkpoints.
var branchTools = []quest.OwnTool{
	{
		Step: quest.AnsweredTool,
		Tool: model.Tool{Name: prepareBranch, Description: "Begin a line of work: a folder work/<name> of your home, as its parent was recorded last. The name is <kind>/<id>. Ideas and papers come from main, runs from where you are, an analysis from the run that it is of, once that has a recorded result. activate_branch goes there.",
			Schema: `{"type":"object","additionalProperties":false,"required":["kind","id"],"properties":{` +
				`"kind":{"type":"string","enum":["idea","run","analysis","paper"]},` +
				`"id":{"type":"string","minLength":1,"maxLength":130,"description":"a to z, 0 to 9, - and _; of an analysis: <run>/<campaign>-<slice>"},` +
				`"parent":{"type":"string","maxLength":150,"description":"the line of work to begin from; default as said above"}}}`},
	},
	{
		Step: quest.AnsweredTool,
		Tool: model.Tool{Name: activateBranch, Description: "Go to a line of work: checkpoints are of it from then on, and the next sitting begins afresh there. If its folder is gone it is put back as it was recorded last; one that is there stays as it is.",
			Schema: `{"type":"object","additionalProperties":false,"required":["name"],"properties":{"name":{"type":"string","minLength":1,"maxLength":150}}}`},
	},
	{
		Step: quest.AnsweredTool,
		Tool: model.Tool{Name: checkpoint, Description: "Record the folder of the line of work you are at as a step of it, which becomes a commit. Caches and what .gitignore names stay out. A file over 50 MiB, or with a key in it, is refused by name, and then nothing is recorded. Without a change there is no step.",
			Schema: `{"type":"object","additionalProperties":false,"required":["message"],"properties":{` + messageSchema + `}}`},
	},
	{
		Step: quest.DeliveredTool, Reads: true,
		Tool: model.Tool{Name: compareTool, Description: "Compare two lines of work as they were recorded last, or two checkpoints by their numbers: how many steps each has that the other has not, how their metrics stand to each other, which files and lines differ, and the differences themselves as far as there is room.",
			Schema: `{"type":"object","additionalProperties":false,"required":["a","b"],"properties":{` +
				`"a":{"type":"string","minLength":1,"maxLength":150,"description":"the name of a line of work, the id of its result, or the number of a checkpoint"},` +
				`"b":{"type":"string","minLength":1,"maxLength":150,"description":"the one that it is compared with"}}}`},
	},
	{
		Step: quest.DeliveredTool,
		Tool: model.Tool{Name: gitGraph, Description: "See all lines of work with their checkpoints, and get them as a picture in your home: graph/branches.svg. What was in graph/ is gone.",
			Schema: `{"type":"object","additionalProperties":false,"properties":{}}`},
	},
}

var branchUses = map[string]func(*using) []event.Draft{
	prepareBranch: (*using).prepareBranch, activateBranch: (*using).activateBranch, checkpoint: (*using).checkpoint,
}

// prepareBranch begins a line of work: first its folder is put into the home, and only if that
// came to something there is one.
func (c *using) prepareBranch() []event.Draft {
	var args struct {
		Kind   string `json:"kind"`
		ID     string `json:"id"`
		Parent string `json:"parent"`
	}
	if bad := c.read(&args); bad != "" {
		return c.wrong("%s", bad)
	}
	if at := c.study.Effect(c.place); at != 0 {
		return c.say("%s", c.prepared(at))
	}
	if args.Parent == "" {
		args.Parent = c.study.ParentOf(args.Kind, args.ID)
	}
	name, err := c.study.MayPrepare(args.Kind, args.ID, args.Parent)
	if err != nil {
		return c.wrong("%s.", capital(err.Error()))
	}
	from := c.study.Branch(args.Parent)
	tree := c.study.Tree(from)
	if step, bad, done := c.homed(name, tree); !done {
		return step
	} else if bad != "" {
		return c.wrong("%s", bad)
	}
	return c.do(&event.BranchPrepared{Answer: c.place.Answer, Part: c.place.Part, From: from.Head, Kind: args.Kind, Name: name, Parent: from.Name, Tree: tree})
}

// homed has a folder put into the home for the call. It is done once the world has
// answered; bad is then why there is no folder.
func (c *using) homed(name string, tree *event.TreeRef) (step []event.Draft, bad string, done bool) {
	switch p := c.study.Placing(c.place); {
	case !c.s.Houses(c.a):
		return nil, "You have no home that it could be put into.", true
	case p == nil:
		return c.do(&event.FolderCall{Answer: c.place.Answer, Part: c.place.Part, Branch: name, Tree: tree}), "", false
	case !p.Done:
		return nil, "", false
	case p.Error != "":
		return nil, fmt.Sprintf("There is no folder %s/%s: %s", study.WorkDir, name, event.Shorten(p.Error, maxReason)), true
	case !p.Holds(tree):
		return nil, "Its parent has moved on meanwhile: call the tool again.", true
	}
	return nil, "", true
}

// prepared tells of a line of work that an event has begun.
func (c *using) prepared(at uint64) string {
	for _, b := range c.study.Branches {
		if b.Seq != at {
			continue
		}
		text := fmt.Sprintf("%s is prepared: its folder is %s.", b.Name, b.Folder())
		switch p := c.study.Placing(c.place); {
		case p != nil && p.There:
			text += " There was such a folder: it stays as it is."
		case b.From != 0:
			text += fmt.Sprintf(" It begins with checkpoint %d of %s; what was changed since then is not in it.", b.From, b.Parent)
		default:
			text += fmt.Sprintf(" It is empty: there is no checkpoint of %s yet.", b.Parent)
		}
		return text + " activate_branch goes there."
	}
	return "It is prepared."
}

// activateBranch goes to a line of work.
func (c *using) activateBranch() []event.Draft {
	var args struct {
		Name string `json:"name"`
	}
	if bad := c.read(&args); bad != "" {
		return c.wrong("%s", bad)
	}
	if c.study.Effect(c.place) != 0 {
		b := c.study.Here()
		text := fmt.Sprintf("You are at %s: its folder is %s, and checkpoints are of it. The next sitting begins afresh there.", b.Name, b.Folder())
		if err := c.study.MayCheckpoint(b); err != nil {
			text += " " + capital(err.Error()) + "."
		}
		return c.say("%s", text)
	}
	if err := c.study.MayActivate(args.Name); err != nil {
		return c.wrong("%s.", capital(err.Error()))
	}
	if step, bad, done := c.homed(args.Name, c.study.Tree(c.study.Branch(args.Name))); !done {
		return step
	} else if bad != "" {
		return c.wrong("%s", bad)
	}
	return c.do(&event.BranchActivated{Answer: c.place.Answer, Part: c.place.Part, Name: args.Name})
}

// checkpoint records the line of work that the researcher is at.
func (c *using) checkpoint() []event.Draft {
	var args struct {
		Message string `json:"message"`
	}
	if bad := c.read(&args); bad != "" {
		return c.wrong("%s", bad)
	}
	if v := c.study.Saving(c.place); v != nil {
		if step, done := c.saved(v); !done {
			return step
		}
		text, wrong := c.kept(v)
		return c.answer(wrong, "%s", text)
	}
	args.Message = strings.TrimSpace(args.Message)
	if args.Message == "" || event.Weight(args.Message) > study.MaxMessage {
		return c.wrong("The message must have 1 to %d bytes.", study.MaxMessage)
	}
	if !c.s.Houses(c.a) {
		return c.wrong("You have no home that could be recorded.")
	}
	if err := c.study.MayCheckpoint(c.study.Here()); err != nil {
		return c.wrong("%s.", capital(err.Error()))
	}
	return c.save(args.Message)
}

func (c *using) save(message string) []event.Draft {
	return c.do(&event.CheckpointCall{Answer: c.place.Answer, Part: c.place.Part, Branch: c.study.Current, Message: message})
}

// saved is the checkpoint that follows from what was recorded, once. It is done when nothing
// follows any more.
func (c *using) saved(v *study.Saving) (step []event.Draft, done bool) {
	if v.Result == nil {
		return nil, false
	}
	if made := c.study.New(v); made != nil {
		return c.do(made), false
	}
	return nil, true
}

// maxNamed is how many files an answer names.
const maxNamed = 10

// kept tells what came of a checkpoint.
func (c *using) kept(v *study.Saving) (text string, wrong bool) {
	r := v.Result
	switch {
	case r.Error != "":
		return "Nothing was recorded: " + event.Shorten(r.Error, maxReason), true
	case len(r.Refused) > 0:
		return "Nothing was recorded: these files cannot be. Take them away, or name them in .gitignore." + listed(r.Refused), true
	case r.Tree == nil:
		return fmt.Sprintf("There is no folder %s/%s in your home: put there what belongs to this line of work.", study.WorkDir, v.Branch), false
	case v.Made == 0:
		return fmt.Sprintf("Nothing has changed in %s since its last checkpoint: there is no new one.", v.Branch), false
	}
	text = fmt.Sprintf("Checkpoint %d of %s: %d files, %d bytes.", v.Made, v.Branch, r.Files, r.Size)
	if len(r.LeftOut) > 0 {
		text += " Left out are:" + listed(r.LeftOut)
	}
	return text, false
}

func listed(list []event.Skipped) string {
	var b strings.Builder
	for _, s := range list[:min(len(list), maxNamed)] {
		fmt.Fprintf(&b, "\n- %s: %s", plain.Quoted(s.Path, 200), plain.Quoted(s.Reason, 200))
	}
	if n := len(list) - maxNamed; n > 0 {
		fmt.Fprintf(&b, "\n(%d more.)", n)
	}
	return b.String()
}

// keep makes a checkpoint of what was said, for all but progress and answers: of what people
// hear, they can see what it was about. It is done when nothing follows any more; that nothing
// could be recorded does not keep the words back.
func (c *using) keep(w *words) (step []event.Draft, done bool) {
	v := c.study.Saving(c.place)
	switch {
	case v != nil:
		return c.saved(v)
	case w.Kind == study.Progress || w.Kind == study.Answer:
	case !c.s.Houses(c.a) || c.a.Tree == nil && c.a.Executor == "": // nothing is in the home
	case c.study.MayCheckpoint(c.study.Here()) != nil:
	default:
		return c.save(event.Shorten(w.Kind+": "+strings.Join(strings.Fields(w.Text), " "), maxSubject)), false
	}
	return nil, true
}

// maxSubject is how many bytes the message of a checkpoint has that the rules make.
const maxSubject = 200

// noted tells of the checkpoint that was made of what was said, nothing if that is no news.
func (c *using) noted() string {
	v := c.study.Saving(c.place)
	if v == nil {
		return ""
	}
	if text, wrong := c.kept(v); wrong || v.Made != 0 {
		return " " + text
	}
	return ""
}

// compared finds what compare is about. Where the folders differ is the world's word; how the
// lines of work stand to each other the rules know.
func compared(s *quest.State, u *agent.Use) (*quest.Delivery, error) {
	var args struct {
		A string `json:"a"`
		B string `json:"b"`
	}
	if bad := read(u, &args); bad != "" {
		return nil, errors.New(bad)
	}
	m := Of(s).Study
	var sides [2]*study.Branch
	for i, name := range []string{args.A, args.B} {
		if sides[i] = m.Side(name); sides[i] == nil {
			return nil, fmt.Errorf("there is no line of work and no checkpoint %.100q: render_git_graph shows those there are", name)
		}
	}
	ahead, behind := m.Ahead(sides[0], sides[1])
	said := fmt.Sprintf("%s (%s) is %d ahead of and %d behind %s (%s).", args.A, head(sides[0]), ahead, behind, args.B, head(sides[1]))
	return &quest.Delivery{
		Trees: &[2]*event.TreeRef{m.Tree(sides[1]), m.Tree(sides[0])},
		Said:  said + "\n" + strings.Join(m.CompareBranches(sides[0].Name, sides[1].Name), "\n"),
	}, nil
}

func head(b *study.Branch) string {
	if b.Head == 0 {
		return "no checkpoint"
	}
	return fmt.Sprintf("checkpoint %d", b.Head)
}

// drawn is all lines of work, in words and as a picture.
func drawn(s *quest.State, u *agent.Use) (*quest.Delivery, error) {
	if bad := read(u, &struct{}{}); bad != "" {
		return nil, errors.New(bad)
	}
	m := Of(s).Study
	return &quest.Delivery{
		Path: "graph", Texts: []quest.DeliveredText{{Name: "branches.svg", Parts: agent.Passages(event.Text{Text: m.Picture()})}},
		Said: event.Shorten(m.Graph(), maxSaid) + "\nThe picture is graph/branches.svg in your home.",
	}, nil
}

// branchLines are lines on the newest lines of work, the one that the researcher is at first.
func branchLines(m *study.Study) (out []string) {
	const most = 5
	out = append(out, branchLine(m, m.Here()))
	for i := len(m.Branches) - 1; i >= 0 && len(out) < most; i-- {
		if b := m.Branches[i]; b.Name != m.Current {
			out = append(out, branchLine(m, b))
		}
	}
	return out
}

func branchLine(m *study.Study, b *study.Branch) string {
	line := fmt.Sprintf("line of work %s, in %s: ", b.Name, b.Folder())
	switch c := m.Checkpoint(b.Head); {
	case c == nil:
		line += "no checkpoint"
	case b.Count == 0:
		line += fmt.Sprintf("nothing new since checkpoint %d of %s", b.From, b.Parent)
	default:
		line += fmt.Sprintf("%d checkpoints, the last is %d: %s", b.Count, c.Seq, study.Quoted(c.Message))
	}
	if b.Closed != 0 {
		line += "; closed by its result"
	}
	if b.Name == m.Current {
		line += "; you are here"
	}
	return line
}
