package proxy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net/netip"
)

// SOCKS5, RFC 1928: no authentication, and no command but CONNECT.
const (
	socksVersion = 5
	socksConnect = 1

	socksIPv4 = 1
	socksName = 3
	socksIPv6 = 4

	socksRefused       = 2
	socksUnreachable   = 4
	socksNoSuchCommand = 7
	socksNoSuchAddress = 8
	socksNoMethod      = 0xff
)

func (p *Proxy) serveSOCKS(c *conn) {
	hostname, port, code, err := readSOCKS(c)
	c.flow()
	reply := func(code byte) error {
		_, err := c.Write([]byte{socksVersion, code, 0, socksIPv4, 0, 0, 0, 0, 0, 0})
		return err
	}
	if err != nil {
		p.refuse(c, p.begin(hostname, port), err, func() {
			switch code {
			case 0: // there is no answer to that
			case socksNoMethod:
				_, _ = c.Write([]byte{socksVersion, code})
			default:
				_ = reply(code)
			}
		})
		return
	}
	p.tunnel(c, hostname, port, func() error { return reply(0) }, func(err error) {
		if _, refused := errors.AsType[*Refused](err); refused {
			_ = reply(socksRefused)
			return
		}
		_ = reply(socksUnreachable)
	})
}

// readSOCKS reads the greeting and the request. With an error comes the code to
// answer, if there is one.
func readSOCKS(c *conn) (hostname string, port int, code byte, err error) {
	broken := errors.New("a SOCKS request that is not whole")
	var head [4]byte
	var rest [256]byte
	if _, err := io.ReadFull(c.r, head[:2]); err != nil {
		return "", 0, 0, broken
	}
	methods := rest[:head[1]]
	if _, err := io.ReadFull(c.r, methods); err != nil {
		return "", 0, 0, broken
	}
	if !bytes.Contains(methods, []byte{0}) {
		return "", 0, socksNoMethod, errors.New("the SOCKS client insists on a password, and there is none")
	}
	if _, err := c.Write([]byte{socksVersion, 0}); err != nil {
		return "", 0, 0, broken
	}
	if _, err := io.ReadFull(c.r, head[:]); err != nil || head[0] != socksVersion {
		return "", 0, 0, broken
	}
	size := map[byte]int{socksIPv4: 4, socksIPv6: 16}[head[3]]
	if head[3] == socksName {
		n, err := c.r.ReadByte()
		if err != nil {
			return "", 0, 0, broken
		}
		size = int(n)
	} else if size == 0 {
		return "", 0, socksNoSuchAddress, errors.New("a SOCKS request with an unknown kind of address")
	}
	if _, err := io.ReadFull(c.r, rest[:size]); err != nil {
		return "", 0, 0, broken
	}
	hostname = string(rest[:size])
	if head[3] != socksName {
		a, _ := netip.AddrFromSlice(rest[:size])
		hostname = a.Unmap().String()
	}
	if _, err := io.ReadFull(c.r, head[2:4]); err != nil {
		return hostname, 0, 0, broken
	}
	port = int(binary.BigEndian.Uint16(head[2:4]))
	if head[1] != socksConnect {
		return hostname, port, socksNoSuchCommand, errors.New("a SOCKS request for something else than CONNECT")
	}
	return hostname, port, 0, nil
}
