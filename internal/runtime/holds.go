package runtime

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/plain"
)

// What is in a computer, for its agent: which system it is, which languages, tools and
// libraries are there. A script looks when a computer is started, once for all that are alike.

// probe prints what it finds, a line each. Most of it is done by the shell itself, and nothing
// that is slow to start is asked for its version: it takes about as long as a short command.
// It leaves nothing in the workspace: no program runs that keeps something for itself (go does).
// Quests that follow in the same home find what it printed in the cache.
const probe = `while IFS='=' read -r k v; do case $k in PRETTY_NAME) v=${v#\"}; printf 'system %s\n' "${v%\"}";; esac; done </etc/os-release
for p in python3 pip uv conda sage gcc g++ clang make cmake gfortran rustc cargo go java node deno bun ruby perl php lua julia R octave maxima gap gp ghc ocaml opam lean lake coqc agda isabelle z3 cvc5 kissat cadical sqlite3 jq git curl wget rg pdflatex pandoc gnuplot dot ffmpeg convert nmap gdb strace busybox; do
	command -v "$p" >/dev/null 2>&1 && printf 'program %s\n' "$p"
done
v=$(command -v python3) && v=$(readlink -f "$v") && printf 'version python3 %s\n' "${v##*python}"
v=$(gcc -dumpfullversion 2>/dev/null) && printf 'version gcc %s\n' "$v"
v=$(command -v go) && v=$(readlink -f "$v") && read -r v <"${v%/bin/go}/VERSION" && printf 'version go %s\n' "${v#go}"
for d in /usr/lib/python3*/*-packages /usr/local/lib/python3*/*-packages /opt/*/lib/python3*/site-packages; do
	for f in "$d"/*.dist-info "$d"/*.egg-info; do f=${f##*/}; case $f in \**) ;; *) printf 'package %s\n' "${f%.*-info}";; esac; done
done
exit 0
`

const (
	probeID   = "probe-0"
	probeTime = 2 * time.Second
	// maxHeld is how many programs are told of, and how many packages.
	maxHeld = 60
	// maxHoldings is for how many kinds of computers it is remembered what is in them.
	maxHoldings = 64
)

// holdings remember what is in computers, by their fingerprints.
type holdings struct {
	mu    sync.Mutex
	known map[event.Hash]*holding
}

// holding is what is in computers of one kind, nil until somebody has looked. Whoever looks
// holds mu, and those who start another wait.
type holding struct {
	mu    sync.Mutex
	found *event.ComputerHolds
}

func (h *holdings) of(print event.Hash) *holding {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.known[print] == nil {
		if h.known == nil || len(h.known) >= maxHoldings {
			h.known = map[event.Hash]*holding{}
		}
		h.known[print] = &holding{}
	}
	return h.known[print]
}

// holds finds out what is in a computer, nil if nobody can tell: that stops no work.
func (r *Runtime) holds(ctx context.Context, c *computer.Computer, print event.Hash) *event.ComputerHolds {
	h := r.holdings.of(print)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.found != nil {
		return h.found
	}
	name := event.HashOf(append(print[:], probe...)).String() // no quest has so long a name
	printed := r.loadCache(name, cachedHolds)
	if printed == nil {
		ctx, cancel := context.WithTimeout(ctx, probeTime)
		defer cancel()
		res, err := c.Run(ctx, computer.Command{ID: probeID, Args: []string{"sh", "-c", probe}, Timeout: probeTime})
		if err != nil || res.End != "" {
			return nil
		}
		_ = c.Forget(ctx, probeID) // it is dropped at the latest when the computer ends
		printed = res.Stdout.Head
		_ = r.saveCache(name, cachedHolds, printed) // whoever cannot read it looks again
	}
	h.found = held(r.Redact(string(printed)))
	return h.found
}

// cachedHolds is the cache of what the probe printed in computers of a kind.
const cachedHolds = "computer"

// Words of a computer: what its files are called. Agents read them, so that nothing passes that
// could be more than a name.
var (
	heldSystem = plain.Form{First: "A-Za-z0-9", Rest: "A-Za-z0-9 ./()+_-", Most: 100}
	heldName   = plain.Form{First: "A-Za-z0-9", Rest: "A-Za-z0-9.+_-", Most: 40}
)

// held reads what the probe printed.
func held(printed string) *event.ComputerHolds {
	h := &event.ComputerHolds{}
	versions, packages := map[string]string{}, map[string]string{}
	for line := range strings.Lines(printed) {
		kind, word, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		switch kind {
		case "system":
			if heldSystem.MatchString(word) {
				h.System = word
			}
		case "program":
			if heldName.MatchString(word) && len(h.Programs) < maxHeld {
				h.Programs = append(h.Programs, word)
			}
		case "version":
			if name, v, ok := strings.Cut(word, " "); ok && heldName.MatchString(v) {
				versions[name] = v
			}
		case "package":
			name, v, _ := strings.Cut(word, "-")
			if heldName.MatchString(name) && (v == "" || heldName.MatchString(v)) {
				name = strings.ToLower(name)
				packages[name] = cmp.Or(v, packages[name])
			}
		}
	}
	for i, p := range h.Programs {
		if v := versions[p]; v != "" {
			h.Programs[i] += " " + v
		}
	}
	for name, v := range packages {
		h.Packages = append(h.Packages, strings.TrimSpace(name+" "+v))
	}
	slices.SortFunc(h.Packages, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
	if n := len(h.Packages) - maxHeld; n > 0 {
		h.Packages, h.More = h.Packages[:maxHeld], int64(n)
	}
	return h
}

// rank puts the packages first that science is done with.
func rank(p string) int {
	name, _, _ := strings.Cut(p, " ")
	if i := slices.Index(wanted, name); i >= 0 {
		return i
	}
	return len(wanted)
}

var wanted = []string{"numpy", "scipy", "sympy", "mpmath", "pandas", "matplotlib", "networkx", "scikit_learn", "statsmodels", "numba", "torch", "jax", "tensorflow", "ortools", "z3_solver", "requests", "beautifulsoup4", "pillow"}
