package slack

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/sha1" // #nosec: the handshake of RFC 6455 has it, and nothing rests on it
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// socket is the client's end of a websocket (RFC 6455) to a server that is not trusted. One
// goroutine has it.
type socket struct {
	conn     io.ReadWriteCloser
	in       *bufio.Reader
	patience time.Duration
	watch    *time.Timer
	silent   atomic.Bool
	stop     func() bool
}

// The limits of a message, and the kinds of frames.
const (
	maxMessage = 4 << 20
	maxControl = 125

	frameMore  = 0x0
	frameText  = 0x1
	frameClose = 0x8
	framePing  = 0x9
	framePong  = 0xA
)

var (
	errFrame = errors.New("the server sends what is no frame of a websocket")
	errLarge = errors.New("the server sends a message that is too large")
	errClose = errors.New("the server has closed the connection")
)

// sockets opens connections by HTTP/1.1, which a websocket begins with.
var sockets = &http.Client{
	Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, TLSHandshakeTimeout: 20 * time.Second, MaxResponseHeaderBytes: 64 << 10,
		Protocols: func() *http.Protocols { p := new(http.Protocols); p.SetHTTP1(true); return p }(),
	},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// connect opens one. It ends with the context, or when the server says nothing for as long as
// its patience is. The address is a ticket: it is in no error.
func connect(ctx context.Context, address string, patience time.Duration) (*socket, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the address of the websocket is none")
	}
	u.Scheme = map[string]string{"wss": "https", "ws": "http"}[u.Scheme]
	nonce := make([]byte, 16)
	_, _ = rand.Read(nonce) // it does not fail
	key := base64.StdEncoding.EncodeToString(nonce)
	// Not of the context with the patience: that ends the connection, too.
	opening, cancel := context.WithCancel(ctx)
	req, err := http.NewRequestWithContext(opening, http.MethodGet, u.String(), nil)
	if err != nil {
		cancel()
		return nil, errors.New("the address of the websocket is none")
	}
	req.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"websocket"}, "Sec-WebSocket-Version": {"13"}, "Sec-WebSocket-Key": {key}}
	late := time.AfterFunc(patience, cancel)
	resp, err := sockets.Do(req)
	if !late.Stop() || err != nil {
		cancel()
		if resp != nil {
			_ = resp.Body.Close()
		}
		if inner, ok := errors.AsType[*url.Error](err); ok {
			err = inner.Err
		}
		return nil, fmt.Errorf("open the websocket: %v", err)
	}
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	conn, ok := resp.Body.(io.ReadWriteCloser)
	if !ok || resp.StatusCode != http.StatusSwitchingProtocols || resp.Header.Get("Sec-WebSocket-Accept") != base64.StdEncoding.EncodeToString(sum[:]) ||
		!strings.EqualFold(resp.Header.Get("Upgrade"), "websocket") || resp.Header.Get("Sec-WebSocket-Extensions") != "" {
		cancel()
		_ = resp.Body.Close()
		return nil, fmt.Errorf("open the websocket: the server answers with %d", resp.StatusCode)
	}
	s := &socket{conn: conn, patience: patience}
	s.in = bufio.NewReaderSize(conn, 4096)
	s.watch = time.AfterFunc(patience, func() { s.silent.Store(true); _ = conn.Close() })
	end := context.AfterFunc(ctx, func() { _ = conn.Close() })
	s.stop = func() bool { cancel(); return end() }
	return s, nil
}

// Close ends it.
func (s *socket) Close() error {
	s.stop()
	s.watch.Stop()
	return s.conn.Close()
}

// read is the next message. Pings are answered on the way.
func (s *socket) read() (message []byte, err error) {
	defer func() {
		if err != nil && s.silent.Load() {
			err = fmt.Errorf("the server was silent for %s", s.patience)
		}
	}()
	begun := false
	for {
		kind, final, data, err := s.frame(maxMessage - len(message))
		if err != nil {
			return nil, err
		}
		s.watch.Reset(s.patience)
		switch kind {
		case framePing:
			if err := s.write(framePong, data); err != nil {
				return nil, err
			}
		case framePong:
		case frameClose:
			_ = s.write(frameClose, data[:min(len(data), 2)])
			return nil, errClose
		case frameText, frameMore:
			if begun == (kind == frameText) {
				return nil, errFrame
			}
			begun = true
			message = append(message, data...)
			if final {
				if !utf8.Valid(message) {
					return nil, errFrame
				}
				return message, nil
			}
		default:
			return nil, errFrame
		}
	}
}

// frame reads one, with at most so many bytes in it.
func (s *socket) frame(most int) (kind byte, final bool, data []byte, err error) {
	var head [2]byte
	if _, err := io.ReadFull(s.in, head[:]); err != nil {
		return 0, false, nil, err
	}
	kind, final = head[0]&0x0F, head[0]&0x80 != 0
	n := uint64(head[1] & 0x7F)
	if head[0]&0x70 != 0 || head[1]&0x80 != 0 { // extensions nobody asked for, or a mask
		return 0, false, nil, errFrame
	}
	if kind >= frameClose && (n > maxControl || !final) {
		return 0, false, nil, errFrame
	}
	if more := map[uint64]int{126: 2, 127: 8}[n]; more > 0 {
		var size [8]byte
		if _, err := io.ReadFull(s.in, size[8-more:]); err != nil {
			return 0, false, nil, err
		}
		n = binary.BigEndian.Uint64(size[:])
	}
	if n > uint64(most) {
		return 0, false, nil, errLarge
	}
	for uint64(len(data)) < n {
		piece := make([]byte, min(n-uint64(len(data)), 64<<10))
		if _, err := io.ReadFull(s.in, piece); err != nil {
			return 0, false, nil, err
		}
		data = append(data, piece...)
	}
	return kind, final, data, nil
}

// write sends a frame, masked as a client's are.
func (s *socket) write(kind byte, data []byte) error {
	b := []byte{0x80 | kind}
	switch n := len(data); {
	case n <= maxControl:
		b = append(b, 0x80|byte(n))
	default:
		b = append(b, 0x80|127)
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	mask := make([]byte, 4)
	_, _ = rand.Read(mask) // it does not fail
	b = append(b, mask...)
	for i, c := range data {
		b = append(b, c^mask[i%4])
	}
	_, err := s.conn.Write(b)
	return err
}
