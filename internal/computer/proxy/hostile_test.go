package proxy

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lyceum/internal/computer"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

// raw is a server that shows what it got, to the byte, and answers with reply.
func raw(t testing.TB, reply string) (port string, got chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	got = make(chan string, 100)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer c.Close()
				r := bufio.NewReader(c)
				if reply != speaksFirst {
					_, _ = r.Peek(1)
				}
				_, _ = io.WriteString(c, reply)
				_ = c.(*net.TCPConn).CloseWrite()
				text, _ := io.ReadAll(r)
				got <- string(text)
			})
		}
	})
	t.Cleanup(func() { l.Close(); all.Wait() })
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port, got
}

const speaksFirst = "the server speaks first"

const noContent = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

func TestInvalidRequests(t *testing.T) {
	t.Parallel()
	w := serve(t, Limits{HeaderBytes: 8 << 10, Refusal: time.Nanosecond}, "a.test")
	for say, want := range map[string]string{
		"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n":                                                          "400",
		"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nHost: b.test\r\n\r\n":                             "400",
		"GET * HTTP/1.1\r\n\r\n":                                                                          "400",
		"OPTIONS * HTTP/1.1\r\nHost: a.test\r\n\r\n":                                                      "400",
		"GET https://a.test/ HTTP/1.1\r\n\r\n":                                                            "400",
		"GET ftp://a.test/ HTTP/1.1\r\n\r\n":                                                              "400",
		"GET http:a.test HTTP/1.1\r\n\r\n":                                                                "400",
		"GET http:///a.test HTTP/1.1\r\n\r\n":                                                             "400",
		"GET //a.test/ HTTP/1.1\r\n\r\n":                                                                  "400",
		"GET http://u:p@a.test/ HTTP/1.1\r\n\r\n":                                                         "400",
		"GET http://a.test:99999/ HTTP/1.1\r\n\r\n":                                                       "400",
		"GET http://a.test:0/ HTTP/1.1\r\n\r\n":                                                           "400",
		"GET http://a.test:80:80/ HTTP/1.1\r\n\r\n":                                                       "400",
		"GET http://[a.test]/ HTTP/1.1\r\n\r\n":                                                           "400",
		"GET http://b.test\\@a.test/ HTTP/1.1\r\n\r\n":                                                    "400",
		"GET http://b.test#@a.test/ HTTP/1.1\r\n\r\n":                                                     "400",
		"GET http://b.test?@a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n":                                     "403",
		"GET http://[fe80::1%25lo]/ HTTP/1.1\r\n\r\n":                                                     "403",
		"GET http://a.test%2eb.test/ HTTP/1.1\r\n\r\n":                                                    "400",
		"CONNECT a.test HTTP/1.1\r\n\r\n":                                                                 "400",
		"CONNECT a.test: HTTP/1.1\r\n\r\n":                                                                "400",
		"CONNECT :443 HTTP/1.1\r\n\r\n":                                                                   "403",
		"CONNECT / HTTP/1.1\r\n\r\n":                                                                      "400",
		"CONNECT /a.test:443 HTTP/1.1\r\n\r\n":                                                            "403",
		"CONNECT http://a.test:443 HTTP/1.1\r\n\r\n":                                                      "400",
		"CONNECT u@a.test:443 HTTP/1.1\r\n\r\n":                                                           "403",
		"CONNECT a.test:443 HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc":                                     "400",
		"CONNECT a.test:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n":                      "400",
		"CONNECT a.test:0443 HTTP/1.1\r\n\r\n":                                                            "400",
		"CONNECT a.test:443,b.test:443 HTTP/1.1\r\n\r\n":                                                  "400",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n":                                                                "505",
		"GET http://a.test/ HTTP/3.0\r\n\r\n":                                                             "505",
		"GET http://a.test/\r\n\r\n":                                                                      "400",
		"\r\n\r\n":                                                                                        "400",
		"GET http://a.test/ HTTP/1.1\r\nA b: c\r\n\r\n":                                                   "400",
		"GET http://a.test/ HTTP/1.1\r\nHost : c\r\n\r\n":                                                 "400",
		"GET http://a.test/ HTTP/1.1\r\n folded: c\r\n\r\n":                                               "400",
		"POST http://a.test/ HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd":              "400",
		"POST http://a.test/ HTTP/1.1\r\nContent-Length: -3\r\n\r\n":                                      "400",
		"POST http://a.test/ HTTP/1.1\r\nContent-Length: +3\r\n\r\nabc":                                   "400",
		"POST http://a.test/ HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n":               "400",
		"POST http://a.test/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n\r\n0\r\n": "400",
		"POST http://a.test/ HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n":                    "400",
		"\x16\x03\x01\x00\x05hello\r\n\r\n":                                                               "400",
		"\x04\x01\x00\x50\x7f\x00\x00\x01\x00\n\n":                                                        "400",
		"GET http://a.test/" + strings.Repeat("a", 9<<10) + " HTTP/1.1\r\n\r\n":                           "431",
		"GET http://a.test/ HTTP/1.1\r\nA: " + strings.Repeat("a", 1<<20) + "\r\n\r\n":                    "431",
		"GET http://a.test/ HTTP/1.1\r\n" + strings.Repeat("A: b\r\n", 1<<16) + "\r\n":                    "431",
		strings.Repeat("\x00", 100<<10):                                                                   "431",
	} {
		got := w.say(t, say)
		e := w.entry(t)
		if !strings.HasPrefix(got, "HTTP/1.1 "+want) || e.Refused == "" || e.Address != "" || len(e.Host) > 255 || clean(e.Host) != e.Host || clean(e.Refused) != e.Refused {
			t.Errorf("%q\n  gets %q\n  want %s, log %+v", clean(say), got, want, e)
		}
	}
	if len(w.names.asked) != 0 {
		t.Errorf("looked up %q", w.names.asked)
	}
}

