package tool

import (
	"fmt"

	"go.starlark.net/syntax"
)

// Starlark counts instructions, but one instruction may make a gigabyte or
// recurse until the Go stack ends, which no one can recover from. So before a
// program is compiled, each expression that makes a value of unbounded size is
// handed to a builtin that knows the price: x + y becomes $+(x, y), a list
// display is passed through $keep, a function begins with $enter. The names
// have a $, which no program can write.
//
// What is left: instructions that are not charged for what they make hold some
// 30 bytes each, so that the most wasteful program holds about 300 MB; and
// hashing or comparing one very long string is one step, so a program may still
// need its context to end it in time, though never to end it at all.

// guard rewrites the program. It refuses what cannot be guarded.
func guard(f *syntax.File) error {
	g := &guarding{}
	if n := len(f.Stmts); n > 0 {
		if s, ok := f.Stmts[n-1].(*syntax.ExprStmt); ok {
			s.X = invoke("$show", syntax.Start(s.X), g.expr(s.X))
			g.stmts(f.Stmts[:n-1])
			return g.err
		}
	}
	g.stmts(f.Stmts)
	return g.err
}

type guarding struct{ err error }

func (g *guarding) refuse(pos syntax.Position, format string, args ...any) {
	if g.err == nil {
		g.err = fmt.Errorf("line %d: %s", pos.Line, fmt.Sprintf(format, args...))
	}
}

func invoke(name string, pos syntax.Position, args ...syntax.Expr) *syntax.CallExpr {
	return &syntax.CallExpr{Fn: &syntax.Ident{NamePos: pos, Name: name}, Lparen: pos, Args: args, Rparen: pos}
}

func (g *guarding) stmts(list []syntax.Stmt) {
	for _, s := range list {
		g.stmt(s)
	}
}

func (g *guarding) stmt(s syntax.Stmt) {
	switch s := s.(type) {
	case *syntax.ExprStmt:
		s.X = g.expr(s.X)
	case *syntax.IfStmt:
		s.Cond = g.expr(s.Cond)
		g.stmts(s.True)
		g.stmts(s.False)
	case *syntax.AssignStmt:
		g.assign(s)
	case *syntax.DefStmt:
		g.params(s.Params)
		g.stmts(s.Body)
		s.Body = append([]syntax.Stmt{&syntax.ExprStmt{X: enter(s.Def, s.Params)}}, s.Body...)
	case *syntax.ForStmt:
		g.target(s.Vars)
		s.X = g.expr(s.X)
		g.stmts(s.Body)
	case *syntax.WhileStmt:
		s.Cond = g.expr(s.Cond)
		g.stmts(s.Body)
	case *syntax.ReturnStmt:
		if s.Result != nil {
			s.Result = g.expr(s.Result)
		}
	case *syntax.LoadStmt:
		g.refuse(s.Load, "there is no load; math and json are there already")
	}
}

// assign leaves x op= y to the interpreter, so that x is read once and before y
// is computed, but wraps y such that the operator comes back to us.
func (g *guarding) assign(s *syntax.AssignStmt) {
	y := g.expr(s.RHS)
	g.target(s.LHS)
	s.RHS = y
	if s.Op == syntax.EQ {
		return
	}
	op := s.Op - syntax.PLUS_EQ + syntax.PLUS
	switch op {
	case syntax.PERCENT, syntax.LTLT, syntax.GTGT:
		// Starlark looks at these operands before it asks whether they have an
		// operator of their own.
		id, ok := unparen(s.LHS).(*syntax.Ident)
		if !ok {
			g.refuse(s.OpPos, "%s= works on plain names only; write x[i] = x[i] %s y", op, op)
			return
		}
		s.Op = syntax.EQ
		s.RHS = invoke("$"+op.String(), s.OpPos, &syntax.Ident{NamePos: id.NamePos, Name: id.Name}, y)
	default:
		s.RHS = invoke("$operand", s.OpPos, y)
	}
}

