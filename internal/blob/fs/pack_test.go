package fs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/blob/blobtest"
	"lyceum/internal/event"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// eager is a store that packs whatever was put before anybody reads it.
type eager struct{ *Store }

func (e eager) Put(ctx context.Context, data []byte) (event.Ref, error) {
	ref, err := e.Store.Put(ctx, data)
	return ref, errors.Join(err, e.pack())
}

func (e eager) Create(ctx context.Context, r io.Reader) (event.Ref, error) {
	ref, err := e.Store.Create(ctx, r)
	return ref, errors.Join(err, e.pack())
}

func (e eager) pack() error {
	// Nobody else's charge may be asked for it.
	if err := e.Store.Pack(context.Background()); !errors.Is(err, blob.ErrBusy) {
		return err
	}
	return nil
}

func TestStoresByWhenTheyPack(t *testing.T) {
	t.Parallel()
	for name, make := range map[string]func(s *Store) blob.Store{
		"AtOnce":        func(s *Store) blob.Store { s.when = AtOnce; return s },
		"Never":         func(s *Store) blob.Store { s.when = Never; return s },
		"BeforeAnyRead": func(s *Store) blob.Store { return eager{s} },
		"AnyTime":       func(s *Store) blob.Store { s.pace.quiet = 0; return s },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			blobtest.Exercise(t, func(t *testing.T) blob.Store {
				s, err := Open(t.TempDir(), &Options{Volatile: true})
				must(t, err)
				t.Cleanup(func() { s.Close() })
				return make(s)
			})
		})
	}
}

// there says in which forms a blob is there.
func there(t *testing.T, s *Store, h event.Hash) string {
	t.Helper()
	var forms []string
	for name, path := range map[string]string{"plain": s.path(h), "packed": s.path(h) + packed} {
		if _, err := os.Lstat(path); err == nil {
			forms = append(forms, name)
		}
	}
	if len(forms) > 1 {
		return "both"
	}
	return strings.Join(forms, "")
}

