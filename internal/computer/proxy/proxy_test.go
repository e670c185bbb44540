package proxy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/need"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// names is a resolver that knows some names, and remembers what it was asked.
type names struct {
	mu    sync.Mutex
	known map[string][]string
	asked []string
}

func (n *names) LookupNetIP(_ context.Context, _, name string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked = append(n.asked, name)
	var found []netip.Addr
	for _, a := range n.known[name] {
		found = append(found, netip.MustParseAddr(a))
	}
	if found == nil {
		return nil, &net.DNSError{Name: name, Server: "10.99.99.99:53", IsNotFound: true, Err: "no such host"}
	}
	return found, nil
}

// world is a proxy with a port of its own, and its log.
type world struct {
	*Proxy
	addr    string
	entries chan computer.Connection
	names   *names
	end     func()
}

// serve gives a world in which a.test is on loopback, and allow decides.
func serve(t testing.TB, limits Limits, allow ...string) *world {
	t.Helper()
	w := &world{entries: make(chan computer.Connection, 1000), names: &names{known: map[string][]string{
		"a.test.": {"127.0.0.1"}, "b.test.": {"127.0.0.1"}, "private.test.": {"10.1.2.3", "::1"}, "mapped.test.": {"::ffff:127.0.0.1"}, "mixed.test.": {"169.254.169.254", "::ffff:127.0.0.1"}, "zoned.test.": {"fe80::1%lo"},
	}}}
	w.Proxy = &Proxy{Rules: parse(t, allow...), Log: func(c computer.Connection) { w.entries <- c }, Limits: limits, Resolver: w.names}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w.addr = l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() { w.Serve(ctx, c) })
		}
	})
	w.end = func() { cancel(); l.Close(); all.Wait() }
	t.Cleanup(w.end)
	return w
}

// entry is the next one of the log.
func (w *world) entry(t testing.TB) computer.Connection {
	t.Helper()
	select {
	case e := <-w.entries:
		return e
	case <-time.After(10 * time.Second):
		t.Fatal("no entry in the log")
		panic("unreachable")
	}
}

func (w *world) dial(t testing.TB) *net.TCPConn {
	t.Helper()
	c, err := net.Dial("tcp", w.addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	_ = c.SetDeadline(time.Now().Add(20 * time.Second))
	return c.(*net.TCPConn)
}

// say sends bytes and gives all that comes back.
func (w *world) say(t testing.TB, text string) string {
	t.Helper()
	c := w.dial(t)
	go func() { _, _ = io.WriteString(c, text) }()
	got, err := io.ReadAll(c)
	if ne := net.Error(nil); errors.As(err, &ne) && ne.Timeout() {
		t.Fatalf("no end after %q", got)
	}
	return string(got)
}

func (w *world) client(t testing.TB, scheme string, server *httptest.Server) *http.Client {
	t.Helper()
	tr := &http.Transport{Proxy: http.ProxyURL(&url.URL{Scheme: scheme, Host: w.addr})}
	if server != nil && server.TLS != nil {
		tr.TLSClientConfig = server.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
		tr.TLSClientConfig.InsecureSkipVerify = true
	}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func get(c *http.Client, url string) (int, string, error) {
	resp, err := c.Get(url)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body), err
}

// echo tells what arrived.
func echo(t testing.TB, secure bool) (server *httptest.Server, port string) {
	t.Helper()
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s host=%s header=%v body=%d", r.Method, r.URL, r.Host, r.Header, len(body))
	})
	server = httptest.NewUnstartedServer(h)
	server.Config.ErrorLog = quiet()
	if secure {
		server.StartTLS()
	} else {
		server.Start()
	}
	t.Cleanup(server.Close)
	return server, strconv.Itoa(server.Listener.Addr().(*net.TCPAddr).Port)
}

