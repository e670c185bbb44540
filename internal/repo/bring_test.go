package repo_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lyceum/internal/blob/blobtest"
	"lyceum/internal/repo"

	"github.com/google/go-cmp/cmp"
)

// The person that these tests run as has a name, whatever this machine's settings are.
func TestMain(m *testing.M) {
	for key, value := range map[string]string{
		"GIT_AUTHOR_NAME": "", "GIT_AUTHOR_EMAIL": "", "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_COUNT": "0",
	} {
		os.Setenv(key, value)
	}
	home, err := os.MkdirTemp("", "lyceum-test-")
	if err != nil {
		panic(err)
	}
	os.Setenv("HOME", home)
	os.Unsetenv("XDG_CONFIG_HOME")
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[user]\n\tname = Grace\n\temail = grace@example.org\n"), 0o600); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(home)
	os.Exit(code)
}

func commit(base string) repo.Commit {
	return repo.Commit{Branch: "lyceum/primes", Base: base, Message: "Changes of quest primes\n\nQuest: primes\nHead: abc\n", Time: time.Unix(1_700_000_000, 0)}
}

// sums are what the files of a folder hold, but for objects, branches and their logs.
func sums(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, p)
		if err != nil || d.IsDir() {
			return err
		}
		for _, s := range []string{".git/objects", ".git/refs", ".git/logs"} {
			if strings.HasPrefix(name, s) {
				return nil
			}
		}
		data, err := os.ReadFile(p)
		info, _ := os.Lstat(p)
		out[name] = fmt.Sprintf("%x %v %v", sha256.Sum256(data), info.ModTime(), info.Mode())
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestABranch(t *testing.T) {
	t.Parallel()
	changes := map[string]string{"main.go": "package main // changed\n", "new/file": "x\n", "lib/b.txt": "gone", "link": "->run.sh", "tool": "#!/bin/sh\n"}
	for name, format := range map[string]string{"IsMade": "sha1", "IsMadeInARepositoryOfSHA256": "sha256"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, store := newPerson(t), new(blobtest.Memory)
			p.repository(program, "--object-format="+format)
			p.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", len(p.git("rev-parse", "HEAD")))+",vendored")
			p.write(map[string]string{"big.bin": "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n"})
			p.git("add", "big.bin")
			p.git("commit", "-qm", "more")
			first := p.git("rev-parse", "HEAD")
			p.write(map[string]string{"main.go": "the person's own work\n", "lib/staged": "x"})
			p.git("add", "lib/staged")
			before := sums(t, p.dir)

			base := read(t, store, p.dir, repo.Options{})
			d := deliver(t, store, repo.Trees{Base: base.Tree, Begun: base.Tree, Home: tree(t, store, with(program, changes)), LeftOut: base.LeftOut})
			made, err := d.Branch(t.Context(), p.dir, commit(first))
			if err != nil {
				t.Fatal(err)
			}
			if made.Branch != "lyceum/primes" || made.Moved != "" || made.Already || made.Commit != p.git("rev-parse", "lyceum/primes") {
				t.Errorf("got %+v", made)
			}
			got := read(t, store, p.dir, repo.Options{Base: "lyceum/primes"})
			if diff := cmp.Diff(with(program, changes), files(t, store, got.Tree)); diff != "" {
				t.Errorf("the branch has other files:\n%s", diff)
			}
			if len(got.LeftOut) != 2 {
				t.Errorf("the branch has lost the submodule or the file in LFS: %v", got.LeftOut)
			}
			if text := p.git("log", "-1", "--format=%an <%ae> %P %(trailers:key=Quest,valueonly,separator=) %(trailers:key=Head,valueonly,separator=)", "lyceum/primes"); text != "Grace <grace@example.org> "+first+" primes abc" {
				t.Errorf("the commit says %s", text)
			}
			if diff := cmp.Diff(before, sums(t, p.dir)); diff != "" {
				t.Errorf("work tree, index or settings were touched:\n%s", diff)
			}
			if p.git("rev-parse", "--abbrev-ref", "HEAD") != "main" {
				t.Error("another branch is checked out")
			}
			p.git("fsck", "--full", "--strict")

			again, err := d.Branch(t.Context(), p.dir, commit(first))
			if err != nil || !again.Already || again.Commit != made.Commit {
				t.Errorf("made again: %+v, %v; want the same", again, err)
			}
		})
	}
	t.Run("IsNotMovedIfThereIsAnother", func(t *testing.T) {
		t.Parallel()
		p, store := newPerson(t), new(blobtest.Memory)
		first := p.repository(program)
		p.git("branch", "lyceum/primes")
		d := deliver(t, store, trees(t, store, program, changes))
		_, err := d.Branch(t.Context(), p.dir, commit(first))
		if other := new(repo.BranchExistsError); !errors.As(err, &other) || p.git("rev-parse", "lyceum/primes") != first {
			t.Errorf("got %v, want to be told that there is one", err)
		}
		c := commit(first)
		for _, bad := range []string{"", "-x", "a..b", "a b", "x.lock", "/x", "@{", "a\nb"} {
			c.Branch = bad
			if _, err := d.Branch(t.Context(), p.dir, c); err == nil {
				t.Errorf("a branch %q was made", bad)
			}
		}
	})
	t.Run("TellsThatTheBaseHasMoved", func(t *testing.T) {
		t.Parallel()
		p, store := newPerson(t), new(blobtest.Memory)
		first := p.repository(program)
		p.write(map[string]string{"other": "x"})
		p.git("add", "-A")
		p.git("commit", "-qm", "second")
		made, err := deliver(t, store, trees(t, store, program, changes)).Branch(t.Context(), p.dir, commit(first))
		if err != nil || made.Moved != p.git("rev-parse", "HEAD") || p.git("rev-parse", "lyceum/primes^") != first {
			t.Errorf("got %+v, %v; want a branch of the first commit, and where HEAD is now", made, err)
		}
		_, err = deliver(t, store, trees(t, store, program, changes)).Branch(t.Context(), p.dir, commit(strings.Repeat("2", 40)))
		if err == nil || !strings.Contains(err.Error(), "--repo") {
			t.Errorf("got %v, want to be told that the commit is not there", err)
		}
	})
	t.Run("NeedsARepository", func(t *testing.T) {
		t.Parallel()
		p, store := newPerson(t), new(blobtest.Memory)
		_, err := deliver(t, store, trees(t, store, program, changes)).Branch(t.Context(), p.dir, commit(strings.Repeat("2", 40)))
		if !errors.Is(err, repo.ErrNoRepository) {
			t.Errorf("got %v", err)
		}
	})
}

