package connectortest

import (
	"bufio"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/mail"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"lyceum/internal/connector"
)

// Mail is a mailbox: a server of IMAP and one of SMTP.
type Mail struct {
	IMAP, SMTP, Password string
	// Signer signs what is said. Address is whom it is said to.
	Signer  *Signer
	Address string
	// Idle says that the server tells of new mail; TLS, that it speaks it. Neither is changed
	// once a driver is there.
	Idle bool
	TLS  *tls.Config
	// Arrives is when mails come.
	Arrives string

	mu      sync.Mutex // guards the rest
	mails   []*letter
	trick   Trick
	answer  Answer
	heard   []Heard
	raw     []string
	changed chan struct{}
	open    map[net.Conn]bool
	ended   bool
	poured  atomic.Int64
	work    sync.WaitGroup
}

type letter struct {
	raw  string
	seen bool
	size int
}

// OpenMail starts one.
func OpenMail(t *testing.T) *Mail {
	s := &Mail{
		Password: "very secret \"pass\\word", Signer: NewSigner(t, "ed25519", "example.org"), Address: "lab@lyceum.example", Arrives: "14-Nov-2023 22:13:20 +0000",
		changed: make(chan struct{}), open: map[net.Conn]bool{}, Idle: true,
	}
	t.Cleanup(s.work.Wait)
	for _, server := range []struct {
		address *string
		serve   func(*lines)
	}{{&s.IMAP, s.imap}, {&s.SMTP, s.smtp}} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		*server.address = l.Addr().String()
		t.Cleanup(func() { _ = l.Close() })
		s.work.Go(func() { s.accept(l, server.serve) })
	}
	t.Cleanup(func() {
		s.mu.Lock()
		s.ended = true
		for c := range s.open {
			_ = c.Close()
		}
		s.mu.Unlock()
	})
	return s
}

func (s *Mail) accept(l net.Listener, serve func(*lines)) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		trick := s.trick
		if s.ended {
			_ = c.Close()
		}
		s.open[c] = true
		s.mu.Unlock()
		s.work.Go(func() {
			defer func() {
				_ = c.Close()
				s.mu.Lock()
				delete(s.open, c)
				s.mu.Unlock()
			}()
			if trick != "" {
				s.play(c, trick)
				return
			}
			serve(&lines{bufio.NewReader(c), c})
		})
	}
}

func (s *Mail) play(c net.Conn, trick Trick) {
	piece := ""
	switch trick {
	case Endless:
		piece = strings.Repeat("a", 64<<10)
	case Deep: // lines without an end
		piece = strings.Repeat("* OK 220-\r\n", 6<<10)
		if c.LocalAddr().String() == s.SMTP {
			piece = strings.Repeat("220-x\r\n", 8<<10)
		}
	case Slow:
		_, _ = io.WriteString(c, "* O")
		_, _ = io.Copy(io.Discard, c)
	case Garbage:
		_, _ = io.WriteString(c, "\xff\x00{9999999999999999999}\r\n* OK {99999999999}\r\nA1 OK\r\n")
	}
	for piece != "" && s.poured.Load() < 4*mostPoured {
		n, err := io.WriteString(c, piece)
		s.poured.Add(int64(n))
		if err != nil {
			return
		}
	}
}

// lines is a connection.
type lines struct {
	*bufio.Reader
	c net.Conn
}

func (l *lines) line() (string, bool) {
	s, err := l.ReadString('\n')
	return strings.TrimRight(s, "\r\n"), err == nil
}

func (l *lines) say(format string, args ...any) { _, _ = fmt.Fprintf(l.c, format+"\r\n", args...) }

// Say implements Service.
func (s *Mail) Say(text string) {
	s.mu.Lock()
	n := len(s.mails)
	s.mu.Unlock()
	s.Post(s.Signer.Sign(fmt.Sprintf("From: Ann <ann@example.org>\r\nTo: %s\r\nSubject: Re: it\r\nMessage-ID: <%d@example.org>\r\n\r\n%s\r\n", s.Address, n, text), "c=relaxed/relaxed; d=example.org; h=from:to:subject:message-id; t=1700000000"))
}

