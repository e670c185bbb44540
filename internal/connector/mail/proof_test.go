package mail_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"lyceum/internal/connector"
	"lyceum/internal/connector/connectortest"
)

// errEnough ends Run when a message has come.
var errEnough = errors.New("errEnough")

// received is what comes of a mail, and whether anything does.
func received(t *testing.T, s *connectortest.Mail, raw string) (m connector.Message, ok bool) {
	t.Helper()
	s.Post(raw)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		defer cancel()
		for s.Unread() > 0 && ctx.Err() == nil {
			time.Sleep(5 * time.Millisecond)
		}
	}()
	err := open(t, options(s, time.Minute)).Run(ctx, func(_ context.Context, got connector.Message) error { m, ok = got, true; return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("receiving a mail: %v", err)
	}
	return m, ok
}

const letter = "From: Ann <ann@example.org>\r\nTo: The Lab <lab@lyceum.example>\r\nSubject:  Re:  a\r\n folded   one\r\nMessage-ID: <1@example.org>\r\n\r\nyes,  please \t\r\n\r\nAnn\r\n\r\n\r\n"

const fine = "c=relaxed/relaxed; d=example.org; h=from:to:subject:message-id; t=1700000000"

func TestSignaturesProveTheSender(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"rsa", "ed25519"} {
		for _, way := range []string{"relaxed/relaxed", "relaxed/simple", "simple/relaxed", "simple/simple"} {
			t.Run(kind+"/"+strings.ReplaceAll(way, "/", "-"), func(t *testing.T) {
				t.Parallel()
				s := connectortest.OpenMail(t)
				s.Signer = connectortest.NewSigner(t, kind, "example.org")
				raw := s.Signer.Sign(letter, strings.Replace(fine, "relaxed/relaxed", way, 1))
				m, ok := received(t, s, raw)
				if !ok || !m.Proven || m.Sender != "ann@example.org" || m.Conversation != "ann@example.org" || m.Text != "yes,  please \t\n\nAnn" || !m.Mentioned || m.Group {
					t.Errorf("a signed mail: got %+v, want it proven", m)
				}
				// One letter of it is another.
				changed, ok := received(t, s, strings.Replace(raw, "please", "pleaze", 1))
				if !ok || changed.Proven || changed.Text != "" {
					t.Errorf("a mail that was changed: got %+v, want it unproven and without a text", changed)
				}
				// Another message id, which is signed; another name of a field that is not.
				if got, _ := received(t, s, strings.Replace(raw, "<1@example.org>", "<2@example.org>", 1)); got.Proven {
					t.Error("a mail with a changed head is proven")
				}
				again, _ := received(t, s, strings.Replace(raw, "Message-ID:", "X-Spam: no\r\nMessage-ID:", 1))
				if !again.Proven || again.ID != m.ID {
					t.Errorf("a copy of a mail: got %s, proven %v, want the id %s", again.ID, again.Proven, m.ID)
				}
				spaced, _ := received(t, s, strings.Replace(raw, "yes,  please \t", "yes, please", 1))
				if want := strings.HasSuffix(way, "/relaxed"); spaced.Proven != want {
					t.Errorf("a mail with other spaces: proven %v, want %v", spaced.Proven, want)
				}
			})
		}
	}
}

