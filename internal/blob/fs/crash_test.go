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
	"strings"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/blob/blobtest"
	"lyceum/internal/event"
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
		os.Exit(m.Run())
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
	for i := uint64(0); ; i++ {
		data := blobtest.Bytes(1+int(i%7)*20_000, uint64(os.Getpid())<<4+i)
		ref, err := s.Put(context.Background(), data)
		if err != nil {
			return err
		}
		if _, err := fmt.Println(ref.Hash); err != nil {
			return err
		}
	}
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

// TestKill kills a writer in the middle of its puts, time and again.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	torn := 0
	for round := range 30 {
		writer := start(t, "write", dir)
		var stored []string
		for range round % 5 {
			stored = append(stored, writer.line())
		}
		writer.kill()
		// What it managed to say before it died counts too.
		for writer.lines.Scan() {
			stored = append(stored, writer.lines.Text())
		}
		for _, name := range files(t, dir) {
			if strings.HasPrefix(name, scratch) {
				torn++
			}
		}
		verifyAfterCrash(t, dir, stored)
	}
	t.Logf("%d puts were torn", torn)
}

func verifyAfterCrash(t *testing.T, dir string, stored []string) {
	t.Helper()
	s, err := Open(dir, nil)
	must(t, err)
	defer s.Close()
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
