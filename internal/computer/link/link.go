// Package link is how Lyceum and the helper inside a computer speak.
//
// The helper accepts connections on a socket that it inherited; nothing inside
// the computer can reach it. There is one connection for each matter: whoever
// runs a command keeps its connection open for as long as the command is theirs.
// A connection begins with one Request and the Answer to it. What follows depends
// on the operation.
//
// For a command, the helper sends what it writes with the offset in its stream,
// and keeps it until it is acknowledged: what a Lyceum that died had not made safe
// is sent again to the next one. It never holds more than a window of each stream;
// a command that writes faster than it is read waits. The other way the helper
// counts what it has given a command to read: input that comes with its offset can be
// sent again, and is taken once.
//
// A helper may be older than the Lyceum that finds it. Version tells.
//
// The helper is only as trustworthy as the computer. Lyceum bounds and checks all
// that it says.
package link

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Kind says what a frame holds.
type Kind byte

// The kinds of frames.
const (
	KindRequest Kind = 'R' // JSON, from Lyceum
	KindAnswer  Kind = 'A' // JSON, from the helper
	KindStdout  Kind = 1   // offset, bytes
	KindStderr  Kind = 2   // offset, bytes
	KindAck     Kind = 'K' // kind of the stream, offset up to which all is safe
	KindInput   Kind = 'I' // bytes for the command
	KindResize  Kind = 'S' // JSON of the terminal's new size
	KindExit    Kind = 'X' // JSON of Exit; the last frame
)

// MaxFrame is the longest a frame may be; MaxData the most bytes of output in one.
const (
	MaxFrame = 256 << 10
	MaxData  = 64 << 10
	// Window is how much of a stream the helper holds.
	Window = 256 << 10
	// MaxKnown is how many commands a helper knows at one time.
	MaxKnown = 256
)

// The operations.
const (
	// OpRun starts a command, or attaches to the one that has its id.
	OpRun = "run"
	// OpAttach goes on with a command from the offsets given.
	OpAttach = "attach"
	// OpInput writes what follows to a command's input.
	OpInput = "input"
	// OpFeed writes what follows at an offset of a command's input. What the command
	// has of it already is left out, and a gap is refused. The answer says how far the
	// input is.
	OpFeed = "feed"
	OpKill = "kill"
	// OpForget drops a command that has ended.
	OpForget = "forget"
	OpList   = "list"
	// OpHold keeps the computer up for as long as the connection lasts.
	OpHold = "hold"
	// OpTunnel lends the connection to the next program that connects to a port.
	OpTunnel = "tunnel"
	OpPing   = "ping"
	// OpStop ends the computer.
	OpStop = "stop"
)

// Version is what a helper of this program says when it is asked. One of an earlier
// program says nothing, and has neither OpFeed nor ports.
const Version = 2

// Request is the first frame of a connection.
type Request struct {
	Op      string   `json:"op"`
	ID      string   `json:"id,omitempty"`
	Command *Command `json:"command,omitempty"`
	// Out and Err are where the streams of an attached command go on.
	Out int64 `json:"out,omitempty"`
	Err int64 `json:"err,omitempty"`
	// End says that the input ends after what follows.
	End bool `json:"end,omitempty"`
	// Size is how many bytes of input follow, and At where in the input they begin.
	Size int64 `json:"size,omitempty"`
	At   int64 `json:"at,omitempty"`
	// Patient waits with input for as long as the command runs, not only a moment.
	Patient bool `json:"patient,omitempty"`
	// New says that who holds the computer has come anew. What was asked for on connections
	// from before, and has not been heard yet, came of a Lyceum that has died: it is void.
	New bool `json:"new,omitempty"`
	// Epoch is that of the claim under which whoever asks owns the quest, 0 if nobody else could own it: see package
	// ledger. A helper that has heard of a higher one does nothing. An earlier helper does not look at it.
	Epoch int64 `json:"epoch,omitempty"`
	// Port is the name of the one that a connection is lent to. An earlier helper has
	// the proxy alone, and does not look at it.
	Port string `json:"port,omitempty"`
}

