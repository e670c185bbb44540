// Package runtime drives quests: it is the shell around the deterministic core.
//
// One goroutine owns a quest while it runs. It takes all inputs that wait, lets
// the rules decide, appends inputs and decisions in one batch, and only then
// starts the calls among them. Calls run outside, at the same time; each comes
// back as an input. Whatever the owner has in memory can be lost at any moment:
// the ledger is enough to go on from.
package runtime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"lyceum/internal/agent"
	"lyceum/internal/blob"
	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/executor"
	"lyceum/internal/gateway"
	"lyceum/internal/ledger"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/search"
	"lyceum/internal/tool"
)

// Models finds the model of a name. Pins are the files that the quest was made
// with, by name.
type Models func(name string, pin func(name string) ([]byte, error)) (model.Model, error)

// Known is what is known of a model before it is asked.
type Known struct {
	// Priced says whether its cost will be known.
	Priced bool
	// Price is what its tokens cost, nil if that follows from no price.
	Price *event.Price
}

// Measured is how much a model can take and give. A quest that is made is made for that,
// and never asks again.
type Measured struct {
	// Context is how many tokens it can see, 0 for as many as anybody wants.
	Context int64
	// MaxOutput is how many tokens it can answer with, 0 if nobody knows.
	MaxOutput int64
	// Doubt is what a person should know about the context, if it is not certain.
	Doubt string
}

// Runtime is what quests run on. All exported fields must be set, but Workshops,
// Known, Forward, Executors, Measure, Embedder, Secrets, Servers, Registries, Patience, Room, Notice, Vouch and
// Computers.
type Runtime struct {
	Ledger ledger.Store
	Blobs  blob.Store // those too large for the ledger's own database
	Models Models
	Tools  tool.Set
	// Societies are the rules there are; a quest that names none has the first.
	Societies quest.Societies
	// Workshops are what societies need of the world besides, by their names.
	Workshops map[string]Workshop
	// Computers are the drivers of sandboxes, in the order in which auto tries them.
	Computers []computer.Driver
	Clock     Clock
	// Home is the folder with quests/ and cache/.
	Home string
	// Version is this binary's, noted in the ledger.
	Version string
	// Known tells of a model; nil knows every price.
	Known func(model string) Known
	// Forward is the way to the provider of a model, for the gateway; nil for a model that is
	// no provider's, such as demo, which Models has. A nil Forward knows no provider.
	Forward func(model string) (gateway.Upstream, error)
	// Executors finds what is known of an executor, and the folder of the host that has its
	// programs, empty if it needs none. An error about a name that nobody knows lists those
	// that are known. A nil Executors knows none.
	Executors func(name string) (settings executor.Settings, folder string, err error)
	// Measure finds out how much a model can take, and may ask its server; nil knows
	// nothing.
	Measure func(ctx context.Context, model string) Measured
	// Embedder makes vectors of texts that are searched; nil leaves vectors out.
	Embedder search.Embedder
	// Secrets are texts that must not get into a ledger, a blob or a prompt,
	// whoever says them.
	Secrets func() []string
	// AllowWrite and DenyRead are what this home says of computers of quests that do not say it
	// themselves, nil where it says nothing.
	AllowWrite, DenyRead []string
	// Servers is what this home says of MCP servers.
	Servers Servers
	// Registries want credentials while homes are prepared. Their values are among Secrets.
	Registries []Registry
	// Patience is how long a quest waits for a provider that is away, six hours if zero.
	Patience time.Duration
	// Room tells whether the disk of the home has room for more, with an error that
	// blob.Full knows if it has not; nil takes that for granted.
	Room func() error
	// Notice is told of each event of every quest that runs here, once it is durable; nil
	// tells nobody.
	Notice func(event.Event, *quest.State)
	// Vouch has what quests come to signed; nil leaves them unsigned.
	Vouch Voucher
	// Glancers make what lists say of a quest; it is kept when the quest is made and when it comes to rest.
	Glancers []Glancer

	headers  secretValues
	logins   logins
	prompts  prompts
	flights  flights
	holdings holdings
}

func (r *Runtime) known(name string) Known {
	if r.Known == nil {
		return Known{Priced: true}
	}
	return r.Known(name)
}

// secretValues are secrets that were read while quests ran.
type secretValues struct {
	mu   sync.Mutex
	list []string
}

func (v *secretValues) add(secret string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, s := range append(strings.Fields(secret), secret) { // Bearer is none
		if len(s) >= minSecret && !slices.Contains(v.list, s) {
			v.list = append(v.list, s)
		}
	}
}

// secrets are all that are known.
func (r *Runtime) secrets() (out []string) {
	if r.Secrets != nil {
		out = r.Secrets()
	}
	r.headers.mu.Lock()
	defer r.headers.mu.Unlock()
	if len(r.headers.list) == 0 {
		return out
	}
	return slices.Concat(r.headers.list, out)
}

// Redact takes secrets out of a text of the world.
func (r *Runtime) Redact(s string) string { return r.hidden().redact(s) }

// hidden are the secrets that are known now. Finding them out takes longer than looking for them, so
// whoever has several texts asks once.
func (r *Runtime) hidden() hidden { return r.secrets() }

// hidden are secrets that must not stand in any text, if they are long enough to be looked for.
type hidden []string

