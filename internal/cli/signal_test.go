package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/need"

	"golang.org/x/sys/unix"
)

var slowFiles = map[string]string{"quest.yaml": slowQuest, "plan.yaml": slowPlan}

// TestStopSaysWhatItWaitsFor: a call that is under way comes in first.
func TestStopSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{"quest.yaml": slowQuest, "plan.yaml": "rules:\n  - delay: 3s\n    say: done\n"})
	p := h.start("run", "quest.yaml")
	h.await("slow", "model.call", 1)
	h.run("stop", "slow").want(t, 0, "Told the process that runs slow to stop. It waits for what is under way: the model of agent-0.")
	p.wait()
}

func TestTheFirstInterruptPauses(t *testing.T) {
	t.Parallel()
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			h := newHome(t, slowFiles)
			p := h.start("run", "quest.yaml")
			h.await("slow", "model.call", 2)
			p.signal(s)
			p.wait().want(t, 130, "Stopping: what is under way comes in first. Press Ctrl-C again to leave at once.", "Go on with: lyceum run slow")
			if s := h.show("slow"); s.Status != "paused" || s.Reason != "interrupted" || s.Running {
				t.Fatalf("the quest is %+v", s)
			}
			h.sound("slow") // in particular, the call under way has its result
			h.run("run", "slow").want(t, 0, "Done.")
			h.sound("slow")
		})
	}
}

func TestAnInterruptedRunStillPrintsItsJSON(t *testing.T) {
	t.Parallel()
	h := newHome(t, slowFiles)
	p := h.start("run", "quest.yaml", "--json")
	h.await("slow", "model.call", 2)
	p.signal(syscall.SIGINT)
	l := p.wait()
	l.want(t, 130)
	var q struct{ Quest, Status string }
	if err := json.Unmarshal([]byte(l.out), &q); err != nil || q.Quest != "slow" || q.Status != "paused" {
		t.Errorf("the quest after the signal: got %v: %s, want it paused", err, l.out)
	}
}

func TestTheSecondInterruptLeavesAtOnce(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml": "name: hangs\nproblem: Wait.\nmodel: script:plan.yaml\n",
		"plan.yaml":  "rules: [{fault: hang}]\n",
		"other.yaml": "rules: [{say: \"Here I am.\"}]\n",
	})
	p := h.start("run", "quest.yaml")
	h.await("hangs", "model.call", 1)
	p.signal(os.Interrupt)
	h.await("hangs", "quest.paused", 1)
	begun := time.Now()
	p.signal(os.Interrupt)
	p.wait().want(t, 130, "Quest hangs is recorded up to here. Go on with: lyceum run hangs")
	if took := time.Since(begun); took > 10*time.Second { // what is under way would be waited for 30 s
		t.Errorf("it took %v", took)
	}
	h.run("verify", "hangs").want(t, 0)
	h.run("replay", "hangs").want(t, 0)
	h.ok("fork", "hangs", "--at", "2", "--model", "script:other.yaml", "--as", "answers")
	h.run("run", "answers").want(t, 0, "Here I am.")
}

// TestFollowPrintsWhatComes follows a quest while it runs, as it stands in the
// ledger and plainly, until the interrupt.
func TestFollowPrintsWhatComes(t *testing.T) {
	t.Parallel()
	h := newHome(t, slowFiles)
	h.ok("create", "quest.yaml")
	owner := h.start("run", "slow")
	h.await("slow", "quest.started", 1)
	for _, args := range [][]string{{"trace", "slow", "--jsonl"}, {"trace", "slow"}} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		cmd := command(ctx, h.dir, h.work, append(args, "--follow")...)
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		var printed strings.Builder
		for lines := bufio.NewScanner(out); lines.Scan(); {
			fmt.Fprintln(&printed, lines.Text())
			if strings.Contains(lines.Text(), "quest.finished") {
				must(t, cmd.Process.Signal(os.Interrupt))
			}
		}
		_ = cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != 130 || said.Len() > 0 && !strings.HasPrefix(said.String(), "Quest slow is finished: what comes later is printed too.") {
			t.Errorf("lyceum %v --follow: code %d: %s", args, code, said.String())
		}
		if whole := h.ok(args...); printed.String() != whole {
			t.Errorf("lyceum %v --follow printed\n%s\nand without it\n%s", args, printed.String(), whole)
		}
	}
	owner.wait().want(t, 0)
}

