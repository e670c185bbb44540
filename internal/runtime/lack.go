package runtime

import (
	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// What the world lacks. A disk that is full is nobody's failure: the quest is paused with
// the reason, its open calls stay open, and whoever resumes it goes on as after a crash.

// lack says in words what the world lacks, if an error is due to that. This is the one place
// that knows which errors are.
func lack(err error) (reason string, ok bool) {
	if blob.Full(err) {
		return "the disk is full: " + err.Error() + "; make room, then resume the quest", true
	}
	return "", false
}

// failed takes in that a call, 0 if it was none, could not even record its failure. If the
// world lacks something the quest is paused; any other reason is an error of the run.
func (l *live) failed(call uint64, err error) {
	reason, ok := lack(err)
	if !ok {
		l.mail.fail(err)
		return
	}
	d := l.input("core", &event.QuestPaused{Reason: AtMost(l.rt.Redact(reason), 1000)})
	d.Parent = call
	l.mail.put(d)
}

// lacking looks over inputs for pauses of ours, and adds one if the disk has no room any more:
// agents fill it with files that nobody has stored yet, too.
func (l *live) lacking(inputs []event.Draft) []event.Draft {
	if l.state.Status == quest.Running {
		l.stranded = false
	}
	if l.rt.Room != nil && l.state.Status == quest.Running {
		if reason, ok := lack(l.rt.Room()); ok {
			inputs = append(inputs, l.input("core", &event.QuestPaused{Reason: AtMost(reason, 1000)}))
		}
	}
	for _, in := range inputs {
		if _, ok := in.Body.(*event.QuestPaused); ok && in.Actor == "core" {
			l.stranded = true
			delete(l.running, in.Parent)
		}
	}
	return inputs
}
