package postgres_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/postgres"

	"golang.org/x/sys/unix"
)

// Nodes that are processes of their own, so that they can be stopped, and stand in networks of their own. Each is
// told of quests, claims one when it is free, and writes to it and begins calls for as long as it has it. What it
// did it tells line by line, with the machine's time.

// nodeAddress tells a process of this program that it is a node, and where the database is.
const nodeAddress = "LYCEUM_POSTGRESTEST_NODE"

// nodeBeat is how often they beat: five of these without one, and another has their quests.
const nodeBeat = 200 * time.Millisecond

// What a node may be made to leave out.
const (
	unfenced = "the fence of appends"
	unasked  = "asking before a call"
)

// order is what a node is told: to work on a quest, leaving something out or nothing, or to end that.
type order struct {
	Quest    string
	LeaveOut string
	End      bool
}

// deed is what a node tells: what it did, of which taking, from when to when, and what came of it.
type deed struct {
	Quest        string
	Kind         string // took, look, append, call, lost, ended
	Epoch        int64
	Seq          uint64
	Hash, Next   event.Hash
	Done         bool
	Begun, Ended int64
	Error        string
}

// machineTime is one clock for all processes, which nobody sets.
func machineTime() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err)
	}
	return t.Nano()
}

// nodeMain is a node. It ends when it is told nothing more.
func nodeMain(address string) int {
	n := &actor{quests: map[string]context.CancelFunc{}}
	var err error
	if n.store, err = postgres.Open(context.Background(), address, &postgres.Options{Beat: nodeBeat}); err == nil {
		n.beside, err = postgres.Open(context.Background(), address, nil)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var all sync.WaitGroup
	for in := json.NewDecoder(os.Stdin); ; {
		var o order
		if in.Decode(&o) != nil {
			break
		}
		if o.End {
			n.quests[o.Quest]()
			continue
		}
		ctx, cancel := context.WithCancel(context.Background())
		n.quests[o.Quest] = cancel
		all.Go(func() { n.work(ctx, o) })
	}
	for _, end := range n.quests {
		end()
	}
	all.Wait()
	if err := errors.Join(n.store.Close(), n.beside.Close()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// actor is what a node works with. beside is a store without claims, whose appends nothing fences.
type actor struct {
	store, beside *postgres.Store
	quests        map[string]context.CancelFunc
	mu            sync.Mutex // held while a line is written
}

// note does something, and tells of it.
func (n *actor) note(d deed, do func(*deed) error) deed {
	d.Begun = machineTime()
	err := do(&d)
	d.Ended = machineTime()
	if d.Done = err == nil; !d.Done && !errors.Is(err, ledger.ErrConflict) && !errors.Is(err, ledger.ErrLost) && !errors.Is(err, context.Canceled) {
		d.Error = err.Error()
	}
	line, err := json.Marshal(d)
	if err != nil {
		panic(err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, err := os.Stdout.Write(append(line, '\n')); err != nil {
		os.Exit(1) // nobody listens any more
	}
	return d
}

// work claims a quest whenever it is free, until ctx ends, and tells when there is nothing more to tell.
func (n *actor) work(ctx context.Context, o order) {
	defer func() { n.note(deed{Quest: o.Quest, Kind: "ended"}, func(*deed) error { return nil }) }()
	for ctx.Err() == nil {
		var c ledger.Claim
		begun := machineTime()
		c, err := n.store.Claim(ctx, o.Quest)
		if errors.Is(err, ledger.ErrClaimed) {
			time.Sleep(nodeBeat / 10)
			continue
		}
		d := deed{Quest: o.Quest, Kind: "took"}
		if err == nil {
			d.Epoch = c.(ledger.Fenced).Epoch()
		}
		n.note(d, func(d *deed) error { d.Begun = begun; return err })
		if err == nil {
			n.own(ctx, o, c.(ledger.Fenced))
			c.Release()
		}
	}
}

// own writes and begins calls until the claim is lost, which it tells, or ctx ends.
func (n *actor) own(ctx context.Context, o order, c ledger.Fenced) {
	said := deed{Quest: o.Quest, Epoch: c.Epoch()}
	of := func(kind string) deed { d := said; d.Kind = kind; return d }
	lost := func() { n.note(of("lost"), func(*deed) error { return nil }) }
	for i := 0; ctx.Err() == nil; i++ {
		select {
		case <-c.Lost():
			if o.LeaveOut == "" {
				lost()
				return
			}
		case <-time.After(nodeBeat / 10):
		}
		at := n.note(of("look"), func(d *deed) error {
			head, err := n.store.Head(ctx, o.Quest)
			if errors.Is(err, ledger.ErrNoQuest) {
				err = nil
			}
			d.Seq, d.Hash = head.Seq, head.Hash
			return err
		})
		if !at.Done {
			continue
		}
		if !n.append(ctx, o, at) && ctx.Err() == nil && o.LeaveOut == "" {
			select { // nobody else may write: only the loss of the claim explains it
			case <-c.Lost():
				lost()
				return
			case <-ctx.Done():
				return
			}
		}
		n.note(of("call"), func(*deed) error {
			if o.LeaveOut == unasked {
				return nil
			}
			return c.Sure(ctx)
		})
	}
}

// append adds an event after what was seen, and reports whether that came about. It does not end with ctx: its
// outcome would be open.
func (n *actor) append(ctx context.Context, o order, at deed) bool {
	e, err := event.Seal(o.Quest, at.Seq+1, at.Hash, event.Draft{Actor: "agent-0", Body: &event.UserMessage{Text: event.Text{Text: fmt.Sprint(os.Getpid(), " ", at.Begun)}}})
	if err != nil {
		panic(err)
	}
	at.Kind, at.Next = "append", e.Hash
	return n.note(at, func(*deed) error {
		st := n.store
		if o.LeaveOut == unfenced {
			st = n.beside
		}
		return st.Append(context.WithoutCancel(ctx), ledger.Batch{Quest: o.Quest, Events: []event.Event{e}})
	}).Done
}

// member is such a process.
type member struct {
	t     *testing.T
	who   int
	cmd   *exec.Cmd
	tell  *json.Encoder
	ended chan struct{} // closed when it has told everything

	mu    sync.Mutex // guards what follows
	deeds []deed
}

// newMember starts a node whose command has these words before it, none for this machine's own network.
func newMember(t *testing.T, who int, address string, before ...string) *member {
	t.Helper()
	m := &member{t: t, who: who, ended: make(chan struct{})}
	exe, err := os.Executable()
	must(t, err)
	words := append(slices.Clone(before), exe)
	m.cmd = exec.Command(words[0], words[1:]...)
	m.cmd.Env, m.cmd.Stderr = append(os.Environ(), nodeAddress+"="+address), os.Stderr
	in, err := m.cmd.StdinPipe()
	must(t, err)
	out, err := m.cmd.StdoutPipe()
	must(t, err)
	must(t, m.cmd.Start())
	m.tell = json.NewEncoder(in)
	go func() {
		defer close(m.ended)
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var d deed
			if err := json.Unmarshal(lines.Bytes(), &d); err != nil {
				t.Errorf("node %d tells %q: %v", who, lines.Bytes(), err)
				return
			}
			m.mu.Lock()
			m.deeds = append(m.deeds, d)
			m.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		in.Close()
		_ = m.cmd.Process.Signal(syscall.SIGCONT) // it may stand still, after a test that failed
		<-m.ended
		if err := m.cmd.Wait(); err != nil {
			t.Errorf("node %d: %v", who, err)
		}
	})
	return m
}

func (m *member) order(o order) {
	m.t.Helper()
	must(m.t, m.tell.Encode(o))
}

// of are the deeds of a quest and of a kind so far, of any if it is empty.
func (m *member) of(quest, kind string) (out []deed) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, d := range m.deeds {
		if d.Quest == quest && (kind == "" || d.Kind == kind) {
			out = append(out, d)
		}
	}
	return out
}

// await waits until the node has told of so many deeds of a kind.
func (m *member) await(quest, kind string, n int) []deed {
	m.t.Helper()
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if list := m.of(quest, kind); len(list) >= n {
			return list
		}
		if time.Since(begun) > 90*time.Second {
			m.t.Fatalf("node %d has told %d of %q of quest %s, want %d: %+v", m.who, len(m.of(quest, kind)), kind, quest, n, m.of(quest, ""))
		}
	}
}
