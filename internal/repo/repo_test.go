package repo_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/blob/blobtest"
	"lyceum/internal/event"
	"lyceum/internal/need"
	"lyceum/internal/repo"
	"lyceum/internal/workspace"

	"github.com/google/go-cmp/cmp"
)

// person is somebody's machine: a folder for a repository, and their own settings of git.
type person struct {
	t    *testing.T
	dir  string
	home string
}

func newPerson(t *testing.T) *person {
	need.Program(t, "git")
	p := &person{t: t, dir: filepath.Join(t.TempDir(), "work"), home: t.TempDir()}
	p.must(os.MkdirAll(p.dir, 0o755))
	return p
}

func (p *person) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// git runs git as the person would.
func (p *person) git(args ...string) string {
	p.t.Helper()
	out, err := p.try(args...)
	if err != nil {
		p.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(out)
}

func (p *person) try(args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = p.dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C",
		"GIT_AUTHOR_NAME=Ada", "GIT_AUTHOR_EMAIL=ada@example.org", "GIT_COMMITTER_NAME=Ada", "GIT_COMMITTER_EMAIL=ada@example.org",
		"GIT_AUTHOR_DATE=1700000000 +0000", "GIT_COMMITTER_DATE=1700000000 +0000", "GIT_ALLOW_PROTOCOL=file",
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// write puts files into the folder; a text that begins with -> is a link, and one that begins
// with #! can be run.
func (p *person) write(files map[string]string) {
	p.t.Helper()
	for name, text := range files {
		at := filepath.Join(p.dir, name)
		p.must(os.MkdirAll(filepath.Dir(at), 0o755))
		if target, ok := strings.CutPrefix(text, "->"); ok {
			p.must(os.Symlink(target, at))
			continue
		}
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") {
			mode = 0o755
		}
		p.must(os.WriteFile(at, []byte(text), mode))
	}
}

// repository makes the folder one with a commit of files.
func (p *person) repository(files map[string]string, more ...string) string {
	p.t.Helper()
	p.git(append([]string{"init", "-q", "-b", "main"}, more...)...)
	p.write(files)
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "first")
	return p.git("rev-parse", "HEAD")
}

// files are what a tree holds, in the form that write takes.
func files(t *testing.T, store blob.Store, ref event.TreeRef) map[string]string {
	t.Helper()
	out := map[string]string{}
	var walk func(ref event.TreeRef, at string)
	walk = func(ref event.TreeRef, at string) {
		tree, err := blob.ReadTree(t.Context(), store, ref)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range tree {
			switch e.Kind {
			case blob.Dir:
				walk(event.TreeRef(e.Ref()), at+e.Name+"/")
			case blob.Link:
				out[at+e.Name] = "->" + e.Target
			default:
				data, err := store.Get(t.Context(), e.Hash)
				if err != nil {
					t.Fatal(err)
				}
				out[at+e.Name] = string(data)
				if (e.Mode == blob.ModeExec) != strings.HasPrefix(string(data), "#!") {
					t.Errorf("%s has mode %o", at+e.Name, e.Mode)
				}
			}
		}
	}
	walk(ref, "")
	return out
}

