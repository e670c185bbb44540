package slack_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lyceum/internal/connector"
	"lyceum/internal/connector/connectortest"
	"lyceum/internal/connector/slack"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, s *connectortest.Slack, patience time.Duration) *slack.Driver {
	t.Helper()
	d, err := slack.New(slack.Options{App: s.App, Bot: s.Bot, Base: s.URL + "/api", Patience: patience})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTheDriver(t *testing.T) {
	t.Parallel()
	connectortest.Exercise(t, func(t *testing.T) *connectortest.Rig {
		s := connectortest.OpenSlack(t)
		return &connectortest.Rig{
			Service: s, Conversation: s.Channel, Secrets: []string{"very-secret"},
			Open: func(patience time.Duration) connector.Driver { return open(t, s, patience) },
		}
	})
}

// A connection that is hostile ends in an error, and little of it gets into memory.
func TestAHostileConnection(t *testing.T) {
	t.Parallel()
	frame := connectortest.WriteFrame
	for name, do := range map[string]func(net.Conn){
		"AHugeFrame":     func(c net.Conn) { _, _ = c.Write([]byte{0x81, 127, 0x7f, 255, 255, 255, 255, 255, 255, 255}) },
		"ANegativeFrame": func(c net.Conn) { _, _ = c.Write([]byte{0x81, 127, 255, 255, 255, 255, 255, 255, 255, 255}) },
		"AMask":          func(c net.Conn) { _, _ = c.Write([]byte{0x81, 0x80, 0, 0, 0, 0}) },
		"AnExtension":    func(c net.Conn) { frame(c, 0xC1, "{}") },
		"ALargePing":     func(c net.Conn) { frame(c, 0x89, strings.Repeat("x", 126)) },
		"HalfAPing":      func(c net.Conn) { frame(c, 0x09, "x") },
		"MoreOfNothing":  func(c net.Conn) { frame(c, 0x80, "{}") },
		"TwoBeginnings":  func(c net.Conn) { frame(c, 0x01, "{"); frame(c, 0x81, "}") },
		"AnUnknownFrame": func(c net.Conn) { frame(c, 0x83, "{}") },
		"NoText":         func(c net.Conn) { frame(c, 0x81, "\xff\xfe") },
		"NoJSON":         func(c net.Conn) { frame(c, 0x81, "hello") },
		"TheEnd":         func(c net.Conn) { frame(c, 0x88, "\x03\xe8bye") },
		"HalfAFrame":     func(c net.Conn) { _, _ = c.Write([]byte{0x81}) },
		"Silence":        func(c net.Conn) { _, _ = io.Copy(io.Discard, c) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := connectortest.OpenSlack(t)
			s.Socket = do
			err := open(t, s, 2*time.Second).Run(t.Context(), func(context.Context, connector.Message) error { return errors.New("it was taken") })
			if err == nil || strings.Contains(err.Error(), "taken") || strings.Contains(err.Error(), "very-secret") {
				t.Errorf("receiving: got %v, want an error about the connection", err)
			}
		})
	}
	t.Run("PiecesWithoutAnEnd", func(t *testing.T) {
		t.Parallel()
		s := connectortest.OpenSlack(t)
		var poured atomic.Int64
		s.Socket = func(c net.Conn) {
			piece := string(make([]byte, 60<<10))
			frame(c, 0x01, piece)
			for poured.Load() < 256<<20 {
				n, err := c.Write(append([]byte{0x00, 126, 0xF0, 0x00}, piece...))
				poured.Add(int64(n))
				if err != nil {
					return
				}
			}
		}
		err := open(t, s, time.Minute).Run(t.Context(), func(context.Context, connector.Message) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "too large") || poured.Load() > 64<<20 {
			t.Errorf("a message without an end: got %v after %d MiB", err, poured.Load()>>20)
		}
	})
	t.Run("PingsWithoutAnEnd", func(t *testing.T) {
		t.Parallel()
		s := connectortest.OpenSlack(t)
		s.Socket = func(c net.Conn) {
			for {
				if _, err := c.Write([]byte{0x89, 1, 'x'}); err != nil {
					return // the answers, which nobody reads, have filled the way back
				}
			}
		}
		if err := open(t, s, time.Second).Run(t.Context(), func(context.Context, connector.Message) error { return nil }); err == nil {
			t.Error("pings without an end are answered for ever")
		}
	})
}

