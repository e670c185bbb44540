package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lyceum/internal/acp"
	"lyceum/internal/chat"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/runtime/service"
	"lyceum/internal/view"
	"lyceum/internal/vouch"

	sdk "github.com/coder/acp-go-sdk"
)

// commands are what a prompt can ask of Lyceum itself: no agent hears of it, and it costs
// nothing.
var commands = []struct {
	name, about, hint string
	do                func(t *turn, st *quest.State, args string) (string, error)
}{
	{"verify", "Check that nothing of this session's record was changed", "", (*turn).verify},
	{"evidence", "Show what each claim of the answer rests on, and whether that holds", "", (*turn).evidence},
	{"fork", "Begin another session that goes on from here", "what to say to the agents there", (*turn).fork},
	{"deliver", "Show what was changed in this folder's files, and write what you permit", "an agent, where several have changed something", (*turn).deliver},
}

// tellCommands tells the client what commands there are.
func (a *Agent) tellCommands(s *session) error {
	u := &sdk.SessionAvailableCommandsUpdate{SessionUpdate: "available_commands_update", AvailableCommands: []sdk.AvailableCommand{}}
	for _, c := range commands {
		out := sdk.AvailableCommand{Name: c.name, Description: c.about}
		if c.hint != "" {
			out.Input = &sdk.AvailableCommandInput{Unstructured: &sdk.UnstructuredCommandInput{Hint: c.hint}}
		}
		u.AvailableCommands = append(u.AvailableCommands, out)
	}
	for _, c := range chat.Commands {
		out := sdk.AvailableCommand{Name: c.Name, Description: c.About}
		if c.Hint != "" {
			out.Input = &sdk.AvailableCommandInput{Unstructured: &sdk.UnstructuredCommandInput{Hint: c.Hint}}
		}
		u.AvailableCommands = append(u.AvailableCommands, out)
	}
	return a.conn.Update(sdk.SessionNotification{SessionId: sdk.SessionId(s.id), Update: sdk.SessionUpdate{AvailableCommandsUpdate: u}})
}

// opened is the answer to a request that opens a session; what there is to do in it follows.
func (a *Agent) opened(s *session, answer any) acp.Followed {
	return acp.Followed{Result: answer, Then: func() {
		_ = a.tellCommands(s) // a client that is gone by now needs none
	}}
}

// command does what a prompt asks of Lyceum itself, and reports whether it did. Anything that
// only begins with a slash is for the agents.
func (t *turn) command(ctx context.Context, c choices, what said) (bool, error) {
	if len(what.files) > 0 || !strings.HasPrefix(what.text, "/") {
		return false, nil
	}
	name, args, _ := strings.Cut(what.text[1:], " ")
	for _, known := range commands {
		if known.name != name {
			continue
		}
		if !c.made {
			return true, t.notice("There is no quest yet: say what it is about first.")
		}
		st, err := t.agent.rt.Load(ctx, t.session.id)
		if err != nil {
			return true, err
		}
		text, err := known.do(t, st, strings.TrimSpace(args))
		if err != nil && t.ctx.Err() != nil {
			return true, t.ctx.Err()
		}
		if err != nil {
			text = fmt.Sprintf("/%s: %s", name, t.agent.rt.Redact(err.Error()))
		}
		if text == "" {
			return true, nil
		}
		return true, t.notice(plain.Text(event.Cut(text, maxShown)))
	}
	return t.order(ctx, c, what.text)
}

// order carries out a command of a conversation. What is none is for the agents, unless the quest
// is a study, which takes nothing else that begins with a slash.
func (t *turn) order(ctx context.Context, c choices, text string) (bool, error) {
	cmd, _, fault := chat.Parse(text)
	if !c.made {
		if cmd == nil {
			return false, nil
		}
		return true, t.notice("There is no quest yet: say what it is about first.")
	}
	st, err := t.agent.rt.Load(ctx, t.session.id)
	if err != nil || cmd == nil && (fault == nil || !chat.Commanded(st)) {
		return false, err
	}
	said := ""
	if fault == nil {
		said, fault = chat.Do(ctx, &listener{t}, cmd)
	}
	if fault != nil {
		said = t.agent.rt.Redact(fault.Error())
	}
	return true, t.notice(plain.Text(event.Cut(said, maxShown)))
}

// listener is the quest of a session that is given a command.
type listener struct{ turn *turn }

// Look implements chat.Quest.
func (l *listener) Look(ctx context.Context, read func(*quest.State, *view.Views) error) error {
	r := &records{rt: l.turn.agent.rt, name: l.turn.session.id}
	if _, err := r.Nodes(ctx); err != nil {
		return err
	}
	return read(r.state, r.views)
}

