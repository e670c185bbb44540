package matrix_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"lyceum/internal/connector"
	"lyceum/internal/connector/connectortest"
	"lyceum/internal/connector/matrix"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func open(t *testing.T, s *connectortest.Matrix, patience time.Duration) *matrix.Driver {
	t.Helper()
	d, err := matrix.New(matrix.Options{Base: s.URL, Token: s.Token, Patience: patience, Poll: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestTheDriver(t *testing.T) {
	t.Parallel()
	connectortest.Exercise(t, func(t *testing.T) *connectortest.Rig {
		s := connectortest.OpenMatrix(t)
		return &connectortest.Rig{
			Service: s, Conversation: s.Room, Keyed: true, Secrets: []string{s.Token},
			Open: func(patience time.Duration) connector.Driver { return open(t, s, patience) },
		}
	})
}

// errEnough ends Run when a message has come.
var errEnough = errors.New("errEnough")

func first(t *testing.T, s *connectortest.Matrix) (m connector.Message) {
	t.Helper()
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
	ann := "@ann:example.org"
	for name, test := range map[string]struct {
		sender, content string
		members         int
		want            connector.Message
	}{
		"InAGroup":           {ann, `{"msgtype":"m.text","body":"hello all"}`, 3, connector.Message{Text: "hello all", Group: true}},
		"ByMention":          {ann, `{"msgtype":"m.text","body":"Lyceum: /status","m.mentions":{"user_ids":["@lyceum:example.org"]}}`, 3, connector.Message{Text: "/status", Group: true, Mentioned: true}},
		"ByName":             {ann, `{"msgtype":"m.text","body":"lyceum: go on"}`, 3, connector.Message{Text: "go on", Group: true, Mentioned: true}},
		"ByID":               {ann, `{"msgtype":"m.text","body":"@lyceum:example.org go on"}`, 3, connector.Message{Text: "go on", Group: true, Mentioned: true}},
		"AWordThatBeginsSo":  {ann, `{"msgtype":"m.text","body":"Lyceums: are schools"}`, 3, connector.Message{Text: "Lyceums: are schools", Group: true}},
		"AboutIt":            {ann, `{"msgtype":"m.text","body":"Lyceum is slow"}`, 3, connector.Message{Text: "Lyceum is slow", Group: true}},
		"AsAnAnswer":         {ann, `{"msgtype":"m.text","body":"> <@lyceum:example.org> well?\n> really\n\nyes","m.relates_to":{"m.in_reply_to":{"event_id":"$9"}}}`, 2, connector.Message{Text: "yes"}},
		"ByItself":           {"@lyceum:example.org", `{"msgtype":"m.text","body":"echo"}`, 2, connector.Message{Text: "last"}},
		"ByABot":             {ann, `{"msgtype":"m.notice","body":"loop"}`, 2, connector.Message{Text: "last"}},
		"Changed":            {ann, `{"msgtype":"m.text","body":"* new","m.relates_to":{"rel_type":"m.replace","event_id":"$1"}}`, 2, connector.Message{Text: "last"}},
		"InAFormNobodyKnows": {ann, `{"msgtype":[1],"body":{}}`, 2, connector.Message{Text: "last"}},
		"WithAFile":          {ann, `{"msgtype":"m.file","body":"a/b.csv","url":"mxc://example.org/abc","info":{"mimetype":"text/csv","size":3}}`, 2, connector.Message{Files: []connector.File{{Name: "b.csv", Type: "text/csv", Data: []byte("1,2")}}}},
		"WithALargeFile":     {ann, `{"msgtype":"m.file","body":"b.csv","url":"mxc://example.org/abc","info":{"size":99999999}}`, 2, connector.Message{Text: "[the file b.csv was left out: it is too large]"}},
		"WithAFileNowhere":   {ann, `{"msgtype":"m.file","body":"b.csv","url":"mxc://example.org/../../../client/v3/x"}`, 2, connector.Message{Text: "[the file b.csv was left out: it is encrypted, or nowhere]"}},
		"WithAFileGone":      {ann, `{"msgtype":"m.image","body":"see this","filename":"b.png","url":"mxc://example.org/gone"}`, 2, connector.Message{Text: "see this\n[the file b.png was left out: Matrix says: M_NOT_FOUND: no (404)]"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := connectortest.OpenMatrix(t)
			s.Members = test.members
			s.Files["example.org/abc"] = "1,2"
			s.Event(test.sender, test.content)
			s.Say("last")
			got := first(t, s)
			if got.ID == "" || got.Time.IsZero() || !got.Proven || got.Conversation != s.Room || got.Sender != ann {
				t.Errorf("the message has no id, time, proof, room or sender: %+v", got)
			}
			got = connector.Message{Text: got.Text, Files: got.Files, Group: got.Group, Mentioned: got.Mentioned}
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", test.want) {
				t.Errorf("the message:\n got %+v\nwant %+v", got, test.want)
			}
		})
	}
}

// What was said before the account was ever here was not said to us.
func TestTheFirstTimeBeginsNow(t *testing.T) {
	t.Parallel()
	s := connectortest.OpenMatrix(t)
	s.Forget()
	s.Say("long ago")
	s.Invite("!other:example.org")
	s.Invite("no room")
	var texts []string
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- open(t, s, time.Minute).Run(ctx, func(_ context.Context, m connector.Message) error {
			texts = append(texts, m.Text)
			return errEnough
		})
	}()
	connectortest.Until(t, "the place is stored", func() bool { return s.Unread() == 0 })
	s.Say("now")
	if err := <-ended; !errors.Is(err, errEnough) || len(texts) != 1 || texts[0] != "now" {
		t.Errorf("the first time: got %q, %v, want only what was said since", texts, err)
	}
	if got := s.Joins(); len(got) != 1 || !strings.Contains(got[0], "other") {
		t.Errorf("the rooms that were entered: got %q, want the one", got)
	}
}

// What an agent writes is shown as text, and rings nobody up.
func TestTextIsEscaped(t *testing.T) {
	t.Parallel()
	s := connectortest.OpenMatrix(t)
	text := "# A <b>title</b>\n**bold** & `code <i>` @room\n```\n</code><img src=\"mxc://x\">\n```\n<script>alert(1)</script>"
	if err := open(t, s, time.Minute).Send(t.Context(), connector.Outgoing{Conversation: s.Room, Key: "k/../x", Text: text}); err != nil {
		t.Fatal(err)
	}
	b := s.Bodies()[0]
	want := "<strong>A &lt;b&gt;title&lt;/b&gt;</strong><br><strong>bold</strong> &amp; <code>code &lt;i&gt;</code> @room<br><pre><code>&lt;/code&gt;&lt;img src=&quot;mxc://x&quot;&gt;</code></pre><br>&lt;script&gt;alert(1)&lt;/script&gt;"
	if b["formatted_body"] != want {
		t.Errorf("the text:\n got %s\nwant %s", b["formatted_body"], want)
	}
	if m, ok := b["m.mentions"].(map[string]any); !ok || len(m) != 0 {
		t.Errorf("whom it calls: got %v, want that it says nobody", b["m.mentions"])
	}
	if got := s.Heard(); len(got) != 1 || got[0].Key != "k%2F..%2Fx-0" {
		t.Errorf("the transaction: got %+v, want it escaped", got)
	}
}

func TestAHomeserverThatIsNone(t *testing.T) {
	t.Parallel()
	for _, o := range []matrix.Options{{}, {Base: "matrix.org", Token: "x"}, {Base: "https://matrix.org"}, {Base: "https://a:b@matrix.org", Token: "x"}, {Base: "https://matrix.org", Token: "a\nb"}, {Base: "file:///x", Token: "x"}} {
		if _, err := matrix.New(o); err == nil {
			t.Errorf("%+v is taken for a homeserver", o)
		}
	}
}
