package api

import "net/http"

// Patterns are those of all routes.
func (s *Server) Patterns() (out []string) {
	for _, r := range s.routes() {
		out = append(out, r.pattern)
	}
	return out
}

// Break has a request fail in the middle of the server's own work.
func (s *Server) Break(pattern string) {
	s.mux.HandleFunc(pattern, func(http.ResponseWriter, *http.Request) { panic("broken on purpose") })
}

// Feeds is how many quests are followed.
func (s *Server) Feeds() int {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	return len(s.hub.feeds)
}

// Readers is how many readers streams have.
func (s *Server) Readers() int {
	n, _ := s.hub.figures()
	return n
}

// ShutdownReason is what a pause by a shutdown says.
const ShutdownReason = shutdownReason

// Holds and LowerASCII are how texts are looked for.
var (
	Holds      = holds
	LowerASCII = lowerASCII
	FileName   = fileName
)
