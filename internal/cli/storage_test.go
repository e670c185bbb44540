package cli_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/need"

	"golang.org/x/sys/unix"
	sq "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

var askFiles = map[string]string{"quest.yaml": askQuest, "plan.yaml": askPlan}

// asked returns a home with the quests ask and other, both finished.
func asked(t *testing.T) *home {
	t.Helper()
	h := newHome(t, askFiles)
	h.ok("run", "quest.yaml")
	h.ok("run", "quest.yaml", "--name", "other")
	return h
}

func (h *home) database() string { return filepath.Join(h.dir, "lyceum.db") }

// change changes the database behind lyceum's back.
func (h *home) change(f func(data []byte) []byte) {
	h.t.Helper()
	data, err := os.ReadFile(h.database())
	must(h.t, err)
	must(h.t, os.WriteFile(h.database(), f(data), 0o600))
}

func execute(t *testing.T, path, query string) {
	t.Helper()
	conn, err := sq.OpenConn(path, sq.OpenReadWrite|sq.OpenCreate)
	must(t, err)
	must(t, sqlitex.ExecuteTransient(conn, query, nil))
	must(t, conn.Close())
}

// refused wants every command that opens the home to say what is wrong.
func (h *home) refused(says ...string) {
	h.t.Helper()
	for _, args := range [][]string{{"list"}, {"show", "ask"}, {"run", "ask"}, {"run", "quest.yaml", "--name", "fresh"}, {"trace", "ask"}, {"verify", "ask"}, {"message", "ask", "x"}} {
		l := h.run(args...)
		l.want(h.t, 1, says...)
		if strings.Contains(l.errOut, "goroutine ") {
			h.t.Fatalf("lyceum %s panicked:\n%s", strings.Join(args, " "), l.errOut)
		}
	}
	if _, err := os.Stat(filepath.Join(h.dir, "quests", "fresh")); err == nil {
		h.t.Error("a quest was made all the same")
	}
}

func TestADatabaseOfANewerVersionIsLeftAlone(t *testing.T) {
	t.Parallel()
	h := asked(t)
	execute(t, h.database(), "PRAGMA user_version = 99")
	before, err := os.ReadFile(h.database())
	must(t, err)
	h.refused("written by a newer Lyceum: it has format 99, this lyceum knows formats up to 5", "choose another home with --home")
	after, err := os.ReadFile(h.database())
	must(t, err)
	if !bytes.Equal(before, after) {
		t.Error("the database was changed")
	}
}

func TestAnotherProgramsDatabaseIsLeftAlone(t *testing.T) {
	t.Parallel()
	h := newHome(t, askFiles)
	must(t, os.Mkdir(h.dir, 0o700))
	execute(t, h.database(), "CREATE TABLE recipes (name TEXT)")
	h.refused("another program's database", "choose another home with --home")
	conn, err := sq.OpenConn(h.database(), sq.OpenReadWrite)
	must(t, err)
	defer conn.Close()
	tables, err := sqlitex.ResultInt64(conn.Prep("SELECT count(*) FROM sqlite_schema"))
	must(t, err)
	if tables != 1 {
		t.Errorf("it has %d tables now", tables)
	}
}

func TestADamagedDatabase(t *testing.T) {
	t.Parallel()
	t.Run("OfGarbage", func(t *testing.T) {
		t.Parallel()
		h := asked(t)
		h.change(func(data []byte) []byte { return bytes.Repeat([]byte("garbage "), 2000) })
		h.refused("the ledger's database is damaged", "Restore the home from a backup (docs/cli.md), or choose another home with --home")
	})
	t.Run("CutShort", func(t *testing.T) {
		t.Parallel()
		for _, keep := range []float64{0.1, 0.5, 0.9} {
			h := asked(t)
			h.change(func(data []byte) []byte { return data[:int(float64(len(data))*keep)] })
			for _, quest := range []string{"ask", "other"} {
				l := h.run("verify", quest)
				l.want(t, 1, "damaged")
				if strings.Contains(l.errOut, "goroutine ") {
					t.Fatalf("lyceum panicked: %s", l.errOut)
				}
			}
		}
	})
	t.Run("ByALongRunOfBytes", func(t *testing.T) {
		t.Parallel()
		h := asked(t)
		h.change(func(data []byte) []byte {
			// SQLite may have left old copies of a row in its file.
			for at := 0; ; at++ {
				next := bytes.Index(data[at:], []byte(`"text":"Computing."`))
				if next < 0 {
					return data
				}
				at += next
				copy(data[at-200:], bytes.Repeat([]byte{0xff}, 1000))
			}
		})
		for _, verb := range []string{"verify", "replay", "trace", "show", "list"} {
			args := []string{verb, "ask"}
			if verb == "list" {
				args = args[:1]
			}
			l := h.run(args...)
			if l.code != 1 && verb != "list" {
				t.Errorf("lyceum %s: code %d\n%.300s", verb, l.code, l.out+l.errOut)
			}
			if strings.Contains(l.errOut, "goroutine ") {
				t.Errorf("lyceum %s panicked", verb)
			}
		}
	})
}

