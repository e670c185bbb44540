package cli

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"

	"lyceum/internal/config"
	"lyceum/internal/event"
	"lyceum/internal/identity"
	"lyceum/internal/ledger"
	"lyceum/internal/proof"
	"lyceum/internal/runtime"
	"lyceum/internal/vouch"
)

// vouching has the quests that run here signed, if the home has a key. Where its secret cannot be
// had they run all the same, and a line says that they are not signed. The key is looked for when
// the first checkpoint is due: most commands need none.
type vouching struct {
	home  string
	conf  *config.Config
	store ledger.Store
	say   func(line string)
	once  sync.Once
	// office is nil before there is one, and if there is no key.
	office atomic.Pointer[vouch.Office]
}

func newVouching(home string, conf *config.Config, store ledger.Store, say func(line string)) *vouching {
	if say == nil {
		say = func(string) {}
	}
	return &vouching{home: home, conf: conf, store: store, say: say}
}

// opened is the office, which the first to ask begins, nil if there is no key.
func (v *vouching) opened(ctx context.Context) *vouch.Office {
	v.once.Do(func() {
		if o := v.begin(ctx); o != nil {
			v.office.Store(o)
		}
	})
	return v.office.Load()
}

func (v *vouching) begin(ctx context.Context) *vouch.Office {
	opts, err := officeOptions(ctx, v.home, v.conf)
	if errors.Is(err, identity.ErrNone) {
		return nil
	}
	if err != nil {
		v.say("Quests that run now are not signed: " + err.Error())
		return nil
	}
	opts.Ledger, opts.Say = v.store, v.say
	return vouch.Open(opts)
}

// officeOptions are by what checkpoints are signed, and who is asked.
func officeOptions(ctx context.Context, home string, conf *config.Config) (opts vouch.Options, err error) {
	if opts.Signer, _, err = identity.Signer(ctx, home); err != nil {
		return opts, err
	}
	book, err := identity.Load(home)
	if err != nil {
		return opts, err
	}
	opts.Statements = book.Lineage(opts.Signer.Verifier(proof.Author))
	if conf == nil {
		return opts, nil
	}
	opts.Every = uint64(conf.Proof.Checkpoints)
	for _, name := range slices.Sorted(maps.Keys(conf.Proof.Witnesses)) {
		w := conf.Proof.Witnesses[name]
		k, err := witnessKey(name, w)
		if err != nil {
			return opts, err
		}
		if w.URL != "" {
			opts.Witnesses = append(opts.Witnesses, vouch.Witness{Key: k, URL: w.URL})
		}
	}
	if t := conf.Proof.Timestamps; t != nil && t.URL != "" {
		opts.Authorities = []string{t.URL}
	}
	return opts, nil
}

func witnessKey(name string, w config.Witness) (proof.Verifier, error) {
	k, err := proof.ParseVerifier(w.PublicKey)
	if err == nil && k.Kind != proof.Cosigner {
		err = errors.New("it is an author's key: want the one that lyceum witness serve prints")
	}
	if err != nil {
		return k, usagef("witnesses.%s.public_key in config.yaml: %w", name, err)
	}
	return k, nil
}

// whomToBelieve is what this home knows of keys, witnesses and authorities: for judging checkpoints.
func whomToBelieve(ctx context.Context, home string, conf *config.Config) (known proof.Known, err error) {
	book, err := identity.Load(home)
	if err != nil {
		return known, err
	}
	known.Keys = book.Keys()
	if os.Getenv(identity.SecretVariable) != "" || os.Getenv(identity.FileVariable) != "" {
		own, _, err := identity.Signer(ctx, home)
		if err != nil {
			return known, err
		}
		known.Keys = append(known.Keys, proof.Key{Verifier: own.Verifier(proof.Author), Trust: "own"})
	}
	if conf == nil {
		return known, nil
	}
	for _, name := range slices.Sorted(maps.Keys(conf.Proof.Witnesses)) {
		k, err := witnessKey(name, conf.Proof.Witnesses[name])
		if err != nil {
			return known, err
		}
		known.Witnesses = append(known.Witnesses, k)
	}
	if t := conf.Proof.Timestamps; t != nil && t.Certificates != "" {
		pem, err := os.ReadFile(t.Certificates)
		if err != nil {
			return known, fmt.Errorf("timestamps.certificates in config.yaml: %w", err)
		}
		known.Authorities = x509.NewCertPool()
		if !known.Authorities.AppendCertsFromPEM(pem) {
			return known, usagef("timestamps.certificates in config.yaml: %s has no certificate in PEM", t.Certificates)
		}
	}
	return known, nil
}

// believed is whomToBelieve of this home.
func (a *app) believed(ctx context.Context) (proof.Known, error) {
	return whomToBelieve(ctx, a.home, a.config)
}

// Every implements runtime.Voucher.
func (v *vouching) Every() uint64 {
	if v.conf == nil || v.conf.Proof.Checkpoints == 0 {
		return defaultCheckpoints
	}
	return uint64(v.conf.Proof.Checkpoints)
}

// Grown implements runtime.Voucher. Where the key is looked for can be slow, so the first time nobody
// waits for it.
func (v *vouching) Grown(quest string, after uint64, hashes []event.Hash) {
	if o := v.office.Load(); o != nil {
		o.Grown(quest, after, hashes)
	}
}

// Rested implements runtime.Voucher.
func (v *vouching) Rested(ctx context.Context, quest string) {
	if o := v.opened(ctx); o != nil {
		o.Rested(ctx, quest)
	}
}

// Begun has the key looked for while a quest begins, so that it is there when the quest has grown.
func (v *vouching) Begun(ctx context.Context) { v.opened(ctx) }

func (v *vouching) close() error {
	v.once.Do(func() {}) // nobody begins one any more, and whoever does is done
	if o := v.office.Load(); o != nil {
		return o.Close()
	}
	return nil
}

var _ runtime.Voucher = (*vouching)(nil)
