package api

import (
	"context"
	"net/http"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/view"
)

// recordedOne is something that a study has recorded, whole.
type recordedOne struct {
	*view.RecordedDetail
	Text  string     `json:"text"`
	Ref   *event.Ref `json:"ref,omitempty"`
	Files []string   `json:"files"`
}

func (s *Server) recorded(r *http.Request, b *book) (func() (any, error), error) {
	out := recordedOne{RecordedDetail: b.RecordedOne(b.state, r.PathValue("artifact")), Files: []string{}}
	name := b.name
	if out.RecordedDetail == nil {
		return nil, missing("quest %s has recorded no %.80q", name, r.PathValue("artifact"))
	}
	return func() (any, error) {
		events, err := s.some(r.Context(), name, []uint64{out.Seq})
		if err != nil {
			return nil, err
		}
		text, files := view.Written(events[out.Seq])
		out.Files = append(out.Files, files...)
		out.Text, out.Ref, err = s.show(r.Context(), text)
		return out, err
	}, nil
}

// maxCards is how many cards are listed.
const maxCards = 500

func (s *Server) memory(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r)
	kind, words := p.choice("kind", view.CardKinds...), p.text("q", 400)
	b, done, err := s.opened(r, p)
	if err != nil {
		return err
	}
	defer done()
	out := struct {
		Kinds []string    `json:"kinds"`
		Cards []view.Card `json:"cards"`
		Total int         `json:"total"`
	}{Kinds: view.CardKinds}
	out.Cards, out.Total = b.Cards(b.state, kind, words, maxCards)
	return s.sendAndClose(w, out, done)
}

func (s *Server) card(r *http.Request, b *book) (func() (any, error), error) {
	out := struct {
		*view.Card
		Text      string              `json:"text"`
		Ref       *event.Ref          `json:"ref,omitempty"`
		Revisions []view.CardRevision `json:"revisions"`
	}{}
	var text event.Text
	out.Card, text, out.Revisions = b.CardOne(b.state, r.PathValue("card"))
	if out.Card == nil {
		return nil, missing("quest %s has no card %.80q", b.name, r.PathValue("card"))
	}
	return func() (_ any, err error) {
		out.Text, out.Ref, err = s.show(r.Context(), text)
		return out, err
	}, nil
}

// thread is something that people were told or asked, and what they said to it.
type thread struct {
	Seq         uint64      `json:"seq"`
	Time        event.Time  `json:"time"`
	By          string      `json:"by"`
	Kind        string      `json:"kind"`
	Text        string      `json:"text"`
	Ref         *event.Ref  `json:"ref,omitempty"`
	Options     []string    `json:"options"`
	Status      string      `json:"status"`
	Interaction uint64      `json:"interaction,omitempty"`
	Replies     []replySaid `json:"replies"`
}

type replySaid struct {
	Seq  uint64     `json:"seq"`
	Time event.Time `json:"time"`
	By   string     `json:"by"`
	Text string     `json:"text"`
}

func (s *Server) interactions(r *http.Request, b *book) (func() (any, error), error) {
	var all []view.Thread
	var seqs []uint64
	for _, t := range slices.Backward(b.Trail().Threads) {
		one := *t
		one.Replies = slices.Clone(t.Replies[max(0, len(t.Replies)-maxReplies):])
		all, seqs = append(all, one), append(append(seqs, t.Seq), one.Replies...)
	}
	name := b.name
	return func() (any, error) { return s.threads(r.Context(), name, all, seqs) }, nil
}

// threads are what was said in threads; seqs are all events that say it.
func (s *Server) threads(ctx context.Context, name string, all []view.Thread, seqs []uint64) (any, error) {
	events, err := s.some(ctx, name, seqs)
	if err != nil {
		return nil, err
	}
	out := struct {
		Open    uint64   `json:"open,omitempty"`
		Threads []thread `json:"threads"`
	}{Threads: []thread{}}
	for _, t := range all {
		u, err := s.utterance(ctx, events[t.Seq], "")
		if err != nil {
			return nil, err
		}
		one := thread{Seq: t.Seq, Time: u.Time, By: u.By, Kind: u.Kind, Text: u.Text, Ref: u.Ref, Options: append([]string{}, u.Options...), Status: t.Status, Interaction: t.Interaction, Replies: []replySaid{}}
		if u.Label != "" {
			one.Kind = u.Label
		}
		for _, seq := range t.Replies {
			said, err := s.utterance(ctx, events[seq], "")
			if err != nil {
				return nil, err
			}
			one.Replies = append(one.Replies, replySaid{seq, said.Time, said.By, said.Text})
		}
		if out.Threads = append(out.Threads, one); t.Status == "open" {
			out.Open = t.Seq
		}
	}
	return out, nil
}

// maxReplies is how many replies to a thread are sent, the newest.
const maxReplies = 50
