package cli_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lyceum/internal/cli"
	"lyceum/internal/need"

	"golang.org/x/sys/unix"
)

// unpack unpacks a tar into a folder.
func unpack(t *testing.T, in io.Reader, dir string) {
	t.Helper()
	must(t, os.MkdirAll(dir, 0o700))
	for r := tar.NewReader(in); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		must(t, err)
		path := filepath.Join(dir, h.Name)
		if h.Typeflag == tar.TypeDir {
			must(t, os.MkdirAll(path, 0o700))
			continue
		}
		data, err := io.ReadAll(r)
		must(t, err)
		must(t, os.WriteFile(path, data, 0o600))
	}
}

// oldHome is a home that the build before numbered formats made (commit 2bef019), with
// the quests primes and demo-number, which are finished, and waiting, which has not begun.
func oldHome(t *testing.T) *home {
	t.Helper()
	h := newHome(t, askFiles)
	f, err := os.Open("testdata/home-format-1.tar.gz")
	must(t, err)
	defer f.Close()
	in, err := gzip.NewReader(f)
	must(t, err)
	unpack(t, in, h.dir)
	return h
}

// at is another home, such as a backup.
func (h *home) at(dir string) *home { return &home{t: h.t, dir: dir, work: h.work, env: h.env} }

// names are the quests of a home.
func (h *home) names() (out []string) {
	h.t.Helper()
	var list []struct {
		Quest string `json:"quest"`
	}
	must(h.t, json.Unmarshal([]byte(h.ok("list", "--json")), &list))
	for _, q := range list {
		out = append(out, q.Quest)
	}
	return out
}

// whole checks every quest of a home. It starts no process: there are many to check.
func (h *home) whole() {
	h.t.Helper()
	for _, q := range h.names() {
		var out, errOut bytes.Buffer
		code := cli.Main(h.t.Context(), []string{"--home", h.dir, "verify", q}, strings.NewReader(""), &out, &errOut)
		lyceum{code, out.String(), errOut.String()}.want(h.t, 0, "consistent")
	}
}

func TestAHomeOfTheBuildBefore(t *testing.T) {
	t.Parallel()
	h := oldHome(t)
	if doctor := h.run("doctor"); !strings.Contains(doctor.out, "it has format 1; the next command that opens it keeps a copy and brings it to format 5") {
		t.Errorf("doctor says %s, want that the home is of format 1", doctor.out)
	}
	first := h.run("trace", "primes")
	first.want(t, 0, "asks solo/3", "finished", "from format 1 to 5", "lyceum.db.before-2")
	second := h.run("trace", "demo-number")
	second.want(t, 0, "finished")
	if second.errOut != "" {
		t.Errorf("the second command still says %q, want nothing: the home is up to date", second.errOut)
	}
	// What it holds was made with rules that this build has no more.
	for _, args := range [][]string{{"verify", "primes"}, {"replay", "demo-number"}, {"run", "waiting"}, {"show", "primes"}} {
		if got := h.run(args...); got.code != 1 || !strings.Contains(got.errOut, "rules solo/3") {
			t.Errorf("%v: got %+v, want it refused for rules solo/3", args, got)
		}
	}
	h.run("list").want(t, 0, "primes", "other rules")
	h.run("run", "quest.yaml", "--name", "new").want(t, 0)
	h.run("verify", "new").want(t, 0, "consistent")
	copied, err := filepath.Glob(filepath.Join(h.dir, "lyceum.db.*"))
	if err != nil || len(copied) != 1 {
		t.Errorf("beside the ledgers there are %v, %v; want one copy", copied, err)
	}
}

