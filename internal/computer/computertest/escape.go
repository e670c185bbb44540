package computertest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/computer/tree"
	"lyceum/internal/need"

	"golang.org/x/sys/unix"
)

// EscapeOptions is what a driver says about the suite.
type EscapeOptions struct {
	// Skip names attempts that make no sense with a driver, and why.
	Skip map[string]string
	// Open names attempts that are known to succeed, and what that means. They are
	// tried all the same: one that fails has been closed, and must leave the list.
	Open map[string]string
}

// Escape tries to get out of computers. Each attempt is a hostile program that is
// really run in one; whether it got out is looked at from outside where that can be
// done. Prove shows of each that it would have been noticed.
//
// A computer is shared by the attempts of the table, each in a folder of its own.
// Those that could harm it have one to themselves.
func Escape(t *testing.T, open func(t *testing.T) computer.Driver, o EscapeOptions) {
	r := newRange(t, open(t), o)
	for _, a := range table() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			r.judge(t, a.name, func(t *testing.T) string { return r.attempt(t, a) })
		})
	}
	for _, a := range rough() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			r.judge(t, a.name, func(t *testing.T) string { return a.try(t, r) })
		})
	}
}

// judge compares what an attempt came to with what was expected of it.
func (r *shootingRange) judge(t *testing.T, name string, try func(*testing.T) string) {
	if why := r.options.Skip[name]; why != "" {
		need.Elsewhere(t, "%s", why)
	}
	got := try(t)
	if t.Failed() {
		return
	}
	known := r.options.Open[name]
	if wrong := verdict(got, known); wrong != "" {
		t.Error(wrong)
	} else if known != "" {
		t.Logf("KNOWN TO BE OPEN: %s (%s)", known, got)
	}
}

// verdict says what is wrong, if something is. got is how the attempt got out, known how
// it is known to. A hole that has closed is news as well: whoever closed it takes it off
// the list, and from then on it must stay closed.
func verdict(got, known string) string {
	switch {
	case got != "" && known == "":
		return "it got out: " + got
	case got == "" && known != "":
		return "it did not get out, but is listed as a known hole: take it off the list (" + known + ")"
	}
	return ""
}

// attempt is a program that is run in a computer, and on the host to prove it.
type attempt struct {
	name string
	// want is what must not happen, for whoever reads the table.
	want string
	// args are the role and its arguments.
	args func(*target) []string
	// check looks at the host, and says what happened there.
	check func(*target) string
	// proof is where the program is shown to succeed.
	proof proof
	// dies says that the program may be killed for trying.
	dies bool
	// terminal gives it one.
	terminal bool
}

// target is what attempts are aimed at: things on the host that must not be reached,
// each with a mark by which that is noticed.
type target struct {
	// inside says that the program runs in a computer.
	inside bool
	// secret is what the files hold, name what is in their names; called is what the process on
	// the host is called, and no attempt says that in words of its own.
	secret, name, called string
	// user is a folder like a user's home.
	user string
	// victim and own are the places of computers.
	victim, own computer.Place
	tcp, udp    string
	abstract    string
	process     *exec.Cmd
	came        atomic.Int64 // connections and packets that reached the host
	hostname    string
	pattern     []byte
}

// canary is in the environment of the process that starts computers.
const canary = "LYCEUM_ESCAPE_CANARY"

func random() string {
	var b [12]byte
	_, _ = rand.Read(b[:])
	return hex.EncodeToString(b[:])
}

func newTarget(t *testing.T) *target {
	g := &target{secret: "secret-" + random(), name: "name-" + random(), called: "called-" + random(), user: t.TempDir()}
	g.hostname, _ = os.Hostname()
	g.pattern, _ = os.ReadFile("/proc/sys/kernel/core_pattern")
	for _, f := range g.files() {
		if err := os.MkdirAll(filepath.Dir(f), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(f, []byte(g.secret), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	g.listen(t)
	g.process = exec.Command("/proc/self/exe", AttemptRole, "sleep", "5m", g.called)
	if err := g.process.Start(); err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() { _ = g.process.Wait(); close(gone) }()
	t.Cleanup(func() { _ = g.process.Process.Kill(); <-gone })
	return g
}

// files are those of a user that everybody would like to read. Their rights let them:
// it is not those that protect them.
func (g *target) files() (out []string) {
	for _, f := range []string{
		".ssh/id_ed25519", ".aws/credentials", ".config/gcloud/credentials.db", ".netrc", ".lyceum/lyceum.db", ".lyceum/config.yaml",
		"document-" + g.name,
	} {
		out = append(out, filepath.Join(g.user, f))
	}
	return out
}

// listen counts whoever comes.
func (g *target) listen(t *testing.T) {
	g.abstract = "@lyceum-" + g.name
	for _, name := range []string{g.abstract, filepath.Join(g.user, "docker.sock"), filepath.Join(g.user, "bus")} {
		l, err := listenUnix(name)
		if err != nil {
			t.Fatal(err)
		}
		g.count(t, l)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g.tcp = l.Addr().String()
	g.count(t, l)
	u, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g.udp = u.LocalAddr().String()
	t.Cleanup(func() { u.Close() })
	go func() {
		for {
			if _, _, err := u.ReadFrom(make([]byte, 1)); err != nil {
				return
			}
			g.came.Add(1)
		}
	}()
}

// listenUnix listens at a path that may be longer than an address can be.
func listenUnix(name string) (net.Listener, error) {
	if strings.HasPrefix(name, "@") {
		return net.Listen("unix", name)
	}
	dir, err := os.Open(filepath.Dir(name))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return net.Listen("unix", fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(name)))
}

func (g *target) count(t *testing.T, l net.Listener) {
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			g.came.Add(1)
			c.Close()
		}
	}()
}

// reached says what has happened to the host.
func (g *target) reached() string {
	if n := g.came.Load(); n > 0 {
		return fmt.Sprintf("%d connections reached the host", n)
	}
	if err := g.process.Process.Signal(unix.Signal(0)); err != nil {
		return fmt.Sprintf("a process of the host has ended: %v", err)
	}
	if h, _ := os.Hostname(); h != g.hostname {
		return "the host's name is now " + h
	}
	if p, _ := os.ReadFile("/proc/sys/kernel/core_pattern"); !bytes.Equal(p, g.pattern) {
		return fmt.Sprintf("core_pattern is now %q", p)
	}
	for _, f := range g.files() {
		if b, err := os.ReadFile(f); err != nil || string(b) != g.secret {
			return fmt.Sprintf("%s has changed: %v", f, err)
		}
	}
	return ""
}

// told is what an attempt's own words come to.
func (g *target) told(out string) string {
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, escaped) {
			return strings.TrimSpace(line)
		}
	}
	if strings.Contains(out, g.secret) {
		return "the secret came out"
	}
	return ""
}

