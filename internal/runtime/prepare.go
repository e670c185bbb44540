package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"lyceum/internal/agent"
	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/tool"
	"lyceum/internal/workspace"

	"github.com/go-json-experiment/json"
)

// What a call of a society's own tool may bring along.
const (
	maxFiles    = 100
	maxAttached = 64 << 20
	maxValue    = 1 << 10
	maxValues   = 50
	maxContent  = 1 << 20
)

// startOwn does the world's part of a tool that the rules answer, if it has one.
func (l *live) startOwn(ctx context.Context, seq uint64, name string, u *agent.Use, own *quest.OwnTool, args string) {
	desk, on := l.desks[name], l.terms(name, own.Name)
	switch own.Step {
	case quest.PreparedTool:
		l.launch(ctx, seq, func(ctx context.Context) ([]event.Draft, error) {
			free, err := desk.slot(ctx)
			if err != nil {
				return nil, err
			}
			defer free()
			tab := l.storage.tab(name)
			body, blobs, err := l.prepareCall(tab.on(ctx), desk, seq, own, args, on)
			if full, _ := unkept(err); full != nil {
				body, blobs, err = &event.ToolPrepared{Call: seq, Error: "error: there is no room to keep this: " + AtMost(err.Error(), 2000), Full: full}, nil, nil
			}
			if err != nil {
				return nil, fmt.Errorf("prepare tool.call %d: %w", seq, err)
			}
			tab.small(blobs)
			body.Stored = tab.taken()
			draft := desk.draft(seq, body)
			draft.Tool, draft.Blobs = own.Name, blobs
			return []event.Draft{draft}, nil
		})
	case quest.DeliveredTool:
		if quest.ReadsSkills(own.Name) {
			l.launchOwn(ctx, seq, desk, l.skillSpec(own, l.state.Agent(name).Limit), args, on)
			return
		}
		folder, refused := l.state.Deliver(l.state.Agent(name), u)
		window := l.state.Agent(name).Limit
		spec := tool.Tool{Tool: own.Tool, Writes: !own.Reads, Run: func(ctx context.Context, c tool.Call) (string, error) {
			if refused != nil {
				return "", refused
			}
			if folder.Excerpt != nil {
				return l.rt.Excerpt(ctx, folder.Excerpt, window)
			}
			if folder.Path != "" {
				if err := l.deliver(ctx, c.Home, folder); err != nil {
					return "", err
				}
			}
			if folder.Find != nil {
				return l.find(ctx, folder)
			}
			if folder.Trees != nil {
				return l.differ(ctx, folder)
			}
			if folder.Event != 0 {
				return l.recall(ctx, folder)
			}
			return l.said(ctx, folder)
		}}
		l.launchOwn(ctx, seq, desk, spec, args, on)
	}
}

// launchOwn runs what the world has to do for an own tool, at the agent's desk.
func (l *live) launchOwn(ctx context.Context, seq uint64, desk *desk, spec tool.Tool, args string, on terms) {
	desk.begin()
	l.launch(ctx, seq, func(ctx context.Context) ([]event.Draft, error) {
		free, err := desk.slot(ctx)
		if err != nil {
			desk.done(false)
			return nil, err
		}
		defer free()
		drafts, err := l.runTool(ctx, desk, seq, spec, args, on)
		if err != nil {
			return nil, fmt.Errorf("tool.call %d: %w", seq, err)
		}
		return drafts, nil
	})
}

