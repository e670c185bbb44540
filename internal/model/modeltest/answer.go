package modeltest

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

// rich is a reply with all that a format has.
func (d Driver) rich() Reply {
	r := Reply{Stop: model.StopTools, Usage: event.Usage{Input: 1000, Cached: 600, CacheWrites: 300, Output: 70, Thinking: 20}}
	if d.Thinking {
		r.Parts = append(r.Parts, thought("Seven is prime, and so is eleven.", "c2lnbmF0dXJlLW9uZQ=="))
	} else {
		r.Usage.Thinking = 0
	}
	r.Parts = append(r.Parts, text("I will try both: 7 and 11 — ‘naïve’ 質数."),
		call("call_1", "is_prime", `{"n":7,"why":"so that \"quotes\" and \\ stay"}`),
		call("call_2", "is_prime", `{"n":11,"deep":{"list":[1,2.50,null,true],"text":"ünïcödé 🦉"}}`))
	return r
}

func testAnswer(t *testing.T, d Driver) {
	for name, reply := range map[string]Reply{
		"TextComesInPieces":           say(text("The quick brown fox jumps over the lazy dog.")),
		"SeveralTextsStayInOrder":     say(text("First. "), text("Second. "), text("Third.")),
		"UnicodeIsWhole":              say(text("a\u0000b\u2028c\u00e9d\U0001F989e\u0301\n\r\n\tdata: x\n\nevent: y")),
		"AMegabyteIsWhole":            say(text(strings.Repeat("0123456789abcdé", 1<<16))),
		"CallsComeInParallel":         d.rich(),
		"NoArgumentsAreAnEmptyObject": {Parts: []model.Part{call("call_1", "now", "")}, Stop: model.StopTools},
		"ManyCallsKeepTheirOrder":     {Parts: many(40), Stop: model.StopTools},
		"NothingIsAnAnswerToo":        say(),
		"ALimitIsAReasonToStop":       {Parts: []model.Part{text("It is a long sto")}, Stop: model.StopLength},
		"ARefusalIsAReasonToStop":     {Parts: []model.Part{text("I will not do that.")}, Stop: model.StopRefusal},
	} {
		run(t, name, func(t *testing.T) {
			s := serve(t, d, d.answer(reply, nil))
			d.wantAnswer(t, reply, d.must(t, s, d.request(hello)))
		})
	}
	run(t, "EachCallHasAnID", func(t *testing.T) {
		a := d.must(t, serve(t, d, d.answer(d.rich(), nil)), d.request(hello))
		ids := map[string]bool{}
		for _, p := range a.Parts {
			if p.Kind == event.PartToolCall {
				ids[p.ID] = true
			}
		}
		if len(ids) != 2 || ids[""] {
			t.Errorf("the ids of two calls are %v", ids)
		}
	})
	run(t, "MoreThanOnePieceIsStreamed", func(t *testing.T) {
		s := serve(t, d, d.answer(say(text("The quick brown fox jumps over the lazy dog.")), nil))
		n := 0
		_, err := d.Open(s.URL, canary).Generate(t.Context(), d.request(hello), func(model.Delta) { n++ })
		if err != nil || n < 2 {
			t.Errorf("%d pieces, error %v", n, err)
		}
	})
	run(t, "NobodyNeedsToWatch", func(t *testing.T) {
		s := serve(t, d, d.answer(d.rich(), nil))
		a, err := d.Open(s.URL, canary).Generate(t.Context(), d.request(hello), nil)
		if err != nil {
			t.Fatal(err)
		}
		d.wantAnswer(t, d.rich(), a)
	})
	run(t, "SlowBytesAreWhole", func(t *testing.T) {
		slow := func(s *stream, name, data string) bool {
			for _, b := range []byte(sse(name, data)) {
				if !s.raw(string([]byte{b})) {
					return false
				}
			}
			return true
		}
		s := serve(t, d, d.answer(d.rich(), slow))
		d.wantAnswer(t, d.rich(), d.must(t, s, d.request(hello)))
	})
	run(t, "EventsThatDoNotExistYetAreIgnored", func(t *testing.T) {
		future := func(s *stream, name, data string) bool {
			return s.raw(": a comment keeps the line alive\n\nid: 7\nretry: 5\n"+sse("future_thing", `{"type":"future_thing","news":{"a":[1]}}`)) &&
				s.raw(strings.ReplaceAll(sse(name, data), "\n", "\r\n"))
		}
		s := serve(t, d, d.answer(d.rich(), future))
		d.wantAnswer(t, d.rich(), d.must(t, s, d.request(hello)))
	})
	run(t, "FiftyCallsAtOnceDoNotMix", func(t *testing.T) { testCrowd(t, d) })
}

func many(n int) []model.Part {
	var out []model.Part
	for i := range n {
		out = append(out, call(fmt.Sprintf("call_%d", i), fmt.Sprintf("tool_%d", i), fmt.Sprintf(`{"i":%d}`, i)))
	}
	return out
}

func testCrowd(t *testing.T, d Driver) {
	echo := func(w http.ResponseWriter, r *http.Request, seen *Seen) {
		d.answer(say(text("you said "+seen.Messages[0].Parts[0].Text)), nil)(w, r, seen)
	}
	m := d.Open(serve(t, d, echo).URL, canary)
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			word := fmt.Sprintf("word %d", i)
			a, err := d.generate(t, t.Context(), m, d.request(user(text(word))))
			if err != nil {
				t.Error(err)
				return
			}
			d.wantAnswer(t, say(text("you said "+word)), a)
		})
	}
	all.Wait()
}

func testUsage(t *testing.T, d Driver) {
	for name, u := range map[string]event.Usage{
		"IsExact":           {Input: 1000, Cached: 600, CacheWrites: 300, Output: 70, Thinking: 20},
		"WithoutACache":     {Input: 123, Output: 45},
		"OfACacheThatIsAll": {Input: 5000, Cached: 5000, Output: 1},
		"OfAWriteThatIsAll": {Input: 5000, CacheWrites: 5000, Output: 1},
		"IsLarge":           {Input: 3_000_000_000, Cached: 2_999_999_999, Output: 1 << 33},
	} {
		run(t, name, func(t *testing.T) {
			reply := Reply{Parts: []model.Part{text("ok")}, Stop: model.StopEnd, Usage: u}
			s := serve(t, d, d.answer(reply, nil))
			d.wantAnswer(t, reply, d.must(t, s, d.request(hello)))
		})
	}
}
