package bundle

import (
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// TestFormulas: what is read, and how it is written in both forms.
func TestFormulas(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]struct{ tex, html string }{
		"x":                       {"x", "<mi>x</mi>"},
		"x^2":                     {"x^{2}", "<msup><mi>x</mi><mn>2</mn></msup>"},
		"x^12":                    {"x^{1}2", "<msup><mi>x</mi><mn>1</mn></msup><mn>2</mn>"},
		"x_{i j}^{n}":             {"x_{ij}^{{n}}", "<msubsup><mi>x</mi><mrow><mi>i</mi><mi>j</mi></mrow><mrow><mi>n</mi></mrow></msubsup>"},
		"f''_0":                   {`f_{0}^{\prime \prime }`, "<msubsup><mi>f</mi><mn>0</mn><mrow><mo>′</mo><mo>′</mo></mrow></msubsup>"},
		`\frac12`:                 {`\frac{1}{2}`, "<mfrac><mn>1</mn><mn>2</mn></mfrac>"},
		`\frac{a+b}{\sqrt{c}}`:    {`\frac{a+b}{\sqrt{c}}`, "<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mrow><msqrt><mrow><mi>c</mi></mrow></msqrt></mrow></mfrac>"},
		`\sqrt[3]{x}`:             {`\sqrt[{3}]{x}`, "<mroot><mrow><mi>x</mi></mrow><mrow><mn>3</mn></mrow></mroot>"},
		`\alpha\beta`:             {`\alpha \beta `, "<mi>α</mi><mi>β</mi>"},
		"α ≤ µ":                   {`\alpha \leq \mu `, "<mi>α</mi><mo>≤</mo><mi>μ</mi>"},
		`\sum_{i=1}^n x_i`:        {`\sum _{i=1}^{n}x_{i}`, "<msubsup><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></msubsup><msub><mi>x</mi><mi>i</mi></msub>"},
		`\log x`:                  {`\log x`, `<mi>log</mi><mspace width="0.167em"/><mi>x</mi>`},
		`\left(\frac ab\right)^2`: {`\left( \frac{a}{b}\right) ^{2}`, `<msup><mrow><mo fence="true" stretchy="true">(</mo><mfrac><mi>a</mi><mi>b</mi></mfrac><mo fence="true" stretchy="true">)</mo></mrow><mn>2</mn></msup>`},
		`\left.x\right|`:          {`\left. x\right| `, `<mrow><mi>x</mi><mo fence="true" stretchy="true">|</mo></mrow>`},
		`a<b>c`:                   {"a<b>c", "<mi>a</mi><mo>&lt;</mo><mi>b</mi><mo>&gt;</mo><mi>c</mi>"},
		`1{,}234.5\,\mathrm{kWh}`: {`1{,}234.5\,\mathrm{kWh}`, `<mn>1,234.5</mn><mspace width="0.167em"/><mi>kWh</mi>`},
		`\text{if } n-1`:          {`\text{if }n-1`, "<mtext>if\u00a0</mtext><mi>n</mi><mo>−</mo><mn>1</mn>"},
		`\hat{y}_{t+h}`:           {`\hat{y}_{t+h}`, `<msub><mover accent="true"><mrow><mi>y</mi></mrow><mo stretchy="false">^</mo></mover><mrow><mi>t</mi><mo>+</mo><mi>h</mi></mrow></msub>`},
		`\mathbb{R}\mathbf{x}`:    {`\mathbb{R}\mathbf{x}`, "<mi>ℝ</mi><mi>𝐱</mi>"},
		`\binom{n}{k}`:            {`\binom{n}{k}`, `<mrow><mo fence="true" stretchy="true">(</mo><mfrac linethickness="0"><mrow><mi>n</mi></mrow><mrow><mi>k</mi></mrow></mfrac><mo fence="true" stretchy="true">)</mo></mrow>`},
		`\{0\}\%`:                 {`\{0\}\%`, `<mo stretchy="false">{</mo><mn>0</mn><mo stretchy="false">}</mo><mo>%</mo>`},
		"x^2^3":                   {"x^{2}{}^{3}", "<msup><mi>x</mi><mn>2</mn></msup><msup><mrow></mrow><mn>3</mn></msup>"},
		`\begin{align} a &= b^2 \\ &\le 1 \end{align}`:      {`\begin{aligned}a&=b^{2}\\&\le 1\end{aligned}`, `<mrow><mtable displaystyle="true"><mtr><mtd class="left-of"><mi>a</mi></mtd><mtd class="right-of"><mo>=</mo><msup><mi>b</mi><mn>2</mn></msup></mtd></mtr><mtr><mtd class="left-of"></mtd><mtd class="right-of"><mo>≤</mo><mn>1</mn></mtd></mtr></mtable></mrow>`},
		`\begin{pmatrix}1&0\\[2pt] 0&1\\\end{pmatrix}^T`:    {`\begin{pmatrix}1&0\\0&1\end{pmatrix}^{T}`, `<msup><mrow><mo fence="true" stretchy="true">(</mo><mtable><mtr><mtd class="entry"><mn>1</mn></mtd><mtd class="entry"><mn>0</mn></mtd></mtr><mtr><mtd class="entry"><mn>0</mn></mtd><mtd class="entry"><mn>1</mn></mtd></mtr></mtable><mo fence="true" stretchy="true">)</mo></mrow><mi>T</mi></msup>`},
		`f=\begin{cases}x&\text{if } x>0\\0\end{cases}`:     {`f=\begin{cases}x&\text{if }x>0\\0\end{cases}`, "<mi>f</mi><mo>=</mo><mrow><mo fence=\"true\" stretchy=\"true\">{</mo><mtable><mtr><mtd class=\"case\"><mi>x</mi></mtd><mtd class=\"case\"><mtext>if\u00a0</mtext><mi>x</mi><mo>&gt;</mo><mn>0</mn></mtd></mtr><mtr><mtd class=\"case\"><mn>0</mn></mtd></mtr></mtable></mrow>"},
		`\begin{aligned} [a] &= b\\ *&\\ [1pt\end{aligned}`: {`\begin{aligned}{}[a]&=b\\{}*&\\{}[1pt\end{aligned}`, `<mrow><mtable displaystyle="true"><mtr><mtd class="left-of"><mo stretchy="false">[</mo><mi>a</mi><mo stretchy="false">]</mo></mtd><mtd class="right-of"><mo>=</mo><mi>b</mi></mtd></mtr><mtr><mtd class="left-of"><mo>∗</mo></mtd><mtd class="right-of"></mtd></mtr><mtr><mtd class="left-of"><mo stretchy="false">[</mo><mn>1</mn><mi>p</mi><mi>t</mi></mtd></mtr></mtable></mrow>`},
		`^2`: {"{}^{2}", "<msup><mrow></mrow><mn>2</mn></msup>"},
	} {
		f := readFormula(source)
		if f == nil {
			t.Errorf("%s is no formula", source)
			continue
		}
		if got := f.latex(); got != want.tex {
			t.Errorf("%s is %s in TeX, want %s", source, got, want.tex)
		}
		if got, want := f.mathML(false), "<math>"+want.html+"</math>"; got != want {
			t.Errorf("%s is %s in a page, want %s", source, got, want)
		}
	}
	if got := readFormula(`\sum_i^n`).mathML(true); got != `<math display="block"><munderover><mo>∑</mo><mi>i</mi><mi>n</mi></munderover></math>` {
		t.Errorf("a sum by itself is %s, want its limits below and above", got)
	}
}

