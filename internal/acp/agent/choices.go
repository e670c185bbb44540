package agent

import (
	"context"
	"slices"
	"strings"

	"lyceum/internal/acp"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"

	sdk "github.com/coder/acp-go-sdk"
)

// choices are what a client can choose for a session.
type choices struct {
	society, model string
	thinking       bool
	cost           quest.USD
	// mode is the one that the society works in, empty if it has none.
	mode string
	// made says that the quest is there: its society and model stand. raised says that
	// another cost was chosen since.
	made, raised bool
}

// The options' ids.
const (
	societyOption  = "society"
	modelOption    = "model"
	thinkingOption = "thinking"
	costOption     = "cost"
	modeOption     = "mode"
)

func (a *Agent) defaults() choices {
	c := choices{society: a.opts.Society, model: a.opts.Model, thinking: !a.opts.NoThinking, cost: a.opts.Cost}
	if c.society == "" {
		c.society = a.rt.Societies.Names()[0]
	}
	_, c.mode = a.rt.Societies.Modes(c.society, nil)
	return c
}

// standing are the choices of a quest that is there.
func (a *Agent) standing(st *quest.State) choices {
	society, _, _ := strings.Cut(st.Rules, "/") // its version is for replays
	c := choices{society: society, thinking: !a.opts.NoThinking, cost: a.opts.Cost, made: true, raised: true}
	if st.Limits.Cost != nil {
		c.cost, c.raised = quest.USD(*st.Limits.Cost), false
	}
	if len(st.Agents) > 0 {
		c.model = st.Agents[0].Model
	}
	return c
}

// limits are those that a run of the quest has to set.
func (c *choices) limits() (l event.Limits) {
	if c.raised {
		l.Cost = new(int64(c.cost))
	}
	return l
}

// changes are those of a quest that is to be made.
func (c *choices) changes(agents *int64) runtime.Changes {
	out := runtime.Changes{Society: &c.society, Agents: agents, Model: c.model, Limits: quest.Bounds{Share: quest.Share{Cost: &c.cost}}}
	if !c.thinking {
		out.Thinking = quest.NoThinking
	}
	return out
}

// maxValue is how many bytes a value has that a client chooses.
const maxValue = 200

func (a *Agent) choose(p *sdk.SetSessionConfigOptionRequest) (func(context.Context) (any, error), error) {
	if p.ValueId == nil {
		return nil, acp.Errorf(acp.InvalidParams, "the options here have texts for values")
	}
	s, err := a.open(p.ValueId.SessionId)
	if err != nil {
		return nil, err
	}
	if p.ValueId.ConfigId == modeOption {
		work, err := a.chooseMode(s, string(p.ValueId.Value))
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) (any, error) {
			f, err := work(ctx)
			f.Result = sdk.SetSessionConfigOptionResponse{ConfigOptions: a.show(a.chosen(s))}
			return f, err
		}, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := a.set(&s.choices, string(p.ValueId.ConfigId), string(p.ValueId.Value)); err != nil {
		return nil, err
	}
	return acp.Done(sdk.SetSessionConfigOptionResponse{ConfigOptions: a.show(s.choices)})
}

func (a *Agent) set(c *choices, option, value string) error {
	bad := func(why string) error {
		return acp.Errorf(acp.InvalidParams, "%s: %s: %s", plain.Quoted(option, 40), plain.Quoted(value, 40), why)
	}
	switch option {
	case societyOption:
		if c.made && value != c.society {
			return bad("the quest is made, and its society stands: begin a new session")
		}
		if !c.made && !slices.Contains(a.societies, value) {
			return bad("there is no such society")
		}
		if value != c.society {
			_, c.mode = a.rt.Societies.Modes(value, nil)
		}
		c.society = value
	case modelOption:
		if c.made && value != c.model {
			return bad("the quest is made, and its model stands: begin a new session, or fork it with lyceum fork")
		}
		if value == "" || len(value) > maxValue || plain.Line(value) != value {
			return bad("that names no model")
		}
		c.model = value
	case thinkingOption:
		if value != "on" && value != "off" {
			return bad("want on or off")
		}
		if c.made && value == "on" && !c.thinking {
			return bad("the quest goes on without thinking once it has begun to")
		}
		c.thinking = value == "on"
	case costOption:
		usd, err := quest.ParseUSD(value)
		if err != nil {
			return bad(err.Error())
		}
		c.raised = c.raised || usd != c.cost
		c.cost = usd
	default:
		return bad("there is no such option")
	}
	return nil
}

// show says what is chosen, and what there is to choose from. What stands has one value.
func (a *Agent) show(c choices) []sdk.SessionConfigOption {
	societies, models := a.societies, a.opts.Models
	if c.made {
		societies, models = nil, nil
	}
	thinking := "off"
	if c.thinking {
		thinking = "on"
	}
	costs := []string{"1.00", "5.00", "20.00", "100.00"}
	options := []sdk.SessionConfigOption{
		option(societyOption, "Society", "The rules that the agents work by", "", c.society, societies),
		option(modelOption, "Model", "What the agents think with", sdk.SessionConfigOptionCategoryModel, c.model, models),
		option(thinkingOption, "Thinking", "Whether models think before they answer", sdk.SessionConfigOptionCategoryThoughtLevel, thinking, []string{"on", "off"}),
		option(costOption, "Cost limit", "How many US dollars the whole session may cost", "", c.cost.String(), costs),
	}
	if modes, _ := a.rt.Societies.Modes(c.society, nil); len(modes) > 0 {
		options = append(options, modeOptionOf(modes, c.mode))
	}
	return options
}

func option(id, name, about string, category sdk.SessionConfigOptionCategory, now string, values []string) sdk.SessionConfigOption {
	if !slices.Contains(values, now) {
		values = append([]string{now}, values...)
	}
	list := sdk.SessionConfigSelectOptionsUngrouped{}
	for _, v := range values {
		label := v
		switch {
		case id == costOption:
			label = "$" + v
		case v == "":
			label = "none yet"
		}
		list = append(list, sdk.SessionConfigSelectOption{Name: label, Value: sdk.SessionConfigValueId(v)})
	}
	o := &sdk.SessionConfigOptionSelect{
		Id: sdk.SessionConfigId(id), Name: name, Description: &about, CurrentValue: sdk.SessionConfigValueId(now), Type: "select",
		Options: sdk.SessionConfigSelectOptions{Ungrouped: &list},
	}
	if category != "" {
		o.Category = &category
	}
	return sdk.SessionConfigOption{Select: o}
}
