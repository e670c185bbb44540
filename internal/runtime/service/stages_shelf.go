package service

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"lyceum/internal/event"
)

// Baseline is a baseline of the home, or what keeps it from being one.
type Baseline struct {
	Name string
	// Entry is what it says of itself, nil if that cannot be believed; Broken says why.
	Entry  *event.BaselineEntry
	Broken string
}

// maxShelved is how many baselines are listed.
const maxShelved = 1000

// Baselines are those of a home, by name. What each says of itself is checked against the event
// that it rests on; its files are summed up when it is attached.
func Baselines(home string) (out []Baseline, err error) {
	shelf, err := os.OpenRoot(filepath.Join(home, baselinesDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer shelf.Close()
	list, err := fs.ReadDir(shelf.FS(), ".")
	if err != nil {
		return nil, err
	}
	for _, x := range list {
		if !event.ValidName(x.Name()) || len(out) == maxShelved {
			continue // what is being written, or nobody's
		}
		b := Baseline{Name: x.Name()}
		if m, err := readManifest(shelf, x.Name()); err != nil {
			b.Broken = err.Error()
		} else {
			b.Entry = &m.Entry
		}
		out = append(out, b)
	}
	return out, nil
}
