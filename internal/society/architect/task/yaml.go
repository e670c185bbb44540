package task

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"lyceum/internal/plain"
)

// encode writes a struct as YAML that strictyaml reads back to the same values: keys in the
// order of the members, words plain, texts of several lines as blocks, everything else in
// quotes. The same values give the same bytes.
func encode(v any) []byte {
	var b strings.Builder
	writeFields(&b, reflect.ValueOf(v), 0, "")
	return []byte(b.String())
}

// writeFields writes the members of a struct; first stands before the first of them.
func writeFields(b *strings.Builder, v reflect.Value, indent int, first string) {
	lead := first
	if lead == "" {
		lead = strings.Repeat(" ", indent)
	}
	for i := range v.NumField() {
		key, rest, _ := strings.Cut(v.Type().Field(i).Tag.Get("yaml"), ",")
		f := v.Field(i)
		if rest == "omitempty" && (f.IsZero() || f.Kind() == reflect.Slice && f.Len() == 0) {
			continue
		}
		b.WriteString(lead + key + ":")
		lead = strings.Repeat(" ", indent)
		switch f.Kind() {
		case reflect.Struct:
			b.WriteString("\n")
			writeFields(b, f, indent+2, "")
		case reflect.Slice:
			writeList(b, f, indent+2)
		default:
			b.WriteString(" " + scalar(f, indent+2) + "\n")
		}
	}
}

func writeList(b *strings.Builder, v reflect.Value, indent int) {
	if v.Len() == 0 {
		b.WriteString(" []\n")
		return
	}
	b.WriteString("\n")
	dash := strings.Repeat(" ", indent) + "- "
	for i := range v.Len() {
		if e := v.Index(i); e.Kind() == reflect.Struct {
			writeFields(b, e, indent+2, dash)
		} else {
			b.WriteString(dash + scalar(e, indent+2) + "\n")
		}
	}
}

func scalar(v reflect.Value, indent int) string {
	switch v.Kind() {
	case reflect.Int64:
		return strconv.FormatInt(v.Int(), 10)
	case reflect.Bool:
		return strconv.FormatBool(v.Bool())
	}
	s := v.String()
	switch {
	case isWord(s):
		return s
	case isBlock(s):
		in := "\n" + strings.Repeat(" ", indent)
		return "|-" + in + strings.ReplaceAll(s, "\n", in)
	}
	return quote(s)
}

// isWord reports whether a text can stand in YAML as it is, and is nothing else there.
func isWord(s string) bool {
	if s == "" || !isLetter(s[0]) || s[len(s)-1] == ' ' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && (c < '0' || c > '9') && !strings.Contains("_-./ ,;()", string(rune(c))) {
			return false
		}
	}
	switch strings.ToLower(s) {
	case "true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf":
		return false
	}
	return true
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// isBlock reports whether a text of several lines can stand as a block.
func isBlock(s string) bool {
	if !strings.Contains(s, "\n") {
		return false
	}
	for line := range strings.SplitSeq(s, "\n") {
		if line == "" || strings.TrimSpace(line) != line || escaped.In(line) {
			return false
		}
	}
	return !strings.Contains(s, "---") && !strings.Contains(s, "...")
}

// escaped are the characters that are written by their numbers: what a person would not see,
// or YAML takes for the end of a line.
const escaped = plain.People | plain.Controls

// quote writes a text in double quotes.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case escaped.Has(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