func TestWhatIsNoProof(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		mail, tags string
		do         func(*connectortest.Signer)
		change     func(string) string
		proven     bool
	}{
		"Fine":                 {proven: true},
		"OfAParentDomain":      {mail: strings.Replace(letter, "ann@example.org", "ann@dept.example.org", 1), proven: true},
		"OfAnotherDomain":      {mail: strings.Replace(letter, "ann@example.org", "ann@example.com", 1)},
		"OfADomainThatEndsSo":  {mail: strings.Replace(letter, "ann@example.org", "ann@badexample.org", 1)},
		"ForSomebodyElse":      {mail: strings.Replace(letter, "lab@lyceum.example", "eve@example.com", 1)},
		"WhomItIsForNotSigned": {tags: "c=relaxed/relaxed; d=example.org; h=from:subject; t=1700000000"},
		"WhoWroteItNotSigned":  {tags: "c=relaxed/relaxed; d=example.org; h=to:subject; t=1700000000"},
		"OfAPartOfTheBody":     {tags: fine + "; l=3"},
		"Expired":              {tags: fine + "; x=1699999999"},
		"NotYetExpired":        {tags: fine + "; x=1700000001", proven: true},
		"OfLongAgo":            {tags: strings.Replace(fine, "t=17", "t=16", 1)},
		"OfNoTime":             {tags: strings.Replace(fine, "; t=1700000000", "", 1)},
		"OfADateThatIsSigned":  {mail: "Date: Tue, 14 Nov 2023 23:00:00 +0100\r\n" + letter, tags: "c=relaxed/relaxed; d=example.org; h=from:to:date", proven: true},
		"OfADateThatIsNot":     {mail: "Date: Tue, 14 Nov 2023 23:00:00 +0100\r\n" + letter, tags: "c=relaxed/relaxed; d=example.org; h=from:to"},
		"OfADateLongAgo":       {mail: "Date: Tue, 7 Nov 2023 23:00:00 +0100\r\n" + letter, tags: "c=relaxed/relaxed; d=example.org; h=from:to:date"},
		"OfAnotherIdentity":    {tags: fine + "; i=@example.com"},
		"WithTwoSubjects":      {change: func(s string) string { return "Subject: other\r\n" + s }},
		"WithTwoSenders":       {change: func(s string) string { return "From: ann@example.org\r\n" + s }},
		"KeyTakenBack":         {do: func(s *connectortest.Signer) { s.Publish("sel", "example.org", "v=DKIM1; k=ed25519; p=") }},
		"KeyBeingTried":        {do: func(s *connectortest.Signer) { s.Publish("sel", "example.org", s.Key("example.org")+"; t=y") }},
		"KeyForSomethingElse":  {do: func(s *connectortest.Signer) { s.Publish("sel", "example.org", s.Key("example.org")+"; s=tlsrpt") }},
		"KeyOfAnotherHash":     {do: func(s *connectortest.Signer) { s.Publish("sel", "example.org", s.Key("example.org")+"; h=sha1") }},
		"AnotherKey": {do: func(s *connectortest.Signer) {
			s.Publish("sel", "example.org", "k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=")
		}},
		"KeyThatIsNone":  {do: func(s *connectortest.Signer) { s.Publish("sel", "example.org", "hello = world = ; ;p") }},
		"NoDNS":          {do: func(s *connectortest.Signer) { s.Trouble = errors.New("the DNS does not answer") }},
		"NoKey":          {tags: "c=relaxed/relaxed; d=org.example.org; h=from:to; t=1700000000", mail: strings.Replace(letter, "ann@example.org", "ann@org.example.org", 1)},
		"NoSignature":    {change: func(s string) string { return s[strings.Index(s, "From:"):] }},
		"OfATopDomain":   {tags: "c=relaxed/relaxed; d=org; h=from:to; t=1700000000", do: func(s *connectortest.Signer) { s.Publish("sel", "org", s.Key("example.org")) }},
		"VersionUnknown": {change: func(s string) string { return strings.Replace(s, "v=1;", "v=2;", 1) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := connectortest.OpenMail(t)
			if test.mail == "" {
				test.mail = letter
			}
			if test.tags == "" {
				test.tags = fine
			}
			raw := s.Signer.Sign(test.mail, test.tags)
			if test.do != nil {
				test.do(s.Signer)
			}
			if test.change != nil {
				raw = test.change(raw)
			}
			if m, _ := received(t, s, raw); m.Proven != test.proven {
				t.Errorf("proven: got %v, want %v", m.Proven, test.proven)
			}
		})
	}
}

// The example of RFC 8463, appendix A, which others signed.
const standard = "DKIM-Signature: v=1; a=ed25519-sha256; c=relaxed/relaxed;\r\n d=football.example.com; i=@football.example.com;\r\n q=dns/txt; s=brisbane; t=1528637909; h=from : to :\r\n subject : date : message-id : from : subject : date;\r\n bh=2jUSOH9NhtVGCQWNr9BrIAPreKQjO6Sn7XIkfJVOzv8=;\r\n b=/gCrinpcQOoIfuHNQIbq4pgh9kyIK3AQUdt9OdqQehSwhEIug4D11BusFa3bT3FY5OsU7ZbnKELq+eXdp1Q1Dw==\r\n" +
	"From: Joe SixPack <joe@football.example.com>\r\nTo: Suzie Q <suzie@shopping.example.net>\r\nSubject: Is dinner ready?\r\nDate: Fri, 11 Jul 2003 21:00:37 -0700 (PDT)\r\nMessage-ID: <20030712040037.46341.5F8J@football.example.com>\r\n\r\nHi.\r\n\r\nWe lost the game.  Are you hungry yet?\r\n\r\nJoe.\r\n"

func TestTheExampleOfTheStandard(t *testing.T) {
	t.Parallel()
	s := connectortest.OpenMail(t)
	s.Address = "suzie@shopping.example.net"
	s.Arrives = "10-Jun-2018 13:38:29 +0000"
	s.Signer.Publish("brisbane", "football.example.com", "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=")
	m, _ := received(t, s, standard)
	if !m.Proven || !strings.Contains(m.Text, "We lost the game.") {
		t.Errorf("the example: got %+v, want it proven", m)
	}
}

