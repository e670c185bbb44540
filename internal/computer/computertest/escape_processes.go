package computertest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/computer"
)

// alone runs a program in a computer of its own and believes what it says.
func alone(args ...string) func(*testing.T, *shootingRange) string {
	return func(t *testing.T, r *shootingRange) string {
		s := r.station(t, computer.Spec{}, computer.Options{})
		_, out := s.run(t, s.command(args[0], args...))
		t.Log(out)
		if !strings.Contains(out, tried) {
			t.Error("the attempt was not made")
		}
		if got := r.target.told(out); got != "" {
			return got
		}
		return s.works(t)
	}
}

func signals(role string) func(*testing.T, *shootingRange) string {
	return func(t *testing.T, r *shootingRange) string {
		s := r.station(t, computer.Spec{}, computer.Options{})
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			res, err := s.Run(ctx, s.command(role, role))
			if err != nil {
				return fmt.Sprintf("the computer is gone: %v", err)
			}
			if res.End == computer.EndStopped {
				said, _ := os.ReadFile(filepath.Join(s.place.Dir, "boot.log"))
				return fmt.Sprintf("the computer is gone: %+v %.300s", res.End, said)
			}
			if n := holds(said(res), "sent"); n < 64 {
				t.Errorf("only %d signals could be sent: %s", n, said(res))
			}
			if got := s.works(t); got != "" {
				return got
			}
		}
		return ""
	}
}

// stops tries to catch commands as they start.
func stops(t *testing.T, r *shootingRange) string {
	s := r.station(t, computer.Spec{}, computer.Options{})
	storm := s.command("storm", "stop-storm", "1500ms")
	if err := s.Start(t.Context(), storm); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 4 {
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				_, _ = s.Run(ctx, computer.Command{ID: "s" + random(), Args: []string{computer.HomeDir + "/attempt", AttemptRole, "whoami"}, Timeout: time.Second})
				cancel()
			}
		})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := s.Wait(ctx, storm.ID)
	wait.Wait()
	if err != nil {
		return fmt.Sprintf("the storm does not end: %v", err)
	}
	return s.works(t)
}

