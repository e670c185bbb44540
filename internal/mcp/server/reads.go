package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// one names a quest.
type one struct {
	Quest string `json:"quest" jsonschema:"the quest's name, as list shows it"`
}

// glance is a quest in a list. Amounts are dollars, as texts.
type glance struct {
	Quest     string   `json:"quest"`
	Status    string   `json:"status" jsonschema:"created, running, waiting (for a person), paused, interrupted (nobody runs it: run goes on), finished, completed_with_warnings, failed, stopped, budget_exceeded, damaged or other_rules"`
	Reason    string   `json:"reason,omitempty"`
	Society   string   `json:"society"`
	Models    []string `json:"models"`
	Events    uint64   `json:"events" jsonschema:"the seq of its last event"`
	Cost      *string  `json:"cost_usd,omitempty" jsonschema:"what it has cost; absent if nobody knows"`
	CostLimit string   `json:"cost_limit_usd,omitempty" jsonschema:"where it stops by itself"`
	Open      int      `json:"open_questions"`
	Verdict   string   `json:"verdict,omitempty" jsonschema:"its answer in a line"`
	Sure      string   `json:"sure,omitempty" jsonschema:"how sure that is: high, medium, low or unchecked"`
}

// summaryJSON is a quest as the API has it.
type summaryJSON struct {
	Name    string   `json:"name"`
	Society string   `json:"society"`
	Status  string   `json:"status"`
	Reason  string   `json:"reason"`
	Running bool     `json:"running"`
	Open    int      `json:"open_questions"`
	Models  []string `json:"models"`
	Cost    *string  `json:"cost_usd"`
	Limits  struct {
		Cost   *string `json:"cost_usd"`
		Turns  *int64  `json:"turns"`
		Tokens *int64  `json:"tokens"`
	} `json:"limits"`
	Events  uint64 `json:"events"`
	Verdict *struct {
		Value string `json:"value"`
		Sure  string `json:"sure"`
	} `json:"verdict"`
}

func (q *summaryJSON) glance() glance {
	g := glance{Quest: q.Name, Status: q.Status, Reason: q.Reason, Society: q.Society, Models: append([]string{}, q.Models...), Events: q.Events, Cost: q.Cost, Open: q.Open}
	if q.Limits.Cost != nil {
		g.CostLimit = *q.Limits.Cost
	}
	if q.Verdict != nil {
		g.Verdict, g.Sure = q.Verdict.Value, q.Verdict.Sure
	}
	return g
}

// question is one that a quest asks a person.
type question struct {
	ID       uint64   `json:"id" jsonschema:"what answer calls question"`
	Asker    string   `json:"asker"`
	Text     string   `json:"question"`
	Options  []string `json:"options"`
	Proposal string   `json:"proposal,omitempty" jsonschema:"what an agent wants to do, if that is what is asked about"`
	Default  string   `json:"default,omitempty" jsonschema:"what counts if nobody answers"`
	Answered bool     `json:"answered,omitempty"`
}

// detailJSON is a quest as the API has it, with its texts.
type detailJSON struct {
	summaryJSON
	Problem   string     `json:"problem"`
	Answer    *string    `json:"answer"`
	Trouble   string     `json:"trouble"`
	Warnings  []string   `json:"warnings"`
	Questions []question `json:"questions"`
}

// standing is how a quest stands.
type standing struct {
	Notice string `json:"notice"`
	glance
	Problem   string     `json:"problem"`
	Answer    string     `json:"answer,omitempty" jsonschema:"the answer, cut if it is long: all of it is the resource lyceum://<quest>/answer"`
	Trouble   string     `json:"trouble,omitempty" jsonschema:"why its last run here broke off"`
	Warnings  []string   `json:"warnings,omitempty"`
	Questions []question `json:"questions,omitempty" jsonschema:"what it asks a person"`
}

func (s *Server) detail(ctx context.Context, name string) (*detailJSON, error) {
	d := new(detailJSON)
	return d, s.ask(ctx, questPath(name), maxLong, d)
}

