package connectortest

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"lyceum/internal/connector"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Matrix is a homeserver with one room.
type Matrix struct {
	web
	Token, Room string
	// Members is how many are in the room; Files are what can be downloaded, by their paths.
	Members int
	Files   map[string]string

	events  []string
	cursor  string // that the account has stored
	repeat  bool
	invited []string
	joins   []string
	uploads map[string]connector.File
	bodies  []map[string]any
}

// OpenMatrix starts one. The account was there before.
func OpenMatrix(t *testing.T) *Matrix {
	s := &Matrix{Token: "syt_very-secret", Room: "!room:example.org", Members: 2, Files: map[string]string{}, uploads: map[string]connector.File{}, cursor: "s0"}
	s.open(t, s.serve)
	return s
}

// Say implements Service.
func (s *Matrix) Say(text string) {
	quoted, _ := json.Marshal(text)
	s.Event("@ann:example.org", `{"msgtype":"m.text","body":`+string(quoted)+`}`)
}

// Event puts one into the room.
func (s *Matrix) Event(sender, content string) {
	s.say(func() {
		n := len(s.events)
		s.events = append(s.events, fmt.Sprintf(`{"event_id":"$%d","type":"m.room.message","sender":%q,"origin_server_ts":%d,"content":%s}`, n, sender, 1700000000000+n, content))
	})
}

// Forget takes away what the account stored; Invite asks it into a room.
func (s *Matrix) Forget() { s.say(func() { s.cursor = "" }) }

// Invite asks the account into a room.
func (s *Matrix) Invite(room string) { s.say(func() { s.invited = append(s.invited, room) }) }

// Joins are the rooms that were entered.
func (s *Matrix) Joins() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.joins...)
}

// Bodies are the events that were sent.
func (s *Matrix) Bodies() []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bodies
}

// Again implements Service.
func (s *Matrix) Again() { s.say(func() { s.repeat = true }) }

// Unread implements Service.
func (s *Matrix) Unread() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.events) - at(s.cursor)
}

// at is the place that a token names.
func at(token string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(token, "s"))
	return n
}

func (s *Matrix) serve(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer "+s.Token {
		matrixNo(w, http.StatusUnauthorized, "M_UNKNOWN_TOKEN", 0)
		return
	}
	path := strings.TrimPrefix(r.URL.EscapedPath(), "/_matrix")
	switch room := "/client/v3/rooms/" + strings.ReplaceAll(s.Room, ":", "%3A"); {
	case path == "/client/v3/account/whoami":
		_, _ = io.WriteString(w, `{"user_id":"@lyceum:example.org"}`)
	case strings.HasSuffix(path, "/displayname"):
		_, _ = io.WriteString(w, `{"displayname":"Lyceum"}`)
	case strings.HasSuffix(path, "/account_data/lyceum.cursor"):
		s.stored(w, r)
	case path == "/client/v3/sync":
		s.sync(w, r)
	case strings.HasSuffix(path, "/joined_members"):
		list := map[string]any{}
		for i := range s.Members {
			list[fmt.Sprintf("@%d:example.org", i)] = map[string]any{}
		}
		data, _ := json.Marshal(map[string]any{"joined": list})
		_, _ = w.Write(data)
	case strings.HasSuffix(path, "/messages"):
		s.older(w, r)
	case strings.HasSuffix(path, "/join"):
		s.say(func() { s.joins = append(s.joins, path) })
		_, _ = io.WriteString(w, `{}`)
	case path == "/media/v3/upload":
		data, _ := io.ReadAll(r.Body)
		s.mu.Lock()
		uri := fmt.Sprintf("mxc://example.org/up%d", len(s.uploads))
		s.uploads[uri] = connector.File{Name: r.URL.Query().Get("filename"), Data: data}
		s.mu.Unlock()
		_, _ = fmt.Fprintf(w, `{"content_uri":%q}`, uri)
	case strings.HasPrefix(path, "/client/v1/media/download/"):
		data, ok := s.Files[strings.TrimPrefix(path, "/client/v1/media/download/")]
		if !ok {
			matrixNo(w, http.StatusNotFound, "M_NOT_FOUND", 0)
			return
		}
		_, _ = io.WriteString(w, data)
	case strings.HasPrefix(strings.ReplaceAll(path, ":", "%3A"), strings.ReplaceAll(room, "!", "%21")+"/send/"), strings.HasPrefix(strings.ReplaceAll(path, ":", "%3A"), room+"/send/"):
		s.sent(w, r, path[strings.LastIndex(path, "/")+1:])
	default:
		matrixNo(w, http.StatusNotFound, "M_UNRECOGNIZED", 0)
	}
}

