package service_test

// The gateway is tried here with real computers, and with a process that is killed.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	blobfs "lyceum/internal/blob/fs"
	"lyceum/internal/canary"
	"lyceum/internal/computer"
	"lyceum/internal/computer/namespaces"
	"lyceum/internal/config"
	"lyceum/internal/event"
	"lyceum/internal/gateway"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/model"
	"lyceum/internal/model/provider"
	"lyceum/internal/need"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/society/solo"
	"lyceum/internal/tool"
)

// guest is solo with an agent that is none of ours, and has a gateway.
type guest struct{ solo.Society }

func (guest) Rules() string { return "guest/1" }

func (guest) Roles(*quest.Spec, bool, bool) []quest.Role {
	return []quest.Role{{Name: "agent-0", Executor: "acp:guest", Text: "system", World: true, Gateway: &event.GatewaySpec{Any: true}}}
}

// canaryKey is what must be nowhere but at the provider.
const canaryKey = "sk-canary-8Hq2vXnP4rT6"

// lodge is a workshop in which the guest acts, and the quest ends.
type lodge struct {
	work func(ctx context.Context, q *runtime.Quest, gate http.Handler) error
	once sync.Once
	done chan error
	stop context.CancelFunc
	wait sync.WaitGroup
	q    *runtime.Quest
	ctx  context.Context
	gate http.Handler
}

func (l *lodge) Open(ctx context.Context, q *runtime.Quest) (runtime.Bench, error) {
	l.q, l.done = q, make(chan error, 1)
	l.ctx, l.stop = context.WithCancel(ctx)
	var err error
	l.gate, err = q.Gateway("agent-0")
	return l, err
}
func (l *lodge) Services() map[event.Type]runtime.Service { return nil }
func (l *lodge) Close() error {
	l.stop()
	l.wait.Wait()
	return nil
}

func (l *lodge) Printed(event.Event) {
	l.once.Do(func() {
		l.wait.Go(func() {
			err := l.work(l.ctx, l.q, l.gate)
			if err == nil {
				_, err = l.q.Post(l.ctx, l.q.Key, ledger.Command{Key: "stop", Body: &event.QuestStopped{Reason: "done"}})
			}
			if err != nil && l.ctx.Err() == nil {
				l.q.Fail(err)
			}
		})
	})
}

// openGuest is a runtime on a home whose provider is at an address.
func openGuest(t *testing.T, home, url string, l *lodge) *runtime.Runtime {
	t.Helper()
	d := namespaces.New(namespaces.Options{})
	if err := d.Check(t.Context()); err != nil {
		need.Missing(t, "%v", err)
	}
	store, err := sqlite.Open(filepath.Join(home, "lyceum.db"), nil)
	must(t, err)
	blobs, err := blobfs.Open(filepath.Join(home, "blobs"), nil)
	must(t, err)
	c, err := config.Parse("config.yaml", []byte(strings.ReplaceAll(`
providers: {fake: {api: anthropic, url: URL, key_variable: FAKE_KEY}}
models: {fake/m: {context: 100000, max_output: 1000, input: "1", output: "10"}}
`, "URL", url)))
	must(t, err)
	found, err := provider.New(&provider.Options{Config: c, Getenv: func(v string) string { return map[string]string{"FAKE_KEY": canaryKey}[v] }, Keyring: func(context.Context, string) (string, error) { return "", nil }})
	must(t, err)
	t.Cleanup(func() {
		found.Close()
		must(t, store.Close())
		must(t, blobs.Close())
	})
	price := &event.Price{Input: 1e9, Output: 10e9, Cached: 1e9, CacheWrites: 1e9}
	rt := &runtime.Runtime{
		Ledger: store, Blobs: blobs, Tools: tool.Builtin(), Societies: []quest.Society{guest{}}, Workshops: map[string]runtime.Workshop{"guest": l},
		Computers: []computer.Driver{d}, Clock: runtime.SystemClock, Home: home, Version: "test", Secrets: found.Secrets,
		Models: func(name string, _ func(string) ([]byte, error)) (model.Model, error) {
			m, _, err := found.Open(name)
			return m, err
		},
		Known:   func(string) runtime.Known { return runtime.Known{Priced: true, Price: price} },
		Forward: func(name string) (gateway.Upstream, error) { return found.Forward(name) },
	}
	t.Cleanup(func() { _ = rt.Clean(context.Background(), "q", false) })
	return rt
}

func createGuest(t *testing.T, rt *runtime.Runtime, more string) {
	t.Helper()
	source := []byte("name: q\nproblem: What does it say?\nmodel: fake/m\ncomputer: {driver: namespaces, memory: 256MiB}\n" + more)
	spec, err := rt.Societies.ParseSpec("quest.yaml", source)
	must(t, err)
	_, err = rt.Create(t.Context(), runtime.Plan{Spec: spec, Source: source, Dir: t.TempDir()})
	must(t, err)
}

