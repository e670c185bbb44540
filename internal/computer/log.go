package computer

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"

	"lyceum/internal/computer/link"
)

// A log is a file of records: a head, pieces of output that each hold whole lines
// of one stream, and at the end how the command ended. A record begins with its
// kind, its flags, the length of what follows, and the number of lines in it. A
// torn one at the end is cut off when the file is opened to be written; what it
// held is still with the helper, which was not told that it is safe.
const (
	recordHead = 'h'
	recordExit = 'x'
	recordSize = 10
	// flagCut says that the record's last line goes on in the next of its stream.
	flagCut = 1
	// indexEvery is how many bytes lie between two marks of the index.
	indexEvery = 256 << 10
)

// logHead is what a log begins with.
type logHead struct {
	ID      string   `json:"id"`
	Args    []string `json:"args"`
	Started int64    `json:"started"`
	Ahead   int64    `json:"ahead,omitempty"`
}

// logFile is an open log. Its owner's lock guards it.
type logFile struct {
	f    *os.File // nil once the log is finished: there may be many
	path string
	head logHead
	size int64 // bytes in the file
	last int64 // lines so far
	// streams is how many bytes of each are here.
	streams [2]int64
	exit    *link.Exit
	// index tells where some lines are: a mark for each stretch of the file.
	index []mark
}

// mark says that the record at a place begins with a line, and how much of each stream
// comes before it.
type mark struct {
	at, line int64
	streams  [2]int64
}

// createLog makes a log, whole with its head or not at all: it is made under a name
// that no command can have.
func createLog(path string, h logHead) (*logFile, error) {
	fresh := filepath.Join(filepath.Dir(path), ".new-"+filepath.Base(path))
	f, err := os.OpenFile(fresh, os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make a command's log: %w", err)
	}
	l := &logFile{f: f, path: path, head: h}
	b, err := json.Marshal(h)
	if err == nil {
		err = l.write(recordHead, 0, 0, b)
	}
	if err == nil {
		// Unlike a rename, this does not take the place of one that is there.
		err = os.Link(fresh, path)
	}
	if err = errors.Join(err, os.Remove(fresh)); err != nil {
		f.Close()
		return nil, fmt.Errorf("make a command's log: %w", err)
	}
	return l, nil
}

// openLog opens a log that is there. each is shown all the output in it.
func openLog(path string, write bool, each func(Stream, []byte)) (*logFile, error) {
	mode := os.O_RDONLY
	if write {
		mode = os.O_RDWR
	}
	f, err := os.OpenFile(path, mode, 0)
	if err != nil {
		return nil, err
	}
	l := &logFile{f: f, path: path}
	err = l.scan(0, func(r record) error { return l.learn(r, each) })
	if err == nil && l.head.ID == "" {
		err = errors.New("it has no head")
	}
	if err == nil && write {
		err = f.Truncate(l.size)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("read a command's log: %w", err)
	}
	return l, nil
}

type record struct {
	at    int64
	kind  byte
	cut   bool
	lines int64
	data  []byte
}

// scan reads records from a place on, until they end or fn returns an error. A torn
// record is the end.
func (l *logFile) scan(at int64, fn func(record) error) error {
	f := l.f
	if f == nil {
		var err error
		if f, err = os.Open(l.path); err != nil {
			return err
		}
		defer f.Close()
	}
	in := bufio.NewReaderSize(io.NewSectionReader(f, at, 1<<62), 128<<10)
	var buf []byte
	for {
		var head [recordSize]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return torn(err)
		}
		n := binary.BigEndian.Uint32(head[2:6])
		if n > link.MaxFrame {
			return nil
		}
		if cap(buf) < int(n) {
			buf = make([]byte, n, max(n, link.MaxData+1))
		}
		buf = buf[:n]
		if _, err := io.ReadFull(in, buf); err != nil {
			return torn(err)
		}
		r := record{at: at, kind: head[0], cut: head[1]&flagCut != 0, lines: int64(binary.BigEndian.Uint32(head[6:])), data: buf}
		if err := fn(r); err != nil {
			return err
		}
		at += recordSize + int64(n)
	}
}

