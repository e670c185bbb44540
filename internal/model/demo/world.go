package demo

import (
	"errors"
	"fmt"
	"strings"

	"lyceum/internal/model"
)

// The tools of a world.
const (
	toolDeclare = "declare_structure"
	toolPropose = "propose"
	toolTry     = "try"
	toolFinish  = "finish"
	toolMarks   = "give_marks"
)

// maker is a desk in a world. It knows two things to make: a page that counts, and a program that
// sorts numbers. Of each it makes drafts that are wrong on purpose, in the order in which the
// world finds that out.
type maker struct {
	*desk
	wanted string
}

func newMaker(r *model.Request, d *desk) *maker {
	_, rest, _ := strings.Cut(r.System, "# What is wanted\n\n")
	wanted, _, _ := strings.Cut(rest, "\n\n# How to work")
	return &maker{d, strings.ToLower(wanted)}
}

// next is the maker's turn.
func (m *maker) next() (string, []call) {
	say, err := m.work()
	if errors.Is(err, errPending) {
		say = m.say
	} else {
		m.calls = nil
	}
	if !m.begun {
		say = Label + " " + say
	}
	return say, m.calls
}

// thing is something that the maker knows how to make.
type thing struct {
	words               []string
	structure, expect   string
	file, folder, title string
	stories             string
	steps               string
	drafts              []making
}

// making is one way to make it, and what the maker thinks of it. tried says that it is tried out
// although it did not pass.
type making struct {
	say, text string
	tried     bool
}

func (m *maker) work() (string, error) {
	for _, t := range []thing{counter, sorter} {
		known := true
		for _, w := range t.words {
			known = known && strings.Contains(m.wanted, w)
		}
		if known {
			return m.make(t)
		}
	}
	return "I only know how to make a page that counts and a program that sorts numbers. This is neither, and I do not guess.", nil
}

// make goes through the drafts of a thing until one has passed.
func (m *maker) make(t thing) (string, error) {
	if _, err := m.use("First I say what it consists of.", call{toolDeclare, t.structure}); err != nil {
		return "", err
	}
	for i, d := range t.drafts {
		if _, err := m.use(d.say, writeFile(t.folder+"/"+t.file, d.text)); err != nil {
			return "", err
		}
		said, err := m.propose(t, i+1, "")
		if err != nil {
			return "", err
		}
		if strings.Contains(said, "unavailable") { // the next one fares no better
			_, err = m.propose(t, i+1, ", once more")
			return "Something that the world needs is not here: " + said, err
		}
		passed := strings.Contains(said, "It passed every tier.")
		if d.tried || passed {
			if err := m.try(t, i+1); err != nil {
				return "", err
			}
		}
		if passed {
			_, err := m.use("It does what I predicted.", call{toolFinish, encode(struct {
				Attempt int    `json:"attempt"`
				Text    string `json:"text"`
			}{i + 1, fmt.Sprintf("%s The answer is attempt %d: %s.", Label, i+1, t.title)})})
			return "That was it.", err
		}
	}
	return "None of my drafts passed. I know no other.", nil
}

// propose hands a draft in, and returns what became of it.
func (m *maker) propose(t thing, number int, again string) (string, error) {
	out, err := m.use("Now the world has the word.", call{toolPropose, fmt.Sprintf(`{"path":%q,"intent":%q,"stories":%s}`, t.folder, fmt.Sprintf("%s, draft %d%s", t.title, number, again), t.stories)})
	if err != nil {
		return "", err
	}
	return out[0].text, nil
}

// try predicts, and looks.
func (m *maker) try(t thing, attempt int) error {
	_, err := m.use("I say what I expect, and then look.", call{toolTry, fmt.Sprintf(`{"attempt":%d,"steps":%s,"expect":%s}`, attempt, t.steps, t.expect)})
	return err
}

