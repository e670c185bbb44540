package tool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// owner is whose the files in a home are. If Lyceum is root, the home belongs to a
// user of its own under whom the agent's programs run, and what Lyceum writes for
// the agent must be that user's, or no program could change it.
type owner struct {
	uid, gid int
	// give says that files are not that user's by themselves.
	give bool
}

func ownerOf(home *os.Root) (owner, error) {
	info, err := home.Lstat(".")
	if err != nil {
		return owner{}, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return owner{}, errors.New("whose the workspace is cannot be told")
	}
	o := owner{uid: int(st.Uid), gid: int(st.Gid)}
	o.give = os.Geteuid() == 0 && (o.uid != 0 || o.gid != os.Getegid())
	return o, nil
}

// mkdirAll makes a folder and those on the way to it.
func (o owner) mkdirAll(home *os.Root, folder string) error {
	if !o.give || folder == "." {
		return home.MkdirAll(folder, 0o755)
	}
	name := ""
	for part := range strings.SplitSeq(folder, string(filepath.Separator)) {
		name = filepath.Join(name, part)
		switch err := home.Mkdir(name, 0o755); {
		case errors.Is(err, fs.ErrExist):
			continue
		case err != nil:
			return err
		}
		// A program may have put a link in its place; that is then given, not what it
		// points to.
		if err := home.Lchown(name, o.uid, o.gid); err != nil {
			return err
		}
	}
	return home.MkdirAll(folder, 0o755) // says so if a file was in the way
}

// fill makes a new file. Whatever its name has come to mean since, it is the file
// that was made here which is written, given away and gets the mode.
func (o owner) fill(home *os.Root, name string, mode fs.FileMode, content string) error {
	f, err := home.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NONBLOCK, mode)
	if err != nil {
		return err
	}
	_, err = f.WriteString(content)
	if o.give {
		err = errors.Join(err, f.Chown(o.uid, o.gid))
	}
	return errors.Join(err, f.Chmod(mode), f.Close())
}
