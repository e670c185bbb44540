package demo

import (
	"errors"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"

	"github.com/go-json-experiment/json"
)

// errPending says that a step waits for its tools: the turn ends there.
var errPending = errors.New("waiting for a tool")

// call is a use of a tool. It is also the key under which its result is found.
type call struct{ tool, args string }

// outcome is what a tool returned.
type outcome struct {
	text   string
	failed bool
}

// desk is what a researcher has before it in one request: the question, what the
// tools have returned so far, and what it wants to do next.
type desk struct {
	character
	question question
	inquiry  inquiry
	// ignored is what was said since the question and is not one itself.
	ignored []string
	offered map[string]bool
	results map[call]outcome
	// begun says that the researcher has spoken before.
	begun bool

	// say and calls are the turn, once a step is pending.
	say   string
	calls []call
}

func newDesk(r *model.Request, c character) *desk {
	d := &desk{character: c, offered: map[string]bool{}, results: map[call]outcome{}}
	for _, t := range r.Tools {
		d.offered[t.Name] = true
	}
	from := -1
	if d.offered[toolSubmit] {
		d.setProblem(r)
	} else {
		from = d.findQuestion(r.Messages)
	}
	if d.offered[toolMove] || d.offered[toolPropose] {
		from = -1 // what people say between two steps takes nothing back
	}
	made, tries := map[string]call{}, map[call]int{}
	for i, m := range r.Messages {
		for _, p := range m.Parts {
			switch {
			case m.Role == model.Assistant:
				d.begun = true
				if p.Kind == event.PartToolCall {
					made[p.ID] = call{p.Name, p.Args}
					tries[made[p.ID]]++
				}
			case p.Kind == model.PartToolResult && i > from:
				if c, ok := made[p.ID]; ok {
					d.take(c, outcome{p.Text, p.Error}, tries[c])
				}
			}
		}
	}
	return d
}

// maxTries is how often a call is made whose outcome nobody knows.
const maxTries = 4

// take notes what became of a call, made for so many times. Of one that was interrupted
// nobody knows, so it counts as not made: what these programs do can be done twice.
func (d *desk) take(c call, o outcome, tries int) {
	if o.interrupted() && tries < maxTries {
		delete(d.results, c) // what counts is how the last one ended
		return
	}
	d.results[c] = o
}

// interrupted reports whether a call was cut off by the end of Lyceum or of the
// computer, rather than failed: it says nothing of what was tried.
func (o outcome) interrupted() bool {
	return o.failed && (strings.HasPrefix(o.text, "Interrupted, outcome unknown") ||
		strings.Contains(o.text, "it was killed because Lyceum went away") || strings.Contains(o.text, "it was killed because the computer was stopped"))
}

// findQuestion looks for the last thing said that a skill knows, or else takes
// the first one, and returns in which message it stands.
func (d *desk) findQuestion(messages []model.Message) int {
	first := -1
	var texts []string
	var at []int
	for i, m := range messages {
		if m.Role != model.User {
			continue
		}
		for _, p := range m.Parts {
			if p.Kind == event.PartText && strings.TrimSpace(p.Text) != "" && !isNotice(p.Text) {
				texts, at = append(texts, p.Text), append(at, i)
			}
		}
	}
	for k := len(texts) - 1; k >= 0; k-- {
		q := newQuestion(texts[k])
		if found, ok := recognise(q); ok {
			d.question, d.inquiry, d.ignored = q, found, texts[k+1:]
			return at[k]
		}
	}
	d.inquiry = unknown{}
	if len(texts) > 0 {
		d.question, d.ignored, first = newQuestion(texts[0]), texts[1:], at[0]
	}
	return first
}

// isNotice tells the words of the rules from those of a person.
func isNotice(text string) bool {
	return strings.HasPrefix(text, "Refused by the policy") || strings.HasPrefix(text, "Your answer was cut off") || isStanding(text)
}

// isStanding tells the word of the rules where an agent stands, which asks for nothing.
func isStanding(text string) bool { return strings.HasPrefix(text, "Where you stand, ") }

// next is the researcher's turn: words with calls of tools, or the answer.
func (d *desk) next() (string, []call) {
	say, err := d.work()
	if errors.Is(err, errPending) {
		say = d.say
	} else {
		d.calls = nil
	}
	if !d.begun {
		say = Label + " " + say
	}
	return say, d.calls
}

// work goes through the whole investigation. Its answer is the end.
func (d *desk) work() (string, error) {
	t, err := d.inquiry.plan(d)
	if err != nil {
		return "", err
	}
	if t.refused != "" {
		return d.conclude(t.refused, t.looked)
	}
	return d.investigate(t)
}

// use returns the results of calls, or ends the turn with those that have none
// yet. Tools that are not offered fail at once.
func (d *desk) use(say string, calls ...call) ([]outcome, error) {
	list := make([]outcome, len(calls))
	var missing []call
	for i, c := range calls {
		var known bool
		list[i], known = d.results[c]
		switch {
		case !d.offered[c.tool]:
			list[i] = outcome{"the tool " + c.tool + " is not offered", true}
		case !known:
			missing = append(missing, c)
		}
	}
	if len(missing) > 0 {
		d.say, d.calls = say, missing
		return nil, errPending
	}
	return list, nil
}

func calculate(code string) call {
	return call{"calculate", encode(struct {
		Code string `json:"code"`
	}{code})}
}

func writeFile(path, content string) call {
	return call{"write_file", encode(struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	}{path, content})}
}

func listFiles(path string) call {
	return call{"list_files", encode(struct {
		Path string `json:"path"`
	}{path})}
}

// readFile reads some lines of a file; limit 0 is all from the offset on.
func readFile(path string, offset, limit int) call {
	return call{"read_file", encode(struct {
		Path   string `json:"path"`
		Offset int    `json:"offset,omitzero"`
		Limit  int    `json:"limit,omitzero"`
	}{path, offset, limit})}
}

func encode(args any) string {
	data, err := json.Marshal(args)
	if err != nil {
		panic(err) // strings and integers, and the text was made valid
	}
	return string(data)
}
