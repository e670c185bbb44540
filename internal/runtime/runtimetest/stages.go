package runtimetest

import (
	"cmp"
	"fmt"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/society/stages"
	"lyceum/internal/society/stages/study"
)

// Stages is the part of a researcher whom people talk to: they say something at any time, take
// it back, want it heard now, send it to another stage; it says, asks, remembers, moves, rests
// and fails.
type Stages struct {
	books studyBooks
	// runner is the executor that the researcher is, empty if it is a model.
	runner string
	// writes says that the researcher is bent on its paper.
	writes bool
	// speaks is how many of a thousand answers are words alone.
	speaks int
}

// NewStages returns the part of one quest.
func NewStages() *Stages { return &Stages{books: newStudyBooks()} }

// Society implements Part.
func (*Stages) Society() quest.Society { return stages.Society{} }

// Rates implements Rough: people speak more often than elsewhere.
func (*Stages) Rates() Rates {
	r := Usual
	r.Person, r.Crash, r.Full, r.Unheard, r.Failed = 250, 50, 25, 25, 120
	return r
}

// Make implements Part.
func (p *Stages) Make(w *World, b *event.QuestCreated) {
	set := stages.Settings{Anchor: study.Anchors[w.IntN(len(study.Anchors))], Mode: study.Copilot, Runner: cmp.Or(p.runner, stages.Native)}
	if w.Chance(400) {
		set.Mode = study.Autonomous
	}
	if p.speaks = 350; set.Mode == study.Autonomous && w.Chance(200) {
		p.speaks = 950 // it comes to nothing
	}
	if w.Chance(500) {
		set.Routing = study.Routings[w.IntN(len(study.Routings))]
	}
	if w.Chance(200) {
		set.Ask = []string{"finish", []string{"idea", "result", "baseline", "cost"}[w.IntN(4)]}
	}
	if w.Chance(200) {
		set.Materials, set.Reports = []string{"old"}, w.Chance(700)
	}
	if w.Chance(200) {
		set.Paper = "none"
	}
	if p.writes = p.speaks < 900 && w.Chance(300); p.writes {
		set.Anchor, set.Mode, set.Paper, set.Ask = study.Write, study.Autonomous, "", nil
	}
	if w.Chance(500) {
		set.Literature = "online"
	}
	if err := quest.Record(b, set); err != nil {
		panic(err)
	}
	a := &b.Agents[0]
	a.Name, a.Window = stages.Researcher, 2000+w.Int64N(30_000)
	for _, t := range (stages.Society{}).Own() {
		a.ToolNames = append(a.ToolNames, t.Name)
	}
	if set.Paper == "" && w.Chance(800) {
		r := *a
		r.Name, r.ToolNames = stages.Reviewer, []string{"submit_review"}
		b.Agents = append(b.Agents, r)
	}
	if p.runner != "" {
		host(b, &b.Agents[0])
	}
	if !p.writes && w.Chance(300) {
		b.Limits.Turns = new(5 + w.Int64N(60))
	}
	if !p.writes && w.Chance(300) {
		b.Limits.Duration = new(1_000_000 + w.Int64N(60_000_000))
	}
}

// Rows implements Caller.
func (p *Stages) Rows() map[event.Type]Row {
	return map[event.Type]Row{
		"model.call": p.answer, "card.call": cardResult, "files.call": filesResult, "literature.call": literatureResult, "folder.call": folderResult, "checkpoint.call": checkpointResult,
		"baseline.call": baselineResult, "reproduction.call": p.reproduced, "bundle.call": bundleResult, "report.call": reportResult,
		"delivery.call": deliveryResult,
	}
}

// answer is the row of model.call: a turn that was cut short has no answer, or one that came
// just before; a sitting is some turns and a last word.
func (p *Stages) answer(w *World, call event.Event) event.Body {
	if p.books.cut == call.Seq && w.Chance(700) {
		w.Saw("turns cut")
		return &event.ModelResult{Call: call.Seq, Error: &event.ModelError{Kind: event.KindStopped, Text: "the turn was cut short"}}
	}
	r := answer(w, call).(*event.ModelResult)
	if r.Error == nil && len(r.Parts) > 1 && (!p.writes && w.Chance(p.speaks) || w.Chance(50)) {
		r.Stop, r.Parts = model.StopEnd, r.Parts[:1]
	}
	return r
}

