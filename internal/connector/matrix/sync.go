package matrix

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"lyceum/internal/connector"
	"lyceum/internal/connector/wire"
	"lyceum/internal/media"
	"lyceum/internal/plain"

	"github.com/go-json-experiment/json/jsontext"
)

// The limits of what is taken at a time, and of how far back a gap is filled.
const (
	batch      = 50
	maxPages   = 20
	maxGap     = 8 << 20
	maxInvites = 100
	maxRooms   = 1000
	maxTries   = 3
	rest       = 200 * time.Millisecond
)

var filter = `{"presence":{"types":[]},"account_data":{"types":[]},"room":{"ephemeral":{"types":[]},"account_data":{"types":[]},"state":{"lazy_load_members":true,"types":["m.room.member"]},"timeline":{"limit":` + strconv.Itoa(batch) + `,"types":["m.room.message","m.room.member"]}}}`

// What of Matrix's objects is read.
type (
	synced struct {
		Next  string `json:"next_batch"`
		Rooms struct {
			Join   map[string]joined         `json:"join"`
			Invite map[string]jsontext.Value `json:"invite"`
		} `json:"rooms"`
	}
	joined struct {
		Timeline struct {
			Events  []jsontext.Value `json:"events"`
			Limited bool             `json:"limited"`
			Before  string           `json:"prev_batch"`
		} `json:"timeline"`
	}
	event struct {
		ID      string `json:"event_id"`
		Type    string `json:"type"`
		Sender  string `json:"sender"`
		Time    int64  `json:"origin_server_ts"`
		Content struct {
			Kind string `json:"msgtype"`
			Body string `json:"body"`
			File string `json:"filename"`
			URL  string `json:"url"`
			Info struct {
				Type string `json:"mimetype"`
				Size int64  `json:"size"`
			} `json:"info"`
			Mentions struct {
				Users []string `json:"user_ids"`
			} `json:"m.mentions"`
			Relates struct {
				Kind string `json:"rel_type"`
				To   *struct {
					ID string `json:"event_id"`
				} `json:"m.in_reply_to"`
			} `json:"m.relates_to"`
		} `json:"content"`
	}
	cursor struct {
		Since string `json:"since"`
	}
)

// Run implements connector.Driver.
func (d *Driver) Run(ctx context.Context, take func(context.Context, connector.Message) error) error {
	place, since, err := d.begin(ctx)
	if err != nil {
		return err
	}
	for {
		query := url.Values{"filter": {filter}, "timeout": {strconv.FormatInt(d.poll.Milliseconds(), 10)}}
		if since != "" {
			query.Set("since", since)
		} else {
			query.Set("timeout", "0")
		}
		var s synced
		if err := d.get(ctx, api+"/sync?"+query.Encode(), &s, d.poll); err != nil {
			return err
		}
		if s.Next == "" || len(s.Next) > 4096 {
			return errors.New("the service does not say how far it has told")
		}
		came, err := d.batch(ctx, &s, since, take)
		if err != nil {
			return err
		}
		// What was said before the first time was not said to us. From then on the place counts.
		if came || since == "" {
			if err := d.client.Call(ctx, http.MethodPut, place, cursor{s.Next}, nil, 0); err != nil {
				return err
			}
		} else if err := wire.Pause(ctx, rest); err != nil {
			return err
		}
		since = s.Next
	}
}

// begin finds out who we are, where it is kept how far messages were taken, and that.
func (d *Driver) begin(ctx context.Context) (place, since string, err error) {
	me, err := d.whoami(ctx)
	if err != nil {
		return "", "", err
	}
	d.me, d.groups, d.joined = me, map[string]bool{}, 0
	var profile struct {
		Name string `json:"displayname"`
	}
	if err := d.get(ctx, api+"/profile/"+url.PathEscape(d.me)+"/displayname", &profile, 0); err != nil && ctx.Err() != nil {
		return "", "", err // without a name it goes by the id
	}
	d.name = profile.Name
	place = api + "/user/" + url.PathEscape(d.me) + "/account_data/lyceum.cursor"
	var c cursor
	err = d.get(ctx, place, &c, 0)
	if _, none := errors.AsType[*connector.Refused](err); none {
		return place, "", nil
	}
	return place, c.Since, err
}

// batch hands over what a sync tells of, and accepts invitations.
func (d *Driver) batch(ctx context.Context, s *synced, since string, take func(context.Context, connector.Message) error) (came bool, err error) {
	for _, id := range slices.Sorted(maps.Keys(s.Rooms.Invite)) {
		if d.joined++; d.joined > maxInvites || !room().MatchString(id) {
			continue
		}
		// Who may talk there is decided elsewhere. One that cannot be entered is left.
		if err := d.client.Call(ctx, http.MethodPost, api+"/rooms/"+url.PathEscape(id)+"/join", struct{}{}, nil, 0); err != nil && ctx.Err() != nil {
			return came, err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.Rooms.Join)) {
		if since == "" || !room().MatchString(id) {
			continue
		}
		events, err := d.events(ctx, id, s.Rooms.Join[id], since)
		if err != nil {
			return came, err
		}
		for _, e := range events {
			if e.Type == "m.room.member" {
				delete(d.groups, id)
			}
			m, ok, err := d.message(ctx, id, e)
			if err != nil {
				return came, err
			}
			if !ok {
				continue
			}
			if err := take(ctx, m); err != nil {
				return came, err
			}
			delete(d.tries, m.ID)
			came = true
		}
	}
	return came, nil
}