func TestGarbageEndsAndLeavesTheProxyWell(t *testing.T) {
	t.Parallel()
	server, port := echo(t, false)
	w := serve(t, Limits{Refusal: time.Nanosecond}, "a.test:"+port, "127.0.0.1:"+port)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 200 {
		b := make([]byte, random.IntN(600))
		for j := range b {
			b[j] = byte(random.Uint32())
		}
		if i%3 == 0 {
			b = append([]byte{5, 1, 0, 5}, b...)
		}
		c := w.dial(t)
		_, _ = c.Write(b)
		_ = c.CloseWrite()
		_, _ = io.Copy(io.Discard, c)
		c.Close()
	}
	if status, _, err := get(w.client(t, "http", server), "http://a.test:"+port); status != 200 {
		t.Errorf("after the attack: got status %v, %v, want 200", status, err)
	}
}

func TestARequestIsWrittenAnew(t *testing.T) {
	t.Parallel()
	port, got := raw(t, noContent)
	w := serve(t, Limits{}, "a.test:"+port, "127.0.0.1:"+port)
	for say, want := range map[string]string{
		"GET http://A.test:P/x?q HTTP/1.1\r\nHost: evil\r\nProxy-Connection: keep-alive\r\nProxy-Authorization: secret\r\nConnection: X-Mine, close\r\nX-Mine: 1\r\nUpgrade: h2c\r\nTE: trailers\r\nKeep-Alive: 1\r\nCookie: c\r\n\r\n": "GET /x?q HTTP/1.1\r\nHost: A.test:P\r\nConnection: close\r\nCookie: c\r\n\r\n",
		// Both lengths: chunks win, and the length is gone.
		"POST http://a.test:P/ HTTP/1.1\r\nContent-Length: 44\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET http://a.test:P/smuggled HTTP/1.1\r\n\r\n": "POST / HTTP/1.1\r\nHost: a.test:P\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n0\r\n\r\n",
		"POST http://a.test:P/ HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcGET http://a.test:P/smuggled HTTP/1.1\r\n\r\n":                                      "POST / HTTP/1.1\r\nHost: a.test:P\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc",
		"POST http://a.test:P/ HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\nabc":                                                              "POST / HTTP/1.1\r\nHost: a.test:P\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc",
		"GET http://a.test:P/ HTTP/1.1\nX: bare\nConnection: close\n\n":                                                                                    "GET / HTTP/1.1\r\nHost: a.test:P\r\nConnection: close\r\nX: bare\r\n\r\n",
		"GET http://a.test:P/%0d%0aX:%20y HTTP/1.0\r\n\r\n":                                                                                                "GET /%0d%0aX:%20y HTTP/1.1\r\nHost: a.test:P\r\nConnection: close\r\n\r\n",
	} {
		answer := w.say(t, strings.ReplaceAll(say, ":P", ":"+port))
		if !strings.HasPrefix(answer, "HTTP/1.1 200") && !strings.HasPrefix(answer, "HTTP/1.0 200") {
			t.Fatalf("%q gets %q", say, answer)
		}
		text := strings.ReplaceAll(<-got, ":"+port, ":P")
		if text != want || strings.Count(answer, "200 OK") != 1 {
			t.Errorf("sent %q\n got %q\nwant %q\nanswer %q", say, text, want, answer)
		}
	}
	if len(got) != 0 {
		t.Errorf("a request was smuggled: %q", <-got)
	}
}