// Slack asks for another connection every few hours.
func TestAnotherConnectionIsOpened(t *testing.T) {
	t.Parallel()
	s := connectortest.OpenSlack(t)
	var n atomic.Int32
	s.Socket = func(c net.Conn) {
		if n.Add(1) == 1 {
			connectortest.WriteFrame(c, 0x81, `{"type":"disconnect","reason":"refresh_requested"}`)
			return
		}
		connectortest.WriteFrame(c, 0x81, `{"envelope_id":"e","type":"events_api","payload":{"event":{"type":"message","channel":"D0ANN","user":"U0ANN","ts":"1.0","text":"hi"}}}`)
		_, _ = io.Copy(io.Discard, c)
	}
	if m := first(t, s); m.Text != "hi" || n.Load() != 2 {
		t.Errorf("by the second of %d connections: got %+v", n.Load(), m)
	}
}

// errEnough ends Run when a message has come.
var errEnough = errors.New("errEnough")

func first(t *testing.T, s *connectortest.Slack) (m connector.Message) {
	t.Helper()
	err := open(t, s, time.Minute).Run(t.Context(), func(_ context.Context, got connector.Message) error { m = got; return errEnough })
	if !errors.Is(err, errEnough) {
		t.Errorf("receiving: %v", err)
	}
	return m
}

