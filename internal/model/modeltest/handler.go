package modeltest

import (
	"io"
	"net/http"
)

// Handler is a server of a provider for tests of what is around a driver. reply
// says what to answer to a request; if it names a failure, that is the answer.
func Handler(w Wire, reply func(seen *Seen) (Reply, Failure)) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		seen, err := w.Read(r, body)
		if err != nil {
			http.Error(out, err.Error(), http.StatusBadRequest)
			return
		}
		answer, failure := reply(seen)
		if failure != "" {
			w.Refuse(out, failure)
			return
		}
		out.Header().Set("Content-Type", "text/event-stream")
		s := &stream{w: out}
		w.Answer(s.send, out.Header(), answer)
	})
}