// expect checks the form, the content and whether there is a mark and nothing half done.
func expect(t *testing.T, s *Store, data []byte, form string, mark bool) {
	t.Helper()
	h := event.HashOf(data)
	if got := there(t, s, h); got != form {
		t.Errorf("the blob is there as %q, want %q", got, form)
	}
	if got, err := s.Get(t.Context(), h); err != nil || !bytes.Equal(got, data) {
		t.Errorf("get: %d other bytes or an error: %v", len(got), err)
	}
	if _, err := os.Lstat(filepath.Join(s.dir, marks, h.String())); (err == nil) != mark {
		t.Errorf("its mark is there: %t, want %t", err == nil, mark)
	}
	if left, err := os.ReadDir(filepath.Join(s.dir, scratch)); err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

func text() []byte { return blobtest.Contents()["text"] }

// idle is a store that packs only when it is told to.
func idle(t *testing.T, dir string) *Store {
	t.Helper()
	s := open(t, dir)
	s.pace.quiet, s.pace.patience = time.Hour, time.Hour
	return s
}

func TestPackingLater(t *testing.T) {
	t.Parallel()
	t.Run("StoresPlainFirst", func(t *testing.T) {
		t.Parallel()
		for name, put := range map[string]func(*Store, []byte) (event.Ref, error){
			"Put":    func(s *Store, b []byte) (event.Ref, error) { return s.Put(t.Context(), b) },
			"Create": func(s *Store, b []byte) (event.Ref, error) { return s.Create(t.Context(), bytes.NewReader(b)) },
		} {
			s := idle(t, t.TempDir())
			_, err := put(s, text())
			must(t, err)
			expect(t, s, text(), "plain", true)
			must(t, s.Pack(t.Context()))
			expect(t, s, text(), "packed", false)
			if _, err := put(s, text()); err != nil {
				t.Errorf("%s of what is packed: %v", name, err)
			}
			must(t, s.Pack(t.Context()))
			expect(t, s, text(), "packed", false)
		}
	})
	t.Run("PacksSmallOnesAtOnce", func(t *testing.T) {
		t.Parallel()
		s := idle(t, t.TempDir())
		put(t, s, string(text()[:promptly]))
		expect(t, s, text()[:promptly], "packed", false)
	})
	t.Run("ChargesTheSameBeforeAndAfter", func(t *testing.T) {
		t.Parallel()
		var spent int64
		for _, pack := range []bool{false, true} {
			s := idle(t, t.TempDir())
			ctx := blob.WithSpend(t.Context(), func(n int64) error { spent += n; return nil })
			for i, want := range []int64{blob.Blocks(int64(len(text()))), 0} {
				spent = 0
				_, err := s.Create(ctx, bytes.NewReader(text()))
				must(t, err)
				if pack {
					// Whoever packs has nothing to spend, nor needs it.
					must(t, s.Pack(blob.WithSpend(ctx, func(int64) error { return errors.New("nothing left") })))
				}
				if spent != want {
					t.Errorf("stored the %d. time, packed in between: %t: charged %d, want %d", i+1, pack, spent, want)
				}
			}
		}
	})
	t.Run("LeavesPlainWhatDoesNotPack", func(t *testing.T) {
		t.Parallel()
		s := idle(t, t.TempDir())
		noise := blobtest.Bytes(5<<20, 1)
		put(t, s, string(noise))
		flushed := 0
		s.flush = func(*os.File) error { flushed++; return nil }
		must(t, s.Pack(t.Context()))
		expect(t, s, noise, "plain", false)
		if flushed > 0 {
			t.Errorf("%d flushes for nothing", flushed)
		}
		f, err := os.Open(s.path(event.HashOf(noise)))
		must(t, err)
		defer f.Close()
		if promising(f, int64(len(noise))) {
			t.Error("long noise is written a second time to find out that it does not pack")
		}
	})
	t.Run("LeavesHolesForZeros", func(t *testing.T) {
		t.Parallel()
		s := idle(t, t.TempDir())
		var spent int64
		ctx := blob.WithSpend(t.Context(), func(n int64) error { spent += n; return nil })
		data := make([]byte, 8<<20+100)
		copy(data[3<<20+10:], "an island")
		ref, err := s.Create(ctx, bytes.NewReader(data))
		must(t, err)
		if got := onDisk(t, s); spent > 2*blob.Block || got > 2*blob.Block {
			t.Errorf("%d bytes with 9 that are not zero: charged %d, %d are taken", ref.Size, spent, got)
		}
		expect(t, s, data, "plain", true)
		must(t, s.Pack(t.Context()))
		// The table alone is longer.
		expect(t, s, data, "plain", false)
	})
	t.Run("FlushesBeforeThePlainFileGoes", func(t *testing.T) {
		t.Parallel()
		s := idle(t, t.TempDir())
		ref := put(t, s, string(text()))
		var log []string
		s.flush = func(f *os.File) error {
			name, _ := filepath.Rel(s.dir, f.Name())
			if strings.HasPrefix(name, scratch) {
				name = "content"
			}
			log = append(log, name+", "+there(t, s, ref.Hash))
			return nil
		}
		must(t, s.Pack(t.Context()))
		want := []string{"content, plain", ref.Hash.String()[:2] + ", both"}
		if diff := cmp.Diff(want, log); diff != "" {
			t.Errorf("the flushes differ (-want +got):\n%s", diff)
		}
		expect(t, s, text(), "packed", false)
	})
	t.Run("KeepsThePlainFileWhenAFlushFails", func(t *testing.T) {
		t.Parallel()
		for n, form := range []string{"plain", "both"} {
			s := idle(t, t.TempDir())
			put(t, s, string(text()))
			broken := errors.New("disk on fire")
			s.flush = func(*os.File) error {
				if n--; n < 0 {
					return broken
				}
				return nil
			}
			if err := s.Pack(t.Context()); !errors.Is(err, broken) {
				t.Errorf("got %v, want the flush's error", err)
			}
			expect(t, s, text(), form, true)
			s.flush = (*os.File).Sync
			must(t, s.Pack(t.Context()))
			expect(t, s, text(), "packed", false)
		}
	})
	t.Run("LeavesADamagedBlobAsItIs", func(t *testing.T) {
		t.Parallel()
		s := idle(t, t.TempDir())
		ref := put(t, s, string(text()))
		bad := bytes.Clone(text())
		bad[1000] ^= 1
		must(t, os.WriteFile(s.path(ref.Hash), bad, 0o600))
		must(t, s.Pack(t.Context()))
		if got, err := os.ReadFile(s.path(ref.Hash)); err != nil || !bytes.Equal(got, bad) || there(t, s, ref.Hash) != "plain" {
			t.Errorf("a damaged blob is changed, or packed: %s, %v", there(t, s, ref.Hash), err)
		}
		if all := files(t, s.dir); len(all) != 1 {
			t.Errorf("the store has %v, want the damaged blob alone", all)
		}
		_, err := s.Create(t.Context(), bytes.NewReader(text()))
		must(t, err)
		expect(t, s, text(), "plain", true)
	})
	t.Run("BelievesOnlyWhatCanBeReadBack", func(t *testing.T) {
		t.Parallel()
		s := idle(t, t.TempDir())
		put(t, s, string(text()))
		spoilt := false
		must(t, s.packMarked(t.Context(), func() wait {
			return func(context.Context) error {
				names, err := filepath.Glob(filepath.Join(s.dir, scratch, "*"))
				must(t, err)
				for _, name := range names {
					data, err := os.ReadFile(name)
					must(t, err)
					// A table is at the end: all is written, and being read back.
					if n := len(data); n > footBytes && bytes.Equal(data[n-4:], []byte{0xB1, 0xEA, 0x92, 0x8F}) && !spoilt {
						spoilt = true
						data[5] ^= 0xff
						must(t, os.WriteFile(name, data, 0o600))
					}
				}
				return nil
			}
		}))
		if !spoilt {
			t.Error("nobody read the packed form back")
		}
		expect(t, s, text(), "plain", false)
	})
	t.Run("HealsWhatIsDamaged", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		s := idle(t, dir)
		ref := put(t, s, string(text()))
		must(t, s.Pack(t.Context()))
		must(t, os.WriteFile(s.path(ref.Hash)+packed, []byte("other"), 0o600))
		put(t, s, string(text()))
		expect(t, s, text(), "both", true)
		must(t, s.Pack(t.Context()))
		expect(t, s, text(), "packed", false)
		must(t, os.WriteFile(s.path(ref.Hash), []byte("other"), 0o600))
		s.when = AtOnce
		put(t, s, string(text()))
		expect(t, s, text(), "packed", false)
	})
	t.Run("DoesNotDisturbWhoReads", func(t *testing.T) {
		t.Parallel()
		s := idle(t, t.TempDir())
		ref := put(t, s, string(text()))
		r, err := s.Open(t.Context(), ref.Hash)
		must(t, err)
		defer r.Close()
		head := make([]byte, 1000)
		_, err = io.ReadFull(r, head)
		must(t, err)
		must(t, s.Pack(t.Context()))
		if rest, err := io.ReadAll(r); err != nil || !bytes.Equal(append(head, rest...), text()) {
			t.Errorf("read on: %d bytes, %v", len(rest), err)
		}
	})
	t.Run("IsForOneProcessAtATime", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		a, b := idle(t, dir), idle(t, dir)
		put(t, a, string(text()))
		pieces := 0
		must(t, a.packMarked(t.Context(), func() wait {
			return func(context.Context) error {
				if pieces++; pieces == 1 {
					return nil
				}
				if err := b.Pack(t.Context()); !errors.Is(err, blob.ErrBusy) {
					t.Errorf("while another packs: %v, want blob.ErrBusy", err)
				}
				return nil
			}
		}))
		must(t, b.Pack(t.Context()))
		expect(t, b, text(), "packed", false)
	})
	t.Run("LeavesTheReserveAlone", func(t *testing.T) {
		t.Parallel()
		s := idle(t, t.TempDir())
		put(t, s, string(text()))
		s.reserve = 1 << 60
		if err := s.Pack(t.Context()); !errors.Is(err, blob.ErrFull) {
			t.Errorf("got %v, want that the reserve is reached", err)
		}
		expect(t, s, text(), "plain", true)
		s.reserve = 0
	})
	t.Run("WritesNothingWhereOneMayOnlyRead", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		s := idle(t, dir)
		put(t, s, string(text()))
		s.press.used.Store(false)
		must(t, s.Close())
		r := OpenReadOnly(dir)
		if err := r.Pack(t.Context()); !errors.Is(err, ErrClosed) {
			t.Errorf("got %v, want ErrClosed", err)
		}
		must(t, r.Close())
		expect(t, r, text(), "plain", true)
		if _, err := os.Lstat(filepath.Join(dir, packFile)); err == nil {
			t.Error("a lock was made")
		}
	})
	t.Run("GivesWayToACollection", func(t *testing.T) {
		t.Parallel()
		s := idle(t, t.TempDir())
		s.pace.quiet, s.pace.patience = time.Millisecond, time.Hour
		defer s.pace.begin()() // somebody writes without end
		ref := put(t, s, string(text()))
		other := put(t, s, "other")
		left, amid := make(chan error, 1), make(chan struct{})
		go func() {
			pieces := 0
			left <- s.packMarked(t.Context(), func() wait {
				calm := s.pace.waiter()
				return func(ctx context.Context) error {
					if pieces++; pieces < 3 {
						return nil
					}
					if pieces == 3 {
						close(amid)
					}
					return calm(ctx)
				}
			})
		}()
		<-amid
		removed, _, err := s.Collect(t.Context(), keeping(ref))
		if removed != 1 || err != nil || has(t, s, other) {
			t.Errorf("collected %d, %v", removed, err)
		}
		if err := <-left; !errors.Is(err, errGiveWay) {
			t.Errorf("the packer ended with %v, want that it gave way", err)
		}
		expect(t, s, text(), "plain", true)
	})
	t.Run("TakesAwayTheMarksOfWhatIsCollected", func(t *testing.T) {
		t.Parallel()
		s := idle(t, t.TempDir())
		put(t, s, string(text()))
		_, _, err := s.Collect(t.Context(), keeping())
		must(t, err)
		must(t, os.WriteFile(filepath.Join(s.dir, marks, "notes.txt"), nil, 0o600))
		must(t, s.Pack(t.Context()))
		if left, err := os.ReadDir(filepath.Join(s.dir, marks)); err != nil || len(left) != 1 || left[0].Name() != "notes.txt" {
			t.Errorf("left %v, %v, want what is nobody's mark", left, err)
		}
	})
	t.Run("IsDoneForAMomentByClose", func(t *testing.T) {
		t.Parallel()
		s := idle(t, t.TempDir())
		put(t, s, string(text()))
		must(t, s.Close())
		expect(t, s, text(), "packed", false)
	})
}

