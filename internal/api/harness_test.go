package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lyceum/examples"
	"lyceum/internal/api"
	"lyceum/internal/api/client"
	blobfs "lyceum/internal/blob/fs"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/model"
	"lyceum/internal/model/demo"
	"lyceum/internal/model/script"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/service"
	"lyceum/internal/search/glove"
	"lyceum/internal/society"
	"lyceum/internal/tool"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = time.Minute

const token = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

// home is a folder with quests; each open of it is a process of its own.
type home struct {
	t   *testing.T
	dir string
	// gate, if it is not nil, is the model of the name gate.
	gate *gate
	// wrap puts something between a runtime and its ledger, if it is not nil. It is done before anything runs: what
	// runs reads where its ledger is.
	wrap func(ledger.Store) ledger.Store
	// clock is the system's if nil.
	clock runtime.Clock
	// at is where it is served, any port if empty.
	at string
}

// lagging is a ledger whose followers are behind, as those of a busy machine are.
type lagging struct {
	ledger.Store
	by time.Duration
}

func (l lagging) Follow(ctx context.Context, name string, seq uint64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for e, err := range l.Store.Follow(ctx, name, seq) {
			time.Sleep(l.by)
			if !yield(e, err) {
				return
			}
		}
	}
}

// counting is a ledger that counts what is read of it.
type counting struct {
	ledger.Store
	reads *atomic.Int64
}

func (c counting) Read(ctx context.Context, name string, seq uint64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for e, err := range c.Store.Read(ctx, name, seq) {
			c.reads.Add(1)
			if !yield(e, err) {
				return
			}
		}
	}
}

func newHome(t *testing.T) *home { return &home{t: t, dir: t.TempDir()} }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// runtime opens the home. The returned function closes it.
func (h *home) runtime() (*runtime.Runtime, func()) {
	h.t.Helper()
	store, err := sqlite.Open(filepath.Join(h.dir, "lyceum.db"), nil)
	must(h.t, err)
	blobs, err := blobfs.Open(filepath.Join(h.dir, "blobs"), &blobfs.Options{Volatile: true})
	must(h.t, err)
	rt := &runtime.Runtime{
		Ledger: store, Blobs: blobs, Tools: withRoll(tool.Builtin()), Clock: runtime.SystemClock, Home: h.dir, Version: "test", Glancers: []runtime.Glancer{api.Glancer},
		Societies: society.All(), Workshops: service.Workshops(""), Embedder: glove.Embedder{},
		Models: func(name string, pin func(string) ([]byte, error)) (model.Model, error) {
			switch {
			case name == "gate" && h.gate != nil:
				return h.gate, nil
			case name == "scholar":
				return scholar{}, nil
			case name == "roller":
				return roller{}, nil
			case name == "asker":
				return asker{}, nil
			case strings.HasPrefix(name, "script:"):
				data, err := pin(name)
				if err != nil {
					return nil, err
				}
				return script.Parse(name, data)
			case name == "demo" || strings.HasPrefix(name, "demo:"):
				return demo.Open(name)
			}
			return nil, fmt.Errorf("no such model: %s", name)
		},
	}
	if h.clock != nil {
		rt.Clock = h.clock
	}
	if h.wrap != nil {
		rt.Ledger = h.wrap(store)
	}
	return rt, func() {
		must(h.t, errors.Join(store.Close(), blobs.Close()))
	}
}

// server is one on a home, with a listener.
type server struct {
	t  *testing.T
	rt *runtime.Runtime
	*api.Server
	web    *httptest.Server
	client *client.Client
	stop   func()
}

// serve starts a server that the test's end stops, if stop was not called before.
func (h *home) serve(opts api.Options) *server {
	h.t.Helper()
	rt, closeAll := h.runtime()
	if opts.Token == "" {
		opts.Token = token
	}
	opts.Examples = examples.Files
	var closeStudies func()
	opts.Studies, closeStudies = h.studies()
	s := &server{t: h.t, rt: rt, Server: api.New(rt, opts)}
	s.web = httptest.NewUnstartedServer(nil)
	s.web.Config = s.HTTP()
	if h.at != "" {
		l, err := net.Listen("tcp", h.at)
		must(h.t, errors.Join(err, s.web.Listener.Close()))
		s.web.Listener = l
	}
	s.web.Start()
	s.client = client.New(s.web.URL, opts.Token)
	stopped := false
	s.stop = func() {
		if stopped {
			return
		}
		stopped = true
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if h.gate != nil && len(h.gate.open) < 500 {
			h.gate.let(100) // nobody waits for a model that is not let
		}
		s.Keeper().Shutdown(ctx)
		s.EndStreams()
		s.client.Close()
		s.web.Close()
		s.Close()
		closeStudies()
		closeAll()
	}
	h.t.Cleanup(s.stop)
	return s
}

