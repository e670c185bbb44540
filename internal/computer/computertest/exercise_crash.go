package computertest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lyceum/internal/computer"
)

// childEnv holds what a child Lyceum is to do: this test binary, running the same
// test, which then does nothing but that.
const childEnv = "LYCEUM_COMPUTERTEST_CHILD"

// chore is what a child does: it opens the computer, starts what is listed, reports,
// and then starts what it is given in a loop until it is killed.
type chore struct {
	Place        computer.Place
	Idle, Linger time.Duration
	Start        []computer.Command
	// Run are run to their ends before it reports.
	Run []computer.Command
	// Loop are started one after the other, each with a new id, which is their last
	// argument too.
	Loop []computer.Command
	Name string
	// Interrupted says that the computer is opened and nothing else done, until a signal
	// comes.
	Interrupted bool
	// Talk is a conversation to go on with, before anything is reported.
	Talk *talk
}

// asChild does a child's chore, if this is one.
func asChild(t *testing.T, open func(t *testing.T) computer.Driver, o Options) bool {
	text, ok := os.LookupEnv(childEnv)
	if !ok {
		return false
	}
	if t.Name() != os.Getenv(childEnv+"_TEST") {
		return true
	}
	var todo chore
	if err := json.Unmarshal([]byte(text), &todo); err != nil {
		t.Fatal(err)
	}
	report := os.NewFile(3, "report")
	say := func(words ...any) { _, _ = io.WriteString(report, fmt.Sprintln(words...)) }
	if todo.Interrupted {
		beInterrupted(t, open, o, todo, say)
	}
	ctx := t.Context()
	c, err := computer.Open(ctx, open(t), todo.Place, o.Spec, computer.Options{Idle: todo.Idle, Linger: todo.Linger})
	if err != nil {
		say("error", err)
		t.Fatal(err)
	}
	for _, cmd := range todo.Run {
		if _, err := c.Run(ctx, cmd); err != nil {
			say("error", err)
		}
	}
	for _, cmd := range todo.Start {
		if err := c.Start(ctx, cmd); err != nil {
			say("error", err)
		}
	}
	for _, cmd := range todo.Start {
		if cmd.Keep {
			continue
		}
		eventually(t, "a first line", func() bool {
			got, err := c.Read(ctx, cmd.ID, 1, 1)
			return err == nil && len(got.Lines) > 0
		})
	}
	if todo.Talk != nil {
		if err := todo.Talk.goOn(ctx, c, say); err != nil {
			say("error", err)
		}
		select {}
	}
	say("ready")
	for i := 0; ; i++ {
		for _, cmd := range todo.Loop {
			cmd.ID = fmt.Sprintf("%s-%s-%d", cmd.ID, todo.Name, i)
			cmd.Args = append(slices.Clone(cmd.Args), cmd.ID)
			say("starts", cmd.ID)
			if err := c.Start(ctx, cmd); err != nil {
				say("error", err)
			}
			say("started", cmd.ID)
		}
		if len(todo.Loop) == 0 || i > 20 {
			select {}
		}
	}
}

// child is a Lyceum in a process of its own.
type child struct {
	cmd    *exec.Cmd
	report *bufio.Scanner
	pipe   *os.File
}

func spawn(t *testing.T, todo chore) *child {
	t.Helper()
	text, err := json.Marshal(todo)
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	// The child is the test function that called the suite; what is below are ours.
	name, _, _ := strings.Cut(t.Name(), "/")
	cmd := exec.Command("/proc/self/exe", "-test.run", "^"+name+"$", "-test.count=1")
	// It is killed, so what it had among its temporary files is ours to remove.
	cmd.Env = append(os.Environ(), childEnv+"="+string(text), childEnv+"_TEST="+name, "TMPDIR="+t.TempDir())
	cmd.ExtraFiles = []*os.File{w}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &child{cmd: cmd, report: bufio.NewScanner(r), pipe: r}
	t.Cleanup(func() { c.kill() })
	return c
}

// kill ends the child as a crash does, and returns what it had said that was not
// read yet.
func (c *child) kill() (said []string) {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
	for c.report.Scan() {
		said = append(said, c.report.Text())
	}
	_ = c.pipe.Close()
	return said
}

