package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
)

// maxInbox is more commands than any quest gets; numbers near the end of what an
// event can hold would leave no room for more.
const maxInbox = 1 << 40

// Adopt takes a quest over from elsewhere, under a name that is free here. The
// events must be a whole chain, and all blobs they name must be in Blobs
// already. The quest exists once all of it does, with the words that came along, and is known for a
// stranger's before.
// Its agents' homes are made when it first runs: until then nothing of what is in them,
// such as a git repository with commands in its settings, lies around for a person's
// programs to find.
func (r *Runtime) Adopt(ctx context.Context, name string, events []event.Event, words []ledger.Checkpoint) (*quest.State, error) {
	release, err := r.newName(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("take over quest %s: %w", name, err)
	}
	defer release()
	if len(events) == 0 {
		return nil, fmt.Errorf("take over quest %s: it has no events", name)
	}
	s, err := quest.New(events[0], r.Societies)
	if err != nil {
		return nil, fmt.Errorf("take over quest %s: %w", name, err)
	}
	for i := range events {
		if err := events[i].Follows(s.Seq, s.Hash); err != nil {
			return nil, &ledger.DamageError{Quest: name, Seq: s.Seq + 1, Err: err}
		}
		if err := s.Fold(events[i]); err != nil {
			return nil, &ledger.DamageError{Quest: name, Seq: events[i].Seq, Err: err}
		}
	}
	if s.Inbox > maxInbox {
		return nil, fmt.Errorf("take over quest %s: it claims to have taken command %d", name, s.Inbox)
	}
	for _, e := range events {
		if b, ok := e.Body.(*event.BlobRedacted); ok {
			if err := r.entomb(ctx, b.Blobs); err != nil {
				return nil, err
			}
		}
	}
	if err := r.keepImported(name, &Imported{First: events[0].Hash}); err != nil {
		return nil, err
	}
	if err := r.Ledger.Append(ctx, ledger.Batch{Quest: name, Events: events, Inbox: s.Inbox, Checkpoints: words}); err != nil {
		return nil, err
	}
	r.glance(ctx, name, s)
	return s, r.WriteFolder(ctx, name, s)
}

// Clean removes a quest's workspaces, and with data the quest itself. Nobody may
// be running it. The folder goes first: what is left after a crash is a quest
// whose homes are restored when it runs, never a folder without a quest.
func (r *Runtime) Clean(ctx context.Context, name string, data bool) error {
	claim, err := r.Ledger.Claim(ctx, name)
	if err != nil {
		return fmt.Errorf("clean quest %s: %w", name, err)
	}
	defer claim.Release()
	if _, err := r.Ledger.Head(ctx, name); err != nil {
		return fmt.Errorf("clean quest %s: %w", name, err)
	}
	if err := r.stopComputers(ctx, name, 0); err != nil {
		return fmt.Errorf("clean quest %s: %w", name, err)
	}
	dir := r.QuestDir(name)
	gone := []string{dir}
	if !data {
		gone = []string{filepath.Join(dir, "agents"), filepath.Join(dir, "computers")}
	}
	for _, d := range gone {
		if err := RemoveTree(d); err != nil {
			return fmt.Errorf("clean quest %s: %w", name, err)
		}
	}
	if err := errors.Join(r.removeCaches(name), r.unmark(ctx, name)); err != nil {
		return fmt.Errorf("clean quest %s: %w", name, err)
	}
	if !data {
		return nil
	}
	if err := r.forgetAnswers(ctx, name); err != nil {
		return fmt.Errorf("clean quest %s: %w", name, err)
	}
	if err := ReplaceFile(r.garbagePath(), nil); err != nil {
		return fmt.Errorf("clean quest %s: %w", name, err)
	}
	if err := r.dropTokens(ctx, name); err != nil {
		return fmt.Errorf("clean quest %s: %w", name, err)
	}
	// Last of all: as long as the quest is there, it is known for what it is.
	if err := r.Ledger.Remove(ctx, name); err != nil {
		return err
	}
	return errors.Join(RemoveIfThere(r.importedPath(name)), RemoveIfThere(r.originPath(name)))
}

// dropTokens forgets the tokens that are for one quest alone: they must not open another
// that gets its name later.
func (r *Runtime) dropTokens(ctx context.Context, name string) error {
	all, err := r.Ledger.Tokens(ctx)
	if err != nil {
		return err
	}
	for _, t := range all {
		if t.Scope != "quest:"+name {
			continue
		}
		if err := r.Ledger.DropToken(ctx, t.ID); err != nil && !errors.Is(err, ledger.ErrNoToken) {
			return err
		}
	}
	return nil
}

