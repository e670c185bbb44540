// Package matrix speaks with a homeserver of Matrix, by its client-server API.
//
// How far messages were taken is kept on the homeserver, in the account's data, and moves only
// when all of a sync are taken: so they come again after any crash, and are told apart by their
// event ids. Deliveries carry their key as the transaction, which the homeserver knows again.
// Rooms with encryption are not read: that needs a library of its own, or the webhook bridge.
package matrix

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"lyceum/internal/connector"
	"lyceum/internal/connector/wire"
	"lyceum/internal/media"
	"lyceum/internal/plain"
)

// Options are what a driver needs.
type Options struct {
	// Base is the address of the homeserver, and Token the access token of an account that is
	// Lyceum's own.
	Base, Token string
	// Patience is how long a call may take, and Poll how long one that waits for messages is
	// left open; 0 means the usual.
	Patience, Poll time.Duration
}

// Kind is how such a connector is made.
func Kind() connector.Kind {
	return connector.Kind{
		Settings: map[string]bool{"url": true}, Secrets: map[string]bool{"key": true}, Most: connector.Control,
		Open: func(s connector.Settings) (connector.Driver, error) {
			return New(Options{Base: s.Values["url"], Token: s.Secrets["key"]})
		},
	}
}

// Driver is one account.
type Driver struct {
	client *wire.Client
	poll   time.Duration
	me     string // the account; Run alone has it and what follows
	name   string // as others see it
	groups map[string]bool
	joined int
	tries  map[string]int
}

// New makes a driver. It asks nothing of the homeserver yet.
func New(o Options) (*Driver, error) {
	if !wire.Safe(o.Base) {
		return nil, errors.New("a homeserver of Matrix is an address like https://matrix.example.org")
	}
	if o.Token == "" || strings.ContainsAny(o.Token, " \r\n") {
		return nil, errors.New("an access token of Matrix is needed")
	}
	if o.Poll == 0 {
		o.Poll = 30 * time.Second
	}
	return &Driver{
		client: &wire.Client{
			Service: "Matrix", Base: strings.TrimRight(o.Base, "/") + "/_matrix", Header: http.Header{"Authorization": {"Bearer " + o.Token}},
			Secrets: []string{o.Token}, Patience: o.Patience, Read: read,
		},
		poll: o.Poll, tries: map[string]int{},
	}, nil
}

// read says what an answer means.
func read(status int, body []byte) *wire.Failure {
	var a struct {
		Code  string `json:"errcode"`
		Text  string `json:"error"`
		After int64  `json:"retry_after_ms"`
	}
	if err := wire.Decode(body, &a); err != nil || a.Code == "" || status < 400 {
		return nil
	}
	final := status == http.StatusBadRequest || status == http.StatusForbidden || status == http.StatusNotFound || status == http.StatusRequestEntityTooLarge
	return &wire.Failure{Text: a.Code + ": " + a.Text, After: time.Duration(min(max(a.After, 0), 3_600_000)) * time.Millisecond, Final: final}
}

const api = "/client/v3"

func (d *Driver) get(ctx context.Context, path string, out any, wait time.Duration) error {
	return d.client.Call(ctx, http.MethodGet, path, nil, out, wait)
}

// whoami asks which account the token is of.
func (d *Driver) whoami(ctx context.Context) (string, error) {
	var who struct {
		ID string `json:"user_id"`
	}
	if err := d.get(ctx, api+"/account/whoami", &who, 0); err != nil {
		return "", err
	}
	if !strings.HasPrefix(who.ID, "@") {
		return "", errors.New("the service does not say who the account is")
	}
	return who.ID, nil
}

// Check implements connector.Checker.
func (d *Driver) Check(ctx context.Context) (string, error) {
	me, err := d.whoami(ctx)
	return "the homeserver knows " + plain.Brief(me, 80), err
}

// style is the HTML that clients of Matrix show.
var style = wire.Style{
	Escape: func(s string) string { return strings.ReplaceAll(wire.Angles(s), `"`, "&quot;") },
	Bold:   [2]string{"<strong>", "</strong>"}, Code: [2]string{"<code>", "</code>"}, Block: [2]string{"<pre><code>", "</code></pre>"}, Break: "<br>",
	Most: most,
}

// most is how much of a text goes into an event, which has 64 KiB with everything, twice written
// and escaped.
const most = 4000

var room = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^![^\s]{1,254}$`) })

// Send implements connector.Driver.
func (d *Driver) Send(ctx context.Context, o connector.Outgoing) error {
	if !room().MatchString(o.Conversation) {
		return &connector.Refused{Reason: "this is no room of Matrix: " + plain.Brief(o.Conversation, 80)}
	}
	text := wire.Choices(o.Text, o.Options)
	body := map[string]any{
		"msgtype": "m.text", "body": wire.Cut(text, most), "format": "org.matrix.custom.html", "formatted_body": style.Render(text),
		"m.mentions": map[string]any{}, // an agent rings nobody up
	}
	if o.Reply != "" {
		body["m.relates_to"] = map[string]any{"m.in_reply_to": map[string]any{"event_id": o.Reply}}
	}
	err := d.put(ctx, o, 0, body)
	for i, f := range o.Files {
		if err != nil {
			break
		}
		err = d.file(ctx, o, i+1, f)
	}
	return err
}

// put sends one event of a delivery. Each has a transaction, so that no other try shows it twice.
func (d *Driver) put(ctx context.Context, o connector.Outgoing, n int, content map[string]any) error {
	txn := url.PathEscape(o.Key + "-" + strconv.Itoa(n))
	var sent struct {
		ID string `json:"event_id"`
	}
	err := d.client.Call(ctx, http.MethodPut, api+"/rooms/"+url.PathEscape(o.Conversation)+"/send/m.room.message/"+txn, content, &sent, 0)
	if err == nil && sent.ID == "" {
		return errors.New("the service does not say that it has taken the message")
	}
	return err
}

func (d *Driver) file(ctx context.Context, o connector.Outgoing, n int, f connector.File) error {
	name := media.FileName(f.Name, "file")
	var up struct {
		URI string `json:"content_uri"`
	}
	body := wire.Raw{Type: "application/octet-stream", Data: f.Data}
	if err := d.client.Call(ctx, http.MethodPost, "/media/v3/upload?filename="+url.QueryEscape(name), body, &up, 0); err != nil {
		return err
	}
	if _, ok := stored(up.URI); !ok {
		return errors.New("the service does not say where it has put a file")
	}
	return d.put(ctx, o, n, map[string]any{
		"msgtype": "m.file", "body": name, "filename": name, "url": up.URI, "info": map[string]any{"size": len(f.Data)}, "m.mentions": map[string]any{},
	})
}

var content = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^mxc://([A-Za-z0-9.:\[\]-]{1,255})/([A-Za-z0-9_-]{1,255})$`)
})

// stored is the path of what an address of content names.
func stored(uri string) (string, bool) {
	m := content().FindStringSubmatch(uri)
	if m == nil || strings.Contains(m[1], "..") {
		return "", false
	}
	return "/client/v1/media/download/" + m[1] + "/" + m[2], true
}
