package quest

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/policy"
	"lyceum/internal/workspace"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"
)

// Skills and rules of agents that find their tools. A skill is found by what it is for, and read
// when the agent asks for it. The rules of the quest's root stand in the agent's prompt; others
// are told right before its next turn, when it touches what they hold for, or wants what they are
// about. Both are what was pinned when the quest was made: nothing that is written later is a rule.

// The tools by which an agent reads skills.
const (
	LoadSkill     = "load_skill"
	LoadReference = "load_reference"
	LoadAsset     = "load_asset"
)

// PolicySkill is what refuses a tool that the skill by which an agent works does not name.
const PolicySkill = "skill-tools"

// ProgramsDir is the folder of a home that programs of skills lie in. Nobody writes there.
const ProgramsDir = ".skills"

// ruleFile is the name of a file with rules.
const ruleFile = "AGENTS.md"

// How many skills an agent is told of before its first turn, and by a search of its own, and how
// many texts that rules link to.
const (
	FirstSkills = 5
	FoundSkills = 3
	FoundRules  = 3
)

var skillTools = []OwnTool{{
	Step: DeliveredTool, Reads: true,
	Tool: model.Tool{Name: LoadSkill, Description: "Shows what a skill says: how a kind of work is done here. search_tools with the kind skill finds skills. While you work by one that names tools, you have no others; without a name you put it away.",
		Schema: `{"type":"object","additionalProperties":false,"properties":{` +
			`"name":{"type":"string","description":"the skill's name; left out, you work by none"}}}`},
}, {
	Step: DeliveredTool, Reads: true,
	Tool: model.Tool{Name: LoadReference, Description: "Shows a text that a skill links to.",
		Schema: `{"type":"object","additionalProperties":false,"required":["skill","reference"],"properties":{` +
			`"skill":{"type":"string","minLength":1,"description":"the skill's name"},` +
			`"reference":{"type":"string","minLength":1,"description":"the words of the link, as they stand in the skill"}}}`},
}, {
	Step: DeliveredTool, Paths: []string{"to"},
	Tool: model.Tool{Name: LoadAsset, Description: "Puts a file that a skill brings along into your workspace. What is there under that name is not replaced.",
		Schema: `{"type":"object","additionalProperties":false,"required":["skill","asset"],"properties":{` +
			`"skill":{"type":"string","minLength":1,"description":"the skill's name"},` +
			`"asset":{"type":"string","minLength":1,"description":"the file's path in the skill, such as assets/form.tex"},` +
			`"to":{"type":"string","minLength":1,"description":"where to put it, relative to the workspace; default: the file's own name"}}}`},
}}

// SkillTools are the tools by which agents read skills: which there are depends on what the
// skills have.
func SkillTools(references, assets bool) (out []OwnTool) {
	for _, t := range skillTools {
		if t.Name == LoadSkill || t.Name == LoadReference && references || t.Name == LoadAsset && assets {
			out = append(out, t)
		}
	}
	return out
}

// ReadsSkills reports whether a tool is one of them.
func ReadsSkills(name string) bool {
	return slices.ContainsFunc(skillTools, func(t OwnTool) bool { return t.Name == name })
}

// SkillsKey is the key under which societies whose agents find skills have them named.
func SkillsKey() Key {
	return NewKey[[]string](KeySkills, &jsonschema.Schema{Type: "array", Description: "folders of skills that add to ours or replace them; of a quest with discover, folders beside quest.yaml with skills that agents find, default skills; see docs/skills.md", Items: &jsonschema.Schema{Type: "string"}})
}

// The bounds of what stands under it.
const (
	maxSkillPaths = 64
	maxSkillPath  = 400
)

// CheckSkills finds what cannot be meant under that key.
func CheckSkills(s *Spec) error {
	paths := SkillPaths(s)
	if len(paths) > maxSkillPaths || slices.ContainsFunc(paths, func(w string) bool { return strings.TrimSpace(w) == "" || len(w) > maxSkillPath }) {
		return Fault(KeySkills, "%s has at most %d entries of 1 to %d bytes", KeySkills, maxSkillPaths, maxSkillPath)
	}
	if paths != nil && !s.Discover {
		return Fault(KeySkills, "%s: agents find skills as they find tools: say discover: true, too", KeySkills)
	}
	return nil
}

