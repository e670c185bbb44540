package runtime

import "lyceum/internal/blob"

// Shadow is a runtime that reads what r has and writes nothing of it: its folders are
// in dir, and its blobs go where blobs says.
func (r *Runtime) Shadow(dir string, blobs blob.Store) *Runtime {
	return &Runtime{
		Ledger: r.Ledger, Blobs: blobs, Models: r.Models, Tools: r.Tools, Societies: r.Societies, Workshops: r.Workshops, Computers: r.Computers,
		Clock: r.Clock, Home: dir, Version: r.Version, Known: r.Known, Measure: r.Measure, Secrets: r.secrets, Servers: r.Servers,
	}
}
