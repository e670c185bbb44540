// Package api serves quests over HTTP: JSON for reading and for orders, a live stream
// of events, and the page.
//
// It has no truth of its own. What it answers is computed from ledgers, and an order
// becomes an input of a quest, through the quest's inbox if another process has it. So
// a server can be killed at any moment: readers of a stream go on from the last seq
// they saw, and quests that the server ran go on when it is started again.
//
// Everything that a caller sends is hostile until checked: who asks (guard, by the table of
// routes, where what is not listed is closed), what for (parameters and bodies are read
// strictly), and how much (bodies, pages and buffers are bounded). A reader that is too
// slow is cut off and told so; it disturbs nobody.
package api

import (
	"context"
	_ "embed"
	"errors"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/ledger"
	mcpserver "lyceum/internal/mcp/server"
	"lyceum/internal/proof"
	"lyceum/internal/runtime"
	"lyceum/internal/scratch"
)

//go:embed openapi.json
var document []byte

// Document is the OpenAPI description of all that this package serves.
func Document() []byte { return document }

// Options are what a server can be told. The zero value serves the API on loopback
// names, without a page.
type Options struct {
	// Token is what programs must bring. An empty one lets nobody in.
	Token string
	// Hosts are further names under which the server is reached.
	Hosts []string
	// Secure says that browsers reach it by TLS, so that the cookie is sent by that
	// alone.
	Secure bool
	// Page is the built web application, nil for none.
	Page fs.FS
	// Docs is the site of the documents, below /docs/, nil for none.
	Docs fs.FS
	// Examples are folders with a quest.yaml each, nil for none.
	Examples fs.FS
	// Model is what a spec without a model gets.
	Model string
	// Cost is a limit in dollars for quests that have none and are run by other programs,
	// five if it is empty.
	Cost string
	// Repos are folders of this machine that quests may work on, by name. A request can name
	// no other.
	Repos map[string]string
	// Settings and Doctor say what the configuration is and what works on this machine, to the
	// owner alone; nil for a server that is not told.
	Settings func(context.Context) (*Settings, error)
	Doctor   func(context.Context) (*Doctor, error)
	// Models are those that a form offers, nil for none.
	Models func(context.Context) ([]Offer, error)
	// Studies opens the ledgers of the home's studies, again and again; without mayCreate a home that
	// has none is conduct.ErrNone. nil is a server without studies.
	Studies func(mayCreate bool) (ledger.Store, error)
	// Log is told what broke, in a line each; nil throws it away.
	Log *log.Logger
	// Heartbeat is how often a silent stream says that it is alive, 10 seconds if zero.
	Heartbeat time.Duration
	// Buffer is how many bytes of a quest's stream are kept for its readers; one that
	// falls behind by more is cut off. 8 MiB if zero.
	Buffer int
	// Failures is how many wrong credentials an address may bring in a row, 20 if zero.
	Failures int
	// Stall is how long a reader may leave a write of its stream unread, 30 seconds if
	// zero.
	Stall time.Duration
	// Streams is how many live streams one token may have open, 64 if zero. The owner may
	// have eight times as many.
	Streams int
	// Upload is how many bytes a crate may have that is sent, 4 GiB if zero; Spool how many all may have
	// on disk that are sent and fetched, 8 GiB if zero.
	Upload, Spool int64
	// Address is where others reach this server, and QuestRoom how many quests it runs at once, 64 if
	// zero. Both matter only where nodes share a ledger.
	Address   string
	QuestRoom int
	// Believed is whose signatures count; nil believes nobody.
	Believed func(context.Context) (proof.Known, error)
}

// Server answers requests. It is an http.Handler.
type Server struct {
	rt   *runtime.Runtime
	opts Options
	mux  *http.ServeMux
	// rows are the table of routes, by pattern. It is written before the first request.
	rows   map[string]*route
	guard  *guard
	keeper *Keeper
	// conductor has studies under way; surveyed is what was last said of each, by its name.
	conductor *conductor
	surveyed  sync.Map
	shelf     *shelf
	// scan is how many events are looked at for one page, body how many bytes a request
	// may bring.
	scan uint64
	body int64
	// Requests that write hold changing for reading; Tidy takes it to delete blobs no
	// ledger refers to.
	changing sync.RWMutex
	// saving is held while a document is saved: of two at once the second finds the first.
	saving sync.Mutex
	// glances are what the list says of quests, by their names.
	glances sync.Map
	// noFiles is the folder of quests that are made of no files.
	noFiles func() (*scratch.Folder, error)
	// recalled says that what is kept of all quests was looked through once.
	recalled atomic.Bool
	reaches  reaches
	hub      *hub
	meter    *meter
	page     *page
	mcp      *mcpserver.Handler
	// examining is held by those who have a whole quest checked, packed or unpacked: so many at a time.
	// proving is for those who only want to know who signed one.
	examining, proving chan struct{}
	jobs               *jobs
	// importing is how many crates are being taken over: their blobs are no garbage. It grows while changing
	// is held for reading.
	importing atomic.Int64
	// ctx ends when the server closes, and with it all streams.
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup
}