// standing reads how a quest stands.
func (c *call) standing(ctx context.Context, name string) (*standing, error) {
	d, err := c.server.detail(ctx, name)
	if err != nil {
		return nil, err
	}
	out := &standing{Notice: notice, glance: d.glance(), Problem: cut(d.Problem, maxText), Trouble: d.Trouble, Warnings: d.Warnings, Questions: d.Questions}
	out.Open = len(d.Questions)
	for i := range out.Questions {
		out.Questions[i].Options = append([]string{}, out.Questions[i].Options...)
	}
	if d.Answer != nil {
		out.Answer = *d.Answer
		if strings.HasSuffix(out.Answer, cutMark) {
			c.link(address(name, "answer"), "the whole answer of "+name, "text/markdown")
		}
	}
	return out, nil
}

// cut is a text that is safe already, of at most so many bytes.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + cutMark
}

func (s *Server) status(ctx context.Context, c *call, in one) (*standing, error) {
	return c.standing(ctx, in.Quest)
}

type listIn struct {
	Status string `json:"status,omitempty" jsonschema:"only quests of this status"`
	Limit  int    `json:"limit,omitempty" jsonschema:"how many, 50 if not said, at most 200"`
	Offset int    `json:"offset,omitempty" jsonschema:"how many to leave out first"`
}

type listOut struct {
	Notice string   `json:"notice"`
	Quests []glance `json:"quests"`
	Total  int      `json:"total" jsonschema:"how many there are"`
}

func (s *Server) quests(ctx context.Context) ([]summaryJSON, error) {
	var out struct {
		Quests []summaryJSON `json:"quests"`
	}
	err := s.ask(ctx, "/api/quests", maxWord, &out)
	return out.Quests, err
}

func (s *Server) list(ctx context.Context, _ *call, in listIn) (*listOut, error) {
	all, err := s.quests(ctx)
	if err != nil {
		return nil, err
	}
	out := &listOut{Notice: notice, Quests: []glance{}}
	for i := range all {
		if in.Status != "" && all[i].Status != in.Status {
			continue
		}
		if out.Total++; out.Total > in.Offset && len(out.Quests) < bounded(in.Limit, 50, 200) {
			out.Quests = append(out.Quests, all[i].glance())
		}
	}
	return out, nil
}

// bounded is a number that a caller gave, within bounds.
func bounded(n, usual, most int) int {
	if n <= 0 {
		return usual
	}
	return min(n, most)
}

type eventsIn struct {
	Quest  string   `json:"quest" jsonschema:"the quest's name"`
	After  uint64   `json:"after,omitempty" jsonschema:"the event after which to begin; go on with next of the last result"`
	Tail   int      `json:"tail,omitempty" jsonschema:"the last so many instead, at most 200"`
	Limit  int      `json:"limit,omitempty" jsonschema:"how many, 50 if not said, at most 200"`
	Types  []string `json:"types,omitempty" jsonschema:"only events of these types, such as tool.result"`
	Actors []string `json:"actors,omitempty" jsonschema:"only those of these agents"`
	Tools  []string `json:"tools,omitempty" jsonschema:"only those of these tools"`
	Text   string   `json:"text,omitempty" jsonschema:"only those that hold this text, in whatever case"`
}

type eventOut struct {
	Seq   uint64          `json:"seq"`
	Type  string          `json:"type"`
	Actor string          `json:"actor,omitempty"`
	Line  string          `json:"line" jsonschema:"what it says, in a line"`
	Body  json.RawMessage `json:"body,omitempty" jsonschema:"its members, long texts cut; the resource lyceum://<quest>/events/<seq> has them whole"`
}

type eventsOut struct {
	Notice string     `json:"notice"`
	Events []eventOut `json:"events"`
	Head   uint64     `json:"head" jsonschema:"the seq of the quest's last event"`
	Next   uint64     `json:"next,omitempty" jsonschema:"after, for the following page; absent at the end"`
}

// eventJSON is an event of a page of the API.
type eventJSON struct {
	Line  string `json:"line"`
	Event struct {
		Seq   uint64          `json:"seq"`
		Type  string          `json:"type"`
		Actor string          `json:"actor"`
		Body  json.RawMessage `json:"body"`
	} `json:"event"`
}