// page is a counter whose button and script are given.
func page(button, script string) string {
	return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Counter</title></head>
<body>
<h1>Counter</h1>
` + button + `
<p role="status" id="count">0</p>
<script>
let n = 0
document.querySelector('button').addEventListener('click', () => {
  ` + script + `
})
</script>
</body>
</html>
`
}

const clicks = `[{"do":"click","at":{"role":"button","name":"Add one"}}]`

// counter is a page with a button and a number.
var counter = thing{
	words: []string{"page", "count"}, folder: "counter", file: "index.html", title: "a page with a button that counts",
	structure: `{"channels":[{"name":"count","kind":"text","at":{"role":"status"}}],"levers":[{"name":"add","kind":"mechanic","when":"instant","at":{"role":"button"}}],"loops":[{"name":"counting","lever":"add","channel":"count","response":"1"}]}`,
	stories:   `[{"name":"one click","intent":"to count one thing","steps":` + clicks + `,"expect":[{"kind":"text","at":{"role":"status"},"text":"1"}]}]`,
	steps:     clicks, expect: `[{"condition":{"kind":"text","at":{"role":"status"},"text":"1"},"probability":900},{"condition":{"kind":"dialog","text":"","how":"contains"},"probability":50}]`,
	drafts: []making{
		{say: "My first draft: a button and a number.", text: page(`<button type="button"></button>`, "document.querySelector('#count').textContent = n")},
		{say: "The button has no name for who cannot see it. I give it one.", text: page(`<button type="button">Add one</button>`, "document.querySelector('#count').textContent = n"), tried: true},
		{say: "I predicted 1 and saw 0: nothing was added. Now it is.", text: page(`<button type="button">Add one</button>`, "n += 1\n  document.querySelector('#count').textContent = n")},
	},
}

const numbers = `[{"do":"run","input":"10\n9\n-1\n"}]`

// sorter is a program that sorts numbers.
var sorter = thing{
	words: []string{"program", "sort"}, folder: "sorter", file: "main.sh", title: "a program that sorts numbers",
	structure: `{"channels":[{"name":"lines","kind":"text"}],"levers":[{"name":"input","kind":"affordance","when":"instant"}],"loops":[{"name":"sorting","lever":"input","channel":"lines","response":"9"}]}`,
	stories: `[{"name":"by value","intent":"to see numbers in order","steps":` + numbers + `,"expect":[{"kind":"output","text":"-1\n9\n10"},{"kind":"exit","number":0}]},` +
		`{"name":"no number","intent":"to be told what is wrong","steps":[{"do":"run","input":"x\n"}],"expect":[{"kind":"exit","number":2},{"kind":"error","how":"contains","text":"no number"}]}]`,
	steps: numbers, expect: `[{"condition":{"kind":"output","text":"-1\n9\n10"},"probability":900},{"condition":{"kind":"exit","number":0},"probability":990}]`,
	drafts: []making{
		{say: "My first draft sorts lines.", text: "#!/bin/sh\nsort\n", tried: true},
		{say: "10 came before 9, for they were sorted as words, and nothing was said about what is no number. I sort by value, and look first.", text: "#!/bin/sh\nlines=$(cat)\nif printf '%s\\n' \"$lines\" | grep -qvE '^-?[0-9]+$'; then\n  echo \"no number\" >&2\n  exit 2\nfi\nprintf '%s\\n' \"$lines\" | sort -n\n"},
	},
}

// judge is a desk that marks what others made, by what it can count: that there is something.
type judge struct {
	*desk
	told string
}

// next gives every criterion the same mark, with the first line of what was made.
func (j *judge) next() (string, []call) {
	type mark struct {
		Criterion string `json:"criterion"`
		Mark      int    `json:"mark"`
		Quotation string `json:"quotation"`
	}
	var marks []mark
	_, rest, _ := strings.Cut(j.told, "The criteria:\n")
	rubric, rest, _ := strings.Cut(rest, "\n\nWhat rules have found")
	_, rest, _ = strings.Cut(rest, ") ===\n")
	line, _, _ := strings.Cut(rest, "\n")
	for c := range strings.Lines(rubric) {
		if name, _, ok := strings.Cut(strings.TrimPrefix(c, "- "), ": "); ok {
			marks = append(marks, mark{name, 750, line})
		}
	}
	say := "I cannot judge as a reader does: I count that there is something, and say so."
	if !j.begun {
		say = Label + " " + say
	}
	return say, []call{{toolMarks, encode(struct {
		Marks []mark `json:"marks"`
	}{marks})}}
}
