package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// catalogue is what the source of package event says about events.
type catalogue struct {
	events []eventType
	// shared are the types that bodies hold, sorted by name.
	shared []structure
	// sample is a line of the golden ledger.
	sample string
}

type eventType struct {
	name  string
	input bool
	body  structure
}

// noun is the part of the name before the point.
func (e eventType) noun() string { n, _, _ := strings.Cut(e.name, "."); return n }

// structure is a struct, or a type with a text form of its own.
type structure struct {
	name    string
	doc     string
	scalar  string
	members []member
}

type member struct {
	name     string
	kind     kind
	optional bool
	doc      string
}

// kind is how a member is written: an array or not, of a JSON kind or of a
// shared structure.
type kind struct {
	array bool
	plain string
	named string
}

// scalars are the types that write themselves as text. A new one must be given
// its words here, for the source does not say what the text looks like.
var scalars = map[string]string{
	"Hash": "In JSON it is a string of 64 lower-case hex digits.",
	"Time": "In JSON it is a string of the form `2026-01-31T12:00:00.000000Z`: always UTC, always six decimals.",
	"Type": "In JSON it is a string, one of the headings below.",
}

// source holds the declarations of the package's files.
type source struct {
	types map[string]*ast.TypeSpec
	docs  map[string]string
	// catalogue is the literal that lists the events.
	catalogue *ast.CompositeLit
}

func readCatalogue(folder string) (*catalogue, error) {
	src, err := readSource(folder)
	if err != nil {
		return nil, err
	}
	c := &catalogue{}
	found := map[string]bool{}
	for _, elt := range src.catalogue.Elts {
		e, err := src.event(elt)
		if err != nil {
			return nil, err
		}
		c.events = append(c.events, e)
		found[e.body.name] = true
	}
	for _, e := range c.events {
		if err := c.share(src, e.body, found); err != nil {
			return nil, err
		}
	}
	// Within a noun the catalogue's order stays: it tells a story.
	slices.SortStableFunc(c.events, func(a, b eventType) int { return strings.Compare(a.noun(), b.noun()) })
	slices.SortFunc(c.shared, func(a, b structure) int { return strings.Compare(a.name, b.name) })
	ledger, err := os.ReadFile(filepath.Join(folder, "testdata", "ledger.jsonl"))
	if err != nil {
		return nil, err
	}
	lines := bytes.Split(ledger, []byte("\n"))
	c.sample = string(lines[min(1, len(lines)-1)])
	return c, nil
}

// share adds the types that s holds, once each.
func (c *catalogue) share(src *source, s structure, found map[string]bool) error {
	for _, m := range s.members {
		if m.kind.named == "" || found[m.kind.named] {
			continue
		}
		found[m.kind.named] = true
		held, err := src.structure(m.kind.named)
		if err != nil {
			return err
		}
		c.shared = append(c.shared, held)
		if err := c.share(src, held, found); err != nil {
			return err
		}
	}
	return nil
}

func readSource(folder string) (*source, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil {
		return nil, err
	}
	src := &source{types: map[string]*ast.TypeSpec{}, docs: map[string]string{}}
	fset := token.NewFileSet()
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.GenDecl); ok {
				src.add(d)
			}
		}
	}
	if src.catalogue == nil {
		return nil, fmt.Errorf("no variable catalogue in %s", folder)
	}
	return src, nil
}

func (src *source) add(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			src.types[s.Name.Name] = s
			doc := s.Doc
			if doc == nil {
				doc = d.Doc
			}
			src.docs[s.Name.Name] = strings.TrimSpace(doc.Text())
		case *ast.ValueSpec:
			if s.Names[0].Name == "catalogue" && len(s.Values) == 1 {
				src.catalogue, _ = s.Values[0].(*ast.CompositeLit)
			}
		}
	}
}

