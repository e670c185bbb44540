package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"lyceum/internal/chat"
	"lyceum/internal/event"
	"lyceum/internal/quest"

	tea "charm.land/bubbletea/v2"
)

// ChatSource is where a conversation gets a quest from, and how it acts on it. Its functions
// are called beside the screen, several at a time.
type ChatSource struct {
	Follow func(ctx context.Context, seq uint64) iter.Seq2[event.Event, error]
	Read   func(event.Ref) ([]byte, error)
	// Say says something to the quest, with files, and returns its number in the inbox and
	// what there is to know of it, if anything.
	Say func(text string, files []string) (inbox int64, note string, err error)
	// Answer answers a question, and says what becomes of that.
	Answer func(*event.InteractionAnswered) (string, error)
	// Command carries out what began with a slash.
	Command func(*chat.Command) (string, error)
	// Claimed reports whether a process runs the quest; Here says that it is this one.
	Claimed func() (bool, error)
	Here    func() bool
	// Paths are files and folders that a path may be meant to be.
	Paths func(prefix string) []string
}

// Chat is a conversation on a terminal.
type Chat struct {
	program *tea.Program
	done    chan struct{}
	err     error
}

// StartChat shows the conversation with a quest until a person leaves. s is the quest before its
// first event: the conversation is folded from there on.
func StartChat(ctx context.Context, src ChatSource, s *quest.State, in io.Reader, out io.Writer) *Chat {
	ctx, cancel := context.WithCancel(ctx)
	look := Colour
	if os.Getenv("NO_COLOR") != "" {
		look = Mono
	}
	feed := &Source{Follow: src.Follow, Read: src.Read, Claimed: src.Claimed, ctx: ctx, events: make(chan event.Event, 1024)}
	m := newChat(&src, feed, s, look)
	c := &Chat{done: make(chan struct{})}
	c.program = tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler())
	go feed.follow(s.Seq + 1)
	go func() {
		defer close(c.done)
		_, err := c.program.Run()
		cancel()
		for range feed.events { //nolint:revive // until the follower has ended
		}
		if err = errors.Join(err, m.err); !errors.Is(err, tea.ErrProgramKilled) && !errors.Is(err, context.Canceled) {
			c.err = err
		}
	}()
	return c
}

// Note shows a line that is no event.
func (c *Chat) Note(text string) { c.program.Send(note(text)) }

// Speaks shows what a model is saying. again says that it begins anew.
func (c *Chat) Speaks(agent, text string, again bool) {
	c.program.Send(spoken{agent: agent, text: text, again: again})
}

// Done is closed when the conversation has ended, and Err is why, if it was not wanted.
func (c *Chat) Done() <-chan struct{} { return c.done }

// Err is for after Done.
func (c *Chat) Err() error { return c.err }

// talkModel is what the screen of a conversation shows. It changes in Update only.
type talkModel struct {
	src   *ChatSource
	feed  *Source
	state *quest.State
	told  *history
	look  Look

	width, height int
	now           event.Time
	frame         int
	claimed       bool

	line editor
	// files go with the next message.
	files []string
	// sending are messages that were given and are no events yet.
	sending []*sent
	sends   int
	// aside is a question that a person does not want to answer now; chosen is an option of
	// the one that is shown, -1 for none. answered are those that were answered here.
	aside    map[uint64]bool
	chosen   int
	asked    uint64
	answered map[uint64]bool

	// live is what the model of an agent is saying.
	live, speaker string
	// top is how many lines the conversation is scrolled up.
	top     int
	details bool
	notice  string
	leaving bool
	err     error
}

// sent is a message on its way.
type sent struct {
	number int
	text   string
	inbox  int64
}

// The messages of a conversation.
type (
	spoken struct {
		agent, text string
		again       bool
		call        uint64 // that is being answered, 0 if nobody knows
	}
	// posted says what became of a message; given, what was said to a command or an answer.
	posted struct {
		number int
		inbox  int64
		note   string
		text   string
		files  []string
		err    error
	}
	given struct {
		title, text string
		question    uint64
		err         error
	}
)

func newChat(src *ChatSource, feed *Source, s *quest.State, look Look) *talkModel {
	return &talkModel{src: src, feed: feed, state: s, told: newHistory(src.Read), look: look, claimed: true, now: s.Time, chosen: -1,
		aside: map[uint64]bool{}, answered: map[uint64]bool{}}
}

