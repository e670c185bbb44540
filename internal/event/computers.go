package event

import (
	"fmt"
	"regexp"
)

// The events of computers are inputs that tell what happened, in the order in which
// it did. The rules decide nothing by them; they keep account of them. Their actor is
// the agent whose computer it is, or what else owns it, such as server/github.

// ComputerSpec is what a quest's agents have for computers.
type ComputerSpec struct {
	// AllowWrite are the folders that can be written to, by programs and tools alike: paths from the
	// home on, or /tmp. Without any it is the home and /tmp.
	AllowWrite []string `json:"allow_write,omitempty"`
	// DenyRead are the names of files and folders of the home that cannot be read, wherever they are.
	DenyRead []string `json:"deny_read,omitempty"`
	// Dockerfile is what the image is built from, where the driver uses images.
	Dockerfile *Ref `json:"dockerfile,omitzero"`
	// Driver is auto, namespaces, bubblewrap or docker.
	Driver  string          `json:"driver"`
	Limits  ComputerLimits  `json:"limits"`
	Network ComputerNetwork `json:"network"`
}

// ComputerLimits hold for a computer as a whole, apart from Files and Wall. One that
// is not there is the computer's own default; a computer.started has them all.
type ComputerLimits struct {
	// CPUs in thousandths of a core.
	CPUs int64 `json:"cpus,omitzero"`
	// Disk is how many bytes the home may hold.
	Disk int64 `json:"disk,omitzero"`
	// Files is how many one process may have open.
	Files int64 `json:"files,omitzero"`
	// Memory in bytes, of all processes together.
	Memory int64 `json:"memory,omitzero"`
	// Processes and threads at one time.
	Processes int64 `json:"processes,omitzero"`
	// Wall is the longest that any command may take, in microseconds.
	Wall int64 `json:"wall,omitzero"`
}

// ComputerNetwork is where programs can connect to: nowhere, unless it says more.
type ComputerNetwork struct {
	// Allow lists the hosts that they reach through the filtering proxy.
	Allow []string `json:"allow,omitempty"`
	// Open lets them connect to wherever the host can.
	Open bool `json:"open,omitzero"`
}

// ComputerStarted says that an agent's computer is up, or another owner's, and what it
// is. What its commands do depends on that, besides the command and the home.
type ComputerStarted struct {
	// AllowWrite and DenyRead are as in a ComputerSpec.
	AllowWrite []string `json:"allow_write,omitempty"`
	Arch       string   `json:"arch"`
	// Base is the digest of the image, or of the toolchain folders.
	Base string `json:"base"`
	// Confinement is what holds the limits and keeps programs in, such as cgroup v2
	// or seccomp.
	Confinement []string `json:"confinement,omitempty"`
	DenyRead    []string `json:"deny_read,omitempty"`
	Driver      string   `json:"driver"`
	// Fingerprint is the SHA-256 of the canonical form of all other members but what it
	// holds and the owner. Results that depend on the computer carry it.
	Fingerprint Hash `json:"fingerprint,omitzero"`
	// Folders are those of the host that programs read, by what they hold.
	Folders []ComputerFolder `json:"folders,omitempty"`
	// Holds is what was found in it, if anybody looked. Its own programs said so.
	Holds  *ComputerHolds `json:"holds,omitzero"`
	Kernel string         `json:"kernel"`
	Limits ComputerLimits `json:"limits"`
	// Masked are the paths inside of files and folders that were hidden when it was started, the
	// first of them; MaskedMore counts the others.
	Masked     []string        `json:"masked,omitempty"`
	MaskedMore int64           `json:"masked_more,omitzero"`
	Network    ComputerNetwork `json:"network"`
	// Owner is what the computer belongs to if that is no agent: a server, a browser, a
	// check. It is the actor of all that happens in it.
	Owner string `json:"owner,omitzero"`
	// Ports are the names of what programs reach outside, each at an address of its own.
	Ports []string `json:"ports,omitempty"`
}

