package trajectory

import (
	"reflect"

	"lyceum/internal/event"
)

// origin says whose sample a line is.
type origin struct {
	Quest string `json:"quest"`
	Seq   uint64 `json:"seq"`
	Call  uint64 `json:"call"`
	Agent string `json:"agent"`
	// Reward is from 0 to 1, HeldOut that of the held-out stories.
	Reward  *float64 `json:"reward"`
	HeldOut *float64 `json:"held_out"`
}

// shared is what a line says besides, whatever its format.
type shared struct {
	Model     string     `json:"model"`
	Rendering event.Hash `json:"rendering"`
	Split     string     `json:"split"`
}

type sftLine struct {
	Messages []message  `json:"messages"`
	Tools    []function `json:"tools"`
	origin
	shared
}

type stepLine struct {
	Prompt     []message  `json:"prompt"`
	Completion []message  `json:"completion"`
	Tools      []function `json:"tools"`
	origin
	shared
}

type preferenceLine struct {
	Prompt   []message  `json:"prompt"`
	Chosen   []message  `json:"chosen"`
	Rejected []message  `json:"rejected"`
	Tools    []function `json:"tools"`
	// Origins are those of both.
	Origins [2]origin `json:"origins"`
	shared
}

type groupLine struct {
	Prompt      []message   `json:"prompt"`
	Completions [][]message `json:"completions"`
	Rewards     []*float64  `json:"rewards"`
	Tools       []function  `json:"tools"`
	Origins     []origin    `json:"origins"`
	shared
}

func (s *sample) origin() origin {
	return origin{Quest: s.quest, Seq: s.seq, Call: s.result.Call, Agent: s.agent, Reward: whole(s.reward), HeldOut: whole(s.held)}
}

func (s *sample) shared() shared {
	return shared{Model: s.call.Model, Rendering: s.call.Rendering, Split: s.split}
}

// whole is a number of thousandths.
func whole(n *int64) *float64 {
	if n == nil {
		return nil
	}
	f := float64(*n) / 1000
	return &f
}

// alone writes a sample that needs no other.
func (x *export) alone(s *sample) error {
	if s.secret {
		x.rep.Secret++
		return nil
	}
	if x.o.Format == Steps {
		return x.write(stepLine{s.prompt, s.completion, s.tools, s.origin(), s.shared()})
	}
	return x.write(sftLine{append(s.prompt, s.completion...), s.tools, s.origin(), s.shared()})
}

// together writes the samples that share a rendering, in the order of the quests.
func (x *export) together(quests []string) error {
	if x.o.Format != Group && x.o.Format != Preference {
		return nil
	}
	for _, name := range quests {
		for _, s := range x.surveys[name].samples {
			all := x.groups[s.call.Rendering]
			if len(all) < 2 || all[0] != s {
				continue
			}
			var group []*sample
			for _, s := range all {
				if s.secret {
					x.rep.Secret++
					continue
				}
				group = append(group, s)
			}
			if err := x.group(s, group); err != nil {
				return err
			}
		}
	}
	return nil
}

// group writes samples of one rendering, which first has.
func (x *export) group(first *sample, group []*sample) error {
	if len(group) < 2 {
		return nil
	}
	if x.o.Format == Preference {
		return x.pairs(first, group)
	}
	line := groupLine{Prompt: first.prompt, Tools: first.tools, shared: first.shared()}
	for _, s := range group {
		line.Completions = append(line.Completions, s.completion)
		line.Rewards = append(line.Rewards, whole(s.reward))
		line.Origins = append(line.Origins, s.origin())
	}
	return x.write(line)
}

// pairs writes the best of a group, the first of equals, beside each that earned less and said
// something else.
func (x *export) pairs(first *sample, group []*sample) error {
	var best *sample
	for _, s := range group {
		if s.reward != nil && (best == nil || *s.reward > *best.reward) {
			best = s
		}
	}
	for _, s := range group {
		if s.reward == nil || *s.reward >= *best.reward || reflect.DeepEqual(s.completion, best.completion) {
			continue
		}
		line := preferenceLine{first.prompt, best.completion, s.completion, first.tools, [2]origin{best.origin(), s.origin()}, first.shared()}
		if err := x.write(line); err != nil {
			return err
		}
	}
	return nil
}
