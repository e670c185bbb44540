package connectortest

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"lyceum/internal/connector"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Telegram is a server of the Bot API.
type Telegram struct {
	web
	// Token is the bot's, and Chat the number of the chat that people speak in.
	Token string
	Chat  int64

	updates []telegramUpdate // all there ever were
	acked   int64            // those before it are acknowledged
	repeat  bool
	// Files are what there is to get, by id; Bodies what was posted to sendMessage.
	Files  map[string]string
	bodies []map[string]any
}

type telegramUpdate struct {
	id   int64
	text string
}

// OpenTelegram starts one.
func OpenTelegram(t *testing.T) *Telegram {
	s := &Telegram{Token: "4711:very-secret-token", Chat: 99, Files: map[string]string{}}
	s.open(t, s.serve)
	return s
}

// Say implements Service.
func (s *Telegram) Say(text string) {
	quoted, _ := json.Marshal(text)
	s.Update(func(id int64) string {
		return fmt.Sprintf(`{"update_id":%d,"message":{"message_id":%d,"from":{"id":7,"is_bot":false,"username":"ann"},"chat":{"id":%d,"type":"private"},"date":1700000000,"text":%s}}`, id, id+1000, s.Chat, quoted)
	})
}

// Update has the service tell of an update, which is made of its number.
func (s *Telegram) Update(of func(id int64) string) {
	s.say(func() {
		id := int64(len(s.updates)) + 500
		s.updates = append(s.updates, telegramUpdate{id, of(id)})
	})
}

// Again implements Service.
func (s *Telegram) Again() { s.say(func() { s.repeat = true }) }

// Unread implements Service.
func (s *Telegram) Unread() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.updates {
		if u.id >= s.acked {
			n++
		}
	}
	return n
}

// Bodies are what was posted to say something.
func (s *Telegram) Bodies() []map[string]any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bodies
}

func (s *Telegram) serve(w http.ResponseWriter, r *http.Request) {
	if name, ok := strings.CutPrefix(r.URL.Path, "/file/bot"+s.Token+"/"); ok {
		_, _ = io.WriteString(w, s.Files[name])
		return
	}
	method, ok := strings.CutPrefix(r.URL.Path, "/bot"+s.Token+"/")
	if !ok {
		telegramNo(w, http.StatusUnauthorized, "Unauthorized: "+r.URL.Path)
		return
	}
	switch method {
	case "getMe":
		_, _ = io.WriteString(w, `{"ok":true,"result":{"id":4711,"is_bot":true,"username":"LyceumBot"}}`)
	case "getUpdates":
		s.poll(w, r)
	case "getFile":
		var in struct {
			ID string `json:"file_id"`
		}
		_ = json.UnmarshalRead(r.Body, &in)
		if _, ok := s.Files[in.ID]; !ok {
			telegramNo(w, http.StatusBadRequest, "Bad Request: file is too big")
			return
		}
		_, _ = fmt.Fprintf(w, `{"ok":true,"result":{"file_path":%q}}`, in.ID)
	case "sendMessage", "sendDocument":
		s.sent(w, r)
	default:
		_, _ = io.WriteString(w, `{"ok":true,"result":true}`)
	}
}

func (s *Telegram) poll(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Offset, Limit int64
		Timeout       int
	}
	if err := json.UnmarshalRead(r.Body, &in, json.MatchCaseInsensitiveNames(true), json.RejectUnknownMembers(false)); err != nil {
		telegramNo(w, http.StatusBadRequest, err.Error())
		return
	}
	end := time.NewTimer(time.Duration(in.Timeout) * time.Second)
	defer end.Stop()
	for {
		s.mu.Lock()
		s.acked = max(s.acked, in.Offset)
		var list []jsontext.Value
		for _, u := range s.updates {
			if (u.id >= in.Offset || s.repeat) && int64(len(list)) < in.Limit {
				list = append(list, jsontext.Value(u.text))
			}
		}
		s.repeat = false
		changed := s.changed
		s.mu.Unlock()
		wait := len(list) == 0
		if wait {
			select {
			case <-changed:
				continue
			case <-r.Context().Done():
				return
			case <-end.C:
				list = []jsontext.Value{}
			}
		}
		data, _ := json.Marshal(map[string]any{"ok": true, "result": list})
		_, _ = w.Write(data)
		return
	}
}

func (s *Telegram) sent(w http.ResponseWriter, r *http.Request) {
	h := Heard{}
	if strings.HasPrefix(r.Header.Get("Content-Type"), "multipart/") {
		if err := r.ParseMultipartForm(1 << 20); err != nil {
			telegramNo(w, http.StatusBadRequest, err.Error())
			return
		}
		defer func() { _ = r.MultipartForm.RemoveAll() }()
		h.Conversation = r.FormValue("chat_id")
		for _, f := range r.MultipartForm.File["document"] {
			in, err := f.Open()
			if err != nil {
				telegramNo(w, http.StatusBadRequest, err.Error())
				return
			}
			data, _ := io.ReadAll(in)
			_ = in.Close()
			h.Files = append(h.Files, connector.File{Name: f.Filename, Data: data})
		}
	} else {
		var body map[string]any
		if err := json.UnmarshalRead(r.Body, &body); err != nil {
			telegramNo(w, http.StatusBadRequest, err.Error())
			return
		}
		chat, _ := body["chat_id"].(float64)
		h.Conversation, h.Text = fmt.Sprint(int64(chat)), fmt.Sprint(body["text"], body["reply_markup"])
		if reply, ok := body["reply_parameters"].(map[string]any); ok {
			h.Reply = fmt.Sprint(int64(reply["message_id"].(float64)))
		}
		s.say(func() { s.bodies = append(s.bodies, body) })
	}
	switch s.answers() {
	case Busy:
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = fmt.Fprintf(w, `{"ok":false,"error_code":429,"description":"Too Many Requests: retry after 7","parameters":{"retry_after":%d}}`, Wait/time.Second)
	case No:
		telegramNo(w, http.StatusForbidden, "Forbidden: bot "+s.Token+" was blocked by the user")
	case Down:
		telegramNo(w, http.StatusBadGateway, "Bad Gateway")
	case Lost:
		s.hear(h)
		hangUp(w)
	default:
		s.hear(h)
		_, _ = io.WriteString(w, `{"ok":true,"result":{"message_id":1}}`)
	}
}

func telegramNo(w http.ResponseWriter, status int, why string) {
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"ok":false,"error_code":%d,"description":%q}`, status, why)
}
