package service

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"lyceum/internal/blob"
	blobfs "lyceum/internal/blob/fs"
	"lyceum/internal/event"
	"lyceum/internal/repo"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"

	"github.com/google/go-cmp/cmp"
)

// ground is a home that an executor works in, and what it began with.
type ground struct {
	t     *testing.T
	rt    *runtime.Runtime
	dir   string
	repo  *event.RepoSpec
	begun event.TreeRef
}

func check(t *testing.T, what string, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("could not %s: %v", what, err)
	}
}

// newGround makes a home with files that are tracked, and some that were prepared.
func newGround(t *testing.T) *ground {
	t.Helper()
	store, err := blobfs.Open(filepath.Join(t.TempDir(), "blobs"), nil)
	check(t, "open the store", err)
	t.Cleanup(func() { check(t, "close the store", store.Close()) })
	g := &ground{t: t, rt: &runtime.Runtime{Blobs: store}, dir: t.TempDir(), repo: &event.RepoSpec{LeftOut: []event.Skipped{{Path: "vendor/mod", Reason: "it is a submodule"}}}}
	for name, text := range map[string]string{
		".gitignore": "out/\n*.log\n", "cmd/main.go": "package main\n", "cmd/old.go": "package main\n\nvar old int\n", "docs/a.md": "# A\n", "go.mod": "module x\n", "bin/run": "#!/bin/sh\n", "data.bin": "\x00\x01\x02",
	} {
		g.write(name, text)
	}
	g.repo.Tree, _ = g.snapshot()
	g.write("out/prepared", "1\n")
	g.begun, _ = g.snapshot()
	return g
}

func (g *ground) at(name string) string { return filepath.Join(g.dir, filepath.FromSlash(name)) }

func (g *ground) write(name, text string) {
	g.t.Helper()
	check(g.t, "make a folder", os.MkdirAll(filepath.Dir(g.at(name)), 0o755))
	check(g.t, "write a file", os.WriteFile(g.at(name), []byte(text), 0o644))
}

func (g *ground) snapshot() (event.TreeRef, []blob.Skipped) {
	g.t.Helper()
	home, err := os.OpenRoot(g.dir)
	check(g.t, "open the home", err)
	defer home.Close()
	tree, _, skipped, err := runtime.SnapshotHome(g.t.Context(), g.rt.Blobs, home, nil, []string{repo.Dir})
	check(g.t, "record the home", err)
	return tree, skipped
}

// manifest is one that names files of the home with their checksums.
func (g *ground) manifest(files ...string) string {
	g.t.Helper()
	text := "manifest_id: m\nsession_id: q\ngenerated_at: 2026-01-31T12:00:00Z\nenvironment_fingerprint: f\nitems:\n  - {type: patch, ref: ., generated_by: me}\n"
	for _, name := range files {
		data, err := os.ReadFile(g.at(name))
		check(g.t, "read an artifact", err)
		sum := sha256.Sum256(data)
		text += fmt.Sprintf("  - {type: doc, ref: %q, generated_by: me, checksum: %s}\n", name, hex.EncodeToString(sum[:]))
	}
	return text
}

func (g *ground) call(include ...string) *event.InspectionCall {
	return &event.InspectionCall{Begun: g.begun, Manifest: event.Text{Text: g.manifest()}, Run: 1, Scope: event.TaskScope{Include: include, NoTouch: []string{"go.mod"}}, Task: "t", Worker: "w"}
}

// inspect looks at the home as it is now.
func (g *ground) inspect(call *event.InspectionCall) *event.InspectionResult {
	g.t.Helper()
	home, skipped := g.snapshot()
	x := &inspection{rt: g.rt, call: call, repo: g.repo, home: &home, skipped: skipped}
	check(g.t, "inspect", x.inspect(g.t.Context()))
	check(g.t, "fit the result", x.fit())
	_, err := event.EncodeBody(&x.InspectionResult)
	check(g.t, "record the result", err)
	if d := g.witness(call, &x.InspectionResult); d != nil {
		g.t.Errorf("verify says of what was just found: %+v", d)
	}
	return &x.InspectionResult
}

