package wire

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// hidden are secrets of which some overlap, and one has characters that are escaped.
var hidden = []string{"sk-canary-Zq7Xw2", "canary-Zq7Xw2Vt9", "aabaabaabaa", `p/q+r "ü" <&>`, "short"}

// without is a text without secrets, by the plainest way: every byte of every secret is taken
// out, and of one that the text ends in the middle of, if that is much.
func without(text string, s *Secrets) string {
	gone := make([]bool, len(text)+1)
	for _, p := range s.list {
		for i := range text {
			if strings.HasPrefix(text[i:], p.text) {
				for k := range len(p.text) {
					gone[i+k] = true
				}
			}
			if n := len(text) - i; n >= leastSecret && strings.HasPrefix(p.text, text[i:]) {
				for k := i; k < len(text); k++ {
					gone[k] = true
				}
			}
		}
	}
	var b strings.Builder
	for i := range len(text) {
		switch {
		case !gone[i]:
			b.WriteByte(text[i])
		case i == 0 || !gone[i-1]:
			b.WriteString(taken)
		}
	}
	return b.String()
}

// quoted is a text as JSON, with more escapes than it needs; nested that of JSON in JSON.
func quoted(text string, r *rand.Rand, nested bool) string {
	var b strings.Builder
	for _, c := range text {
		switch plain, _ := json.Marshal(string(c)); {
		case c < 0x10000 && r.IntN(4) == 0:
			fmt.Fprintf(&b, []string{`\u%04x`, `\u%04X`}[r.IntN(2)], c)
		case c == '/' && r.IntN(2) == 0:
			b.WriteString(`\/`)
		default:
			b.Write(plain[1 : len(plain)-1])
		}
	}
	if nested {
		again, _ := json.Marshal(b.String())
		return string(again)
	}
	return `"` + b.String() + `"`
}

// chopped has a sieve read a stream in pieces.
func chopped(t testing.TB, v *Sieve, stream string, r *rand.Rand) string {
	var b strings.Builder
	for len(stream) > 0 {
		n := min(1+r.IntN(40), len(stream))
		b.Write(v.Pass([]byte(stream[:n])))
		if stream = stream[n:]; len(v.held) > maxHold {
			t.Fatalf("%d bytes are held back, want %d at most", len(v.held), maxHold)
		}
	}
	b.Write(v.End())
	return b.String()
}

// An event of each of the formats, with a piece of a text.
var shapes = []string{
	`event: content_block_delta` + "\n" + `data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":%s}}`,
	`data: {"choices":[{"index":0,"delta":{"content":%s},"finish_reason":null}]}`,
	`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":%s}}]},"index":0}]}`,
	"data: {\"type\":\"response.output_text.delta\",\"output_index\":1,\r\ndata: \"delta\":%s}\r",
	`data: {"candidates":[{"content":{"parts":[{"text":%s}]}}],"usageMetadata":{"promptTokenCount":100}}`,
}

// pieceOf finds the piece in what was made of such an event.
func pieceOf(t testing.TB, event string) string {
	var data strings.Builder
	for line := range strings.Lines(event) {
		if _, d, ok := strings.Cut(line, "data:"); ok {
			data.WriteString(strings.TrimRight(d, "\r\n"))
		}
	}
	var body any
	if err := json.Unmarshal([]byte(data.String()), &body); err != nil {
		t.Fatalf("what passed is no JSON: %v\n%s", err, event)
	}
	var find func(v any) (string, bool)
	find = func(v any) (string, bool) {
		switch v := v.(type) {
		case []any:
			for _, in := range v {
				if s, ok := find(in); ok {
					return s, true
				}
			}
		case map[string]any:
			for name, in := range v {
				s, is := in.(string)
				if !is {
					s, is = find(in)
				} else if is = name == "text" || name == "content" || name == "arguments" || name == "delta"; !is {
					continue
				}
				if is {
					return s, true
				}
			}
		}
		return "", false
	}
	s, _ := find(body)
	return s
}

// words make texts in which secrets come, whole, in part and entangled.
var words = append([]string{
	"sk-", "sk-canary-", "Zq7Xw2", "Vt9", "canary-Zq7", "aab", "aabaabaab", "s", "a", "k", " ", "\n", `"`, "ü", "p/q+r", ` "ü" <&>`, "日本", "[key]", "x", "{", "}",
}, hidden...)

func sentence(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(12) {
		b.WriteString(words[r.IntN(len(words))])
	}
	return b.String()
}

