package architect

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/architect/task"

	"github.com/google/jsonschema-go/jsonschema"
)

// Settings are how an architect and its executors work, as a quest is made.
type Settings struct {
	// Acceptance, Include and NoTouch are the owner's: no plan drops or widens them.
	Acceptance []string `json:"acceptance,omitempty"`
	// Approve says that a person sees each plan before anything is done. It is the one that a
	// person changes later, by the quest's mode.
	Approve   bool     `json:"approve,omitzero"`
	Executors []string `json:"executors"`
	Include   []string `json:"include,omitempty"`
	NoTouch   []string `json:"no_touch,omitempty"`
	// Repeated is what is tried first when the same error comes again.
	Repeated string `json:"on_repeated_error"`
	Parallel int64  `json:"parallel"`
	// Rules are 1 where a command that lost a child for want of memory, and went on, has met the
	// limit on it. Quests of before have 0.
	Rules   int64  `json:"rules,omitzero"`
	Session Limits `json:"session"`
}

// rules are those that a quest is made with now.
const rules = 1

// Limits bound each task.
type Limits struct {
	Summarize int64 `json:"context_summarize_threshold" yaml:"context_summarize_threshold"`
	Clarify   int64 `json:"max_clarify_rounds_per_task" yaml:"max_clarify_rounds_per_task"`
	Calls     int64 `json:"max_cli_calls_per_task" yaml:"max_cli_calls_per_task"`
	Seconds   int64 `json:"max_cli_duration_seconds" yaml:"max_cli_duration_seconds"`
	Memory    int64 `json:"max_cli_memory_mb" yaml:"max_cli_memory_mb"`
	Handovers int64 `json:"max_handovers_per_task" yaml:"max_handovers_per_task"`
	Same      int64 `json:"max_same_error_retries" yaml:"max_same_error_retries"`
	Tasks     int64 `json:"max_tasks" yaml:"max_tasks"`
}

// usual are the limits of a quest that does not say.
var usual = Limits{Summarize: 200, Clarify: 3, Calls: 100, Seconds: 900, Memory: 4096, Handovers: 6, Same: 2, Tasks: 20}

// bounds are what can be said, by the names of the limits.
var bounds = []struct {
	name        string
	least, most int64
	about       string
	of          func(*Limits) *int64
}{
	{"context_summarize_threshold", 10, 10_000, "after how many events a summary stands for them in the architect's context; default 200", func(l *Limits) *int64 { return &l.Summarize }},
	{"max_clarify_rounds_per_task", 0, 20, "how often the executor of a task may ask the architect; default 3", func(l *Limits) *int64 { return &l.Clarify }},
	{"max_cli_calls_per_task", 1, 10_000, "how many commands an executor may run for a task; default 100", func(l *Limits) *int64 { return &l.Calls }},
	{"max_cli_duration_seconds", 1, 86_400, "how long an executor may work on a task before it is stopped, and each acceptance command; default 900", func(l *Limits) *int64 { return &l.Seconds }},
	{"max_cli_memory_mb", 32, 1 << 20, "memory of each computer; default 4096", func(l *Limits) *int64 { return &l.Memory }},
	{"max_handovers_per_task", 1, 50, "how often a task is handed over, repairs included; default 6", func(l *Limits) *int64 { return &l.Handovers }},
	{"max_same_error_retries", 1, 20, "how often the same error may come before the task goes on in another way; default 2", func(l *Limits) *int64 { return &l.Same }},
	{"max_tasks", 1, 20, "how many tasks there may be; default 20", func(l *Limits) *int64 { return &l.Tasks }},
}

// What is done when the same error comes again: the next executor takes over, or the architect
// has to ask for less, or the task fails. Each is followed by those behind it.
const (
	repeatSwap   = "swap"
	repeatNarrow = "narrow"
	repeatFail   = "fail"
)

// The keys of an architect.
const (
	keyApprove    = "approve"
	keyExecutors  = "executors"
	keyScope      = "scope"
	keyNoTouch    = "no_touch"
	keyAcceptance = "acceptance"
	keyParallel   = "parallel"
	keySession    = "session"
	keyRepeated   = "on_repeated_error"
	keyTimeout    = "on_timeout"
)

const (
	approvePlan    = "plan"
	defaultWorker  = "builtin"
	maxParallel    = 8
	maxWorkers     = 16
	maxSettings    = 6 << 10 // bytes of all of the owner's words: they stand in the first event
	cancelOnTimout = "cancel_and_report"
)

var keys = []quest.Key{
	quest.TextKey(keyApprove, "plan: a person sees the architect's plan, and may change it, before anything is done", approvePlan),
	listKey(keyExecutors, "the executors that an architect hands tasks over to, the preferred first; default builtin"),
	listKey(keyScope, "the files and folders that tasks of an architect may change; default: all"),
	listKey(keyNoTouch, "files and folders that no task of an architect may change"),
	listKey(keyAcceptance, "commands that must succeed after every task of an architect"),
	quest.NumberKey(keyParallel, "how many tasks of an architect are under way at the same time; default 1", 1, maxParallel),
	quest.NewKey[map[string]int64](keySession, sessionSchema()),
	quest.TextKey(keyRepeated, "what follows when a task has the same error again: swap (the default) takes the next executor, then narrow wants a smaller scope, then fail", repeatSwap, repeatNarrow, repeatFail),
	quest.TextKey(keyTimeout, "what follows when an executor takes too long: it is stopped, and the architect hears so", cancelOnTimout),
}

