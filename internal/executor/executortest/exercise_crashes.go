package executortest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/executor"

	"github.com/google/go-cmp/cmp"
)

// crashes: the next Lyceum finds the agent where it is, tells it nothing twice, and nothing that
// it reported is lost or told twice.
func (l *lab) crashes(t *testing.T) {
	t.Parallel()
	t.Run("InAPrompt", l.inPrompt)
	t.Run("BetweenWordsAndACall", l.betweenWords)
	t.Run("WhileItAsks", l.whileItAsks)
	t.Run("WhileACommandRuns", l.whileACommandRuns)
	t.Run("BeforeTheAnswerIsKnown", l.beforeTheAnswer)
	t.Run("AndTheAgentEnds", l.bothEnd)
	t.Run("AndNobodyWantsThePrompt", l.unwanted)
	t.Run("WhileItOpens", l.whileItOpens)
	t.Run("WithHalfALine", l.halfALine)
	t.Run("AtAnyMoment", l.killed)
}

// leaves says a prompt that is not answered before the crash.
func (s *seat) leaves(seq uint64, steps ...string) {
	s.t.Helper()
	over := make(chan error)
	ctx := soon(s.t)
	go func() {
		_, err := s.prompt(ctx, seq, steps...)
		over <- err
	}()
	s.room.sees(s.t, "working")
	s.crash()
	if err := <-over; err == nil {
		s.t.Error("a prompt that was left has an answer")
	}
}

func (l *lab) inPrompt(t *testing.T) {
	t.Parallel()
	s := l.seat(t)
	id := s.begin("").ID
	s.says(1, "say one", "call a x", "done a")
	steps := []string{"say before", "call b x", "flood 2000", "call c x", "say half ", "touch working", "wait go", "say whole", "done b", "done c", "touch over"}
	s.leaves(2, steps...)
	s.room.touch(t, "go")
	s.room.sees(t, "over")
	want := executor.Session{ID: id, Process: "exec-a-1"}
	if diff := cmp.Diff(want, s.begin(id)); diff != "" {
		t.Errorf("the session (-want +got):\n%s", diff)
	}
	// However long it takes until somebody asks for the prompt, nothing of it is taken in before.
	if _, err := s.c.Run(soon(t), computer.Command{ID: "pause", Args: []string{"sleep", "0.2"}}); err != nil {
		t.Fatal(err)
	}
	got := s.says(2, steps...)
	if got.Text != "halfwhole" || got.Stop != "end_turn" {
		t.Errorf("the turn: got %+v", got)
	}
	var flood strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&flood, "%d ", i)
	}
	s.told("1 said one", "1 tool a in_progress execute x", "1 tool a completed execute x", "2 said before", "2 tool b in_progress execute x", "2 said "+flood.String(), "2 tool c in_progress execute x",
		"2 tool b completed execute x", "2 tool c completed execute x")
	if diff := cmp.Diff([]string{"1 exec-a-1", "2 exec-a-1"}, s.led.Begun); diff != "" {
		t.Errorf("prompts were begun (-want +got):\n%s", diff)
	}
	if got := s.says(3, "say on"); got.Text != "on" {
		t.Errorf("the turn after: got %+v", got)
	}
	s.once()
}

// betweenWords: words are told when a call comes after them; what was told meanwhile does not
// stand before them.
func (l *lab) betweenWords(t *testing.T) {
	t.Parallel()
	s := l.seat(t)
	id := s.begin("").ID
	s.leaves(1, "call a x", "think hm", "say kept", "done a", "plan one", "touch working", "wait go", "call b x", "say end")
	s.begin(id)
	s.room.touch(t, "go")
	if got := s.says(1, "-"); got.Text != "end" {
		t.Errorf("the turn: got %+v", got)
	}
	s.told("1 tool a in_progress execute x", "1 tool a completed execute x", "1 plan one", "1 thought hm", "1 said kept", "1 tool b in_progress execute x")
}

func (l *lab) whileItAsks(t *testing.T) {
	t.Parallel()
	s := l.seat(t)
	s.begin("")
	first, asked := s.crashesAsking(func(context.Context, *event.PermissionAsked) (string, error) { return "no", nil }, "permit a first", "permit b second")
	s.begin("")
	no := `{"outcome":{"optionId":"no","outcome":"selected"}}`
	if got := s.says(1, "-"); got.Text != no {
		t.Errorf("the turn: got %s, want %s", got.Text, no)
	}
	if again, second := <-asked, <-asked; again != first || second == first {
		t.Errorf("it was asked as %s, then as %s and %s", first, again, second)
	}
	s.told("1 tool a pending edit first notes.txt", "1 asked a first notes.txt: always yes no", "1 said "+no, "1 tool b pending edit second notes.txt", "1 asked b second notes.txt: always yes no")
	s.once()
}

