package paper_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lyceum/internal/society/lab/paper"

	"github.com/google/go-cmp/cmp"
)

const (
	a = "0123456789abcdef0123456789abcdef"
	b = "ffffffffffffffffffffffffffffffff"
	c = "cccccccccccccccccccccccccccccccc"
)

// short lets tests write A, B and C for references.
var short = strings.NewReplacer("A", a, "B", b, "C", c)

func TestReferences(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct{ text, want string }{
		"One":                   {"as in [A].", "A"},
		"Braces":                {"as in [{A}]", "A"},
		"Lists":                 {"[A, B] [A,{C}] [ {B} ,C ]", "A B C"},
		"AcrossLines":           {"[A,\nB]", "A B"},
		"OrderOfFirstMention":   {"[B] [A] [B]", "B A"},
		"Nothing":               {"plain [text] [] [1] [x](y) [^1]", ""},
		"TooShort":              {"[0123456789abcdef0123456789abcde]", ""},
		"TooLong":               {"[A0] [{A0}]", ""},
		"UpperCase":             {"[0123456789ABCDEF0123456789ABCDEF]", ""},
		"MixedLists":            {"[A, x] [A,] [,A] [A B] [{A] [A}] [{A,B}]", ""},
		"Unclosed":              {"[A and [B]", "B"},
		"Nested":                {"[see [A] there]", "A"},
		"Doubled":               {"[[A]]", "A"},
		"CodeSpan":              {"`[A]` [B]", "B"},
		"LongCodeSpan":          {"``` [A] ` `` ``` [B]", "B"},
		"CodeSpanOverLines":     {"`x\n[A]\ny` [B]", "B"},
		"ABacktickAlone":        {"a ` b [A]", "A"},
		"UnequalBackticks":      {"`` [A] ` [B]", "A B"},
		"CodeEndsWithItsBlock":  {"a ` b\n\n[A] ` c", "A"},
		"EscapedBacktick":       {"\\` [A] `", "A"},
		"EscapedBackticksMore":  {"\\`` [A] ` [B]", "B"},
		"BackslashInCode":       {"`\\` [A] `", "A"},
		"CodeInBrackets":        {"[`x` A] [B]", "B"},
		"Fence":                 {"```\n[A]\n```\n[B]", "B"},
		"FenceWithInfo":         {"```go [C]\n[A]\n```\n[B]", "B"},
		"Tildes":                {"~~~ `x`\n[A]\n```\n[A]\n~~~\n[B]", "B"},
		"IndentedFence":         {"  ```\n  [A]\n   ```\n[B]", "B"},
		"FenceNeedsItsLength":   {"````\n[A]\n```\n[A]\n````\n[B]", "B"},
		"FenceNeverClosed":      {"[B]\n```\n[A]\n", "B"},
		"FenceClosesWithoutTag": {"```\n[A]\n``` x\n[A]\n```\n[B]", "B"},
		"NoFence":               {"``` [A] ` x\n[B]", "A B"},
		"FenceInAList":          {"- x\n\n  ```\n  [A]\n  ```\n- [B]", "B"},
		"FenceInADeepList":      {"1. x\n   - y\n\n     ~~~\n     [A]\n     ~~~\n     [B]", "B"},
		"FenceEndsWithItsList":  {"- ```\n  [A]\n\n[B]", "B"},
		"FenceInAQuote":         {"> ```\n> [A]\n> ```\n> [B]", "B"},
		"FenceEndsWithItsQuote": {"> ```\n> [A]\n[B]", "B"},
		"IndentedCode":          {"x\n\n    [A]\n\n[B]", "B"},
		"IndentedCodeByATab":    {"\t[A]\n\n[B]", "B"},
		"IndentedText":          {"x\n    [A]", "A"},
		"IndentedInAList":       {"- x\n\n    [A]", "A"},
		"CodeInAList":           {"- x\n\n      [A]\n\n  [B]", "B"},
		"CodeAtOnceInAList":     {"-     [A]\n- [B]", "B"},
		"CodeInAQuote":          {">     [A]\n> [B]", "B"},
		"LazyQuote":             {"> x\n    [A]", "A"},
		"Link":                  {"[A](http://x) [B]", "B"},
		"LinkWithTitle":         {`[A](<x y> "t") [A](x 't') [A]( x (t) ) [A]() [B]`, "B"},
		"LinkAround":            {"[see [A] here](x) [B]", "B"},
		"LinkWithin":            {"[x [y](z) [A]](u) [B]", "A B"},
		"LinkWithParentheses":   {"[A](a(b)c) [A](a\\)b) [B]", "B"},
		"NoLink":                {"[A] (x) [B](x y) [C](", "A B C"},
		"Label":                 {"[A][x] [A][] [B]", "A B"},
		"SideBySide":            {"[A][B][C]", "A B C"},
		"ToADefinedLabel":       {"[A][B] [C]\n\n[B]: http://x", "C"},
		"Definition":            {"[A]: http://x\n[B]", "B"},
		"DefinitionWithTitle":   {"[A]: <http://x> 'of\nmore'\n[B]", "B"},
		"NoDefinition":          {"[A]: they show it\n[B]", "A B"},
		"NotInAParagraph":       {"x\n[A]: http://x", "A"},
		"Defined":               {"[A] and [x][A]\n\n[A]: http://x", ""},
		"Image":                 {"![A](x) ![x [A]](y) [B]", "B"},
		"LinkedImage":           {"[![A](x)](y) [B]", "B"},
		"Exclaimed":             {"It works![A]", "A"},
		"EscapedImage":          {"\\![A](x) [B]", "B"},
		"Escaped":               {"\\[A] [A\\] \\[A\\] [B]", "B"},
		"EscapedBackslash":      {"\\\\[A]", "A"},
		"Heading":               {"# On [A]\n[B]\n===\n[C]\n---", "A B C"},
		"Table":                 {"| [A] | `[B]` |\n|---|---|\n| [C] | |", "A C"},
		"Rule":                  {"[A]\n\n* * *\n    [B]\n\n[C]", "A C"},
		"HTML":                  {"<a title=\"[A]\"> <b x='[A]'/> <!-- [A] --> [B]", "B"},
		"NoHTML":                {"x <y [A] z> and 1 < 2 [B] > 1", "A B"},
		"Address":               {"<http://x/[A]> [B]", "B"},
		"CarriageReturns":       {"```\r\n[A]\r\n```\r\n[B]\r    [C]", "B C"},
		"ListEndsAParagraph":    {"x\n- [A]\n2. [B]\n\n\n    [C]", "A B C"},
		"NulAndGarbage":         {"\x00\xff[A]\xfe[B]\x00", "A B"},
		"Emphasis":              {"**[A]** _[B]_", "A B"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "UpperCase" {
				if got := paper.References(x.text); got != nil {
					t.Errorf("references where none are: got %q", got)
				}
				return
			}
			var want []string
			if x.want != "" {
				want = strings.Split(short.Replace(x.want), " ")
			}
			if diff := cmp.Diff(want, paper.References(short.Replace(x.text))); diff != "" {
				t.Errorf("references differ (-want +got) in %s\n%s", x.text, diff)
			}
		})
	}
}

