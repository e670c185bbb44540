package audit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/scratch"
	"lyceum/internal/tool"
	"lyceum/internal/workspace"

	"github.com/go-json-experiment/json"
)

// What of a home is made again for calls that look at more than one file.
const (
	maxHomeFiles = 2000
	maxHomeBytes = 16 << 20
)

// homes are what agents had in their workspaces, made again from the recorded trees for calls that read files there.
type homes struct {
	rt   *runtime.Runtime
	temp *scratch.Folder // nil until one is made
	// made is how many were; root is the last one, of has which tree and which file of it, all of it if none.
	made int
	root *os.Root
	of   string
}

// readsFiles reports whether a tool gives what files of the workspace hold, and nothing else.
func readsFiles(t tool.Tool) bool {
	return t.Reads && len(t.Paths) == 1 && !t.Computer && t.Source == ""
}

// read has a call read files again as they are recorded. What the record does not have, such as a repository or what is
// behind a link, and why something could not be read, stays the word of the machine.
func (v *repeats) read(ctx context.Context, s *quest.State, e event.Event, b *event.ToolResult, c repeatable, note Note) (*Difference, error) {
	recorded, err := v.recorded(ctx, b)
	if c.cut || errors.Is(err, blob.ErrNotFound) || err == nil && v.left <= 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	home, err := v.homes.at(ctx, s, s.Agent(e.Actor).Tree, *c.reads, c.args)
	if home == nil || err != nil {
		return nil, err
	}
	now, err := v.run(ctx, s, e, b.Call, c, home)
	switch {
	case err != nil:
		return nil, err
	case matches(b, recorded, now):
		v.found.Same++
	case b.Error || now.Error || len(b.Attachments)+len(now.Files) > 0 || b.Full != nil:
		// What a policy refused, a picture, a full disk.
	case v.busy[e.Actor] || served(s.Agent(e.Actor)):
		note(e, "%s gives something else on the files that are recorded; a program or a server of %s may have changed them beside it", e.Tool, e.Actor)
	default:
		out := Executed{Seq: b.Call, Actor: e.Actor, Kind: "reading", What: runtime.AtMost(e.Tool+" "+c.args, 200)}
		return v.differs(e, out, "run again on the files that are recorded, gives something else: it was altered, or somebody changed files by hand before it", recorded, now), nil
	}
	return nil, nil
}

// served reports whether an agent has tools of servers: those may share its workspace.
func served(a *agent.Agent) bool {
	for _, from := range a.Sources {
		if strings.HasPrefix(from.Source, "mcp:") {
			return true
		}
	}
	return false
}

// at is a workspace in which a call finds what it looks at as it was recorded, nil if there is none.
func (h *homes) at(ctx context.Context, s *quest.State, tree *event.TreeRef, t tool.Tool, args string) (*os.Root, error) {
	var given map[string]any
	if tree == nil || json.Unmarshal([]byte(args), &given) != nil {
		return nil, nil
	}
	text, ok := given[t.Paths[0]].(string)
	if !ok {
		text = "."
	}
	name, err := workspace.Path(text)
	if err != nil {
		return nil, nil
	}
	file, found, err := h.find(ctx, *tree, name)
	if err != nil || !found {
		return nil, known(err)
	}
	key := tree.Hash.String()
	if file != nil {
		key += " " + name
	}
	if h.root != nil && h.of == key {
		return h.root, nil
	}
	if file == nil {
		if few, err := h.few(ctx, s, *tree); err != nil || !few {
			return nil, known(err)
		}
	}
	err = h.make(ctx, *tree, name, file)
	if err != nil {
		return nil, known(err)
	}
	h.of = key
	return h.root, nil
}

// known is an error of the machine. That a blob is not there, which is said elsewhere, is none.
func known(err error) error {
	if errors.Is(err, blob.ErrNotFound) {
		return nil
	}
	return err
}

// find is the file at a path of a tree, nil for a folder.
func (h *homes) find(ctx context.Context, tree event.TreeRef, name string) (file *blob.Entry, found bool, err error) {
	if name == "." {
		return nil, true, nil
	}
	parts := strings.Split(name, "/")
	for i, part := range parts {
		list, err := blob.ReadTree(ctx, h.rt.Blobs, tree)
		if err != nil {
			return nil, false, err
		}
		at := slices.IndexFunc(list, func(e blob.Entry) bool { return e.Name == part })
		switch {
		case at < 0:
			return nil, false, nil
		case list[at].Kind == blob.Dir:
			tree = event.TreeRef(list[at].Ref())
		case list[at].Kind == blob.File && i == len(parts)-1:
			return &list[at], true, nil
		default: // a link
			return nil, false, nil
		}
	}
	return nil, true, nil
}

// few reports whether a whole workspace is recorded, and is small enough to be made again.
func (h *homes) few(ctx context.Context, s *quest.State, tree event.TreeRef) (bool, error) {
	if len(runtime.Lent(s)) > 0 {
		return false, nil
	}
	files, size := 0, int64(0)
	enough := errors.New("enough")
	err := blob.Walk(ctx, h.rt.Blobs, tree, func(r event.Ref) error {
		files, size = files+1, size+r.Size
		if files > maxHomeFiles || size > maxHomeBytes {
			return enough
		}
		return nil
	})
	if err == enough {
		return false, nil
	}
	return err == nil, err
}

// make makes a workspace with one file, or with all.
func (h *homes) make(ctx context.Context, tree event.TreeRef, name string, file *blob.Entry) (err error) {
	if h.temp == nil {
		if h.temp, err = scratch.New("", "lyceum-again-"); err != nil {
			return err
		}
	}
	if err := h.clear(); err != nil {
		return err
	}
	h.made++
	dir := path.Join(h.temp.Path, fmt.Sprint(h.made))
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	if h.root, err = os.OpenRoot(dir); err != nil {
		return err
	}
	if file == nil {
		return blob.Restore(ctx, h.rt.Blobs, tree, h.root)
	}
	data, err := h.rt.Blobs.Get(ctx, file.Hash)
	if err != nil {
		return err
	}
	return errors.Join(h.root.MkdirAll(path.Dir(name), 0o700), h.root.WriteFile(name, data, 0o600))
}

// clear takes the last one away.
func (h *homes) clear() error {
	if h.root == nil {
		return nil
	}
	dir := h.root.Name()
	err := h.root.Close()
	h.root, h.of = nil, ""
	return errors.Join(err, runtime.RemoveTree(dir))
}

func (h *homes) close() error {
	if h.temp == nil {
		return nil
	}
	return errors.Join(h.clear(), runtime.RemoveTree(h.temp.Path), h.temp.Close())
}
