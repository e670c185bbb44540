package computertest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"lyceum/internal/computer"
)

// talk is a conversation with a program that says everything back. Its frames are the
// same for everybody; what a Lyceum knows of it stands in two files, as it would in a
// ledger.
type talk struct {
	Command computer.Command
	// Until is how many frames are to be said by now, Last how many there are.
	Until, Last int
	// Heard has what came back; Said how many frames were taken for sure.
	Heard, Said string
}

// frame is what is said in one go: most are short, some longer than any window.
func frame(i int) []byte {
	r := rand.New(rand.NewPCG(uint64(i), 1853))
	size := 1 + r.IntN(1500)
	switch {
	case i%50 == 0:
		size = 300<<10 + r.IntN(100<<10)
	case i%10 == 0:
		size = 60<<10 + r.IntN(10<<10)
	}
	b := make([]byte, size)
	for j := range b {
		b[j] = byte(r.IntN(256))
	}
	return b
}

// goOn takes the conversation up where the last Lyceum was killed, and goes on until
// all is said. If it is not the last, it says old frames once more until it is killed.
func (k *talk) goOn(ctx context.Context, c *computer.Computer, say func(...any)) error {
	if err := c.Start(ctx, k.Command); err != nil {
		return err
	}
	heard := make(chan error, 1)
	go func() { heard <- k.listen(ctx, c) }()
	said, _ := os.ReadFile(k.Said)
	from, _ := strconv.Atoi(string(said))
	at := int64(0)
	for i := range from {
		at += int64(len(frame(i)))
	}
	for i := from; i < k.Until; i++ {
		f := frame(i)
		if _, err := c.WriteAt(ctx, k.Command.ID, at, f, i == k.Last-1); err != nil {
			return err
		}
		at += int64(len(f))
		// What is written down may be behind what was said. It is never before it.
		if i%3 == 0 {
			if err := os.WriteFile(k.Said+".new", []byte(strconv.Itoa(i+1)), 0o600); err != nil {
				return err
			}
			if err := os.Rename(k.Said+".new", k.Said); err != nil {
				return err
			}
		}
	}
	if k.Until == k.Last {
		if err := <-heard; err != nil {
			return err
		}
		say("finished")
		return nil
	}
	say("said")
	for at := int64(0); ; {
		for i := range k.Until {
			f := frame(i)
			if _, err := c.WriteAt(ctx, k.Command.ID, at, f, false); err != nil {
				return err
			}
			at += int64(len(f))
		}
		at = 0
	}
}

// listen keeps what comes back. How much is kept says where to go on.
func (k *talk) listen(ctx context.Context, c *computer.Computer) error {
	f, err := os.OpenFile(k.Heard, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	_, err = io.CopyBuffer(struct{ io.Writer }{f}, c.Follow(ctx, k.Command.ID, computer.Stdout, info.Size()), make([]byte, 1+rand.IntN(100<<10)))
	return err
}

// waitFor waits until a number of frames has come back, and a part of the next.
func (k *talk) waitFor(t *testing.T, frames int) {
	t.Helper()
	want := int64(rand.IntN(len(frame(frames))))
	for i := range frames {
		want += int64(len(frame(i)))
	}
	// It is over in a moment, so there is no time to look only now and then.
	for deadline := time.Now().Add(patience); ; runtime.Gosched() {
		info, err := os.Stat(k.Heard)
		switch {
		case err == nil && info.Size() >= want:
			return
		case time.Now().After(deadline):
			t.Fatalf("waited %v in vain for %d bytes to come back", patience, want)
		}
	}
}

// Conversations lets a Lyceum in a process of its own speak with a program, and kills
// that Lyceum at a random moment, n times. Each byte must have gone each way once.
func Conversations(t *testing.T, open func(t *testing.T) computer.Driver, o Options, n int) {
	if asChild(t, open, o) {
		return
	}
	l := newLab(t, open, o)
	p, dir := place(t), t.TempDir()
	k := &talk{Heard: filepath.Join(dir, "heard"), Said: filepath.Join(dir, "said"), Last: 40 * (n + 1)}
	k.Command = computer.Command{ID: "echo", Args: []string{"cat"}, Input: true, Keep: true, Ahead: 1 << 20}
	todo := chore{Place: p, Idle: 5 * time.Second, Linger: time.Minute, Talk: k}
	late := 0
	for i := range n {
		k.Until = 40 * (i + 1)
		c := spawn(t, todo)
		k.waitFor(t, 40*i+rand.IntN(40))
		for _, line := range c.kill() {
			if strings.HasPrefix(line, "error") {
				t.Errorf("in round %d: %s", i, line)
			}
			if line == "said" {
				late++
			}
		}
	}
	k.Until = k.Last
	c := spawn(t, todo)
	if !c.report.Scan() || c.report.Text() != "finished" {
		t.Fatalf("the last Lyceum says %q, want it to have finished", c.report.Text())
	}
	c.kill()
	var want []byte
	for i := range k.Last {
		want = append(want, frame(i)...)
	}
	got, err := os.ReadFile(k.Heard)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		at := 0
		for at < min(len(got), len(want)) && got[at] == want[at] {
			at++
		}
		t.Errorf("%d bytes came back of %d, and they differ from %d on", len(got), len(want), at)
	}
	m := l.at(t, p, l.opts.Spec, computer.Options{})
	if r, err := m.Wait(soon(t), "echo"); err != nil || r.Exit != 0 || r.Stdout.Size != int64(len(want)) {
		t.Errorf("the program: got %v, want it to have ended well: %v", r, err)
	}
	if _, err := m.WriteAt(soon(t), "echo", int64(len(want)), []byte("x"), false); err == nil || errors.Is(err, computer.ErrGap) {
		t.Errorf("input for a program that is over: got %v, want that there is none", err)
	}
	t.Logf("%d rounds: %d frames and %d bytes each way, killed while repeating %d times", n, k.Last, len(want), late)
}