// split plays a text in events, cut anywhere and escaped in any way, with other events
// between. What a client puts together is the text without secrets.
func split(t testing.TB, text string, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	s := NewSecrets(hidden...)
	form, nested := shapes[r.IntN(len(shapes))], r.IntN(3) == 0
	var stream strings.Builder
	for rest := []rune(text); ; {
		n := min(r.IntN(9), len(rest))
		fmt.Fprintf(&stream, form+"\n\n", quoted(string(rest[:n]), r, nested))
		if rest = rest[n:]; len(rest) == 0 {
			break
		}
		for range r.IntN(patientEvents - 1) {
			stream.WriteString([]string{"event: ping\ndata: {}\n\n", ": so\n\n", "data: {\"other\":\"text s\",\"index\":7}\n\n"}[r.IntN(3)])
		}
	}
	got := chopped(t, s.Sieve(true), stream.String(), r)
	var said strings.Builder
	for _, e := range strings.Split(strings.ReplaceAll(got, "\r", ""), "\n\n") {
		if !strings.Contains(e, "data: {") || strings.Contains(e, "other") || strings.Contains(e, "data: {}") {
			continue
		}
		piece := pieceOf(t, e)
		if nested {
			var inner string
			if err := json.Unmarshal([]byte(`"`+piece+`"`), &inner); err != nil {
				t.Fatalf("what passed is no JSON in JSON: %v: %s", err, piece)
			}
			piece = inner
		}
		said.WriteString(piece)
	}
	if want := without(text, s); said.String() != want {
		t.Fatalf("of %q in events (seed %d) came\n%q, want\n%q\n%s", text, seed, said.String(), want, stream.String())
	}
	for _, secret := range hidden[:4] {
		if strings.Contains(got, secret) {
			t.Fatalf("%q is in what passed: %s", secret, got)
		}
	}
}

func TestSecretsInPieces(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
		split(t, sentence(rand.New(rand.NewPCG(seed, 2))), seed)
	}
}

func FuzzSieve(f *testing.F) {
	f.Add("the key is sk-canary-Zq7Xw2Vt9", uint64(1))
	f.Add("aabaabaabaabaabaa", uint64(2))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		if text = strings.ToValidUTF8(text, "?"); !strings.Contains(text, `\`) { // see lexer: it reads such deeper
			split(t, text, seed)
		}
		// Whatever it is, and however it is cut: the same comes of it, and no secret.
		s := NewSecrets(hidden...)
		r := rand.New(rand.NewPCG(seed, 3))
		whole := string(s.Clean([]byte(text)))
		if got := chopped(t, s.Sieve(false), text, r); got != whole {
			t.Fatalf("%q in pieces is %q, whole %q", text, got, whole)
		}
		for _, secret := range hidden[:4] {
			if strings.Contains(whole, secret) {
				t.Fatalf("%q is in %q", secret, whole)
			}
		}
	})
}

func TestSieve(t *testing.T) {
	t.Parallel()
	const key = "sk-canary-Zq7Xw2"
	for name, c := range map[string]struct{ in, want string }{
		"AsItIs":           {"data: x " + key + " y\n\n", "data: x [key] y\n\n"},
		"InAComment":       {": " + key + "\n\n", ": [key]\n\n"},
		"InTheNameOfEvent": {"event: " + key + "\ndata: {}\n\n", "event: [key]\ndata: {}\n\n"},
		"InAName":          {`data: {"` + key + `":1}`, `data: {"[key]":1}`},
		"InAnEscapedName":  {`data: {"\u0073k-canary-Zq7Xw2":1}`, `data: {"[key]":1}`},
		"Escaped":          {`data: {"text":"a \u0073k\u002Dcanary-Zq7Xw2."}`, `data: {"text":"a [key]."}`},
		"EscapedTwice":     {`data: {"arguments":"{\"k\":\"\\u0073k-canary\\u002dZq7Xw2\"}"}`, `data: {"arguments":"{\"k\":\"[key]\"}"}`},
		"OfAQuery":         {`?k=p%2Fq%2Br+%22%C3%BC%22+%3C%26%3E&x`, `?k=[key]&x`},
		"TwoOfOneAnswer":   {`{"parts":[{"text":"sk-can"},{"text":"ary-Zq7Xw2 it is"}]}`, `{"parts":[{"text":"[key]"},{"text":" it is"}]}`},
		"OtherIndex":       {`{"c":[{"index":0,"text":"sk-can"},{"index":1,"text":"ary-Zq7Xw2"}]}`, `{"c":[{"index":0,"text":"sk-can"},{"index":1,"text":"ary-Zq7Xw2"}]}`},
		"OtherMember":      {`{"a":"sk-can","b":"ary-Zq7Xw2"}`, `{"a":"sk-can","b":"ary-Zq7Xw2"}`},
		"Interleaved": {`[{"index":0,"text":"sk-can"},{"index":1,"text":"sk-"},{"index":0,"text":"ary-Zq7Xw2"},{"index":1,"text":"canary-Zq7Xw2!"}]`,
			`[{"index":0,"text":"[key]"},{"index":1,"text":"[key]"},{"index":0,"text":""},{"index":1,"text":"!"}]`},
		"ABeginning":      {`{"text":"sk-can"}`, `{"text":"sk-can"}`},
		"MuchOfOne":       {`{"text":"sk-canar"}`, `{"text":"[key]"}`},
		"Nothing":         {`{"text":"sk-canada"}`, `{"text":"sk-canada"}`},
		"BrokenEscape":    {`{"text":"\u00sk-canary-Zq7Xw2\u"}`, `{"text":"\u00[key]\u"}`},
		"ManyBackslashes": {`{"text":"` + strings.Repeat(`\`, 200) + key + `"}`, `{"text":"` + strings.Repeat(`\`, 200) + `[key]"}`},
		"NoEnd":           {`{"text":"` + key, `{"text":"[key]`},
		"Short":           {"short keys are words", "short keys are words"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewSecrets(hidden...)
			for seed := range uint64(20) {
				if got := chopped(t, s.Sieve(strings.HasPrefix(c.in, "data") || strings.HasPrefix(c.in, "event")), c.in, rand.New(rand.NewPCG(seed, 4))); got != c.want {
					t.Fatalf("got  %s\nwant %s", got, c.want)
				}
			}
		})
	}
}

// TestWhatIsPassedOverMeansNothing: a sieve that looks at every byte says the same, of any stream. One of
// the lists has a secret that begins as a line of data does.
func TestWhatIsPassedOverMeansNothing(t *testing.T) {
	t.Parallel()
	pieces := []string{"data: ", "data:{", "dat", "event: delta", "\n", "\r\n", "\n\n", `{"text":"`, `"index":`, `"output_index":12`, "7", `"}`, `",`, "}]", `"words of it `, `\"`, `\\`, `\u0073`, `\u00`,
		"sk-canary-Zq7Xw2", "sk-can", "ary-Zq7Xw2Vt9", "aabaab", "aabaa", `p/q+r `, "plain", ": a comment", "{", "[", ":"}
	for _, shape := range shapes { // whole events, one like the other
		for _, text := range []string{`"words"`, `"sk-can"`, `"ary-Zq7Xw2Vt9"`, `"a \\n\\u0073k-canary-Zq7Xw2"`} {
			pieces = append(pieces, fmt.Sprintf(shape, text)+"\n\n")
		}
	}
	for lines, list := range map[bool][]string{false: hidden, true: {hidden[0], hidden[1], hidden[3]}} {
		fast := NewSecrets(list...)
		if fast.lines != lines {
			t.Errorf("of the secrets %q none begins with a letter of a line of data: got %t, want %t", list, fast.lines, lines)
		}
		for seed := range uint64(3000) {
			r := rand.New(rand.NewPCG(seed, 5))
			var b strings.Builder
			for range 1 + r.IntN(30) {
				b.WriteString(pieces[r.IntN(len(pieces))])
			}
			events := r.IntN(3) > 0
			slow := fast.Sieve(events)
			var want strings.Builder
			for i := range b.Len() {
				slow.look(b.String()[i])
				want.Write(slow.decided([]byte{b.String()[i]}))
			}
			want.Write(slow.End())
			if got := chopped(t, fast.Sieve(events), b.String(), rand.New(rand.NewPCG(seed, 6))); got != want.String() {
				t.Fatalf("of %q (events %t) remains %q, and %q if every byte is looked at", b.String(), events, got, want.String())
			}
		}
	}
}

