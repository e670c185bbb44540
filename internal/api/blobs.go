package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/media"
)

// rasters are the images that a browser may show: none of them can hold a script.
var rasters = []string{"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp"}

// blobCSP keeps a browser from doing anything with a blob but showing it.
const blobCSP = "default-src 'none'; style-src 'none'; img-src 'self'; sandbox"

// maxWhole is up to which size a blob is read into memory and checked before a byte of
// it is sent. A larger one is checked first, by reading it once, and then sent.
const maxWhole = 4 << 20

// blob answers with the bytes under a hash. They are an agent's, or a stranger's: what
// they claim to be counts for nothing.
func (s *Server) blob(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r)
	name := p.text("name", 255)
	if err := p.done(); err != nil {
		return err
	}
	h, err := event.ParseHash(r.PathValue("hash"))
	if err != nil {
		return missing("%.80q is not a hash: want 64 hex digits", r.PathValue("hash"))
	}
	if err := s.within(r, h, (*reach).holds); err != nil {
		return err
	}
	content, closeIt, err := s.content(r.Context(), h)
	if err != nil {
		return err
	}
	defer closeIt()
	kind, image, err := sniff(content)
	if err != nil {
		return err
	}
	head := w.Header()
	head.Set("Content-Type", kind)
	head.Set("Content-Security-Policy", blobCSP)
	head.Set("Cache-Control", "private, max-age=31536000, immutable")
	head.Set("ETag", `"`+h.String()+`"`)
	if !image {
		head.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": media.FileName(name, h.String()[:16])}))
	}
	if strings.Contains(r.Header.Get("Range"), ",") { // several are answered with all of it
		r = r.Clone(r.Context())
		r.Header.Del("Range")
	}
	if r.Header.Get("Range") != "" {
		w = &rangeRefusal{ResponseWriter: w, server: s, request: r}
	}
	http.ServeContent(w, r, "", time.Time{}, content)
	return nil
}

// rangeRefusal says in our own words that a range cannot be had.
type rangeRefusal struct {
	http.ResponseWriter
	server  *Server
	request *http.Request
	refused bool
}

func (w *rangeRefusal) WriteHeader(code int) {
	if code == http.StatusRequestedRangeNotSatisfiable {
		w.refused = true
		w.Header().Del("Content-Disposition")
		w.server.fail(w.ResponseWriter, w.request, problemf(code, "Range", "there is no such range of this blob"))
		return
	}
	w.ResponseWriter.WriteHeader(code)
}

func (w *rangeRefusal) Write(p []byte) (int, error) {
	if w.refused {
		return len(p), nil
	}
	return w.ResponseWriter.Write(p)
}

// content opens a blob, wherever it is kept, once it is known to be whole.
func (s *Server) content(ctx context.Context, h event.Hash) (io.ReadSeeker, func(), error) {
	data, err := s.rt.Ledger.Blob(ctx, h)
	if err == nil {
		if event.HashOf(data) != h {
			return nil, nil, &blob.DamageError{Hash: h, Where: "the ledger's database"}
		}
		return bytes.NewReader(data), func() {}, nil
	}
	if !errors.Is(err, ledger.ErrNoBlob) {
		return nil, nil, err
	}
	size, err := s.measure(ctx, h)
	if errors.Is(err, blob.ErrNotFound) && s.rt.IsRedacted(ctx, h) {
		return strings.NewReader(event.Redacted), func() {}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if size <= maxWhole {
		data, err := s.rt.Blobs.Get(ctx, h)
		return bytes.NewReader(data), func() {}, err
	}
	f := &far{ctx: ctx, store: s.rt.Blobs, hash: h, size: size}
	return f, f.close, nil
}

// measure reads a blob to its end, which checks it.
func (s *Server) measure(ctx context.Context, h event.Hash) (int64, error) {
	in, err := s.rt.Blobs.Open(ctx, h)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	return io.Copy(io.Discard, in)
}

// far is a large blob that can be read from any place: by reading on from where it
// stands, by beginning there if the store can, or again from the beginning.
type far struct {
	ctx   context.Context
	store blob.Store
	hash  event.Hash
	size  int64
	at    int64 // where the caller wants to read
	in    io.ReadCloser
	stood int64 // where in stands
}

func (f *far) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.at
	case io.SeekEnd:
		offset += f.size
	}
	if offset < 0 {
		return 0, fmt.Errorf("seek to %d in blob %s", offset, f.hash)
	}
	f.at = offset
	return offset, nil
}

func (f *far) Read(p []byte) (int, error) {
	if f.at >= f.size {
		return 0, io.EOF
	}
	if f.in == nil || f.stood != f.at {
		if err := f.begin(); err != nil {
			return 0, err
		}
	}
	if f.stood < f.at {
		n, err := io.CopyN(io.Discard, f.in, f.at-f.stood)
		f.stood += n
		if err != nil {
			return 0, err
		}
	}
	n, err := f.in.Read(p)
	f.stood += int64(n)
	f.at = f.stood
	return n, err
}

