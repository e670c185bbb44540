package mail

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"mime"
	"net"
	"net/smtp"
	"net/textproto"
	"regexp"
	"strings"
	"sync"
	"time"

	"lyceum/internal/connector"
	"lyceum/internal/connector/wire"
	"lyceum/internal/media"
	"lyceum/internal/plain"
)

// maxAnswers is what a server may say to one mail. It is little, since package smtp puts the lines
// of an answer together one by one.
const maxAnswers = 64 << 10

// Send implements connector.Driver.
func (d *Driver) Send(ctx context.Context, o connector.Outgoing) error {
	to, ok := bare(o.Conversation)
	if !ok {
		return &connector.Refused{Reason: "this is no address of e-mail: " + plain.Brief(o.Conversation, 80)}
	}
	l, err := d.dial(ctx, d.o.SMTP, "465")
	if err != nil {
		return d.fail(ctx, "reach the server for mail", err)
	}
	defer l.Close()
	l.left = maxAnswers
	err = d.post(l, to, d.compose(to, o))
	if err == nil {
		return nil
	}
	told := d.fail(ctx, "send a mail", err)
	if said, ok := errors.AsType[*textproto.Error](err); ok && ctx.Err() == nil && said.Code >= 500 && !login(said.Code) {
		return &connector.Refused{Reason: told.Error()}
	}
	return told
}

// login tells which codes are about who we are: a person can mend that.
func login(code int) bool { return code == 530 || code == 534 || code == 535 || code == 538 }

// greet is what is said before a mail: who we are.
func (d *Driver) greet(l *link) (*smtp.Client, error) {
	host, _, _ := net.SplitHostPort(d.o.SMTP)
	c, err := smtp.NewClient(l, host)
	if err != nil {
		return nil, err
	}
	if err := c.Hello(d.domain); err != nil {
		return nil, err
	}
	if ok, _ := c.Extension("STARTTLS"); ok && !l.safe {
		if err := c.StartTLS(d.tls(d.o.SMTP)); err != nil {
			return nil, err
		}
		l.safe = true
	}
	if d.o.Password != "" {
		if !l.safe && !here(d.o.SMTP) {
			return nil, errOpen
		}
		if err := c.Auth(plainLogin(d.o.User + "\x00" + d.o.Password)); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Check implements connector.Checker: it logs in to both servers, and neither reads nor writes a mail.
func (d *Driver) Check(ctx context.Context) (string, error) {
	s, err := d.login(ctx)
	if err != nil {
		return "", d.fail(ctx, "open the mailbox", err)
	}
	_ = s.l.Close()
	l, err := d.dial(ctx, d.o.SMTP, "465")
	if err != nil {
		return "", d.fail(ctx, "reach the server for mail", err)
	}
	defer l.Close()
	l.left = maxAnswers
	c, err := d.greet(l)
	if err != nil {
		return "", d.fail(ctx, "log in to send mail", err)
	}
	_ = c.Quit()
	return "the mailbox opens, and mail can be sent", nil
}

func (d *Driver) post(l *link, to string, data []byte) error {
	c, err := d.greet(l)
	if err != nil {
		return err
	}
	if err := c.Mail(d.local + "@" + d.domain); err != nil {
		return err
	}
	if err := c.Rcpt(to); err != nil {
		return err
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(data); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	_ = c.Quit() // the server has it
	return nil
}

// plainLogin is a user and a password. Whether they may go is known before.
type plainLogin string

// Start implements smtp.Auth.
func (p plainLogin) Start(*smtp.ServerInfo) (string, []byte, error) {
	return "PLAIN", []byte("\x00" + string(p)), nil
}

// Next implements smtp.Auth.
func (plainLogin) Next(_ []byte, more bool) ([]byte, error) {
	if more {
		return nil, errors.New("the server asks for more than a user and a password")
	}
	return nil, nil
}

var simple = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}(\.[A-Za-z0-9_-]{1,100})*$`) })

// messageID is one that can stand in a field of ours.
var messageID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^<[!-;=?-~]{1,190}>$`) })

// id is a message id that is the same for the same words.
func (d *Driver) id(words string) string {
	if !simple().MatchString(words) || len(words) > 150 {
		sum := sha256.Sum256([]byte(words))
		words = hex.EncodeToString(sum[:16])
	}
	return "<" + words + "@" + d.domain + ">"
}

// compose writes a mail. Whatever an agent wrote is in its body, in base64, or on the one
// line of its subject: nothing of it can be a field or an end.
func (d *Driver) compose(to string, o connector.Outgoing) []byte {
	var b bytes.Buffer
	head := func(name, value string) { b.WriteString(name + ": " + value + "\r\n") }
	head("From", "Lyceum <"+d.local+"@"+d.domain+">")
	head("Reply-To", "<"+d.replies(to)+">")
	head("To", "<"+to+">")
	subject := plain.Brief(o.Quest, 60)
	if o.Kind != "" {
		subject += ": " + plain.Brief(o.Kind, 40)
	}
	head("Subject", mime.BEncoding.Encode("utf-8", "[Lyceum] "+subject))
	if !o.Time.IsZero() {
		head("Date", o.Time.UTC().Format(time.RFC1123Z))
	}
	head("Message-ID", d.id(o.Key))
	thread := d.id("quest " + o.Quest + " " + to)
	if messageID().MatchString(o.Reply) {
		head("In-Reply-To", o.Reply)
		thread += "\r\n " + o.Reply
	}
	head("References", thread)
	head("Auto-Submitted", "auto-generated")
	head("MIME-Version", "1.0")
	words := above + "\n\n" + wire.Cut(wire.Choices(o.Text, o.Options), maxText) + "\n"
	if len(o.Files) == 0 {
		encoded(&b, "text/plain; charset=utf-8", "", []byte(words))
		return b.Bytes()
	}
	sum := sha256.Sum256([]byte(o.Key + "\x00" + o.Text))
	edge := "lyceum-" + hex.EncodeToString(sum[:16]) // base64 has no such line
	head("Content-Type", `multipart/mixed; boundary="`+edge+`"`)
	b.WriteString("\r\n--" + edge + "\r\n")
	encoded(&b, "text/plain; charset=utf-8", "", []byte(words))
	for _, f := range o.Files {
		b.WriteString("--" + edge + "\r\n")
		name := mime.FormatMediaType("attachment", map[string]string{"filename": media.FileName(f.Name, "file")})
		encoded(&b, "application/octet-stream", name, f.Data)
	}
	b.WriteString("--" + edge + "--\r\n")
	return b.Bytes()
}

// encoded writes a part in base64.
func encoded(b *bytes.Buffer, kind, disposition string, data []byte) {
	b.WriteString("Content-Type: " + kind + "\r\nContent-Transfer-Encoding: base64\r\n")
	if disposition != "" {
		b.WriteString("Content-Disposition: " + disposition + "\r\n")
	}
	b.WriteString("\r\n")
	text := base64.StdEncoding.EncodeToString(data)
	for len(text) > 76 {
		b.WriteString(text[:76] + "\r\n")
		text = text[76:]
	}
	b.WriteString(strings.TrimRight(text, "\n") + "\r\n")
}
