package starlark

import "go.starlark.net/syntax"

// floatNames finds the names of a function that only ever hold floats, so that
// the arithmetic of them needs no guard and runs at full speed. It begins with
// all names that are assigned to in no other way than by a plain name = value,
// and strikes out those whose value may be something else, until none is left to
// strike out. What remains holds by induction over the assignments that run.
func floatNames(f *syntax.DefStmt) map[string]bool {
	c := collecting{values: map[string][]syntax.Expr{}, other: map[string]bool{}}
	for _, p := range f.Params {
		c.bound(p)
	}
	c.stmts(f.Body)
	floats := map[string]bool{}
	for name := range c.values {
		floats[name] = !c.other[name]
	}
	for again := true; again; {
		again = false
		for name, values := range c.values {
			for _, v := range values {
				if floats[name] && !isFloat(v, floats) {
					floats[name] = false
					again = true
				}
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

// collecting gathers what a function assigns to its names.
type collecting struct {
	values map[string][]syntax.Expr
	other  map[string]bool // names that get a value by other means
}

func (c *collecting) stmts(list []syntax.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *syntax.AssignStmt:
			id, ok := s.LHS.(*syntax.Ident)
			if !ok {
				c.bound(s.LHS)
				continue
			}
			value := s.RHS
			if s.Op != syntax.EQ {
				value = &syntax.BinaryExpr{X: id, Op: s.Op - syntax.PLUS_EQ + syntax.PLUS, Y: s.RHS}
			}
			c.values[id.Name] = append(c.values[id.Name], value)
		case *syntax.ForStmt:
			c.bound(s.Vars)
			c.stmts(s.Body)
		case *syntax.WhileStmt:
			c.stmts(s.Body)
		case *syntax.IfStmt:
			c.stmts(s.True)
			c.stmts(s.False)
		}
	}
}

func (c *collecting) bound(x syntax.Expr) {
	switch x := x.(type) {
	case *syntax.Ident:
		c.other[x.Name] = true
	case *syntax.ParenExpr:
		c.bound(x.X)
	case *syntax.BinaryExpr: // a parameter with a default
		c.bound(x.X)
	case *syntax.TupleExpr:
		for _, e := range x.List {
			c.bound(e)
		}
	case *syntax.ListExpr:
		for _, e := range x.List {
			c.bound(e)
		}
	}
}
