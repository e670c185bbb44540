package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/view"

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
	read   view.Blobs
}

func newProgress(ctx context.Context, a *app, name string, quiet bool) *progress {
	p := &progress{app: a, quest: name, quiet: quiet, width: 80}
	if f, ok := a.err.(*os.File); ok && !quiet && term.IsTerminal(int(f.Fd())) {
		p.tty = true
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 20 {
			p.width = w
		}
	}
	p.read = func(ref event.Ref) ([]byte, error) { return a.rt.Blob(ctx, ref) }
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

// line says what an event means; nothing, if another event tells it better.
func (p *progress) line(e event.Event, s *quest.State) string { return p.words(e, s, view.Detail) }

// headline is line for a view of many agents: what each of them says and what its tools
// gave is left out, where all are seen at once.
func (p *progress) headline(e event.Event, s *quest.State) string {
	if !societyOf(s).crowded() {
		return p.line(e, s)
	}
	return p.words(e, s, view.News)
}

func (p *progress) words(e event.Event, s *quest.State, least view.Weight) string {
	if b, ok := e.Body.(*event.CliExit); ok {
		if _, open := s.Calls[b.Call]; open {
			return "" // the call waited for it, and its result says how it ended
		}
	}
	t := view.Teller{Most: max(p.width-24, 40), Read: p.read, Title: view.Titles(s)}
	words := t.Tell(e)
	if words.Weight < least {
		return ""
	}
	return words.Sentence()
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
