package runtime

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"

	"github.com/rogpeppe/go-internal/diff"
)

// deliver puts a folder into an agent's home. What stood in its place is gone: it may
// be anything by now, links included, so it is made anew below the home's root. A
// command of the agent may still be at work there: nothing that it puts in the way is
// written to or waited for.
func (l *live) deliver(ctx context.Context, home *os.Root, d *quest.Delivery) error {
	inTheWay := fmt.Errorf("there is no way to put files at %s in your home: move away what is there, and try again", d.Path)
	if errors.Join(home.RemoveAll(d.Path), home.MkdirAll(d.Path, 0o755)) != nil {
		return inTheWay
	}
	folder, err := home.OpenRoot(d.Path)
	if err != nil {
		return inTheWay
	}
	defer folder.Close()
	if d.Attached != nil {
		if err := l.rt.PutAttached(ctx, *d.Attached, folder); err != nil {
			return fmt.Errorf("the attachments could not be put at %s in your home: make room, and see that nothing else writes there", d.Path)
		}
	}
	for _, t := range d.Texts {
		text, err := agent.Join(t.Parts, false, func(ref event.Ref) ([]byte, error) { return l.rt.Blob(ctx, ref) })
		if err == nil {
			err = writeNew(folder, t.Name, []byte(text))
		}
		if err != nil {
			return err
		}
	}
	if d.Diff != nil {
		if err := l.compare(ctx, folder, d.Diff); err != nil {
			return err
		}
	}
	if giveAll(home, d.Path) != nil {
		return inTheWay
	}
	return nil
}

// said is what the agent is told of a folder that it got: what the rules say, and the
// text that they show with it, as far as an agent sees an output whole.
func (l *live) said(ctx context.Context, d *quest.Delivery) (string, error) {
	if len(d.Shown) == 0 {
		return d.Said, nil
	}
	text, err := l.rt.Joined(ctx, d.Shown)
	if err != nil {
		return "", err
	}
	const note = "\n[… the rest is in the folder …]"
	text = Clean(text)
	if room := maxShown - len(d.Said) - 2; len(text) > room {
		text = event.Cut(text, max(room-len(note), 0)) + note
	}
	return d.Said + "\n\n" + text, nil
}

// writeNew makes a file that is not there. An open of what is there might follow a
// link, or wait for ever for somebody to read from a pipe.
func writeNew(folder *os.Root, name string, data []byte) error {
	f, err := folder.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// compare writes what has changed between two texts.
func (l *live) compare(ctx context.Context, folder *os.Root, texts *[2]event.Text) error {
	var sides [2]string
	for i, t := range texts {
		var err error
		if sides[i], err = l.rt.Joined(ctx, []event.Text{t}); err != nil {
			return err
		}
	}
	return writeNew(folder, "changes.diff", diff.Diff("before", []byte(sides[0]+"\n"), "after", []byte(sides[1]+"\n")))
}

// Joined is what some texts say together.
func (r *Runtime) Joined(ctx context.Context, parts []event.Text) (string, error) {
	var out strings.Builder
	for _, p := range parts {
		text, err := agent.Read(p, func(ref event.Ref) ([]byte, error) { return r.Blob(ctx, ref) })
		if err != nil {
			return "", err
		}
		out.WriteString(text)
	}
	return out.String(), nil
}

// giveAll makes files that Lyceum wrote as root, and the folders on the way, those of
// the home's owner.
func giveAll(home *os.Root, name string) error {
	info, err := home.Lstat(".")
	if err != nil || os.Geteuid() != 0 {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Uid == 0 {
		return nil
	}
	give := func(p string) error { return home.Lchown(p, int(st.Uid), int(st.Gid)) }
	for above := path.Dir(name); above != "."; above = path.Dir(above) {
		if err := give(above); err != nil {
			return err
		}
	}
	return fs.WalkDir(home.FS(), name, func(p string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return give(p)
	})
}
