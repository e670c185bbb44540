package view

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/event"
)

// studies is what the views know of a researcher that people talk with.
type studies struct{ agents }

// KindMove is a step from one stage of a study to another.
const KindMove = "stage"

// words implements Society.
func (studies) words() dictionary {
	return slices.Concat(studyTalk(), studyWork(), studyResults(), studyPaper())
}

// studyTalk is the words for the conversation, the stages and the memory. It is long because
// each type of event has its entry.
func studyTalk() dictionary {
	return dictionary{
		word(KindMessage, func(t *Teller, _ event.Event, b *event.MailDelivered) Words {
			return Words{Text: fmt.Sprintf("%s hears %s", t.cut(b.To), Several(int64(len(b.Messages)), "message")), Notes: []string{"with " + t.cut(b.With)}, Weight: Detail}
		}),
		word(KindMessage, func(_ *Teller, _ event.Event, b *event.MailWithdrawn) Words {
			return Words{Text: fmt.Sprintf("message %d is taken back", b.Message), Weight: News}
		}),
		word("order", func(t *Teller, e event.Event, b *event.StudyOrder) Words {
			text := "orders: " + t.cut(b.Action)
			if b.What != "" {
				text += " " + t.cut(b.What)
			}
			if b.Message != 0 {
				text += fmt.Sprintf(" message %d", b.Message)
			}
			return Words{By: e.Actor, Text: because(text, t.cut(b.Reason)), Weight: News}
		}),
		word("order", func(t *Teller, e event.Event, b *event.ConversationBound) Words {
			how := "is bound to it"
			if b.Gone {
				how = "is bound to it no more"
			}
			return Words{By: e.Actor, Text: fmt.Sprintf("the conversation %s of %s %s", t.cut(b.Conversation), t.cut(b.Connector), how), Weight: News}
		}),
		word("delivery", func(t *Teller, _ event.Event, b *event.DeliveryCall) Words {
			return Words{Text: fmt.Sprintf("what was said at %d goes to %s by %s", b.Said, t.cut(b.Conversation), t.cut(b.Connector)), Weight: Detail}
		}),
		word("delivery", func(t *Teller, _ event.Event, b *event.DeliveryResult) Words {
			if b.Error != "" {
				return Words{Text: "the outbox: " + t.cut(b.Error), Notes: []string{"failed"}, Weight: News}
			}
			return Words{Text: "the outbox has it", Weight: Detail}
		}),
		word("sitting", func(t *Teller, e event.Event, b *event.SittingBegun) Words {
			w := Words{By: e.Actor, Text: fmt.Sprintf("begins sitting %d at %s, by the skill %s", b.Number, t.cut(b.Anchor), t.cut(b.Skill)), Weight: Detail}
			if n := len(b.Mail); n > 0 {
				w.Notes = append(w.Notes, Several(int64(n), "message"))
			}
			if len(b.Cut) > 0 {
				w.Notes = append(w.Notes, "left out: "+t.cut(strings.Join(b.Cut, ", ")))
			}
			return w
		}),
		matters(word("sitting", func(t *Teller, e event.Event, b *event.SittingEnded) Words {
			w := Words{By: e.Actor, Text: because(fmt.Sprintf("ends sitting %d, %s", b.Number, t.cut(b.Outcome)), t.cut(b.Reason)), Weight: Detail}
			if b.Outcome == event.SittingFailed {
				w.Weight = News
			}
			return w
		}), func(b *event.SittingEnded) Interest {
			if b.Outcome == event.SittingFailed {
				return Interest{What: Failed}
			}
			return Interest{}
		}),
		always(Moved, inTalk(word(KindMove, func(t *Teller, e event.Event, b *event.AnchorMoved) Words {
			w := Words{By: e.Actor, Text: because(fmt.Sprintf("goes from %s to %s", t.cut(b.From), t.cut(b.To)), t.cut(b.Reason)), Weight: News}
			return w.resting(t, b.Because)
		}), (*Talk).move)),
		inTalk(inFull(word(KindMessage, func(t *Teller, e event.Event, b *event.InteractSaid) Words {
			w := Words{By: e.Actor, Text: "says (" + t.cut(b.Kind) + "): " + t.text(b.Text), Weight: News}
			if len(b.Options) > 0 {
				w.Notes = append(w.Notes, "options: "+t.cut(strings.Join(b.Options, ", ")))
			}
			if len(b.Files) > 0 {
				w.Notes = append(w.Notes, Several(int64(len(b.Files)), "file"))
			}
			return w
		}), func(b *event.InteractSaid) (Speech, bool) { return Speech{b.Kind, b.Text, b.Files}, true }), (*Talk).said),
		word(KindMessage, func(t *Teller, e event.Event, b *event.FilesCall) Words {
			return Words{Text: fmt.Sprintf("%s of message %d are copied to %s in the home of %s", Several(int64(len(b.Files)), "file"), b.Message, t.cut(b.Folder), t.cut(e.Actor))}
		}),
		word(KindMessage, func(t *Teller, _ event.Event, b *event.FilesResult) Words {
			w := came(t, "the files are in the home", "the files are not in the home", b.Error)
			for _, x := range b.Texts {
				if x.Why != "" {
					w.Notes = append(w.Notes, "no text of "+t.cut(x.Of)+": "+t.cut(x.Why))
				}
			}
			return w
		}),
		word("literature", func(t *Teller, e event.Event, b *event.LiteratureCall) Words {
			where := "papers here"
			if b.Outside {
				where = "papers here and at arXiv"
			}
			return Words{By: e.Actor, Text: "looks for " + where + ": " + t.cut(b.Query), Weight: Detail}
		}),
		word("literature", func(t *Teller, _ event.Event, b *event.LiteratureResult) Words {
			w := came(t, Several(int64(len(b.Papers)), "paper")+" of arXiv", "papers here", b.Error)
			if b.Unasked != "" {
				w.Notes = append(w.Notes, "arXiv: "+t.cut(b.Unasked))
			}
			return w
		}),
		word("memory", func(t *Teller, e event.Event, b *event.CardWritten) Words {
			how := "writes a card"
			if b.Revision > 1 {
				how = fmt.Sprintf("writes revision %d of a card", b.Revision)
			}
			return Words{By: e.Actor, Text: fmt.Sprintf("%s of %s, %s: %s", how, t.cut(b.Kind), t.cut(b.ID), t.cut(b.Title)), Weight: Detail}
		}),
		word("memory", func(t *Teller, e event.Event, b *event.CardPromoted) Words {
			return Words{By: e.Actor, Text: fmt.Sprintf("offers card %s, revision %d, to all studies", t.cut(b.ID), b.Revision), Weight: News}
		}),
		word("memory", func(t *Teller, e event.Event, b *event.CardCall) Words {
			return Words{By: e.Actor, Text: strings.TrimSpace("asks the cards of the home: " + t.cut(b.Action) + " " + t.cut(b.ID+b.Query)), Weight: Detail}
		}),
		word("memory", func(t *Teller, _ event.Event, b *event.CardResult) Words {
			if b.Error != "" {
				return Words{Text: "the cards of the home: " + t.cut(b.Error), Notes: []string{"failed"}, Weight: Detail}
			}
			return Words{Text: "the cards of the home: " + Several(int64(len(b.Cards)), "card"), Weight: Detail}
		}),
	}
}
