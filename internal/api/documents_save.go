package api

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"unicode/utf8"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// SavedDocument is a person's text for a document.
type SavedDocument struct {
	Text string `json:"text"`
	// Revision is the one that was read.
	Revision string `json:"revision"`
	// Key tells the save from every other to this quest: one that is sent again with it, since
	// its answer was lost, is the same.
	Key string `json:"key,omitempty"`
}

// saveDocument puts a person's text for a document into a quest's inbox. It is a message to the
// agents like any other, and refused if somebody has changed the document since it was read.
func (s *Server) saveDocument(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	var d SavedDocument
	if err := decode(r, &d); err != nil {
		return err
	}
	out, err := s.save(r.Context(), r.PathValue("quest"), r.PathValue("document"), &d)
	if stale, ok := errors.AsType[*runtime.Stale](err); ok {
		p := conflict("%v", stale)
		p.revision = stale.Now.String()
		return p
	}
	if err != nil {
		return err
	}
	return s.send(w, http.StatusAccepted, out)
}

func (s *Server) save(ctx context.Context, name, document string, d *SavedDocument) (out Posted, err error) {
	s.saving.Lock() // whoever is second finds the first in the inbox
	defer s.saving.Unlock()
	m, made, err := s.revision(ctx, name, document, d)
	if err != nil || m == nil {
		return Posted{Message: made}, err
	}
	st, err := s.stateOf(ctx, name)
	if err != nil {
		return out, err
	}
	head, err := s.rt.Ledger.Head(ctx, name)
	if err != nil {
		return out, err
	}
	key := rand.Text()
	if d.Key != "" {
		key, head.Seq = "saved "+d.Key, 0 // it may have been taken
	}
	if out.ID, out.Running, err = s.tellOnce(ctx, name, st, key, m); err != nil {
		return out, err
	}
	if out.Message, out.Delivery, err = s.receipt(ctx, name, head.Seq, out.ID); err != nil || out.Message == 0 {
		return out, err
	}
	b, done, err := s.shelf.open(ctx, name)
	if err != nil {
		return out, err
	}
	defer done()
	if !b.state.TookBrief(out.Message) { // another process was faster
		return out, &runtime.Stale{Name: document, Now: b.state.BriefRevision()}
	}
	return out, nil
}

// revision is the message that a save is; nil if it was made already, by the message of that
// number if it was taken.
func (s *Server) revision(ctx context.Context, name, document string, d *SavedDocument) (m *event.UserMessage, made uint64, err error) {
	b, done, err := s.shelf.open(ctx, name)
	if err != nil {
		return nil, 0, err
	}
	defer done()
	p, err := s.find(ctx, b, document)
	switch {
	case err != nil:
		return nil, 0, err
	case !p.Editable:
		return nil, 0, conflict("%s of quest %s cannot be changed: %s", p.Name, b.name, p.Reason)
	}
	base, err := event.ParseHash(d.Revision)
	if err != nil {
		return nil, 0, badParameter("revision", "want the revision of the text that was read, 64 hex digits")
	}
	if len(d.Key) > maxOrigin || !utf8.ValidString(d.Key) {
		return nil, 0, badParameter("key", "want at most %d bytes of text", maxOrigin)
	}
	text := strings.TrimRight(strings.ToValidUTF8(strings.ReplaceAll(d.Text, "\r\n", "\n"), "\uFFFD"), "\n")
	if strings.TrimSpace(text) == "" || len(text) > quest.MaxBrief {
		return nil, 0, badParameter("text", "a text has 1 to %d bytes; this one has %d", quest.MaxBrief, len(text))
	}
	if m, err = s.rt.Revise(ctx, b.name, b.state, base, text); m == nil && err == nil {
		made = b.state.SavedBrief(base, event.HashOf([]byte(s.rt.Redact(text))))
	}
	return m, made, err
}
