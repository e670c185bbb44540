package vouch

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/proof"
)

// Witness is one who is asked to cosign: the key by which it does, and where it is.
type Witness struct {
	Key proof.Verifier
	URL string
}

// Options are what an Office goes by.
type Options struct {
	Ledger ledger.Store
	Signer proof.Signer
	// Statements are notes by which the signer's key follows others.
	Statements []string
	// Every is after how many events of a quest that runs there is a checkpoint, 1000 if 0.
	Every     uint64
	Witnesses []Witness
	// Authorities are where time stamps are asked for.
	Authorities []string
	// Say is told of what did not work, once until it works again; nil tells nobody.
	Say func(line string)
	// Linger is how long Close waits for witnesses and authorities, 3 seconds if 0.
	Linger time.Duration
}

// patience is how long a witness or an authority has for an answer.
const patience = 10 * time.Second

// Office signs checkpoints in the background and has others vouch for them. One goroutine owns all
// of its state; whoever is asked is asked by one more goroutine, one question at a time.
type Office struct {
	opts  Options
	web   *http.Client
	asked chan ask
	done  chan answer
	ctx   context.Context
	stop  context.CancelFunc
	ended chan struct{}
	once  sync.Once
	close chan struct{}
}

// ask is a wish for a checkpoint of a quest. signed, if it is not nil, is told of it; all is told
// once everybody who was asked has answered or not.
type ask struct {
	quest  string
	signed chan<- made
	all    chan<- struct{}
	// hashes are those of the durable events after the event after, as many as are at hand.
	after  uint64
	hashes []event.Hash
}

type made struct {
	row ledger.Checkpoint
	err error
}

// peer is a witness or an authority. The office's goroutine owns it.
type peer struct {
	name string
	ask  func(ctx context.Context, quest string, s sealed) (word, error)
	// waiting are the checkpoints that it is yet to be asked about, the last of each quest.
	waiting map[string]sealed
	busy    bool
	failed  bool
}

// sealed is a checkpoint, and what was read to make it: the hashes of the events since the checkpoint
// before, whose tree is since, so that nobody need read them again to prove that it goes on from there.
// They are nil where there are very many. Nobody changes any of it.
type sealed struct {
	row    ledger.Checkpoint
	since  *proof.Tree
	hashes []event.Hash
}

// then is a later checkpoint in place of one that nobody was asked about yet, with the hashes of both.
func (s sealed) then(later sealed) sealed {
	if s.hashes != nil && later.hashes != nil && later.since.Size() == s.row.Size && len(s.hashes)+len(later.hashes) <= mostHashes {
		later.since, later.hashes = s.since, slices.Concat(s.hashes, later.hashes)
	}
	return later
}

// mostHashes is how many hashes are kept until witnesses have answered.
const mostHashes = 20_000

// word is what a peer said.
type word struct {
	signatures []proof.Signature
	stamp      []byte
}

type answer struct {
	from  *peer
	quest string
	row   ledger.Checkpoint
	word  word
	err   error
}

