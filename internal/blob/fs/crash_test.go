package fs

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/blob/blobtest"
	"lyceum/internal/event"

	"go.uber.org/goleak"
)

// The test binary starts itself as a second process. These variables say what it
// is to do and with which store.
const (
	childTask = "LYCEUM_BLOB_TEST_TASK"
	childDir  = "LYCEUM_BLOB_TEST_DIR"
)

func TestMain(m *testing.M) {
	task := os.Getenv(childTask)
	if task == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := child(task, os.Getenv(childDir)); err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

func child(task, dir string) error {
	s, err := Open(dir, nil)
	if err != nil {
		return err
	}
	fmt.Println("open")
	if task == "hold" {
		// Ends with the parent at the latest, whose end of the pipe closes then.
		_, err = io.Copy(io.Discard, os.Stdin)
		return err
	}
	if deaths, err := strconv.Atoi(task); err == nil {
		return dieAt(s, deaths)
	}
	s.pace.quiet = 0 // its own packer works, too
	for i := uint64(0); ; i++ {
		data := blobtest.Bytes(1+int(i%7)*20_000, uint64(os.Getpid())<<4+i)
		if task == "pack" {
			data = bytes.Repeat(data[:1+len(data)/9], 40)
		}
		ref, err := s.Put(context.Background(), data)
		if err != nil {
			return err
		}
		if _, err := fmt.Println(ref.Hash); err != nil {
			return err
		}
		if task == "pack" && i%3 == 0 {
			if err := s.Pack(context.Background()); err != nil && !errors.Is(err, blob.ErrBusy) {
				return err
			}
		}
	}
}

// dieAt stores a blob and packs it, and is killed in front of a flush.
func dieAt(s *Store, flush int) error {
	s.pace.quiet = time.Hour
	s.flush = func(f *os.File) error {
		if flush--; flush == 0 {
			if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
				return err
			}
			select {}
		}
		return f.Sync()
	}
	ref, err := s.Put(context.Background(), text())
	if err != nil {
		return err
	}
	fmt.Println(ref.Hash)
	if err := s.Pack(context.Background()); err != nil {
		return err
	}
	fmt.Println("packed")
	return nil
}

// process is a second process that has the store open.
type process struct {
	cmd   *exec.Cmd
	lines *bufio.Scanner
}

func start(t *testing.T, task, dir string) *process {
	t.Helper()
	exe, err := os.Executable()
	must(t, err)
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), childTask+"="+task, childDir+"="+dir)
	_, err = cmd.StdinPipe()
	must(t, err)
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	p := &process{cmd, bufio.NewScanner(out)}
	t.Cleanup(p.kill)
	if got := p.line(); got != "open" {
		t.Fatalf("the second process says %q", got)
	}
	return p
}

func (p *process) line() string {
	p.lines.Scan()
	return p.lines.Text()
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

func TestSecondProcess(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	put(t, s, "x")
	other := start(t, "hold", dir)
	if _, _, err := s.Collect(t.Context(), keeping()); !errors.Is(err, blob.ErrBusy) {
		t.Errorf("while it runs: %v, want blob.ErrBusy", err)
	}
	other.kill()
	if removed, _, err := s.Collect(t.Context(), keeping()); removed != 1 || err != nil {
		t.Errorf("after its death: removed %d, %v", removed, err)
	}
}

// TestKill kills a writer in the middle of its puts, time and again, and one that packs
// what it has put, too.
func TestKill(t *testing.T) {
	t.Parallel()
	for name, task := range map[string]string{"AWriter": "write", "APacker": "pack"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			torn, both, tight := 0, 0, 0
			for round := range 30 {
				writer := start(t, task, dir)
				var stored []string
				for range round % 9 {
					stored = append(stored, writer.line())
				}
				// Often while a file is half written, and else at any moment.
				for range round * 7 {
					if half, err := os.ReadDir(filepath.Join(dir, scratch)); err == nil && len(half) > 0 && round%3 > 0 {
						break
					}
				}
				writer.kill()
				// What it managed to say before it died counts too.
				for writer.lines.Scan() {
					stored = append(stored, writer.lines.Text())
				}
				there := files(t, dir)
				for i, name := range there {
					switch {
					case strings.HasPrefix(name, scratch):
						torn++
					case i > 0 && name == there[i-1]+packed:
						both++
					case strings.HasSuffix(name, packed):
						tight++
					}
				}
				verifyAfterCrash(t, dir, stored)
			}
			t.Logf("%d files were torn, %d blobs were there in both forms and %d packed", torn, both, tight)
			if task == "pack" && tight == 0 {
				t.Error("nothing was ever packed")
			}
		})
	}
}