// shootingRange is where attempts are made.
type shootingRange struct {
	driver  computer.Driver
	options EscapeOptions
	target  *target
	shared  *station
	victim  *station
}

// station is a computer with the hostile program in its home.
type station struct {
	*computer.Computer
	place computer.Place
	ids   atomic.Int64
}

func newRange(t *testing.T, d computer.Driver, o EscapeOptions) *shootingRange {
	letGo(t, d)
	r := &shootingRange{driver: d, options: o, target: newTarget(t)}
	for name := range o.Open {
		if !slices.ContainsFunc(rough(), func(a roughAttempt) bool { return a.name == name }) &&
			!slices.ContainsFunc(table(), func(a attempt) bool { return a.name == name }) {
			t.Errorf("the list of what is open names %s, which is no attempt", name)
		}
	}
	if err := os.Setenv(canary, r.target.secret); err != nil {
		t.Fatal(err)
	}
	// A file that every child of this process inherits.
	fd, err := unix.Open(filepath.Join(r.target.user, ".ssh/id_ed25519"), unix.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { unix.Close(fd) })
	r.victim = r.station(t, computer.Spec{}, computer.Options{})
	for _, dir := range []string{r.victim.place.Dir, r.victim.place.Home} {
		if err := os.WriteFile(filepath.Join(dir, "document-"+r.target.name), []byte(r.target.secret), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r.shared = r.station(t, computer.Spec{}, computer.Options{})
	r.target.inside, r.target.victim, r.target.own = true, r.victim.place, r.shared.place
	return r
}

// station boots a computer.
func (r *shootingRange) station(t *testing.T, s computer.Spec, o computer.Options) *station {
	t.Helper()
	dir, err := os.MkdirTemp("", "lyceum-escape-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tree.Remove(dir); err != nil {
			t.Errorf("remove the place of a computer: %v", err)
		}
	})
	p := computer.Place{Home: filepath.Join(dir, "home"), Dir: filepath.Join(dir, "computer")}
	if err := os.Mkdir(p.Home, 0o700); err != nil {
		t.Fatal(err)
	}
	// A copy for each: it is a file that the programs inside may change.
	if err := copyFile("/proc/self/exe", filepath.Join(p.Home, "attempt")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	c, err := computer.Open(ctx, r.driver, p, s, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := c.Stop(ctx); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return &station{Computer: c, place: p}
}

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	// A process that is forked meanwhile would have the file open for writing, and for
	// as long it could not be executed.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(to, b, 0o755)
}

// folder is where an attempt works, in the home.
const folder = "LYCEUM_ATTEMPT_FOLDER"

// command is one that runs the hostile program.
func (s *station) command(name string, args ...string) computer.Command {
	return computer.Command{
		ID:      "a" + strconv.FormatInt(s.ids.Add(1), 10),
		Args:    append([]string{computer.HomeDir + "/attempt", AttemptRole}, args...),
		Env:     []string{folder + "=" + computer.HomeDir + "/in-" + name},
		Timeout: 20 * time.Second,
	}
}

// run runs the hostile program to its end.
func (s *station) run(t *testing.T, c computer.Command) (*computer.Result, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
	defer cancel()
	res, err := s.Run(ctx, c)
	if err != nil {
		t.Fatalf("run a hostile program, %v: %v", c.Args[2:], err)
	}
	return res, said(res)
}

func said(r *computer.Result) string {
	return string(r.Stdout.Head) + string(r.Stdout.Tail) + string(r.Stderr.Head)
}

// works reports why a computer does not.
func (s *station) works(t *testing.T) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c := s.command("works", "whoami")
	res, err := s.Run(ctx, c)
	if err != nil {
		return fmt.Sprintf("the computer does not work any more: %v", err)
	}
	if res.Exit != 0 || !strings.Contains(said(res), tried) {
		return fmt.Sprintf("the computer does not work any more: %+v %s", res, said(res))
	}
	return ""
}

// attempt makes one attempt of the table.
func (r *shootingRange) attempt(t *testing.T, a attempt) string {
	c := r.shared.command(a.name, a.args(r.target)...)
	if a.terminal {
		c.Terminal = &computer.Size{Rows: 24, Cols: 80}
	}
	res, out := r.shared.run(t, c)
	t.Logf("must not happen: %s\n%s", a.want, out)
	if !strings.Contains(out, tried) && !a.dies {
		t.Errorf("the attempt was not made: exit %d %s", res.Exit, res.Signal)
	}
	if got := r.target.told(out); got != "" {
		return got
	}
	if a.check != nil {
		return a.check(r.target)
	}
	return r.target.reached()
}
