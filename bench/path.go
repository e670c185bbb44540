package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"lyceum/internal/api"
)

// A trip is one measurement of the path that a user takes: N quests of K steps each, in the
// built program, or the bare loop with as many conversations. A step is one model call and
// one tool call.
type trip struct {
	N, K, Window int
	Server, Dir  string
	Slow         bool // the model takes 100 ms
}

// model is the name by which the server knows how many steps to take, and whether it is to take its time.
func (t trip) model() string {
	if t.Slow {
		return fmt.Sprintf("k%dslow", t.K)
	}
	return fmt.Sprintf("k%d", t.K)
}

// span is what the model server saw of a trip: from the first request to the last answer,
// and what the process that asked it used meanwhile, in seconds.
type span struct{ Wall, CPU float64 }

// journey is a trip as both took it, in the same minute.
type journey struct{ ours, bare []span }

// path measures the built program as a user runs it, `lyceum run` for one quest and `lyceum serve`
// for many, against a model server on loopback that streams and answers at once, in a process of its
// own. Beside it runs the least loop that does the same: it keeps its history encoded, streams too,
// and writes each step to SQLite, flushed, many conversations in one transaction.
func (b *bench) path() error {
	fmt.Println("\nThe path that a user takes: the built program, an OpenAI-compatible server, streamed. From the first")
	fmt.Println("request to the last answer; the bare loop keeps its history encoded and flushes each step to SQLite")
	program, err := b.build()
	if err != nil {
		return err
	}
	server, stop, err := startProcess("-serve-openai")
	if err != nil {
		return err
	}
	defer stop()
	p := &paths{bench: b, program: program, server: server}
	fmt.Printf("  %5s %5s | %8s %8s %6s | %8s %8s %6s\n", "N", "K", "steps/s", "bare", "ratio", "CPU ms", "bare", "ratio")
	for _, t := range b.trips() {
		if err := p.measure(t); err != nil {
			return fmt.Errorf("%d quests of %d steps: %w", t.N, t.K, err)
		}
	}
	return nil
}

// trips are those that BENCH_TRIPS names, such as 1x500,1000x20, or those of docs/performance.md.
func (b *bench) trips() (out []trip) {
	if some := os.Getenv("BENCH_TRIPS"); some != "" {
		for word := range strings.SplitSeq(some, ",") {
			t := trip{Window: 2_000_000}
			if _, err := fmt.Sscanf(word, "%dx%d", &t.N, &t.K); err != nil {
				fmt.Printf("  %q is no trip: want N and K, such as 1x500\n", word)
				continue
			}
			out = append(out, t)
		}
		return out
	}
	alone, many := []int{10, 50, 200, 500}, []int{8, 64, 256, 1000}
	if b.quick {
		alone, many = []int{10, 200}, []int{8, 64}
	}
	for _, k := range alone {
		out = append(out, trip{N: 1, K: k, Window: 2_000_000})
	}
	if !b.quick {
		out = append(out, trip{N: 1, K: 10_000, Window: 200_000})
	}
	for _, n := range many {
		out = append(out, trip{N: n, K: 20, Window: 2_000_000})
	}
	return out
}

// paths takes trips.
type paths struct {
	*bench
	program, server string
}

// measure takes a trip both ways in turn, a few times, and prints the medians.
func (p *paths) measure(t trip) error {
	rounds := 5
	switch {
	case t.K >= 10_000 || t.N >= 1000:
		rounds = 1
	case t.N*t.K >= 1000:
		rounds = 3
	}
	t.Server = p.server
	var j journey
	for range rounds {
		t.Dir = p.fresh()
		ours, err := p.lyceum(t)
		if err != nil {
			return err
		}
		t.Dir = p.fresh()
		bare, err := p.bareTrip(t)
		if err != nil {
			return err
		}
		j.ours, j.bare = append(j.ours, ours), append(j.bare, bare)
	}
	p.tell(t, j)
	return nil
}

// tell prints a journey, and holds it to what was promised.
func (p *paths) tell(t trip, j journey) {
	steps := float64(t.N * t.K)
	rate := func(all []span) float64 { return steps / median(each(all, func(s span) float64 { return s.Wall })) }
	cpu := func(all []span) float64 {
		return 1000 * median(each(all, func(s span) float64 { return s.CPU })) / steps
	}
	share, times := rate(j.ours)/rate(j.bare), cpu(j.ours)/cpu(j.bare)
	fmt.Printf("  %5d %5d | %8.0f %8.0f %6.2f | %8.2f %8.2f %6.2f\n", t.N, t.K, rate(j.ours), rate(j.bare), share, cpu(j.ours), cpu(j.bare), times)
	least := 0.8
	if t.N > 1 || t.K >= 10_000 {
		least = 0.6
	}
	if t.N == 1 || t.N >= 64 {
		p.promise(fmt.Sprintf("steps/s, share of the bare loop's, N=%d K=%d", t.N, t.K), share, true, least)
	}
	if t.N == 1 && t.K < 10_000 {
		p.promise(fmt.Sprintf("CPU of a step against the bare loop's, N=%d K=%d", t.N, t.K), times, false, 3)
	}
}

func each[T any](list []T, of func(T) float64) (out []float64) {
	for _, v := range list {
		out = append(out, of(v))
	}
	return out
}

