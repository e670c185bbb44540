package api

import (
	"net/http"
	"slices"
	"time"

	"lyceum/internal/event"
	mcpserver "lyceum/internal/mcp/server"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Patterns are those of all routes.
func (s *Server) Patterns() (out []string) {
	for _, r := range append(s.routes(), s.jobRoutes()...) {
		out = append(out, r.pattern)
	}
	return out
}

// Break has a request fail in the middle of the server's own work.
func (s *Server) Break(pattern string) {
	s.mount(route{pattern: pattern, handle: func(http.ResponseWriter, *http.Request) error { panic("broken on purpose") }})
}

// Rows are the table of all routes: what each asks of its caller, by its pattern.
func (s *Server) Rows() map[string]string {
	out := map[string]string{}
	for pattern, r := range s.rows {
		out[pattern] = r.need.String()
	}
	return out
}

// Needs are all that a route can ask for, the most first.
func Needs() (out []string) {
	for n := admin; n <= open; n++ {
		out = append(out, n.String())
	}
	return out
}

// Ask changes what a route asks of its caller.
func (s *Server) Ask(pattern, what string) { s.rows[pattern].need = need(slices.Index(Needs(), what)) }

// Smuggle puts a handler into the mux past the table.
func (s *Server) Smuggle(pattern string) {
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("smuggled")) })
}

// Allows is the rule by which a scope is enough for a route.
func (s Scope) Allows(what, quest string) bool {
	return s.allows(need(slices.Index(Needs(), what)), quest)
}

// Feeds is how many quests are followed.
func (s *Server) Feeds() int {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	return len(s.hub.feeds)
}

// Heartbeat is how often a silent stream says that it is alive.
func (s *Server) Heartbeat() time.Duration { return s.opts.Heartbeat }

// Readers is how many readers streams have.
func (s *Server) Readers() int {
	n, _ := s.hub.figures()
	return n
}

// MaxBody is how many bytes a request may bring.
const MaxBody = maxBody

// ShutdownReason is what a pause by a shutdown says.
const ShutdownReason = shutdownReason

// Holds and LowerASCII are how texts are looked for, and CommandLine how a command is shown.
var (
	Holds       = holds
	LowerASCII  = lowerASCII
	CommandLine = commandLine
)

// SaveFrom has projections saved from so many new events on.
func (s *Server) SaveFrom(worth, closing uint64) { s.shelf.worth, s.shelf.closing = worth, closing }

// Saved waits until nothing is being saved.
func (s *Server) Saved() { s.shelf.saves.Wait() }

// Opened is how often a quest was opened.
func (s *Server) Opened() uint64 {
	s.shelf.mu.Lock()
	defer s.shelf.mu.Unlock()
	return s.shelf.uses
}

// OldPass is one that was made as long ago.
func (s *Server) OldPass(ago time.Duration) string {
	return Pass(s.guard.token, s.rt.Clock()-event.Time(ago.Microseconds()))
}

// StartedBefore has the server be up for as long.
func (s *Server) StartedBefore(ago time.Duration) {
	s.guard.passes.started -= event.Time(ago.Microseconds())
}

// Tidied waits until what removed quests left is gone, if it can go.
func (s *Server) Tidied() { s.work.Wait() }

// LookAt sets how many events are looked at for one page.
func (s *Server) LookAt(n uint64) { s.scan = n }

// TakeBodies sets how many bytes a request may bring.
func (s *Server) TakeBodies(n int64) { s.body = n }

// ServeInstead has /mcp serve another server than that of quests.
func (s *Server) ServeInstead(other *mcp.Server) {
	s.mcp = mcpserver.NewHandler(mcpserver.HandlerOptions{
		Pick: func(*http.Request) (*mcp.Server, func()) { return other, func() {} },
		Who:  func(r *http.Request) string { return callerOf(r).key() }, MaxBody: s.body, Stall: s.opts.Stall, Now: time.Now,
	})
}
