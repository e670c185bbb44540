package api

import (
	"cmp"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/profile"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/service"
	"lyceum/internal/strictyaml"

	"github.com/goccy/go-yaml/ast"
)

// specFile is what a spec is called in errors about it.
const specFile = "quest.yaml"

// fieldOf finds the key of a spec that an error is about: what the spec's own check
// says, or else what stands at the error's place. Only where a quest cannot be made of a
// spec that is right by itself, the key is known by the words of the error.
func fieldOf(err error, source []byte) FieldError {
	out := FieldError{Message: err.Error(), Field: quest.FieldOf(err)}
	if e, ok := errors.AsType[*strictyaml.Error](err); ok && e.File == specFile {
		out.Message, out.Line = e.Text, e.Line
		if out.Field == "" {
			out.Field = keyAt(source, e.Line, e.Column)
		}
		return out
	}
	if _, ok := errors.AsType[*profile.UnknownError](err); ok {
		out.Field = "profile"
	}
	if _, ok := errors.AsType[*runtime.PlanError](err); ok && out.Field == "" {
		out.Field = keyIn(out.Message)
	}
	return out
}

// keyAt is the key of what stands at a place of a spec, with those above it.
func keyAt(source []byte, line, column int) string {
	doc, err := strictyaml.Document(specFile, source)
	if err != nil {
		return "" // it is about the document as a whole
	}
	f := &finder{line: line, column: column}
	ast.Walk(f, doc)
	return strings.TrimPrefix(strings.TrimPrefix(f.path, "$"), ".")
}

// finder looks for the innermost node at a place.
type finder struct {
	line, column int
	path         string
}

func (f *finder) Visit(n ast.Node) ast.Visitor {
	if t := n.GetToken(); t != nil && t.Position != nil && t.Position.Line == f.line && t.Position.Column == f.column {
		f.path = n.GetPath()
	}
	return f
}

// planKeys are the words that an error of a plan may have, and the key of a spec that
// each is about.
var planKeys = map[string]string{
	"question": "problem", "problem_file": "problem_file", "task": "task", "society": "society", "corpus": "corpus", "profile": "profile",
	"model": "model", "tools": "tools", "tool": "tools", "data": "data", "computer": "computer", "window": "window", "policies": "policies",
	"policy": "policies", "cost": "limits.cost",
}

var word = regexp.MustCompile(`[a-z_]+`)

// keyIn is the key that an error of a plan is about: the first that it names.
func keyIn(text string) string {
	for _, w := range word.FindAllString(text, -1) {
		if key := planKeys[w]; key != "" {
			return key
		}
	}
	return ""
}

// Example is one that comes with Lyceum.
type Example struct {
	Name    string   `json:"name"`
	Society string   `json:"society"`
	Title   string   `json:"title"`
	Problem string   `json:"problem"`
	Spec    string   `json:"spec"`
	Files   []string `json:"files"`
	Offline bool     `json:"offline"`
	Note    string   `json:"note,omitempty"`
}

// example reads the files of an example into a draft.
func (s *Server) example(name string, d *draft) error {
	if s.opts.Examples == nil || !event.ValidName(name) {
		return missing("there is no example %.80q", name)
	}
	source, err := fs.ReadFile(s.opts.Examples, path.Join(name, "quest.yaml"))
	if err != nil {
		return missing("there is no example %.80q", name)
	}
	d.source = source
	return fs.WalkDir(s.opts.Examples, name, func(at string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := fs.ReadFile(s.opts.Examples, at)
		d.files[strings.TrimPrefix(at, name+"/")] = data
		return err
	})
}

func (s *Server) examples(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	out := struct {
		Examples []Example `json:"examples"`
	}{[]Example{}}
	if s.opts.Examples == nil {
		return s.send(w, http.StatusOK, out)
	}
	list, err := fs.ReadDir(s.opts.Examples, ".")
	if err != nil {
		return err
	}
	for _, f := range list {
		d := &draft{files: map[string][]byte{}}
		if !f.IsDir() || s.example(f.Name(), d) != nil {
			continue
		}
		spec, err := quest.ParseSpec(f.Name()+"/quest.yaml", d.source)
		if err != nil {
			return err
		}
		e := exampleOf(f.Name(), spec, d)
		e.Society = s.society(spec)
		out.Examples = append(out.Examples, e)
	}
	return s.send(w, http.StatusOK, out)
}

func exampleOf(name string, spec *quest.Spec, d *draft) Example {
	e := Example{Name: name, Problem: spec.Question(), Spec: string(d.source), Files: []string{}, Note: comment(d.source)}
	e.Title, _, _ = strings.Cut(strings.TrimSpace(e.Problem), "\n")
	e.Offline = runtime.ByRules(spec) || spec.Model == "demo" || strings.HasPrefix(spec.Model, "demo:") || strings.HasPrefix(spec.Model, "script:")
	for file := range d.files {
		e.Files = append(e.Files, file)
	}
	slices.Sort(e.Files)
	return e
}

// society is that of a spec: without one it is the first that there is.
func (s *Server) society(spec *quest.Spec) string {
	return cmp.Or(spec.Society, societyOf(s.rt.Societies[0].Rules()))
}

// societyOf is the name of the society that has these rules.
func societyOf(rules string) string {
	name, _, _ := strings.Cut(rules, "/")
	return name
}

// comment is what stands in front of a spec.
func comment(source []byte) string {
	var out []string
	for line := range strings.Lines(string(source)) {
		text, ok := strings.CutPrefix(line, "#")
		if !ok {
			break
		}
		out = append(out, strings.TrimSpace(text))
	}
	return strings.Join(out, "\n")
}

// options answers with what a form offers.
func (s *Server) options(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	type one struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	}
	out := struct {
		Version   string   `json:"version"`
		Model     string   `json:"default_model"`
		Societies []string `json:"societies"`
		Profiles  []one    `json:"profiles"`
		Faults    []string `json:"profile_faults"`
		Decisions []string `json:"decisions"`
		Audits    []string `json:"audits"`
		Computers []string `json:"computers"`
		Tools     []string `json:"tools"`
		Programs  []string `json:"programs"`
		Demo      string   `json:"demo_model"`
	}{s.rt.Version, s.opts.Model, []string{}, []one{}, []string{}, quest.Decisions, quest.Audits, quest.Drivers, s.rt.Tools.Names(), service.Programs(), "demo"}
	for _, soc := range s.rt.Societies {
		if name := societyOf(soc.Rules()); !slices.Contains(out.Societies, name) {
			out.Societies = append(out.Societies, name)
		}
	}
	profiles, err := profile.List(s.rt.Home)
	if err != nil { // of some; the others are there
		out.Faults = append(out.Faults, strings.Split(err.Error(), "\n")...)
	}
	for _, p := range profiles {
		out.Profiles = append(out.Profiles, one{p.Name, p.Description})
	}
	return s.send(w, http.StatusOK, out)
}

func (s *Server) schema(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	schema, err := quest.Schema()
	if err != nil {
		return err
	}
	return s.send(w, http.StatusOK, schema)
}