// Init begins to follow the quest.
func (m *talkModel) Init() tea.Cmd { return tea.Batch(m.feed.next, m.tick(), m.feed.watchClaim) }

func (m *talkModel) tick() tea.Cmd {
	every := time.Second
	if m.works() {
		every = 120 * time.Millisecond
	}
	return m.feed.after(every, func(t time.Time) tea.Msg { return tick(t) })
}

// Update takes a message in.
func (m *talkModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		if utf8.RuneCountInString(msg.Text) > 1 { // composed by an input method
			m.line.insert(msg.Text)
			break
		}
		return m, m.key(msg.String())
	case tea.PasteMsg:
		if !m.line.insert(msg.Content) {
			m.notice = fmt.Sprintf("A message has at most %d bytes: put it into a file, and name that with @path.", maxWritten)
		}
	case happened:
		if m.err = m.take(msg); m.err != nil {
			return m, tea.Quit
		}
		return m, m.feed.next
	case ended:
		m.err = msg.err
		return m, tea.Quit
	case tick:
		m.now = event.TimeOf(time.Time(msg))
		m.frame++
		return m, m.tick()
	case claim:
		m.claimed = bool(msg)
		return m, m.feed.after(claimEvery, func(time.Time) tea.Msg { return m.feed.watchClaim() })
	case note:
		m.told.note(string(msg))
	case spoken:
		m.hear(msg)
	case posted:
		m.posted(msg)
	case given:
		m.given(msg)
	}
	return m, nil
}

// take folds events in.
func (m *talkModel) take(events []event.Event) error {
	for _, e := range events {
		if e.Seq > m.state.Seq {
			if err := m.state.Fold(e); err != nil {
				return fmt.Errorf("the ledger of quest %s at %d: %w", m.state.Name, e.Seq, err)
			}
		}
		m.told.take(e, m.state)
		switch b := e.Body.(type) {
		case *event.UserMessage:
			m.sending = slices.DeleteFunc(m.sending, func(s *sent) bool { return s.inbox != 0 && s.inbox == b.Inbox })
			if text := b.Text.Text; text != "" {
				m.line.recall(text)
			}
		case *event.ModelResult:
			if e.Actor == m.speaker {
				m.live = ""
			}
		}
	}
	if q := m.question(); q == nil || q.Seq != m.asked {
		m.chosen, m.asked = -1, 0
		if q != nil {
			m.asked = q.Seq
		}
	}
	return nil
}

// maxLive is how much of what a model says is kept before it has said it.
const maxLive = 32 << 10

func (m *talkModel) hear(s spoken) {
	if s.again || s.agent != m.speaker {
		m.live, m.speaker = "", s.agent
	}
	if m.live += s.text; len(m.live) > maxLive {
		m.live = strings.ToValidUTF8(m.live[len(m.live)-maxLive:], "")
	}
}

// question is the one that a person is about to answer, nil if there is none.
func (m *talkModel) question() *quest.Question {
	for _, q := range m.state.Open() {
		if !m.aside[q.Seq] && !m.answered[q.Seq] {
			return &q
		}
	}
	return nil
}

// posted takes in what became of a message. One that was refused is given back to be mended.
func (m *talkModel) posted(p posted) {
	i := slices.IndexFunc(m.sending, func(s *sent) bool { return s.number == p.number })
	if p.err != nil {
		m.notice = line(p.err.Error())
		if m.line.text == "" {
			m.line.text, m.line.pos, m.files = p.text, len(p.text), p.files
		}
	} else if p.note != "" {
		m.told.note(p.note)
	}
	if i < 0 {
		return
	}
	m.sending[i].inbox = p.inbox
	if p.err != nil || m.told.inboxes[p.inbox] {
		m.sending = slices.Delete(m.sending, i, i+1)
	}
}

func (m *talkModel) given(g given) {
	switch {
	case g.err != nil && g.question != 0:
		m.notice = line(g.err.Error())
		delete(m.answered, g.question)
	case g.err != nil:
		m.told.reply(g.title, g.err.Error())
	case g.question != 0:
		m.notice = line(g.text)
	default:
		m.told.reply(g.title, g.text)
	}
	m.top = 0
}
