package connector_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lyceum/internal/connector"
	"lyceum/internal/connector/webhook"
	"lyceum/internal/event"
	"lyceum/internal/ledger/sqlite"

	"github.com/go-json-experiment/json"
)

// The environment of a process that is killed.
const (
	childDir = "CONNECTOR_TEST_DIR"
	childURL = "CONNECTOR_TEST_URL"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := deliverAll(dir, os.Getenv(childURL)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

const (
	deliveries    = 500
	conversations = 20
	hookSecret    = "whsec_MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
)

// deliverAll is the process that is killed: it puts all deliveries into the outbox, those that
// are there already included, and sends them.
func deliverAll(dir, url string) error {
	st, err := sqlite.Open(filepath.Join(dir, "lyceum.db"), nil)
	if err != nil {
		return err
	}
	kind := webhook.Kind()
	d, err := kind.Make(connector.Settings{Name: "hook", Values: map[string]string{"url": url}, Secrets: map[string]string{"key": hookSecret}})
	if err != nil {
		return err
	}
	box := connector.Box{Notes: st, Clock: func() event.Time { return event.TimeOf(time.Now()) }}
	o := &connector.Office{Box: box, First: time.Millisecond, Look: 5 * time.Millisecond, Connectors: map[string]*connector.Connector{"hook": {Name: "hook", Driver: d}}}
	var work sync.WaitGroup
	for c := range conversations {
		work.Go(func() {
			for i := c; i < deliveries && err == nil; i += conversations {
				if e := box.Put(context.Background(), connector.Delivery{Key: fmt.Sprint("d", i), Connector: "hook", Conversation: fmt.Sprint("c", c), Quest: "q", Text: fmt.Sprint("text ", i)}); e != nil {
					fmt.Fprintln(os.Stderr, e)
					os.Exit(1)
				}
			}
		})
	}
	o.Run(context.Background(), filepath.Join(dir, "lock"))
	return nil
}

// lossy is a receiver that fails half of the time: it says so, hangs up, or takes what comes and
// says that it did not.
type lossy struct {
	mu     sync.Mutex
	n      int
	taken  []string
	texts  map[string]string
	signed bool
}

func (l *lossy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var said struct {
		Data struct {
			Text string `json:"text"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &said); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.n++
	l.signed = l.signed && strings.HasPrefix(r.Header.Get("webhook-signature"), "v1,")
	id := r.Header.Get("webhook-id")
	switch l.n % 6 {
	case 0:
		w.WriteHeader(http.StatusInternalServerError)
	case 2:
		panic(http.ErrAbortHandler)
	case 4:
		l.took(id, said.Data.Text)
		w.WriteHeader(http.StatusBadGateway)
	default:
		l.took(id, said.Data.Text)
	}
}

func (l *lossy) took(id, text string) {
	if _, ok := l.texts[id]; !ok {
		l.taken = append(l.taken, id)
	}
	l.texts[id] = text
}

func (l *lossy) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.taken)
}

// TestFiveHundredDeliveriesToAServerThatFailsHalf: none is lost, whatever is killed when, and each
// conversation hears in order.
func TestFiveHundredDeliveriesToAServerThatFailsHalf(t *testing.T) {
	t.Parallel()
	l := &lossy{texts: map[string]string{}, signed: true}
	server := httptest.NewServer(l)
	defer server.Close()
	dir := t.TempDir()
	kills := 0
	for l.count() < deliveries {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), childDir+"="+dir, childURL+"="+server.URL)
		child.Stderr = os.Stderr
		must(t, child.Start())
		goal := min(l.count()+25+kills%7, deliveries)
		until(t, fmt.Sprintf("%d are taken", goal), func() bool { return l.count() >= goal })
		must(t, child.Process.Kill())
		_ = child.Wait()
		kills++
	}
	if kills < 10 || l.n < deliveries*5/4 {
		t.Errorf("%d kills and %d requests: that shows little", kills, l.n)
	}
	at := map[string]int{}
	for _, id := range l.taken {
		var i int
		fmt.Sscanf(id, "d%d", &i)
		c := fmt.Sprint(i % conversations)
		if last, ok := at[c]; ok && i < last {
			t.Errorf("conversation %s heard %d after %d", c, i, last)
		}
		at[c] = i
		if want := fmt.Sprint("text ", i); l.texts[id] != want {
			t.Errorf("%s is %q, want %q", id, l.texts[id], want)
		}
	}
	if !l.signed {
		t.Error("a request had no signature")
	}
	t.Logf("%d deliveries, %d requests, %d kills", deliveries, l.n, kills)
}
