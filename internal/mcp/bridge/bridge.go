// Package bridge is the way to the tools of an outside agent for a client of MCP that starts
// its servers and speaks to them by lines: a program inside the computer that passes messages
// on to the port tools, and what comes back.
//
// It knows no tool and decides nothing. What it adds is patience: when Lyceum goes away while
// a call is under way, the bridge sends the same message to the next one, in the same session,
// and so it is the same call. The client hears nothing but that it takes longer.
//
// It ends with its input, and a moment for what is under way. A client that gives a request up is not answered; the messages are
// otherwise answered once each.
package bridge

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/mcp/scoped"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Role is the argument by which this program is the bridge.
const Role = "bridge"

// The variables by which it is told where the tools are, and whose they are; and at which of
// several servers, if there are some.
const (
	AddressVariable = "LYCEUM_PORT_TOOLS"
	TokenVariable   = "LYCEUM_TOOLS_TOKEN"
	ServerVariable  = "LYCEUM_TOOLS_SERVER"
)

// Command is what a client is to start, and its variables, for a port at an address, a token,
// and one of several servers, empty for the only one: clients pass few of their own on.
func Command(address, token, server string) (args, env []string) {
	env = []string{AddressVariable + "=" + address, TokenVariable + "=" + token}
	if server != "" {
		env = append(env, ServerVariable+"="+server)
	}
	return []string{computer.Program, Role}, env
}

const (
	maxLine = 10 << 20 // of what the client says
	maxOpen = 24       // messages under way
	// maxEvent is how much an answer may be.
	maxEvent = 64 << 20
	// The pauses between two attempts, and how long they go on.
	shortPause = 100 * time.Millisecond
	longPause  = 5 * time.Second
	// farewell is how long what is under way may take when the input has ended.
	farewell = 5 * time.Second
)

// Main is the bridge, by its standard input and output. It returns the exit code.
func Main(ctx context.Context, _ []string, in io.Reader, out, errOut io.Writer) int {
	address, token := os.Getenv(AddressVariable), os.Getenv(TokenVariable)
	if address == "" || token == "" {
		fmt.Fprintf(errOut, "lyceum bridge: %s and %s must say where the tools are, and with which token\n", AddressVariable, TokenVariable)
		return 2
	}
	if err := Run(ctx, address, token, os.Getenv(ServerVariable), in, out); err != nil {
		fmt.Fprintln(errOut, "lyceum bridge:", err)
		return 1
	}
	return 0
}

// Run passes messages until in ends.
func Run(ctx context.Context, address, token, server string, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	b := &bridge{
		url: "http://" + address + scoped.PathOf(server), token: token, session: rand.Text(), out: out, under: map[string]context.CancelFunc{},
		// The proxy of a filtered network is no way to the loopback.
		client: &http.Client{Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: maxOpen}},
	}
	defer b.client.CloseIdleConnections()
	defer b.work.Wait()
	defer cancel()
	var calls sync.WaitGroup
	turns, lines := make(chan struct{}, maxOpen), bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := readLine(lines)
		if err != nil {
			late := time.AfterFunc(farewell, cancel)
			calls.Wait()
			late.Stop()
			return cmp.Or(b.failed(), ignoreEOF(err))
		}
		if len(line) == 0 {
			continue
		}
		m, err := read(line)
		if err != nil {
			b.say(fault(nil, -32700, err.Error()))
			continue
		}
		if m.Method == "notifications/cancelled" {
			b.giveUp(string(m.Params.Request))
		}
		select {
		case turns <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		each, end := b.begin(ctx, m)
		calls.Go(func() {
			defer func() { <-turns }()
			defer end()
			b.pass(each, m)
		})
		if m.Method == "notifications/initialized" && !b.listens {
			b.listens = true
			b.work.Go(func() { b.listen(ctx) })
		}
	}
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// readLine is the next line, without its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		if line = append(line, piece...); len(line) > maxLine {
			return nil, fmt.Errorf("a message has more than %d MiB", maxLine>>20)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(bytes.TrimSpace(line)) > 0:
			err = nil
		}
		return bytes.TrimSpace(line), err
	}
}

// message is one of the client's, and what has to be known of it.
type message struct {
	raw    []byte
	ID     jsontext.Value `json:"id"`
	Method string         `json:"method"`
	Params struct {
		Name    string         `json:"name"`
		URI     string         `json:"uri"`
		Request jsontext.Value `json:"requestId"`
		Meta    struct {
			Revision string `json:"io.modelcontextprotocol/protocolVersion"`
		} `json:"_meta"`
	} `json:"params"`
}

func read(line []byte) (*message, error) {
	m := &message{raw: line}
	if err := json.Unmarshal(line, m); err != nil {
		return nil, errors.New("a line must be one message of JSON-RPC")
	}
	return m, nil
}

// call reports whether an answer is due.
func (m *message) call() bool { return len(m.ID) > 0 && string(m.ID) != "null" && m.Method != "" }

// bridge is one run. The client's messages are taken by one goroutine, which owns listens.
type bridge struct {
	url, token, session string
	client              *http.Client
	work                sync.WaitGroup
	listens             bool

	mu  sync.Mutex // guards what is below
	out io.Writer
	err error
	// revision is what was agreed on with the client, in the revisions that do so once.
	revision string
	// under are the requests that have no answer yet, by their ids, and what gives each up.
	under map[string]context.CancelFunc
}

// begin notes that a request is under way.
func (b *bridge) begin(ctx context.Context, m *message) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	if !m.call() {
		return ctx, cancel
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.under[string(m.ID)] = cancel
	return ctx, func() {
		cancel()
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.under, string(m.ID))
	}
}

func (b *bridge) giveUp(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if cancel := b.under[id]; cancel != nil {
		cancel()
	}
}

// say writes a line to the client.
func (b *bridge) say(line []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		_, b.err = b.out.Write(append(bytes.Clone(line), '\n'))
	}
}

func (b *bridge) failed() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// fault is an error of the protocol.
func fault(id jsontext.Value, code int, text string) []byte {
	if len(id) == 0 {
		id = jsontext.Value("null")
	}
	quoted, _ := json.Marshal(strings.ToValidUTF8(text, "?"))
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`, id, code, quoted)
}
