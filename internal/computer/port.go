package computer

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"lyceum/internal/computer/link"
	"lyceum/internal/plain"
)

// Port is somebody outside a computer whom its programs reach by HTTP, whatever network
// the computer has: at an address of the loopback, which a variable tells them,
// LYCEUM_PORT_GATEWAY for the port gateway, as 127.0.0.1:3129. Nothing but these bytes
// goes that way; the helper only passes them on.
//
// Every request must bring a token, always. A computer with a loopback of its own is
// still one with many programs, not all of which may do what one of them may; and where
// the network is open, bubblewrap shares the loopback of the host, so that every program
// of every user of the host finds the port. There its number is picked by the kernel,
// for others may have taken ours; elsewhere it is the same in every boot.
//
// The network's proxy is a port like these but for that: it has no token, for there is
// one only in a computer whose network, loopback included, is its own.
type Port struct {
	Handler http.Handler
	// Admit says whether somebody may still come: tokens do not end by themselves before
	// the computer does. nil lets in whoever has a token. It may be asked by many at once.
	Admit func(who string) bool
}

const (
	// firstPort is the number of the first port, where the loopback is the computer's.
	firstPort = 3129
	// maxPorts is how many a computer may have.
	maxPorts = 16
)

var (
	portRule = plain.Form{First: "a-z", Rest: "a-z0-9-", Most: 32}
	whoRule  = plain.Form{First: "A-Za-z0-9", Rest: "A-Za-z0-9._/-", Most: 128}
)

// checkPorts finds names that no port can have.
func (s Spec) checkPorts() error {
	if len(s.Ports) > maxPorts {
		return fmt.Errorf("a computer has at most %d ports, not %d", maxPorts, len(s.Ports))
	}
	for i, name := range s.Ports {
		switch {
		case !portRule.MatchString(name):
			return fmt.Errorf("%s is no name for a port: take small letters, digits and hyphens, such as gateway", plain.Quoted(name, 50))
		case name == link.ProxyPort:
			return fmt.Errorf("the port %s is that of a filtered network; give another name", name)
		case slices.Contains(s.Ports[:i], name):
			return fmt.Errorf("a computer has one port %s, not two", name)
		}
	}
	return nil
}

// checkPorts finds ports that nobody answers, and answers that nobody asks for.
func (o Options) checkPorts(names []string) error {
	for name, p := range o.Ports {
		if !slices.Contains(names, name) {
			return fmt.Errorf("the computer is to have no port %s", plain.Quoted(name, 50))
		}
		if p.Handler == nil {
			return fmt.Errorf("the port %s has no handler", name)
		}
	}
	for _, name := range names {
		if _, ok := o.Ports[name]; !ok && !o.Found && !o.Unattended {
			return fmt.Errorf("nobody answers at the port %s of a computer", name)
		}
	}
	return nil
}

// listeners says where the helper is to listen.
func (s Spec) listeners() (out []link.Port) {
	if s.Network.Mode() == "allow" {
		out = append(out, link.Port{Name: link.ProxyPort, Address: ProxyAddress})
	}
	for i, name := range s.Ports {
		number := firstPort + i
		if s.Network.Open {
			number = 0
		}
		out = append(out, link.Port{Name: name, Address: fmt.Sprintf("127.0.0.1:%d", number)})
	}
	return out
}

// Address is where programs find a port, such as 127.0.0.1:3129, or nothing if the
// computer has none of that name.
func (c *Computer) Address(port string) string {
	for _, p := range c.report.Ports {
		// The helper's word is for programs of its own computer, and still it is one.
		if at, err := netip.ParseAddrPort(p.Address); err == nil && p.Name == port && at.Addr().IsLoopback() && at.Port() > 0 {
			return at.String()
		}
	}
	return ""
}

// Token makes the token by which somebody, such as a task, is known at a port of this
// computer. It is the same whenever it is asked for, in the next Lyceum too, and holds
// for as long as the computer is up; no other computer's is taken.
func (c *Computer) Token(port, who string) (string, error) {
	switch {
	case !whoRule.MatchString(who):
		return "", fmt.Errorf("%s cannot have a token: take letters, digits, dots, slashes and hyphens", plain.Quoted(who, 150))
	case !slices.Contains(c.saved.Fingerprint.Ports, port) || len(c.saved.Key) < sha256.Size:
		return "", fmt.Errorf("the computer has no port %s", plain.Quoted(port, 50))
	}
	return who + "." + c.proof(port, who), nil
}

