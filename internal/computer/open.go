package computer

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lyceum/internal/computer/link"
	"lyceum/internal/plain"
	"lyceum/internal/workspace"

	"golang.org/x/sys/unix"
)

// Place is where a computer lives on the host.
type Place struct {
	// Home becomes HomeDir inside. It is kept over everything but the owner's own
	// removal.
	Home string
	// Dir is the computer's own: its socket, and the logs of its commands.
	Dir string
}

// Options are what can be said about a computer that is opened.
type Options struct {
	// Progress is told what takes long.
	Progress func(string)
	// Serve is given each connection that a program inside makes to its proxy. It is
	// needed where the network is to be filtered.
	Serve func(ctx context.Context, c io.ReadWriteCloser)
	// Ports answer what programs ask at the spec's ports, by their names. Each must be
	// there, unless Found or Unattended is set: then those that are not wait for somebody who
	// has them.
	Ports map[string]Port
	// Linger is how long the computer stays up with commands that are to be kept
	// when Lyceum is gone, an hour if zero; Idle without any, ten seconds if zero.
	Linger, Idle time.Duration
	// Epoch is that of the claim under which the caller owns the computer's quest, 0 if nobody else could own it.
	// From then on whoever comes with a lower one gets ErrFenced.
	Epoch int64
	// Found, if set, opens only a computer that is up.
	Found bool
	// Unattended has nobody here serve the network or answer at ports: programs wait for
	// somebody who opens the computer and does.
	Unattended bool
}

// Computer is a sandbox that is up. Its methods may be called at the same time.
type Computer struct {
	driver Driver
	place  Place
	home   *os.Root
	saved  saved
	bounds workspace.Bounds
	report link.Answer
	opts   Options
	ctx    context.Context
	stop   context.CancelFunc
	work   sync.WaitGroup
	held   net.Conn

	attaching sync.Mutex // held while a command is made ours, so that it is once

	logs     atomic.Int64 // bytes of logs
	trimming atomic.Bool

	mu       sync.Mutex
	captures map[string]*capture
	down     bool
}

// saved is what another process needs to find the computer.
type saved struct {
	Driver      string      `json:"driver"`
	Handle      string      `json:"handle"`
	Fingerprint Fingerprint `json:"fingerprint"`
	// Key is what tokens for its ports are made with, of each boot another.
	Key []byte `json:"key,omitempty"`
	// Masks are what was covered when it was booted.
	Masks []Mask `json:"masks,omitempty"`
	// Epoch is the highest of those who opened it.
	Epoch int64 `json:"epoch,omitempty"`
}

// fenced reports whether a computer is a later owner's than that of an epoch.
func (s saved) fenced(epoch int64) bool { return epoch != 0 && epoch < s.Epoch }

