package cgroup

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/need"
)

// tree makes folders and files: a name that ends in a slash is a folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		dir := filepath.Dir(path)
		if strings.HasSuffix(name, "/") {
			dir = path
		}
		err := os.MkdirAll(dir, 0o755)
		if err == nil && dir != path {
			err = os.WriteFile(path, []byte(text), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func content(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

func TestVersionTwo(t *testing.T) {
	t.Parallel()
	t.Run("GoesUpToTheGroupThatHandsOutControllers", func(t *testing.T) {
		t.Parallel()
		// A folder in the place of a file cannot be written, as in a group with
		// processes.
		root := tree(t, map[string]string{
			"cgroup.controllers": "cpu memory pids", "cgroup.procs": "", "cgroup.subtree_control": "",
			"user/cgroup.procs": "", "user/cgroup.subtree_control": "cpu memory pids",
			"user/session/cgroup.procs": "1", "user/session/cgroup.subtree_control/": "",
			"self": "0::/user/session\n",
		})
		tr := Find(root, filepath.Join(root, "self"))
		if tr.Version != 2 || !tr.Has(Memory) || !tr.Has(Processes) || !tr.Has(CPU) || len(tr.Why) != 0 {
			t.Fatalf("found %+v", tr)
		}
		g, err := tr.Make("name", Limits{Memory: 1 << 20, Processes: 7, CPUs: 1500})
		if err != nil || !slices.Equal(g.Dirs, []string{filepath.Join(root, "user/name")}) {
			t.Fatalf("made %+v, %v", g, err)
		}
		for file, want := range map[string]string{"memory.max": "1048576", "memory.swap.max": "0", "pids.max": "7", "cpu.max": "150000 100000"} {
			if got := content(t, filepath.Join(g.Dirs[0], file)); got != want {
				t.Errorf("%s is %q, want %q", file, got, want)
			}
		}
		if err := g.Add(123); err != nil || content(t, filepath.Join(g.Dirs[0], "cgroup.procs")) != "123" {
			t.Errorf("a process was not put into it (%v)", err)
		}
	})
	t.Run("AsksForWhatIsNotHandedOut", func(t *testing.T) {
		t.Parallel()
		root := tree(t, map[string]string{"cgroup.controllers": "", "cgroup.procs": "", "cgroup.subtree_control": "", "self": "0::/\n"})
		if tr := Find(root, filepath.Join(root, "self")); !tr.Has(Memory) || !tr.Has(CPU) {
			t.Errorf("found %+v", tr)
		}
		if got := content(t, filepath.Join(root, "cgroup.subtree_control")); got != "+"+CPU {
			t.Errorf("asked for %q last", got)
		}
	})
	t.Run("SaysWhatIsMissing", func(t *testing.T) {
		t.Parallel()
		for what, files := range map[string]map[string]string{
			"nothing handed out": {"cgroup.controllers": "", "cgroup.procs": "", "cgroup.subtree_control/": "", "self": "0::/\n"},
			"no right to move":   {"cgroup.controllers": "", "cgroup.subtree_control": "cpu memory pids", "self": "0::/\n"},
			"another tree":       {"cgroup.controllers": "", "cgroup.procs": "", "cgroup.subtree_control": "cpu memory pids", "self": "0::/../../outside\n"},
			"no list":            {"cgroup.controllers": ""},
		} {
			root := tree(t, files)
			tr := Find(root, filepath.Join(root, "self"))
			if tr.Version != 0 || tr.Has(Memory) || tr.Why[Memory] == "" || tr.Why[CPU] == "" {
				t.Errorf("%s: found %+v", what, tr)
			}
		}
	})
	t.Run("CountsWhatWasMet", func(t *testing.T) {
		t.Parallel()
		root := tree(t, map[string]string{
			"g/memory.events": "low 0\nhigh 9\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n", "g/pids.events": "max 41\n",
		})
		if m, p := (&Group{Version: 2, Dirs: []string{filepath.Join(root, "g")}}).Met(); m != 2 || p != 41 {
			t.Errorf("met %d, %d", m, p)
		}
	})
}

func TestVersionOne(t *testing.T) {
	t.Parallel()
	root := tree(t, map[string]string{
		"memory/a/": "", "pids/": "", "cpu,cpuacct/c/": "",
		"self": "5:pids:/\n4:memory:/a\n3:cpu,cpuacct:/c\n2:name=systemd:/\n0::/\nnonsense\n",
	})
	if err := os.Symlink("cpu,cpuacct", filepath.Join(root, "cpu")); err != nil {
		t.Fatal(err)
	}
	tr := Find(root, filepath.Join(root, "self"))
	if tr.Version != 1 || !tr.Has(Memory) || !tr.Has(Processes) || !tr.Has(CPU) {
		t.Fatalf("found %+v", tr)
	}
	g, err := tr.Make("name", Limits{Memory: 1 << 20, Processes: 7, CPUs: 500})
	if err != nil || len(g.Dirs) != 3 {
		t.Fatalf("made %+v, %v", g, err)
	}
	for file, want := range map[string]string{
		"memory/a/name/memory.limit_in_bytes": "1048576", "memory/a/name/memory.memsw.limit_in_bytes": "1048576", "pids/name/pids.max": "7",
		"cpu/c/name/cpu.cfs_quota_us": "50000", "cpu/c/name/cpu.cfs_period_us": "100000",
	} {
		if got := content(t, filepath.Join(root, file)); got != want {
			t.Errorf("%s is %q, want %q", file, got, want)
		}
	}
	for file, text := range map[string]string{"memory/a/name/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n", "pids/name/pids.events": "max 4\n"} {
		if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if m, p := g.Met(); m != 3 || p != 4 {
		t.Errorf("met %d, %d", m, p)
	}
	// Each controller stands by itself.
	if err := os.RemoveAll(filepath.Join(root, "memory")); err != nil {
		t.Fatal(err)
	}
	tr = Find(root, filepath.Join(root, "self"))
	if tr.Has(Memory) || !tr.Has(Processes) || tr.Why[Memory] == "" || tr.Why[Processes] != "" {
		t.Errorf("without memory: %+v", tr)
	}
}

func TestTheRealOne(t *testing.T) {
	t.Parallel()
	tr := Find("/sys/fs/cgroup", "/proc/self/cgroup")
	if !tr.Has(Memory) || !tr.Has(Processes) {
		need.Missing(t, "no control groups can be made here: %v; run as root to try", tr.Why)
	}
	name := fmt.Sprintf("lyceum-test-%d", os.Getpid())
	g, err := tr.Make(name, Limits{Memory: 64 << 20, Processes: 20, CPUs: 1000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Remove(context.Background()); err != nil {
			t.Error(err)
		}
	})
	// It waits for a line, so that it is in the group before it does anything.
	cmd := exec.Command("sh", "-c", "read line; i=0; while [ $i -lt 40 ]; do sleep 1000 & i=$((i+1)); done; wait")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := g.Add(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte("go\n")); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("forty processes where twenty may be")
	}
	if _, p := g.Met(); p == 0 {
		t.Error("the limit on processes was met and not counted")
	}
	// Those it left are there until the group is made anew, with higher limits too.
	if n := len(words(filepath.Join(g.Dirs[0], "cgroup.procs"))); n < 10 {
		t.Errorf("%d processes are in it", n)
	}
	if g, err = tr.Make(name, Limits{Memory: 128 << 20, Processes: 30}); err != nil {
		t.Fatal(err)
	}
	for _, d := range g.Dirs {
		if left := words(filepath.Join(d, "cgroup.procs")); len(left) != 0 {
			t.Errorf("%v are in %s", left, d)
		}
	}
	if _, p := g.Met(); p != 0 {
		t.Errorf("a new group has met its limit %d times", p)
	}
	if err := g.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, d := range g.Dirs {
		if _, err := os.Stat(d); err == nil {
			t.Errorf("%s is still there", d)
		}
	}
	if err := g.Remove(t.Context()); err != nil {
		t.Errorf("a group that is gone: %v", err)
	}
}