// TestKilledAtAnyMoment kills a run again and again. Whatever the moment, the
// next run goes on, and in the end nothing is missing and nothing came twice.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	rounds := need.Times(15, 40)
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	h := newHome(t, map[string]string{
		"quest.yaml": "name: work\nproblem: Work.\nmodel: script:plan.yaml\n",
		"plan.yaml": `rules:
  - on: {until_turn: 200}
    delay: 4ms
    cost: "0.001"
    say: "On."
    call:
      - {tool: calculate, args: {code: "print(6*7)"}}
      - {tool: write_file, args: {path: note.md, content: "on ${turn}"}}
  - say: "The end."
`,
	})
	h.ok("create", "quest.yaml")
	killed, last := 0, 0
	for round := range rounds {
		p := h.start("run", "work")
		timer := time.AfterFunc(time.Duration(random.IntN(300))*time.Millisecond, func() { _ = p.cmd.Process.Kill() })
		l := p.wait()
		timer.Stop()
		if l.code == 0 {
			break
		}
		if l.code != -1 {
			t.Fatalf("code %d\n%s", l.code, l.errOut)
		}
		killed++
		if round%4 != 0 {
			continue
		}
		s := h.show("work")
		if s.Events < last {
			t.Fatalf("%d events, and there were %d", s.Events, last)
		}
		last = s.Events
	}
	if killed < 5 {
		t.Errorf("it was killed only %d times", killed)
	}
	h.run("run", "work").want(t, 0, "The end.")
	h.sound("work")
	if s := h.show("work"); s.Status != "finished" || s.Answer != "The end." {
		t.Errorf("the quest is %+v", s)
	}
}

// TestCommandsSurviveTheDeathOfEitherSide sends words to a running quest, while
// its owner or the sender is killed. What a sender was told is recorded is in
// the ledger once; what it was not told, at most once.
func TestCommandsSurviveTheDeathOfEitherSide(t *testing.T) {
	t.Parallel()
	const rounds = 8
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	t.Logf("seed %d", seed)
	h := newHome(t, map[string]string{
		"quest.yaml": "name: talk\nproblem: Listen.\nmodel: script:plan.yaml\n",
		"plan.yaml": `rules:
  - on: {last: "the end"}
    say: "I heard it all."
  - delay: 40ms
    call: [{tool: calculate, args: {code: "${turn}"}}]
`,
	})
	h.ok("create", "quest.yaml")
	told, perhaps := map[string]bool{}, map[string]bool{}
	for round := range rounds {
		owner := h.start("run", "talk")
		h.await("talk", "quest.resumed", round) // and started, the first time
		h.await("talk", "model.call", 1)
		var senders sync.WaitGroup
		var mu sync.Mutex
		send := func(word string, mortal bool, args ...string) {
			after := time.Duration(random.IntN(120)) * time.Millisecond
			senders.Go(func() {
				p := h.start(args...)
				if mortal {
					timer := time.AfterFunc(after, func() { _ = p.cmd.Process.Kill() })
					defer timer.Stop()
				}
				l := p.wait()
				mu.Lock()
				defer mu.Unlock()
				switch {
				case l.code == 0:
					told[word] = true
				case l.code == -1 && mortal:
					perhaps[word] = true
				default:
					t.Errorf("lyceum %v: code %d\n%s", args, l.code, l.errOut)
				}
			})
		}
		word := fmt.Sprintf("word %d", round)
		send(word+"a", false, "message", "talk", word+"a")
		send(word+"b", true, "message", "talk", word+"b")
		switch round {
		case 3, 4:
			send(word+"pause", false, "pause", "talk")
		case 5, 6:
			send(word+"stop", false, "stop", "talk")
		}
		if round%2 == 0 {
			timer := time.AfterFunc(time.Duration(random.IntN(150))*time.Millisecond, func() { _ = owner.cmd.Process.Kill() })
			defer timer.Stop()
		}
		senders.Wait()
		owner.kill()
	}
	// Pauses and their ends are taken once, too, by an owner that stays.
	owner := h.start("run", "talk")
	h.awaitOwner("talk")
	pauses := h.count("talk", "quest.paused")
	for range 3 {
		h.ok("pause", "talk")
		pauses++
		h.await("talk", "quest.paused", pauses)
		h.ok("resume", "talk")
	}
	h.ok("message", "talk", "this is the end")
	owner.wait().want(t, 0, "I heard it all.")
	h.sound("talk")

	heard, inbox := map[string]int{}, map[int64]int{}
	paused, stopped := 0, 0
	for _, e := range h.events("talk") {
		switch {
		case e.Type == "user.message":
			heard[e.Body.Text.Text]++
		case e.Type == "quest.paused" && e.Body.Inbox != 0:
			paused++
		case e.Type == "quest.stopped":
			stopped++
		}
		if e.Body.Inbox != 0 {
			inbox[e.Body.Inbox]++
		}
	}
	for word := range told {
		if heard[word] != 1 && !strings.HasSuffix(word, "pause") && !strings.HasSuffix(word, "stop") {
			t.Errorf("%q, which was acknowledged, was heard %d times", word, heard[word])
		}
	}
	if paused != 2+3 || stopped != 2 {
		t.Errorf("it was paused %d times and stopped %d times by others", paused, stopped)
	}
	for word := range perhaps {
		if heard[word] > 1 {
			t.Errorf("%q was heard %d times", word, heard[word])
		}
	}
	for id, n := range inbox {
		if n != 1 {
			t.Errorf("command %d was taken %d times", id, n)
		}
	}
}

