package demo

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const briefLength = 160

// brief is a text on one line, cut in the middle if it is long.
func brief(text string) string {
	text = strings.Join(strings.Fields(strings.ReplaceAll(text, "\n", "; ")), " ")
	if len(text) <= briefLength {
		return text
	}
	runes := []rune(text)
	if len(runes) <= briefLength {
		return text
	}
	return string(runes[:briefLength-40]) + " … " + string(runes[len(runes)-35:])
}

// difference shows where two results part.
func difference(a, b *trial) string {
	if a.fault != "" || b.fault != "" {
		return a.told() + ", and " + b.told()
	}
	x, y := strings.Split(a.result, "\n"), strings.Split(b.result, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] == y[i] {
			continue
		}
		if len(x[i]) <= briefLength && len(y[i]) <= briefLength {
			return fmt.Sprintf("%q against %q", x[i], y[i])
		}
		k := 0
		for k < len(x[i]) && k < len(y[i]) && x[i][k] == y[i][k] {
			k++
		}
		return fmt.Sprintf("they part at character %d, %q against %q", k+1, around(x[i], k), around(y[i], k))
	}
	return fmt.Sprintf("%d lines against %d", len(x), len(y))
}

func around(s string, k int) string {
	return strings.ToValidUTF8(s[max(0, min(k-8, len(s))):min(k+8, len(s))], "")
}

func sentenceCase(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if n == 0 {
		return s
	}
	return string(unicode.ToUpper(r)) + s[n:]
}

// quoted is a text as a quotation in Markdown.
func quoted(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSpace(text)) {
		b.WriteString("> " + strings.TrimRight(line, "\r\n") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// grouped writes a number with commas.
func grouped(n string) string {
	if len(n) < 5 || len(n) > 30 {
		return n
	}
	for i := len(n) - 3; i > 0 && n[i-1] != '-'; i -= 3 {
		n = n[:i] + "," + n[i:]
	}
	return n
}

// program makes Starlark of a Go literal: it drops the tabs that all lines have,
// and puts values in for {name}.
func program(text string, pairs ...any) string {
	text = strings.TrimPrefix(text, "\n")
	indent := text[:len(text)-len(strings.TrimLeft(text, "\t"))]
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(strings.ReplaceAll(strings.TrimPrefix(line, indent), "\t", "    "))
	}
	var put []string
	for i := 0; i < len(pairs); i += 2 {
		put = append(put, fmt.Sprintf("{%v}", pairs[i]), fmt.Sprint(pairs[i+1]))
	}
	return strings.NewReplacer(put...).Replace(strings.TrimSpace(b.String())) + "\n"
}

// mistake is code with a part of it replaced by something wrong.
func mistake(code, part, wrong, what string) slip {
	if strings.Count(code, part) != 1 {
		panic("demo: a mistake must be in one place: " + part)
	}
	return slip{strings.Replace(code, part, wrong, 1), what}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
