package quest

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/relation"

	"github.com/go-json-experiment/json"
)

// Relations: what agents note about how things belong together. The ledger is the store: a call
// that fits leads to an event, the graph is a fold of these, and what an agent is told follows from
// it. All agents of a quest share one graph.

// The tools of relations.
const (
	Relate    = "relate"
	Unrelate  = "unrelate"
	Relations = "relations"
)

// Related is what agents have noted, and what those are told whose call has had its effect.
type Related struct {
	relation.Graph
	Effects []RelatedEffect `json:",omitempty"`
}

// RelatedEffect is a call that was carried out, and what its agent is told. It is known by where
// the call stands, so that a quest that is cut anywhere does nothing twice.
type RelatedEffect struct {
	Answer uint64
	Part   int64
	Said   string
}

const idSchema = `{"type":"string","minLength":1,"maxLength":64,"pattern":"^[A-Za-z0-9._/:-]+$"`

var relationTools = []OwnTool{{
	Step: AnsweredTool,
	Tool: model.Tool{Name: Relate, Description: "Notes a thing and what it is part of: a plan, its steps, files, agents. What is noted is kept when older messages are gone, and all agents of the quest share it. A note that is there is changed with update: only what you give.",
		Schema: `{"type":"object","additionalProperties":false,"required":["id"],"properties":{` +
			`"id":` + idSchema + `,"description":"a name that no other note has"},` +
			`"type":{"type":"string","minLength":1,"maxLength":32,"description":"what it is, such as plan, step, file, agent; needed for a new one"},` +
			`"description":{"type":"string","maxLength":300,"description":"what it is about, in a line"},` +
			`"status":{"type":"string","enum":["pending","in_progress","done","failed"],"description":"default pending"},` +
			`"parents":{"type":"array","maxItems":16,"items":` + idSchema + `},"description":"the ids of what it is part of, all of them; default none"},` +
			`"update":{"type":"boolean","description":"whether a note of that id is changed; default false: a new one is made"}}}`},
}, {
	Step: AnsweredTool,
	Tool: model.Tool{Name: Unrelate, Description: "Takes a note away. What was part of it stays, and is no longer part of it; with cascade, what is left without a parent by that goes too.",
		Schema: `{"type":"object","additionalProperties":false,"required":["id"],"properties":{` +
			`"id":` + idSchema + `},"cascade":{"type":"boolean","description":"default false"}}}`},
}, {
	Step: AnsweredTool, Reads: true,
	Tool: model.Tool{Name: Relations, Description: "Shows what was noted with relate: each note once, below what it is part of.",
		Schema: `{"type":"object","additionalProperties":false,"properties":{` +
			`"of":` + idSchema + `,"description":"the note to begin with; default all"},` +
			`"direction":{"type":"string","enum":["down","up"],"description":"down to what is part of it (default), or up to what it is part of"},` +
			`"type":{"type":"string","description":"only notes of this type"},` +
			`"status":{"type":"string","enum":["pending","in_progress","done","failed"],"description":"only notes of this status"}}}`},
}}

// How much of a graph is shown: in hundredths of a window where an agent is told where it stands,
// and in bytes there and by the tool.
const (
	relationShare  = 5
	maxRelated     = 4 << 10
	maxRelations   = 10 << 10
	maxNamed       = 30
	relationsFirst = "Notes of agents (by relate; no orders):"
)

// useRelation goes on with a call of one of these tools: its effect, and then what is said of it.
func (s *State) useRelation(a *agent.Agent, u *agent.Use, e event.Event) []event.Draft {
	reply := func(failed bool, text string) []event.Draft {
		return []event.Draft{After(e, a.Name, u.Name, &event.ToolAnswered{Call: u.Call, Error: failed, Output: event.Text{Text: text}})}
	}
	if s.Related != nil {
		for _, x := range s.Related.Effects {
			if x.Answer == u.Answer && x.Part == u.Part {
				return reply(false, x.Said)
			}
		}
	}
	var b event.Body
	var said string
	var err error
	switch u.Name {
	case Relate:
		b, err = s.relating(u)
	case Unrelate:
		b, err = s.unrelating(u)
	default:
		said, err = s.relatedTo(u)
	}
	switch {
	case err != nil:
		return reply(true, "Nothing was changed: "+err.Error()+".")
	case b != nil:
		return []event.Draft{After(e, a.Name, u.Name, b)}
	}
	return reply(false, said)
}

// relationArgs reads the arguments of such a call.
func relationArgs(u *agent.Use, into any) error {
	if u.Args.Ref != nil {
		return fmt.Errorf("the arguments are too long")
	}
	if err := json.Unmarshal([]byte(u.Args.Text), into, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("the arguments do not fit the schema of the tool")
	}
	return nil
}

// graph is what was noted so far.
func (s *State) graph() *relation.Graph {
	if s.Related == nil {
		return &relation.Graph{}
	}
	return &s.Related.Graph
}

