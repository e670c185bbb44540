package service_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/service"
	"lyceum/internal/society/stages/bundle"
)

// interopText is a paper with all that a paper can have. Half of it is hostile.
const interopText = `## Results of $\hat{y}_{t+1}$

The error is $e = 1.5$ [result-1], *not* **9.25**, ~~or~~ ` + "`9.25`" + `. See [@fig:drawn], [@fig:points] and [@fig:pages] and [@known, p. 3; @unknown].

$$
\left(\frac{1}{n}\sum_{i=1}^{n}\left|y_i-\hat{y}_i\right|^2\right)^{1/2} \le \sqrt[3]{\alpha + \beta'} \text{ für } x \in \mathbb{R}, \mathcal{L}, \mathbf{w}, \operatorname{MAE}
$$

$$
\begin{align*} a &= b^2 & c &= \begin{cases} 1 & \text{if } x \ge 0 \\ 0 & \text{else} \end{cases} \\ [d] &\le \begin{bmatrix} 1 & 2 \\ * & [3pt] \end{bmatrix} \begin{vmatrix} e \end{vmatrix} \end{align*}
$$

$$\begin{pmatrix} \begin{matrix} 1 & 2 \end{matrix} & \frac{\alpha}{2} \end{pmatrix}$$

| way $x_1$ | error & more |
|:--|--:|
| last_value #1 | $12\%$ |

1. one
   - two
     > three ^ ~ \ { } % $ _

![Errors](fig:drawn)

` + "```\n\\end{quote}\\immediate\\write18{touch pwned} %\n```" + `

\input{/etc/passwd} $\input{/etc/passwd}$ \write18{touch pwned} \openout1=pwned ^^5cinput{x} \csname input\endcsname \catcode92=12 $$\def\x{\x}\x$$

And <script>alert(1)</script> [link](https://example.org/a_b%20c#d) “quotes” – ä é ł ş α ≤ ½ 5 °C ą þ ŋ

## Limits

There are some.
`

// plot is a program by matplotlib that draws a figure in our style; more comes before it is written.
func plot(file, more string) string {
	return `import os, time
import matplotlib.pyplot as plt
fig, ax = plt.subplots()
for i in range(6):
    ax.plot([0, 1, 2], [i, i + 1.5, i + 1], label=f"way {i}")
ax.fill_between([0, 1], [0, 1], alpha=.2, hatch="//")
ax.set_xlabel("month $t$")
ax.legend()
` + more + `
fig.savefig("` + file + `")
`
}

// interopPaper is the variable that names the TeX programs that papers are to be set by.
const interopPaper = "LYCEUM_INTEROP_PAPER"

// interop is a paper as it is asked for.
type interop struct {
	text    string
	figures []string // files that programs of the same name write
	tex     [][]string
	patient time.Duration
}

// make makes it in sandboxes of this machine, and returns its files.
func (x *interop) make(t *testing.T) (r *event.BundleResult, files map[string]string) {
	t.Helper()
	programs := map[string]string{
		"paper.md": x.text, "refs.bib": `@book{known, title={Known \input{/etc/passwd} \& more}, author={B{\"o}x, G.}, year=2001, url={https://example.org/x_y}}`, "data.csv": "a,30\nb,60\n",
	}
	var figures []event.BundleFigure
	for _, file := range x.figures {
		id := strings.TrimSuffix(file, filepath.Ext(file))
		f := figure(id, id+".py")
		f.Output = file
		figures = append(figures, f)
		programs[id+".py"] = plot(file, map[string]string{
			"clock": "ax.set_title(str(time.time_ns()))", "unsalted": "plt.rcParams['svg.hashsalt'] = None",
		}[id])
	}
	rt := inQuest(t, func(ctx context.Context, q *runtime.Quest) error {
		b, err := bundleCall(ctx, t, q, figures...)
		if err != nil {
			return err
		}
		if b.Tree, err = treeWith(ctx, t, q.Blobs, programs); err != nil {
			return err
		}
		r, err = service.BundleOf(ctx, q, 50, b, x.tex, x.patient)
		return err
	})
	if r == nil || r.Tree == nil {
		t.Fatalf("no paper was made: %+v", r)
	}
	return r, namesOf(t.Context(), t, rt, *r.Tree)
}