// TestWhatIsNoFormula: commands of TeX, whatever could end a formula or begin something else, and what
// TeX would stop at.
func TestWhatIsNoFormula(t *testing.T) {
	t.Parallel()
	for _, source := range []string{
		"", " ", `\write18{id}`, `\input{/etc/passwd}`, `\input x`, `\openout1=x`, `\def\x{1}`, `\csname write\endcsname`, `\catcode`, `\begin{document}`, `\end{document}`, `\alphax`,
		"a%b", "a&b", "a#b", "a$b", "$", `a\\b`, `a\`, "^^5c", `\^^69nput`, "{", "}", "{a", "a}", "x^", "x_", "x^}", `\frac1`, `\frac`, `\sqrt[3`, `\sqrt`, `\left(x`, `x\right)`, `\left x\right)`,
		`\text{\input{x}}`, `\text{$x$}`, `\text{}`, `\text x`, `\mathrm{ä}`, `\mathbb{x}`, `\mathcal{1}`, `\color{red}x`, `\phantom{12.5}`, `\href{javascript:x}{y}`, `\over`, "a\x00b", "é", "中", "\u202e", `"`, "`", `\"`, "@",
		`\begin{matrix}`, `\begin{matrix}\end{matrix}`, `\begin{matrix}&\\&\end{matrix}`, `\begin{matrix}a\end{pmatrix}`, `\begin{matrix}{a\\b}\end{matrix}`, `\begin{matrix}{a&b}\end{matrix}`, `\begin{matrix}\left(a&b\right)\end{matrix}`, `\begin{aligned}[t]a\end{aligned}`,
		`\begin{array}{c}a\end{array}`, `\begin{verbatim}a\end{verbatim}`, `\begin {matrix}a\end{matrix}`, `\begin{matrix}a\end{matrix}\end{matrix}`, `a\end{matrix}`, `\begin{cases}a&b&c\end{cases}`, `\begin{matrix}a\hline b\end{matrix}`, `\begin{matrix}a\\[\input{x}]b\end{matrix}`,
		`\begin{pmatrix}` + strings.Repeat("a&", 10) + `a\end{pmatrix}`, `\begin{matrix}` + strings.Repeat(`a\\`, 41) + `\end{matrix}`, strings.Repeat(`\begin{matrix}`, 13) + "a" + strings.Repeat(`\end{matrix}`, 13),
		strings.Repeat("{", 20) + strings.Repeat("}", 20), strings.Repeat("x", maxFormula+1), strings.Repeat(`\sqrt{`, 50) + "x" + strings.Repeat("}", 50),
	} {
		if f := readFormula(source); f != nil {
			t.Errorf("%.60q is taken for the formula %.60s", source, f.latex())
		}
	}
}