// Post puts a mail into the mailbox.
func (s *Mail) Post(raw string) {
	s.change(func() { s.mails = append(s.mails, &letter{raw: raw, size: len(raw)}) })
}

// Lie has the last mail said to be of another size.
func (s *Mail) Lie(size int) { s.change(func() { s.mails[len(s.mails)-1].size = size }) }

func (s *Mail) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
	close(s.changed)
	s.changed = make(chan struct{})
}

// Again implements Service.
func (s *Mail) Again() {
	s.change(func() {
		for _, m := range s.mails {
			m.seen = false
		}
	})
}

// Unread implements Service.
func (s *Mail) Unread() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.mails {
		if !m.seen {
			n++
		}
	}
	return n
}

// Heard implements Service.
func (s *Mail) Heard() []Heard {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Heard(nil), s.heard...)
}

// Raw is what was delivered, as it was written.
func (s *Mail) Raw() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.raw...)
}

// Answer implements Service.
func (s *Mail) Answer(a Answer) { s.change(func() { s.answer = a }) }

// Turn implements Service.
func (s *Mail) Turn(trick Trick) { s.change(func() { s.trick = trick }) }

// Poured implements Service.
func (s *Mail) Poured() int64 { return s.poured.Load() }

// Followed implements Service.
func (s *Mail) Followed() int { return 0 }

func (s *Mail) imap(l *lines) {
	l.say("* OK ready")
	safe := s.TLS == nil
	for {
		line, ok := l.line()
		tag, command, _ := strings.Cut(line, " ")
		if !ok {
			return
		}
		word, rest, _ := strings.Cut(command, " ")
		switch word {
		case "CAPABILITY":
			can := "IMAP4rev1"
			if s.Idle {
				can += " IDLE AUTH=PLAIN"
			}
			if !safe {
				can += " STARTTLS"
			}
			l.say("* CAPABILITY %s", can)
		case "STARTTLS":
			l.say("%s OK", tag)
			c := tls.Server(l.c, s.TLS)
			*l, safe = lines{bufio.NewReader(c), c}, true
			continue
		case "AUTHENTICATE":
			l.say("+ ")
			words, _ := l.line()
			if data, _ := base64.StdEncoding.DecodeString(words); !safe || string(data) != "\x00lab\x00"+s.Password {
				l.say("%s NO %s is wrong", tag, words)
				continue
			}
		case "LOGIN":
			if want := `"lab" "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s.Password) + `"`; rest != want || !safe {
				l.say("%s NO %s is wrong", tag, rest)
				continue
			}
		case "SELECT", "NOOP":
			l.say("* 9 EXISTS")
		case "IDLE":
			if !s.idle(l) {
				return
			}
		case "UID":
			s.uid(l, rest)
		}
		l.say("%s OK done", tag)
	}
}

// idle tells of what comes, until the driver has heard enough.
func (s *Mail) idle(l *lines) bool {
	s.mu.Lock()
	changed := s.changed
	s.mu.Unlock()
	l.say("+ idling")
	over, told := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(told)
		select {
		case <-changed:
			l.say("* 9 EXISTS")
		case <-over:
		}
	}()
	line, ok := l.line()
	close(over)
	<-told
	return ok && line == "DONE"
}

func (s *Mail) uid(l *lines, command string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	words := strings.Fields(command)
	if words[0] == "SEARCH" {
		list := ""
		for i, m := range s.mails {
			if !m.seen {
				list += " " + strconv.Itoa(i+1)
			}
		}
		l.say("* SEARCH%s", list)
		return
	}
	n, _ := strconv.Atoi(words[1])
	m := s.mails[n-1]
	head, _, _ := strings.Cut(m.raw, "\r\n\r\n")
	switch {
	case words[0] == "STORE":
		m.seen = strings.Contains(command, `+FLAGS.SILENT (\Seen)`)
	case strings.Contains(command, "RFC822.SIZE"):
		l.say(`* %d FETCH (UID %d RFC822.SIZE %d INTERNALDATE "%s")`, n, n, m.size, s.Arrives)
	case strings.Contains(command, "[HEADER]"):
		l.say("* %d FETCH (UID %d BODY[HEADER] {%d}\r\n%s\r\n\r\n)", n, n, len(head)+4, head)
	default:
		l.say("* %d FETCH (UID %d BODY[] {%d}\r\n%s)", n, n, len(m.raw), m.raw)
	}
}