func read(t *testing.T, store blob.Store, dir string, opts repo.Options) *repo.Base {
	t.Helper()
	base, err := repo.Read(t.Context(), store, dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	return base
}

func reasons(list []event.Skipped) map[string]string {
	out := map[string]string{}
	for _, s := range list {
		out[s.Path] = s.Reason
	}
	return out
}

var program = map[string]string{
	"main.go": "package main\n", "run.sh": "#!/bin/sh\n", "lib/deep/a.txt": "a\n", "lib/b.txt": "b", "link": "->main.go",
	"Grüße für alle.txt": "hallo\n", "leer": "",
}

func TestRead(t *testing.T) {
	t.Parallel()
	t.Run("TakesTheFilesOfACommit", func(t *testing.T) {
		t.Parallel()
		p, store := newPerson(t), new(blobtest.Memory)
		first := p.repository(program)
		p.write(map[string]string{"main.go": "changed\n", "untracked": "x"})
		base := read(t, store, p.dir, repo.Options{})
		if base.Commit != first || base.Worktree || len(base.LeftOut) > 0 {
			t.Errorf("got %+v, want the commit %s and nothing left out", base, first)
		}
		if d := cmp.Diff(program, files(t, store, base.Tree)); d != "" {
			t.Errorf("the files differ from those of the commit:\n%s", d)
		}
	})
	t.Run("KnowsACommitByAnyName", func(t *testing.T) {
		t.Parallel()
		p, store := newPerson(t), new(blobtest.Memory)
		first := p.repository(map[string]string{"a": "1"})
		p.git("tag", "v1")
		p.write(map[string]string{"a": "2"})
		p.git("commit", "-qam", "second")
		for _, name := range []string{"v1", "main~1", first, first[:10]} {
			if base := read(t, store, p.dir, repo.Options{Base: name}); base.Commit != first || files(t, store, base.Tree)["a"] != "1" {
				t.Errorf("base %s: got %s, want %s", name, base.Commit, first)
			}
		}
		for _, name := range []string{"nothing", "--all", "-h", "a b", "HEAD\n", ":a", "HEAD:a", strings.Repeat("x", 300)} {
			if err := repo.Check(t.Context(), p.dir, repo.Options{Base: name}); err == nil {
				t.Errorf("base %q was taken", name)
			}
		}
	})
	t.Run("TakesUncommittedChangesIfAsked", func(t *testing.T) {
		t.Parallel()
		p, store := newPerson(t), new(blobtest.Memory)
		first := p.repository(map[string]string{"a": "1", "b": "2", "dir/c": "3", "gone": "4", "big": "version https://git-lfs.github.com/spec/v1\noid sha256:x\nsize 9\n"})
		p.write(map[string]string{"a": "changed", "untracked": "x", "added": "#!new", "big": "the large file"})
		p.git("add", "added")
		p.must(os.Remove(filepath.Join(p.dir, "gone")))
		p.must(os.RemoveAll(filepath.Join(p.dir, "dir")))
		p.must(os.MkdirAll(filepath.Join(p.home, "dir"), 0o755))
		p.must(os.WriteFile(filepath.Join(p.home, "dir/c"), []byte("elsewhere"), 0o644))
		p.must(os.Symlink(filepath.Join(p.home, "dir"), filepath.Join(p.dir, "dir")))
		base := read(t, store, p.dir, repo.Options{Base: repo.Worktree})
		if base.Commit != first || !base.Worktree {
			t.Errorf("got %+v, want the work tree on %s", base, first)
		}
		if d := cmp.Diff(map[string]string{"a": "changed", "b": "2", "added": "#!new"}, files(t, store, base.Tree)); d != "" {
			t.Errorf("the files differ:\n%s", d)
		}
		if base.LeftOut[0].Path != "big" {
			t.Errorf("left out %v, want the file in LFS named", base.LeftOut)
		}
	})
	t.Run("NamesWhatItLeavesOut", func(t *testing.T) {
		t.Parallel()
		p, store := newPerson(t), new(blobtest.Memory)
		p.repository(map[string]string{"a": "1", "big.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n"})
		p.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",vendored")
		p.must(os.WriteFile(filepath.Join(p.dir, "bad\xff"), nil, 0o644))
		p.write(map[string]string{"new\nline": ""})
		p.git("add", "bad\xff", "new\nline")
		p.git("commit", "-qm", "more")
		base := read(t, store, p.dir, repo.Options{})
		if d := cmp.Diff(map[string]string{"a": "1"}, files(t, store, base.Tree)); d != "" {
			t.Errorf("the files differ:\n%s", d)
		}
		got := reasons(base.LeftOut)
		if len(got) != 4 || got["vendored"] != "it is a submodule" || !strings.Contains(got["big.bin"], "LFS") {
			t.Errorf("left out %q, want the submodule, the file in LFS and two names", got)
		}
	})
	t.Run("TakesAFolderThatIsNoRepository", func(t *testing.T) {
		t.Parallel()
		p, store := newPerson(t), new(blobtest.Memory)
		p.write(program)
		p.write(map[string]string{"sub/.GIT/config": "x"})
		base := read(t, store, p.dir, repo.Options{})
		if d := cmp.Diff(program, files(t, store, base.Tree)); d != "" || base.Commit != "" {
			t.Errorf("commit %q, files:\n%s", base.Commit, d)
		}
		if d := cmp.Diff(map[string]string{"sub/.GIT": "it is git's own"}, reasons(base.LeftOut)); d != "" {
			t.Errorf("what was left out is not what should be:\n%s", d)
		}
		if err := repo.Check(t.Context(), p.dir, repo.Options{Base: "HEAD"}); err == nil {
			t.Error("a folder without a repository took a base")
		}
	})
	t.Run("ReadsAStrangersRepositoryAsFilesIfTold", func(t *testing.T) {
		t.Parallel()
		p, store := newPerson(t), new(blobtest.Memory)
		p.repository(map[string]string{"a": "1"})
		p.write(map[string]string{"b": "2"})
		base := read(t, store, p.dir, repo.Options{Plain: true})
		if d := cmp.Diff(map[string]string{"a": "1", "b": "2"}, files(t, store, base.Tree)); d != "" || base.Commit != "" {
			t.Errorf("commit %q, files:\n%s", base.Commit, d)
		}
	})
	t.Run("ReadsAWorkTreeOfARepositoryElsewhere", func(t *testing.T) {
		t.Parallel()
		p, store := newPerson(t), new(blobtest.Memory)
		first := p.repository(map[string]string{"a": "1"})
		other := filepath.Join(t.TempDir(), "other")
		p.git("worktree", "add", "-q", "-b", "side", other)
		if base := read(t, store, other, repo.Options{}); base.Commit != first {
			t.Errorf("got %s, want %s", base.Commit, first)
		}
		if base := read(t, store, other, repo.Options{Base: repo.Worktree}); files(t, store, base.Tree)["a"] != "1" {
			t.Error("the work tree was not read")
		}
	})
	t.Run("ReadsARepositoryOfSHA256", func(t *testing.T) {
		t.Parallel()
		p, store := newPerson(t), new(blobtest.Memory)
		first := p.repository(program, "--object-format=sha256")
		base := read(t, store, p.dir, repo.Options{})
		if d := cmp.Diff(program, files(t, store, base.Tree)); d != "" || base.Commit != first {
			t.Errorf("commit %q, files:\n%s", base.Commit, d)
		}
	})
	t.Run("ReadsPackedAndBareOnes", func(t *testing.T) {
		t.Parallel()
		p, store := newPerson(t), new(blobtest.Memory)
		p.repository(program)
		p.git("gc", "-q")
		bare := filepath.Join(t.TempDir(), "bare.git")
		p.git("clone", "-q", "--bare", "--no-hardlinks", ".", bare)
		for _, dir := range []string{p.dir, bare} {
			if d := cmp.Diff(program, files(t, store, read(t, store, dir, repo.Options{}).Tree)); d != "" {
				t.Errorf("%s has other files than were committed:\n%s", dir, d)
			}
		}
	})
	t.Run("WantsACommit", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t)
		p.git("init", "-q")
		if err := repo.Check(t.Context(), p.dir, repo.Options{}); err == nil || !strings.Contains(err.Error(), "first commit") {
			t.Errorf("got %v, want to be told to make a first commit", err)
		}
	})
}

