package runtime

import (
	"context"
	"fmt"
	"strings"

	"lyceum/internal/executor"
	"lyceum/internal/quest"

	"github.com/go-json-experiment/json"
)

// formAsks is how often somebody is asked to fill in a form.
const formAsks = 2

// Ask implements executor.Host. A question of an executor is a call of the tool by which its
// agent asks: the same event, and counted like any other. An answer that does not fit the form is
// asked for once more, with what is wrong with it.
func (h host) Ask(ctx context.Context, q executor.Question) ([]byte, error) {
	if _, err := h.prompt(); err != nil {
		return nil, err
	}
	h.o.mu.Lock()
	tool := h.o.asks
	h.o.mu.Unlock()
	if tool == nil {
		return nil, nil
	}
	text, fields := strings.TrimSpace(q.Message), quest.FormWords(q.Fields)
	if fields != "" {
		text += "\nIt wants these, a line `name: value` for each, or JSON; or the word decline:\n" + fields
	}
	wrong := ""
	for try := range formAsks {
		asked := text
		if wrong != "" {
			asked = "The answer does not fit: " + AtMost(wrong, 500) + ".\n" + text
		}
		args, err := json.Marshal(map[string]string{tool.Question: asked})
		if err != nil {
			return nil, err
		}
		a, err := h.o.l.propose(ctx, Proposal{Agent: h.o.name, ID: fmt.Sprintf("%s-%d", q.ID, try+1), Tool: tool.Name, Args: string(args)})
		switch {
		case h.o.l.work.Err() != nil:
			return nil, context.Canceled // the next Lyceum knows the question
		case err != nil:
			return nil, err
		case a.Error:
			return nil, nil
		case len(q.Fields) == 0:
			return []byte("{}"), nil
		}
		values, bad, declined := quest.ReadForm(q.Fields, strings.TrimPrefix(a.Text, tool.Answer))
		switch {
		case declined:
			return nil, nil
		case bad == "":
			return []byte(values), nil
		}
		wrong = bad
	}
	return nil, nil
}
