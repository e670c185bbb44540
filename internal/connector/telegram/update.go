package telegram

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf16"

	"lyceum/internal/connector"
)

// What of Telegram's objects is read.
type (
	updateID struct {
		ID int64 `json:"update_id"`
	}
	update struct {
		updateID `json:",inline"`
		Message  *message `json:"message"`
		Pressed  *pressed `json:"callback_query"`
	}
	user struct {
		ID    int64  `json:"id"`
		Bot   bool   `json:"is_bot"`
		Login string `json:"username"`
	}
	chat struct {
		ID   int64  `json:"id"`
		Type string `json:"type"`
	}
	message struct {
		ID       int64      `json:"message_id"`
		Topic    int64      `json:"message_thread_id"`
		InTopic  bool       `json:"is_topic_message"`
		From     *user      `json:"from"`
		As       *chat      `json:"sender_chat"`
		Chat     chat       `json:"chat"`
		Date     int64      `json:"date"`
		Text     string     `json:"text"`
		Caption  string     `json:"caption"`
		Marks    []mark     `json:"entities"`
		Captions []mark     `json:"caption_entities"`
		To       *message   `json:"reply_to_message"`
		Keys     *keyboard  `json:"reply_markup"`
		Document *document  `json:"document"`
		Photos   []document `json:"photo"`
		Audio    *document  `json:"audio"`
		Voice    *document  `json:"voice"`
		Video    *document  `json:"video"`
	}
	// mark is a part of a text, in units of UTF-16.
	mark struct {
		Type   string `json:"type"`
		Offset int    `json:"offset"`
		Length int    `json:"length"`
		User   *user  `json:"user"`
	}
	document struct {
		ID   string `json:"file_id"`
		Name string `json:"file_name"`
		Type string `json:"mime_type"`
		Size int64  `json:"file_size"`
	}
	keyboard struct {
		Rows [][]button `json:"inline_keyboard"`
	}
	button struct {
		Text string `json:"text"`
		Data string `json:"callback_data"`
	}
	pressed struct {
		ID      string   `json:"id"`
		From    *user    `json:"from"`
		Message *message `json:"message"`
		Data    string   `json:"data"`
	}
)

// message is what an update says, if somebody says something in it. What bots say is left alone:
// two of them would never end.
func (u *update) message(me *user) (connector.Message, bool) {
	switch {
	case u.Message != nil && u.Message.From != nil && !u.Message.From.Bot:
		return u.Message.said(me), true
	case u.Pressed != nil && u.Pressed.From != nil && !u.Pressed.From.Bot && u.Pressed.Message != nil:
		return u.Pressed.said()
	}
	return connector.Message{}, false
}

func (m *message) said(me *user) connector.Message {
	text, marks := m.Text, m.Marks
	if text == "" {
		text, marks = m.Caption, m.Captions
	}
	text, named := addressed(text, marks, me)
	return connector.Message{
		ID: strconv.FormatInt(m.Chat.ID, 10) + "/" + strconv.FormatInt(m.ID, 10), Mark: strconv.FormatInt(m.ID, 10), Conversation: m.where(),
		Sender: strconv.FormatInt(m.From.ID, 10), Text: text,
		Group: m.Chat.Type != "private", Mentioned: named || m.To != nil && m.To.From != nil && m.To.From.ID == me.ID,
		// Who speaks as a channel or a group is not told.
		Proven: m.As == nil && m.From.ID != 0, Time: time.Unix(m.Date, 0).UTC(),
	}
}

// said is the option whose button was pressed. Its words are those that stand on it.
func (p *pressed) said() (m connector.Message, ok bool) {
	if p.Message.Keys == nil || p.ID == "" {
		return m, false
	}
	for _, row := range p.Message.Keys.Rows {
		for _, b := range row {
			if b.Data == p.Data && b.Text != "" {
				return connector.Message{
					ID: "pressed/" + p.ID, Conversation: p.Message.where(), Sender: strconv.FormatInt(p.From.ID, 10), Text: b.Text,
					Group: p.Message.Chat.Type != "private", Mentioned: true, Proven: p.From.ID != 0, Time: time.Unix(p.Message.Date, 0).UTC(),
				}, true
			}
		}
	}
	return m, false
}

func (m *message) where() string {
	s := strconv.FormatInt(m.Chat.ID, 10)
	if m.InTopic && m.Topic != 0 {
		s += "/" + strconv.FormatInt(m.Topic, 10)
	}
	return s
}

// addressed tells whether a text names the bot, and is the text without that where it begins
// with it, so that a command is one.
func addressed(text string, marks []mark, me *user) (string, bool) {
	units := utf16.Encode([]rune(text))
	at := "@" + strings.ToLower(me.Login)
	named, from := false, 0
	for _, m := range marks {
		if m.Offset < 0 || m.Length <= 0 || m.Offset > len(units) || m.Length > len(units)-m.Offset {
			continue
		}
		word := strings.ToLower(string(utf16.Decode(units[m.Offset : m.Offset+m.Length])))
		switch {
		case m.Type == "mention" && me.Login != "" && word == at, m.Type == "text_mention" && m.User != nil && m.User.ID == me.ID:
			if named = true; m.Offset == 0 {
				from = m.Length
			}
		case m.Type == "bot_command" && me.Login != "" && strings.HasSuffix(word, at):
			if named = true; m.Offset == 0 {
				n := m.Length - len(utf16.Encode([]rune(at)))
				units = append(units[:n:n], units[m.Length:]...)
				return string(utf16.Decode(units)), true
			}
		}
	}
	return strings.TrimLeft(string(utf16.Decode(units[from:])), " ,:\n"), named
}
