package server

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"
)

type searchIn struct {
	Text  string `json:"text" jsonschema:"what to look for, in whatever case"`
	Quest string `json:"quest,omitempty" jsonschema:"in this quest alone; in the 50 latest if not said"`
	Limit int    `json:"limit,omitempty" jsonschema:"how many to find, 20 if not said, at most 100"`
}

type hit struct {
	Quest string `json:"quest"`
	URI   string `json:"uri" jsonschema:"the resource that holds it"`
	Kind  string `json:"kind" jsonschema:"event or paper"`
	Type  string `json:"type,omitempty" jsonschema:"the event's type"`
	Actor string `json:"actor,omitempty"`
	Line  string `json:"line"`
}

type searchOut struct {
	Notice string `json:"notice"`
	Hits   []hit  `json:"hits"`
	More   bool   `json:"more" jsonschema:"there may be more: look in one quest, with events"`
}

// maxSearched is how many quests are looked through when none is named.
const maxSearched = 50

func (s *Server) search(ctx context.Context, _ *call, in searchIn) (*searchOut, error) {
	if strings.TrimSpace(in.Text) == "" || len(in.Text) > 200 {
		return nil, errors.New("text: say what to look for, in 1 to 200 bytes")
	}
	names := []string{in.Quest}
	out := &searchOut{Notice: notice, Hits: []hit{}}
	if in.Quest == "" {
		all, err := s.quests(ctx)
		if err != nil {
			return nil, err
		}
		names = nil
		for _, q := range all[:min(len(all), maxSearched)] {
			names = append(names, q.Name)
		}
		out.More = len(all) > maxSearched
	}
	most := bounded(in.Limit, 20, 100)
	for _, name := range names {
		more, err := s.searchOne(ctx, name, in.Text, most, out)
		if refusal, ok := errors.AsType[*refused](err); ok && in.Quest == "" && refusal.status != http.StatusForbidden {
			continue // one that is damaged, or was removed just now, does not hide the others
		} else if err != nil {
			return nil, err
		}
		out.More = out.More || more
		if len(out.Hits) >= most {
			out.More = true
			break
		}
	}
	return out, nil
}

// searchOne looks through one quest: its papers, which are few and say most, and then its events.
func (s *Server) searchOne(ctx context.Context, name, text string, most int, out *searchOut) (more bool, err error) {
	list, err := s.papers(ctx, nil, papersIn{Quest: name, Limit: 200})
	if err != nil {
		return false, err
	}
	for _, p := range list.Papers {
		if len(out.Hits) < most && strings.Contains(strings.ToLower(p.Title), strings.ToLower(text)) {
			out.Hits = append(out.Hits, hit{name, address(name, "papers", p.Ref), "paper", "", p.Author, p.Title})
		}
	}
	if len(out.Hits) == most {
		return true, nil
	}
	p, err := s.page(ctx, &eventsIn{Quest: name, Text: text, Limit: most - len(out.Hits)}, 100)
	if err != nil {
		return false, err
	}
	for _, e := range p.Events {
		out.Hits = append(out.Hits, hit{name, address(name, "events", strconv.FormatUint(e.Event.Seq, 10)), "event", e.Event.Type, e.Event.Actor, cut(e.Line, maxWord)})
	}
	return p.Next != nil, nil
}
