package compute

import (
	"fmt"

	"go.starlark.net/syntax"
)

// Starlark counts instructions, but one instruction may make a gigabyte, and
// some recurse as deep as a value is nested until the Go stack ends, which nobody
// can recover from. So a program is rewritten before it is compiled: what makes a
// value of any size becomes a call of a function of ours that knows its price,
// x + y becomes $+(x, y) and x.split(y) becomes $.split(x, y). No program can
// write such names.
//
// What is left out of the language keeps the rest simple, and most of it is not
// the same in Python anyway: functions within functions and recursion, sets,
// operators on bits, the formatting of strings, methods as values.

type guarding struct {
	err    error
	depth  int             // of blocks around the statement at hand
	floats map[string]bool // names of the function at hand that only ever hold floats
}

// guard rewrites a program. It refuses what is not in the language.
func guard(f *syntax.File) error {
	g := &guarding{}
	f.Stmts = g.block(f.Stmts)
	return g.err
}

func (g *guarding) refuse(pos syntax.Position, format string, args ...any) {
	if g.err == nil {
		g.err = fmt.Errorf("line %d: %s", pos.Line, fmt.Sprintf(format, args...))
	}
}

func invoke(name string, pos syntax.Position, args ...syntax.Expr) *syntax.CallExpr {
	return &syntax.CallExpr{Fn: &syntax.Ident{NamePos: pos, Name: name}, Lparen: pos, Args: args, Rparen: pos}
}

func (g *guarding) block(list []syntax.Stmt) []syntax.Stmt {
	g.depth++
	for i, s := range list {
		list[i] = g.stmt(s)
	}
	g.depth--
	return list
}

func (g *guarding) stmt(s syntax.Stmt) syntax.Stmt {
	switch s := s.(type) {
	case *syntax.ExprStmt:
		s.X = g.expr(s.X)
	case *syntax.IfStmt:
		s.Cond = g.expr(s.Cond)
		s.True, s.False = g.block(s.True), g.block(s.False)
	case *syntax.AssignStmt:
		return g.assign(s)
	case *syntax.DefStmt:
		g.function(s)
	case *syntax.ForStmt:
		g.names(s.Vars)
		s.X = g.expr(s.X)
		s.Body = g.block(s.Body)
	case *syntax.WhileStmt:
		s.Cond = g.expr(s.Cond)
		s.Body = g.block(s.Body)
	case *syntax.ReturnStmt:
		if s.Result != nil {
			s.Result = g.expr(s.Result)
		}
	case *syntax.LoadStmt:
		g.refuse(s.Load, "there is no load")
	}
	return s
}

func (g *guarding) function(s *syntax.DefStmt) {
	if g.depth > 1 {
		g.refuse(s.Def, "def %s stands inside of something; define functions at the left margin", s.Name.Name)
	}
	for _, p := range s.Params {
		switch p := p.(type) {
		case *syntax.BinaryExpr:
			p.Y = g.expr(p.Y)
		case *syntax.UnaryExpr:
			g.refuse(p.OpPos, "def %s takes * or **; name each parameter", s.Name.Name)
		}
	}
	g.floats = floatNames(s)
	s.Body = g.block(s.Body)
	g.floats = nil
}

func (g *guarding) assign(s *syntax.AssignStmt) syntax.Stmt {
	if s.Op != syntax.EQ {
		id, ok := s.LHS.(*syntax.Ident)
		if !ok {
			g.refuse(s.OpPos, "write x[i] = x[i] + y: here += and the like work on names only")
			return s
		}
		// x += y changes a list in place, which x + y would not: so a list is told from
		// the rest while the program runs.
		sum := &syntax.BinaryExpr{X: &syntax.Ident{NamePos: id.NamePos, Name: id.Name}, OpPos: s.OpPos, Op: s.Op - syntax.PLUS_EQ + syntax.PLUS, Y: s.RHS}
		s.Op, s.RHS = syntax.EQ, g.expr(sum)
		if call, ok := s.RHS.(*syntax.CallExpr); ok && sum.Op == syntax.PLUS {
			call.Fn.(*syntax.Ident).Name = "$+="
		}
		return s
	}
	s.RHS = g.expr(s.RHS)
	if x, ok := s.LHS.(*syntax.IndexExpr); ok {
		return &syntax.ExprStmt{X: invoke("$set", x.Lbrack, g.expr(x.X), g.expr(x.Y), s.RHS)}
	}
	g.names(s.LHS)
	return s
}

// names looks that nothing but names is assigned to.
func (g *guarding) names(x syntax.Expr) {
	switch x := x.(type) {
	case *syntax.Ident:
		return
	case *syntax.ParenExpr:
		g.names(x.X)
	case *syntax.TupleExpr:
		for _, e := range x.List {
			g.names(e)
		}
	default:
		g.refuse(syntax.Start(x), "only names, tuples of names, and x[i] alone can be assigned to")
	}
}

func (g *guarding) exprs(list []syntax.Expr) {
	for i, x := range list {
		list[i] = g.expr(x)
	}
}

