package crate

import (
	"context"
	"crypto/sha256"
	"fmt"
	"hash"
	"slices"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// maxActions is how many calls the metadata describes one by one. Of a quest
// with more it describes only the whole.
const maxActions = 1000

// maxPlots is how many pictures the preview shows, maxPlot how large one may be.
const (
	maxPlots = 10
	maxPlot  = 256 << 10
)

// account is what a crate tells of a quest: a fold of its ledger.
type account struct {
	// form is how the computed files are computed.
	form  string
	state *quest.State
	blobs *inventory
	// versions of Lyceum that ran the quest, models and tools that it used.
	versions, models, tools []string
	// begun is when it was started, 0 if it never was.
	begun event.Time

	inputs uint64
	bytes  int64 // of the ledger as a file
	sum    hash.Hash

	// actions are the calls, nil once there are more than maxActions.
	actions []*action
	calls   int
	open    map[uint64]*action
	// fresh is what each agent was told since its model was last asked.
	fresh map[string][]string
	// plots are the pictures that programs of the binary drew, each once.
	plots []event.Ref
	// proof is the file of the checkpoints, nil if there are none.
	proof []byte
	// shown are the events that the metadata has entities of.
	shown map[uint64]event.Event
}

// action is a call and what came of it.
type action struct {
	call       event.Event
	instrument string
	object     []string
	result     []string
	end        event.Time // 0 while it is open
	failed     bool
	failure    string
}

func open(created event.Event, societies []quest.Society, store blob.Store) (*account, error) {
	s, err := quest.New(created, societies)
	return &account{
		form: form, state: s, blobs: newInventory(store), sum: sha256.New(), open: map[uint64]*action{},
		fresh: map[string][]string{}, shown: map[uint64]event.Event{},
	}, err
}

// add takes the next event in. It trusts the event as much as State.Apply does.
func (a *account) add(ctx context.Context, e event.Event) error {
	if err := a.blobs.add(ctx, e); err != nil {
		return err
	}
	a.state.Apply(e)
	if e.Input() {
		a.inputs++
	}
	a.sum.Write(e.Line())
	a.sum.Write([]byte{'\n'})
	a.bytes += int64(len(e.Line())) + 1

	switch b := e.Body.(type) {
	case *event.QuestCreated:
		for _, spec := range b.Agents {
			a.uses(spec)
			a.fresh[spec.Name] = []string{briefFile}
		}
	case *event.QuestStarted:
		a.begun = e.Time
		note(&a.versions, b.Version)
	case *event.QuestResumed:
		if a.begun == 0 {
			a.begun = e.Time
		}
		note(&a.versions, b.Version)
	case *event.QuestForked:
		a.abandon(e.Time)
		if b.Model != "" {
			note(&a.models, b.Model)
		}
	case *event.UserMessage:
		for _, agent := range a.state.Agents {
			if b.To == "" || b.To == agent.Name {
				a.tell(agent.Name, e)
			}
		}
	case *event.MessageSent:
		a.tell(b.To, e)
	case event.Drawer:
		for _, ref := range b.Drawn() {
			if !slices.Contains(a.plots, ref) && len(a.plots) < maxPlots && ref.Size <= maxPlot {
				a.plots = append(a.plots, ref)
			}
		}
		a.addCall(e)
	default:
		a.addCall(e)
	}
	return nil
}

// uses notes what agents of a kind work with. Who works by rules alone has no model.
func (a *account) uses(spec event.AgentSpec) {
	if spec.Model != "" {
		note(&a.models, spec.Model)
	}
	for _, t := range spec.ToolNames {
		note(&a.tools, t)
	}
}

func (a *account) addCall(e event.Event) {
	switch b := e.Body.(type) {
	case *event.ModelCall:
		note(&a.models, b.Model)
		act := &action{call: e, instrument: modelID(b.Model), object: a.fresh[e.Actor]}
		a.fresh[e.Actor] = nil
		act.object = append(act.object, blobPath(b.System), blobPath(b.Tools))
		a.begin(act)
	case *event.ToolCall:
		act := &action{call: e, instrument: toolID(e.Tool)}
		if e.Tool == "" { // the rules answer it
			act.instrument = a.lyceum()[0]
		}
		if _, ok := a.shown[b.Answer]; ok {
			act.object = []string{eventID(b.Answer)}
		}
		a.begin(act)
	case *event.ModelResult:
		why := ""
		if b.Error != nil {
			why = b.Error.Text
		}
		a.finish(b.Call, e, b.Error != nil, why)
	case *event.ToolResult:
		a.finish(b.Call, e, b.Error, b.Output.Text)
	case *event.ToolAnswered:
		a.finish(b.Call, e, b.Error, b.Output.Text)
	}
}

func (a *account) begin(act *action) {
	if a.calls++; a.calls > maxActions {
		a.actions, a.open, a.fresh, a.shown = nil, map[uint64]*action{}, map[string][]string{}, map[uint64]event.Event{}
		return
	}
	a.actions = append(a.actions, act)
	a.open[act.call.Seq] = act
}

func (a *account) finish(call uint64, e event.Event, failed bool, why string) {
	act := a.open[call]
	if act == nil {
		return
	}
	delete(a.open, call)
	act.end, act.failed = e.Time, failed
	if failed {
		act.failure = clip(why)
	}
	a.shown[e.Seq] = e
	act.result = append(act.result, eventID(e.Seq))
	refs, trees := event.Refs(e.Body)
	for _, t := range trees {
		refs = append(refs, event.Ref(t))
	}
	for _, ref := range refs {
		if p := blobPath(ref.Hash); !slices.Contains(act.result, p) {
			act.result = append(act.result, p)
		}
	}
	if e.Type != "model.result" {
		a.tell(act.call.Actor, e)
	}
}

// abandon ends what the origin of a fork had under way.
func (a *account) abandon(now event.Time) {
	for _, act := range a.open {
		act.end, act.failed, act.failure = now, true, "the quest was forked before the answer came"
	}
	clear(a.open)
}

// tell notes that an agent's next request holds e.
func (a *account) tell(agent string, e event.Event) {
	if a.calls > maxActions {
		return
	}
	a.shown[e.Seq] = e
	a.fresh[agent] = append(a.fresh[agent], eventID(e.Seq))
}

// lyceum names the versions of Lyceum that ran the quest, at least one.
func (a *account) lyceum() []string {
	var ids []string
	for _, v := range a.versions {
		ids = append(ids, lyceumID(v))
	}
	if ids == nil {
		ids = []string{lyceumID("")}
	}
	return ids
}

func note(list *[]string, s string) {
	if !slices.Contains(*list, s) {
		*list = append(*list, s)
	}
}

// clip shortens a text for people, between two characters.
func clip(s string) string {
	const most = 500
	n := 0
	for i := range s {
		if n++; n > most {
			return fmt.Sprintf("%s… (%d bytes)", s[:i], len(s))
		}
	}
	return s
}
