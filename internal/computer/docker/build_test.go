package docker

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lyceum/internal/computer"
)

func TestFetchedSeesEveryImage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"FROM debian:12\nRUN true\n":                            {"debian:12"},
		"from debian\nFROM scratch\nFROM alpine AS a\nFROM a\n": {"debian", "alpine"},
		"FROM debian AS b\nFROM evil\nCOPY --from=b /x /x\n":    {"debian", "evil"},
		"FROM debian AS b\nFROM scratch\nCOPY --from=B /x /x\n": {"debian"},
		"F\\\nROM evil\n":                                        {"evil"},
		"# it is continued \\\nFROM evil\n":                      {"evil"},
		"FROM a\nRUN x \\\n# comment \\\n y\nFROM evil\n":        {"a", "evil"},
		"\ufeffFROM evil\n":                                      {"evil"},
		"FROM --platform=linux/arm64 evil\r\nRUN a \\\r\n b\r\n": {"evil"},
	} {
		got, err := fetched(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %q, %v, want %q", text, got, err, want)
		}
	}
}

func TestFetchedRefusesWhatItCannotSeeThrough(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"ADD http://169.254.169.254/latest /x\n", "ONBUILD ADD http://x/ /x\n", "FROM $BASE\n", "ARG X=evil\nFROM ${X}\n", "FROM\n",
		"COPY --from=evil /x /x\n", "COPY --from=0 /x /x\n", "RUN --mount=type=bind,from=evil true\n", "RUN --network=host true\n",
		"# escape=`\nFROM a\n", "# syntax=evil/frontend\nFROM a\n", "RUN echo \\\\\nFROM evil\n", "FR\\\n\nOM evil\n", "NONSENSE\n",
	} {
		if got, err := fetched(text); err == nil {
			t.Errorf("%q is taken for one that needs %q alone", text, got)
		}
	}
}

// engineOf is an engine that has some images and notes what it is asked to build.
func engineOf(t *testing.T, images ...string) (*Driver, *builds) {
	t.Helper()
	b := &builds{images: images}
	path := filepath.Join(t.TempDir(), "engine.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: b}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })
	d := New(Options{Host: "unix://" + path})
	t.Cleanup(func() { _ = d.Close() })
	return d, b
}

// builds guards what requests note with mu.
type builds struct {
	mu     sync.Mutex
	images []string
	asked  []url.Values
	labels map[string]string
	size   int64
	// endless says that a build ends only when nobody waits for it any more.
	endless bool
	// held is how many more containers cannot be made, for their name is taken.
	held int
	// stuck is how many more times a container cannot be removed.
	stuck int
}

func (b *builds) hold(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = n
}

func (b *builds) stick(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stuck = n
}

func (b *builds) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	_, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case strings.HasSuffix(r.URL.Path, "/_ping"):
		w.Header().Set("Api-Version", "1.47")
		w.Header().Set("Ostype", "linux")
	case path == "build":
		_, _ = io.Copy(io.Discard, r.Body)
		b.asked = append(b.asked, r.URL.Query())
		_ = json.Unmarshal([]byte(r.URL.Query().Get("labels")), &b.labels)
		b.images = append(b.images, r.URL.Query().Get("t"))
		if b.endless {
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return
		}
		_, _ = io.WriteString(w, `{"stream":"done\n"}`)
	case path == "containers/create" && b.held > 0:
		b.held--
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `{"message":"the name is in use"}`)
	case path == "containers/create":
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"Id":"made"}`)
	case strings.HasPrefix(path, "containers/") && r.Method == http.MethodDelete && b.stuck > 0:
		b.stuck--
		w.WriteHeader(http.StatusInternalServerError)
		_, _ = io.WriteString(w, `{"message":"unable to remove filesystem: directory not empty"}`)
	case strings.HasPrefix(path, "containers/"):
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"message":"no such container"}`)
	case strings.HasPrefix(path, "images/") && r.Method == http.MethodDelete:
		b.images = slices.DeleteFunc(b.images, func(s string) bool { return strings.Contains(path, s) })
		_, _ = io.WriteString(w, `[]`)
	case strings.HasPrefix(path, "images/"):
		name := strings.TrimSuffix(strings.TrimPrefix(path, "images/"), "/json")
		if !slices.Contains(b.images, name) {
			w.WriteHeader(http.StatusNotFound)
			_, _ = io.WriteString(w, `{"message":"no such image"}`)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"Id": "sha256:1", "Size": b.size, "Config": map[string]any{"Labels": b.labels}})
	default:
		_, _ = io.WriteString(w, `{"OSType":"linux","KernelVersion":"`+kernelHere()+`","Version":"1","DockerRootDir":"/engine"}`)
	}
}

