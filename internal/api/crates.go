package api

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strings"
	"time"

	"lyceum/internal/crate"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// importRoute takes a crate, and so more bytes than others.
const importRoute = "POST /api/imports"

const (
	// maxUpload is how many bytes a crate may have that is sent, maxSpool how many all those may have that
	// are on their way in and out.
	maxUpload = 4 << 30
	maxSpool  = 8 << 30
)

// exportJob packs a quest into a file of the spool.
func (s *Server) exportJob(ctx context.Context, j *job, name string) (*spooled, func(*Job), error) {
	return s.packed(ctx, j, name, func(f *spooled) error {
		return crate.ExportWith(ctx, s.rt, name, f, crate.ExportOptions{Progress: func(done, of int64) { j.at(uint64(done), uint64(of)) }})
	})
}

// packed is a crate of that name in a file of the spool.
func (s *Server) packed(ctx context.Context, j *job, name string, pack func(*spooled) error) (*spooled, func(*Job), error) {
	f, err := s.jobs.spool.create(j.is.ID)
	if err != nil {
		return nil, nil, err
	}
	// Whether all can be packed is known at the end: only then may it be fetched.
	if err := errors.Join(pack(f), ctx.Err()); err != nil {
		f.release()
		return nil, nil, err
	}
	return f, func(is *Job) { is.Crate = &Crate{Name: name + ".zip", Bytes: f.size, SHA256: f.digest()} }, nil
}

// fetchCrate sends what an export has made.
func (s *Server) fetchCrate(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	j, err := s.jobs.find(callerOf(r), r.PathValue("job"))
	if err != nil {
		return err
	}
	s.jobs.mu.Lock()
	is, file := j.is, j.file
	held := file != nil && file.hold()
	s.jobs.mu.Unlock()
	if !held {
		return conflict("job %s has no crate to fetch: it is an %s that is %s", is.ID, is.Kind, is.State)
	}
	defer file.release()
	f, err := os.Open(file.path)
	if err != nil {
		return err
	}
	defer f.Close()
	head := w.Header()
	head.Set("Content-Type", "application/zip")
	head.Set("Content-Security-Policy", blobCSP)
	head.Set("ETag", `"`+is.Crate.SHA256+`"`)
	head.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": is.Crate.Name}))
	r = r.Clone(r.Context())
	r.Header.Del("Range") // it is one file, whole: who was cut off fetches it again
	http.ServeContent(&patientWriter{ResponseWriter: w, rc: http.NewResponseController(w), stall: s.opts.Stall, now: runtime.SystemClock}, r, "", time.Time{}, f)
	return nil
}

// patientWriter gives a reader time for each write instead of for all of them: a large file on a slow line takes long.
type patientWriter struct {
	http.ResponseWriter
	rc    *http.ResponseController
	stall time.Duration
	now   func() event.Time
}

func (w *patientWriter) Write(p []byte) (int, error) {
	_ = w.rc.SetWriteDeadline(w.now().Time().Add(w.stall)) // a recorder of a test has none
	return w.ResponseWriter.Write(p)
}

// importQuest takes a crate that is sent, onto the disk, and has it checked and taken over by a job.
func (s *Server) importQuest(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r)
	as := p.text("as", 100)
	if err := p.done(); err != nil {
		return err
	}
	if as != "" && !event.ValidName(as) {
		return badParameter("as", "%.80q is not a quest's name: want %s", as, event.NameRule)
	}
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); strings.TrimSpace(kind) != "application/zip" {
		return problemf(http.StatusBadRequest, "Content-Type", "the body must be application/zip: a file that lyceum export wrote")
	}
	is := Job{Kind: jobImport, State: jobReceiving, Unit: "bytes", Of: uint64(max(r.ContentLength, 0))}
	j, ctx, err := s.jobs.begin(s.ctx, callerOf(r), is)
	if err != nil {
		return err
	}
	f, err := s.receive(ctx, w, r, j)
	if err != nil {
		state := jobFailed
		if ctx.Err() != nil {
			state, err = jobEnded, problemf(http.StatusServiceUnavailable, "", "the upload was ended: nothing was taken over")
		}
		// Whoever sent it may have gone: the job says so to others who look.
		j.end(state, nil, func(is *Job) { is.Error = s.jobError(jobImport, err) })
		return err
	}
	j.tell(func(is *Job) { is.State, is.Unit, is.Done, is.Of = jobWaiting, "events", 0, 0 })
	started := j.now()
	s.background(ctx, j, f.release, func(ctx context.Context) (*spooled, func(*Job), error) {
		name, err := s.takeOver(ctx, j, f, as)
		return nil, func(is *Job) { is.Quest = name }, err
	})
	return s.send(w, http.StatusAccepted, started)
}

// receive writes the body of a request to the spool. A caller may take its time for all of it, but not for
// a part.
func (s *Server) receive(ctx context.Context, w http.ResponseWriter, r *http.Request, j *job) (*spooled, error) {
	f, err := s.jobs.spool.create(j.is.ID)
	if err != nil {
		return nil, err
	}
	rc := http.NewResponseController(w)
	// Who waits for more of the body is woken when the job is ended.
	stop := context.AfterFunc(ctx, func() { _ = rc.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	var got uint64
	buf := make([]byte, 256<<10)
	for {
		if ctx.Err() == nil {
			_ = rc.SetReadDeadline(runtime.SystemClock().Time().Add(s.opts.Stall))
		}
		n, err := r.Body.Read(buf)
		if n > 0 {
			if _, err := f.Write(buf[:n]); err != nil {
				f.release()
				return nil, err
			}
			got += uint64(n)
			j.tell(func(is *Job) { is.Done, is.Of = got, max(got, is.Of) })
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			f.release()
			return nil, cutOff(err, got)
		}
	}
	_ = rc.SetWriteDeadline(runtime.SystemClock().Time().Add(s.opts.Stall))
	return f, nil
}

// cutOff is an upload that did not come to its end.
func cutOff(err error, got uint64) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return err
	}
	return problemf(http.StatusBadRequest, "", "the upload broke off after %d bytes (%v): send it again", got, err)
}

// takeOver checks a crate as lyceum import does, and makes its quest.
func (s *Server) takeOver(ctx context.Context, j *job, f *spooled, as string) (string, error) {
	// Blobs come before their quest. Nobody tidies up meanwhile, and what a killed server leaves of them goes
	// with the next tidying.
	s.changing.RLock()
	s.importing.Add(1)
	s.changing.RUnlock()
	err := s.rt.Litter()
	var st *quest.State
	if err == nil {
		st, err = crate.Import(ctx, s.rt, f.file, f.size, crate.ImportOptions{As: as, Progress: j.at})
	}
	s.importing.Add(-1)
	if err != nil {
		s.work.Go(func() { s.Tidy(s.ctx) })
		return "", err
	}
	name := as
	if name == "" {
		name = st.Name
	}
	s.noted(name, st)
	return name, nil
}