type pageJSON struct {
	Events []eventJSON `json:"events"`
	Head   uint64      `json:"head"`
	Next   *uint64     `json:"next"`
}

func (s *Server) page(ctx context.Context, in *eventsIn, most int) (*pageJSON, error) {
	q := query{}
	q.number("after", in.After)
	if in.Tail > 0 {
		q.number("tail", uint64(min(in.Tail, most)))
	}
	q.number("limit", uint64(bounded(in.Limit, 50, most)))
	q.text("type", strings.Join(in.Types, ","))
	q.text("actor", strings.Join(in.Actors, ","))
	q.text("tool", strings.Join(in.Tools, ","))
	q.text("text", in.Text)
	p := new(pageJSON)
	return p, s.ask(ctx, questPath(in.Quest, "events")+q.String(), maxText, p)
}

// maxPage is how many bytes the events of one result have, more or less.
const maxPage = 64 << 10

func (s *Server) events(ctx context.Context, c *call, in eventsIn) (*eventsOut, error) {
	p, err := s.page(ctx, &in, 200)
	if err != nil {
		return nil, err
	}
	out := &eventsOut{Notice: notice, Events: []eventOut{}, Head: p.Head}
	if p.Next != nil && in.Tail == 0 {
		out.Next = *p.Next
	}
	size := 0
	for _, e := range p.Events {
		if size += len(e.Event.Body) + len(e.Line); size > maxPage && len(out.Events) > 0 {
			out.Next = out.Events[len(out.Events)-1].Seq
			break
		}
		if strings.Contains(string(e.Event.Body), cutMark) {
			c.link(address(in.Quest, "events", strconv.FormatUint(e.Event.Seq, 10)), fmt.Sprintf("event %d of %s", e.Event.Seq, in.Quest), "application/json")
		}
		out.Events = append(out.Events, eventOut{e.Event.Seq, e.Event.Type, e.Event.Actor, e.Line, e.Event.Body})
	}
	return out, nil
}

type papersIn struct {
	Quest  string `json:"quest" jsonschema:"the quest's name; it must be a lab"`
	Order  string `json:"order,omitempty" jsonschema:"latest, citations or votes"`
	Status string `json:"status,omitempty" jsonschema:"only submitted, published or rejected ones"`
	Limit  int    `json:"limit,omitempty" jsonschema:"how many, 50 if not said, at most 200"`
	Offset int    `json:"offset,omitempty" jsonschema:"how many to leave out first"`
}

type paperHead struct {
	Ref     string `json:"ref"`
	Title   string `json:"title"`
	Author  string `json:"author"`
	Status  string `json:"status"`
	Cited   int64  `json:"cited"`
	Votes   int64  `json:"votes"`
	Accepts int64  `json:"accepts"`
	Rejects int64  `json:"rejects"`
	Best    bool   `json:"best"`
}

type papersOut struct {
	Notice string      `json:"notice"`
	Papers []paperHead `json:"papers"`
	Total  int64       `json:"total"`
}

func (s *Server) papers(ctx context.Context, _ *call, in papersIn) (*papersOut, error) {
	q := query{}
	q.text("order", in.Order)
	q.text("status", in.Status)
	q.number("limit", uint64(bounded(in.Limit, 50, 200)))
	q.number("offset", uint64(max(in.Offset, 0)))
	out := &papersOut{}
	err := s.ask(ctx, questPath(in.Quest, "papers")+q.String(), maxWord, out)
	out.Notice, out.Papers = notice, append([]paperHead{}, out.Papers...)
	return out, err
}

type paperIn struct {
	Quest string `json:"quest" jsonschema:"the quest's name"`
	Ref   string `json:"ref" jsonschema:"the paper's reference, 32 hex digits, as papers shows it"`
}

type review struct {
	Reviewer string `json:"reviewer"`
	Grade    string `json:"grade"`
	Content  string `json:"content"`
	Seq      uint64 `json:"seq"`
}