// ComputerHolds is what agents are told of the software of a computer.
type ComputerHolds struct {
	// More counts the packages that are not listed.
	More int64 `json:"more,omitzero"`
	// Packages are libraries of Python with their versions.
	Packages []string `json:"packages,omitempty"`
	// Programs are languages and tools, some with their versions.
	Programs []string `json:"programs,omitempty"`
	// System is the name of the operating system.
	System string `json:"system,omitzero"`
}

// ComputerFolder is a folder of the host that a computer has.
type ComputerFolder struct {
	// Digest is that of all it holds.
	Digest string `json:"digest"`
	Name   string `json:"name"`
}

var ownerRule = regexp.MustCompile(`^[a-z][a-z0-9-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*$`)

// ValidOwner reports whether a computer can belong to what has that name.
func ValidOwner(name string) bool {
	return len(name) <= 64 && ownerRule.MatchString(name) && name != "core" && name != "person"
}

// Sum is the fingerprint that the other members give.
func (b *ComputerStarted) Sum() (Hash, error) {
	rest := *b
	rest.Fingerprint, rest.Holds, rest.Owner = Hash{}, nil, ""
	data, err := encode(&rest)
	if err != nil {
		return Hash{}, fmt.Errorf("fingerprint of a computer: %w", err)
	}
	return HashOf(data), nil
}

// CliRun says that a command begins. It is durable before the command is started, or
// comes with its end.
type CliRun struct {
	// Args are the program and its arguments: a JSON array of strings.
	Args Text `json:"args"`
	// Call is the tool.call that the command is run for, 0 in a computer that is no
	// agent's.
	Call uint64 `json:"call"`
	// Command is its id in the computer.
	Command string `json:"command"`
	// Dir is the folder it starts in, relative to the home, which it is if absent.
	Dir string `json:"dir,omitzero"`
	// Keep says that the command may go on when its call has its result, and when
	// Lyceum goes away.
	Keep bool `json:"keep,omitzero"`
	// Prompt is the prompt.call of an executor for which it is run, instead of a tool.call.
	// Reported says that the executor ran it by itself, and that all of it is what it says.
	Prompt   uint64 `json:"prompt,omitzero"`
	Reported bool   `json:"reported,omitzero"`
	// Timeout in microseconds. Without it only the computer's limit ends it.
	Timeout int64 `json:"timeout,omitzero"`
}

// CliStdout is a piece of what a command wrote to its standard output.
type CliStdout struct {
	// Call is the one of the command's cli.run.
	Call    uint64 `json:"call"`
	Command string `json:"command"`
	// From is where in the stream the piece begins, in bytes.
	From int64 `json:"from"`
	Text Text  `json:"text"`
}

// CliStderr is a piece of what a command wrote to its standard error.
type CliStderr struct {
	// Call is the one of the command's cli.run.
	Call    uint64 `json:"call"`
	Command string `json:"command"`
	// From is where in the stream the piece begins, in bytes.
	From int64 `json:"from"`
	Text Text  `json:"text"`
}

// CliExit says how a command ended. There is one for each cli.run, at the latest when
// the quest goes on after a crash.
type CliExit struct {
	// Call is the one of the command's cli.run.
	Call     uint64 `json:"call"`
	Command  string `json:"command"`
	Duration int64  `json:"duration,omitzero"`
	// End is why it ended where that was not its own doing: a limit (wall time,
	// memory, processes, disk), hidden, which means that what it held could not be
	// counted, killed, abandoned, stopped, or lost, which means that nobody can tell.
	End string `json:"end,omitzero"`
	// Exit is its exit code, or 128 and the number of the signal that ended it.
	Exit int64 `json:"exit"`
	// Fingerprint is that of the computer it ran in.
	Fingerprint Hash `json:"fingerprint,omitzero"`
	// Met is a limit that it met and went on.
	Met string `json:"met,omitzero"`
	// Signal is the name of the signal that ended it, such as SIGKILL.
	Signal string        `json:"signal,omitzero"`
	Stderr CommandOutput `json:"stderr"`
	Stdout CommandOutput `json:"stdout"`
	// Stored is how many bytes of the disk its outputs took, if it ended after the call it
	// was run for: until then they count for that call.
	Stored int64 `json:"stored,omitzero"`
}