// gate is a model that answers when it is let: with a tool call until the words run out.
type gate struct {
	open chan struct{}
	// says is called for each answer, if it is not nil.
	says func(r *model.Request) *model.Answer
	// emits is what it says before the answer is let, one word if it is nil.
	emits func(r *model.Request) []model.Delta
	// speaks does it instead, if it is not nil.
	speaks func(emit func(model.Delta))
}

func newGate() *gate { return &gate{open: make(chan struct{}, 1000)} }

func (g *gate) let(n int) {
	for range n {
		g.open <- struct{}{}
	}
}

func (g *gate) Generate(ctx context.Context, r *model.Request, emit func(model.Delta)) (*model.Answer, error) {
	live := []model.Delta{{Kind: "text", Text: fmt.Sprintf("turn %d", r.Turn)}}
	switch {
	case g.speaks != nil:
		live = nil
		g.speaks(emit)
	case g.emits != nil:
		live = g.emits(r)
	}
	for _, d := range live {
		if emit != nil {
			emit(d)
		}
	}
	select {
	case <-g.open:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if g.says != nil {
		return g.says(r), nil
	}
	return call("calculate", `{"code":"print(1)"}`, r.Turn), nil
}

func call(name, args string, turn int64) *model.Answer {
	return &model.Answer{
		Parts: []model.Part{{Kind: "tool_call", ID: fmt.Sprintf("c%d", turn), Name: name, Args: args}},
		Usage: event.Usage{Input: 10, Output: 5}, Stop: model.StopTools,
	}
}

func said(text string) *model.Answer {
	return &model.Answer{Parts: []model.Part{{Kind: "text", Text: text}}, Usage: event.Usage{Input: 10, Output: 5}, Stop: model.StopEnd}
}

// answer is what came back.
type answer struct {
	code   int
	header http.Header
	body   []byte
}

// do sends a request with the token. body is JSON, or nil.
func (s *server) do(method, path string, body any, change ...func(*http.Request)) answer {
	s.t.Helper()
	var in io.Reader
	if body != nil {
		if text, ok := body.(string); ok {
			in = strings.NewReader(text)
		} else {
			data, err := json.Marshal(body)
			must(s.t, err)
			in = bytes.NewReader(data)
		}
	}
	r, err := http.NewRequest(method, s.web.URL+path, in)
	must(s.t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, f := range change {
		f(r)
	}
	c := &http.Client{Transport: s.web.Client().Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if r.Body != nil && (r.ContentLength < 0 || r.ContentLength > 64<<10) {
		c.Transport = patient{}
	}
	resp, err := c.Do(r)
	must(s.t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	must(s.t, err)
	return answer{resp.StatusCode, resp.Header, data}
}

func (a answer) want(t *testing.T, code int) answer {
	t.Helper()
	if a.code != code {
		t.Fatalf("status %d, want %d: %.500s", a.code, code, a.body)
	}
	return a
}

func (a answer) into(t *testing.T, v any) {
	t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		t.Fatalf("an answer that is no JSON: %v: %.300s", err, a.body)
	}
}

// create makes a quest of the solo society, with the model gate unless said otherwise.
func (s *server) create(name string, spec map[string]any) {
	s.t.Helper()
	all := map[string]any{"name": name, "problem": "Count.", "model": "gate", "tools": []string{"calculate", "write_file"}}
	for k, v := range spec {
		all[k] = v
	}
	s.do("POST", "/api/quests", map[string]any{"spec": all}).want(s.t, 201)
}

func (s *server) control(name string, order map[string]any) answer {
	s.t.Helper()
	return s.do("POST", "/api/quests/"+name+"/control", order)
}

// until follows a quest's ledger until an event fits, and returns it.
func until(t *testing.T, rt *runtime.Runtime, name string, fits func(event.Event) bool) event.Event {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for e, err := range rt.Ledger.Follow(ctx, name, 1) {
		must(t, err)
		if fits(e) {
			return e
		}
	}
	panic("follow ends with an error")
}

func isType(kind event.Type) func(event.Event) bool {
	return func(e event.Event) bool { return e.Type == kind }
}

// finish runs an example to its end on the server.
func (s *server) finish(example, as string, model string) {
	s.t.Helper()
	body := map[string]any{"example": example, "name": as, "start": true}
	if model != "" {
		body["model"] = model
	}
	s.do("POST", "/api/quests", body).want(s.t, 201)
	until(s.t, s.rt, as, isType("quest.finished"))
	s.released(as)
}

// released waits until nobody has a quest.
func (s *server) released(name string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for sig, err := range s.client.Follow(ctx, name, 0) {
		must(s.t, err)
		if sig.Kind == "end" {
			return
		}
	}
	s.t.Fatalf("the stream of %s has no end", name)
}

// lines are the ledger of a quest.
func lines(t *testing.T, rt *runtime.Runtime, name string) (out []string) {
	t.Helper()
	for e, err := range rt.Ledger.Read(context.Background(), name, 1) {
		must(t, err)
		out = append(out, string(e.Line()))
	}
	return out
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
