package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime/service"
	"lyceum/internal/view"
)

// printEvidence walks from each claim to the paragraph or the output it rests on, and
// says of each whether it holds. One that does not is a failure.
func (a *app) printEvidence(ctx context.Context, name string, s *quest.State, asJSON bool) error {
	ev, err := service.EvidenceOf(ctx, a.rt, s)
	if err != nil {
		return err
	}
	if asJSON {
		if err := a.printJSON(ev); err != nil {
			return err
		}
	} else {
		a.writeEvidence(name, ev)
	}
	if ev.Broken > 0 {
		return errFailed
	}
	return nil
}

func (a *app) writeEvidence(name string, ev *service.Evidence) {
	if len(ev.Claims) == 0 {
		fmt.Fprintf(a.out, "Quest %s has no claims yet.\n", name)
	}
	shown := map[int64]bool{}
	for _, c := range ev.Claims {
		fmt.Fprintf(a.out, "Claim %d (%s, confidence %s, event %d, by %s)\n%s\n", c.Claim, printable(c.Status), view.Decimal(c.Confidence, 3), c.Seq, c.By, indent(printable(c.Text)))
		for _, number := range c.Sources {
			if number < 1 || number > int64(len(ev.Sources)) {
				continue
			}
			a.writeSource(&ev.Sources[number-1], !shown[number])
			shown[number] = true
		}
		fmt.Fprintln(a.out)
	}
	holds := view.Several(int64(len(ev.Sources)), "source holds", "sources, all hold") + ": the hashes are those of the recorded corpus, programs and outputs."
	if ev.Broken > 0 {
		holds = fmt.Sprintf("%d of %s not hold.", ev.Broken, view.Several(int64(len(ev.Sources)), "source does", "sources do"))
	}
	fmt.Fprintln(a.out, holds)
}

// writeSource shows a source, whole where it is shown for the first time.
func (a *app) writeSource(s *service.EvidencedSource, whole bool) {
	mark := "holds"
	if s.Broken != "" {
		mark = "DOES NOT HOLD: " + s.Broken
	}
	if s.Kind == "paragraph" {
		fmt.Fprintf(a.out, "  [%d] %s, paragraph %d (%s), relevance %s: %s\n", s.Source, printable(s.Doc), s.Paragraph, printable(s.Title), view.Decimal(s.Relevance/1_000_000, 3), printable(mark))
	} else {
		fmt.Fprintf(a.out, "  [%d] %s by %s: %s\n", s.Source, printable(s.Program), printable(s.Engine), printable(mark))
	}
	if !whole {
		return
	}
	for _, line := range strings.Split(strings.TrimSpace(s.Text), "\n") {
		fmt.Fprintf(a.out, "      | %s\n", printable(line))
	}
	if s.Unknown {
		fmt.Fprintf(a.out, "      This version of lyceum does not have that program: read it before you trust it.\n")
	}
	facts := []string{"event " + fmt.Sprint(s.Seq), "sha256 " + s.Hash}
	for _, f := range []struct{ name, value string }{{"command", s.Command}, {"code sha256", s.Code}, {"environment sha256", s.Environment}} {
		if f.value != "" {
			facts = append(facts, f.name+" "+f.value)
		}
	}
	fmt.Fprintf(a.out, "      %s\n", printable(strings.Join(facts, "; ")))
}

// mindJSON is what an agent believes, wants and intends.
type mindJSON struct {
	Agent      string                  `json:"agent"`
	Beliefs    []event.BeliefUpdated   `json:"beliefs"`
	Desires    []event.DesireSet       `json:"desires"`
	Intentions []event.IntentionFormed `json:"intentions"`
}

// printBeliefs shows the agents' minds as they are in a state.
func (a *app) printBeliefs(s *quest.State, asJSON bool) error {
	minds := societyOf(s).minds(s)
	if asJSON {
		return a.printJSON(minds)
	}
	if len(minds) == 0 {
		fmt.Fprintf(a.out, "No agent of quest %s has said what it believes.\n", s.Name)
	}
	for _, m := range minds {
		fmt.Fprintf(a.out, "%s at event %d\n", m.Agent, s.Seq)
		for _, b := range m.Beliefs {
			fmt.Fprintf(a.out, "  believes  %s: %s (%s)\n", printable(b.Belief), oneLine(b.Value, 100), oneLine(b.Reason, 100))
		}
		for _, d := range m.Desires {
			fmt.Fprintf(a.out, "  wants     %s (%s)\n", oneLine(d.Desire, 100), oneLine(d.Reason, 100))
		}
		for _, i := range m.Intentions {
			verb := "intends"
			if i.Dropped {
				verb = "leaves"
			}
			words := ""
			if len(i.Words) > 0 {
				words = "; words: " + strings.Join(slices.Clone(i.Words), ", ")
			}
			fmt.Fprintf(a.out, "  %-9s %s (%s%s)\n", verb, i.Intention, oneLine(i.Reason, 200), oneLine(words, 200))
		}
	}
	return nil
}