// TestWhatAFormulaClaims: values count, and what merely belongs to a formula does not.
func TestWhatAFormulaClaims(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"12.41":                           "12.41",
		`\mathrm{MAE} = 3.80`:             "MAE = 3.80",
		`e = 3.80\,\mathrm{kWh}`:          "= 3.80 kWh",
		"k = 3":                           "= 3",
		"5":                               "5",
		"2x^2 + 1":                        "+",
		`\frac{1}{2}\sum_{i=1}^{n} x_i^2`: "/ ∑ =",
		"x_{12.41}":                       "12.41",
		"x + 12.41":                       "+12.41",
		`i = 1, \ldots, n`:                "= ,…,",
		"x + 2 0_1":                       "+20",
		"x + 1{.}5":                       "+1.5",
		`p < 0.05`:                        "< 0.05",
		`3.8 \times 10^{2}`:               "3.8×10^2",
		`n = 1{,}234`:                     "= 1,234",
		`t+1, t-1`:                        "+ , −",
		`\mathrm{error} \approx 9.7\%`:    "error ≈ 9.7%",
		`\text{12.5 percent}`:             "12.5 percent",
		`\sqrt{2} \le \left(77\right)`:    "2 ≤ 77",
		`\frac{3}{4}`:                     "3/4",
		`x^{99}`:                          "99",
		`\hat{42}`:                        "42",
		`10^{-3}`:                         "10^−3",
		`\begin{align}e &= 3.80\\ k &= 3\\ x^2 &= y+1\end{align}`: "=3.80;=3;=+;",
		`\begin{pmatrix}1 & 0.25\end{pmatrix}`:                    "1;0.25;",
		`f = \begin{cases}0 & x < 1\\ 12 & x\end{cases}`:          "=;<;12;;",
	} {
		f := readFormula(source)
		if f == nil {
			t.Errorf("%s is no formula", source)
			continue
		}
		if got := f.claims(); thin(got) != thin(want) {
			t.Errorf("%s claims %q, want %q", source, got, want)
		}
	}
}

// mathElements are all that a formula is made of in a page.
var mathElements = strings.Fields("math mrow mn mi mo mtext mspace mfrac msqrt mroot msub msup msubsup munder mover munderover mtable mtr mtd")

