// Package witness cosigns the checkpoints of others' logs, by the C2SP protocol tlog-witness.
//
// A witness remembers of each log the last checkpoint that it signed, and signs another only with a
// proof that it begins with that one. So no log that it knows can show two histories under its name.
// It learns the name of a key, a random id, sizes and hashes; no names or texts of quests.
//
// What it has signed is on disk before it answers, so a crash never makes it forget. A witness whose
// folder is lost must not go on under its key.
package witness

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"

	"lyceum/internal/event"
	"lyceum/internal/proof"

	"golang.org/x/sys/unix"
)

// Options are what a witness goes by.
type Options struct {
	// Keys are those of the logs that it knows: a key signs all logs whose origin is its name, a
	// slash and an id.
	Keys []proof.Verifier
	// FirstUse has it take over the key of a name that it does not know, and no other of that name
	// later, unless the one that it knows names it as the one that follows.
	FirstUse bool
	// Most is how many logs it remembers at most, a million if 0.
	Most  int
	Clock func() event.Time
}

// Witness is an http.Handler of add-checkpoint. Its mutex makes looking at the last checkpoint and
// writing the next one step.
type Witness struct {
	opts   Options
	signer proof.Signer
	dir    string
	lock   *os.File

	mu   sync.Mutex
	logs int // guarded by mu: how many logs are remembered
}

// ErrTaken says that another process is a witness in this folder.
var ErrTaken = errors.New("another process is a witness with this folder")

// Open makes a witness that remembers in a folder, which is made if need be. One process at a time
// has a folder.
func Open(dir string, signer proof.Signer, opts Options) (*Witness, error) {
	if opts.Most == 0 {
		opts.Most = 1_000_000
	}
	for _, d := range []string{"logs", "keys"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return nil, fmt.Errorf("open the witness's folder: %w", err)
		}
	}
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the witness's folder: %w", err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %s", ErrTaken, dir), lock.Close())
	}
	w := &Witness{opts: opts, signer: signer, dir: dir, lock: lock}
	list, err := os.ReadDir(filepath.Join(dir, "logs"))
	if err != nil {
		return nil, errors.Join(err, lock.Close())
	}
	w.logs = len(list)
	return w, nil
}

// Close gives the folder back, also while a child that is being forked has a copy of the file.
func (w *Witness) Close() error {
	return errors.Join(unix.Flock(int(w.lock.Fd()), unix.LOCK_UN), w.lock.Close())
}

// Key is what its cosignatures are checked by.
func (w *Witness) Key() proof.Verifier { return w.signer.Verifier(proof.Cosigner) }

// refusal is an answer that is no cosignature.
type refusal struct {
	status int
	text   string
	size   bool // the text is the size that was signed last
}

func (r *refusal) Error() string { return r.text }

// word is what a request says of keys in its headers.
type word struct {
	key     string
	follows []proof.Statement
}

func wordOf(h http.Header) (w word) {
	w.key = h.Get(proof.KeyHeader)
	follows := h.Values(proof.FollowsHeader)
	for _, text := range follows[:min(proof.MaxFollows, len(follows))] {
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			continue
		}
		if s, err := proof.ParseStatement(string(data)); err == nil {
			w.follows = append(w.follows, s)
		}
	}
	return w
}

// ServeHTTP answers add-checkpoint.
func (w *Witness) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(out, r.Body, proof.MaxNote+16<<10))
	if err != nil {
		http.Error(out, "the request is too long", http.StatusRequestEntityTooLarge)
		return
	}
	line, err := w.add(string(body), wordOf(r.Header))
	if no, ok := errors.AsType[*refusal](err); ok {
		if no.size {
			out.Header().Set("Content-Type", "text/x.tlog.size")
			out.WriteHeader(no.status)
			_, _ = io.WriteString(out, no.text+"\n")
			return
		}
		http.Error(out, no.text, no.status)
		return
	}
	if err != nil {
		http.Error(out, "the witness cannot write down what it signs", http.StatusInternalServerError)
		return
	}
	out.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(out, line)
}