func (s *Matrix) stored(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Since string `json:"since"`
	}
	if r.Method == http.MethodPut {
		_ = json.UnmarshalRead(r.Body, &in)
		s.say(func() { s.cursor = in.Since })
		_, _ = io.WriteString(w, `{}`)
		return
	}
	s.mu.Lock()
	in.Since = s.cursor
	s.mu.Unlock()
	if in.Since == "" {
		matrixNo(w, http.StatusNotFound, "M_NOT_FOUND", 0)
		return
	}
	_, _ = fmt.Fprintf(w, `{"since":%q}`, in.Since)
}

func (s *Matrix) sync(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	wait, _ := strconv.Atoi(q.Get("timeout"))
	var f struct {
		Room struct {
			Timeline struct {
				Limit int `json:"limit"`
			} `json:"timeline"`
		} `json:"room"`
	}
	_ = json.Unmarshal([]byte(q.Get("filter")), &f, json.RejectUnknownMembers(false))
	end := time.NewTimer(time.Duration(wait) * time.Millisecond)
	defer end.Stop()
	for {
		s.mu.Lock()
		from := at(q.Get("since"))
		if s.repeat {
			from, s.repeat = 0, false
		}
		list, invited, changed := s.events[min(from, len(s.events)):], s.invited, s.changed
		first := max(from, from+len(list)-f.Room.Timeline.Limit)
		list = list[first-from:]
		next := len(s.events)
		s.invited = nil
		s.mu.Unlock()
		if len(list) == 0 && len(invited) == 0 {
			select {
			case <-changed:
				continue
			case <-r.Context().Done():
				return
			case <-end.C:
			}
		}
		join, invite := map[string]any{}, map[string]any{}
		if len(list) > 0 {
			events := []jsontext.Value{}
			for _, e := range list {
				events = append(events, jsontext.Value(e))
			}
			join[s.Room] = map[string]any{"timeline": map[string]any{"events": events, "limited": first > from, "prev_batch": "s" + strconv.Itoa(first)}}
		}
		for _, room := range invited {
			invite[room] = map[string]any{}
		}
		data, _ := json.Marshal(map[string]any{"next_batch": "s" + strconv.Itoa(next), "rooms": map[string]any{"join": join, "invite": invite}})
		_, _ = w.Write(data)
		return
	}
}

// older tells what was said before, the newest first.
func (s *Matrix) older(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	from, to := at(q.Get("from")), at(q.Get("to"))
	first := max(to, from-30)
	chunk := []jsontext.Value{}
	s.mu.Lock()
	for i := from - 1; i >= first; i-- {
		chunk = append(chunk, jsontext.Value(s.events[i]))
	}
	s.mu.Unlock()
	data, _ := json.Marshal(map[string]any{"chunk": chunk, "end": "s" + strconv.Itoa(first)})
	_, _ = w.Write(data)
}

func (s *Matrix) sent(w http.ResponseWriter, r *http.Request, txn string) {
	var body map[string]any
	if err := json.UnmarshalRead(r.Body, &body); err != nil {
		matrixNo(w, http.StatusBadRequest, "M_NOT_JSON", 0)
		return
	}
	h := Heard{Conversation: s.Room, Key: txn, Text: fmt.Sprint(body["formatted_body"])}
	if relates, ok := body["m.relates_to"].(map[string]any); ok {
		h.Reply, _ = relates["m.in_reply_to"].(map[string]any)["event_id"].(string)
	}
	s.mu.Lock()
	if f, ok := s.uploads[fmt.Sprint(body["url"])]; ok {
		h.Files = append(h.Files, f)
	}
	s.bodies = append(s.bodies, body)
	s.mu.Unlock()
	switch s.answers() {
	case Busy:
		matrixNo(w, http.StatusTooManyRequests, "M_LIMIT_EXCEEDED", Wait)
	case No:
		matrixNo(w, http.StatusForbidden, "M_FORBIDDEN "+s.Token, 0)
	case Down:
		matrixNo(w, http.StatusBadGateway, "M_UNKNOWN", 0)
	case Lost:
		s.hear(h)
		hangUp(w)
	default:
		s.hear(h)
		_, _ = io.WriteString(w, `{"event_id":"$x"}`)
	}
}

func matrixNo(w http.ResponseWriter, status int, code string, after time.Duration) {
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"errcode":%q,"error":"no","retry_after_ms":%d}`, code, after.Milliseconds())
}
