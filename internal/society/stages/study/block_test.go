package study_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"lyceum/internal/event"
	. "lyceum/internal/society/stages/study"
)

func block(t *testing.T, blocks []Block, name string) Block {
	t.Helper()
	i := slices.IndexFunc(blocks, func(b Block) bool { return b.Name == name })
	if i < 0 {
		t.Fatalf("there is no block %s", name)
	}
	return blocks[i]
}

func TestBlocksComeInOrderEachOnce(t *testing.T) {
	t.Parallel()
	s := begin(t, Copilot)
	want := []string{BlockContext, BlockSurface, BlockSkills, BlockFiles, BlockRecent, BlockStyle, BlockMemory, BlockMessages, BlockAttachments}
	var got []string
	for _, b := range s.Blocks(&Facts{}) {
		got = append(got, b.Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("the blocks are %v, want %v", got, want)
	}
}

func TestABlockSaysWhatIsThere(t *testing.T) {
	t.Parallel()
	s := begin(t, Copilot)
	question := s.say(Request, ReplyBlocking, "which?")
	before := s.message("an old word", 0)
	now := s.message("the new word", question)
	f := &Facts{
		Skill: Idea, Style: "Write plainly.",
		Context: []Pair{{"quest", "q"}, {"branch", ""}}, Surface: []Pair{{"source", "cli <b>"}},
		Skills: []SkillLine{{"baseline", "how to", "skills/baseline/SKILL.md"}, {"idea", "what to", "skills/idea/SKILL.md"}},
		Mail: []Letter{{Seq: now, Text: "the new word", Attachments: []event.Attachment{
			{Media: "image/png", Name: "a.png", Ref: event.Ref{Size: 10}}, {Media: "application/zip", Name: "b]\n.zip", Ref: event.Ref{Size: 20}}, {Media: "text/plain", Name: "c.txt", Ref: event.Ref{Size: 30}},
		}}},
	}
	blocks := s.Blocks(f)
	for name, want := range map[string]string{
		BlockContext:  "# Where you are\n- quest: \"q\"",
		BlockSurface:  "# How people reach you\n- source: \"cli \\u003cb\\u003e\"",
		BlockFiles:    "# Files of the quest\nNone.",
		BlockRecent:   "# What was made last\nNone.",
		BlockStyle:    "Write plainly.",
		BlockMessages: fmt.Sprintf("# What was said last\nWords of people and your own, shortened.\n- %d \"researcher\", decision_request: \"which?\"\n- %d \"person\", to %d: \"an old word\"", question, before, question),
	} {
		if got := block(t, blocks, name); got.Text != want || got.Cut {
			t.Errorf("%s says %q, want %q", name, got.Text, want)
		}
	}
	skills := block(t, blocks, BlockSkills).Text
	if i, j := strings.Index(skills, "skills/idea/SKILL.md"), strings.Index(skills, "skills/baseline"); i < 0 || j < i {
		t.Errorf("the skill of the sitting is not the first: %s", skills)
	}
	files := strings.Split(block(t, blocks, BlockAttachments).Text, "\n")
	if len(files) != 4 || !strings.Contains(files[1], "image/png, 10 bytes") && !strings.Contains(files[1], "shown with") || !strings.Contains(files[2], "cannot be shown") || !strings.Contains(files[3], "its beginning") {
		t.Errorf("the attachments are %q", files)
	}
}

func TestAPromptHasAtMost24KiB(t *testing.T) {
	t.Parallel()
	s := begin(t, Copilot)
	long := strings.Repeat("日本<[", 400)
	f := &Facts{Skill: SkillDecision, Style: long}
	for i := range 200 {
		s.take("p", &event.UserMessage{Sender: long, Text: event.Text{Text: long}})
		s.card(CardKinds[i%len(CardKinds)], long, long)
		f.Context = append(f.Context, Pair{"name", long})
		f.Surface = append(f.Surface, Pair{"name", long})
		f.Skills = append(f.Skills, SkillLine{fmt.Sprint(i), long, fmt.Sprintf("skills/%d/SKILL.md", i)})
		f.Files = append(f.Files, fmt.Sprintf("file-%d", i)+strings.Repeat("x", 100))
		f.Recent = append(f.Recent, strings.Repeat("y", 100))
	}
	check := func(f *Facts) {
		t.Helper()
		total := 0
		for _, b := range s.Blocks(f) {
			total += len(b.Text) + len("\n\n")
			said := strings.Contains(b.Text, "left out")
			if b.Cut != said || !b.Cut && b.Name != BlockAttachments {
				t.Errorf("%s: it is cut is %v, and its text says so is %v: %s", b.Name, b.Cut, said, b.Text)
			}
			if !utf8.ValidString(b.Text) {
				t.Errorf("%s is cut within a character", b.Name)
			}
		}
		if total > 24<<10 {
			t.Errorf("the blocks have %d bytes", total)
		}
	}
	check(f)
	for i := range 50 {
		f.Mail = append(f.Mail, Letter{Seq: uint64(i), Attachments: []event.Attachment{{Name: long, Media: long}}})
	}
	check(f)
}

func TestOneBlockDoesNotDependOnTheRoomOfOthers(t *testing.T) {
	t.Parallel()
	s := begin(t, Copilot)
	f := &Facts{Skill: Scout, Style: "a", Mail: []Letter{{Seq: 9}}}
	before := s.Blocks(f)
	for range 100 {
		f.Recent = append(f.Recent, strings.Repeat("y", 100))
	}
	for i, b := range s.Blocks(f) {
		if b.Name != BlockRecent && b != before[i] {
			t.Errorf("%s changes with what was made last", b.Name)
		}
	}
}

// cards is a study with so many cards.
func cards(t testing.TB, n int) *Study {
	s := New(Copilot, Scout, false)
	for i := range n {
		s.Apply(event.Event{Seq: uint64(i) + 2, Type: "card.written", Actor: "researcher", Body: &event.CardWritten{
			Answer: uint64(i) + 1, ID: fmt.Sprintf("%032x", i), Kind: CardKinds[i%len(CardKinds)], Title: fmt.Sprintf("card about subject%d", i%97),
			Summary: fmt.Sprintf("annealing with schedule%d found nothing in attempt %d", i%13, i), Revision: 1, Stage: Scout,
		}})
	}
	if len(s.Cards) != n {
		t.Fatalf("%d cards, want %d", len(s.Cards), n)
	}
	return s
}

var mail = &Facts{Skill: SkillDecision, Mail: []Letter{{Seq: 1 << 40, Text: "Did annealing with schedule7 find anything about subject13, or was every attempt for nothing?"}}}

// TestAPromptCostsNoMoreTheMoreCardsThereAre counts allocations: they do not depend on what
// else the machine does.
func TestAPromptCostsNoMoreTheMoreCardsThereAre(t *testing.T) {
	few, many := cards(t, 100), cards(t, 10_000)
	cost := func(s *Study) float64 { return testing.AllocsPerRun(20, func() { s.Blocks(mail) }) }
	if a, b := cost(few), cost(many); b > 2*a {
		t.Errorf("from 10,000 cards a prompt takes %v allocations, from 100 %v", b, a)
	}
}

func BenchmarkPrompt(b *testing.B) {
	for _, n := range []int{100, 10_000} {
		b.Run(fmt.Sprint(n, "cards"), func(b *testing.B) {
			s := cards(b, n)
			s.Blocks(mail)
			for b.Loop() {
				s.Blocks(mail)
			}
		})
	}
}