// cardResult is the row of card.call.
func cardResult(w *World, call event.Event) event.Body {
	r := &event.CardResult{Call: call.Seq}
	switch b := call.Body.(*event.CardCall); {
	case w.Chance(100):
		r.Error = "no room"
	case b.Action == study.CardSearch || b.Action == study.CardRead:
		for range w.IntN(3) {
			r.Cards = append(r.Cards, event.HomeCard{ID: fmt.Sprint(w.IntN(9)), Kind: study.CardKinds[w.IntN(len(study.CardKinds))], Quest: "other", Title: w.Word(), Summary: w.Word()})
		}
	}
	w.Saw("cards of the home")
	return r
}

// filesResult is the row of files.call.
func filesResult(w *World, call event.Event) event.Body {
	r := &event.FilesResult{Call: call.Seq}
	if w.Chance(200) {
		r.Error = "no room"
	} else if files := call.Body.(*event.FilesCall).Files; w.Chance(500) {
		r.Texts = []event.FileText{{Of: files[0].Name, Name: files[0].Name + ".txt"}}
	}
	w.Saw("files copied")
	return r
}

// literatureResult is the row of literature.call.
func literatureResult(w *World, call event.Event) event.Body {
	r := &event.LiteratureResult{Call: call.Seq, Here: w.Word()}
	switch {
	case !call.Body.(*event.LiteratureCall).Outside:
	case w.Chance(300):
		r.Unasked = "nobody answers"
	default:
		for range w.IntN(3) {
			r.Papers = append(r.Papers, event.FoundPaper{ID: fmt.Sprintf("2401.%05d", w.IntN(9)), Title: w.Word(), Summary: w.Word()})
		}
		w.Saw("papers outside")
	}
	return r
}

// folderResult is the row of folder.call.
func folderResult(w *World, call event.Event) event.Body {
	r := &event.FolderResult{Call: call.Seq}
	if w.Chance(100) {
		r.Error = "no room"
	}
	return r
}

// checkpointResult is the row of checkpoint.call: the folder is as it was, or has changed.
func checkpointResult(w *World, call event.Event) event.Body {
	r := &event.CheckpointResult{Call: call.Seq}
	switch {
	case w.Chance(100):
		r.Error = "no room"
	case w.Chance(100):
		r.Refused = []event.Skipped{{Path: "big", Reason: "too large"}}
	default:
		r.Files, r.Size, r.Tree = 1, 10, treeOf(w, "work", w.IntN(5))
	}
	return r
}

// Call implements Part: sensible, or not.
func (p *Stages) Call(w *World, agent string) (string, any) {
	s := w.State()
	if agent == stages.Reviewer {
		return "submit_review", reviewArgs(w)
	}
	if stages.Of(s).Study.Anchor == study.Finalize && w.Chance(400) { // few come that far
		return "complete", object{"answer": w.Word()}
	}
	if p.writes && w.Chance(900) {
		return paperCall(w, stages.Of(s).Study)
	}
	if w.Chance(350) {
		return resultCall(w, stages.Of(s).Study)
	}
	card := "0123456789abcdef0123456789abcdef"
	if list := stages.Of(s).Study.Cards; len(list) > 0 && w.Chance(900) {
		card = list[w.IntN(len(list))].ID
	}
	pick := func(list []string) string {
		if w.Chance(50) {
			return "?"
		}
		return list[w.IntN(len(list))]
	}
	switch n := w.IntN(100); {
	case n < 30:
		text := w.Word()
		if w.Chance(300) {
			text = "the same"
		}
		return "interact", object{"kind": pick(study.Kinds), "text": text}
	case n < 38:
		return "interact", object{"kind": study.Request, "text": w.Word(), "about": []string{"keys", "other"}[w.IntN(2)]}
	case n < 48:
		return "move_anchor", object{"to": pick(study.Anchors), "reason": w.Word()}
	case n < 58:
		o := object{"kind": pick(study.CardKinds), "title": w.Word(), "text": w.Word()}
		if w.Chance(300) {
			o["id"] = card
		}
		return "memory_write", o
	case n < 63:
		return "memory_promote", object{"id": card}
	case n < 68:
		return "memory_global", object{"query": w.Word()}
	case n < 72:
		return "memory_search", object{"query": w.Word()}
	case n < 73:
		return "arxiv", object{"query": []string{"tides", w.Word()}[w.IntN(2)]}
	case n < 76:
		return []string{"state", "memory_list_recent"}[w.IntN(2)], object{}
	case n < 79:
		return "complete", object{"answer": w.Word()}
	case n < 87:
		return []string{Safe, Unsafe}[w.IntN(2)], object{"path": "a/x"}
	}
	if w.Chance(500) {
		return p.work(w)
	}
	own := stages.Society{}.Own()
	return own[w.IntN(len(own))].Name, object{"id": card, "name": "main", "kind": "idea", "message": w.Word(), "title": w.Word(), "text": w.Word()}
}

