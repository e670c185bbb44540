package view

import (
	"cmp"
	"fmt"
	"strings"

	"lyceum/internal/event"
)

// studyWork is the words for what a study leaves: lines of work and their checkpoints.
func studyWork() dictionary {
	return dictionary{
		word("branch", func(t *Teller, e event.Event, b *event.BranchPrepared) Words {
			w := Words{By: e.Actor, Text: "begins the branch " + t.cut(b.Name), Weight: News}
			if b.Parent != "" {
				w.Notes = append(w.Notes, "from "+t.cut(b.Parent))
			}
			return w
		}),
		word("branch", func(t *Teller, e event.Event, b *event.BranchActivated) Words {
			return Words{By: e.Actor, Text: "works on the branch " + t.cut(b.Name), Weight: Detail}
		}),
		word("branch", func(t *Teller, _ event.Event, b *event.FolderCall) Words {
			return Words{Text: "the folder of " + t.cut(b.Branch) + " is put into the home"}
		}),
		word("branch", func(t *Teller, _ event.Event, b *event.FolderResult) Words {
			return came(t, "the folder is there", "the folder", b.Error)
		}),
		word("checkpoint", func(t *Teller, _ event.Event, b *event.CheckpointCall) Words {
			return Words{Text: "the branch " + t.cut(b.Branch) + " is recorded: " + t.cut(b.Message)}
		}),
		word("checkpoint", func(t *Teller, _ event.Event, b *event.CheckpointResult) Words {
			w := came(t, Several(b.Files, "file"), "nothing is recorded", b.Error)
			for _, f := range b.Refused[:min(len(b.Refused), 3)] {
				w.Notes = append(w.Notes, "refused: "+t.cut(f.Path)+", "+t.cut(f.Reason))
			}
			if len(b.Refused) > 0 {
				w.Weight = News
			}
			return w
		}),
		word("checkpoint", func(t *Teller, e event.Event, b *event.CheckpointMade) Words {
			return Words{By: e.Actor, Text: fmt.Sprintf("makes checkpoint %d of %s: %s", e.Seq, t.cut(b.Branch), t.cut(b.Message)), Weight: Detail}
		}),
		word("artifact", func(t *Teller, e event.Event, b *event.ArtifactRecorded) Words {
			w := Words{By: e.Actor, Text: fmt.Sprintf("records %s %s: %s", t.cut(cmp.Or(b.Kind, "an artifact")), t.cut(b.ID), t.cut(b.Title)), Weight: News}
			if b.Verdict != "" {
				w.Notes = append(w.Notes, t.cut(b.Verdict))
			}
			if b.Supersedes != "" {
				w.Notes = append(w.Notes, "takes the place of "+t.cut(b.Supersedes))
			}
			return w.resting(t, b.Because)
		}),
	}
}

// studyResults is the words for figures: results, campaigns and baselines.
func studyResults() dictionary {
	return dictionary{
		always(Published, word("result", func(t *Teller, e event.Event, b *event.ResultRecorded) Words {
			w := Words{By: e.Actor, Text: fmt.Sprintf("records result %s: %s", t.cut(b.ID), t.cut(b.Title)), Weight: News}
			for _, m := range b.Metrics[:min(len(b.Metrics), 3)] {
				w.Notes = append(w.Notes, strings.TrimSpace(t.cut(m.Name)+" "+t.cut(m.Value)+" "+t.cut(m.Unit)))
			}
			return w.resting(t, b.Because)
		})),
		word("result", func(t *Teller, e event.Event, b *event.CampaignCreated) Words {
			return Words{By: e.Actor, Text: because(fmt.Sprintf("asks %s of result %s", Several(int64(len(b.Slices)), "question"), t.cut(b.Result)), t.cut(b.Reason)), Weight: News}
		}),
		word("baseline", func(t *Teller, e event.Event, b *event.BaselineAccepted) Words {
			return Words{By: e.Actor, Text: because("accepts "+t.cut(b.Result)+" as the baseline", t.cut(b.Reason)), Notes: []string{"by " + t.cut(b.By)}, Weight: News}
		}),
		word("baseline", func(t *Teller, e event.Event, b *event.BaselineWaived) Words {
			return Words{By: e.Actor, Text: because("goes on without a baseline", t.cut(b.Reason)), Weight: News}
		}),
		word("baseline", func(t *Teller, e event.Event, b *event.BaselineCall) Words {
			return Words{By: e.Actor, Text: "baselines of the home: " + t.cut(b.Action) + " " + t.cut(b.Name), Weight: Detail}
		}),
		word("baseline", func(t *Teller, _ event.Event, b *event.BaselineResult) Words {
			return came(t, "the baselines of the home: done", "the baselines of the home", b.Error)
		}),
	}
}

// came is how something went that the world was asked for.
func came(t *Teller, well, what, fault string) Words {
	if fault != "" {
		return Words{Text: what + ": " + t.cut(fault), Notes: []string{"failed"}, Weight: Detail}
	}
	return Words{Text: well}
}

// resting notes what something rests on.
func (w Words) resting(t *Teller, on []string) Words {
	if len(on) > 0 {
		w.Notes = append(w.Notes, "rests on "+t.cut(strings.Join(on, ", ")))
	}
	return w
}
