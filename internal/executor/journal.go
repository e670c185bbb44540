package executor

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"

	"lyceum/internal/acp/wire"
)

// journal is all that was written to one process of an agent. Its first line names the process;
// every other is a record: ">", the place in the agent's output that was read up to, and the
// line. Nothing is flushed to the disk: a process does not outlive the machine.
//
// Frames are written in the same way, with what was read between: "<", the place behind it.
type journal struct {
	f       *os.File
	process int64
	// records are those that were there when it was opened.
	records []record
	// at is the place of the last record, size how long the file is, given how many bytes the
	// process is to read so far.
	at, size, given int64
	// prompt is the last prompt, nil if there is none.
	prompt *record
}

// record is a line that was sent.
type record struct {
	// at is how far the agent's output was read.
	at int64
	// offset is where the record stands in the file, given where its line stands in the input.
	offset, given int64
	sent
}

// sent is what a line that was sent is.
type sent struct {
	id, method, session string
	// answer says that it answers a request of the agent's, whose id is as it came.
	answer bool
}

// maxLine is how many bytes a line may have, either way.
const maxLine = 10 << 20

func createJournal(path string, process int64) (*journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	head := fmt.Sprintf("process %d\n", process)
	if _, err := f.WriteString(head); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &journal{f: f, process: process, size: int64(len(head))}, nil
}

// openJournal reads the journal of a path, nil if there is none. What stands behind the last
// whole record was not written to the process, and is cut off.
func openJournal(path string) (*journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	j := &journal{f: f}
	if err := j.load(); err != nil {
		return nil, errors.Join(fmt.Errorf("read the journal of an agent: %w", err), f.Close())
	}
	if j.process == 0 {
		return nil, f.Close() // a crash came before there was anything in it
	}
	return j, f.Truncate(j.size)
}

func (j *journal) load() error {
	in := bufio.NewReaderSize(j.f, 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		at := j.size
		j.size += int64(len(line))
		line = line[:len(line)-1]
		if at == 0 {
			if _, err := fmt.Sscanf(string(line), "process %d", &j.process); err != nil {
				return err
			}
			continue
		}
		_, place, text, err := parseFrame(line)
		if err != nil {
			return err
		}
		j.note(record{at: place, offset: at, given: j.given, sent: parseSent(text)}, len(text)+1, true)
	}
}

// note takes in a record.
func (j *journal) note(r record, size int, keep bool) {
	j.at = r.at
	j.given += int64(size)
	if r.method == methodPrompt {
		j.prompt = &r
	}
	if keep {
		j.records = append(j.records, r)
	}
}

// append writes down a line before it is sent. The place of a record is never before that of
// the one in front of it.
func (j *journal) append(at int64, line []byte, s sent) (record, error) {
	r := record{at: max(at, j.at), offset: j.size, given: j.given, sent: s}
	data := frame('>', r.at, line)
	if _, err := j.f.WriteAt(data, j.size); err != nil {
		return r, fmt.Errorf("write down what the agent is told: %w", err)
	}
	j.size += int64(len(data))
	j.note(r, len(line)+1, false)
	return r, nil
}

// each reads the records that stand between two places of the file.
func (j *journal) each(offset, end int64, do func(at int64, line []byte) error) error {
	in := bufio.NewReaderSize(io.NewSectionReader(j.f, offset, end-offset), 64<<10)
	for {
		line, err := in.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		_, at, text, err := parseFrame(line[:len(line)-1])
		if err == nil {
			err = do(at, text)
		}
		if err != nil {
			return err
		}
	}
}

func (j *journal) rename(path string) error { return os.Rename(j.f.Name(), path) }

func (j *journal) close() error {
	if j == nil {
		return nil
	}
	if err := j.f.Close(); !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

func removeJournal(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// frame is a line of a conversation, with who said it and where.
func frame(who byte, at int64, line []byte) []byte {
	out := make([]byte, 0, len(line)+24)
	out = append(out, who)
	out = strconv.AppendInt(out, at, 10)
	out = append(out, ' ')
	out = append(out, line...)
	return append(out, '\n')
}

func parseFrame(b []byte) (who byte, at int64, line []byte, err error) {
	head, line, ok := bytes.Cut(b, []byte{' '})
	if ok && len(head) > 1 && (head[0] == '>' || head[0] == '<') {
		at, err = strconv.ParseInt(string(head[1:]), 10, 64)
		return head[0], at, line, err
	}
	return 0, 0, nil, fmt.Errorf("%.40q is no line of a conversation", b)
}

// parseSent tells what a line of ours is.
func parseSent(line []byte) sent {
	m := wire.Parse(line)
	s := sent{id: string(m.ID), method: m.Method, answer: m.Method == ""}
	if s.answer {
		return s
	}
	_ = json.Unmarshal(m.ID, &s.id)
	var params struct {
		SessionID string `json:"sessionId"`
	}
	if m.Method == methodPrompt && json.Unmarshal(m.Params, &params) == nil {
		s.session = params.SessionID
	}
	return s
}
