package starlark

import (
	"slices"

	"go.starlark.net/syntax"
)

// floatNames finds the names of a function that only ever hold floats, so that
// the arithmetic of them needs no guard and runs at full speed. It begins with
// all names that are assigned to in no other way than by a plain name = value,
// and strikes out those whose value may be something else, until none is left to
// strike out. What remains holds by induction over the assignments that run.
func floatNames(f *syntax.DefStmt) map[string]bool {
	values, floats := map[string][]syntax.Expr{}, map[string]bool{}
	other := map[string]bool{} // names that get a value by other means
	bound := func(target syntax.Node) {
		syntax.Walk(target, func(n syntax.Node) bool {
			switch n := n.(type) {
			case *syntax.Ident:
				other[n.Name] = true
			case *syntax.ParenExpr, *syntax.TupleExpr, *syntax.ListExpr:
				return true
			}
			return false
		})
	}
	for _, p := range f.Params {
		if withDefault, ok := p.(*syntax.BinaryExpr); ok {
			p = withDefault.X
		}
		bound(p)
	}
	syntax.Walk(f, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.AssignStmt:
			id, ok := n.LHS.(*syntax.Ident)
			if !ok {
				bound(n.LHS)
			} else if n.Op == syntax.EQ {
				values[id.Name] = append(values[id.Name], n.RHS)
			} else {
				values[id.Name] = append(values[id.Name], &syntax.BinaryExpr{X: id, Op: n.Op - syntax.PLUS_EQ + syntax.PLUS, Y: n.RHS})
			}
		case *syntax.ForStmt:
			bound(n.Vars)
		}
		return true
	})
	for name := range values {
		floats[name] = !other[name]
	}
	for again := true; again; {
		again = false
		for name, list := range values {
			if floats[name] && slices.ContainsFunc(list, func(v syntax.Expr) bool { return !isFloat(v, floats) }) {
				floats[name], again = false, true
			}
		}
	}
	return floats
}

// isFloat tells whether x is a float whenever it is anything at all.
func isFloat(x syntax.Expr, floats map[string]bool) bool {
	switch x := x.(type) {
	case *syntax.Literal:
		return x.Token == syntax.FLOAT
	case *syntax.Ident:
		return floats[x.Name]
	case *syntax.ParenExpr:
		return isFloat(x.X, floats)
	case *syntax.UnaryExpr:
		return x.Op == syntax.MINUS && isFloat(x.X, floats)
	case *syntax.CondExpr:
		return isFloat(x.True, floats) && isFloat(x.False, floats)
	case *syntax.BinaryExpr:
		switch x.Op {
		case syntax.SLASH:
			return true
		case syntax.PLUS, syntax.MINUS, syntax.STAR:
			return isFloat(x.X, floats) || isFloat(x.Y, floats)
		}
	}
	return false
}