// TestReadersFindABlobWhileItIsPacked reads a blob that is stored plain and packed over and
// over.
func TestReadersFindABlobWhileItIsPacked(t *testing.T) {
	t.Parallel()
	s, err := Open(t.TempDir(), &Options{Volatile: true})
	must(t, err)
	defer s.Close()
	data := text()[:promptly+1]
	ref := put(t, s, string(data))
	var group sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		group.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if got, err := s.Get(t.Context(), ref.Hash); err != nil || !bytes.Equal(got, data) {
					t.Errorf("get: %d bytes, %v", len(got), err)
					return
				}
			}
		})
	}
	for range 300 {
		_, err := s.Create(t.Context(), bytes.NewReader(data))
		must(t, err)
		must(t, s.Pack(t.Context()))
	}
	close(done)
	group.Wait()
}

func TestThePacker(t *testing.T) {
	t.Parallel()
	// What outlives a bubble is not made in one.
	pack(text())
	_, err := coder().DecodeAll(coder().EncodeAll([]byte("x"), nil), nil)
	must(t, err)
	in := func(name string, test func(*testing.T, *Store)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				s, err := Open(dir, &Options{Volatile: true})
				must(t, err)
				test(t, s)
				must(t, s.Close())
			})
		})
	}
	pass := func(d time.Duration) {
		time.Sleep(d)
		synctest.Wait()
	}
	in("PacksOnceNobodyWrites", func(t *testing.T, s *Store) {
		put(t, s, string(text()))
		pass(s.pace.quiet / 2)
		end := s.pace.begin()
		pass(s.pace.quiet * 3)
		expect(t, s, text(), "plain", true)
		end()
		pass(s.pace.quiet / 2)
		expect(t, s, text(), "plain", true)
		pass(s.pace.quiet * 2)
		expect(t, s, text(), "packed", false)
	})
	in("DoesNotWaitForEver", func(t *testing.T, s *Store) {
		defer s.pace.begin()()
		put(t, s, string(text()))
		pass(s.pace.patience / 2)
		expect(t, s, text(), "plain", true)
		pass(s.pace.patience)
		expect(t, s, text(), "packed", false)
	})
	in("FindsWhatWasLeft", func(t *testing.T, s *Store) {
		put(t, s, string(text()))
		s.press.used.Store(false)
		must(t, s.Close())
		expect(t, s, text(), "plain", true)
		next, err := Open(s.dir, nil)
		must(t, err)
		defer next.Close()
		pass(s.pace.quiet * 2)
		expect(t, next, text(), "packed", false)
	})
	in("WaitsForAnotherProcess", func(t *testing.T, s *Store) {
		lock, err := openLock(s.dir, packFile)
		must(t, err)
		must(t, flock(lock, unix.LOCK_EX))
		put(t, s, string(text()))
		pass(s.pace.quiet * 2)
		expect(t, s, text(), "plain", true)
		must(t, release(lock))
		pass(rivals * 2)
		expect(t, s, text(), "packed", false)
	})
	in("EndsInTheMiddleOfABlob", func(t *testing.T, s *Store) {
		defer s.pace.begin()()
		put(t, s, string(text()))
		s.press.used.Store(false) // or Close would pack it
		must(t, s.Close())
		expect(t, s, text(), "plain", true)
	})
}
