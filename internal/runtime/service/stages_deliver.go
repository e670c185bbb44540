package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"lyceum/internal/computer"
	"lyceum/internal/connector"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/runtime"
	"lyceum/internal/society/stages"
	"lyceum/internal/workspace"

	"golang.org/x/sys/unix"
)

// deliveries answers delivery.call: what was said goes into the outbox of the home, and whoever
// runs the connectors sends it. A call that was interrupted is made again: the outbox has each
// key once. Nothing that goes wrong here is more to the quest than a line.
type deliveries struct {
	q   *runtime.Quest
	box connector.Box
}

// Start implements runtime.Service.
func (s *deliveries) Start(e event.Event) (runtime.Work, error) {
	b := e.Body.(*event.DeliveryCall)
	return func(ctx context.Context) ([]event.Draft, error) {
		r := &event.DeliveryResult{Call: e.Seq}
		if err := s.put(ctx, b); ctx.Err() != nil {
			return nil, ctx.Err()
		} else if err != nil {
			r.Error = runtime.AtMost(s.q.Redact(err.Error()), 1000)
		}
		return []event.Draft{s.q.Result(e.Seq, e.Actor, r)}, nil
	}, nil
}

// Late implements runtime.Late: what a study said when it was finished goes into the outbox.
func (Stages) Late(ctx context.Context, q *runtime.Quest) (out []event.Draft, err error) {
	s := &deliveries{q, connector.Box{Notes: q.Ledger, Clock: q.Clock}}
	for _, seq := range slices.Sorted(maps.Keys(q.State.Calls)) {
		if q.State.Calls[seq].Kind != "delivery.call" {
			continue
		}
		for e, err := range q.Ledger.Read(ctx, q.Key, seq) {
			if err != nil {
				return nil, err
			}
			work, err := s.Start(e)
			if err != nil {
				return nil, err
			}
			done, err := work(ctx)
			if err != nil {
				return nil, err
			}
			out = append(out, done...)
			break
		}
	}
	return out, nil
}

// put puts it into the outbox, if the home knows of the binding: what comes from elsewhere, an
// imported ledger say, binds nothing here.
func (s *deliveries) put(ctx context.Context, b *event.DeliveryCall) error {
	bound, err := s.box.Bound(ctx, b.Connector, b.Conversation)
	if err != nil {
		return err
	}
	if bound == nil || bound.Quest != s.q.Key {
		return fmt.Errorf("the conversation %.80q of %.40q is not bound to this quest here: lyceum connector bind", b.Conversation, b.Connector)
	}
	d := connector.Delivery{Key: b.Key, Connector: b.Connector, Conversation: b.Conversation, Quest: s.q.Key, Said: b.Said}
	for e, err := range s.q.Ledger.Read(ctx, s.q.Key, b.Said) {
		if err != nil {
			return err
		}
		files, err := s.words(ctx, e, &d)
		if err != nil {
			return err
		}
		return s.box.Put(ctx, d, files...)
	}
	return errors.New("there is nothing at that place of the ledger")
}

// words fills in what an event says, and returns the files that go with it.
func (s *deliveries) words(ctx context.Context, e event.Event, d *connector.Delivery) (files []connector.File, err error) {
	var text event.Text
	var more string
	d.Time = e.Time
	switch b := e.Body.(type) {
	case *event.InteractSaid:
		d.Kind, d.Options, text = b.Kind, b.Options, b.Text
		if files, more, err = s.files(b.Files); err != nil {
			return nil, err
		}
		if b.Kind == "answer" {
			if d.Reply, err = s.box.Last(ctx, d.Connector, d.Conversation); err != nil {
				return nil, err
			}
		}
	case *event.InteractionOpened:
		d.Kind, d.Options, text = "question", b.Options, b.Question
	case *event.AgentParked:
		d.Kind, text = "notice", event.Text{Text: b.Reason}
	default:
		return nil, fmt.Errorf("a %s says nothing to people", e.Type)
	}
	words, err := s.q.Joined(ctx, []event.Text{text})
	d.Text = event.Shorten(s.q.Redact(words+more), maxDelivered)
	return files, err
}

