// Package trial is what the search for tools is measured by: tools in the style of public MCP
// servers, and intents of people who need one of them. All of it is of our own writing.
//
// servers.txt has the servers: what they are about, and what can be done with it. A tool is
// made of a thing and a verb, with a description in one of several wordings and the parameters
// that such tools have. open.txt has intents to develop by, with the tools that serve each;
// sealed.txt has as many that nobody looks at before the search is done.
package trial

import (
	_ "embed"
	"fmt"
	"hash/fnv"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/knowledge"
	"lyceum/internal/plain"
)

//go:embed servers.txt
var servers string

//go:embed open.txt
var open string

//go:embed sealed.txt
var sealed string

// Intent is what somebody wants to do, and the tools that serve it, by their shown names.
type Intent struct {
	Text  string
	Tools []string
}

// Open are the intents to develop by.
func Open() []Intent { return intents(open) }

// Sealed are those that are looked at once, at the end.
func Sealed() []Intent { return intents(sealed) }

func intents(text string) (out []Intent) {
	styles := map[string]string{}
	for _, s := range parsed() {
		styles[s.name] = s.style
	}
	for line := range strings.Lines(text) {
		asked, tools, _ := strings.Cut(strings.TrimSpace(line), "|")
		in := Intent{Text: asked}
		for t := range strings.SplitSeq(tools, ";") {
			w := strings.SplitN(t, " ", 3)
			for _, thing := range things(w[0]) {
				if thing.one == w[2] {
					in.Tools = append(in.Tools, plain.ToolName(w[0], named(styles[w[0]], w[1], thing)))
				}
			}
		}
		out = append(out, in)
	}
	return out
}

type server struct {
	name, style, title string
	things             []thing
}

// thing is something that a server has: one, several, what it is, what can be done with it.
type thing struct {
	one, several, about string
	verbs               []string
}

func parsed() (out []server) {
	for line := range strings.Lines(servers) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if f := strings.Split(line, "|"); len(f) == 4 {
			s := &out[len(out)-1]
			s.things = append(s.things, thing{f[0], f[1], f[2], strings.Fields(f[3])})
			continue
		}
		name, rest, _ := strings.Cut(line, ": ")
		style, title, _ := strings.Cut(rest, ", ")
		out = append(out, server{name: name, style: style, title: title})
	}
	return out
}

func things(name string) []thing {
	for _, s := range parsed() {
		if s.name == name {
			return s.things
		}
	}
	return nil
}