func TestAFormerHomeIsBackAgainByItsCopy(t *testing.T) {
	t.Parallel()
	h := oldHome(t)
	h.ok("run", "quest.yaml", "--name", "new")
	// What docs/cli.md tells to do.
	must(t, os.Remove(filepath.Join(h.dir, "lyceum.db")))
	must(t, os.Rename(filepath.Join(h.dir, "lyceum.db.before-2"), filepath.Join(h.dir, "lyceum.db")))
	h.run("trace", "primes").want(t, 0, "finished")
	if names := h.names(); slices.Contains(names, "new") || len(names) != 3 {
		t.Errorf("the former home has the quests %v, want the three it had", names)
	}
	h.ok("run", "quest.yaml", "--name", "newer")
	h.run("verify", "newer").want(t, 0, "consistent")
}

func TestABackupIsAHome(t *testing.T) {
	t.Parallel()
	h := newHome(t, askFiles)
	must(t, writeFolder(h.dir, map[string]string{"config.yaml": "model: demo\n", "profiles/mine/profile.yaml": "description: Mine.\n", "skills/sum/SKILL.md": "# Sum\n"}))
	h.ok("run", "quest.yaml")
	h.ok("create", "quest.yaml", "--name", "later")
	must(t, writeFolder(h.dir, map[string]string{"token": "secret\n", "server": "http://127.0.0.1:1/\n", "serving/ask": "x\n", "cache/ask.state": "x", "quests/ask/agents/agent-0/by-hand.txt": "mine"}))
	must(t, os.Symlink("ask", filepath.Join(h.dir, "quests/ask/agents/agent-0/link")))
	to := filepath.Join(h.work, "monday")
	h.run("backup", to).want(t, 0, "Backed up 2 quests", "token", "workspace of ask/agent-0 is not as recorded")
	b := h.at(to)
	for _, gone := range []string{"token", "server", "serving", "cache", "claims", "lyceum-index.db", "quests/ask/computers"} {
		if _, err := os.Lstat(filepath.Join(to, gone)); err == nil {
			t.Errorf("the backup has %s, want it left out", gone)
		}
	}
	for path, want := range map[string]string{
		"config.yaml": "model: demo\n", "profiles/mine/profile.yaml": "description: Mine.\n", "skills/sum/SKILL.md": "# Sum\n", "quests/ask/agents/agent-0/by-hand.txt": "mine",
	} {
		if data, err := os.ReadFile(filepath.Join(to, path)); err != nil || string(data) != want {
			t.Errorf("%s of the backup is %q, %v; want %q", path, data, err, want)
		}
	}
	if link, err := os.Readlink(filepath.Join(to, "quests/ask/agents/agent-0/link")); link != "ask" {
		t.Errorf("the link of the workspace is %q, %v; want it as it was", link, err)
	}
	same, err := os.ReadFile(filepath.Join(h.dir, "quests/ask/SUMMARY.md"))
	must(t, err)
	if data, err := os.ReadFile(filepath.Join(to, "quests/ask/SUMMARY.md")); err != nil || string(data) != string(same) {
		t.Errorf("the summary in the backup is %q, %v; want %q", data, err, same)
	}
	b.whole()
	b.run("replay", "ask").want(t, 0, "identical")
	b.ok("run", "later")
	b.ok("run", "quest.yaml", "--name", "new")
	if got := h.names(); !slices.Equal(got, []string{"ask", "later"}) {
		t.Errorf("the home has the quests %v: what is done in the backup must not reach it", got)
	}
}

func TestABackupIsRefusedByANameAndAWayOut(t *testing.T) {
	t.Parallel()
	h := asked(t)
	must(t, writeFolder(h.work, map[string]string{"there/file": "mine"}))
	for to, says := range map[string]string{
		"there":                          "there already and is not overwritten",
		"quest.yaml":                     "there already and is not overwritten",
		filepath.Join(h.dir, "inside"):   "inside the home: choose a place outside",
		filepath.Join("no", "such", "b"): "make that first",
	} {
		h.run("backup", to).want(t, 1, says)
	}
	if data, err := os.ReadFile(filepath.Join(h.work, "there/file")); err != nil || string(data) != "mine" {
		t.Errorf("the file that was there is %q, %v", data, err)
	}
	newHome(t, nil).run("backup", "x").want(t, 1, "there is nothing in")
	if left, _ := filepath.Glob(filepath.Join(h.work, "*.unfinished")); len(left) > 0 {
		t.Errorf("refused backups left %v", left)
	}
}

