package world

import (
	"lyceum/internal/behavior"
	"lyceum/internal/policy"
)

// Mutants are the threads with one thing altered each: none of them may be found good.
func Mutants() map[string][]behavior.Thread {
	all := map[string][]behavior.Thread{}
	alter := func(name string, change func(*gating)) {
		g := gated
		g.needs = map[int64][]int64{}
		for tier, needs := range gated.needs {
			g.needs[tier] = needs
		}
		change(&g)
		all[name] = g.threads()
	}
	for i, t := range gated.threads() {
		threads := gated.threads()
		all["without "+t.Name] = append(threads[:i:i], threads[i+1:]...)
	}
	alter("tier 3 needs no judges", func(g *gating) { g.needs[byStories] = []int64{byRules} })
	alter("tier 3 needs no rules", func(g *gating) { g.needs[byStories] = nil })
	alter("what is held out needs no stories", func(g *gating) { g.needs[heldOut] = []int64{byRules, byJudges} })
	alter("a trial needs no judges", func(g *gating) { g.needs[0] = []int64{byRules} })
	alter("a trial needs nothing", func(g *gating) { g.needs[0] = nil })
	alter("a tier that nobody knows needs nothing", func(g *gating) { g.needs[5] = nil })
	alter("tier 1 never looks", func(g *gating) { g.needs[byRules] = []int64{byStories} })
	alter("a failure opens the next", func(g *gating) { g.counts = func(int64, string) bool { return true } })
	alter("what is unavailable counts as passed", func(g *gating) {
		g.counts = func(tier int64, v string) bool { return gated.counts(tier, v) || v == unavailable }
	})
	alter("any tier can be waived", func(g *gating) {
		g.counts = func(_ int64, v string) bool { return v == passed || v == waived }
	})
	alter("nothing can be waived", func(g *gating) { g.counts = func(_ int64, v string) bool { return v == passed } })
	alter("one tree for another", func(g *gating) { g.of = func(f *policy.Facts) string { return f.To } })
	alter("one attempt for another", func(g *gating) { g.of = func(f *policy.Facts) string { return "" } })
	alter("a prediction serves twice", func(g *gating) { g.again = true })
	alter("trials are not counted as under way", func(g *gating) { g.guarded = []string{"analysis.call"} })
	alter("looks are not counted as under way", func(g *gating) { g.guarded = []string{"world.call"} })
	alter("nothing ends what is under way", func(g *gating) { g.ended = nil })
	alter("the maker may run commands", func(g *gating) {
		g.allowed = func(agent, tool string) bool { return mayUse(agent, tool) || tool == "exec" }
	})
	alter("judges may write files", func(g *gating) {
		g.allowed = func(agent, tool string) bool { return mayUse(agent, tool) || agent != Maker && tool == "write_file" }
	})
	alter("a maker's server may run", func(g *gating) {
		g.allowed = func(agent, tool string) bool { return mayUse(agent, tool) || tool == "server__run" }
	})
	alter("the maker may not propose", func(g *gating) {
		g.allowed = func(agent, tool string) bool { return mayUse(agent, tool) && tool != propose }
	})
	return all
}

// Meets is what the author's constraints say of a structure.
var Meets = meets
