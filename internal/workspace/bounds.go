package workspace

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"lyceum/internal/plain"
)

// Bounds are what the owner of a quest lets an agent do with files, whatever the agent uses for it:
// tools, programs in its computer and their children, servers, an outside agent. The zero value is
// the workspace and Temp to write to, and nothing hidden.
type Bounds struct {
	// Write are the folders that can be written to: in the form of Path, or Temp. None is the
	// workspace and Temp.
	Write []string `json:"write,omitempty"`
	// Hide are the names of files and folders that cannot be read, wherever in the workspace they
	// are: names as DefaultHide has them, in which * and ? stand for any letters, as in path.Match.
	Hide []string `json:"hide,omitempty"`
}

// Temp is the folder for temporary files in a computer.
const Temp = "/tmp"

// DefaultHide are the names under which people and programs keep keys. None of them is the name of
// a file that projects ship with their source, which agents need: an .env.example stays readable.
var DefaultHide = []string{
	".env", ".env.local", ".env.*.local", ".env.production", ".ssh", ".aws", ".azure", ".gcloud", ".gnupg", ".kube",
	".netrc", ".git-credentials", ".pgpass", ".pypirc",
}

// How many entries bounds have, and how long they are together. They stand in a quest's first event.
const (
	maxBounds     = 50
	maxBoundBytes = 2 << 10
)

// WritePath returns the one form of a folder that is to be written to.
func WritePath(text string) (string, error) {
	if strings.TrimRight(text, "/") == Temp {
		return Temp, nil
	}
	at, err := Path(text)
	switch {
	case err != nil && strings.HasPrefix(text, Temp+"/"):
		return "", fmt.Errorf("%.80q is in %s, which is new with each computer: allow %s as a whole", text, Temp, Temp)
	case err != nil:
		return "", fmt.Errorf("%w; a computer lets programs write to its home and to %s, and nowhere else", err, Temp)
	case !plain.Printable(at):
		return "", fmt.Errorf("%.80q cannot be printed", text)
	}
	return at, nil
}

// HideName returns the one form of a name that is to be hidden.
func HideName(text string) (string, error) {
	text = strings.ToLower(text)
	_, bad := path.Match(text, "")
	switch {
	case text == "" || len(text) > 100 || !plain.Printable(text):
		return "", fmt.Errorf("%.80q is no name: want 1 to 100 bytes that can be printed", text)
	case strings.Contains(text, "/"):
		// A folder above it could be renamed.
		return "", fmt.Errorf("%.80q is a path: give the name of the file or folder alone, it is hidden wherever it is", text)
	case strings.Trim(text, ".*?") == "":
		return "", fmt.Errorf("%.80q would hide everything", text)
	case bad != nil:
		return "", fmt.Errorf("%.80q is no pattern: %w", text, bad)
	}
	return text, nil
}

// Check reports what is wrong with bounds: they may be a stranger's.
func (b Bounds) Check() error {
	for _, at := range b.Write {
		if is, err := WritePath(at); at != Nowhere && (err != nil || is != at) {
			return fmt.Errorf("allow_write: %.80q is no folder of a home, nor %s", at, Temp)
		}
	}
	for _, name := range b.Hide {
		if is, err := HideName(name); err != nil || is != name {
			return fmt.Errorf("deny_read: %.80q is no name of a file or folder", name)
		}
	}
	size := 0
	for _, list := range [][]string{b.Write, b.Hide} {
		if len(list) > maxBounds {
			return fmt.Errorf("it has more than %d entries", maxBounds)
		}
		for _, s := range list {
			size += len(s) + 3
		}
	}
	if size > maxBoundBytes {
		return fmt.Errorf("allow_write and deny_read take more than %d bytes together", maxBoundBytes)
	}
	return nil
}

