package api

import (
	"context"
	"net/http"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/view"
)

// utterance is something that was said in a study.
type utterance struct {
	Seq  uint64     `json:"seq"`
	Time event.Time `json:"time"`
	// Kind is message and answer of people, said, question and review of agents, and news.
	Kind string `json:"kind"`
	By   string `json:"by"`
	// Label is what an agent calls its words: progress, milestone and the like.
	Label string     `json:"label,omitempty"`
	Text  string     `json:"text"`
	Ref   *event.Ref `json:"ref,omitempty"`
	// Sender and Source are who said it where, if it was not said here.
	Sender string `json:"sender,omitempty"`
	Source string `json:"source,omitempty"`
	// Reply is what it answers.
	Reply uint64 `json:"reply,omitempty"`
	// Document is what the text of a message is a new one of.
	Document string `json:"document,omitempty"`
	// Delivery is how far a message came.
	Delivery    string         `json:"delivery,omitempty"`
	Attachments []attachedFile `json:"attachments,omitempty"`
	// Files are those of an agent's home that its words are about.
	Files   []string `json:"files,omitempty"`
	Options []string `json:"options,omitempty"`
	// Review is how the review stands whose summary the text is.
	Review *view.ReviewStanding `json:"review,omitempty"`
}

// talked is a window of a conversation, and where the study stands.
type talked struct {
	Stage      string      `json:"stage"`
	Stages     []string    `json:"stages"`
	Moves      []view.Move `json:"moves"`
	Sitting    *sitting    `json:"sitting,omitempty"`
	Utterances []utterance `json:"utterances"`
	Total      int64       `json:"total"`
	Next       *int64      `json:"next,omitempty"`
	Previous   *int64      `json:"previous,omitempty"`
}

type sitting struct {
	Number   int64  `json:"number"`
	Skill    string `json:"skill"`
	UnderWay bool   `json:"under_way"`
}

// withdrawn says that nobody ever hears a message.
const withdrawn = "withdrawn"

func (s *Server) conversation(w http.ResponseWriter, r *http.Request) error {
	p := paramsOf(r)
	window(p, 0, 500, 100) // a fault is told before the quest is looked for
	b, done, err := s.opened(r, p)
	if err != nil {
		return err
	}
	all, talk := b.Conversation(), &b.Talk
	total := int64(len(all.Said))
	from, to := window(p, total, 500, 100)
	seqs := slices.Clone(all.Said[from:to])
	marks, reviews := map[uint64]string{}, map[uint64]*view.ReviewStanding{}
	for _, seq := range seqs {
		reviews[seq] = view.ReviewAt(b.state, seq)
		switch {
		case slices.Contains(all.Back, seq):
			marks[seq] = withdrawn
		case talk.Queued(seq):
			marks[seq] = queued
		default:
			marks[seq] = delivered
		}
	}
	out := talked{Stage: talk.Anchor, Stages: view.Anchors, Moves: append([]view.Move{}, talk.Moves...), Utterances: []utterance{}, Total: total}
	if talk.Sitting > 0 {
		out.Sitting = &sitting{talk.Sitting, talk.Skill, talk.Sits}
	}
	name := b.name
	done() // reading texts takes its time, and others want the book
	events, err := s.some(r.Context(), name, slices.Clone(seqs))
	if err != nil {
		return err
	}
	for _, seq := range seqs {
		u, err := s.utterance(r.Context(), events[seq], marks[seq])
		if err != nil {
			return err
		}
		u.Review = reviews[seq]
		out.Utterances = append(out.Utterances, *u)
	}
	if to < total {
		out.Next = new(to - 1)
	}
	if from > 0 {
		out.Previous = &from
	}
	return s.send(w, http.StatusOK, out)
}

// utterance is what an event says.
func (s *Server) utterance(ctx context.Context, e event.Event, mark string) (*utterance, error) {
	u := &utterance{Seq: e.Seq, Time: e.Time, Kind: "news", By: e.Actor}
	var text event.Text
	switch b := e.Body.(type) {
	case *event.QuestCreated:
		u.Kind, text = "message", b.Problem
	case *event.UserMessage:
		u.Kind, text, u.Delivery = "message", b.Text, mark
		u.Sender, u.Source, u.Reply, u.Attachments = b.Sender, b.Source, b.Reply, attachedFiles(b.Attachments)
		if b.Document != nil {
			u.Document = b.Document.Name
		}
	case *event.InteractionAnswered:
		u.Kind, text, u.Reply = "answer", event.Text{Text: b.Said()}, b.Interaction
	case *event.InteractSaid:
		u.Kind, u.Label, text, u.Files, u.Options, u.Reply = "said", b.Kind, b.Text, b.Files, b.Options, b.Thread
	case *event.InteractionOpened:
		u.Kind, text, u.Options = "question", b.Question, b.Options
	case *event.QuestFinished:
		u.Kind, u.Label, text = "said", "answer", b.Answer
	case *event.ReviewGiven:
		if b.Error == "" {
			u.Kind, text.Text = "review", b.Summary
			break
		}
		text.Text = tellShort(e)
	case *event.ModelResult:
		u.Kind = "said"
		for _, p := range b.Parts {
			if p.Kind == event.PartText && p.Text != nil {
				text = *p.Text
			}
		}
	default:
		text.Text = tellShort(e)
	}
	var err error
	u.Text, u.Ref, err = s.show(ctx, text)
	return u, err
}

// tellShort is what an event says in a line.
func tellShort(e event.Event) string { return (&view.Teller{Most: 400}).Tell(e).Text }