// canary is a program that leaves a trace.
func (p *person) canary() (command string, sang func() bool) {
	at := filepath.Join(p.home, "sang")
	script := filepath.Join(p.home, "canary")
	p.must(need.Write(script, fmt.Appendf(nil, "#!/bin/sh\ntouch %s\ncat\n", at)))
	return script, func() bool { _, err := os.Stat(at); return err == nil }
}

// hostile are settings that have git run a program.
func (p *person) hostile(run string) {
	for key, value := range map[string]string{
		"core.fsmonitor": run, "core.pager": run, "core.editor": run, "core.sshCommand": run, "core.askPass": run, "core.hooksPath": filepath.Join(p.home, "hooks"),
		"core.alternateRefsCommand": run, "core.gitProxy": run, "credential.helper": "!" + run, "diff.external": run, "diff.x.textconv": run, "diff.x.command": run,
		"filter.x.clean": run, "filter.x.smudge": run, "filter.x.process": run, "filter.x.required": "true", "merge.x.driver": run, "gpg.program": run, "commit.gpgSign": "true",
		"alias.ls-tree": "!" + run, "alias.cat-file": "!" + run, "alias.rev-parse": "!" + run, "pager.ls-tree": run, "pager.diff-tree": run,
		"extensions.partialClone": "evil", "remote.evil.promisor": "true", "remote.evil.url": "ext::" + run, "uploadpack.packObjectsHook": run, "trace2.normalTarget": filepath.Join(p.home, "sang"),
		"core.attributesFile": filepath.Join(p.home, "attributes"), "sequence.editor": run, "interactive.diffFilter": run, "core.splitIndex": "true", "core.untrackedCache": "true",
	} {
		p.git("config", key, value)
	}
	p.git("config", "core.repositoryformatversion", "1")
	p.must(os.WriteFile(filepath.Join(p.home, "attributes"), []byte("* filter=x diff=x merge=x\n"), 0o644))
	p.must(os.WriteFile(filepath.Join(p.dir, ".git/info/attributes"), []byte("* filter=x diff=x merge=x\n"), 0o644))
	for _, dir := range []string{filepath.Join(p.home, "hooks"), filepath.Join(p.dir, ".git/hooks")} {
		p.must(os.MkdirAll(dir, 0o755))
		for _, hook := range []string{"reference-transaction", "post-index-change", "pre-commit", "commit-msg", "post-commit", "post-checkout", "pre-auto-gc", "post-rewrite", "fsmonitor-watchman"} {
			p.must(need.Write(filepath.Join(dir, hook), []byte("#!/bin/sh\n"+run+" </dev/null\n")))
		}
	}
}