// engine are the arguments of a TeX as we run it.
func engine(t *testing.T, name string) []string {
	t.Helper()
	i := slices.IndexFunc(service.Engines(), func(e []string) bool { return e[0] == name })
	if i < 0 {
		t.Fatalf("%s is no TeX that we know", name)
	}
	return service.Engines()[i]
}

// TestPapersForInterop has papers set by Debian's TeX and figures drawn by its matplotlib, in sandboxes:
// scripts/interop.d/paper installs them, and names the programs. With LYCEUM_INTEROP_LOOK the files are
// kept there.
func TestPapersForInterop(t *testing.T) {
	programs := strings.Fields(os.Getenv(interopPaper))
	if len(programs) == 0 {
		return // nobody asks for it
	}
	for _, name := range programs {
		t.Run(name, func(t *testing.T) {
			t.Run("TwiceTheSame", func(t *testing.T) { twiceTheSame(t, name) })
			t.Run("OtherScripts", func(t *testing.T) { otherScripts(t, name) })
			t.Run("CommandsDoNothing", func(t *testing.T) { commandsDoNothing(t, name) })
			t.Run("OneThatHangsIsEnded", func(t *testing.T) { hangs(t, name) })
		})
	}
	t.Run("FiguresThatDiffer", func(t *testing.T) {
		x := &interop{text: "## Limits\n\nSome.\n", figures: []string{"clock.svg", "unsalted.svg"}}
		r, _ := x.make(t)
		for _, f := range r.Figures {
			if f.Verdict != bundle.Differs || !strings.Contains(f.Why, "two runs made different files") {
				t.Errorf("a figure with a clock, or with ids by chance, is told as %+v", f)
			}
		}
		if r.PDF != "missing" || !strings.Contains(r.Why, "no TeX") {
			t.Errorf("without TeX the PDF is %s: %s", r.PDF, r.Why)
		}
	})
	t.Run("ByTheText", func(t *testing.T) {
		for text, want := range map[string]string{"plain": "pdflatex", "Привет": "xelatex"} {
			if !slices.Contains(programs, want) {
				continue
			}
			// Each writes its name where a PDF should be: which is told.
			var tex [][]string
			for _, e := range service.Engines() {
				tex = append(tex, []string{e[0], "-version"})
			}
			r, _ := (&interop{text: text, tex: tex}).make(t)
			if !strings.HasPrefix(r.Why, want+":") {
				t.Errorf("%q is set by %s, want %s", text, r.Why, want)
			}
		}
	})
}

// twiceTheSame: the whole paper, with formulas and figures of each form, comes out twice to the byte.
func twiceTheSame(t *testing.T, name string) {
	x := &interop{text: interopText, figures: []string{"drawn.svg"}, tex: [][]string{engine(t, name)}}
	if name == "pdflatex" { // matplotlib draws the same for all of them
		x.figures = append(x.figures, "points.png", "pages.pdf")
	}
	r, first := x.make(t)
	if r.PDF != "made" || strings.Contains(r.Why, "drawings") {
		t.Fatalf("the PDF is %s: %s", r.PDF, r.Why)
	}
	for _, f := range r.Figures {
		if f.Verdict != bundle.Same || f.File == nil {
			t.Errorf("a figure by matplotlib is told as %+v, want the same twice", f)
		}
	}
	_, second := x.make(t)
	if len(first) != len(second) || len(first) < 7 {
		t.Errorf("it has %d files, and %d when it is made again", len(first), len(second))
	}
	for path, data := range first {
		if second[path] != data {
			t.Errorf("%s differs when it is made again", path)
		}
		if dir := os.Getenv("LYCEUM_INTEROP_LOOK"); dir != "" {
			path = filepath.Join(dir, name, path)
			must(t, os.MkdirAll(filepath.Dir(path), 0o700))
			must(t, os.WriteFile(path, []byte(data), 0o600))
		}
	}
	if pdf := []byte(first["paper.pdf"]); !bundle.WholePDF(pdf) || len(pdf) < 10_000 || bytes.Contains(pdf, []byte("/CreationDate (D:20")) {
		t.Errorf("the PDF has %d bytes, or says when it was made", len(pdf))
	}
}

