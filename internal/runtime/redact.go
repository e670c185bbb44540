package runtime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
)

// Redaction is what is to be taken out of a quest: a blob, those of an event, or whatever holds a text.
type Redaction struct {
	Blob event.Hash
	Seq  uint64
	Text string
	// Everywhere takes it out of the other quests of the home as well that hold it, which are refused
	// otherwise.
	Everywhere bool
	// Why, and by whom.
	Why, By string
}

// Redacted is what was taken out, and what holds the text and cannot be.
type Redacted struct {
	Blobs []event.Hash
	// Events hold the text themselves: it is part of what their hashes are over.
	Events []uint64
	// Others are the quests that it was taken out of besides.
	Others []string
}

// passages are the blobs of a quest that can be redacted, and those that cannot with the event that needs them.
type passages struct {
	name  string
	state *quest.State
	can   map[event.Hash]event.Ref
	not   map[event.Hash]uint64
	gone  map[event.Hash]bool
	at    map[uint64][]event.Hash
	text  []uint64
}

// TakeOut takes blobs of a quest out of the store. An event says so first; whoever is killed after it leaves blobs that
// nobody needs, which the next start removes. Blobs that other quests name are refused, unless it is done everywhere,
// and so are those that rules or programs read. The bytes are gone once Collect has returned.
func (r *Runtime) TakeOut(ctx context.Context, name string, what Redaction) (*Redacted, error) {
	claim, err := r.Ledger.Claim(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("redact in quest %s: %w", name, err)
	}
	defer claim.Release()
	out, err := r.redact(ctx, name, what)
	if err != nil {
		return nil, fmt.Errorf("redact in quest %s: %w", name, err)
	}
	return out, nil
}

func (r *Runtime) redact(ctx context.Context, name string, what Redaction) (*Redacted, error) {
	p, err := r.passages(ctx, name, what.Text)
	if err != nil {
		return nil, err
	}
	out := &Redacted{Events: p.text}
	switch {
	case !what.Blob.IsZero():
		out.Blobs = []event.Hash{what.Blob}
	case what.Seq != 0:
		out.Blobs = p.at[what.Seq]
	default:
		if out.Blobs, err = r.holding(ctx, p, what.Text); err != nil {
			return nil, err
		}
	}
	for _, h := range out.Blobs {
		if err := p.may(h); err != nil {
			return nil, err
		}
	}
	out.Blobs = slices.DeleteFunc(slices.Compact(slices.SortedFunc(slices.Values(out.Blobs), func(a, b event.Hash) int { return bytes.Compare(a[:], b[:]) })), func(h event.Hash) bool { return p.gone[h] })
	if len(out.Blobs) == 0 {
		return out, nil
	}
	others, release, err := r.others(ctx, name, out.Blobs, what.Everywhere)
	defer release()
	if err != nil {
		return nil, err
	}
	// Whoever is killed after the event leaves blobs that nobody needs.
	if err := ReplaceFile(r.garbagePath(), nil); err != nil {
		return nil, err
	}
	// The quest that was named comes last: whoever is killed before it, and does it again, comes to those that are left.
	for _, o := range append(others, p) {
		blobs := slices.DeleteFunc(slices.Clone(out.Blobs), func(h event.Hash) bool { _, has := o.can[h]; return !has || o.gone[h] })
		if err := r.sayRedacted(ctx, o, blobs, what); err != nil {
			return nil, err
		}
		if o != p {
			out.Others = append(out.Others, o.name)
		}
	}
	return out, r.entomb(ctx, out.Blobs)
}

// sayRedacted appends the events that say what is redacted in a quest.
func (r *Runtime) sayRedacted(ctx context.Context, p *passages, blobs []event.Hash, what Redaction) error {
	var drafts []event.Draft
	for part := range slices.Chunk(blobs, maxDropped) {
		drafts = append(drafts, event.Draft{Time: r.Clock(), Actor: "person", Body: &event.BlobRedacted{Blobs: part, By: AtMost(what.By, 200), Why: AtMost(what.Why, 2000)}})
	}
	o := &owner{key: p.name, log: r.Ledger, state: p.state}
	_, refused, err := o.step(ctx, drafts)
	return errors.Join(append(refused, err)...)
}

// passages looks through a quest, for a text if there is one.
func (r *Runtime) passages(ctx context.Context, name, text string) (*passages, error) {
	p := &passages{name: name, can: map[event.Hash]event.Ref{}, not: map[event.Hash]uint64{}, gone: map[event.Hash]bool{}, at: map[uint64][]event.Hash{}}
	var failed error
	s, err := r.until(ctx, name, 0, func(e event.Event) {
		if failed == nil {
			failed = p.take(ctx, r.Blobs, e, text)
		}
	})
	p.state = s
	return p, errors.Join(err, failed)
}

// may tells why a blob cannot be redacted in a quest.
func (p *passages) may(h event.Hash) error {
	if by, ok := p.not[h]; ok {
		return BadPlan("event %d of quest %s needs blob %s for the quest to be read at all (what it was made of, a folder, a list of tools): it cannot be redacted. Fork the quest before that event, or remove it with lyceum clean --data", by, p.name, h)
	}
	if _, ok := p.can[h]; !ok {
		return BadPlan("no event of quest %s names a blob %s", p.name, h)
	}
	return nil
}

