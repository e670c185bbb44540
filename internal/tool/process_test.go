package tool

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lyceum/internal/computer"
)

func TestStart(t *testing.T) {
	t.Parallel()
	// inBubble runs a test in which time passes by itself.
	inBubble := func(name string, f func(t *testing.T)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, f)
		})
	}
	inBubble("ShowsTheFirstLines", func(t *testing.T) {
		f := &fake{begin: func(c *fakeCommand) { c.prints(computer.Stdout, "listening", "\x1b[1mready") }}
		begun := time.Now()
		same(t, f.use(t, "start", `{"command":"serve","dir":"web"}`),
			Output{"started c17; it is running\nlistening\n\\x1b[1mready\n(lines 1 to 2 of 2; go on with from 3; c17: running)", false})
		if passed := time.Since(begun); passed != firstLook {
			t.Errorf("it took %v", passed)
		}
		if c := f.known[0].Command; !c.Keep || !c.Input || c.Timeout != 0 || c.Dir != "web" || strings.Join(c.Args, "|") != "sh|-c|serve" {
			t.Errorf("started %+v", c)
		}
	})
	inBubble("TellsIfItEndedAtOnce", func(t *testing.T) {
		f := &fake{begin: func(c *fakeCommand) {
			time.AfterFunc(firstLook/2, func() { c.ends(computer.Result{Exit: 127, Stderr: output("not found\n")}) })
		}}
		same(t, f.use(t, "start", `{"command":"serv"}`), Output{"started c17, which has ended already: exit code 127\nstderr:\nnot found\n", false})
	})
	inBubble("NamesItAfterTheCall", func(t *testing.T) {
		f := &fake{}
		contains(t, f.use(t, "start", `{"command":"x","name":"server"}`), false, "started c17-server; it is running")
		contains(t, f.use(t, "start", `{"command":"x","name":"server"}`), true, "a command named server runs already, with the id c17-server; use it, kill it, or give another name")
		f.known[0].ends(computer.Result{})
		got := Builtin().Run(t.Context(), "start", Call{ID: "c18", Args: []byte(`{"command":"x","name":"server"}`), Computer: f})
		contains(t, got, false, "started c18-server; it is running")
	})
	inBubble("IsCancelledWhileItLooks", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		f := &fake{begin: func(*fakeCommand) { cancel() }}
		got := Builtin().Run(ctx, "start", Call{ID: "c1", Args: []byte(`{"command":"x"}`), Computer: f})
		same(t, got, Output{"started c1\nerror: the call was cancelled", true})
	})
	for name, c := range map[string]struct{ args, want string }{
		"RefusesAStrangeName": {`{"command":"x","name":"../x"}`, `the argument "name" is "../x"; it must be string that matches`},
		"RefusesALongName":    {`{"command":"x","name":"` + strings.Repeat("x", 25) + `"}`, `the argument "name"`},
		"RefusesAFolder":      {`{"command":"x","dir":"../x"}`, "not in the workspace"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := &fake{}
			contains(t, f.use(t, "start", c.args), true, c.want)
			if len(f.known) > 0 {
				t.Error("it was started")
			}
		})
	}
}

func TestProcesses(t *testing.T) {
	t.Parallel()
	t.Run("AreATable", func(t *testing.T) {
		t.Parallel()
		f := &fake{}
		for i, r := range []*computer.Result{{Exit: 1}, {Exit: 139, Signal: "SIGSEGV"}, {Exit: 137, End: computer.EndMemory}, {End: computer.EndKilled}, nil} {
			c := f.add(computer.Command{ID: fmt.Sprint("c", i), Args: []string{"sh", "-c", "make\nall\x1b"}})
			c.prints(computer.Stdout, make([]string, i)...)
			if r != nil {
				c.ends(*r)
			}
		}
		f.known[1].Args = []string{"a", "b"}
		same(t, f.use(t, "processes", ""), Output{Text: "" +
			"id                state                        lines  command\n" +
			"c4                running                          4  make; all\\x1b\n" +
			"c3                killed                           3  make; all\\x1b\n" +
			"c2                killed (memory)                  2  make; all\\x1b\n" +
			"c1                exit code 139 (SIGSEGV)          1  a b\n" +
			"c0                exit code 1                      0  make; all\\x1b\n"})
	})
	t.Run("AreNotAllShown", func(t *testing.T) {
		t.Parallel()
		f := &fake{}
		for i := range maxProcesses + 3 {
			f.add(computer.Command{ID: fmt.Sprint("c", i), Args: []string{strings.Repeat("x", 5000)}})
		}
		got := f.use(t, "processes", "")
		contains(t, got, false, "\n(and 3 more)\n")
		if len(got.Text) > 30_000 {
			t.Errorf("%d bytes", len(got.Text))
		}
	})
	t.Run("MayBeNone", func(t *testing.T) {
		t.Parallel()
		same(t, (&fake{}).use(t, "processes", ""), Output{Text: "(no commands)"})
	})
}

