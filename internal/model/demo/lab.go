package demo

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

// The tools of a lab.
const (
	toolSubmit   = "submit_publication"
	toolReview   = "submit_review"
	toolList     = "list_publications"
	toolGet      = "get_publication"
	toolRequests = "list_review_requests"
	toolVote     = "vote_solution"
)

// mark begins whatever a researcher says in a lab; papers and reviews end with Label.
const mark = "(Demo, not a language model.) "

// made is a call of a tool in the order of the conversation.
type made struct {
	call
	outcome
	at   int
	done bool
}

// lab is a desk in a laboratory: what the agent did there, and what it was told.
//
// As alone, nothing is remembered. But the same question to the library has another
// answer later, so there the order counts: what was said last is what holds, and a
// text that was not there before is a reason to ask again.
type lab struct {
	*desk
	agent string
	// number tells agents apart: each begins in another way.
	number int
	made   []made
	// heard is the place of the last news.
	heard int
	x     *experiment
}

// newLab reads the conversation. The first text is the problem; what comes later are
// messages of the lab.
func newLab(r *model.Request, d *desk, seed uint64) *lab {
	l := &lab{desk: d, agent: r.Agent, number: numberOf(r.Agent, seed)}
	open := map[string]int{}
	begun, at := false, 0
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			at++
			switch {
			case m.Role == model.Assistant && p.Kind == event.PartToolCall:
				open[p.ID] = len(l.made)
				l.made = append(l.made, made{call: call{p.Name, p.Args}, at: at})
			case m.Role == model.Assistant:
			case p.Kind == model.PartToolResult:
				i, ok := open[p.ID]
				if !ok {
					continue
				}
				l.made[i].outcome, l.made[i].done = outcome{p.Text, p.Error}, true
				if p.Error && (l.made[i].tool == toolSubmit || l.made[i].tool == toolReview || l.made[i].tool == toolVote) {
					l.heard = at // something is not as it seemed
				}
			case p.Kind == event.PartText:
				if begun && isNews(p.Text) {
					l.heard = at
				}
				begun = true
			}
		}
	}
	return l
}

// isNews tells what may give the agent something to do from the reminder that nobody
// answers, which comes again and again, and from the receipt for a review that cannot
// be read yet.
func isNews(text string) bool {
	reminder := strings.HasPrefix(text, "Nobody reads what you write here") && !strings.Contains(text, "asked to review these")
	return !reminder && !isStanding(text) && !strings.HasPrefix(text, "Advisory (review received)")
}

var lastNumber = late(`\d{1,6}$`)

// numberOf is the number at the end of an agent's name, moved on by the seed.
func numberOf(agent string, seed uint64) int {
	n, _ := strconv.Atoi(lastNumber.FindString(agent)) // no number is 0
	return n + int(seed%1000)
}

// setProblem finds the question of a lab: it stands in what the agent was told before all,
// or else is the first text.
func (d *desk) setProblem(r *model.Request) {
	if problem, ok := problemIn(r.System); ok {
		d.question = newQuestion(problem)
		return
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if m.Role == model.User && p.Kind == event.PartText && d.question.text == "" {
				d.question = newQuestion(p.Text)
			}
		}
	}
	if !d.question.designed() {
		if q := newQuestion(r.System); q.designed() {
			d.question = q
		}
	}
}

// problemIn finds the problem in a lab's prompt, where it has a section of its own.
func problemIn(prompt string) (string, bool) {
	_, rest, ok := strings.Cut(prompt, "# The problem\n\n")
	if end := strings.LastIndex(rest, "\n\n# How to work"); ok && end >= 0 {
		return rest[:end], true
	}
	return "", false
}

func (q question) designed() bool {
	for _, s := range q.sentences {
		for _, k := range experimenters() {
			if _, ok := k.recognise(s); ok {
				return true
			}
		}
	}
	return false
}

// work takes the next step: reviews first, then the own paper, then the vote. A review
// that was begun is finished before anything else is heard.
func (l *lab) work() (string, error) {
	for _, name := range []string{"exec", "write_file", "read_file", toolReview, toolList, toolGet, toolRequests, toolVote} {
		if !l.offered[name] {
			return "I cannot work here: I am not offered the tool " + name + ".", nil
		}
	}
	x, why, err := l.design()
	if err != nil {
		return "", err
	}
	if why != "" {
		return why + ".", nil
	}
	l.x = x
	for _, step := range []func() error{l.review, l.lookAround, l.review, l.publish, l.revise, l.vote} {
		if err := step(); err != nil {
			return "", err
		}
	}
	return l.rest(), nil
}

// ask puts calls on the desk without looking for earlier results.
func (l *lab) ask(say string, calls ...call) error {
	l.say, l.desk.calls = say, calls
	return errPending
}