func (g *ground) witness(call event.Body, result event.Body) *audit.Difference {
	g.t.Helper()
	w := Architect{}.Witness(g.rt, event.Event{}, &event.QuestCreated{Repo: g.repo}, func(event.Event, string, ...any) {})
	defer w.Close()
	d, err := w.Looks()[call.Type()].At(g.t.Context(), event.Event{Seq: 1, Body: call}, event.Event{Seq: 2, Body: result})
	check(g.t, "verify", err)
	return d
}

// files are those of a tree, with the first bit that makes them programs, and links.
func (g *ground) files(tree event.TreeRef) map[string]string {
	g.t.Helper()
	root, err := os.OpenRoot(g.t.TempDir())
	check(g.t, "open a folder", err)
	defer root.Close()
	check(g.t, "restore", blob.Restore(g.t.Context(), g.rt.Blobs, tree, root))
	return g.filesIn(root.Name())
}

func (g *ground) filesIn(dir string) map[string]string {
	g.t.Helper()
	out := map[string]string{}
	check(g.t, "list", filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, p)
		if target, err := os.Readlink(p); err == nil {
			out[name] = "-> " + target
			return nil
		}
		data, err := os.ReadFile(p)
		info, _ := d.Info()
		out[name] = fmt.Sprintf("%v %q", info.Mode()&0o100 != 0, data)
		return err
	}))
	return out
}

func paths(list []event.Skipped) (out []string) {
	for _, s := range list {
		out = append(out, s.Path)
	}
	return out
}

// TestWorkIsTakenOver: the tree is what the home began with and the changes, and the patch
// makes it of the base with git alone.
func TestWorkIsTakenOver(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("cmd/main.go", "package main\n\nfunc main() {}\n")
	g.write("cmd/sub/new.go", "package sub\n")
	check(t, "remove", os.Remove(g.at("cmd/old.go")))
	check(t, "chmod", os.Chmod(g.at("bin/run"), 0o755))
	check(t, "link", os.Symlink("main.go", g.at("cmd/link")))
	g.write("data.bin", "\x00\xff\x00")
	g.write("out/made", "left out\n")
	g.write("out/prepared", "changed by a build\n")
	g.write("debug.log", "left out\n")
	g.write(".lyceum/notes", "ours\n")
	g.write(".git/config", "[core]\n\thooksPath = /tmp\n")
	r := g.inspect(g.call("cmd/", "bin/run", "data.bin"))
	if len(r.Outside) > 0 || len(r.Findings) > 0 || r.Error.Text != "" || r.Tree == nil || r.Patch == nil {
		t.Fatalf("good work: got %+v, want it taken over", r)
	}
	want := []event.TaskChange{
		{Kind: "mode", Path: "bin/run"}, {Kind: "link", Path: "cmd/link", Added: 1}, {Added: 2, Kind: "changed", Path: "cmd/main.go"}, {Kind: "removed", Path: "cmd/old.go", Removed: 3},
		{Added: 1, Kind: "added", Path: "cmd/sub/new.go"}, {Kind: "changed", Path: "data.bin"},
	}
	if d := cmp.Diff(want, r.Changes); d != "" || r.Files != 6 {
		t.Errorf("%d files, changes (-want +got):\n%s", r.Files, d)
	}
	if got := paths(r.Ignored); !slices.Equal(got, []string{"debug.log", "out/made", "out/prepared"}) {
		t.Errorf("left out: got %v", got)
	}
	after := g.files(*r.Tree)
	if after["out/prepared"] != `false "1\n"` || after["out/made"] != "" || after[".lyceum/notes"] != "" || after[".git/config"] != "" || after["cmd/link"] != "-> main.go" {
		t.Errorf("the tree has what is no part of the work: %v", after)
	}
	patch, err := g.rt.Blobs.Get(t.Context(), r.Patch.Hash)
	check(t, "read the patch", err)
	if got := g.applied(g.begun, patch); !cmp.Equal(got, after) {
		t.Errorf("the patch makes something else of the base (-want +got):\n%s", cmp.Diff(after, got))
	}
}

// applied is what git makes of a tree by a patch.
func (g *ground) applied(tree event.TreeRef, patch []byte) map[string]string {
	g.t.Helper()
	root, err := os.OpenRoot(g.t.TempDir())
	check(g.t, "open a folder", err)
	defer root.Close()
	check(g.t, "restore", blob.Restore(g.t.Context(), g.rt.Blobs, tree, root))
	cmd := exec.Command("git", "apply", "--whitespace=nowarn", "-")
	cmd.Dir, cmd.Stdin, cmd.Env = root.Name(), bytes.NewReader(patch), append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(root.Name()))
	out, err := cmd.CombinedOutput()
	if err != nil {
		g.t.Fatalf("git apply: %v\n%s", err, out)
	}
	return g.filesIn(root.Name())
}

