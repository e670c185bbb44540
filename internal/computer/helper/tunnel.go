package helper

import (
	"io"
	"net"
	"time"

	"lyceum/internal/computer/link"
)

// loan is a connection of Lyceum's for a program to use.
type loan struct {
	net.Conn
	back chan struct{} // closed when it is no longer needed
}

// lend keeps a connection until a program wants one. One that has died meanwhile is
// found out then.
func (h *helper) lend(c net.Conn) {
	l := loan{c, make(chan struct{})}
	h.tunnels <- l
	<-l.back
}

// serveProxy takes connections of programs inside, and gives each one of
// Lyceum's.
//
// Each costs Lyceum descriptors too. More than a hundred at a time wait to be
// accepted, which costs only whoever makes them.
func (h *helper) serveProxy() {
	turns := make(chan struct{}, 100)
	for {
		turns <- struct{}{}
		c, err := accept(h.proxy)
		if err != nil {
			return
		}
		go func() {
			h.tunnel(c)
			<-turns
		}()
	}
}

// tunnel passes bytes between a program and Lyceum. The helper does not look at
// them: what may be reached is decided outside.
func (h *helper) tunnel(program net.Conn) {
	defer program.Close()
	out, ok := h.borrow()
	if !ok {
		_, _ = io.WriteString(program, "HTTP/1.1 503 Lyceum is away\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		return
	}
	defer close(out.back)
	up := make(chan struct{})
	go func() {
		defer close(up)
		pass(program, out)
	}()
	pass(out, program)
	<-up
}

// borrow waits for a connection that lives.
func (h *helper) borrow() (loan, bool) {
	wait := time.NewTimer(10 * time.Second)
	defer wait.Stop()
	for {
		select {
		case l := <-h.tunnels:
			if link.WriteJSON(l, link.KindAnswer, link.Answer{}) == nil {
				return l, true
			}
			close(l.back)
		case <-wait.C:
			return loan{}, false
		}
	}
}

// pass copies until the end, and passes the end on.
func pass(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	if l, ok := to.(loan); ok {
		to = l.Conn
	}
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite()
	}
}
