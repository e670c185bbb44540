package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"lyceum/internal/computer/computertest"
	"lyceum/internal/need"
	"lyceum/internal/runtime/audit"

	"github.com/moby/moby/client"
)

// overheard is a real engine behind a socket of the test's own, which notes what it is asked to build.
type overheard struct {
	*client.Client
	host string

	mu     sync.Mutex // guards what is below
	builds []url.Values
}

// overhear starts an engine, and the socket before it.
func overhear(t *testing.T) (*overheard, *computertest.EngineInfo) {
	t.Helper()
	info, stop, missing, err := computertest.StartEngine()
	t.Cleanup(stop)
	if missing != "" {
		need.Missing(t, "%s", missing)
	}
	must(t, err)
	engine, err := client.New(client.WithHost(info.Host))
	must(t, err)
	t.Cleanup(func() { _ = engine.Close() })
	socket := filepath.Join(t.TempDir(), "engine.sock")
	l, err := net.Listen("unix", socket)
	must(t, err)
	o := &overheard{Client: engine, host: "unix://" + socket}
	behind := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", strings.TrimPrefix(info.Host, "unix://"))
	}}
	t.Cleanup(behind.CloseIdleConnections)
	server := &http.Server{Handler: o.before(&httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.Out.URL.Scheme, r.Out.URL.Host = "http", "engine" },
		Transport:     behind,
		FlushInterval: -1,
	})}
	t.Cleanup(func() { _ = server.Close() })
	go func() { _ = server.Serve(l) }()
	return o, info
}

func (o *overheard) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/build") {
			o.mu.Lock()
			o.builds = append(o.builds, r.URL.Query())
			o.mu.Unlock()
		}
		next.ServeHTTP(w, r)
	})
}

// built are the builds that were asked for since it was last asked, and the images that came of them
// are taken away.
func (o *overheard) built(t *testing.T) []url.Values {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	was := o.builds
	o.builds = nil
	for _, b := range was {
		_, err := o.ImageRemove(t.Context(), b.Get("t"), client.ImageRemoveOptions{Force: true, PruneChildren: true})
		must(t, err)
	}
	return was
}

// limitsInside fails a build whose programs have more memory, or may write larger files, than a build may
// have; and it makes a file that shows that the image is really this one. Either version of control groups
// tells the limit.
const limitsInside = `RUN [ "$(cat /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null || cat /sys/fs/cgroup/memory.max)" = 4294967296 ] && [ "$(ulimit -f)" = 16777216 ] && echo made-by-a-build > /built`

// TestVerifyBuildsNothingUnasked: a crate comes with a Dockerfile, whose programs would run as root of this
// machine's engine. To look whether the crate's calls come out the same is no reason to run them.
func TestVerifyBuildsNothingUnasked(t *testing.T) {
	t.Parallel()
	o, info := overhear(t)
	theirs := newHome(t, map[string]string{
		"quest.yaml": "name: boxed\nproblem: What was built?\nmodel: script:plan.yaml\ncomputer: {driver: docker, dockerfile: Dockerfile}\n",
		"Dockerfile": string(info.Small) + limitsInside + "\n",
		"plan.yaml":  "rules:\n  - on: {turn: 1}\n    call: [{tool: exec, args: {command: cat /built}}]\n  - say: done\n",
	})
	theirs.env = []string{"DOCKER_HOST=" + o.host}
	theirs.emptyTemp()
	theirs.ok("run", "quest.yaml")
	if n := len(o.built(t)); n != 1 {
		t.Fatalf("the quest's own run built %d images, want the one of its Dockerfile", n)
	}
	crate := filepath.Join(theirs.work, "boxed.zip")
	theirs.ok("export", "boxed", crate)

	ours := newHome(t, nil)
	ours.env = theirs.env
	ours.emptyTemp()
	ours.ok("import", crate)
	t.Run("ToRunItIsNoReasonEither", func(t *testing.T) {
		h := ours.in(t)
		h.ok("import", stranger(t, "fresh", "{driver: docker, dockerfile: Dockerfile}", map[string]string{"Dockerfile": string(info.Small) + limitsInside + "\n"}, "cat /built"))
		l := h.run("run", "fresh")
		if b := o.built(t); l.code == 0 || len(b) > 0 || !strings.Contains(l.out+l.errOut, "--build") {
			t.Fatalf("a run without --build: exit code %d, builds %v, want none, and what to say\n%s%s", l.code, b, l.out, l.errOut)
		}
		h.ok("run", "fresh", "--build")
		if b := o.built(t); len(b) != 1 || b[0].Get("networkmode") != "none" {
			t.Errorf("a run with --build built %v, want one image, without a network", b)
		}
	})
	for name, subject := range map[string]string{"AFile": crate, "AnImportedQuest": "boxed"} {
		t.Run(name, func(t *testing.T) {
			h := ours.in(t)
			if c := h.executed(3, subject)["cat /built"]; c.Status != "not checkable" || !strings.Contains(c.Why, "--build") {
				t.Errorf("without --build: got %+v, want not checkable, and what to say", c)
			}
			if b := o.built(t); len(b) > 0 {
				t.Errorf("without --build the engine was asked to build: %v", b)
			}
			l := h.run("verify", "--execute", "--build", "--json", subject)
			l.want(t, 0)
			var rep struct{ Execution audit.Execution }
			must(t, json.Unmarshal([]byte(l.out), &rep))
			if x := rep.Execution; x.Same != 1 || len(x.Calls) != 1 {
				t.Errorf("with --build: got %+v, want the one call the same", x)
			}
			b := o.built(t)
			if len(b) != 1 {
				t.Fatalf("with --build there were %d builds, want one", len(b))
			}
			for name, want := range map[string]string{
				"networkmode": "none", "memory": fmt.Sprint(4 << 30), "memswap": fmt.Sprint(4 << 30), "cpuperiod": "100000", "cpuquota": "200000",
			} {
				if got := b[0].Get(name); got != want {
					t.Errorf("the build's %s: got %q, want %s", name, got, want)
				}
			}
			if got := b[0].Get("ulimits"); !strings.Contains(got, "fsize") {
				t.Errorf("the build's limits: got %q, want one on the size of files", got)
			}
		})
	}
}