func TestReadOutput(t *testing.T) {
	t.Parallel()
	f := &fake{}
	c := f.add(computer.Command{ID: "c1"})
	for i := range 500 {
		c.prints(computer.Stdout, fmt.Sprint("line ", i+1))
	}
	c.prints(computer.Stderr, "oh\rno")
	c.partial[computer.Stdout] = []byte("1%\r2%")
	f.add(computer.Command{ID: "quiet"}).ends(computer.Result{Exit: 3})
	long := f.add(computer.Command{ID: "long"})
	for range 40 {
		long.prints(computer.Stdout, strings.Repeat("ä", 2000))
	}
	for name, c := range map[string]struct {
		args, want string
		failed     bool
	}{
		"TheLast":        {`{"id":"c1","lines":2}`, "line 500\nstderr: no\n(stdout, the line is not complete) 2%\n(lines 500 to 501 of 501; go on with from 502; c1: running)", false},
		"FromTheEnd":     {`{"id":"c1","from":-3,"lines":2}`, "line 499\nline 500\n(lines 499 to 500 of 501; go on with from 501; c1: running)", false},
		"FromTheStart":   {`{"id":"c1","from":1,"lines":1}`, "line 1\n(lines 1 to 1 of 501; go on with from 2; c1: running)", false},
		"BeforeTheStart": {`{"id":"c1","from":-1000000000,"lines":1}`, "line 1\n(lines 1 to 1 of 501; go on with from 2; c1: running)", false},
		"BehindTheEnd":   {`{"id":"c1","from":1000000000}`, "(stdout, the line is not complete) 2%\n(no lines from there on, of 501; go on with from 502; c1: running)", false},
		"OfOneThatEnded": {`{"id":"quiet"}`, "(no lines; quiet: exit code 3)", false},
		"OfNone":         {`{"id":"c2"}`, "error: there is no command with the id c2; did you mean c1?", true},
		"OfNoneAtAll":    {`{"id":"zzzzzzzz"}`, "error: there is no command with the id zzzzzzzz; processes shows which there are", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, f.use(t, "read_output", c.args), Output{c.want, c.failed})
		})
	}
	for name, c := range map[string]struct{ args, want string }{
		"AStrangeID":  {`{"id":"../x"}`, `the argument "id" is "../x"; it must be string that matches`},
		"NoLines":     {`{"id":"c1","lines":0}`, "integer from 1 to 2000"},
		"ManyLines":   {`{"id":"c1","lines":2001}`, "integer from 1 to 2000"},
		"ALongWait":   {`{"id":"c1","wait_seconds":301}`, "integer from 0 to 300"},
		"ABackWait":   {`{"id":"c1","wait_seconds":-1}`, "integer from 0 to 300"},
		"AnyOtherEnd": {`{"id":"c1","until":"dusk"}`, `one of "output", "end"`},
	} {
		t.Run("Refuses/"+name, func(t *testing.T) {
			t.Parallel()
			contains(t, f.use(t, "read_output", c.args), true, c.want)
		})
	}
	t.Run("ReadsManyLines", func(t *testing.T) {
		t.Parallel()
		got := f.use(t, "read_output", `{"id":"c1","from":1,"lines":450}`)
		contains(t, got, false, "line 1\n", "line 450\n(lines 1 to 450 of 501; go on with from 451; c1: running)")
	})
	t.Run("BoundsLinesAndAll", func(t *testing.T) {
		t.Parallel()
		first, last := f.use(t, "read_output", `{"id":"long","from":1}`), f.use(t, "read_output", `{"id":"long"}`)
		contains(t, first, false, " [... 2000 bytes of this line left out ...]\n", "(lines 1 to 16 of 40; go on with from 17; long: running)")
		contains(t, last, false, "(lines 25 to 40 of 40; go on with from 41; long: running)")
		if len(first.Text) > maxOutput+100 || len(last.Text) > maxOutput+100 {
			t.Errorf("%d and %d bytes", len(first.Text), len(last.Text))
		}
	})
}