// ready waits until the child has done what it was to do first.
func (c *child) ready(t *testing.T) {
	t.Helper()
	if !c.report.Scan() || c.report.Text() != "ready" {
		t.Fatalf("the child Lyceum says %q", c.report.Text())
	}
}

func (l *lab) crashes(t *testing.T) {
	t.Parallel()
	t.Run("IsKilledAndKeptCommandsGoOn", l.keptGoOn)
	t.Run("LetsGoAndTheComputerEndsByItself", func(t *testing.T) {
		t.Parallel()
		m := l.bootWith(t, l.opts.Spec, computer.Options{Idle: 500 * time.Millisecond, Linger: time.Second})
		m.sh("true")
		if n := len(inhabitants(t, m.place)); n == 0 {
			t.Fatal("no process is seen of a computer that is up")
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "a computer that nobody holds to end", func() bool { return len(inhabitants(t, m.place)) == 0 })
		m = l.at(t, m.place, l.opts.Spec, computer.Options{Idle: 500 * time.Millisecond, Linger: 1500 * time.Millisecond})
		kept := shell("sleep 1000")
		kept.Keep = true
		m.start(kept)
		closed := time.Now()
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		eventually(t, "a computer with a kept command to end", func() bool { return len(inhabitants(t, m.place)) == 0 })
		if took := time.Since(closed); took < 1400*time.Millisecond {
			t.Errorf("it ended after %v", took)
		}
	})
	t.Run("IsAwayAndAKeptResultWaits", func(t *testing.T) {
		t.Parallel()
		// The first has all it wrote taken from it before it ends, the second has not.
		for _, lines := range []int64{10, 50_000} {
			l.resultWaits(t, lines)
		}
	})
	t.Run("StopsTheComputerAndWaitersAreTold", func(t *testing.T) {
		t.Parallel()
		m := l.boot(t)
		id := m.start(shell("echo up; sleep 1000"))
		m.seen(id, "up")
		told := make(chan string)
		go func() {
			r, err := m.Wait(soon(t), id)
			if err != nil {
				told <- err.Error()
				return
			}
			told <- r.End + " " + string(r.Stdout.Head)
		}()
		if err := m.Stop(soon(t)); err != nil {
			t.Fatal(err)
		}
		// Who comes to wait only when all is over is told that.
		if got := <-told; got != computer.EndStopped+" up\n" && !strings.HasPrefix(got, computer.ErrStopped.Error()) {
			t.Errorf("who waits is told %q", got)
		}
		if _, err := m.Run(soon(t), computer.Command{ID: "late", Args: []string{"true"}}); !errors.Is(err, computer.ErrStopped) {
			t.Errorf("a command for a computer that was stopped: %v", err)
		}
		if _, err := computer.Open(soon(t), l.driver, m.place, l.opts.Spec, computer.Options{Found: true}); !errors.Is(err, computer.ErrStopped) {
			t.Errorf("finding a computer that was stopped: %v", err)
		}
		m = l.at(t, m.place, l.opts.Spec, computer.Options{})
		if r := m.wait(id); r.End != computer.EndStopped || string(r.Stdout.Head) != "up\n" {
			t.Errorf("the next one is told %q, %q", r.End, r.Stdout.Head)
		}
	})
}

// resultWaits lets a kept command end while nobody is there: what it wrote is worth
// more than Idle.
func (l *lab) resultWaits(t *testing.T, lines int64) {
	t.Helper()
	m := l.bootWith(t, l.opts.Spec, computer.Options{Idle: 500 * time.Millisecond, Linger: time.Minute})
	cmd := shell("while ! test -e go; do sleep 0.02; done; seq 1 $1; touch over; exit 9", strconv.FormatInt(lines, 10))
	cmd.Keep = true
	id := m.start(cmd)
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(m.place.Home, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the command's end", func() bool {
		_, err := os.Stat(filepath.Join(m.place.Home, "over"))
		return err == nil
	})
	idle := time.Now().Add(1500 * time.Millisecond)
	eventually(t, "a while", func() bool { return time.Now().After(idle) })
	m = l.reopen(m)
	r := m.wait(id)
	if n, _ := numbered(t, r.Stdout); n != lines || r.Exit != 9 || r.End != "" {
		t.Errorf("after the crash: got %s, want every line once and exit 9", told(r))
	}
}

