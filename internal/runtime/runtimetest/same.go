package runtimetest

import (
	"bytes"
	"fmt"
	"reflect"
	"sync"

	"lyceum/internal/quest"
)

// same reports where two states differ, which should not. What they are is what Encode writes; but
// to write both takes most of a simulation's time, and two that are the same to the last member
// are written the same.
func same(live, folded *quest.State) error {
	if alike(live, folded) {
		return nil
	}
	x, err := live.Encode()
	if err != nil {
		return err
	}
	y, err := folded.Encode()
	if err != nil {
		return err
	}
	if !bytes.Equal(x, y) {
		return fmt.Errorf("the live state is not the fold of the ledger:\nlive: %s\nfold: %s", x, y)
	}
	return nil
}

// alike reports whether all that Encode writes of two states is the same: the exported members,
// what the society knows, and where the policies stand. If not, that may be for a reason that is
// not written.
func alike(x, y *quest.State) bool {
	a, b := reflect.ValueOf(x).Elem(), reflect.ValueOf(y).Elem()
	return equal(a, b, false, 0) && equal(a.Field(memoryMember), b.Field(memoryMember), false, 0) && equal(a.Field(gateMember), b.Field(gateMember), true, 0)
}

var memoryMember, gateMember = memberOf("memory"), memberOf("gate")

func memberOf(name string) int {
	f, ok := reflect.TypeFor[quest.State]().FieldByName(name)
	if !ok {
		panic("a state has no " + name)
	}
	return f.Index[0]
}

// members are which of a struct's members are compared, by its type: to ask the type each time
// takes longer than to compare.
var members sync.Map // of struct{reflect.Type; bool} to []int

func membersOf(t reflect.Type, all bool) []int {
	type key struct {
		of  reflect.Type
		all bool
	}
	if known, ok := members.Load(key{t, all}); ok {
		return known.([]int)
	}
	out := []int{}
	for i := range t.NumField() {
		if all || t.Field(i).IsExported() {
			out = append(out, i)
		}
	}
	members.Store(key{t, all}, out)
	return out
}

// maxDepth is how deep a state can be. What is deeper has a circle in it.
const maxDepth = 60

// equal compares two values, of structs the exported members or all of them. Functions are not
// compared: a policy's state is in what they are given.
func equal(x, y reflect.Value, all bool, depth int) bool {
	if depth > maxDepth {
		return false
	}
	switch x.Kind() {
	case reflect.Func:
		return x.IsNil() == y.IsNil()
	case reflect.Pointer:
		if x.IsNil() || y.IsNil() || x.Pointer() == y.Pointer() {
			return x.IsNil() == y.IsNil()
		}
		return equal(x.Elem(), y.Elem(), all, depth+1)
	case reflect.Interface:
		if x.IsNil() || y.IsNil() || x.Elem().Type() != y.Elem().Type() {
			return x.IsNil() && y.IsNil()
		}
		return equal(x.Elem(), y.Elem(), all, depth+1)
	case reflect.Struct:
		for _, i := range membersOf(x.Type(), all) {
			if !equal(x.Field(i), y.Field(i), all, depth+1) {
				return false
			}
		}
		return true
	case reflect.Slice:
		if x.Len() == y.Len() && x.Len() > 0 && x.Pointer() == y.Pointer() {
			return true
		}
		fallthrough
	case reflect.Array:
		if x.Len() != y.Len() {
			return false
		}
		if x.Type().Elem().Kind() == reflect.Uint8 && (x.Kind() == reflect.Slice || x.CanAddr() && y.CanAddr()) {
			return bytes.Equal(x.Bytes(), y.Bytes())
		}
		for i := range x.Len() {
			if !equal(x.Index(i), y.Index(i), all, depth+1) {
				return false
			}
		}
		return true
	case reflect.Map:
		if x.Len() != y.Len() {
			return false
		}
		for it := x.MapRange(); it.Next(); {
			if v := y.MapIndex(it.Key()); !v.IsValid() || !equal(it.Value(), v, all, depth+1) {
				return false
			}
		}
		return true
	case reflect.String:
		return x.String() == y.String()
	case reflect.Int64, reflect.Int:
		return x.Int() == y.Int()
	case reflect.Uint64:
		return x.Uint() == y.Uint()
	case reflect.Bool:
		return x.Bool() == y.Bool()
	}
	return x.Equal(y)
}
