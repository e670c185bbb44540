package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/need"
)

// shape is what of a schema says which members an object has.
type shape struct {
	Ref        string `json:"$ref"`
	Properties map[string]*shape
	Items      *shape
	More       json.RawMessage `json:"additionalProperties"`
	AllOf      []*shape
	AnyOf      []*shape
	OneOf      []*shape
}

// witness notes which members that the document knows were in an answer.
type witness struct {
	defs map[string]*shape
	seen map[string]bool
}

func (w *witness) note(at string, s *shape, v any) {
	if s == nil {
		return
	}
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok {
		w.note(name, w.defs[name], v)
	}
	for _, list := range [][]*shape{s.AllOf, s.AnyOf, s.OneOf} {
		for _, one := range list {
			w.note(at, one, v)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if p := s.Properties[name]; p != nil {
				w.seen[at+"."+name] = true
				w.note(at+"."+name, p, value)
				continue
			}
			var more shape
			if json.Unmarshal(s.More, &more) == nil {
				w.note(at+".*", &more, value)
			}
		}
	case []any:
		for _, value := range v {
			w.note(at, s.Items, value)
		}
	}
}

// members are all that schemas reach from one.
func (w *witness) members(at string, s *shape, out map[string]bool) {
	if s == nil {
		return
	}
	if name, ok := strings.CutPrefix(s.Ref, "#/$defs/"); ok && !out[name] {
		out[name] = true
		w.members(name, w.defs[name], out)
	}
	for _, list := range [][]*shape{s.AllOf, s.AnyOf, s.OneOf, {s.Items}} {
		for _, one := range list {
			w.members(at, one, out)
		}
	}
	for name, p := range s.Properties {
		out[at+"."+name] = true
		w.members(at+"."+name, p, out)
	}
}

// TestTheDocumentKnowsTheParametersOfEveryRoute asks each route for one that it has not:
// the refusal lists those that it has.
func TestTheDocumentKnowsTheParametersOfEveryRoute(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.writer("q")
	for pattern, op := range readDocument(t).ops {
		method, path, _ := strings.Cut(pattern, " ")
		var want, got []string
		for _, p := range op.Parameters {
			if p.In == "query" {
				want = append(want, p.Name)
			}
		}
		var e struct {
			Error struct{ Message, Field string }
		}
		s.do(method, fill(path, "", "")+"?nonsense=1", nil).want(t, 400).into(t, &e)
		if _, list, ok := strings.Cut(e.Error.Message, "it takes "); ok {
			got = strings.Split(list, ", ")
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) || e.Error.Field != "nonsense" {
			t.Errorf("%s takes %v, the document has %v; the field is %q", pattern, got, want, e.Error.Field)
		}
	}
}

// TestTheDocumentKnowsTheMembersOfEveryBody holds what bodies are decoded into against
// the document.
func TestTheDocumentKnowsTheMembersOfEveryBody(t *testing.T) {
	t.Parallel()
	w := readWitness(t)
	for name, v := range map[string]any{"NewQuest": api.NewQuest{}, "NewJob": api.NewJob{}, "NewFile": api.NewFile{}, "NewMessage": api.NewMessage{}, "NewAttachment": api.NewAttachment{}, "TaskOrder": api.TaskOrder{}, "SavedDocument": api.SavedDocument{}, "NewStudy": api.NewStudy{}, "NewArm": api.NewArm{}, "StudyOrder": api.StudyOrder{}, "Control": api.Control{}, "Limits": api.LimitsOrder{}, "AgentLimits": api.LimitSetOrder{}} {
		want := slices.Sorted(maps.Keys(w.defs[name].Properties))
		if got := tags(reflect.TypeOf(v)); !slices.Equal(got, want) {
			t.Errorf("%s has %v, the document %v", name, got, want)
		}
	}
}