// Command is what to run.
type Command struct {
	Args []string `json:"args"`
	Dir  string   `json:"dir"`
	Env  []string `json:"env,omitempty"`
	// Input leaves the command's input open.
	Input bool `json:"input,omitempty"`
	// Timeout in milliseconds.
	Timeout int64 `json:"timeout,omitempty"`
	Keep    bool  `json:"keep,omitempty"`
	Rows    int   `json:"rows,omitempty"`
	Cols    int   `json:"cols,omitempty"`
}

// Answer is the helper's to a Request.
type Answer struct {
	Error string `json:"error,omitempty"`
	// Unknown says that there is no command of that id.
	Unknown bool `json:"unknown,omitempty"`
	// Stale says that the request's epoch is lower than one that was heard of.
	Stale bool `json:"stale,omitempty"`
	// Attached says that the command was there already; Known is then what is known
	// of it. To a list, Known is all commands.
	Attached bool    `json:"attached,omitempty"`
	Known    []Known `json:"known,omitempty"`
	// Taken is how much of its input a command has been given. Gap says that what comes
	// before the bytes of a feed is missing.
	Taken int64 `json:"taken,omitempty"`
	Gap   bool  `json:"gap,omitempty"`
	// Seccomp and Landlock tell how the helper is confined, Version what it can do. Quota says who holds
	// the limit on the home.
	Quota    bool `json:"quota,omitempty"`
	Seccomp  bool `json:"seccomp,omitempty"`
	Landlock int  `json:"landlock,omitempty"`
	Version  int  `json:"version,omitempty"`
	// Ports are where programs find them.
	Ports []Port `json:"ports,omitempty"`
}

// Port is a place inside the computer where programs find somebody outside.
type Port struct {
	Name string `json:"name"`
	// Address is where the helper listens for it; with the number 0 it picks one.
	Address string `json:"address"`
}

// ProxyPort is the port by which programs get to the network.
const ProxyPort = "proxy"

// Known is a command that the helper knows.
type Known struct {
	ID   string   `json:"id"`
	Args []string `json:"args"`
	// Started in milliseconds since 1970.
	Started int64 `json:"started"`
	Keep    bool  `json:"keep,omitempty"`
	Exit    *Exit `json:"exit,omitempty"`
}

// Exit is how a command ended.
type Exit struct {
	Code   int    `json:"code"`
	Signal string `json:"signal,omitempty"`
	// End and Met are words of package computer.
	End string `json:"end,omitempty"`
	Met string `json:"met,omitempty"`
	// Duration in microseconds.
	Duration int64 `json:"duration"`
	// Out and Err are how long the streams were.
	Out int64 `json:"out"`
	Err int64 `json:"err"`
}

// Config is what the helper is started with.
type Config struct {
	// Env is the environment of every command.
	Env  []string `json:"env"`
	Home string   `json:"home"`
	// Read and Write are the trees that stay reachable.
	Read  []string `json:"read"`
	Write []string `json:"write"`
	// Files, Disk, Memory, Processes and CPUs are the limits that the helper holds
	// itself; zero leaves them to somebody else, such as a control group.
	Files     int64 `json:"files,omitempty"`
	Disk      int64 `json:"disk,omitempty"`
	Memory    int64 `json:"memory,omitempty"`
	Processes int64 `json:"processes,omitempty"`
	// Quota says that the kernel holds the home to a little more than Disk: see package quota.
	Quota bool `json:"quota,omitempty"`
	// Weak lets the helper hold a limit on memory also where the kernel does not show all
	// that it has to count. Otherwise it does not start.
	Weak bool `json:"weak,omitempty"`
	// CPUs is how many processors may be used.
	CPUs int `json:"cpus,omitempty"`
	// Wall is the longest a command may take, in milliseconds.
	Wall int64 `json:"wall,omitempty"`
	// Idle and Linger are how long the computer stays up without Lyceum, in
	// milliseconds: with nothing running, and with commands that are to be kept.
	Idle   int64 `json:"idle"`
	Linger int64 `json:"linger"`
	// Ports are where to listen for programs. Commands are told of each but the proxy,
	// for which they have variables of its own.
	Ports []Port `json:"ports,omitempty"`
	// Bootstrap is a socket from which the helper gets its listener, where it could
	// not inherit it.
	Bootstrap string `json:"bootstrap,omitempty"`
	// Open says that the network is the host's.
	Open bool `json:"open,omitempty"`
}

