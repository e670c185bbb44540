package helper

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/computer/link"
)

func TestWhatIsDarkCountsByWhatTheHostLoses(t *testing.T) {
	t.Parallel()
	a, b := inode{1, 1}, inode{1, 2}
	none := shade{}
	mapped := func(sizes map[inode]int64) shade { return shade{sizes: sizes} }
	sent := shade{always: true}
	type look struct {
		beyond int64
		shade  shade
		want   int64
	}
	for name, looks := range map[string][]look{
		"NothingDark":             {{0, none, 0}, {500, none, 0}, {900, none, 0}},
		"ThereFromTheBeginning":   {{700, sent, 0}, {700, sent, 0}},
		"TakenWhileItAppeared":    {{0, none, 0}, {100, mapped(map[inode]int64{a: 4}), 100}},
		"OthersTakeLater":         {{0, none, 0}, {100, mapped(map[inode]int64{a: 4}), 100}, {900, mapped(map[inode]int64{a: 4}), 100}},
		"TakenByAnother":          {{0, none, 0}, {100, mapped(map[inode]int64{a: 4}), 100}, {150, mapped(map[inode]int64{a: 4, b: 4}), 150}},
		"UnmappedInPart":          {{0, mapped(map[inode]int64{a: 90}), 0}, {90, mapped(map[inode]int64{a: 4}), 90}},
		"SentAgainAndAgain":       {{0, sent, 0}, {100, sent, 100}, {250, sent, 250}},
		"GivenBack":               {{0, sent, 0}, {100, sent, 100}, {30, sent, 30}, {-50, sent, 0}},
		"GoneWithWhoeverHeldIt":   {{0, sent, 0}, {100, sent, 100}, {0, none, 0}, {0, sent, 0}},
		"GoneThoughTheHostIsFull": {{0, sent, 0}, {100, sent, 100}, {100, none, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d dark
			for i, l := range looks {
				if got := d.add(l.beyond, l.shade); got != l.want {
					t.Errorf("look %d: got %d, want %d", i, got, l.want)
				}
			}
		})
	}
}

func TestALimitThatCannotBeHeldIsRefused(t *testing.T) {
	t.Parallel()
	watched := link.Config{Memory: 1 << 30}
	if err := mayWatch(watched, "/proc"); err != nil {
		t.Errorf("on this machine: got %v, want it to be held", err)
	}
	// A kernel that shows everything but what is queued in sockets.
	proc := t.TempDir()
	show := func(name, text string) {
		path := filepath.Join(proc, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	missing := func(word string) {
		t.Helper()
		err := mayWatch(watched, proc)
		if err == nil || !strings.Contains(err.Error(), word) || !strings.Contains(err.Error(), "--weak-limits or with weak_limits: true in config.yaml") {
			t.Errorf("got %v, want it refused for %q, with what to do", err, word)
		}
	}
	missing("VmSize")
	show("self/status", "Name:\tx\nVmSize:\t1 kB\nRssAnon:\t1 kB\nRssShmem:\t0 kB\nVmPTE:\t1 kB\n")
	missing("how much shared memory")
	show("meminfo", "MemTotal: 1 kB\nShmem: 0 kB\n")
	missing("segments")
	show("sysvipc/shm", "key\n")
	missing("descriptors")
	weak := watched
	weak.Weak = true
	if err := mayWatch(weak, proc); err != nil {
		t.Errorf("with weak limits: got %v, want it to start", err)
	}
	if err := mayWatch(link.Config{}, proc); err != nil {
		t.Errorf("where a control group holds the limit: got %v, want it to start", err)
	}
}

func TestMappingsThatNobodyElseShowsAreFound(t *testing.T) {
	t.Parallel()
	const at = "7f0000000000-7f0000002000 rw-s 00000000 00:01 "
	for line, want := range map[string]struct{ found, disk bool }{
		at + "77                /dev/zero (deleted)":              {true, false},
		at + "77                /memfd:a name (deleted)":          {true, false},
		at + "77                [anon_shmem:mine]":                {true, false},
		at + "77                /home/agent/x y (deleted)":        {true, true},
		at + "77                /home/agent/#77 (deleted)":        {true, true},
		at + "77                /home/agent/x":                    {},
		at + "77                /tmp/x (deleted)":                 {},
		at + "77                /SYSV00000000 (deleted)":          {},
		at + "77                anon_inode:[something] (deleted)": {},
		at + "0":                        {},
		at + "0                 [heap]": {},
		at + "77                /home/agent2/x (deleted)": {},
		at + "77 (deleted)":                                       {},
		"Rss:                 8 kB":                               {},
		"not a line at all of that kind, but long (deleted)":      {},
		at + "77                /usr/lib/libc.so.6 (deleted)":     {},
		at + "77                /usr/lib/[anon_shmem:x (deleted)": {},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "maps"), []byte(line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s := &survey{home: "/home/agent", mapped: map[inode]*mapping{}}
		s.mappings(process{dir: dir, mark: 5})
		m := s.mapped[inode{1, 77}]
		if len(s.mapped) > 0 != want.found || want.found && (m == nil || m.size != 0x2000 || m.disk != want.disk || !m.marks[5]) {
			t.Errorf("%q: got %+v, want it found: %v", line, m, want)
		}
	}
}
