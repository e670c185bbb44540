package api_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"testing"
	"time"

	"lyceum/internal/api"
)

// behindADoor serves a home at a door with so much room.
func behindADoor(t *testing.T, room int, opts api.Options) (*server, string) {
	t.Helper()
	s := newHome(t).serve(opts)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	web := s.HTTP()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = web.Serve(api.NewDoor(ln, room))
	}()
	t.Cleanup(func() {
		_ = web.Close()
		<-done
	})
	return s, ln.Addr().String()
}

// guest is one connection.
type guest struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func visiting(t *testing.T, address, from string) *guest {
	t.Helper()
	d := net.Dialer{Timeout: patience, LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := d.Dial("tcp", address)
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	must(t, conn.SetDeadline(time.Now().Add(patience)))
	return &guest{t, conn, bufio.NewReader(conn)}
}

// asks sends a request on the connection, and returns the status, 0 if the server has closed it.
func (g *guest) asks(path, secret string) int {
	g.t.Helper()
	text := fmt.Sprintf("GET %s HTTP/1.1\r\nHost: localhost\r\n", path)
	if secret != "" {
		text += "Authorization: Bearer " + secret + "\r\n"
	}
	if _, err := fmt.Fprint(g.conn, text+"\r\n"); err != nil {
		return 0
	}
	resp, err := http.ReadResponse(g.in, nil)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	for buf := make([]byte, 4096); err == nil; {
		_, err = resp.Body.Read(buf)
	}
	return resp.StatusCode
}

// closed waits until the server has closed the connection.
func (g *guest) closed() {
	g.t.Helper()
	if _, err := g.in.ReadByte(); err == nil {
		g.t.Fatal("the server says something, where it was to close the connection")
	}
}

func TestADoor(t *testing.T) {
	t.Parallel()
	const room = 8
	t.Run("AFloodDrivesOutItself", func(t *testing.T) {
		t.Parallel()
		_, at := behindADoor(t, room, api.Options{})
		known := visiting(t, at, "127.0.0.1")
		if got := known.asks("/api/quests", token); got != 200 {
			t.Fatalf("with credentials: got %d, want 200", got)
		}
		var flood []*guest
		for range 10 * room {
			flood = append(flood, visiting(t, at, "127.0.0.1"))
		}
		flood[0].closed()
		if got := known.asks("/api/quests", token); got != 200 {
			t.Errorf("whoever was known before the flood: got %d, want 200 on the same connection", got)
		}
		if got := visiting(t, at, "127.0.0.1").asks("/api/quests", token); got != 200 {
			t.Errorf("whoever comes during the flood: got %d, want 200", got)
		}
	})
	t.Run("OneAddressDoesNotDriveOutAnother", func(t *testing.T) {
		t.Parallel()
		_, at := behindADoor(t, room, api.Options{})
		quiet := visiting(t, at, "127.0.0.2")
		if got := quiet.asks("/api/quests", ""); got != 401 {
			t.Fatalf("without credentials: got %d, want 401", got)
		}
		first := visiting(t, at, "127.0.0.1")
		for range 10 * room {
			visiting(t, at, "127.0.0.1")
		}
		first.closed()
		if got := quiet.asks("/api/quests", ""); got != 401 {
			t.Errorf("a stranger of another address than the flood's: got %d, want 401 on the same connection", got)
		}
	})
	t.Run("NobodyKnownHoldsItAll", func(t *testing.T) {
		t.Parallel()
		s, at := behindADoor(t, room, api.Options{})
		scope, err := api.ParseScope("read")
		must(t, err)
		tok, secret := api.NewToken(scope, "", s.rt.Clock(), 0)
		must(t, s.rt.Ledger.PutToken(t.Context(), tok))
		for range 3 * room {
			visiting(t, at, "127.0.0.1").asks("/api/quests", secret)
		}
		if got := visiting(t, at, "127.0.0.1").asks("/api/quests", token); got != 200 {
			t.Errorf("the owner, where one token has all the room: got %d, want 200", got)
		}
	})
}

// TestStreamsOfAToken: each holds a connection, so there is a number of them.
func TestStreamsOfAToken(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{Streams: 2})
	s.writer("q")
	scope, err := api.ParseScope("read")
	must(t, err)
	tok, secret := api.NewToken(scope, "", s.rt.Clock(), 0)
	must(t, s.rt.Ledger.PutToken(t.Context(), tok))
	open := func(secret string) (int, context.CancelFunc) {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		t.Cleanup(cancel)
		r, err := http.NewRequestWithContext(ctx, "GET", s.web.URL+"/api/quests/q/events", nil)
		must(t, err)
		r.Header.Set("Authorization", "Bearer "+secret)
		streaming(r)
		resp, err := s.web.Client().Do(r)
		must(t, err)
		t.Cleanup(func() { resp.Body.Close() })
		return resp.StatusCode, cancel
	}
	_, leave := open(secret)
	open(secret)
	if got, _ := open(secret); got != 429 {
		t.Errorf("a third stream of a token that may have two: got %d, want 429", got)
	}
	if got, _ := open(token); got != 200 {
		t.Errorf("a stream of the owner: got %d, want 200", got)
	}
	leave()
	wait(t, func() bool { got, _ := open(secret); return got == 200 })
}