func TestTheSecretAddressProvesTheSender(t *testing.T) {
	t.Parallel()
	s := connectortest.OpenMail(t)
	if err := open(t, options(s, time.Minute)).Send(t.Context(), connector.Outgoing{Conversation: "ann@example.org", Key: "k", Text: "well?"}); err != nil {
		t.Fatal(err)
	}
	to := regexp.MustCompile(`Reply-To: <(.*)>`).FindStringSubmatch(s.Raw()[0])[1]
	if len(to) < len("lab+@lyceum.example")+26 {
		t.Fatalf("the address of replies is %s, want a secret in it", to)
	}
	raw := "From: Ann@Example.org\r\nTo: " + to + "\r\nMessage-ID: <7@x>\r\n\r\nyes\r\n"
	m, ok := received(t, s, raw)
	if !ok || !m.Proven || m.Text != "yes" || m.Sender != "ann@example.org" {
		t.Errorf("a mail to the secret address: got %+v, want it proven", m)
	}
	for name, other := range map[string]string{
		"by another sender": strings.Replace(raw, "Ann@", "Eve@", 1),
		"with another word": strings.Replace(raw, to, "lab+"+strings.Repeat("a", 26)+"@lyceum.example", 1),
		"without a word":    strings.Replace(raw, to, s.Address, 1),
	} {
		if m, _ := received(t, s, other); m.Proven {
			t.Errorf("a mail %s is proven", name)
		}
	}
}

func TestMachinesAreNotAnswered(t *testing.T) {
	t.Parallel()
	for _, head := range []string{"Auto-Submitted: auto-replied", "Precedence: bulk", "List-Id: <x>", "Return-Path: <>"} {
		s := connectortest.OpenMail(t)
		if m, ok := received(t, s, s.Signer.Sign(head+"\r\n"+letter, fine)); ok {
			t.Errorf("a mail with %s came as %+v, want none", head, m)
		}
	}
	s := connectortest.OpenMail(t)
	for _, from := range []string{"lab@lyceum.example", "LAB+x@lyceum.example", "", "a@b.org, c@d.org", "nobody", "ann@example.org\x00"} {
		if m, ok := received(t, s, "From: "+from+"\r\n\r\nloop\r\n"); ok {
			t.Errorf("a mail from %q came as %+v, want none", from, m)
		}
	}
}

// A mail that is too large comes as a line that says so, and holds up nothing.
func TestALargeMailIsALine(t *testing.T) {
	t.Parallel()
	s := connectortest.OpenMail(t)
	if err := open(t, options(s, time.Minute)).Send(t.Context(), connector.Outgoing{Conversation: "ann@example.org", Key: "k", Text: "well?"}); err != nil {
		t.Fatal(err)
	}
	to := regexp.MustCompile(`Reply-To: <(.*)>`).FindStringSubmatch(s.Raw()[0])[1]
	s.Post("From: ann@example.org\r\nTo: " + to + "\r\n\r\nyes\r\n")
	s.Lie(1 << 40)
	var got connector.Message
	err := open(t, options(s, time.Minute)).Run(t.Context(), func(_ context.Context, m connector.Message) error { got = m; return errEnough })
	if !errors.Is(err, errEnough) || !got.Proven || !strings.Contains(got.Text, "25 MiB") {
		t.Errorf("a mail that is too large: got %+v, %v, want a line about it", got, err)
	}
}

// The password goes only over TLS, but for this machine, and to the server that was meant.
func TestThePasswordGoesOverTLS(t *testing.T) {
	t.Parallel()
	web := httptest.NewUnstartedServer(nil)
	web.StartTLS()
	defer web.Close()
	s := connectortest.OpenMail(t)
	s.TLS = &tls.Config{Certificates: web.TLS.Certificates}
	s.Say("hello")
	o := options(s, time.Minute)
	roots := x509.NewCertPool()
	roots.AddCert(web.Certificate())
	o.TLS = &tls.Config{RootCAs: roots, ServerName: "example.com"}
	var text string
	if err := open(t, o).Run(t.Context(), func(_ context.Context, m connector.Message) error { text = m.Text; return errEnough }); !errors.Is(err, errEnough) || text != "hello" {
		t.Errorf("receiving over TLS: got %q, %v", text, err)
	}
	out := connector.Outgoing{Conversation: "ann@example.org", Key: "k", Text: "x"}
	if err := open(t, o).Send(t.Context(), out); err != nil {
		t.Errorf("sending over TLS: %v", err)
	}
	o.TLS = nil // nobody vouches for this server
	if err := open(t, o).Run(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("receiving from a server that nobody vouches for: got %v", err)
	}
	if err := open(t, o).Send(t.Context(), out); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("sending by a server that nobody vouches for: got %v", err)
	}
	if n := len(s.Heard()); n != 1 {
		t.Errorf("%d mails were sent, want 1", n)
	}
}

