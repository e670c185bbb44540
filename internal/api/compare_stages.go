package api

import (
	"net/http"

	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/view"
)

// log is the checkpoints of a study, by page.
func (s *Server) log(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r)
	branch := p.text("branch", 200)
	window(p, 0, 500, 100) // a fault is told before the quest is looked for
	b, done, err := s.opened(r, p)
	if err != nil {
		return err
	}
	defer done()
	all, ok := b.Log(b.state, branch)
	if !ok {
		return badParameter("branch", "quest %s has no line of work %.80q", b.name, branch)
	}
	total := int64(len(all))
	from, to := window(p, total, 500, 100)
	out := struct {
		Checkpoints []view.Checkpoint `json:"checkpoints"`
		Total       int64             `json:"total"`
		Next        *int64            `json:"next,omitempty"`
		Previous    *int64            `json:"previous,omitempty"`
	}{Checkpoints: all[from:to], Total: total}
	if to < total {
		out.Next = new(to - 1)
	}
	if from > 0 {
		out.Previous = &from
	}
	return s.sendAndClose(w, out, done)
}

// sides reads what a comparison is about: the parameters base and head, and further ones by name.
func (s *Server) sides(r *http.Request, further ...string) (*view.Sides, []string, error) {
	p := paramsOf(r)
	names := []string{p.text("base", 200), p.text("head", 200)}
	var more []string
	for _, name := range further {
		more = append(more, p.text(name, 4096))
	}
	b, done, err := s.opened(r, p)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	out, lacks := b.Sides(b.state, names[0], names[1])
	if out == nil {
		field := "base"
		if lacks != names[0] {
			field = "head"
		}
		return nil, nil, badParameter(field, "quest %s has no line of work, result or checkpoint %.80q", b.name, lacks)
	}
	return out, more, nil
}

// comparedFile is a file in which two lines of work differ.
type comparedFile struct {
	Path    string `json:"path"`
	Kind    string `json:"kind"`
	Added   int64  `json:"added"`
	Removed int64  `json:"removed"`
	Binary  bool   `json:"binary"`
}

// maxCompared is how many files of a comparison are listed.
const maxCompared = 500

// compareBranches sets two lines of work side by side.
func (s *Server) compareBranches(w http.ResponseWriter, r *http.Request) error {
	sides, _, err := s.sides(r)
	if err != nil {
		return err
	}
	files, more, err := s.rt.Differences(r.Context(), sides.Base.Tree, sides.Head.Tree, "", maxCompared)
	if err != nil {
		return err
	}
	out := struct {
		*view.Sides
		Files   []comparedFile `json:"files"`
		More    int64          `json:"more"`
		Added   int64          `json:"added"`
		Removed int64          `json:"removed"`
	}{Sides: sides, Files: []comparedFile{}, More: more}
	for _, f := range files {
		out.Files = append(out.Files, comparedFile{f.Path, f.Kind, f.Added, f.Removed, !f.Text})
		out.Added, out.Removed = out.Added+f.Added, out.Removed+f.Removed
	}
	return s.send(w, http.StatusOK, out)
}

// fileDiff is how a file differs between two lines of work.
type fileDiff struct {
	Path      string `json:"path"`
	Kind      string `json:"kind"`
	Patch     string `json:"patch"`
	Binary    bool   `json:"binary"`
	Added     int64  `json:"added"`
	Removed   int64  `json:"removed"`
	Truncated bool   `json:"truncated"`
}

// maxPatch is how many bytes of a patch are sent.
const maxPatch = 256 << 10

// diffBranches shows how one file differs between two lines of work.
func (s *Server) diffBranches(w http.ResponseWriter, r *http.Request) error {
	sides, more, err := s.sides(r, "path")
	if err != nil {
		return err
	}
	path := more[0]
	if path == "" {
		return badParameter("path", "say which file: compare lists those that differ")
	}
	files, _, err := s.rt.Differences(r.Context(), sides.Base.Tree, sides.Head.Tree, path, 1)
	if err != nil {
		return err
	}
	out := fileDiff{Path: path, Kind: "same"}
	if len(files) > 0 {
		f := files[0]
		patch := runtime.Clean(string(f.Patch))
		out = fileDiff{f.Path, f.Kind, event.Cut(patch, maxPatch), !f.Text, f.Added, f.Removed, len(patch) > maxPatch}
	}
	return s.send(w, http.StatusOK, out)
}
