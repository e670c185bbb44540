package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/model"
	"lyceum/internal/plain"

	"github.com/go-json-experiment/json"
)

// The limits of the tools for long commands.
const (
	maxProcesses = 100
	firstLook    = time.Second / 2 // how long start watches what it started: it answers within a second
	firstLines   = 50
	patience     = 10 * time.Second // for a command to take input, or to die
	idSchema     = `"id":{"type":"string","pattern":"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$","description":"The id that start returned."}`
)

// Start returns the tool start.
func Start() Tool {
	return Tool{
		Tool: model.Tool{
			Name: "start",
			Description: "Starts a shell command (sh -c) in your computer that goes on in the background, such as a server or a long build, and returns its id. " +
				"The calls after it in the same answer are made once it has begun. read_output shows what it writes and waits for it, write_input gives it input, kill ends it, processes lists all.",
			Schema: `{"type":"object","properties":{` + commandSchema + `,` + dirSchema + `,` +
				`"name":{"type":"string","pattern":"^[A-Za-z0-9][A-Za-z0-9._-]{0,23}$","description":"A short name that becomes the end of its id, such as server."}` +
				`},"required":["command"],"additionalProperties":false}`,
		},
		Writes:   true,
		Paths:    []string{"dir"},
		Computer: true,
		Run: func(ctx context.Context, c Call) (string, error) {
			var args struct {
				Command string `json:"command"`
				Dir     string `json:"dir"`
				Name    string `json:"name"`
			}
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return "", err
			}
			cmd, err := kept(ctx, c, args.Name, args.Command, args.Dir)
			if err != nil {
				return "", err
			}
			return start(ctx, c.Computer, cmd)
		},
	}
}

// kept is a command that goes on in the background and takes input, under a name if it has one.
func kept(ctx context.Context, c Call, name, command, dir string) (computer.Command, error) {
	id := c.ID
	if name != "" {
		id += "-" + name
		if err := unused(ctx, c.Computer, name); err != nil {
			return computer.Command{}, err
		}
	}
	cmd, err := shell(c, id, command, dir)
	if err != nil {
		return cmd, err
	}
	if !computer.ValidID(id) {
		return cmd, fmt.Errorf("the name %q is too long; give a shorter one", name)
	}
	cmd.Keep, cmd.Input = true, true
	return cmd, nil
}

// unused refuses a name that a running command has. The id of a command is the
// call's, which is unique, and then its name; so a name may be used again later.
func unused(ctx context.Context, on Computer, name string) error {
	all, err := on.Processes(ctx)
	if err != nil {
		return troubled(ctx, on, name, err)
	}
	for _, p := range all {
		if _, its, _ := strings.Cut(p.ID, "-"); its == name && p.Running {
			return fmt.Errorf("a command named %s runs already, with the id %s; use it, kill it, or give another name", name, word(p.ID))
		}
	}
	return nil
}

func start(ctx context.Context, on Computer, cmd computer.Command) (string, error) {
	if err := on.Start(ctx, cmd); err != nil {
		return "", troubled(ctx, on, cmd.ID, err)
	}
	res, err := waitUpTo(ctx, on, cmd.ID, firstLook)
	switch {
	case err != nil:
		return "started " + cmd.ID, troubled(ctx, on, cmd.ID, err)
	case res != nil:
		return fmt.Sprintf("started %s, which has ended already: %s", cmd.ID, outcome(res)), ended(res, 0)
	}
	b := fmt.Sprintf("started %s; it is running\n", cmd.ID)
	text, err := show(ctx, on, cmd.ID, 1, firstLines)
	return b + text, err
}

// waitUpTo returns how a command ended, or nil if it has not after that time.
func waitUpTo(ctx context.Context, on Computer, id string, most time.Duration) (*computer.Result, error) {
	limited, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	res, err := on.Wait(limited, id)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return nil, nil
	}
	return res, err
}

// Processes returns the tool processes.
func Processes() Tool {
	return Tool{
		Tool: model.Tool{
			Name:        "processes",
			Description: "Lists the commands of your computer, running ones first: id, how it stands, how many lines it has written, and the command.",
			Schema:      `{"type":"object","properties":{},"additionalProperties":false}`,
		},
		Repeatable: true,
		Reads:      true,
		Computer:   true,
		Run: func(ctx context.Context, c Call) (string, error) {
			all, err := c.Computer.Processes(ctx)
			if err != nil {
				return "", troubled(ctx, c.Computer, "", err)
			}
			return table(all), nil
		},
	}
}

func table(all []computer.Process) string {
	if len(all) == 0 {
		return "(no commands)"
	}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b computer.Process) int {
		if a.Running != b.Running {
			return map[bool]int{true: -1, false: 1}[a.Running]
		}
		return cmp.Or(b.Started.Compare(a.Started), strings.Compare(a.ID, b.ID))
	})
	var b strings.Builder
	fmt.Fprintf(&b, "%-16s  %-24s  %8s  %s\n", "id", "state", "lines", "command")
	for _, p := range all[:min(len(all), maxProcesses)] {
		args := p.Args
		if len(args) == 3 && args[0] == "sh" && args[1] == "-c" {
			args = args[2:]
		}
		fmt.Fprintf(&b, "%-16s  %-24s  %8d  %s\n", word(p.ID), state(p), p.Lines, word(strings.Join(args, " ")))
	}
	if more := len(all) - maxProcesses; more > 0 {
		fmt.Fprintf(&b, "(and %d more)\n", more)
	}
	return b.String()
}

func state(p computer.Process) string {
	switch {
	case p.Running:
		return "running"
	case p.End == computer.EndKilled:
		return "killed"
	case p.End != "":
		return "killed (" + word(p.End) + ")"
	case p.Signal != "":
		return fmt.Sprintf("exit code %d (%s)", p.Exit, word(p.Signal))
	}
	return fmt.Sprintf("exit code %d", p.Exit)
}

// troubled puts an error of a computer into words that help. Where a command is
// not known it tells which are.
func troubled(ctx context.Context, on Computer, id string, err error) error {
	switch {
	case errors.Is(err, computer.ErrStopped):
		return errors.New("the computer has stopped, and all that ran in it; look at what was done before you try again")
	case !errors.Is(err, computer.ErrUnknown):
		return err
	}
	all, failed := on.Processes(ctx)
	if failed != nil || len(all) == 0 {
		return fmt.Errorf("there is no command with the id %s, nor any other", word(id))
	}
	var ids []string
	for _, p := range all {
		ids = append(ids, word(p.ID))
	}
	if close := plain.Near(id, ids); len(close) > 0 {
		return fmt.Errorf("there is no command with the id %s; did you mean %s?", word(id), strings.Join(close, " or "))
	}
	return fmt.Errorf("there is no command with the id %s; processes shows which there are", word(id))
}
