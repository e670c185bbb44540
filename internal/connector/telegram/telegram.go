// Package telegram speaks with Telegram by its Bot API, which it polls.
//
// An update is acknowledged by asking for those after it, and that is done only when its message
// is taken. Telegram has no keys: a delivery of which the answer was lost may show twice.
// Conversations are the numbers of chats, with that of the topic behind a slash where there is
// one; senders are numbers too, since names can be given up and taken by others.
package telegram

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"lyceum/internal/connector"
	"lyceum/internal/connector/wire"

	"github.com/go-json-experiment/json/jsontext"
)

// Options are what a driver needs.
type Options struct {
	// Token is the bot's.
	Token string
	// Base is where the API is; "" is Telegram's own.
	Base string
	// Patience is how long a call may take, and Poll how long one that waits for messages is
	// left open; 0 means the usual.
	Patience, Poll time.Duration
}

// Kind is how such a connector is made.
func Kind() connector.Kind {
	return connector.Kind{
		Settings: map[string]bool{"url": false}, Secrets: map[string]bool{"key": true}, Most: connector.Control,
		Open: func(s connector.Settings) (connector.Driver, error) {
			return New(Options{Token: s.Secrets["key"], Base: s.Values["url"]})
		},
	}
}

// The usual, and how many updates come at a time.
const (
	poll  = 50 * time.Second
	rest  = 200 * time.Millisecond
	batch = 20
)

// Driver is one bot.
type Driver struct {
	client *wire.Client
	token  string
	poll   time.Duration
	steps  wire.Steps
	// tries are how often a file of a message did not come; Run alone has them.
	tries map[string]int
}

// New makes a driver. It asks nothing of the service yet.
func New(o Options) (*Driver, error) {
	if id, secret, ok := strings.Cut(o.Token, ":"); !ok || id == "" || secret == "" || url.PathEscape(o.Token) != o.Token {
		return nil, errors.New("a token of Telegram has the form 123456:letters: ask @BotFather for one")
	}
	if o.Base == "" {
		o.Base = "https://api.telegram.org"
	}
	if !wire.Safe(o.Base) {
		return nil, errors.New("the address of Telegram's API begins with https")
	}
	if o.Poll == 0 {
		o.Poll = poll
	}
	base := strings.TrimRight(o.Base, "/")
	return &Driver{
		client: &wire.Client{Service: "Telegram", Base: base + "/bot" + o.Token, Secrets: []string{o.Token}, Patience: o.Patience, Read: read},
		token:  o.Token, poll: o.Poll, tries: map[string]int{},
	}, nil
}

// read says what an answer of the API means.
func read(status int, body []byte) *wire.Failure {
	var a struct {
		OK          bool   `json:"ok"`
		Description string `json:"description"`
		Parameters  struct {
			After int `json:"retry_after"`
		} `json:"parameters"`
	}
	if err := wire.Decode(body, &a); err != nil || a.OK {
		return nil
	}
	final := status == http.StatusBadRequest || status == http.StatusForbidden || status == http.StatusRequestEntityTooLarge
	return &wire.Failure{Text: a.Description, After: time.Duration(max(a.Parameters.After, 0)) * time.Second, Final: final}
}

// call asks the API for something.
func call[T any](ctx context.Context, d *Driver, method string, body any, wait time.Duration) (T, error) {
	var a struct {
		Result T `json:"result"`
	}
	err := d.client.Call(ctx, http.MethodPost, "/"+method, body, &a, wait)
	return a.Result, err
}

