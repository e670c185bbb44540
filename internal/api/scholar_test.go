package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

// scholar is a model of a lab's agent that goes by what it was told: it publishes, asks
// what it is to review, reviews that, and votes. agent-1 rejects what agent-2 hands in
// first, so that there is a revision.
type scholar struct{}

var ref = regexp.MustCompile(`\b[0-9a-f]{32}\b`)

func (scholar) Generate(_ context.Context, r *model.Request, emit func(model.Delta)) (*model.Answer, error) {
	if emit != nil {
		emit(model.Delta{Kind: "text", Text: "hm"})
	}
	last, name := "", ""
	for _, p := range r.Messages[len(r.Messages)-1].Parts {
		if p.Kind == model.PartToolResult {
			last, name = p.Text, p.Name
		}
	}
	switch {
	case r.Turn == 1:
		return acts(r, act{"write_file", map[string]any{"path": "work.txt", "content": "I counted <b>twice</b>."}},
			act{"submit_publication", map[string]any{"title": "Counting by " + r.Agent, "content": "# Result\n\nIt is $6/\\pi^2$ of them. <script>alert(1)</script>"}}), nil
	case name == "list_review_requests" && ref.MatchString(last):
		return acts(r, reviews(r.Agent, last)...), nil
	case name == "list_publications" && ref.MatchString(last):
		refs := ref.FindAllString(last, -1)
		return acts(r, act{"vote_solution", map[string]any{"ref": refs[len(refs)-1]}}), nil
	case r.Turn%7 == 5 && ref.MatchString(all(r)):
		rejected := regexp.MustCompile(`([0-9a-f]{32})[^\n]*REJECTED`).FindStringSubmatch(all(r))
		args := map[string]any{"title": "More by " + r.Agent, "content": "As shown in [" + ref.FindString(all(r)) + "].", "attachments": []string{"work.txt"}}
		if rejected != nil && r.Agent == "agent-2" {
			args["revises"] = rejected[1]
		}
		return acts(r, act{"submit_publication", args}), nil
	case r.Turn%3 == 0:
		return acts(r, act{"list_publications", map[string]any{"status": "PUBLISHED"}}), nil
	case r.Turn%11 == 10:
		return acts(r, act{"list_publications", map[string]any{"status": "REJECTED"}}), nil
	}
	return acts(r, act{"list_review_requests", map[string]any{}}), nil
}

func reviews(agent, text string) (out []act) {
	for line := range strings.Lines(text) {
		if m := ref.FindString(line); m != "" {
			grade := event.Accept
			if agent == "agent-1" && strings.Contains(line, "Counting by agent-2") {
				grade = event.Reject
			}
			out = append(out, act{"submit_review", map[string]any{"ref": m, "grade": grade, "confidence": 4, "checked": map[string]any{"claim": "the sum", "ran": "sum.py", "counterexample": "zero"}, "content": "I read it, and **" + grade + "**."}})
		}
	}
	return out
}

func all(r *model.Request) string {
	var b strings.Builder
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			b.WriteString(p.Text + "\n")
		}
	}
	return b.String()
}

type act struct {
	tool string
	args map[string]any
}

func acts(r *model.Request, list ...act) *model.Answer {
	a := &model.Answer{Parts: []model.Part{{Kind: "thinking", Text: "What next?"}}, Usage: event.Usage{Input: 100, Output: 10}, Stop: model.StopTools}
	for i, x := range list {
		data, err := json.Marshal(x.args)
		if err != nil {
			panic(err)
		}
		a.Parts = append(a.Parts, model.Part{Kind: "tool_call", ID: fmt.Sprintf("c%d.%d", r.Turn, i), Name: x.tool, Args: string(data)})
	}
	return a
}