type paperOut struct {
	Notice string `json:"notice"`
	paperHead
	Content      string          `json:"content" jsonschema:"its text, cut if it is long: all of it is the resource lyceum://<quest>/papers/<ref>"`
	Claims       []string        `json:"claims"`
	Reviews      []review        `json:"reviews"`
	Voters       []string        `json:"voters"`
	Reproduction json.RawMessage `json:"reproduction,omitempty" jsonschema:"what came of running its program"`
}

func (s *Server) paper(ctx context.Context, c *call, in paperIn) (*paperOut, error) {
	out := new(paperOut)
	if err := s.ask(ctx, questPath(in.Quest, "papers", in.Ref), maxLong, out); err != nil {
		return nil, err
	}
	out.Notice, out.Claims, out.Voters = notice, append([]string{}, out.Claims...), append([]string{}, out.Voters...)
	out.Reviews = append([]review{}, out.Reviews[:min(len(out.Reviews), 50)]...)
	for i := range out.Reviews {
		out.Reviews[i].Content = cut(out.Reviews[i].Content, maxText)
	}
	if strings.HasSuffix(out.Content, cutMark) {
		c.link(address(in.Quest, "papers", in.Ref), "the whole paper "+in.Ref, "text/markdown")
	}
	return out, nil
}

type claim struct {
	Claim      int64   `json:"claim"`
	Text       string  `json:"text"`
	By         string  `json:"by"`
	Status     string  `json:"status"`
	Confidence int64   `json:"confidence_thousandths"`
	Sources    []int64 `json:"sources"`
}

type source struct {
	Source int64  `json:"source"`
	Kind   string `json:"kind"`
	Title  string `json:"title,omitempty"`
	Hash   string `json:"sha256"`
	Text   string `json:"text"`
	Broken string `json:"broken,omitempty" jsonschema:"why it does not hold; absent if it does"`
}

type evidenceOut struct {
	Notice  string   `json:"notice"`
	Claims  []claim  `json:"claims"`
	Sources []source `json:"sources"`
	Broken  int      `json:"broken" jsonschema:"how many sources do not hold"`
}

// maxEvidence is how many claims and sources a result has.
const maxEvidence = 50

func (s *Server) evidence(ctx context.Context, c *call, in one) (*evidenceOut, error) {
	out := new(evidenceOut)
	if err := s.ask(ctx, questPath(in.Quest, "evidence"), 1000, out); err != nil {
		return nil, err
	}
	long := len(out.Claims) > maxEvidence || len(out.Sources) > maxEvidence
	out.Notice = notice
	out.Claims = append([]claim{}, out.Claims[:min(len(out.Claims), maxEvidence)]...)
	out.Sources = append([]source{}, out.Sources[:min(len(out.Sources), maxEvidence)]...)
	for i := range out.Claims {
		out.Claims[i].Sources = append([]int64{}, out.Claims[i].Sources...)
	}
	for _, src := range out.Sources {
		long = long || strings.HasSuffix(src.Text, cutMark)
	}
	if long {
		c.link(address(in.Quest, "evidence"), "all evidence of "+in.Quest, "application/json")
	}
	return out, nil
}

type ranOut struct {
	Same         int `json:"same"`
	Different    int `json:"different"`
	NotCheckable int `json:"not_checkable"`
}

type word struct {
	Kind   string `json:"kind" jsonschema:"model, person, server (of MCP), agent (an outside one) or machine (that ran the quest)"`
	Who    string `json:"who,omitempty"`
	Events uint64 `json:"events"`
	Named  uint64 `json:"named,omitempty" jsonschema:"how many have an id of the provider's request"`
}

