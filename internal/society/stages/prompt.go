package stages

import (
	"cmp"
	"fmt"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/stages/study"
	"lyceum/internal/workspace"
)

// blockSitting is the last block before the mail: which sitting it is, and what is wanted.
const blockSitting = "sitting"

// Blocks implements quest.Prompter: what the study makes of the facts, and which sitting it is.
func (Society) Blocks(s *quest.State, a *agent.Agent, b *event.SittingBegun) (out []quest.Block) {
	for _, x := range Of(s).Study.Blocks(facts(s, a, b)) {
		out = append(out, quest.Block{Name: x.Name, Text: x.Text, Cut: x.Cut})
	}
	return append(out, quest.Block{Name: blockSitting, Text: opening(s, b)})
}

// opening says which sitting begins, and why. Its words are others each time, so that they are
// always said.
func opening(s *quest.State, b *event.SittingBegun) string {
	text := "alone"
	switch {
	case len(b.Mail) > 0:
		text = "mail"
	case b.Recovers:
		text = "recovers"
	}
	return quest.Fill(s.Texts[text], "NUMBER", fmt.Sprint(b.Number), "ANCHOR", b.Anchor, "SKILL", b.Skill)
}

// facts are what a prompt is made of besides the study.
func facts(s *quest.State, a *agent.Agent, b *event.SittingBegun) *study.Facts {
	set := Of(s).Settings
	last := quest.Letter{}
	f := &study.Facts{Skill: b.Skill, Style: s.Texts["style"], Files: files(s), Recent: recent(Of(s).Study)}
	for i := range s.Mail[:min(len(b.Mail), len(s.Mail))] {
		last = s.Mail[i]
		f.Mail = append(f.Mail, letter(&last))
	}
	home := ""
	if s.Houses(a) && s.Computer != nil {
		home = workspace.Home
	}
	f.Context = []study.Pair{
		{Name: "home", Value: home}, {Name: "quest", Value: s.Name}, {Name: "folder", Value: "quests/" + s.Name}, {Name: "anchor", Value: b.Anchor},
		{Name: "branch", Value: b.Branch}, {Name: "its folder", Value: study.WorkDir + "/" + b.Branch}, {Name: "skill", Value: b.Skill}, {Name: "runner", Value: b.Runner}, {Name: "model", Value: a.Model},
		{Name: "mode", Value: set.Mode}, {Name: "literature", Value: cmp.Or(set.Literature, "offline")}, {Name: "locale", Value: set.Locale},
		{Name: "paper", Value: set.Paper}, {Name: "materials", Value: strings.Join(set.Materials, ", ")},
	}
	f.Context = append(f.Context, namespaces(a)...)
	f.Surface = []study.Pair{
		{Name: "source", Value: cmp.Or(last.Source, "local")}, {Name: "sender", Value: last.Sender}, {Name: "conversation", Value: last.Conversation},
		{Name: "how to write there", Value: "Markdown, in short paragraphs; files by their path"},
	}
	if s.Skills != nil {
		for _, k := range s.Skills.List {
			f.Skills = append(f.Skills, study.SkillLine{Name: k.Name, Description: k.Description, Path: quest.SkillsDir + "/" + k.Name + "/SKILL.md"})
		}
	}
	return f
}

// letter is a message as a prompt shows it, with where copies of its files are.
func letter(l *quest.Letter) study.Letter {
	out := study.Letter{Seq: l.Seq, Text: l.Text.Text, Attachments: l.Attachments, Uncopied: l.Uncopied, Texts: l.Texts}
	if l.Folder != "" {
		for _, name := range l.CopyNames() {
			out.Copies = append(out.Copies, l.Folder+"/"+name)
		}
	}
	return out
}

// files are the quest's own, in its folder.
func files(s *quest.State) []string {
	out := []string{"quest.yaml", quest.BriefFile}
	if n := len(s.Briefings); n > 0 {
		b := &s.Briefings[n-1]
		out[1] = fmt.Sprintf("%s, as a person changed it with message %d", quest.BriefFile, b.Seq)
		if b.Text.Ref == nil {
			out[1] += ": " + study.Quoted(b.Text.Text)
		}
	}
	if s.Ended != 0 {
		out = append(out, "SUMMARY.md")
	}
	if n := len(Of(s).Study.Cards); n > 0 {
		out = append(out, fmt.Sprintf("memory/ (%d cards)", n))
	}
	return out
}

// recent are lines on what was made last, lines of work, and the last moves.
func recent(m *study.Study) (out []string) {
	out = append(m.Latest(), branchLines(m)...)
	for i := len(m.Moves) - 1; i >= max(0, len(m.Moves)-5); i-- {
		out = append(out, moveLine(&m.Moves[i]))
	}
	return out
}

func moveLine(v *study.Move) string {
	return fmt.Sprintf("event %d: %s moved the study from %s to %s: %s", v.Seq, v.By, v.From, v.To, study.Quoted(v.Reason))
}

// Standing says where the study stands, in lines, the most important first.
func Standing(s *quest.State) (out []string) {
	m := Of(s)
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	add("The study is at %s, sitting %d, %s.", m.Study.Anchor, m.Study.Next()-1, m.Settings.Mode)
	for _, to := range study.Anchors {
		if lacks := m.Study.Lacks(to); study.Forward(m.Study.Anchor, to) && len(lacks) > 0 {
			add("- %s needs %s (%s)", to, lacks[len(lacks)-1].Needs, lacks[len(lacks)-1].Name)
		}
	}
	for _, w := range m.Study.Waived {
		add("- %s was waived: %s", w.Policy, study.Quoted(w.Reason))
	}
	if t := m.Study.Waits(); t != nil {
		add("The question %d waits for its answer: %s", t.Seq, study.Quoted(t.Text))
	}
	for _, l := range m.Study.Latest() {
		add("- %s", l)
	}
	add("%d messages wait to be delivered; the memory has %d cards.", len(s.Mail), len(m.Study.Cards))
	for _, line := range branchLines(m.Study) {
		add("- %s", line)
	}
	for i := len(m.Study.Moves) - 1; i >= max(0, len(m.Study.Moves)-10); i-- {
		add("- %s", moveLine(&m.Study.Moves[i]))
	}
	for _, x := range m.Study.Words[max(0, len(m.Study.Words)-maxShown):] {
		out = append(out, x.Line())
	}
	return out
}

// Standing implements quest.Reminder: the block that says where a study stands leaves the window when that is cut. A
// quest of before has no words for it.
func (Society) Standing(s *quest.State, a *agent.Agent) []string {
	m := Of(s)
	if words := s.Texts["where"]; words != "" && m != nil && a.Name == Researcher && m.Study.Sitting != nil {
		return []string{quest.Fill(words, "ANCHOR", m.Study.Anchor, "BRANCH", m.Study.Current, "NUMBER", fmt.Sprint(m.Study.Sitting.Number), "SKILL", m.Study.Sitting.Skill)}
	}
	return nil
}
