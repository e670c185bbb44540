package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/society/stages"
	"lyceum/internal/society/stages/study"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// baselines answers baseline.call. A published baseline is a folder of the home, baselines/ and
// its name: baseline.json says what it is, output.txt what its program printed, objects/ has
// its files and folders by their hashes. It comes into being by a rename, whole or not at all,
// and is never changed. Whoever attaches one believes nothing of it but what sums up.
type baselines struct {
	q *runtime.Quest
	// step is told before each thing that is done to the disk, for tests; nil tells nobody.
	step func(what string)
}

const (
	baselinesDir  = "baselines"
	manifestFile  = "baseline.json"
	outputFile    = "output.txt"
	objectsDir    = "objects"
	maxManifest   = 64 << 10
	maxPublished  = 512 << 20
	maxPublishedN = 100_000
)

// manifest is baseline.json: the baseline, and the event that it rests on, as it stands in the
// ledger of its quest, with the hash before it. So the figures cannot be changed by themselves.
type manifest struct {
	Entry    event.BaselineEntry `json:"entry"`
	Line     string              `json:"line"`
	Previous event.Hash          `json:"previous"`
}

// Start implements runtime.Service.
func (s *baselines) Start(e event.Event) (runtime.Work, error) {
	b := e.Body.(*event.BaselineCall)
	run := uint64(0)
	if b.Action == study.Publish {
		if r := stages.Of(s.q.State).Study.Result(b.Entry.Result); r != nil {
			run = r.Run
		}
	}
	return func(ctx context.Context) ([]event.Draft, error) {
		on, out := runtime.Refusable(ctx), &event.BaselineResult{Call: e.Seq}
		var err error
		if b.Action == study.Publish {
			err = s.publish(on, e.Seq, b, run)
		} else {
			out.Entry, err = s.attach(on, b.Name)
		}
		why, full := runtime.NoRoom(err)
		refused, no := errors.AsType[*refusal](err)
		switch {
		case full:
			out.Entry, out.Error = nil, why
		case no:
			out.Entry, out.Error = nil, runtime.AtMost(s.q.Redact(refused.Error()), 1000)
		case err != nil:
			return nil, fmt.Errorf("baseline.call %d: %w", e.Seq, err)
		}
		return []event.Draft{s.q.Result(e.Seq, "core", out)}, nil
	}, nil
}

// refusal is what is told to whoever asked: nothing is wrong with this machine.
type refusal struct{ text string }

func (e *refusal) Error() string { return e.text }

func refuse(format string, args ...any) error { return &refusal{fmt.Sprintf(format, args...)} }

func (s *baselines) tell(format string, args ...any) {
	if s.step != nil {
		s.step(fmt.Sprintf(format, args...))
	}
}

// shelf is the folder of all baselines.
func (s *baselines) shelf() (*os.Root, error) {
	dir := filepath.Join(s.q.Home, baselinesDir)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

// publish puts a baseline into the home. Made again after a crash, it finds its own.
func (s *baselines) publish(ctx context.Context, seq uint64, b *event.BaselineCall, run uint64) (err error) {
	m, err := s.manifest(ctx, b.Entry, run)
	if err != nil {
		return err
	}
	shelf, err := s.shelf()
	if err != nil {
		return err
	}
	defer shelf.Close()
	if _, err := shelf.Lstat(b.Name); err == nil {
		return s.same(shelf, b.Name, m)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	draft := fmt.Sprintf(".new-%s-%d", s.q.Key, seq)
	if err := shelf.RemoveAll(draft); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = shelf.RemoveAll(draft) // the next attempt removes it
		}
	}()
	if err := s.write(ctx, shelf, draft, m); err != nil {
		return err
	}
	s.tell("rename")
	if err := shelf.Rename(draft, b.Name); err != nil {
		if _, there := shelf.Lstat(b.Name); there == nil {
			return s.same(shelf, b.Name, m) // somebody else was faster
		}
		return err
	}
	s.tell("flush the shelf")
	return flush(shelf, ".")
}

// manifest is what is said of a baseline.
func (s *baselines) manifest(ctx context.Context, x *event.BaselineEntry, run uint64) (*manifest, error) {
	for e, err := range s.q.Ledger.Read(ctx, s.q.Key, max(run, 2)-1) {
		switch {
		case err != nil:
			return nil, err
		case e.Seq+1 == run:
			m := &manifest{Entry: *x, Previous: e.Hash}
			for e, err := range s.q.Ledger.Read(ctx, s.q.Key, run) {
				if err == nil && e.Hash != x.Event {
					err = refuse("the run that it rests on is not the one that is recorded")
				}
				m.Line = string(e.Line())
				return m, err
			}
		}
		break
	}
	return nil, refuse("the run that it rests on is not recorded")
}