// TestKillInFrontOfEveryFlush is killed at each step of one blob's way.
func TestKillInFrontOfEveryFlush(t *testing.T) {
	t.Parallel()
	for n, want := range []string{"", "plain", "plain", "plain", "both", "packed"} {
		dir := t.TempDir()
		p := start(t, strconv.Itoa(n+1), dir)
		var stored []string
		for p.lines.Scan() {
			stored = append(stored, p.lines.Text())
		}
		_ = p.cmd.Wait()
		h := event.HashOf(text())
		if got := there(t, &Store{dir: dir}, h); got != want {
			t.Errorf("killed in front of flush %d the blob is there as %q, want %q", n+1, got, want)
		}
		if n > 2 && (len(stored) == 0 || stored[0] != h.String()) {
			t.Errorf("killed in front of flush %d it had said %q, want the blob", n+1, stored)
		}
		verifyAfterCrash(t, dir, stored)
	}
}

func verifyAfterCrash(t *testing.T, dir string, stored []string) {
	t.Helper()
	s, err := Open(dir, nil)
	must(t, err)
	defer s.Close()
	s.press.end() // or its packer's files would be taken for those of the dead
	for ref, err := range s.List(t.Context()) {
		must(t, err)
		if _, err := s.Get(t.Context(), ref.Hash); err != nil {
			t.Error(err)
		}
	}
	for _, line := range stored {
		h, err := event.ParseHash(line)
		if err != nil {
			continue // the last line, cut off by the kill
		}
		if !has(t, s, event.Ref{Hash: h}) {
			t.Errorf("blob %s was put and is not there", h)
		}
	}
	for _, name := range files(t, dir) {
		if strings.HasPrefix(name, scratch) {
			t.Errorf("%s was left behind", name)
		}
	}
	// What was left undone is done, and nothing is lost by that either.
	must(t, s.Pack(t.Context()))
	if s.marked() {
		t.Error("not all of what was marked is packed")
	}
	for held, err := range s.List(t.Context()) {
		must(t, err)
		if _, err := s.Get(t.Context(), held.Hash); err != nil {
			t.Errorf("after packing: %v", err)
		}
	}
	for i, there := 1, files(t, dir); i < len(there); i++ {
		if there[i] == there[i-1]+packed {
			t.Errorf("%s is there in both forms", there[i-1])
		}
	}
	// Begin the next round with little to look through.
	_, _, err = s.Collect(t.Context(), keeping())
	must(t, err)
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	s := open(t, smallDisk(t))
	var stored []event.Ref
	var err error
	for i := uint64(0); err == nil; i++ {
		var ref event.Ref
		if ref, err = s.Put(t.Context(), blobtest.Bytes(100_000, i)); err == nil {
			stored = append(stored, ref)
		}
	}
	if !errors.Is(err, errNoSpace) {
		t.Fatalf("got %v, want that the disk is full", err)
	}
	if _, err := s.Create(t.Context(), bytes.NewReader(blobtest.Bytes(3<<20, 1))); !errors.Is(err, errNoSpace) {
		t.Errorf("got %v, want that the disk is full", err)
	}
	s.press.end() // a file that it writes meanwhile is none of those
	if got := files(t, s.dir); len(got) != len(stored) {
		t.Errorf("%d files for %d blobs", len(got), len(stored))
	}
	for _, ref := range stored {
		if _, err := s.Get(t.Context(), ref.Hash); err != nil {
			t.Error(err)
		}
	}
	// Room again: the store goes on as if nothing had been.
	_, _, err = s.Collect(t.Context(), keeping(stored[0]))
	must(t, err)
	put(t, s, string(blobtest.Bytes(100_000, 99)))
}