// events are those of a room since the last time, the oldest first. A gap is filled, unless more
// was said in it than anybody says.
func (d *Driver) events(ctx context.Context, id string, j joined, since string) ([]event, error) {
	events := readEvents(j.Timeline.Events)
	if !j.Timeline.Limited || j.Timeline.Before == "" {
		return events, nil
	}
	size := 0
	from := j.Timeline.Before
	for range maxPages {
		query := url.Values{"dir": {"b"}, "from": {from}, "to": {since}, "limit": {"100"}}
		var page struct {
			Chunk []jsontext.Value `json:"chunk"`
			End   string           `json:"end"`
		}
		if err := d.get(ctx, api+"/rooms/"+url.PathEscape(id)+"/messages?"+query.Encode(), &page, 0); err != nil {
			return nil, fmt.Errorf("fill a gap: %w", err)
		}
		for _, v := range page.Chunk {
			size += len(v)
		}
		older := readEvents(page.Chunk)
		slices.Reverse(older)
		events = append(older, events...)
		if len(page.Chunk) == 0 || page.End == "" || page.End == from || page.End == since || size > maxGap {
			break
		}
		from = page.End
	}
	return events, nil
}

// readEvents leaves out what cannot be read.
func readEvents(list []jsontext.Value) (out []event) {
	for _, v := range list {
		var e event
		if wire.Decode(v, &e) == nil && e.ID != "" {
			out = append(out, e)
		}
	}
	return out
}

// message is what an event says, if a person says something new in it.
func (d *Driver) message(ctx context.Context, id string, e event) (m connector.Message, ok bool, err error) {
	c := &e.Content
	file := c.Kind == "m.file" || c.Kind == "m.image" || c.Kind == "m.audio" || c.Kind == "m.video"
	if e.Type != "m.room.message" || e.Sender == d.me || c.Relates.Kind == "m.replace" || c.Kind != "m.text" && !file {
		return m, false, nil
	}
	text, named := d.addressed(&e)
	m = connector.Message{
		ID: e.ID, Mark: e.ID, Conversation: id, Sender: e.Sender, Text: text, Mentioned: named, Proven: strings.HasPrefix(e.Sender, "@"),
		Time: time.UnixMilli(e.Time).UTC(),
	}
	if m.Group, err = d.group(ctx, id); err != nil || !file {
		return m, true, err
	}
	if c.File == "" || c.File == c.Body {
		m.Text = "" // its name is no word
	}
	return m, true, d.attach(ctx, &e, &m)
}

// addressed tells whether an event names us, and is its text without that, and without what it
// answers to.
func (d *Driver) addressed(e *event) (string, bool) {
	text := e.Content.Body
	if e.Content.Relates.To != nil && strings.HasPrefix(text, "> ") {
		for strings.HasPrefix(text, ">") {
			_, text, _ = strings.Cut(text, "\n")
		}
		text = strings.TrimLeft(text, "\n")
	}
	named := slices.Contains(e.Content.Mentions.Users, d.me)
	for _, name := range []string{d.me, "@" + d.name, d.name} {
		if len(name) < 2 || !strings.HasPrefix(strings.ToLower(text), strings.ToLower(name)) || len(text) < len(name) {
			continue
		}
		// A name alone is one only with something behind it that ends it.
		if rest := text[len(name):]; rest == "" || strings.ContainsAny(rest[:1], ":, \n") {
			if name != d.name || strings.HasPrefix(rest, ":") || named {
				return strings.TrimLeft(rest, ":, \n"), true
			}
		}
	}
	return text, named || strings.Contains(text, d.me)
}

// group tells whether more than two are in a room. It is asked for again when somebody comes or
// goes.
func (d *Driver) group(ctx context.Context, id string) (bool, error) {
	if is, known := d.groups[id]; known {
		return is, nil
	}
	var all struct {
		Joined map[string]jsontext.Value `json:"joined"`
	}
	err := d.get(ctx, api+"/rooms/"+url.PathEscape(id)+"/joined_members", &all, 0)
	_, refused := errors.AsType[*connector.Refused](err)
	if err != nil && !refused && !errors.Is(err, wire.ErrTooLarge) {
		return true, err
	}
	if len(d.groups) >= maxRooms {
		clear(d.groups)
	}
	d.groups[id] = err != nil || len(all.Joined) != 2
	return d.groups[id], nil
}

// attach gets the file of an event. One that does not come is a line instead.
func (d *Driver) attach(ctx context.Context, e *event, m *connector.Message) error {
	c := &e.Content
	name := c.File
	if name == "" {
		name = c.Body
	}
	name = media.FileName(plain.Brief(name, 120), "file")
	path, ok := stored(c.URL)
	err := error(&connector.Refused{Reason: "it is encrypted, or nowhere"})
	if ok {
		err = wire.ErrTooLarge
		if c.Info.Size <= wire.MaxFile {
			var data []byte
			if data, err = d.client.File(ctx, d.client.Base+path, d.client.Header, wire.MaxFile); err == nil {
				m.Files = append(m.Files, connector.File{Name: name, Type: c.Info.Type, Data: data})
				return nil
			}
		}
	}
	_, no := errors.AsType[*connector.Refused](err)
	if d.tries[m.ID]++; ctx.Err() != nil || !no && !errors.Is(err, wire.ErrTooLarge) && d.tries[m.ID] < maxTries {
		return err
	}
	m.Text = strings.TrimSpace(m.Text + "\n" + wire.Omitted(name, err.Error()))
	return nil
}
