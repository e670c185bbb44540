package api

import (
	"context"
	"encoding/json"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/runtime"
	"lyceum/internal/view"
)

// Weigh says what is known of the cost of a quest before it runs, by what the other quests of the home
// took: all but name, those that others ran left out. The command line and the form of the page both
// go by it. It writes nothing; what it had to read is noted in fresh for who wants to keep it, if that is
// not nil.
func Weigh(ctx context.Context, rt *runtime.Runtime, name, society string, models []string, fresh *[]ledger.Glance) (*view.Weighing, error) {
	past, err := pasts(ctx, rt, name, fresh)
	if err != nil {
		return nil, err
	}
	return view.Weigh(past, society, models, prices(rt)), nil
}

// prices knows what models cost.
func prices(rt *runtime.Runtime) func(model string) *event.Price {
	return func(model string) *event.Price {
		if rt.Known == nil {
			return nil
		}
		return rt.Known(model).Price
	}
}

func pasts(ctx context.Context, rt *runtime.Runtime, but string, fresh *[]ledger.Glance) (out []view.Past, err error) {
	all, err := rt.Glances(ctx, Glancer.Form)
	if err != nil {
		return nil, err
	}
	for _, kept := range all {
		name := kept.Head.Quest
		if name == but {
			continue
		}
		var g glanced
		if kept.Body == nil || json.Unmarshal(kept.Body, &g) != nil || g.Head != kept.Head {
			st, err := rt.Load(ctx, name)
			if err != nil {
				continue // what cannot be read is told when that quest is used
			}
			g = glanceOf(name, st)
			if body, err := json.Marshal(g); err == nil && fresh != nil {
				*fresh = append(*fresh, ledger.Glance{Quest: name, Hash: st.Hash, Body: body})
			}
		}
		if g.Past == nil {
			continue
		}
		if from, err := rt.Imported(ctx, name); err == nil && from == nil {
			out = append(out, *g.Past)
		}
	}
	return out, ctx.Err()
}

// estimate is what a form says of the cost of the quest that it would make.
type estimate struct {
	Known bool   `json:"known"`
	Words string `json:"words"`
}

// estimated weighs a draft that is sound; nil if it would cost nothing.
func (s *Server) estimated(ctx context.Context, d *draft, created *event.QuestCreated) (*estimate, error) {
	var models []string
	costs := false
	for _, a := range created.Agents {
		models = append(models, a.Model)
		costs = costs || view.Costly(a.Model)
	}
	if !costs {
		return nil, nil
	}
	w, err := Weigh(ctx, s.rt, "", s.society(d.plan.Spec), models, nil)
	if err != nil {
		return nil, err
	}
	w.Limit = created.Limits.Cost
	return &estimate{w.Known, w.Words()}, nil
}
