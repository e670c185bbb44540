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
	"lyceum/internal/strictyaml"
)

// specKeys are the keys of a quest.yaml that an error may be about, with where those
// stand that are not at the top.
var specKeys = map[string]string{
	"name": "", "problem": "", "problem_file": "", "task": "", "society": "", "corpus": "", "audit": "", "wait_until": "",
	"agents": "", "reviewers": "", "decision": "", "review_deadline_turns": "", "profile": "", "model": "", "tools": "", "data": "",
	"computer": "", "seed": "", "thinking": "", "window": "", "policies": "", "limits": "",
	"cost": "limits", "turns": "limits", "tokens": "limits", "duration": "limits",
}

var (
	keyAt = regexp.MustCompile(`^\s*-?\s*([a-z_]+)\s*:`)
	word  = regexp.MustCompile(`[a-z_]+`)
)

// fieldOf finds the key of a spec that an error is about: the one on its line, if that
// is there, or else the first that its text names.
func fieldOf(err error, source []byte) FieldError {
	out := FieldError{Message: err.Error()}
	if e, ok := errors.AsType[*strictyaml.Error](err); ok {
		out.Message, out.Line = e.Text, e.Line
		if key := keyOn(source, e.Line); key != "" && (e.Line > 1 || strings.Contains(e.Text, key)) {
			out.Field = qualified(key)
			return out
		}
	} else if p, ok := errors.AsType[*runtime.PlanError](err); ok {
		out.Message = p.Error()
	}
	if _, ok := errors.AsType[*profile.UnknownError](err); ok {
		out.Field = "profile"
		return out
	}
	for _, w := range word.FindAllString(out.Message, -1) {
		if _, ok := specKeys[w]; ok {
			out.Field = qualified(w)
			return out
		}
		if w == "question" {
			out.Field = "problem"
			return out
		}
	}
	return out
}

func keyOn(source []byte, n int) string {
	lines := strings.Split(string(source), "\n")
	if n < 1 || n > len(lines) {
		return ""
	}
	if m := keyAt.FindStringSubmatch(lines[n-1]); m != nil {
		if _, ok := specKeys[m[1]]; ok {
			return m[1]
		}
	}
	return ""
}

func qualified(key string) string {
	if above := specKeys[key]; above != "" {
		return above + "." + key
	}
	return key
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
		out.Examples = append(out.Examples, exampleOf(f.Name(), spec, d))
	}
	return s.send(w, http.StatusOK, out)
}

func exampleOf(name string, spec *quest.Spec, d *draft) Example {
	e := Example{Name: name, Society: cmp.Or(spec.Society, "solo"), Problem: spec.Question(), Spec: string(d.source), Files: []string{}, Note: comment(d.source)}
	e.Title, _, _ = strings.Cut(strings.TrimSpace(e.Problem), "\n")
	e.Offline = spec.IsContract() && spec.Model == "" || spec.Model == "demo" || strings.HasPrefix(spec.Model, "demo:") || strings.HasPrefix(spec.Model, "script:")
	for file := range d.files {
		e.Files = append(e.Files, file)
	}
	slices.Sort(e.Files)
	return e
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
		Decisions []string `json:"decisions"`
		Audits    []string `json:"audits"`
		Computers []string `json:"computers"`
		Tools     []string `json:"tools"`
		Programs  []string `json:"programs"`
		Demo      string   `json:"demo_model"`
	}{s.rt.Version, s.opts.Model, []string{}, []one{}, quest.Decisions, quest.Audits, quest.Drivers, s.rt.Tools.Names(), runtime.Programs(), "demo"}
	for _, soc := range s.rt.Societies {
		name, _, _ := strings.Cut(soc.Rules(), "/")
		if !slices.Contains(out.Societies, name) {
			out.Societies = append(out.Societies, name)
		}
	}
	profiles, err := profile.List(s.rt.Home)
	if err != nil {
		return err
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
