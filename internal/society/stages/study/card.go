package study

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/society/lab/paper"
)

// The kinds of cards.
const (
	Papers    = "papers"
	Ideas     = "ideas"
	Decisions = "decisions"
	Episodes  = "episodes"
	Knowledge = "knowledge"
	Templates = "templates"
)

// CardKinds are all of them.
var CardKinds = []string{Papers, Ideas, Decisions, Episodes, Knowledge, Templates}

// Card is one of the quest's, as its last revision has it.
type Card struct {
	ID, Kind, Title, Stage string
	Tags                   []string `json:",omitempty"`
	Summary                string
	Text                   event.Text
	Revision               int64
	// Made and Changed are when its first and last revision were written, Seq is the last
	// one's event.
	Made, Changed event.Time
	Seq           uint64
	// Promoted is the revision that is offered to all studies, 0 for none; Asked says that
	// the home was asked to take it, Put that it has it.
	Promoted int64 `json:",omitzero"`
	Asked    int64 `json:",omitzero"`
	Put      int64 `json:",omitzero"`
	// Approved says that a person lets it into other studies' prompts.
	Approved bool `json:",omitzero"`
}

// Call is an open card.call. The place is that of the tool call it is made for; without one it
// is for a prompt, or a person's order.
type Call struct {
	agent.Place
	Seq        uint64
	Action, ID string
	Revision   int64 `json:",omitzero"`
}

// Found is what the home answered to a tool call.
type Found struct {
	agent.Place
	Result event.CardResult
}

// The actions of a card.call.
const (
	CardPut     = "put"
	CardApprove = "approve"
	CardSearch  = "search"
	CardRead    = "read"
)

// index finds cards. It is made of the cards when it is first needed.
type index struct {
	byID map[string]*Card
	// kinds are the cards of each kind and words those that a word stands in, in the order of
	// their last revisions. A card stands in them once for each revision; only the last
	// counts.
	kinds map[string][]mention
	words map[string][]mention
}

// mention is a card as it was when the event of that seq was written.
type mention struct {
	card *Card
	seq  uint64
}

func (m mention) current() bool { return m.card.Seq == m.seq }

func (s *Study) at() *index {
	if s.index == nil {
		s.index = &index{byID: map[string]*Card{}, kinds: map[string][]mention{}, words: map[string][]mention{}}
		for _, c := range slices.SortedFunc(slices.Values(s.Cards), func(a, b *Card) int { return cmp.Compare(a.Seq, b.Seq) }) {
			s.index.add(c)
		}
	}
	return s.index
}

func (x *index) add(c *Card) {
	x.byID[c.ID] = c
	m := mention{c, c.Seq}
	x.kinds[c.Kind] = append(x.kinds[c.Kind], m)
	for _, w := range words(c.Title + " " + strings.Join(c.Tags, " ") + " " + c.Summary) {
		x.words[w] = append(x.words[w], m)
	}
}

// Card is the card of that id, nil if there is none.
func (s *Study) Card(id string) *Card { return s.at().byID[id] }

// written takes in a card, or another revision of one.
func (s *Study) written(e event.Event, b *event.CardWritten) {
	c := s.Card(b.ID)
	switch {
	case !slices.Contains(CardKinds, b.Kind) || !paper.IsRef(b.ID):
		panic(fmt.Sprintf("card.written has the kind %.40q and the id %.40q", b.Kind, b.ID))
	case c == nil && b.Revision != 1, c != nil && (b.Revision != c.Revision+1 || b.Kind != c.Kind):
		panic(fmt.Sprintf("card %s cannot have the revision %d", b.ID, b.Revision))
	}
	s.did(e, agent.Place{Answer: b.Answer, Part: b.Part})
	x := s.at()
	if c == nil {
		c = &Card{ID: b.ID, Kind: b.Kind, Made: e.Time}
		s.Cards = append(s.Cards, c)
	}
	c.Title, c.Stage, c.Tags, c.Summary, c.Text, c.Revision = b.Title, b.Stage, b.Tags, b.Summary, b.Text, b.Revision
	c.Changed, c.Seq = e.Time, e.Seq
	x.add(c)
}

// promoted takes in that a card is offered to all studies. A person's word is for one revision.
func (s *Study) promoted(e event.Event, b *event.CardPromoted) {
	c := s.Card(b.ID)
	if c == nil || c.Revision != b.Revision || c.Promoted == b.Revision {
		panic(fmt.Sprintf("card %.40q cannot be promoted in the revision %d", b.ID, b.Revision))
	}
	s.did(e, agent.Place{Answer: b.Answer, Part: b.Part})
	c.Promoted, c.Approved = b.Revision, false
}

