package runtimetest

import (
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/architect"
	"lyceum/internal/society/contract"
	"lyceum/internal/society/stages"
	"lyceum/internal/society/world"
)

// cacheBooks keep, from the events alone, whose next answer counts as a sample: for such a call no
// earlier answer may be taken.
type cacheBooks struct {
	society, cache string
	forked         bool
	// reviews are the open ones of each agent, papers how many each handed in, of all.
	reviews map[string]map[string]bool
	papers  map[string]int
	all     int
	// checked are tasks of an architect whose run stands to be judged.
	checked map[string]bool
}

// count refuses a call that may take an earlier answer where that would be no sample, and one
// that may not where nothing is against it.
func (b *cacheBooks) count(w *World, e event.Event) error {
	switch x := e.Body.(type) {
	case *event.QuestCreated:
		*b = cacheBooks{society: quest.NameOf(x.Rules), cache: x.Cache, reviews: map[string]map[string]bool{}, papers: map[string]int{}, checked: map[string]bool{}}
	case *event.QuestForked:
		b.forked = true
	case *event.PublicationSubmitted:
		b.papers[e.Actor]++
		b.all++
	case *event.ReviewRequested:
		if b.reviews[x.Reviewer] == nil {
			b.reviews[x.Reviewer] = map[string]bool{}
		}
		b.reviews[x.Reviewer][x.Ref] = true
	case *event.HandoverEnded:
		b.checked[x.Task] = x.Outcome == event.OutcomeChecked
	case *event.TaskJudged:
		delete(b.checked, x.Task)
	case *event.TaskEnded:
		delete(b.checked, x.Task)
	case *event.HandoverBegun:
		delete(b.checked, x.Task)
	case *event.ModelCall:
		return b.call(w, e.Actor, x)
	case *event.ModelResult:
		if x.Recalled != nil {
			w.Saw("recalled")
		}
	}
	return nil
}

func (b *cacheBooks) call(w *World, actor string, c *event.ModelCall) error {
	sample := b.forked
	switch b.society {
	case "lab":
		sample = sample || b.all > b.papers[actor]
	case "contract":
		sample = sample || actor != contract.Planner
	case "stages":
		sample = sample || actor == stages.Reviewer
	case "architect":
		for _, checked := range b.checked {
			sample = sample || checked
		}
		sample = sample || actor != architect.Architect
	case "world":
		sample = sample || actor != world.Maker
	}
	switch {
	case sample && c.Cache != "":
		return fmt.Errorf("%s is asked for a sample, and may answer from the cache", actor)
	case !sample && c.Cache != b.cache:
		return fmt.Errorf("%s may answer by %q, and the quest says %q", actor, c.Cache, b.cache)
	case sample && b.cache != "":
		w.Saw("samples")
	}
	return nil
}

// recall makes an answer one that was given before, now and then where that is allowed.
func recall(w *World, c *event.ModelCall, r *event.ModelResult) {
	if c.Cache == "" || len(r.Parts) == 0 || r.Error != nil || (w.seed+r.Call)%3 != 0 {
		return
	}
	r.Cost, r.Usage, r.Wasted, r.Estimated = 0, event.Usage{}, nil, false
	r.Recalled = &event.Recalled{Quest: "another", Seq: r.Call, Hash: event.HashOf([]byte("answer"))}
	if c.Cache == event.CacheNear {
		r.Recalled.Asked, r.Recalled.Cosine, r.Recalled.Embedder = &event.Text{Text: "What?"}, 990_000_000, "sim"
	}
}
