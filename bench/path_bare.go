package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	sq "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// bareTrip takes a trip in the bare loop, in a process of its own.
func (p *paths) bareTrip(t trip) (span, error) {
	defer os.RemoveAll(t.Dir)
	if err := os.MkdirAll(t.Dir, 0o700); err != nil {
		return span{}, err
	}
	arg, err := json.Marshal(t)
	if err != nil {
		return span{}, err
	}
	return p.watched(t, exec.Command(os.Args[0], "-bare", string(arg)))
}

// takeBare is the bare loop: N conversations of K steps. Its history is bytes to which each step
// appends; the first request is the one that Lyceum sent, with its prompt and its tools.
func takeBare(arg string) error {
	var t trip
	if err := json.Unmarshal([]byte(arg), &t); err != nil {
		return err
	}
	resp, err := http.Get(t.Server + "first")
	if err != nil {
		return err
	}
	first, err := io.ReadAll(resp.Body)
	if err := errors.Join(err, resp.Body.Close()); err != nil {
		return err
	}
	const after = `],"model":"`
	cut := bytes.LastIndex(first, []byte(after))
	if cut < 0 {
		return fmt.Errorf("the first request is of another form: %.200s", first)
	}
	log, err := openBareLog(filepath.Join(t.Dir, "bare.db"))
	if err != nil {
		return err
	}
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: t.N, MaxIdleConns: t.N}}
	errs := make([]error, t.N)
	var all sync.WaitGroup
	for i := range t.N {
		all.Go(func() {
			l := bareTalk{client: client, url: t.Server + "v1/chat/completions", log: log, name: strconv.Itoa(i), window: 3 * t.Window}
			l.head, l.tail = bytes.Clone(first[:cut]), first[cut:]
			l.base = len(l.head)
			errs[i] = l.run()
		})
	}
	all.Wait()
	return errors.Join(append(errs, log.close())...)
}

// bareTalk is one conversation of the bare loop.
type bareTalk struct {
	client     *http.Client
	url        string
	log        *bareLog
	name       string
	head, tail []byte
	base       int // how long head was at first
	window     int // from how many bytes on half of the history goes
	starts     []int
}

func (l *bareTalk) run() error {
	for step := 0; ; step++ {
		text, id, args, err := l.ask()
		if err != nil || id == "" {
			return errors.Join(err, l.log.append(l.name, step, text, ""))
		}
		out := bareTool(args)
		if err := l.log.append(l.name, step, text, out); err != nil {
			return err
		}
		l.starts = append(l.starts, len(l.head))
		l.head = fmt.Appendf(l.head, `,{"role":"assistant","content":%q,"tool_calls":[{"id":%q,"type":"function","function":{"name":"calculate","arguments":%q}}]},{"role":"tool","content":%q,"tool_call_id":%q}`, text, id, args, out, id)
		if len(l.head) > l.window { // the first messages stay, and the later half
			n := len(l.starts) / 2
			gone := l.starts[n] - l.base
			l.head = append(l.head[:l.base], l.head[l.starts[n]:]...)
			l.starts = l.starts[n:]
			for i := range l.starts {
				l.starts[i] -= gone
			}
		}
	}
}

// bareTool is the tool: a sum of two numbers.
func bareTool(args string) string {
	var call struct{ Code string }
	if err := json.Unmarshal([]byte(args), &call); err != nil {
		return err.Error()
	}
	a, b, _ := strings.Cut(call.Code, " + ")
	x, _ := strconv.Atoi(a)
	y, _ := strconv.Atoi(b)
	return strconv.Itoa(x + y)
}

// ask posts the conversation and reads the answer as it streams.
func (l *bareTalk) ask() (text, id, args string, err error) {
	body := io.MultiReader(bytes.NewReader(l.head), bytes.NewReader(l.tail))
	req, err := http.NewRequest(http.MethodPost, l.url, body)
	if err != nil {
		return "", "", "", err
	}
	req.ContentLength = int64(len(l.head) + len(l.tail))
	req.Header.Set("Content-Type", "application/json")
	resp, err := l.client.Do(req)
	if err != nil {
		return "", "", "", err
	}
	defer resp.Body.Close()
	in := bufio.NewScanner(resp.Body)
	for in.Scan() {
		data, ok := bytes.CutPrefix(in.Bytes(), []byte("data: {"))
		if !ok {
			continue
		}
		var c struct {
			Choices []struct {
				Delta struct {
					Content string
					Calls   []struct {
						ID       string
						Function struct{ Arguments string }
					} `json:"tool_calls"`
				}
			}
		}
		if err := json.Unmarshal(append([]byte("{"), data...), &c); err != nil {
			return "", "", "", err
		}
		for _, choice := range c.Choices {
			text += choice.Delta.Content
			for _, call := range choice.Delta.Calls {
				id, args = call.ID, args+call.Function.Arguments
			}
		}
	}
	return text, id, args, in.Err()
}

// bareLog writes steps to SQLite. One goroutine writes, and one transaction holds all that wait;
// whoever appends waits until it is on disk.
type bareLog struct {
	rows chan bareRow
	done chan error
}

type bareRow struct {
	name, text, out string
	step            int
	durable         chan error
}

func openBareLog(path string) (*bareLog, error) {
	conn, err := sq.OpenConn(path, sq.OpenReadWrite, sq.OpenCreate, sq.OpenWAL)
	if err != nil {
		return nil, err
	}
	for _, q := range []string{"PRAGMA synchronous=FULL", "CREATE TABLE steps (name TEXT, step INTEGER, said TEXT, result TEXT)"} {
		if err := sqlitex.ExecuteTransient(conn, q, nil); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	l := &bareLog{rows: make(chan bareRow, 1000), done: make(chan error)}
	go func() { l.done <- errors.Join(l.write(conn), conn.Close()) }()
	return l, nil
}

func (l *bareLog) append(name string, step int, text, out string) error {
	r := bareRow{name: name, text: text, out: out, step: step, durable: make(chan error, 1)}
	l.rows <- r
	return <-r.durable
}

func (l *bareLog) close() error {
	close(l.rows)
	return <-l.done
}

func (l *bareLog) write(conn *sq.Conn) error {
	for row := range l.rows {
		batch := []bareRow{row}
		for len(batch) < 1000 && len(l.rows) > 0 {
			batch = append(batch, <-l.rows)
		}
		err := store(conn, batch)
		for _, r := range batch {
			r.durable <- err
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func store(conn *sq.Conn, batch []bareRow) (err error) {
	end, err := sqlitex.ImmediateTransaction(conn)
	if err != nil {
		return err
	}
	defer end(&err)
	insert := conn.Prep("INSERT INTO steps VALUES (?, ?, ?, ?)")
	for _, r := range batch {
		insert.BindText(1, r.name)
		insert.BindInt64(2, int64(r.step))
		insert.BindText(3, r.text)
		insert.BindText(4, r.out)
		if _, err := insert.Step(); err != nil {
			return err
		}
		if err := insert.Reset(); err != nil {
			return err
		}
	}
	return nil
}