// Open begins an office, which must be closed.
func Open(opts Options) *Office {
	opts.Every = cmp.Or(opts.Every, 1000)
	opts.Linger = cmp.Or(opts.Linger, 3*time.Second)
	if opts.Say == nil {
		opts.Say = func(string) {}
	}
	o := &Office{
		opts: opts, asked: make(chan ask, 256), done: make(chan answer), ended: make(chan struct{}), close: make(chan struct{}),
		web: &http.Client{
			Timeout: patience, Transport: http.DefaultTransport.(*http.Transport).Clone(),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	// The office goes on while a command that was interrupted ends: Close ends it.
	o.ctx, o.stop = context.WithCancel(context.Background())
	go o.run()
	return o
}

// Begun does nothing: an office is ready once it is open.
func (o *Office) Begun(context.Context) {}

// Every is after how many events of a quest Grown is to be told.
func (o *Office) Every() uint64 { return o.opts.Every }

// Grown says that a quest has grown, and the hashes of its events after a seq, as far as they are at hand.
// It never waits: if the office has too much to do, the next checkpoint is a larger one.
func (o *Office) Grown(quest string, after uint64, hashes []event.Hash) {
	select {
	case o.asked <- ask{quest: quest, after: after, hashes: hashes}:
	default:
	}
}

// Rested says that a quest has come to rest, and waits until its checkpoint is signed. That there is
// none is told and is no failure of the quest.
func (o *Office) Rested(ctx context.Context, quest string) {
	if _, err := o.request(ctx, quest, nil); err != nil {
		o.opts.Say(fmt.Sprintf("quest %s is not signed: %v", quest, err))
	}
}

// Make signs a checkpoint of a quest as it is and waits for what others say to it.
func (o *Office) Make(ctx context.Context, quest string) (ledger.Checkpoint, error) {
	all := make(chan struct{})
	row, err := o.request(ctx, quest, all)
	if err != nil {
		return row, err
	}
	select {
	case <-all:
	case <-ctx.Done():
	}
	return row, nil
}

func (o *Office) request(ctx context.Context, quest string, all chan<- struct{}) (ledger.Checkpoint, error) {
	signed := make(chan made, 1)
	select {
	case o.asked <- ask{quest: quest, signed: signed, all: all}:
	case <-ctx.Done():
		return ledger.Checkpoint{}, ctx.Err()
	case <-o.ended:
		return ledger.Checkpoint{}, ledger.ErrClosed
	}
	select {
	case m := <-signed:
		return m.row, m.err
	case <-o.ended:
		return ledger.Checkpoint{}, ledger.ErrClosed
	}
}

// Close signs what is still to be signed, waits a little for those who were asked, and ends. Whoever
// did not answer last time is not waited for.
func (o *Office) Close() error {
	o.once.Do(func() { close(o.close) })
	<-o.ended
	o.web.CloseIdleConnections()
	return nil
}

func (o *Office) run() {
	defer close(o.ended)
	defer o.stop()
	peers := o.peers()
	var over <-chan time.Time
	waiting := []chan<- struct{}{} // those who want to know when all have answered
	closing := o.close
	for {
		busy, hope := o.dispatch(peers)
		if !busy {
			for _, w := range waiting {
				close(w)
			}
			waiting = nil
		}
		if over != nil && !hope && len(o.asked) == 0 {
			o.giveUp(peers)
			return
		}
		select {
		case a := <-o.asked:
			s, err := o.sign(o.ctx, a)
			if err == nil {
				for _, p := range peers {
					p.waiting[a.quest] = p.waiting[a.quest].then(s)
				}
			}
			if a.signed != nil {
				a.signed <- made{s.row, err}
			}
			if a.all != nil {
				waiting = append(waiting, a.all)
			}
		case r := <-o.done:
			o.heard(r)
		case <-closing:
			closing, over = nil, time.After(o.opts.Linger)
		case <-over:
			o.giveUp(peers)
			return
		}
	}
}

// giveUp ends what is under way and waits for it.
func (o *Office) giveUp(peers []*peer) {
	o.stop()
	for _, p := range peers {
		if p.busy {
			<-o.done
		}
	}
}

// dispatch asks whoever has nothing to do, and tells whether somebody is busy, and whether somebody
// is who can be hoped to answer.
func (o *Office) dispatch(peers []*peer) (busy, hope bool) {
	for _, p := range peers {
		if !p.busy && len(p.waiting) > 0 {
			quest := slices.Min(slices.Collect(keys(p.waiting)))
			s := p.waiting[quest]
			delete(p.waiting, quest)
			p.busy = true
			go func() {
				w, err := p.ask(o.ctx, quest, s)
				o.done <- answer{p, quest, s.row, w, err}
			}()
		}
		busy = busy || p.busy
		hope = hope || p.busy && !p.failed
	}
	return busy, hope
}

func keys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// heard keeps what somebody said with the checkpoint.
func (o *Office) heard(r answer) {
	r.from.busy = false
	err := r.err
	if err == nil {
		err = o.keep(r)
	}
	if err != nil && !r.from.failed && o.ctx.Err() == nil {
		o.opts.Say(fmt.Sprintf("%s did not vouch for quest %s: %v", r.from.name, r.quest, err))
	}
	r.from.failed = err != nil
}

// keep adds a word to a checkpoint, as it stands in the store now.
func (o *Office) keep(r answer) error {
	is := func(c ledger.Checkpoint) bool { return c.Size == r.row.Size && c.Origin == r.row.Origin }
	rows, err := recent(o.ctx, o.opts.Ledger, r.quest, is)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(rows, is)
	if i < 0 {
		return nil // the quest was removed meanwhile
	}
	s, err := Decode(rows[i].Body)
	if err != nil {
		return err
	}
	n, err := proof.ParseNote(s.Note)
	if err != nil {
		return err
	}
	for _, sig := range r.word.signatures {
		n.Signatures = slices.DeleteFunc(n.Signatures, func(old proof.Signature) bool { return old.Name == sig.Name && old.ID == sig.ID })
		n.Signatures = append(n.Signatures, sig)
	}
	s.Note = n.String()
	if r.word.stamp != nil {
		s.Stamps = append(s.Stamps, r.word.stamp)
	}
	if rows[i].Body, err = Encode(s); err != nil {
		return err
	}
	return o.opts.Ledger.PutCheckpoint(o.ctx, r.quest, rows[i])
}

// sign makes a checkpoint of a quest as it is, unless there is one.
func (o *Office) sign(ctx context.Context, a ask) (sealed, error) {
	store, quest := o.opts.Ledger, a.quest
	size, err := a.size(ctx, store)
	if err != nil {
		return sealed{}, err
	}
	rows, err := recent(ctx, store, quest, func(c ledger.Checkpoint) bool { return c.Own })
	if err != nil {
		return sealed{}, err
	}
	var before []proof.Signature // of the same size, by the key that this one follows
	key := o.opts.Signer.Verifier(proof.Author)
	t, origin := &proof.Tree{}, ""
	for _, r := range rows {
		if len(r.Edge) == 0 {
			continue // somebody's word for more events than came along
		}
		if t, err = proof.TreeOf(r.Size, r.Edge); err != nil {
			return sealed{}, err
		}
		if r.Own && strings.HasPrefix(r.Origin, key.Name+"/") {
			origin = r.Origin
			if r.Size >= size && signedBy(r, key) {
				return sealed{row: r}, nil
			}
			if n, err := noteOf(r); err == nil && r.Size == size {
				before = n.Signatures
			}
		}
	}
	if origin == "" {
		var id [16]byte
		rand.Read(id[:]) // never fails
		origin = proof.Origin(key.Name, id[:])
	}
	if size < t.Size() { // another has asked for one of later events
		a.hashes = nil
		if size, err = a.size(ctx, store); err != nil {
			return sealed{}, err
		}
	}
	out := sealed{since: t.Clone()}
	if out.hashes, err = a.grow(ctx, store, t, size); err != nil {
		return sealed{}, err
	}
	out.row, err = o.seal(proof.Checkpoint{Origin: origin, Size: size, Root: t.Root()}, t, before)
	if err != nil {
		return sealed{}, err
	}
	return out, store.PutCheckpoint(ctx, quest, out.row)
}

// size is how many events the checkpoint is to be for: those whose hashes came along, for then nothing
// need be read; all, if there are none or they are not the quest's, and then they are dropped.
func (a *ask) size(ctx context.Context, store ledger.Log) (uint64, error) {
	head, err := store.Head(ctx, a.quest)
	if err != nil {
		return 0, err
	}
	n := len(a.hashes)
	size, last := a.after+uint64(n), head.Hash
	if n > 0 && size < head.Seq {
		for last, err = range Hashes(ctx, store, a.quest, size-1) {
			break
		}
	}
	if err == nil && n > 0 && size <= head.Seq && last == a.hashes[n-1] {
		return size, nil
	}
	a.hashes = nil
	return head.Seq, err
}

// grow adds the hashes of events to a tree until it has a size, and returns them, nil if they are very
// many. Those that came along are the last of them, and are not read.
func (a ask) grow(ctx context.Context, store ledger.Log, t *proof.Tree, size uint64) ([]event.Hash, error) {
	begun, read := t.Size(), size
	if len(a.hashes) > 0 {
		read = a.after
	}
	hashes, err := grow(ctx, store, a.quest, t, read, mostHashes)
	if err != nil || read == size {
		return hashes, err
	}
	for _, h := range a.hashes[t.Size()-a.after:] {
		t.Add(h)
		hashes = append(hashes, h)
	}
	if uint64(len(hashes)) != size-begun {
		return nil, nil
	}
	return hashes, nil
}

func (o *Office) seal(c proof.Checkpoint, t *proof.Tree, before []proof.Signature) (row ledger.Checkpoint, err error) {
	sig, err := o.opts.Signer.Sign(c.Text())
	if err != nil {
		return row, err
	}
	body, err := Encode(proof.Stored{Note: proof.Note{Text: c.Text(), Signatures: append([]proof.Signature{sig}, before...)}.String(), Statements: o.opts.Statements})
	return ledger.Checkpoint{Origin: c.Origin, Size: c.Size, Own: true, Edge: t.Edge(), Body: body}, err
}

// signedBy tells whether a checkpoint is signed by a key: after a rotation it is signed again.
func signedBy(r ledger.Checkpoint, key proof.Verifier) bool {
	n, err := noteOf(r)
	if err != nil {
		return false
	}
	signed, _ := n.By(key)
	return signed == proof.Good
}

func noteOf(r ledger.Checkpoint) (proof.Note, error) {
	s, err := Decode(r.Body)
	if err != nil {
		return proof.Note{}, err
	}
	return proof.ParseNote(s.Note)
}
