package view

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// hostile is a text that would do harm on a terminal or in a page.
const hostile = "</div><script>alert(1)</script>\x1b[31m\u202eevil & \"quoted\" 'x' \u2028 no\u200bwidth \U000e0041tag"

func TestThePageEscapesWhatQuestsSay(t *testing.T) {
	t.Parallel()
	a, b := simple(t, "a", 1), simple(t, "b", 2)
	a.turn("agent-0", hostile, "exec", `{"x":"`+`<img src=x onerror=alert(1)>`+`"}`, hostile, 1)
	a.finish(hostile)
	b.finish("calm")
	run := a.run()
	run.Name = hostile + ".zip"
	run.Spec = hostile
	run.Models = []string{hostile}
	var out bytes.Buffer
	if err := Compare(run, b.run()).HTML(&out); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for _, bad := range []string{"<script", "<img", "\x1b", "\u202e", "\u2028", "\u200b", "\U000e0041"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	for _, want := range []string{"&lt;script&gt;alert(1)&lt;/script&gt;", "only left", "calm", "prefers-color-scheme: dark", "default-src 'none'"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

func TestThePageOfALongRunIsBounded(t *testing.T) {
	t.Parallel()
	var n []int
	for i := range 6000 {
		n = append(n, i)
	}
	a := simple(t, "a", n...)
	for name, b := range map[string]*story{"equal": simple(t, "b", n...), "others": simple(t, "b")} {
		var out bytes.Buffer
		if err := Compare(a.run(), b.run()).HTML(&out); err != nil {
			t.Fatal(err)
		}
		if out.Len() > 4<<20 || !strings.Contains(out.String(), "not shown here") {
			t.Errorf("%s: %d bytes", name, out.Len())
		}
	}
}

func TestJSONHasFixedDecimals(t *testing.T) {
	t.Parallel()
	data, err := json.Marshal(Compare(simple(t, "a", 1, 2, 3).run(), simple(t, "b", 1, 2).run()))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"answer":1.000000`, `"steps":0.800000`, `"cost_usd":"0.000000015"`, `"pairs":[{"mark":"same","similarity":1.000000,"differs":[],"a":{"seq":2`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("no %s in %s", want, data)
		}
	}
}