// TestOneChangedByte changes one byte of one event of one quest.
func TestOneChangedByte(t *testing.T) {
	t.Parallel()
	h := asked(t)
	answer := strings.SplitAfter(h.ok("trace", "ask", "--jsonl"), "\n")[3]
	said := []byte(strings.TrimSpace(answer[strings.Index(answer, "Computing."):]))
	h.change(func(data []byte) []byte {
		if !bytes.Contains(data, said) {
			t.Fatalf("event 4 does not stand in the file in one piece: %s", answer)
		}
		// SQLite may have left old copies of the row in its file.
		return bytes.ReplaceAll(data, said, append([]byte("c"), said[1:]...))
	})
	for _, verb := range []string{"verify", "replay"} {
		h.run(verb, "ask").want(t, 1, "ask: differs at seq 4")
		h.run(verb, "other").want(t, 0)
	}
	h.run("trace", "ask").want(t, 1, "ledger of quest ask is damaged at seq 4", "lyceum fork <quest> --at <seq before it>", "     3 ")
	h.run("export", "ask", "ask.zip").want(t, 1, "damaged at seq 4")
	if _, err := os.Stat(filepath.Join(h.work, "ask.zip")); err == nil {
		t.Error("half a quest was exported")
	}
	h.run("list").want(t, 0, "other")

	t.Run("TheGoodPartCanBeForked", func(t *testing.T) {
		h := h.in(t)
		h.ok("fork", "ask", "--at", "3", "--as", "rescued")
		h.run("run", "rescued").want(t, 0, "It is 42.")
		h.run("replay", "rescued").want(t, 0, "identical")
	})
	t.Run("AndWithoutWhatIsKeptOfItItIsListedAsDamaged", func(t *testing.T) {
		h := h.in(t)
		must(t, os.RemoveAll(filepath.Join(h.dir, "cache")))
		kept, err := filepath.Glob(filepath.Join(h.dir, "lyceum-index.db*"))
		must(t, err)
		for _, file := range kept {
			must(t, os.Remove(file))
		}
		h.run("list").want(t, 0, "damaged", "other")
		h.run("list", "--json").want(t, 0, `"status": "damaged"`, "seq 4")
		h.run("show", "ask").want(t, 1, "damaged at seq 4")
		h.run("run", "ask").want(t, 1, "damaged at seq 4")
	})
	t.Run("AndTheDamagedOneCanBeRemoved", func(t *testing.T) {
		h := h.in(t)
		h.run("clean", "rescued", "--data", "--yes").want(t, 0, "Removed quest rescued", "quest ask is damaged")
		h.ok("clean", "ask", "--data", "--yes")
		h.run("show", "ask").want(t, 1, "no such quest")
		h.sound("other")
	})
}

func TestAChangedBlobIsFound(t *testing.T) {
	t.Parallel()
	h := asked(t)
	var blob string
	must(t, filepath.WalkDir(filepath.Join(h.dir, "blobs"), func(path string, d os.DirEntry, err error) error {
		if data, _ := os.ReadFile(path); string(data) == "six times seven" {
			blob = path
		}
		return err
	}))
	if blob == "" {
		t.Fatal("the note is not among the blobs")
	}
	must(t, os.Chmod(blob, 0o600))
	must(t, os.WriteFile(blob, []byte("six times eight"), 0o600))
	h.run("verify", "ask").want(t, 1, "ask: differs at seq")
}

