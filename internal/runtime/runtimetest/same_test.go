package runtimetest

import (
	"reflect"
	"testing"

	"lyceum/internal/quest"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// folds are two states of the same ledger of a part, each folded by itself, and what is left of
// the ledger when so many events are taken in.
func folds(t *testing.T, part func() Part, seed uint64, events int) (x, y *quest.State, w *World) {
	t.Helper()
	w = newWorld(seed, 0, part, Options{Steps: 50})
	if err := w.create(); err != nil {
		t.Fatal(err)
	}
	if err := w.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if events == 0 {
		events = len(w.log.events)
	}
	states := [2]*quest.State{}
	for i := range states {
		s, err := quest.New(w.log.events[0], w.societies())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range w.log.events[:events] {
			if err := s.Fold(e); err != nil {
				t.Fatal(err)
			}
		}
		states[i] = s
	}
	return states[0], states[1], w
}

// TestEveryMemberOfAStateCounts: a state that differs in one place is not alike, wherever that is.
func TestEveryMemberOfAStateCounts(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"solo", "lab", "contract", "architect", "stages", "world"} {
		x, y, _ := folds(t, Parts()[name], 3, 0)
		if !alike(x, y) {
			t.Fatalf("two folds of a ledger of %s are not alike", name)
		}
		changed := 0
		touch(reflect.ValueOf(y).Elem(), reflect.ValueOf(x).Elem(), func() {
			changed++
			if alike(x, y) {
				t.Fatalf("%s: a state with change %d is like one without", name, changed)
			}
		})
		if m := y.Memory(); m != nil {
			touch(reflect.ValueOf(m).Elem(), reflect.ValueOf(x.Memory()).Elem(), func() {
				changed++
				if alike(x, y) {
					t.Fatalf("%s: a memory with change %d is like one without", name, changed)
				}
			})
		}
		if !alike(x, y) || changed < 100 {
			t.Errorf("%s: %d changes were made and taken back; alike: %v", name, changed, alike(x, y))
		}
	}
}

// touch changes each number, word and flag of v, one after the other, and takes it back. What v has
// in common with the other state, as parts of events are, cannot make them differ.
func touch(v, other reflect.Value, look func()) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				touch(v.Field(i), other.Field(i), look)
			}
		}
	case reflect.Slice:
		if v.Len() == 0 || !v.CanSet() || v.Pointer() == other.Pointer() {
			return
		}
		for i := range v.Len() {
			touch(v.Index(i), other.Index(i), look)
		}
		change(v, v.Slice(0, v.Len()-1), look)
	case reflect.Map:
		if v.Pointer() == other.Pointer() {
			return
		}
		for _, k := range v.MapKeys() {
			old := v.MapIndex(k)
			v.SetMapIndex(k, reflect.Value{})
			look()
			v.SetMapIndex(k, old)
		}
	case reflect.Pointer:
		if !v.IsNil() && v.Pointer() != other.Pointer() {
			touch(v.Elem(), other.Elem(), look)
			change(v, reflect.Zero(v.Type()), look)
		}
	case reflect.String:
		change(v, reflect.ValueOf(v.String()+"?").Convert(v.Type()), look)
	case reflect.Bool:
		change(v, reflect.ValueOf(!v.Bool()).Convert(v.Type()), look)
	case reflect.Int, reflect.Int64:
		change(v, reflect.ValueOf(v.Int()+1).Convert(v.Type()), look)
	case reflect.Uint64:
		change(v, reflect.ValueOf(v.Uint()+1).Convert(v.Type()), look)
	}
}

func change(v, to reflect.Value, look func()) {
	if !v.CanSet() {
		return
	}
	old := reflect.ValueOf(v.Interface())
	v.Set(to)
	look()
	v.Set(old)
}

// TestWhereThePoliciesStandCounts: where it is written otherwise, the states are not alike.
func TestWhereThePoliciesStandCounts(t *testing.T) {
	t.Parallel()
	gate := func(s *quest.State) (reflect.Value, string) {
		data, err := s.Encode()
		if err != nil {
			t.Fatal(err)
		}
		var saved struct{ Gate jsontext.Value }
		if err := json.Unmarshal(data, &saved); err != nil {
			t.Fatal(err)
		}
		return reflect.ValueOf(s).Elem().FieldByName("gate"), string(saved.Gate)
	}
	moved, events := 0, 0
	for seed := uint64(3); seed < 8; seed++ {
		x, y, w := folds(t, Parts()["solo"], seed, 1)
		events += len(w.log.events)
		for _, e := range w.log.events[1:] {
			if err := x.Fold(e); err != nil {
				t.Fatal(err)
			}
			a, wrote := gate(x)
			b, had := gate(y)
			if wrote != had {
				moved++
				if equal(a, b, true, 0) {
					t.Fatalf("after event %d the policies stand at\n%s\nand are like those that stand at\n%s", e.Seq, wrote, had)
				}
			}
			if err := y.Fold(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	if moved < 10 {
		t.Errorf("the policies moved %d times in %d events: the test shows little", moved, events)
	}
}