func TestEachRequestIsCheckedAnew(t *testing.T) {
	t.Parallel()
	port, got := raw(t, noContent)
	w := serve(t, Limits{}, "a.test:"+port, "127.0.0.1:"+port)
	one := "GET http://a.test:" + port + "/ HTTP/1.1\r\n\r\n"
	answer := w.say(t, one+one+"GET http://b.test:"+port+"/ HTTP/1.1\r\nHost: a.test\r\n\r\n"+one)
	if strings.Count(answer, "HTTP/1.1 200 OK") != 2 || strings.Count(answer, "HTTP/1.1 403") != 1 || strings.Count(answer, "HTTP/1.1") != 3 {
		t.Errorf("three requests on one connection: got %q, want two answered and one refused", answer)
	}
	for _, want := range []string{"a.test", "a.test", "b.test"} {
		if e := w.entry(t); e.Host != want || (e.Refused == "") != (want == "a.test") {
			t.Errorf("the log of each request: got %+v", e)
		}
	}
	<-got
	<-got
	if len(got) != 0 {
		t.Error("the refused request went out")
	}
}

func TestAnswersOfHostileServers(t *testing.T) {
	t.Parallel()
	for reply, want := range map[string]string{
		"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nxxx": "502",
		"garbage\r\n\r\n": "502",
		"":                "502",
		"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("a", 100<<10) + "\r\n\r\n":                                                                    "502",
		"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab":                                                                   "502",
		"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: X-Mine\r\nX-Mine: 1\r\nProxy-Authenticate: Basic\r\n\r\nabHTTP/1.1 200 OK\r\n\r\n": "200 OK\r\nContent-Length: 2\r\n\r\nab",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n":                                                                          "204",
		"HTTP/1.0 200 OK\r\n\r\nuntil the end":                                                                                                  "200 OK\r\nConnection: close\r\n\r\nuntil the end",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n":                                                            "200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
		// Cut short: what comes must not look whole.
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n": "200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
	} {
		port, _ := raw(t, reply)
		w := serve(t, Limits{}, "a.test:"+port, "127.0.0.1:"+port)
		c := w.dial(t)
		_, _ = io.WriteString(c, "GET http://a.test:"+port+"/ HTTP/1.1\r\n\r\n")
		_ = c.CloseWrite() // a client that has said all still gets its answer
		got, _ := io.ReadAll(c)
		exact := strings.Contains(want, "\r\n")
		if text := strings.TrimPrefix(string(got), "HTTP/1.1 "); exact && text != want || !strings.HasPrefix(text, want) {
			t.Errorf("%q\n gives %q\n  want %q", reply[:min(len(reply), 90)], got, want)
		}
		if e := w.entry(t); e.Address == "" {
			t.Errorf("the log: got %+v, want an address", e)
		}
	}
}