func TestReferencesTakesLinearTime(t *testing.T) {
	t.Parallel()
	for _, piece := range []string{
		"[", "]", "[]", "`", "``x`", "<!--", "<a ", "<a b='", "[a](", "[a](b", "[a](b \"", "[a](<b", "![", "> ", "- ", "- \n", "\n", "1. ",
		"[x]: y\n", "[x]: y '", "[" + a + ",", "[" + a + "]", "\\", "    ", "\t", "```\n", "# ", "<a:", "[a][b", "(", "[[x](y)", "a`", "* ", "<a b=\"c\" ",
		"- - - - - - - - \n\n", ">>>>>>>>>>>>\n",
	} {
		took := func(n int) time.Duration {
			text := strings.Repeat(piece, n/len(piece)) + strings.Repeat("]", n/10) + strings.Repeat("\n", n/10) + "x"
			best := time.Hour
			for range 3 {
				from := time.Now()
				paper.References(text)
				best = min(best, time.Since(from))
			}
			return best
		}
		// The machine may have been busy with something else: what is slow is slow again.
		for try := 1; ; try++ {
			small, large := took(1<<13), took(1<<17)
			if large <= 100*small+20*time.Millisecond { // 16 times the text
				break
			}
			if try == 30 {
				t.Errorf("%q: %v for 8 KiB, %v for 128 KiB", piece, small, large)
				break
			}
		}
	}
}

func FuzzReferences(f *testing.F) {
	for _, s := range []string{"[A]", "`[A]` [{A}, B](x)", "> - ```\n[A]: <x> 'y'\n\n    [A]", "![a][A]\\[A]\n~~~", "1. a\n\n\t[A]<a b='[A]'>"} {
		f.Add(short.Replace(s))
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := paper.References(s)
		for i, ref := range got {
			if !paper.IsRef(ref) || slices.Contains(got[:i], ref) || !strings.Contains(s, ref) {
				t.Errorf("%q of %q", got, s)
			}
		}
		// What is in code cites nothing, whatever it is.
		fence := "```"
		for strings.Contains(s, fence) {
			fence += "`"
		}
		if in := paper.References(fence + "\n" + s + "\n" + fence); in != nil {
			t.Errorf("%q are cited in code: %q", in, s)
		}
		// And one that stands alone cites, whatever came before: a heading ends
		// everything but a block of code.
		if !strings.Contains(s, "```") && !strings.Contains(s, "~~~") && !strings.Contains(s, a) {
			if after := paper.References(s + "\n\n# x\n\n" + short.Replace("[A]")); !slices.Contains(after, a) {
				t.Errorf("nothing is cited after %q: %q", s, after)
			}
		}
	})
}