// take notes what an event names.
func (p *passages) take(ctx context.Context, store blob.Store, e event.Event, text string) error {
	if text != "" && (strings.Contains(string(e.Line()), text) || strings.Contains(string(e.Line()), quoted(text))) {
		p.text = append(p.text, e.Seq)
	}
	if b, ok := e.Body.(*event.BlobRedacted); ok {
		for _, h := range b.Blobs {
			p.gone[h] = true
		}
		return nil
	}
	refs, trees := event.Refs(e.Body)
	free := event.Passages(e.Body)
	for _, ref := range refs {
		if e.Seq > 1 && slices.Contains(free, ref) {
			p.can[ref.Hash] = ref
			p.at[e.Seq] = append(p.at[e.Seq], ref.Hash)
		} else if _, ok := p.not[ref.Hash]; !ok {
			p.not[ref.Hash] = e.Seq
		}
	}
	for _, t := range trees {
		if _, ok := p.not[t.Hash]; ok {
			continue
		}
		p.not[t.Hash] = e.Seq
		err := blob.Walk(ctx, store, t, func(b event.Ref) error {
			if e.Seq > 1 {
				p.can[b.Hash] = b
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// quoted is a text as it stands inside a line of JSON.
func quoted(text string) string {
	data, err := event.EncodeBody(&event.EmbedderFailed{Text: text})
	if err != nil {
		return text
	}
	_, rest, _ := bytes.Cut(data, []byte(`"text":"`))
	return strings.TrimSuffix(string(rest), `"}`)
}

// holding are the blobs that can be redacted and hold a text.
func (r *Runtime) holding(ctx context.Context, p *passages, text string) (out []event.Hash, err error) {
	if len(text) < 4 {
		return nil, BadPlan("a text to look for has at least four bytes: give more of it")
	}
	for h, ref := range p.can {
		if _, needed := p.not[h]; needed || p.gone[h] {
			continue
		}
		data, err := r.Whole(ctx, ref)
		if err != nil {
			return nil, err
		}
		if bytes.Contains(data, []byte(text)) {
			out = append(out, h)
		}
	}
	return out, nil
}

// others looks through the other quests of the home that hold blobs, and claims them until they are released. Unless it
// is to be done everywhere there may be none.
func (r *Runtime) others(ctx context.Context, name string, blobs []event.Hash, everywhere bool) (out []*passages, release func(), err error) {
	var claims []ledger.Claim
	release = func() {
		for _, c := range claims {
			c.Release()
		}
	}
	names, err := r.sharing(ctx, name, blobs)
	if err != nil || len(names) == 0 {
		return nil, release, err
	}
	if !everywhere {
		return nil, release, BadPlan("other quests hold it, too, and would be damaged: %s. To take it out of all of them: --everywhere", strings.Join(names, ", "))
	}
	for _, other := range names {
		c, err := r.Ledger.Claim(ctx, other)
		if err != nil {
			return nil, release, fmt.Errorf("quest %s holds it, too: %w", other, err)
		}
		claims = append(claims, c)
		p, err := r.passages(ctx, other, "")
		if err != nil {
			return nil, release, fmt.Errorf("quest %s holds it, too: %w", other, err)
		}
		held := slices.DeleteFunc(slices.Clone(blobs), func(h event.Hash) bool { _, can := p.can[h]; _, not := p.not[h]; return !can && !not })
		if len(held) == 0 {
			return nil, release, BadPlan("quest %s holds it in what waits for it: run that first, or remove it with lyceum clean --data", other)
		}
		for _, h := range held {
			if err := p.may(h); err != nil {
				return nil, release, err
			}
		}
		out = append(out, p)
	}
	return out, release, nil
}

// sharing are the other quests that hold one of some blobs.
func (r *Runtime) sharing(ctx context.Context, name string, blobs []event.Hash) (names []string, err error) {
	heads, err := r.Ledger.Quests(ctx)
	if err != nil {
		return nil, err
	}
	for _, head := range heads {
		if head.Quest == name {
			continue
		}
		has := false
		reach := NewReach(r.Ledger, r.Blobs, func(h event.Hash) error { has = has || slices.Contains(blobs, h); return nil })
		if err := reach.Quest(ctx, head.Quest); err != nil {
			return nil, err
		}
		if has {
			names = append(names, head.Quest)
		}
	}
	slices.Sort(names)
	return names, nil
}

// tombKind is the kind of the notes that tell of redacted blobs, by their hashes. They are written from events.
const tombKind = "redacted"

// entomb notes that blobs were redacted, so that whoever looks for their texts is told so.
func (r *Runtime) entomb(ctx context.Context, blobs []event.Hash) error {
	for _, h := range blobs {
		if _, err := r.Ledger.SwapNote(ctx, ledger.Note{Kind: tombKind, Key: h.String(), Body: []byte{'r'}}, nil); err != nil {
			return err
		}
	}
	return nil
}

// IsRedacted reports whether a blob that is not there was redacted.
func (r *Runtime) IsRedacted(ctx context.Context, h event.Hash) bool {
	n, err := r.Ledger.Note(ctx, tombKind, h.String())
	return err == nil && n.Body != nil
}

// redactions are the blobs that events of a quest from seq on say were redacted, and the last of those events.
func (r *Runtime) redactions(ctx context.Context, name string, seq uint64) (last uint64, err error) {
	for line, err := range r.Ledger.Lines(ctx, name, seq) {
		if err != nil {
			return 0, err
		}
		if bytes.Contains(line, []byte(`"type":"blob.redacted"`)) {
			last = seq
		}
		seq++
	}
	return last, nil
}
