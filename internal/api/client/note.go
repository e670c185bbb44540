package client

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// serverFile is the file of a home that says where its server is. The server holds a lock on
// it for as long as it lives, which the kernel lets go of however the server ends. So a note
// that nobody holds is of one that was killed, and is believed by nobody. The file stays when
// the server ends, empty: one that was removed could be locked by two.
const serverFile = "server"

// Note is where a server is.
type Note struct {
	// Local is the address for programs that know the home's token.
	Local string
	// Config tells which configuration the server works with (config.Sum): it reads its file once.
	Config string
	// Pages are the addresses of the page; there is at least one.
	Pages []string
}

// maxNote is how much of a note is read.
const maxNote = 64 << 10

// Place is a home's one place for a server.
type Place struct{ f *os.File }

// TakenError says that a home has a server already.
type TakenError struct {
	Home string
	// Page is where its page is, empty if it has not said so yet.
	Page string
}

func (e *TakenError) Error() string {
	at := ""
	if e.Page != "" {
		at = " at " + e.Page
	}
	return fmt.Sprintf("a server of the home %s is up%s, and a home has one: open its page with lyceum serve --link, stop it first, or choose another home with --home", e.Home, at)
}

// Take takes the place of a home's server, or returns a *TakenError. What an earlier one
// noted is gone then.
func Take(home string) (*Place, error) {
	f, err := os.OpenFile(filepath.Join(home, serverFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("note where the server is: %w", err)
	}
	err = unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_WRLCK})
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		_ = f.Close()
		taken := &TakenError{Home: home}
		if n, err := Look(home); err == nil {
			taken.Page = n.Pages[0]
		}
		return nil, taken
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("note where the server is: %w", err)
	}
	return &Place{f}, nil
}

// Announce notes where the server is.
func (p *Place) Announce(n Note) error {
	text := strings.Join(append([]string{n.Local, n.Config}, n.Pages...), "\n") + "\n"
	if _, err := p.f.WriteAt([]byte(text), 0); err != nil {
		return fmt.Errorf("note where the server is: %w", err)
	}
	return nil
}

// Leave takes the note back, and lets another have the place.
func (p *Place) Leave() {
	_ = p.f.Truncate(0) // a note that nobody holds is believed by nobody
	_ = unix.FcntlFlock(p.f.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: unix.F_UNLCK})
	_ = p.f.Close()
}

// Look returns where the server of a home is, or ErrNone if none is up.
func Look(home string) (Note, error) {
	f, err := os.Open(filepath.Join(home, serverFile))
	if err != nil {
		return Note{}, ErrNone
	}
	defer f.Close()
	lock := unix.Flock_t{Type: unix.F_RDLCK}
	if err := unix.FcntlFlock(f.Fd(), unix.F_OFD_GETLK, &lock); err != nil || lock.Type == unix.F_UNLCK {
		return Note{}, ErrNone
	}
	data, err := io.ReadAll(io.LimitReader(f, maxNote))
	lines := strings.Split(string(bytes.TrimSpace(data)), "\n")
	if err != nil || len(lines) < 3 {
		return Note{}, ErrNone
	}
	return Note{Local: lines[0], Config: lines[1], Pages: lines[2:]}, nil
}