// Narrow returns the bounds within which both hold.
func (b Bounds) Narrow(by Bounds) Bounds {
	out := Bounds{Write: b.Write}
	for _, hide := range [][]string{b.Hide, by.Hide} {
		for _, name := range hide {
			if !slices.Contains(out.Hide, name) {
				out.Hide = append(out.Hide, name)
			}
		}
	}
	if len(by.Write) == 0 {
		return out
	}
	if len(b.Write) == 0 {
		out.Write = by.Write
		return out
	}
	out.Write = nil
	for _, pair := range [][2]Bounds{{b, by}, {by, b}} {
		for _, at := range pair[0].Write {
			if pair[1].lets(at) && !slices.Contains(out.Write, at) {
				out.Write = append(out.Write, at)
			}
		}
	}
	if len(out.Write) == 0 {
		out.Write = []string{Nowhere}
	}
	return out
}

// Nowhere is a folder to write to that no workspace has: who has it alone writes nowhere.
const Nowhere = "/nowhere"

// lets reports whether a folder to write to is in one of these.
func (b Bounds) lets(at string) bool {
	return slices.ContainsFunc(b.Write, func(w string) bool {
		return at == w || !strings.HasPrefix(at, "/") && !strings.HasPrefix(w, "/") && Under(at, w)
	})
}

// Folders are the folders of the workspace that can be written to, none of them in another; "."
// alone if that is all of it.
func (b Bounds) Folders() (out []string) {
	if len(b.Write) == 0 {
		return []string{"."}
	}
	for _, at := range slices.Compact(slices.Sorted(slices.Values(b.Write))) {
		covers := func(w string) bool { return Under(at, w) }
		if !strings.HasPrefix(at, "/") && !slices.ContainsFunc(out, covers) {
			out = append(out, at)
		}
	}
	if slices.Contains(out, ".") {
		return []string{"."}
	}
	return out
}

// Temporary reports whether programs can write to Temp.
func (b Bounds) Temporary() bool { return len(b.Write) == 0 || slices.Contains(b.Write, Temp) }

// Hidden returns the name in the list by which a path in its one form, or a folder that it is in, is
// hidden; empty if it is not. Large and small letters are the same: to some file systems they are.
func (b Bounds) Hidden(at string) string {
	if len(b.Hide) == 0 {
		return ""
	}
	for name := range strings.SplitSeq(at, "/") {
		if hides := b.hides(name); hides != "" {
			return hides
		}
	}
	return ""
}

func (b Bounds) hides(name string) string {
	name = strings.ToLower(name)
	for _, pattern := range b.Hide {
		if fits, err := path.Match(strings.ToLower(pattern), name); fits || err != nil {
			return pattern // what nobody can read hides everything
		}
	}
	return ""
}

// MayWrite says why nothing may be written at a path in its one form, nil if it may.
func (b Bounds) MayWrite(at string) error {
	if name := b.Hidden(at); name != "" {
		return &BoundError{At: at, Why: "the quest hides " + name + " (deny_read)"}
	}
	folders := b.Folders()
	for _, w := range folders {
		if Under(at, w) {
			return nil
		}
	}
	if len(folders) == 0 {
		return &BoundError{At: at, Why: "the quest lets nobody write to the workspace (allow_write)"}
	}
	return &BoundError{At: at, Why: "the quest lets you write to " + strings.Join(folders, ", ") + " alone (allow_write)"}
}

// MayMove says why what is at a path may not be moved away or removed, nil if it may: a folder that
// can be written to stays where it is itself, if what it is in cannot be.
func (b Bounds) MayMove(at string) error {
	if err := b.MayWrite(at); err != nil {
		return err
	}
	if slices.Contains(b.Folders(), at) {
		return &BoundError{At: at, Why: "the quest lets you write into it, and not to what it is in (allow_write)"}
	}
	return nil
}

// MayRead says why a path in its one form may not be read, nil if it may.
func (b Bounds) MayRead(at string) error {
	if name := b.Hidden(at); name != "" {
		return &BoundError{At: at, Why: "the quest hides " + name + " (deny_read)"}
	}
	return nil
}

// BoundError says that bounds keep an agent from a file.
type BoundError struct{ At, Why string }

func (e *BoundError) Error() string {
	return fmt.Sprintf("%s is closed to you: %s; work without it", plain.Quoted(e.At, 200), e.Why)
}
