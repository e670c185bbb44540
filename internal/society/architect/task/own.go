package task

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// readOwn reads what encode wrote, into a pointer to a struct, and reports whether it did. A ledger
// is folded each time that it is opened, and reading YAML as others write it takes twenty times as
// long. Whatever encode would not have written to the byte, or has what a person would
// not see, is left to strictyaml.
func readOwn(data []byte, into any) bool {
	v := reflect.ValueOf(into).Elem()
	o := own{lines: strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")}
	if !utf8.Valid(data) || slices.ContainsFunc(o.lines, escaped.In) {
		return false
	}
	if o.fields(v, 0) && len(o.lines) == 0 && string(encode(v.Interface())) == string(data) {
		return true
	}
	v.SetZero()
	return false
}

// own are the lines that are still to be read.
type own struct{ lines []string }

// next takes the next line, if that begins so.
func (o *own) next(indent int, first string) (rest string, ok bool) {
	if len(o.lines) == 0 || len(o.lines[0]) < indent || strings.TrimLeft(o.lines[0][:indent], " ") != "" {
		return "", false
	}
	if rest, ok = strings.CutPrefix(o.lines[0][indent:], first); ok {
		o.lines = o.lines[1:]
	}
	return rest, ok
}

// fields reads the members of a struct: all of them, in their order.
func (o *own) fields(v reflect.Value, indent int) bool {
	for i := range v.NumField() {
		f := v.Field(i)
		rest, ok := o.next(indent, v.Type().Field(i).Tag.Get("yaml")+":")
		switch {
		case !ok:
			return false
		case f.Kind() == reflect.Struct:
			ok = rest == "" && o.fields(f, indent+2)
		case f.Kind() == reflect.Slice:
			ok = rest == " []" || rest == "" && o.list(f, indent+2)
		default:
			ok = strings.HasPrefix(rest, " ") && o.scalar(f, rest[1:], indent+2)
		}
		if !ok {
			return false
		}
	}
	return true
}

func (o *own) list(v reflect.Value, indent int) bool {
	if v.Type().Elem().Kind() != reflect.String {
		return false
	}
	for {
		rest, ok := o.next(indent, "- ")
		if !ok {
			return true
		}
		e := reflect.New(v.Type().Elem()).Elem()
		if !o.scalar(e, rest, indent+2) {
			return false
		}
		v.Set(reflect.Append(v, e))
	}
}

func (o *own) scalar(v reflect.Value, text string, indent int) bool {
	switch v.Kind() {
	case reflect.Int64:
		n, err := strconv.ParseInt(text, 10, 64)
		v.SetInt(n)
		return err == nil
	case reflect.String:
	default:
		return false
	}
	switch {
	case text == "|-":
		var block []string
		for {
			line, ok := o.next(indent, "")
			if !ok {
				break
			}
			block = append(block, line)
		}
		text = strings.Join(block, "\n")
	case strings.HasPrefix(text, `"`):
		inner, ok := strings.CutSuffix(text[1:], `"`)
		if !ok || strings.ContainsAny(inner, `\"`) {
			return false
		}
		text = inner
	}
	v.SetString(text)
	return true
}