// TestASieveHoldsLittleBack: what cannot be the beginning of a secret passes at once, and what
// can when the next event says otherwise, or none comes.
func TestASieveHoldsLittleBack(t *testing.T) {
	t.Parallel()
	say := func(text string) string { return `data: {"index":0,"text":"` + text + "\"}\n\n" }
	v := NewSecrets("sk-canary-Zq7Xw2").Sieve(true)
	pass := func(in, want string) {
		t.Helper()
		if got := string(v.Pass([]byte(in))); got != want {
			t.Errorf("after %q passed %q, want %q", in, got, want)
		}
	}
	pass(say("All of it."), say("All of it."))
	pass(say("Things"), say("Things")[:len(say("Thing"))-4])
	pass(say(" go"), "s\"}\n\n"+say(" go"))

	// The rest of one that came too late is taken out all the same.
	before := `data: {"index":0,"text":"`
	pass(say("sk-"), before)
	ping := "data: {}\n\n"
	for range patientEvents - 1 {
		pass(ping, "")
	}
	pass(ping, "sk-\"}\n\n"+strings.Repeat(ping, patientEvents))
	pass(say("canary-Zq7Xw2."), say("[key]."))

	// Much of one does not pass, however long its rest takes.
	pass(say("sk-canary"), before)
	for range patientEvents - 1 {
		pass(ping, "")
	}
	pass(ping, "[key]\"}\n\n"+strings.Repeat(ping, patientEvents))
	pass(say("-Zq7Xw2."), say("."))

	// And a line without an end waits for nothing.
	pass(say("sk-"), before)
	if got := string(v.Pass([]byte(`data: {"x":"` + strings.Repeat("y", maxHold)))); !strings.HasPrefix(got, `sk-"}`) || len(v.held) > 0 {
		t.Errorf("of a long line %d bytes are held, and %.20q passed", len(v.held), got)
	}
}

func BenchmarkSieve(b *testing.B) {
	s := NewSecrets("sk-ant-api03-"+strings.Repeat("x", 90), "AIza"+strings.Repeat("y", 35))
	event := []byte(`data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" some words of a model's answer"}}` + "\n\n")
	b.SetBytes(int64(len(event)))
	v := s.Sieve(true)
	for b.Loop() {
		_ = v.Pass(event)
	}
}
