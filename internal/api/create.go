package api

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/scratch"

	"github.com/goccy/go-yaml"
)

// NewQuest is what a quest is to be made of.
type NewQuest struct {
	Spec    json.RawMessage `json:"spec,omitempty"`
	YAML    string          `json:"yaml,omitempty"`
	Example string          `json:"example,omitempty"`
	Name    string          `json:"name,omitempty"`
	Model   string          `json:"model,omitempty"`
	Files   []NewFile       `json:"files,omitempty"`
	Start   bool            `json:"start,omitempty"`
}

// NewFile is a file beside quest.yaml.
type NewFile struct {
	Path   string  `json:"path"`
	Text   *string `json:"text,omitempty"`
	Base64 *string `json:"base64,omitempty"`
}

// maxFiles is how many files a new quest may bring.
const maxFiles = 1000

// draft is what a caller sent, read: a spec, the files that go with it, and the plan
// that they make.
type draft struct {
	source []byte
	files  map[string][]byte
	plan   runtime.Plan
}

// modest refuses JSON that would take the YAML parser long: it has no limits of its own,
// and needs time with the cube of the depth.
func modest(spec json.RawMessage) error {
	if len(spec) > runtime.MaxSource {
		return badParameter("spec", "it has more than %d bytes: put long texts into files of their own", runtime.MaxSource)
	}
	const maxDepth, maxTokens = 50, 20_000
	dec := json.NewDecoder(bytes.NewReader(spec))
	depth, tokens := 0, 0
	for {
		t, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return badParameter("spec", "%v", err)
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if tokens++; depth > maxDepth || tokens > maxTokens {
			return badParameter("spec", "it is nested more than %d deep, or has more than %d values: no quest is like that", maxDepth, maxTokens)
		}
	}
}

// draft makes a spec of what a caller sent.
func (s *Server) draft(n *NewQuest) (*draft, error) {
	d := &draft{files: map[string][]byte{}}
	given := 0
	if len(n.Spec) > 0 {
		given++
		if !strings.HasPrefix(strings.TrimSpace(string(n.Spec)), "{") {
			return nil, badParameter("spec", "want an object with the members of a quest.yaml")
		}
		if err := modest(n.Spec); err != nil {
			return nil, err
		}
		source, err := yaml.JSONToYAML(n.Spec)
		if err != nil {
			return nil, badParameter("spec", "%v", err)
		}
		d.source = source
	}
	if n.YAML != "" {
		given++
		d.source = []byte(n.YAML)
	}
	if n.Example != "" {
		given++
		if err := s.example(n.Example, d); err != nil {
			return nil, err
		}
	}
	if given != 1 {
		return nil, badParameter("spec", "give one of spec, yaml and example; %d are given", given)
	}
	if err := d.add(n.Files); err != nil {
		return nil, err
	}
	var err error
	d.plan, err = (&runtime.Draft{By: runtime.FromRequest, File: specFile, Source: d.source, Home: s.rt.Home, Model: s.opts.Model, Changes: runtime.Changes{Name: n.Name, Model: n.Model}}).Plan(s.rt.Societies)
	if err != nil && d.plan.Spec == nil {
		return nil, badSpec(err, d.source)
	}
	// What was sent is a stranger's: a repository in it is but files.
	d.plan.Sent = true
	if dir := s.opts.Repos[d.plan.Spec.Repo]; dir != "" {
		d.plan.Folders = map[string]string{"repo": dir}
	}
	return d, nil // what is wrong with it is told with what is found later
}

// add reads the files that came with a spec.
func (d *draft) add(files []NewFile) error {
	if len(files) > maxFiles {
		return badParameter("files", "%d files: want at most %d; make the quest with lyceum create", len(files), maxFiles)
	}
	for _, f := range files {
		if !filepath.IsLocal(f.Path) || f.Path != path.Clean(f.Path) || strings.ContainsAny(f.Path, "\\\x00") || len(f.Path) > 1000 {
			return badParameter("files.path", "%.80q: want a plain path below the quest's folder", f.Path)
		}
		switch {
		case (f.Text == nil) == (f.Base64 == nil):
			return badParameter("files", "%.80q: give one of text and base64", f.Path)
		case f.Text != nil:
			d.files[f.Path] = []byte(*f.Text)
		default:
			data, err := base64.StdEncoding.DecodeString(*f.Base64)
			if err != nil {
				return badParameter("files.base64", "%.80q: %v", f.Path, err)
			}
			d.files[f.Path] = data
		}
	}
	return nil
}

