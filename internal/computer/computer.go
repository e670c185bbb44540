// Package computer gives agents machines of their own: sandboxes in which they
// run programs that nobody has read.
//
// A computer is a sandbox with one helper as its first process. The helper starts
// commands, holds their output until Lyceum has it, and ends them; so a command
// costs little more than fork and exec, and one that was told to may outlive the
// Lyceum that started it. Each command has an id that its caller gives. Starting
// an id that the computer knows attaches to the command that is there: nothing
// ever runs twice because somebody asked twice.
//
// What comes out of a computer is a stranger's word. Its files are read below an
// os.Root, its output is bytes, its helper's messages are checked and bounded.
//
// There are drivers for several kinds of sandbox and none for the bare host. A
// driver that cannot work here says so, with the command that would change it, and
// nothing takes its place.
package computer

import (
	"errors"
	"fmt"
	"io"
	"time"

	"lyceum/internal/plain"
	"lyceum/internal/workspace"
)

// HomeDir is where an agent finds its home, in every computer.
const HomeDir = workspace.Home

// Program is where programs of a computer find this one, Lyceum, if the computer is to have
// it: see Spec. It is there to be read and executed, with the rights of whoever does.
const Program = "/run/lyceum-program"

// Spec is what a quest says of its agents' computers.
type Spec struct {
	// Driver is auto, namespaces, bubblewrap or docker.
	Driver string
	Limits Limits
	// Network is where programs can connect to.
	Network Network
	// Ports are names of what programs find outside at addresses of their own: see
	// Port.
	Ports []string
	// Folders of the host are there to be read: see Folder.
	Folders []Folder
	// Fixed are folders of the home, at its top, that programs only read. One that is not there
	// is left out.
	Fixed []string
	// Bounds are what of the home, of Folders and of /tmp programs can read and write.
	Bounds workspace.Bounds
	// Digests is a folder of the host in which the digests of Folders are kept for the next
	// process; without it they are kept in memory.
	Digests string
	// Program shows this program inside, at Program: for agents that are one of its roles,
	// or start one. With docker it is there in any case.
	Program bool
	// Dockerfile is what an image is built from, where the driver uses images.
	Dockerfile []byte
	// Build is how.
	Build Build
}

// Build says how an image is made that is not there yet. One that is there is used,
// whoever built it: it was made from the same Dockerfile.
type Build struct {
	// Refused says why none may be built, in words for a person; empty if one may.
	Refused string
	// Offline has it built without a network, and of images that are there.
	Offline bool
}

// check finds what cannot work, whatever the driver.
func (s Spec) check(driver string, filtered bool) error {
	if s.Driver != "" && s.Driver != "auto" && s.Driver != driver {
		return fmt.Errorf("the computer is to be one of %s, not of %s", plain.Quoted(s.Driver, 50), driver)
	}
	l := s.Limits
	for _, c := range []struct {
		name         string
		value, least int64
	}{
		// Less than these, and the helper itself would not run.
		{"memory", l.Memory, 32 << 20}, {"processes", l.Processes, 32}, {"cpus", l.CPUs, 10}, {"files", l.Files, 16}, {"disk", l.Disk, 4096},
		{"wall", int64(l.Wall), int64(time.Millisecond)},
	} {
		if c.value != 0 && c.value < c.least {
			return fmt.Errorf("the limit %s of a computer is %d; give at least %d, or nothing for the default", c.name, c.value, c.least)
		}
	}
	switch mode := s.Network.Mode(); {
	case mode == "open" && len(s.Network.Allow) > 0:
		return errors.New("the network of a computer is open and has a list of hosts; say one of them")
	case mode == "allow" && !filtered:
		return errors.New("the network of a computer is to be filtered, and there is no filter")
	}
	if err := s.Bounds.Check(); err != nil {
		return err
	}
	return s.checkPorts()
}

// Limits hold for a computer as a whole, apart from Files and Wall. A limit that
// is zero is the default.
type Limits struct {
	// Memory in bytes, all processes and /tmp together.
	Memory int64 `json:"memory"`
	// Processes and threads at one time.
	Processes int64 `json:"processes"`
	// CPUs in thousandths of a core.
	CPUs int64 `json:"cpus"`
	// Files is how many one process may have open.
	Files int64 `json:"files"`
	// Disk is how many bytes the home may hold.
	Disk int64 `json:"disk"`
	// Wall is the longest that any command may take.
	Wall time.Duration `json:"wall"`
}