// same reports that a baseline is there already, or that another is.
func (s *baselines) same(shelf *os.Root, name string, m *manifest) error {
	there, err := readManifest(shelf, name)
	if err != nil || there.Entry.Event != m.Entry.Event || there.Entry.Result != m.Entry.Result || there.Entry.Tree != m.Entry.Tree {
		return refuse("there is another baseline %s already: choose another name", name)
	}
	return nil
}

// write writes a baseline into a folder, and flushes it.
func (s *baselines) write(ctx context.Context, shelf *os.Root, draft string, m *manifest) error {
	s.tell("make the folder")
	if err := shelf.MkdirAll(filepath.Join(draft, objectsDir), 0o700); err != nil {
		return err
	}
	data, err := json.Marshal(m, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	output, err := s.q.Blobs.Open(ctx, m.Entry.Output.Hash)
	if err != nil {
		return fmt.Errorf("read what it printed: %w", err)
	}
	defer output.Close()
	if err := s.put(ctx, shelf, filepath.Join(draft, outputFile), output); err != nil {
		return err
	}
	size, count := int64(0), 0
	err = blob.Walk(ctx, s.q.Blobs, m.Entry.Tree, func(ref event.Ref) error {
		if size, count = size+ref.Size, count+1; size > maxPublished || count > maxPublishedN {
			return refuse("it is too large to travel: a baseline has at most %d MiB in %d files", maxPublished>>20, maxPublishedN)
		}
		in, err := s.q.Blobs.Open(ctx, ref.Hash)
		if err != nil {
			return err
		}
		defer in.Close()
		return s.put(ctx, shelf, filepath.Join(draft, objectsDir, ref.Hash.String()), in)
	})
	if err != nil {
		return err
	}
	if err := s.put(ctx, shelf, filepath.Join(draft, manifestFile), bytes.NewReader(data)); err != nil {
		return err
	}
	s.tell("flush the folder")
	return errors.Join(flush(shelf, filepath.Join(draft, objectsDir)), flush(shelf, draft))
}

// put writes a file, and flushes it.
func (s *baselines) put(ctx context.Context, root *os.Root, name string, in io.Reader) error {
	s.tell("write %s", name)
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, in)
	return errors.Join(err, blob.Charge(ctx, blob.Blocks(n)), f.Sync(), f.Close())
}

// flush makes what a folder lists durable.
func flush(root *os.Root, name string) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// attach brings the files of a published baseline into this home's blobs, after everything that
// can be known of it was looked at.
func (s *baselines) attach(ctx context.Context, name string) (*event.BaselineEntry, error) {
	shelf, err := s.shelf()
	if err != nil {
		return nil, err
	}
	defer shelf.Close()
	if info, err := shelf.Lstat(name); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, refuse("there is no baseline %s in this home", name)
	} else if err != nil {
		return nil, err
	}
	m, err := readManifest(shelf, name)
	if err != nil {
		return nil, refuse("the baseline %s has changed: %v", name, err)
	}
	x := &m.Entry
	root, err := shelf.OpenRoot(name)
	if err != nil {
		return nil, refuse("the baseline %s cannot be opened: %v", name, err)
	}
	defer root.Close()
	if err := s.printed(ctx, root, x); err != nil {
		return nil, changed(name, err)
	}
	return x, changed(name, s.bring(ctx, &objects{root}, x.Tree))
}

// changed says what is not as it was published; what is wrong with this machine it passes on.
func changed(name string, err error) error {
	if err == nil || blob.Full(err) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if _, full := runtime.NoRoom(err); full {
		return err
	}
	return refuse("the baseline %s has changed since it was published: %v", name, err)
}

// readManifest reads what a baseline says of itself, and checks what can be known without its
// files.
func readManifest(shelf *os.Root, name string) (*manifest, error) {
	data, err := readPlain(shelf, filepath.Join(name, manifestFile), maxManifest)
	if err != nil {
		return nil, err
	}
	var m manifest
	if err := json.Unmarshal(data, &m, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("%s is not what is written there: %w", manifestFile, err)
	}
	if err := study.CheckEntry(&m.Entry); err != nil {
		return nil, fmt.Errorf("%s: %w", manifestFile, err)
	}
	e, err := event.Parse([]byte(m.Line))
	if err != nil {
		return nil, fmt.Errorf("%s: its event is none: %w", manifestFile, err)
	}
	if err := e.Follows(e.Seq-1, m.Previous); err != nil || e.Hash != m.Entry.Event {
		return nil, fmt.Errorf("%s: the hash of its event is another", manifestFile)
	}
	r, ok := e.Body.(*event.ReproductionResult)
	if !ok || r.Output == nil || *r.Output != m.Entry.Output {
		return nil, fmt.Errorf("%s: its event is about something else", manifestFile)
	}
	if verdict, why := study.Judge(m.Entry.Metrics, r); verdict != study.Verified {
		return nil, fmt.Errorf("%s: its figures are not those of its event: %s", manifestFile, why)
	}
	return &m, nil
}

