package s3

import (
	"bytes"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/blob/blobtest"
	"lyceum/internal/blob/s3/s3test"
	"lyceum/internal/event"
)

// relay stands before a store. Its fault comes first to each request, and says whether the
// request goes on.
type relay struct {
	*httptest.Server
	seen   atomic.Int64
	faulty atomic.Pointer[func(w http.ResponseWriter, r *http.Request) bool]
}

func newRelay(t *testing.T, server *s3test.Server, start func(http.Handler) *httptest.Server, change func(*http.Response) error) *relay {
	t.Helper()
	to, err := url.Parse(server.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	on := &httputil.ReverseProxy{
		// The host stays: it is signed.
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host
			r.Out.Host = r.In.Host
		},
		ModifyResponse: change,
		Transport:      &http.Transport{DisableKeepAlives: true, DisableCompression: true},
	}
	r := &relay{}
	r.Server = start(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.seen.Add(1)
		if f := r.faulty.Load(); f == nil || (*f)(w, req) {
			on.ServeHTTP(w, req)
		}
	}))
	t.Cleanup(r.Close)
	return r
}

// next has the next requests answered by do, as many as are given.
func (r *relay) next(n int64, do func(w http.ResponseWriter, req *http.Request)) {
	var count atomic.Int64
	f := func(w http.ResponseWriter, req *http.Request) bool {
		if count.Add(1) > n {
			return true
		}
		do(w, req)
		return false
	}
	r.seen.Store(0)
	r.faulty.Store(&f)
}

func (r *relay) options(space string) Options {
	return Options{Endpoint: r.URL, Bucket: s3test.Bucket, Space: space, PathStyle: true}
}

func TestWhatPassesIsTriedAgainAndWhatDoesNotIsNot(t *testing.T) {
	t.Parallel()
	r := newRelay(t, s3test.Start(t, s3test.Strict), httptest.NewServer, nil)
	s := mustOpen(t, r.options("faults"))
	status := func(code int) func(http.ResponseWriter, *http.Request) {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	cut := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	n := 0
	for name, do := range map[string]func(http.ResponseWriter, *http.Request){"500": status(500), "503": status(503), "429": status(429), "a line that is cut": cut} {
		n++
		data := blobtest.Bytes(1000+n, 1)
		r.next(3, do)
		ref, err := s.Put(t.Context(), data)
		if err != nil {
			t.Fatalf("put through three times %s: %v", name, err)
		}
		r.next(3, do)
		if got, err := s.Get(t.Context(), ref.Hash); err != nil || !bytes.Equal(got, data) {
			t.Errorf("get through three times %s: %d bytes, %v", name, len(got), err)
		}
	}
	for _, code := range []int{400, 403, 405} {
		r.next(100, status(code))
		if _, err := s.Put(t.Context(), []byte("refused")); err == nil || r.seen.Load() != 1 {
			t.Errorf("put that is answered with %d: %v after %d requests, want the error after one", code, err, r.seen.Load())
		}
	}
	hasty := *s
	hasty.opts.Patience = time.Second
	r.next(1000, status(503))
	begun := time.Now()
	if _, err := hasty.Put(t.Context(), []byte("never")); err == nil || time.Since(begun) > 20*time.Second {
		t.Errorf("put to a store that is never well: %v after %v, want an error when patience is over", err, time.Since(begun))
	}
}

func TestAPutThatLandedBeforeTheLineWasCutIsOneBlob(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, server *s3test.Server) {
		var cuts atomic.Int64
		r := newRelay(t, server, httptest.NewServer, func(resp *http.Response) error {
			if resp.Request.Method == http.MethodPut && cuts.Add(1) == 1 {
				return errors.New("cut") // the store has it, and the answer is lost
			}
			return nil
		})
		r.Config.ErrorLog = nil
		s := mustOpen(t, r.options("landed"))
		var spent int64
		ctx := blob.WithSpend(t.Context(), func(n int64) error { spent += n; return nil })
		if _, err := s.Put(ctx, []byte("once")); err != nil {
			t.Fatal(err)
		}
		if spent != blob.Block {
			t.Errorf("a put whose first answer was lost: charged %d, want a block", spent)
		}
		expectBytes(t, s, []byte("once"))
	})
}

func expectBytes(t *testing.T, s *Store, data []byte) {
	t.Helper()
	if got, err := s.Get(t.Context(), event.HashOf(data)); err != nil || !bytes.Equal(got, data) {
		t.Errorf("get: %d bytes, %v, want the %d that were put", len(got), err, len(data))
	}
}

func TestReadingGoesOnWhereTheLineWasCut(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, server *s3test.Server) {
		var ranges atomic.Int64
		r := newRelay(t, server, httptest.NewServer, func(resp *http.Response) error {
			if resp.Request.Method == http.MethodGet && strings.HasPrefix(resp.Request.Header.Get("Range"), "bytes=") {
				ranges.Add(1)
			} else if resp.Request.Method == http.MethodGet && resp.ContentLength > 1<<20 {
				resp.Body = &torn{resp.Body, 700_000}
			}
			return nil
		})
		s := mustOpen(t, r.options("torn"))
		data := blobtest.Bytes(2<<20, 5)
		if _, err := s.Put(t.Context(), data); err != nil {
			t.Fatal(err)
		}
		expectBytes(t, s, data)
		if ranges.Load() != 1 {
			t.Errorf("reading went on by %d requests for the rest, want one", ranges.Load())
		}
	})
}

// torn ends with an error after some bytes.
type torn struct {
	body interface {
		Read([]byte) (int, error)
		Close() error
	}
	left int
}