// begin opens the blob where the caller wants to read, or before that.
func (f *far) begin() (err error) {
	if at, ok := f.store.(blob.Ranger); ok {
		f.close()
		f.stood = f.at
		f.in, err = at.OpenAt(f.ctx, f.hash, f.at)
		return err
	}
	if f.in != nil && f.stood < f.at {
		return nil // what is between is passed over
	}
	f.close()
	f.stood = 0
	f.in, err = f.store.Open(f.ctx, f.hash)
	return err
}

func (f *far) close() {
	if f.in != nil {
		_ = f.in.Close()
		f.in = nil
	}
}

// sniff says what to call content: a raster image by its first bytes, plain text if
// they are text, and bytes otherwise. Never anything that a browser would run.
func sniff(content io.ReadSeeker) (kind string, image bool, err error) {
	var first [512]byte
	n, err := io.ReadFull(content, first[:])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", false, err
	}
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return "", false, err
	}
	kind, _, _ = strings.Cut(http.DetectContentType(first[:n]), ";")
	if slices.Contains(rasters, kind) {
		return kind, true, nil
	}
	if strings.HasPrefix(kind, "text/") {
		return "text/plain; charset=utf-8", false, nil
	}
	return "application/octet-stream", false, nil
}

// entry is one name in a folder.
type entry struct {
	Name       string `json:"name"`
	Kind       string `json:"kind"`
	Size       int64  `json:"size"`
	Executable bool   `json:"executable"`
	Hash       string `json:"hash,omitempty"`
	Target     string `json:"target,omitempty"`
}

// folder is one, by its hash.
type folder struct {
	Tree    string  `json:"tree"`
	At      *uint64 `json:"at,omitempty"`
	Path    string  `json:"path"`
	Entries []entry `json:"entries"`
	Empty   bool    `json:"empty,omitempty"`
}

func (s *Server) tree(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r)
	below := p.text("path", 4096)
	if err := p.done(); err != nil {
		return err
	}
	h, err := event.ParseHash(r.PathValue("hash"))
	if err != nil {
		return missing("%.80q is not a hash: want 64 hex digits", r.PathValue("hash"))
	}
	if err := s.within(r, h, (*reach).lists); err != nil {
		return err
	}
	size, err := s.measure(r.Context(), h)
	if err != nil {
		return err
	}
	out, err := s.folder(r.Context(), event.TreeRef{Hash: h, Size: size}, below)
	if err != nil {
		return err
	}
	return s.send(w, http.StatusOK, out)
}

// files answers with a folder of an agent's home as it was after an event.
func (s *Server) files(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r)
	at, below := uint64(p.number("at", 0, maxSeq, 0)), p.text("path", 4096)
	if err := p.done(); err != nil {
		return err
	}
	b, a, done, err := s.openAgent(r)
	if err != nil {
		return err
	}
	head := b.state.Seq
	if at == 0 {
		at = head
	}
	tree := b.Spaces.At(a.Name, at)
	done()
	if at > head {
		return badParameter("at", "there is no event %d: the last is %d", at, head)
	}
	if tree == nil {
		return s.send(w, http.StatusOK, folder{Tree: event.HashOf(emptyTree()).String(), At: &at, Entries: []entry{}, Empty: true})
	}
	out, err := s.folder(r.Context(), *tree, below)
	if err != nil {
		return err
	}
	out.At = &at
	return s.send(w, http.StatusOK, out)
}

func emptyTree() []byte {
	data, _ := blob.Tree{}.Encode() // nothing to refuse
	return data
}

// folder walks down from a tree, name by name, and lists where it ends. A path can name
// only what trees list: there is no other way down, and none up.
func (s *Server) folder(ctx context.Context, ref event.TreeRef, below string) (*folder, error) {
	out := &folder{Path: strings.Trim(below, "/"), Entries: []entry{}}
	tree, err := s.listing(ctx, ref)
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(out.Path, "/") {
		if name == "" {
			continue
		}
		i := slices.IndexFunc(tree, func(e blob.Entry) bool { return e.Name == name && e.Kind == blob.Dir })
		if i < 0 {
			return nil, missing("there is no folder %.80q in that tree", below)
		}
		ref = event.TreeRef{Hash: tree[i].Hash, Size: tree[i].Size}
		if tree, err = s.listing(ctx, ref); err != nil {
			return nil, err
		}
	}
	out.Tree = ref.Hash.String()
	for _, e := range tree {
		one := entry{Name: e.Name, Kind: string(e.Kind), Size: e.Size, Executable: e.Mode == blob.ModeExec, Target: e.Target}
		if e.Kind != blob.Link {
			one.Hash = e.Hash.String()
		}
		out.Entries = append(out.Entries, one)
	}
	return out, nil
}

// maxListing is how large the list of one folder may be to be shown.
const maxListing = 8 << 20

func (s *Server) listing(ctx context.Context, ref event.TreeRef) (blob.Tree, error) {
	if ref.Size > maxListing {
		return nil, conflict("the folder has too many entries to be shown: look at it on the disk, or in an export")
	}
	data, err := s.rt.Blobs.Get(ctx, ref.Hash)
	if err != nil {
		return nil, err
	}
	tree, err := blob.ParseTree(data)
	if err != nil {
		return nil, missing("blob %s is not a folder", ref.Hash)
	}
	return tree, nil
}