func TestAnAnswerBeforeTheBodyIsThereEndsTheConnection(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			_, _ = http.ReadRequest(bufio.NewReader(c))
			_, _ = io.WriteString(c, "HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno")
			_, _ = io.Copy(io.Discard, c)
			c.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	w := serve(t, Limits{}, "a.test:"+port, "127.0.0.1:"+port)
	got := w.say(t, "POST http://a.test:"+port+"/ HTTP/1.1\r\nContent-Length: 1000000\r\n\r\nonly this")
	if got != "HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno" {
		t.Errorf("a server that answers before it has read: got %q, want its answer", got)
	}
	w.entry(t)
}

func TestATunnelCanBeHalfClosed(t *testing.T) {
	t.Parallel()
	port, got := raw(t, speaksFirst)
	w := serve(t, Limits{}, "a.test:"+port, "127.0.0.1:"+port)
	c := w.dial(t)
	fmt.Fprintf(c, "CONNECT a.test:%s HTTP/1.1\r\n\r\nearly", port)
	text, err := io.ReadAll(c) // the server's half is over; ours is not
	if err != nil || string(text) != "HTTP/1.1 200 Connection established\r\n\r\nthe server speaks first" {
		t.Fatalf("a server that speaks first: got %q %v", text, err)
	}
	_, _ = io.WriteString(c, " and late")
	_ = c.CloseWrite()
	if text := <-got; text != "early and late" {
		t.Errorf("what reached the server: got %q, want early and late", text)
	}
	if e := w.entry(t); e.Sent != 14 || e.Received != 23 {
		t.Errorf("the log counts: got %+v, want 14 sent and 23 received", e)
	}
}

// hello is what a client of TLS says first.
func hello(t testing.TB, name string) []byte {
	t.Helper()
	ours, theirs := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = tls.Client(theirs, &tls.Config{ServerName: name, InsecureSkipVerify: true}).Handshake()
	}()
	b := make([]byte, 16<<10)
	n, err := ours.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	ours.Close()
	<-done
	return b[:n]
}

// inRecords cuts the one record of a hello into several.
func inRecords(record []byte, size int) []byte {
	var out []byte
	for body := record[5:]; len(body) > 0; {
		n := min(size, len(body))
		out = append(out, record[0], record[1], record[2], byte(n>>8), byte(n))
		out, body = append(out, body[:n]...), body[n:]
	}
	return out
}

