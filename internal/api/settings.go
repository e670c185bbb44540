package api

import (
	"context"
	"net/http"
)

// Settings are what the configuration of a home says. Whoever builds the server knows it.
type Settings struct {
	File     string    `json:"file"`
	Exists   bool      `json:"exists"`
	Settings []Setting `json:"settings"`
}

// Setting is one key. A secret has no value here, and says only whether it is set.
type Setting struct {
	Key    string `json:"key"`
	Value  string `json:"value,omitempty"`
	Set    bool   `json:"set"`
	Secret bool   `json:"secret"`
	// Source is file, environment, keyring or default.
	Source string `json:"source"`
	About  string `json:"about"`
	// Reader is what goes by it.
	Reader string `json:"reader"`
}

// Doctor is what works on a machine, and what does not.
type Doctor struct {
	Healthy  bool      `json:"healthy"`
	Home     string    `json:"home"`
	Driver   string    `json:"driver"`
	Findings []Finding `json:"findings"`
}

// Finding is one thing that was looked at: ok, warning or problem, and what would mend it.
type Finding struct {
	Section string `json:"section"`
	Name    string `json:"name"`
	Status  string `json:"status"`
	Text    string `json:"text"`
	Fix     string `json:"fix,omitempty"`
}

func (s *Server) settings(w http.ResponseWriter, r *http.Request) error {
	return told(s, w, r, s.opts.Settings)
}

func (s *Server) doctor(w http.ResponseWriter, r *http.Request) error {
	return told(s, w, r, s.opts.Doctor)
}

// told answers with what whoever built the server tells.
func told[T any](s *Server, w http.ResponseWriter, r *http.Request, ask func(context.Context) (*T, error)) error {
	if err := none(r); err != nil {
		return err
	}
	if ask == nil {
		return missing("this server was not told: run lyceum doctor, or lyceum config show")
	}
	out, err := ask(r.Context())
	if err != nil {
		return err
	}
	return s.send(w, http.StatusOK, out)
}