func TestAHostileRepository(t *testing.T) {
	t.Parallel()
	t.Run("RunsNothing", func(t *testing.T) {
		t.Parallel()
		p, store := newPerson(t), new(blobtest.Memory)
		first := p.repository(map[string]string{"a": "1\n", ".gitattributes": "* filter=x diff=x merge=x\n"})
		run, sang := p.canary()
		p.hostile(run)
		for _, base := range []string{"", "main", repo.Worktree} {
			if base := read(t, store, p.dir, repo.Options{Base: base}); files(t, store, base.Tree)["a"] != "1\n" {
				t.Error("the file was not read")
			}
		}
		// A missing object would be fetched, were it not forbidden.
		if err := repo.Check(t.Context(), p.dir, repo.Options{Base: strings.Repeat("1", 40)}); err == nil {
			t.Error("a commit that is not there was found")
		}
		base := read(t, store, p.dir, repo.Options{})
		d := deliver(t, store, repo.Trees{Base: base.Tree, Begun: base.Tree, Home: tree(t, store, map[string]string{"a": "2\n", ".gitattributes": "* filter=x diff=x\n", "b": "3\n"})})
		if _, err := d.Branch(t.Context(), p.dir, commit(first)); err != nil {
			t.Error(err)
		}
		patch, err := d.Patch(t.Context())
		if err == nil {
			err = repo.Apply(t.Context(), p.dir, patch)
		}
		if err != nil {
			t.Error(err)
		}
		if sang() {
			t.Error("a program of the repository was run")
		}
		// The trap works: the person's own git walks into it.
		_, _ = p.try("status")
		if !sang() {
			t.Error("git status did not run the program: this test proves nothing")
		}
	})
	t.Run("DoesNotFetchWhatItLacks", func(t *testing.T) {
		t.Parallel()
		p, store := newPerson(t), new(blobtest.Memory)
		p.repository(map[string]string{"a": "1\n"})
		id := p.git("rev-parse", "HEAD:a")
		p.must(os.Remove(filepath.Join(p.dir, ".git/objects", id[:2], id[2:])))
		run, sang := p.canary()
		p.hostile(run)
		if _, err := repo.Read(t.Context(), store, p.dir, repo.Options{}); err == nil || sang() {
			t.Errorf("got %v, sang %v; want an error and no program run", err, sang())
		}
	})
	for name, harm := range map[string]func(p *person, other string){
		"TakesObjectsFromElsewhere": func(p *person, other string) {
			p.must(os.MkdirAll(p.dir+"/.git/objects/info", 0o755))
			p.must(os.WriteFile(p.dir+"/.git/objects/info/alternates", []byte(other+"/.git/objects\n"), 0o644))
		},
		"NamesAnotherRepository": func(p *person, other string) {
			p.must(os.RemoveAll(p.dir + "/.git"))
			p.must(os.WriteFile(p.dir+"/.git", []byte("gitdir: "+other+"/.git\n"), 0o644))
		},
		"NamesAnothersWorkTree": func(p *person, other string) {
			mine := p.dir
			p.dir = other
			p.git("worktree", "add", "-q", "-b", "side", p.home+"/side")
			p.dir = mine
			p.must(os.RemoveAll(p.dir + "/.git"))
			p.must(os.WriteFile(p.dir+"/.git", []byte("gitdir: "+other+"/.git/worktrees/side\n"), 0o644))
		},
		"NamesAnotherForItsObjects": func(p *person, other string) {
			p.must(os.WriteFile(p.dir+"/.git/commondir", []byte(other+"/.git\n"), 0o644))
		},
		"IsALink": func(p *person, other string) {
			p.must(os.RemoveAll(p.dir + "/.git"))
			p.must(os.Symlink(other+"/.git", p.dir+"/.git"))
		},
		"HasALinkForItsHead": func(p *person, other string) {
			p.must(os.Remove(p.dir + "/.git/HEAD"))
			p.must(os.Symlink(other+"/.git/HEAD", p.dir+"/.git/HEAD"))
		},
		"HasALinkForItsObjects": func(p *person, other string) {
			p.must(os.RemoveAll(p.dir + "/.git/objects"))
			p.must(os.Symlink(other+"/.git/objects", p.dir+"/.git/objects"))
		},
		"HasALinkForABranch": func(p *person, other string) {
			p.must(os.Symlink(other+"/.git/refs/heads/main", p.dir+"/.git/refs/heads/theirs"))
		},
	} {
		t.Run("IsRefusedIfIt"+name, func(t *testing.T) {
			t.Parallel()
			p, other := newPerson(t), newPerson(t)
			p.repository(map[string]string{"a": "mine"})
			other.repository(map[string]string{"a": "private"})
			harm(p, other.dir)
			_, err := repo.Read(t.Context(), new(blobtest.Memory), p.dir, repo.Options{})
			if err == nil || !(strings.Contains(err.Error(), "clone") || strings.Contains(err.Error(), "repack")) {
				t.Errorf("got %v, want a refusal that says what to do", err)
			}
			if err != nil && strings.Contains(err.Error(), p.dir) {
				t.Errorf("the error names a path of this machine: %v", err)
			}
		})
	}
	t.Run("HasNoFilesUnderGitsOwnNames", func(t *testing.T) {
		t.Parallel()
		p, store := newPerson(t), new(blobtest.Memory)
		p.repository(map[string]string{"a": "1"})
		id := p.git("rev-parse", "HEAD:a")
		cmd := exec.Command("git", "mktree")
		cmd.Dir, cmd.Stdin = p.dir, strings.NewReader("100644 blob "+id+"\t.GIT\n100644 blob "+id+"\t..\n100644 blob "+id+"\tgood\n")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git mktree: %v: %s", err, out)
		}
		evil := p.git("commit-tree", "-m", "x", strings.TrimSpace(string(out)))
		base := read(t, store, p.dir, repo.Options{Base: evil})
		if d := cmp.Diff(map[string]string{"good": "1"}, files(t, store, base.Tree)); d != "" || len(base.LeftOut) != 2 {
			t.Errorf("left out %v, files:\n%s", base.LeftOut, d)
		}
	})
	t.Run("OfTooManyFilesIsRefused", func(t *testing.T) {
		t.Parallel()
		p := newPerson(t)
		p.repository(map[string]string{"a": "1"})
		id := p.git("rev-parse", "HEAD:a")
		mktree := func(list string) string {
			cmd := exec.Command("git", "mktree")
			cmd.Dir, cmd.Stdin = p.dir, strings.NewReader(list)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("git mktree: %v: %s", err, out)
			}
			return strings.TrimSpace(string(out))
		}
		// A few small trees that name each other stand for a million files.
		tree := mktree("100644 blob " + id + "\ta\n")
		for range 6 {
			var list strings.Builder
			for i := range 10 {
				fmt.Fprintf(&list, "040000 tree %s\t%d\n", tree, i)
			}
			tree = mktree(list.String())
		}
		_, err := repo.Read(t.Context(), new(blobtest.Memory), p.dir, repo.Options{Base: p.git("commit-tree", "-m", "x", tree)})
		if err == nil || !strings.Contains(err.Error(), "smaller folder") {
			t.Errorf("got %v, want a refusal", err)
		}
	})
}