func TestTheNameWithinTLSMustBeListed(t *testing.T) {
	t.Parallel()
	alert := "\x15\x03\x03\x00\x02\x02\x70"
	listed, unlisted, none := hello(t, "a.test"), hello(t, "b.test"), hello(t, "")
	double := bytes.Replace(unlisted, []byte("b.test"), []byte("b\x00test"), 1)
	for name, c := range map[string]struct {
		host string
		port int // as the check sees it; 0 is the server's own
		say  []byte
		pass bool
	}{
		"listed":                      {"a.test", 0, listed, true},
		"listed, 443":                 {"a.test", 443, listed, true},
		"listed, other port":          {"a.test", 444, listed, false},
		"listed, with more after":     {"a.test", 443, append(bytes.Clone(listed), "more"...), true},
		"listed, in records of one":   {"a.test", 443, inRecords(listed, 1), true},
		"listed, in records of 100":   {"a.test", 443, inRecords(listed, 100), true},
		"unlisted":                    {"a.test", 0, unlisted, false},
		"unlisted, 443":               {"a.test", 443, unlisted, false},
		"unlisted, in records of 100": {"a.test", 443, inRecords(unlisted, 100), false},
		"unlisted, in records of 7":   {"a.test", 443, inRecords(unlisted, 7), false},
		"a NUL in the name":           {"a.test", 443, double, false},
		"no name":                     {"a.test", 443, none, false},
		"no name, any port":           {"a.test", 0, none, false},
		"no name, by address":         {"127.0.0.1", 443, none, true},
		"listed, by address":          {"127.0.0.1", 443, listed, true},
		"unlisted, by address":        {"127.0.0.1", 443, unlisted, false},
		"plain HTTP to 443":           {"a.test", 443, []byte("GET / HTTP/1.1\r\nHost: b.test\r\n\r\n"), false},
		"SSL 2 to 443":                {"a.test", 443, []byte{0x80, 0x2e, 1, 0, 2}, false},
		"other protocols elsewhere":   {"a.test", 0, []byte("SSH-2.0-x\r\n"), true},
		"half a hello":                {"a.test", 443, listed[:100], false},
		"only its first byte":         {"a.test", 0, listed[:1], false},
		"garbage after the head":      {"a.test", 443, append(bytes.Clone(listed[:5]), bytes.Repeat([]byte{0xff}, 2000)...), false},
		"a handshake, but no hello":   {"a.test", 443, []byte{0x16, 3, 1, 0, 4, 2, 0, 0, 0}, false},
		"a huge hello":                {"a.test", 443, append([]byte{0x16, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff}, make([]byte, 100<<10)...), false},
		"nothing":                     {"a.test", 443, nil, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			port, _, over := silent(t)
			w := serve(t, Limits{}, "a.test", "a.test:"+port, "127.0.0.1", "127.0.0.1:"+port)
			// A port below 1024 may not be ours to listen on, so the check is told of
			// another one than is connected to.
			client, ours := pipe(t)
			done := make(chan struct{})
			go func() {
				defer close(done)
				conn := newConn(t.Context(), ours, w.Limits.orDefault())
				defer conn.end()
				a := w.begin(c.host, 0)
				fmt.Sscan(port, &a.Port)
				up, err := w.open(conn, a, c.host)
				if err != nil {
					t.Error(err)
					return
				}
				defer up.Close()
				if c.port != 0 {
					a.Port = c.port
				}
				w.relay(conn, up, a, c.host)
			}()
			go func() { _, _ = client.Write(c.say); _ = client.CloseWrite() }()
			answer, _ := io.ReadAll(client)
			<-done
			sent, e := <-over, w.entry(t)
			if c.pass && (sent != string(c.say) || e.Refused != "" || len(answer) > 0) {
				t.Errorf("%d of %d bytes, %q, %+v", len(sent), len(c.say), answer, e)
			}
			if !c.pass && (sent != "" || e.Refused == "" || e.Sent != 0 || string(answer) != alert && len(c.say) < 64<<10) {
				t.Errorf("%q went out, %q came back, %+v", sent, answer, e)
			}
		})
	}
}

// pipe is a connection's two ends.
func pipe(t testing.TB) (a, b *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	d, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(); d.Close() })
	return c.(*net.TCPConn), d.(*net.TCPConn)
}

func TestASlowRequestIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	for name, slow := range map[string]string{"HTTP": "GET http://a.test/", "SOCKS": "\x05\xff" + strings.Repeat("\x01", 200), "nothing": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := &Proxy{Rules: &Rules{}}
				ours, theirs := net.Pipe()
				start := time.Now()
				var all sync.WaitGroup
				all.Go(func() {
					for i := range len(slow) + 1000 {
						b := []byte("x")
						if i < len(slow) {
							b[0] = slow[i]
						} else if slow == "" {
							return
						}
						if _, err := ours.Write(b); err != nil {
							return
						}
						time.Sleep(time.Second)
					}
				})
				all.Go(func() { _, _ = io.Copy(io.Discard, ours) })
				p.Serve(t.Context(), theirs)
				if took := time.Since(start); took < 30*time.Second || took > 33*time.Second {
					t.Errorf("it took %v", took)
				}
				ours.Close()
				all.Wait()
			})
		})
	}
}

func TestRefusalsAreKeptApart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var entries []computer.Connection
		p := &Proxy{Rules: &Rules{}, Log: func(c computer.Connection) { mu.Lock(); entries = append(entries, c); mu.Unlock() }}
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range 50 { // as many loops as it takes
			all.Go(func() {
				for ctx.Err() == nil {
					ours, theirs := net.Pipe()
					go func() {
						_, _ = io.WriteString(ours, "CONNECT b.test:443 HTTP/1.1\r\n\r\n")
						_, _ = http.ReadResponse(bufio.NewReader(ours), nil)
						ours.Close()
					}()
					p.Serve(ctx, theirs)
				}
			})
		}
		time.Sleep(time.Minute)
		mu.Lock()
		n := len(entries)
		mu.Unlock()
		cancel()
		all.Wait()
		if n < 200 || n > 20+60*4+1 {
			t.Errorf("%d entries in a minute", n)
		}
	})
}

