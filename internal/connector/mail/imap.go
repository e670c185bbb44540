package mail

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lyceum/internal/connector"
	"lyceum/internal/connector/wire"
)

// The limits of what a mailbox gives: a mail whose files are as large as they may be, as it is
// written, a head alone, and how many mails at a time.
const (
	maxMail = wire.MaxFile/3*4 + wire.MaxFile/10 + 1<<20
	maxHead = 1 << 20
	batch   = 50
	// maxTries is how often something of a mail may fail before it is taken for unproven.
	maxTries = 3
)

// session is a connection to a mailbox. One goroutine has it.
type session struct {
	l     *link
	n     int
	can   map[string]bool
	fresh bool // the server has told of more mail
}

// response is an untagged one, with the literals that stand in it.
type response struct {
	text     string
	literals [][]byte
}

// read reads a response.
func (s *session) read(most int64) (r response, err error) {
	for {
		line, err := s.l.line()
		if err != nil {
			return r, err
		}
		if r.text += line; len(r.text) > maxLine {
			return r, errLong
		}
		at := strings.LastIndexByte(line, '{')
		if at < 0 || !strings.HasSuffix(line, "}") {
			return r, nil
		}
		n, err := strconv.ParseInt(line[at+1:len(line)-1], 10, 63)
		if err != nil {
			return r, nil // it only looks like one
		}
		if n < 0 || n > most {
			return r, fmt.Errorf("the server sends %d bytes, and %d are the most", n, most)
		}
		most -= n
		data, err := s.l.literal(n)
		if err != nil {
			return r, err
		}
		r.literals = append(r.literals, data)
	}
}

// command sends one and hands on what comes before its end. The words after "more" go when the
// server asks for them.
func (s *session) command(text string, more func() error, most int64, each func(response) error) error {
	s.n++
	tag := "A" + strconv.Itoa(s.n)
	if _, err := s.l.Write([]byte(tag + " " + text + "\r\n")); err != nil {
		return err
	}
	for {
		r, err := s.read(most)
		if err != nil {
			return err
		}
		if end, ok := strings.CutPrefix(r.text, tag+" "); ok {
			if word, _, _ := strings.Cut(end, " "); !strings.EqualFold(word, "OK") {
				return errors.New("the server says: " + end)
			}
			return nil
		}
		switch {
		case strings.HasPrefix(r.text, "+"):
			if more == nil {
				return errors.New("the server asks for more, and there is none")
			}
			if err := more(); err != nil {
				return err
			}
		case strings.HasPrefix(r.text, "* "):
			r.text = r.text[2:]
			if strings.HasSuffix(strings.ToUpper(r.text), " EXISTS") {
				s.fresh = true
			}
			if strings.HasPrefix(strings.ToUpper(r.text), "BYE") {
				return errors.New("the server hangs up: " + r.text)
			}
			if each != nil {
				if err := each(r); err != nil {
					return err
				}
			}
		default:
			return errors.New("the server says what is no answer")
		}
	}
}

// plain is a command of one line.
func (s *session) plain(text string) error { return s.command(text, nil, 0, nil) }

func (s *session) capabilities() error {
	s.can = map[string]bool{}
	return s.command("CAPABILITY", nil, 0, func(r response) error {
		if words := strings.Fields(strings.ToUpper(r.text)); len(words) > 0 && words[0] == "CAPABILITY" {
			for _, w := range words[1:] {
				s.can[w] = true
			}
		}
		return nil
	})
}

// login opens a mailbox.
func (d *Driver) login(ctx context.Context) (*session, error) {
	l, err := d.dial(ctx, d.o.IMAP, "993")
	if err != nil {
		return nil, err
	}
	s := &session{l: l}
	if err := s.greet(d); err != nil {
		_ = l.Close()
		return nil, l.told(err)
	}
	return s, nil
}

func (s *session) greet(d *Driver) error {
	hello, err := s.read(0)
	if err != nil {
		return err
	}
	if !strings.HasPrefix(hello.text, "* OK") {
		return errors.New("the server does not greet as one of IMAP does")
	}
	if err := s.capabilities(); err != nil {
		return err
	}
	if s.can["STARTTLS"] && !s.l.safe {
		if err := s.plain("STARTTLS"); err != nil {
			return err
		}
		if s.l.in.Buffered() > 0 {
			return errors.New("the server speaks before its words are safe")
		}
		s.l.Conn, s.l.safe = tls.Client(s.l.raw, d.tls(d.o.IMAP)), true
		if err := s.capabilities(); err != nil {
			return err
		}
	}
	if !s.l.safe && !here(d.o.IMAP) {
		return errOpen
	}
	if s.can["AUTH=PLAIN"] {
		words := base64.StdEncoding.EncodeToString([]byte("\x00" + d.o.User + "\x00" + d.o.Password))
		err = s.command("AUTHENTICATE PLAIN", func() error { _, err := s.l.Write([]byte(words + "\r\n")); return err }, 0, nil)
	} else {
		err = s.plain("LOGIN " + quoted(d.o.User) + " " + quoted(d.o.Password))
	}
	if err != nil {
		return err
	}
	if err := s.capabilities(); err != nil {
		return err
	}
	return s.plain("SELECT " + quoted(d.o.Folder))
}

