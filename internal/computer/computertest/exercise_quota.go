package computertest

import (
	"os"
	"path/filepath"
	"testing"

	"lyceum/internal/computer"
	projects "lyceum/internal/computer/quota"
	"lyceum/internal/need"

	"golang.org/x/sys/unix"
)

// Quota tries computers whose homes are on a disk with project quotas: the kernel holds the limit, and the watchdog
// says of whom.
func Quota(t *testing.T, open func(t *testing.T) computer.Driver, o Options) {
	q := &quotaLab{disk: need.Quota(t), lab: newLab(t, open, o)}
	// Each is files that are not larger than one may be, and there are too many.
	for name, script := range map[string]string{
		"OfManyFilesAtOnceHolds":     `for i in 1 2 3 4 5 6; do head -c 7000000 /dev/zero >big$i & done; wait; exit 1`,
		"OfFilesWithoutANameHolds":   `exec 4>a 5>b 6>c; rm a b c; head -c 7000000 /dev/zero >&4; head -c 7000000 /dev/zero >&5; head -c 7000000 /dev/zero >&6; sleep 30; exit 1`,
		"OfWhatIgnoresItsErrorHolds": `for i in 1 2 3 4 5 6; do head -c 7000000 /dev/zero >big$i; done; sleep 30`,
	} {
		t.Run(name, func(t *testing.T) { q.fills(t, script) })
	}
	t.Run("IsGoneWithTheComputer", q.isGone)
	t.Run("IsNotWhatTheHostHasLeft", q.isNotTheHosts)
}

// quotaLab has a disk with project quotas.
type quotaLab struct {
	*lab
	disk string
}

// quotaLimit is that of most homes here.
const quotaLimit = 8 * mib

// held boots a computer whose home is on the disk.
func (q *quotaLab) held(t *testing.T, limit int64) *machine {
	t.Helper()
	p := place(t)
	p.Home = filepath.Join(q.disk, filepath.Base(t.Name()))
	if err := os.Mkdir(p.Home, 0o700); err != nil {
		t.Fatal(err)
	}
	m := q.again(t, p, limit)
	if !m.Quota() {
		t.Fatal("its home is on a disk with project quotas, and is not held by one")
	}
	return m
}

func (q *quotaLab) again(t *testing.T, p computer.Place, limit int64) *machine {
	t.Helper()
	s := q.opts.Spec
	s.Limits.Disk = limit
	return q.at(t, p, s, computer.Options{})
}

// most is what the kernel lets a home take.
func most(t *testing.T, m *machine) int64 {
	t.Helper()
	bytes, files, err := projects.Limits(m.place.Home)
	if err != nil || files == 0 {
		t.Fatalf("the limits of a home: %d, %d, %v; want both", bytes, files, err)
	}
	return bytes
}

// fills runs what fills a home up.
func (q *quotaLab) fills(t *testing.T, script string) {
	m := q.held(t, quotaLimit)
	if got := most(t, m); got < quotaLimit || got > quotaLimit+quotaLimit/8 {
		t.Errorf("the kernel lets it take %d bytes, want a little more than the limit of %d", got, quotaLimit)
	}
	cmd := shell(script)
	cmd.Timeout = patience
	r := m.run(cmd)
	if r.End != computer.EndDisk && r.Met != computer.EndDisk || r.Exit == 0 {
		t.Errorf("a full disk: %s, want the limit named", told(r))
	}
	if taken, err := projects.Taken(m.place.Home); err != nil || taken > most(t, m) {
		t.Errorf("the home takes %d bytes, %v, more than the %d that the kernel lets it", taken, err, most(t, m))
	}
	if got := m.sh("rm -f big*; echo small >small; cat small"); got != "small\n" {
		t.Errorf("after clearing up: %q", got)
	}
}

// isGone: the limit goes with the computer, and comes with the next one.
func (q *quotaLab) isGone(t *testing.T) {
	m := q.held(t, quotaLimit)
	if err := m.Stop(soon(t)); err != nil {
		t.Fatal(err)
	}
	if bytes, files, err := projects.Limits(m.place.Home); err != nil || bytes != 0 || files != 0 {
		t.Errorf("the home of a computer that has stopped is held to %d, %d, %v, want no limit", bytes, files, err)
	}
	if again := q.again(t, m.place, quotaLimit); !again.Quota() || most(t, again) < quotaLimit {
		t.Error("the next computer of that home is not held")
	}
}

// isNotTheHosts: a home that is nearly full is no disk that is, so what the host needs is not looked for in a home.
func (q *quotaLab) isNotTheHosts(t *testing.T) {
	m := q.held(t, 9<<28) // 2.25 GiB, of a disk of four
	f, err := os.Create(filepath.Join(m.place.Home, "large"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := unix.Fallocate(int(f.Fd()), 0, 0, 2<<30); err != nil {
		t.Fatal(err)
	}
	if r := m.run(shell("for i in 1 2 3 4 5 6 7 8; do head -c 1000000 /dev/zero >file$i; sleep 0.2; done")); r.End != "" || r.Met != "" || r.Exit != 0 {
		t.Errorf("8 MB in a home that has a quarter of a GiB left: %s, want nothing in its way", told(r))
	}
}
