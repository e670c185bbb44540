package wording_test

import (
	"slices"
	"strings"
	"testing"

	"lyceum/internal/wording"
)

func TestFormsOfAWordHaveOneStem(t *testing.T) {
	t.Parallel()
	for _, group := range []string{
		"weigh weighs weighed weighing", "range ranges ranged ranging", "city cities", "stop stops stopped stopping", "keep keeps kept keeping",
		"box boxes", "carry carries carried carrying", "person people", "die dies died dying",
	} {
		words := strings.Fields(group)
		for _, w := range words {
			if got, want := wording.Stem(w), wording.Stem(words[0]); got != want {
				t.Errorf("the stem of %s: got %q, want %q as of %s", w, got, want, words[0])
			}
			for _, form := range words {
				if form != w && !slices.Contains(wording.Forms(w), form) {
					t.Errorf("the forms of %s: got %v, want %s among them", w, wording.Forms(w), form)
				}
			}
		}
	}
	for _, w := range []string{"glass", "bus", "basis", "k4", "1998", "café", "水", ""} {
		if wording.Stem(w) != w {
			t.Errorf("the stem of %s: got %q, want it as it is", w, wording.Stem(w))
		}
	}
}

func TestAQuestionIsAboutItsWordsThatSaySomething(t *testing.T) {
	t.Parallel()
	for question, want := range map[string]string{
		"How long does the lamp of the Halden S4 need to become steady?": "lamp Halden! S4! need become steady",
		"Who won the football world cup in 1998?":                        "won football world cup 1998!",
		"In which year was it founded?":                                  "founded",
		"What is it?":                                                    "what is it",
		"":                                                               "",
	} {
		var got []string
		for _, term := range wording.Terms(question) {
			w := term.Word
			if term.Name {
				w += "!"
			}
			got = append(got, w)
		}
		if strings.Join(got, " ") != strings.ToLower(want) {
			t.Errorf("%q is about %q, want %q", question, got, want)
		}
	}
}

func TestTheKindOfAnswer(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		question, text string
		kind           wording.Kind
		fits           bool
	}{
		{"How many members does the board have?", "The board has nine members.", wording.Count, true},
		{"How many members does the board have?", "The board meets in room 9 with members of the town.", wording.Count, false},
		{"How many weeks can games be borrowed?", "What: games; Weeks: 2", wording.Count, true},
		{"How heavy is the pump?", "The pump weighs 12 kg.", wording.Amount, true},
		{"How heavy is the pump?", "Weigh what comes out in ten minutes.", wording.Amount, false},
		{"What does a litre cost?", "A litre costs 3 crowns.", wording.Amount, true},
		{"What does a litre cost?", "A litre covers 9 square metres.", wording.Amount, false},
		{"When was the bridge opened?", "It was opened in 1742.", wording.Time, true},
		{"When was the bridge opened?", "It was opened by the mason.", wording.Time, false},
		{"Who built the bridge?", "Its builder was Tobias Kern.", wording.Person, true},
		{"Who built the bridge?", "It was built by the council.", wording.Person, true},
		{"Who built the bridge?", "The bridge is of stone.", wording.Person, false},
		{"What is the name of the server?", "It is called \"pelican\".", wording.Name, true},
		{"What is the name of the chair?", "The chair is elected by the members.", wording.Name, false},
		{"Why is it closed?", "It is closed because of ice.", wording.Reason, true},
		{"Is it magnetic?", "The alloy is not magnetic.", wording.YesNo, true},
		{"What does E9 mean?", "E9 means that the lamp did not light.", wording.Any, true},
	} {
		w := wording.Wants(tc.question)
		if got := w.Fits(tc.text); w.Kind != tc.kind || got != tc.fits {
			t.Errorf("%q, %q: got %q and %t, want %q and %t", tc.question, tc.text, w.Kind, got, tc.kind, tc.fits)
		}
	}
}

func TestATaskIsTakenApartWhereItAsks(t *testing.T) {
	t.Parallel()
	got := wording.Parts("What is the energy of the sample? Determine it by a fit, explain how it follows, and check the result.")
	want := []string{"What is the energy of the sample?", "Determine it by a fit,", "explain how it follows,"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := wording.Parts("?"); !slices.Equal(got, []string{"?"}) {
		t.Errorf("of nothing: got %q, want it as it is", got)
	}
}

// TestTermsOfScriptsWithoutSpaces: what only asks is left out, and the rest is found by pairs.
func TestTermsOfScriptsWithoutSpaces(t *testing.T) {
	t.Parallel()
	var got []string
	for _, part := range wording.Parts("请计算样品的活化能，并说明活化能如何由斜率得出") {
		for _, term := range wording.Terms(part) {
			got = append(got, term.Word)
		}
		got = append(got, "|")
	}
	if got, want := strings.Join(got, " "), "样品 活化 化能 | 活化 化能 由斜 斜率 率得 得出 |"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