func torn(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// learn takes in a record that is in the file.
func (l *logFile) learn(r record, each func(Stream, []byte)) error {
	switch r.kind {
	case recordHead:
		if err := json.Unmarshal(r.data, &l.head); err != nil {
			return err
		}
	case recordExit:
		if err := json.Unmarshal(r.data, &l.exit); err != nil {
			return err
		}
	case byte(Stdout), byte(Stderr):
		l.count(r.at, r.kind, r.lines, int64(len(r.data)))
		if each != nil {
			each(Stream(r.kind), r.data)
		}
	default:
		return fmt.Errorf("a record of kind %q", r.kind)
	}
	l.size = r.at + recordSize + int64(len(r.data))
	return nil
}

func (l *logFile) count(at int64, kind byte, lines, size int64) {
	if len(l.index) == 0 || at >= l.index[len(l.index)-1].at+indexEvery {
		l.index = append(l.index, mark{at, l.last + 1, l.streams})
	}
	l.streams[kind-1] += size
	l.last += lines
}

func (l *logFile) write(kind, flags byte, lines int, data []byte) error {
	b := make([]byte, recordSize, recordSize+len(data))
	b[0], b[1] = kind, flags
	binary.BigEndian.PutUint32(b[2:], uint32(len(data)))
	binary.BigEndian.PutUint32(b[6:], uint32(lines))
	if _, err := l.f.WriteAt(append(b, data...), l.size); err != nil {
		return fmt.Errorf("write a command's log: %w", err)
	}
	if kind == byte(Stdout) || kind == byte(Stderr) {
		l.count(l.size, kind, int64(lines), int64(len(data)))
	}
	l.size += recordSize + int64(len(data))
	return nil
}

// add writes the whole lines that data begins with, or all of it if it is the end
// of the stream or one long line, and returns how much that was.
func (l *logFile) add(s Stream, data []byte, last bool) (int, error) {
	done := 0
	for done < len(data) {
		rest := data[done:]
		piece := rest[:min(len(rest), MaxLine)]
		end := bytes.LastIndexByte(piece, '\n') + 1
		flags := byte(0)
		switch {
		case end > 0:
			piece = piece[:end]
		case len(rest) >= MaxLine:
			flags = flagCut
		case !last:
			return done, nil
		}
		lines := bytes.Count(piece, []byte{'\n'})
		if piece[len(piece)-1] != '\n' {
			lines++
		}
		if err := l.write(byte(s), flags, lines, piece); err != nil {
			return done, err
		}
		done += len(piece)
	}
	return done, nil
}

func (l *logFile) finish(x *link.Exit) error {
	b, err := json.Marshal(x)
	if err != nil {
		return err
	}
	if err := l.write(recordExit, 0, 0, b); err != nil {
		return err
	}
	l.exit = x
	return l.close()
}

// close lets go of the file. It can still be read.
func (l *logFile) close() (err error) {
	if l.f != nil {
		err = l.f.Close()
		l.f = nil
	}
	return err
}

var errEnough = errors.New("enough")

// read returns up to max lines from line from on. No more than maxRead bytes come
// at once.
func (l *logFile) read(from int64, limit int) ([]Line, error) {
	if from < 0 {
		from = l.last + 1 + from
	}
	from = max(from, 1)
	if from > l.last || limit <= 0 {
		return nil, nil
	}
	i := sort.Search(len(l.index), func(i int) bool { return l.index[i].line > from }) - 1
	next := l.index[i].line
	var out []Line
	size := 0
	err := l.scan(l.index[i].at, func(r record) error {
		if r.kind != byte(Stdout) && r.kind != byte(Stderr) {
			return nil
		}
		if next+r.lines <= from {
			next += r.lines
			return nil
		}
		for rest := r.data; len(rest) > 0; next++ {
			text, after, ended := bytes.Cut(rest, []byte{'\n'})
			rest = after
			if next < from {
				continue
			}
			if len(out) >= limit || size+len(text) > maxRead && len(out) > 0 {
				return errEnough
			}
			size += len(text)
			out = append(out, Line{Seq: next, Stream: Stream(r.kind), Text: bytes.Clone(text), Cut: !ended && r.cut})
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return out, err
}

// maxRead is how many bytes of lines are read at once.
const maxRead = 1 << 20

// readAt fills p with what a stream has from an offset on, as far as it is in the log.
func (l *logFile) readAt(s Stream, offset int64, p []byte) (n int, err error) {
	if offset >= l.streams[s-1] {
		return 0, nil
	}
	i := sort.Search(len(l.index), func(i int) bool { return l.index[i].streams[s-1] > offset }) - 1
	at := l.index[i].streams[s-1]
	err = l.scan(l.index[i].at, func(r record) error {
		if r.kind != byte(s) {
			return nil
		}
		if skip := offset + int64(n) - at; skip < int64(len(r.data)) {
			n += copy(p[n:], r.data[skip:])
		}
		at += int64(len(r.data))
		if n == len(p) {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return n, err
}

// open reads one stream from the beginning, as far as it has been written by now.
func (l *logFile) open(s Stream) (io.ReadCloser, error) {
	f, err := os.Open(l.path)
	if err != nil {
		return nil, err
	}
	return &logReader{Closer: f, in: bufio.NewReaderSize(io.LimitReader(f, l.size), 128<<10), stream: byte(s)}, nil
}

// logReader picks one stream out of a log.
type logReader struct {
	io.Closer
	in     *bufio.Reader
	stream byte
	left   int // of the record that is being read
}

func (r *logReader) Read(p []byte) (int, error) {
	for r.left == 0 {
		var head [recordSize]byte
		if _, err := io.ReadFull(r.in, head[:]); err != nil {
			return 0, io.EOF
		}
		n := int(binary.BigEndian.Uint32(head[2:6]))
		if head[0] == r.stream {
			r.left = n
		} else if _, err := r.in.Discard(n); err != nil {
			return 0, io.EOF
		}
	}
	n, err := r.in.Read(p[:min(len(p), r.left)])
	r.left -= n
	return n, err
}