// work is a call that is about lines of work.
func (*Stages) work(w *World) (string, any) {
	names := []string{"main", "idea/a", "idea/b", "run/a", "paper/p"}
	switch w.IntN(3) {
	case 0:
		return "prepare_branch", object{"kind": []string{"idea", "run", "paper"}[w.IntN(3)], "id": []string{"a", "b", "p"}[w.IntN(3)]}
	case 1:
		return "activate_branch", object{"name": names[w.IntN(len(names))]}
	}
	return "checkpoint", object{"message": w.Word()}
}

// Says implements Speaker.
func (p *Stages) Says(w *World) event.Body {
	some := func() uint64 { return 1 + w.Uint64N(w.Seq()+1) }
	switch n := w.IntN(20); {
	case n >= 18:
		return &event.ConversationBound{Connector: "sim", Conversation: fmt.Sprint(w.IntN(4)), Gone: w.Chance(300), Primary: w.Chance(300)}
	case n < 11:
		m := &event.UserMessage{Text: event.Text{Text: w.Word()}, Sender: fmt.Sprint("person-", w.IntN(8)), Source: "sim"}
		if w.Chance(200) {
			m.Reply = some()
		}
		if w.Chance(300) {
			m.Conversation = fmt.Sprint(w.IntN(4)) // one that is bound, or is not
		}
		if w.Chance(100) {
			m.Text = w.Text()
		}
		if w.Chance(150) {
			return p.brief(w, m)
		}
		for range w.IntN(3) * w.IntN(2) {
			m.Attachments = append(m.Attachments, event.Attachment{Media: "application/pdf", Name: w.Word(), Ref: event.RefOf([]byte(w.Word()))})
		}
		return m
	case n < 13:
		return &event.StudyOrder{Action: event.SteerNow}
	case n < 16:
		o := &event.StudyOrder{Action: event.SteerWithdraw, Message: some()}
		if q := p.books.queue; len(q) > 0 && w.Chance(900) {
			o.Message = q[w.IntN(len(q))]
		}
		return o
	case n == 16 && w.Chance(300):
		return &event.StudyOrder{Action: event.SteerUse, What: study.Skills[w.IntN(len(study.Skills))]}
	case n == 16:
		return &event.StudyOrder{Action: event.SteerStage, What: study.Anchors[w.IntN(len(study.Anchors))], Reason: w.Word()}
	default:
		what := study.Gates[w.IntN(len(study.Gates))].Name
		if w.Chance(300) {
			what = study.Items[w.IntN(len(study.Items))]
		}
		return &event.StudyOrder{Action: event.SteerWaive, What: what, Reason: w.Word()}
	}
}

// brief makes a message a new text of the brief: of the one that is there, or of another.
func (p *Stages) brief(w *World, m *event.UserMessage) event.Body {
	m.Document, m.Reply = &event.Revision{Base: p.books.brief, Name: quest.BriefFile}, 0
	if w.Chance(300) {
		m.Document.Base = event.HashOf([]byte(w.Word()))
	}
	if m.Text.Size() == 0 { // nobody can save that
		m.Text = event.Text{Text: w.Word()}
	}
	return m
}

// Count implements Part.
func (p *Stages) Count(w *World, e event.Event) error { return p.books.count(w, e) }

// Watch implements Watcher.
func (p *Stages) Watch(w *World, s *quest.State) error { return p.books.watch(w, s) }
