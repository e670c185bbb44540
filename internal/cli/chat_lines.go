package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"lyceum/internal/chat"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/view"
)

// chatLine is what is printed of a conversation for programs.
type chatLine struct {
	// Type is message, delivered, said, question, answered, status, reply, note or error.
	Type string `json:"type"`
	Seq  uint64 `json:"seq,omitempty"`
	By   string `json:"by,omitempty"`
	// Kind is that of what was said: progress, milestone, answer and the like.
	Kind    string   `json:"kind,omitempty"`
	Text    string   `json:"text,omitempty"`
	Options []string `json:"options,omitempty"`
	// Messages are those that were delivered.
	Messages []uint64 `json:"messages,omitempty"`
	Status   string   `json:"status,omitempty"`
	Stage    string   `json:"stage,omitempty"`
}

// chatInput is what a program says.
type chatInput struct {
	Text  string   `json:"text"`
	Files []string `json:"files"`
	// Answer is the question that it answers.
	Answer uint64 `json:"answer"`
}

// lines is a conversation without a screen.
type lines struct {
	talk   *talk
	asJSON bool

	mu    sync.Mutex
	state *quest.State
	views view.Talk
	// last is what an agent said last: an answer that repeats it is not said again.
	last  string
	shown string
	// more is told when there is something new.
	more chan struct{}
}

// inLines reads what is said line by line, and prints what agents say. At the end of the input
// it waits until the quest rests.
func (t *talk) inLines(ctx context.Context, asJSON bool) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	defer t.close()
	s, err := t.a.rt.Load(ctx, t.name)
	if err != nil {
		return err
	}
	l := &lines{talk: t, asJSON: asJSON, state: s, more: make(chan struct{}, 1)}
	if err := t.a.lookAt(ctx, t.name, func(_ *quest.State, v *view.Views) error { l.views = v.Talk; return nil }); err != nil {
		return err
	}
	t.speaks = func(runtime.Delta) {}
	t.note = func(text string) { l.print(chatLine{Type: "note", Text: text}) }
	t.rested = l.stir
	for _, q := range s.Open() {
		l.asks(q.Seq, q.Asker, &q.Body)
	}
	driven, followed, read := make(chan struct{}), make(chan error, 1), make(chan error, 1)
	go func() { defer close(driven); t.drive(ctx) }()
	go func() { followed <- l.follow(ctx, s.Seq+1) }()
	go func() { read <- l.readAll(ctx) }()
	err = l.wait(ctx, read, followed)
	leave()
	<-driven
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	return err
}

// wait waits for the end of the input, and then for the quest to rest.
func (l *lines) wait(ctx context.Context, read, followed <-chan error) error {
	over := false
	for {
		select {
		case err := <-followed:
			return err
		case err := <-read:
			if err != nil {
				return err
			}
			over, read = true, nil
		case <-l.more:
		case <-ctx.Done():
			return ctx.Err()
		}
		if rests, err := l.rests(ctx); err != nil || over && rests {
			return err
		}
	}
}

// rests reports whether the quest waits or rests, and all that was said to it is taken and shown.
func (l *lines) rests(ctx context.Context) (bool, error) {
	t := l.talk
	if t.server == nil && t.served.Load() != t.asked.Load() {
		return false, nil
	}
	l.mu.Lock()
	seq, inbox := l.state.Seq, l.state.Inbox
	running := (l.state.Status == quest.Running || l.state.Status == quest.Created) && !l.state.Waiting()
	l.mu.Unlock()
	head, err := t.a.rt.Ledger.Head(ctx, t.name)
	if err != nil || running || head.Seq != seq {
		return false, err
	}
	said, err := t.a.rt.Ledger.Commands(ctx, t.name, inbox)
	return err == nil && len(said) == 0, err
}

func (l *lines) stir() {
	select {
	case l.more <- struct{}{}:
	default:
	}
}

// readAll says what stands in the input.
func (l *lines) readAll(ctx context.Context) error {
	in := bufio.NewScanner(l.talk.a.in)
	in.Buffer(nil, 1<<20)
	for in.Scan() && ctx.Err() == nil {
		text := strings.TrimSpace(in.Text())
		if text == "" {
			continue
		}
		if err := l.say(ctx, text); err != nil {
			l.print(chatLine{Type: "error", Text: err.Error()})
		}
	}
	return in.Err()
}