// smtp is long because it is the whole of a protocol, a line each.
func (s *Mail) smtp(l *lines) {
	l.say("220 ready")
	to, safe, in := "", s.TLS == nil, false
	for {
		line, ok := l.line()
		if !ok {
			return
		}
		word, rest, _ := strings.Cut(line, " ")
		s.mu.Lock()
		answer := s.answer
		s.mu.Unlock()
		switch {
		case word == "EHLO" && safe:
			l.say("250-hello\r\n250 AUTH PLAIN")
		case word == "EHLO":
			l.say("250-hello\r\n250 STARTTLS")
		case word == "STARTTLS":
			l.say("220 go")
			c := tls.Server(l.c, s.TLS)
			*l, safe = lines{bufio.NewReader(c), c}, true
		case word == "AUTH":
			words := strings.TrimPrefix(rest, "PLAIN ")
			if data, _ := base64.StdEncoding.DecodeString(words); !safe || string(data) != "\x00lab\x00"+s.Password {
				l.say("535 %s is wrong", words)
				continue
			}
			in = true
			l.say("235 welcome")
		case word == "RCPT" && answer == Busy:
			l.say("451 busy")
		case word == "RCPT" && answer == No:
			l.say("550 %s is unknown here", s.Password)
		case word == "RCPT" && answer == Down:
			l.say("421 closing")
		case word == "RCPT" && in:
			to = strings.TrimSuffix(strings.TrimPrefix(rest, "TO:<"), ">")
			l.say("250 fine")
		case word == "DATA":
			l.say("354 go on")
			if !s.data(l, to) || answer == Lost {
				return
			}
			l.say("250 taken")
		case word == "MAIL":
			l.say("250 fine")
		case word == "QUIT":
			l.say("221 bye")
			return
		default:
			l.say("502 what")
		}
	}
}

func (s *Mail) data(l *lines, to string) bool {
	var b strings.Builder
	for {
		line, ok := l.line()
		if !ok {
			return false
		}
		if line == "." {
			break
		}
		b.WriteString(strings.TrimPrefix(line, ".") + "\r\n")
	}
	h, err := letterOf(b.String())
	h.Conversation = to
	if err != nil {
		h.Text = "this is no mail: " + err.Error()
	}
	s.change(func() {
		s.raw = append(s.raw, b.String())
		for _, old := range s.heard {
			if old.Key == h.Key {
				return // a mailbox shows it once
			}
		}
		s.heard = append(s.heard, h)
	})
	return true
}

// letterOf reads a mail as a person's program does.
func letterOf(raw string) (h Heard, err error) {
	m, err := mail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		return h, err
	}
	h.Key, h.Reply = m.Header.Get("Message-ID"), m.Header.Get("In-Reply-To")
	kind, params, err := mime.ParseMediaType(m.Header.Get("Content-Type"))
	if err != nil {
		return h, err
	}
	if kind == "text/plain" {
		data, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, m.Body))
		h.Text = string(data)
		return h, err
	}
	in := multipart.NewReader(m.Body, params["boundary"])
	for {
		p, err := in.NextPart()
		if err == io.EOF {
			return h, nil
		}
		if err != nil {
			return h, err
		}
		data, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding, p))
		if err != nil {
			return h, err
		}
		if p.FileName() == "" {
			h.Text = string(data)
		} else {
			h.Files = append(h.Files, connector.File{Name: p.FileName(), Data: data})
		}
	}
}