// nobody runs lyceum as somebody who may write nowhere. Only root needs to step
// down for that, to a program that others can reach.
func (h *home) nobody(args ...string) lyceum {
	h.t.Helper()
	p := &process{t: h.t}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	p.cancel = cancel
	p.cmd = command(ctx, h.dir, "/", args...)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.errOut
	if os.Getuid() == 0 {
		p.cmd.Path = filepath.Join(filepath.Dir(h.dir), "lyceum")
		p.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	if err := p.cmd.Start(); err != nil {
		need.Missing(h.t, "lyceum cannot be run as another user here (%v): make the folder for temporary files executable for everybody", err)
	}
	return p.wait()
}

func TestAnUnwritableHome(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "lyceum-unwritable-")
	must(t, err)
	t.Cleanup(func() {
		_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, _ error) error { return os.Chmod(path, 0o700) })
		must(t, os.RemoveAll(dir))
	})
	must(t, os.Chmod(dir, 0o755))
	copyProgram(t, filepath.Join(dir, "lyceum"))
	must(t, writeFolder(dir, map[string]string{"work/quest.yaml": askQuest, "work/plan.yaml": askPlan}))
	h := &home{t: t, dir: filepath.Join(dir, "home"), work: filepath.Join(dir, "work")}
	spec := filepath.Join(h.work, "quest.yaml")

	t.Run("ThatCannotBeMade", func(t *testing.T) {
		h := h.in(t)
		must(t, os.Chmod(dir, 0o555))
		h.nobody("run", spec).want(t, 1, "make the home "+h.dir, "permission denied", "Check who may write there, or choose another home with --home or LYCEUM_HOME")
		must(t, os.Chmod(dir, 0o755))
		if _, err := os.Stat(h.dir); err == nil {
			t.Error("it was made all the same")
		}
	})
	t.Run("ThatIsSomebodyElses", func(t *testing.T) {
		h := h.in(t)
		h.ok("run", "quest.yaml")
		before := h.ok("trace", "ask", "--jsonl")
		closed := func(folder, file os.FileMode) {
			must(t, filepath.WalkDir(h.dir, func(path string, d os.DirEntry, _ error) error {
				if d.IsDir() {
					return os.Chmod(path, folder)
				}
				return os.Chmod(path, file)
			}))
		}
		refused := [][]string{{"run", spec, "--name", "fresh"}, {"message", "ask", "x"}, {"fork", "ask"}, {"import", "x.zip"}}
		closed(0o555, 0o444)
		h.readable(h.nobody)
		for _, args := range refused[:3] {
			h.nobody(args...).want(t, 1, "ermission denied", "Check who may write there")
		}
		closed(0, 0)
		for _, args := range append(refused, []string{"list"}, []string{"verify", "ask"}) {
			h.nobody(args...).want(t, 1, "ermission denied", "Check who may write there")
		}
		closed(0o700, 0o600)
		if after := h.ok("trace", "ask", "--jsonl"); after != before {
			t.Error("the ledger has changed")
		}
		h.sound("ask")
		h.run("show", "fresh").want(t, 1, "no such quest")
	})
}

// readable wants that a quest can be looked at, checked and taken along by a way of running
// lyceum.
func (h *home) readable(run func(args ...string) lyceum) {
	h.t.Helper()
	run("list").want(h.t, 0, "ask")
	run("show", "ask").want(h.t, 0, "42")
	run("trace", "ask").want(h.t, 0, "quest.finished")
	run("replay", "ask").want(h.t, 0, "identical")
	run("verify", "ask").want(h.t, 0, "consistent")
	crate := run("export", "ask", "-")
	crate.want(h.t, 0)
	file := filepath.Join(h.t.TempDir(), "ask.zip")
	must(h.t, os.WriteFile(file, []byte(crate.out), 0o600))
	newHome(h.t, nil).run("verify", file).want(h.t, 0, "consistent")
}

// A read-only file system stops root, too. What was in the write-ahead log when it became so
// is not lost to readers.
func TestAHomeOnAReadOnlyFileSystem(t *testing.T) {
	t.Parallel()
	h := asked(t)
	// As a killed process leaves it: the last events are in the log alone.
	server := h.serve()
	h.ok("message", "ask", "one more word")
	server.kill()
	wal, err := os.Stat(h.database() + "-wal")
	if err != nil || wal.Size() == 0 {
		t.Fatalf("the write-ahead log: got %v, %v, want one that is not empty", wal, err)
	}
	if err := unix.Mount(h.dir, h.dir, "", unix.MS_BIND, ""); err != nil {
		need.Missing(t, "a folder cannot be mounted here (%v): run the tests as root, in a container with --cap-add SYS_ADMIN", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(h.dir, 0)) })
	must(t, unix.Mount("", h.dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
	temp := t.TempDir()
	h.env = append(h.env, "TMPDIR="+temp)
	h.readable(h.run)
	h.run("trace", "ask").want(t, 0, "one more word")
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("of what was copied there is left: %v, %v", left, err)
	}
	for _, args := range [][]string{{"message", "ask", "x"}, {"fork", "ask"}, {"run", "ask"}} {
		h.run(args...).want(t, 1, "read-only file system", "Check who may write there")
	}
}