func tags(t reflect.Type) (out []string) {
	for f := range t.Fields() {
		if f.Anonymous {
			out = append(out, tags(f.Type)...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

func readWitness(t *testing.T) *witness {
	t.Helper()
	w := &witness{defs: map[string]*shape{}, seen: map[string]bool{}}
	must(t, json.Unmarshal(readDocument(t).defs, &w.defs))
	return w
}

// rare are members that no quest here has, by what they would need. A name ends with a
// dot for all that stand below it.
var rare = map[string][]string{
	"a computer":                       {"Detail.computer", "Terminal.lines.", "Evidence.sources.environment_sha256", "Paper.reproduction", "Paper.missing", "PaperDetail.entrypoint", "PaperDetail.reproduction", "PaperDetail.reproduction."},
	"a quest that is asked while busy": {"Doing.command", "Doing.paper", "Doing.reason", "Doing.title", "Doing.tool", "DiffStep.waiting"},
	"something that goes wrong":        {"Detail.trouble", "Evidence.sources.broken", "Message.error"},
	"a lab that disagrees":             {"Conclusion.more_carriers", "Conclusion.others.papers", "Conclusion.others.ref", "Conclusion.others.value", "Paper.value"}, // view's TestTheConclusionOfALab has one
	"a claim that is defended":         {"Evidence.challenges.justified"},
	"a net that waits":                 {"Detail.contract.wait_until"},
	"a model without a price":          {"DiffSide.unpriced_calls", "Detail.cost_at_least_usd", "Summary.cost_at_least_usd"},
	"a provider that does not tell":    {"Detail.estimated_calls", "Summary.estimated_calls"},
	"an answer from the cache":         {"Detail.recalled_calls", "Summary.recalled_calls"},                                                     // the scripts of the command line have one
	"a paper that is revised":          {"Paper.revises", "PaperDetail.revises", "PaperDetail.revision", "PaperDetail.revision."},               // agents may come to it, or not
	"a person's word about a task":     {"TaskDetail.orders.action", "TaskDetail.orders.by", "TaskDetail.orders.seq", "TaskDetail.orders.text"}, // view's TestWhatAPersonSaysOfATask has one
	"an executor":                      {"Agent.executor", "AgentDetail.executor"},                                                              // TestTheTranscriptOfAnExecutor has one
	"a vote that is taken back":        {"Edge.until"},
	"more events than are listed":      {"Timeline.truncated"},
	"a quest that was changed":         {"Checked.difference", "Checked.difference.", "QuestRecord.checked.wrong", "JudgedCheckpoint.why", "Proof.broken", "Proof.unreadable", "Proof.missing", "QuestRecord.missing"}, // TestAChangedQuestDiffers has one
	"a baseline that was published":    {"Baseline.entrypoint", "Baseline.event", "Baseline.quest", "Baseline.result", "Baseline.title"},                                                                               // service's TestTheBaselinesOfAHome has one
	"figures of two kinds":             {"Comparison.metrics.why"},                                                                                                                                                     // study's TestFiguresAreCompared has them
	"a study that calls tools":         {"EventNode.actions.seq", "EventNode.actions.tool"},                                                                                                                            // view's TestEventNodes has one
	"a check that is not whole":        {"Checked.notes"},
	"a society of several modes":       {"Detail.mode", "Detail.modes."},                                                                                                                  // TestAModeIsSet has one
	"a quest that somebody signed":     {"JudgedCheckpoint.", "Mark.", "Proof.last", "Proof.bound", "QuestRecord.signed", "QuestRecord.signed.", "QuestRecord.seen", "QuestRecord.seen."}, // TestTheRecordSaysWhoSigned has one
	"a study that fails, or asks":      {"StudyOutline.trouble", "StudyView.trouble", "StudyRow.candidate", "StudyRow.open_questions"},                                                    // TestAStudyWaitsForPeople has one
	"a quest of a stranger":            {"Detail.imported", "ImportedQuest.", "Allowance."},                                                                                               // TestAnImportedQuestShowsWhatItAsksFor has one
}

func isRare(name string) bool {
	for _, list := range rare {
		for _, r := range list {
			if name == r || strings.HasSuffix(r, ".") && strings.HasPrefix(name, r) {
				return true
			}
		}
	}
	return false
}

// TestEveryMemberOfTheDocumentIsSeen has the server answer with each at least once: one
// that no handler sends has no place in the document.
func TestEveryMemberOfTheDocumentIsSeen(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	w := readWitness(t)
	world := newWorld(t)
	promised := map[string]bool{}
	for pattern, op := range readDocument(t).ops {
		for code, r := range op.Responses {
			for kind, content := range r.Content {
				if kind != "application/json" {
					continue
				}
				var s shape
				must(t, json.Unmarshal(content.Schema, &s))
				w.members(pattern+" "+code, &s, promised)
			}
		}
	}
	ask := func(pattern, path string, body any, change ...func(*http.Request)) answer {
		a := world.do(strings.Fields(pattern)[0], path, body, change...)
		op := readDocument(t).ops[pattern]
		content, ok := op.Responses[fmt.Sprint(a.code)].Content["application/json"]
		var v any
		if ok && json.Unmarshal(a.body, &v) == nil {
			var s shape
			must(t, json.Unmarshal(content.Schema, &s))
			w.note(pattern+" "+fmt.Sprint(a.code), &s, v)
		}
		return a
	}
	world.askAll(t, ask)
	for _, name := range slices.Sorted(maps.Keys(promised)) {
		if strings.Contains(name, ".") && !w.seen[name] && !isRare(name) {
			t.Errorf("no answer has %s", name)
		}
	}
}