func TestGoClient(t *testing.T) {
	t.Parallel()
	for _, scheme := range []string{"http", "socks5h"} {
		for _, secure := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/secure=%v", scheme, secure), func(t *testing.T) {
				t.Parallel()
				server, port := echo(t, secure)
				w := serve(t, Limits{}, "a.test:"+port, "127.0.0.1:"+port)
				client := w.client(t, scheme, server)
				base := strings.Replace(server.URL, "127.0.0.1", "a.test", 1)
				for range 2 {
					status, body, err := get(client, base+"/x?y")
					if err != nil || status != 200 || !strings.HasPrefix(body, "GET /x?y host=a.test:"+port) {
						t.Fatalf("a request through the proxy: got %d %q %v, want it echoed", status, body, err)
					}
				}
				big := bytes.Repeat([]byte("x"), 3<<20)
				resp, err := client.Post(base, "text/plain", bytes.NewReader(big))
				if err != nil {
					t.Fatal(err)
				}
				body, _ := io.ReadAll(resp.Body)
				resp.Body.Close()
				if !strings.HasSuffix(string(body), "body=3145728") {
					t.Errorf("a large body: got %q, want all of it", body)
				}
				client.CloseIdleConnections()
				e := w.entry(t)
				if e.Host != "a.test" || strconv.Itoa(e.Port) != port || e.Address != "127.0.0.1:"+port || e.Refused != "" || e.Sent < 50 || e.Received < 50 || e.Duration <= 0 {
					t.Errorf("the log of a request: got %+v", e)
				}
			})
		}
	}
}

func TestRefusesWhatIsNotListed(t *testing.T) {
	t.Parallel()
	_, port := echo(t, false)
	w := serve(t, Limits{}, "a.test:"+port, "private.test:"+port, "mapped.test:"+port, "zoned.test:"+port)
	for _, host := range []string{"b.test", "127.0.0.1", "[::1]", "localhost", "a.test.b.test", "2130706433", "127.1", "a.test", "private.test", "mapped.test", "zoned.test"} {
		for _, request := range []string{"CONNECT %s:%s HTTP/1.1\r\n\r\n", "GET http://%s:%s/ HTTP/1.1\r\nHost: a.test\r\n\r\n"} {
			got := w.say(t, fmt.Sprintf(request, host, port))
			if !strings.HasPrefix(got, "HTTP/1.1 403 Refused by network.allow of the quest\r\n") || !strings.Contains(got, "port "+port+" is refused: ") || !strings.Contains(got, "network.allow of the quest.\n") {
				t.Errorf("a host that is not allowed, %s: %q", host, got)
			}
			if e := w.entry(t); e.Refused == "" || e.Address != "" || e.Host != strings.Trim(host, "[]") || e.Sent != 0 {
				t.Errorf("the log of a refusal, %s: %+v", host, e)
			}
		}
	}
	slices.Sort(w.names.asked)
	if asked := slices.Compact(w.names.asked); !slices.Equal(asked, []string{"a.test.", "mapped.test.", "private.test.", "zoned.test."}) {
		t.Errorf("names were looked up that are not listed: %q", asked)
	}
}