// New returns a server of the quests of a runtime. Close lets go of them.
func New(rt *runtime.Runtime, opts Options) *Server {
	if opts.Heartbeat == 0 {
		opts.Heartbeat = 10 * time.Second
	}
	if opts.Buffer == 0 {
		opts.Buffer = 8 << 20
	}
	if opts.Stall == 0 {
		opts.Stall = 30 * time.Second
	}
	if opts.Streams == 0 {
		opts.Streams = 64
	}
	if opts.Failures == 0 {
		opts.Failures = 20
	}
	if opts.Upload == 0 {
		opts.Upload = maxUpload
	}
	if opts.Spool == 0 {
		opts.Spool = maxSpool
	}
	if opts.Believed == nil {
		opts.Believed = func(context.Context) (proof.Known, error) { return proof.Known{}, nil }
	}
	if opts.Log == nil {
		opts.Log = log.New(io.Discard, "", 0)
	}
	s := &Server{rt: rt, opts: opts, mux: http.NewServeMux(), rows: map[string]*route{}, meter: newMeter(), scan: maxScan, body: maxBody}
	// A server lives until Close: what it does for itself belongs to no request.
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.guard = newGuard(&opts, rt)
	s.shelf = newShelf(rt)
	s.noFiles = sync.OnceValues(func() (*scratch.Folder, error) { return scratch.New("", "lyceum-new-") })
	s.hub = newHub(s.ctx, rt, opts.Buffer)
	s.keeper = newKeeper(rt, s.hub, opts.Log, s.noted)
	s.keeper.shares(opts.Address, opts.QuestRoom)
	s.conductor = newConductor(s)
	s.page = newPage(opts.Page)
	s.mcp = s.newMCP(opts.Cost)
	s.examining, s.proving = make(chan struct{}, maxExamining), make(chan struct{}, maxExamining)
	s.jobs = &jobs{clock: rt.Clock, spool: newSpool(rt.Home, opts.Spool)}
	s.register()
	if rt.Lingers() > 0 {
		s.work.Go(func() { s.tidyBeside(s.ctx) })
	}
	return s
}

// Keeper is what runs this server's quests.
func (s *Server) Keeper() *Keeper { return s.keeper }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	rec := &recorder{ResponseWriter: w}
	defer func() { s.meter.count(rec, r) }() // r is another one once it has its caller
	defer func() {
		if p := recover(); p != nil {
			if p == http.ErrAbortHandler {
				panic(p)
			}
			// One request that breaks is that request's failure.
			s.opts.Log.Printf("%s %s: panic: %v", r.Method, r.Pattern, p)
			if rec.code == 0 {
				s.fail(rec, r, problemf(http.StatusInternalServerError, "", "something broke while this was answered: it is in the server's log"))
			}
		}
	}()
	headers(rec.Header())
	row := s.row(r)
	most := s.most(row)
	r, err := s.guard.admit(rec, r, row)
	if err != nil {
		s.fail(rec, r, err)
		return
	}
	if rec.code != 0 { // the guard has answered: a cookie was set
		return
	}
	if r.ContentLength > most { // not a byte of it need be read
		s.fail(rec, r, &http.MaxBytesError{Limit: most})
		return
	}
	if who := callerOf(r); who.Scope != (Scope{}) {
		proven(r, who)
	}
	r.Body = http.MaxBytesReader(rec, r.Body, most)
	s.mux.ServeHTTP(rec, r)
}

// HTTP returns a server for a listener, with limits on how long a caller may take. The
// stream lifts them for itself.
func (s *Server) HTTP() *http.Server {
	return &http.Server{
		Handler: s, ErrorLog: s.opts.Log,
		ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 2 * time.Minute, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 64 << 10,
		BaseContext:    func(net.Listener) context.Context { return s.ctx },
		ConnContext:    visited,
	}
}

// Warm reads the quests of the home, so that the first look at a long one is quick. It
// returns when they are read or the server closes.
func (s *Server) Warm() { s.shelf.warm(s.ctx) }

// Tidy removes what a removed quest has left, if nobody could be in need of it: no quest
// runs, and no other process has the home. What remains is for the next time. Stores that are collected
// beside everybody are not waited for: tidyBeside sees to them.
func (s *Server) Tidy(ctx context.Context) {
	if !s.rt.Garbage() || s.rt.Lingers() > 0 {
		return
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	if s.keeper.Running() > 0 || s.importing.Load() > 0 {
		return
	}
	if _, _, err := s.rt.Collect(ctx); err != nil && !errors.Is(err, blob.ErrBusy) && ctx.Err() == nil {
		s.opts.Log.Printf("%v", err)
	}
}

// lookForGarbage is how often a server looks whether something can be removed that had to linger.
const lookForGarbage = 6 * time.Hour

// tidyBeside removes what removed quests have left in stores that others may write to meanwhile, until ctx ends. It is there
// for as long as such stores keep what was put.
func (s *Server) tidyBeside(ctx context.Context) {
	for {
		if s.rt.Garbage() {
			if _, _, err := s.rt.Collect(ctx); err != nil && !errors.Is(err, blob.ErrBusy) && ctx.Err() == nil {
				s.opts.Log.Printf("%v", err)
			}
		}
		select {
		case <-time.After(lookForGarbage):
		case <-ctx.Done():
			return
		}
	}
}

// EndStreams ends all live streams and jobs, so that an http.Server can shut down: it waits
// for requests, and a stream is one that does not end by itself; an upload may not, either.
func (s *Server) EndStreams() {
	s.jobs.close()
	s.mcp.Close()
	s.hub.close()
}

// Close ends all streams and requests. Quests are the Keeper's to shut down first.
func (s *Server) Close() {
	s.conductor.close()
	s.jobs.close()
	s.mcp.Close()
	s.hub.close()
	s.cancel()
	s.hub.wait()
	s.work.Wait()
	s.jobs.spool.close()
	s.shelf.close()
	if empty, err := s.noFiles(); err == nil {
		_ = empty.Close() // the next server removes it
	}
}

// maxBody is how many bytes a request may bring.
const maxBody = 10 << 20

// most is how many bytes a request to a row may bring. A message has room for the largest file
// that it may have, as base64.
func (s *Server) most(row *route) int64 {
	if row != nil && row.pattern == sayRoute {
		return 4 * s.body
	}
	if row != nil && row.pattern == importRoute {
		return s.opts.Upload
	}
	return s.body
}