// tree stores files, in the form that write takes.
func tree(t *testing.T, store blob.Store, files map[string]string) event.TreeRef {
	t.Helper()
	var tr blob.Tree
	below := map[string]map[string]string{}
	for name, text := range files {
		first, rest, sub := strings.Cut(name, "/")
		if sub {
			if below[first] == nil {
				below[first] = map[string]string{}
			}
			below[first][rest] = text
			continue
		}
		e := blob.Entry{Name: first, Kind: blob.File, Mode: blob.ModePlain}
		if target, ok := strings.CutPrefix(text, "->"); ok {
			e = blob.Entry{Name: first, Kind: blob.Link, Target: target}
		} else {
			ref, err := store.Put(t.Context(), []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			e.Hash, e.Size = ref.Hash, ref.Size
			if strings.HasPrefix(text, "#!") {
				e.Mode = blob.ModeExec
			}
		}
		tr = append(tr, e)
	}
	for name, sub := range below {
		ref := tree(t, store, sub)
		tr = append(tr, blob.Entry{Name: name, Kind: blob.Dir, Hash: ref.Hash, Size: ref.Size})
	}
	slices.SortFunc(tr, func(a, b blob.Entry) int { return strings.Compare(a.Name, b.Name) })
	data, err := tr.Encode()
	if err != nil {
		t.Fatal(err)
	}
	ref, err := store.Put(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	return event.TreeRef(ref)
}

func deliver(t *testing.T, store blob.Store, trees repo.Trees) *repo.Delivery {
	t.Helper()
	d, err := repo.Deliver(t.Context(), store, trees)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func with(files map[string]string, changes map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, files)
	for name, text := range changes {
		if text == "gone" {
			delete(out, name)
		} else {
			out[name] = text
		}
	}
	return out
}

func TestASeed(t *testing.T) {
	t.Parallel()
	big := string(blobtest.Bytes(3<<20, 7))
	for name, content := range map[string]map[string]string{
		"OfAProgram": program, "OfALargeFile": {"big": big, "same/big": big, "x": "1"}, "OfNothing": {},
		"OfNamesThatSortOddly": {"a/b": "1", "a.b": "2", "a-b": "3", "a0": "4", "ab/c/d": "5", strings.Repeat("n", 250) + "/" + strings.Repeat("m", 250) + "/" + strings.Repeat("o", 250): "6"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, store := newPerson(t), new(blobtest.Memory)
			ref := tree(t, store, content)
			var ids []string
			for range 2 {
				seed, err := repo.NewSeed(t.Context(), store, ref, workspace.Bounds{})
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, seed.Commit())
				p.dir = filepath.Join(t.TempDir(), "home")
				p.must(os.Mkdir(p.dir, 0o700))
				root, err := os.OpenRoot(p.dir)
				p.must(err)
				p.must(blob.Restore(t.Context(), store, ref, root))
				p.must(seed.Write(root))
				p.must(seed.Close())
				p.must(root.Close())
			}
			if ids[0] != ids[1] || ids[0] != p.git("rev-parse", "HEAD") {
				t.Errorf("commits %v, HEAD is %s", ids, p.git("rev-parse", "HEAD"))
			}
			if out := p.git("fsck", "--full", "--strict"); out != "" {
				t.Errorf("git fsck: %s", out)
			}
			if out := p.git("status", "--porcelain"); out != "" {
				t.Errorf("git status: %.500s", out)
			}
			if n := p.git("rev-list", "--count", "--all"); n != "1" {
				t.Errorf("%s commits, want 1", n)
			}
			if out := p.git("remote", "-v"); out != "" {
				t.Errorf("there is a remote: %s", out)
			}
			// It is a repository to work in.
			p.write(map[string]string{"new": "x"})
			p.git("add", "-A")
			p.git("commit", "-qm", "more")
		})
	}
}