func (l *lab) keptGoOn(t *testing.T) {
	t.Parallel()
	p := place(t)
	kept := shell(fmt.Sprintf("seq 1 %d; exit 5", numbers))
	kept.ID, kept.Keep = "kept", true
	waiting := shell("echo $$; read line; echo $line")
	waiting.ID, waiting.Keep, waiting.Input = "waiting", true, true
	front := shell("echo so far; " + leaveBehind + " sleep 1000")
	front.ID = "front"
	flood := shell("seq 1 1000000000")
	flood.ID = "flood"
	short := shell("echo short; exit 3")
	short.ID = "short"
	c := spawn(t, chore{Place: p, Run: []computer.Command{short}, Start: []computer.Command{waiting, front, flood, kept}})
	c.ready(t)
	// A moment for each to be in the middle of something.
	moment := time.Now().Add(time.Duration(rand.IntN(50)) * time.Millisecond)
	eventually(t, "a moment", func() bool { return time.Now().After(moment) })
	c.kill()
	m := l.at(t, p, l.opts.Spec, computer.Options{Found: true})
	if r := m.wait("short"); r.Exit != 3 || string(r.Stdout.Head) != "short\n" || r.End != "" {
		t.Errorf("what was over: %s", told(r))
	}
	if r := m.wait("front"); r.End != computer.EndAbandoned || string(r.Stdout.Head) != "so far\n" {
		t.Errorf("what was in front: %s", told(r))
	}
	r := m.wait("flood")
	if n, rest := numbered(t, r.Stdout); r.End != computer.EndAbandoned || n == 0 || !strings.HasPrefix(strconv.FormatInt(n+1, 10)+"\n", rest) {
		t.Errorf("the flood, with %d lines and %q: %s", n, rest, told(r))
	}
	r = m.wait("kept")
	if n, rest := numbered(t, r.Stdout); n != numbers || rest != "" || r.Exit != 5 || r.End != "" {
		t.Errorf("what was kept, with %d lines and %q: %s", n, rest, told(r))
	}
	if err := m.Write(soon(t), "waiting", []byte("here I am\n"), true); err != nil {
		t.Fatal(err)
	}
	if r := m.wait("waiting"); !strings.HasSuffix(string(r.Stdout.Head), "\nhere I am\n") || r.Exit != 0 {
		t.Errorf("what was waiting: %s", told(r))
	}
}

// Rounds lets a Lyceum in a process of its own use a computer and kills it at a
// random moment, n times. Each command must have one outcome and no more, and no
// line may be lost or doubled.
func Rounds(t *testing.T, open func(t *testing.T) computer.Driver, o Options, n int) {
	if asChild(t, open, o) {
		return
	}
	l := newLab(t, open, o)
	r := &rounds{lab: l, t: t, place: place(t), opts: computer.Options{Idle: 5 * time.Second, Linger: time.Minute}}
	for i := range n {
		r.one(i, i == n-1)
		if t.Failed() {
			t.Fatalf("in round %d", i)
		}
	}
	r.last()
	l.end(t, r.place)
	t.Logf("%d rounds: %d outcomes of their own, %d abandoned, %d never begun, %d lines", n, r.ended, r.abandoned, r.never, r.lines)
}

type rounds struct {
	*lab
	t     *testing.T
	place computer.Place
	opts  computer.Options
	// What became of the commands.
	ended, abandoned, never int
	lines                   int64
}

// ever is a command that is kept over all rounds.
const ever = "ever"

