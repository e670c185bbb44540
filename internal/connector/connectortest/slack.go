package connectortest

import (
	"bufio"
	"crypto/sha1" // #nosec: the handshake of RFC 6455 has it
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"lyceum/internal/connector"

	"github.com/go-json-experiment/json"
)

// Slack is the Web API and Socket Mode.
type Slack struct {
	web
	App, Bot, Channel string
	// Files are what can be downloaded, by their paths. Socket, if there is one, has a
	// connection instead of the service. Neither is changed once a driver is there.
	Files  map[string]string
	Socket func(net.Conn)

	said    []*slackSaid
	repeat  int // how often all was told again
	count   int // of envelopes
	open    map[net.Conn]bool
	ended   bool
	uploads []connector.File
	bodies  []map[string]any
	tokens  []string // that came with downloads
}

type slackSaid struct {
	kind, payload string
	acked         bool
}

// OpenSlack starts one.
func OpenSlack(t *testing.T) *Slack {
	s := &Slack{App: "xapp-very-secret", Bot: "xoxb-very-secret", Channel: "D0ANN", Files: map[string]string{}, open: map[net.Conn]bool{}}
	s.web.open(t, s.serve)
	t.Cleanup(func() {
		s.say(func() {
			s.ended = true
			for c := range s.open {
				_ = c.Close()
			}
		})
	})
	return s
}

// Say implements Service.
func (s *Slack) Say(text string) {
	s.mu.Lock()
	n := len(s.said)
	s.mu.Unlock()
	quoted, _ := json.Marshal(text)
	s.Event(fmt.Sprintf(`{"type":"message","channel":%q,"channel_type":"im","user":"U0ANN","ts":"1700000000.%06d","text":%s}`, s.Channel, n, quoted))
}

// Event has the service tell of one.
func (s *Slack) Event(event string) {
	s.Envelope("events_api", `{"type":"event_callback","event":`+event+`}`)
}

// Envelope has the service send one.
func (s *Slack) Envelope(kind, payload string) {
	s.say(func() { s.said = append(s.said, &slackSaid{kind: kind, payload: payload}) })
}

// Again implements Service.
func (s *Slack) Again() { s.say(func() { s.repeat++ }) }

// Unread implements Service.
func (s *Slack) Unread() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.said {
		if !m.acked {
			n++
		}
	}
	return n
}

// Bodies are the messages that were posted; Tokens are what came with downloads.
func (s *Slack) Bodies() []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bodies
}

// Tokens are what came with downloads.
func (s *Slack) Tokens() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokens
}

func (s *Slack) serve(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch path := r.URL.Path; {
	case path == "/socket":
		s.socket(w, r)
	case path == "/upload":
		data, _ := io.ReadAll(r.Body)
		s.say(func() { s.uploads[len(s.uploads)-1].Data = data })
	case strings.HasPrefix(path, "/files/"):
		s.say(func() { s.tokens = append(s.tokens, token) })
		_, _ = io.WriteString(w, s.Files[path])
	case path == "/api/apps.connections.open" && token == s.App:
		_, _ = fmt.Fprintf(w, `{"ok":true,"url":"ws%s/socket?ticket=very-secret"}`, strings.TrimPrefix(s.URL, "http"))
	case token != s.Bot:
		_, _ = fmt.Fprintf(w, `{"ok":false,"error":"invalid_auth"}`)
	case path == "/api/auth.test":
		_, _ = io.WriteString(w, `{"ok":true,"user_id":"U0BOT"}`)
	case path == "/api/files.getUploadURLExternal":
		name := r.FormValue("filename")
		s.say(func() { s.uploads = append(s.uploads, connector.File{Name: name}) })
		_, _ = fmt.Fprintf(w, `{"ok":true,"upload_url":"%s/upload","file_id":"F1"}`, s.URL)
	case path == "/api/files.completeUploadExternal", path == "/api/chat.postMessage":
		s.sent(w, r)
	default:
		_, _ = io.WriteString(w, `{"ok":false,"error":"unknown_method"}`)
	}
}

