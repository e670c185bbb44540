package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/policy"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/society/lab"

	"golang.org/x/term"
)

// progress tells a person what a running quest does: a line for each thing that
// happened, and on a terminal a last line that shows what is going on now.
type progress struct {
	app   *app
	quest string
	quiet bool
	tty   bool
	width int

	mu     sync.Mutex
	status string
	speech string // what the model is saying
	read   agent.Blobs
}

func newProgress(a *app, name string, quiet bool) *progress {
	p := &progress{app: a, quest: name, quiet: quiet, width: 80}
	if f, ok := a.err.(*os.File); ok && !quiet && term.IsTerminal(int(f.Fd())) {
		p.tty = true
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 20 {
			p.width = w
		}
	}
	p.read = func(ref event.Ref) ([]byte, error) { return a.rt.Blob(context.Background(), ref) }
	return p
}

// trouble says what is no event, and should be known all the same.
func (p *progress) trouble(line string) {
	if p.quiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	fmt.Fprintf(p.app.err, "       %s\n", line)
	p.draw()
}

// event is told of each event that is durable.
func (p *progress) event(e event.Event, s *quest.State) {
	if p.quiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.Type == "model.result" {
		p.speech = ""
	}
	if line := p.line(e, s); line != "" {
		p.clear()
		fmt.Fprintf(p.app.err, "%5d  %s\n", e.Seq, line)
	}
	tokens := s.Spent.Usage.Input + s.Spent.Usage.Output
	p.status = fmt.Sprintf("%s · turn %d · %d tokens · $%s · %s", s.Status, s.Spent.Turns, tokens, quest.USD(s.Spent.Cost), doing(s))
	p.draw()
}

func doing(s *quest.State) string {
	for _, a := range s.Agents {
		switch a.Phase() {
		case agent.Thinking:
			return a.Name + " thinks"
		case agent.Acting:
			var names []string
			for _, u := range a.Open {
				if !u.Done {
					names = append(names, oneLine(u.Name, 20))
				}
			}
			return a.Name + " runs " + strings.Join(names, ", ")
		}
	}
	return "waiting"
}

func (p *progress) delta(d runtime.Delta) {
	if d.Kind == model.Retry {
		p.trouble(d.Agent + ": " + oneLine(d.Text, 200))
		return
	}
	if !p.tty || p.quiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if d.Kind == model.Restart {
		p.speech = "" // the answer begins anew
	}
	p.speech += d.Text
	if len(p.speech) > 400 {
		p.speech = p.speech[len(p.speech)-400:]
	}
	p.draw()
}

// line says what an event means.
func (p *progress) line(e event.Event, s *quest.State) string {
	switch b := e.Body.(type) {
	case *event.QuestStarted:
		return "started"
	case *event.QuestResumed:
		return "resumed"
	case *event.QuestPaused:
		return "paused: " + oneLine(b.Reason, 60)
	case *event.QuestStopped:
		return "stopped: " + oneLine(b.Reason, 60)
	case *event.QuestFailed:
		return "failed: " + oneLine(b.Reason, 200)
	case *event.QuestFinished:
		return "finished"
	case *event.BudgetExceeded:
		return fmt.Sprintf("the limit on %s is reached (%s of %s)", b.Limit, policy.Amount(b.Limit, b.Used), policy.Amount(b.Limit, b.Max))
	case *event.UserMessage:
		return "person: " + p.text(b.Text)
	case *event.MessageSent:
		if b.Quiet {
			return ""
		}
		return "to " + b.To + ": " + p.text(b.Text)
	case *event.ModelResult:
		return p.answer(e, b)
	case *event.ToolResult:
		return p.result(e, b.Output, b.Error)
	case *event.ToolAnswered:
		return p.result(e, b.Output, b.Error)
	case *event.ComputerStarted:
		return e.Actor + " has a computer: " + gistComputer(b)
	case *event.FileDiff:
		return e.Actor + "'s files: " + gistComputer(b)
	case *event.NetConnection:
		return e.Actor + " connects to " + gistComputer(b)
	case *event.CliExit:
		// How a command ended that its call waited for, the call's result says.
		if _, open := s.Calls[b.Call]; !open {
			return e.Actor + "'s command " + gistComputer(b)
		}
	}
	return cmp.Or(lineLab(e, s), lineContract(e))
}

// headline is line for a view of many agents: what each of them says and what its tools
// gave is left out, where all are seen at once.
func (p *progress) headline(e event.Event, s *quest.State) string {
	if lab.Of(s) == nil {
		return p.line(e, s)
	}
	switch b := e.Body.(type) {
	case *event.ModelResult:
		if b.Error == nil {
			return ""
		}
	case *event.ToolResult, *event.ToolAnswered, *event.MessageSent, *event.FileDiff, *event.CliExit:
		return ""
	}
	return p.line(e, s)
}

func (p *progress) answer(e event.Event, b *event.ModelResult) string {
	if b.Error != nil {
		return e.Actor + " got no answer: " + oneLine(b.Error.Text, 200)
	}
	var out []string
	for _, part := range b.Parts {
		switch part.Kind {
		case event.PartText:
			if part.Text != nil {
				out = append(out, e.Actor+" says: "+p.text(*part.Text))
			}
		case event.PartToolCall:
			args := ""
			if part.Args != nil {
				args = p.text(*part.Args)
			}
			out = append(out, e.Actor+" calls "+oneLine(part.Name, 30)+" "+args)
		}
	}
	return strings.Join(out, "\n       ")
}

func (p *progress) result(e event.Event, t event.Text, failed bool) string {
	name := e.Tool
	if name == "" {
		name = "the call"
	}
	if failed {
		return name + " failed: " + strings.TrimPrefix(p.text(t), "error: ")
	}
	return name + " gave: " + p.text(t)
}

func (p *progress) text(t event.Text) string {
	s, err := agent.Read(t, p.read)
	if err != nil {
		return oneLine(err.Error(), 200)
	}
	return oneLine(s, max(p.width-24, 40))
}

func (p *progress) clear() {
	if p.tty {
		io.WriteString(p.app.err, "\r\x1b[K")
	}
}

func (p *progress) draw() {
	if !p.tty {
		return
	}
	line := p.status
	if p.speech != "" {
		line += " · " + p.speech
	}
	r := []rune(oneLine(line, 1000))
	if len(r) > p.width-1 {
		r = append([]rune("…"), r[len(r)-p.width+2:]...)
		if len([]rune(p.status)) < p.width-1 {
			r = []rune(oneLine(line, p.width-1))
		}
	}
	fmt.Fprintf(p.app.err, "\r\x1b[K\x1b[2m%s\x1b[0m", string(r))
}

// end removes the last line.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}