func unparen(x syntax.Expr) syntax.Expr {
	for {
		p, ok := x.(*syntax.ParenExpr)
		if !ok {
			return x
		}
		x = p.X
	}
}

// target guards the expressions inside of what is assigned to.
func (g *guarding) target(x syntax.Expr) {
	switch x := x.(type) {
	case *syntax.ParenExpr:
		g.target(x.X)
	case *syntax.TupleExpr:
		for _, e := range x.List {
			g.target(e)
		}
	case *syntax.ListExpr:
		for _, e := range x.List {
			g.target(e)
		}
	case *syntax.IndexExpr:
		x.X, x.Y = g.expr(x.X), g.expr(x.Y)
	case *syntax.DotExpr:
		x.X = g.expr(x.X)
	}
}

// params guards the default values of parameters.
func (g *guarding) params(list []syntax.Expr) {
	for _, p := range list {
		if b, ok := p.(*syntax.BinaryExpr); ok && b.Op == syntax.EQ {
			b.Y = g.expr(b.Y)
		}
	}
}

// enter is the call that a function begins with. It checks the depth of the
// recursion and the tuple of a *args parameter.
func enter(pos syntax.Position, params []syntax.Expr) syntax.Expr {
	var args []syntax.Expr
	for _, p := range params {
		if u, ok := p.(*syntax.UnaryExpr); ok && u.Op == syntax.STAR && u.X != nil {
			id := u.X.(*syntax.Ident)
			args = append(args, &syntax.Ident{NamePos: id.NamePos, Name: id.Name})
		}
	}
	return invoke("$enter", pos, args...)
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
		x.X = g.expr(x.X)
		return invoke("$method", x.Dot, x)
	case *syntax.CallExpr:
		g.call(x)
	case *syntax.BinaryExpr:
		return g.binary(x)
	case *syntax.UnaryExpr:
		x.X = g.expr(x.X)
		if _, ok := x.X.(*syntax.Literal); x.Op != syntax.NOT && !ok {
			return invoke("$keep", x.OpPos, x)
		}
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
		x.Body = g.expr(x.Body)
		for _, c := range x.Clauses {
			switch c := c.(type) {
			case *syntax.ForClause:
				g.target(c.Vars)
				c.X = g.expr(c.X)
			case *syntax.IfClause:
				c.Cond = g.expr(c.Cond)
			}
		}
		return invoke("$keep", x.Lbrack, x)
	case *syntax.LambdaExpr:
		g.params(x.Params)
		// $enter is true, so this is the body, preceded by the check.
		x.Body = &syntax.BinaryExpr{X: enter(x.Lambda, x.Params), OpPos: x.Lambda, Op: syntax.AND, Y: g.expr(x.Body)}
		return invoke("$keep", x.Lambda, x)
	}
	return x
}

func (g *guarding) call(x *syntax.CallExpr) {
	x.Fn = g.expr(x.Fn)
	for i, a := range x.Args {
		switch a := a.(type) {
		case *syntax.BinaryExpr:
			if a.Op == syntax.EQ {
				a.Y = g.expr(a.Y)
				continue
			}
		case *syntax.UnaryExpr:
			if a.Op == syntax.STAR || a.Op == syntax.STARSTAR {
				a.X = invoke("$spread", a.OpPos, g.expr(a.X))
				continue
			}
		}
		x.Args[i] = g.expr(a)
	}
}

func (g *guarding) binary(x *syntax.BinaryExpr) syntax.Expr {
	x.X, x.Y = g.expr(x.X), g.expr(x.Y)
	switch x.Op {
	case syntax.AND, syntax.OR:
		return x
	case syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		// A comparison with a literal looks at the surface only.
		_, left := x.X.(*syntax.Literal)
		_, right := x.Y.(*syntax.Literal)
		if left || right {
			return x
		}
	}
	return invoke("$"+x.Op.String(), x.OpPos, x.X, x.Y)
}
