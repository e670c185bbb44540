package paper

import (
	"cmp"
	"slices"

	"lyceum/internal/agent"
	"lyceum/internal/event"
)

// index finds papers. It is made of Papers alone, and so is not saved.
type index struct {
	byRef    map[string]*Paper
	byAuthor map[string][]*Paper
	// places are the papers that a tool call handed in or reviewed.
	places map[agent.Place]*Paper
	// trials are the papers that are run, or were, by their call.
	trials map[uint64]string
	// lists are the papers of a status, or all of them, in order; the last come
	// first when they are shown.
	lists map[listKey][]*Paper
}

type listKey struct {
	status string
	order  Order
}

func (l *Library) at() *index {
	if l.index != nil {
		return l.index
	}
	l.index = &index{
		byRef: map[string]*Paper{}, byAuthor: map[string][]*Paper{}, places: map[agent.Place]*Paper{},
		trials: map[uint64]string{}, lists: map[listKey][]*Paper{},
	}
	for i, p := range l.Papers {
		p.number = i
		l.index.add(p)
		for _, r := range p.Reviews {
			l.index.places[r.Place] = p
		}
		if p.Trial != 0 {
			l.index.trials[p.Trial] = p.Ref
		}
		if p.Reproduction != nil {
			l.index.trials[p.Reproduction.Call] = p.Ref
		}
	}
	return l.index
}

func (x *index) add(p *Paper) {
	x.byRef[p.Ref] = p
	x.byAuthor[p.Author] = append(x.byAuthor[p.Author], p)
	x.places[p.Place] = p
	x.list(p, true)
}

// move changes what a paper's place in the lists depends on.
func (x *index) move(p *Paper, change func()) {
	x.list(p, false)
	change()
	x.list(p, true)
}

// list puts a paper into its lists, or takes it out.
func (x *index) list(p *Paper, in bool) {
	for _, key := range [...]listKey{{"", Latest}, {"", Citations}, {p.Status, Latest}, {p.Status, Citations}} {
		list := x.lists[key]
		i, there := slices.BinarySearchFunc(list, p, key.order.compare)
		switch {
		case in && !there:
			x.lists[key] = slices.Insert(list, i, p)
		case !in && there:
			x.lists[key] = slices.Delete(list, i, i+1)
		}
	}
}

// compare puts what is shown first last.
func (o Order) compare(a, b *Paper) int {
	if o == Citations && a.Cited != b.Cited {
		return cmp.Compare(a.Cited, b.Cited)
	}
	return cmp.Compare(a.number, b.number)
}

// Paper returns the paper of that reference, nil if there is none.
func (l *Library) Paper(ref string) *Paper {
	if len(l.Papers) == 0 {
		return nil
	}
	return l.at().byRef[ref]
}

// Trial returns the reference of the paper that a reproduction.call is about, also
// once it has its result; empty if there is no such call.
func (l *Library) Trial(call uint64) string {
	if len(l.Papers) == 0 {
		return ""
	}
	return l.at().trials[call]
}

// By returns the papers of an author, in the order in which they were handed in.
func (l *Library) By(author string) []*Paper {
	if len(l.Papers) == 0 {
		return nil
	}
	return l.at().byAuthor[author]
}

// From returns the paper that a tool call handed in or reviewed, nil if it did
// neither.
func (l *Library) From(at agent.Place) *Paper {
	if len(l.Papers) == 0 {
		return nil
	}
	return l.at().places[at]
}

// Happened reports whether a tool call of an agent has had its effect.
func (l *Library) Happened(agent string, at agent.Place) bool {
	return at.Answer != 0 && (l.From(at) != nil || l.Cast[agent] == at)
}

// Requests returns the papers that an agent is asked to review, oldest first.
func (l *Library) Requests(agent string) (out []*Paper) {
	for _, ref := range l.Asked[agent] {
		out = append(out, l.Paper(ref))
	}
	return out
}

// List returns papers in an order, the latest or the most cited first; of a status,
// if one is given; at most limit of them, from the offset on; and how many there are.
func (l *Library) List(order Order, status string, limit, offset int64) (out []*Paper, of int64) {
	list := l.at().lists[listKey{status, order}]
	n := int64(len(list))
	for i := max(offset, 0); i < n && int64(len(out)) < limit; i++ {
		out = append(out, list[n-1-i])
	}
	return out, n
}

// Count is how many papers have a status.
func (l *Library) Count(status string) int64 {
	if len(l.Papers) == 0 {
		return 0
	}
	return int64(len(l.at().lists[listKey{status, Latest}]))
}

// Best returns the published paper with the most votes. Ties go to more citations, then
// to what its output says to its claims, then to better reviews, then to the earlier. It
// is nil while nothing is published.
func (l *Library) Best() (best *Paper) {
	for _, p := range l.at().lists[listKey{event.Published, Latest}] {
		if best == nil || p.rank(best) > 0 {
			best = p
		}
	}
	return best
}

// rank is above zero if p stands before o.
func (p *Paper) rank(o *Paper) int {
	return cmp.Or(cmp.Compare(p.Votes, o.Votes), cmp.Compare(p.Cited, o.Cited), cmp.Compare(p.Held(), o.Held()), cmp.Compare(p.favour(), o.favour()))
}

// favour is by how many the reviews that accept are more.
func (p *Paper) favour() int64 {
	accepts, rejects := p.Grades()
	return accepts - rejects
}

// Clone returns a paper of its own, for those who read it while the quest goes on.
func (p *Paper) Clone() *Paper {
	c := *p
	c.RevisedBy = slices.Clone(p.RevisedBy)
	c.Requests = slices.Clone(p.Requests)
	c.Reviews = slices.Clone(p.Reviews)
	return &c
}

// Request returns what an agent was asked, nil if it was not.
func (p *Paper) Request(reviewer string) *Request {
	for i := range p.Requests {
		if p.Requests[i].Reviewer == reviewer {
			return &p.Requests[i]
		}
	}
	return nil
}

// Open reports whether somebody is still to review the paper.
func (p *Paper) Open() bool {
	return slices.ContainsFunc(p.Requests, func(r Request) bool { return r.State == Open })
}

// Grades counts the reviews that accept and those that reject.
func (p *Paper) Grades() (accepts, rejects int64) {
	for _, r := range p.Reviews {
		if r.Grade == event.Accept {
			accepts++
		} else {
			rejects++
		}
	}
	return accepts, rejects
}
