package computertest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/blob/fs"
	"lyceum/internal/computer"
	"lyceum/internal/workspace"
)

// secret is what no program may see of files that are hidden.
const secret = "hidden-from-all"

// put makes files of a home, with the folders they are in.
func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		at := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
}

// again stops a computer, and opens another at its place.
func (l *lab) again(t *testing.T, m *machine, s computer.Spec) *machine {
	t.Helper()
	if err := m.Stop(soon(t)); err != nil {
		t.Fatal(err)
	}
	return l.at(t, m.place, s, computer.Options{})
}

// keeps fails if a program got at what is hidden.
func keeps(t *testing.T, after, got string) {
	t.Helper()
	if strings.Contains(got, secret) {
		t.Errorf("%s: a program read what is hidden: %q", after, got)
	}
}

// everywhere reads all that can be read of the home and of the folders, by every way to them.
const everywhere = `
for d in . /home/agent /opt /proc/self/root/home/agent /proc/self/cwd /home/../home/agent /proc/1/root/home/agent /dev/fd/../../../home/agent; do
	find "$d" -type f -exec cat {} + 2>/dev/null
	grep -rs hidden-from "$d"
done
exec 9< . ; cat /proc/self/fd/9/.env /proc/self/fd/9/a/b/.env 2>/dev/null; exec 9<&-
sh -c 'sh -c "cat /home/agent/.env /home/agent/.ssh/id /home/agent/store/.aws/credentials" & wait' 2>/dev/null
true`

// hides: what has a hidden name when a computer is booted is read by nothing in it, and is not lost.
func (l *lab) hides(t *testing.T) {
	t.Parallel()
	s := l.opts.Spec
	s.Bounds.Hide = workspace.DefaultHide
	tools := bundle(t, "tools")
	put(t, tools, map[string]string{".env": secret})
	s.Folders = []computer.Folder{{Name: "tools", Path: tools}}
	p := place(t)
	files := map[string]string{
		".env": secret, "a/b/.env": secret, "a/.ENV.local": secret, ".ssh/id": secret, ".ssh/deep/er/id": secret,
		"store/.aws/credentials": secret, "shut/in/.env": secret, "with space\n/.env": secret, ".env.example": "example\n", "open.txt": "open\n",
	}
	put(t, p.Home, files)
	in := func(name string) string { return filepath.Join(p.Home, name) }
	err := errors.Join(
		os.Link(in(".env"), in("twin")), os.Link(in(".ssh/id"), in("a/key")), os.Symlink(".env", in("link")), os.Symlink("/home/agent/.ssh", in("folder")),
		os.Symlink(".", in(".kube")), os.Symlink("store/.aws/credentials", in("plain")),
		os.Chmod(in("shut/in"), 0), os.Chmod(in(".env"), 0o666),
	)
	if err != nil {
		t.Fatal(err)
	}
	m := l.at(t, p, s, computer.Options{})
	keeps(t, "at first", m.sh(everywhere))
	if got := m.sh("cat open.txt .env.example; ls -d a/b with*"); got != "open\nexample\na/b\nwith space\n\n" {
		t.Errorf("what is not hidden: got %q, want it to be there", got)
	}
	if got := m.Masks(); len(got) != 10 || !slices.Contains(got, computer.Mask{Path: "/home/agent/.ssh", Dir: true}) {
		t.Errorf("it says that it hides %v, want 10 paths", got)
	}
	keeps(t, "after all attempts", m.sh(uncover+everywhere))
	if l.opts.has("python3") {
		if got, want := m.sh(uncoverCalls), strings.Repeat("refused\n", 8); got != want {
			t.Errorf("calls on what is hidden: got %q, want %q", got, want)
		}
		keeps(t, "after calls", m.sh(everywhere))
	}
	// What was moved with its folder is found there again, also if the folder was locked.
	m.sh("mv a z; chmod 0 z; rm .kube; mv store away; mkdir new; echo mine > new/.env; cat new/.env > /dev/null; ln new/.env new/other")
	m = l.again(t, m, s)
	keeps(t, "after a new boot", m.sh("chmod -R 700 z shut 2>/dev/null;"+everywhere))
	if got := m.sh("cat new/.env new/other 2>/dev/null; true"); got != "" {
		t.Errorf("a file that was made after the boot: got %q from the next one, want it hidden", got)
	}
	l.nothingLost(t, m, files)
	l.restored(t, m, s)
}

