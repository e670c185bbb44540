package connector_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"lyceum/internal/connector"
	"lyceum/internal/ledger"
)

// outfiles is how many files the box holds.
func (h *home) outfiles() int {
	notes, err := h.box.Notes.Notes(h.t.Context(), "outfile", 1<<53-1, 100)
	must(h.t, err)
	return len(notes)
}

// TestFilesGoWithADelivery: they are there for every try, also of a letter that was dead, and gone
// when it is sent.
func TestFilesGoWithADelivery(t *testing.T) {
	t.Parallel()
	h := open(t)
	refuse := true
	h.service.fails = func(connector.Outgoing) error {
		if refuse {
			return &connector.Refused{Reason: "no"}
		}
		return nil
	}
	files := []connector.File{{Name: "a.csv", Type: "text/csv", Data: []byte("a,b\n")}, {Name: "none", Data: []byte{}}}
	d := connector.Delivery{Key: "k", Connector: "chat", Conversation: "c", Text: "see", Reply: "m1"}
	for range 2 { // whoever was killed puts it again
		must(t, h.box.Put(t.Context(), d, files...))
	}
	if n := h.outfiles(); n != 2 {
		t.Fatalf("the box holds %d files, want 2", n)
	}
	h.run()
	until(t, "it is dead", func() bool { return strings.HasPrefix(h.state("k"), connector.Dead) })
	if n := h.outfiles(); n != 2 {
		t.Errorf("of a dead letter the box holds %d files, want 2", n)
	}
	h.service.mu.Lock()
	refuse = false
	h.service.mu.Unlock()
	_, err := h.box.Retry(t.Context(), "k")
	must(t, err)
	until(t, "it is sent", func() bool { return strings.HasPrefix(h.state("k"), connector.Sent) })
	until(t, "its files are gone", func() bool { return h.outfiles() == 0 })
	h.stop()
	got := h.service.got[0]
	if len(got.Files) != 2 || got.Files[0].Name != "a.csv" || string(got.Files[0].Data) != "a,b\n" || len(got.Files[1].Data) != 0 || got.Reply != "m1" || got.Text != "see" {
		t.Errorf("it was sent as %+v", got)
	}
}

// TestAFileThatIsGoneIsNamed: a letter that was dead for long is sent without what is not kept.
func TestAFileThatIsGoneIsNamed(t *testing.T) {
	t.Parallel()
	h := open(t)
	must(t, h.box.Put(t.Context(), connector.Delivery{Key: "k", Connector: "chat", Conversation: "c", Text: "see"}, connector.File{Name: "a.csv", Data: []byte("x")}))
	notes, err := h.box.Notes.Notes(t.Context(), "outfile", 1<<53-1, 100)
	must(t, err)
	if ok, err := h.box.Notes.SwapNote(t.Context(), ledger.Note{Kind: "outfile", Key: notes[0].Key}, notes[0].Body); !ok || err != nil {
		t.Fatalf("take a file out of the box: got %v, %v, want it gone", ok, err)
	}
	h.run()
	until(t, "it is sent", func() bool { return strings.HasPrefix(h.state("k"), connector.Sent) })
	h.stop()
	if got := h.service.got[0]; !strings.Contains(got.Text, "a.csv is not kept any more") || len(got.Files) != 0 {
		t.Errorf("it was sent as %+v", got)
	}
}

// TestAnAnswerNamesWhatItAnswers: what is replied to a command names the message, and the box knows
// which was heard last.
func TestAnAnswerNamesWhatItAnswers(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.bind("room", "q")
	h.run()
	for _, m := range []connector.Message{
		{ID: "1", Mark: "mark-1", Conversation: "room", Sender: "ada", Text: "/status"},
		{ID: "2", Mark: "mark-2", Conversation: "room", Sender: "ada", Text: "hello"},
		{ID: "3", Mark: strings.Repeat("x", 300), Conversation: "room", Sender: "ada", Text: "/status"},
		{ID: "4", Mark: "mark-4", Conversation: "room", Sender: "mallory", Text: "hello"},
	} {
		must(t, h.hear(m))
	}
	until(t, "both are answered", func() bool { return len(h.service.texts()) == 2 })
	h.stop()
	if a, b := h.service.got[0].Reply, h.service.got[1].Reply; a != "mark-1" || b != "" {
		t.Errorf("the answers name %q and %q, want mark-1 and, for one that is too long, nothing", a, b)
	}
	if last, err := h.box.Last(t.Context(), "chat", "room"); last != "mark-2" || err != nil {
		t.Errorf("what was heard last of those who may talk: got %q, %v, want mark-2", last, err)
	}
}

// silent is a driver whose service never answers.
type silent struct{ *service }

func (silent) Check(ctx context.Context) (string, error) {
	<-ctx.Done()
	return "", ctx.Err()
}

// loud is one whose service says the key.
type loud struct{ *service }

func (loud) Check(context.Context) (string, error) { return "it is " + key, errors.New("no " + key) }

// TestACheckEndsAndTellsNoKey: a service that is silent has ten seconds.
func TestACheckEndsAndTellsNoKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &connector.Connector{Name: "x", Driver: silent{}, Secrets: []string{key}}
		if _, err := c.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "not answered within 10s") {
			t.Errorf("check a service that is silent: got %v", err)
		}
	})
	c := &connector.Connector{Name: "x", Driver: loud{}, Secrets: []string{key}}
	if text, err := c.Check(t.Context()); strings.Contains(text, key) || err == nil || strings.Contains(err.Error(), key) {
		t.Errorf("a check says %q and %v: a key is in it", text, err)
	}
	c = &connector.Connector{Name: "x", Fault: errors.New("no key " + key), Secrets: []string{key}}
	if _, err := c.Check(t.Context()); err == nil || strings.Contains(err.Error(), key) {
		t.Errorf("a connector without a driver: got %v", err)
	}
}

// TestWhoSendsOnceLeavesItToAnother: one that only sends what is left ends where an office is up.
func TestWhoSendsOnceLeavesItToAnother(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.run()
	until(t, "the first has the lock", func() bool {
		release, ok, err := connector.Lock(h.dir + "/lock")
		must(t, err)
		if ok {
			release()
		}
		return !ok
	})
	once := &connector.Office{Box: h.box, Connectors: h.office.Connectors, Once: true}
	once.Run(t.Context(), h.dir+"/lock") // it would wait for ever
}
