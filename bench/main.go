// Command bench measures Lyceum against the least that could do the same job,
// in one run, and prints ratios. Absolute figures are the machine's.
//
//	go -C bench run .             everything, as in docs/performance.md
//	go -C bench run . -only ledger,turns,open -quick
//
// To see where a cell's time goes, run it alone with a profile:
//
//	BENCH_CPUPROFILE=$PWD/cpu.out go -C bench run . -cell '{"Loop":"lyceum","Model":"script","N":64,"K":50,"Dir":"/tmp/cell"}'
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"

	"lyceum/internal/computer/helper"
)

func main() {
	// This program is also the helper in the computers it measures.
	if len(os.Args) > 1 && os.Args[1] == helper.Role {
		os.Exit(helper.Main(os.Args[2:]))
	}
	only := flag.String("only", "ledger,path,turns,policies,models,gateway,scoped,computers,lab,idle,open,search,tools,serve,waiting,handover,study,browser,proof,cluster", "which parts to run")
	quick := flag.Bool("quick", false, "smaller sizes, for a first look")
	full := flag.Bool("full", false, "the whole matrix of turns, which takes half an hour more")
	openai := flag.Bool("serve-openai", false, "be a server that speaks as OpenAI does (used by bench itself)")
	bare := flag.String("bare", "", "be the bare loop of a trip (used by bench itself)")
	claude := flag.Bool("serve-claude", false, "be a server that speaks as Anthropic does (used by bench itself)")
	quests := flag.String("serve-quests", "", "be a server of quests (used by bench itself)")
	calls := flag.Int("call-tools", 0, "call a tool so often from inside a computer (used by bench itself)")
	one := flag.String("cell", "", "measure one cell (used by bench itself)")
	dir := flag.String("dir", "", "where to put the files (default: a temporary folder)")
	flag.Parse()
	var err error
	switch {
	case *openai:
		err = serveOpenAI()
	case *bare != "":
		err = takeBare(*bare)
	case *claude:
		err = serveClaude()
	case *quests != "":
		err = serveQuests(*quests)
	case *calls > 0:
		err = callTools(*calls)
	case *one != "":
		err = printCell(*one)
	default:
		err = run(*only, *dir, *quick, *full)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// profile writes a profile of this process, if one is asked for, until stop is called.
func profile() (stop func(), err error) {
	path := os.Getenv("BENCH_CPUPROFILE")
	if path == "" {
		return func() {}, nil
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return pprof.StopCPUProfile, pprof.StartCPUProfile(f)
}

func printCell(arg string) error {
	var c cell
	if err := json.Unmarshal([]byte(arg), &c); err != nil {
		return err
	}
	stop, err := profile()
	if err != nil {
		return err
	}
	defer stop()
	r, err := measureCell(c)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

func run(only, dir string, quick, full bool) error {
	if dir == "" {
		tmp, err := os.MkdirTemp("", "lyceum-bench-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(tmp)
		dir = tmp
	}
	fmt.Printf("%s, %d processors, %s\n", runtime.Version(), runtime.NumCPU(), runtime.GOARCH)
	b := &bench{dir: dir, quick: quick, full: full}
	parts := strings.Split(only, ",")
	var failed []error
	for _, p := range []struct {
		name string
		run  func() error
	}{{"ledger", b.ledger}, {"path", b.path}, {"turns", b.turns}, {"policies", b.policies}, {"models", b.models}, {"gateway", b.gateway}, {"scoped", b.scopedCalls}, {"computers", b.computers}, {"lab", b.lab}, {"idle", b.idle}, {"open", b.open}, {"search", b.search}, {"tools", b.tools}, {"serve", b.streams}, {"waiting", b.waiting}, {"handover", b.handover}, {"study", b.study}, {"browser", b.browsers}, {"proof", b.proof}, {"cluster", b.cluster}} {
		if slices.Contains(parts, p.name) {
			if err := p.run(); err != nil { // the others have figures all the same
				fmt.Printf("  FAILED %s: %v\n", p.name, err)
				failed = append(failed, fmt.Errorf("%s: %w", p.name, err))
			}
		}
	}
	return errors.Join(append(failed, b.verdict())...)
}

// bench collects what was promised and what came out.
type bench struct {
	dir    string
	quick  bool
	full   bool
	missed []string
	n      int
}

// fresh returns the path of a folder that is not there yet.
func (b *bench) fresh() string {
	b.n++
	return fmt.Sprintf("%s/%d", b.dir, b.n)
}

// promise prints a figure beside what it must be.
func (b *bench) promise(what string, got float64, atLeast bool, want float64) {
	word, ok := "at least", got >= want
	if !atLeast {
		word, ok = "at most", got <= want
	}
	mark := "ok"
	if !ok {
		mark = "MISSED"
		b.missed = append(b.missed, what)
	}
	fmt.Printf("  %-6s %s: %.2f (%s %.2f)\n", mark, what, got, word, want)
}

func (b *bench) verdict() error {
	if len(b.missed) > 0 {
		return fmt.Errorf("%d promises missed: %s", len(b.missed), strings.Join(b.missed, "; "))
	}
	return nil
}

// median of a few runs.
func median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)/2]
}
