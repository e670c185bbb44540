package api

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/vouch"
)

// The kinds of jobs.
const (
	jobVerify = "verify"
	jobReplay = "replay"
	jobExport = "export"
	jobImport = "import"
)

// The states of a job. The last three are for ever.
const (
	jobReceiving = "receiving"
	jobWaiting   = "waiting"
	jobRunning   = "running"
	jobDone      = "done"
	jobFailed    = "failed"
	jobEnded     = "ended"
)

// maxExamining is how many quests are examined, packed or unpacked at a time: each takes a processor.
const maxExamining = 2

const (
	// maxJobs is how many jobs may be under way, callerJobs how many of them a caller may have who is not
	// the owner.
	maxJobs, callerJobs = 16, 4
	// keptJobs is how many that are over are remembered, keepJob for how long, with what they made.
	keptJobs = 32
	keepJob  = 30 * time.Minute
)

// Job is something that takes long, which the server does for a caller. It ends with the server.
type Job struct {
	ID   string `json:"id"`
	Kind string `json:"kind"`
	// Quest is what it is about, or Study. An import has one when it is done.
	Quest string `json:"quest,omitempty"`
	Study string `json:"study,omitempty"`
	State string `json:"state"`
	// Done is how far it is, of Of, which is 0 as long as nobody knows; Unit is events or bytes.
	Done    uint64     `json:"done"`
	Of      uint64     `json:"of"`
	Unit    string     `json:"unit"`
	Started event.Time `json:"started"`
	Over    event.Time `json:"over,omitzero"`
	// Checked is what verify and replay found, Crate what export made, Error why it failed.
	Checked *Checked  `json:"checked,omitempty"`
	Crate   *Crate    `json:"crate,omitempty"`
	Error   *JobError `json:"error,omitempty"`
}

// Checked is what a check found.
type Checked struct {
	// Verdict is consistent or identical, or differs.
	Verdict string `json:"verdict"`
	*audit.Report
	// Proof is what checkpoints say of a quest that verifies.
	Proof *vouch.Proven `json:"proof,omitempty"`
}

// Crate is an exported quest that can be fetched.
type Crate struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// JobError says why a job failed. Code is one of those of errors, or failed.
type JobError struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// jobs are those of a server, in memory alone.
type jobs struct {
	clock func() event.Time
	spool *spool
	// mu guards the list, which has the oldest first, and the Job of each. closed is set by close: no more
	// begin.
	mu     sync.Mutex
	list   []*job
	closed bool
}

// job is one of them.
type job struct {
	jobs *jobs
	// who started it, and how it is told to end.
	who    caller
	cancel context.CancelFunc
	// gone is closed when nothing of it goes on.
	gone chan struct{}
	// is, file and forget are guarded by the mutex of jobs. file is what export made, forget the timer by
	// which it goes.
	is     Job
	file   *spooled
	forget *time.Timer
}

func (j *job) over() bool { return j.is.Over != 0 }

// begin makes a job, if there is room for one more.
func (js *jobs) begin(ctx context.Context, who caller, is Job) (*job, context.Context, error) {
	js.mu.Lock()
	defer js.mu.Unlock()
	all, theirs := 0, 0
	for _, j := range js.list {
		if !j.over() {
			all++
			if j.who.key() == who.key() {
				theirs++
			}
		}
	}
	switch {
	case js.closed:
		return nil, nil, errClosing
	case who.Scope != owner && theirs >= callerJobs:
		return nil, nil, problemf(http.StatusTooManyRequests, "", "%d jobs of this token are under way: wait until one is done, or end one (DELETE /api/jobs/{job})", theirs)
	case all >= maxJobs:
		return nil, nil, problemf(http.StatusTooManyRequests, "", "%d jobs are under way, and more would only wait: try again when one is done (GET /api/jobs)", all)
	}
	is.ID, is.Started = rand.Text(), js.clock()
	ctx, cancel := context.WithCancel(ctx)
	j := &job{jobs: js, who: who, cancel: cancel, gone: make(chan struct{}), is: is}
	js.list = append(js.list, j)
	return j, ctx, nil
}

// tell changes what is said of a job.
func (j *job) tell(change func(*Job)) {
	j.jobs.mu.Lock()
	change(&j.is)
	j.jobs.mu.Unlock()
}

// at says how far a job is.
func (j *job) at(done, of uint64) {
	j.tell(func(is *Job) { is.Done, is.Of = done, max(done, of) })
}

// now is what is said of a job at the moment.
func (j *job) now() Job {
	j.jobs.mu.Lock()
	defer j.jobs.mu.Unlock()
	return j.is
}

