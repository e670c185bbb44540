package api

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// Door is a listener with room for so many connections. Whoever connects is a stranger until
// a request of that connection has brought credentials, and nobody else's work may depend on
// what strangers do: each connection is a file, of which a process has only so many, and a
// quest that cannot open one ends.
//
// So the door always opens, and when its room is full the stranger goes who came first from
// the address that most of them come from. A flood thus only drives out itself, and somebody
// with credentials, who shows them at once, gets in. When all are known, the newcomer goes.
type Door struct {
	net.Listener
	room int

	mu        sync.Mutex
	strangers map[string][]*visit // by address, in the order in which they came
	guests    map[string]int      // how many connections each caller has
	count     int
}

// NewDoor returns a listener that has at most so many connections open.
func NewDoor(ln net.Listener, room int) *Door {
	return &Door{Listener: ln, room: room, strangers: map[string][]*visit{}, guests: map[string]int{}}
}

// Accept waits for the next connection, and makes room for it.
func (d *Door) Accept() (net.Conn, error) {
	for {
		conn, err := d.Listener.Accept()
		if err != nil {
			return nil, err
		}
		v := &visit{Conn: conn, door: d, address: addressOf(conn.RemoteAddr().String())}
		out := d.enter(v)
		if out != nil {
			_ = out.Conn.Close() // whoever it was has no say in it
		}
		if out != v {
			return v, nil
		}
	}
}

// enter takes a visit in, and returns the one that must go for it, if any.
func (d *Door) enter(v *visit) (out *visit) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.count >= d.room {
		if out = d.oldest(); out == nil {
			return v
		}
		d.remove(out)
	}
	d.count++
	d.strangers[v.address] = append(d.strangers[v.address], v)
	return out
}

// oldest is the first stranger of the address that has most of them, nil if there is none.
func (d *Door) oldest() (v *visit) {
	most := 0
	for _, list := range d.strangers {
		if len(list) > most {
			v, most = list[0], len(list)
		}
	}
	return v
}

// remove forgets a visit, once. The door is locked.
func (d *Door) remove(v *visit) {
	if v.gone {
		return
	}
	v.gone = true
	d.count--
	if v.guest != "" {
		if d.guests[v.guest]--; d.guests[v.guest] == 0 {
			delete(d.guests, v.guest)
		}
		return
	}
	d.forgetStranger(v)
}

func (d *Door) forgetStranger(v *visit) {
	list := d.strangers[v.address]
	for i := range list {
		if list[i] == v {
			list = append(list[:i:i], list[i+1:]...)
			break
		}
	}
	if d.strangers[v.address] = list; len(list) == 0 {
		delete(d.strangers, v.address)
	}
}

// share is how much of a door's room one caller can hold against strangers: what it opens
// beyond that goes when somebody comes, as a stranger's does.
const share = 4

// prove notes that somebody with credentials is at the other end of a connection.
func (v *visit) prove(who string) {
	d := v.door
	d.mu.Lock()
	defer d.mu.Unlock()
	if v.gone || v.guest != "" || d.guests[who] >= max(d.room/share, 1) {
		return
	}
	d.forgetStranger(v)
	v.guest = who
	d.guests[who]++
}

// visit is a connection that came through a door, whose lock owns what can change.
type visit struct {
	net.Conn
	door    *Door
	address string
	guest   string // who it is, empty for a stranger
	gone    bool
}

// Close implements net.Conn.
func (v *visit) Close() error {
	v.door.mu.Lock()
	v.door.remove(v)
	v.door.mu.Unlock()
	return v.Conn.Close()
}

// visitKey is where a request's context has the visit it belongs to.
type visitKey struct{}

// visited puts the visit behind a connection into the context of its requests.
func visited(ctx context.Context, conn net.Conn) context.Context {
	if secure, ok := conn.(interface{ NetConn() net.Conn }); ok { // TLS
		conn = secure.NetConn()
	}
	if v, ok := conn.(*visit); ok {
		return context.WithValue(ctx, visitKey{}, v)
	}
	return ctx
}

// proven notes that a request has brought credentials.
func proven(r *http.Request, who caller) {
	if v, ok := r.Context().Value(visitKey{}).(*visit); ok {
		v.prove(who.key())
	}
}

// addressOf is the host of an address with a port.
func addressOf(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return remote
	}
	return host
}