// CommandOutput is what a command wrote to one stream.
type CommandOutput struct {
	// Ref is the whole of it, if events do not have it all.
	Ref *Ref `json:"ref,omitzero"`
	// Size is how many bytes it wrote.
	Size int64 `json:"size"`
}

// FileDiff says that the files of an agent's home are others than before. It comes
// before the result of the call that changed them.
type FileDiff struct {
	// After is the home as it is now.
	After TreeRef `json:"after"`
	// Before is what it was, if that is recorded.
	Before *TreeRef `json:"before,omitzero"`
	// Call is the tool.call that changed them, or the prompt.call, if one did.
	Call uint64 `json:"call,omitzero"`
	// Cause is tool; prompt, the work of an executor; or outside: nobody knows of a call that
	// did it.
	Cause string `json:"cause"`
	// Changes are the first of them, by path; More counts those that are not listed.
	Changes []Change `json:"changes,omitempty"`
	More    int64    `json:"more,omitzero"`
	// Skipped are some of what cannot be kept, such as sockets.
	Skipped []Skipped `json:"skipped,omitempty"`
}

// The causes of a file.diff.
const (
	CauseTool    = "tool"
	CauseOutside = "outside"
	// CausePrompt is the work of an executor: the call is its prompt.call.
	CausePrompt = "prompt"
)

// Change is one file, link or empty folder that is not what it was. The path of a
// folder ends with a slash.
type Change struct {
	// Kind is added, changed or removed.
	Kind string `json:"kind"`
	Path string `json:"path"`
	// Size is that of the file now, or before it was removed; a link has none.
	Size int64 `json:"size,omitzero"`
}

// The kinds of changes.
const (
	Added   = "added"
	Changed = "changed"
	Removed = "removed"
)

// Skipped is something that a tree does not hold, and why.
type Skipped struct {
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// How much of a file.diff its lists may take, in bytes of JSON.
const (
	maxChanges = 11 << 10
	maxSkipped = 3 << 10
)

// Fit shortens the lists so that they fit an event, however long the paths are. What
// Changes loses, More counts.
func (b *FileDiff) Fit() {
	kept, room := 0, maxChanges
	for _, c := range b.Changes {
		// What stands around the texts, and the longest number, take less than 70.
		if room -= 70 + Weight(c.Path); room < 0 {
			break
		}
		kept++
	}
	b.More += int64(len(b.Changes) - kept)
	b.Changes = b.Changes[:kept]
	kept, room = 0, maxSkipped
	for _, s := range b.Skipped {
		if room -= 25 + Weight(s.Path) + Weight(s.Reason); room < 0 {
			break
		}
		kept++
	}
	b.Skipped = b.Skipped[:kept]
}

// NetConnection says that a program of the actor's computer connected to a host
// through the proxy, or tried to.
type NetConnection struct {
	// Address is where it was connected to.
	Address  string `json:"address,omitzero"`
	Duration int64  `json:"duration,omitzero"`
	// Host and Port are what the program asked for.
	Host     string `json:"host"`
	Port     int64  `json:"port"`
	Received int64  `json:"received,omitzero"`
	// Refused says why it was not connected.
	Refused string `json:"refused,omitzero"`
	Sent    int64  `json:"sent,omitzero"`
}

func (*ComputerStarted) Type() Type { return "computer.started" }
func (*CliRun) Type() Type          { return "cli.run" }
func (*CliStdout) Type() Type       { return "cli.stdout" }
func (*CliStderr) Type() Type       { return "cli.stderr" }
func (*CliExit) Type() Type         { return "cli.exit" }
func (*FileDiff) Type() Type        { return "file.diff" }
func (*NetConnection) Type() Type   { return "net.connection" }