func copyProgram(t *testing.T, to string) {
	t.Helper()
	self, err := os.Executable()
	must(t, err)
	program, err := os.ReadFile(self)
	must(t, err)
	must(t, need.Write(to, program))
}

func TestTheReserveOfAHomeIsKept(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{"quest.yaml": askQuest, "plan.yaml": askPlan})
	must(t, os.Mkdir(h.dir, 0o700))
	config := filepath.Join(h.dir, "config.yaml")
	must(t, os.WriteFile(config, []byte("reserve: 900000GiB\n"), 0o600))
	h.run("run", "quest.yaml").want(t, 1, "are to stay free", "set reserve in config.yaml lower")
	must(t, os.WriteFile(config, []byte("reserve: 0\n"), 0o600))
	h.ok("run", "quest.yaml", "--name", "again")
	must(t, os.WriteFile(config, []byte("reserve: 900000GiB\n"), 0o600))
	h.run("verify", "again").want(t, 0)
}

func TestLargeBlobsOfAHomeArePacked(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("line after line ", 20_000)
	h := newHome(t, map[string]string{
		"quest.yaml": askQuest,
		"plan.yaml":  "rules:\n  - on: {turn: 1}\n    call: [{tool: write_file, args: {path: note.md, content: \"" + long + "\"}}]\n  - say: \"The end.\"\n",
	})
	h.ok("run", "quest.yaml")
	h.ok("run", "quest.yaml", "--name", "other")
	hash := event.HashOf([]byte(long))
	name := hash.String()
	plain := filepath.Join(h.dir, "blobs", name[:2], name)
	if _, err := os.Stat(plain + ".zst"); err != nil {
		t.Errorf("after the run: %v, want the file packed", err)
	}
	// As a process leaves it that is killed.
	must(t, os.Remove(plain+".zst"))
	must(t, os.WriteFile(plain, []byte(long), 0o600))
	must(t, os.WriteFile(filepath.Join(h.dir, "blobs", "todo", name), nil, 0o600))
	h.ok("clean", "other", "--data", "--yes")
	if _, err := os.Stat(plain + ".zst"); err != nil {
		t.Errorf("after a clean: %v, want the file packed", err)
	}
	if _, err := os.Stat(plain); err == nil {
		t.Error("after a clean the plain file is still there")
	}
	h.sound("ask")
}

func TestAFullHome(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml": askQuest, "plan.yaml": askPlan,
		"long/quest.yaml": "name: long\nproblem: Talk.\nmodel: script:plan.yaml\n",
		"long/plan.yaml": "rules:\n  - on: {until_turn: 300}\n    say: \"" + strings.Repeat("words ", 900) +
			"\"\n    call: [{tool: write_file, args: {path: note.md, content: \"so far ${turn}\"}}]\n  - say: \"The end.\"\n",
	})
	must(t, os.Mkdir(h.dir, 0o700))
	if err := unix.Mount("tmpfs", h.dir, "tmpfs", 0, "size=1536k"); err != nil {
		need.Missing(t, "a small file system cannot be mounted here (%v): run the tests as root, in a container with --cap-add SYS_ADMIN", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(h.dir, 0)) })
	must(t, os.WriteFile(filepath.Join(h.dir, "config.yaml"), []byte("reserve: 0\n"), 0o600))
	h.ok("run", "quest.yaml")

	l := h.run("run", "long/quest.yaml")
	l.want(t, 1, "Make room on the disk and give the command again; a quest goes on with: lyceum run <quest>. Nothing that was recorded is lost.")

	// Nothing fits any more; what cannot be recorded is not said to be.
	fill(t, filepath.Join(h.dir, "filler"))
	for _, args := range [][]string{{"create", "quest.yaml", "--name", "fresh"}, {"fork", "long", "--as", "fresh"}, {"message", "ask", "x"}} {
		t.Run("Refuses/"+args[0], func(t *testing.T) { h.in(t).run(args...).want(t, 1, "Make room on the disk") })
	}
	must(t, unix.Mount("tmpfs", h.dir, "tmpfs", unix.MS_REMOUNT, "size=64m"))
	must(t, os.Remove(filepath.Join(h.dir, "filler")))

	h.sound("ask")
	h.run("verify", "long").want(t, 0)
	said := len(h.events("long"))
	if said < 20 {
		t.Errorf("only %d events were kept", said)
	}
	h.run("run", "long").want(t, 0, "The end.")
	h.sound("long")
	h.run("show", "fresh").want(t, 1, "no such quest")
	if _, err := os.Stat(filepath.Join(h.dir, "quests", "fresh")); err == nil {
		t.Error("there is a folder of a quest that was not made")
	}
}

