package tool

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"lyceum/internal/media"
	"lyceum/internal/model"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const anyObject = `{"type":"object"}`

func echo(name, schema string) Tool {
	return Tool{
		Tool: model.Tool{Name: name, Description: "Says its arguments.", Schema: schema},
		Run:  func(_ context.Context, c Call) (string, error) { return string(c.Args), nil },
	}
}

func registry(t *testing.T, tools ...Tool) *Registry {
	t.Helper()
	r, err := New(tools...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	silent := echo("a", anyObject)
	silent.Description = ""
	idle := echo("a", anyObject)
	idle.Run = nil
	both := echo("a", anyObject)
	both.Give = func(context.Context, Call) (string, []media.File, error) { return "", nil, nil }
	for name, c := range map[string]struct {
		tools []Tool
		want  string
	}{
		"TwoOfAName":         {[]Tool{echo("a", anyObject), echo("a", anyObject)}, `tool "a": there are two of that name`},
		"AnEmptyName":        {[]Tool{echo("", anyObject)}, `tool "": a name has`},
		"AStrangeName":       {[]Tool{echo("a b", anyObject)}, `tool "a b": a name has`},
		"ALongName":          {[]Tool{echo(strings.Repeat("a", 65), anyObject)}, "a name has 1 to 64"},
		"ASchemaNotJSON":     {[]Tool{echo("a", "{")}, `tool "a": schema:`},
		"ASchemaOfAString":   {[]Tool{echo("a", `{"type":"string"}`)}, `its type must be "object"`},
		"ASchemaThatIsWrong": {[]Tool{echo("a", `{"type":"object","properties":{"x":{"pattern":"("}}}`)}, `tool "a": schema:`},
		"NoDescription":      {[]Tool{silent}, "no description"},
		"NoFunction":         {[]Tool{idle}, "no function"},
		"TwoFunctions":       {[]Tool{both}, "two functions"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := New(c.tools...); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %q", err, c.want)
			}
		})
	}
}

func TestSpecs(t *testing.T) {
	t.Parallel()
	r := Builtin()
	t.Run("AreSorted", func(t *testing.T) {
		t.Parallel()
		specs, err := Specs(r, []string{"write_file", "calculate", "write_file"})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, s := range specs {
			names = append(names, s.Name)
			if s.Description == "" || s.Schema == "" {
				t.Errorf("%s is not described", s.Name)
			}
		}
		if diff := cmp.Diff([]string{"calculate", "write_file"}, names); diff != "" {
			t.Errorf("the names differ (-want +got):\n%s", diff)
		}
	})
	for name, c := range map[string]struct{ tool, want string }{
		"SuggestWhatIsNear":       {"calculat", `there is no tool "calculat"; did you mean calculate?`},
		"SuggestWhatContainsIt":   {"file", `there is no tool "file"; did you mean delete_file or edit_file or edit_files?`},
		"ListAllIfNothingIsNear":  {"bash", `there is no tool "bash"; there are await, calculate, delete_file, edit_file, edit_files, exec, glob, grep, kill, list_files, move_file, open_shell, processes, read_file, read_output, start, write_file, write_input`},
		"DoNotCareAboutTheLetter": {"READ_FILE", `there is no tool "READ_FILE"; did you mean read_file?`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := Specs(r, []string{c.tool}); err == nil || err.Error() != c.want {
				t.Errorf("error is %v, want %s", err, c.want)
			}
		})
	}
}

