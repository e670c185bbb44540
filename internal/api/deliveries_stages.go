package api

import (
	"context"
	"net/http"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/runtime/service"
	"lyceum/internal/view"
)

// delivery is something that was said, on its way to a conversation elsewhere.
type delivery struct {
	Key          string     `json:"key"`
	Seq          uint64     `json:"seq"`
	Time         event.Time `json:"time"`
	Connector    string     `json:"connector"`
	Conversation string     `json:"conversation"`
	// Said is the event whose words are delivered, Text what it says in a line.
	Said uint64 `json:"said"`
	Text string `json:"text"`
	service.Delivered
}

// maxDeliveries is how many are sent, the newest.
const maxDeliveries = 500

// deliveries are what a quest says to people elsewhere, and what became of it.
func (s *Server) deliveries(r *http.Request, b *book) (func() (any, error), error) {
	var seqs []uint64
	b.Timeline.Each(view.Filter{Types: []string{"delivery.call", "delivery.result"}}, func(seq uint64) bool {
		seqs = append(seqs, seq)
		return true
	})
	seqs = seqs[max(0, len(seqs)-2*maxDeliveries):]
	name, own := b.name, b.state.Name
	return func() (any, error) {
		list, err := s.delivered(r.Context(), name, own, seqs)
		return struct {
			Deliveries []delivery `json:"deliveries"`
		}{list}, err
	}, nil
}

// delivered are the deliveries that events tell of, the newest first. What the origin of a fork
// has delivered, under another name than its own, is the origin's.
func (s *Server) delivered(ctx context.Context, name, own string, seqs []uint64) ([]delivery, error) {
	events, err := s.some(ctx, name, slices.Clone(seqs))
	if err != nil {
		return nil, err
	}
	results, said := map[uint64]*event.DeliveryResult{}, []uint64{}
	for _, seq := range seqs {
		switch b := events[seq].Body.(type) {
		case *event.DeliveryResult:
			results[b.Call] = b
		case *event.DeliveryCall:
			if b.Said > 0 && b.Said < seq {
				said = append(said, b.Said)
			}
		}
	}
	words, err := s.some(ctx, name, said)
	if err != nil {
		return nil, err
	}
	out := []delivery{}
	teller := &view.Teller{Most: 160}
	for _, seq := range slices.Backward(seqs) {
		e := events[seq]
		b, ok := e.Body.(*event.DeliveryCall)
		if !ok || e.Quest != own || len(out) == maxDeliveries {
			continue
		}
		one := delivery{Key: b.Key, Seq: seq, Time: e.Time, Connector: b.Connector, Conversation: b.Conversation, Said: b.Said}
		if w, ok := words[b.Said]; ok {
			one.Text = teller.Tell(w).Text
		}
		if one.Delivered, err = service.DeliveredBy(ctx, s.rt, name, b, results[seq]); err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}
