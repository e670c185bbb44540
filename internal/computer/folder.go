package computer

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"lyceum/internal/plain"
)

// Folder is one of the host's that programs of a computer read and nobody writes to:
// what brings programs along that neither the toolchain folders nor the image have.
type Folder struct {
	// Name is where it stands inside, below FoldersDir.
	Name string
	// Path is where it stands on the host, from the root on. Who changes it there changes
	// it under the programs that run; the next computer then has another fingerprint.
	Path string
}

// FoldersDir is where a computer has its folders.
const FoldersDir = "/opt"

// Inside is where programs find the folder.
func (f Folder) Inside() string { return path.Join(FoldersDir, f.Name) }

// FolderPrint says what a folder held when the computer was started.
type FolderPrint struct {
	Name string `json:"name"`
	// Digest is that of all names, rights to execute, links and contents in it.
	Digest string `json:"digest"`
}

const (
	maxFolders     = 16
	maxFolderFiles = 500_000
)

// prints looks at the spec's folders.
func (s Spec) prints() (out []FolderPrint, err error) {
	if len(s.Folders) > maxFolders {
		return nil, fmt.Errorf("a computer has at most %d folders, not %d", maxFolders, len(s.Folders))
	}
	seen := map[string]bool{}
	for _, f := range s.Folders {
		if !portRule.MatchString(f.Name) || seen[f.Name] {
			return nil, fmt.Errorf("%s is no name for a folder of a computer, or another has it: take small letters, digits and hyphens", plain.Quoted(f.Name, 50))
		}
		if !filepath.IsAbs(f.Path) {
			return nil, fmt.Errorf("the folder %s of a computer is at %s: name its place from the root on", f.Name, plain.Quoted(f.Path, 200))
		}
		seen[f.Name] = true
		digest, err := digestOf(f.Path, s.Digests)
		if err != nil {
			return nil, fmt.Errorf("the folder %s of a computer: %w", f.Name, err)
		}
		out = append(out, FolderPrint{Name: f.Name, Digest: digest})
	}
	return out, nil
}

// digests keeps the digests of folders by what their files look like from outside: a
// folder of a gigabyte is not read each time a computer is opened. A note on disk keeps the last
// one of each folder for other processes.
var digests sync.Map // of [32]byte to string

// digestOf is the digest of a folder of the host. notes is where digests are kept, nowhere if
// it is empty.
func digestOf(dir, notes string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	look := sha256.New()
	fmt.Fprintf(look, "%q\n", dir)
	if err := eachOf(root, func(name string, info fs.FileInfo) error {
		fmt.Fprintf(look, "%q %v %d %d", name, info.Mode(), info.Size(), info.ModTime().UnixNano())
		if s, ok := info.Sys().(*syscall.Stat_t); ok {
			// Times of files can be set to what they were; this one cannot.
			fmt.Fprintf(look, " %d %d", s.Ino, s.Ctim.Nano())
		}
		fmt.Fprintln(look)
		return nil
	}); err != nil {
		return "", err
	}
	key := [sha256.Size]byte(look.Sum(nil))
	if known, ok := digests.Load(key); ok {
		return known.(string), nil
	}
	note := filepath.Join(notes, fmt.Sprintf("%x", sha256.Sum256([]byte(dir))))
	if known := readNote(notes, note, key); known != "" {
		digests.Store(key, known)
		return known, nil
	}
	sum := sha256.New()
	if err := eachOf(root, func(name string, info fs.FileInfo) error { return addTo(sum, root, name, info) }); err != nil {
		return "", err
	}
	digest := "sha256:" + hex.EncodeToString(sum.Sum(nil))
	digests.Store(key, digest)
	writeNote(notes, note, key, digest)
	return digest, nil
}

// isDigest reports whether a text looks like a digest.
func isDigest(text string) bool {
	sum, ok := strings.CutPrefix(text, "sha256:")
	return ok && plain.IsHex(sum, 64)
}

// readNote is the digest that a note has for a folder that looks like this, if it has one.
func readNote(notes, note string, key [sha256.Size]byte) string {
	if notes == "" {
		return ""
	}
	data, err := os.ReadFile(note)
	look, digest, _ := strings.Cut(strings.TrimSpace(string(data)), " ")
	if err != nil || look != hex.EncodeToString(key[:]) || !isDigest(digest) {
		return ""
	}
	return digest
}

// writeNote keeps a digest. If it cannot, the folder is read again next time, and nothing is
// wrong.
func writeNote(notes, note string, key [sha256.Size]byte, digest string) {
	if notes == "" || os.MkdirAll(notes, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(notes, ".new-*")
	if err != nil {
		return
	}
	_, err = fmt.Fprintf(f, "%x %s\n", key, digest)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), note)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
}

// eachOf shows all that a folder holds, by name. What the user of a computer could not
// read is refused: it would be there, and of no use.
func eachOf(root *os.Root, show func(name string, info fs.FileInfo) error) error {
	count := 0
	return fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		need := fs.FileMode(0o004)
		if info.IsDir() {
			need = 0o005
		}
		if count++; count > maxFolderFiles {
			return fmt.Errorf("it holds more than %d files", maxFolderFiles)
		}
		if os.Geteuid() == 0 && info.Mode().Type() != fs.ModeSymlink && info.Mode()&need != need {
			return fmt.Errorf("%s cannot be read by everybody: chmod -R o+rX on it", plain.Quoted(name, 200))
		}
		return show(name, info)
	})
}

// addTo adds one thing that a folder holds to its digest.
func addTo(sum io.Writer, root *os.Root, name string, info fs.FileInfo) error {
	switch info.Mode().Type() {
	case 0:
		fmt.Fprintf(sum, "file %q %v %d\n", name, info.Mode()&0o100 != 0, info.Size())
		f, err := root.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		n, err := io.Copy(sum, f)
		if err == nil && n != info.Size() {
			err = errors.New("it changes while it is looked at")
		}
		return err
	case fs.ModeDir:
		fmt.Fprintf(sum, "folder %q\n", name)
	case fs.ModeSymlink:
		target, err := root.Readlink(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "link %q %q\n", name, target)
	default:
		return fmt.Errorf("%s is neither a file nor a folder nor a link", plain.Quoted(name, 200))
	}
	return nil
}
