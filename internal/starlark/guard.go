package starlark

import (
	"fmt"
	"slices"

	"go.starlark.net/syntax"
)

// guarding rewrites one program.
type guarding struct {
	shared bool
	err    error           // the first thing that is not in the language
	depth  int             // of blocks around the statement at hand
	floats map[string]bool // names of the function at hand that only ever hold floats
}

// guard rewrites a program so that each expression that makes a value of any size
// goes through a function of ours: x + y becomes $+(x, y), a list display is
// passed through $keep. It refuses what cannot be guarded, or is not in the
// dialect. No program can write a name with a $.
func (d *Dialect) guard(f *syntax.File) error {
	g := &guarding{shared: d.Shared}
	show := func() {}
	if n := len(f.Stmts); n > 0 && !d.Shared {
		if last, ok := f.Stmts[n-1].(*syntax.ExprStmt); ok {
			start := syntax.Start(last.X)
			show = func() { last.X = invoke("$show", start, last.X) }
		}
	}
	g.block(f.Stmts)
	show()
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

func (g *guarding) block(list []syntax.Stmt) {
	g.depth++
	for i, s := range list {
		list[i] = g.stmt(s)
	}
	g.depth--
}

func (g *guarding) stmt(s syntax.Stmt) syntax.Stmt {
	switch s := s.(type) {
	case *syntax.ExprStmt:
		s.X = g.expr(s.X)
	case *syntax.IfStmt:
		s.Cond = g.expr(s.Cond)
		g.block(s.True)
		g.block(s.False)
	case *syntax.AssignStmt:
		if g.shared {
			return g.assignShared(s)
		}
		g.assign(s)
	case *syntax.DefStmt:
		g.function(s)
	case *syntax.ForStmt:
		g.target(s.Vars)
		s.X = g.expr(s.X)
		g.block(s.Body)
	case *syntax.WhileStmt:
		s.Cond = g.expr(s.Cond)
		g.block(s.Body)
	case *syntax.ReturnStmt:
		if s.Result != nil {
			s.Result = g.expr(s.Result)
		}
	case *syntax.LoadStmt:
		hint := "; math and json are there already"
		if g.shared {
			hint = ""
		}
		g.refuse(s.Load, "there is no load%s", hint)
	}
	return s
}

func (g *guarding) function(s *syntax.DefStmt) {
	if g.shared && g.depth > 1 {
		g.refuse(s.Def, "def %s stands inside of something; define functions at the left margin", s.Name.Name)
	}
	g.params(s.Name.Name, s.Params)
	if g.shared {
		g.floats = floatNames(s)
	}
	g.block(s.Body)
	g.floats = nil
	if !g.shared {
		s.Body = slices.Insert(s.Body, 0, syntax.Stmt(&syntax.ExprStmt{X: enter(s.Def, s.Params)}))
	}
}

// params guards the default values of parameters.
func (g *guarding) params(function string, list []syntax.Expr) {
	for _, p := range list {
		switch p := p.(type) {
		case *syntax.BinaryExpr:
			p.Y = g.expr(p.Y)
		case *syntax.UnaryExpr:
			if g.shared {
				g.refuse(p.OpPos, "def %s takes * or **; name each parameter", function)
			}
		}
	}
}

// enter is the call that a function begins with. It checks the depth of the
// recursion and the tuple of a *args parameter.
func enter(pos syntax.Position, params []syntax.Expr) syntax.Expr {
	var args []syntax.Expr
	for _, p := range params {
		if u, ok := p.(*syntax.UnaryExpr); ok && u.Op == syntax.STAR && u.X != nil {
			args = append(args, named(u.X.(*syntax.Ident)))
		}
	}
	return invoke("$enter", pos, args...)
}

// named is the same name once more: a node may stand in one place only.
func named(id *syntax.Ident) *syntax.Ident {
	return &syntax.Ident{NamePos: id.NamePos, Name: id.Name}
}

// assign leaves x op= y to the interpreter, so that x is read once and before y
// is computed, but wraps y such that the operator comes back to us.
func (g *guarding) assign(s *syntax.AssignStmt) {
	s.RHS = g.expr(s.RHS)
	g.target(s.LHS)
	if s.Op == syntax.EQ {
		return
	}
	switch op := s.Op - syntax.PLUS_EQ + syntax.PLUS; op {
	case syntax.PERCENT, syntax.LTLT, syntax.GTGT:
		// Starlark looks at these operands before it asks whether they have an
		// operator of their own.
		id, ok := unparen(s.LHS).(*syntax.Ident)
		if !ok {
			g.refuse(s.OpPos, "%s= works on plain names only; write x[i] = x[i] %s y", op, op)
			return
		}
		s.Op, s.RHS = syntax.EQ, invoke("$"+op.String(), s.OpPos, named(id), s.RHS)
	default:
		s.RHS = invoke("$operand", s.OpPos, s.RHS)
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

func (g *guarding) assignShared(s *syntax.AssignStmt) syntax.Stmt {
	if s.Op != syntax.EQ {
		id, ok := s.LHS.(*syntax.Ident)
		if !ok {
			g.refuse(s.OpPos, "write x[i] = x[i] + y: here += and the like work on names only")
			return s
		}
		// x += y changes a list in place, which x + y would not: so a list is told from
		// the rest while the program runs.
		sum := &syntax.BinaryExpr{X: named(id), OpPos: s.OpPos, Op: s.Op - syntax.PLUS_EQ + syntax.PLUS, Y: s.RHS}
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
	g.target(s.LHS)
	return s
}

// target guards the expressions inside of what is assigned to. The shared dialect
// has none there.
func (g *guarding) target(x syntax.Expr) {
	each := func(list []syntax.Expr) {
		for _, e := range list {
			g.target(e)
		}
	}
	switch x := x.(type) {
	case *syntax.Ident:
		return
	case *syntax.ParenExpr:
		g.target(x.X)
		return
	case *syntax.TupleExpr:
		each(x.List)
		return
	}
	if g.shared {
		g.refuse(syntax.Start(x), "only names, tuples of names, and x[i] alone can be assigned to")
		return
	}
	switch x := x.(type) {
	case *syntax.ListExpr:
		each(x.List)
	case *syntax.IndexExpr:
		x.X, x.Y = g.expr(x.X), g.expr(x.Y)
	case *syntax.DotExpr:
		x.X = g.expr(x.X)
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
		return g.unary(x)
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
		return invoke("$display", x.Lbrack, x)
	case *syntax.TupleExpr:
		g.exprs(x.List)
		return invoke("$display", syntax.Start(x), x)
	case *syntax.DictExpr:
		g.exprs(x.List)
		return invoke("$display", x.Lbrace, x)
	case *syntax.Comprehension:
		return g.comprehension(x)
	case *syntax.LambdaExpr:
		if g.shared {
			g.refuse(x.Lambda, "there is no lambda here; define a function at the left margin")
			return x
		}
		g.params("", x.Params)
		// $enter is true, so this is the body, preceded by the check.
		x.Body = &syntax.BinaryExpr{X: enter(x.Lambda, x.Params), OpPos: x.Lambda, Op: syntax.AND, Y: g.expr(x.Body)}
		return invoke("$keep", x.Lambda, x)
	}
	return x
}

// comprehension pays for each element in the shared dialect, and for the whole in
// the other.
func (g *guarding) comprehension(x *syntax.Comprehension) syntax.Expr {
	if g.shared && x.Curly {
		g.refuse(x.Lbrack, "there are comprehensions of lists only")
		return x
	}
	// What it loops over may go by a name that holds floats outside.
	floats := g.floats
	g.floats = nil
	start := syntax.Start(x.Body)
	x.Body = g.expr(x.Body)
	if g.shared {
		x.Body = invoke("$cell", start, x.Body)
	}
	for _, c := range x.Clauses {
		switch c := c.(type) {
		case *syntax.ForClause:
			g.target(c.Vars)
			c.X = g.expr(c.X)
		case *syntax.IfClause:
			c.Cond = g.expr(c.Cond)
		}
	}
	g.floats = floats
	if g.shared {
		return x
	}
	return invoke("$keep", x.Lbrack, x)
}

// dot is x.name that is not called: in the shared dialect only what math has.
func (g *guarding) dot(x *syntax.DotExpr) syntax.Expr {
	if !g.shared {
		x.X = g.expr(x.X)
		return invoke("$method", x.Dot, x)
	}
	if isMath(x.X) && inMath(x.Name.Name) {
		return &syntax.Ident{NamePos: syntax.Start(x.X), Name: "$math." + x.Name.Name}
	}
	g.refuse(x.Dot, "there is no .%s here", x.Name.Name)
	return x
}

// call makes x.split(y) a call of $.split(x, y) in the shared dialect, which has no
// methods as values.
func (g *guarding) call(x *syntax.CallExpr) syntax.Expr {
	for i, a := range x.Args {
		switch a := a.(type) {
		case *syntax.BinaryExpr:
			if a.Op == syntax.EQ {
				a.Y = g.expr(a.Y)
				continue
			}
		case *syntax.UnaryExpr:
			if a.Op != syntax.STAR && a.Op != syntax.STARSTAR {
				break
			}
			if g.shared {
				g.refuse(a.OpPos, "there is no * or ** in calls; pass each argument")
				return x
			}
			a.X = invoke("$spread", a.OpPos, g.expr(a.X))
			continue
		}
		x.Args[i] = g.expr(a)
	}
	dot, ok := x.Fn.(*syntax.DotExpr)
	if !g.shared || !ok || isMath(dot.X) {
		x.Fn = g.expr(x.Fn)
		return x
	}
	if _, ok := methods[dot.Name.Name]; !ok {
		g.refuse(dot.Dot, "there is no .%s here", dot.Name.Name)
		return x
	}
	return invoke("$."+dot.Name.Name, dot.Dot, slices.Insert(x.Args, 0, g.expr(dot.X))...)
}

func isMath(x syntax.Expr) bool {
	id, ok := x.(*syntax.Ident)
	return ok && id.Name == "math"
}

func (g *guarding) unary(x *syntax.UnaryExpr) syntax.Expr {
	if g.shared && x.Op != syntax.NOT && x.Op != syntax.MINUS && x.Op != syntax.PLUS {
		g.refuse(x.OpPos, "there is no %s here", x.Op)
		return x
	}
	x.X = g.expr(x.X)
	if _, literal := x.X.(*syntax.Literal); g.shared || literal || x.Op == syntax.NOT {
		return x
	}
	return invoke("$keep", x.OpPos, x)
}

// binary leaves alone what cannot grow.
func (g *guarding) binary(x *syntax.BinaryExpr) syntax.Expr {
	float := g.shared && (isFloat(x.X, g.floats) || isFloat(x.Y, g.floats))
	_, left := x.X.(*syntax.Literal)
	right, literal := x.Y.(*syntax.Literal)
	x.X, x.Y = g.expr(x.X), g.expr(x.Y)
	switch x.Op {
	case syntax.AND, syntax.OR:
		return x
	case syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		// A comparison with a literal looks at the surface only.
		if left || literal || float {
			return x
		}
	default:
		if g.shared && g.harmless(x, float, right) {
			return x
		}
	}
	return invoke("$"+x.Op.String(), x.OpPos, x.X, x.Y)
}

// harmless tells what the shared dialect leaves to the interpreter, for speed. It
// refuses the operators that the dialect does not have.
func (g *guarding) harmless(x *syntax.BinaryExpr, float bool, right *syntax.Literal) bool {
	switch x.Op {
	case syntax.SLASH, syntax.SLASHSLASH:
		return true
	case syntax.IN, syntax.NOT_IN:
		return right != nil
	case syntax.PLUS, syntax.MINUS:
		return float || right != nil && isSmall(right)
	case syntax.STAR:
		return float
	case syntax.PERCENT: // on a text it would be formatting
		return false
	}
	g.refuse(x.OpPos, "there is no %s here", x.Op)
	return false
}

// isSmall tells a whole number that can be added a billion times over without
// harm.
func isSmall(x *syntax.Literal) bool {
	n, ok := x.Value.(int64)
	return ok && n < 1<<31
}