// FuzzFormula: what is read is written by our own names in TeX, is well formed in a page with elements
// of formulas alone, and is the same formula when it is read again as it was written.
func FuzzFormula(f *testing.F) {
	for _, s := range []string{`\frac{a}{b}`, `x'^{2}_1`, `\left(\sqrt[3]{x}\right]`, `\text{a b}\,1{,}2`, `\write18{x}`, `^^5cinput`, `α≤\mathbb{R}`, `{{x}}^{y}`, `\begin{align}a&=b\\[1pt]&=c\end{align}`, `\begin{cases}\begin{bmatrix}[1\\ *\end{bmatrix}&x\\\end{cases}`, `\hat\frac12`, `\sum_{i}^n\!x`} {
		f.Add(s)
	}
	names := strings.Fields(strings.NewReplacer(`\`, " ").Replace(strings.Join(fences, " ")) + " frac dfrac tfrac binom sqrt left right prime begin end")
	for s := range symbols {
		names = append(names, strings.TrimPrefix(s, `\`))
	}
	for s := range mathAccents {
		names = append(names, s)
	}
	for s := range styles {
		names = append(names, s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		x := readFormula(source)
		if x == nil {
			return
		}
		tex := x.latex()
		if strings.ContainsAny(strings.NewReplacer(`\%`, "", `\$`, "", `\&`, "", `\#`, "").Replace(outsideTables(t, tex)), "%$&#") || strings.Contains(outsideTables(t, tex), `\\`) || strings.Contains(tex, "^^") || strings.Contains(tex, "\n\n") {
			t.Errorf("%q is %q in TeX, with a sign that it means something by", source, tex)
		}
		for rest := tex; ; {
			i := strings.IndexByte(rest, '\\')
			if i < 0 {
				break
			}
			n := i + 1
			for n < len(rest) && asciiLetter(rune(rest[n])) {
				n++
			}
			if n == i+1 {
				n++
			}
			if rest[i:min(n, len(rest))] == `\\` { // of a table
				rest = rest[n:]
				continue
			}
			if n > len(rest) || !slices.Contains(names, rest[i+1:n]) {
				t.Fatalf("%q is %q in TeX, with a command that is none of ours", source, tex)
			}
			rest = rest[n:]
		}
		depth := 0
		for i, c := range tex {
			if i > 0 && tex[i-1] == '\\' {
				continue
			}
			if depth += strings.Count("{", string(c)) - strings.Count("}", string(c)); depth < 0 {
				break
			}
		}
		if depth != 0 {
			t.Errorf("%q is %q in TeX, with groups that do not close", source, tex)
		}
		for _, display := range []bool{false, true} {
			wellFormed(t, x.mathML(display))
		}
		again := readFormula(tex)
		if again == nil && len(tex) <= maxFormula && !strings.Contains(tex, `\prime`) && deepest(tex)+strings.Count(tex, `\left`)+strings.Count(tex, "[")+strings.Count(tex, `\begin`) < maxFormulaDepth {
			t.Fatalf("%q is %q in TeX, which is no formula", source, tex)
		}
		if again != nil && !strings.Contains(tex, `\prime`) && thin(again.claims()) != thin(x.claims()) {
			t.Errorf("%q claims %q, and %q claims %q", source, x.claims(), tex, again.claims())
		}
	})
}

// outsideTables is what TeX is given without what ends cells and lines of tables, each of which ends as it began.
// What TeX could take for an option of either is not there.
func outsideTables(t *testing.T, tex string) string {
	var open []string
	var out strings.Builder
	for i := 0; i < len(tex); i++ {
		rest := tex[i:]
		end := func(n int) {
			if i += n - 1; strings.HasPrefix(tex[i+1:], "[") || strings.HasPrefix(tex[i+1:], "*") {
				t.Errorf("%q has what TeX takes for an option at %d", tex, i)
			}
		}
		name, _, _ := strings.Cut(rest[min(len(rest), strings.IndexByte(rest, '{')+1):], "}")
		switch {
		case strings.HasPrefix(rest, `\begin{`):
			if open = append(open, name); mathTables[name] == nil {
				t.Errorf("%q begins a %q", tex, name)
			}
			end(len(`\begin{}`) + len(name))
		case strings.HasPrefix(rest, `\end{`):
			if len(open) == 0 || open[len(open)-1] != name {
				t.Fatalf("%q ends a %q among %q", tex, name, open)
			}
			open = open[:len(open)-1]
			i += len(`\end{}`) + len(name) - 1
		case len(open) > 0 && strings.HasPrefix(rest, `\\`):
			end(2)
		case len(open) > 0 && rest[0] == '&':
		case rest[0] == '\\' && len(rest) > 1:
			out.WriteString(rest[:2])
			i++
		default:
			out.WriteByte(rest[0])
		}
	}
	if len(open) > 0 {
		t.Errorf("%q leaves %q open", tex, open)
	}
	return out.String()
}

// thin is a text without its spaces.
func thin(s string) string { return strings.NewReplacer(" ", "", "\u2009", "").Replace(s) }

func deepest(s string) (most int) {
	depth := 0
	for _, c := range s {
		depth += strings.Count("{", string(c)) - strings.Count("}", string(c))
		most = max(most, depth)
	}
	return most
}

// wellFormed checks that a formula is elements of formulas, with no attribute but those we give.
func wellFormed(t *testing.T, page string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(page))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%s is not well formed: %v", page, err)
		}
		if e, ok := token.(xml.StartElement); ok {
			if !slices.Contains(mathElements, e.Name.Local) {
				t.Fatalf("%s has an element %s", page, e.Name.Local)
			}
			for _, a := range e.Attr {
				if !slices.Contains([]string{"display", "width", "stretchy", "fence", "accent", "linethickness", "mathvariant", "displaystyle", "class"}, a.Name.Local) {
					t.Fatalf("%s has an attribute %s", page, a.Name.Local)
				}
			}
		}
	}
}