func TestTurnsThatAreNotToBeHadAreCounted(t *testing.T) {
	t.Parallel()
	var turns turns
	at := time.Unix(0, 0)
	for i := range freeTurns + 3 {
		wait, _, ok := turns.take(at, time.Second, 2*time.Second)
		if want := time.Duration(max(0, i-freeTurns+1)) * time.Second; i < freeTurns+2 && (wait != want || !ok) {
			t.Errorf("turn %d: %v %v, want %v", i, wait, ok, want)
		} else if i == freeTurns+2 && ok {
			t.Error("a turn that is too late is given")
		}
	}
	turns.take(at, time.Second, 2*time.Second)
	if wait, unlogged, ok := turns.take(at.Add(time.Minute), time.Second, time.Second); wait != 0 || unlogged != 2 || !ok {
		t.Errorf("after a minute: got wait %v, %v unlogged, %v, want a turn and two unlogged", wait, unlogged, ok)
	}
	if _, unlogged, _ := turns.take(at.Add(time.Minute), time.Second, time.Second); unlogged != 0 {
		t.Error("they are told of twice")
	}
}

func TestMoreConnectionsWaitAndAreThenRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		entries := make(chan computer.Connection, 100)
		p := &Proxy{Rules: &Rules{}, Log: func(c computer.Connection) { entries <- c }, Limits: Limits{Connections: 2, Header: time.Hour}}
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		var clients []net.Conn
		for range 12 {
			ours, theirs := net.Pipe()
			clients = append(clients, ours)
			all.Go(func() { p.Serve(ctx, theirs) })
			synctest.Wait()
		}
		// Two are served, eight wait, two were too many.
		if len(entries) != 2 || !strings.Contains((<-entries).Refused, "more than 2 connections") {
			t.Errorf("%d entries", len(entries))
		}
		<-entries
		if _, err := clients[11].Write([]byte("x")); err == nil {
			t.Error("the last one is not closed")
		}
		clients[0].Close()
		synctest.Wait()
		go func() { _, _ = io.WriteString(clients[2], "CONNECT b.test:443 HTTP/1.1\r\n\r\n") }()
		if resp, err := http.ReadResponse(bufio.NewReader(clients[2]), nil); err != nil || resp.StatusCode != 403 {
			t.Errorf("one that waited is not served: %v", err)
		}
		cancel()
		all.Wait()
		for _, c := range clients {
			c.Close()
		}
	})
}

func TestAnIdleTunnelEnds(t *testing.T) {
	t.Parallel()
	port, _, over := silent(t)
	w := serve(t, Limits{Idle: 50 * time.Millisecond}, "a.test:"+port, "127.0.0.1:"+port)
	c := w.dial(t)
	fmt.Fprintf(c, "CONNECT a.test:%s HTTP/1.1\r\n\r\n", port)
	if text, _ := io.ReadAll(c); !strings.HasPrefix(string(text), "HTTP/1.1 200") {
		t.Errorf("an idle tunnel: got %q, want it opened", text)
	}
	<-over
	if e := w.entry(t); e.Duration < 50*time.Millisecond {
		t.Errorf("the log of an idle tunnel: got %+v, want at least 50 ms", e)
	}
}

func TestLaterHeadsHaveLimitsToo(t *testing.T) {
	t.Parallel()
	port, _ := raw(t, noContent)
	one := "GET http://a.test:" + port + "/ HTTP/1.1\r\n\r\n"
	w := serve(t, Limits{Header: 200 * time.Millisecond, HeaderBytes: 8 << 10}, "a.test:"+port, "127.0.0.1:"+port)
	for name, c := range map[string]struct{ say, want string }{
		"a second request that does not end": {one + "GET http://a.test/", "HTTP/1.1 200"},
		"no second request":                  {one, "HTTP/1.1 200"},
		"a second request that is too long":  {one + one[:len(one)-2] + "A: " + strings.Repeat("a", 60<<10) + "\r\n\r\n", "HTTP/1.1 200"},
		"half a ClientHello":                 {"CONNECT a.test:" + port + " HTTP/1.1\r\n\r\n" + string(hello(t, "a.test")[:99]), "HTTP/1.1 200"},
	} {
		if got := w.say(t, c.say); !strings.HasPrefix(got, c.want) || strings.Count(got, " 200 ") != 1 {
			t.Errorf("the answer to %s: %q", name, got)
		}
	}
}

