package tool

import (
	"context"
	"fmt"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/model"

	"github.com/go-json-experiment/json"
)

// Script returns a tool that runs a program of a skill: the file at a path of the workspace, by
// the interpreter that its first line names. Its command is named after the call, as that of exec
// is.
func Script(t model.Tool, source, trust string, interpreter []string, file string) Tool {
	return Tool{
		Tool: t, Writes: true, Computer: true, Source: source, Trust: trust, Paths: []string{},
		Tell: func(ctx context.Context, c Call) (string, string, error) {
			args := struct {
				Args    []string `json:"args"`
				Stdin   string   `json:"stdin"`
				Timeout int64    `json:"timeout_seconds"`
			}{Timeout: int64(standardTime.Seconds())}
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return "", "", err
			}
			size := 0
			for _, a := range args.Args {
				size += len(a)
			}
			if size > maxCommand || len(args.Stdin) > maxWrite {
				return "", "", fmt.Errorf("the arguments or the input are too long: at most %d and %d bytes are allowed; write a file, and give its name", maxCommand, maxWrite)
			}
			cmd := computer.Command{ID: c.ID, Args: append(append(append([]string{}, interpreter...), file), args.Args...), Stdin: []byte(args.Stdin), Timeout: time.Duration(args.Timeout) * time.Second}
			res, err := c.Computer.Run(ctx, cmd)
			if err != nil {
				return "", "", troubled(ctx, c.Computer, cmd.ID, err)
			}
			return outcome(res), told(res), ended(res, cmd.Timeout)
		},
	}
}