func TestABackupThatDoesNotFitLeavesNothing(t *testing.T) {
	t.Parallel()
	h := asked(t)
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		need.Missing(t, "mounting a small tmpfs takes root and CAP_SYS_ADMIN (%v): run the tests with sudo, or in a container with --privileged", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	h.run("backup", filepath.Join(dir, "b")).want(t, 1, "the disk is full", "Make room on the disk and give the command again")
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("it left %v, %v; want nothing", left, err)
	}
}

func TestABackupAsOneFile(t *testing.T) {
	t.Parallel()
	h := asked(t)
	var rep struct {
		Backup  string   `json:"backup"`
		Quests  int      `json:"quests"`
		Damaged []string `json:"damaged"`
	}
	must(t, json.Unmarshal([]byte(h.ok("backup", "b.tar", "--json")), &rep))
	if rep.Quests != 2 || len(rep.Damaged) != 0 || filepath.Base(rep.Backup) != "b.tar" {
		t.Errorf("the report is %+v, want two quests in b.tar", rep)
	}
	f, err := os.Open(rep.Backup)
	must(t, err)
	defer f.Close()
	b := h.at(filepath.Join(h.work, "restored"))
	unpack(t, f, b.dir)
	b.whole()
}

func TestADamagedHomeIsBackedUpAsItIs(t *testing.T) {
	t.Parallel()
	t.Run("a blob", func(t *testing.T) {
		t.Parallel()
		h := asked(t)
		blobs, err := filepath.Glob(filepath.Join(h.dir, "blobs", "??", "*"))
		must(t, err)
		must(t, os.WriteFile(blobs[0], []byte("other"), 0o600))
		h.run("backup", "b").want(t, 1, "Damaged in the home", filepath.Base(blobs[0]))
		if got := h.at(filepath.Join(h.work, "b")).names(); len(got) != 2 {
			t.Errorf("the backup has the quests %v, want both", got)
		}
	})
	t.Run("a ledger", func(t *testing.T) {
		t.Parallel()
		h := asked(t)
		execute(t, h.database(), "DELETE FROM events WHERE quest = 1 AND seq = 3")
		h.run("backup", "b").want(t, 1, "Damaged in the home", "ask")
		b := h.at(filepath.Join(h.work, "b"))
		b.run("verify", "other").want(t, 0, "consistent")
		b.run("verify", "ask").want(t, 1)
		in, err := filepath.Glob(filepath.Join(h.dir, "blobs", "??", "*"))
		must(t, err)
		for _, path := range in {
			rel, err := filepath.Rel(h.dir, path)
			must(t, err)
			if _, err := os.Stat(filepath.Join(b.dir, rel)); err != nil {
				t.Errorf("a blob that the damaged quest may need is missing: %v", err)
			}
		}
	})
}

// TestBackupsOfAHomeInUse backs up while four quests run at any moment, end, and are
// removed. Every backup is whole.
func TestBackupsOfAHomeInUse(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{"quest.yaml": slowQuest, "plan.yaml": slowPlan})
	h.ok("create", "quest.yaml", "--name", "first")
	ran, _, stop := h.turnover(4, func(string) string { return "quest.yaml" })
	running, rounds := 0, need.Times(8, 20)
	for round := range rounds {
		b := h.at(filepath.Join(h.work, fmt.Sprint("b", round)))
		h.run("backup", b.dir).want(t, 0, "Backed up")
		quests := b.names()
		running += len(quests) - 1
		b.whole()
		if round%10 == 7 {
			for _, q := range quests {
				b.run("run", q).want(t, 0)
			}
			b.whole()
		}
		must(t, os.RemoveAll(b.dir))
	}
	stop()
	if running < rounds || *ran < 4 {
		t.Errorf("%d quests ran and the backups had %d of them: that proves little", *ran, running)
	}
	t.Logf("%d quests ran; %d backups had %d that were running", *ran, rounds, running)
}

