package crate

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/runtime/service"
	"lyceum/internal/society/lab"
)

var labs = quest.Societies{lab.Society{}}

// labHome is a home that can hold labs.
func labHome(t *testing.T) *runtime.Runtime {
	t.Helper()
	rt := newHome(t)
	rt.Societies, rt.Workshops = labs, service.Workshops("")
	return rt
}

// labCrate is a lab's quest whose papers have attachments, in the first form: as it was
// exported by an earlier release.
func labCrate(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("../cli/testdata/before/lab-number.zip")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// labToday is the same crate as it is exported today.
func labToday(t *testing.T) []byte {
	t.Helper()
	rt := labHome(t)
	s, err := imported(t, rt, labCrate(t), "")
	if err != nil {
		t.Fatal(err)
	}
	return exported(t, rt, s.Name)
}

func TestAttachmentsAreNamedFiles(t *testing.T) {
	t.Parallel()
	files := unzip(t, labToday(t))
	graph := checkGraph(t, rezip(t, files))
	n := 0
	for i, f := range files {
		if _, own := map[string]bool{"publication.md": true, "reviews.md": true, "reproduction.txt": true}[f.name[strings.LastIndexByte(f.name, '/')+1:]]; own || !strings.HasPrefix(f.name, paperFolder) {
			continue
		}
		n++
		if e := graph[f.name]; e == nil || e["sha256"] != event.HashOf(f.data).String() {
			t.Errorf("%s is not described: %v", f.name, e)
		}
		for what, changed := range map[string][]file{
			"changed": replaced(files, i, file{name: f.name, data: append(bytes.Clone(f.data), '#')}),
			"missing": slices.Delete(slices.Clone(files), i, i+1),
			"renamed": replaced(files, i, file{name: f.name + "x", data: f.data}),
			"doubled": append(slices.Clone(files), file{name: f.name[:strings.LastIndexByte(f.name, '/')] + "/.git", data: f.data}),
		} {
			if _, err := imported(t, labHome(t), rezip(t, changed), ""); err == nil || !strings.Contains(err.Error(), "entry") {
				t.Errorf("%s is %s: got %v, want an error that says where", f.name, what, err)
			}
		}
	}
	if n == 0 {
		t.Fatal("no attachment is in the crate under its name")
	}
	if _, err := imported(t, labHome(t), rezip(t, files), ""); err != nil {
		t.Errorf("unchanged, it is refused: %v", err)
	}
}

// planted is a tree with one entry besides the attached file.
func planted(t *testing.T, put func(data []byte) event.Ref, honest blob.Tree, e blob.Entry) event.TreeRef {
	t.Helper()
	tree := append(slices.Clone(honest), e)
	slices.SortFunc(tree, func(a, b blob.Entry) int { return strings.Compare(a.Name, b.Name) })
	data, err := tree.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return event.TreeRef(put(data))
}

// What a paper's folder holds comes from a tree of the ledger, and a forged ledger could
// plant there what runs commands as soon as a person asks git for the status.
func TestAForgedAttachmentIsFound(t *testing.T) {
	t.Parallel()
	data := labCrate(t)
	plain, script := event.RefOf([]byte("x")), event.RefOf([]byte("[core]\n\tfsmonitor = touch /tmp/owned\n"))
	file := func(name string) blob.Entry {
		return blob.Entry{Name: name, Kind: blob.File, Mode: blob.ModePlain, Hash: plain.Hash, Size: plain.Size}
	}
	for name, c := range map[string]struct {
		entry func(put func([]byte) event.Ref) blob.Entry
		named bool
	}{
		"ARepositoryInAFolder": {func(put func([]byte) event.Ref) blob.Entry {
			git := folderOf(t, put, blob.Entry{Name: "config", Kind: blob.File, Mode: blob.ModePlain, Hash: script.Hash, Size: script.Size})
			git.Name = ".git"
			notes := folderOf(t, put, git)
			notes.Name = "notes"
			return notes
		}, true},
		"ABareRepository": {func(put func([]byte) event.Ref) blob.Entry {
			bare := folderOf(t, put, blob.Entry{Name: "config", Kind: blob.File, Mode: blob.ModePlain, Hash: script.Hash, Size: script.Size})
			bare.Name = "bare"
			return bare
		}, true},
		"ALink": {func(func([]byte) event.Ref) blob.Entry {
			return blob.Entry{Name: "link", Kind: blob.Link, Target: "/etc/passwd"}
		}, true},
		"AGitFile":            {func(func([]byte) event.Ref) blob.Entry { return file(".git") }, true},
		"AGitFileInCapitals":  {func(func([]byte) event.Ref) blob.Entry { return file(".GIT") }, true},
		"AGitFileWithASpace":  {func(func([]byte) event.Ref) blob.Entry { return file(".git ") }, true},
		"AGitFileWithAStream": {func(func([]byte) event.Ref) blob.Entry { return file(".git::$INDEX_ALLOCATION") }, true},
		"AShortName":          {func(func([]byte) event.Ref) blob.Entry { return file("GIT~1") }, true},
		"AnIgnoredCharacter":  {func(func([]byte) event.Ref) blob.Entry { return file(".g\u200cit") }, true},
		"Attributes":          {func(func([]byte) event.Ref) blob.Entry { return file(".gitattributes") }, true},
		"AFileNobodyNamed":    {func(func([]byte) event.Ref) blob.Entry { return file("more.py") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			extra := map[event.Hash][]byte{plain.Hash: []byte("x"), script.Hash: []byte("[core]\n\tfsmonitor = touch /tmp/owned\n")}
			put := func(data []byte) event.Ref {
				ref := event.RefOf(data)
				extra[ref.Hash] = data
				return ref
			}
			a, err := unpack(bytes.NewReader(data), int64(len(data)), standard)
			if err != nil {
				t.Fatal(err)
			}
			planting := c.entry(put)
			var forgedTree func(old event.TreeRef) event.TreeRef = func(old event.TreeRef) event.TreeRef {
				honest, err := blob.ReadTree(t.Context(), a, old)
				if err != nil {
					t.Fatal(err)
				}
				return planted(t, put, honest, planting)
			}
			change := func(_ event.Event, d *event.Draft) {
				switch b := d.Body.(type) {
				case *event.ToolPrepared:
					if b.Tree != nil {
						*b.Tree = forgedTree(*b.Tree)
						if c.named {
							b.Files = slices.Sorted(slices.Values(append(b.Files, planting.Name)))
						}
					}
				case *event.PublicationSubmitted:
					if b.Tree != nil {
						*b.Tree = forgedTree(*b.Tree)
						if c.named {
							b.Attachments = slices.Sorted(slices.Values(append(b.Attachments, planting.Name)))
						}
					}
				}
			}
			// Once to learn which blobs there are, and again with all of them.
			events, err := a.ledger(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				d := event.Draft{Body: e.Body}
				change(e, &d)
			}
			files := unzip(t, data)
			for h, blob := range extra {
				files = append(files, filed(h, blob))
			}
			forged := forgeIn(t, firstForm, rezip(t, files), labs, change)
			rt := labHome(t)
			_, err = imported(t, rt, forged, "")
			if err == nil || !strings.Contains(err.Error(), "seq ") || !strings.Contains(err.Error(), "attach") && !strings.Contains(err.Error(), "cannot be seen") {
				t.Errorf("got %v, want that what is attached is refused, and where", err)
			}
			// Nor does it get into a folder in any other way.
			folder, err := os.OpenRoot(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer folder.Close()
			for h, data := range extra {
				if ref, err := rt.Blobs.Put(t.Context(), data); err != nil || ref.Hash != h {
					t.Fatal(err)
				}
			}
			tree := planted(t, func(data []byte) event.Ref {
				ref, err := rt.Blobs.Put(t.Context(), data)
				if err != nil {
					t.Fatal(err)
				}
				return ref
			}, nil, planting)
			names := []string{planting.Name}
			if !c.named {
				names = nil
			}
			if err := rt.PutAttached(t.Context(), quest.Attached{Tree: tree, Files: names}, folder); err == nil {
				t.Error("it is put into a folder")
			}
			if left, err := fs.ReadDir(folder.FS(), "."); err != nil || len(left) > 0 {
				t.Errorf("in the folder there is %v, %v", left, err)
			}
			_ = filepath.WalkDir(rt.Home, func(path string, d fs.DirEntry, _ error) error {
				if d != nil && strings.HasPrefix(strings.ToLower(d.Name()), ".git") {
					t.Errorf("it has planted %s", path)
				}
				return nil
			})
		})
	}
}

// misled is a lab's workshop that writes what it should not.
type misled struct{ service.Lab }

func (m misled) Write(ctx context.Context, q *runtime.Quest) error {
	return errors.Join(m.Lab.Write(ctx, q), os.MkdirAll(filepath.Join(q.QuestDir(q.Key), "publications", "notes", ".git"), 0o755))
}

// What an import wrote is looked at as verify looks at it.
func TestImportLooksAtTheFolderItWrote(t *testing.T) {
	t.Parallel()
	rt := labHome(t)
	rt.Workshops = map[string]runtime.Workshop{"lab": misled{}}
	stray := filepath.Join(rt.QuestDir("lab-number"), "publications", "notes")
	if _, err := imported(t, rt, labCrate(t), ""); err == nil || !strings.Contains(err.Error(), stray) {
		t.Errorf("got %v, want that %s is no part of the quest", err, stray)
	}
	if heads, err := rt.Ledger.Quests(t.Context()); err != nil || len(heads) > 0 {
		t.Errorf("left behind: %v, %v", heads, err)
	}
}

func filed(h event.Hash, data []byte) file { return file{name: blobPath(h), data: data} }

// folderOf is a folder with one entry.
func folderOf(t *testing.T, put func([]byte) event.Ref, e blob.Entry) blob.Entry {
	t.Helper()
	data, err := blob.Tree{e}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	ref := put(data)
	return blob.Entry{Kind: blob.Dir, Hash: ref.Hash, Size: ref.Size}
}

// A workspace may hold a repository whose settings are commands: agents use git. Until its
// owner has it run, nothing of a stranger's workspace lies on this machine's disk.
func TestAStrangersWorkspaceIsNotUnpackedBeforeItRuns(t *testing.T) {
	t.Parallel()
	theirs := newHome(t)
	createQuest(t, theirs, "honest", map[string][]byte{".git/config": []byte("[core]\n\tfsmonitor = touch /tmp/owned\n"), "bare/HEAD": []byte("ref: refs/heads/main\n")})
	ours := newHome(t)
	if _, err := imported(t, ours, exported(t, theirs, "small"), ""); err != nil {
		t.Fatal(err)
	}
	if _, err := ours.Fork(t.Context(), "small", runtime.ForkOptions{Name: "branch"}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"small", "branch"} {
		_ = filepath.WalkDir(ours.QuestDir(name), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.Name() == ".git" || d.Name() == "HEAD" {
				t.Errorf("after the import there is %s, %v", path, err)
			}
			return nil
		})
	}
	if _, err := ours.Run(t.Context(), "small", runtime.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(ours.QuestDir("small"), "agents", "agent-0", ".git", "config")); err != nil {
		t.Errorf("when it runs, its agent has its workspace: %v", err)
	}
	if rep, err := audit.Verify(t.Context(), ours, "small", nil); err != nil || rep.Difference != nil {
		t.Errorf("after it ran: %+v, %v", rep, err)
	}
}