// Open finds the computer of a place, with the commands that were kept in it, or
// boots a new one if it is not up or not the one that is asked for.
func Open(ctx context.Context, d Driver, p Place, s Spec, opts Options) (*Computer, error) {
	if err := s.check(d.Name(), opts.Serve != nil || opts.Found || opts.Unattended); err != nil {
		return nil, err
	}
	if err := opts.checkPorts(s.Ports); err != nil {
		return nil, err
	}
	s.Limits = s.Limits.OrDefault()
	s.Ports = slices.Sorted(slices.Values(s.Ports))
	if opts.Progress == nil {
		opts.Progress = func(string) {}
	}
	if err := os.MkdirAll(filepath.Join(p.Dir, "log"), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of a computer: %w", err)
	}
	// One at a time may open, boot or stop the computer of a place.
	unlock, err := lock(ctx, filepath.Join(p.Dir, "lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	if was, err := readSaved(p); err == nil && was.fenced(opts.Epoch) {
		return nil, ErrFenced
	}
	c := &Computer{driver: d, place: p, opts: opts, bounds: s.Bounds, captures: map[string]*capture{}}
	base, err := d.Prepare(ctx, s, opts.Progress)
	if err != nil {
		return nil, err
	}
	folders, err := s.prints()
	if err != nil {
		return nil, err
	}
	if s.Fixed, err = fixed(p.Home, s.Fixed); err != nil {
		return nil, err
	}
	print := Fingerprint{Driver: d.Name(), Base: base, Kernel: kernel(), Arch: runtime.GOARCH, Limits: s.Limits, Network: s.Network, Ports: s.Ports, Folders: folders, Fixed: s.Fixed, Program: s.Program, Bounds: s.Bounds}
	if !c.find(ctx, print) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if opts.Found {
			return nil, ErrStopped
		}
		if err := c.boot(ctx, s, print); err != nil {
			return nil, fmt.Errorf("start a computer with %s: %w", d.Name(), err)
		}
	}
	if opts.Epoch > c.saved.Epoch {
		c.saved.Epoch = opts.Epoch
		if err := c.save(); err != nil {
			return nil, fmt.Errorf("note whose the computer is: %w", err)
		}
	}
	if c.home, err = os.OpenRoot(p.Home); err != nil {
		return nil, fmt.Errorf("open the home of a computer: %w", err)
	}
	// What the computer has under way goes on until Close, whatever ctx was for.
	c.ctx, c.stop = context.WithCancel(context.Background())
	_, size := c.countLogs()
	c.logs.Store(size)
	if c.held, _, _, err = c.ask(ctx, link.Request{Op: link.OpHold, New: true}); err != nil {
		c.Close()
		return nil, err
	}
	if s.Network.Mode() == "allow" && opts.Serve != nil {
		c.spawn(func() { c.serveTunnels(link.ProxyPort, opts.Serve) })
	}
	if err := c.servePorts(); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// fixed are those of the folders of a home that are there, sorted. A link or a file in such a
// place is refused: nobody could say what would be shown there.
func fixed(home string, names []string) (out []string, err error) {
	for _, name := range slices.Sorted(slices.Values(names)) {
		if name == "" || name == "." || name == ".." || strings.ContainsRune(name, '/') {
			return nil, fmt.Errorf("%.80q is no folder at the top of a home", name)
		}
		info, err := os.Lstat(filepath.Join(home, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return nil, fmt.Errorf("look at the folder %s of a home: %w", name, err)
		case !info.IsDir():
			return nil, fmt.Errorf("%s in the home of a computer must be a folder, and is none", name)
		}
		out = append(out, name)
	}
	return out, nil
}

// find looks for the computer that is up.
func (c *Computer) find(ctx context.Context, want Fingerprint) bool {
	var err error
	if c.saved, err = readSaved(c.place); err != nil || c.saved.Driver != c.driver.Name() {
		return false
	}
	soon, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	c.report, err = c.tell(soon, link.Request{Op: link.OpPing})
	if err == nil && c.saved.Fingerprint.Hash() == want.Hash() {
		return true
	}
	if ctx.Err() != nil {
		return false // it may be well; it is we who do not wait
	}
	// It does not answer, or is another one than is wanted now.
	_ = c.driver.Kill(ctx, c.saved.Handle)
	return false
}

func readSaved(p Place) (s saved, err error) {
	b, err := os.ReadFile(filepath.Join(p.Dir, "computer.json"))
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	return s, err
}

func (c *Computer) save() error {
	data, err := json.Marshal(c.saved)
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(c.place.Dir, "computer.json"), data)
}

func (c *Computer) boot(ctx context.Context, s Spec, print Fingerprint) error {
	socket := filepath.Join(c.place.Dir, "socket")
	_ = os.Remove(socket)
	listener, err := listen(c.place.Dir)
	if err != nil {
		return err
	}
	// Once the sandbox has it, it is only its own: when the helper dies, whoever
	// waits for an answer is told.
	defer listener.Close()
	b := &Boot{
		Name: nameOf(c.place.Dir), Dir: c.place.Dir, Home: c.place.Home, Base: print.Base, Spec: s, Listener: listener,
		Config: link.Config{
			Home: HomeDir, Files: s.Limits.Files, Disk: s.Limits.Disk, Wall: s.Limits.Wall.Milliseconds(),
			Idle: orElse(c.opts.Idle, 10*time.Second).Milliseconds(), Linger: orElse(c.opts.Linger, time.Hour).Milliseconds(),
			Open: s.Network.Open, Ports: s.listeners(),
		},
	}
	if err := s.makeFolders(c.place.Home); err != nil {
		return err
	}
	if b.Masks, err = s.masks(c.place.Home); err != nil {
		return err
	}
	if b.Config.Quota, err = holdDisk(c.place.Home, s.Limits.Disk); err != nil {
		return err
	}
	c.saved = saved{Driver: c.driver.Name(), Fingerprint: print, Masks: b.Masks, Epoch: c.opts.Epoch}
	if len(s.Ports) > 0 {
		c.saved.Key = make([]byte, sha256.Size)
		if _, err := rand.Read(c.saved.Key); err != nil {
			return err
		}
	}
	if c.saved.Handle, err = c.driver.Boot(ctx, b); err != nil {
		return err
	}
	listener.Close()
	undo := func(err error) error {
		return errors.Join(err, c.driver.Kill(context.WithoutCancel(ctx), c.saved.Handle))
	}
	// It is written down before anything runs in it, so that it can be found.
	if err := c.save(); err != nil {
		return undo(err)
	}
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if c.report, err = c.tell(ctx, link.Request{Op: link.OpPing}); err != nil {
		failed := undo(nil) // with some drivers that is when it is known what was said
		said, _ := os.ReadFile(filepath.Join(c.place.Dir, "boot.log"))
		switch text := plain.Quoted(strings.TrimSpace(string(said)), 1000); {
		case !errors.Is(err, ErrStopped):
			err = fmt.Errorf("the helper does not answer: %w; it said: %s", err, text)
		case text != "":
			err = fmt.Errorf("it ended at once: %s", text)
		default:
			err = fmt.Errorf("the helper does not answer: %v", err) // not ErrStopped: none was up
		}
		return errors.Join(err, failed)
	}
	return nil
}

func orElse(d, standard time.Duration) time.Duration {
	if d == 0 {
		return standard
	}
	return d
}

// nameOf is a name for the computer of a folder, short and fit for everything.
func nameOf(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	sum := sha256.Sum256([]byte(dir))
	return "lyceum-" + hex.EncodeToString(sum[:8])
}

// listen makes the socket in dir. Its path may be longer than a socket's address
// can be, so it is reached through the open folder.
func listen(dir string) (*os.File, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: fmt.Sprintf("/proc/self/fd/%d/socket", d.Fd())})
	if err != nil {
		return nil, fmt.Errorf("listen in %s: %w", dir, err)
	}
	defer l.Close()
	l.SetUnlinkOnClose(false)
	return l.File()
}

