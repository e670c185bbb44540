package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"lyceum/internal/api"
	"lyceum/internal/api/client"
)

// waitingScript has an agent ask a person in its first turn.
const waitingScript = `rules:
  - on: {turn: 1}
    call: [{tool: ask_person, args: {question: "Which colour?", options: [red, blue]}}]
  - on: {tool: ask_person}
    say: "Thank you."
`

// waiting measures what a thousand quests take that wait for a person, in the program as
// a user runs it: lyceum serve, which made and ran them all, and one that was started
// when they waited already.
func (b *bench) waiting() error {
	return b.atWait("quests that wait for a person", `{"name":%q,"problem":"Which?","model":"script:plan.yaml","may_ask":true,"tools":["calculate"]}`, waitingScript, (*served).answer)
}

// atWait measures quests of a spec, which has a place for their name, and then has one go on.
func (b *bench) atWait(what, spec, script string, then func(*served) error) error {
	quests, still := 1000, time.Minute
	if b.quick {
		quests, still = 50, 5*time.Second
	}
	dir := b.fresh()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	fmt.Printf("\n%d %s, in lyceum serve\n", quests, what)
	begun := time.Now()
	program, err := b.build()
	if err != nil {
		return err
	}
	fmt.Printf("  lyceum was built in %.1f s\n", time.Since(begun).Seconds())
	s, err := startServe(program, filepath.Join(dir, "home"))
	if err != nil {
		return err
	}
	defer func() { s.stop() }()
	begun = time.Now()
	if err := s.ask(quests, spec, script); err != nil {
		return err
	}
	fmt.Printf("  all of them wait after %.1f s\n", time.Since(begun).Seconds())
	if err := b.atRest(s, "the server that ran them", still); err != nil {
		return err
	}
	s.stop()
	if s, err = startServe(program, filepath.Join(dir, "home")); err != nil {
		return err
	}
	time.Sleep(still / 6) // it looks at each of them once
	if err := b.atRest(s, "the next server", still); err != nil {
		return err
	}
	return then(s)
}

// atRest measures a server that has nothing to do.
func (b *bench) atRest(s *served, who string, still time.Duration) error {
	time.Sleep(still / 12) // what came before is over
	first, err := s.cpu()
	if err != nil {
		return err
	}
	time.Sleep(still)
	last, err := s.cpu()
	if err != nil {
		return err
	}
	mb, err := s.memory()
	if err != nil {
		return err
	}
	b.promise("MB of "+who, mb, false, 100)
	b.promise("% of a processor that "+who+" takes", 100*float64(last-first)/float64(still), false, 1)
	return nil
}

// patience is how long is waited for what takes a moment where nothing else runs.
const patience = 5 * time.Minute

// served is a lyceum serve.
type served struct {
	cmd    *exec.Cmd
	client *client.Client
	said   bytes.Buffer
}

func startServe(program, home string, environ ...string) (*served, error) {
	s := &served{cmd: exec.Command(program, "serve", "--listen", "127.0.0.1:0", "--home", home)}
	s.cmd.Stdout, s.cmd.Stderr = &s.said, &s.said
	s.cmd.Env = append(os.Environ(), environ...)
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if s.client, err = client.Find(context.Background(), home, "bench", ""); err == nil {
			return s, nil
		}
	}
	s.stop()
	return nil, fmt.Errorf("lyceum serve does not come up: %w: %s", err, s.said.String())
}

func (s *served) stop() {
	if s.cmd.ProcessState == nil {
		_ = s.cmd.Process.Signal(os.Interrupt)
		_ = s.cmd.Wait()
	}
}

// ask makes quests and runs them until all of them wait.
func (s *served) ask(n int, spec, script string) error {
	ctx := context.Background()
	for i := range n {
		name := "q" + strconv.Itoa(i)
		_, err := s.client.Create(ctx, api.NewQuest{Spec: fmt.Appendf(nil, spec, name), Start: true, Files: []api.NewFile{{Path: "plan.yaml", Text: &script}}})
		if err != nil {
			return fmt.Errorf("quest %d: %w", i, err)
		}
	}
	for end := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
		list, err := s.client.Quests(ctx)
		if err != nil {
			return err
		}
		left := 0
		for _, q := range list {
			if q.Status != "waiting" || q.Running {
				left++
			}
		}
		if left == 0 {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d quests do not wait: %s", left, s.said.String())
		}
	}
}

// answer answers one of them, which must go on.
func (s *served) answer() error {
	ctx := context.Background()
	d, err := s.client.Quest(ctx, "q7")
	if err != nil || len(d.Questions) != 1 {
		return errors.Join(err, errors.New("quest q7 asks nothing"))
	}
	begun := time.Now()
	if err := s.client.Answer(ctx, "q7", api.Answer{Question: d.Questions[0].ID, Choice: "red"}); err != nil {
		return err
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if d, err = s.client.Quest(ctx, "q7"); err != nil {
			return err
		}
		if d.Status == "finished" {
			fmt.Printf("  an answer to one of them: finished after %.0f ms\n", float64(time.Since(begun).Microseconds())/1000)
			return nil
		}
	}
	return fmt.Errorf("quest q7 is %s after its answer", d.Status)
}

// cpu is the processor time that the server has used.
func (s *served) cpu() (time.Duration, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	var ticks int64
	for _, f := range fields[11:13] {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil // the kernel tells hundredths of a second
}

// memory is what the server holds, in MB.
func (s *served) memory() (float64, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if kb, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, err := strconv.ParseFloat(strings.Fields(kb)[0], 64)
			return n / 1024, err
		}
	}
	return 0, errors.New("the kernel does not tell what the server holds")
}