// files are those of the researcher's home that its words are about, as they are now, and lines that
// name them. What is too large, or no file, is only named, with where it is.
func (s *deliveries) files(names []string) (out []connector.File, lines string, err error) {
	if len(names) == 0 {
		return nil, "", nil
	}
	var left []string
	err = s.q.InHome(stages.Researcher, func(home *os.Root) error {
		room := int64(connector.MaxFiles)
		for _, name := range names {
			data, why := fileOf(home, s.q.Guard(), name, min(room, connector.MaxFile))
			if why != "" {
				left = append(left, name+" ("+why+")")
				continue
			}
			if utf8.Valid(data) {
				data = []byte(s.q.Redact(string(data)))
			}
			room -= int64(len(data))
			out = append(out, connector.File{Name: path.Base(name), Type: "application/octet-stream", Data: data})
		}
		return nil
	})
	if errors.Is(err, runtime.ErrNoHome) {
		err, left = nil, names
	}
	lines = "\n\nFiles: " + strings.Join(names, ", ")
	if len(left) > 0 {
		lines += fmt.Sprintf("\n\nNot sent along: %s. They are on the machine of the quest, below %s", strings.Join(left, ", "),
			path.Join("quests", s.q.Key, "agents", stages.Researcher))
	}
	return out, lines, err
}

// fileOf reads a file of a home, of at most so many bytes; why says why there is none. The home is
// an agent's: what it names may be a link, a pipe, or something else by the time it is opened.
func fileOf(home *os.Root, guard *computer.Guard, name string, most int64) (data []byte, why string) {
	name, err := workspace.Path(name)
	if err != nil {
		return nil, "it is no file"
	}
	f, err := home.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, "it cannot be opened"
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, "it is no file"
	}
	if guard.MayRead(home, f) != nil {
		return nil, "the quest hides it"
	}
	data, err = io.ReadAll(io.LimitReader(f, most+1))
	switch {
	case err != nil:
		return nil, "it cannot be read"
	case int64(len(data)) > most:
		return nil, fmt.Sprintf("a file has at most %d MiB, all together %d", connector.MaxFile>>20, connector.MaxFiles>>20)
	}
	return data, ""
}

// maxDelivered is how many bytes of a text are delivered.
const maxDelivered = 16 << 10

// The states of what a quest has delivered, for people.
const (
	DeliveryQueued  = "queued"  // it waits, for the first try or the next
	DeliverySent    = "sent"    // the service has it
	DeliveryDead    = "dead"    // nobody tries any more, until a person says so
	DeliveryFailed  = "failed"  // the outbox did not take it
	DeliveryUnknown = "unknown" // it is too long ago, or was not delivered from this home
)

// Delivered is what became of something that a quest said to a conversation elsewhere.
type Delivered struct {
	State string `json:"state"`
	Tries int    `json:"tries"`
	// Last is when something became of it, Next when it is tried next.
	Last event.Time `json:"last,omitzero"`
	Next event.Time `json:"next,omitzero"`
	// Error is what was wrong with the last try, in a service's words perhaps.
	Error string `json:"error,omitempty"`
	// Retry is the command that sends a dead one again.
	Retry string `json:"retry,omitempty"`
}

// DeliveredBy says what became of a delivery.call of a quest; result is its answer, nil if there is
// none yet. A ledger that came from elsewhere may name any key: the outbox is asked for those of
// this quest alone.
func DeliveredBy(ctx context.Context, r *runtime.Runtime, quest string, call *event.DeliveryCall, result *event.DeliveryResult) (Delivered, error) {
	if result != nil && result.Error != "" {
		return Delivered{State: DeliveryFailed, Error: safe(r, result.Error)}, nil
	}
	box := connector.Box{Notes: r.Ledger, Clock: r.Clock}
	d, err := box.Delivery(ctx, call.Key)
	switch {
	case err != nil:
		return Delivered{}, err
	case d == nil && result == nil:
		return Delivered{State: DeliveryQueued}, nil
	case d == nil || d.Quest != quest:
		return Delivered{State: DeliveryUnknown}, nil
	}
	out := Delivered{State: DeliverySent, Tries: d.Tries, Last: d.Last, Next: d.Next, Error: safe(r, d.Error)}
	switch d.State {
	case connector.Waiting:
		out.State = DeliveryQueued
	case connector.Dead:
		out.State, out.Retry = DeliveryDead, "lyceum connector retry "+d.Key
	}
	return out, nil
}

// maxFault is how many bytes of what a service says are shown.
const maxFault = 300

// safe is a stranger's error as people are shown it: in one line, without keys.
func safe(r *runtime.Runtime, text string) string { return plain.Brief(r.Redact(text), maxFault) }