// anthropicAnswer is a stream with its usage.
const anthropicAnswer = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,\"output_tokens\":1}}}\n\n" +
	"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"hello from outside\"}}\n\n" +
	"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":5}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"

// program is an agent inside: it asks with its token, and says what came; then it looks
// for a key wherever a program can look.
const program = `
import os, sys, urllib.request, urllib.error, glob
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
def ask(path, token, body):
    request = urllib.request.Request('http://' + os.environ['LYCEUM_PORT_GATEWAY'] + path, data=body)
    request.add_header('x-api-key', token)
    request.add_header('content-type', 'application/json')
    try:
        return opener.open(request, timeout=20).read().decode()
    except urllib.error.HTTPError as e:
        return str(e.code) + ' ' + e.read().decode()
good = b'{"model":"claude-x","max_tokens":20,"stream":true,"messages":[{"role":"user","content":"hi"}]}'
token, other, task = sys.argv[1:4]
print('ANSWER', ask('/v1/messages', token, good).replace('\n', '|'))
print('AGAIN', ask('/v1/messages', token, good)[:3])
print('NONE', ask('/v1/messages', '', good)[:3])
print('OTHER', ask('/v1/messages', other, good)[:3])
print('TASK', ask('/v1/messages', task, good)[:3])
print('FILES', ask('/v1/files', token, good)[:3])
print('TOOL', ask('/v1/messages', token, good[:-1] + b',"tools":[{"type":"web_search_20250305","name":"w"}]}')[:3])
try:
    opener.open('http://1.1.1.1/', timeout=3); print('NET yes')
except Exception: print('NET no')
for name in glob.glob('/proc/*/environ') + glob.glob('/proc/*/cmdline') + glob.glob('/proc/*/maps'):
    try: print('PROC', open(name, 'rb').read().decode(errors='replace').replace('\n', ' '))
    except OSError: pass
for k, v in os.environ.items(): print('ENV', k, v)
open('kept.txt', 'w').write('I was here')
`

// A program in a computer without a network asks a model by its token; the key stays
// outside, and what it cost is in the ledger.
func TestAProgramInAComputerAsksAModel(t *testing.T) {
	t.Parallel()
	var keys sync.Map
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys.Store(r.Header.Get("X-Api-Key"), true)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, anthropicAnswer)
	}))
	defer server.Close()
	home := t.TempDir()
	var out string
	l := &lodge{work: func(ctx context.Context, q *runtime.Quest, gate http.Handler) error {
		port := map[string]computer.Port{"gateway": {Handler: gate, Admit: func(who string) bool { return who != "agent-0/ended" }}}
		mine, err := q.Station(ctx, "executor/agent-0", runtime.StationOptions{Ports: port})
		if err != nil {
			return err
		}
		defer mine.Close()
		other, err := q.Station(ctx, "executor/agent-1", runtime.StationOptions{Ports: port})
		if err != nil {
			return err
		}
		defer other.Close()
		c, err := mine.Computer()
		if err != nil {
			return err
		}
		d, err := other.Computer()
		if err != nil {
			return err
		}
		token, err := c.Token("gateway", "agent-0/task-1")
		if err != nil {
			return err
		}
		foreign, err := d.Token("gateway", "agent-0/task-1")
		if err != nil {
			return err
		}
		ended, err := c.Token("gateway", "agent-0/ended")
		if err != nil {
			return err
		}
		res, err := mine.Run(ctx, computer.Command{ID: "agent", Args: []string{"python3", "-c", program, token, foreign, ended}})
		if err != nil {
			return err
		}
		if res.Exit != 0 {
			return fmt.Errorf("the program ends with %d: %s", res.Exit, res.Stderr.Head)
		}
		out = string(res.Stdout.Head) + string(res.Stdout.Tail)
		return nil
	}}
	rt := openGuest(t, home, server.URL, l)
	createGuest(t, rt, "")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	s, err := rt.Run(ctx, "q", runtime.RunOptions{})
	must(t, err)
	for _, want := range []string{"ANSWER " + strings.ReplaceAll(anthropicAnswer, "\n", "|"), "NONE 401", "OTHER 401", "TASK 401", "FILES 403", "TOOL 403", "NET no"} {
		if !strings.Contains(out, want) {
			t.Errorf("the program did not say %q:\n%.3000s", want, out)
		}
	}
	if strings.Contains(out, canaryKey) {
		t.Error("the program found the key")
	}
	if _, ok := keys.Load(canaryKey); !ok {
		t.Error("the provider did not get the key")
	}
	if s.Spent.Cost != 2*(10*1000+5*10_000) || s.Spent.Turns != 2 || s.Spent.Estimated != 0 {
		t.Errorf("the quest has spent %+v", s.Spent)
	}
	told(t, rt, "agent-0") // it verifies and replays
	canary.Nowhere(t, home, canaryKey)
}

const guestEnv = "LYCEUM_GATEWAY_CHILD"