func (l *lab) whileACommandRuns(t *testing.T) {
	t.Parallel()
	s := l.seat(t)
	s.begin("")
	s.leaves(1, "run echo begun >> ran; touch working; while ! test -e go; do sleep 0.02; done; echo over")
	s.begin("")
	s.room.touch(t, "go")
	got := s.says(1, "-")
	if !strings.Contains(got.Text, `{"exitCode":0,"signal":null}`) || !strings.Contains(got.Text, `over\n`) {
		t.Errorf("the turn: got %s", got.Text)
	}
	if b, err := os.ReadFile(filepath.Join(s.room.Place.Home, "ran")); err != nil || string(b) != "begun\n" {
		t.Errorf("the command ran %q, %v", b, err)
	}
	s.once()
	// What was released stays so.
	s = l.seat(t)
	s.begin("")
	s.leaves(1, "run true # pause")
	s.begin("")
	s.room.touch(t, "go")
	if got := s.says(1, "-"); !strings.Contains(got.Text, "-32002 there is no terminal") {
		t.Errorf("a terminal that was released before the crash: got %s", got.Text)
	}
}

func (l *lab) beforeTheAnswer(t *testing.T) {
	t.Parallel()
	s := l.seat(t)
	s.begin("")
	want := s.says(1, "call a x", "say fine")
	s.crash()
	s.begin("")
	got := s.says(1, "call a x", "say fine")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the turn, asked for once more (-want +got):\n%s", diff)
	}
	s.told("1 tool a in_progress execute x")
	s.once()
}

// bothEnd: what the agent answered while nobody was there is its answer; if it did not, the next
// process is asked.
func (l *lab) bothEnd(t *testing.T) {
	t.Parallel()
	s := l.seat(t, "dies-after")
	id := s.begin("").ID
	s.leaves(1, "call a x", "touch working", "wait go", "done a", "say fine")
	s.room.touch(t, "go")
	eventually(t, "the agent's end", func() bool { return len(s.running()) == 0 })
	if got := s.begin(id); got.How != event.SessionLoaded || got.Process != "exec-a-2" {
		t.Errorf("the session: got %+v", got)
	}
	if got := s.says(1, "say wrong"); got.Text != "fine" {
		t.Errorf("the turn: got %+v", got)
	}
	s.told("1 tool a in_progress execute x", "1 tool a completed execute x")
	if n := len(s.led.Begun); n != 1 {
		t.Errorf("the prompt was begun %d times", n)
	}
	s = l.seat(t)
	id = s.begin("").ID
	s.leaves(1, "call a x", "say on", "touch working", "wait go", "done a", "say half", "die 3")
	s.room.touch(t, "go")
	eventually(t, "the agent's end", func() bool { return len(s.running()) == 0 })
	s.begin(id)
	if got := s.says(1, "say whole"); got.Text != "whole" {
		t.Errorf("the turn: got %+v", got)
	}
	s.told("1 tool a in_progress execute x", "1 tool a completed execute x", "1 said onhalf")
	if diff := cmp.Diff([]string{"1 exec-a-1", "1 exec-a-2"}, s.led.Begun); diff != "" {
		t.Errorf("the prompt was begun (-want +got):\n%s", diff)
	}
	s.once()
}

func (l *lab) unwanted(t *testing.T) {
	t.Parallel()
	s := l.seat(t)
	id := s.begin("").ID
	s.leaves(1, "touch working", "wait go", "say wrong")
	s.begin(id)
	if got := s.says(2, "call a x", "say right"); got.Text != "right" {
		t.Errorf("the turn: got %+v", got)
	}
	s.told("2 tool a in_progress execute x")
	if n := len(s.room.heard(t)); n != 1 {
		t.Errorf("it took %d processes", n)
	}
	s.once()
}

// whileItOpens: what was said before anybody knew of a session is not said again.
func (l *lab) whileItOpens(t *testing.T) {
	t.Parallel()
	s := l.seat(t)
	first := s.begin("")
	s.crash()
	if got := s.begin(""); got != first {
		t.Errorf("the session: got %+v, want %+v", got, first)
	}
	s.crash()
	if _, err := s.e.Ready(soon(t)); err != nil {
		t.Fatal(err)
	}
	s.crash()
	if got := s.begin(first.ID); got != (executor.Session{ID: first.ID, Process: first.Process}) {
		t.Errorf("the session: got %+v, want it known", got)
	}
	if got := s.says(1, "say fine"); got.Text != "fine" {
		t.Errorf("the turn: got %+v", got)
	}
	s.once()
	if n := len(s.room.heard(t)[0]); n != 4 {
		t.Errorf("it was told %d lines, want init, new, mode and prompt", n)
	}
}