func (r *rounds) one(i int, last bool) {
	t := r.t
	loop := []computer.Command{
		shell("echo $1 >> ran; seq 1 20000"), shell("echo $1 >> ran; seq 1 50"), shell("echo $1 >> ran; seq 1 1000000000"),
	}
	loop[0].ID, loop[1].ID, loop[2].ID = "kept", "short", "front"
	loop[0].Keep = true
	forever := shell("i=0; while :; do i=$((i+1)); echo $i; done")
	forever.ID, forever.Keep = ever, true
	c := spawn(t, chore{Place: r.place, Idle: r.opts.Idle, Linger: r.opts.Linger, Start: []computer.Command{forever}, Loop: loop, Name: strconv.Itoa(i)})
	if last { // the rounds before may all have been over before anything began
		c.ready(t)
	}
	moment := time.Now().Add(time.Duration(rand.IntN(400)) * time.Millisecond)
	eventually(t, "a random moment", func() bool { return time.Now().After(moment) })
	said := c.kill()
	m := &machine{t: t, place: r.place}
	var err error
	if m.Computer, err = computer.Open(soon(t), r.driver, r.place, r.lab.opts.Spec, r.opts); err != nil {
		t.Fatal(err)
	}
	began := map[string]bool{} // whether its start was confirmed
	for _, line := range said {
		word, id, _ := strings.Cut(line, " ")
		switch word {
		case "starts":
			began[id] = false
		case "started":
			began[id] = true
		case "error":
			t.Errorf("a round of kill -9 met an error: %s", line)
		}
	}
	outcomes := map[string]string{}
	for id, sure := range began {
		outcomes[id] = r.outcome(m, id, sure)
	}
	ran, err := os.ReadFile(filepath.Join(r.place.Home, "ran"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for id, how := range outcomes {
		switch times := strings.Count(string(ran), id+"\n"); {
		case times > 1 || times > 0 && how == never || times == 0 && strings.HasPrefix(how, ended):
			t.Errorf("%s ran %d times, and its outcome is %q", id, times, how)
		}
	}
	// They are the same for whoever asks later.
	m = r.again(m)
	for id := range began {
		if got := r.outcome(m, id, false); got != outcomes[id] {
			t.Errorf("%s has two outcomes: %s, %s", id, outcomes[id], got)
		}
		if err := m.Forget(soon(t), id); err != nil {
			t.Errorf("forget %s: %v", id, err)
		}
	}
	if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// again lets go and opens once more.
func (r *rounds) again(m *machine) *machine {
	r.t.Helper()
	if err := m.Close(); err != nil {
		r.t.Error(err)
	}
	c, err := computer.Open(soon(r.t), r.driver, r.place, r.lab.opts.Spec, r.opts)
	if err != nil {
		r.t.Fatal(err)
	}
	return &machine{Computer: c, t: r.t, place: r.place}
}

// outcome is how a command ended, checked against what it was. Only one whose start
// nobody confirmed may be unknown.
func (r *rounds) outcome(m *machine, id string, sure bool) string {
	t := r.t
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	res, err := m.Wait(ctx, id)
	if errors.Is(err, computer.ErrUnknown) && !sure {
		r.never++
		return never
	}
	if err != nil {
		t.Errorf("what became of %s: %v", id, err)
		return err.Error()
	}
	n, rest := numbered(t, res.Stdout)
	r.lines += n
	want, _ := map[string]int64{"kept": 20_000, "short": 50}[strings.Split(id, "-")[0]]
	switch {
	case res.End == "" && res.Exit == 0 && n == want && rest == "":
		r.ended++
	case res.End == computer.EndAbandoned && !strings.HasPrefix(id, "kept") && strings.HasPrefix(strconv.FormatInt(n+1, 10)+"\n", rest):
		r.abandoned++
	default:
		t.Errorf("%s has %d lines and then %q: %s", id, n, rest, told(res))
	}
	word := ended
	if res.End != "" {
		word = res.End
	}
	return fmt.Sprint(word, res.Exit, res.Signal, res.Met, res.Stdout.Size, res.Duration)
}

// Outcomes besides the words of package computer.
const (
	never = "never begun"
	ended = "ended"
)

// last looks at what was kept over all rounds.
func (r *rounds) last() {
	c, err := computer.Open(soon(r.t), r.driver, r.place, r.lab.opts.Spec, r.opts)
	if err != nil {
		r.t.Fatal(err)
	}
	m := &machine{Computer: c, t: r.t, place: r.place}
	defer m.Close()
	if err := m.Kill(soon(r.t), ever); err != nil {
		r.t.Fatal(err)
	}
	res := m.wait(ever)
	n, rest := numbered(r.t, res.Stdout)
	r.lines += n
	if res.End != computer.EndKilled || !strings.HasPrefix(strconv.FormatInt(n+1, 10)+"\n", rest) {
		r.t.Errorf("what was kept for ever, with %d lines and %q: %s", n, rest, told(res))
	}
}
