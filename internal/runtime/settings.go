package runtime

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/mcp/setting"
	"lyceum/internal/plain"
	"lyceum/internal/workspace"

	"github.com/go-json-experiment/json"
	"github.com/goccy/go-yaml"
)

// Setting is what holds for one key of a quest, and whose word that is.
type Setting struct {
	Key string `json:"key"`
	// Value is as JSON, at most maxSetting bytes of it.
	Value string `json:"value"`
	// From is one of the words below, or a profile's name behind one.
	From string `json:"from"`
}

// Where a setting comes from, the first that says something of it.
const (
	FromFlag    = "flag"
	FromRequest = "request"
	FromSession = "session/new"
	FromQuest   = "quest.yaml"
	FromConfig  = "config.yaml"
	FromProfile = "profile"
	FromDefault = "default"
)

const maxSetting = 300

// Owners are the bounds that the owner of this home has for computers, where a quest says nothing.
func (r *Runtime) Owners() workspace.Bounds {
	b := workspace.Bounds{Write: r.AllowWrite, Hide: r.DenyRead}
	if b.Hide == nil {
		b.Hide = workspace.DefaultHide
	}
	return b
}

// bound gives a computer of the quest the owner's bounds where the quest has none.
func (c *creation) bound() {
	c.spoken = c.machine
	if c.machine.AllowWrite == nil {
		c.machine.AllowWrite = c.rt.AllowWrite
	}
	if c.machine.DenyRead == nil {
		c.machine.DenyRead = c.rt.Owners().Hide
	}
}

// servers are the MCP servers of the quest: its own over those of this home, by their names. What a
// session brings along takes the place of none.
func (c *creation) servers() setting.Servers {
	if c.plan.by == FromSession {
		return c.rt.Servers.Known.Over(c.plan.Spec.MCP)
	}
	return c.plan.Spec.MCP.Over(c.rt.Servers.Known)
}

// Settings are what would hold for a quest of a plan. Nothing is made.
func (r *Runtime) Settings(ctx context.Context, p Plan) ([]Setting, error) {
	p.Say = nil
	c := newCreation(r, p)
	c.texts.dry = true
	b, err := c.created(ctx)
	if err != nil {
		return nil, err
	}
	return c.settings(b)
}

// SettingsOf are what holds for a quest, as it was recorded when it was made.
func (r *Runtime) SettingsOf(ctx context.Context, name string) (out []Setting, err error) {
	for e, err := range r.Ledger.Read(ctx, name, 1) {
		if err != nil {
			return nil, err
		}
		b, ok := e.Body.(*event.QuestCreated)
		if !ok || b.Config == nil {
			return nil, fmt.Errorf("quest %s was made by an earlier Lyceum, which did not record where its settings come from; its quest.yaml says what was asked for: lyceum show %s", name, name)
		}
		data, err := r.Blob(ctx, *b.Config)
		if err == nil {
			err = json.Unmarshal(data, &out)
		}
		if err != nil {
			return nil, fmt.Errorf("read the settings of quest %s: %w", name, err)
		}
		return out, nil
	}
	return nil, fmt.Errorf("quest %s has no first event", name)
}

// record keeps the settings with the quest.
func (c *creation) record(ctx context.Context, b *event.QuestCreated) error {
	list, err := c.settings(b)
	if err != nil {
		return err
	}
	data, err := json.Marshal(list, json.Deterministic(true))
	if err != nil {
		return err
	}
	ref, err := c.texts.put(ctx, data)
	b.Config = &ref
	return err
}

// settings are all that is said of the quest, by anybody.
func (c *creation) settings(b *event.QuestCreated) ([]Setting, error) {
	spec := *c.plan.Spec
	spec.MCP = c.servers()
	spec.Computer = c.machine
	if b.Computer != nil {
		spec.Computer.Limits = b.Computer.Limits
	}
	data, err := yaml.Marshal(&spec)
	if err != nil {
		return nil, err
	}
	holds, err := flattened(data)
	if err != nil {
		return nil, err
	}
	asked := map[string]string{}
	if c.plan.Source != nil {
		if asked, err = flattened(c.plan.Source); err != nil {
			return nil, err
		}
	}
	out := []Setting{}
	for _, key := range slices.Sorted(maps.Keys(holds)) {
		out = append(out, Setting{Key: plain.Escape(key), Value: AtMost(c.rt.Redact(holds[key]), maxSetting), From: c.from(key, asked)})
	}
	return out, nil
}

// from says whose word a key is.
func (c *creation) from(key string, asked map[string]string) string {
	by := cmp.Or(c.plan.by, FromFlag)
	top, rest, _ := strings.Cut(key, ".")
	// Who changes a computer names a driver, and perhaps an image; the rest stays.
	changed := c.plan.changed[key] || c.plan.changed[top] && (top != "computer" || rest == "driver" || rest == "dockerfile")
	_, whole := asked[top]
	_, one := asked[key]
	name, _, _ := strings.Cut(rest, ".")
	_, own := c.plan.Spec.MCP[name]
	if _, mine := c.rt.Servers.Known[name]; top == "mcp" && mine && c.plan.by == FromSession {
		own, one, whole = false, false, false
	}
	switch {
	case changed:
		return by
	case one || whole && (top != "computer" || rest == "driver") || top == "mcp" && own:
		if c.plan.file == "" {
			return by
		}
		return FromQuest
	case c.filled[top] != "":
		return FromProfile + " " + c.filled[top]
	case top == "mcp", key == "model" && c.plan.Spec.Model != "":
		return FromConfig
	case key == "computer.allow_write" && c.spoken.AllowWrite == nil, key == "computer.deny_read" && c.spoken.DenyRead == nil && c.rt.DenyRead != nil:
		return FromConfig
	case top == "computer" && c.profiled != "" && rest != "deny_read":
		return FromProfile + " " + c.profiled
	}
	return FromDefault
}

// nested are the keys whose members are settings of their own.
var nested = []string{"computer", "limits", "limits.agent", "mcp"}

// flattened are the settings of a quest.yaml that can be read, by their keys.
func flattened(data []byte) (map[string]string, error) {
	var tree map[string]any
	if err := yaml.Unmarshal(data, &tree); err != nil {
		return nil, err
	}
	out := map[string]string{}
	var put func(under string, tree map[string]any) error
	put = func(under string, tree map[string]any) error {
		for key, value := range tree {
			at := under + key
			if below, ok := value.(map[string]any); ok && slices.Contains(nested, at) {
				if err := put(at+".", below); err != nil {
					return err
				}
				continue
			}
			text, err := json.Marshal(value, json.Deterministic(true))
			if err != nil {
				return err
			}
			out[at] = string(text)
		}
		return nil
	}
	return out, put("", tree)
}