// slot waits until a tool of the agent may run: so many of its own do at the same time,
// and nobody else's wait for them.
func (d *desk) slot(ctx context.Context) (free func(), err error) {
	select {
	case d.slots <- struct{}{}:
		return func() { <-d.slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// prepareCall reads what the rules cannot: long texts, and files of the agent's home.
// What is wrong with them is for the agent to mend.
func (l *live) prepareCall(ctx context.Context, d *desk, seq uint64, own *quest.OwnTool, args string, on terms) (*event.ToolPrepared, [][]byte, error) {
	body := &event.ToolPrepared{Call: seq}
	t := &texts{rt: l.rt}
	var failed error
	spec := tool.Tool{Tool: own.Tool, Run: func(ctx context.Context, c tool.Call) (string, error) {
		given := map[string]any{}
		if err := json.Unmarshal(c.Args, &given); err != nil {
			return "", err
		}
		// What goes wrong with our own storage is not the agent's fault.
		var fault error
		fault, failed = l.read(ctx, c, t, own, given, body)
		return "", fault
	}}
	registry, err := tool.New(spec)
	if err != nil {
		return nil, nil, err
	}
	out := registry.Run(ctx, own.Name, tool.Call{ID: commandID(seq), Args: []byte(args), Home: d.home, Closed: on.closed, Bounds: on.bounds})
	if failed != nil || ctx.Err() != nil {
		return nil, nil, errors.Join(failed, ctx.Err())
	}
	text := out.Text
	if !out.Error {
		fits, err := t.holds(ctx, body)
		if fits || err != nil {
			return body, t.small, err
		}
		text = "error: the arguments are too long together: shorten the names of the files, and what is not the content"
	}
	return &event.ToolPrepared{Call: seq, Error: AtMost(l.rt.Redact(text), 4000)}, nil, nil
}

// holds reports whether an event can hold a body, if need be with its content in a
// blob.
func (t *texts) holds(ctx context.Context, body *event.ToolPrepared) (bool, error) {
	_, tooLong := event.EncodeBody(body)
	if tooLong == nil || body.Content == nil || body.Content.Ref != nil {
		return tooLong == nil, nil
	}
	ref, err := t.put(ctx, []byte(body.Content.Text))
	if err != nil {
		return false, err
	}
	body.Content = &event.Text{Ref: &ref}
	_, tooLong = event.EncodeBody(body)
	return tooLong == nil, nil
}

// read takes the arguments of a call apart, in the order of their names, so that what
// is wrong is always told in the same words.
func (l *live) read(ctx context.Context, c tool.Call, t *texts, own *quest.OwnTool, given map[string]any, body *event.ToolPrepared) (fault, failed error) {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		value := given[name]
		text, _ := value.(string)
		switch {
		case name == own.Folder:
			if fault, failed = l.attachFolder(ctx, c, text, body); fault != nil || failed != nil {
				return fault, failed
			}
		case own.Folder != "": // the rules read it
		case name == own.Files:
			paths, _ := value.([]any)
			if fault, failed = l.attach(ctx, c, own, paths, body); fault != nil || failed != nil {
				return fault, failed
			}
		case name == own.Content:
			if len(text) > maxContent {
				return fmt.Errorf("%s has %d bytes; at most %d are allowed: put the rest into attached files", name, len(text), maxContent), nil
			}
			text = plain.Told(text, plain.Controls) // others read it
			found := l.state.Scan(own.Name, Clean(l.rt.Redact(text)))
			body.Abstract, body.Citations, body.Loose, body.Numbers = found.Abstract, found.Citations, found.Loose, found.Numbers
			content, err := t.of(ctx, text, maxInline/2)
			if err != nil {
				return nil, err
			}
			body.Content = &content
		default:
			if fault := l.readValue(name, value, body); fault != nil {
				return fault, nil
			}
		}
	}
	return nil, nil
}

// readValue takes an argument that is short, or the short ones of a list or an object.
func (l *live) readValue(name string, value any, body *event.ToolPrepared) error {
	for _, v := range quest.Values(name, value) {
		switch {
		case len(v.Text) > maxValue:
			return fmt.Errorf("%s has %d bytes; at most %d are allowed", AtMost(v.Name, 100), len(v.Text), maxValue)
		case len(body.Values) == maxValues:
			return fmt.Errorf("there are more than %d arguments, items of lists included", maxValues)
		}
		body.Values = append(body.Values, event.NamedText{Name: v.Name, Text: plain.Told(l.rt.Redact(v.Text), plain.Controls|plain.Papers)})
	}
	return nil
}

// attach copies files of a home, by name, into a tree.
func (l *live) attach(ctx context.Context, c tool.Call, own *quest.OwnTool, paths []any, body *event.ToolPrepared) (fault, failed error) {
	if len(paths) > maxFiles {
		return fmt.Errorf("%d files are attached; at most %d are allowed", len(paths), maxFiles), nil
	}
	var tree blob.Tree
	left := int64(maxAttached)
	for _, p := range paths {
		text, _ := p.(string)
		e, fault, failed := l.attachOne(ctx, c, text, &left)
		if fault != nil || failed != nil {
			return fault, failed
		}
		if slices.ContainsFunc(tree, func(o blob.Entry) bool { return strings.EqualFold(o.Name, e.Name) }) {
			return fmt.Errorf("two of the files are called %q; rename one: all come into one folder", e.Name), nil
		}
		tree = append(tree, e)
	}
	if len(tree) == 0 {
		return nil, nil
	}
	slices.SortFunc(tree, func(a, b blob.Entry) int { return strings.Compare(a.Name, b.Name) })
	data, err := tree.Encode()
	if err != nil {
		return err, nil
	}
	ref, err := l.rt.Blobs.Put(ctx, data)
	if err != nil {
		return nil, err
	}
	for _, e := range tree {
		body.Files = append(body.Files, e.Name)
		// A society's own copies are made of what is recorded, when nobody can be refused any
		// more, and they share nothing with each other.
		if err := blob.Charge(ctx, own.Copies*blob.Blocks(e.Size)); err != nil {
			return nil, err
		}
	}
	body.Tree = new(event.TreeRef(ref))
	return nil, nil
}

func (l *live) attachOne(ctx context.Context, c tool.Call, name string, left *int64) (e blob.Entry, fault, failed error) {
	short := AtMost(name, 200)
	base := path.Base(path.Clean(name))
	if fault := attachable(base); fault != nil {
		return e, fault, nil
	}
	if plain.People.In(base) {
		return e, fmt.Errorf("the name of %q has characters that cannot be seen; rename it", base), nil
	}
	notOurs := fmt.Errorf("%q cannot be attached: it is not a file of your home, nor a relative link to one; copy it there", short)
	inside, err := workspace.Path(name)
	if err != nil {
		return e, notOurs, nil
	}
	// Without waiting: it may be a pipe that nobody writes to.
	f, err := c.Home.OpenFile(inside, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return e, fmt.Errorf("there is no file %q in your home", short), nil
	case errors.Is(err, fs.ErrPermission):
		return e, fmt.Errorf("%q cannot be read: change its mode, and that of the folders it is in", short), nil
	case err != nil:
		return e, notOurs, nil
	}
	defer f.Close()
	if err := c.Readable(f); err != nil {
		return e, fmt.Errorf("%q cannot be attached: %w", short, err), nil
	}
	info, err := f.Stat()
	tooLarge := fmt.Errorf("%q makes the attached files larger than %d MiB together; attach less", short, maxAttached>>20)
	switch {
	case err != nil:
		return e, nil, err
	case info.IsDir():
		return e, fmt.Errorf("%q is a folder; attach its files, or an archive of it", short), nil
	case !info.Mode().IsRegular():
		return e, fmt.Errorf("%q is not a plain file", short), nil
	case info.Size() > *left:
		return e, tooLarge, nil
	}
	if l.rt.Secrets != nil {
		held, err := holdsOneOf(io.LimitReader(f, *left), l.rt.Secrets())
		if err != nil {
			return e, nil, err
		}
		if held {
			return e, fmt.Errorf("%q holds a key that must not be published", short), nil
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return e, nil, err
		}
	}
	// It may grow while it is read: one byte too many tells.
	ref, err := l.rt.Blobs.Create(ctx, io.LimitReader(f, *left+1))
	if err != nil {
		return e, nil, err
	}
	if *left -= ref.Size; *left < 0 {
		return e, tooLarge, nil
	}
	e = blob.Entry{Name: base, Kind: blob.File, Mode: blob.ModePlain, Hash: ref.Hash, Size: ref.Size}
	if info.Mode()&0o100 != 0 {
		e.Mode = blob.ModeExec
	}
	return e, nil, nil
}