// DefaultLimits are those of a computer that says nothing else.
var DefaultLimits = Limits{
	Memory: 2 << 30, Processes: 512, CPUs: 2000, Files: 4096, Disk: 10 << 30, Wall: 24 * time.Hour,
}

// OrDefault fills in the limits that are not given.
func (l Limits) OrDefault() Limits {
	d := DefaultLimits
	return Limits{
		Memory: either(l.Memory, d.Memory), Processes: either(l.Processes, d.Processes), CPUs: either(l.CPUs, d.CPUs),
		Files: either(l.Files, d.Files), Disk: either(l.Disk, d.Disk), Wall: either(l.Wall, d.Wall),
	}
}

func either[N int64 | time.Duration](given, standard N) N {
	if given > 0 {
		return given
	}
	return standard
}

// Network is where programs can connect to: nowhere, unless it says more.
type Network struct {
	// Open lets them connect directly to wherever the host can.
	Open bool `json:"open,omitempty"`
	// Allow lists the hosts they reach through the filtering proxy, and in no other
	// way.
	Allow []string `json:"allow,omitempty"`
}

// Mode is none, allow or open.
func (n Network) Mode() string {
	switch {
	case n.Open:
		return "open"
	case len(n.Allow) > 0:
		return "allow"
	}
	return "none"
}

// Command is something to run.
type Command struct {
	// ID names it in its computer, for ever. See ValidID.
	ID string
	// Args are the program, looked up in the computer's PATH, and its arguments.
	Args []string
	// Dir is the folder it starts in, relative to the home; the home if empty.
	Dir string
	// Env is added to the computer's own environment.
	Env []string
	// Stdin is what the command reads before anything that Write gives it. Unless
	// Input is set, its input ends there.
	Stdin []byte
	Input bool
	// Timeout ends it. Zero means that only the computer's limit on wall time does.
	Timeout time.Duration
	// Keep lets it live on when Lyceum goes away without a word. Otherwise it is
	// killed then.
	Keep bool
	// Terminal gives it a terminal of that size. Its output is then all stdout.
	Terminal *Size
	// Ahead is how many bytes its standard output may be ahead of whoever reads it by
	// ReadAt; then the command waits, until that reader has come further. Such a
	// command does not end before its output is read, or it is killed. Zero is as far
	// as the disk goes.
	Ahead int64
}

// Size is that of a terminal.
type Size struct {
	Rows uint16 `json:"rows"`
	Cols uint16 `json:"cols"`
}

var idRule = plain.Form{First: "A-Za-z0-9", Rest: "A-Za-z0-9._-", Most: 64}

// ValidID reports whether a command may have that id.
func ValidID(id string) bool { return idRule.MatchString(id) }

// Stream is one of a command's two outputs.
type Stream uint8

// The streams.
const (
	Stdout Stream = 1
	Stderr Stream = 2
)

func (s Stream) String() string {
	if s == Stderr {
		return "stderr"
	}
	return "stdout"
}

// Why a command ended, where that was not its own doing.
const (
	// Exceeding a limit.
	EndTimeout   = "wall time"
	EndMemory    = "memory"
	EndProcesses = "processes"
	EndDisk      = "disk"
	// It held what nobody could look at, so that no limit could be held against it.
	EndHidden = "hidden"
	// Killed on request.
	EndKilled = "killed"
	// Lyceum went away while it ran, and it was not one to be kept.
	EndAbandoned = "abandoned"
	// The computer was stopped or died with it.
	EndStopped = "stopped"
)

// Result is how a command ended.
type Result struct {
	ID string
	// Exit is the exit code, or 128 and the number of the signal that ended it.
	Exit int
	// Signal is the name of that signal, such as SIGKILL.
	Signal string
	// End is empty if the command ended by itself, or one of the End words. A
	// command may also have met a limit and gone on; Met names it.
	End string
	Met string
	// Stdout and Stderr are what it wrote.
	Stdout, Stderr Output
	Duration       time.Duration
}

