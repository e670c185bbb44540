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
	"strings"

	"lyceum/internal/blob"
	"lyceum/internal/computer"
	"lyceum/internal/event"
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
	// Context is how many tokens it can see, 0 if nobody knows.
	Context int64
}

// Runtime is what quests run on. All exported fields must be set, but Workshops,
// Known, Embedder, Secrets and Computers.
type Runtime struct {
	Ledger ledger.Store
	Blobs  blob.Store // those too large for the ledger's own database
	Models Models
	Tools  *tool.Registry
	// Societies are the rules there are; a quest that names none has the first.
	Societies []quest.Society
	// Workshops are what societies need of the world besides, by their names.
	Workshops map[string]Workshop
	// Computers are the drivers of sandboxes, in the order in which auto tries them.
	Computers []computer.Driver
	Clock     Clock
	// Home is the folder with quests/ and cache/.
	Home string
	// Version is this binary's, noted in the ledger.
	Version string
	// Known tells of a model; nil knows every price and no context.
	Known func(model string) Known
	// Embedder makes vectors of texts for contract nets; nil leaves vectors out.
	Embedder search.Embedder
	// Secrets are texts that must not get into a ledger, a blob or a prompt,
	// whoever says them.
	Secrets func() []string

	prompts prompts
}

func (r *Runtime) known(name string) Known {
	if r.Known == nil {
		return Known{Priced: true}
	}
	return r.Known(name)
}

// Redact takes secrets out of a text of the world.
func (r *Runtime) Redact(s string) string {
	if r.Secrets == nil {
		return s
	}
	for _, secret := range r.Secrets() {
		if len(secret) >= minSecret && strings.Contains(s, secret) {
			s = strings.ReplaceAll(s, secret, "[key]")
		}
	}
	return s
}

// noSecrets refuses a folder in which a file holds a secret.
func (r *Runtime) noSecrets(dir *os.Root) error {
	if r.Secrets == nil || len(r.Secrets()) == 0 {
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
		found, err := holdsOneOf(f, r.Secrets())
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
	return BadPlan("a limit on the cost means nothing with the model %s, whose price nobody knows: give its price in config.yaml, or limit turns or tokens instead", model)
}

// QuestDir is where a quest's files stand.
func (r *Runtime) QuestDir(name string) string { return filepath.Join(r.Home, "quests", name) }

// agentDir is an agent's workspace.
func (r *Runtime) agentDir(name, agent string) string {
	return filepath.Join(r.QuestDir(name), "agents", agent)
}

// Blob reads a blob, wherever it is kept, and checks it.
func (r *Runtime) Blob(ctx context.Context, ref event.Ref) ([]byte, error) {
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
	s, err := r.loadSnapshot(ctx, name)
	if err != nil {
		return nil, err
	}
	return fold(ctx, r.Ledger, name, s, r.Societies)
}