func TestAPatch(t *testing.T) {
	t.Parallel()
	binary := string(blobtest.Bytes(5000, 3))
	base := with(program, map[string]string{"bin": binary, "file": "f\n", "folder/x": "x\n", "folder/y": "y\n", "crlf": "a\r\nb\r\n", "stays": "s\n", "tolink": "t\n"})
	for name, changes := range map[string]map[string]string{
		"OfText":             {"main.go": "package main\n\nfunc main() {}\n", "lib/b.txt": "b\nwith an end\n"},
		"OfNewFiles":         {"new": "x\n", "empty": "", "deep/er/new": "y", "#!x": "#!/bin/sh\n"},
		"OfLostFiles":        {"main.go": "gone", "folder/x": "gone", "folder/y": "gone", "leer": "gone"},
		"OfBytes":            {"bin": binary[:4000] + "\x00\x01" + binary[4000:], "more.bin": binary},
		"OfModes":            {"run.sh": "not a program\n", "main.go": "#!package main\n"},
		"OfLinks":            {"link": "->lib/b.txt", "lib/up": "->../main.go", "tolink": "->stays"},
		"OfALinkToAFile":     {"link": "now a file\n"},
		"OfAFileToAFolder":   {"file": "gone", "file/in/it": "z\n"},
		"OfAFolderToAFile":   {"folder/x": "gone", "folder/y": "gone", "folder": "now a file\n"},
		"OfLineEnds":         {"crlf": "a\nb\r\nc"},
		"OfOddNames":         {"with space": "1\n", `quo"te`: "2\n", "tab\u00a0": "3\n", "日本/語.txt": "4\n", "-dash": "5\n", ":(top)x": "6\n", "a*b": "7\n"},
		"OfRules":            {".gitattributes": "* binary\n*.txt filter=lfs diff=evil\n", ".gitignore": "*\n", "seen": "x\n"},
		"OfNothing":          {},
		"OfSomethingSpurned": {"a.patch": "diff --git a/x b/x\n--- a/x\n+++ b/../../x\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, store := newPerson(t), new(blobtest.Memory)
			after := with(base, changes)
			trees := repo.Trees{Base: tree(t, store, base), Home: tree(t, store, after)}
			trees.Begun = trees.Base
			d := deliver(t, store, trees)
			if len(d.LeftOut) > 0 {
				t.Errorf("left out %v", d.LeftOut)
			}
			patch, err := d.Patch(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			again, err := deliver(t, store, trees).Patch(t.Context())
			if err != nil || string(again) != string(patch) {
				t.Error("the same trees made another patch")
			}
			p.repository(base)
			if len(changes) == 0 {
				if len(patch) > 0 {
					t.Errorf("a patch of nothing: %s", patch)
				}
				return
			}
			file := filepath.Join(p.home, "patch")
			p.must(os.WriteFile(file, patch, 0o644))
			p.git("apply", "--index", "--whitespace=nowarn", file)
			p.git("commit", "-qm", "applied")
			got := read(t, store, p.dir, repo.Options{})
			if d := cmp.Diff(after, files(t, store, got.Tree)); d != "" {
				t.Errorf("the base with the patch is not the recorded tree:\n%s", d)
			}
			if got.Tree != trees.Home {
				t.Errorf("the trees differ: %v, want %v", got.Tree, trees.Home)
			}
		})
	}
}