// end is called once, when nothing of the job goes on. Only what was done whole has a file.
func (j *job) end(state string, file *spooled, change func(*Job)) {
	js := j.jobs
	js.mu.Lock()
	j.is.State, j.is.Over = state, js.clock()
	change(&j.is)
	if j.file = file; !js.closed {
		j.forget = time.AfterFunc(keepJob, func() { js.drop(j) })
	}
	var old []*job
	for _, o := range js.list {
		if o.over() {
			old = append(old, o)
		}
	}
	js.mu.Unlock()
	j.cancel()
	close(j.gone)
	for _, o := range old[:max(0, len(old)-keptJobs)] {
		js.drop(o)
	}
}

// drop forgets a job that is over, and removes what it made.
func (js *jobs) drop(j *job) {
	js.mu.Lock()
	file := j.file
	j.file = nil
	if j.forget != nil {
		j.forget.Stop()
	}
	js.list = slices.DeleteFunc(js.list, func(o *job) bool { return o == j })
	js.mu.Unlock()
	if file != nil {
		file.release()
	}
}

// sees reports whether a caller may look at a job: whoever may read its quest. What is about no quest
// is the owner's.
func (js *jobs) sees(who caller, j *job) bool {
	if j.is.Kind == jobImport {
		return who.Scope == owner
	}
	return who.allows(read, j.is.Quest)
}

// find is a job that a caller may look at.
func (js *jobs) find(who caller, id string) (*job, error) {
	js.mu.Lock()
	defer js.mu.Unlock()
	for _, j := range js.list {
		if j.is.ID == id && js.sees(who, j) {
			return j, nil
		}
	}
	return nil, missing("there is no job %.80q: jobs end with the server that runs them, and are forgotten half an hour after they are over; start it again", id)
}

// close ends all jobs; those that receive something are told that the server goes.
func (js *jobs) close() {
	js.mu.Lock()
	js.closed = true
	all := slices.Clone(js.list)
	for _, j := range all {
		if j.forget != nil {
			j.forget.Stop()
		}
	}
	js.mu.Unlock()
	for _, j := range all {
		j.cancel()
	}
}

// background runs a job to its end. do returns what the job made, a file of the spool or nil, and what to
// say of it. after is called when nothing goes on any more, also of a job whose turn never came.
func (s *Server) background(ctx context.Context, j *job, after func(), do func(context.Context) (*spooled, func(*Job), error)) {
	s.work.Go(func() {
		file, change, err := s.inTurn(ctx, j, do)
		after()
		switch {
		case err == nil:
			j.end(jobDone, file, change)
		case ctx.Err() != nil:
			j.end(jobEnded, nil, func(*Job) {})
		default:
			j.end(jobFailed, nil, func(is *Job) { is.Error = s.jobError(is.Kind, err) })
		}
	})
}

