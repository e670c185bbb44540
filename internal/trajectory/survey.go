package trajectory

import (
	"lyceum/internal/event"
	"lyceum/internal/model"
)

// sample is one answer of a model, and what is known of it.
type sample struct {
	// hash is that of the model.result with the number seq of quest.
	hash   event.Hash
	quest  string
	seq    uint64
	agent  string
	split  string
	call   *event.ModelCall
	result *event.ModelResult
	// last says that no later sample of its agent goes on from it: its window was cut, or there
	// is none.
	last bool
	// recalled says that an answer in what was rendered was given before.
	recalled bool
	// reward is what came of it, and held of the held-out stories, in thousandths; nil is none.
	reward, held *int64

	// These are there once it is rendered; secret says that there is one in them.
	prompt, completion []message
	tools              []function
	secret             bool
}

// The reasons why an answer is no sample.
const (
	given  = "given before"
	broken = "broken"
)

// use says why an answer is no sample; empty is that it is one.
func (s *sample) use() string {
	switch {
	case s.result.Recalled != nil:
		return given
	case s.result.Error != nil || s.result.Stop != model.StopEnd && s.result.Stop != model.StopTools:
		return broken
	}
	return ""
}

// survey is what a quest's ledger says of samples, event by event.
type survey struct {
	// name is what the quest calls itself by now.
	name, split string
	samples     []*sample

	calls map[uint64]*event.ModelCall
	// before is an agent's last sample.
	before map[string]*sample
	// old are the agents with an answer of before in their windows, and the first message that
	// a window must begin with to be without it.
	old      map[string]int64
	attempts []*attempt
}

// attempt is something that an agent made by an answer, and what it earned.
type attempt struct {
	number int64
	agent  string
	answer uint64
	given  *event.RewardGiven
}

func newSurvey() *survey {
	return &survey{calls: map[uint64]*event.ModelCall{}, before: map[string]*sample{}, old: map[string]int64{}}
}

// heldOutOf is how many of 256 quests are held out: one in ten.
const heldOutOf = 26

// splitOf is what a quest is for, by the hash of its first event.
func splitOf(first event.Hash) string {
	if h := event.HashOf(append([]byte("lyceum split 1\n"), first[:]...)); h[0] < heldOutOf {
		return HeldOut
	}
	return Train
}

func (v *survey) add(e event.Event) {
	v.name = e.Quest
	switch b := e.Body.(type) {
	case *event.QuestCreated:
		v.split = splitOf(e.Hash)
	case *event.ModelCall:
		v.calls[e.Seq] = b
	case *event.ModelResult:
		v.answer(e, b)
	case *event.AttemptProposed:
		v.attempts = append(v.attempts, &attempt{number: b.Attempt, agent: e.Actor, answer: b.Answer})
	case *event.RewardGiven:
		for _, a := range v.attempts {
			if a.number == b.Attempt && !b.None {
				a.given = b
			}
		}
	}
}

func (v *survey) answer(e event.Event, b *event.ModelResult) {
	c := v.calls[b.Call]
	if c == nil {
		return
	}
	s := &sample{hash: e.Hash, quest: e.Quest, seq: e.Seq, agent: e.Actor, split: v.split, call: c, result: b, last: c.Compact == nil}
	if from, ok := v.old[e.Actor]; ok {
		s.recalled = c.First < from
	}
	if b.Recalled != nil {
		v.old[e.Actor] = c.Last + 2 // the answer is the message behind the last that was shown
	}
	if c.Compact == nil && !s.recalled && s.use() == "" {
		if p := v.before[e.Actor]; p != nil && c.First == p.call.First && c.Head == p.call.Head && c.System == p.call.System && c.Tools == p.call.Tools {
			p.last = false
		}
		v.before[e.Actor] = s
	}
	v.samples = append(v.samples, s)
}

// end gives each sample the reward of the next attempt of its agent, that of its own answer
// included.
func (v *survey) end() {
	for _, s := range v.samples {
		for _, a := range v.attempts {
			if a.agent != s.agent || a.answer < s.seq {
				continue
			}
			if a.given != nil {
				s.reward, s.held = &a.given.Sum, a.given.HeldOut
			}
			break
		}
	}
}
