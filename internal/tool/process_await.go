package tool

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lyceum/internal/model"

	"github.com/go-json-experiment/json"
)

// Tools for those who work for long: a command that nobody kills because a time is over, and a
// program that stays and is spoken to. Like what start begins, they outlive the call and Lyceum.

const standardAwait = 60 * time.Second

// Await returns the tool await.
func Await() Tool {
	return Tool{
		Tool: model.Tool{
			Name: "await",
			Description: "Starts a shell command (sh -c) in your computer and waits for its end, or waits for one that runs, by its id; returns how it ended and what it wrote. " +
				"When the time is over it is not killed: it goes on in the background, you get its id and what it has written so far, and can await it again.",
			Schema: `{"type":"object","properties":{` + commandSchema + `,` + dirSchema + `,` +
				`"id":{"type":"string","pattern":"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$","description":"In place of command: the id of one that runs."},` +
				`"wait_seconds":{"type":"integer","minimum":1,"maximum":300,"description":"How long to wait; 60 if left out."}` +
				`},"additionalProperties":false}`,
		},
		Writes:   true,
		Paths:    []string{"dir"},
		Computer: true,
		Named:    true,
		Tell: func(ctx context.Context, c Call) (string, string, error) {
			args := struct {
				Command string  `json:"command"`
				Dir     string  `json:"dir"`
				ID      string  `json:"id"`
				Wait    float64 `json:"wait_seconds"`
			}{Wait: standardAwait.Seconds()}
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return "", "", err
			}
			switch {
			case (args.Command == "") == (args.ID == ""):
				return "", "", errors.New("give a command to start, or the id of one that runs")
			case args.ID != "" && args.Dir != "":
				return "", "", errors.New("dir is for a command that is started")
			}
			id := args.ID
			if id == "" {
				cmd, err := kept(ctx, c, "", args.Command, args.Dir)
				if err != nil {
					return "", "", err
				}
				if err := c.Computer.Start(ctx, cmd); err != nil {
					return "", "", troubled(ctx, c.Computer, cmd.ID, err)
				}
				id = cmd.ID
			}
			return awaited(ctx, c.Computer, id, time.Duration(args.Wait)*time.Second)
		},
	}
}

// awaited is how a command ended, or how it stands after that time.
func awaited(ctx context.Context, on Computer, id string, most time.Duration) (text, outcomes string, err error) {
	res, err := waitUpTo(ctx, on, id, most)
	switch {
	case err != nil:
		return "", "", troubled(ctx, on, id, err)
	case res != nil:
		return fmt.Sprintf("%s has ended: %s", id, outcome(res)), told(res), ended(res, 0)
	}
	text, err = show(ctx, on, id, -firstLines, firstLines)
	running := object(map[string]any{"id": id, "running": true})
	return fmt.Sprintf("%s still runs after %.0f s, and goes on\n%s", id, most.Seconds(), text), running, err
}

// OpenShell returns the tool open_shell.
func OpenShell() Tool {
	return Tool{
		Tool: model.Tool{
			Name: "open_shell",
			Description: "Creates a program in your computer under a name, which stays and is spoken to: a shell if you give no command, in which cd and variables last. Returns its id at once. " +
				"write_input says something to it, read_output shows what it answers, kill ends it.",
			Schema: `{"type":"object","properties":{` +
				`"name":{"type":"string","pattern":"^[A-Za-z0-9][A-Za-z0-9._-]{0,23}$","description":"A short name that becomes the end of its id, such as python."},` +
				`"command":{"type":"string","minLength":1,"description":"What stays; a shell if left out."},` + dirSchema +
				`},"required":["name"],"additionalProperties":false}`,
		},
		Writes:   true,
		Paths:    []string{"dir"},
		Computer: true,
		Named:    true,
		Run: func(ctx context.Context, c Call) (string, error) {
			args := struct {
				Name    string `json:"name"`
				Command string `json:"command"`
				Dir     string `json:"dir"`
			}{Command: "exec sh"}
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return "", err
			}
			cmd, err := kept(ctx, c, args.Name, args.Command, args.Dir)
			if err != nil {
				return "", err
			}
			if err := c.Computer.Start(ctx, cmd); err != nil {
				return "", troubled(ctx, c.Computer, cmd.ID, err)
			}
			return "created " + cmd.ID, nil
		},
	}
}
