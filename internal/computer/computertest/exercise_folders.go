package computertest

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"lyceum/internal/computer"
)

// bundle is a folder with a program, as somebody installed it.
func bundle(t *testing.T, says string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "bundle")
	err := errors.Join(
		os.MkdirAll(filepath.Join(dir, "bin"), 0o755),
		os.WriteFile(filepath.Join(dir, "bin", "speak"), []byte("#!/bin/sh\necho "+says+"\n"), 0o755),
		os.Symlink("bin/speak", filepath.Join(dir, "link")),
	)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func (l *lab) folders(t *testing.T) {
	t.Parallel()
	with := func(folders ...computer.Folder) computer.Spec {
		s := l.opts.Spec
		s.Folders = folders
		return s
	}
	one, two := bundle(t, "one"), bundle(t, "two")
	m := l.bootWith(t, with(computer.Folder{Name: "tools", Path: one}, computer.Folder{Name: "more", Path: two}), computer.Options{})
	if got := m.sh("/opt/tools/bin/speak; /opt/tools/link; /opt/more/bin/speak"); got != "one\none\ntwo\n" {
		t.Errorf("programs of folders say %q", got)
	}
	if got := m.sh("for f in /opt/tools/new /opt/tools/bin/speak /opt/more/bin/speak; do (echo x > $f) 2>/dev/null && echo wrote $f; done; rm -rf /opt/tools/bin 2>/dev/null; rm -f /opt/tools/link 2>/dev/null; chmod 777 /opt/tools 2>/dev/null && echo changed; ls /opt/tools"); got != "bin\nlink\n" {
		t.Errorf("a program changed a folder that is only there to be read: %q", got)
	}
	if b, err := os.ReadFile(filepath.Join(one, "bin", "speak")); err != nil || string(b) != "#!/bin/sh\necho one\n" {
		t.Errorf("a folder of the host was changed: %q, %v", b, err)
	}
	print := m.Fingerprint()
	if len(print.Folders) != 2 || print.Folders[0].Digest == print.Folders[1].Digest {
		t.Errorf("the fingerprint has %+v, want the digests of both folders", print.Folders)
	}
	// The same files elsewhere are the same folder, and others are not.
	same := l.bootWith(t, with(computer.Folder{Name: "tools", Path: bundle(t, "one")}, computer.Folder{Name: "more", Path: two}), computer.Options{})
	if same.Fingerprint().Hash() != print.Hash() {
		t.Errorf("a folder with the same files: got %+v, want %+v", same.Fingerprint(), print)
	}
	if err := os.WriteFile(filepath.Join(one, "bin", "speak"), []byte("#!/bin/sh\necho other\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	m = l.at(t, m.place, with(computer.Folder{Name: "tools", Path: one}, computer.Folder{Name: "more", Path: two}), computer.Options{})
	if m.Fingerprint().Hash() == print.Hash() {
		t.Error("a folder with other files has the same fingerprint")
	}
	l.wrongFolders(t, one, with)
}

// fixed: a folder of the home that is only there to be read, for whatever runs inside.
func (l *lab) fixed(t *testing.T) {
	t.Parallel()
	s := l.opts.Spec
	s.Fixed = []string{"skills", "absent"}
	p := place(t)
	if err := errors.Join(os.MkdirAll(filepath.Join(p.Home, "skills", "a"), 0o755), os.WriteFile(filepath.Join(p.Home, "skills", "a", "SKILL.md"), []byte("text\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	m := l.at(t, p, s, computer.Options{})
	got := m.sh(`cd; cat skills/a/SKILL.md
(echo x > skills/a/SKILL.md) 2>/dev/null && echo wrote; (echo x > skills/new) 2>/dev/null && echo made; rm -rf skills/a 2>/dev/null
chmod 777 skills/a/SKILL.md 2>/dev/null && echo changed
echo x > beside && ln -s skills/a/SKILL.md link && (echo x > link) 2>/dev/null && echo wrote through a link; cat skills/a/SKILL.md beside`)
	if got != "text\ntext\nx\n" {
		t.Errorf("a program changed a folder of its home that is only there to be read: %q", got)
	}
	l.staysInPlace(t, m)
	if b, err := os.ReadFile(filepath.Join(p.Home, "skills", "a", "SKILL.md")); err != nil || string(b) != "text\n" {
		t.Errorf("the folder was changed: %q, %v", b, err)
	}
	if print := m.Fingerprint(); len(print.Fixed) != 1 || print.Fixed[0] != "skills" {
		t.Errorf("the fingerprint has %q, want the folder that is there", print.Fixed)
	}
	for _, c := range []struct{ name, target string }{{"skills", "/etc"}, {"a/b", ""}, {"..", ""}} {
		p, s := place(t), l.opts.Spec
		s.Fixed = []string{c.name}
		if c.target != "" {
			if err := os.Symlink(c.target, filepath.Join(p.Home, c.name)); err != nil {
				t.Fatal(err)
			}
		}
		if c, err := computer.Open(soon(t), l.driver, p, s, computer.Options{}); err == nil {
			_ = c.Stop(soon(t))
			t.Errorf("a computer has a fixed folder %v", s.Fixed)
		}
	}
}

// staysInPlace: nothing else comes to stand where a fixed folder of the home is.
func (l *lab) staysInPlace(t *testing.T, m *machine) {
	t.Helper()
	// Each attempt says what it did, so that what is read after it is known to be what was there.
	got := m.sh(`cd; mkdir -p other/a; echo forged > other/a/SKILL.md; mkdir empty
mv skills away 2>/dev/null && echo moved away
mv -T other skills 2>/dev/null && echo replaced
mv -T empty skills 2>/dev/null && echo replaced by an empty one
rmdir skills 2>/dev/null && echo removed
rm -f skills 2>/dev/null && echo unlinked
ln -sfn other skills 2>/dev/null && [ -L skills ] && echo linked
umount skills 2>/dev/null && echo uncovered
umount -l skills 2>/dev/null && echo uncovered lazily
mount --bind other skills 2>/dev/null && echo covered
mount -o remount,rw,bind skills 2>/dev/null && echo opened
(echo x > skills/a/SKILL.md) 2>/dev/null && echo wrote; ls; cat skills/a/SKILL.md`)
	if want := "beside\nempty\nlink\nother\nskills\ntext\n"; got != want {
		t.Errorf("after all attempts on a fixed folder: got %q, want %q", got, want)
	}
	if !l.opts.has("python3") {
		return
	}
	// The calls themselves, since the commands above look before they ask.
	got = m.sh(`cd; python3 - <<'END'
import ctypes, os
c = ctypes.CDLL(None, use_errno=True)
def call(what, n):
    print(what, "done" if n == 0 else "refused")
def rename(a, b):
    try: os.rename(a, b); return 0
    except OSError: return 1
def rmdir(a):
    try: os.rmdir(a); return 0
    except OSError: return 1
call("rename", rename("skills", "away"))
call("rename onto", rename("empty", "skills"))
call("exchange", c.renameat2(-100, b"other", -100, b"skills", 2))
call("rmdir", rmdir("skills"))
call("umount", c.umount2(b"skills", 2))
call("bind", c.mount(b"other", b"skills", None, 4096, None))
call("remount", c.mount(None, b"skills", None, 32 | 4096, None))
call("unshare", c.unshare(0x00020000 | 0x10000000))
END`)
	want := "rename refused\nrename onto refused\nexchange refused\nrmdir refused\numount refused\nbind refused\nremount refused\nunshare refused\n"
	if got != want {
		t.Errorf("calls on a fixed folder: got %q, want %q", got, want)
	}
}

func (l *lab) wrongFolders(t *testing.T, good string, with func(...computer.Folder) computer.Spec) {
	t.Helper()
	secret, pipe := bundle(t, "secret"), bundle(t, "pipe")
	if err := errors.Join(os.Chmod(filepath.Join(secret, "bin", "speak"), 0o700), syscall.Mkfifo(filepath.Join(pipe, "fifo"), 0o644)); err != nil {
		t.Fatal(err)
	}
	for what, f := range map[string][]computer.Folder{
		"one that is not there": {{Name: "tools", Path: filepath.Join(good, "missing")}},
		"a file":                {{Name: "tools", Path: filepath.Join(good, "bin", "speak")}},
		"one from nowhere":      {{Name: "tools", Path: "bundle"}},
		"a bad name":            {{Name: "../usr", Path: good}},
		"the same name twice":   {{Name: "tools", Path: good}, {Name: "tools", Path: good}},
		"one with a pipe":       {{Name: "tools", Path: pipe}},
	} {
		c, err := computer.Open(soon(t), l.driver, place(t), with(f...), computer.Options{})
		refused(t, "a folder, "+what, err)
		if err == nil {
			_ = c.Stop(soon(t))
		}
	}
	if os.Geteuid() != 0 {
		return // whoever runs it can read their own
	}
	_, err := computer.Open(soon(t), l.driver, place(t), with(computer.Folder{Name: "tools", Path: secret}), computer.Options{})
	refused(t, "a folder that others may not read", err, "bin/speak", "chmod")
}