// inTurn waits until a processor is free for a job. A job that breaks is that job's failure.
func (s *Server) inTurn(ctx context.Context, j *job, do func(context.Context) (*spooled, func(*Job), error)) (file *spooled, change func(*Job), err error) {
	defer func() {
		if p := recover(); p != nil {
			s.opts.Log.Printf("job %s of %s: panic: %v", j.is.Kind, j.is.Quest, p)
			file, change, err = nil, nil, errors.New("something broke while this was done: it is in the server's log")
		}
	}()
	done, err := s.turn(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	j.tell(func(is *Job) { is.State = jobRunning })
	return do(ctx)
}

// turn waits until a quest may be examined, and done says that it was.
func (s *Server) turn(ctx context.Context) (done func(), err error) {
	select {
	case s.examining <- struct{}{}:
		return func() { <-s.examining }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// jobError is an error as a caller is told it: what it was about, and what can be done.
func (s *Server) jobError(kind string, err error) *JobError {
	p := asProblem(err)
	out := &JobError{Code: codes[p.status], Message: s.discreet(p.text, "")}
	if p.status == http.StatusInternalServerError {
		out.Code = "failed"
		s.opts.Log.Printf("job %s: %v", kind, err)
	}
	switch {
	case kind != jobImport:
	case p.status == http.StatusConflict:
		out.Message += "; nothing was taken over: send it again with another name (as)"
	case p.status == http.StatusInternalServerError:
		out.Message += "; nothing was taken over. If the file should be good, have it exported again, and compare: lyceum verify <file.zip>"
	}
	return out
}

// jobRoutes are those of jobs. They may last, and hold nothing that others wait for meanwhile.
func (s *Server) jobRoutes() []route {
	return []route{
		{"POST /api/quests/{quest}/jobs", read, s.startJob},
		{"POST /api/studies/{study}/jobs", read, s.startStudyJob},
		{importRoute, admin, s.importQuest},
		{"GET /api/jobs", known, s.listJobs},
		{"GET /api/jobs/{job}", known, s.job},
		{"DELETE /api/jobs/{job}", known, s.endJob},
		{"GET /api/jobs/{job}/crate", known, s.fetchCrate},
	}
}

// NewJob is what a caller wants done with a quest.
type NewJob struct {
	Kind string `json:"kind"`
}

func (s *Server) startJob(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	name := r.PathValue("quest")
	if !event.ValidName(name) {
		return missing("%.80q is not a quest's name: want %s", name, event.NameRule)
	}
	var n NewJob
	if err := decode(r, &n); err != nil {
		return err
	}
	if !slices.Contains([]string{jobVerify, jobReplay, jobExport}, n.Kind) {
		return badParameter("kind", "%.30q: want %s, %s or %s", n.Kind, jobVerify, jobReplay, jobExport)
	}
	head, err := s.rt.Ledger.Head(r.Context(), name)
	if err != nil {
		return err
	}
	is := Job{Kind: n.Kind, Quest: name, State: jobWaiting, Unit: "events", Of: head.Seq}
	if n.Kind == jobExport {
		is.Unit, is.Of = "bytes", 0
	}
	j, ctx, err := s.jobs.begin(s.ctx, callerOf(r), is)
	if err != nil {
		return err
	}
	started := j.now()
	s.background(ctx, j, func() {}, func(ctx context.Context) (*spooled, func(*Job), error) {
		if n.Kind == jobExport {
			return s.exportJob(ctx, j, name)
		}
		checked, err := s.check(ctx, n.Kind, name, func(seq uint64) { j.at(seq, max(seq, head.Seq)) })
		if err == nil {
			err = s.remember(ctx, name, n.Kind, checked)
		}
		return nil, func(is *Job) {
			is.Checked, is.Done, is.Of = checked, checked.Events, checked.Events
		}, err
	})
	return s.send(w, http.StatusAccepted, started)
}

func (s *Server) listJobs(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	who, out := callerOf(r), []Job{}
	s.jobs.mu.Lock()
	for _, j := range s.jobs.list {
		if s.jobs.sees(who, j) {
			is := j.is
			is.Checked = nil // GET of the one job has it: lists are asked for often
			out = append(out, is)
		}
	}
	s.jobs.mu.Unlock()
	return s.send(w, http.StatusOK, struct {
		Jobs []Job `json:"jobs"`
	}{out})
}

func (s *Server) job(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	j, err := s.jobs.find(callerOf(r), r.PathValue("job"))
	if err != nil {
		return err
	}
	return s.send(w, http.StatusOK, j.now())
}

// endJob ends a job and forgets it. The answer says how it ended: it may have been done just then.
func (s *Server) endJob(w http.ResponseWriter, r *http.Request) error {
	if err := none(r); err != nil {
		return err
	}
	who := callerOf(r)
	j, err := s.jobs.find(who, r.PathValue("job"))
	if err != nil {
		return err
	}
	if who.Scope != owner && who.key() != j.who.key() {
		return problemf(http.StatusForbidden, "Authorization", "this job was started with another token: it is for that one to end, or for the home's own")
	}
	j.cancel()
	select {
	case <-j.gone:
	case <-r.Context().Done():
		return r.Context().Err()
	}
	s.jobs.drop(j)
	return s.send(w, http.StatusOK, j.now())
}

// check has a whole quest looked at, as lyceum verify and lyceum replay do.
func (s *Server) check(ctx context.Context, kind, name string, progress func(uint64)) (*Checked, error) {
	examine, good := audit.Verify, audit.Consistent
	if kind == jobReplay {
		examine, good = audit.Replay, "identical"
	}
	rep, err := examine(ctx, s.rt, name, progress)
	if err != nil {
		return nil, err
	}
	out := &Checked{Verdict: good, Report: rep}
	if rep.Difference != nil {
		out.Verdict = "differs"
	} else if kind == jobVerify {
		if out.Proof, err = s.prove(ctx, name); err != nil {
			return nil, err
		}
		if len(out.Proof.Missing) > 0 {
			out.Verdict = "differs"
		}
	}
	return out, nil
}

func (s *Server) prove(ctx context.Context, name string) (*vouch.Proven, error) {
	known, err := s.opts.Believed(ctx)
	if err != nil {
		return nil, fmt.Errorf("whom this home believes cannot be read: %w", err)
	}
	p, err := vouch.Prove(ctx, s.rt.Ledger, name, known, nil)
	if err != nil {
		return nil, err
	}
	p.Checkpoints = p.Checkpoints[max(0, len(p.Checkpoints)-maxCheckpoints):]
	return p, nil
}

// maxCheckpoints is how many of a quest's checkpoints are sent, the last: all are judged.
const maxCheckpoints = 100