// named is the name of a tool in the style of its server.
func named(style, verb string, t thing) string {
	what := t.one
	if verb == "list" {
		what = t.several
	}
	words := append(strings.Split(verb, "_"), strings.FieldsFunc(what, func(r rune) bool { return r == ' ' || r == '-' })...)
	switch style {
	case "kebab":
		return strings.Join(words, "-")
	case "camel":
		for i, w := range words[1:] {
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
		return strings.Join(words, "")
	}
	return strings.Join(words, "_")
}

// Tools are those of all servers.
func Tools() (out []knowledge.Entry) {
	for _, s := range parsed() {
		for _, t := range s.things {
			for _, verb := range t.verbs {
				out = append(out, s.tool(verb, t, ""))
			}
		}
	}
	return out
}

// Many are n tools: those of the servers, and those of as many more of each as are needed.
func Many(n int) []knowledge.Entry {
	out := Tools()
	for i := 2; len(out) < n; i++ {
		for _, s := range parsed() {
			s.name = fmt.Sprintf("%s%d", s.name, i)
			for _, t := range s.things {
				for _, verb := range t.verbs {
					out = append(out, s.tool(verb, t, fmt.Sprintf(" Tenant %d.", i)))
				}
			}
		}
	}
	return out[:n]
}

func (s *server) tool(verb string, t thing, more string) knowledge.Entry {
	name := named(s.style, verb, t)
	e := knowledge.Entry{
		Source: knowledge.MCP + ":" + s.name, Name: name, Shown: plain.ToolName(s.name, name),
		Description: s.said(verb, t) + more, Schema: schema(s.style, verb, t), Trust: event.TrustStranger,
	}
	e.Hash = event.HashOf([]byte(e.Name + e.Description + e.Schema))
	return e
}

// said is the description of a tool in one of several wordings.
func (s *server) said(verb string, t thing) string {
	h := fnv.New32a()
	fmt.Fprint(h, s.name, verb, t.one)
	n := int(h.Sum32() >> 4)
	does := wordings(verb)
	first := strings.NewReplacer("{one}", t.one, "{a}", article(t.one), "{several}", t.several, "{title}", s.title).Replace(does[n%len(does)])
	switch (n / 7) % 5 {
	case 0:
		return first + " in " + s.title + "."
	case 1:
		return first + ": " + t.about + "."
	case 2:
		return first + ". " + strings.ToUpper(t.one[:1]) + t.one[1:] + " means " + t.about + "."
	case 3:
		return s.title + ": " + strings.ToLower(first[:1]) + first[1:] + " (" + t.about + ")."
	}
	return first + " of the " + s.title + " account. Requires the id, returns JSON. " + strings.ToUpper(t.about[:1]) + t.about[1:] + "."
}

func article(word string) string {
	if strings.ContainsAny(word[:1], "aeiou") && !strings.HasPrefix(word, "us") {
		return "an " + word
	}
	return "a " + word
}

// wordings are how tools of a verb are described.
func wordings(verb string) []string {
	if w := verbs[verb]; w != nil {
		return w
	}
	plainly := strings.ReplaceAll(verb, "_", " ")
	whole := strings.ToUpper(plainly[:1]) + plainly[1:]
	return []string{whole + " {a}", "Allows to " + plainly + " {a}", whole + " an existing {one} by its id"}
}

var verbs = map[string][]string{
	"create":  {"Create a new {one}", "Creates {a}", "Make {a} with the given fields", "Add a new {one}"},
	"get":     {"Get {a} by its id", "Retrieve the details of {a}", "Returns one {one}", "Fetches {a} with all its fields"},
	"list":    {"List all {several}", "Returns the {several}, by page", "Lists {several} with optional filters", "Get a list of {several}"},
	"search":  {"Search for {several}", "Find {several} by words", "Looks up {several} that match a query", "Full text search in {several}"},
	"update":  {"Update {a}", "Changes fields of {a}", "Modify an existing {one}", "Edits {a}"},
	"delete":  {"Delete {a}", "Permanently removes {a}", "Deletes {a} by its id"},
	"remove":  {"Remove {a}", "Takes {a} away", "Removes an existing {one}"},
	"add":     {"Add {a}", "Adds another {one}", "Attach {a}"},
	"send":    {"Send {a}", "Sends {a} right away", "Deliver {a} to its recipients"},
	"compare": {"Compare two {several}", "Shows how {several} differ", "Diff of {several}"},
	"export":  {"Export {several} as CSV or JSON", "Exports {a} to a file", "Writes {several} to a file"},
	"watch":   {"Watch {a} for changes", "Notifies when {a} changes", "Follow {a} over time"},
	"share":   {"Share {a} with other people", "Gives others access to {a}"},
	"cancel":  {"Cancel {a}", "Cancels {a} before it is done"},
	"book":    {"Book {a}", "Makes a reservation of {a}"},
	"run":     {"Run {a}", "Executes {a} and returns its result"},
	"read":    {"Read {a}", "Returns the contents of {a}"},
}

// schema is that of a tool's arguments.
func schema(style, verb string, t thing) string {
	id := named(style, strings.Fields(t.one)[len(strings.Fields(t.one))-1], thing{one: "id"})
	p := func(name, kind, about string) string {
		return fmt.Sprintf(`%q:{"type":%q,"description":%q}`, name, kind, about)
	}
	var list []string
	switch verb {
	case "create", "add", "send", "insert":
		list = []string{p("name", "string", "name of the "+t.one), p("fields", "object", "further fields")}
	case "list":
		list = []string{p("limit", "integer", "how many to return"), p("cursor", "string", "where to go on")}
	case "search", "find", "query":
		list = []string{p("query", "string", "what to look for"), p("limit", "integer", "how many to return")}
	case "update", "set", "rename", "edit":
		list = []string{p(id, "string", "id of the "+t.one), p("changes", "object", "fields to change")}
	default:
		list = []string{p(id, "string", "id of the "+t.one)}
	}
	return `{"type":"object","properties":{` + strings.Join(list, ",") + `}}`
}