// TestAStudyInAFullHome: what a study is to do without room on the disk is not done in part, and is
// done once there is room.
func TestAStudyInAFullHome(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml": "name: q\nsociety: stages\nproblem: Begin.\nmodel: script:plan.yaml\n",
		"plan.yaml": "rules:\n  - on: {last: STEP}\n    call:\n      - {tool: write_file, args: {path: work/main/a.txt, content: \"" + strings.Repeat("words ", 20_000) +
			"\"}}\n      - {tool: checkpoint, args: {message: step}}\n  - say: \"Done.\"\n",
		"paper.txt": strings.Repeat("a long paper\n", 20_000),
	})
	must(t, os.Mkdir(h.dir, 0o700))
	if err := unix.Mount("tmpfs", h.dir, "tmpfs", 0, "size=16m"); err != nil {
		need.Missing(t, "a small file system cannot be mounted here (%v): run the tests as root, in a container with --cap-add SYS_ADMIN", err)
	}
	t.Cleanup(func() { must(t, unix.Unmount(h.dir, 0)) })
	must(t, os.WriteFile(filepath.Join(h.dir, "config.yaml"), []byte("reserve: 0\n"), 0o600))
	h.run("run", "quest.yaml").want(t, restCode, "Done.")
	h.ok("message", "q", "STEP")
	fill(t, filepath.Join(h.dir, "filler"))
	h.run("message", "q", "Read this.", "--file", "paper.txt").want(t, 1, "Make room on the disk")
	if l := h.run("run", "q"); l.code == 0 || !strings.Contains(l.errOut+l.out, "disk") {
		t.Errorf("on a full disk: %d\n%s%s, want that it is full", l.code, l.out, l.errOut)
	}
	must(t, os.Remove(filepath.Join(h.dir, "filler")))
	h.run("verify", "q").want(t, 0)
	h.run("run", "q").want(t, restCode, "Done.")
	h.ok("message", "q", "Read this.", "--file", "paper.txt")
	h.run("run", "q").want(t, restCode, "Done.")
	events := h.study("q")
	if made, said := len(of(events, "checkpoint.made")), len(of(events, "user.message")); made != 1 || said != 2 {
		t.Errorf("there are %d checkpoints and %d messages, want one, and the two that were taken", made, said)
	}
	if copied := of(events, "files.result"); len(copied) != 1 {
		t.Errorf("files were copied %d times, want once", len(copied))
	}
	h.sound("q")
}

// fill writes a file until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	must(t, err)
	defer f.Close()
	for size := 64 << 10; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
}

// TestDoubledRows: a second row of an event, or one after the last, is found, though no
// reader comes to it.
func TestDoubledRows(t *testing.T) {
	t.Parallel()
	for name, query := range map[string]string{
		"ASecondOne":   "INSERT INTO events (quest, seq, line) SELECT quest, seq, line FROM events WHERE seq = 3 AND quest = (SELECT id FROM quests WHERE name = 'ask')",
		"AfterTheLast": "INSERT INTO events (quest, seq, line) SELECT quest, 1000, line FROM events WHERE seq = 3 AND quest = (SELECT id FROM quests WHERE name = 'ask')",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := asked(t)
			h.run("verify", "ask").want(t, 0, "consistent")
			execute(t, h.database(), query)
			h.run("verify", "ask").want(t, 1, "more than one row of this event, or a row after the last")
			h.run("verify", "other").want(t, 0, "consistent")
		})
	}
}
