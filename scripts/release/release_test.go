package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestTheChangelogTellsOfAVersion(t *testing.T) {
	t.Parallel()
	const changelog = "# Changelog\n\n## Unreleased\n\n- Soon.\n\n## 0.2.0 (2026-12-01)\n\n- More.\n\n## 0.1.1 (2026-11-20)\n\n## 0.1.0\n\n- First.\n"
	for name, c := range map[string]struct{ version, want string }{
		"ItDoes":        {"0.2.0", ""},
		"NoSection":     {"0.3.0", `no section of version 0.3.0`},
		"NotAPart":      {"0.2.0-rc.1", "no section of version 0.2.0-rc.1"},
		"NothingSaid":   {"0.1.1", "says nothing of version 0.1.1"},
		"NoDay":         {"0.1.0", "when 0.1.0 is released"},
		"NotUnreleased": {"Unreleased", "no version"},
		"NoV":           {"v0.2.0", "no version"},
		"NoWayToFlags":  {"0.2.0 -X main.x=1", "no version"},
		"NothingAtAll":  {"", "no version"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := told(c.version, changelog)
			if c.want == "" && err != nil {
				t.Errorf("got the error %v, want none", err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got the error %v, want one with %q", err, c.want)
			}
		})
	}
}

// TestTheChangelogOfThisSource: what is being made has its section, and releases have theirs.
func TestTheChangelogOfThisSource(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := 0
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "## ") {
			continue
		}
		m := heading.FindStringSubmatch(line)
		if sections == 0 && line != "## Unreleased" {
			t.Errorf("the first section is %q, want \"## Unreleased\"", line)
		}
		if sections > 0 && (m == nil || told(m[1], string(data)) != nil) {
			t.Errorf("the section %q is no release: want \"## 0.2.0 (2026-12-01)\" and what is new", line)
		}
		sections++
	}
	if sections == 0 {
		t.Error("there is no section, want \"## Unreleased\"")
	}
}

func TestReleasesAreBuiltFromACommit(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_COMMITTER_DATE=2026-12-01T10:00:00+02:00")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "--quiet")
	git("commit", "--quiet", "--allow-empty", "-m", "first")
	c, err := head(dir, "0.2.0")
	if err != nil {
		t.Fatal(err)
	}
	if want := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC); !c.time.Equal(want) || c.time.Location() != time.UTC {
		t.Errorf("the time of the commit: got %v, want %v", c.time, want)
	}
	git("tag", "v0.2.0")
	if _, err := head(dir, "0.2.0"); err != nil {
		t.Errorf("the commit that has the version's tag: got the error %v, want none", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := head(dir, "0.2.0"); err == nil || !strings.Contains(err.Error(), "?? new") {
		t.Errorf("a file that no commit has: got the error %v, want one that names it", err)
	}
	git("add", "new")
	git("commit", "--quiet", "-m", "second")
	if _, err := head(dir, "0.2.0"); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a version that is another commit's: got the error %v, want one that says so", err)
	}
	if _, err := head(t.TempDir(), "0.2.0"); err == nil {
		t.Error("a folder without git: got no error, want one")
	}
}

func TestArchivesAreTheSameWheneverTheyAreMade(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 12, 1, 8, 0, 0, 0, time.UTC)
	files := []file{{"lyceum", 0o755, []byte("binary")}, {"LICENSE", 0o644, []byte("free")}, {"completions/_lyceum", 0o644, nil}}
	first, err := archive("lyceum-1", at, files)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(files)
	second, err := archive("lyceum-1", at, files)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Error("the order in which files are given changes the archive")
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	if !unpacked.ModTime.IsZero() || unpacked.Name != "" {
		t.Errorf("the packing tells the time %v and the name %q, want neither", unpacked.ModTime, unpacked.Name)
	}
	var names []string
	r := tar.NewReader(unpacked)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || !h.ModTime.Equal(at) {
			t.Errorf("%s is of user %d %q, group %d, at %v; want nobody's, at %v", h.Name, h.Uid, h.Uname, h.Gid, h.ModTime, at)
		}
		if executable := h.Mode&0o111 != 0; executable != strings.HasSuffix(h.Name, "/lyceum") {
			t.Errorf("%s has the mode %o", h.Name, h.Mode)
		}
	}
	if want := []string{"lyceum-1/LICENSE", "lyceum-1/completions/_lyceum", "lyceum-1/lyceum"}; !slices.Equal(names, want) {
		t.Errorf("the archive has %q, want %q", names, want)
	}
}
