package stages_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/stages"
)

func since(k talk, from int) (out string) {
	messages := k.State.Agent(stages.Researcher).Transcript.Messages
	for _, m := range messages[from:] {
		for _, p := range m.Parts {
			out += p.Text.Text + "\n"
		}
	}
	return out
}

// last is the sitting that began last, with the sizes of its blocks.
func last(k talk) (b *event.SittingBegun, size int64) {
	list := all[*event.SittingBegun](k.Events)
	b = list[len(list)-1]
	for _, x := range b.Blocks {
		size += x.Size
	}
	return b, size
}

// A prompt has 24 KiB with all that was said. What finds no room is cut, says so, and can be read.
func TestMailIsPartOfThePrompt(t *testing.T) {
	for name, c := range map[string]struct {
		letters, size int
		cut           bool
	}{"Short": {3, 100, false}, "OneLong": {1, 8000, true}, "SomeLong": {5, 8000, true}, "Many": {250, 40, true}, "MoreThanAtOnce": {300, 10, true}} {
		t.Run(name, func(t *testing.T) {
			k := begin(t, "", quest.ReadResult)
			k.Start()
			for i := range c.letters {
				k.message(fmt.Sprintf("first line of %d\n%s", i, strings.Repeat("x", c.size)))
			}
			before := len(k.State.Agent(stages.Researcher).Transcript.Messages)
			k.says("So.")
			b, size := last(k)
			words := since(k, before)
			if size > quest.MaxPrompt || len(words) > quest.MaxPrompt {
				t.Errorf("the prompt has %d bytes, by its blocks %d; want at most %d", len(words), size, quest.MaxPrompt)
			}
			if got := fmt.Sprint(b.Cut) == "[mail]"; got != c.cut || strings.Contains(words, "left out") != c.cut {
				t.Errorf("cut is %v, want %v:\n%s", b.Cut, c.cut, words)
			}
			if want := min(c.letters, agent.MaxLong); len(b.Mail) != want {
				t.Errorf("the sitting begins with %d messages, want %d", len(b.Mail), want)
			}
			// Each is shown whole, or can be read.
			a := k.State.Agent(stages.Researcher)
			for i, seq := range b.Mail {
				text := fmt.Sprintf("first line of %d\n%s", i, strings.Repeat("x", c.size))
				if r, kept := a.Long(seq); !strings.Contains(words, text) && (!kept || r.Text != text) {
					t.Fatalf("message %d is neither shown whole nor kept", seq)
				}
			}
			if c.cut {
				k.Answer(stages.Researcher, questtest.Calls(questtest.Call{Tool: quest.ReadResult, Args: fmt.Sprintf(`{"call":%d,"from":2}`, b.Mail[len(b.Mail)-1])}))
				call := k.Open("tool.call", stages.Researcher)[0]
				u, err := a.Use(call)
				if err != nil {
					t.Fatal(err)
				}
				d, err := k.State.Deliver(a, &u)
				if err != nil || d.Excerpt == nil || !strings.HasPrefix(d.Excerpt.Text, fmt.Sprintf("first line of %d", len(b.Mail)-1)) || d.Excerpt.From != 2 {
					t.Errorf("what was cut is read as %+v, %v", d, err)
				}
				got := k.Take(stages.Researcher, &event.ToolResult{Call: call, Output: event.Text{Text: "…"}})
				if more := c.letters - len(b.Mail); more > 0 && len(all[*event.MailDelivered](got)) != 1 {
					t.Errorf("%d messages that there was no room for come with %q", more, kinds(got))
				}
			}
			k.Sound()
		})
	}
}