// last returns the last call of a tool that went well, nil if there is none.
func (l *lab) last(tool string) *made {
	for i := len(l.made) - 1; i >= 0; i-- {
		if m := &l.made[i]; m.tool == tool && m.done && !m.failed {
			return m
		}
	}
	return nil
}

// tries is how often a call was made.
func (l *lab) tries(c call) (n int) {
	for _, m := range l.made {
		if m.call == c {
			n++
		}
	}
	return n
}

// lookAround asks what there is, whenever there is news.
func (l *lab) lookAround() error {
	if l.heard == 0 {
		return nil
	}
	if seen := l.last(toolRequests); seen != nil && seen.at > l.heard {
		return nil
	}
	if n := len(l.made); n > 0 && l.made[n-1].at > l.heard && l.made[n-1].failed {
		return nil // the library does not answer
	}
	return l.ask("There is news. I look at what I am asked to review, and at what has been handed in.", requestsCall, listCall)
}

var (
	requestsCall = call{toolRequests, "{}"}
	listCall     = call{toolList, encode(struct {
		Limit int `json:"limit"`
	}{20})}
)

func refCall(tool, ref string) call {
	return call{tool, encode(struct {
		Ref string `json:"ref"`
	}{ref})}
}

// run writes programs into the home and runs them, and returns what they print: the
// answer of each, or why there is none.
func (l *lab) run(say string, list ...approach) ([]printed, error) {
	var writes, runs []call
	for _, a := range list {
		writes = append(writes, writeFile(a.path(), a.code))
		runs = append(runs, execute("", "sh "+a.path()+l.argument()))
	}
	if out, err := l.use(say, writes...); err != nil {
		return nil, err
	} else if i := slices.IndexFunc(out, func(o outcome) bool { return o.failed }); i >= 0 {
		return []printed{{fault: out[i].text}}, nil
	}
	out, err := l.use("The program is written; I run it.", runs...)
	if err != nil {
		return nil, err
	}
	var results []printed
	for _, o := range out {
		results = append(results, printedBy(o))
	}
	return results, nil
}

// argument is the data file for a program that is not beside it.
func (l *lab) argument() string {
	if l.x.data == "" || l.x.data == path.Base(l.x.data) {
		return ""
	}
	return " " + shellQuote(l.x.data)
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func execute(dir, command string) call {
	return call{"exec", encode(struct {
		Command string `json:"command"`
		Dir     string `json:"dir,omitzero"`
	}{command, dir})}
}

// printed is what a program printed: the answer and remarks, or why there is none.
type printed struct{ answer, notes, fault string }

func (p printed) told() string {
	if p.fault != "" {
		return "nothing (" + brief(p.fault) + ")"
	}
	return p.answer
}

// printedBy takes the output of exec apart.
func printedBy(o outcome) printed {
	head, rest, _ := strings.Cut(o.text, "\n")
	out, ok := strings.CutPrefix(rest, "stdout:\n")
	if o.failed || !strings.HasPrefix(head, "exit code 0") || !ok {
		return printed{fault: o.text}
	}
	out, _, _ = strings.Cut(out, "\nstderr:\n")
	p := printed{answer: resultOf(out)}
	for line := range strings.Lines(out) {
		if note, ok := strings.CutPrefix(line, "# "); ok {
			p.notes = strings.TrimSpace(p.notes + "\n" + strings.TrimSpace(note))
		}
	}
	if p.answer == "" || strings.Contains(p.answer, "\n") || len(p.answer) > 1000 {
		return printed{fault: "it did not print one line: " + out}
	}
	return p
}

// own is what the agent begins with, and check what it trusts in the end.
func (l *lab) own() approach { return l.x.tries[l.number%len(l.x.tries)] }

func (l *lab) check(not ...string) approach {
	for i := range l.x.checks {
		if a := l.x.checks[(l.number+i)%len(l.x.checks)]; !slices.Contains(not, a.name) {
			return a
		}
	}
	return l.x.checks[0]
}

// sound is the answer by a way that is trusted.
func (l *lab) sound() (printed, error) {
	a := l.check()
	out, err := l.run(fmt.Sprintf("Before I go on I compute the answer myself, by %s.", a.name), a)
	if err != nil {
		return printed{}, err
	}
	return out[0], nil
}

// rest is what there is to say when nothing is to be done.
func (l *lab) rest() string {
	if v := l.last(toolVote); v != nil {
		return "I have voted for " + argument(v.call, "ref") + ", and nothing else waits for me. I rest until there is news."
	}
	return "Nothing waits for me: no review, and no published paper that I could vote for. I rest until there is news."
}

// next is the researcher's turn in a lab.
func (l *lab) next() (string, []call) {
	say, err := l.work()
	if errors.Is(err, errPending) {
		say = l.say
	} else {
		l.desk.calls = nil
	}
	if !l.begun {
		return Label + " " + say, l.desk.calls
	}
	return mark + say, l.desk.calls
}