// uncover are attempts to get at what is hidden, or to have it hidden no longer.
const uncover = `
{ mv .env moved; mv -T .ssh moved2; cp -a .ssh copy; ln .env hard; ln -s .env soft; cat soft; cp .env copied; dd if=.env
chmod 777 .env .ssh a/b/.env; rm -f .env a/b/.env; rm -rf .ssh; echo forged > .env; echo forged > .ssh/id; mkdir .ssh/x
mv a/b a/c; cat a/c/.env; mv a/c a/b; tar cf - . ; umount .env; umount -l .ssh; mount --bind / /tmp; unshare -rm sh -c 'umount /home/agent/.env; cat /home/agent/.env'
chroot /proc/self/root cat /home/agent/.env; git init -q g; git -C g --work-tree=.. add -A -f; git -C g --work-tree=.. grep hidden-from
cat .Env .ENV ./.env .//.env ../agent/.env; } 2>/dev/null
`

// uncoverCalls are calls that the commands above do not make, or look before they do.
const uncoverCalls = `python3 - <<'END'
import ctypes, os
c = ctypes.CDLL(None, use_errno=True)
open("other", "w").write("other")
def call(n):
    print("done" if n >= 0 else "refused")
call(c.rename(b".env", b"moved"))
call(c.rename(b"other", b".env"))
call(c.renameat2(-100, b"other", -100, b".env", 2))
call(c.unlink(b".env"))
call(c.linkat(-100, b".env", -100, b"hard", 0))
call(c.umount2(b".env", 2))
call(c.syscall(428, -100, b"/home/agent", 1)) # open_tree
call(c.unshare(0x00020000 | 0x10000000))
END`

// nothingLost: what was hidden is on the host as it was, wherever its folder went.
func (l *lab) nothingLost(t *testing.T, m *machine, files map[string]string) {
	t.Helper()
	for name, text := range files {
		for from, to := range map[string]string{"a/": "z/", "store/": "away/"} {
			if rest, ok := strings.CutPrefix(name, from); ok {
				name = to + rest
			}
		}
		at := filepath.Join(m.place.Home, name)
		b, err := os.ReadFile(at)
		if err != nil && os.Geteuid() != 0 {
			_ = errors.Join(os.Chmod(filepath.Dir(at), 0o700), os.Chmod(filepath.Dir(filepath.Dir(at)), 0o700))
			b, err = os.ReadFile(at)
		}
		if err != nil || string(b) != text {
			t.Errorf("%q, which was hidden, is now %q (%v), want it as it was", name, b, err)
		}
	}
}