// TestAChatIsCached: of what is sent in a chat of 20 sittings, over 85 % was sent at the same place
// before.
func TestAChatIsCached(t *testing.T) {
	b := questtest.Created(stages.Society{}, 0, "look", "interact", "memory_write")
	system := ""
	for _, x := range (stages.Society{}).Texts() {
		if x.Name == "system" {
			system = x.Text
		}
	}
	b.Agents[0].Name, b.Agents[0].System, b.Agents[0].Window, b.Problem.Text = stages.Researcher, event.RefOf([]byte(system)), 100_000, "How fast is it?"
	k := talk{questtest.Begin(t, stages.Society{}, b)}
	k.Reply = noCards
	var rendered agent.Rendering
	var before []string
	prefix, shown, cached, requests := len(system), 0, 0, 0
	look := func() {
		a := k.State.Agent(stages.Researcher)
		messages, err := rendered.Messages(&a.Transcript, k.Events[a.Asked-1].Body.(*event.ModelCall), nil)
		if err != nil {
			t.Fatal(err)
		}
		var texts []string
		size := prefix
		for _, m := range messages {
			texts = append(texts, fmt.Sprint(m))
			size += len(texts[len(texts)-1])
		}
		if requests > 0 {
			cached += prefix
		}
		for i := 0; i < min(len(before), len(texts)) && before[i] == texts[i]; i++ {
			cached += len(texts[i])
		}
		shown, before, requests = shown+size, texts, requests+1
	}
	k.Start()
	for sitting := range 20 {
		look()
		for turn, call := range []questtest.Call{
			{Tool: "look", Args: "{}"}, {Tool: "memory_write", Args: fmt.Sprintf(`{"kind":"knowledge","title":"finding %d","text":"It is so, by run %d."}`, sitting, sitting)},
			{Tool: "interact", Args: fmt.Sprintf(`{"kind":"progress","text":"Step %d is done."}`, sitting)},
		} {
			k.Answer(stages.Researcher, questtest.Calls(call))
			if turn == 0 {
				k.Take(stages.Researcher, &event.ToolResult{Call: k.Open("tool.call", stages.Researcher)[0], Output: event.Text{Text: strings.Repeat("a line of numbers\n", 40)}})
			}
			look()
		}
		k.says(fmt.Sprintf("Sitting %d came to this: %s", sitting, strings.Repeat("words ", 40)))
		if !k.State.Waiting() {
			t.Fatalf("after sitting %d it does not wait", sitting)
		}
		if sitting < 19 {
			k.message(fmt.Sprintf("What about %d? %s", sitting, strings.Repeat("more words ", 20)))
		}
	}
	share := 100 * float64(cached) / float64(shown)
	t.Logf("%d requests of 20 sittings, %d bytes, %.1f %% of them sent at the same place before", requests, shown, share)
	if n := len(all[*event.SittingBegun](k.Events)); n != 20 || share < 85 {
		t.Errorf("%.1f %% of %d sittings could be cached: want 85 %%", share, n)
	}
	k.Sound()
}

// When the window is cut, the block that said where the study stands is gone: the researcher is told again, with the stage and
// the line of work as they are by then. A quest of before has no words for it, and is told what it was.
func TestWhereAStudyStandsIsToldAgainAfterACut(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]bool{"Now": false, "InAQuestOfBefore": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := questtest.Created(stages.Society{}, 0, own()...)
			b.Agents[0].Name, b.Agents[0].Window, b.Problem.Text = stages.Researcher, 12_000, "How fast is it?"
			b.Texts = slices.DeleteFunc(b.Texts, func(x event.NamedText) bool {
				return x.Name == "compact" || x.Name == "summary" || before && x.Name == "where"
			})
			k := talk{questtest.Begin(t, stages.Society{}, b)}
			k.Reply = noCards
			k.Start()
			k.branch("run", "fast")
			k.does("move_anchor", `{"to":"baseline","reason":"I know enough."}`)
			var shown []*event.StandingShown
			for n := 0; n < 18 && len(shown) == 0; n++ { // fewer turns than after which it is told anyway
				shown = all[*event.StandingShown](k.does("memory_write", fmt.Sprintf(`{"kind":"knowledge","title":"t%d","text":%q}`, n, strings.Repeat("long words ", 500))))
			}
			if len(shown) == 0 {
				t.Fatal("the window is never cut")
			}
			const want = "\n- You are at the stage baseline, in the line of work run/fast; sitting 1 works by the skill scout."
			if text := shown[0].Text.Text; strings.Contains(text, want) == before || !strings.Contains(text, "\n- You are researcher") {
				t.Errorf("told is %q, want %q in it: %v", text, want, !before)
			}
			k.Sound()
		})
	}
}
