package api

import (
	"cmp"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/profile"
	"lyceum/internal/quest"
	"lyceum/internal/runtime/service"
	"lyceum/internal/strictyaml"

	"github.com/goccy/go-yaml/ast"
)

// specFile is what a spec is called in errors about it.
const specFile = "quest.yaml"

// fieldsOf are the faults that an error consists of, each with the key of a spec that it is
// about: what the spec's own check says, or else what stands at its place.
func fieldsOf(err error, source []byte) (out []FieldError) {
	for _, err := range quest.FaultsOf(err) {
		f := FieldError{Message: err.Error(), Field: quest.FieldOf(err)}
		if e, ok := errors.AsType[*strictyaml.Error](err); ok && e.File == specFile {
			f.Message, f.Line = e.Text, e.Line
			if f.Field == "" {
				f.Field = keyAt(source, e.Line, e.Column)
			}
		}
		out = append(out, f)
	}
	return out
}

// badSpec says all that is wrong with a spec.
func badSpec(err error, source []byte) *problem {
	fields := fieldsOf(err, source)
	return &problem{status: http.StatusBadRequest, field: fields[0].Field, fields: fields, text: err.Error()}
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
		spec, err := s.rt.Societies.ParseSpec(f.Name()+"/quest.yaml", d.source)
		if err != nil {
			return err
		}
		out.Examples = append(out.Examples, s.exampleOf(f.Name(), spec, d))
	}
	return s.send(w, http.StatusOK, out)
}

func (s *Server) exampleOf(name string, spec *quest.Spec, d *draft) Example {
	e := Example{Name: name, Society: s.society(spec), Problem: s.rt.Societies.Question(spec), Spec: string(d.source), Files: []string{}, Note: comment(d.source)}
	e.Title, _, _ = strings.Cut(strings.TrimSpace(e.Problem), "\n")
	e.Offline = s.rt.Societies.ByRules(spec) || spec.Model == "demo" || strings.HasPrefix(spec.Model, "demo:") || strings.HasPrefix(spec.Model, "script:")
	for file := range d.files {
		e.Files = append(e.Files, file)
	}
	slices.Sort(e.Files)
	return e
}

// society is that of a spec: without one it is the first that there is.
func (s *Server) society(spec *quest.Spec) string {
	return cmp.Or(spec.Society, s.rt.Societies.Names()[0])
}

// comment is what stands in front of a spec, up to its first empty line: commands come after that.
func comment(source []byte) string {
	var out []string
	for line := range strings.Lines(string(source)) {
		text, ok := strings.CutPrefix(line, "#")
		if text = strings.TrimSpace(text); !ok || text == "" {
			break
		}
		out = append(out, text)
	}
	return strings.Join(out, "\n")
}

// Offer is a model that a form offers. Prices are in dollars for a million tokens, empty if nobody knows.
type Offer struct {
	Name   string `json:"name"`
	Ready  bool   `json:"ready"`
	Key    string `json:"key,omitempty"`
	Input  string `json:"input_usd,omitempty"`
	Output string `json:"output_usd,omitempty"`
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
		Models    []Offer  `json:"models"`
	}{s.rt.Version, s.opts.Model, s.rt.Societies.Names(), []one{}, []string{}, s.rt.Societies.Choices("decision"), s.rt.Societies.Choices("audit"), quest.Drivers, s.rt.Tools.Names(), service.Programs(), "demo", []Offer{}}
	// Which keys there are is the business of who makes quests.
	if s.opts.Models != nil && callerOf(r).allows(admin, "") {
		models, err := s.opts.Models(r.Context())
		if err != nil {
			return err
		}
		out.Models = append(out.Models, models...)
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
	schema, err := s.rt.Societies.Schema()
	if err != nil {
		return err
	}
	return s.send(w, http.StatusOK, schema)
}