func limitsOfOthers(t *testing.T, r *shootingRange) string {
	s := r.station(t, computer.Spec{}, computer.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	res, err := s.Run(ctx, s.command("limits", "limit-others"))
	if err != nil {
		return err.Error()
	}
	if got := r.target.told(said(res)); got != "" {
		return got
	}
	return s.works(t)
}

func lowersMark(t *testing.T, r *shootingRange) string {
	s := r.station(t, computer.Spec{}, computer.Options{})
	for _, n := range []string{"1", "1000"} {
		c := s.command("mark", "lower-mark", n)
		c.Timeout = 400 * time.Millisecond
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		res, err := s.Run(ctx, c)
		if err != nil {
			return fmt.Sprintf("with a mark that is %s lower it goes on: %v", n, err)
		}
		if res.End != computer.EndTimeout {
			t.Errorf("it ended by %q: %s", res.End, said(res))
		}
	}
	return ""
}

func lowersMarkKilled(t *testing.T, r *shootingRange) string {
	s := r.station(t, computer.Spec{}, computer.Options{})
	c := s.command("mark", "lower-mark", "1000")
	if err := s.Start(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the lower mark", func() bool { _, err := s.Home().Stat("in-mark/alive"); return err == nil })
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if err := s.Kill(ctx, c.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Wait(ctx, c.ID); err != nil {
		return fmt.Sprintf("it was killed and goes on: %v", err)
	}
	return ""
}

// living are the processes of the host whose command line holds a word.
func living(word string) (out []string) {
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, n := range names {
		if b, err := os.ReadFile(n); err == nil && bytes.Contains(b, []byte(word)) {
			out = append(out, strings.ReplaceAll(string(b), "\x00", " "))
		}
	}
	return out
}

// remains is what is left of processes with a word after a moment.
func remains(word string) string {
	var left []string
	for until := time.Now().Add(2 * time.Second); time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		if left = living(word); len(left) == 0 {
			return ""
		}
	}
	return fmt.Sprintf("still there: %.200q", left)
}

func outlives(t *testing.T, r *shootingRange) string {
	s := r.station(t, computer.Spec{}, computer.Options{})
	for _, lower := range []string{"0", "1", "2", "1000"} {
		word := "left-" + random()
		c := s.command("daemon", "daemon", lower, computer.HomeDir+"/"+word)
		s.run(t, c)
		if _, err := s.Home().Stat(word); err != nil {
			t.Errorf("nothing was left behind that could be found: %v", err)
		}
		if got := remains(word); got != "" {
			return "with a mark lower by " + lower + ": " + got
		}
	}
	return ""
}

func outlivesStop(t *testing.T, r *shootingRange) string {
	s := r.station(t, computer.Spec{}, computer.Options{})
	// It is in the shadow of one that runs.
	word := "left-" + random()
	if err := s.Start(t.Context(), s.command("daemon", "sleep", "1m", word)); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the program", func() bool { return len(living(word)) > 0 })
	c := s.command("daemon", "swap", r.target.files()[0], word)
	if err := s.Start(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	owner := -1
	if info, err := os.Stat(s.place.Home); err == nil && os.Geteuid() == 0 {
		owner = int(info.Sys().(*syscall.Stat_t).Uid)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := r.driver.Kill(ctx, handleOf(t, s.place)); err != nil {
		t.Fatal(err)
	}
	if got := living(word); len(got) > 0 {
		return fmt.Sprintf("right after the end: %.200q", got)
	}
	if owner > 0 {
		for until := time.Now().Add(2 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			left := ownedBy(owner)
			if len(left) == 0 {
				break
			}
			if time.Now().After(until) {
				return fmt.Sprintf("processes of the agent's user: %q", left)
			}
		}
	}
	return ""
}

var handleRule = regexp.MustCompile(`"handle":"((?:[^"\\]|\\.)*)"`)

// handleOf is the word by which the driver knows the computer of a place.
func handleOf(t *testing.T, p computer.Place) string {
	b, err := os.ReadFile(filepath.Join(p.Dir, "computer.json"))
	if err != nil {
		t.Fatal(err)
	}
	m := handleRule.FindSubmatch(b)
	if m == nil {
		t.Fatalf("no handle in %s", b)
	}
	s, err := strconv.Unquote(`"` + string(m[1]) + `"`)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func ownedBy(user int) (out []string) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		if info, err := os.Stat(d); err == nil && int(info.Sys().(*syscall.Stat_t).Uid) == user {
			b, _ := os.ReadFile(d + "/cmdline")
			out = append(out, string(b))
		}
	}
	return out
}

func meets(t *testing.T, r *shootingRange) string {
	a, b := r.station(t, computer.Spec{}, computer.Options{}), r.station(t, computer.Spec{}, computer.Options{})
	word := random()
	c := a.command("meet", "meet", "wait", word)
	if err := a.Start(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	await(t, a, c.ID, "waiting")
	_, out := b.run(t, b.command("meet", "meet", "come", word))
	if got := r.target.told(out); got != "" {
		return got
	}
	// In the same computer they do meet.
	if _, out := a.run(t, a.command("meet", "meet", "come", word)); r.target.told(out) == "" {
		t.Errorf("they would not meet anywhere: %s", out)
	}
	return ""
}

// await waits until a command has written a line that begins so.
func await(t *testing.T, s *station, id, begins string) {
	t.Helper()
	waitFor(t, begins, func() bool {
		lines, err := s.Read(t.Context(), id, 1, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range lines.Lines {
			if strings.HasPrefix(string(l.Text), begins) {
				return true
			}
		}
		if !lines.Process.Running {
			t.Fatalf("it ended before it said %q: %+v", begins, lines)
		}
		return false
	})
}

// holds is the number that a program says after a word.
func holds(out, word string) int {
	for line := range strings.Lines(out) {
		if v, ok := strings.CutPrefix(line, word+": "); ok {
			n, _ := strconv.Atoi(strings.TrimSpace(v))
			return n
		}
	}
	return -1
}
