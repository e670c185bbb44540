package canary_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	blobs "lyceum/internal/blob/fs"
	"lyceum/internal/canary"
	"lyceum/internal/need"
)

const key = "sk-canary-Wq4Zt8Ny1Lk6"

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// write makes a home of such a file, and returns its folder.
func write(t *testing.T, name, text string) string {
	t.Helper()
	dir := t.TempDir()
	must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	return dir
}

// finds fails unless the key is found in such places of a folder, and in no others.
func finds(t *testing.T, dir string, want func(name string) bool) {
	t.Helper()
	found, err := canary.In(t.Context(), dir, "another", key)
	must(t, err)
	if len(found) != 1 || !want(found[0]) {
		t.Errorf("the key was found in %q, want the one place where it is", found)
	}
}

// plain reports whether the bytes of a file below a folder show the key.
func plain(t *testing.T, dir string) (shown bool) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		shown = shown || bytes.Contains(data, []byte(key))
		return err
	}))
	return shown
}

func TestFinds(t *testing.T) {
	t.Parallel()
	t.Run("APackedBlob", func(t *testing.T) {
		t.Parallel()
		dir := write(t, "lyceum.db", "nothing")
		must(t, canary.Pack(t.Context(), filepath.Join(dir, "blobs"), key))
		if plain(t, dir) {
			t.Error("the bytes of the files show the key: want it packed, or the test shows nothing")
		}
		finds(t, dir, func(name string) bool { return strings.HasSuffix(name, ".zst") })
	})
	t.Run("APackedBlobOfManyFrames", func(t *testing.T) {
		t.Parallel()
		var data []byte
		for i := 0; len(data) < 1<<20; i++ {
			data = fmt.Appendf(data, "At %d the scale says %x grams.\n", i, i*7919)
		}
		copy(data[256<<10-9:], key) // over the end of a frame
		dir := t.TempDir()
		s, err := blobs.Open(dir, &blobs.Options{Pack: blobs.AtOnce})
		must(t, err)
		_, err = s.Put(t.Context(), data)
		must(t, err)
		must(t, s.Close())
		if plain(t, dir) {
			t.Error("the bytes of the files show the key: want it packed, or the test shows nothing")
		}
		finds(t, dir, func(name string) bool { return strings.HasSuffix(name, ".zst") })
	})
	t.Run("APackedBlobOfAnOlderStore", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		must(t, canary.Pack(t.Context(), dir, key))
		now, err := filepath.Glob(filepath.Join(dir, "*", "*.zst"))
		if err != nil || len(now) != 1 {
			t.Fatalf("packed blobs: got %v, %v, want one", now, err)
		}
		name := filepath.Base(now[0])
		once := filepath.Join(dir, name[:2], name[2:4], name)
		must(t, os.Mkdir(filepath.Dir(once), 0o700))
		must(t, os.Rename(now[0], once))
		finds(t, dir, func(found string) bool { return found == filepath.Join(name[:2], name[2:4], name) })
	})
	t.Run("AnObjectOfAGitRepository", func(t *testing.T) {
		t.Parallel()
		need.Program(t, "git")
		dir := write(t, "agent/a.txt", "It is "+key+".")
		git := func(args ...string) {
			t.Helper()
			out, err := exec.Command("git", append([]string{"-C", filepath.Join(dir, "agent"), "-c", "user.name=p", "-c", "user.email=p@example.org"}, args...)...).CombinedOutput()
			if err != nil {
				t.Fatalf("git %v: %v\n%s", args, err, out)
			}
		}
		git("init", "-q")
		git("add", "-A")
		git("commit", "-qm", "begin")
		git("rm", "-q", "a.txt")
		git("commit", "-qm", "The file is gone, and is in the history.")
		at := func(name string) bool { return name == filepath.Join("agent", ".git") }
		finds(t, dir, at)
		git("gc", "-q")
		if packs, _ := filepath.Glob(filepath.Join(dir, "agent/.git/objects/pack/*.pack")); len(packs) == 0 {
			t.Error("git has made no pack: want one, or the test shows nothing")
		}
		finds(t, dir, at)
	})
	for what, c := range map[string]struct{ name, text string }{
		"APlainFile":      {"quests/q/log", strings.Repeat("line\n", 300_000) + key},
		"OneOverTwoReads": {"log", strings.Repeat("x", 256<<10-5) + key + strings.Repeat("x", 256<<10)},
		"AName":           {"quests/" + key + ".txt", "x"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			finds(t, write(t, c.name, c.text), func(name string) bool { return name == c.name })
		})
	}
	t.Run("ALink", func(t *testing.T) {
		t.Parallel()
		dir := write(t, "a", "x")
		must(t, os.Symlink("/nobody/"+key, filepath.Join(dir, "to")))
		finds(t, dir, func(name string) bool { return name == "to" })
	})
	t.Run("NothingWhereItIsNot", func(t *testing.T) {
		t.Parallel()
		dir := write(t, "lyceum.db", key[:len(key)-1])
		must(t, canary.Pack(t.Context(), filepath.Join(dir, "blobs"), key[1:]))
		if found, err := canary.In(t.Context(), dir, key); err != nil || len(found) > 0 {
			t.Errorf("parts of the key: got %q, %v, want that it is nowhere", found, err)
		}
	})
}

// TestFailsWhereItCannotLook: what was not looked at is never said to be without the key.
func TestFailsWhereItCannotLook(t *testing.T) {
	t.Parallel()
	damaged := t.TempDir()
	must(t, canary.Pack(t.Context(), damaged, "anything"))
	now, err := filepath.Glob(filepath.Join(damaged, "*", "*.zst"))
	if err != nil || len(now) != 1 {
		t.Fatalf("packed blobs: got %v, %v, want one", now, err)
	}
	data, err := os.ReadFile(now[0])
	must(t, err)
	must(t, os.Chmod(now[0], 0o600))
	must(t, os.WriteFile(now[0], slices.Concat(bytes.Repeat([]byte{7}, 30), data[30:]), 0o600))
	for what, dir := range map[string]string{"a folder that is not there": filepath.Join(damaged, "none"), "an empty folder": t.TempDir(), "a damaged blob": damaged} {
		if found, err := canary.In(t.Context(), dir, key); err == nil {
			t.Errorf("%s: got %q and no error, want one", what, found)
		}
	}
	for _, texts := range [][]string{nil, {""}} {
		if _, err := canary.In(t.Context(), write(t, "a", "x"), texts...); err == nil {
			t.Errorf("no text to look for (%q): got no error, want one", texts)
		}
	}
}
