package builtin

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"lyceum/internal/model"
	"lyceum/internal/plain"
	"lyceum/internal/tool"

	sdk "github.com/coder/acp-go-sdk"
)

// The bounds of commands.
const (
	maxCommand  = 64 << 10
	maxOutput   = 64 << 10
	commandTime = 120 // seconds
	longestTime = 900
	// leaveTime is how long the client has to end a command that nobody wants any more.
	leaveTime = time.Second
)

func (t *turn) runCommand() tool.Tool {
	return tool.Tool{
		Tool: model.Tool{
			Name: toolRun,
			Description: fmt.Sprintf("Runs a command with sh in the working folder, and waits for its end. Its output is cut to the last %d KiB. "+
				"It has no terminal and no input. One that takes longer than its time is killed.", maxOutput>>10),
			Schema: `{"type":"object","properties":{` +
				fmt.Sprintf(`"command":{"type":"string","minLength":1,"maxLength":%d},`, maxCommand) +
				fmt.Sprintf(`"seconds":{"type":"integer","minimum":1,"maximum":%d,"description":"How long it may take; %d if left out."}`, longestTime, commandTime) +
				`},"required":["command"],"additionalProperties":false}`,
		},
		Run: func(ctx context.Context, c tool.Call) (string, error) {
			args := struct {
				Command string  `json:"command"`
				Seconds float64 `json:"seconds"`
			}{Seconds: commandTime}
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return "", err
			}
			if err := t.permit(ctx); err != nil {
				return "", err
			}
			return t.command(ctx, args.Command, time.Duration(args.Seconds)*time.Second)
		},
	}
}

// exit is how a command ended.
type exit struct {
	Code   *int    `json:"exitCode"`
	Signal *string `json:"signal"`
}

func (e *exit) String() string {
	switch {
	case e == nil:
		return "how it ended is not known"
	case e.Signal != nil && *e.Signal != "":
		return "killed by " + plain.Brief(*e.Signal, 40)
	case e.Code != nil:
		return fmt.Sprintf("exit code %d", *e.Code)
	}
	return "it has ended"
}

// command has the client run a command, and lets it go in any case.
func (t *turn) command(ctx context.Context, text string, within time.Duration) (string, error) {
	session := sdk.SessionId(t.s.id)
	var made struct {
		Terminal string `json:"terminalId"`
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	after, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	end := func() { time.AfterFunc(leaveTime, cancel) }
	// A command may run before the client's answer is here. Whoever cancels meanwhile wants it killed, and for that it
	// must be known.
	defer context.AfterFunc(ctx, end)()
	err := t.ask(after, sdk.ClientMethodTerminalCreate, sdk.CreateTerminalRequest{
		SessionId: session, Command: "sh", Args: []string{"-c", text}, Cwd: &t.s.cwd, OutputByteLimit: new(maxOutput),
	}, &made)
	if err != nil {
		return "", cmp.Or(ctx.Err(), err)
	}
	defer func() {
		end()
		_ = t.ask(after, sdk.ClientMethodTerminalRelease, sdk.ReleaseTerminalRequest{SessionId: session, TerminalId: made.Terminal}, nil)
	}()
	t.begun(sdk.ToolTerminalRef(made.Terminal))
	waiting, stop := context.WithTimeout(ctx, within)
	defer stop()
	var ended *exit
	err = t.ask(waiting, sdk.ClientMethodTerminalWaitForExit, sdk.WaitForTerminalExitRequest{SessionId: session, TerminalId: made.Terminal}, &ended)
	late := waiting.Err() != nil
	if late || err != nil {
		end()
		_ = t.ask(after, sdk.ClientMethodTerminalKill, sdk.KillTerminalRequest{SessionId: session, TerminalId: made.Terminal}, nil)
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil && !late {
		return "", err
	}
	var out struct {
		Output    string `json:"output"`
		Truncated bool   `json:"truncated"`
		Exit      *exit  `json:"exitStatus"`
	}
	if err := t.ask(ctx, sdk.ClientMethodTerminalOutput, sdk.TerminalOutputRequest{SessionId: session, TerminalId: made.Terminal}, &out); err != nil {
		return "", fmt.Errorf("the command ended (%s), and its output cannot be read: %w", ended, err)
	}
	return report(out.Output, out.Truncated, ended, late, within)
}

// report is what the model is told of a command.
func report(output string, cut bool, ended *exit, late bool, within time.Duration) (string, error) {
	if len(output) > maxOutput {
		output, cut = plain.CutFront(output, maxOutput), true
	}
	if cut {
		output = "(the beginning is cut)\n" + output
	}
	if output != "" && !strings.HasSuffix(output, "\n") {
		output += "\n"
	}
	if late {
		return output, fmt.Errorf("it took longer than %s and was killed", within)
	}
	if ended != nil && ended.Code != nil && *ended.Code == 0 {
		return output + "(exit code 0)", nil
	}
	return output, fmt.Errorf("%s", ended)
}
