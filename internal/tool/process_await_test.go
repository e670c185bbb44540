package tool

import (
	"testing"
	"testing/synctest"
	"time"

	"lyceum/internal/computer"
)

func TestAwait(t *testing.T) {
	t.Parallel()
	inBubble := func(name string, f func(t *testing.T)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, f)
		})
	}
	inBubble("WaitsForTheEnd", func(t *testing.T) {
		f := &fake{begin: func(c *fakeCommand) {
			time.AfterFunc(20*time.Second, func() { c.ends(computer.Result{Exit: 3, Stdout: output("late\n")}) })
		}}
		same(t, f.use(t, "await", `{"command":"work","dir":"a"}`), Output{"c17 has ended: exit code 3\nstdout:\nlate\n", false})
		if c := f.known[0].Command; !c.Keep || c.Timeout != 0 || c.Dir != "a" {
			t.Errorf("it was started as %+v, want one that is kept and has no time", c)
		}
	})
	inBubble("DoesNotKill", func(t *testing.T) {
		f := &fake{begin: func(c *fakeCommand) { c.prints(computer.Stdout, "so far") }}
		begun := time.Now()
		same(t, f.use(t, "await", `{"command":"work","wait_seconds":7}`), Output{"c17 still runs after 7 s, and goes on\nso far\n(lines 1 to 1 of 1; go on with from 2; c17: running)", false})
		if passed := time.Since(begun); passed != 7*time.Second {
			t.Errorf("it waited %v, want 7 s", passed)
		}
		if !f.known[0].process().Running {
			t.Error("the command was killed")
		}
		time.AfterFunc(time.Second, func() { f.known[0].ends(computer.Result{}) })
		contains(t, f.use(t, "await", `{"id":"c17"}`), false, "c17 has ended: exit code 0")
	})
	inBubble("RefusesNonsense", func(t *testing.T) {
		f := &fake{}
		contains(t, f.use(t, "await", `{}`), true, "give a command to start, or the id of one that runs")
		contains(t, f.use(t, "await", `{"command":"x","id":"c1"}`), true, "give a command to start, or the id")
		contains(t, f.use(t, "await", `{"id":"c1","dir":"a"}`), true, "dir is for a command that is started")
		contains(t, f.use(t, "await", `{"id":"c1"}`), true, "no command with the id c1")
		if len(f.known) > 0 {
			t.Error("something was started")
		}
	})
}

func TestOpenShell(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{}
		begun := time.Now()
		same(t, f.use(t, "open_shell", `{"name":"py","command":"python3 -i"}`), Output{"created c17-py", false})
		if time.Since(begun) != 0 {
			t.Error("it waited for what it created")
		}
		if c := f.known[0].Command; !c.Keep || !c.Input || c.Args[2] != "python3 -i" {
			t.Errorf("created %+v", c)
		}
		contains(t, f.use(t, "write_input", `{"id":"c17-py","text":"1+1\n"}`), false, "wrote 4 bytes")
		contains(t, f.use(t, "open_shell", `{"name":"py"}`), true, "a command named py runs already")
		contains(t, f.use(t, "open_shell", `{"command":"sh"}`), true, "name")
		got := Builtin().Run(t.Context(), "open_shell", Call{ID: "c18", Args: []byte(`{"name":"sh"}`), Computer: f})
		contains(t, got, false, "created c18-sh")
		if c := f.known[1].Command; c.Args[2] != "exec sh" {
			t.Errorf("without a command it created %+v, want a shell", c)
		}
	})
}

// TestStartAnswersWithinASecond holds the tool to it, whatever the command does.
func TestStartAnswersWithinASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		contains(t, (&fake{}).use(t, "start", `{"command":"sleep 1000"}`), false, "it is running")
		if passed := time.Since(begun); passed >= time.Second {
			t.Errorf("it took %v, want less than a second", passed)
		}
	})
}

func TestReadAfterALine(t *testing.T) {
	t.Parallel()
	f := &fake{}
	c := f.add(computer.Command{ID: "c1"})
	c.prints(computer.Stdout, "one", "two", "three")
	contains(t, f.use(t, "read_output", `{"id":"c1","after":1}`), false, "two\nthree\n(lines 2 to 3 of 3")
	contains(t, f.use(t, "read_output", `{"id":"c1","after":0,"lines":1}`), false, "one\n(lines 1 to 1 of 3; go on with from 2")
	contains(t, f.use(t, "read_output", `{"id":"c1","after":3}`), false, "no lines from there on, of 3")
	contains(t, f.use(t, "read_output", `{"id":"c1","from":2}`), false, "two\nthree\n(lines 2 to 3 of 3")
	contains(t, f.use(t, "read_output", `{"id":"c1","after":1,"from":2}`), true, "give from or after, not both")
}
