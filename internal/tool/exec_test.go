package tool

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"lyceum/internal/computer"
)

func TestExec(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		result computer.Result
		want   Output
	}{
		"ShowsBothStreams":   {computer.Result{Exit: 2, Stdout: output("out\n"), Stderr: output("err")}, Output{"exit code 2\nstdout:\nout\nstderr:\nerr\n", false}},
		"ShowsOnlyWhatIs":    {computer.Result{Stderr: output("err\n")}, Output{"exit code 0\nstderr:\nerr\n", false}},
		"SaysIfThereIsNone":  {computer.Result{}, Output{"exit code 0\n(no output)", false}},
		"TellsALongTime":     {computer.Result{Duration: 61500 * time.Millisecond}, Output{"exit code 0, after 61.5 s\n(no output)", false}},
		"TellsNoShortTime":   {computer.Result{Duration: 999 * time.Millisecond}, Output{"exit code 0\n(no output)", false}},
		"NamesTheSignal":     {computer.Result{Exit: 139, Signal: "SIGSEGV"}, Output{"exit code 139 (SIGSEGV)\n(no output)", false}},
		"EscapesTheSignal":   {computer.Result{Exit: 139, Signal: "\x1b]0;x"}, Output{"exit code 139 (\\x1b]0;x)\n(no output)", false}},
		"TellsOfATimeout":    {computer.Result{Exit: 137, Signal: "SIGKILL", End: computer.EndTimeout, Duration: 120 * time.Second, Stdout: output("so far")}, Output{"exit code 137 (SIGKILL), after 120.0 s\nstdout:\nso far\nerror: killed: it took longer than 120 s; use start for long work, or give a larger timeout_seconds", true}},
		"TellsOfTheWall":     {computer.Result{Exit: 137, End: computer.EndTimeout, Duration: time.Minute}, Output{"exit code 137, after 60.0 s\n(no output)\nerror: killed: it took longer than any command in this computer may", true}},
		"TellsOfMemory":      {computer.Result{Exit: 137, End: computer.EndMemory, Met: computer.EndMemory}, Output{"exit code 137\n(no output)\nerror: killed: the computer's memory was used up; work on less at a time (what is in /tmp counts too)", true}},
		"TellsOfALimitMet":   {computer.Result{Exit: 1, Met: computer.EndProcesses}, Output{"exit code 1\nnote: while it ran, the computer had as many processes and threads as it may; start fewer at a time\n(no output)", false}},
		"TellsOfTheHidden":   {computer.Result{Exit: 137, End: computer.EndHidden}, Output{"exit code 137\n(no output)\nerror: killed: a process could not be looked at, so its memory and files could not be counted; make programs readable before you run them (chmod a+r), open fewer files at a time, and do not move folders around while it runs", true}},
		"TellsOfTheDisk":     {computer.Result{Exit: 137, End: computer.EndDisk}, Output{"exit code 137\n(no output)\nerror: killed: the workspace was full; remove what is not needed", true}},
		"TellsOfTheProcess":  {computer.Result{Exit: 137, End: computer.EndProcesses}, Output{"exit code 137\n(no output)\nerror: killed: the computer had as many processes and threads as it may; start fewer at a time", true}},
		"TellsOfAKill":       {computer.Result{Exit: 137, End: computer.EndKilled}, Output{"exit code 137\n(no output)\nerror: it was killed on request", true}},
		"TellsOfACrash":      {computer.Result{Exit: 137, End: computer.EndAbandoned}, Output{"exit code 137\n(no output)\nerror: it was killed because Lyceum went away while it ran; look at what it has done before you run it again", true}},
		"TellsOfAStop":       {computer.Result{Exit: 137, End: computer.EndStopped}, Output{"exit code 137\n(no output)\nerror: it was killed because the computer was stopped; look at what it has done before you run it again", true}},
		"TellsOfOtherLimits": {computer.Result{Exit: 137, End: "pa\npers"}, Output{"exit code 137\n(no output)\nerror: killed: the limit on pa; pers was met", true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, atOnce(c.result).use(t, "exec", `{"command":"x"}`), c.want)
		})
	}
}