// Whoever dies in mid-request has sent it: it is charged, and not sent again.
func TestARequestThatIsCutByACrashIsChargedAndNotSentAgain(t *testing.T) {
	post := func(ctx context.Context, gate http.Handler) (string, error) {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			gate.ServeHTTP(w, r.WithContext(computer.As(r.Context(), "agent-0")))
		}))
		defer s.Close()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/v1/messages", strings.NewReader(`{"model":"x","max_tokens":20,"messages":[{"role":"user","content":"hi"}]}`))
		if err != nil {
			return "", err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return fmt.Sprint(resp.StatusCode, " ", string(body)), err
	}
	if child := os.Getenv(guestEnv); child != "" {
		home, url, _ := strings.Cut(child, " ")
		l := &lodge{work: func(ctx context.Context, _ *runtime.Quest, gate http.Handler) error {
			_, err := post(ctx, gate)
			return err
		}}
		_, err := openGuest(t, home, url, l).Run(t.Context(), "q", runtime.RunOptions{})
		t.Log(err)
		return
	}
	t.Parallel()
	var asked atomic.Int64
	come := make(chan struct{}, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if asked.Add(1) == 1 {
			come <- struct{}{}
			<-r.Context().Done() // its process is killed
			return
		}
		_, _ = io.WriteString(w, `{"usage":{"input_tokens":10,"output_tokens":5}}`)
	}))
	defer server.Close()
	home := t.TempDir()
	var said string
	l := &lodge{work: func(ctx context.Context, _ *runtime.Quest, gate http.Handler) (err error) {
		said, err = post(ctx, gate)
		return err
	}}
	rt := openGuest(t, home, server.URL, l)
	createGuest(t, rt, "")
	cmd := exec.Command("/proc/self/exe", "-test.run", "^TestARequestThatIsCutByACrashIsChargedAndNotSentAgain$", "-test.count=1")
	cmd.Env = append(os.Environ(), guestEnv+"="+home+" "+server.URL, "TMPDIR="+t.TempDir())
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	must(t, cmd.Start())
	gone := make(chan error, 1)
	go func() { gone <- cmd.Wait() }()
	select {
	case <-come:
		must(t, cmd.Process.Kill())
		<-gone
	case err := <-gone:
		t.Fatalf("the process ended before it asked: %v\n%s", err, out.String())
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	s, err := rt.Run(ctx, "q", runtime.RunOptions{})
	must(t, err)
	var results []*event.GatewayResult
	for e, err := range rt.Ledger.Read(t.Context(), "q", 1) {
		must(t, err)
		if b, ok := e.Body.(*event.GatewayResult); ok {
			results = append(results, b)
		}
	}
	if asked.Load() != 2 || len(results) != 2 || !strings.HasPrefix(said, "200") {
		t.Fatalf("the provider was asked %d times, and there are %d results; the next request says %q", asked.Load(), len(results), said)
	}
	cut, next := results[0], results[1]
	if !strings.HasPrefix(cut.Error, "cut") || !cut.Estimated || cut.Usage.Output != 20 || cut.Usage.Input < 50 || cut.Cost < 20*10_000 || cut.Price == nil {
		text, _ := json.Marshal(cut)
		t.Errorf("the request that was cut is charged %s", text)
	}
	if next.Estimated || next.Cost != 10*1000+5*10_000 || s.Spent.Cost != cut.Cost+next.Cost {
		t.Errorf("the next one is charged %+v, and the quest has spent %+v", next, s.Spent)
	}
	told(t, rt, "agent-0")
}

// A budget that is spent is an error in the provider's words, and ends the run.
func TestASpentBudgetIsToldByTheGateway(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		_, _ = io.WriteString(w, `{"usage":{"input_tokens":10,"output_tokens":5}}`)
	}))
	defer server.Close()
	var said []string
	l := &lodge{work: func(ctx context.Context, q *runtime.Quest, gate http.Handler) error {
		for range 3 {
			w := httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodPost, "/v1/messages", strings.NewReader(`{"model":"x","max_tokens":20,"messages":[{"role":"user","content":"hi"}]}`))
			gate.ServeHTTP(w, r.WithContext(computer.As(ctx, "agent-0")))
			said = append(said, fmt.Sprint(w.Code, " ", w.Body.String()))
		}
		return nil
	}}
	rt := openGuest(t, t.TempDir(), server.URL, l)
	createGuest(t, rt, "limits: {turns: 1}\n")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	s, err := rt.Run(ctx, "q", runtime.RunOptions{})
	must(t, err)
	if len(said) != 3 || !strings.HasPrefix(said[0], "200") || !strings.HasPrefix(said[1], "402") || !strings.Contains(said[1], `"type":"billing_error"`) || !strings.Contains(said[1], "has used 1 turns of 1 turns") || strings.HasPrefix(said[2], "200") {
		t.Errorf("the agent heard %q", said)
	}
	if asked.Load() != 1 || s.Spent.Turns != 1 || s.Status != quest.Stopped && s.Status != quest.Exceeded {
		t.Errorf("the provider was asked %d times; the quest is %s with %+v", asked.Load(), s.Status, s.Spent)
	}
	told(t, rt, "agent-0")
}