// TestHostileHomes: each way out of a scope is found, and nothing is taken over.
func TestHostileHomes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		do   func(g *ground)
		path string
		why  string
	}{
		"AFileOutside":     {func(g *ground) { g.write("docs/b.md", "x") }, "docs/b.md", "include"},
		"NoTouch":          {func(g *ground) { g.write("go.mod", "module y\n") }, "go.mod", "go.mod"},
		"NoTouchByCase":    {func(g *ground) { g.write("GO.mod", "module y\n") }, "GO.mod", "go.mod"},
		"NoTouchByWidth":   {func(g *ground) { g.write("\uff47o.mod", "module y\n") }, "\uff47o.mod", "go.mod"},
		"Removed":          {func(g *ground) { check(g.t, "remove", os.Remove(g.at("docs/a.md"))) }, "docs/a.md", "include"},
		"RenamedOut":       {func(g *ground) { check(g.t, "rename", os.Rename(g.at("cmd/main.go"), g.at("docs/main.go"))) }, "docs/main.go", "include"},
		"RenamedIn":        {func(g *ground) { check(g.t, "rename", os.Rename(g.at("docs/a.md"), g.at("cmd/a.md"))) }, "docs/a.md", "include"},
		"RenamedByCase":    {func(g *ground) { check(g.t, "rename", os.Rename(g.at("go.mod"), g.at("cmd/Go.mod"))) }, "go.mod", "go.mod"},
		"Mode":             {func(g *ground) { check(g.t, "chmod", os.Chmod(g.at("docs/a.md"), 0o755)) }, "docs/a.md", "include"},
		"LinkOut":          {func(g *ground) { check(g.t, "link", os.Symlink("/etc/passwd", g.at("cmd/x"))) }, "cmd/x", "leads out"},
		"LinkUp":           {func(g *ground) { check(g.t, "link", os.Symlink("../../x", g.at("cmd/x"))) }, "cmd/x", "leads out"},
		"LinkIntoGit":      {func(g *ground) { check(g.t, "link", os.Symlink("../.git/config", g.at("cmd/x"))) }, "cmd/x", "leads out"},
		"LinkThroughALink": {func(g *ground) { g.link("cmd/y", "sub"); g.link("cmd/x", "y/../../..") }, "cmd/x", "leads out"},
		"ALinkForAFolder":  {func(g *ground) { check(g.t, "remove", os.RemoveAll(g.at("docs"))); g.link("docs", "cmd") }, "docs", "include"},
		"AFileForAFolder":  {func(g *ground) { check(g.t, "remove", os.RemoveAll(g.at("docs"))); g.write("docs", "x") }, "docs", "include"},
		"ASubmodule":       {func(g *ground) { g.write("cmd/sub/.git", "gitdir: ../../.git/modules/sub\n") }, "cmd/sub/.git", "git's own"},
		"ASubmoduleFolder": {func(g *ground) { g.write("cmd/sub/.git/config", "x") }, "cmd/sub/.git/config", "git's own"},
		"GitByAnotherName": {func(g *ground) { g.write("cmd/GIT~1/config", "x") }, "cmd/GIT~1/config", "git's own"},
		"WhatWasLeftOut":   {func(g *ground) { g.write("vendor/mod/x", "x") }, "vendor/mod/x", "submodule"},
		"ABackslash":       {func(g *ground) { g.write(`cmd/a\b`, "x") }, `cmd/a\b`, "backslash"},
		"NotToBeSeen":      {func(g *ground) { g.write("cmd/a\u202eb", "x") }, "cmd/a", "cannot be seen"},
		"IgnoreOfItsOwn":   {func(g *ground) { g.write(".gitignore", "docs/\n"); g.write("docs/new", "x") }, "docs/new", "include"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGround(t)
			c.do(g)
			r := g.inspect(g.call("cmd/", "vendor/"))
			i := slices.IndexFunc(r.Outside, func(s event.Skipped) bool { return strings.HasPrefix(s.Path, c.path) })
			if i < 0 || !strings.Contains(r.Outside[i].Reason, c.why) || r.Tree != nil || r.Patch != nil {
				t.Errorf("got outside %v, tree %v; want %q there (%s) and nothing taken over", r.Outside, r.Tree, c.path, c.why)
			}
		})
	}
}