func (b *torn) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errors.New("torn")
	}
	n, err := b.body.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

func (b *torn) Close() error { return b.body.Close() }

func TestAStoreThatDoesNotConfirmItsEncryptionIsRefused(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t, s3test.Strict)
	for _, how := range []string{"s3", "kms:a-key"} {
		opts := at(server, "encrypted")
		opts.Encrypt = how
		if _, err := Open(t.Context(), opts); err == nil || !strings.Contains(err.Error(), "does not confirm that it encrypts") {
			t.Errorf("encrypt=%s with a store that does not: %v, want that it is refused", how, err)
		}
	}
	r := newRelay(t, server, httptest.NewServer, func(resp *http.Response) error {
		if how := resp.Request.Header.Get("X-Amz-Server-Side-Encryption"); how != "" {
			resp.Header.Set("X-Amz-Server-Side-Encryption", how)
		}
		return nil
	})
	opts := r.options("encrypted")
	opts.Encrypt = "s3"
	s := mustOpen(t, opts)
	if _, err := s.Put(t.Context(), []byte("kept")); err != nil {
		t.Errorf("put to a store that confirms: %v", err)
	}
	left, err := os.ReadDir(filepath.Join(server.Dir, s3test.Bucket, "encrypted", "probe"))
	if err == nil && len(left) > 0 {
		t.Errorf("trying the store out left %d objects there", len(left))
	}
}

func TestAStoreWithACertificateOfOnesOwn(t *testing.T) {
	t.Parallel()
	r := newRelay(t, s3test.Start(t, s3test.Strict), httptest.NewTLSServer, nil)
	r.Config.ErrorLog = nil
	if _, err := Open(t.Context(), r.options("tls")); err == nil || !strings.Contains(err.Error(), "ca=/file.pem") {
		t.Errorf("a certificate that nobody knows: %v, want that ca is told", err)
	}
	opts := r.options("tls")
	opts.CA = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(opts.CA, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	s := mustOpen(t, opts)
	if _, err := s.Put(t.Context(), []byte("by TLS")); err != nil {
		t.Fatal(err)
	}
	expectBytes(t, s, []byte("by TLS"))
}

func TestOpenSaysWhatToDoNext(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, server *s3test.Server) {
		page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>a page</html>")) }))
		defer page.Close()
		for name, c := range map[string]struct {
			change func(*Options)
			want   string
		}{
			"no bucket":             {func(o *Options) { o.Bucket = "another" }, "there is no such bucket; make it"},
			"wrong secret":          {func(o *Options) { o.Credentials = "file" }, "the credentials are not the store's; check AWS_ACCESS_KEY_ID"},
			"nobody listens":        {func(o *Options) { o.Endpoint = "http://127.0.0.1:1"; o.Patience = time.Second }, "no store answers there; check that it runs"},
			"https of http":         {func(o *Options) { o.Endpoint = strings.Replace(o.Endpoint, "http:", "https:", 1) }, "check the endpoint: its name, http or https"},
			"a page":                {func(o *Options) { o.Endpoint = page.URL; o.Patience = time.Second }, "what answers there is no store; check the endpoint"},
			"no address":            {func(o *Options) { o.Endpoint = "somewhere" }, "write it as https://host"},
			"no such credentials":   {func(o *Options) { o.Credentials = "keys" }, "write environment, file, web or instance"},
			"no token":              {func(o *Options) { o.Credentials = "web" }, "AWS_WEB_IDENTITY_TOKEN_FILE"},
			"no certificates there": {func(o *Options) { o.CA = "/nowhere/ca.pem" }, "(ca)"},
			"no such space":         {func(o *Options) { o.Space = "A/b" }, "take 3 to 63 small letters"},
		} {
			opts := at(server, "errors")
			c.change(&opts)
			_, err := Open(t.Context(), opts)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
			if err != nil && (strings.Contains(err.Error(), s3test.Secret) || strings.Contains(err.Error(), "not-this-one")) {
				t.Errorf("%s: the error has a secret in it: %v", name, err)
			}
		}
	})
}

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := Parse("s3://bucket/team-a?endpoint=http://127.0.0.1:9000&region=eu-west-1&path=true&ca=/ca.pem&encrypt=kms:key&credentials=file")
	want := Options{Endpoint: "http://127.0.0.1:9000", Region: "eu-west-1", Bucket: "bucket", Space: "team-a", PathStyle: true, CA: "/ca.pem", Encrypt: "kms:key", Credentials: "file",
		Grace: Grace, Unfinished: unfinished, Patience: time.Minute}
	if err != nil || got != want {
		t.Errorf("parsed %+v, %v, want %+v", got, err, want)
	}
	if got, err := Parse("s3://bucket"); err != nil || got.Space != "lyceum" || got.Endpoint != "https://s3.amazonaws.com" || got.Region != "us-east-1" {
		t.Errorf("parsed %+v, %v, want Amazon's with the space lyceum", got, err)
	}
	for address, want := range map[string]string{
		"s3://key:secret@bucket":  "AWS_ACCESS_KEY_ID",
		"https://host/bucket":     "write s3://bucket/space",
		"s3:///space":             "write s3://bucket/space",
		"s3://bucket?pathstyle=1": "it can have endpoint",
		"s3://bucket?path=1":      "write true or false",
		"s3://bucket?encrypt=aes": "write s3, or kms:",
		"s3://bucket/a/b":         "take 3 to 63 small letters",
		"s3://%zz":                "write it as s3://",
	} {
		_, err := Parse(address)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret@") {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}