func TestExecGivesTheComputer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args, dir, stdin string
		timeout          time.Duration
	}{
		"TheDefaults":      {`{"command":"ls | wc"}`, "", "", 2 * time.Minute},
		"WhatIsAsked":      {`{"command":"ls | wc","dir":"a/./b/","stdin":"in\u0000put","timeout_seconds":3600}`, "a/b", "in\x00put", time.Hour},
		"AFolderFromRoot":  {`{"command":"ls | wc","dir":"/home/agent/a"}`, "a", "", 2 * time.Minute},
		"TheHomeFromRoot":  {`{"command":"ls | wc","dir":"/home/agent"}`, ".", "", 2 * time.Minute},
		"ATimeWithAPoint0": {`{"command":"ls | wc","timeout_seconds":7.0}`, "", "", 7 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := atOnce(computer.Result{})
			contains(t, f.use(t, "exec", c.args), false)
			got := f.known[0].Command
			if got.ID != "c17" || strings.Join(got.Args, "|") != "sh|-c|ls | wc" || got.Dir != c.dir || string(got.Stdin) != c.stdin || got.Timeout != c.timeout || got.Keep || got.Input {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestExecRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ args, want string }{
		"Nothing":         {`{"command":""}`, `the argument "command" is ""`},
		"Blanks":          {`{"command":" \n"}`, "the command is empty"},
		"NUL":             {`{"command":"a\u0000b"}`, "the command has a NUL character"},
		"ALongCommand":    {`{"command":"` + strings.Repeat("x", maxCommand+1) + `"}`, "more than the 98304 that are allowed; write it to a file"},
		"MuchInput":       {`{"command":"x","stdin":"` + strings.Repeat("x", maxWrite+1) + `"}`, "use command < file"},
		"AFolderOutside":  {`{"command":"x","dir":"/tmp"}`, "not in the workspace; leave it out and begin the command with cd"},
		"AFolderAbove":    {`{"command":"x","dir":"/home/agent/../x"}`, "not in the workspace"},
		"AParent":         {`{"command":"x","dir":"a/../.."}`, "not in the workspace"},
		"ANULInTheFolder": {`{"command":"x","dir":"a\u0000"}`, "dir has a NUL"},
		"NoTime":          {`{"command":"x","timeout_seconds":0}`, "it must be integer from 1 to 3600"},
		"NegativeTime":    {`{"command":"x","timeout_seconds":-5}`, "it must be integer from 1 to 3600"},
		"TooLongATime":    {`{"command":"x","timeout_seconds":3601}`, "it must be integer from 1 to 3600"},
		"AnOtherArgument": {`{"command":"x","env":"x"}`, `there is no argument "env"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := atOnce(computer.Result{})
			got := f.use(t, "exec", c.args)
			contains(t, got, true, c.want)
			if len(got.Text) > 1000 || len(f.known) > 0 {
				t.Errorf("%d commands ran; the answer has %d bytes", len(f.known), len(got.Text))
			}
		})
	}
}

func TestExecFails(t *testing.T) {
	t.Parallel()
	t.Run("WhenTheComputerHasStopped", func(t *testing.T) {
		t.Parallel()
		contains(t, (&fake{broken: computer.ErrStopped}).use(t, "exec", `{"command":"x"}`), true, "error: the computer has stopped, and all that ran in it; look at")
	})
	t.Run("WithTheComputersOwnWords", func(t *testing.T) {
		t.Parallel()
		broken := &computer.Unusable{What: "docker", Why: "it does not answer", Fix: "systemctl start docker"}
		contains(t, (&fake{broken: broken}).use(t, "exec", `{"command":"x"}`), true, "error: docker: it does not answer; to fix it: systemctl start docker")
	})
	t.Run("WhenItIsCancelled", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancelCause(t.Context())
		f := &fake{begin: func(*fakeCommand) { cancel(errors.New("enough")) }}
		got := Builtin().Run(ctx, "exec", Call{ID: "c1", Args: []byte(`{"command":"sleep 9"}`), Computer: f})
		same(t, got, Output{"error: the call was cancelled", true})
	})
}

func TestToolsNeedAComputer(t *testing.T) {
	t.Parallel()
	r := Builtin()
	for _, name := range r.Names() {
		spec, _ := r.Lookup(name)
		got := r.Run(t.Context(), name, Call{ID: "c1", Args: []byte(`{}`)})
		want := "error: the tool " + name + ` needs a computer, and this quest has none; "computer: auto" in its quest.yaml gives it one`
		if (got.Text == want) != spec.Computer {
			t.Errorf("whether the tool needs a computer is not what its spec says, %s: %s", name, got.Text)
		}
		if !spec.Computer {
			continue
		}
		for _, id := range []string{"", "a b", "../x", strings.Repeat("x", 65)} {
			got := r.Run(t.Context(), name, Call{ID: id, Args: []byte(`{}`), Computer: &fake{}})
			contains(t, got, true, "the call has no usable id", "a fault of Lyceum")
		}
	}
}

func TestVisible(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ in, want string }{
		"Text":            {"a\tb\nünï ☃\n", "a\tb\nünï ☃\n"},
		"WindowsLines":    {"a\r\nb\r\n", "a\nb\n"},
		"AProgressBar":    {"get\n 1%\r 50%\r100%\ndone", "get\n100%\ndone"},
		"AnEndingReturn":  {" 1%\r 50%\r", " 50%"},
		"ManyReturns":     {"x\r\r\r\n", "x\n"},
		"Colours":         {"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		"ABell":           {"\a\b\v\f\x7f\x00", `\x07\x08\x0b\x0c\x7f\x00`},
		"C1":              {"\u009b31m", `\u009b31m`},
		"NotUTF8":         {"a\xff\xc3\nb\xe2\x98", "a\\xff\\xc3\nb\\xe2\\x98"},
		"TheReplacement":  {"\uFFFD", "\uFFFD"},
		"Nothing":         {"", ""},
		"ALiteralEscape":  {`\x1b`, `\x1b`},
		"NoEndOfTheLines": {"\n\n", "\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := visible([]byte(c.in)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func FuzzVisible(f *testing.F) {
	f.Add([]byte("a\rb\x1b\xff\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got := visible(b)
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\r\x00\x1b") || strings.Count(got, "\n") != strings.Count(string(b), "\n") {
			t.Errorf("%q became %q", b, got)
		}
		if got := word(string(b)); !utf8.ValidString(got) || len(got) > 4*maxName+3 || strings.Contains(got, "\n") {
			t.Errorf("%q became %q", b, got)
		}
		if got := clip(b, len(b)/2); !utf8.ValidString(got) || len(got) > 6*maxGrepShown {
			t.Errorf("%q became %q", b, got)
		}
	})
}

func TestStream(t *testing.T) {
	t.Parallel()
	line := strings.Repeat("x", 99) + "\n"
	for name, c := range map[string]struct {
		out        computer.Output
		head, tail string
		most       int
	}{
		"IsWholeUpToTheLimit": {output(strings.Repeat("x", maxStream)), strings.Repeat("x", maxStream), "", maxStream},
		"LosesItsMiddle":      {output(strings.Repeat("x", maxStream+10)), "x", "\n[... 10 bytes left out ...]\n" + strings.Repeat("x", maxStream/2), maxStream + 40},
		"IsCutAtALine":        {output("first\n" + strings.Repeat(line, 300) + "last"), "first\n" + line, "last", maxStream + 40},
		"CountsWhatIsNotKept": {output(strings.Repeat("x", 1_000_000)), "x", "\n[... 983616 bytes left out ...]\n" + strings.Repeat("x", maxStream/2), maxStream + 40},
		"KnowsAnOverlap": {computer.Output{Head: []byte(strings.Repeat("a", 10) + "bb"), Tail: []byte("bbcc"), Size: 14},
			"aaaaaaaaaabbcc", "", 14},
		"KeepsCharactersWhole": {output(strings.Repeat("☃", 10_000)), "☃", "☃", maxStream + 40},
		"IsBoundedAsEscapes":   {output(strings.Repeat("\x00", 1_000_000)), `\x00`, `\x00`, maxStream + 40},
		"TakesALyingSize":      {computer.Output{Head: []byte("abc"), Tail: []byte("xyz"), Size: 1}, "abc", "", 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := stream(c.out)
			if !strings.HasPrefix(got, c.head) || !strings.HasSuffix(got, c.tail) || len(got) > c.most || !utf8.ValidString(got) {
				t.Errorf("%d bytes: %.60q to %.60q", len(got), got, got[max(0, len(got)-60):])
			}
			if strings.Contains(got, "�") {
				t.Error("a character was cut")
			}
		})
	}
}

func TestWriteInputDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{stuck: true}
		f.add(computer.Command{ID: "c1"})
		contains(t, f.use(t, "write_input", `{"id":"c1","text":"x"}`), true, "error: c1 has not read its input for 10 s; some of the text may have reached it")
		contains(t, f.use(t, "kill", `{"id":"c1"}`), true, "error: c1 was killed 10 s ago and has not ended")
	})
}

// TestPoliciesAreToldHowACommandEnded: as JSON, whatever it wrote.
func TestPoliciesAreToldHowACommandEnded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		result computer.Result
		want   string
	}{
		"ByItself": {computer.Result{Exit: 2, Stdout: output("out\n"), Stderr: output("e"), Duration: 1500 * time.Millisecond}, `{"exit":2,"millis":1500,"stderr_bytes":1,"stdout_bytes":4}`},
		"ByALimit": {computer.Result{Exit: 137, Signal: "SIGKILL", End: computer.EndMemory}, `{"end":"memory","exit":137,"millis":0,"signal":"SIGKILL","stderr_bytes":0,"stdout_bytes":0}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for tool, args := range map[string]string{"exec": `{"command":"x"}`, "await": `{"command":"x"}`} {
				f := atOnce(c.result)
				got := Builtin().Do(t.Context(), tool, Call{ID: "c17", Args: []byte(args), Computer: f})
				if got.Outcome != c.want {
					t.Errorf("%s tells %s, want %s", tool, got.Outcome, c.want)
				}
			}
		})
	}
	if got := Builtin().Do(t.Context(), "exec", Call{ID: "c17", Args: []byte(`{}`), Computer: atOnce(computer.Result{})}); got.Outcome != "" || !got.Error {
		t.Errorf("a call that was not made tells %+v, want nothing", got)
	}
}