// Run implements connector.Driver.
func (d *Driver) Run(ctx context.Context, take func(context.Context, connector.Message) error) error {
	me, err := call[user](ctx, d, "getMe", nil, 0)
	if err != nil {
		return err
	}
	if me.ID == 0 {
		return errors.New("the service does not say who the bot is")
	}
	next := int64(0)
	for {
		updates, err := call[[]jsontext.Value](ctx, d, "getUpdates", map[string]any{
			"offset": next, "limit": batch, "timeout": int(d.poll / time.Second), "allowed_updates": []string{"message", "callback_query"},
		}, d.poll)
		if err != nil {
			return err
		}
		if len(updates) > batch {
			return fmt.Errorf("the service has sent %d updates, and was asked for %d", len(updates), batch)
		}
		if len(updates) == 0 {
			// One that does not wait, as it was asked to, is not asked all the time.
			if err := wire.Pause(ctx, rest); err != nil {
				return err
			}
		}
		progress := false
		for _, raw := range updates {
			var u update
			if err := wire.Decode(raw, &u); err != nil {
				// One that cannot be read must not stand before all others for ever.
				if err := wire.Decode(raw, &u.updateID); err != nil {
					return errors.New("the service has sent an update without a number")
				}
			}
			if u.ID < next && next > 0 {
				continue // it repeats itself
			}
			if err := d.take(ctx, &me, &u, take); err != nil {
				return err
			}
			next, progress = u.ID+1, true
		}
		if len(updates) > 0 && !progress {
			return errors.New("the service tells of the same updates again")
		}
	}
}

// Check implements connector.Checker.
func (d *Driver) Check(ctx context.Context) (string, error) {
	me, err := call[user](ctx, d, "getMe", nil, 0)
	if err == nil && me.ID == 0 {
		err = errors.New("the service does not say who the bot is")
	}
	return "Telegram knows the bot " + strconv.FormatInt(me.ID, 10), err
}

// take hands a message over, and says so to who pressed a button.
func (d *Driver) take(ctx context.Context, me *user, u *update, take func(context.Context, connector.Message) error) error {
	m, ok := u.message(me)
	if !ok {
		return nil
	}
	if u.Message != nil {
		if err := d.files(ctx, u.Message, &m); err != nil {
			return err
		}
	}
	if err := take(ctx, m); err != nil {
		return err
	}
	delete(d.tries, m.ID)
	if u.Pressed != nil {
		// The circle on the button ends. If not, nothing is lost.
		_, _ = call[bool](ctx, d, "answerCallbackQuery", map[string]any{"callback_query_id": u.Pressed.ID}, 0)
	}
	return nil
}

// Send implements connector.Driver.
func (d *Driver) Send(ctx context.Context, o connector.Outgoing) error {
	chat, topic, ok := place(o.Conversation)
	if !ok {
		return &connector.Refused{Reason: "this is no chat of Telegram: " + strconv.Quote(o.Conversation)}
	}
	to := func(more map[string]any) map[string]any {
		more["chat_id"] = chat
		if topic != 0 {
			more["message_thread_id"] = topic
		}
		return more
	}
	steps := []func() error{func() error { return d.say(ctx, to, o) }}
	for _, f := range o.Files {
		steps = append(steps, func() error { return d.file(ctx, chat, topic, f) })
	}
	return d.steps.Do(o.Key, steps)
}

// say sends the words, and the buttons. What Telegram cannot read as HTML goes as it is.
func (d *Driver) say(ctx context.Context, to func(map[string]any) map[string]any, o connector.Outgoing) error {
	body := to(map[string]any{
		"text": style.Render(o.Text), "parse_mode": "HTML", "link_preview_options": map[string]any{"is_disabled": true},
	})
	if n, err := strconv.ParseInt(o.Reply, 10, 64); err == nil {
		body["reply_parameters"] = map[string]any{"message_id": n, "allow_sending_without_reply": true}
	}
	if keys := buttons(o.Options); keys != nil {
		body["reply_markup"] = map[string]any{"inline_keyboard": keys}
	}
	_, err := call[jsontext.Value](ctx, d, "sendMessage", body, 0)
	if no, ok := errors.AsType[*connector.Refused](err); ok && strings.Contains(no.Reason, "parse entities") {
		delete(body, "parse_mode")
		body["text"] = quiet(wire.Cut(o.Text, style.Most))
		_, err = call[jsontext.Value](ctx, d, "sendMessage", body, 0)
	}
	return err
}

// place reads the name of a conversation.
func place(s string) (chat, topic int64, ok bool) {
	first, second, more := strings.Cut(s, "/")
	chat, err := strconv.ParseInt(first, 10, 64)
	if more && err == nil {
		topic, err = strconv.ParseInt(second, 10, 64)
	}
	return chat, topic, err == nil && chat != 0
}
