package agent

import (
	"context"

	"lyceum/internal/acp"
	"lyceum/internal/plain"
	"lyceum/internal/quest"

	sdk "github.com/coder/acp-go-sdk"
)

// Modes are the society's. A client that knows config options finds them there as well, and
// only there when it chooses a society that has some.

// modes are those of a session, nil if its society has none.
func (a *Agent) modes(c choices) *sdk.SessionModeState {
	modes, _ := a.rt.Societies.Modes(c.society, nil)
	if len(modes) == 0 {
		return nil
	}
	out := &sdk.SessionModeState{CurrentModeId: sdk.SessionModeId(c.mode)}
	for _, m := range modes {
		out.AvailableModes = append(out.AvailableModes, sdk.SessionMode{Id: sdk.SessionModeId(m.ID), Name: m.Name, Description: &m.About})
	}
	return out
}

func modeOptionOf(modes []quest.Mode, now string) sdk.SessionConfigOption {
	o := option(modeOption, "Mode", "How the society works", sdk.SessionConfigOptionCategoryMode, now, nil)
	list := sdk.SessionConfigSelectOptionsUngrouped{}
	for _, m := range modes {
		list = append(list, sdk.SessionConfigSelectOption{Name: m.Name, Description: &m.About, Value: sdk.SessionConfigValueId(m.ID)})
	}
	o.Select.Options.Ungrouped = &list
	return o
}

func (a *Agent) chosen(s *session) choices {
	a.mu.Lock()
	defer a.mu.Unlock()
	return s.choices
}

func (a *Agent) setMode(p *sdk.SetSessionModeRequest) (func(context.Context) (any, error), error) {
	s, err := a.open(p.SessionId)
	if err != nil {
		return nil, err
	}
	work, err := a.chooseMode(s, string(p.ModeId))
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (any, error) {
		f, err := work(ctx)
		f.Result = sdk.SetSessionModeResponse{}
		return f, err
	}, nil
}

// chooseMode has the society of a session work in another mode: a quest that is there at once, one
// that is not made yet from its beginning. The client is told once it is recorded.
func (a *Agent) chooseMode(s *session, id string) (func(context.Context) (acp.Followed, error), error) {
	c := a.chosen(s)
	modes, _ := a.rt.Societies.Modes(c.society, nil)
	if len(modes) == 0 {
		return nil, acp.Errorf(acp.InvalidParams, "the society %s has no modes", c.society)
	}
	if err := quest.CheckMode(modes, id); err != nil {
		return nil, acp.Errorf(acp.InvalidParams, "%v", err)
	}
	return func(context.Context) (acp.Followed, error) {
		// A word that has begun to be said is said whole, whatever happens to the client.
		if err := a.setIn(a.life, s, id); err != nil {
			return acp.Followed{}, a.explain(err)
		}
		return acp.Followed{Then: func() { _ = a.tellMode(s, id) }}, nil // a client that is gone by now needs none
	}, nil
}

// setIn sets the mode of a session. A quest that is being made right now, by a prompt, has it too.
func (a *Agent) setIn(ctx context.Context, s *session, id string) error {
	a.mu.Lock()
	made, t := s.choices.made, s.turn
	if !made {
		s.choices.mode = id
	}
	a.mu.Unlock()
	if !made {
		return nil
	}
	st, err := a.rt.Load(ctx, s.id)
	if err != nil {
		return err
	}
	if _, now, err := a.rt.Modes(ctx, s.id, st); err != nil || now == id {
		return err
	}
	order := st.ModeOrder(id)
	if err := st.Accepts("person", order); err != nil {
		return acp.Errorf(acp.InvalidParams, "%s", plain.Text(a.rt.Redact(err.Error())))
	}
	if _, err := a.post(ctx, s.id, order); err != nil {
		return err
	}
	a.mu.Lock()
	s.choices.mode = id
	a.mu.Unlock()
	if t != nil {
		t.nudge()
	}
	return nil
}

// follows takes note of a mode that was set, here or elsewhere. The client has been told which.
func (a *Agent) follows(s *session, id string) error {
	a.mu.Lock()
	old := s.choices.mode
	s.choices.mode = id
	a.mu.Unlock()
	if old == id {
		return nil
	}
	return a.tellOptions(s)
}

// tellMode tells the client which mode a session is in, in both of the protocol's ways.
func (a *Agent) tellMode(s *session, id string) error {
	if err := a.conn.Update(sdk.SessionNotification{SessionId: sdk.SessionId(s.id), Update: acp.InMode(id)}); err != nil {
		return err
	}
	return a.tellOptions(s)
}

func (a *Agent) tellOptions(s *session) error {
	return a.conn.Update(sdk.SessionNotification{SessionId: sdk.SessionId(s.id), Update: sdk.SessionUpdate{ConfigOptionUpdate: &sdk.SessionConfigOptionUpdate{
		SessionUpdate: "config_option_update", ConfigOptions: a.show(a.chosen(s)),
	}}})
}
