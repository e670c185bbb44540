package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/model"
	"lyceum/internal/workspace"

	"github.com/go-json-experiment/json"
)

// The limits of commands.
const (
	// A single argument of a program cannot be longer than 128 KiB.
	maxCommand    = 96 << 10
	standardTime  = 120 * time.Second
	commandSchema = `"command":{"type":"string","minLength":1,"description":"What the shell runs."}`
	dirSchema     = `"dir":{"type":"string","description":"Folder to start in, relative to the workspace; the workspace itself if left out."}`
)

// Exec returns the tool exec.
func Exec() Tool {
	return Tool{
		Tool: model.Tool{
			Name: "exec",
			Description: "Runs a shell command (sh -c) in your computer, to its end, and returns its exit code, stdout and stderr; of a long output the beginning and the end. " +
				"It starts in your workspace, which is /home/agent there. Every call is a shell of its own: cd and variables do not last, files do. " +
				"Whatever it leaves running in the background is killed when it ends; use start for servers and long work. " +
				"The calls of one answer run one after another, in your order, and each sees what those before it did; with parallel this one runs at the same time as those beside it that are parallel too or only read.",
			Schema: `{"type":"object","properties":{` + commandSchema + `,` + dirSchema + `,` +
				`"timeout_seconds":{"type":"integer","minimum":1,"maximum":3600,"description":"After how long it is killed; 120 if left out."},` +
				`"stdin":{"type":"string","description":"What the command reads as its input; nothing if left out."},` +
				`"parallel":{"type":"boolean","description":"Whether it may run at the same time as the calls beside it, because it neither needs nor disturbs what they do; false if left out."}` +
				`},"required":["command"],"additionalProperties":false}`,
		},
		Parallel: true,
		Writes:   true,
		Paths:    []string{"dir"},
		Computer: true,
		Tell: func(ctx context.Context, c Call) (string, string, error) {
			args := struct {
				Command string  `json:"command"`
				Dir     string  `json:"dir"`
				Timeout float64 `json:"timeout_seconds"`
				Stdin   string  `json:"stdin"`
			}{Timeout: standardTime.Seconds()}
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return "", "", err
			}
			cmd, err := shell(c, c.ID, args.Command, args.Dir)
			if err != nil {
				return "", "", err
			}
			if len(args.Stdin) > maxWrite {
				return "", "", fmt.Errorf("the stdin has %d bytes, more than the %d that are allowed; write a file and use command < file", len(args.Stdin), maxWrite)
			}
			cmd.Stdin, cmd.Timeout = []byte(args.Stdin), time.Duration(args.Timeout)*time.Second
			res, err := c.Computer.Run(ctx, cmd)
			if err != nil {
				return "", "", troubled(ctx, c.Computer, cmd.ID, err)
			}
			return outcome(res), told(res), ended(res, cmd.Timeout)
		},
	}
}

// shell returns a command that the shell runs.
func shell(c Call, id, command, dir string) (computer.Command, error) {
	switch {
	case strings.TrimSpace(command) == "":
		return computer.Command{}, errors.New("the command is empty")
	case len(command) > maxCommand:
		return computer.Command{}, fmt.Errorf("the command has %d bytes, more than the %d that are allowed; write it to a file with write_file and run sh with that", len(command), maxCommand)
	case strings.ContainsRune(command, 0):
		return computer.Command{}, errors.New("the command has a NUL character in it; a program can make one with printf")
	case strings.ContainsRune(dir, 0):
		return computer.Command{}, errors.New("dir has a NUL character in it")
	}
	if dir != "" {
		inside, err := workspace.Path(dir)
		if err != nil {
			return computer.Command{}, fmt.Errorf("dir is %.200q, which is not in the workspace; leave it out and begin the command with cd", dir)
		}
		if dir = inside; c.Home != nil {
			if err := c.room().leadsTo(dir); err != nil {
				return computer.Command{}, fmt.Errorf("dir: %w", err)
			}
		}
	}
	return computer.Command{ID: id, Args: []string{"sh", "-c", command}, Dir: dir}, nil
}

// outcome shows how a command ended and what it wrote.
func outcome(res *computer.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "exit code %d", res.Exit)
	if res.Signal != "" {
		fmt.Fprintf(&b, " (%s)", word(res.Signal))
	}
	if res.Duration >= time.Second {
		fmt.Fprintf(&b, ", after %.1f s", res.Duration.Seconds())
	}
	b.WriteByte('\n')
	if res.Met != "" && res.Met != res.End {
		fmt.Fprintf(&b, "note: while it ran, %s\n", limit(res.Met))
	}
	if res.Stdout.Size == 0 && res.Stderr.Size == 0 {
		b.WriteString("(no output)")
		return b.String()
	}
	section(&b, "stdout", res.Stdout)
	section(&b, "stderr", res.Stderr)
	return b.String()
}

// told is how a command ended, for policies: output.exit and the like.
func told(res *computer.Result) string {
	return object(struct {
		End    string `json:"end,omitzero"`
		Exit   int    `json:"exit"`
		Millis int64  `json:"millis"`
		Signal string `json:"signal,omitzero"`
		Stderr int64  `json:"stderr_bytes"`
		Stdout int64  `json:"stdout_bytes"`
	}{word(res.End), res.Exit, res.Duration.Milliseconds(), word(res.Signal), res.Stderr.Size, res.Stdout.Size})
}

// object writes an outcome. One that cannot be written tells nothing.
func object(v any) string {
	data, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return ""
	}
	return string(data)
}

func section(b *strings.Builder, name string, o computer.Output) {
	if o.Size == 0 {
		return
	}
	text := stream(o)
	fmt.Fprintf(b, "%s:\n%s", name, text)
	if !strings.HasSuffix(text, "\n") {
		b.WriteByte('\n')
	}
}

// ended says why a command ended, if that was not its own doing.
func ended(res *computer.Result, timeout time.Duration) error {
	switch res.End {
	case "":
		return nil
	case computer.EndTimeout:
		if timeout > 0 && res.Duration >= timeout {
			return fmt.Errorf("killed: it took longer than %.0f s; use start for long work, or give a larger timeout_seconds", timeout.Seconds())
		}
		return errors.New("killed: it took longer than any command in this computer may")
	case computer.EndKilled:
		return errors.New("it was killed on request")
	case computer.EndAbandoned:
		return errors.New("it was killed because Lyceum went away while it ran; look at what it has done before you run it again")
	case computer.EndHidden:
		return errors.New("killed: a process could not be looked at, so its memory and files could not be counted; make programs readable before you run them (chmod a+r), open fewer files at a time, and do not move folders around while it runs")
	case computer.EndStopped:
		return errors.New("it was killed because the computer was stopped; look at what it has done before you run it again")
	}
	return fmt.Errorf("killed: %s", limit(res.End))
}

// limit says which limit of a computer was met, and what helps.
func limit(what string) string {
	switch what {
	case computer.EndTimeout:
		return "the time that a command may take was up"
	case computer.EndMemory:
		return "the computer's memory was used up; work on less at a time (what is in /tmp counts too)"
	case computer.EndProcesses:
		return "the computer had as many processes and threads as it may; start fewer at a time"
	case computer.EndDisk:
		return "the workspace was full; remove what is not needed"
	}
	return "the limit on " + word(what) + " was met"
}