// readPlain reads a regular file of at most so many bytes: no pipe, no link, no device.
func readPlain(root *os.Root, name string, most int64) ([]byte, error) {
	f, err := openPlain(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("%s is longer than %d bytes", filepath.Base(name), most)
	}
	return data, err
}

func openPlain(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is missing", filepath.Base(name))
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read", filepath.Base(name))
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		_ = f.Close()
		return nil, fmt.Errorf("%s is no file", filepath.Base(name))
	}
	return f, nil
}

// printed checks and keeps what the program of a baseline printed elsewhere.
func (s *baselines) printed(ctx context.Context, root *os.Root, x *event.BaselineEntry) error {
	data, err := readPlain(root, outputFile, x.Output.Size)
	if err != nil {
		return err
	}
	if event.RefOf(data) != x.Output {
		return fmt.Errorf("%s is not what was printed", outputFile)
	}
	if err := printsFigures(x.Metrics, data); err != nil {
		return err
	}
	_, err = s.q.Blobs.Put(ctx, data)
	return err
}

// bring copies all that a tree names into the blobs, and checks each.
func (s *baselines) bring(ctx context.Context, from *objects, tree event.TreeRef) error {
	size, count := int64(0), 0
	var last event.Ref
	err := blob.Walk(ctx, from, tree, func(ref event.Ref) error {
		last = ref
		if size, count = size+ref.Size, count+1; ref.Size < 0 || size > maxPublished || count > maxPublishedN {
			return fmt.Errorf("it has more than %d MiB in %d files", maxPublished>>20, maxPublishedN)
		}
		in, err := from.Open(ctx, ref.Hash)
		if err != nil {
			return err
		}
		defer in.Close()
		got, err := s.q.Blobs.Create(ctx, io.LimitReader(in, ref.Size+1))
		if err == nil && got != ref {
			err = &blob.DamageError{Hash: ref.Hash, Where: objectsDir}
		}
		return err
	})
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*blob.DamageError](err); ok || errors.Is(err, blob.ErrNotFound) {
		return fmt.Errorf("%s is not as it was", from.whose(ctx, tree, last.Hash))
	}
	return err
}

// objects are the files of a baseline by their hashes. Nothing they give is believed unless it
// sums up.
type objects struct{ root *os.Root }

var errReadOnly = errors.New("a published baseline is not written to")

func (o *objects) Put(context.Context, []byte) (event.Ref, error) {
	return event.Ref{}, errReadOnly
}
func (o *objects) Create(context.Context, io.Reader) (event.Ref, error) {
	return event.Ref{}, errReadOnly
}

// Get implements blob.Store.
func (o *objects) Get(ctx context.Context, h event.Hash) ([]byte, error) {
	in, err := o.Open(ctx, h)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(in)
}

// Open implements blob.Store.
func (o *objects) Open(_ context.Context, h event.Hash) (io.ReadCloser, error) {
	f, err := openPlain(o.root, filepath.Join(objectsDir, h.String()))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", blob.ErrNotFound, err)
	}
	return blob.Verify(f, h, objectsDir), nil
}

// Has implements blob.Store.
func (o *objects) Has(_ context.Context, h event.Hash) (bool, error) {
	info, err := o.root.Lstat(filepath.Join(objectsDir, h.String()))
	return err == nil && info.Mode().IsRegular(), nil
}

// whose is the path of the first file that has a hash, for words.
func (o *objects) whose(ctx context.Context, tree event.TreeRef, h event.Hash) string {
	name, left := "a folder of it", maxPublishedN
	_ = blob.Files(ctx, o, tree, func(path string, ref event.Ref) error {
		if left--; ref.Hash == h {
			name = fmt.Sprintf("the file %q", runtime.AtMost(path, 200))
			return io.EOF
		}
		if left == 0 {
			return io.EOF
		}
		return nil
	}) // what cannot be read has no name
	return name
}