func (s *State) relating(u *agent.Use) (event.Body, error) {
	var in struct {
		ID          string    `json:"id"`
		Type        *string   `json:"type"`
		Description *string   `json:"description"`
		Status      *string   `json:"status"`
		Parents     *[]string `json:"parents"`
		Update      bool      `json:"update"`
	}
	if err := relationArgs(u, &in); err != nil {
		return nil, err
	}
	n, err := s.graph().Changed(relation.Put{ID: in.ID, Update: in.Update, Type: in.Type, Description: in.Description, Status: in.Status, Parents: in.Parents})
	if err != nil {
		return nil, err
	}
	return &event.RelationSet{Answer: u.Answer, Part: u.Part, ID: n.ID, Kind: n.Type, Description: n.Description, Status: n.Status, Parents: n.Parents}, nil
}

func (s *State) unrelating(u *agent.Use) (event.Body, error) {
	var in struct {
		ID      string `json:"id"`
		Cascade bool   `json:"cascade"`
	}
	if err := relationArgs(u, &in); err != nil {
		return nil, err
	}
	if _, err := s.graph().Leaving(in.ID, in.Cascade); err != nil {
		return nil, err
	}
	return &event.RelationRemoved{Answer: u.Answer, Part: u.Part, ID: in.ID, Cascade: in.Cascade}, nil
}

func (s *State) relatedTo(u *agent.Use) (string, error) {
	var in struct {
		Of        string             `json:"of"`
		Direction relation.Direction `json:"direction"`
		Type      string             `json:"type"`
		Status    string             `json:"status"`
	}
	if err := relationArgs(u, &in); err != nil {
		return "", err
	}
	g := s.graph()
	switch {
	case in.Of != "" && g.Node(in.Of) == nil:
		return "", fmt.Errorf("there is no note %.80s", in.Of)
	case in.Direction != "" && in.Direction != relation.Down && in.Direction != relation.Up:
		return "", fmt.Errorf("the direction must be down or up")
	}
	ids := slices.DeleteFunc(g.Walk(in.Of, in.Direction), func(id string) bool {
		n := g.Node(id)
		return in.Type != "" && n.Type != in.Type || in.Status != "" && n.Status != in.Status
	})
	if len(ids) == 0 {
		return "There is no such note.", nil
	}
	return s.noted(ids, maxRelations), nil
}

// leftOut names what there was no room for, in about so many bytes.
func leftOut(ids []string, room int) []string {
	if len(ids) == 0 {
		return nil
	}
	text, n := "Left out for lack of room:", 0
	for ; n < len(ids) && (n == 0 || len(text)+len(ids[n]) < room-20); n++ {
		text += " " + ids[n]
	}
	if n < len(ids) {
		text += fmt.Sprintf(" and %d more", len(ids)-n)
	}
	return []string{text}
}

// noted are the lines of some notes within so many bytes, with what is left out of them.
func (s *State) noted(ids []string, room int) string {
	lines, left := s.graph().Lines(ids, room)
	if len(left) > 0 { // which takes room, too
		lines, left = s.graph().Lines(ids, room-room/4)
	}
	return strings.Join(append(lines, leftOut(left, room/4)...), "\n")
}

// relationLines are what an agent is told of what was noted, where it is told where it stands.
func (s *State) relationLines(a *agent.Agent) []string {
	if s.Related == nil || len(s.Related.Nodes) == 0 || !slices.Contains(a.ToolNames, Relations) {
		return nil
	}
	room := min(int(a.Limit*relationShare/100*4), maxRelated) - len(relationsFirst) - 1
	return []string{relationsFirst + "\n" + s.noted(s.Related.Walk("", relation.Down), room)}
}

// relates takes in what an agent has noted, or taken away.
func (s *State) relates(e event.Event) {
	if s.Related == nil {
		s.Related = &Related{}
	}
	var x RelatedEffect
	switch b := e.Body.(type) {
	case *event.RelationSet:
		s.Related.Set(relation.Node{ID: b.ID, Type: b.Kind, Description: b.Description, Status: b.Status, Parents: b.Parents})
		x = RelatedEffect{b.Answer, b.Part, "Noted: " + s.Related.Node(b.ID).Line()}
	case *event.RelationRemoved:
		gone, err := s.Related.Leaving(b.ID, b.Cascade)
		if err != nil {
			panic(err)
		}
		s.Related.Remove(gone)
		more := ""
		if len(gone) > maxNamed {
			more = fmt.Sprintf(" and %d more", len(gone)-maxNamed)
		}
		x = RelatedEffect{b.Answer, b.Part, "Taken away: " + strings.Join(gone[:min(len(gone), maxNamed)], ", ") + more + "."}
	}
	s.Related.Effects = append(s.Related.Effects, x)
}

// heardOf forgets what an agent has been told of its call.
func (s *State) heardOf(actor string, call uint64) {
	a := s.Agent(actor)
	if s.Related == nil || a == nil {
		return
	}
	if u, err := a.Use(call); err == nil {
		s.Related.Effects = slices.DeleteFunc(s.Related.Effects, func(x RelatedEffect) bool { return x.Answer == u.Answer && x.Part == u.Part })
	}
}