func TestReadOutputWaits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args string
		does func(c *fakeCommand)
		// took is when it is back, at the least and at the most.
		least, most time.Duration
		want        string
	}{
		"ForANewLine": {`{"id":"c1","wait_seconds":300}`, func(c *fakeCommand) { c.prints(computer.Stdout, "new") },
			20 * time.Second, 21 * time.Second, "old\nnew\n(lines 1 to 2 of 2; go on with from 3; c1: running)"},
		"ForAPrompt": {`{"id":"c1","wait_seconds":300}`, func(c *fakeCommand) {
			c.on.mu.Lock()
			defer c.on.mu.Unlock()
			c.partial[computer.Stdout] = []byte(">>> ")
		}, 20 * time.Second, 21 * time.Second, "old\n(stdout, the line is not complete) >>> \n(lines 1 to 1 of 1; go on with from 2; c1: running)"},
		"ForTheNextLine": {`{"id":"c1","from":2,"wait_seconds":300}`, func(c *fakeCommand) { c.prints(computer.Stderr, "new") },
			20 * time.Second, 21 * time.Second, "stderr: new\n(lines 2 to 2 of 2; go on with from 3; c1: running)"},
		"NotForALineThatIsThere": {`{"id":"c1","from":1,"wait_seconds":300}`, func(c *fakeCommand) {}, 0, 0, "old\n(lines 1 to 1 of 1; go on with from 2; c1: running)"},
		"ForTheEndAtOnce": {`{"id":"c1","wait_seconds":300}`, func(c *fakeCommand) { c.ends(computer.Result{Exit: 4}) },
			20 * time.Second, 20 * time.Second, "old\n(lines 1 to 1 of 1; c1: exit code 4)"},
		"NotTooLong":       {`{"id":"c1","wait_seconds":7}`, func(c *fakeCommand) {}, 7 * time.Second, 7 * time.Second, "old\n(lines 1 to 1 of 1; go on with from 2; c1: running)"},
		"OnlyForTheEnd":    {`{"id":"c1","wait_seconds":300,"until":"end"}`, func(c *fakeCommand) { c.prints(computer.Stdout, "new") }, 300 * time.Second, 300 * time.Second, "old\nnew\n(lines 1 to 2 of 2; go on with from 3; c1: running)"},
		"UntilItIsTheEnd":  {`{"id":"c1","wait_seconds":300,"until":"end"}`, func(c *fakeCommand) { c.ends(computer.Result{}) }, 20 * time.Second, 20 * time.Second, "old\n(lines 1 to 1 of 1; c1: exit code 0)"},
		"ForNoneUnlessTo":  {`{"id":"c1"}`, func(c *fakeCommand) {}, 0, 0, "old\n(lines 1 to 1 of 1; go on with from 2; c1: running)"},
		"NotForTheUnknown": {`{"id":"server","wait_seconds":300}`, func(c *fakeCommand) {}, 0, 0, "error: there is no command with the id server; processes shows which there are"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				f := &fake{}
				cmd := f.add(computer.Command{ID: "c1"})
				cmd.prints(computer.Stdout, "old")
				timer := time.AfterFunc(20*time.Second, func() { c.does(cmd) })
				defer timer.Stop()
				begun := time.Now()
				got := f.use(t, "read_output", c.args)
				if got.Text != c.want {
					t.Errorf("got %q", got.Text)
				}
				if took := time.Since(begun); took < c.least || took > c.most {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
	t.Run("UntilItIsCancelled", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
			defer cancel()
			f := &fake{}
			f.add(computer.Command{ID: "c1"})
			for _, until := range []string{"output", "end"} {
				got := Builtin().Run(ctx, "read_output", Call{ID: "c2", Args: []byte(`{"id":"c1","wait_seconds":300,"until":"` + until + `"}`), Computer: f})
				same(t, got, Output{"error: it took longer than allowed and was stopped", true})
			}
		})
	})
}

func TestWriteInput(t *testing.T) {
	t.Parallel()
	f := &fake{}
	c := f.add(computer.Command{ID: "c1"})
	same(t, f.use(t, "write_input", `{"id":"c1","text":"ä\n"}`), Output{Text: "wrote 3 bytes to c1"})
	if c.closed {
		t.Error("its input has ended")
	}
	same(t, f.use(t, "write_input", `{"id":"c1","text":"","end":true}`), Output{Text: "wrote 0 bytes to c1, and its input has ended"})
	if c.input.String() != "ä\n" || !c.closed {
		t.Errorf("it got %q, ended %v", c.input.String(), c.closed)
	}
	contains(t, f.use(t, "write_input", `{"id":"c9","text":""}`), true, "there is no command with the id c9")
	contains(t, f.use(t, "write_input", `{"id":"c1"}`), true, `the argument "text" is missing`)
	contains(t, f.use(t, "write_input", `{"id":"c1","text":"`+strings.Repeat("x", maxWrite+1)+`"}`), true, "write it in pieces")
}

func TestKill(t *testing.T) {
	t.Parallel()
	f := &fake{}
	f.add(computer.Command{ID: "c1"})
	f.add(computer.Command{ID: "c2"}).ends(computer.Result{Exit: 5})
	same(t, f.use(t, "kill", `{"id":"c1"}`), Output{Text: "killed c1"})
	same(t, f.use(t, "kill", `{"id":"c2"}`), Output{Text: "c2 had ended before, with exit code 5"})
	contains(t, f.use(t, "kill", `{"id":"zzzzzzz"}`), true, "there is no command with the id zzzzzzz")
	contains(t, (&fake{}).use(t, "kill", `{"id":"c1"}`), true, "there is no command with the id c1, nor any other")
}