// Output is what a command wrote to one stream: whole if it is short, and the
// beginning and the end of it if it is not.
type Output struct {
	// Head is the beginning, up to MaxHead bytes; Tail the end, up to MaxTail, if
	// there is more than fits into Head.
	Head, Tail []byte
	// Size is how many bytes there were.
	Size int64
	open func() (io.ReadCloser, error)
}

// How much of an output is kept in memory.
const (
	MaxHead = 64 << 10
	MaxTail = 64 << 10
)

// Whole reports whether Head is everything.
func (o Output) Whole() bool { return o.Size == int64(len(o.Head)) }

// Open reads all of the output, until the command is forgotten.
func (o Output) Open() (io.ReadCloser, error) { return o.open() }

// Process is a command that the computer knows.
type Process struct {
	ID   string
	Args []string
	// Running, or else Exit, Signal and End tell how it ended.
	Running bool
	Exit    int
	Signal  string
	End     string
	Started time.Time
	// Lines is how many whole lines it has written.
	Lines int64
}

// Line is one line of a command's log. Lines of both streams are numbered
// together, from 1, in the order in which they were completed. A line that is
// longer than MaxLine is several.
type Line struct {
	Seq    int64
	Stream Stream
	// Text is without the line's end.
	Text []byte
	// Cut says that the line goes on in the next one of the same stream.
	Cut bool
}

// MaxLine is how long a line of a log may be.
const MaxLine = 64 << 10

// Lines are a piece of a log.
type Lines struct {
	Lines []Line
	// Next is the number to ask for next.
	Next int64
	// Partial is what has been written of lines that are not complete yet.
	Partial map[Stream][]byte
	// Process is how the command stands.
	Process Process
}

// Fingerprint is what a result depends on besides the command and the home.
type Fingerprint struct {
	Driver string `json:"driver"`
	// Base is the digest of the image, or of the toolchain folders.
	Base    string  `json:"base"`
	Kernel  string  `json:"kernel"`
	Arch    string  `json:"arch"`
	Limits  Limits  `json:"limits"`
	Network Network `json:"network"`
	// Ports are sorted.
	Ports   []string      `json:"ports,omitempty"`
	Folders []FolderPrint `json:"folders,omitempty"`
	// Fixed are the folders of the home that programs only read, sorted.
	Fixed []string `json:"fixed,omitempty"`
	// Program says that this program is shown inside.
	Program bool `json:"program,omitempty"`
	// Bounds are those of the spec.
	Bounds workspace.Bounds `json:"bounds,omitzero"`
}

// Errors.
var (
	// ErrUnknown says that the computer knows no command of that id. What became of
	// it, if it ever ran, cannot be told.
	ErrUnknown = errors.New("no such command")
	// ErrStopped says that the computer was stopped or has died.
	ErrStopped = errors.New("the computer has stopped")
	// ErrGap says that an offset is behind the end: of what a command was given to
	// read, or of what one that has ended wrote.
	ErrGap = errors.New("there is a gap in the stream")
	// ErrFenced says that a computer is that of somebody who owns its quest by now.
	ErrFenced = errors.New("the computer belongs to a later owner of its quest")
	// ErrEarlier says that a computer that was found cannot do what a new one can.
	ErrEarlier = errors.New("the computer was started by an earlier Lyceum: stop it, or let it end, and it is started anew")
)

// Unusable says why something cannot work on this machine, and what to do.
type Unusable struct {
	// What it is, such as the driver's name.
	What string
	// Why it does not work, in one line.
	Why string
	// Fix is the command or the setting that would change it.
	Fix string
}

func (u *Unusable) Error() string {
	if u.Fix == "" {
		return fmt.Sprintf("%s: %s", u.What, u.Why)
	}
	return fmt.Sprintf("%s: %s; to fix it: %s", u.What, u.Why, u.Fix)
}

// Connection is one that a program tried to make through the proxy.
type Connection struct {
	// Host and Port are what the program asked for.
	Host string
	Port int
	// Address is where it was connected to.
	Address string
	// Refused says why not, or is empty.
	Refused        string
	Sent, Received int64
	Duration       time.Duration
}
