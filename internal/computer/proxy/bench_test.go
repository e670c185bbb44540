package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
)

// BenchmarkTunnel carries a mebibyte to a server that throws it away.
func BenchmarkTunnel(b *testing.B) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	go func() {
		if c, err := l.Accept(); err == nil {
			_, _ = io.Copy(io.Discard, c)
			c.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	w := serve(b, Limits{}, "127.0.0.1:"+port)
	c := w.dial(b)
	fmt.Fprintf(c, "CONNECT 127.0.0.1:%s HTTP/1.1\r\n\r\n", port)
	if resp, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: "CONNECT"}); err != nil || resp.StatusCode != 200 {
		b.Fatal(err)
	}
	block := make([]byte, 1<<20)
	b.SetBytes(int64(len(block)))
	for b.Loop() {
		if _, err := c.Write(block); err != nil {
			b.Fatal(err)
		}
	}
	_ = c.CloseWrite()
	_, _ = io.Copy(io.Discard, c)
}

// BenchmarkConnect makes a tunnel and ends it.
func BenchmarkConnect(b *testing.B) {
	port, got := raw(b, speaksFirst)
	w := serve(b, Limits{}, "a.test:"+port, "127.0.0.1:"+port)
	for b.Loop() {
		c := w.dial(b)
		fmt.Fprintf(c, "CONNECT a.test:%s HTTP/1.1\r\n\r\n", port)
		_ = c.CloseWrite()
		_, _ = io.Copy(io.Discard, c)
		c.Close()
		<-got
		w.entry(b)
	}
}
