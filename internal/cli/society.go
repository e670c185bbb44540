package cli

import (
	"context"
	"fmt"
	"path/filepath"

	"lyceum/internal/quest"
	"lyceum/internal/tui"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

// society is how the command line shows one society. The rest of the package knows none by
// its name: shown has a line for each.
type society interface {
	// describe adds to what list and show say of a quest. Texts are read only if they are
	// wanted.
	describe(ctx context.Context, a *app, q *questJSON, s *quest.State) error
	// members adds what there is to say of each agent, in a list, too.
	members(q *questJSON, s *quest.State)
	// result says what has come of a quest so far, and of its agents; ended, what has come
	// of one that ran.
	result(ctx context.Context, a *app, q *questJSON, s *quest.State) error
	ended(ctx context.Context, a *app, q *questJSON, s *quest.State) error
	// crowded says that many agents work at once: a run opens a view, and its lines leave
	// out what single agents say.
	crowded() bool
	// noted says that an audit has notes on what nobody vouches for.
	noted() bool
	// minds are what the agents believe, want and intend.
	minds(s *quest.State) []mindJSON
	// commands are those that only such quests have a use for.
	commands(a *app) []*cobra.Command
	// flags adds those for keys that only such quests have.
	flags(f *keyFlags)
	// first changes what the first quest.yaml of a folder says under its keys, and adds files
	// that go with it.
	first(keys, files map[string]string)
}

// societyOf is how the society of a quest is shown.
func societyOf(s *quest.State) society { return named(s.Society()) }

// named is how the society of a name is shown.
func named(name string) society {
	if s := shown[name]; s != nil {
		return s
	}
	return alone{}
}

// keyFlags are flags for keys of societies.
type keyFlags struct {
	cmd    *cobra.Command
	values map[string]func() any
	// folders are the keys that name a folder.
	folders []string
}

// text adds a flag for a key that takes a text, number for one that takes a number.
func (f *keyFlags) text(key, help string) {
	v := f.cmd.Flags().String(flagOf.Replace(key), "", help)
	f.values[key] = func() any { return *v }
}

// folder adds a flag for a key that takes a folder.
func (f *keyFlags) folder(key, help string) {
	f.text(key, help)
	f.folders = append(f.folders, key)
}

func (f *keyFlags) number(key, help string) {
	v := f.cmd.Flags().Int64(flagOf.Replace(key), 0, help)
	f.values[key] = func() any { return *v }
}

// given are the keys whose flags were, with what they are to be.
func (f *keyFlags) given() quest.Keys {
	out := quest.Keys{}
	for key, value := range f.values {
		if f.cmd.Flags().Changed(flagOf.Replace(key)) {
			out[key] = value()
		}
	}
	return out
}

// elsewhere takes the absolute paths out of the keys that name folders, and returns them.
// Such a path is of this machine: the quest keeps the name of the folder.
func (f *keyFlags) elsewhere(keys quest.Keys) map[string]string {
	out := map[string]string{}
	for _, key := range f.folders {
		if path, ok := keys[key].(string); ok && filepath.IsAbs(path) {
			out[key] = filepath.Clean(path)
			keys[key] = filepath.Base(out[key])
		}
	}
	return out
}

// alone is an agent that answers. Other societies embed it for what they have in common.
type alone struct{}

func (alone) describe(context.Context, *app, *questJSON, *quest.State) error { return nil }

func (alone) members(*questJSON, *quest.State) {}

func (alone) result(_ context.Context, a *app, q *questJSON, _ *quest.State) error {
	if q.Answer != nil {
		fmt.Fprintf(a.out, "Answer\n\n%s\n\n", indent(a.typeset(*q.Answer, 2)))
	}
	for _, ag := range q.Agents {
		if ag.Model == "" {
			continue // it works by rules alone
		}
		fmt.Fprintf(a.out, "%-10s %s, %s, %s\n", ag.Name, printable(ag.Model), view.Several(ag.Turns, "turn"), ag.Phase)
	}
	return nil
}

func (alone) ended(_ context.Context, a *app, q *questJSON, s *quest.State) error {
	if s.Status == quest.Finished && q.Answer != nil {
		fmt.Fprintf(a.out, "\n%s\n\n", a.typeset(*q.Answer, 0))
	}
	return nil
}

// typeset is Markdown of an agent for a terminal, with room kept free beside it; into a file
// or a pipe it goes as it was written.
func (a *app) typeset(text string, beside int) string {
	width, look := a.paperLook(false)
	if look == tui.Plain {
		return printable(text)
	}
	return tui.Markdown(text, width-beside, look)
}

func (alone) crowded() bool                  { return false }
func (alone) noted() bool                    { return false }
func (alone) minds(*quest.State) []mindJSON  { return []mindJSON{} }
func (alone) commands(*app) []*cobra.Command { return nil }
func (alone) flags(*keyFlags)                {}
func (alone) first(_, _ map[string]string)   {}
