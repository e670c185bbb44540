package cli

import (
	"context"
	"fmt"
	"strings"

	"lyceum/internal/quest"

	"github.com/spf13/cobra"
)

// society is how the command line shows one society. The rest of the package knows none by
// its name: register has a line for each.
type society interface {
	// describe adds to what list and show say of a quest. Texts are read only if they are
	// wanted.
	describe(ctx context.Context, a *app, q *questJSON, s *quest.State, texts bool) error
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
}

// societies are the rules this binary knows. The first are those of a quest.yaml that
// names none.
func societies() (rules []quest.Society) {
	for _, k := range register {
		rules = append(rules, k.rules)
	}
	return rules
}

// nameOf is the name of the society that has these rules.
func nameOf(rules string) string {
	name, _, _ := strings.Cut(rules, "/")
	return name
}

// societyOf is how the society of a quest is shown.
func societyOf(s *quest.State) society {
	for _, k := range register {
		if nameOf(k.rules.Rules()) == nameOf(s.Rules) {
			return k.shown
		}
	}
	return alone{}
}

// alone is an agent that answers. Other societies embed it for what they have in common.
type alone struct{}

func (alone) describe(context.Context, *app, *questJSON, *quest.State, bool) error { return nil }

func (alone) result(_ context.Context, a *app, q *questJSON, _ *quest.State) error {
	if q.Answer != nil {
		fmt.Fprintf(a.out, "Answer\n\n%s\n\n", indent(printable(*q.Answer)))
	}
	for _, ag := range q.Agents {
		if ag.Model == "" {
			continue // it works by rules alone
		}
		fmt.Fprintf(a.out, "%-10s %s, %d turns, %s\n", ag.Name, printable(ag.Model), ag.Turns, ag.Phase)
	}
	return nil
}

func (alone) ended(_ context.Context, a *app, q *questJSON, s *quest.State) error {
	if s.Status == quest.Finished && q.Answer != nil {
		fmt.Fprintf(a.out, "\n%s\n\n", printable(*q.Answer))
	}
	return nil
}

func (alone) crowded() bool                  { return false }
func (alone) noted() bool                    { return false }
func (alone) minds(*quest.State) []mindJSON  { return []mindJSON{} }
func (alone) commands(*app) []*cobra.Command { return nil }