// TestBackupsWhileGarbageIsCollected backs up while quests come and go, and their blobs
// with them. A backup misses none, whichever of the two is first.
func TestBackupsWhileGarbageIsCollected(t *testing.T) {
	t.Parallel()
	h := newHome(t, askFiles)
	h.ok("run", "quest.yaml", "--name", "first")
	_, collected, stop := h.turnover(1, func(name string) string {
		// Each leaves blobs that no other quest has.
		err := writeFolder(filepath.Join(h.work, name), map[string]string{
			"quest.yaml": askQuest, "plan.yaml": strings.ReplaceAll(askPlan, "six times seven", "six times seven, says "+name),
		})
		if err != nil {
			t.Error(err)
		}
		return name + "/quest.yaml"
	})
	for round := range need.Times(8, 20) {
		b := h.at(filepath.Join(h.work, fmt.Sprint("b", round)))
		h.run("backup", b.dir).want(t, 0, "Backed up")
		b.whole()
		must(t, os.RemoveAll(b.dir))
	}
	stop()
	if *collected < need.Times(1, 3) {
		t.Errorf("blobs were collected %d times meanwhile: that proves little", *collected)
	}
	t.Logf("blobs were collected %d times", *collected)
}

// turnover has so many quests run, each from its file and followed by its removal and the
// next, until stop. The counts, of quests and of collections, hold afterwards.
func (h *home) turnover(quests int, file func(name string) string) (ran, collected *int, stop func()) {
	ran, collected = new(int), new(int)
	ended := make(chan struct{})
	var wg sync.WaitGroup
	var mu sync.Mutex // guards ran and collected
	for i := range quests {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-ended:
					return
				default:
				}
				name := fmt.Sprintf("w%d-%d", i, n)
				run := h.run("run", file(name), "--name", name)
				cleaned := h.run("clean", name, "--data", "--yes")
				if run.code != 0 || cleaned.code != 0 {
					h.t.Errorf("quest %s: run ended with %d, clean with %d\n%s%s", name, run.code, cleaned.code, run.errOut, cleaned.errOut)
				}
				mu.Lock()
				*ran++
				if strings.Contains(cleaned.out, "Freed") {
					*collected++
				}
				mu.Unlock()
			}
		})
	}
	return ran, collected, func() { close(ended); wg.Wait() }
}

// TestAKilledBackupLooksLikeNone kills backups at many moments.
func TestAKilledBackupLooksLikeNone(t *testing.T) {
	t.Parallel()
	h := asked(t)
	begun, kills := 0, need.Times(8, 15)
	for i := range kills {
		to := filepath.Join(h.work, fmt.Sprint("b", i))
		p := h.start("backup", to)
		// It is killed a little later each time after it has begun.
		for deadline := time.Now().Add(patience); ; {
			if _, err := os.Lstat(to + ".unfinished"); err == nil {
				begun++
				break
			}
			if _, err := os.Lstat(to); err == nil || time.Now().After(deadline) {
				break
			}
			time.Sleep(time.Millisecond / 4)
		}
		time.Sleep(time.Duration(i) * 45 * time.Millisecond / time.Duration(kills))
		p.kill()
		if _, err := os.Lstat(to); err == nil {
			h.at(to).whole() // it was faster
			continue
		}
		h.run("backup", to).want(t, 0, "Backed up 2 quests")
		h.at(to).whole()
		if _, err := os.Lstat(to + ".unfinished"); err == nil {
			t.Errorf("backup %d left %s.unfinished behind", i, to)
		}
	}
	if begun < kills/3 {
		t.Errorf("only %d backups were killed after they had begun: that proves little", begun)
	}
}