// dial connects to the helper.
func (c *Computer) dial(ctx context.Context) (net.Conn, error) {
	d, err := os.Open(c.place.Dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var dialer net.Dialer
	return dialer.DialContext(ctx, "unix", fmt.Sprintf("/proc/self/fd/%d/socket", d.Fd()))
}

// ask opens a connection with a request, and returns it with the helper's answer.
func (c *Computer) ask(ctx context.Context, q link.Request) (net.Conn, *link.Reader, link.Answer, error) {
	var a link.Answer
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, nil, a, fmt.Errorf("%w: %w", ErrStopped, err)
	}
	q.Epoch = c.opts.Epoch
	done := context.AfterFunc(ctx, func() { conn.Close() })
	r := &link.Reader{R: conn}
	if err = link.WriteJSON(conn, link.KindRequest, q); err == nil {
		err = r.JSON(link.KindAnswer, &a)
	}
	if !done() && err == nil {
		err = ctx.Err()
	}
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case err != nil:
		err = fmt.Errorf("%w: %w", ErrStopped, err)
	case a.Stale:
		err = ErrFenced
	case a.Unknown:
		err = ErrUnknown
	case a.Error != "":
		err = errors.New(plain.Quoted(a.Error, 500))
	}
	if err != nil {
		conn.Close()
		return nil, nil, a, err
	}
	return conn, r, a, nil
}

// tell asks and needs nothing but the answer.
func (c *Computer) tell(ctx context.Context, q link.Request) (link.Answer, error) {
	conn, _, a, err := c.ask(ctx, q)
	if conn != nil {
		conn.Close()
	}
	return a, err
}

// kernel is its name and version.
func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return runtime.GOOS
	}
	return unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:])
}

// Hash is a short name for all that the fingerprint holds.
func (f Fingerprint) Hash() [32]byte {
	b, err := json.Marshal(f)
	if err != nil {
		panic(err) // it is ours
	}
	return sha256.Sum256(b)
}

// lock waits for the exclusive use of a file.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for wait := time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		}
	}
}

// replaceFile writes a file whole or not at all.
func replaceFile(path string, data []byte) error {
	if err := os.WriteFile(path+".new", data, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
