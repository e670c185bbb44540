// Package slack speaks with Slack: it receives by Socket Mode and sends by the Web API.
//
// An envelope is acknowledged after its message is taken; Slack tells of the others again. A
// message is known by its channel and its time stamp, whatever envelope it comes in. Slack has no
// keys of deliveries: the key goes along in the message's metadata, and a delivery of which the
// answer was lost may show twice. Conversations are the ids of channels, senders those of users.
package slack

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"lyceum/internal/connector"
	"lyceum/internal/connector/wire"
	"lyceum/internal/media"
	"lyceum/internal/plain"
)

// Options are what a driver needs.
type Options struct {
	// App is the token of the app (xapp-…), which opens connections; Bot that of its bot
	// (xoxb-…), which speaks.
	App, Bot string
	// Base is where the API is; "" is Slack's own.
	Base string
	// Patience is how long a call may take, and Quiet how long a connection may say nothing;
	// 0 means the usual.
	Patience, Quiet time.Duration
}

// Kind is how such a connector is made.
func Kind() connector.Kind {
	return connector.Kind{
		Settings: map[string]bool{"url": false}, Secrets: map[string]bool{"app": true, "bot": true}, Most: connector.Control,
		Open: func(s connector.Settings) (connector.Driver, error) {
			return New(Options{App: s.Secrets["app"], Bot: s.Secrets["bot"], Base: s.Values["url"]})
		},
	}
}

// Driver is one app in one workspace.
type Driver struct {
	app, bot *wire.Client
	host     string
	quiet    time.Duration
	steps    wire.Steps
	me       string // the bot's id; Run alone has it
}

// New makes a driver. It asks nothing of the service yet.
func New(o Options) (*Driver, error) {
	for name, token := range map[string]string{"xapp-": o.App, "xoxb-": o.Bot} {
		if !strings.HasPrefix(token, name) || strings.ContainsAny(token, " \r\n") {
			return nil, fmt.Errorf("the service needs a token that begins with %s", name)
		}
	}
	if o.Base == "" {
		o.Base = "https://slack.com/api"
	}
	u, err := url.Parse(o.Base)
	if err != nil || !wire.Safe(o.Base) {
		return nil, errors.New("the address of Slack's API begins with https")
	}
	if o.Quiet == 0 {
		o.Quiet = 2 * time.Minute // it pings far more often
	}
	secrets := []string{o.App, o.Bot}
	of := func(token string) *wire.Client {
		return &wire.Client{
			Service: "Slack", Base: strings.TrimRight(o.Base, "/"), Header: http.Header{"Authorization": {"Bearer " + token}},
			Secrets: secrets, Patience: o.Patience, Read: read,
		}
	}
	return &Driver{app: of(o.App), bot: of(o.Bot), host: u.Host, quiet: o.Quiet}, nil
}

// hopeless are the errors that no other try mends.
var hopeless = map[string]bool{
	"channel_not_found": true, "not_in_channel": true, "is_archived": true, "msg_too_long": true, "no_text": true, "restricted_action": true,
	"invalid_blocks": true, "user_not_found": true, "cannot_dm_bot": true, "messages_tab_disabled": true, "invalid_arguments": true, "file_not_found": true,
}

// read says what an answer of the API means: it has a status of its own.
func read(status int, body []byte) *wire.Failure {
	var a struct {
		OK    *bool  `json:"ok"`
		Error string `json:"error"`
	}
	if err := wire.Decode(body, &a); err != nil || a.OK == nil || *a.OK || status == http.StatusTooManyRequests {
		return nil
	}
	return &wire.Failure{Text: a.Error, Final: hopeless[a.Error]}
}

// call asks for something. An answer that does not say that it is one is none.
func call(ctx context.Context, c *wire.Client, method string, body, out any) error {
	var ok struct {
		OK bool `json:"ok"`
	}
	if out == nil {
		out = &ok
	} else {
		ok.OK = true
	}
	err := c.Call(ctx, http.MethodPost, "/"+method, body, out, 0)
	if err == nil && !ok.OK {
		return errors.New("the service does not say that it has done it")
	}
	return err
}

// whoami asks which bot the token is of.
func (d *Driver) whoami(ctx context.Context) (string, error) {
	var who struct {
		ID string `json:"user_id"`
	}
	err := call(ctx, d.bot, "auth.test", struct{}{}, &who)
	if err == nil && who.ID == "" {
		err = errors.New("the service does not say who the bot is")
	}
	return who.ID, err
}

// address asks where a connection can be made.
func (d *Driver) address(ctx context.Context) (string, error) {
	var at struct {
		URL string `json:"url"`
	}
	if err := call(ctx, d.app, "apps.connections.open", struct{}{}, &at); err != nil {
		return "", err
	}
	if u, err := url.Parse(at.URL); err != nil || u.Scheme != "wss" && (u.Scheme != "ws" || u.Host != d.host) {
		return "", errors.New("the service names no address for a connection")
	}
	return at.URL, nil
}