// asked takes in that the home is asked for something.
func (s *Study) asked(e event.Event, b *event.CardCall) {
	if b.Action == CardSearch && b.Answer == 0 {
		if s.Under() || s.Sought == s.Next() {
			panic(fmt.Sprintf("card.call looks for cards for a prompt at the wrong time, before sitting %d", s.Next()))
		}
		s.Sought, s.Global = s.Next(), nil
	}
	s.Calls = append(s.Calls, Call{Place: agent.Place{Answer: b.Answer, Part: b.Part}, Seq: e.Seq, Action: b.Action, ID: b.ID, Revision: b.Revision})
	if c := s.Card(b.ID); c != nil && b.Action == CardPut {
		c.Asked = c.Promoted
	}
}

// found takes in what the home answered. What the rules looked for is for the next prompt.
func (s *Study) found(b *event.CardResult) {
	i := slices.IndexFunc(s.Calls, func(c Call) bool { return c.Seq == b.Call })
	if i < 0 {
		return // a fork has forgotten it
	}
	call := s.Calls[i]
	s.Calls = slices.Delete(s.Calls, i, i+1)
	c := s.Card(call.ID)
	if call.Place != (agent.Place{}) {
		s.Found = &Found{call.Place, *b}
	}
	switch {
	case b.Error != "":
	case call.Action == CardSearch && call.Place == (agent.Place{}):
		s.Global = b.Cards[:min(len(b.Cards), maxPlanned)]
	case call.Action == CardPut && c != nil:
		c.Put = c.Asked
	case call.Action == CardApprove && c != nil && c.Promoted == call.Revision:
		c.Approved = true
	}
}

// Seeks reports whether the home still has to be asked for cards of the next prompt, and
// Seeking whether it is being asked.
func (s *Study) Seeks() bool { return s.Sought != s.Next() }
func (s *Study) Seeking() bool {
	return slices.ContainsFunc(s.Calls, func(c Call) bool { return c.Action == CardSearch && c.Place == agent.Place{} })
}

// Offered is the card that a person's word is about, which is its id, or its id, a slash and the
// revision that they have read; an error, if it is not offered so.
func (s *Study) Offered(what string) (*Card, error) {
	id, revision, read := strings.Cut(what, "/")
	c := s.Card(id)
	switch {
	case c == nil || c.Promoted == 0:
		return nil, fmt.Errorf("there is no card %.40q that is offered to other studies", id)
	case read && revision != strconv.FormatInt(c.Promoted, 10):
		return nil, fmt.Errorf("the card %s is offered in the revision %d, not %.20q: read it again", c.ID, c.Promoted, revision)
	}
	return c, nil
}

// Asks reports whether the home is asked for a tool call, and Told is what it answered, nil if
// it has not.
func (s *Study) Asks(at agent.Place) bool {
	return slices.ContainsFunc(s.Calls, func(c Call) bool { return c.Place == at })
}
func (s *Study) Told(at agent.Place) *event.CardResult {
	if s.Found == nil || s.Found.Place != at {
		return nil
	}
	return &s.Found.Result
}

// At is the card whose last revision is that event, nil if there is none. It is one of the
// newest.
func (s *Study) At(seq uint64) *Card {
	for _, c := range s.Recent("", 1) {
		if c.Seq == seq {
			return c
		}
	}
	return nil
}

// plans are the kinds of cards that a prompt shows by the sitting's skill or anchor: those of
// the quest, and of the home.
var plans = map[string][2]string{
	Scout: {"PKD", "PKT"}, Baseline: {"PDEK", "KTP"}, Idea: {"PIDK", "PKT"}, Experiment: {"IDEK", "KT"},
	Campaign: {"IDEKP", "KTP"}, Write: {"PDKI", "TKP"}, Finalize: {"DKE", "KT"}, SkillDecision: {"DKEI", "KT"},
}

var letters = map[rune]string{'P': Papers, 'I': Ideas, 'D': Decisions, 'E': Episodes, 'K': Knowledge, 'T': Templates}

// PlanOf are the kinds of cards for a sitting: by its skill where that has a plan, else by its
// anchor.
func PlanOf(skill, anchor string) (quest, global []string) {
	p, ok := plans[skill]
	if !ok {
		p = plans[anchor]
	}
	for _, r := range p[0] {
		quest = append(quest, letters[r])
	}
	for _, r := range p[1] {
		global = append(global, letters[r])
	}
	return quest, global
}

// How many cards a prompt shows: the newest, and then those that have words of the mail. Of
// each word only the newest cards are looked at, so that a prompt does not cost more the more
// cards there are.
const (
	maxNewest   = 6
	maxPlanned  = 8
	maxMentions = 24
	maxSought   = 200
)