// home makes a home whose provider bench is the server.
func (t trip) home() error {
	if err := os.MkdirAll(t.Dir, 0o700); err != nil {
		return err
	}
	config := fmt.Sprintf("providers:\n  bench: {api: openai, url: %sv1, concurrency: 1000}\nmodels:\n  bench/%s: {context: 2000000}\n", t.Server, t.model())
	return os.WriteFile(filepath.Join(t.Dir, "config.yaml"), []byte(config), 0o600)
}

func (t trip) spec(name string) string {
	return fmt.Sprintf(`{"name":%q,"problem":"Does it hold for each case?","model":"bench/%s","window":%d,"tools":["calculate"]}`, name, t.model(), t.Window)
}

// lyceum takes the trip in the built program.
func (p *paths) lyceum(t trip) (span, error) {
	defer os.RemoveAll(t.Dir)
	if err := t.home(); err != nil {
		return span{}, err
	}
	if t.N > 1 {
		return p.served(t)
	}
	file := filepath.Join(t.Dir, "quest.yaml")
	if err := os.WriteFile(file, []byte(t.spec("q0")), 0o600); err != nil {
		return span{}, err
	}
	return p.watched(t, exec.Command(p.program, "run", file, "--home", t.Dir))
}

// watched runs a process from its start to its end, and returns what the server saw of it.
func (p *paths) watched(t trip, cmd *exec.Cmd) (span, error) {
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		return span{}, err
	}
	if err := p.watch(t, cmd.Process.Pid); err != nil {
		return span{}, errors.Join(err, cmd.Process.Kill(), cmd.Wait())
	}
	if err := cmd.Wait(); err != nil {
		return span{}, fmt.Errorf("%w: %s", err, said.String())
	}
	return p.seen()
}

// watch tells the server who is about to ask it, and how many conversations.
func (p *paths) watch(t trip, pid int) error {
	_, err := p.get(fmt.Sprintf("watch?pid=%d&n=%d", pid, t.N))
	return err
}

// seen is what the server saw, once the last conversation has ended.
func (p *paths) seen() (s span, err error) {
	data, err := p.get("seen")
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(data, &s)
}

func (p *paths) get(path string) ([]byte, error) {
	resp, err := http.Get(p.server + path)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", path, data)
	}
	return data, err
}

// served takes the trip in lyceum serve, which eight callers tell to make and start the quests.
func (p *paths) served(t trip) (out span, err error) {
	s, err := startServe(p.program, t.Dir)
	if err != nil {
		return span{}, err
	}
	defer s.stop()
	ctx := context.Background()
	if err := p.watch(t, s.cmd.Process.Pid); err != nil {
		return span{}, err
	}
	made, err := callers(t.N, func(i int) error {
		_, err := s.client.Create(ctx, api.NewQuest{Spec: []byte(t.spec(fmt.Sprintf("q%d", i)))})
		return err
	})
	if err != nil {
		return span{}, fmt.Errorf("make a quest: %w", err)
	}
	started, err := callers(t.N, func(i int) error {
		_, err := s.client.Control(ctx, fmt.Sprintf("q%d", i), api.Control{Action: "start"})
		return err
	})
	if err != nil {
		return span{}, fmt.Errorf("start a quest: %w", err)
	}
	out, err = p.seen()
	if err != nil || t.N < 1000 {
		return out, err
	}
	fmt.Printf("  1000 quests made and started by 8 callers: %.1f and %.1f ms each, at the median\n", median(made), median(started))
	s.stop()
	return out, p.list(t)
}

// callers has eight of them do n things, and returns how many milliseconds each took.
func callers(n int, do func(i int) error) ([]float64, error) {
	took, errs := make([]float64, n), make([]error, n)
	next := make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range next {
				begun := time.Now()
				errs[i] = do(i)
				took[i] = time.Since(begun).Seconds() * 1000
			}
		})
	}
	all.Wait()
	return took, errors.Join(errs...)
}

// list measures what a look at all quests takes: of the command line, and of a server that has
// just been started.
func (p *paths) list(t trip) error {
	var wall, cpu []float64
	for range 5 {
		cmd := exec.Command(p.program, "list", "--home", t.Dir)
		begun := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("list: %w: %s", err, out)
		}
		wall = append(wall, time.Since(begun).Seconds()*1000)
		cpu = append(cpu, (cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()).Seconds()*1000)
	}
	s, err := startServe(p.program, t.Dir)
	if err != nil {
		return err
	}
	defer s.stop()
	begun := time.Now()
	quests, err := s.client.Quests(context.Background())
	if err != nil || len(quests) != t.N {
		return fmt.Errorf("%d quests: %w", len(quests), err)
	}
	fmt.Printf("  the first GET /api/quests of a new server: %.0f ms\n", time.Since(begun).Seconds()*1000)
	fmt.Printf("  lyceum list with 1000 quests: %.0f ms of CPU the first time, then %.0f ms, %.0f by the clock\n", cpu[0], slices.Min(cpu[1:]), slices.Min(wall[1:]))
	p.promise("ms of CPU of the first lyceum list with 1000 quests", cpu[0], false, 100)
	return nil
}

// build builds the program as make build does, so that what it is made of is compiled already.
func (b *bench) build() (program string, err error) {
	if program = os.Getenv("BENCH_LYCEUM"); program != "" {
		return program, nil
	}
	dir := b.fresh()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	program = filepath.Join(dir, "lyceum")
	build := exec.Command("go", "build", "-trimpath", "-o", program, "./cmd/lyceum")
	build.Dir, build.Env = "..", append(os.Environ(), "CGO_ENABLED=0") // the bench is a module of its own, beside the program's
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build lyceum: %w: %s", err, out)
	}
	return program, nil
}