func TestWhatIsSaidAndByWhom(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kind, payload string
		want          connector.Message
	}{
		"InAChannel": {"events_api", `{"event":{"type":"message","channel":"C0ALL","user":"U0ANN","ts":"5.1","text":"hello &lt;all&gt; &amp;amp; <https://x.org|here> <#C1|general> <@U2>"}}`,
			connector.Message{ID: "C0ALL/5.1", Conversation: "C0ALL", Sender: "U0ANN", Text: "hello <all> &amp; here (https://x.org) #general @U2", Group: true, Proven: true}},
		"ByMention": {"events_api", `{"event":{"type":"app_mention","channel":"C0ALL","user":"U0ANN","ts":"5.1","text":"<@U0BOT>: /status"}}`,
			connector.Message{ID: "C0ALL/5.1", Conversation: "C0ALL", Sender: "U0ANN", Text: "/status", Group: true, Mentioned: true, Proven: true}},
		"ByAButton": {"interactive", `{"type":"block_actions","user":{"id":"U0ANN"},"channel":{"id":"C0ALL"},"actions":[{"action_id":"lyceum_option_1","value":"yes","action_ts":"7.5"}]}`,
			connector.Message{ID: "pressed/C0ALL/U0ANN/7.5", Conversation: "C0ALL", Sender: "U0ANN", Text: "yes", Group: true, Mentioned: true, Proven: true}},
		"ByAnothersButton": {"interactive", `{"type":"block_actions","user":{"id":"U0ANN"},"channel":{"id":"C0ALL"},"actions":[{"action_id":"x","value":"yes","action_ts":"7.5"}]}`, connector.Message{}},
		"ByABot":           {"events_api", `{"event":{"type":"message","channel":"C0ALL","user":"U9","bot_id":"B1","ts":"5.1","text":"loop"}}`, connector.Message{}},
		"ByItself":         {"events_api", `{"event":{"type":"message","channel":"C0ALL","user":"U0BOT","ts":"5.1","text":"echo"}}`, connector.Message{}},
		"Changed":          {"events_api", `{"event":{"type":"message","subtype":"message_changed","channel":"C0ALL","user":"U0ANN","ts":"5.1","text":"x"}}`, connector.Message{}},
		"InAnUnknownForm":  {"events_api", `{"event":[1,2]}`, connector.Message{}},
		"WithALargeFile": {"events_api", `{"event":{"type":"message","subtype":"file_share","channel":"D0ANN","user":"U0ANN","ts":"5.1","text":"see","files":[{"name":"a/b.txt","size":26214401,"url_private_download":"https://files.slack.com/x"}]}}`,
			connector.Message{ID: "D0ANN/5.1", Conversation: "D0ANN", Sender: "U0ANN", Text: "see\n[the file b.txt was left out: it is too large]", Proven: true}},
		"WithAFileElsewhere": {"events_api", `{"event":{"type":"message","subtype":"file_share","channel":"D0ANN","user":"U0ANN","ts":"5.1","text":"see","files":[{"name":"b.txt","url_private_download":"https://slack.com.evil.example/x"}]}}`,
			connector.Message{ID: "D0ANN/5.1", Conversation: "D0ANN", Sender: "U0ANN", Text: "see\n[the file b.txt was left out: it is not at Slack]", Proven: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := connectortest.OpenSlack(t)
			s.Envelope(test.kind, test.payload)
			s.Say("last")
			got := first(t, s)
			if test.want.ID == "" {
				test.want = connector.Message{ID: "D0ANN/1700000000.000001", Conversation: "D0ANN", Sender: "U0ANN", Text: "last", Proven: true}
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

// The token goes to Slack with what is downloaded there, and nowhere else.
func TestFilesComeAlong(t *testing.T) {
	t.Parallel()
	s, other := connectortest.OpenSlack(t), connectortest.OpenSlack(t)
	s.Files["/files/a"] = "some data"
	s.Event(fmt.Sprintf(`{"type":"message","subtype":"file_share","channel":"D0ANN","user":"U0ANN","ts":"5.1","files":[{"name":"a.txt","mimetype":"text/plain","url_private_download":"%s/files/a"},{"name":"b","url_private_download":"%s/files/b"}]}`, s.URL, other.URL))
	got := first(t, s)
	if len(got.Files) != 1 || string(got.Files[0].Data) != "some data" || len(s.Tokens()) != 1 || s.Tokens()[0] != s.Bot {
		t.Errorf("the files: got %+v with the tokens %q, want the first with the bot's", got.Files, s.Tokens())
	}
	if n := len(other.Tokens()); n != 0 {
		t.Errorf("%d downloads went elsewhere, want none", n)
	}
}

// What an agent writes is shown as text: it names nobody, and has nothing loaded.
func TestTextIsEscaped(t *testing.T) {
	t.Parallel()
	s := connectortest.OpenSlack(t)
	text := "# A <!channel> title\n**bold** & `code <@U0ANN>` <https://evil.example|bank>\n```\n<!here>\n```\n" + strings.Repeat("a line of words\n", 400)
	if err := open(t, s, time.Minute).Send(t.Context(), connector.Outgoing{Conversation: "C0ALL", Key: "key", Text: text, Options: []string{"yes <!channel>"}}); err != nil {
		t.Fatal(err)
	}
	b := s.Bodies()[0]
	want := "*A &lt;!channel&gt; title*\n*bold* &amp; `code &lt;@U0ANN&gt;` &lt;https://evil.example|bank&gt;\n```\n&lt;!here&gt;\n```\na line"
	if got := fmt.Sprint(b["text"]); !strings.HasPrefix(got, want) {
		t.Errorf("the text:\n got %.300s\nwant %s", got, want)
	}
	for name, value := range map[string]any{"parse": "none", "link_names": false, "unfurl_links": false, "unfurl_media": false} {
		if b[name] != value {
			t.Errorf("%s is %v, want %v", name, b[name], value)
		}
	}
	if !strings.Contains(fmt.Sprint(b["metadata"]), "key:key") {
		t.Errorf("the key does not go along: %v", b["metadata"])
	}
	blocks := b["blocks"].([]any)
	all := ""
	for _, x := range blocks[:len(blocks)-1] {
		part := x.(map[string]any)["text"].(map[string]any)["text"].(string)
		if all += part; len(part) > 3000 {
			t.Errorf("a block has %d bytes, want at most 3000", len(part))
		}
	}
	if all != b["text"] {
		t.Error("the blocks together are not the text")
	}
}

func TestTokensThatAreNone(t *testing.T) {
	t.Parallel()
	for _, o := range []slack.Options{{}, {App: "xapp-1"}, {App: "xoxb-1", Bot: "xapp-1"}, {App: "xapp-1", Bot: "xoxb-1\n"}} {
		if _, err := slack.New(o); err == nil {
			t.Errorf("%+v are taken for tokens", o)
		}
	}
}