func trees(t *testing.T, store *blobtest.Memory, base, changes map[string]string) repo.Trees {
	b := tree(t, store, base)
	return repo.Trees{Base: b, Begun: b, Home: tree(t, store, with(base, changes))}
}

func TestApply(t *testing.T) {
	t.Parallel()
	changes := map[string]string{"main.go": "package main // changed\n", "new/file": "x\n", "lib/b.txt": "gone"}
	for _, plain := range []bool{false, true} {
		t.Run(fmt.Sprintf("WritesFiles/%v", plain), func(t *testing.T) {
			t.Parallel()
			p, store := newPerson(t), new(blobtest.Memory)
			if p.write(program); !plain {
				p.repository(nil)
			}
			patch, err := deliver(t, store, trees(t, store, program, changes)).Patch(t.Context())
			p.must(err)
			p.write(map[string]string{"mine": "untouched"})
			p.must(repo.Apply(t.Context(), p.dir, patch))
			got := read(t, store, p.dir, repo.Options{Plain: true})
			if diff := cmp.Diff(with(with(program, changes), map[string]string{"mine": "untouched"}), files(t, store, got.Tree)); diff != "" {
				t.Errorf("the folder has other files than the patch says:\n%s", diff)
			}
			if !plain && p.git("diff", "--cached") != "" {
				t.Error("the index was touched")
			}
		})
	}
	t.Run("WritesNothingIfItDoesNotFit", func(t *testing.T) {
		t.Parallel()
		p, store := newPerson(t), new(blobtest.Memory)
		p.repository(program)
		p.write(map[string]string{"main.go": "something else\n"})
		before := sums(t, p.dir)
		patch, err := deliver(t, store, trees(t, store, program, changes)).Patch(t.Context())
		p.must(err)
		if err := repo.Apply(t.Context(), p.dir, patch); err == nil || !strings.Contains(err.Error(), "nothing was written") || strings.Contains(err.Error(), p.dir) {
			t.Errorf("got %v, want a refusal", err)
		}
		if diff := cmp.Diff(before, sums(t, p.dir)); diff != "" {
			t.Errorf("a patch that does not fit has changed something:\n%s", diff)
		}
	})
	t.Run("DoesNotFollowLinks", func(t *testing.T) {
		t.Parallel()
		p, store := newPerson(t), new(blobtest.Memory)
		p.repository(map[string]string{"lib": "->" + p.home})
		patch, err := deliver(t, store, trees(t, store, nil, map[string]string{"lib/evil": "x\n"})).Patch(t.Context())
		p.must(err)
		if err := repo.Apply(t.Context(), p.dir, patch); err == nil {
			t.Error("a file was written through a link")
		}
		if _, err := os.Lstat(filepath.Join(p.home, "evil")); err == nil {
			t.Error("a file was written outside")
		}
	})
}
