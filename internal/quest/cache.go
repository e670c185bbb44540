package quest

import (
	"fmt"

	"lyceum/internal/agent"
	"lyceum/internal/event"
)

// Answers that were given before. Where a quest allows it, a model.call says that an answer to
// the same question, from another quest, may stand for the model's. The rules say so call by
// call, since an answer that counts as a sample must be a new one. What comes back says whose
// answer it is, and costs nothing.

// Sampler is a society of whose answers some count as samples: of a judge, a reviewer, a voter,
// a bidder. No answer that was given before can stand for one of these.
type Sampler interface {
	// Samples reports whether the next answer of an agent is one.
	Samples(s *State, a *agent.Agent) bool
}

// caches are the ways in which earlier answers can be taken.
var caches = []string{event.CacheExact, event.CacheNear}

// cached says in a call whether an earlier answer may stand for the one that it asks for. The
// answers of a fork never are: it is there to see what else may come.
func (s *State) cached(a *agent.Agent, c *event.ModelCall) *event.ModelCall {
	if s.Cache == "" || s.Origin != nil {
		return c
	}
	if r, ok := s.rules.Society.(Sampler); ok && r.Samples(s, a) {
		return c
	}
	c.Cache = s.Cache
	return c
}

// checkRecalled refuses an answer of before that is not allowed, or is said to have cost
// something.
func (s *State) checkRecalled(result event.Result) error {
	b, ok := result.(*event.ModelResult)
	if !ok || b.Recalled == nil {
		return nil
	}
	way := s.Calls[b.Call].Cache
	switch r := b.Recalled; {
	case way == "":
		return fmt.Errorf("model.call %d of quest %s wants a new answer, and not one of quest %s", b.Call, s.Name, r.Quest)
	case r.Asked != nil && way != event.CacheNear:
		return fmt.Errorf("model.call %d of quest %s wants the answer to the same rendering, and not to a question near it", b.Call, s.Name)
	case b.Cost != 0 || b.Usage != (event.Usage{}) || b.Wasted != nil || b.Unpriced || b.Estimated || b.Price != nil:
		return fmt.Errorf("the answer to model.call %d of quest %s was given before, and is said to have used something", b.Call, s.Name)
	case b.Error != nil || len(b.Parts) == 0:
		return fmt.Errorf("the answer to model.call %d of quest %s was given before, and says nothing", b.Call, s.Name)
	}
	return nil
}
