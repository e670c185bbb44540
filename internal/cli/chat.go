package cli

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lyceum/internal/api"
	"lyceum/internal/api/client"
	"lyceum/internal/chat"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/tui"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

func (a *app) chatCommand() *cobra.Command {
	f := &specFlags{}
	var asJSON, plain bool
	cmd := &cobra.Command{
		Use:   "chat <name|quest.yaml>",
		Short: "Talk with a quest: what its agents say, what they ask, what you say to them",
		Long: `Talk with a quest: one that exists, by its name, or a quest.yaml, which makes it first.
It runs here, or in lyceum serve where that is up in the same home, or goes on where it runs.

Write, and press enter. @path sends a file along, /help shows the commands, a question is
answered by its number or in words. Ctrl-C asks before it leaves, and the quest stays as it
is: lyceum chat goes on with it.

Without a terminal, each line of standard input is something that is said, and what agents
say is printed; at the end of the input it waits until the quest rests. With --json there is
an object in each line, and the input may be objects, too: {"text": "…", "files": ["…"]}.`,
		Args: exactArgs(1, "a quest's name or a quest.yaml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, _, err := a.questToRun(cmd, args[0], f, quest.Bounds{})
			if err != nil {
				return err
			}
			if err := a.beforeTalk(cmd.Context(), name, asJSON); err != nil {
				return err
			}
			t, err := a.talkWith(cmd.Context(), name)
			if err != nil {
				return err
			}
			if asJSON || plain || !isTerminal(a.in) || !isTerminal(a.out) {
				defer t.sends(cmd.Context(), nil)()
				return t.inLines(cmd.Context(), asJSON)
			}
			var after held
			defer func() { after.print(a.err) }()
			defer t.sends(cmd.Context(), after.add)()
			return t.onScreen(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&f.name, "name", "", "name of the quest, instead of the one in quest.yaml")
	cmd.Flags().BoolVar(&asJSON, "json", false, "read and print lines of JSON")
	cmd.Flags().BoolVar(&plain, "plain", false, "read and print lines, also on a terminal")
	f.spec(cmd)
	f.sources(cmd)
	a.telling.yesFlag(cmd)
	return a.weakLimits(a.questArg(cmd))
}

// talk is a conversation with a quest, and what runs the quest meanwhile.
type talk struct {
	a      *app
	name   string
	server *client.Client // nil if the quest runs here
	// kick has it be looked whether there is something to run; here says that a run goes on in
	// this process.
	kick chan struct{}
	here atomic.Bool
	// asked counts how often there was something to look at, served how much of that was.
	asked, served atomic.Int64
	// again says that a person wants a quest to go on that rests.
	again atomic.Bool
	// speaks is told what models say, note what is no event, rested that a run has ended.
	speaks func(runtime.Delta)
	note   func(string)
	rested func()
}

// talkWith finds out where a quest runs.
func (a *app) talkWith(ctx context.Context, name string) (*talk, error) {
	t := &talk{a: a, name: name, kick: make(chan struct{}, 1)}
	c, err := client.Find(ctx, a.home, a.rt.Version, os.Getenv(tokenVariable))
	switch {
	case err == nil:
		t.server = c
		a.compare(c.Server())
	case !errors.Is(err, client.ErrNone):
		return nil, fmt.Errorf("talk with quest %s in the server: %w", name, err)
	}
	t.wake()
	return t, nil
}

// sends has what the quest says to conversations elsewhere sent, if the quest runs here.
func (t *talk) sends(ctx context.Context, say func(line string)) (end func()) {
	if t.server != nil {
		return func() {}
	}
	return t.a.sending(ctx, say)
}

// held are lines that wait for the end of a screen.
type held struct {
	mu    sync.Mutex
	lines []string
}

// maxHeld is how many of them are kept.
const maxHeld = 20

func (h *held) add(line string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.lines) < maxHeld {
		h.lines = append(h.lines, line)
	}
}

func (h *held) print(to io.Writer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, line := range h.lines {
		fmt.Fprintln(to, line)
	}
}

// wake has it be looked whether there is something to run.
func (t *talk) wake() {
	t.asked.Add(1)
	select {
	case t.kick <- struct{}{}:
	default:
	}
}

// drive runs the quest whenever there is something to run it for, until ctx ends.
func (t *talk) drive(ctx context.Context) {
	for {
		select {
		case <-t.kick:
		case <-ctx.Done():
			return
		}
		asked := t.asked.Load()
		if err := t.goOn(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, ledger.ErrClaimed) {
			t.note(oneLine(err.Error(), 400))
		}
		t.served.Store(asked)
		t.rested()
	}
}

// goOn runs the quest until it waits or rests: here, or in the server, which is then listened to.
func (t *talk) goOn(ctx context.Context) error {
	s, err := t.settled(ctx)
	if again := t.again.Swap(false); err != nil || !again && !runs(s) {
		return err
	}
	if t.server != nil {
		return t.listen(ctx, s)
	}
	t.here.Store(true)
	defer t.here.Store(false)
	_, err = t.a.rt.Run(ctx, t.name, runtime.RunOptions{Leave: true, OnDelta: t.speaks, OnProgress: t.note})
	return err
}

// settled is how the quest stands. What was said to one that has come to rest is recorded.
func (t *talk) settled(ctx context.Context) (*quest.State, error) {
	s, err := t.a.rt.Load(ctx, t.name)
	if err != nil || s.Status == quest.Running || s.Status == quest.Created {
		return s, err
	}
	now, err := t.a.rt.Settle(ctx, t.name)
	if errors.Is(err, ledger.ErrClaimed) {
		return s, nil
	}
	return now, err
}

// runs reports whether a quest is to be run: not what a person has paused or stopped, and what
// has its answer only if there is something new to say to it.
func runs(s *quest.State) bool {
	switch s.Status {
	case quest.Created, quest.Running:
		return true
	case quest.Finished:
		return s.Spoken > s.Ended
	case quest.Paused:
		return s.Rested == "" && s.Reason != personPaused
	}
	return false
}

// personPaused is why a quest rests that a person has paused.
const personPaused = "paused by a person"

// listen has the server run the quest, and hears what models say there.
func (t *talk) listen(ctx context.Context, s *quest.State) error {
	_, err := t.server.Control(ctx, t.name, api.Control{Action: "start"})
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Status == 409 {
		if now, lost := t.a.rt.Load(ctx, t.name); lost == nil && now.Status == quest.Running {
			err = nil // it runs, or waits for a person and has been woken
		}
	}
	if err != nil {
		return err
	}
	for sig, err := range t.server.Follow(ctx, t.name, s.Seq) {
		if err != nil {
			return err
		}
		var d runtime.Delta
		if sig.Kind == "delta" && json.Unmarshal(sig.Data, &d) == nil {
			t.speaks(d)
		}
		if sig.Kind == "end" || sig.Kind == "cut" {
			return nil
		}
	}
	return nil
}

// say puts words and files into the quest's inbox, and says what there is to know of that.
func (t *talk) say(ctx context.Context, text string, files []string) (inbox int64, note string, err error) {
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")
	if text == "" && len(files) == 0 || len(text) > maxMessage {
		return 0, "", fmt.Errorf("a message has 1 to %d bytes; this one has %d", maxMessage, len(text))
	}
	m := &event.UserMessage{Text: event.Text{Text: text}}
	if err := t.a.attach(ctx, t.name, m, files); err != nil {
		return 0, "", err
	}
	s, err := t.a.rt.Load(ctx, t.name)
	if err != nil {
		return 0, "", err
	}
	if inbox, err = t.post(ctx, s, m); err != nil {
		return 0, "", err
	}
	switch {
	case s.Status == quest.Exceeded:
		note = fmt.Sprintf("The quest has reached its limit on %s, and keeps the message: lyceum limit %s, then /resume.", s.Reason, t.name)
	case s.Status == quest.Paused && !runs(s), s.Status == quest.Stopped, s.Status == quest.Failed:
		note = fmt.Sprintf("The quest is %s, and keeps the message: /resume goes on.", s.Status)
	}
	return inbox, note, nil
}

// post puts something into the quest's inbox, and has it taken.
func (t *talk) post(ctx context.Context, s *quest.State, b event.Body) (int64, error) {
	if err := s.Accepts("person", b); err != nil {
		return 0, err
	}
	id, err := t.a.rt.Post(ctx, t.name, ledger.Command{Key: rand.Text(), Body: b})
	if err == nil {
		t.wake()
	}
	return id, err
}

// answer answers a question.
func (t *talk) answer(ctx context.Context, b *event.InteractionAnswered) (string, error) {
	s, err := t.a.rt.Load(ctx, t.name)
	if err != nil {
		return "", err
	}
	answered, err := t.a.rt.Answered(ctx, t.name, s)
	if err != nil || answered[b.Interaction] {
		return fmt.Sprintf("Question %d has an answer already.", b.Interaction), err
	}
	_, err = t.post(ctx, s, b)
	return "Answered.", err
}

// Look implements chat.Quest.
func (t *talk) Look(ctx context.Context, read func(*quest.State, *view.Views) error) error {
	return t.a.lookAt(ctx, t.name, read)
}

// Text implements chat.Quest.
func (t *talk) Text(ctx context.Context, x event.Text) (string, error) { return t.a.textOf(ctx, x) }

// Order implements chat.Quest.
func (t *talk) Order(ctx context.Context, b event.Body) (string, error) {
	s, err := t.a.rt.Load(ctx, t.name)
	if err != nil {
		return "", err
	}
	if a, ok := b.(*event.InteractionAnswered); ok {
		return t.answer(ctx, a)
	}
	id, err := t.post(ctx, s, b)
	if err != nil || !t.taken(ctx, s.Seq, id) {
		return "Told.", err
	}
	return "Done.", nil
}

// soon is how long an order is waited for to be taken: what is ordered next may build on it.
const soon = 5 * time.Second

// taken waits until an order of a number in the inbox is in the ledger, behind an event.
func (t *talk) taken(ctx context.Context, after uint64, id int64) bool {
	ctx, cancel := context.WithTimeout(ctx, soon)
	defer cancel()
	for e, err := range t.a.rt.Ledger.Follow(ctx, t.name, after+1) {
		if o, ok := e.Body.(event.Order); err != nil || ok && o.Number() == id {
			return err == nil
		}
	}
	return false
}

// Resume implements chat.Quest.
func (t *talk) Resume(ctx context.Context) (string, error) {
	s, err := t.a.rt.Load(ctx, t.name)
	if err != nil {
		return "", err
	}
	claimed, err := t.a.rt.Ledger.Claimed(t.name)
	switch {
	case err != nil:
		return "", err
	case s.Status == quest.Running && claimed:
		return "", fmt.Errorf("quest %s runs already", t.name)
	case s.Status == quest.Finished && s.Spoken < s.Ended:
		return "", fmt.Errorf("quest %s has its answer: say something, and it goes on", t.name)
	case s.Status == quest.Exceeded && s.OverWith(event.Limits{}) != nil:
		return "", fmt.Errorf("quest %s has reached its limit on %s: lyceum limit %s gives it a higher one", t.name, s.Reason, t.name)
	case claimed:
		_, err = t.post(ctx, s, &event.QuestResumed{})
		return "Told.", err
	}
	t.again.Store(true)
	t.wake()
	return "It goes on.", nil
}

// command carries out what begins with a slash.
func (t *talk) command(ctx context.Context, c *chat.Command) (string, error) {
	return chat.Do(ctx, t, c)
}

// onScreen talks in a view.
func (t *talk) onScreen(ctx context.Context) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	s, err := t.a.beginningOf(ctx, t.name)
	if err != nil {
		return err
	}
	src := tui.ChatSource{
		Follow:  t.a.source(ctx, t.name, nil).Follow,
		Read:    func(ref event.Ref) ([]byte, error) { return t.a.rt.Blob(ctx, ref) },
		Say:     func(text string, files []string) (int64, string, error) { return t.say(ctx, text, files) },
		Answer:  func(b *event.InteractionAnswered) (string, error) { return t.answer(ctx, b) },
		Command: func(c *chat.Command) (string, error) { return t.command(ctx, c) },
		Claimed: func() (bool, error) { return t.a.rt.Ledger.Claimed(t.name) },
		Here:    t.here.Load, Paths: paths,
	}
	v := tui.StartChat(ctx, src, s, t.a.in, t.a.out)
	t.note, t.rested = v.Note, func() {}
	t.speaks = func(d runtime.Delta) {
		if d.Kind == model.Retry {
			v.Note(d.Agent + ": " + oneLine(d.Text, 200))
		} else if d.Kind == "text" || d.Kind == model.Restart {
			v.Speaks(d.Agent, d.Text, d.Kind == model.Restart)
		}
	}
	driven := make(chan struct{})
	go func() { defer close(driven); t.drive(ctx) }()
	<-v.Done()
	leave()
	<-driven
	t.close()
	fmt.Fprintf(t.a.out, "Quest %s stays as it is. Go on with: lyceum chat %s\n", t.name, t.name)
	return v.Err()
}