// restored: a snapshot has what is hidden, and a computer whose home is made of it hides it too.
func (l *lab) restored(t *testing.T, m *machine, s computer.Spec) {
	t.Helper()
	store, err := fs.Open(filepath.Join(t.TempDir(), "blobs"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	ref, _, _, err := blob.Snapshot(soon(t), store, m.Home(), nil)
	if err != nil {
		t.Fatal(err)
	}
	p := place(t)
	root, err := os.OpenRoot(p.Home)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := blob.Restore(soon(t), store, ref, root); err != nil {
		t.Fatal(err)
	}
	if b, err := root.ReadFile(".env"); err != nil || string(b) != secret {
		t.Errorf("a snapshot of a home has %q (%v) for what is hidden, want it whole", b, err)
	}
	// Its links are files of their own by now, as the names that they have.
	put(t, p.Home, map[string]string{"twin": "", "z/key": ""})
	fresh := l.at(t, p, s, computer.Options{})
	keeps(t, "in a home made of a snapshot", fresh.sh(everywhere))
}

// writes: nothing in a computer writes but where it may.
func (l *lab) writes(t *testing.T) {
	t.Parallel()
	s := l.opts.Spec
	s.Bounds.Write = []string{"out/deep", "/tmp"}
	p := place(t)
	put(t, p.Home, map[string]string{"top": "top\n", "src/code": "code\n", "out/deep/old": "old\n", "out/beside": "beside\n"})
	m := l.at(t, p, s, computer.Options{})
	got := m.sh(`cd; cat top src/code out/deep/old
{ echo x > top; echo x >> src/code; echo x > new; mkdir folder; rm -f top; rm -rf src; mv src gone; chmod 777 top; touch src/code; echo x > out/new; echo x > out/beside
mv out away; mv out/deep out/deeper; rmdir out/deep; ln -s ../../top out/deep/link; echo x > out/deep/link; ln top out/deep/hard; echo x > out/deep/hard
mkdir out/deep/up; echo x > out/deep/up/../../../top; mount -o remount,rw,bind /home/agent; mount --bind out/deep src; unshare -rm sh -c 'mount -o remount,rw,bind /home/agent; echo x > /home/agent/top'
echo x > /proc/self/root/home/agent/top; echo x > /proc/self/cwd/top; echo x > /home/agent/../agent/top; echo x > /usr/new; echo x > /etc/new; sh -c 'echo x > top' & wait; } 2>/dev/null
cat top src/code out/beside; ls; ls out
echo y > out/deep/new && echo y > /tmp/new && cat out/deep/new /tmp/new && rm out/deep/old && mv out/deep/new out/deep/newer && ls out/deep`)
	want := "top\ncode\nold\ntop\ncode\nbeside\nout\nsrc\ntop\nbeside\ndeep\ny\ny\nhard\nlink\nnewer\nup\n"
	if got != want {
		t.Errorf("a computer that writes to out/deep and /tmp: got %q, want %q", got, want)
	}
	if b, err := os.ReadFile(filepath.Join(p.Home, "top")); err != nil || string(b) != "top\n" {
		t.Errorf("a file that is only read was changed: %q, %v", b, err)
	}
	// A hidden file in a folder that is written to stays hidden, and so does the rest of the home.
	put(t, p.Home, map[string]string{"out/deep/.env": secret, "src/.env": secret})
	s.Bounds = workspace.Bounds{Write: []string{"out/deep", "made/anew"}, Hide: []string{".env"}}
	m = l.again(t, m, s)
	keeps(t, "with both bounds", m.sh(`cd; { mv out/deep/.env out/deep/moved; mv out/deep/.env made/anew/moved; } 2>/dev/null;`+everywhere))
	got = m.sh(`cd; { echo x > /tmp/new; echo x > /dev/shm/new; echo x > top; } 2>/dev/null; ls /tmp /dev/shm; echo x > made/anew/file && cat made/anew/file`)
	if want := "/dev/shm:\n\n/tmp:\nx\n"; got != want {
		t.Errorf("a computer that does not write to /tmp: got %q, want %q", got, want)
	}
}

// bounds that cannot be held: no computer starts, and it is said why.
func (l *lab) noBounds(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct {
		bounds workspace.Bounds
		fill   func(home string) error
		words  []string
	}{
		"a link to write to": {workspace.Bounds{Write: []string{"out"}}, func(home string) error { return os.Symlink("/etc", filepath.Join(home, "out")) }, []string{"out", "allow_write"}},
		"a link on the way":  {workspace.Bounds{Write: []string{"a/out"}}, func(home string) error { return os.Symlink(".", filepath.Join(home, "a")) }, []string{"a/out", "allow_write"}},
		"a file to write to": {workspace.Bounds{Write: []string{"out"}}, func(home string) error { return os.WriteFile(filepath.Join(home, "out"), nil, 0o644) }, []string{"out", "move away"}},
		"too many to hide": {workspace.Bounds{Hide: []string{"*.key"}}, func(home string) error {
			var all error
			for i := range 257 {
				all = errors.Join(all, os.WriteFile(filepath.Join(home, fmt.Sprint(i, ".key")), nil, 0o644))
			}
			return all
		}, []string{"deny_read", "remove"}},
		"a folder that no mount finds": {workspace.Bounds{Hide: []string{".env"}}, func(home string) error {
			at := filepath.Join(home, "a\xff")
			return errors.Join(os.Mkdir(at, 0o755), os.WriteFile(filepath.Join(at, ".env"), nil, 0o644))
		}, []string{"deny_read", "rename"}},
	} {
		s, p := l.opts.Spec, place(t)
		s.Bounds = c.bounds
		if err := c.fill(p.Home); err != nil {
			t.Fatal(err)
		}
		m, err := computer.Open(soon(t), l.driver, p, s, computer.Options{})
		refused(t, what, err, c.words...)
		if err == nil {
			_ = m.Stop(soon(t))
		}
	}
}