func TestAClientThatOnlyListensIsServed(t *testing.T) {
	t.Parallel()
	port, _ := raw(t, noContent)
	w := serve(t, Limits{}, "a.test:"+port, "127.0.0.1:"+port)
	c := w.dial(t)
	fmt.Fprintf(c, "CONNECT a.test:%s HTTP/1.1\r\n\r\n", port)
	_ = c.CloseWrite()
	if text, err := io.ReadAll(c); err != nil || !strings.HasSuffix(string(text), noContent) {
		t.Errorf("an answer without content: got %q %v", text, err)
	}
}

func TestAClientThatCannotBeHalfClosedIsClosed(t *testing.T) {
	t.Parallel()
	port, got := raw(t, speaksFirst)
	w := serve(t, Limits{}, "a.test:"+port, "127.0.0.1:"+port)
	client, ours := pipe(t)
	fmt.Fprintf(client, "CONNECT a.test:%s HTTP/1.1\r\n\r\n", port)
	w.Serve(t.Context(), struct{ io.ReadWriteCloser }{ours})
	if text, _ := io.ReadAll(client); !strings.HasSuffix(string(text), speaksFirst) {
		t.Errorf("a server that speaks first: got %q", text)
	}
	<-got
}

// recorded is a client that has said all, and takes note of how much was heard.
type recorded struct {
	*strings.Reader
	strings.Builder
	unread int
}

func (r *recorded) Read(b []byte) (int, error)  { return r.Reader.Read(b) }
func (r *recorded) Write(b []byte) (int, error) { return r.Builder.Write(b) }
func (r *recorded) Close() error                { r.unread = r.Reader.Len(); return nil }

func TestAnAnswerIsNotLostToWhatIsUnread(t *testing.T) {
	t.Parallel()
	c := &recorded{Reader: strings.NewReader("POST http://b.test/ HTTP/1.1\r\nContent-Length: 200000\r\n\r\n" + strings.Repeat("x", 200000))}
	(&Proxy{}).Serve(t.Context(), c)
	if got := c.Builder.String(); !strings.HasPrefix(got, "HTTP/1.1 403") || c.unread != 0 {
		t.Errorf("%q, %d bytes unread", got, c.unread)
	}
}

// silent is a server that says nothing, and tells when it has heard something and
// when a connection is over.
func silent(t testing.TB) (port string, heard chan struct{}, over chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	heard, over = make(chan struct{}, 10), make(chan string, 10)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				r := bufio.NewReader(c)
				_, _ = r.Peek(1)
				heard <- struct{}{}
				text, _ := io.ReadAll(r)
				c.Close()
				over <- string(text)
			})
		}
	})
	t.Cleanup(func() { l.Close(); all.Wait() })
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port, heard, over
}

func TestEverythingEndsWithTheContext(t *testing.T) {
	t.Parallel()
	port, heard, over := silent(t)
	w := serve(t, Limits{}, "a.test:"+port, "127.0.0.1:"+port)
	for _, say := range []string{"CONNECT a.test:P HTTP/1.1\r\n\r\nx", "GET http://a.test:P/ HTTP/1.1\r\n\r\n", "POST http://a.test:P/ HTTP/1.1\r\nContent-Length: 9\r\n\r\nx"} {
		fmt.Fprint(w.dial(t), strings.ReplaceAll(say, ":P", ":"+port))
	}
	for range 3 {
		<-heard
	}
	w.dial(t) // has not asked yet
	w.end()
	for range 3 {
		<-over
		w.entry(t)
	}
}