// Plan are the cards of a prompt: the newest of each kind in turn, then those that have most
// whole words of the mail.
func (s *Study) Plan(kinds []string, mail string) (out []*Card) {
	x := s.at()
	rest := map[string][]mention{}
	for _, k := range kinds {
		rest[k] = x.kinds[k]
	}
	for more := true; more && len(out) < maxNewest; {
		more = false
		for _, k := range kinds {
			c, left := newest(rest[k])
			rest[k] = left
			if c != nil && len(out) < maxNewest {
				out, more = append(out, c), true
			}
		}
	}
	return append(out, s.byWords(kinds, mail, out)...)
}

// newest takes the last card off a list of mentions.
func newest(list []mention) (*Card, []mention) {
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].current() {
			return list[i].card, list[:i]
		}
	}
	return nil, nil
}

// byWords are further cards, those with most words of a text first, of equal ones the newest.
func (s *Study) byWords(kinds []string, text string, but []*Card) (out []*Card) {
	hits := map[*Card]int{}
	for _, w := range words(text) {
		list := s.at().words[w]
		for _, m := range list[max(0, len(list)-maxMentions):] {
			if m.current() && slices.Contains(kinds, m.card.Kind) && !slices.Contains(but, m.card) {
				if hits[m.card]++; hits[m.card] == 1 {
					out = append(out, m.card)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b *Card) int { return cmp.Or(cmp.Compare(hits[b], hits[a]), cmp.Compare(b.Seq, a.Seq)) })
	return out[:min(len(out), max(0, maxPlanned-len(but)))]
}

// words are the whole words of a text, each once, in lower case. Short ones of the Latin
// alphabet say too little to find a card by.
func words(text string) (out []string) {
	seen := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }) {
		if len(w) < 4 && strings.IndexFunc(w, unicode.IsDigit) < 0 || seen[w] {
			continue
		}
		if seen[w] = true; len(out) < maxSought {
			out = append(out, w)
		}
	}
	return out
}

// Recent are the newest cards, of a kind or of all.
func (s *Study) Recent(kind string, limit int) (out []*Card) {
	if kind != "" {
		list := s.at().kinds[kind]
		for c, rest := newest(list); c != nil && len(out) < limit; c, rest = newest(rest) {
			out = append(out, c)
		}
		return out
	}
	for _, k := range CardKinds {
		out = append(out, s.Recent(k, limit)...)
	}
	slices.SortFunc(out, func(a, b *Card) int { return cmp.Compare(b.Seq, a.Seq) })
	return out[:min(limit, len(out))]
}

// Summary is the beginning of a card's text, on one line.
func Summary(text string) string {
	line := []rune(strings.Join(strings.Fields(text), " "))
	if len(line) > maxSummary {
		return string(line[:maxSummary-1]) + "…"
	}
	return string(line)
}

// Line is a card as it is listed: its author's words are data.
func (c *Card) Line() string {
	return fmt.Sprintf("- %s %s, %s, %s", c.ID, c.Kind, quote(c.Title, 80), quote(c.Summary, maxSummary))
}

// HomeLine is a card of the home as it is listed.
func HomeLine(c event.HomeCard) string {
	return fmt.Sprintf("- %s %s of the quest %s, %s, %s", quote(c.ID, 40), quote(c.Kind, 40), quote(c.Quest, 80), quote(c.Title, 80), quote(c.Summary, maxSummary))
}

// File is where a card lies below the folder of a quest's memory. It ends in the card's id, so
// that titles of any script do not collide.
func (c *Card) File() string { return c.Kind + "/" + slug(c.Title) + c.ID + ".md" }

// slug is as much of a title as is a file name everywhere, with a hyphen behind it.
func slug(title string) string {
	var b strings.Builder
	for _, w := range strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		if b.Len()+len(w) > 40 {
			break
		}
		b.WriteString(w + "-")
	}
	return b.String()
}

// Header is the front matter of a card's file.
func (c *Card) Header(quest string) string {
	scope := "quest"
	if c.Promoted == c.Revision {
		scope = "global"
	}
	var tags []string
	for _, t := range c.Tags {
		tags = append(tags, paper.Quote(t))
	}
	return fmt.Sprintf("---\nid: %q\nkind: %s\ntitle: %s\nscope: %s\nquest: %s\ntags: [%s]\nstage: %s\ncreated: %s\nupdated: %s\nrevision: %d\norigin: %s\n---\n\n",
		c.ID, c.Kind, paper.Quote(c.Title), scope, paper.Quote(quest), strings.Join(tags, ", "), c.Stage, c.Made, c.Changed, c.Revision,
		paper.Quote(fmt.Sprintf("%s event %d", quest, c.Seq)))
}
