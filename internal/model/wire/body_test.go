package wire

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
)

// TestABodyArrivesAsItIs: by a connection that takes its pieces where they stand, and by any other; and none of
// the pieces is changed, for the next request begins with them.
func TestABodyArrivesAsItIs(t *testing.T) {
	t.Parallel()
	var copied atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read the body: %v", err)
		}
		fmt.Fprintf(w, "%d %s", r.ContentLength, data)
	}))
	t.Cleanup(server.Close)
	for name, dial := range map[string]func(context.Context, string, string) (net.Conn, error){
		"Plain": Dial(new(net.Dialer)), "Another": new(net.Dialer).DialContext,
		"InPieces": func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := Dial(new(net.Dialer))(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return seen{conn.(plainConn), &copied}, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			transport := &http.Transport{DialContext: dial}
			defer transport.CloseIdleConnections()
			for _, size := range []int{0, 1, 4000, 70_000, 1 << 20} {
				pieces := [][]byte{[]byte("{"), bytes.Repeat([]byte("a"), size), nil, bytes.Repeat([]byte("b"), size), []byte("}")}
				want := bytes.Join(pieces, nil)
				for range 2 { // the same pieces again
					req, err := http.NewRequest(http.MethodPost, server.URL, nil)
					if err != nil {
						t.Fatal(err)
					}
					Body(pieces).set(req)
					resp, err := transport.RoundTrip(req)
					if err != nil {
						t.Fatalf("%d bytes: %v", size, err)
					}
					got, err := io.ReadAll(resp.Body)
					_ = resp.Body.Close()
					if err != nil || string(got) != fmt.Sprintf("%d %s", len(want), want) {
						t.Fatalf("a body of two times %d bytes came as %d bytes with its length (%v), want %d", size, len(got), err, len(want))
					}
				}
			}
		})
	}
	t.Cleanup(func() {
		if !copied.Load() {
			t.Error("no long body was given to the connection in its pieces")
		}
	})
}

// seen notes that it was given a body as it is.
type seen struct {
	plainConn
	as *atomic.Bool
}

func (s seen) ReadFrom(r io.Reader) (int64, error) {
	if limited, ok := r.(*io.LimitedReader); ok {
		if body, ok := limited.R.(*bodyReader); ok && len(body.left) > 1 {
			s.as.Store(true)
		}
	}
	return s.plainConn.ReadFrom(r)
}