// laidOut puts the files of a quest into a folder for as long as use takes: what the quest
// needs of them goes into its ledger. What use says is wrong with the plan becomes a problem
// with all its fields.
func (s *Server) laidOut(d *draft, use func() error) error {
	if len(d.files) == 0 {
		empty, err := s.noFiles()
		if err != nil {
			return err
		}
		return s.planned(d, empty.Path, use)
	}
	dir, err := scratch.New("", "lyceum-new-")
	if err != nil {
		return err
	}
	defer dir.Close()
	root, err := os.OpenRoot(dir.Path)
	if err != nil {
		return err
	}
	defer root.Close()
	for name, data := range d.files {
		name = filepath.FromSlash(name)
		err := root.MkdirAll(filepath.Dir(name), 0o700)
		if err == nil {
			err = root.WriteFile(name, data, 0o600)
		}
		if err != nil {
			return badParameter("files.path", "%.80q cannot be written: %v", name, errors.Unwrap(err))
		}
	}
	return s.planned(d, dir.Path, use)
}

// planned is use with the files of a quest in a folder.
func (s *Server) planned(d *draft, dir string, use func() error) error {
	d.plan.Dir = dir
	err := use()
	if err == nil || !isPlanFault(err) {
		return err
	}
	p := badSpec(err, d.source)
	say := func(text string) string {
		for key, elsewhere := range d.plan.Folders {
			text = strings.ReplaceAll(text, elsewhere, "the folder for "+key)
		}
		return s.discreet(text, dir)
	}
	p.text = say(p.text)
	for i := range p.fields {
		p.fields[i].Message = say(p.fields[i].Message)
	}
	return p
}

// discreet takes out of a text where things lie on this machine: the files of a new quest
// for the moment, and the home. Neither is a caller's business.
func (s *Server) discreet(text, dir string) string {
	if dir != "" {
		text = strings.ReplaceAll(text, dir, "the quest's folder")
	}
	return strings.ReplaceAll(text, s.rt.Home+string(filepath.Separator), "the home's ")
}

func (s *Server) createQuest(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	var n NewQuest
	if err := decode(r, &n); err != nil {
		return err
	}
	d, err := s.draft(&n)
	if err != nil {
		return err
	}
	var st *quest.State
	var first event.Event
	d.plan.Made = func(e event.Event) { first = e }
	err = s.laidOut(d, func() (err error) {
		st, err = s.rt.Create(r.Context(), d.plan)
		return err
	})
	if err != nil {
		return err
	}
	s.noted(st.Name, st)
	s.shelf.put(st, first)
	if n.Start {
		if err := s.keeper.Start(r.Context(), d.plan.Spec.Name, event.Limits{}, false); err != nil {
			return conflict("quest %s was made, and cannot run: %v", d.plan.Spec.Name, err)
		}
	}
	out, err := s.detail(r.Context(), d.plan.Spec.Name)
	if err != nil {
		return err
	}
	w.Header().Set("Location", "/api/quests/"+d.plan.Spec.Name)
	return s.send(w, http.StatusCreated, out)
}

// validate checks a spec without making a quest of it.
func (s *Server) validate(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	var n NewQuest
	if err := decode(r, &n); err != nil {
		return err
	}
	out := struct {
		Valid    bool         `json:"valid"`
		Errors   []FieldError `json:"errors"`
		Name     string       `json:"name,omitempty"`
		Society  string       `json:"society,omitempty"`
		YAML     string       `json:"yaml,omitempty"`
		Estimate *estimate    `json:"estimate,omitempty"`
	}{Errors: []FieldError{}}
	d, err := s.draft(&n)
	if p, ok := errors.AsType[*problem](err); ok && len(p.fields) > 0 {
		out.Errors = p.fields
		return s.send(w, http.StatusOK, out)
	} else if err != nil {
		return err
	}
	created, err := s.faults(r.Context(), d, &out.Errors)
	if err == nil && created != nil {
		out.Estimate, err = s.estimated(r.Context(), d, created)
	}
	if err != nil {
		return err
	}
	out.Valid, out.Name, out.Society, out.YAML = len(out.Errors) == 0, d.plan.Spec.Name, s.society(d.plan.Spec), string(d.source)
	return s.send(w, http.StatusOK, out)
}

// faults finds all that is wrong with a spec, that its name is taken included, and what a quest would be made of
// if nothing else is.
func (s *Server) faults(ctx context.Context, d *draft, out *[]FieldError) (created *event.QuestCreated, err error) {
	switch _, err := s.rt.Ledger.Head(ctx, d.plan.Spec.Name); {
	case err == nil:
		*out = append(*out, FieldError{Field: "name", Message: runtime.ErrExists.Error() + ": choose another"})
	case !errors.Is(err, ledger.ErrNoQuest):
		return nil, err
	}
	err = s.laidOut(d, func() (err error) {
		created, err = s.rt.Rehearse(ctx, d.plan)
		return err
	})
	if p, ok := errors.AsType[*problem](err); ok && len(p.fields) > 0 {
		*out = append(*out, p.fields...)
		return nil, nil
	}
	return created, err
}