// add is the protocol: what is wrong is a *refusal, any other error the witness's own.
func (w *Witness) add(body string, told word) (string, error) {
	req, err := proof.ParseRequest(body)
	if err != nil {
		return "", &refusal{http.StatusBadRequest, err.Error(), false}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	fresh, err := w.admit(req, told)
	if err != nil {
		return "", err
	}
	last, had, err := w.last(req.Checkpoint.Origin)
	if err != nil {
		return "", err
	}
	if err := consistent(req, last); err != nil {
		return "", err
	}
	if !had && w.logs >= w.opts.Most {
		return "", &refusal{http.StatusForbidden, "the witness has no room for more logs", false}
	}
	if fresh != nil {
		if err := w.write("keys", fresh.Name, fresh.String()+"\n"); err != nil {
			return "", err
		}
	}
	sig, err := w.signer.Cosign(req.Note.Text, int64(w.opts.Clock()/1_000_000))
	if err != nil {
		return "", err
	}
	if err := w.write("logs", req.Checkpoint.Origin, req.Note.Text); err != nil {
		return "", err
	}
	if !had {
		w.logs++
	}
	return sig.Line(), nil
}

// admit finds out whether a known key of the log signed the checkpoint, or one that follows it: each
// named by the one before. fresh is the key that is to be known from now on, in place of the one that
// was.
func (w *Witness) admit(req proof.Request, told word) (fresh *proof.Verifier, err error) {
	owner := req.Checkpoint.Owner()
	var keys []proof.Key
	for _, k := range w.opts.Keys {
		if k.Name == owner && k.Kind == proof.Author {
			keys = append(keys, proof.Key{Verifier: k})
		}
	}
	var remembered proof.Verifier
	first := len(keys) == 0 && w.opts.FirstUse
	if first {
		var k proof.Verifier
		if k, remembered, err = w.firstUse(owner, told.key); err != nil {
			return nil, err
		}
		if k != (proof.Verifier{}) {
			keys = append(keys, proof.Key{Verifier: k})
		}
	}
	if len(keys) == 0 {
		return nil, &refusal{http.StatusNotFound, "this log is not known here", false}
	}
	var good *proof.Verifier
	for _, k := range proof.Extend(keys, told.follows) {
		signed, _ := req.Note.By(k.Verifier)
		if signed == proof.Bad {
			good = nil
			break
		}
		if signed == proof.Good && k.Revoked == 0 {
			good = &k.Verifier // the last of those that follow each other
		}
	}
	if good == nil {
		return nil, &refusal{http.StatusForbidden, "no key of this log that is known here signed the checkpoint, nor one that follows it", false}
	}
	if first && *good != remembered {
		fresh = good
	}
	return fresh, nil
}

// firstUse is the key that a name has: the one that was taken over for it, which is remembered, or the
// one that is told now. It is empty if there is none.
func (w *Witness) firstUse(owner, told string) (key, remembered proof.Verifier, err error) {
	text, err := w.read("keys", owner)
	if err != nil {
		return key, remembered, err
	}
	if text != "" {
		key, err = proof.ParseVerifier(text[:len(text)-1])
		return key, key, err
	}
	if k, err := proof.ParseVerifier(told); err == nil && k.Name == owner && k.Kind == proof.Author {
		key = k
	}
	return key, remembered, nil
}

// consistent is the rule of a witness.
func consistent(req proof.Request, last proof.Checkpoint) error {
	c := req.Checkpoint
	switch {
	case req.Old > c.Size:
		return &refusal{http.StatusBadRequest, "the old size is larger than that of the checkpoint", false}
	case req.Old != last.Size:
		return &refusal{http.StatusConflict, strconv.FormatUint(last.Size, 10), true}
	case req.Old == c.Size && c.Size > 0 && last.Root != c.Root:
		return &refusal{http.StatusConflict, "the log had another root at this size", false}
	}
	if proof.CheckConsistency(last.Size, last.Root, c.Size, c.Root, req.Path) != nil {
		return &refusal{http.StatusUnprocessableEntity, "the proof does not show that the log begins with what it was", false}
	}
	return nil
}

// last is the last checkpoint that was signed of a log, an empty one if there is none.
func (w *Witness) last(origin string) (c proof.Checkpoint, had bool, err error) {
	text, err := w.read("logs", origin)
	if err != nil || text == "" {
		return proof.Checkpoint{Root: event.HashOf(nil)}, false, err
	}
	c, err = proof.ParseCheckpoint(text)
	if err == nil && c.Origin != origin {
		err = errors.New("the witness's folder is damaged: a log stands under another's name")
	}
	return c, true, err
}

// path is where something of a stranger's name is kept: under the name's hash.
func (w *Witness) path(kind, name string) string {
	return filepath.Join(w.dir, kind, event.HashOf([]byte(name)).String())
}

func (w *Witness) read(kind, name string) (string, error) {
	data, err := os.ReadFile(w.path(kind, name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil && len(data) == 0 {
		err = fmt.Errorf("%s is empty: the witness's folder is damaged", w.path(kind, name))
	}
	return string(data), err
}

// write puts a file in place of another, and returns when it is durable.
func (w *Witness) write(kind, name, text string) error {
	path := w.path(kind, name)
	part := filepath.Join(w.dir, "part") // one at a time, and beside the folders that are counted
	f, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(part, path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