// Text implements chat.Quest.
func (l *listener) Text(ctx context.Context, x event.Text) (string, error) {
	return (&records{rt: l.turn.agent.rt, name: l.turn.session.id}).Text(ctx, x)
}

// Order implements chat.Quest.
func (l *listener) Order(ctx context.Context, b event.Body) (string, error) {
	number, err := l.turn.agent.post(ctx, l.turn.session.id, b)
	l.turn.session.own[number] = true
	return "Recorded.", err
}

// Resume implements chat.Quest.
func (l *listener) Resume(context.Context) (string, error) {
	return "It goes on with your next prompt.", nil
}

// notice tells the client something that no agent said and that is in no ledger.
func (t *turn) notice(text string) error {
	return t.agent.conn.Update(sdk.SessionNotification{
		SessionId: sdk.SessionId(t.session.id), Update: sdk.UpdateAgentMessageText(text), Meta: map[string]any{"lyceum": map[string]any{"notice": true}},
	})
}

func (t *turn) verify(_ *quest.State, _ string) (string, error) {
	r, err := audit.Verify(t.ctx, t.agent.rt, t.session.id, nil)
	if err != nil {
		return "", err
	}
	var lines []string
	for _, n := range r.Notes {
		lines = append(lines, "note: "+n)
	}
	if d := r.Difference; d != nil {
		lines = append(lines, fmt.Sprintf("%s differs at %s", r.Quest, d.Error()))
		for _, side := range []struct{ what, text string }{{"recorded", d.Recorded}, {"computed", d.Computed}} {
			if side.text != "" {
				lines = append(lines, side.what+": "+side.text)
			}
		}
	} else {
		lines = append(lines, audit.Lines(r)...)
		signed, err := t.signed()
		if err != nil {
			return "", err
		}
		lines = append(lines, signed...)
	}
	return strings.Join(lines, "\n"), nil
}

// signed says who signed the quest, and who else saw that.
func (t *turn) signed() ([]string, error) {
	if t.agent.opts.Believed == nil {
		return nil, nil
	}
	known, err := t.agent.opts.Believed(t.ctx)
	if err != nil {
		return nil, err
	}
	p, err := vouch.Prove(t.ctx, t.agent.rt.Ledger, t.session.id, known, nil)
	if err != nil {
		return nil, err
	}
	if len(p.Missing) > 0 {
		return []string{fmt.Sprintf("%s differs: %s", t.session.id, plain.Line(p.Words))}, nil
	}
	return []string{"  " + plain.Line(p.Words)}, nil
}

func (t *turn) evidence(st *quest.State, _ string) (string, error) {
	ev, err := service.EvidenceOf(t.ctx, t.agent.rt, st)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, c := range ev.Claims {
		fmt.Fprintf(&b, "Claim %d (%s, event %d, by %s): %s\n", c.Claim, c.Status, c.Seq, c.By, plain.Brief(c.Text, 1000))
		for _, n := range c.Sources {
			if n < 1 || n > int64(len(ev.Sources)) {
				continue
			}
			s := &ev.Sources[n-1]
			what := fmt.Sprintf("%s by %s", s.Program, s.Engine)
			if s.Kind == "paragraph" {
				what = fmt.Sprintf("%s, paragraph %d", s.Doc, s.Paragraph)
			}
			stands := "holds"
			if s.Broken != "" {
				stands = "DOES NOT HOLD: " + s.Broken
			}
			fmt.Fprintf(&b, "- [%d] %s: %s\n", n, plain.Line(what), plain.Line(stands))
		}
	}
	if len(ev.Claims) == 0 {
		b.WriteString("There are no claims yet.\n")
	}
	fmt.Fprintf(&b, "%d of %s. lyceum show %s --evidence has their texts.", len(ev.Sources)-ev.Broken, view.Several(int64(len(ev.Sources)), "source holds", "sources hold"), t.session.id)
	return b.String(), nil
}

// fork makes another session, of the same folder.
func (t *turn) fork(_ *quest.State, message string) (string, error) {
	a, s := t.agent, t.session
	if len(message) > maxMessage {
		return "", errors.New("that is too long to be said: put it into a file, and name that")
	}
	st, err := a.rt.Fork(t.ctx, s.id, runtime.ForkOptions{Message: message, Dir: s.folder})
	if err != nil {
		return "", err
	}
	// What was written of this session is what the other one finds in the folder.
	if err := errors.Join(a.noteFolder(st.Name, s.folder), a.keepBrought(st.Name, a.brought(s.id))); err != nil {
		return "", err
	}
	return fmt.Sprintf("The session %s goes on from event %d of this one: load it, or run lyceum run %s.", st.Name, st.Origin.At, st.Name), nil
}

// deliver brings what an agent changed, also what was left before.
func (t *turn) deliver(st *quest.State, agent string) (string, error) {
	return "", t.bring(st, agent, true)
}
