package helper

import (
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"lyceum/internal/computer/link"
)

// loan is a connection of Lyceum's for a program to use.
type loan struct {
	net.Conn
	back chan struct{} // closed when it is no longer needed
}

// port is where programs inside find somebody outside, by the connections that Lyceum
// lends.
type port struct {
	net.Listener
	loans chan loan
}

// openPorts listens on all ports, and has commands told where they are.
func (h *helper) openPorts() error {
	for i := range h.config.Ports {
		at := &h.config.Ports[i]
		l, err := net.Listen("tcp", at.Address)
		if err != nil {
			return fmt.Errorf("listen for programs that want the port %s: %w", at.Name, err)
		}
		at.Address = l.Addr().String()
		if at.Name != link.ProxyPort {
			h.config.Env = append(h.config.Env, variable(at.Name)+"="+at.Address)
		}
		p := &port{Listener: l, loans: make(chan loan)}
		h.ports[at.Name] = p
		go p.serve()
	}
	return nil
}

// variable names the address of a port to commands.
func variable(port string) string {
	return "LYCEUM_PORT_" + strings.ToUpper(strings.ReplaceAll(port, "-", "_"))
}

// lend keeps a connection until a program wants one. One that has died meanwhile is
// found out then.
func (p *port) lend(c net.Conn) {
	l := loan{c, make(chan struct{})}
	p.loans <- l
	<-l.back
}

// serve takes connections of programs inside, and gives each one of Lyceum's.
//
// Each costs Lyceum descriptors too. More than a hundred at a time wait to be
// accepted, which costs only whoever makes them.
func (p *port) serve() {
	turns := make(chan struct{}, 100)
	for {
		turns <- struct{}{}
		c, err := accept(p)
		if err != nil {
			return
		}
		go func() {
			p.tunnel(c)
			<-turns
		}()
	}
}

// tunnel passes bytes between a program and Lyceum. The helper does not look at
// them: what may be reached is decided outside.
func (p *port) tunnel(program net.Conn) {
	defer program.Close()
	out, ok := p.borrow()
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
func (p *port) borrow() (loan, bool) {
	wait := time.NewTimer(10 * time.Second)
	defer wait.Stop()
	for {
		select {
		case l := <-p.loans:
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