// halfALine: of what stands in the journal the agent gets the rest, and of what does not stand
// there whole it has nothing.
func (l *lab) halfALine(t *testing.T) {
	t.Parallel()
	s := l.seat(t)
	s.begin("")
	s.says(1, "say one")
	s.leave()
	b, err := os.ReadFile(s.room.Journal)
	if err != nil {
		t.Fatal(err)
	}
	// The prompt 2 was written down, and a part of it said; the answer after it was not.
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	last := lines[len(lines)-1]
	_, line, _ := strings.Cut(last, " ")
	wrote, err := s.c.ReadAt(soon(t), "exec-a-1", computer.Stdout, 0, make([]byte, 64<<10))
	if err != nil {
		t.Fatal(err)
	}
	place := fmt.Sprintf(">%d", wrote)
	line = strings.Replace(strings.Replace(line, `"p1"`, `"p2"`, 1), "say one", "say two", 1)
	given := 0
	for _, l := range lines[1:] {
		_, text, _ := strings.Cut(l, " ")
		given += len(text) + 1
	}
	if err := os.WriteFile(s.room.Journal, []byte(string(b)+place+" "+line+"\n"+place+` {"jsonrpc":"2.0","id":1,"res`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.c.WriteAt(soon(t), "exec-a-1", int64(given), []byte(line[:20]), false); err != nil {
		t.Fatal(err)
	}
	s.crash()
	s.begin("")
	if got := s.says(2, "say three"); got.Text != "two" {
		t.Errorf("the turn: got %+v", got)
	}
	if got := s.says(3, "say three"); got.Text != "three" {
		t.Errorf("the turn after: got %+v", got)
	}
	s.crash()
	s.begin("")
	if got := s.says(4, "say four"); got.Text != "four" {
		t.Errorf("the turn after another crash: got %+v", got)
	}
	s.once()
}

// childEnv holds what a child Lyceum is to do: this test binary, running the same test.
const childEnv = "LYCEUM_EXECUTORTEST_CHILD"

// chore is what a child does: it has the agent say a prompt, and writes down what comes.
type chore struct {
	Room   Room
	Ledger string
	Steps  []string
}

// asChild does a child's chore, if this is one.
func asChild(t *testing.T, open func() computer.Driver) bool {
	text, ok := os.LookupEnv(childEnv)
	if !ok {
		return false
	}
	var todo chore
	if err := json.Unmarshal([]byte(text), &todo); err != nil {
		t.Fatal(err)
	}
	todo.Room.driver = open()
	report := os.NewFile(3, "report")
	if err := todo.do(t.Context()); err != nil {
		_, _ = io.WriteString(report, "error "+err.Error()+"\n")
	} else {
		_, _ = io.WriteString(report, "done\n")
	}
	select {} // it is killed
}

func (todo *chore) do(ctx context.Context) error {
	led, err := openLedger(todo.Ledger)
	if err != nil {
		return err
	}
	c, err := todo.Room.enter(ctx)
	if err != nil {
		return err
	}
	host := NewKeeper(led)
	host.Start = c.Start
	a, err := todo.Room.agent(c, host)
	if err != nil {
		return err
	}
	e, err := executor.New(ctx, a)
	if err != nil {
		return err
	}
	if _, err := e.Ready(ctx); err != nil {
		return err
	}
	if _, err := e.Open(ctx, ""); err != nil {
		return err
	}
	turn, err := e.Prompt(ctx, executor.Prompt{Seq: 1, Text: strings.Join(todo.Steps, "\n"), After: led.At})
	if err != nil {
		return err
	}
	bodies, again, err := executor.Derive(turn.Frames)
	if err != nil {
		return err
	}
	again.Frames = turn.Frames
	if diff := cmp.Diff(turn, again); diff != "" {
		return fmt.Errorf("the frames tell another turn: %s", diff)
	}
	var end []string
	for _, b := range bodies {
		_, line := Line(b)
		end = append(end, "derived "+line)
	}
	// A child that is killed when it has written this is followed by one that writes it again.
	b, err := json.Marshal(append(end, fmt.Sprintf("turn %s %s", turn.Stop, turn.Text)))
	if err != nil {
		return err
	}
	return os.WriteFile(todo.end(), b, 0o600)
}

// end is the file with how the turn ended, as the last that came so far tells it.
func (todo *chore) end() string { return todo.Ledger + ".end" }

// killed lets a Lyceum in a process of its own work and kills it at a random moment, again and
// again: what comes of it is what comes of one that nobody kills.
func (l *lab) killed(t *testing.T) {
	t.Parallel()
	var steps []string
	for i := range 6 {
		steps = append(steps, fmt.Sprintf("say part %d ", i), fmt.Sprintf("think hm %d", i), fmt.Sprintf("call c%d x", i), "flood 200", fmt.Sprintf("done c%d y", i),
			fmt.Sprintf("permit p%d edit", i), fmt.Sprintf("run sleep 0.1; echo %d >> ran; echo %d", i, i), fmt.Sprintf("write f%d text", i), fmt.Sprintf("read f%d", i), "plan a,b")
	}
	control := l.chore(t, steps, 0)
	want := control.lines(t)
	got := l.chore(t, steps, l.kills)
	if diff := cmp.Diff(want, got.lines(t)); diff != "" {
		t.Errorf("what was written down, without kills and with (-want +got):\n%s", diff)
	}
	a, b := control.Room.heard(t), got.Room.heard(t)
	if len(a) != 1 || len(b) != 1 || len(a[0]) != len(b[0]) {
		t.Fatalf("%d and %d processes were told something, %d and %d lines", len(a), len(b), len(a[0]), len(b[0]))
	}
	(&seat{t: t, room: &got.Room}).once()
	ran, err := os.ReadFile(filepath.Join(got.Room.Place.Home, "ran"))
	if err != nil || string(ran) != "0\n1\n2\n3\n4\n5\n" {
		t.Errorf("the commands ran %q, %v", ran, err)
	}
}

// lines are those of a ledger.
func (todo *chore) lines(t *testing.T) []string {
	t.Helper()
	led, err := openLedger(todo.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	defer led.file.Close()
	var end []string
	b, err := os.ReadFile(todo.end())
	if err == nil {
		err = json.Unmarshal(b, &end)
	}
	if err != nil {
		t.Fatal(err)
	}
	return append(led.Told, end...)
}

// chore has it done, by Lyceums of which n are killed before it is.
func (l *lab) chore(t *testing.T, steps []string, n int) *chore {
	t.Helper()
	room := newRoom(t, l.driver)
	todo := &chore{Room: *room, Ledger: filepath.Join(t.TempDir(), "ledger"), Steps: steps}
	for i := 0; ; i++ {
		report, kill := todo.spawn(t)
		if i < n {
			moment := time.After(time.Duration(50+rand.IntN(600)) * time.Millisecond)
			select {
			case <-moment:
				kill()
				continue
			case said := <-report:
				kill()
				if said != "done" {
					t.Fatalf("the child Lyceum says %q", said)
				}
				t.Logf("%d of %d were killed before it was done", i, n)
				return todo
			}
		}
		select {
		case said := <-report:
			kill()
			if said != "done" {
				t.Fatalf("the child Lyceum says %q", said)
			}
			t.Logf("%d were killed", i)
			return todo
		case <-time.After(2 * patience):
			kill()
			t.Fatal("the child Lyceum does not come to an end")
		}
	}
}

// spawn starts a child. What it says comes once.
func (todo *chore) spawn(t *testing.T) (said <-chan string, kill func()) {
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
	name, _, _ := strings.Cut(t.Name(), "/")
	cmd := exec.Command("/proc/self/exe", "-test.run", "^"+name+"$", "-test.count=1")
	cmd.Env = append(os.Environ(), childEnv+"="+string(text), "TMPDIR="+t.TempDir())
	cmd.ExtraFiles = []*os.File{w}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out := make(chan string, 1)
	go func() {
		in := bufio.NewScanner(r)
		if in.Scan() {
			out <- in.Text()
		}
		r.Close()
	}()
	return out, func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}

// crashesAsking has Lyceum crash while an agent, in its first turn, waits for what somebody decides. From then on
// another decides. It returns what was asked, and where each later question comes.
func (s *seat) crashesAsking(then func(context.Context, *event.PermissionAsked) (string, error), steps ...string) (first string, asked <-chan string) {
	s.t.Helper()
	all := make(chan string, 10)
	s.host.Decide = func(ctx context.Context, b *event.PermissionAsked) (string, error) {
		all <- b.ID
		<-ctx.Done() // the crash
		return "", ctx.Err()
	}
	over := make(chan error)
	ctx := soon(s.t)
	go func() {
		_, err := s.prompt(ctx, 1, steps...)
		over <- err
	}()
	first = <-all
	s.crash()
	<-over
	s.host.Decide = func(ctx context.Context, b *event.PermissionAsked) (string, error) {
		all <- b.ID
		return then(ctx, b)
	}
	return first, all
}