// WriteFrame sends one frame.
func WriteFrame(w io.Writer, k Kind, payload ...[]byte) error {
	n := 0
	for _, p := range payload {
		n += len(p)
	}
	if n > MaxFrame {
		return fmt.Errorf("a frame of %d bytes is longer than %d", n, MaxFrame)
	}
	b := make([]byte, 5, 5+n)
	binary.BigEndian.PutUint32(b, uint32(n))
	b[4] = byte(k)
	for _, p := range payload {
		b = append(b, p...)
	}
	_, err := w.Write(b)
	return err
}

// WriteJSON sends a frame that holds v.
func WriteJSON(w io.Writer, k Kind, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return WriteFrame(w, k, b)
}

// WriteData sends a piece of a stream.
func WriteData(w io.Writer, k Kind, offset int64, data []byte) error {
	return WriteFrame(w, k, binary.BigEndian.AppendUint64(nil, uint64(offset)), data)
}

// WriteAck says that a stream is safe up to offset.
func WriteAck(w io.Writer, stream Kind, offset int64) error {
	return WriteFrame(w, KindAck, binary.BigEndian.AppendUint64([]byte{byte(stream)}, uint64(offset)))
}

// Reader reads frames. Its buffer is reused: what Next returns is good until the
// next call.
type Reader struct {
	R   io.Reader
	buf []byte
}

// Next reads one frame. io.EOF means that the connection ended between two.
func (r *Reader) Next() (Kind, []byte, error) {
	var head [5]byte
	if _, err := io.ReadFull(r.R, head[:]); err != nil {
		return 0, nil, err
	}
	n := binary.BigEndian.Uint32(head[:4])
	if n > MaxFrame {
		return 0, nil, fmt.Errorf("a frame of %d bytes is longer than %d", n, MaxFrame)
	}
	if cap(r.buf) < int(n) {
		r.buf = make([]byte, max(int(n), 4<<10))
	}
	b := r.buf[:n]
	if _, err := io.ReadFull(r.R, b); err != nil {
		return 0, nil, errors.Join(io.ErrUnexpectedEOF, err)
	}
	return Kind(head[4]), b, nil
}

// JSON reads a frame of a kind into v.
func (r *Reader) JSON(want Kind, v any) error {
	k, b, err := r.Next()
	if err != nil {
		return err
	}
	if k != want {
		return fmt.Errorf("got a frame of kind %q, want %q", k, want)
	}
	return json.Unmarshal(b, v)
}

// Data splits a piece of a stream.
func Data(b []byte) (offset int64, data []byte, err error) {
	if len(b) < 8 || binary.BigEndian.Uint64(b) > 1<<62 {
		return 0, nil, errors.New("a piece of a stream has no offset")
	}
	return int64(binary.BigEndian.Uint64(b)), b[8:], nil
}

// Ack splits an acknowledgement.
func Ack(b []byte) (stream Kind, offset int64, err error) {
	if len(b) != 9 {
		return 0, 0, errors.New("an acknowledgement has 9 bytes")
	}
	offset, _, err = Data(b[1:])
	return Kind(b[0]), offset, err
}
