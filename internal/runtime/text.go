package runtime

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
)

// How much text stands in an event. A body has room for 16 KiB, and the parts
// of a model's answer share it.
const (
	maxInline = 8 << 10
	maxBody   = 12 << 10
	// maxShown is up to where an agent sees an output whole; shownHead and shownTail
	// are what it sees of a longer one.
	maxShown  = 32 << 10
	shownHead = 5 << 10
	shownTail = 5 << 10
	// bytesPerToken is how much text a token is, about.
	bytesPerToken = 4
)

// texts turns strings of the world into texts of events. What does not fit is
// kept as a blob: a small one travels with the batch, a large one is made
// durable at once.
type texts struct {
	rt    *Runtime
	small [][]byte
	// dry says that nothing is stored: it is only looked whether all is there. kept is what
	// would be, by hash.
	dry  bool
	kept map[event.Hash][]byte
}

// put stores data as a blob.
func (t *texts) put(ctx context.Context, data []byte) (event.Ref, error) {
	if t.dry {
		if ref := event.RefOf(data); t.kept != nil {
			t.kept[ref.Hash] = data
		}
		return event.RefOf(data), nil
	}
	if len(data) <= ledger.MaxInlineBlob {
		t.small = append(t.small, data)
		return event.RefOf(data), nil
	}
	return t.rt.Blobs.Put(ctx, data)
}

// Keep stores data as a blob: a small one is returned, to travel with the event that
// names it, a large one is made durable at once.
func (r *Runtime) Keep(ctx context.Context, data []byte) (event.Ref, [][]byte, error) {
	t := &texts{rt: r}
	ref, err := t.put(ctx, data)
	return ref, t.small, err
}

// of returns s as a text that takes at most max bytes of an event.
func (t *texts) of(ctx context.Context, s string, max int) (event.Text, error) {
	s = Clean(t.rt.Redact(s))
	if event.Weight(s) <= max {
		return event.Text{Text: s}, nil
	}
	ref, err := t.put(ctx, []byte(s))
	return event.Text{Ref: &ref}, err
}

// shown returns a tool's output as the agent sees it: whole if it is short, its
// beginning and end if not, with a note between them that says how to read the rest. window
// is how many tokens the agent may see in all: no single output takes more than half of
// that. call is the one it answers, if the agent can read results again, or 0.
func (t *texts) shown(ctx context.Context, s string, window int64, call uint64) (event.Text, error) {
	s = Clean(t.rt.Redact(s))
	most := mostShown(window)
	if event.Weight(s) <= maxInline && len(s) <= most {
		return event.Text{Text: s}, nil
	}
	ref, err := t.put(ctx, []byte(s))
	if err != nil || len(s) <= most {
		return event.Text{Ref: &ref}, err
	}
	return event.Text{Ref: &ref, Text: shorten(s, min(shownHead, most/2), min(shownTail, most/3), call, ref)}, nil
}

// mostShown is how many bytes of an output an agent sees whole.
func mostShown(window int64) int { return int(min(maxShown, window*bytesPerToken/2)) }

// fit moves the longest texts of a body into blobs until the body fits an event,
// and reports whether it does.
func (t *texts) fit(ctx context.Context, b event.Body, all []*event.Text) (bool, error) {
	total := 0
	for _, x := range all {
		total += event.Weight(x.Text)
	}
	if total+200*len(all) <= maxBody {
		return true, nil // surely, whatever else it holds
	}
	slices.SortStableFunc(all, func(a, b *event.Text) int { return cmp.Compare(event.Weight(b.Text), event.Weight(a.Text)) })
	for _, x := range all {
		if _, err := event.EncodeBody(b); err == nil && total <= maxBody {
			return true, nil
		}
		if len(x.Text) < 128 {
			break // a reference would be no shorter
		}
		total -= event.Weight(x.Text)
		ref, err := t.put(ctx, []byte(x.Text))
		if err != nil {
			return false, err
		}
		*x = event.Text{Ref: &ref}
	}
	_, err := event.EncodeBody(b)
	return err == nil, nil
}

// Clean makes text of the world fit for a ledger.
func Clean(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// AtMost shortens a text, such as an error's, to n bytes of a ledger.
func AtMost(s string, n int) string { return event.Shorten(Clean(s), n) }
