package tool

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"lyceum/internal/computer"
	"lyceum/internal/model"
	"lyceum/internal/plain"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// maxArgs bounds the arguments of a call: a file of the largest size, with
// every byte escaped.
const maxArgs = 8 << 20

// Registry holds tools by name. It does not change once it is made.
type Registry struct {
	entries map[string]entry
	names   []string
}

type entry struct {
	tool Tool
	// form is what arguments are checked by.
	form func() form
}

// form is a schema, made ready.
type form struct {
	schema *jsonschema.Resolved
	plan   *model.SchemaPlan
	simple simple
}

// New returns a registry of tools whose names differ and whose schemas compile.
func New(tools ...Tool) (*Registry, error) {
	r := &Registry{entries: make(map[string]entry, len(tools))}
	for _, t := range tools {
		f, err := compile(t)
		if err != nil {
			return nil, fmt.Errorf("tool %q: %w", t.Name, err)
		}
		if _, ok := r.entries[t.Name]; ok {
			return nil, fmt.Errorf("tool %q: there are two of that name", t.Name)
		}
		r.add(t, func() form { return f })
	}
	slices.Sort(r.names)
	return r, nil
}

func (r *Registry) add(t Tool, f func() form) {
	r.entries[t.Name] = entry{t, f}
	r.names = append(r.names, t.Name)
}

// Builtin returns the tools that Lyceum brings, those for computers included. A schema is made
// ready when its tool is first called: they are ours, and a test knows that they compile.
func Builtin() *Registry {
	r := &Registry{entries: map[string]entry{}}
	for _, t := range builtin() {
		r.add(t, sync.OnceValue(func() form {
			f, err := compile(t)
			if err != nil {
				panic(err)
			}
			return f
		}))
	}
	slices.Sort(r.names)
	return r
}

func builtin() []Tool {
	var writing sync.Mutex // those that write use the same temporary names
	return []Tool{
		Calculator(),
		ReadFile(), WriteFile(&writing), EditFile(&writing), EditFiles(&writing), MoveFile(&writing), DeleteFile(&writing), ListFiles(), Glob(), Grep(),
		Exec(), Start(), Processes(), ReadOutput(), WriteInput(), Kill(), Await(), OpenShell(),
	}
}

// validName is what every provider accepts.
var validName = plain.Form{First: "a-zA-Z0-9_-", Rest: "a-zA-Z0-9_-", Most: 64}

func compile(t Tool) (form, error) {
	switch {
	case !validName.MatchString(t.Name):
		return form{}, errors.New("a name has 1 to 64 letters, digits, _ or -")
	case t.Description == "":
		return form{}, errors.New("it has no description")
	case t.functions() == 0:
		return form{}, errors.New("it has no function to run")
	case t.functions() > 1:
		return form{}, errors.New("it has two functions to run")
	}
	var s jsonschema.Schema
	if err := json.Unmarshal([]byte(t.Schema), &s); err != nil {
		return form{}, fmt.Errorf("schema: %w", err)
	}
	if s.Type != "object" {
		return form{}, errors.New(`schema: its type must be "object"`)
	}
	// The library follows references for ever.
	plan, err := model.PlanSchema(t.Schema)
	if err != nil {
		return form{}, fmt.Errorf("schema: %w", err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return form{}, fmt.Errorf("schema: %w", err)
	}
	return form{resolved, plan, simpleOf(resolved.Schema())}, nil
}

// Lookup returns the tool of that name.
func (r *Registry) Lookup(name string) (Tool, bool) {
	e, ok := r.entries[name]
	return e.tool, ok
}

// Names returns the names of all tools, sorted.
func (r *Registry) Names() []string { return slices.Clone(r.names) }

// Run does a call of the named tool, and returns what it says.
func (r *Registry) Run(ctx context.Context, name string, c Call) Output {
	return r.Do(ctx, name, c).Output
}

// Do does a call of the named tool, whatever its arguments are.
func (r *Registry) Do(ctx context.Context, name string, c Call) Result {
	var out Result
	text, err := r.try(ctx, name, c, &out)
	if err != nil {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += describe(err)
	}
	// The ledger takes valid text only.
	out.Output, out.Cause = Output{Text: strings.ToValidUTF8(text, "\uFFFD"), Error: err != nil}, err
	return out
}

func describe(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "error: it took longer than allowed and was stopped"
	case errors.Is(err, context.Canceled):
		return "error: the call was cancelled"
	}
	return "error: " + err.Error()
}

// try does a call, and puts what comes of it besides its text into out.
func (r *Registry) try(ctx context.Context, name string, c Call, out *Result) (text string, err error) {
	e, ok := r.entries[name]
	if !ok {
		return "", unknown(name, r.names)
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if e.tool.Computer {
		if err := ready(name, c); err != nil {
			return "", err
		}
	}
	c.Args, err = e.arguments(c.Args)
	if err != nil {
		return "", fmt.Errorf("%w\nArguments of %s: %s", err, name, signature(e.form().schema.Schema()))
	}
	defer func() {
		if p := recover(); p != nil {
			*out, text, err = Result{}, "", fmt.Errorf("the tool %s broke down (%.200s); this is a fault of the tool, not of your call", name, fmt.Sprint(p))
		}
	}()
	switch {
	case e.tool.Give != nil:
		text, out.Files, err = e.tool.Give(ctx, c)
	case e.tool.Tell != nil:
		text, out.Outcome, err = e.tool.Tell(ctx, c)
	default:
		text, err = e.tool.Run(ctx, c)
	}
	if err != nil && ctx.Err() != nil {
		err = ctx.Err()
	}
	return text, err
}

// ready says what is missing for a call that needs a computer.
func ready(name string, c Call) error {
	switch {
	case c.Computer == nil:
		return fmt.Errorf("the tool %s needs a computer, and this quest has none; \"computer: auto\" in its quest.yaml gives it one", name)
	case !computer.ValidID(c.ID):
		return fmt.Errorf("the call has no usable id (%.80q); this is a fault of Lyceum, not of your call", c.ID)
	}
	return nil
}

// arguments returns args if they fit the schema.
func (e entry) arguments(args []byte) ([]byte, error) {
	args = bytes.TrimSpace(args)
	if len(args) == 0 {
		args = []byte("{}")
	}
	if len(args) > maxArgs {
		return nil, fmt.Errorf("the arguments have %d bytes, more than the %d that are allowed", len(args), maxArgs)
	}
	if args[0] != '{' {
		return nil, errors.New("the arguments are not a JSON object")
	}
	var given map[string]any
	if err := json.Unmarshal(args, &given); err != nil {
		return nil, notJSON(err)
	}
	f := e.form()
	if f.simple.fits(given) {
		return args, nil
	}
	if err := f.plan.Fits(given); err != nil {
		return nil, err
	}
	return args, misfit(f.schema, given)
}

func notJSON(err error) error {
	if e, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		if errors.Is(err, jsontext.ErrDuplicateName) {
			return fmt.Errorf("the arguments have a member twice: %s", e.JSONPointer)
		}
		return fmt.Errorf("the arguments are not valid JSON: %w at byte %d", e.Err, e.ByteOffset)
	}
	if e, ok := errors.AsType[*json.SemanticError](err); ok {
		return fmt.Errorf("the argument %s: the number %.40s is out of range", strings.TrimPrefix(string(e.JSONPointer), "/"), e.JSONValue)
	}
	return fmt.Errorf("the arguments are not valid JSON: %w", err)
}