func (g *guarding) expr(x syntax.Expr) syntax.Expr {
	switch x := x.(type) {
	case *syntax.ParenExpr:
		x.X = g.expr(x.X)
	case *syntax.CondExpr:
		x.Cond, x.True, x.False = g.expr(x.Cond), g.expr(x.True), g.expr(x.False)
	case *syntax.IndexExpr:
		x.X, x.Y = g.expr(x.X), g.expr(x.Y)
	case *syntax.DictEntry:
		x.Key, x.Value = g.expr(x.Key), g.expr(x.Value)
	case *syntax.DotExpr:
		return g.dot(x)
	case *syntax.CallExpr:
		return g.call(x)
	case *syntax.BinaryExpr:
		return g.binary(x)
	case *syntax.UnaryExpr:
		if x.Op != syntax.NOT && x.Op != syntax.MINUS && x.Op != syntax.PLUS {
			g.refuse(x.OpPos, "there is no %s here", x.Op)
			return x
		}
		x.X = g.expr(x.X)
	case *syntax.SliceExpr:
		x.X = g.expr(x.X)
		for _, part := range []*syntax.Expr{&x.Lo, &x.Hi, &x.Step} {
			if *part != nil {
				*part = g.expr(*part)
			}
		}
		return invoke("$keep", x.Lbrack, x)
	case *syntax.ListExpr:
		g.exprs(x.List)
		return invoke("$keep", x.Lbrack, x)
	case *syntax.TupleExpr:
		g.exprs(x.List)
		return invoke("$keep", syntax.Start(x), x)
	case *syntax.DictExpr:
		g.exprs(x.List)
		return invoke("$keep", x.Lbrace, x)
	case *syntax.Comprehension:
		g.comprehension(x)
	case *syntax.LambdaExpr:
		g.refuse(x.Lambda, "there is no lambda here; define a function at the left margin")
	}
	return x
}

func (g *guarding) comprehension(x *syntax.Comprehension) {
	if x.Curly {
		g.refuse(x.Lbrack, "there are comprehensions of lists only")
		return
	}
	// What it loops over may go by a name that holds floats outside.
	floats := g.floats
	g.floats = nil
	x.Body = invoke("$cell", syntax.Start(x.Body), g.expr(x.Body))
	for _, c := range x.Clauses {
		switch c := c.(type) {
		case *syntax.ForClause:
			g.names(c.Vars)
			c.X = g.expr(c.X)
		case *syntax.IfClause:
			c.Cond = g.expr(c.Cond)
		}
	}
	g.floats = floats
}

// dot is x.name that is not called: only what math has.
func (g *guarding) dot(x *syntax.DotExpr) syntax.Expr {
	if id, ok := x.X.(*syntax.Ident); ok && id.Name == "math" && mathNames[x.Name.Name] {
		return &syntax.Ident{NamePos: id.NamePos, Name: "$math." + x.Name.Name}
	}
	g.refuse(x.Dot, "there is no .%s here", x.Name.Name)
	return x
}

func (g *guarding) call(x *syntax.CallExpr) syntax.Expr {
	for i, a := range x.Args {
		switch a := a.(type) {
		case *syntax.BinaryExpr:
			if a.Op == syntax.EQ {
				a.Y = g.expr(a.Y)
				continue
			}
		case *syntax.UnaryExpr:
			if a.Op == syntax.STAR || a.Op == syntax.STARSTAR {
				g.refuse(a.OpPos, "there is no * or ** in calls; pass each argument")
				return x
			}
		}
		x.Args[i] = g.expr(a)
	}
	dot, ok := x.Fn.(*syntax.DotExpr)
	if !ok {
		x.Fn = g.expr(x.Fn)
		return x
	}
	if id, ok := dot.X.(*syntax.Ident); ok && id.Name == "math" {
		x.Fn = g.dot(dot)
		return x
	}
	if methods[dot.Name.Name] == nil {
		g.refuse(dot.Dot, "there is no .%s here", dot.Name.Name)
		return x
	}
	return invoke("$."+dot.Name.Name, dot.Dot, append([]syntax.Expr{g.expr(dot.X)}, x.Args...)...)
}

// binary leaves alone what cannot grow: sums with a float, differences, a
// comparison with a literal.
func (g *guarding) binary(x *syntax.BinaryExpr) syntax.Expr {
	float := isFloat(x.X, g.floats) || isFloat(x.Y, g.floats)
	_, left := x.X.(*syntax.Literal)
	right, literal := x.Y.(*syntax.Literal)
	x.X, x.Y = g.expr(x.X), g.expr(x.Y)
	switch x.Op {
	case syntax.AND, syntax.OR, syntax.MINUS, syntax.SLASH, syntax.SLASHSLASH:
		return x
	case syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		if left || literal || float {
			return x
		}
	case syntax.IN, syntax.NOT_IN:
		if literal {
			return x
		}
	case syntax.PLUS:
		if float || literal && isSmall(right) {
			return x
		}
	case syntax.STAR:
		if float {
			return x
		}
	case syntax.PERCENT: // on a text it would be formatting
	default:
		g.refuse(x.OpPos, "there is no %s here", x.Op)
	}
	return invoke("$"+x.Op.String(), x.OpPos, x.X, x.Y)
}

// isSmall tells a whole number that can be added a billion times over without
// harm.
func isSmall(x *syntax.Literal) bool {
	n, ok := x.Value.(int64)
	return ok && n < 1<<31
}