// say does what a line says: an answer, a command, or a message.
func (l *lines) say(ctx context.Context, text string) error {
	given := chatInput{Text: text}
	if l.asJSON && strings.HasPrefix(text, "{") {
		given = chatInput{}
		d := json.NewDecoder(strings.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&given); err != nil {
			return fmt.Errorf("read a line: %w", err)
		}
	}
	if name, path, _ := strings.Cut(given.Text, " "); name == "/attach" {
		given.Text, given.Files = "", append(given.Files, strings.TrimSpace(path))
	}
	cmd, words, err := chat.Parse(given.Text)
	if err != nil {
		return err
	}
	if cmd != nil {
		reply, err := l.talk.command(ctx, cmd)
		if err == nil {
			l.print(chatLine{Type: "reply", Kind: cmd.Name, Text: reply})
		}
		return err
	}
	files := append(given.Files, chat.Files(words)...)
	if q := l.question(given.Answer); q != nil && len(files) == 0 {
		b := reply(q, optionOf(q, words), "")
		if err := q.Check(b); err != nil {
			return err
		}
		_, err := l.talk.answer(ctx, b)
		return err
	} else if given.Answer != 0 {
		return fmt.Errorf("no question %d is open", given.Answer)
	}
	_, note, err := l.talk.say(ctx, words, files)
	if err == nil && note != "" {
		l.print(chatLine{Type: "note", Text: note})
	}
	return err
}

// optionOf is the option of a number, or the words themselves.
func optionOf(q *quest.Question, words string) string {
	if n, err := strconv.Atoi(words); err == nil && n >= 1 && n <= len(q.Body.Options) {
		return q.Body.Options[n-1]
	}
	return words
}

// question is the one of that number, or the oldest.
func (l *lines) question(number uint64) *quest.Question {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, q := range l.state.Open() {
		if number == 0 || q.Seq == number {
			return &q
		}
	}
	return nil
}

// follow prints what happens.
func (l *lines) follow(ctx context.Context, seq uint64) error {
	for e, err := range l.talk.a.rt.Ledger.Follow(ctx, l.talk.name, seq) {
		if err != nil {
			return err
		}
		if err := l.take(ctx, e); err != nil {
			return err
		}
		l.stir()
	}
	return ctx.Err()
}

func (l *lines) take(ctx context.Context, e event.Event) error {
	l.mu.Lock()
	err := l.state.Fold(e)
	waited := slices.Clone(l.views.Mail)
	l.views.Take(e)
	status := chat.Standing(l.state)
	l.mu.Unlock()
	if err != nil {
		return err
	}
	read := func(t event.Text) string {
		text, err := l.talk.a.textOf(ctx, t)
		if err != nil {
			return "(cannot be read: " + err.Error() + ")"
		}
		return text
	}
	switch b := e.Body.(type) {
	case *event.UserMessage:
		l.last = "" // the same words are an answer to something else now
		if l.asJSON {
			l.print(chatLine{Type: "message", Seq: e.Seq, By: b.Sender, Text: read(b.Text)})
		}
	case *event.ModelResult:
		for _, p := range b.Parts {
			if p.Kind == event.PartText && p.Text != nil {
				l.said(e, "", read(*p.Text))
			}
		}
	case *event.InteractSaid:
		l.said(e, b.Kind, read(b.Text))
	case *event.ReviewGiven:
		l.said(e, "review", view.ReviewWords(b))
	case *event.InteractionOpened:
		l.asks(e.Seq, e.Actor, b)
	case *event.QuestFinished:
		l.said(e, "answer", read(b.Answer))
	}
	l.told(waited, status)
	return nil
}

// told says what was delivered, and how the quest stands if that has changed.
func (l *lines) told(waited []view.Letter, status string) {
	if !l.asJSON {
		return
	}
	var gone []uint64
	for _, m := range waited {
		if !l.views.Queued(m.Seq) {
			gone = append(gone, m.Seq)
		}
	}
	if len(gone) > 0 {
		l.print(chatLine{Type: "delivered", Messages: gone})
	}
	if now := status + l.views.Anchor; now != l.shown {
		l.shown = now
		l.print(chatLine{Type: "status", Status: status, Stage: l.views.Anchor})
	}
}

// said prints what an agent said, unless it is what it said just before.
func (l *lines) said(e event.Event, kind, text string) {
	if text = strings.TrimSpace(text); text == "" || text == l.last {
		return
	}
	l.last = text
	l.print(chatLine{Type: "said", Seq: e.Seq, By: e.Actor, Kind: kind, Text: text})
}

func (l *lines) asks(seq uint64, by string, b *event.InteractionOpened) {
	l.print(chatLine{Type: "question", Seq: seq, By: by, Text: b.Question.Text, Options: b.Options})
}

// print prints a line, for a program or for a person.
func (l *lines) print(c chatLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := l.talk.a
	switch {
	case l.asJSON:
		c.Text = printable(c.Text)
		data, err := json.Marshal(c)
		if err == nil {
			fmt.Fprintf(a.out, "%s\n", data)
		}
	case c.Type == "note", c.Type == "error":
		fmt.Fprintln(a.err, printable(c.Text))
	case c.Type == "question":
		fmt.Fprintf(a.out, "%s asks (question %d): %s\n", printable(c.By), c.Seq, printable(c.Text))
		for i, o := range c.Options {
			fmt.Fprintf(a.out, "  %d  %s\n", i+1, oneLine(o, maxOption))
		}
	case c.Type == "said":
		fmt.Fprintf(a.out, "%s: %s\n", printable(c.By), printable(c.Text))
	default:
		fmt.Fprintln(a.out, printable(c.Text))
	}
}