func (g *ground) link(name, target string) {
	g.t.Helper()
	check(g.t, "link", os.Symlink(target, g.at(name)))
}

// TestOddHomesDoNoHarm: what cannot be recorded is named, and the work beside it stands.
func TestOddHomesDoNoHarm(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("cmd/main.go", "package main // changed\n")
	check(t, "fifo", syscall.Mkfifo(g.at("cmd/pipe"), 0o600))
	check(t, "socket", syscall.Mknod(g.at("s"), syscall.S_IFSOCK|0o600, 0))
	check(t, "a name that is no UTF-8", os.WriteFile(g.at("cmd/a\xff"), []byte("x"), 0o644))
	r := g.inspect(g.call("cmd/"))
	if len(r.Outside) > 0 || r.Tree == nil || r.Files != 1 {
		t.Errorf("got %+v, want the one change taken over", r)
	}
	for _, want := range []string{"cmd/pipe", "s", `"cmd/a\xff"`} {
		if !slices.ContainsFunc(r.Ignored, func(s event.Skipped) bool {
			return strings.HasPrefix(s.Path, want) && strings.Contains(s.Reason, "cannot be recorded")
		}) {
			t.Errorf("left out: got %v, want %s", r.Ignored, want)
		}
	}
}

func TestReadOnlyWorkChangesNothing(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	call := g.call(".")
	call.ReadOnly = true
	if r := g.inspect(call); len(r.Outside) > 0 || r.Tree == nil || *r.Tree != g.begun || r.Files != 0 {
		t.Errorf("nothing was changed: got %+v, want what it began with", r)
	}
	g.write("cmd/main.go", "x")
	if r := g.inspect(call); len(r.Outside) != 1 || !strings.Contains(r.Outside[0].Reason, "read-only") || r.Tree != nil {
		t.Errorf("a file was changed: got %+v, want it refused", r)
	}
}

func TestTooMuchIsRefused(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	for i := range 2001 {
		g.write(fmt.Sprintf("cmd/%d", i), "x")
	}
	r := g.inspect(g.call("cmd/"))
	if r.Tree != nil || r.Files != 2001 || !strings.Contains(r.Error.Text, "2001 files have changed, most of them in cmd") || len(r.Outside) > 0 {
		t.Errorf("got %d files, tree %v, %q; want it refused by their number", r.Files, r.Tree, r.Error.Text)
	}
	check(t, "remove", os.RemoveAll(g.at("cmd")))
	g.write("cmd/large", strings.Repeat("x", 21<<20))
	if r := g.inspect(g.call("cmd/")); r.Tree != nil || !strings.Contains(r.Error.Text, "21 MiB, the largest is cmd/large") {
		t.Errorf("got tree %v, %q; want it refused by its size", r.Tree, r.Error.Text)
	}
}

// TestManyFindingsFitAnEvent: paths that are long and many, and outside.
func TestManyFindingsFitAnEvent(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	for i := range 300 {
		g.write(fmt.Sprintf("docs/%03d%s", i, strings.Repeat("\u00e9\"", 70)), "x")
	}
	r := g.inspect(g.call("cmd/"))
	if n := int64(len(r.Outside)); n < 10 || n+r.More != 300 || r.Files != 300 {
		t.Errorf("got %d outside and %d more of %d, want 300 together", n, r.More, r.Files)
	}
}