// SkillPaths are the folders beside quest.yaml that a spec names for skills.
func SkillPaths(s *Spec) []string {
	if l := ValueOf[[]string](s, KeySkills); l != nil {
		return *l
	}
	return nil
}

// Guided is how an agent that finds its tools is told how to work.
type Guided struct {
	// Offer is what it is to be told of skills before its first turn.
	Offer string `json:",omitzero"`
	// Due are the paths of rules that it is to be told before its next turn, in order; Fits
	// those that fit its task.
	Due  []string `json:",omitempty"`
	Fits []string `json:",omitempty"`
	// Told are the messages in which it was told rules last, by path, and Left those that only
	// said that there is no room.
	Told map[string]int64 `json:",omitempty"`
	Left map[string]int64 `json:",omitempty"`
	// Skill is the one that it works by, if that names tools.
	Skill *WorkingBy `json:",omitzero"`
}

// WorkingBy is a skill that an agent works by, and the tools that it is content with.
type WorkingBy struct {
	Name  string   `json:"skill"`
	Tools []string `json:"tools"`
	// Since is the number of the message with which the agent was given it.
	Since int64 `json:"since,omitzero"`
}

// rule finds a pinned one by its path, nil if there is none.
func (s *State) rule(path string) *event.RulePin {
	if s.Knowledge == nil {
		return nil
	}
	i := slices.IndexFunc(s.Knowledge.Rules, func(r event.RulePin) bool { return r.Path == path })
	if i < 0 {
		return nil
	}
	return &s.Knowledge.Rules[i]
}

// want notes that an agent is to be told rules, each once.
func (g *Guided) want(paths ...string) {
	for _, p := range paths {
		if !slices.Contains(g.Due, p) {
			g.Due = append(g.Due, p)
		}
	}
}

// touches notes which rules hold for the paths of a call that is made: those between the root
// and each path, the root's first.
func (s *State) touches(a *agent.Agent, b *event.ToolCall) {
	f := s.Finders[a.Name]
	if f == nil || s.Knowledge == nil || len(s.Knowledge.Rules) == 0 {
		return
	}
	for i := range a.Open {
		u := &a.Open[i]
		if u.Answer != b.Answer || u.Part != b.Part || a.Sources[u.Name].Source != "" || len(s.traits(a, u.Name).Paths) == 0 {
			continue
		}
		f.want(Above(s.Knowledge.Rules, policy.Paths(s.toolFacts(a, u)))...)
	}
}

// Above are the paths of rules that stand between the root and some paths, those nearer to the
// root first.
func Above(rules []event.RulePin, paths []string) (out []string) {
	for _, r := range rules {
		if r.Link != "" {
			continue
		}
		dir := strings.TrimSuffix(r.Path, "/"+ruleFile)
		if slices.ContainsFunc(paths, func(p string) bool { return workspace.Under(p, dir) }) {
			out = append(out, r.Path)
		}
	}
	slices.SortStableFunc(out, func(a, b string) int { return strings.Count(a, "/") - strings.Count(b, "/") })
	return out
}

// inWindow reports whether an agent still sees what it was told of a rule.
func (g *Guided) inWindow(a *agent.Agent, path string) bool {
	at, ok := g.Told[path]
	if !ok {
		at, ok = g.Left[path]
	}
	return ok && at >= a.Transcript.First
}

// guidance is what an agent is to be told before its next turn, nil if that is nothing more.
func (s *State) guidance(a *agent.Agent) *event.GuidanceShown {
	f := s.Finders[a.Name]
	if f == nil || s.Knowledge == nil {
		return nil
	}
	if f.Offer != "" {
		return &event.GuidanceShown{Text: event.Text{Text: f.Offer}}
	}
	for _, path := range f.Due {
		r := s.rule(path)
		if r == nil || f.inWindow(a, path) {
			continue
		}
		if cost := agent.Tokens(r.Text.Size); cost > s.ruleRoom(a, f) {
			return &event.GuidanceShown{LeftOut: true, Rule: path, Text: event.Text{Text: noRoom(path, cost)}}
		}
		text := r.Text
		return &event.GuidanceShown{Rule: path, Text: event.Text{Ref: &text}}
	}
	return nil
}

// ruleRoom is how many tokens are left for rules in an agent's window.
func (s *State) ruleRoom(a *agent.Agent, f *Finder) int64 {
	room := agent.Room(a.Limit, agent.RuleShare)
	if root := s.Knowledge.Root; root != nil && agent.Tokens(root.Text.Size) <= room { // else it is left out
		room -= agent.Tokens(root.Text.Size)
	}
	for path, at := range f.Told {
		if r := s.rule(path); r != nil && at >= a.Transcript.First {
			room -= agent.Tokens(r.Text.Size)
		}
	}
	return room
}