// stopComputers ends the computers that a quest has left up. Of those that belong to no
// agent nothing stays.
func (r *Runtime) stopComputers(ctx context.Context, name string, epoch int64) error {
	list, err := os.ReadDir(filepath.Join(r.QuestDir(name), "computers"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range list {
		err = errors.Join(err, computer.StopOf(ctx, epoch, r.Place(name, e.Name()), r.Computers...))
	}
	return errors.Join(err, r.clearStations(ctx, name))
}

// RemoveIfThere removes a file, or finds that there is none.
func RemoveIfThere(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// Post puts a command into a quest's inbox. One that would not fit an event once
// it has its number is refused here, where somebody can still mend it.
func (r *Runtime) Post(ctx context.Context, name string, c ledger.Command) (int64, error) {
	switch b := c.Body.(type) {
	case *event.UserMessage:
		b.Text.Text = r.Redact(b.Text.Text)
	case *event.InteractionAnswered:
		b.Text = r.Redact(b.Text)
	case *event.TaskOrder:
		b.Text = r.Redact(b.Text)
	case *event.StudyOrder:
		b.Reason = r.Redact(b.Reason)
	case *event.McpAdded:
		if r.Redact(b.Said) != b.Said {
			return 0, BadPlan("what is said of the server %s holds a secret: put it into a variable, and name that under headers", b.Name)
		}
	}
	body, err := event.EncodeBody(c.Body)
	if err == nil {
		var copied event.Body
		if copied, err = event.DecodeBody(c.Body.Type(), body); err == nil {
			_, err = event.EncodeBody(numbered(ledger.Command{ID: 1 << 53, Body: copied}))
		}
	}
	if err != nil {
		return 0, BadPlan("post to quest %s: %w", name, err)
	}
	if err := r.stays(ctx, name); err != nil {
		return 0, fmt.Errorf("say something to quest %s: %w", name, err)
	}
	return r.Ledger.Post(ctx, name, c)
}

// Answered are the open questions of a quest that have an answer in its inbox, which
// nobody has taken yet.
func (r *Runtime) Answered(ctx context.Context, name string, s *quest.State) (map[uint64]bool, error) {
	if len(s.Open()) == 0 {
		return nil, nil
	}
	return r.AnsweredSince(ctx, name, s.Inbox)
}

// AnsweredSince are the questions that answers in a quest's inbox are about, above the last command that
// it took.
func (r *Runtime) AnsweredSince(ctx context.Context, name string, inbox int64) (map[uint64]bool, error) {
	said, err := r.Ledger.Commands(ctx, name, inbox)
	if err != nil {
		return nil, err
	}
	out := map[uint64]bool{}
	for _, c := range said {
		if b, ok := c.Body.(*event.InteractionAnswered); ok {
			out[b.Interaction] = true
		}
	}
	return out, nil
}

// Modes are the modes of a quest, and the one that it will be in once it has taken what is in its
// inbox: a quest that waits for a person takes it when it goes on.
func (r *Runtime) Modes(ctx context.Context, name string, s *quest.State) (modes []quest.Mode, current string, err error) {
	modes, current = s.Modes()
	if len(modes) == 0 {
		return nil, "", nil
	}
	said, err := r.Ledger.Commands(ctx, name, s.Inbox)
	for _, c := range said {
		if id := s.ModeOf(c.Body); id != "" {
			current = id
		}
	}
	return modes, current, err
}

// Settle takes what is in a quest's inbox when nobody runs it, so that a stop or
// a message shows at once. It starts no calls. A running quest is left to its
// owner, with ledger.ErrClaimed.
func (r *Runtime) Settle(ctx context.Context, name string) (*quest.State, error) {
	claim, err := r.Ledger.Claim(ctx, name)
	if err != nil {
		return nil, err
	}
	defer claim.Release()
	s, err := r.Load(ctx, name)
	if err != nil {
		return nil, err
	}
	l := &live{owner: owner{key: name, log: r.Ledger, state: s}, rt: r}
	inputs, err := l.commands(ctx)
	if err != nil {
		return nil, err
	}
	for i, in := range inputs {
		if b, ok := in.Body.(*event.QuestResumed); ok {
			// Resumed with nobody to run it, it would call for what nobody makes.
			inputs[i].Body = &event.QuestPaused{Inbox: b.Inbox, Reason: "nobody runs it"}
		}
	}
	goesOn := s.Waiting() || s.Status == quest.Running && (s.HasMail() || r.IsMarked(ctx, name))
	if goesOn && !slices.ContainsFunc(inputs, ends) {
		// It rests already, or was left in the middle and somebody goes on with it: whoever runs
		// it takes what was said to it. A pause here would be one that nobody wanted.
		return s, nil
	}
	if s.Status == quest.Running && len(inputs) > 0 && !(s.Waiting() && ends(inputs[0])) {
		// Its owner died. Until somebody runs it, it rests.
		inputs = append([]event.Draft{l.input("core", &event.QuestPaused{Reason: "its process ended"})}, inputs...)
	}
	if _, _, err := l.step(ctx, inputs); err != nil {
		return nil, err
	}
	if err := l.dismiss(ctx, inputs); err != nil {
		return nil, err
	}
	return l.state, r.writeSummary(ctx, name, l.state)
}

// ends reports whether an order brings a quest to rest.
func ends(d event.Draft) bool {
	switch d.Body.(type) {
	case *event.QuestStopped, *event.QuestPaused:
		return true
	}
	return false
}