func quoted(s string) string { return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"` }

// Run implements connector.Driver.
func (d *Driver) Run(ctx context.Context, take func(context.Context, connector.Message) error) error {
	s, err := d.login(ctx)
	if err != nil {
		return d.fail(ctx, "open the mailbox", err)
	}
	defer s.l.Close()
	tries := map[uint32]int{}
	for {
		s.l.left, s.fresh = maxSession, false
		unseen, err := s.unseen()
		if err != nil {
			return d.fail(ctx, "look for mail", err)
		}
		for _, uid := range unseen[:min(len(unseen), batch)] {
			s.l.left = maxSession
			if err := d.one(ctx, s, uid, tries, take); err != nil {
				return err
			}
		}
		if len(unseen) > batch || s.fresh {
			continue
		}
		if err := s.rest(ctx, d.o.Poll, d.o.Patience); err != nil {
			return d.fail(ctx, "wait for mail", err)
		}
	}
}

// one takes a mail, and marks it as seen.
func (d *Driver) one(ctx context.Context, s *session, uid uint32, tries map[uint32]int, take func(context.Context, connector.Message) error) error {
	raw, whole, at, err := s.fetch(uid)
	if err != nil {
		return d.fail(ctx, "fetch a mail", err)
	}
	for {
		m, ok, err := d.message(ctx, raw, whole, at)
		if tries[uid]++; err != nil && ctx.Err() == nil && tries[uid] < maxTries {
			if err := wire.Pause(ctx, time.Second); err != nil {
				return err
			}
			continue // of a key that is not found in time, once more
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		delete(tries, uid)
		if ok {
			m.Arrival = fmt.Sprint(uid) // one that was taken and not marked, in a crash, is no copy
			if err := take(ctx, m); err != nil && !errors.Is(err, connector.ErrReplayed) {
				return err
			}
		}
		break
	}
	if err := s.plain(fmt.Sprintf(`UID STORE %d +FLAGS.SILENT (\Seen)`, uid)); err != nil {
		return d.fail(ctx, "mark a mail", err)
	}
	return nil
}

// unseen are the mails that were not taken, the oldest first.
func (s *session) unseen() (uids []uint32, err error) {
	err = s.command("UID SEARCH UNSEEN", nil, 0, func(r response) error {
		words := strings.Fields(r.text)
		if len(words) == 0 || !strings.EqualFold(words[0], "SEARCH") {
			return nil
		}
		for _, w := range words[1:] {
			n, err := strconv.ParseUint(w, 10, 32)
			if err != nil || n == 0 {
				return errors.New("the server numbers mails as nobody does")
			}
			uids = append(uids, uint32(n))
		}
		return nil
	})
	slices.Sort(uids)
	return slices.Compact(uids), err
}

var (
	sizeOf = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)RFC822\.SIZE (\d{1,12})`) })
	dateOf = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)INTERNALDATE "([^"]{1,40})"`) })
)

// fetch gets a mail, or its head alone if it is too large, and when it came.
func (s *session) fetch(uid uint32) (raw []byte, whole bool, at time.Time, err error) {
	size := int64(0)
	err = s.command(fmt.Sprintf("UID FETCH %d (RFC822.SIZE INTERNALDATE)", uid), nil, 0, func(r response) error {
		if m := sizeOf().FindStringSubmatch(r.text); m != nil {
			size, _ = strconv.ParseInt(m[1], 10, 64) // of at most twelve digits
		}
		if m := dateOf().FindStringSubmatch(r.text); m != nil {
			at, _ = time.Parse("_2-Jan-2006 15:04:05 -0700", m[1]) // none is no time
		}
		return nil
	})
	if err != nil {
		return nil, false, at, err
	}
	what, most := "BODY.PEEK[]", int64(maxMail)
	if whole = size <= maxMail; !whole {
		what, most = "BODY.PEEK[HEADER]", maxHead
	}
	err = s.command(fmt.Sprintf("UID FETCH %d (%s)", uid, what), nil, most, func(r response) error {
		if len(r.literals) > 0 && strings.Contains(strings.ToUpper(r.text), "FETCH") {
			raw = r.literals[0]
		}
		return nil
	})
	return raw, whole, at.UTC(), err
}

// rest waits until there may be more mail: the server says so, or some time has passed.
func (s *session) rest(ctx context.Context, poll, patience time.Duration) error {
	s.l.allow(poll + patience)
	defer s.l.allow(patience)
	if !s.can["IDLE"] {
		if err := wire.Pause(ctx, poll); err != nil {
			return err
		}
		return s.plain("NOOP")
	}
	var once sync.Once
	done := func() { once.Do(func() { _, _ = s.l.Write([]byte("DONE\r\n")) }) }
	timer := time.AfterFunc(poll, done)
	defer timer.Stop()
	return s.command("IDLE", func() error { return nil }, 0, func(response) error {
		if s.fresh {
			done()
		}
		return nil
	})
}