func TestADelivery(t *testing.T) {
	t.Parallel()
	t.Run("LeavesOutWhatIsHostile", func(t *testing.T) {
		t.Parallel()
		store := new(blobtest.Memory)
		base := map[string]string{"a": "1", "etc": "->/etc"}
		hostile := map[string]string{
			".git/config": "x", "sub/.git/hooks/pre-commit": "#!x", ".GIT/config": "x", ".Git": "x", ".git ": "x", ".git.": "x", ".git. .": "x", "git~1": "x", "GIT~2/x": "x",
			".git::$INDEX_ALLOCATION/config": "x", ".g\u200cit/config": "x", ".gi\ufefft": "x", ".ｇｉｔ/config": "x", "new\nline": "x", "esc\x1b[31m": "x", "bidi\u202e": "x", `back\slash`: "x", "C:x": "x",
			"out": "->../../etc/passwd", "abs": "->/etc/passwd", "deep/out": "->../../x", "togit": "->.git/config", "through": "->etc/passwd", "tricky": "->x/../../y", "up": "->..",
		}
		good := map[string]string{"b": "2", ".github/workflows/x.yml": "3", ".gitmodules.txt": "4", "digit~1": "5", "in": "->deep/../a", ".gitkeep": ""}
		home := with(with(base, hostile), good)
		d := deliver(t, store, repo.Trees{Base: tree(t, store, base), Begun: tree(t, store, base), Home: tree(t, store, home)})
		var got []string
		for _, c := range d.Changes {
			got = append(got, c.Path)
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(good)), got); diff != "" {
			t.Errorf("delivered:\n%s", diff)
		}
		if len(d.LeftOut) != len(hostile) {
			t.Errorf("%d were named as left out, want %d: %v", len(d.LeftOut), len(hostile), d.LeftOut)
		}
		for _, s := range d.LeftOut {
			if strings.ContainsAny(s.Path, "\n\x1b\u202e") || s.Reason == "" {
				t.Errorf("%+q is named in a way that harms", s)
			}
		}
	})
	t.Run("LeavesOutWhatTheBaseIgnores", func(t *testing.T) {
		t.Parallel()
		store := new(blobtest.Memory)
		base := map[string]string{".gitignore": "*.o\nbuild/\n!keep.o\n", "lib/.gitignore": "/only-here\n", "tracked.o": "1", "lib/a": "1"}
		home := with(base, map[string]string{
			"tracked.o": "2", "x.o": "x", "keep.o": "x", "build/deep/y": "x", ":(top)y.o": "x", "lib/only-here": "x", "lib/z/only-here": "x", "only-here": "x",
			".gitignore": "nothing\n", // the agent's does not count
		})
		d := deliver(t, store, repo.Trees{Base: tree(t, store, base), Begun: tree(t, store, base), Home: tree(t, store, home)})
		want := map[string]string{"build/deep/y": ".gitignore names it", "lib/only-here": ".gitignore names it", "x.o": ".gitignore names it", ":(top)y.o": ".gitignore names it"}
		if diff := cmp.Diff(want, reasons(d.LeftOut)); diff != "" {
			t.Errorf("what .gitignore names is not what was left out:\n%s", diff)
		}
		if len(d.Changes) != 5 {
			t.Errorf("delivered %v", d.Changes)
		}
	})
	t.Run("LeavesOutWhatWasPrepared", func(t *testing.T) {
		t.Parallel()
		store := new(blobtest.Memory)
		base := map[string]string{"a": "1", "lock": "1", "gone": "1"}
		begun := with(base, map[string]string{"made": "x", "made2": "x", "lock": "2", "gone": "gone"})
		home := with(begun, map[string]string{"a": "2", "made2": "y"})
		d := deliver(t, store, repo.Trees{Base: tree(t, store, base), Begun: tree(t, store, begun), Home: tree(t, store, home)})
		if len(d.Changes) != 2 || d.Changes[0].Path != "a" || d.Changes[1].Path != "made2" || len(d.LeftOut) != 3 {
			t.Errorf("delivered %v, left out %v", d.Changes, d.LeftOut)
		}
	})
	t.Run("PutsNothingInThePlaceOfASubmodule", func(t *testing.T) {
		t.Parallel()
		store := new(blobtest.Memory)
		base := tree(t, store, map[string]string{"a": "1"})
		home := tree(t, store, map[string]string{"a": "1", "vendored/x": "2", "vendored2": "3"})
		d := deliver(t, store, repo.Trees{Base: base, Begun: base, Home: home, LeftOut: []event.Skipped{{Path: "vendored", Reason: "it is a submodule"}}})
		if len(d.Changes) != 1 || d.Changes[0].Path != "vendored2" {
			t.Errorf("delivered %v", d.Changes)
		}
	})
	t.Run("HasBounds", func(t *testing.T) {
		t.Parallel()
		store := new(blobtest.Memory)
		base := tree(t, store, nil)
		many, large := map[string]string{}, map[string]string{}
		for i := range repo.MaxChanged + 1 {
			many[fmt.Sprintf("built/%d", i)] = "x"
		}
		for i := range 3 {
			large[fmt.Sprint(i)] = strings.Repeat("x", 7<<20)
		}
		for what, home := range map[string]map[string]string{"most of them in built": many, "the largest is": large} {
			_, err := repo.Deliver(t.Context(), store, repo.Trees{Base: base, Begun: base, Home: tree(t, store, home)})
			var much *repo.TooMuchError
			if !errors.As(err, &much) || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), ".gitignore") {
				t.Errorf("got %v, want a refusal that says %s", err, what)
			}
		}
		delete(many, "built/0")
		if d := deliver(t, store, repo.Trees{Base: base, Begun: base, Home: tree(t, store, many)}); len(d.Changes) != repo.MaxChanged {
			t.Errorf("%d changes", len(d.Changes))
		}
		// Bytes that do not pack become longer as text.
		d := deliver(t, store, repo.Trees{Base: base, Begun: base, Home: tree(t, store, map[string]string{"bin": string(blobtest.Bytes(repo.MaxPatch-10, 1))})})
		if patch, err := d.Patch(t.Context()); !errors.As(err, new(*repo.TooMuchError)) {
			t.Errorf("got %d bytes, %v; want a refusal of the patch", len(patch), err)
		}
	})
}

// TestASeedHasNoName: whoever is killed while there is one leaves nothing behind.
func TestASeedHasNoName(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	store := new(blobtest.Memory)
	seed, err := repo.NewSeed(t.Context(), store, tree(t, store, program), workspace.Bounds{})
	if err != nil {
		t.Fatal(err)
	}
	defer seed.Close()
	if left, err := os.ReadDir(temp); len(left) != 0 || err != nil {
		t.Errorf("among the temporary files are %v, %v", left, err)
	}
}
