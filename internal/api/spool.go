package api

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"lyceum/internal/scratch"
)

// spool is where crates lie on their way in and out: files in a folder of the home that goes with the
// server, and, if that was killed, when the next one starts. All of them together are bounded.
type spool struct {
	home string
	most int64

	// mu guards the rest. folder is made when the first file is.
	mu     sync.Mutex
	used   int64
	folder *scratch.Folder
}

// spoolPrefix is how the names of its folders begin.
const spoolPrefix = ".spool-"

func newSpool(home string, most int64) *spool {
	scratch.Sweep(home, spoolPrefix)
	return &spool{home: home, most: most}
}

// close removes what is left. Nobody may be writing or reading any more.
func (s *spool) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.folder != nil {
		_ = s.folder.Close() // otherwise the next server does
		s.folder = nil
	}
}

// take reserves room, or says that there is none.
func (s *spool) take(n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used+n > s.most {
		return problemf(http.StatusServiceUnavailable, "", "there is no room for it now: crates that are sent and fetched may have %d bytes on this server's disk together; wait until others are done, or end a job (DELETE /api/jobs/{job})", s.most)
	}
	s.used += n
	return nil
}

func (s *spool) give(n int64) {
	s.mu.Lock()
	s.used -= n
	s.mu.Unlock()
}

// spooled is a file of the spool. It is there for as long as somebody holds it; who makes it holds it.
type spooled struct {
	spool *spool
	path  string
	file  *os.File
	sum   hash.Hash

	// mu guards holders. size is written by the one who writes the file, until it is whole.
	mu      sync.Mutex
	holders int
	size    int64
}

// create makes a file to write to.
func (s *spool) create(name string) (*spooled, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.folder == nil {
		var err error
		if s.folder, err = scratch.New(s.home, spoolPrefix); err != nil {
			return nil, err
		}
	}
	f, err := os.OpenFile(filepath.Join(s.folder.Path, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &spooled{spool: s, path: f.Name(), file: f, sum: sha256.New(), holders: 1}, nil
}

// Write implements io.Writer. What has no room in the spool is not written.
func (f *spooled) Write(p []byte) (int, error) {
	if err := f.spool.take(int64(len(p))); err != nil {
		return 0, err
	}
	f.size += int64(len(p))
	f.sum.Write(p)
	return f.file.Write(p)
}

// digest is of all that was written.
func (f *spooled) digest() string { return hex.EncodeToString(f.sum.Sum(nil)) }

// hold keeps the file until release is called, unless it has gone already.
func (f *spooled) hold() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.holders == 0 {
		return false
	}
	f.holders++
	return true
}

// release lets go of the file, which goes with the last who held it.
func (f *spooled) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.holders--; f.holders > 0 {
		return
	}
	_ = f.file.Close()
	_ = os.Remove(f.path) // the folder goes with the server in any case
	f.spool.give(f.size)
}