func TestTheSocketChecksItsAddress(t *testing.T) {
	t.Parallel()
	server, port := echo(t, false)
	w := serve(t, Limits{}, "a.test:"+port)
	target := netip.MustParseAddrPort(server.Listener.Addr().String())
	if c, err := w.Proxy.dial(t.Context(), host{name: "a.test"}, target, time.Second); err == nil {
		c.Close()
		t.Fatal("loopback was connected to")
	} else if _, ok := err.(*Refused); !ok {
		t.Fatalf("the error of a refused host: got %T %v, want *Refused", err, err)
	}
	w.Rules = parse(t, "a.test:"+port, "127.0.0.0/8:"+port)
	c, err := w.Proxy.dial(t.Context(), host{name: "a.test"}, target, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

func TestOfSeveralAddressesOnlyTheListedOnesAreUsed(t *testing.T) {
	t.Parallel()
	server, port := echo(t, false)
	w := serve(t, Limits{}, "mixed.test:"+port, "127.0.0.1:"+port)
	status, body, err := get(w.client(t, "http", server), "http://mixed.test:"+port)
	if e := w.entry(t); err != nil || status != 200 || e.Address != "127.0.0.1:"+port {
		t.Errorf("a host by its address: got %d %q %v %+v", status, body, err, e)
	}
	if len(w.names.asked) != 1 {
		t.Errorf("looked up %d times", len(w.names.asked))
	}
}

func TestUnreachableSaysWhyAndNothingOfThisHost(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	w := serve(t, Limits{}, "a.test:"+port, "none.test:"+port, "127.0.0.1:"+port)
	for request, want := range map[string]string{
		"CONNECT a.test:" + port + " HTTP/1.1\r\n\r\n":         "connection refused",
		"GET http://none.test:" + port + "/ HTTP/1.1\r\n\r\n":  "there is no such name",
		"CONNECT none.test:" + port + " HTTP/1.0\r\n\r\n":      "there is no such name",
		"HEAD http://127.0.0.1:" + port + "/ HTTP/1.1\r\n\r\n": "",
	} {
		got := w.say(t, request)
		if !strings.HasPrefix(got, "HTTP/1.1 502 ") || !strings.Contains(got, want) || strings.Contains(got, "99") {
			t.Errorf("a server that cannot be reached: got %q, want 502 and why", got)
		}
		if e := w.entry(t); e.Refused == "" || e.Address != "" {
			t.Errorf("the log of a server that cannot be reached: got %+v", e)
		}
	}
	got := w.say(t, "\x05\x01\x00\x05\x01\x00\x03\x06a.test"+portBytes(t, port))
	if !strings.HasPrefix(got, "\x05\x00\x05\x04") {
		t.Errorf("a server that cannot be reached, by SOCKS: got %q, want host unreachable", got)
	}
}

func portBytes(t testing.TB, port string) string {
	t.Helper()
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return string([]byte{byte(n >> 8), byte(n)})
}

func TestSOCKS(t *testing.T) {
	t.Parallel()
	_, port := echo(t, false)
	w := serve(t, Limits{}, "a.test:"+port, "127.0.0.1:"+port)
	p := portBytes(t, port)
	ask := "GET / HTTP/1.0\r\n\r\n"
	for name, c := range map[string]struct{ say, want string }{
		"a name":              {"\x05\x01\x00\x05\x01\x00\x03\x06a.test" + p + ask, "\x05\x00\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00HTTP/1.0 200"},
		"an address":          {"\x05\x02\x02\x00\x05\x01\x00\x01\x7f\x00\x00\x01" + p + ask, "\x05\x00\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00HTTP/1.0 200"},
		"an address, as name": {"\x05\x01\x00\x05\x01\x00\x03\x09127.0.0.1" + p + ask, "\x05\x00\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00HTTP/1.0 200"},
		"a mapped address":    {"\x05\x01\x00\x05\x01\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x7f\x00\x00\x01" + p + ask, "\x05\x00\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00HTTP/1.0 200"},
		"refused name":        {"\x05\x01\x00\x05\x01\x00\x03\x06b.test" + p, "\x05\x00\x05\x02"},
		"refused address":     {"\x05\x01\x00\x05\x01\x00\x01\x7f\x00\x00\x02" + p, "\x05\x00\x05\x02"},
		"refused IPv6":        {"\x05\x01\x00\x05\x01\x00\x04" + strings.Repeat("\x00", 15) + "\x01" + p, "\x05\x00\x05\x02"},
		"refused port":        {"\x05\x01\x00\x05\x01\x00\x03\x06a.test\x00\x16", "\x05\x00\x05\x02"},
		"port 0":              {"\x05\x01\x00\x05\x01\x00\x03\x06a.test\x00\x00", "\x05\x00\x05\x02"},
		"empty name":          {"\x05\x01\x00\x05\x01\x00\x03\x00" + p, "\x05\x00\x05\x02"},
		"name with NUL":       {"\x05\x01\x00\x05\x01\x00\x03\x07a.test\x00" + p, "\x05\x00\x05\x02"},
		"BIND":                {"\x05\x01\x00\x05\x02\x00\x03\x06a.test" + p, "\x05\x00\x05\x07"},
		"UDP":                 {"\x05\x01\x00\x05\x03\x00\x03\x06a.test" + p, "\x05\x00\x05\x07"},
		"unknown address":     {"\x05\x01\x00\x05\x01\x00\x09\x06a.test" + p, "\x05\x00\x05\x08"},
		"password only":       {"\x05\x01\x02", "\x05\xff"},
		"no methods":          {"\x05\x00", "\x05\xff"},
		"other version after": {"\x05\x01\x00\x04\x01\x00\x03\x06a.test" + p, "\x05\x00"},
	} {
		c1 := w.dial(t)
		_, _ = io.WriteString(c1, c.say)
		got, _ := io.ReadAll(c1)
		c1.Close()
		e := w.entry(t)
		if !strings.HasPrefix(string(got), c.want) || strings.HasSuffix(c.want, "200") != (e.Refused == "") || clean(e.Host) != e.Host {
			t.Errorf("%s: %q, want %q, %+v", name, got, c.want, e)
		}
	}
}

func TestCurl(t *testing.T) {
	t.Parallel()
	curl := need.Program(t, "curl")
	_, plainPort := echo(t, false)
	_, securePort := echo(t, true)
	w := serve(t, Limits{}, "a.test:"+plainPort, "a.test:"+securePort, "127.0.0.1:"+plainPort, "127.0.0.1:"+securePort)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-x", "http://" + w.addr, "http://a.test:" + plainPort + "/p"}, "GET /p host=a.test"},
		{[]string{"-x", "http://" + w.addr, "http://a.test:" + plainPort + "/p", "http://a.test:" + plainPort + "/q"}, "GET /q host=a.test"},
		{[]string{"-x", "http://" + w.addr, "-p", "http://a.test:" + plainPort + "/p"}, "GET /p host=a.test"},
		{[]string{"-x", "http://" + w.addr, "-T", "proxy.go", "-H", "Expect: 100-continue", "http://a.test:" + plainPort + "/p"}, "PUT /p host=a.test"},
		{[]string{"-x", "http://" + w.addr, "-I", "http://a.test:" + plainPort + "/p"}, "200 OK"},
		{[]string{"-x", "http://" + w.addr, "-k", "https://a.test:" + securePort + "/s"}, "GET /s host=a.test"},
		{[]string{"-x", "http://" + w.addr, "-k", "https://127.0.0.1:" + securePort + "/s"}, "GET /s host=127.0.0.1"},
		{[]string{"--socks5-hostname", w.addr, "http://a.test:" + plainPort + "/p"}, "GET /p host=a.test"},
		{[]string{"--socks5-hostname", w.addr, "-k", "https://a.test:" + securePort + "/s"}, "GET /s host=a.test"},
		{[]string{"-x", "socks5h://" + w.addr, "-k", "https://a.test:" + securePort + "/s"}, "GET /s host=a.test"},
		{[]string{"-x", "http://" + w.addr, "http://b.test:" + plainPort}, "b.test port " + plainPort + " is refused: it is not listed"},
		{[]string{"-x", "http://" + w.addr, "-k", "https://b.test:" + securePort}, "response 403"},
		{[]string{"--socks5-hostname", w.addr, "http://b.test:" + plainPort}, "(2)"},
		{[]string{"-x", "http://" + w.addr, "-k", "--connect-to", "b.test:" + securePort + ":a.test:" + securePort, "https://b.test:" + securePort}, "unrecognized name"},
	} {
		out, _ := exec.CommandContext(t.Context(), curl, append([]string{"-sS", "-q", "--noproxy", "", "--max-time", "20"}, c.args...)...).CombinedOutput()
		if !strings.Contains(string(out), c.want) {
			t.Errorf("curl %q: %q, want %q", c.args, out, c.want)
		}
	}
}
