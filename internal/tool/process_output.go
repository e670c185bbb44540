package tool

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/model"
	"lyceum/internal/plain"

	"github.com/go-json-experiment/json"
)

// The limits of read_output.
const (
	maxOutput    = 32 << 10
	maxShownLine = 2000
	standardRead = 200
	readAtOnce   = 100 // lines, each of which may be long
)

// ReadOutput returns the tool read_output.
func ReadOutput() Tool {
	return Tool{
		Tool: model.Tool{
			Name: "read_output",
			Description: "Shows lines that a command has written so far, stdout and stderr together, and whether it still runs. Without from these are the last ones. " +
				"With wait_seconds it first waits until there is a new line (or, with until: end, until the command has ended), at most that long.",
			Schema: `{"type":"object","properties":{` + idSchema + `,` +
				`"from":{"type":"integer","minimum":-1000000000,"maximum":1000000000,"description":"The first line to show, from 1; -5 means the last five."},` +
				`"after":{"type":"integer","minimum":0,"maximum":1000000000,"description":"In place of from: the number of the last line that you have seen; 0 for none."},` +
				`"lines":{"type":"integer","minimum":1,"maximum":2000,"description":"How many lines to show at most; 200 if left out."},` +
				`"wait_seconds":{"type":"integer","minimum":0,"maximum":300,"description":"How long to wait; 0 if left out."},` +
				`"until":{"type":"string","enum":["output","end"],"description":"What to wait for; output if left out."}` +
				`},"required":["id"],"additionalProperties":false}`,
		},
		Repeatable: true,
		Reads:      true,
		Computer:   true,
		Run: func(ctx context.Context, c Call) (string, error) {
			args := struct {
				ID    string   `json:"id"`
				From  float64  `json:"from"`
				After *float64 `json:"after"`
				Lines float64  `json:"lines"`
				Wait  float64  `json:"wait_seconds"`
				Until string   `json:"until"`
			}{Lines: standardRead}
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return "", err
			}
			from, most := int64(args.From), int(args.Lines)
			switch {
			case args.After != nil && from != 0:
				return "", errors.New("give from or after, not both")
			case args.After != nil:
				from = int64(*args.After) + 1
			case from == 0:
				from = -int64(most)
			}
			if args.Wait > 0 {
				if err := await(ctx, c.Computer, args.ID, from, time.Duration(args.Wait)*time.Second, args.Until == "end"); err != nil {
					return "", troubled(ctx, c.Computer, args.ID, err)
				}
			}
			return show(ctx, c.Computer, args.ID, from, most)
		},
	}
}

// await returns when the command has ended, when there is a line from on (one that
// was not there before, if from counts from the end), or when a line has grown that
// is not complete, as a prompt does. At the latest it returns after most.
func await(ctx context.Context, on Computer, id string, from int64, most time.Duration, end bool) error {
	if end {
		_, err := waitUpTo(ctx, on, id, most)
		return err
	}
	soon, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	before, first := 0, true
	for step := 20 * time.Millisecond; ; step = min(2*step, time.Second) {
		l, err := on.Read(ctx, id, max(from, -1), 1)
		if err != nil {
			return err
		}
		partial := len(l.Partial[computer.Stdout]) + len(l.Partial[computer.Stderr])
		if first {
			before, first = partial, false
			if from < 0 {
				from = l.Process.Lines + 1
			}
		}
		if l.Process.Lines >= from || partial != before || !l.Process.Running || soon.Err() != nil {
			return nil
		}
		// To wait for its end is to wait, and to hear of the end at once.
		res, err := waitUpTo(soon, on, id, step)
		if soon.Err() != nil {
			return ctx.Err()
		}
		if err != nil || res != nil {
			return err
		}
	}
}

// show returns lines of a log and how the command stands. If not all fit, it is the
// first that are shown, or the last if from counts from the end.
func show(ctx context.Context, on Computer, id string, from int64, most int) (string, error) {
	p := page{latest: from < 0}
	for read := 0; read < most && !p.full; {
		l, err := on.Read(ctx, id, from, min(most-read, readAtOnce))
		if err != nil {
			return "", troubled(ctx, on, id, err)
		}
		p.next, p.partial, p.process = l.Next, l.Partial, l.Process
		for _, line := range l.Lines {
			p.add(line)
		}
		if read += len(l.Lines); len(l.Lines) == 0 || l.Next <= from {
			break
		}
		from = l.Next
	}
	return strings.Join(p.shown, "") + p.standing(id), nil
}

// page is what is shown of a log.
type page struct {
	latest bool
	shown  []string
	size   int
	// first is the number of the first line shown, next that of the one to go on with.
	first, next int64
	full        bool
	partial     map[computer.Stream][]byte
	process     computer.Process
}

func (p *page) add(l computer.Line) {
	if p.full {
		return
	}
	text := logLine(l)
	if p.size+len(text) > maxOutput && !p.latest {
		p.full, p.next = true, l.Seq
		return
	}
	if len(p.shown) == 0 {
		p.first = l.Seq
	}
	p.shown, p.size = append(p.shown, text), p.size+len(text)
	for p.size > maxOutput {
		p.size -= len(p.shown[0])
		p.shown, p.first = p.shown[1:], p.first+1
	}
}

func logLine(l computer.Line) string {
	text := visible(l.Text)
	if cut := plain.Cut(text, maxShownLine); len(cut) < len(text) {
		text = fmt.Sprintf("%s [... %d bytes of this line left out ...]", cut, len(text)-len(cut))
	}
	if l.Stream == computer.Stderr {
		text = "stderr: " + text
	}
	return text + "\n"
}

// standing says what has been shown, what there is more of, and how it goes.
func (p *page) standing(id string) string {
	var b strings.Builder
	more := p.next <= p.process.Lines
	for _, s := range []computer.Stream{computer.Stdout, computer.Stderr} {
		if part := p.partial[s]; len(part) > 0 && !more {
			fmt.Fprintf(&b, "(%s, the line is not complete) %s\n", s, plain.CutFront(visible(part), maxShownLine))
		}
	}
	switch {
	case len(p.shown) > 0:
		fmt.Fprintf(&b, "(lines %d to %d of %d; ", p.first, p.first+int64(len(p.shown))-1, p.process.Lines)
	case p.process.Lines > 0:
		fmt.Fprintf(&b, "(no lines from there on, of %d; ", p.process.Lines)
	default:
		b.WriteString("(no lines; ")
	}
	if more || p.process.Running {
		fmt.Fprintf(&b, "go on with from %d; ", p.next)
	}
	fmt.Fprintf(&b, "%s: %s)", id, state(p.process))
	return b.String()
}