// Check implements connector.Checker: it asks with both tokens, and makes no connection.
func (d *Driver) Check(ctx context.Context) (string, error) {
	me, err := d.whoami(ctx)
	if err == nil {
		_, err = d.address(ctx)
	}
	return "Slack knows the app and its bot " + plain.Brief(me, 40), err
}

// style is mrkdwn. Where < and > are escaped, nothing in it names people or channels.
var style = wire.Style{
	Escape: wire.Angles, Bold: [2]string{"*", "*"}, Code: [2]string{"`", "`"}, Block: [2]string{"```\n", "\n```"}, Break: "\n", Most: 12000,
}

var channel = plain.Form{First: "CDGU", Rest: "A-Z0-9", Least: 3, Most: 31}

// Send implements connector.Driver.
func (d *Driver) Send(ctx context.Context, o connector.Outgoing) error {
	if !channel.MatchString(o.Conversation) {
		return &connector.Refused{Reason: "this is no channel of Slack: " + plain.Brief(o.Conversation, 80)}
	}
	steps := []func() error{func() error { return d.say(ctx, o) }}
	for _, f := range o.Files {
		steps = append(steps, func() error { return d.file(ctx, o.Conversation, f) })
	}
	return d.steps.Do(o.Key, steps)
}

// section is how much of a text goes into a block; there are few enough of them.
const section = 2900

func (d *Driver) say(ctx context.Context, o connector.Outgoing) error {
	text := style.Render(o.Text)
	body := map[string]any{
		"channel": o.Conversation, "text": text, "mrkdwn": true, "parse": "none", "link_names": false, "unfurl_links": false, "unfurl_media": false,
		"metadata": map[string]any{"event_type": "lyceum_delivery", "event_payload": map[string]any{"key": o.Key}},
	}
	if o.Reply != "" {
		body["thread_ts"] = o.Reply
	}
	if buttons := buttons(o.Options); buttons != nil {
		var blocks []map[string]any
		for part := range parts(text) {
			blocks = append(blocks, map[string]any{"type": "section", "text": map[string]any{"type": "mrkdwn", "text": part, "verbatim": true}})
		}
		body["blocks"] = append(blocks, map[string]any{"type": "actions", "elements": buttons})
	}
	return call(ctx, d.bot, "chat.postMessage", body, nil)
}

// parts are a text in pieces, cut at lines where it has them.
func parts(text string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for strings.TrimSpace(text) != "" {
			piece := plain.Cut(text, section)
			if at := strings.LastIndexByte(piece, '\n'); at > section/2 && len(piece) < len(text) {
				piece = piece[:at+1]
			}
			if text = text[len(piece):]; !yield(piece) {
				return
			}
		}
	}
}

// pressed is what the actions of our buttons are called.
const pressed = "lyceum_option_"

func buttons(options []string) (out []map[string]any) {
	for i, o := range options {
		if o = plain.Line(o); o != "" && i < 20 {
			out = append(out, map[string]any{
				"type": "button", "action_id": pressed + fmt.Sprint(i), "value": plain.Cut(o, 1900),
				"text": map[string]any{"type": "plain_text", "text": plain.Brief(o, 70), "emoji": false},
			})
		}
	}
	return out
}

// file sends one: Slack says where it is to go, and is told that it is there.
func (d *Driver) file(ctx context.Context, to string, f connector.File) error {
	name := media.FileName(f.Name, "file")
	var place struct {
		URL string `json:"upload_url"`
		ID  string `json:"file_id"`
	}
	form := url.Values{"filename": {name}, "length": {fmt.Sprint(len(f.Data))}}
	ask := wire.Raw{Type: "application/x-www-form-urlencoded", Data: []byte(form.Encode())}
	if err := call(ctx, d.bot, "files.getUploadURLExternal", ask, &place); err != nil {
		return err
	}
	if place.ID == "" || !d.own(place.URL) {
		return errors.New("the service does not say where a file is to go")
	}
	plainly := &wire.Client{Service: "Slack", Secrets: d.bot.Secrets, Patience: d.bot.Patience}
	if err := plainly.Put(ctx, place.URL, wire.Raw{Type: "application/octet-stream", Data: f.Data}); err != nil {
		return err
	}
	return call(ctx, d.bot, "files.completeUploadExternal", map[string]any{"files": []any{map[string]any{"id": place.ID, "title": name}}, "channel_id": to}, nil)
}

// own tells whether an address is Slack's: only there do tokens and files go.
func (d *Driver) own(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.User != nil {
		return false
	}
	return u.Host == d.host || u.Scheme == "https" && (u.Host == "slack.com" || strings.HasSuffix(u.Host, ".slack.com"))
}