func TestManifestIsHeldToWhatIsThere(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("out/report.md", "# Report\n"+strings.Repeat("line\n", 2000))
	g.write("out/short.md", "short\n")
	good := g.manifest("out/report.md", "out/short.md")
	g.link("out/link", "short.md")
	inspect := func(manifest string) *event.InspectionResult {
		call := g.call("cmd/")
		call.Manifest.Text = manifest
		return g.inspect(call)
	}
	r := inspect(good)
	if len(r.Findings) > 0 || r.Manifest == nil || len(r.Manifest.Items) != 3 {
		t.Fatalf("a true manifest: got %+v", r)
	}
	if i := r.Manifest.Items[2]; i.Preview.Text != "short\n" || i.File == nil || i.File.Size != 6 {
		t.Errorf("a short artifact: got %+v", i)
	}
	if i := r.Manifest.Items[1]; i.File == nil || i.File.Size != 10009 || i.Preview.Size() != 4<<10 {
		t.Errorf("a long artifact: got %+v, want 4 KiB of it", i)
	}
	sum := strings.Repeat("a", 64)
	for want, change := range map[string][2]string{
		"there is no such file": {"out/short.md", "out/none.md"},
		"and you said aaaa":     {good[len(good)-66 : len(good)-2], sum},
		"it is a link":          {"out/short.md", "out/link"},
		"it is a folder":        {"out/short.md", "out"},
		"it is not in your":     {"out/short.md", "/etc/passwd"},
		"is none of patch":      {"type: doc", "type: code"},
	} {
		bad := strings.Replace(good, change[0], change[1], 1)
		r := inspect(bad)
		if bad == good || !strings.Contains(strings.Join(r.Findings, "\n"), want) {
			t.Errorf("%s for %s: got %q, want %q", change[1], change[0], r.Findings, want)
		}
	}
	if r := inspect(""); len(r.Findings) != 1 || !strings.Contains(r.Findings[0], "artifact_manifest") || r.Manifest != nil {
		t.Errorf("no manifest: got %+v, want that told, and none made up", r)
	}
	g.write(".lyceum/manifest.yaml", good)
	if r := inspect(""); len(r.Findings) > 0 || r.Manifest == nil || r.Manifest.Task != "t" || r.Manifest.Run != 1 || r.Files != 0 || len(r.Outside) > 0 {
		t.Errorf("a manifest in a file: got %+v", r)
	}
	large, err := os.Create(g.at("out/large"))
	check(t, "make a large file", err)
	check(t, "make it large", large.Truncate(1<<30))
	check(t, "close", large.Close())
	if r := inspect(strings.Replace(good, "out/short.md", "out/large", 1)); len(r.Findings) != 1 || !strings.Contains(r.Findings[0], "it has 1024 MiB, and an artifact may have 64") || r.Manifest.Items[2].File != nil {
		t.Errorf("a large artifact: got %v, %+v", r.Findings, r.Manifest)
	}
	check(t, "remove", errors.Join(os.Remove(g.at("out/large")), os.Remove(g.at(".lyceum/manifest.yaml"))))
	g.link(".lyceum/manifest.yaml", "../out/short.md")
	if r := inspect(""); len(r.Findings) != 1 || !strings.Contains(r.Findings[0], "links are not followed") {
		t.Errorf("a manifest that is a link: got %v", r.Findings)
	}
}

// TestVerifyFindsWhatWasNotSo: each lie about an inspection or a merge.
func TestVerifyFindsWhatWasNotSo(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	g.write("cmd/main.go", "package main // changed\n")
	call := g.call("cmd/")
	call.Manifest.Text = g.manifest("cmd/main.go")
	honest := *g.inspect(call)
	for name, lie := range map[string]func(call *event.InspectionCall, r *event.InspectionResult){
		"AnotherScope":    func(c *event.InspectionCall, _ *event.InspectionResult) { c.Scope.Include = []string{"docs/"} },
		"AnotherPatch":    func(_ *event.InspectionCall, r *event.InspectionResult) { r.Patch = new(event.RefOf([]byte("x"))) },
		"NoPatch":         func(_ *event.InspectionCall, r *event.InspectionResult) { r.Patch = nil },
		"NoTree":          func(_ *event.InspectionCall, r *event.InspectionResult) { r.Tree = nil },
		"AnotherTree":     func(_ *event.InspectionCall, r *event.InspectionResult) { r.Tree = &g.begun },
		"MoreFiles":       func(_ *event.InspectionCall, r *event.InspectionResult) { r.Files++ },
		"OutsideAndTaken": func(_ *event.InspectionCall, r *event.InspectionResult) { r.Outside = []event.Skipped{{Path: "x"}} },
		"AFalseChecksum": func(_ *event.InspectionCall, r *event.InspectionResult) {
			m := *r.Manifest
			m.Items = slices.Clone(m.Items)
			m.Items[1].Checksum = strings.Repeat("a", 64)
			r.Manifest = &m
		},
	} {
		c, r := *call, honest
		lie(&c, &r)
		if g.witness(&c, &r) == nil {
			t.Errorf("%s: verify finds nothing", name)
		}
	}
}