func (s *Slack) sent(w http.ResponseWriter, r *http.Request) {
	var body map[string]any
	if err := json.UnmarshalRead(r.Body, &body); err != nil {
		_, _ = io.WriteString(w, `{"ok":false,"error":"invalid_json"}`)
		return
	}
	h := Heard{Conversation: fmt.Sprint(body["channel"]), Text: fmt.Sprint(body["text"], body["blocks"])}
	h.Reply, _ = body["thread_ts"].(string)
	if to, ok := body["channel_id"]; ok {
		s.mu.Lock()
		h = Heard{Conversation: fmt.Sprint(to), Files: s.uploads}
		s.mu.Unlock()
	} else {
		s.say(func() { s.bodies = append(s.bodies, body) })
	}
	switch s.answers() {
	case Busy:
		w.Header().Set("Retry-After", fmt.Sprint(int(Wait/time.Second)))
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"ok":false,"error":"ratelimited"}`)
	case No:
		_, _ = io.WriteString(w, `{"ok":false,"error":"is_archived"}`)
	case Down:
		_, _ = fmt.Fprintf(w, `{"ok":false,"error":"internal_error %s"}`, s.Bot)
	case Lost:
		s.hear(h)
		hangUp(w)
	default:
		s.hear(h)
		_, _ = io.WriteString(w, `{"ok":true}`)
	}
}

// socket is one connection.
func (s *Slack) socket(w http.ResponseWriter, r *http.Request) {
	sum := sha1.Sum([]byte(r.Header.Get("Sec-WebSocket-Key") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"))
	conn, in, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	s.mu.Lock()
	ended := s.ended
	s.open[conn] = true
	s.mu.Unlock()
	defer s.say(func() { delete(s.open, conn) })
	if ended {
		return
	}
	_, _ = fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: %s\r\n\r\n", base64.StdEncoding.EncodeToString(sum[:]))
	if s.Socket != nil {
		s.Socket(conn)
		return
	}
	WriteFrame(conn, 0x81, `{"type":"hello"}`)
	WriteFrame(conn, 0x89, "ping")
	ids, over, told := map[string]*slackSaid{}, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(told)
		s.tell(conn, ids, over)
	}()
	s.acks(in.Reader, ids)
	_ = conn.Close()
	close(over)
	<-told
}

// tell sends envelopes: what was not acknowledged, and all that comes.
func (s *Slack) tell(conn net.Conn, ids map[string]*slackSaid, over chan struct{}) {
	s.mu.Lock()
	next, repeats := 0, s.repeat
	s.mu.Unlock()
	for {
		s.mu.Lock()
		again := s.repeat > repeats
		if again {
			next, repeats = 0, s.repeat
		}
		var out []string
		for ; next < len(s.said); next++ {
			if m := s.said[next]; again || !m.acked {
				s.count++
				id := fmt.Sprintf("envelope-%d", s.count)
				ids[id] = m
				out = append(out, fmt.Sprintf(`{"envelope_id":%q,"type":%q,"accepts_response_payload":false,"payload":%s}`, id, m.kind, m.payload))
			}
		}
		changed := s.changed
		s.mu.Unlock()
		for _, text := range out {
			half := len(text) / 2 // in two frames
			WriteFrame(conn, 0x01, text[:half])
			WriteFrame(conn, 0x80, text[half:])
		}
		select {
		case <-changed:
		case <-over:
			return
		}
	}
}

// acks reads what the driver sends until it goes.
func (s *Slack) acks(in *bufio.Reader, ids map[string]*slackSaid) {
	for {
		var head [2]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return
		}
		n := uint64(head[1] & 0x7f)
		if n > 125 {
			return // none is so long
		}
		data := make([]byte, n+4)
		if _, err := io.ReadFull(in, data); err != nil {
			return
		}
		for i := range data[4:] {
			data[4+i] ^= data[i%4]
		}
		var ack struct {
			ID string `json:"envelope_id"`
		}
		if head[1]&0x80 != 0 && head[0] == 0x81 && json.Unmarshal(data[4:], &ack) == nil {
			s.say(func() {
				if m := ids[ack.ID]; m != nil {
					m.acked = true
				}
			})
		}
	}
}

// WriteFrame writes one as a server does.
func WriteFrame(w io.Writer, first byte, text string) {
	b := []byte{first}
	if len(text) <= 125 {
		b = append(b, byte(len(text)))
	} else {
		b = binary.BigEndian.AppendUint16(append(b, 126), uint16(len(text)))
	}
	_, _ = w.Write(append(b, text...))
}