func (t *talk) close() {
	if t.server != nil {
		t.server.Close()
	}
}

// paths are what a path may be meant to be: folders end with a slash.
func paths(prefix string) (out []string) {
	dir, base := filepath.Split(prefix)
	entries, err := os.ReadDir(filepath.Join(dir, "."))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasPrefix(name, base) && (base != "" || !strings.HasPrefix(name, ".")) {
			if e.IsDir() {
				name += string(filepath.Separator)
			}
			out = append(out, dir+name)
		}
	}
	return out
}

// beginningOf is a quest as it was made.
func (a *app) beginningOf(ctx context.Context, name string) (*quest.State, error) {
	for e, err := range a.rt.Ledger.Read(ctx, name, 1) {
		if err != nil {
			return nil, err
		}
		return quest.New(e, a.rt.Societies)
	}
	return nil, ledger.ErrNoQuest
}

// lookAt shows what the ledger of a quest comes to.
func (a *app) lookAt(ctx context.Context, name string, read func(*quest.State, *view.Views) error) error {
	var s *quest.State
	views := new(view.Views)
	for e, err := range a.rt.Ledger.Read(ctx, name, 1) {
		if err == nil && s == nil {
			s, err = quest.New(e, a.rt.Societies)
		}
		if err == nil {
			err = s.Fold(e)
		}
		if err != nil {
			return err
		}
		views.Take(e, s)
	}
	if s == nil {
		return ledger.ErrNoQuest
	}
	return read(s, views)
}

// textOf reads a text that may stand in a blob.
func (a *app) textOf(ctx context.Context, x event.Text) (string, error) {
	if x.Text != "" || x.Ref == nil {
		return x.Text, nil
	}
	data, err := a.rt.Blob(ctx, *x.Ref)
	return string(data), err
}