type checkedOut struct {
	Notice  string   `json:"notice"`
	Verdict string   `json:"verdict" jsonschema:"consistent (verify) or identical (replay) if all holds, else differs"`
	Events  uint64   `json:"events"`
	Inputs  uint64   `json:"inputs"`
	Derived uint64   `json:"derived"`
	Blobs   int      `json:"blobs"`
	Head    string   `json:"head,omitempty" jsonschema:"the hash of the last event"`
	Again   *ranOut  `json:"again,omitempty" jsonschema:"calls of tools that verify always runs again: calculations, and files that were read"`
	Words   []word   `json:"words,omitempty" jsonschema:"whose word the rest is: what is neither derived nor was made again"`
	Notes   []string `json:"notes,omitempty"`
	Proof   *struct {
		Words   string   `json:"words" jsonschema:"who signed the quest, up to where, and who else saw that"`
		Missing []string `json:"missing,omitempty" jsonschema:"checkpoints that do not hold"`
	} `json:"proof,omitempty" jsonschema:"what checkpoints say of a quest that verifies"`
	Difference *struct {
		Seq      uint64 `json:"seq,omitempty"`
		File     string `json:"file,omitempty"`
		What     string `json:"what"`
		Recorded string `json:"recorded,omitempty"`
		Computed string `json:"computed,omitempty"`
	} `json:"difference,omitempty" jsonschema:"the first thing that does not hold"`
}

// examine is verify or replay.
func (s *Server) examine(what string) func(context.Context, *call, one) (*checkedOut, error) {
	return func(ctx context.Context, _ *call, in one) (*checkedOut, error) {
		out := &checkedOut{Notice: notice}
		return out, s.ask(ctx, questPath(in.Quest, what), maxText, out)
	}
}

type diffIn struct {
	A string `json:"a" jsonschema:"a quest's name"`
	B string `json:"b" jsonschema:"another quest's name"`
}

type textDiff struct {
	Same    bool   `json:"same"`
	Unified string `json:"unified" jsonschema:"the difference as patches are written"`
}

type diffOut struct {
	Notice     string          `json:"notice"`
	A          json.RawMessage `json:"a" jsonschema:"figures of the first quest"`
	B          json.RawMessage `json:"b" jsonschema:"figures of the second quest"`
	Shared     uint64          `json:"shared_events" jsonschema:"how many events both begin with"`
	Similarity json.RawMessage `json:"similarity" jsonschema:"from 0 to 1: total, and by answer, steps and tools"`
	Spec       textDiff        `json:"spec"`
	Answer     textDiff        `json:"answer"`
	Tools      json.RawMessage `json:"tools" jsonschema:"how often each tool was called"`
}

func (s *Server) diff(ctx context.Context, c *call, in diffIn) (*diffOut, error) {
	q := query{}
	q.text("a", in.A)
	q.text("b", in.B)
	out := new(diffOut)
	if err := s.ask(ctx, "/api/diff"+q.String(), maxText, out); err != nil {
		return nil, err
	}
	out.Notice = notice
	if strings.HasSuffix(out.Answer.Unified, cutMark) {
		c.link(address(in.A, "answer"), "the answer of "+in.A, "text/markdown")
		c.link(address(in.B, "answer"), "the answer of "+in.B, "text/markdown")
	}
	return out, nil
}

func (s *Server) addReads() {
	offer(s, "list", "List quests", "List the quests there are, the latest first, each with its status, cost and verdict.", reading, s.list)
	offer(s, "status", "How a quest stands", "Show how a quest stands: status, cost and its limit, the answer, and the questions that it asks a person.", reading, s.status)
	offer(s, "events", "Events of a quest", "Read the ledger of a quest: what happened, in order, with filters and pages.", reading, s.events)
	offer(s, "papers", "Papers of a lab", "List the papers that the agents of a lab wrote.", reading, s.papers)
	offer(s, "paper", "A paper", "Read a paper of a lab, its reviews, and whether its program gave what it claims.", reading, s.paper)
	offer(s, "evidence", "Evidence of an answer", "Walk from the claims of a contract net's answer to the sources they rest on, with hashes checked.", reading, s.evidence)
	offer(s, "verify", "Verify a quest", "Check that nothing of a quest was changed: the hash chain, every event, every blob. It takes a while for a long quest.", reading, s.examine("verify"))
	offer(s, "replay", "Replay a quest", "Derive a quest again from its inputs, without any model or tool, and compare event for event.", reading, s.examine("replay"))
	offer(s, "diff", "Compare two quests", "Set two quests side by side: how alike they are, how their specs and answers differ, which tools they used.", reading, s.diff)
	offer(s, "search", "Search quests", "Find a text in the events and in the titles of papers of one quest, or of all.", reading, s.search)
}
