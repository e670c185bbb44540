package analysis

import (
	"bytes"
	"errors"
	"fmt"
	"go/parser"
	"go/scanner"
	"go/token"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/js"
)

// How a script stands: in a file or an element, or in an attribute, as the body of a function.
const (
	asFile = iota
	asBody
)

// inline looks at a script in a page, as its type says.
func (l *look) inline(p *page, e *element, line int, data []byte) {
	switch kind := strings.ToLower(e.attr("type")); kind {
	case "", "module", "text/javascript", "application/javascript":
		l.script(p.path, line, data, asFile)
	case "importmap", "speculationrules":
		l.fail(p.path, line, "reference", "imports that say where their files are", "a script of the type "+kind)
	case "application/json", "application/ld+json":
		l.data(p.path, line, data)
	}
}

// handles reports whether an element has scripts in attributes.
func handles(e *element) bool {
	for name := range e.attrs {
		if handler(name) {
			return true
		}
	}
	return false
}

func handler(name string) bool { return len(name) > 2 && strings.HasPrefix(name, "on") }

// handlers looks at scripts in attributes.
func (l *look) handlers(p *page, e *element) {
	for _, name := range slices.Sorted(maps.Keys(e.attrs)) {
		if handler(name) {
			l.script(p.path, e.line, []byte(e.attrs[name]), asBody)
		}
	}
}

// script looks at a script: whether it parses, and what it imports.
func (l *look) script(path string, line int, data []byte, how int) {
	ast, why, at := parseScript(data, how)
	if why != "" {
		l.fail(path, line+max(at-1, 0), "script", "a script that parses", why)
		return
	}
	v := &imports{}
	js.Walk(v, ast)
	for _, name := range v.found {
		at := line + bytes.Count(data[:max(bytes.Index(data, []byte(name)), 0)], []byte("\n"))
		name = strings.Trim(name, "\"'`")
		if !strings.HasPrefix(name, "./") && !strings.HasPrefix(name, "../") && !strings.HasPrefix(name, "/") {
			l.fail(path, at, "reference", "an import that begins with ./", name)
			continue
		}
		l.refer(path, at, name, false, nil)
	}
	l.makes(data)
}

// parseScript parses a script. Whatever its parser makes of hostile bytes, there is an answer.
func parseScript(data []byte, how int) (ast *js.AST, why string, line int) {
	defer func() {
		if r := recover(); r != nil {
			ast, why, line = nil, "a script that the parser gave up on", 1
		}
	}()
	ast, err := js.Parse(parse.NewInputBytes(bytes.Clone(data)), js.Options{Inline: how == asBody})
	if err == nil {
		return ast, "", 0
	}
	if at, ok := errors.AsType[*parse.Error](err); ok {
		return nil, at.Message, at.Line
	}
	return nil, err.Error(), 1
}

// imports gathers what a script imports.
type imports struct{ found []string }

// Enter implements js.IVisitor.
func (v *imports) Enter(n js.INode) js.IVisitor {
	switch n := n.(type) {
	case *js.ImportStmt:
		v.add(n.Module)
	case *js.ExportStmt:
		v.add(n.Module)
	case *js.CallExpr:
		if x, ok := n.X.(*js.LiteralExpr); ok && string(x.Data) == "import" && len(n.Args.List) > 0 {
			if arg, ok := n.Args.List[0].Value.(*js.LiteralExpr); ok && arg.TokenType == js.StringToken {
				v.add(arg.Data)
			}
		}
	}
	return v
}

// Exit implements js.IVisitor.
func (v *imports) Exit(js.INode) {}

func (v *imports) add(name []byte) {
	if len(name) > 0 && len(v.found) < maxFound {
		v.found = append(v.found, string(name))
	}
}

// Words by which scripts make elements, and by which they name them.
var (
	makers = []string{"createElement", "innerHTML", "outerHTML", "insertAdjacent", ".write", "cloneNode", "importNode", "DOMParser", "attachShadow", "createContextualFragment", "setHTML", "customElements", "import"}
	namers = []string{"textContent", "innerText", "setAttribute", "nodeValue", "aria", ".value", ".title", ".append", ".prepend", ".replace"}
)

// makes notes what a script may do to a page: then the page alone does not tell what there is.
func (l *look) makes(data []byte) {
	has := func(words []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return bytes.Contains(data, []byte(w)) })
	}
	l.made = l.made || has(makers)
	l.named = l.named || l.made || has(namers)
}

// data looks at JSON.
func (l *look) data(path string, line int, data []byte) {
	var v jsontext.Value
	if err := json.Unmarshal(data, &v); err != nil {
		why := err.Error()
		if at, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
			line += bytes.Count(data[:min(int(at.ByteOffset), len(data))], []byte("\n"))
			why = at.Err.Error()
		}
		l.fail(path, line, "json", "JSON", why)
	}
}

// golang looks at a file of Go.
func (l *look) golang(path string, data []byte) {
	_, err := parser.ParseFile(token.NewFileSet(), "", data, parser.SkipObjectResolution)
	var all scanner.ErrorList
	switch {
	case err == nil:
	case errors.As(err, &all) && len(all) > 0:
		l.fail(path, all[0].Pos.Line, "syntax", "Go", all[0].Msg)
	default:
		l.fail(path, 1, "syntax", "Go", fmt.Sprint(err))
	}
}
