package api

import (
	"io/fs"
	"mime"
	"net/http"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// page serves the built web application: index.html, its icon, and what is below assets.
// Where in the application a person is stands behind the # and is never sent.
type page struct {
	files fs.FS
}

func newPage(files fs.FS) *page { return &page{files} }

// hashed are names that change with their content, so that a browser may keep them.
var hashed = regexp.MustCompile(`[-.][A-Za-z0-9_-]{8,}\.[a-z0-9]+$`)

func (p *page) serve(w http.ResponseWriter, r *http.Request) error {
	name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
	if name == "" {
		name = "index.html"
	}
	switch {
	case p.files == nil:
		http.Error(w, "This lyceum was built without its page. The API is at /api, see /api/openapi.json.", http.StatusNotFound)
	case !p.has(name):
		http.Error(w, "there is no such file", http.StatusNotFound)
	default:
		p.send(w, r, name)
	}
	return nil
}

// handbook serves the site of the documents, which say nothing of a home.
func (s *Server) handbook(w http.ResponseWriter, r *http.Request) error {
	p, name := newPage(s.opts.Docs), r.PathValue("file")
	if name == "" {
		name = "index.html"
	}
	if p.files == nil || !p.has(name) {
		http.Error(w, "there is no such document; all of them: /docs/", http.StatusNotFound)
		return nil
	}
	p.send(w, r, name)
	return nil
}

func (p *page) has(name string) bool {
	if !fs.ValidPath(name) {
		return false
	}
	info, err := fs.Stat(p.files, name)
	return err == nil && info.Mode().IsRegular()
}

// send writes a file, compressed if it was built so and the browser takes it.
func (p *page) send(w http.ResponseWriter, r *http.Request, name string) {
	h := w.Header()
	kind := mime.TypeByExtension(path.Ext(name))
	if kind == "" {
		kind = "application/octet-stream"
	}
	h.Set("Content-Type", kind)
	h.Set("Vary", "Accept-Encoding")
	h.Set("Cache-Control", "no-cache")
	if hashed.MatchString(name) {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	file := name
	for _, c := range []struct{ suffix, coding string }{{".br", "br"}, {".gz", "gzip"}} {
		if accepts(r, c.coding) && p.has(name+c.suffix) {
			h.Set("Content-Encoding", c.coding)
			file = name + c.suffix
			break
		}
	}
	data, err := fs.ReadFile(p.files, file)
	if err != nil {
		h.Del("Content-Encoding")
		http.Error(w, "the page is not there", http.StatusNotFound)
		return
	}
	h.Set("Content-Length", strconv.Itoa(len(data)))
	if r.Method == http.MethodGet {
		_, _ = w.Write(data)
	}
}

// accepts reports whether a browser takes a coding.
func accepts(r *http.Request, coding string) bool {
	for part := range strings.SplitSeq(r.Header.Get("Accept-Encoding"), ",") {
		name, quality, _ := strings.Cut(strings.TrimSpace(part), ";")
		if strings.EqualFold(strings.TrimSpace(name), coding) {
			return strings.ReplaceAll(quality, " ", "") != "q=0"
		}
	}
	return false
}