func TestBuiltinTools(t *testing.T) {
	t.Parallel()
	r := Builtin()
	const repeatable, writes, computer = 1, 2, 4
	want := map[string]int{
		"calculate": repeatable, "read_file": repeatable, "list_files": repeatable, "glob": repeatable, "grep": repeatable,
		"write_file": repeatable | writes, "edit_file": writes, "edit_files": writes, "move_file": writes, "delete_file": writes,
		"await": writes | computer, "open_shell": writes | computer,
		"exec": writes | computer, "start": writes | computer, "write_input": writes | computer, "kill": writes | computer,
		"read_output": repeatable | computer, "processes": repeatable | computer,
	}
	got := map[string]int{}
	for _, name := range r.Names() {
		spec, ok := r.Lookup(name)
		if !ok {
			t.Errorf("%s is not found", name)
		}
		for flag, set := range map[int]bool{repeatable: spec.Repeatable, writes: spec.Writes, computer: spec.Computer} {
			if set {
				got[name] |= flag
			}
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the tools differ (-want +got):\n%s", diff)
	}
	if _, ok := r.Lookup("shell"); ok {
		t.Error("found a tool that is not there")
	}
}

func TestOfferedLeavesOutWhatNeedsAComputer(t *testing.T) {
	t.Parallel()
	r := Builtin()
	if diff := cmp.Diff([]string{"calculate", "delete_file", "edit_file", "edit_files", "glob", "grep", "list_files", "move_file", "read_file", "write_file"}, Offered(r, false)); diff != "" {
		t.Errorf("the tools on offer differ (-want +got):\n%s", diff)
	}
	all := slices.DeleteFunc(r.Names(), func(name string) bool { return name == "await" || name == "open_shell" }) // they must be named
	if diff := cmp.Diff(all, Offered(r, true)); diff != "" || len(all) != 16 {
		t.Errorf("%d tools; %s", len(all), diff)
	}
}

// TestSchemasAreStrict holds what a model is told against what the tools need:
// every argument described and of one type, no other taken, texts that end.
func TestSchemasAreStrict(t *testing.T) {
	t.Parallel()
	r := Builtin()
	for _, name := range r.Names() {
		e, f := r.entries[name], r.entries[name].form()
		s := f.schema.Schema()
		if n := len(e.tool.Description); n < 40 || n > 800 || !strings.HasSuffix(e.tool.Description, ".") {
			t.Errorf("%s: its description has %d characters: %s", name, n, e.tool.Description)
		}
		if err := f.schema.Validate(map[string]any{"no_such": 1}); err == nil {
			t.Errorf("%s takes arguments that do not exist", name)
		}
		for arg, p := range s.Properties {
			if p.Type == "" || p.Description == "" || !strings.HasSuffix(p.Description, ".") {
				t.Errorf("%s: %s is not described", name, arg)
			}
			if p.Type == "integer" && (p.Minimum == nil || p.Maximum == nil) {
				t.Errorf("%s: %s has no bounds", name, arg)
			}
		}
		for _, arg := range s.Required {
			if s.Properties[arg] == nil {
				t.Errorf("%s: %s is required and not there", name, arg)
			}
		}
	}
}

func TestRunChecksArguments(t *testing.T) {
	t.Parallel()
	const schema = `{"type":"object","properties":{` +
		`"code":{"type":"string","minLength":1},"count":{"type":"integer","minimum":1,"maximum":9},` +
		`"mode":{"enum":["a","b"]},"list":{"type":"array","items":{"type":"number"}}},"required":["code"],"additionalProperties":false}`
	const signature = "\nArguments of echo: {\"code\": string of at least 1 characters, \"count\"?: integer from 1 to 9, \"list\"?: array of number, \"mode\"?: one of \"a\", \"b\"}"
	r := registry(t, echo("echo", schema), echo("free", anyObject))
	for name, c := range map[string]struct{ args, want string }{
		"NotJSON":         {`code: 1`, "error: the arguments are not a JSON object"},
		"CutOff":          {`{"code": "a`, "error: the arguments are not valid JSON: unexpected EOF at byte "},
		"TrailingText":    {`{"code":"a"} x`, "error: the arguments are not valid JSON: "},
		"NotUTF8":         {"{\"code\":\"\xff\"}", "error: the arguments are not valid JSON: invalid UTF-8 at byte "},
		"AnArray":         {`[1]`, "error: the arguments are not a JSON object"},
		"Null":            {`null`, "error: the arguments are not a JSON object"},
		"ATwin":           {`{"code":"a","code":"b"}`, "error: the arguments have a member twice: /code"},
		"AHugeNumber":     {`{"code":"a","count":1e999}`, "error: the argument count: the number 1e999 is out of range"},
		"ALongNumber":     {`{"code":"a","count":1` + strings.Repeat("0", 400) + `}`, "error: the argument count: the number 1000"},
		"DeepNesting":     {`{"code":` + strings.Repeat("[", 20000), "error: the arguments are not valid JSON: exceeded max depth"},
		"AMissingField":   {`{}`, `error: the argument "code" is missing; it must be string of at least 1 characters`},
		"NothingAtAll":    {"", `error: the argument "code" is missing`},
		"AMisspeltField":  {`{"cod":"a"}`, `error: there is no argument "cod"; did you mean "code"?`},
		"AnUnknownField":  {`{"code":"a","zzz":1}`, `error: there is no argument "zzz"`},
		"AWrongType":      {`{"code":5}`, `error: the argument "code" is 5; it must be string of at least 1 characters`},
		"ANull":           {`{"code":null}`, `error: the argument "code" is null; it must be string`},
		"AShortString":    {`{"code":""}`, `error: the argument "code" is ""; it must be string of at least 1 characters`},
		"ASmallNumber":    {`{"code":"a","count":0}`, `error: the argument "count" is 0; it must be integer from 1 to 9`},
		"AFraction":       {`{"code":"a","count":1.5}`, `error: the argument "count" is 1.5; it must be integer from 1 to 9`},
		"AWrongChoice":    {`{"code":"a","mode":"c"}`, `error: the argument "mode" is "c"; it must be one of "a", "b"`},
		"AWrongItem":      {`{"code":"a","list":[1,"x"]}`, `error: the argument "list" is [1 x]; it must be array of number`},
		"ALongWrongValue": {`{"code":["` + strings.Repeat("x", 100000) + `"]}`, `error: the argument "code" is [xxx`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := r.Run(t.Context(), "echo", Call{Args: []byte(c.args)})
			if !got.Error || !strings.HasPrefix(got.Text, c.want) || !strings.HasSuffix(got.Text, signature) {
				t.Errorf("got %+v, want %q and the signature", got, c.want)
			}
			if len(got.Text) > 1000 {
				t.Errorf("the answer has %d bytes", len(got.Text))
			}
		})
	}
	t.Run("AndPassesThemOn", func(t *testing.T) {
		t.Parallel()
		if got := r.Run(t.Context(), "echo", Call{Args: []byte(` {"code":"a"} `)}); got != (Output{Text: `{"code":"a"}`}) {
			t.Errorf("got %+v", got)
		}
		if got := r.Run(t.Context(), "free", Call{}); got != (Output{Text: `{}`}) {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("AndTheirSize", func(t *testing.T) {
		t.Parallel()
		got := r.Run(t.Context(), "free", Call{Args: []byte(`{"a":"` + strings.Repeat("x", maxArgs) + `"}`)})
		if !got.Error || !strings.Contains(got.Text, "more than the 8388608 that are allowed") {
			t.Errorf("got %.200s", got.Text)
		}
	})
}

func TestRunTellsWhatWentWrong(t *testing.T) {
	t.Parallel()
	do := func(f func(context.Context) (string, error)) Tool {
		return Tool{
			Tool: model.Tool{Name: "do", Description: "Does it.", Schema: anyObject},
			Run:  func(ctx context.Context, _ Call) (string, error) { return f(ctx) },
		}
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		tool Tool
		want Output
	}{
		"APanic": {t.Context(), do(func(context.Context) (string, error) { panic("oh no") }),
			Output{"error: the tool do broke down (oh no); this is a fault of the tool, not of your call", true}},
		"ALongPanic": {t.Context(), do(func(context.Context) (string, error) { panic(strings.Repeat("x", 5000)) }),
			Output{"error: the tool do broke down (" + strings.Repeat("x", 200) + "); this is a fault of the tool, not of your call", true}},
		"AnError": {t.Context(), do(func(context.Context) (string, error) { return "", errors.New("no such star") }),
			Output{"error: no such star", true}},
		"AnErrorAfterOutput": {t.Context(), do(func(context.Context) (string, error) { return "half", errors.New("no more") }),
			Output{"half\nerror: no more", true}},
		"ACancelledCall": {cancelled, do(func(context.Context) (string, error) { return "ran", nil }),
			Output{"error: the call was cancelled", true}},
		"ADeadline": {t.Context(), do(func(context.Context) (string, error) { return "", context.DeadlineExceeded }),
			Output{"error: it took longer than allowed and was stopped", true}},
		"NotValidText": {t.Context(), do(func(context.Context) (string, error) { return "a\xffb", nil }),
			Output{"a\uFFFDb", false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := registry(t, c.tool).Run(c.ctx, "do", Call{})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("the output differs (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("AnUnknownTool", func(t *testing.T) {
		t.Parallel()
		got := Builtin().Run(t.Context(), "calculator", Call{})
		if want := (Output{`error: there is no tool "calculator"; did you mean calculate?`, true}); got != want {
			t.Errorf("got %+v", got)
		}
	})
}

func FuzzRunCalculate(f *testing.F) {
	f.Add("print(1)", true)
	f.Add(`{"code":"1+1"}`, false)
	for _, name := range []string{"RepeatedString", "HugeRangeByKey", "DeepCycle", "SharedTupleByZip", "SquaredInteger", "EndlessRecursion"} {
		f.Add(bombs[name], true)
	}
	r := Builtin()
	f.Fuzz(func(t *testing.T, text string, isCode bool) {
		args := []byte(text)
		if isCode {
			args = []byte(`{"code":` + quote(text) + `}`)
		}
		got := r.Run(t.Context(), "calculate", Call{Args: args})
		if strings.Contains(got.Text, "broke down") || strings.Contains(got.Text, "the interpreter gave up") {
			t.Errorf("a panic: %s", got.Text)
		}
		if !utf8.ValidString(got.Text) || len(got.Text) > maxPrinted+64<<10+4096 {
			t.Errorf("an output of %d bytes: %.100q", len(got.Text), got.Text)
		}
	})
}

// TestTheSimpleCheckNeverAcceptsWhatTheSchemaRefuses tries arguments of every kind
// against schemas of every kind, by the short way and by the library.
func TestTheSimpleCheckNeverAcceptsWhatTheSchemaRefuses(t *testing.T) {
	t.Parallel()
	values := []any{nil, true, "", "text", 0.0, 1.0, 1.5, -3.0, 1e300, []any{}, []any{"x"}, map[string]any{}}
	accepted := 0
	for _, prop := range []string{`{"type":"string"}`, `{"type":"integer"}`, `{"type":"number"}`, `{"type":"boolean"}`, `{"type":"string","maxLength":2}`,
		`{"type":"integer","minimum":1}`, `{"enum":["text"]}`, `{"type":["string","null"]}`, `{}`, `true`, `{"type":"array","items":{"type":"string"}}`, `{"type":"object"}`} {
		for _, rest := range []string{``, `,"required":["a"]`, `,"additionalProperties":false`, `,"required":["a","b"],"additionalProperties":false`, `,"minProperties":2`, `,"not":{}`} {
			r, err := New(Tool{Tool: model.Tool{Name: "x", Description: "x", Schema: `{"type":"object","properties":{"a":` + prop + `}` + rest + `}`},
				Run: func(context.Context, Call) (string, error) { return "", nil }})
			if err != nil {
				t.Fatal(err)
			}
			e := r.entries["x"].form()
			for _, a := range values {
				for _, given := range []map[string]any{{}, {"a": a}, {"b": a}, {"a": a, "b": a}} {
					if e.simple.fits(given) {
						accepted++
						if err := e.schema.Validate(given); err != nil {
							t.Errorf("%s%s takes %v by the short way: %v", prop, rest, given, err)
						}
					}
				}
			}
		}
	}
	if accepted == 0 {
		t.Error("nothing was accepted by the short way")
	}
}

// TestSchemasThatWouldBeFollowedForEver: a tool with such a schema is refused, and arguments that
// would take too long are told so. Without that, a server's schema ends the process.
func TestSchemasThatWouldBeFollowedForEver(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{
		`{"type":"object","$ref":"#"}`,
		`{"type":"object","properties":{"a":{"$ref":"#/$defs/x"}},"$defs":{"x":{"anyOf":[{"$ref":"#/$defs/y"}]},"y":{"$ref":"#/$defs/x"}}}`,
	} {
		if _, err := New(echo("loop", schema)); err == nil || !strings.Contains(err.Error(), "in a circle") {
			t.Errorf("%s: the error is %v, want that it is a circle", schema, err)
		}
	}
	r := registry(t, echo("twice", `{"type":"object","anyOf":[{"properties":{"a":{"$ref":"#"}}},{"properties":{"a":{"$ref":"#"}}}]}`), echo("ref", `{"type":"object","properties":{"p":{"$ref":"#/$defs/p"}},"$defs":{"p":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}}}`))
	deep := strings.Repeat(`{"a":`, 60) + "1" + strings.Repeat("}", 60)
	contains(t, r.Run(t.Context(), "twice", Call{Args: []byte(deep)}), true, "takes too long")
	contains(t, r.Run(t.Context(), "twice", Call{Args: []byte(`{"a":{"a":{}}}`)}), false)
	contains(t, r.Run(t.Context(), "ref", Call{Args: []byte(`{"p":{"x":"1"}}`)}), true, "the argument \"p\"")
	contains(t, r.Run(t.Context(), "ref", Call{Args: []byte(`{"p":{"x":1}}`)}), false)
}

// FuzzSchemas: whatever a schema is, it is refused, or arguments can be held against it.
func FuzzSchemas(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{"$ref":"#"}}}`, `{"a":{"a":{}}}`)
	f.Add(`{"type":"object","$ref":"#"}`, `{}`)
	f.Fuzz(func(t *testing.T, schema, args string) {
		if len(schema) > 8<<10 || len(args) > 4<<10 {
			return
		}
		x := echo("fuzzed", schema)
		if r, err := New(x); err == nil {
			r.Run(t.Context(), "fuzzed", Call{Args: []byte(args)})
		}
	})
}

// TestToolsSayThatOrderCounts: what may run beside others is the model's own word, so a tool that
// takes that word says what it means, and that calls otherwise see what those before them did.
func TestToolsSayThatOrderCounts(t *testing.T) {
	t.Parallel()
	words := map[string][]string{
		"exec":       {"one after another, in your order", "sees what those before it did", "with parallel this one runs at the same time"},
		"write_file": {"The calls after it in the same answer see it."},
	}
	for _, x := range builtin() {
		if has := strings.Contains(x.Schema, `"parallel":{`); has != x.Parallel {
			t.Errorf("%s has an argument parallel: %v, and the rules take its word: %v; want both or none", x.Name, has, x.Parallel)
		}
		if x.Parallel && words[x.Name] == nil {
			t.Errorf("%s can run beside others by the model's word: want its description tested here", x.Name)
		}
		for _, want := range words[x.Name] {
			if !strings.Contains(x.Description, want) {
				t.Errorf("%s does not say %q: %s", x.Name, want, x.Description)
			}
		}
	}
}