func TestStopReachesTheOwner(t *testing.T) {
	t.Parallel()
	h := newHome(t, slowFiles)
	owner := h.start("run", "quest.yaml")
	h.await("slow", "model.call", 1)
	h.run("stop", "slow").want(t, 0, "Told the process that runs slow to stop")
	owner.wait().want(t, 1, "The quest is stopped. Go on with: lyceum run slow")
	if n := h.count("slow", "quest.stopped"); n != 1 {
		t.Errorf("it was stopped %d times", n)
	}
	h.sound("slow")
	h.run("run", "slow").want(t, 0, "Done.")
	h.sound("slow")
	if !strings.Contains(h.ok("trace", "slow"), "stopped by a person") {
		t.Error("the trace does not say who stopped it")
	}
}

// TestAnInterruptLeavesWhatWaitsForAPerson: a read of standard input ends with nothing
// but the interrupt.
func TestAnInterruptLeavesWhatWaitsForAPerson(t *testing.T) {
	t.Parallel()
	h := newHome(t, slowFiles)
	h.ok("create", "quest.yaml")
	for _, args := range [][]string{{"clean", "slow", "--data"}, {"message", "slow", "-"}, {"create", "x", "--problem", "-", "--model", "demo"}, {"create", "/dev/stdin"}} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			h := h.in(t)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			cmd := command(ctx, h.dir, h.work, args...)
			in, err := cmd.StdinPipe()
			must(t, err)
			must(t, cmd.Start())
			taken(t, in) // so that it reads
			must(t, cmd.Process.Signal(os.Interrupt))
			_ = cmd.Wait()
			if code := cmd.ProcessState.ExitCode(); code != 130 {
				t.Errorf("lyceum %v: exit code %d after an interrupt, want 130", args, code)
			}
		})
	}
	if s := h.show("slow"); s.Events != 1 {
		t.Errorf("the quest has %d events, want the first alone", s.Events)
	}
}

// taken writes a byte to a process and waits until the process has read it.
func taken(t *testing.T, in io.WriteCloser) {
	t.Helper()
	_, err := in.Write([]byte("y"))
	must(t, err)
	for end := time.Now().Add(patience); inPipe(t, in) > 0; {
		if time.Now().After(end) {
			t.Fatalf("nobody has read standard input in %v", patience)
		}
		time.Sleep(time.Millisecond) // a pipe tells nobody that it is empty
	}
}

// inPipe is how many bytes stand in a pipe.
func inPipe(t *testing.T, pipe any) int {
	t.Helper()
	n := 0
	raw, err := pipe.(syscall.Conn).SyscallConn()
	must(t, err)
	var failed error
	must(t, raw.Control(func(fd uintptr) { n, failed = unix.IoctlGetInt(int(fd), unix.TIOCINQ) }))
	must(t, failed)
	return n
}

// TestTheSecondInterruptEndsWhatDoesNotListen: a process that is stuck in a write hears
// no context.
func TestTheSecondInterruptEndsWhatDoesNotListen(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml": "name: long\nproblem: Work.\nmodel: script:plan.yaml\n",
		"plan.yaml":  "rules:\n  - on: {until_turn: 60}\n    call: [{tool: calculate, args: {code: \"${turn}*7\"}}]\n  - say: \"The end.\"\n",
	})
	h.ok("run", "quest.yaml")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := command(ctx, h.dir, h.work, "trace", "long", "--jsonl")
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	for inPipe(t, out) < 60_000 && ctx.Err() == nil { // nobody reads: it fills up
		time.Sleep(time.Millisecond)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	must(t, cmd.Process.Signal(os.Interrupt))
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		select {
		case <-ended:
			if ctx.Err() != nil {
				t.Errorf("it did not end by interrupts in %v", patience)
			}
			return
		case <-again.C:
			_ = cmd.Process.Signal(os.Interrupt)
		}
	}
}

// TestResumeIsNotLeftWithWhoeverIsGone: what still holds a quest may be the last of a process that was killed. Then nobody
// takes the word, and the quest goes on where it was said.
func TestResumeIsNotLeftWithWhoeverIsGone(t *testing.T) {
	t.Parallel()
	h := newHome(t, slowFiles)
	p := h.start("run", "quest.yaml")
	h.await("slow", "model.result", 1)
	p.kill()
	st, err := sqlite.Open(filepath.Join(h.dir, "lyceum.db"), nil)
	must(t, err)
	defer st.Close()
	claim, err := st.Claim(t.Context(), "slow")
	must(t, err)
	defer claim.Release()
	r := h.start("resume", "slow")
	until(t, "the word is there", func() bool {
		said, err := st.Commands(t.Context(), "slow", 0)
		must(t, err)
		return len(said) == 1
	})
	claim.Release()
	if l := r.wait(); l.code != 0 || strings.Contains(l.out, "Told") || h.show("slow").Status != "finished" {
		t.Errorf("it resumes with %d, and the quest is %s: %s%s", l.code, h.show("slow").Status, l.out, l.errOut)
	}
}