func listKey(name, about string) quest.Key {
	return quest.NewKey[[]string](name, &jsonschema.Schema{Type: "array", Description: about, Items: &jsonschema.Schema{Type: "string"}})
}

func sessionSchema() *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "object", Description: "the limits of each task of an architect", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}}}
	for _, b := range bounds {
		s.Properties[b.name] = quest.Numbers(b.least, b.most, b.about)
		s.PropertyOrder = append(s.PropertyOrder, b.name)
	}
	return s
}

// About implements quest.Described.
func (Society) About() string {
	return "an architect that plans and judges, and executors that work on a repository, see docs/architect.md"
}

// Keys implements quest.Keyed.
func (Society) Keys() []quest.Key { return keys }

// Check implements quest.Keyed.
func (Society) Check(s *quest.Spec) error {
	set := settingsOf(s)
	seen := map[string]bool{Architect: true}
	for _, x := range set.Executors {
		if !event.ValidName(x) || len(x) > 40 || seen[x] {
			return quest.Fault(keyExecutors, "executors: %.60q is there twice or is no executor's name", x)
		}
		seen[x] = true
	}
	if n := int64(len(set.Executors)) * set.Parallel; n > maxWorkers {
		return quest.Fault(keyExecutors, "%d executors at %d places make %d workers: there can be %d", len(set.Executors), set.Parallel, n, maxWorkers)
	}
	if err := checkScope(set); err != nil {
		return err
	}
	size := 0
	for _, c := range set.Acceptance {
		if strings.TrimSpace(c) == "" || len(c) > task.MaxCommand || strings.ContainsRune(c, 0) {
			return quest.Fault(keyAcceptance, "acceptance: %.60q is empty or has more than %d bytes", c, task.MaxCommand)
		}
	}
	if len(set.Acceptance) > task.MaxAcceptance/2 {
		return quest.Fault(keyAcceptance, "acceptance has %d commands: there can be %d", len(set.Acceptance), task.MaxAcceptance/2)
	}
	for _, text := range slices.Concat(set.Acceptance, set.Include, set.NoTouch) {
		size += event.Weight(text) + 3
	}
	if size > maxSettings {
		return quest.Fault(keyScope, "scope, no_touch and acceptance have more than %d bytes together", maxSettings)
	}
	return checkLimits(s)
}

func checkScope(set Settings) error {
	for _, p := range set.Include {
		if why := task.OddPath(p); why != "" {
			return quest.Fault(keyScope, "scope: %.80q: %s", p, why)
		}
	}
	for _, p := range set.NoTouch {
		if why := task.OddPath(p); why != "" {
			return quest.Fault(keyNoTouch, "no_touch: %.80q: %s", p, why)
		}
	}
	if err := set.scope().Check(); err != nil {
		return quest.Fault(keyScope, "scope: %v", err)
	}
	return nil
}

func checkLimits(s *quest.Spec) error {
	given := quest.ValueOf[map[string]int64](s, keySession)
	if given == nil {
		return nil
	}
	known := map[string]bool{}
	for _, b := range bounds {
		known[b.name] = true
		if n, ok := (*given)[b.name]; ok && (n < b.least || n > b.most) {
			return quest.Fault(keySession, "session: %s %d: want %d to %d", b.name, n, b.least, b.most)
		}
	}
	for name := range *given {
		if !known[name] {
			return quest.Fault(keySession, "session has no limit %.40q", name)
		}
	}
	return nil
}

// settingsOf is what a spec says, and what holds where it says nothing.
func settingsOf(s *quest.Spec) Settings {
	set := Settings{Executors: []string{defaultWorker}, Parallel: 1, Repeated: repeatSwap, Session: usual}
	if s == nil {
		return set
	}
	list := func(key string) []string {
		if l := quest.ValueOf[[]string](s, key); l != nil {
			return *l
		}
		return nil
	}
	set.Approve = quest.TextOf(s, keyApprove) != ""
	set.Acceptance, set.Include, set.NoTouch = list(keyAcceptance), list(keyScope), list(keyNoTouch)
	if l := list(keyExecutors); len(l) > 0 {
		set.Executors = l
	}
	if n := quest.ValueOf[int64](s, keyParallel); n != nil {
		set.Parallel = *n
	}
	if how := quest.TextOf(s, keyRepeated); how != "" {
		set.Repeated = how
	}
	if given := quest.ValueOf[map[string]int64](s, keySession); given != nil {
		for _, b := range bounds {
			if n, ok := (*given)[b.name]; ok {
				*b.of(&set.Session) = n
			}
		}
	}
	return set
}

// scope is what the owner lets tasks change.
func (s Settings) scope() task.Scope {
	include := s.Include
	if len(include) == 0 {
		include = []string{"."}
	}
	return task.Of(event.TaskScope{Include: include, NoTouch: s.NoTouch})
}

// Settle implements quest.Keyed. The computers have the memory that an executor may use, or
// more, if the owner says so.
func (Society) Settle(s *quest.Spec, b *event.QuestCreated) error {
	set := settingsOf(s)
	set.Rules = rules
	if err := quest.Record(b, set); err != nil {
		return fmt.Errorf("architect: %w", err)
	}
	if c := b.Computer; c != nil {
		c.Limits.Memory = max(c.Limits.Memory, set.Session.Memory<<20)
	}
	return nil
}
