package runtime

import (
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

// voice tells what a model says to one call, while it speaks. A model may say a secret in
// pieces, so the end of what it said is held back as long as a secret may begin there; that is
// mostly nothing, and never longer than a secret. It belongs to the goroutine of the call.
type voice struct {
	l       *live
	agent   string
	call    uint64
	secrets hidden // as they were when it began to speak: the call's own key was read for it
	begun   bool
	heard   bool // a piece has come
	// held is what is held back of each kind: a reader puts the pieces of a kind together.
	held map[string]string
}

func (l *live) newVoice(agent string, call uint64) *voice {
	v := &voice{l: l, agent: agent, call: call}
	if l.opts.OnDelta == nil {
		return v // nobody listens
	}
	v.held = map[string]string{}
	return v
}

// emit is what a driver tells, nil if nobody listens.
func (v *voice) emit() func(model.Delta) {
	if v.l.opts.OnDelta == nil {
		return nil
	}
	return v.say
}

func (v *voice) say(d model.Delta) {
	if !v.heard {
		v.heard, v.secrets = true, v.l.rt.hidden()
	}
	switch d.Kind {
	case event.PartText, event.PartThinking, event.PartToolCall:
	case model.Restart:
		clear(v.held) // what was said counts no more
		v.tell(d.Kind, d.Text)
		return
	default: // a whole message
		v.tell(d.Kind, v.secrets.redact(d.Text))
		return
	}
	text := v.secrets.redact(v.held[d.Kind] + d.Text)
	from := v.mayBegin(text)
	v.held[d.Kind] = text[from:]
	if from > 0 {
		v.tell(d.Kind, text[:from])
	}
}

// mayBegin is from where on a text may be the beginning of a secret, its length if nowhere.
func (v *voice) mayBegin(text string) int {
	from := len(text)
	for _, s := range v.secrets {
		if len(s) < minSecret {
			continue
		}
		for n := min(len(s)-1, len(text)); n > len(text)-from; n-- {
			if strings.HasSuffix(text, s[:n]) {
				from = len(text) - n
				break
			}
		}
	}
	return from
}

// end tells what is held back: the model has spoken, and it is no secret.
func (v *voice) end() {
	for _, kind := range []string{event.PartThinking, event.PartText, event.PartToolCall} {
		if text := v.held[kind]; text != "" {
			v.tell(kind, text)
		}
	}
	clear(v.held)
}

func (v *voice) tell(kind, text string) {
	v.l.speaking.Lock()
	defer v.l.speaking.Unlock()
	v.l.opts.OnDelta(Delta{Agent: v.agent, Call: v.call, First: !v.begun, Kind: kind, Text: text})
	v.begun = true
}