// redact takes them out of a text.
func (h hidden) redact(s string) string {
	for _, secret := range h {
		if len(secret) >= minSecret && strings.Contains(s, secret) {
			s = strings.ReplaceAll(s, secret, "[key]")
		}
	}
	return s
}

// noSecrets refuses a folder in which a file holds a secret.
func (r *Runtime) noSecrets(dir *os.Root) error {
	secrets := r.secrets()
	if len(secrets) == 0 {
		return nil
	}
	return fs.WalkDir(dir.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		f, err := dir.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		found, err := holdsOneOf(f, secrets)
		if err == nil && found {
			err = fmt.Errorf("%s holds a key that this process uses: take it out, agents would see it", path)
		}
		return err
	})
}

// holdsOneOf looks for texts in a stream, also where two reads meet.
func holdsOneOf(in io.Reader, texts []string) (bool, error) {
	const step = 1 << 20
	var buf []byte
	for {
		old := len(buf)
		buf = append(buf, make([]byte, step)...)
		n, err := io.ReadFull(in, buf[old:])
		buf = buf[:old+n]
		for _, t := range texts {
			if len(t) >= minSecret && bytes.Contains(buf, []byte(t)) {
				return true, nil
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				return false, nil
			}
			return false, err
		}
		buf = append(buf[:0], buf[max(0, len(buf)-1024):]...)
	}
}

// minSecret is how long a secret is at least; a shorter one would take words apart.
const minSecret = 8

// CheckCost refuses limits on the cost of a model, be it the quest's or each
// agent's, where nobody would know the cost.
func (r *Runtime) CheckCost(model string, limits event.Limits) error {
	bounded := limits.Cost != nil || limits.Agent != nil && limits.Agent.Cost != nil
	if !bounded || model == "" || r.known(model).Priced {
		return nil
	}
	return badWord("limits.cost", "", "a limit on the cost means nothing with the model %s, whose price nobody knows: give its price in config.yaml, or limit turns or tokens instead", model)
}

// checkPrice refuses to run an agent whose model costs more than its calls are reserved for.
func (r *Runtime) checkPrice(a *agent.Agent) error {
	now := r.known(a.Model).Price
	if !a.Strict || a.Price == nil || now == nil {
		return nil
	}
	if max(now.Input, now.Cached, now.CacheWrites) <= max(a.Price.Input, a.Price.Cached, a.Price.CacheWrites) && now.Output <= a.Price.Output {
		return nil
	}
	return BadPlan("the tokens of the model %s cost more now than when the quest was made, and its limits are strict by the price of then: make it anew", a.Model)
}

// QuestDir is where a quest's files stand.
func (r *Runtime) QuestDir(name string) string { return filepath.Join(r.Home, "quests", name) }

// agentDir is an agent's workspace.
func (r *Runtime) agentDir(name, agent string) string {
	return filepath.Join(r.QuestDir(name), "agents", agent)
}

// Blob reads a blob, wherever it is kept, and checks it. In the place of one that was redacted
// there are words that say so.
func (r *Runtime) Blob(ctx context.Context, ref event.Ref) ([]byte, error) {
	data, err := r.Whole(ctx, ref)
	if errors.Is(err, blob.ErrNotFound) && r.IsRedacted(ctx, ref.Hash) {
		return []byte(event.Redacted), nil
	}
	return data, err
}

// Whole reads a blob as it was stored, wherever it is kept, and checks it.
func (r *Runtime) Whole(ctx context.Context, ref event.Ref) ([]byte, error) {
	data, err := r.Ledger.Blob(ctx, ref.Hash)
	if errors.Is(err, ledger.ErrNoBlob) {
		data, err = r.Blobs.Get(ctx, ref.Hash)
	}
	if err != nil {
		return nil, err
	}
	if int64(len(data)) != ref.Size {
		return nil, fmt.Errorf("blob %s has %d bytes, its reference says %d", ref.Hash, len(data), ref.Size)
	}
	return data, nil
}

// Load returns a quest's state: from its snapshot, if there is a true one, and
// the events since.
func (r *Runtime) Load(ctx context.Context, name string) (*quest.State, error) {
	o, err := r.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	return o.State, nil
}

// Opened is a quest that was loaded and may be run next, without being read again. Its State is Run's from then on.
type Opened struct {
	State *quest.State
	due   due
}

// Open is Load for whoever looks at a quest before it is run.
func (r *Runtime) Open(ctx context.Context, name string) (*Opened, error) {
	s, due, err := r.load(ctx, name)
	if err != nil {
		return nil, err
	}
	if due.now() {
		_ = due.save(r, name, s) // whoever looks next need not read all that again
	}
	return &Opened{s, due}, nil
}

// take returns what was opened if nothing has happened since, and loads the quest otherwise.
func (r *Runtime) take(ctx context.Context, name string, o *Opened) (*quest.State, due, error) {
	if o != nil {
		head, err := r.Ledger.Head(ctx, name)
		if err != nil {
			return nil, due{}, err
		}
		if head.Seq == o.State.Seq && head.Hash == o.State.Hash {
			return o.State, o.due, nil
		}
	}
	return r.load(ctx, name)
}

// load is Load, and says when the next snapshot is due.
func (r *Runtime) load(ctx context.Context, name string) (*quest.State, due, error) {
	s, size, err := r.loadSnapshot(ctx, name)
	if err != nil {
		return nil, due{}, err
	}
	s, read, err := fold(ctx, r.Ledger, name, s, r.Societies)
	return s, due{size: size, since: read}, err
}
