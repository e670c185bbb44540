package view

import (
	"slices"

	"lyceum/internal/event"
)

// Thread is something that people were told or asked, and what came of it.
type Thread struct {
	// Seq is the event that said it, Interaction the question that it is, 0 if it is none.
	Seq         uint64 `json:"seq"`
	Interaction uint64 `json:"interaction,omitempty"`
	// Status is open, answered, superseded, expired, withdrawn; said, if no answer is waited for.
	Status string `json:"status"`
	// Replies are the messages and answers to it.
	Replies []uint64 `json:"replies,omitempty"`
}

// What became of a thread.
const (
	threadOpen       = "open"
	threadAnswered   = "answered"
	threadSuperseded = "superseded"
	threadExpired    = "expired"
	threadWithdrawn  = "withdrawn"
	threadSaid       = "said"
)

// talk adds what is said to people, and what they say.
func (t *Trail) talk(e event.Event) {
	switch b := e.Body.(type) {
	case *event.InteractSaid:
		t.open(e.Seq, b.Reply == "blocking")
	case *event.InteractionOpened:
		// The question that a word is follows it; what the rules ask stands for itself.
		if last := t.thread(e.Seq - 1); last != nil && last.Status == threadOpen && last.Interaction == 0 {
			last.Interaction = e.Seq
			return
		}
		t.open(e.Seq, true)
		t.Threads[len(t.Threads)-1].Interaction = e.Seq
	case *event.InteractionAnswered:
		t.end(b.Interaction, threadAnswered)
		t.reply(b.Interaction, e.Seq)
	case *event.InteractionExpired:
		t.end(b.Interaction, threadExpired)
	case *event.InteractionWithdrawn:
		t.end(b.Interaction, threadWithdrawn)
	case *event.UserMessage:
		if b.Document == nil {
			t.heard(e.Seq, b.Reply)
		}
	}
}

// open begins a thread. A question takes the place of the one that is open.
func (t *Trail) open(seq uint64, asks bool) {
	x := &Thread{Seq: seq, Status: threadSaid}
	if asks {
		for _, old := range t.Threads {
			if old.Status == threadOpen {
				old.Status = threadSuperseded
			}
		}
		x.Status = threadOpen
	}
	t.Threads = append(t.Threads, x)
	if n := len(t.Threads) - maxThreads; n > 0 {
		t.Threads = slices.Delete(t.Threads, 0, n)
	}
}

// heard adds a message: to what it names, else to the open question, else to the last thread.
func (t *Trail) heard(seq, reply uint64) {
	to := t.thread(reply)
	for _, x := range slices.Backward(t.Threads) {
		if to != nil {
			break
		}
		if x.Status == threadOpen {
			to = x
		}
	}
	if to == nil && len(t.Threads) > 0 {
		to = t.Threads[len(t.Threads)-1]
	}
	if to == nil {
		return
	}
	to.Replies = append(to.Replies, seq)
	if to.Status == threadOpen {
		to.Status = threadAnswered
	}
}

func (t *Trail) reply(to, seq uint64) {
	if x := t.thread(to); x != nil {
		x.Replies = append(x.Replies, seq)
	}
}

// end says what became of a question.
func (t *Trail) end(question uint64, status string) {
	if x := t.thread(question); x != nil && (x.Status == threadOpen || x.Status == threadAnswered && status == threadAnswered) {
		x.Status = status
	}
}

// thread is the one with that number: of what was said, or of the question that it is.
func (t *Trail) thread(seq uint64) *Thread {
	for _, x := range slices.Backward(t.Threads) {
		if seq != 0 && (x.Seq == seq || x.Interaction == seq) {
			return x
		}
	}
	return nil
}
