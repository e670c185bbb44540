package runtime

import "bytes"

// Glances are what a list says of each quest as of its head, for whoever lists them next: the quests whose
// heads have not moved need not be read. They are one file for all quests, in the form of its one reader and
// writer, whose name it has, and of this version of the program.
const glances = "glances"

// LoadGlances returns what was saved, nil if nothing was, or by another version.
func (r *Runtime) LoadGlances(reader string) []byte {
	version, data, ok := bytes.Cut(r.loadCache(glances, reader), []byte("\n"))
	if !ok || string(version) != r.Version {
		return nil
	}
	return data
}

// SaveGlances keeps data until the next time.
func (r *Runtime) SaveGlances(reader string, data []byte) error {
	return r.saveCache(glances, reader, append([]byte(r.Version+"\n"), data...))
}
