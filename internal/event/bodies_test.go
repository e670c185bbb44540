package event_test

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"

	"github.com/google/go-cmp/cmp"
)

// texts are what an encoder is most likely to write in two ways.
var texts = []string{
	`"quoted" and back\slashed / slashed`,
	"controls \x00\x01\b\t\n\v\f\r\x1f\x7f\u0080",
	"größer, 中文, עברית, A\u030a",
	"\U0001f600 \U0010ffff \ufb33 \ufffd",
	"<script>&'</script> \u2028\u2029",
	`,"hash":"0000000000000000000000000000000000000000000000000000000000000000","parent":0`,
	"18446744073709551615 \\u0041",
}

// filler gives every field of a body a value that is not zero, and none twice
// in a row.
type filler struct{ n int64 }

func (f *filler) fill(v reflect.Value, tag reflect.StructTag) {
	f.n++
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("%d %s", f.n, texts[f.n%int64(len(texts))]))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int64:
		v.SetInt(1<<53 - f.n)
	case reflect.Uint64:
		v.SetUint(1<<53 - uint64(f.n))
		if strings.Contains(tag.Get("json"), ",string") {
			v.SetUint(math.MaxUint64 - uint64(f.n))
		}
	case reflect.Array:
		for i := range v.Len() {
			v.Index(i).SetUint(uint64(f.n+int64(i)) % 256)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.fill(v.Index(0), "")
		f.fill(v.Index(1), "")
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), "")
	case reflect.Struct:
		for i := range v.NumField() {
			f.fill(v.Field(i), v.Type().Field(i).Tag)
		}
	default:
		panic("no value for " + v.Type().String())
	}
}

func filled(t event.Type) event.Body {
	b := event.New(t)
	f := filler{}
	f.fill(reflect.ValueOf(b).Elem(), "")
	return b
}