func TestNothingOfAnAgentIsAField(t *testing.T) {
	t.Parallel()
	s := connectortest.OpenMail(t)
	evil := "x\r\nBcc: eve@example.com\r\n\r\n.\r\nQUIT\r\n"
	o := connector.Outgoing{Conversation: "ann@example.org", Key: evil, Text: evil, Options: []string{evil}, Quest: evil, Kind: evil, Files: []connector.File{{Name: evil + "\"; x", Data: []byte(evil)}}}
	if err := open(t, options(s, time.Minute)).Send(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	raw := s.Raw()[0]
	if strings.Contains(raw, "\nBcc") || len(s.Heard()) != 1 {
		t.Errorf("the mail has what an agent put there:\n%s", raw)
	}
	if h := s.Heard()[0]; string(h.Files[0].Data) != evil {
		t.Errorf("the file came as %q, want %q", h.Files[0].Data, evil)
	}
	// To answer quotes it, and what is quoted is not said again.
	quoted := fmt.Sprintf("fine\r\n\r\nOn Monday Lyceum <lab@lyceum.example>\r\nwrote:\r\n> %s\r\n", strings.ReplaceAll(s.Heard()[0].Text, "\n", "\r\n> "))
	m, _ := received(t, s, s.Signer.Sign(strings.Replace(letter, "yes,  please \t\r\n\r\nAnn\r\n", quoted, 1), fine))
	if m.Text != "fine" {
		t.Errorf("an answer that quotes: got %q, want %q", m.Text, "fine")
	}
}

func TestPartsOfAMail(t *testing.T) {
	t.Parallel()
	deep := ""
	for i := range 50 {
		deep += fmt.Sprintf("--b%d\r\nContent-Type: multipart/mixed; boundary=b%d\r\n\r\n", i, i+1)
	}
	for name, test := range map[string]struct{ head, body, text, file string }{
		"Base64":      {"Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n", "w7xiZXI=\r\n", "über", ""},
		"OldLetters":  {"Content-Type: text/plain; charset=ISO-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n", "=FCber\r\n", "über", ""},
		"Unknown":     {"Content-Type: text/plain; charset=klingon\r\n", "a\xffb\r\n", "a\uFFFDb", ""},
		"HTML":        {"Content-Type: text/html\r\n", "<style>p{}</style><p>yes &amp; <b>no</b></p><blockquote>old</blockquote>\r\n", "yes & no", ""},
		"Alternative": {"Content-Type: multipart/alternative; boundary=b0\r\n", "--b0\r\nContent-Type: text/html\r\n\r\n<p>html</p>\r\n--b0\r\n\r\nplain\r\n--b0--\r\n", "plain", ""},
		"File": {"Content-Type: multipart/mixed; boundary=b0\r\n", "--b0\r\n\r\nsee\r\n--b0\r\nContent-Type: text/csv\r\nContent-Disposition: attachment; filename=\"../../etc/x.csv\"\r\nContent-Transfer-Encoding: base64\r\n\r\nMSwy\r\n--b0--\r\n",
			"see", "x.csv text/csv 1,2"},
		"Deep":     {"Content-Type: multipart/mixed; boundary=b0\r\n", deep, "Re: a folded one", ""},
		"Boundary": {"Content-Type: multipart/mixed\r\n", "text\r\n", "Re: a folded one", ""},
		"Subject":  {"", "", "Re: a folded one", ""},
		"Broken":   {"Content-Type: \"\r\nContent-Transfer-Encoding: base64\r\n", "!!!", "Re: a folded one", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := connectortest.OpenMail(t)
			head, _, _ := strings.Cut(letter, "\r\n\r\n")
			m, ok := received(t, s, s.Signer.Sign(head+"\r\n"+test.head+"\r\n"+test.body, fine))
			files := ""
			for _, f := range m.Files {
				files += f.Name + " " + f.Type + " " + string(f.Data)
			}
			if !ok || !m.Proven || m.Text != test.text || files != test.file {
				t.Errorf("the mail: got %q with %q, want %q with %q (proven %v)", m.Text, files, test.text, test.file, m.Proven)
			}
		})
	}
}
