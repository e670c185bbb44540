package local

import (
	"context"
	"os"
	"path/filepath"

	"lyceum/internal/computer"
)

// Launch is one start of a sandbox: what it is made of, and the files that are open
// until it runs.
type Launch struct {
	Context context.Context
	Machine *Machine
	Boot    *computer.Boot
	// Self is the program that becomes the helper.
	Self *os.File
	// Shown is the path of the copy that the computer is to show, empty if it is to show none.
	Shown string
	// User is the host's, to whom the home belongs if Lyceum is root; 0 is whoever runs Lyceum.
	User int
	// Said is boot.log in the computer's folder, for what is said before the helper is there.
	Said *os.File
	open []*os.File
}

// Launch makes ready what every sandbox takes. Whoever has one must Close it.
func (m *Machine) Launch(ctx context.Context, b *computer.Boot) (*Launch, error) {
	self, err := m.Program()
	if err != nil {
		return nil, err
	}
	user, err := computer.HomeUser(b.Home)
	if err != nil {
		return nil, err
	}
	shown := ""
	if b.Spec.Program {
		if shown, err = m.Shown.Path(); err != nil {
			return nil, err
		}
	}
	m.Limit(b)
	said, err := os.OpenFile(filepath.Join(b.Dir, "boot.log"), os.O_CREATE|os.O_TRUNC|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return &Launch{Context: ctx, Machine: m, Boot: b, Self: self, Shown: shown, User: user, Said: said, open: []*os.File{said}}, nil
}

// Sandbox launches one by a driver's own start, and returns its handle.
func (m *Machine) Sandbox(ctx context.Context, b *computer.Boot, start func(*Launch) (*Sandbox, error)) (string, error) {
	l, err := m.Launch(ctx, b)
	if err != nil {
		return "", err
	}
	defer l.Close()
	s, err := start(l)
	if err != nil {
		return "", err
	}
	return s.Handle()
}

// Keep has a file be closed with the launch.
func (l *Launch) Keep(f *os.File) { l.open = append(l.open, f) }

// Pipe makes one that is closed with the launch.
func (l *Launch) Pipe() (r, w *os.File, err error) {
	if r, w, err = os.Pipe(); err == nil {
		l.Keep(r)
		l.Keep(w)
	}
	return r, w, err
}

// Close closes all files of the launch. The sandbox has its own by then.
func (l *Launch) Close() {
	for _, f := range l.open {
		_ = f.Close()
	}
}
