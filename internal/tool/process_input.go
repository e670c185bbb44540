package tool

import (
	"context"
	"fmt"

	"lyceum/internal/computer"
	"lyceum/internal/model"

	"github.com/go-json-experiment/json"
)

// WriteInput returns the tool write_input.
func WriteInput() Tool {
	return Tool{
		Tool: model.Tool{
			Name:        "write_input",
			Description: "Writes text to the input of a command that start began. Most programs want a line's end (\\n) before they answer; read_output shows the answer.",
			Schema: `{"type":"object","properties":{` + idSchema + `,` +
				`"text":{"type":"string","description":"What it gets, exactly."},` +
				`"end":{"type":"boolean","description":"Whether its input ends after that."}` +
				`},"required":["id","text"],"additionalProperties":false}`,
		},
		Writes:   true,
		Computer: true,
		Run: func(ctx context.Context, c Call) (string, error) {
			var args struct {
				ID   string `json:"id"`
				Text string `json:"text"`
				End  bool   `json:"end"`
			}
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return "", err
			}
			if len(args.Text) > maxWrite {
				return "", fmt.Errorf("the text has %d bytes, more than the %d that are allowed; write it in pieces", len(args.Text), maxWrite)
			}
			limited, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			err := c.Computer.Write(limited, args.ID, []byte(args.Text), args.End)
			if err != nil && limited.Err() != nil && ctx.Err() == nil {
				return "", fmt.Errorf("%s has not read its input for %.0f s; some of the text may have reached it", args.ID, patience.Seconds())
			}
			if err != nil {
				return "", troubled(ctx, c.Computer, args.ID, err)
			}
			text := fmt.Sprintf("wrote %d bytes to %s", len(args.Text), args.ID)
			if args.End {
				text += ", and its input has ended"
			}
			return text, nil
		},
	}
}

// Kill returns the tool kill.
func Kill() Tool {
	return Tool{
		Tool: model.Tool{
			Name:        "kill",
			Description: "Ends a command that start began, and all that it started. What it has written can still be read.",
			Schema:      `{"type":"object","properties":{` + idSchema + `},"required":["id"],"additionalProperties":false}`,
		},
		Writes:   true,
		Computer: true,
		Run: func(ctx context.Context, c Call) (string, error) {
			var args struct {
				ID string `json:"id"`
			}
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return "", err
			}
			if err := c.Computer.Kill(ctx, args.ID); err != nil {
				return "", troubled(ctx, c.Computer, args.ID, err)
			}
			res, err := waitUpTo(ctx, c.Computer, args.ID, patience)
			switch {
			case err != nil:
				return "", troubled(ctx, c.Computer, args.ID, err)
			case res == nil:
				return "", fmt.Errorf("%s was killed %.0f s ago and has not ended; processes shows when it has", args.ID, patience.Seconds())
			case res.End != computer.EndKilled:
				return fmt.Sprintf("%s had ended before, with exit code %d", args.ID, res.Exit), nil
			}
			return "killed " + args.ID, nil
		},
	}
}
