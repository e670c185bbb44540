package slack

import (
	"context"
	"errors"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
	"time"

	"lyceum/internal/connector"
	"lyceum/internal/connector/wire"
	"lyceum/internal/media"
	"lyceum/internal/plain"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// What of Slack's objects is read.
type (
	envelope struct {
		ID      string         `json:"envelope_id"`
		Type    string         `json:"type"`
		Reason  string         `json:"reason"`
		Payload jsontext.Value `json:"payload"`
	}
	callback struct {
		Event said `json:"event"`
	}
	said struct {
		Type    string `json:"type"`
		Subtype string `json:"subtype"`
		Channel string `json:"channel"`
		Kind    string `json:"channel_type"`
		User    string `json:"user"`
		Bot     string `json:"bot_id"`
		Text    string `json:"text"`
		Time    string `json:"ts"`
		Files   []file `json:"files"`
	}
	file struct {
		Name string `json:"name"`
		Type string `json:"mimetype"`
		Size int64  `json:"size"`
		URL  string `json:"url_private_download"`
	}
	pressing struct {
		Type string `json:"type"`
		User struct {
			ID string `json:"id"`
		} `json:"user"`
		Channel struct {
			ID string `json:"id"`
		} `json:"channel"`
		Actions []struct {
			ID    string `json:"action_id"`
			Value string `json:"value"`
			Time  string `json:"action_ts"`
		} `json:"actions"`
	}
)

// Run implements connector.Driver. Slack closes connections every few hours and says so before;
// then the next one is opened.
func (d *Driver) Run(ctx context.Context, take func(context.Context, connector.Message) error) error {
	var err error
	if d.me, err = d.whoami(ctx); err != nil {
		return err
	}
	for {
		if err := d.connection(ctx, take); err != nil {
			return err
		}
		if err := wire.Pause(ctx, time.Second); err != nil {
			return err
		}
	}
}

// connection receives from one, until Slack wants another.
func (d *Driver) connection(ctx context.Context, take func(context.Context, connector.Message) error) error {
	at, err := d.address(ctx)
	if err != nil {
		return err
	}
	patience := d.quiet
	if d.app.Patience > 0 {
		patience = min(patience, d.app.Patience)
	}
	s, err := connect(ctx, at, patience)
	if err != nil {
		return d.broke(ctx, err)
	}
	defer s.Close()
	for {
		data, err := s.read()
		if err != nil {
			return d.broke(ctx, err)
		}
		var e envelope
		if err := wire.Decode(data, &e); err != nil {
			return errors.New("the service has sent what cannot be read")
		}
		switch e.Type {
		case "hello":
			continue
		case "disconnect":
			return nil
		}
		if m, ok := d.message(ctx, &e); ok {
			if err := take(ctx, m); err != nil {
				return err
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if e.ID != "" {
			ack, _ := json.Marshal(map[string]string{"envelope_id": e.ID})
			if err := s.write(frameText, ack); err != nil {
				return d.broke(ctx, err)
			}
		}
	}
}

func (d *Driver) broke(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("receive from Slack: %s", plain.Brief(d.bot.Hide(err.Error()), 200))
}

// message is what an envelope says, if a person says something in it.
func (d *Driver) message(ctx context.Context, e *envelope) (m connector.Message, ok bool) {
	switch e.Type {
	case "events_api":
		var c callback
		if wire.Decode(e.Payload, &c) != nil {
			return m, false
		}
		return d.event(ctx, &c.Event)
	case "interactive":
		var p pressing
		if wire.Decode(e.Payload, &p) != nil || p.Type != "block_actions" || p.User.ID == "" || !channel.MatchString(p.Channel.ID) {
			return m, false
		}
		for _, a := range p.Actions {
			if strings.HasPrefix(a.ID, pressed) && a.Value != "" && a.Time != "" {
				return connector.Message{
					ID: "pressed/" + p.Channel.ID + "/" + p.User.ID + "/" + a.Time, Conversation: p.Channel.ID, Sender: p.User.ID, Text: a.Value,
					Group: !strings.HasPrefix(p.Channel.ID, "D"), Mentioned: true, Proven: true, Time: stamp(a.Time),
				}, true
			}
		}
	}
	return m, false
}

func (d *Driver) event(ctx context.Context, e *said) (m connector.Message, ok bool) {
	ours := e.Type == "message" || e.Type == "app_mention"
	fresh := e.Subtype == "" || e.Subtype == "file_share" || e.Subtype == "thread_broadcast"
	if !ours || !fresh || e.Bot != "" || e.User == "" || e.User == d.me || e.Time == "" || !channel.MatchString(e.Channel) {
		return m, false
	}
	text, named := d.addressed(e.Text)
	m = connector.Message{
		ID: e.Channel + "/" + e.Time, Mark: e.Time, Conversation: e.Channel, Sender: e.User, Text: text,
		Group: !strings.HasPrefix(e.Channel, "D"), Mentioned: named, Proven: true, Time: stamp(e.Time),
	}
	for i, f := range e.Files {
		name := media.FileName(plain.Brief(f.Name, 120), "file")
		data, err := d.get(ctx, &f, i)
		if err != nil {
			m.Text = strings.TrimSpace(m.Text + "\n" + wire.Omitted(name, err.Error()))
			continue
		}
		m.Files = append(m.Files, connector.File{Name: name, Type: f.Type, Data: data})
	}
	return m, true
}

// maxFiles is how many files of a message are got.
const maxFiles = 10

func (d *Driver) get(ctx context.Context, f *file, i int) ([]byte, error) {
	switch {
	case i >= maxFiles:
		return nil, errors.New("there are too many")
	case f.Size > wire.MaxFile:
		return nil, wire.ErrTooLarge
	case !d.own(f.URL):
		return nil, errors.New("it is not at Slack")
	}
	return d.bot.File(ctx, f.URL, d.bot.Header, wire.MaxFile)
}

// stamp is the time that a stamp says.
func stamp(s string) time.Time {
	seconds, _, _ := strings.Cut(s, ".")
	n, _ := strconv.ParseInt(seconds, 10, 64) // none is the first second of all
	return time.Unix(n, 0).UTC()
}

// reference is what Slack writes for a person, a channel or an address.
var reference = regexp.MustCompile(`<([@#!]?)([^<>|]*)(?:\|([^<>]*))?>`)

// addressed tells whether a text names us, and is the text as it was typed, without that where
// it begins with it.
func (d *Driver) addressed(text string) (string, bool) {
	us := "<@" + d.me + ">"
	named := strings.Contains(text, us) || strings.Contains(text, "<@"+d.me+"|")
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, us); ok {
		text = strings.TrimLeft(rest, " ,:\n")
	}
	text = reference.ReplaceAllStringFunc(text, func(s string) string {
		m := reference.FindStringSubmatch(s)
		switch {
		case m[1] != "" && m[3] != "":
			return m[1] + m[3]
		case m[1] != "":
			return m[1] + m[2]
		case m[3] != "" && m[3] != m[2]:
			return m[3] + " (" + m[2] + ")"
		}
		return m[2]
	})
	return html.UnescapeString(text), named
}