func (c *Computer) proof(port, who string) string {
	m := hmac.New(sha256.New, c.saved.Key)
	_, _ = io.WriteString(m, port+"\x00"+who)
	return hex.EncodeToString(m.Sum(nil))
}

// callerOf is whose token it is; nobody's is "".
func (c *Computer) callerOf(port, token string) string {
	i := strings.LastIndexByte(token, '.')
	if i < 0 || !whoRule.MatchString(token[:i]) || !hmac.Equal([]byte(token[i+1:]), []byte(c.proof(port, token[:i]))) {
		return ""
	}
	return token[:i]
}

// keyHeaders are where programs put what they take for a key.
var keyHeaders = []string{"Authorization", "X-Api-Key", "X-Goog-Api-Key"}

type callerKey struct{}

// Caller is whose token a request at a port came with.
func Caller(ctx context.Context) string {
	who, _ := ctx.Value(callerKey{}).(string)
	return who
}

// As returns the context of a request that came with the token of somebody. It is for
// tests of handlers: at a port nobody but guard says who comes.
func As(ctx context.Context, who string) context.Context {
	return context.WithValue(ctx, callerKey{}, who)
}

// guard lets requests with a token pass, without it: whoever passes a request on does
// not pass on the token.
func (c *Computer) guard(name string, p Port) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := ""
		for _, h := range keyHeaders {
			token := r.Header.Get(h)
			if kind, rest, ok := strings.Cut(token, " "); ok && strings.EqualFold(kind, "Bearer") {
				token = strings.TrimSpace(rest)
			}
			if who == "" {
				who = c.callerOf(name, token)
			}
			r.Header.Del(h)
		}
		if who == "" || p.Admit != nil && !p.Admit(who) {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "this port needs a token, and this is none that holds", http.StatusUnauthorized)
			return
		}
		p.Handler.ServeHTTP(w, r.WithContext(As(r.Context(), who)))
	})
}

// servePorts begins to answer at all ports.
func (c *Computer) servePorts() error {
	for name, p := range c.opts.Ports {
		if c.Address(name) == "" {
			return fmt.Errorf("the computer says that it has no port %s: %w", name, ErrEarlier)
		}
		s := &portServer{conns: make(chan *portConn), ctx: c.ctx}
		s.server = http.Server{
			Handler: c.guard(name, p), DisableGeneralOptionsHandler: true, ReadHeaderTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
			ErrorLog: log.New(io.Discard, "", 0), ConnState: s.changed,
			BaseContext: func(net.Listener) context.Context { return c.ctx },
		}
		c.spawn(func() { _ = s.server.Serve(s) })
		c.spawn(func() { c.serveTunnels(name, s.take) })
	}
	return nil
}

// portServer is a server whose listener is what programs inside connect to.
type portServer struct {
	server http.Server
	ctx    context.Context
	conns  chan *portConn
}

// take serves one connection to its end.
func (s *portServer) take(ctx context.Context, conn io.ReadWriteCloser) {
	c := &portConn{Conn: conn.(net.Conn), done: make(chan struct{})}
	select {
	case s.conns <- c:
		<-c.done
	case <-ctx.Done():
	}
}

// Accept implements net.Listener.
func (s *portServer) Accept() (net.Conn, error) {
	select {
	case c := <-s.conns:
		return c, nil
	case <-s.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. The connections are closed by whoever lent them.
func (s *portServer) Close() error { return nil }

// Addr implements net.Listener.
func (s *portServer) Addr() net.Addr { return &net.UnixAddr{Net: "unix"} }

// changed learns that a connection is over: its handler has returned, or has taken it
// for itself, and then it is over when that one closes it.
func (s *portServer) changed(conn net.Conn, state http.ConnState) {
	c, ok := conn.(*portConn)
	switch {
	case ok && state == http.StateHijacked:
		c.taken.Lock()
		c.hijacked = true
		c.taken.Unlock()
	case ok && state == http.StateClosed:
		c.over()
	}
}

type portConn struct {
	net.Conn
	done chan struct{}
	once sync.Once

	taken    sync.Mutex
	hijacked bool
}

func (c *portConn) over() { c.once.Do(func() { close(c.done) }) }

// Close implements net.Conn.
func (c *portConn) Close() error {
	err := c.Conn.Close()
	c.taken.Lock()
	defer c.taken.Unlock()
	if c.hijacked {
		c.over()
	}
	return err
}
