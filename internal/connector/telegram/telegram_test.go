package telegram_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"lyceum/internal/connector"
	"lyceum/internal/connector/connectortest"
	"lyceum/internal/connector/telegram"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, s *connectortest.Telegram, patience time.Duration) *telegram.Driver {
	t.Helper()
	d, err := telegram.New(telegram.Options{Token: s.Token, Base: s.URL, Patience: patience, Poll: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTheDriver(t *testing.T) {
	t.Parallel()
	connectortest.Exercise(t, func(t *testing.T) *connectortest.Rig {
		s := connectortest.OpenTelegram(t)
		return &connectortest.Rig{
			Service: s, Conversation: "99", Secrets: []string{s.Token, "very-secret-token"},
			Open: func(patience time.Duration) connector.Driver { return open(t, s, patience) },
		}
	})
}

// errEnough ends Run when a message has come.
var errEnough = errors.New("errEnough")

// first is the first message that comes of an update.
func first(t *testing.T, s *connectortest.Telegram, update string) (m connector.Message) {
	t.Helper()
	s.Update(func(id int64) string { return fmt.Sprintf(update, id) })
	s.Update(func(id int64) string {
		return fmt.Sprintf(`{"update_id":%d,"message":{"message_id":1,"from":{"id":1},"chat":{"id":1,"type":"private"},"date":1,"text":"last"}}`, id)
	})
	d := open(t, s, time.Minute)
	for range 5 {
		err := d.Run(t.Context(), func(_ context.Context, got connector.Message) error { m = got; return errEnough })
		if errors.Is(err, errEnough) {
			break
		}
	}
	return m
}

func TestWhatIsSaidAndByWhom(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		update string
		want   connector.Message
	}{
		"InAGroup": {
			`{"update_id":%d,"message":{"message_id":5,"from":{"id":7},"chat":{"id":-100,"type":"supergroup"},"date":1700000000,"text":"hello all"}}`,
			connector.Message{ID: "-100/5", Conversation: "-100", Sender: "7", Text: "hello all", Group: true, Proven: true},
		},
		"ByName": {
			`{"update_id":%d,"message":{"message_id":5,"from":{"id":7},"chat":{"id":-100,"type":"group"},"date":1700000000,"text":"@lyceumbot, /status","entities":[{"type":"mention","offset":0,"length":10}]}}`,
			connector.Message{ID: "-100/5", Conversation: "-100", Sender: "7", Text: "/status", Group: true, Mentioned: true, Proven: true},
		},
		"ByNameBehindAPicture": {
			`{"update_id":%d,"message":{"message_id":5,"from":{"id":7},"chat":{"id":-100,"type":"group"},"date":1700000000,"text":"😀 @LyceumBot do","entities":[{"type":"mention","offset":3,"length":10}]}}`,
			connector.Message{ID: "-100/5", Conversation: "-100", Sender: "7", Text: "😀 @LyceumBot do", Group: true, Mentioned: true, Proven: true},
		},
		"AsACommand": {
			`{"update_id":%d,"message":{"message_id":5,"from":{"id":7},"chat":{"id":-100,"type":"group"},"date":1700000000,"text":"/stage@LyceumBot idea","entities":[{"type":"bot_command","offset":0,"length":16}]}}`,
			connector.Message{ID: "-100/5", Conversation: "-100", Sender: "7", Text: "/stage idea", Group: true, Mentioned: true, Proven: true},
		},
		"AnotherByName": {
			`{"update_id":%d,"message":{"message_id":5,"from":{"id":7},"chat":{"id":-100,"type":"group"},"date":1700000000,"text":"@other hi","entities":[{"type":"mention","offset":0,"length":6},{"type":"mention","offset":-1,"length":600},{"type":"mention","offset":9223372036854775807,"length":9223372036854775807}]}}`,
			connector.Message{ID: "-100/5", Conversation: "-100", Sender: "7", Text: "@other hi", Group: true, Proven: true},
		},
		"AsAnAnswerToTheBot": {
			`{"update_id":%d,"message":{"message_id":5,"message_thread_id":8,"is_topic_message":true,"from":{"id":7},"chat":{"id":-100,"type":"supergroup"},"date":1700000000,"text":"yes","reply_to_message":{"message_id":4,"from":{"id":4711},"chat":{"id":-100}}}}`,
			connector.Message{ID: "-100/5", Conversation: "-100/8", Sender: "7", Text: "yes", Group: true, Mentioned: true, Proven: true},
		},
		"AsAChannel": {
			`{"update_id":%d,"message":{"message_id":5,"from":{"id":7},"sender_chat":{"id":-5,"type":"channel"},"chat":{"id":-100,"type":"group"},"date":1700000000,"text":"obey"}}`,
			connector.Message{ID: "-100/5", Conversation: "-100", Sender: "7", Text: "obey", Group: true},
		},
		"ByAButton": {
			`{"update_id":%d,"callback_query":{"id":"77","from":{"id":7},"data":"1","message":{"message_id":5,"chat":{"id":99,"type":"private"},"date":1700000000,"reply_markup":{"inline_keyboard":[[{"text":"no","callback_data":"0"}],[{"text":"yes","callback_data":"1"}]]}}}}`,
			connector.Message{ID: "pressed/77", Conversation: "99", Sender: "7", Text: "yes", Mentioned: true, Proven: true},
		},
		"ByAForgedButton": {
			`{"update_id":%d,"callback_query":{"id":"77","from":{"id":7},"data":"rm","message":{"message_id":5,"chat":{"id":99,"type":"private"},"date":1700000000}}}`,
			connector.Message{ID: "1/1", Conversation: "1", Sender: "1", Text: "last", Proven: true},
		},
		"ByABot": {
			`{"update_id":%d,"message":{"message_id":5,"from":{"id":7,"is_bot":true},"chat":{"id":99,"type":"private"},"date":1700000000,"text":"loop"}}`,
			connector.Message{ID: "1/1", Conversation: "1", Sender: "1", Text: "last", Proven: true},
		},
		"InAFormThatNobodyKnows": {
			`{"update_id":%d,"message":{"message_id":"five","from":[]}}`,
			connector.Message{ID: "1/1", Conversation: "1", Sender: "1", Text: "last", Proven: true},
		},
		"WithAFileThatIsTooLarge": {
			`{"update_id":%d,"message":{"message_id":5,"from":{"id":7},"chat":{"id":99,"type":"private"},"date":1700000000,"caption":"see","document":{"file_id":"big","file_name":"a/b.txt","file_size":26214401}}}`,
			connector.Message{ID: "99/5", Conversation: "99", Sender: "7", Text: "see\n[the file b.txt was left out: 25 MiB are the most: it is too large]", Proven: true},
		},
		"WithAFileThatIsNotGiven": {
			`{"update_id":%d,"message":{"message_id":5,"from":{"id":7},"chat":{"id":99,"type":"private"},"date":1700000000,"voice":{"file_id":"gone"}}}`,
			connector.Message{ID: "99/5", Conversation: "99", Sender: "7", Text: "[the file file was left out: Telegram says: Bad Request: file is too big (400)]", Proven: true},
		},
		"WithAFileElsewhere": {
			`{"update_id":%d,"message":{"message_id":5,"from":{"id":7},"chat":{"id":99,"type":"private"},"date":1700000000,"voice":{"file_id":"../../x"}}}`,
			connector.Message{ID: "99/5", Conversation: "99", Sender: "7", Text: "[the file file was left out: Telegram names no file that can be asked for]", Proven: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := connectortest.OpenTelegram(t)
			s.Files["../../x"] = "secret"
			got := first(t, s, test.update)
			if got.Time.IsZero() {
				t.Error("it has no time")
			}
			got.Time = time.Time{}
			if channel, number, ok := strings.Cut(got.ID, "/"); ok && channel != "pressed" { // a reply names it by its number
				test.want.Mark = number
			}
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", test.want) {
				t.Errorf("the message:\n got %+v\nwant %+v", got, test.want)
			}
		})
	}
}

func TestFilesComeAlong(t *testing.T) {
	t.Parallel()
	s := connectortest.OpenTelegram(t)
	s.Files["photos/large.jpg"] = "jpeg"
	got := first(t, s, `{"update_id":%d,"message":{"message_id":5,"from":{"id":7},"chat":{"id":99,"type":"private"},"date":1700000000,"photo":[{"file_id":"photos/small.jpg"},{"file_id":"photos/large.jpg"}]}}`)
	if len(got.Files) != 1 || string(got.Files[0].Data) != "jpeg" || got.Files[0].Name != "photo.jpg" {
		t.Errorf("the files: got %+v, want the largest photo", got.Files)
	}
}

// What an agent writes is shown as text, rings nobody up and has nothing loaded.
func TestTextIsEscaped(t *testing.T) {
	t.Parallel()
	s := connectortest.OpenTelegram(t)
	text := "# A <b>title</b>\n**bold** & `code <i>` @everyone ann@example.org\n```\n</pre><a href=\"tg://x\">\n```\n[here](https://example.org/?a=b&c) ** x `"
	if err := open(t, s, time.Minute).Send(t.Context(), connector.Outgoing{Conversation: "99", Key: "k", Text: text, Options: []string{strings.Repeat("long ", 50)}}); err != nil {
		t.Fatal(err)
	}
	b := s.Bodies()[0]
	want := "<b>A &lt;b&gt;title&lt;/b&gt;</b>\n<b>bold</b> &amp; <code>code &lt;i&gt;</code> ＠everyone ann@example.org\n<pre>&lt;/pre&gt;&lt;a href=\"tg://x\"&gt;</pre>\n[here](https://example.org/?a=b&amp;c) ** x `"
	if b["text"] != want {
		t.Errorf("the text:\n got %s\nwant %s", b["text"], want)
	}
	if !strings.Contains(fmt.Sprint(b["link_preview_options"]), "is_disabled:true") {
		t.Errorf("a preview is loaded of what an agent links to: %v", b)
	}
	long := strings.Repeat("word <x> ", 5000)
	if err := open(t, s, time.Minute).Send(t.Context(), connector.Outgoing{Conversation: "99", Key: "k", Text: long}); err != nil {
		t.Fatal(err)
	}
	got := s.Bodies()[1]["text"].(string)
	got = strings.NewReplacer("&lt;", "<", "&gt;", ">").Replace(got)
	if n := len([]rune(got)); n > 4096 || n < 4000 || !strings.HasSuffix(got, "on the page of the quest]") {
		t.Errorf("a long text has %d characters, want up to 4096 and a word about the rest: …%s", n, got[max(0, len(got)-60):])
	}
}

func TestATokenThatIsNone(t *testing.T) {
	t.Parallel()
	for _, token := range []string{"", "abc", ":x", "1:", "1:a/b", "1:a?b"} {
		if _, err := telegram.New(telegram.Options{Token: token}); err == nil {
			t.Errorf("the token %q is taken for one", token)
		}
	}
}

// A service that repeats itself does not have messages handed over again, or lose its place.
func TestAServiceRepeatsItself(t *testing.T) {
	t.Parallel()
	s := connectortest.OpenTelegram(t)
	s.Say("one")
	var texts []string
	err := open(t, s, time.Minute).Run(t.Context(), func(_ context.Context, m connector.Message) error {
		switch texts = append(texts, m.Text); m.Text {
		case "one":
			s.Again()
			s.Say("two")
		case "two":
			return errEnough
		}
		return nil
	})

	if got := strings.Join(texts, " "); !errors.Is(err, errEnough) || got != "one two" {
		t.Errorf("what was handed over: got %q, %v, want each once", got, err)
	}
}
