package ledgertest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"sync"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
)

// childDir is set in the environment of a process that Crash starts.
const childDir = "LYCEUM_LEDGERTEST_DIR"

// Main runs a driver's tests. Started by Crash, it writes instead until it is
// killed.
func Main(m *testing.M, open Open) int {
	dir := os.Getenv(childDir)
	if dir == "" {
		return m.Run()
	}
	if err := writeUntilKilled(dir, open); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// writeUntilKilled has 64 writers append, and says of each event that it was
// acknowledged only after it was.
func writeUntilKilled(dir string, open Open) error {
	st, err := open(dir)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	for i := range 64 {
		wg.Go(func() {
			err := writeSome(st, fmt.Sprintf("q%d", i%48), i, 1<<30, func(e event.Event) {
				mu.Lock()
				defer mu.Unlock()
				fmt.Printf("%s %d %s\n", e.Quest, e.Seq, e.Hash)
			})
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		})
	}
	wg.Wait()
	return nil
}

// Crash kills a writing process at random moments, over and over, and checks
// each time that no acknowledged event is lost, that there is no gap and no
// repeat, and that whatever another process could see is still there. The
// driver's TestMain must call Main.
func Crash(t *testing.T, open Open, rounds int) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var c *crash
	acked := 0
	for round := range rounds {
		if round%25 == 0 {
			c = &crash{open: open, dir: t.TempDir(), verified: map[string]ledger.Head{}}
		}
		n := rng.IntN(1500)
		if err := c.round(n); err != nil {
			t.Fatalf("round %d (seed %d, killed after %d acknowledgements): %v", round, seed, n, err)
		}
		acked += n
	}
	t.Logf("%d rounds, at least %d acknowledged events, none lost", rounds, acked)
}

type crash struct {
	open     Open
	dir      string
	verified map[string]ledger.Head
}

type sighting struct {
	quest string
	seq   uint64
	hash  string
}

func (c *crash) round(n int) error {
	child := exec.Command(os.Args[0], "-test.run=^$")
	child.Env = append(os.Environ(), childDir+"="+c.dir)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		return err
	}
	if err := child.Start(); err != nil {
		return err
	}
	seen, stop := c.watch()
	told, err := readAcks(out, n, func() { _ = child.Process.Kill() })
	_ = child.Wait()
	if err != nil {
		return err
	}
	return c.check(append(told, stop(seen)...))
}

// readAcks reads what the child says: n lines, then whatever it still got out
// before it died.
func readAcks(out io.Reader, n int, kill func()) (told []sighting, err error) {
	lines := bufio.NewScanner(out)
	if n == 0 {
		kill()
	}
	for lines.Scan() {
		var s sighting
		if _, err := fmt.Sscanf(lines.Text(), "%s %d %s", &s.quest, &s.seq, &s.hash); err != nil || len(s.hash) != 64 {
			break // the line it died in
		}
		told = append(told, s)
		if len(told) == n {
			kill()
		}
	}
	if len(told) < n {
		return nil, fmt.Errorf("the writer ended by itself after %d acknowledgements", len(told))
	}
	return told, nil
}

// watch follows one quest from another process, as a person would.
func (c *crash) watch() (seen *[]sighting, stop func(*[]sighting) []sighting) {
	seen = new([]sighting)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		st, err := c.open(c.dir)
		if err != nil {
			return
		}
		defer st.Close()
		for e, err := range st.Follow(ctx, "q1", c.verified["q1"].Seq+1) {
			if err != nil {
				return
			}
			*seen = append(*seen, sighting{"q1", e.Seq, e.Hash.String()})
		}
	})
	return seen, func(s *[]sighting) []sighting {
		cancel()
		wg.Wait()
		return *s
	}
}

// check reads what is new since the last round, which proves the chain, and
// looks for everything that anybody was told or saw.
func (c *crash) check(told []sighting) error {
	st, err := c.open(c.dir)
	if err != nil {
		return fmt.Errorf("open after the crash: %w", err)
	}
	defer st.Close()
	there := map[sighting]bool{}
	heads, err := st.Quests(context.Background())
	if err != nil {
		return err
	}
	for _, h := range heads {
		from := c.verified[h.Quest]
		for e, err := range st.Read(context.Background(), h.Quest, from.Seq+1) {
			if err != nil {
				return err
			}
			if err := e.Follows(from.Seq, from.Hash); err != nil {
				return fmt.Errorf("quest %s: %w", h.Quest, err)
			}
			from = ledger.Head{Quest: h.Quest, Seq: e.Seq, Hash: e.Hash}
			there[sighting{h.Quest, e.Seq, e.Hash.String()}] = true
		}
		if from.Seq > h.Seq { // a server goes on for a moment with what a dead writer has sent
			if h, err = st.Head(context.Background(), h.Quest); err != nil {
				return err
			}
		}
		if from.Seq != h.Seq || from.Hash != h.Hash {
			return fmt.Errorf("quest %s ends at %d, its head says %d", h.Quest, from.Seq, h.Seq)
		}
		c.verified[h.Quest] = from
	}
	for _, s := range told {
		if !there[s] {
			return fmt.Errorf("event %d of quest %s was acknowledged or seen, and is lost", s.seq, s.quest)
		}
	}
	return nil
}