func TestBodiesEncodeCanonically(t *testing.T) {
	t.Parallel()
	for _, typ := range event.Types() {
		for name, body := range map[string]event.Body{"Filled": filled(typ), "Empty": event.New(typ)} {
			t.Run(string(typ)+"/"+name, func(t *testing.T) {
				t.Parallel()
				e := seal(t, 7, event.HashOf(nil), event.Draft{Parent: 3, Time: noon, Actor: "agent-0", Tool: "shell", Body: body})
				expectCanonical(t, string(e.Line()), string(e.Line()))
				got := parse(t, e.Line())
				if string(got.Line()) != string(e.Line()) {
					t.Errorf("Parse changed the line:\n%s", cmp.Diff(string(e.Line()), string(got.Line())))
				}
				// An absent list and an empty one are the same event, so only the
				// full body must come back as the same value.
				if name == "Filled" {
					if d := cmp.Diff(body, got.Body); d != "" {
						t.Errorf("Parse changed the body (-sealed +parsed):\n%s", d)
					}
				}
				again := seal(t, 7, event.HashOf(nil), event.Draft{Parent: 3, Time: noon, Actor: "agent-0", Tool: "shell", Body: got.Body})
				if string(again.Line()) != string(e.Line()) {
					t.Errorf("sealing the parsed body gives another line:\n%s", cmp.Diff(string(e.Line()), string(again.Line())))
				}
				if err := got.Follows(6, event.HashOf(nil)); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestFillerLeavesNoFieldZero(t *testing.T) {
	t.Parallel()
	var check func(t *testing.T, path string, v reflect.Value)
	check = func(t *testing.T, path string, v reflect.Value) {
		if v.IsZero() {
			t.Errorf("%s is zero", path)
		}
		switch v.Kind() {
		case reflect.Pointer:
			check(t, path, v.Elem())
		case reflect.Slice:
			for i := range v.Len() {
				check(t, fmt.Sprintf("%s[%d]", path, i), v.Index(i))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				check(t, path+"."+v.Type().Field(i).Name, v.Field(i))
			}
		}
	}
	for _, typ := range event.Types() {
		check(t, string(typ), reflect.ValueOf(filled(typ)))
	}
}

// structs returns every struct that a body of the catalogue can hold.
func structs() []reflect.Type {
	var found []reflect.Type
	var walk func(t reflect.Type)
	walk = func(t reflect.Type) {
		switch t.Kind() {
		case reflect.Pointer, reflect.Slice:
			walk(t.Elem())
		case reflect.Struct:
			if slices.Contains(found, t) {
				return
			}
			found = append(found, t)
			for i := range t.NumField() {
				walk(t.Field(i).Type)
			}
		}
	}
	for _, typ := range event.Types() {
		walk(reflect.TypeOf(event.New(typ)))
	}
	return found
}

func TestCatalogue(t *testing.T) {
	t.Parallel()
	t.Run("NamesTypesAsTheirBodiesDo", func(t *testing.T) {
		t.Parallel()
		form := regexp.MustCompile(`^[a-z]+\.[a-z]+$`)
		for _, typ := range event.Types() {
			if got := event.New(typ).Type(); got != typ {
				t.Errorf("the catalogue's %s makes a body of type %s", typ, got)
			}
			if !form.MatchString(string(typ)) {
				t.Errorf("%s is not noun.verb", typ)
			}
		}
		if !slices.IsSorted(event.Types()) {
			t.Errorf("Types() is not sorted: %v", event.Types())
		}
	})
	t.Run("MakesAFreshBodyEachTime", func(t *testing.T) {
		t.Parallel()
		for _, typ := range event.Types() {
			if event.New(typ) == event.New(typ) {
				t.Errorf("New(%s) gave the same body twice", typ)
			}
		}
	})
	t.Run("KnowsNoOtherType", func(t *testing.T) {
		t.Parallel()
		if b := event.New("quest.invented"); b != nil {
			t.Errorf("New made %#v of a type that does not exist", b)
		}
		if event.Type("quest.invented").Input() {
			t.Error("a type that does not exist is an input")
		}
	})
	t.Run("ListsMembersInSortedOrder", func(t *testing.T) {
		t.Parallel()
		form := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
		for _, s := range structs() {
			var names []string
			for i := range s.NumField() {
				name, _, _ := strings.Cut(s.Field(i).Tag.Get("json"), ",")
				if !form.MatchString(name) {
					t.Errorf("%s.%s has the JSON name %q", s, s.Field(i).Name, name)
				}
				names = append(names, name)
			}
			if d := cmp.Diff(slices.Sorted(slices.Values(names)), names); d != "" {
				t.Errorf("members of %s are not sorted (-sorted +as declared):\n%s", s, d)
			}
		}
	})
	t.Run("HoldsOnlyWhatHasOneSpelling", func(t *testing.T) {
		t.Parallel()
		ok := []reflect.Kind{reflect.String, reflect.Bool, reflect.Int64, reflect.Uint64, reflect.Struct}
		for _, s := range structs() {
			for i := range s.NumField() {
				f := s.Field(i)
				elem := f.Type
				for elem.Kind() == reflect.Pointer || elem.Kind() == reflect.Slice {
					elem = elem.Elem()
				}
				if !f.IsExported() || f.Anonymous {
					t.Errorf("%s.%s is not a plain exported field", s, f.Name)
				}
				if !slices.Contains(ok, elem.Kind()) && elem != reflect.TypeFor[event.Hash]() {
					t.Errorf("%s.%s is a %s", s, f.Name, f.Type)
				}
			}
		}
	})
	t.Run("NeverTurnsAReleasedTypeFromInputToDerivedOrBack", func(t *testing.T) {
		t.Parallel()
		released := map[event.Type]bool{
			"budget.exceeded":  false,
			"cli.exit":         true,
			"cli.run":          true,
			"cli.stderr":       true,
			"cli.stdout":       true,
			"computer.started": true,
			"file.diff":        true,
			"net.connection":   true,
			"message.sent":     false,
			"model.call":       false,
			"model.result":     true,
			"quest.created":    true,
			"quest.failed":     false,
			"quest.finished":   false,
			"quest.forked":     true,
			"quest.paused":     true,
			"quest.resumed":    true,
			"quest.started":    true,
			"quest.stopped":    true,
			"timer.fired":      true,
			"timer.set":        false,
			"tool.answered":    false,
			"policy.blocked":   false,
			"policy.failed":    false,
			"tool.call":        false,
			"tool.result":      true,
			"user.message":     true,

			"tool.prepared":         true,
			"publication.submitted": false,
			"reproduction.call":     false,
			"reproduction.result":   true,
			"review.requested":      false,
			"review.expired":        false,
			"review.submitted":      false,
			"publication.decided":   false,
			"citation.made":         false,
			"vote.cast":             false,
			"advisory.sent":         false,
			"agent.parked":          false,
		}
		for typ, input := range released {
			if event.New(typ) == nil {
				t.Errorf("%s is gone", typ)
			}
			if typ.Input() != input {
				t.Errorf("%s: Input() = %t", typ, typ.Input())
			}
		}
	})
}

func TestRefs(t *testing.T) {
	t.Parallel()
	ref := func(s string) event.Ref { return event.RefOf([]byte(s)) }
	long := func(s string) event.Text { r := ref(s); return event.Text{Ref: &r, Text: "short"} }
	tree := event.TreeRef{Hash: event.HashOf([]byte("tree")), Size: 4}
	before := event.TreeRef{Hash: event.HashOf([]byte("before")), Size: 6}
	args, opaque, said := long("args"), long("opaque"), long("said")
	for name, c := range map[string]struct {
		body  event.Body
		blobs []event.Ref
		trees []event.TreeRef
	}{
		"FindsNoneWhereThereAreNone": {body: &event.QuestFailed{Reason: "none"}},
		"PassesOverWhatIsAbsent":     {body: &event.ToolResult{Output: event.Text{Text: "short"}}},
		"FindsFieldsListsAndTreesInOrder": {
			body: &event.QuestCreated{
				Agents: []event.AgentSpec{
					{System: ref("system 0"), Tools: ref("tools 0")},
					{System: ref("system 1"), Tools: ref("tools 1")},
				},
				Data:    &tree,
				Pins:    []event.Pin{{Name: "script", Ref: ref("pin")}},
				Problem: long("problem"),
				Spec:    ref("spec"),
			},
			blobs: []event.Ref{ref("system 0"), ref("tools 0"), ref("system 1"), ref("tools 1"), ref("pin"), ref("problem"), ref("spec")},
			trees: []event.TreeRef{tree},
		},
		"FindsTextsBehindPointersInLists": {
			body:  &event.ModelResult{Parts: []event.Part{{Text: &event.Text{Text: "short"}}, {Args: &args, Opaque: &opaque, Text: &said}}},
			blobs: []event.Ref{ref("args"), ref("opaque"), ref("said")},
		},
		"TellsTreesFromBlobs": {
			body:  &event.FileDiff{After: tree, Before: &before},
			trees: []event.TreeRef{tree, before},
		},
		"FindsTheOutputsOfACommand": {
			body:  &event.CliExit{Stderr: event.CommandOutput{Ref: new(ref("stderr"))}, Stdout: event.CommandOutput{Ref: new(ref("stdout"))}},
			blobs: []event.Ref{ref("stderr"), ref("stdout")},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			blobs, trees := event.Refs(c.body)
			if d := cmp.Diff(c.blobs, blobs); d != "" {
				t.Errorf("blobs (-want +got):\n%s", d)
			}
			if d := cmp.Diff(c.trees, trees); d != "" {
				t.Errorf("trees (-want +got):\n%s", d)
			}
		})
	}
	t.Run("FindsAsManyAsTheLineOfAFilledBodyNames", func(t *testing.T) {
		t.Parallel()
		// A reference is the only object with exactly a hash and a size.
		object := regexp.MustCompile(`\{"hash":"[0-9a-f]{64}","size":[0-9]+\}`)
		for _, typ := range event.Types() {
			body := filled(typ)
			blobs, trees := event.Refs(body)
			e := seal(t, 1, event.Hash{}, event.Draft{Actor: "agent-0", Body: body})
			if want, got := len(object.FindAll(e.Line(), -1)), len(blobs)+len(trees); got != want {
				t.Errorf("Refs found %d references in %s; its line has %d", got, typ, want)
			}
		}
	})
}