// otherScripts: a text in any letters is set, and what no font has is told.
func otherScripts(t *testing.T, name string) {
	for text, told := range map[string]bool{"Łódź, Čeština, ħ": name == "pdflatex", "## Привет *мир* Ж\n\nПривет `мир`": name != "xelatex", "中 שלום مرحبا नमस्ते e\u0331 🙂 ﬁ": true} {
		r, _ := (&interop{text: text, tex: [][]string{engine(t, name)}}).make(t)
		if r.PDF != "made" || strings.Contains(r.Why, "[U+") != told {
			t.Errorf("%q is %s: %q, want it told that letters are missing: %v", text, r.PDF, r.Why, told)
		}
	}
}

// commandsDoNothing: as we run it, TeX starts no program, and reads and writes no file of elsewhere,
// whatever stands in its input.
func commandsDoNothing(t *testing.T, name string) {
	for what, command := range map[string]string{
		"Runs":   `\immediate\write18{touch pwned}\ifx\directlua\undefined\else\directlua{pcall(os.execute, "touch pwned")}\fi`,
		"Reads":  `\newread\f\openin\f=/etc/hostname \ifeof\f\else\immediate\openout1=pwned \fi\openin\f=../../../../etc/ld.so.conf \ifeof\f\else\immediate\openout1=pwned \fi`,
		"Writes": `\immediate\openout1=/tmp/pwned \immediate\write1{x}\immediate\closeout1`,
	} {
		script := `cat > "$0" <<'END'
\documentclass{article}\begin{document}` + command + ` x\end{document}
END
` + strings.Join(engine(t, name), " ") + ` "$0" >log 2>&1
ls -d pwned* /tmp/pwned* 2>/dev/null && exit 9
printf '%%PDF-1.5\nstartxref\n9\n%%%%EOF\n' > paper.pdf`
		if r, _ := (&interop{text: "x", tex: [][]string{{"sh", "-c", script}}}).make(t); r.PDF != "made" {
			t.Errorf("%s: a command of TeX does something: %s", what, r.Why)
		}
	}
	// The test sees what is done: with shell escape, the same command makes a file.
	script := `printf '\\documentclass{article}\\begin{document}\\immediate\\write18{touch pwned}x\\end{document}' > "$0"; shell_escape=t ` + name + ` -shell-escape -interaction=nonstopmode "$0" >log 2>&1; test -e pwned && exit 9; exit 0`
	if r, _ := (&interop{text: "x", tex: [][]string{{"sh", "-c", script}}}).make(t); name != "lualatex" && !strings.Contains(r.Why, "exit code 9") {
		t.Errorf("a program that TeX may start leaves no trace that the test sees: %s: %s", r.PDF, r.Why)
	}
}

func hangs(t *testing.T, name string) {
	script := `printf '\\documentclass{article}\\begin{document}\\def\\x{\\x}\\x\\end{document}' > "$0"; exec ` + strings.Join(engine(t, name), " ") + ` "$0"`
	r, files := (&interop{text: "x", tex: [][]string{{"sh", "-c", script}}, patient: 3 * time.Second}).make(t)
	if r.PDF != "failed" || !strings.Contains(r.Why, "limit on wall time") || files["paper.html"] == "" {
		t.Errorf("a TeX that hangs leaves %s: %s", r.PDF, r.Why)
	}
}