// event reads one entry of the catalogue: "noun.verb": input[Body]().
func (src *source) event(elt ast.Expr) (eventType, error) {
	var e eventType
	pair, _ := elt.(*ast.KeyValueExpr)
	if pair == nil {
		return e, fmt.Errorf("the catalogue holds %T where an entry belongs", elt)
	}
	key, _ := pair.Key.(*ast.BasicLit)
	call, _ := pair.Value.(*ast.CallExpr)
	if key == nil || call == nil {
		return e, fmt.Errorf("the catalogue has an entry that is not \"noun.verb\": input[Body]()")
	}
	name, err := strconv.Unquote(key.Value)
	if err != nil {
		return e, fmt.Errorf("catalogue entry %s: %w", key.Value, err)
	}
	// What else is said of it, as in input[Body]().answers("noun.call"), is no part of the page.
	for {
		sel, _ := call.Fun.(*ast.SelectorExpr)
		if sel == nil {
			break
		}
		if call, _ = sel.X.(*ast.CallExpr); call == nil {
			return e, fmt.Errorf("catalogue entry %s: want input[Body]() or derived[Body]()", name)
		}
	}
	index, _ := call.Fun.(*ast.IndexExpr)
	if index == nil {
		return e, fmt.Errorf("catalogue entry %s: want input[Body]() or derived[Body]()", name)
	}
	from, _ := index.X.(*ast.Ident)
	body, _ := index.Index.(*ast.Ident)
	if from == nil || body == nil || (from.Name != "input" && from.Name != "derived") {
		return e, fmt.Errorf("catalogue entry %s: want input[Body]() or derived[Body]()", name)
	}
	e.name, e.input = name, from.Name == "input"
	e.body, err = src.structure(body.Name)
	return e, err
}

func (src *source) structure(name string) (structure, error) {
	s := structure{name: name, doc: src.docs[name], scalar: scalars[name]}
	spec := src.types[name]
	if spec == nil {
		return s, fmt.Errorf("type %s is not declared in the package", name)
	}
	if s.doc == "" {
		return s, fmt.Errorf("type %s has no comment", name)
	}
	if s.scalar != "" {
		return s, nil
	}
	st, _ := spec.Type.(*ast.StructType)
	if st == nil {
		return s, fmt.Errorf("type %s is not a struct: say in eventdoc's scalars how it is written", name)
	}
	for _, f := range st.Fields.List {
		m, err := readMember(f)
		if err != nil {
			return s, fmt.Errorf("type %s: %w", name, err)
		}
		s.members = append(s.members, m)
	}
	return s, nil
}

func readMember(f *ast.Field) (member, error) {
	if len(f.Names) != 1 || f.Tag == nil {
		return member{}, fmt.Errorf("every field needs a name and a json tag of its own")
	}
	tag, err := strconv.Unquote(f.Tag.Value)
	if err != nil {
		return member{}, err
	}
	name, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	opts := strings.Split(options, ",")
	m := member{
		name:     name,
		optional: slices.Contains(opts, "omitzero") || slices.Contains(opts, "omitempty"),
		doc:      strings.TrimSpace(f.Doc.Text() + f.Comment.Text()),
	}
	m.kind, err = readKind(f.Type)
	if err != nil {
		return m, fmt.Errorf("field %s: %w", f.Names[0].Name, err)
	}
	if slices.Contains(opts, "string") {
		m.kind.plain = "string of decimal digits"
	}
	return m, nil
}

func readKind(t ast.Expr) (kind, error) {
	switch t := t.(type) {
	case *ast.StarExpr:
		return readKind(t.X)
	case *ast.ArrayType:
		k, err := readKind(t.Elt)
		if err == nil && (k.array || t.Len != nil) {
			err = fmt.Errorf("a list of lists has no words in eventdoc")
		}
		k.array = true
		return k, err
	case *ast.Ident:
		switch t.Name {
		case "string":
			return kind{plain: "string"}, nil
		case "bool":
			return kind{plain: "boolean"}, nil
		case "int64", "uint64":
			return kind{plain: "integer"}, nil
		}
		if ast.IsExported(t.Name) {
			return kind{named: t.Name}, nil
		}
	}
	return kind{}, fmt.Errorf("a body holds no %T: use a string, boolean, int64, uint64, list or struct", t)
}
