package demo_test

import (
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/demo"
)

// made plays the maker: every tool says what answer says of its call.
func made(t *testing.T, wanted string, answer func(tool, args string) string) (said string, calls []string) {
	t.Helper()
	r := &model.Request{Agent: "maker", System: "You make.\n\n# What is wanted\n\n" + wanted + "\n\n# How to work\n\n1.", Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Kind: event.PartText, Text: "Begin."}}}}}
	for _, name := range []string{"declare_structure", "propose", "try", "finish", "write_file"} {
		r.Tools = append(r.Tools, model.Tool{Name: name})
	}
	for r.Turn = 1; r.Turn < 50; r.Turn++ {
		a, err := demo.New(0).Generate(t.Context(), r, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Parts: a.Parts})
		results := model.Message{Role: model.User}
		for _, p := range a.Parts {
			switch p.Kind {
			case event.PartText:
				said += p.Text + "\n"
			case event.PartToolCall:
				calls = append(calls, p.Name)
				results.Parts = append(results.Parts, model.Part{Kind: model.PartToolResult, ID: p.ID, Text: answer(p.Name, p.Args)})
			}
		}
		if len(results.Parts) == 0 {
			return said, calls
		}
		r.Messages = append(r.Messages, results)
	}
	t.Fatal("the maker does not come to an end")
	return "", nil
}

// TestTheMaker: it mends what the world finds, ends with what passed, and proposes once more what
// could not be looked at, so that the quest ends with the reason.
func TestTheMaker(t *testing.T) {
	t.Parallel()
	count := 0
	said, calls := made(t, "A page that counts.", func(tool, args string) string {
		if tool == "propose" {
			if count++; count == 3 {
				return "Attempt 3. It passed every tier."
			}
		}
		return "Tier 1 (rules): failed."
	})
	want := "declare_structure write_file propose write_file propose try write_file propose try finish"
	if got := strings.Join(calls, " "); got != want || !strings.HasPrefix(said, demo.Label) {
		t.Errorf("a page: got %q and %q, want %q and that it is no language model", got, said, want)
	}
	_, calls = made(t, "A program that sorts.", func(string, string) string { return "Tier 3 (stories): unavailable." })
	if got, want := strings.Join(calls, " "), "declare_structure write_file propose propose"; got != want {
		t.Errorf("a program that cannot be run: got %q, want %q", got, want)
	}
	said, calls = made(t, "A poem.", nil)
	if len(calls) > 0 || !strings.Contains(said, "I do not guess") {
		t.Errorf("something else: got %q and %q, want that it does not know how", calls, said)
	}
}

// TestTheJudge: one mark for each criterion, with a line that is there.
func TestTheJudge(t *testing.T) {
	t.Parallel()
	say := func(text string) model.Message {
		return model.Message{Role: model.User, Parts: []model.Part{{Kind: event.PartText, Text: text}}}
	}
	r := &model.Request{Agent: "judge-1", Turn: 1, Tools: []model.Tool{{Name: "give_marks"}}, Messages: []model.Message{
		say("Judge attempt 1. The criteria:\n- purpose: it works\n- care: it is careful\n\nWhat rules have found already:\n- nothing"),
		say("=== index.html (20 bytes) ===\n<!doctype html>\n<p>"),
	}}
	a, err := demo.New(0).Generate(t.Context(), r, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"marks":[{"criterion":"purpose","mark":750,"quotation":"<!doctype html>"},{"criterion":"care","mark":750,"quotation":"<!doctype html>"}]}`
	if last := a.Parts[len(a.Parts)-1]; last.Args != want || !strings.HasPrefix(a.Parts[0].Text, demo.Label) {
		t.Errorf("got %q and %q, want %q and that it is no language model", a.Parts[0].Text, last.Args, want)
	}
}