// changed is the tree that comes of a change to the base.
func (g *ground) changed(do func()) event.TreeRef {
	g.t.Helper()
	do()
	tree, _ := g.snapshot()
	check(g.t, "remove", os.RemoveAll(g.dir))
	root := g.dir
	check(g.t, "make", os.Mkdir(root, 0o755))
	home, err := os.OpenRoot(root)
	check(g.t, "open", err)
	defer home.Close()
	check(g.t, "restore", blob.Restore(g.t.Context(), g.rt.Blobs, g.begun, home))
	return tree
}

func TestMerge(t *testing.T) {
	t.Parallel()
	g := newGround(t)
	one := g.changed(func() { g.write("cmd/main.go", "package main // one\n"); g.write("cmd/new/x.go", "x") })
	two := g.changed(func() {
		g.write("docs/b.md", "# B\n")
		check(t, "remove", os.Remove(g.at("docs/a.md")))
		check(t, "chmod", os.Chmod(g.at("bin/run"), 0o755))
	})
	other := g.changed(func() { g.write("cmd/main.go", "package main // other\n") })
	gone := g.changed(func() { check(t, "remove", os.Remove(g.at("cmd/main.go"))) })
	file := g.changed(func() { g.write("cmd/new", "a file") })
	cased := g.changed(func() { g.write("DOCS/B.md", "# other\n") })
	merged := func(parts ...event.TreeRef) *event.MergeReport {
		call := &event.MergeCall{Base: g.begun}
		for i, p := range parts {
			call.Parts = append(call.Parts, event.MergePart{Task: fmt.Sprintf("t%d", i), Tree: p})
		}
		r, err := merge(t.Context(), g.rt, call)
		check(t, "merge", err)
		if d := g.witness(call, r); d != nil {
			t.Errorf("verify says of a merge that was just made: %+v", d)
		}
		lie := *r
		if lie.Files++; g.witness(call, &lie) == nil {
			t.Error("verify finds nothing about a merge of more files")
		}
		return r
	}
	r := merged(one, two, one)
	if len(r.Conflicts) > 0 || r.Tree == nil || r.Files != 5 {
		t.Fatalf("parts that do not meet: got %+v", r)
	}
	after := g.files(*r.Tree)
	for name, want := range map[string]string{"cmd/main.go": `false "package main // one\n"`, "cmd/new/x.go": `false "x"`, "docs/b.md": `false "# B\n"`, "docs/a.md": "", "bin/run": `true "#!/bin/sh\n"`, "go.mod": `false "module x\n"`} {
		if after[name] != want {
			t.Errorf("%s: got %s, want %s", name, after[name], want)
		}
	}
	patch, err := g.rt.Blobs.Get(t.Context(), r.Patch.Hash)
	check(t, "read the patch", err)
	if got := g.applied(g.begun, patch); !cmp.Equal(got, after) {
		t.Errorf("the patch makes something else of the base (-want +got):\n%s", cmp.Diff(after, got))
	}
	for name, c := range map[string]struct {
		parts []event.TreeRef
		path  string
	}{
		"DifferentContent": {[]event.TreeRef{one, other}, "cmd/main.go"},
		"ChangedAndGone":   {[]event.TreeRef{gone, other}, "cmd/main.go"},
		"AFileAndAFolder":  {[]event.TreeRef{one, file}, "cmd/new"},
		"TheOtherWay":      {[]event.TreeRef{file, one}, "cmd/new"},
		"ByCaseOnly":       {[]event.TreeRef{two, cased}, "docs/b.md"},
	} {
		r := merged(c.parts...)
		if !slices.ContainsFunc(r.Conflicts, func(s event.Skipped) bool {
			return strings.EqualFold(s.Path, c.path) && strings.Contains(s.Reason, "t0") && strings.Contains(s.Reason, "t1")
		}) || r.Tree != nil || r.Patch != nil {
			t.Errorf("%s: got %+v, want a conflict at %s and no tree", name, r, c.path)
		}
	}
	if r := merged(); r.Tree == nil || *r.Tree != g.begun || r.Files != 0 {
		t.Errorf("of nothing: got %+v, want the base", r)
	}
}