func noRoom(path string, cost int64) string {
	return fmt.Sprintf("[There are rules in %s that hold for this, of about %d tokens. They are left out: rules have %d %% of your window, and there is no room for them now.]", path, cost, agent.RuleShare)
}

// guided takes in that an agent was told how to work.
func (s *State) guided(a *agent.Agent, b *event.GuidanceShown) {
	f, at := s.Finders[a.Name], a.Guide(b.Text)
	if b.Rule == "" {
		f.Offer = ""
		return
	}
	to := &f.Told
	if b.LeftOut {
		to = &f.Left
	}
	if *to == nil {
		*to = map[string]int64{}
	}
	delete(f.Told, b.Rule)
	delete(f.Left, b.Rule)
	(*to)[b.Rule] = at
	f.Due = slices.DeleteFunc(f.Due, func(p string) bool { return p == b.Rule })
}

// recalled notes that an agent's window was cut: rules for its task that it sees no more are told
// again, and a skill that it sees no more holds it no longer.
func (f *Finder) recalled(a *agent.Agent) {
	f.Due = slices.DeleteFunc(f.Due, func(p string) bool { return f.inWindow(a, p) })
	for _, p := range f.Fits {
		if !f.inWindow(a, p) {
			f.want(p)
		}
	}
	if f.Skill != nil && f.Skill.Since < a.Transcript.First {
		f.Skill = nil
	}
}

// offered takes in which skills and rules a search has found. first says that it was the one
// for the agent's task.
func (f *Finder) offered(b *event.ToolsShown, first bool) {
	for _, r := range b.Rules {
		f.want(r.Path)
		if first {
			f.Fits = append(f.Fits, r.Path)
		}
	}
	if first && len(b.Skills) > 0 {
		f.Offer = "[There are skills that may fit your task, each a text that says how such work is done here. " + LoadSkill + " shows one.]\n" + skillLines(b.Skills)
	}
}

func skillLines(skills []event.FoundSkill) string {
	lines := make([]string, len(skills))
	for i, s := range skills {
		lines[i] = "- " + s.Name + ": " + s.Description
	}
	return strings.Join(lines, "\n")
}

// worksBy takes in that an agent was given a skill, or put one away. What the world says of that
// is checked again by verify.
func (s *State) worksBy(e event.Event, b *event.ToolResult) {
	f, a := s.Finders[e.Actor], s.Agent(e.Actor)
	if f == nil || a == nil || b.Error || s.Calls[b.Call].Tool != LoadSkill {
		return
	}
	f.Skill = nil
	var by WorkingBy
	if json.Unmarshal([]byte(b.Outcome), &by) == nil && by.Name != "" && by.Tools != nil {
		by.Since = a.Transcript.End()
		f.Skill = &by
	}
}

// narrowed says why an agent may not use a tool while it works by a skill, nil if it may. It
// always has the tools by which it takes part, and the skill's own programs.
func (s *State) narrowed(a *agent.Agent, name string) []event.Blocker {
	f := s.Finders[a.Name]
	if f == nil || f.Skill == nil || name == "" || s.Own(name) != nil || slices.Contains(f.Skill.Tools, name) || a.Sources[name].Source == "skill:"+f.Skill.Name {
		return nil
	}
	reason := fmt.Sprintf("You work by the skill %s, which is content with these tools: %s. To use %s, put the skill away first: call %s without a name.", f.Skill.Name, list(f.Skill.Tools), name, LoadSkill)
	return []event.Blocker{{Policy: PolicySkill, Reason: event.Shorten(reason, maxReasons)}}
}

// checkGuidance tells whether what a search says of skills and rules can be.
func (s *State) checkGuidance(b *event.ToolsShown) error {
	for _, r := range b.Rules {
		if p := s.rule(r.Path); p == nil || p.Link == "" {
			return fmt.Errorf("%.80q was found, and is no text that the quest's rules link to", r.Path)
		}
	}
	if len(b.Skills) > 0 && (s.Knowledge == nil || s.Knowledge.Skills == nil) {
		return fmt.Errorf("the skill %.80q was found, and the quest has none", b.Skills[0].Name)
	}
	return nil
}