func prepare(t *testing.T, d *Driver, text string, how computer.Build) error {
	t.Helper()
	_, err := d.Prepare(t.Context(), computer.Spec{Dockerfile: []byte(text), Build: how}, func(string) {})
	return err
}

func TestBuild(t *testing.T) {
	t.Parallel()
	t.Run("IsNotDoneUnasked", func(t *testing.T) {
		t.Parallel()
		d, b := engineOf(t, "base")
		if err := prepare(t, d, "FROM base\n", computer.Build{Refused: "nobody asked"}); err == nil || err.Error() != "nobody asked" {
			t.Errorf("got %v, want that it is refused", err)
		}
		if len(b.asked) > 0 {
			t.Error("it was built all the same")
		}
		if err := prepare(t, d, "FROM base\n", computer.Build{}); err != nil {
			t.Fatal(err)
		}
		if err := prepare(t, d, "FROM base\n", computer.Build{Refused: "nobody asked"}); err != nil {
			t.Errorf("an image that is there: %v", err)
		}
	})
	t.Run("HasLimits", func(t *testing.T) {
		t.Parallel()
		d, b := engineOf(t, "base")
		if err := prepare(t, d, "FROM base\n", computer.Build{}); err != nil {
			t.Fatal(err)
		}
		q := b.asked[0]
		for _, name := range []string{"memory", "memswap", "cpuquota", "cpuperiod"} {
			if q.Get(name) == "" || q.Get(name) == "0" {
				t.Errorf("the build has no limit %s: %v", name, q)
			}
		}
		if !strings.Contains(q.Get("ulimits"), "fsize") || q.Get("networkmode") == "none" {
			t.Errorf("got %v, want a limit on files, and a network", q)
		}
	})
	t.Run("HasNoNetworkOffline", func(t *testing.T) {
		t.Parallel()
		d, b := engineOf(t, "base")
		if err := prepare(t, d, "FROM base\nRUN true\n", computer.Build{Offline: true}); err != nil {
			t.Fatal(err)
		}
		if got := b.asked[0].Get("networkmode"); got != "none" {
			t.Errorf("the build's network: got %q, want none", got)
		}
		for text, says := range map[string]string{
			"FROM 10.0.0.5:5000/evil\n":           "not here",
			"FROM base\nADD http://10.0.0.5/ /\n": "ADD",
		} {
			if err := prepare(t, d, text, computer.Build{Offline: true}); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "--build-network") {
				t.Errorf("%q: got %v, want %q and how to allow it", text, err, says)
			}
		}
		if len(b.asked) != 1 {
			t.Errorf("%d builds, want one", len(b.asked))
		}
	})
	t.Run("EndsWhenTheDiskOfTheEngineFillsUp", func(t *testing.T) {
		t.Parallel()
		d, b := engineOf(t, "base")
		b.endless = true
		e, err := d.connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// Others write there, too, but not so much, until the build does.
		left := []int64{30 << 30, 30<<30 - buildDisk, 30<<30 - buildDisk - 1}
		e.look = time.Millisecond
		e.disk = func(dir string) (int64, bool) {
			if dir != "/engine" {
				t.Errorf("asked for the disk of %s, want the engine's", dir)
			}
			now := left[0]
			left = left[min(1, len(left)-1):]
			return now, true
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // an hour is what a build has else
		defer cancel()
		_, err = d.Prepare(ctx, computer.Spec{Dockerfile: []byte("FROM base\n")}, func(string) {})
		if err == nil || !strings.Contains(err.Error(), "20 GiB of the engine's disk") {
			t.Errorf("got %v, want that it took too much of the disk", err)
		}
		if len(left) != 1 {
			t.Errorf("it was ended with %v still to come", left)
		}
	})
	t.Run("LeavesNoImageThatIsTooLarge", func(t *testing.T) {
		t.Parallel()
		d, b := engineOf(t, "base")
		b.size = buildDisk + 1
		if err := prepare(t, d, "FROM base\n", computer.Build{}); err == nil || !strings.Contains(err.Error(), "install less") {
			t.Errorf("got %v", err)
		}
		if len(b.images) != 1 {
			t.Errorf("there is %q", b.images)
		}
	})
}

func kernelHere() string {
	data, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}
