package computer

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"lyceum/internal/computer/tree"
	"lyceum/internal/plain"
	"lyceum/internal/workspace"

	"golang.org/x/sys/unix"
)

// The bounds of a computer are held by mounts, whatever program runs in it: a folder that is not to
// be written to is read-only, and what has a hidden name when the computer is booted is covered. A
// cover cannot be moved, and goes with the folder that it is in. What is covered is untouched on the
// host: snapshots have it.
//
// Files that get such a name later are covered from the next boot on. Readers on the host go past
// the covers, and ask a Guard.

// Mask is a cover.
type Mask struct {
	// Path is where it stands inside, from the root on.
	Path string `json:"path"`
	Dir  bool   `json:"dir,omitempty"`
}

// How many covers a computer can have, how long their paths are together, and how many files are
// looked at for them.
const (
	maxMasks     = 256
	maxMaskBytes = 32 << 10
	maxMaskPath  = 2000
	maxMaskFiles = 2_000_000
)

// masks are the covers that a computer needs now: in its home, and in the folders of the host that
// it shows.
func (s Spec) masks(home string) (out []Mask, err error) {
	if len(s.Bounds.Hide) == 0 {
		return nil, nil
	}
	places := []Folder{{Path: home}}
	places = append(places, s.Folders...)
	size := 0
	for i, p := range places {
		inside := HomeDir
		if i > 0 {
			inside = p.Inside()
		}
		found, err := hiddenIn(p.Path, s.Bounds)
		if err != nil {
			return nil, fmt.Errorf("look for what deny_read hides: %w", err)
		}
		for _, m := range found {
			m.Path = path.Join(inside, m.Path)
			if size += len(m.Path); !utf8.ValidString(m.Path) || len(m.Path) > maxMaskPath {
				return nil, fmt.Errorf("%s is hidden by deny_read, and no computer can cover it there: rename the folders that it is in", plain.Quoted(m.Path, 200))
			}
			out = append(out, m)
		}
		if len(out) > maxMasks || size > maxMaskBytes {
			return nil, fmt.Errorf("there are more than %d files and folders that deny_read hides, such as %s, and no computer can cover so many: remove some, or make the quest anew with a shorter deny_read", min(len(out)-1, maxMasks), plain.Quoted(out[0].Path, 200))
		}
	}
	return out, nil
}

// hiddenIn finds what is to be covered in a folder, by paths from there on, none in another.
func hiddenIn(dir string, b workspace.Bounds) ([]Mask, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	found := map[string]bool{} // whether it is a folder
	locked := map[string]bool{}
	several := false // whether a file has more than one name
	err = look(root, dir, func(name string, s *unix.Stat_t, place func() (string, error)) error {
		kind := s.Mode & unix.S_IFMT
		several = several || kind != unix.S_IFDIR && s.Nlink > 1
		shut := kind == unix.S_IFDIR && s.Mode&0o500 != 0o500
		// A link has nothing to hide: what it leads to is hidden by its own name, or not.
		if kind == unix.S_IFLNK || !shut && b.Hidden(name) == "" {
			return nil
		}
		at, err := place()
		switch {
		case err != nil:
			return err
		case b.Hidden(name) == "":
			locked[at] = true
		default:
			found[at] = kind == unix.S_IFDIR
		}
		return nil
	})
	if err == nil && several {
		err = othersOf(root, dir, b, func(at string) { found[at] = false })
	}
	if err != nil {
		return nil, err
	}
	return covers(found, locked), nil
}

// covers are what has to be covered for all that was found: nothing in another, and a folder that
// its owner has locked in place of what is in it, where no mount comes.
func covers(found, locked map[string]bool) (out []Mask) {
	for at := range found {
		for in := path.Dir(at); in != "."; in = path.Dir(in) {
			if locked[in] {
				found[in] = true
			}
		}
	}
	for at, folder := range found {
		covered := false
		for in := path.Dir(at); in != "."; in = path.Dir(in) {
			covered = covered || found[in]
		}
		if !covered {
			out = append(out, Mask{Path: at, Dir: folder})
		}
	}
	slices.SortFunc(out, func(a, b Mask) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// othersOf shows the other names, by their paths, of files that are hidden.
func othersOf(root *os.Root, dir string, b workspace.Bounds, show func(at string)) error {
	hidden, err := twins(root, dir, b)
	if err != nil || len(hidden) == 0 {
		return err
	}
	return look(root, dir, func(_ string, s *unix.Stat_t, place func() (string, error)) error {
		if !hidden[inodeOf(s)] {
			return nil
		}
		at, err := place()
		if err == nil && b.Hidden(at) == "" {
			show(at)
		}
		return err
	})
}

// twins are the files that are hidden and have several names.
func twins(root *os.Root, dir string, b workspace.Bounds) (map[inode]bool, error) {
	out := map[inode]bool{}
	return out, look(root, dir, func(_ string, s *unix.Stat_t, place func() (string, error)) error {
		if s.Nlink < 2 || s.Mode&unix.S_IFMT == unix.S_IFDIR {
			return nil
		}
		at, err := place()
		if err == nil && b.Hidden(at) != "" {
			out[inodeOf(s)] = true
		}
		return err
	})
}

// look shows all that is in a folder. place is the path of what is shown.
func look(root *os.Root, dir string, show func(name string, s *unix.Stat_t, place func() (string, error)) error) error {
	top, err := root.Open(".")
	if err != nil {
		return err
	}
	defer top.Close()
	base, err := whereabouts(top)
	if err != nil {
		return err
	}
	n := 0
	return tree.Walk(dir, tree.Visitor{Visit: func(in int, name string, s *unix.Stat_t) error {
		if n++; n > maxMaskFiles {
			return fmt.Errorf("there are more than %d files to look through: remove some, or make the quest anew with deny_read: []", maxMaskFiles)
		}
		return show(name, s, func() (string, error) {
			at, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(in))
			if err != nil {
				return "", errNoProc
			}
			rel, err := below(base, at)
			return path.Join(rel, name), err
		})
	}})
}

type inode struct{ dev, ino uint64 }

func inodeOf(s *unix.Stat_t) inode { return inode{uint64(s.Dev), s.Ino} }

// makeFolders makes the folders of a home that can be written to where the rest cannot.
func (s Spec) makeFolders(home string) error {
	root, err := os.OpenRoot(home)
	if err != nil {
		return fmt.Errorf("open the home of a computer: %w", err)
	}
	defer root.Close()
	for _, at := range s.Bounds.Folders() {
		if at == "." {
			continue
		}
		if err := root.MkdirAll(at, 0o755); err == nil {
			var f *os.File
			if f, err = root.OpenFile(at, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0); err == nil {
				there, failed := PlaceOf(root, f)
				if f.Close(); failed == nil && there == at {
					continue
				}
			}
		}
		return fmt.Errorf("%s of the home is to be written to (allow_write), and is no folder of its own: move away what is there", plain.Quoted(at, 200))
	}
	return nil
}

// Masks are what the computer hid when it was booted.
func (c *Computer) Masks() []Mask { return c.saved.Masks }

// Writes are the trees that programs can write to, in the computer's eyes, besides devices and what
// the kernel tells of processes.
func (s Spec) Writes() []string {
	out := []string{"/dev", "/proc"}
	for _, at := range s.Bounds.Folders() {
		out = append(out, path.Join(HomeDir, at))
	}
	if s.Bounds.Temporary() {
		out = append(out, workspace.Temp)
	}
	return out
}
