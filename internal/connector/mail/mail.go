// Package mail speaks with people by e-mail: it sends by SMTP and receives by IMAP, from a
// mailbox that is Lyceum's alone.
//
// A mail is acknowledged by marking it as seen, after it is taken; what is unseen comes again.
// A conversation is the address of the person. Anybody can write any sender into a mail, so one
// is proven only if it came to the secret address that only this person was ever written from, or
// if it is signed (DKIM) by the domain of its sender, together with the fact that it was meant
// for us. The message id of a delivery is made of its key.
package mail

import (
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base32"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"strings"
	"time"

	"lyceum/internal/connector"
	"lyceum/internal/connector/wire"
	"lyceum/internal/plain"
)

// Options are what a driver needs.
type Options struct {
	// Address is the one that people write to. IMAP and SMTP are host:port; TLS is spoken from
	// the beginning at 993 and 465, and by STARTTLS elsewhere. Without it nothing is done, unless
	// the host is this machine.
	Address, IMAP, SMTP string
	// User and Password are for both; a user "" is the address.
	User, Password string
	// Secret is what secret addresses are made with; without it only signatures prove a sender.
	Secret string
	// Folder is where mail comes in; "" is INBOX.
	Folder string
	// Keys finds keys of signatures; nil asks the DNS.
	Keys Resolver
	// Patience is how long a server may be silent, and Poll how long until it is asked for new
	// mail where it does not tell by itself; 0 means the usual.
	Patience, Poll time.Duration
	// TLS is nil but for tests.
	TLS *tls.Config
}

// Kind is how such a connector is made. Nobody has control by e-mail: it is too easily forwarded.
func Kind() connector.Kind {
	return connector.Kind{
		Settings: map[string]bool{"address": true, "imap": true, "smtp": true, "user": false, "folder": false},
		Secrets:  map[string]bool{"key": true, "secret": false}, Most: connector.Talk,
		Open: func(s connector.Settings) (connector.Driver, error) {
			v := s.Values
			return New(Options{
				Address: v["address"], IMAP: v["imap"], SMTP: v["smtp"], User: v["user"], Folder: v["folder"],
				Password: s.Secrets["key"], Secret: s.Secrets["secret"],
			})
		},
	}
}

// Resolver finds texts in the DNS. A *net.Resolver does.
type Resolver interface {
	LookupTXT(ctx context.Context, name string) ([]string, error)
}

// Driver is one mailbox.
type Driver struct {
	o             Options
	local, domain string // of the address
	secrets       []string
}

// New makes a driver. It asks nothing of the servers yet.
func New(o Options) (*Driver, error) {
	address, ok := bare(o.Address)
	if !ok {
		return nil, fmt.Errorf("%s is no address of e-mail", plain.Brief(o.Address, 80))
	}
	for _, server := range []string{o.IMAP, o.SMTP} {
		if _, _, err := net.SplitHostPort(server); err != nil {
			return nil, fmt.Errorf("%s is no host with a port", plain.Brief(server, 80))
		}
	}
	if strings.ContainsAny(o.User+o.Password+o.Folder, "\r\n\x00") {
		return nil, errors.New("a user, password or folder has a line break")
	}
	if o.Secret != "" && len(o.Secret) < 16 {
		return nil, errors.New("the secret for addresses of replies has less than 16 characters")
	}
	if o.User == "" {
		o.User = o.Address
	}
	if o.Keys == nil {
		o.Keys = net.DefaultResolver
	}
	if o.Folder == "" {
		o.Folder = "INBOX"
	}
	if o.Patience == 0 {
		o.Patience = wire.Patience
	}
	if o.Poll == 0 {
		o.Poll = 5 * time.Minute
	}
	d := &Driver{o: o}
	d.local, d.domain, _ = strings.Cut(address, "@")
	login := "\x00" + o.User + "\x00" + o.Password
	d.secrets = []string{o.Password, o.Secret, base64.StdEncoding.EncodeToString([]byte(login)), base64.StdEncoding.EncodeToString([]byte(o.Password))}
	return d, nil
}

// bare is an address of ASCII without a name, in small letters.
func bare(s string) (string, bool) {
	a, err := mail.ParseAddress(s)
	if err != nil || a.Name != "" || a.Address != s || strings.ContainsAny(s, " \t\r\n\"<>(),;:\\") || len(s) > 254 {
		return "", false
	}
	for i := range len(s) {
		if s[i] >= 0x80 {
			return "", false
		}
	}
	local, domain, ok := strings.Cut(s, "@")
	return strings.ToLower(s), ok && local != "" && strings.Contains(domain, ".") && !strings.Contains(domain, "@")
}

// replies is the address that one person alone is written from.
func (d *Driver) replies(conversation string) string {
	if d.o.Secret == "" {
		return d.local + "@" + d.domain
	}
	return d.local + "+" + d.token(conversation) + "@" + d.domain
}

func (d *Driver) token(conversation string) string {
	h := hmac.New(sha256.New, []byte(d.o.Secret))
	_, _ = h.Write([]byte("reply address\x00" + conversation))
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil)[:16]))
}

// ours tells whether an address is the driver's, and which token it has.
func (d *Driver) ours(address string) (token string, ok bool) {
	local, domain, _ := strings.Cut(strings.ToLower(address), "@")
	local, token, _ = strings.Cut(local, "+")
	return token, local == d.local && domain == d.domain
}

// fail is an error of a server, without secrets.
func (d *Driver) fail(ctx context.Context, doing string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("%s: %s", doing, plain.Brief(wire.Hide(err.Error(), d.secrets), 300))
}

// maxSession is what a server may send in a connection besides mails.
const maxSession = 4 << 20

// dial opens a connection that ends with the context, or when the server is silent for longer
// than allowed. The caller closes it.
func (d *Driver) dial(ctx context.Context, address, implicit string) (*link, error) {
	within, cancel := context.WithTimeout(ctx, d.o.Patience)
	defer cancel()
	raw, err := (&net.Dialer{}).DialContext(within, "tcp", address)
	if err != nil {
		return nil, err
	}
	l := &link{Conn: raw, raw: raw, patience: d.o.Patience, left: maxSession}
	l.stop = context.AfterFunc(ctx, func() { _ = raw.Close() })
	l.watch = time.AfterFunc(d.o.Patience, func() { l.silent.Store(true); _ = raw.Close() })
	if _, port, _ := net.SplitHostPort(address); port == implicit {
		l.Conn = tls.Client(raw, d.tls(address))
		l.safe = true
	}
	l.in = bufio.NewReaderSize(l, 4096)
	return l, nil
}

func (d *Driver) tls(address string) *tls.Config {
	c := d.o.TLS.Clone()
	if c == nil {
		c = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if c.ServerName == "" {
		c.ServerName, _, _ = net.SplitHostPort(address)
	}
	return c
}

// here tells whether a server is on this machine, where nobody listens.
func here(address string) bool {
	host, _, _ := net.SplitHostPort(address)
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// errOpen is that of a server that would have the password in the open.
var errOpen = errors.New("the server speaks no TLS, and the password would go over the network in the open")

var _ connector.Driver = (*Driver)(nil)
