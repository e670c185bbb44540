package api_test

import (
	"context"
	"fmt"
	"sync/atomic"

	"lyceum/internal/model"
	"lyceum/internal/tool"
)

// roller is a model of a provider that names its requests. It uses a tool that ought to give the same
// each time, and never does: verify runs it again, and cannot tell.
type roller struct{}

func (roller) Generate(_ context.Context, r *model.Request, _ func(model.Delta)) (*model.Answer, error) {
	a := said("Done.")
	if r.Turn == 1 {
		a = call("roll", `{}`, 1)
	}
	a.Request = fmt.Sprintf("req_%d", r.Turn)
	return a, nil
}

// withRoll adds that tool.
func withRoll(s tool.Set) tool.Set {
	var n atomic.Int64
	all := []tool.Tool{{
		Tool: model.Tool{Name: "roll", Description: "Rolls.", Schema: `{"type":"object"}`}, Named: true, Repeatable: true, Same: true,
		Run: func(context.Context, tool.Call) (string, error) { return fmt.Sprint(n.Add(1)), nil },
	}}
	for _, name := range s.Names() {
		t, _ := s.Lookup(name)
		all = append(all, t)
	}
	set, err := tool.New(all...)
	if err != nil {
		panic(err)
	}
	return set
}

// rolled makes a quest of the two.
func (s *server) rolled(name string) {
	s.t.Helper()
	s.create(name, map[string]any{"model": "roller", "tools": []string{"roll"}})
	s.control(name, map[string]any{"action": "start"}).want(s.t, 200)
	until(s.t, s.rt, name, isType("quest.finished"))
	s.released(name)
}
