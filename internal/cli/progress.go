package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

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
	// quiet is for programs that read: nothing is said to people.
	quiet bool
	// tty is a terminal, whose last line is kept; colour is one that shows colours.
	tty, colour bool
	width       int

	mu sync.Mutex
	// status is how the quest stands, with its figures, and now what goes on in it.
	status, now string
	// speech is what the model of the agent speaker is saying.
	speech, speaker string
	open            []quest.Question
	read            view.Blobs
	// wrong is why a program that reads cannot be told any more.
	wrong error
}

func newProgress(ctx context.Context, a *app, name string, quiet bool) *progress {
	p := &progress{app: a, quest: name, quiet: quiet, width: 120}
	if f, ok := a.err.(*os.File); ok && !quiet && term.IsTerminal(int(f.Fd())) {
		p.tty, p.colour = true, colours()
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 20 {
			p.width = w
		}
	}
	p.read = func(ref event.Ref) ([]byte, error) { return a.rt.Blob(ctx, ref) }
	return p
}

// trouble says what is no event, and should be known all the same.
func (p *progress) trouble(line string) {
	if p.quiet || p.app.telling.quiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	fmt.Fprintf(p.app.err, "%*s%s\n", margin, "", line)
	p.draw()
}

// event is told of each event that is durable.
func (p *progress) event(e event.Event, s *quest.State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.app.telling.form == streamed && p.wrong == nil {
		p.wrong = p.app.stream(e)
	}
	if p.quiet {
		return
	}
	if e.Type == "model.result" && e.Actor == p.speaker {
		p.speech = ""
	}
	if words := p.words(e, s, p.app.telling.least()); words.Text != "" {
		p.clear()
		p.print(e, words)
	}
	p.open = s.Open()
	// The state is that after all that came with the event: more may have been asked, or
	// this be answered already.
	if i := slices.IndexFunc(p.open, func(q quest.Question) bool { return q.Seq == e.Seq }); i >= 0 {
		p.hint(p.open[i : i+1])
	}
	if p.tty { // there alone is a last line
		p.stand(s)
	}
}

// stand draws how the quest stands.
func (p *progress) stand(s *quest.State) {
	tokens := s.Spent.Usage.Input + s.Spent.Usage.Output
	status, now := string(s.Status), doing(s)
	if s.Waiting() {
		status, now = "waiting", "for your answer"
		if len(p.open) == 0 {
			now = "for your words: lyceum chat " + p.quest
		}
	} else if s.Stalled() {
		status, now = "waiting", "for "+oneLine(s.Absent(), 60)
	}
	p.now = now
	p.status = fmt.Sprintf("%s · turn %s · %s · %s", status, view.Number(s.Spent.Turns), view.Several(tokens, "token"), view.Price(s.Spent.Cost, s.Spent.Unpriced))
	p.draw()
}

// margin is how far the words of a line stand from its beginning.
const margin = len("15:04:05 12345  ")

// print writes the line of an event: when, which, what.
func (p *progress) print(e event.Event, words view.Words) {
	line, when := words.Sentence(), e.Time.Time().Local().Format(time.TimeOnly)
	if p.tty {
		line = oneLine(line, max(p.width-margin-1, 40))
	}
	if !p.colour {
		fmt.Fprintf(p.app.err, "%s %5d  %s\n", when, e.Seq, line)
		return
	}
	if c := tint(e, words); c != "" {
		line = c + line + normal
	}
	fmt.Fprintf(p.app.err, dim+"%s %5d"+normal+"  %s\n", when, e.Seq, line)
}

// asks shows what a quest asks already when its run begins.
func (p *progress) asks(s *quest.State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.open = s.Open()
	p.hint(p.open)
}

// hint says how to answer.
func (p *progress) hint(questions []quest.Question) {
	for _, q := range questions {
		how := "Type the answer here"
		if len(q.Body.Options) > 0 {
			how += ", or one of: " + strings.Join(q.Body.Options, ", ")
		}
		if !p.tty {
			how = fmt.Sprintf("Answer with: lyceum answer %s %d …", p.quest, q.Seq)
		}
		p.clear()
		fmt.Fprintf(p.app.err, "%*sQuestion %d: %s\n%[1]*[2]s%[5]s\n", margin, "", q.Seq, printable(q.Body.Question.Text), oneLine(how, 400))
	}
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
	if !p.tty || p.quiet || p.app.telling.quiet {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if d.Kind == model.Restart || d.Agent != p.speaker {
		p.speech, p.speaker = "", d.Agent // the answer begins anew, or another agent speaks
	}
	p.speech += d.Text
	if len(p.speech) > 400 {
		p.speech = p.speech[len(p.speech)-400:]
	}
	p.draw()
}

// headline is what an event means, for a view. Where many agents are seen at once, what each of
// them says and what its tools gave is left out.
func (p *progress) headline(e event.Event, s *quest.State) string {
	least := view.Detail
	if societyOf(s).crowded() {
		least = view.News
	}
	return p.words(e, s, least).Sentence()
}

// words say what an event means; nothing, if it matters less than that.
func (p *progress) words(e event.Event, s *quest.State, least view.Weight) view.Words {
	if b, ok := e.Body.(*event.CliExit); ok {
		if _, open := s.Calls[b.Call]; open && least > view.Aside {
			return view.Words{} // the call waited for it, and its result says how it ended
		}
	}
	t := view.Teller{Most: max(p.width-33, 40), Read: p.read, Title: view.Titles(s)}
	words := t.Tell(e)
	if words.Weight < least {
		return view.Words{}
	}
	if words.Text == "" && least == view.Aside {
		words.Text = string(e.Type)
	}
	return words
}

func (p *progress) clear() {
	if p.tty {
		io.WriteString(p.app.err, "\r\x1b[K")
	}
}

func (p *progress) draw() {
	if !p.tty || p.app.telling.quiet {
		return
	}
	line := []rune(oneLine(p.status+" · "+p.now, 1000))
	if most := p.width - 1; p.speech != "" {
		line = p.live(most)
	} else if len(line) > most {
		line = append([]rune("…"), line[len(line)-most+1:]...)
	}
	fmt.Fprintf(p.app.err, "\r\x1b[K\x1b[2m%s\x1b[0m", string(line))
}

// live is the line while a model speaks: whose it is, and the end of its words. On a narrow
// terminal the words are worth more than the figures.
func (p *progress) live(most int) []rune {
	head := []rune(oneLine(p.status+" · "+p.speaker+": ", 1000) + " ")
	if most-len(head) < 20 {
		head = []rune(oneLine(p.speaker, most/2) + ": ")
	}
	words := []rune(oneLine(p.speech, 1000))
	if room := max(most-len(head), 1); len(words) > room {
		words = append([]rune("…"), words[len(words)-room+1:]...)
	}
	return append(head, words...)
}

// end removes the last line.
func (p *progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}
