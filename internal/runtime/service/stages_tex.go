package service

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/society/stages/bundle"
)

// What became of a paper's PDF.
const (
	pdfMade    = "made"
	pdfMissing = "missing"
	pdfFailed  = "failed"
)

// Bounds of TeX. It runs twice, for what refers to what comes later.
const (
	maxTeX = 2 * time.Minute
	maxPDF = 64 << 20
)

// engine is a program that sets LaTeX, with how it is told that it may run no other program, asks
// nobody, and ends at the first error.
type engine []string

// lualatex is not told to be --safer: it would find no font then.
var engines = []engine{
	{pdflatex, "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", "-file-line-error"},
	{"xelatex", "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", "-file-line-error"},
	{"lualatex", "--no-shell-escape", "--interaction=nonstopmode", "--halt-on-error", "--file-line-error"},
}

// pdflatex is the engine that is quickest, and has letters of Europe alone.
const pdflatex = "pdflatex"

// texEnv keeps TeX from files outside of its folder, and from the time of day.
var texEnv = []string{
	"openin_any=p", "openout_any=p", "shell_escape=f", "SOURCE_DATE_EPOCH=0", "FORCE_SOURCE_DATE=1", "TEXMFVAR=/tmp/texmf-var", "TZ=UTC", "max_print_line=1000",
}

// drawings makes PDFs of SVGs for TeX, which reads none, if there is a program that can.
const drawings = `set -e
for f in figures/*.svg; do
	[ -e "$f" ] || continue
	if command -v rsvg-convert >/dev/null; then rsvg-convert -f pdf -o "${f%.svg}.pdf" "$f"
	elif command -v inkscape >/dev/null; then inkscape --export-type=pdf --export-filename="${f%.svg}.pdf" "$f"
	else echo "there is no rsvg-convert or inkscape" >&2; exit 1
	fi
done`

// typeset makes the PDF of a paper, if the computer has TeX. What comes of it stands in the result;
// that there is none is no error of the paper.
func (x *bundling) typeset(ctx context.Context, files []bundle.File, r *event.BundleResult) (pdf []byte, err error) {
	say := func(status, why string) {
		r.PDF, r.Why = status, runtime.AtMost(x.q.Redact(why), 600)
	}
	if x.q.Driver == nil {
		say(pdfMissing, "this quest has no computers to run TeX in")
		return nil, nil
	}
	f := x.q.Fresh(fmt.Sprintf("tex-%d", x.seq))
	fault, err := f.Use(ctx, furnishTeX(files), func(c *computer.Computer, _ *event.ComputerStarted) error {
		e, err := x.engine(ctx, c, files)
		if err != nil {
			return err
		}
		if e == nil {
			say(pdfMissing, "the computer has no TeX: open "+bundle.FileHTML+" and print it, or give the quest an image with TeX")
			return nil
		}
		why, err := x.drawings(ctx, c, files)
		if err != nil {
			return err
		}
		fault, lacks, err := setTwice(ctx, c, e, cmp.Or(x.patience, maxTeX))
		if err != nil {
			return err
		}
		if fault == "" {
			pdf, fault, err = written(f.Place.Home, bundle.FilePDF, maxPDF)
		}
		if err == nil && fault == "" && !bundle.WholePDF(pdf) {
			fault = "it says that all went well, and what it wrote is no whole PDF"
		}
		if fault != "" {
			pdf = nil
			say(pdfFailed, e[0]+": "+fault)
			return err
		}
		if lacks {
			why = strings.TrimPrefix(why+"; characters that no font there has stand as [U+…] in the PDF, and as they are in "+bundle.FileHTML, "; ")
		}
		say(pdfMade, why)
		return err
	})
	if fault != "" {
		say(pdfFailed, fault)
	}
	return pdf, err
}

// engine is the first that the computer has, nil if it has none. For a text in other letters than those
// of Europe newer ones come first.
func (x *bundling) engine(ctx context.Context, c *computer.Computer, files []bundle.File) (engine, error) {
	list := slices.Clone(x.engines)
	if slices.ContainsFunc(files, func(f bundle.File) bool { return f.Path == bundle.FileLaTeX && bundle.Wide(f.Data) }) {
		old := func(e engine) int { return strings.Count(e[0], pdflatex) }
		slices.SortStableFunc(list, func(a, b engine) int { return old(a) - old(b) })
	}
	for i, e := range list {
		res, err := c.Run(ctx, computer.Command{ID: fmt.Sprintf("look-%d", i), Args: []string{"sh", "-c", `command -v "$0"`, e[0]}, Timeout: 10 * time.Second})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil && res.Exit == 0 && res.End == "" {
			return e, nil
		}
	}
	return nil, nil
}

// drawings makes what TeX can include of the SVGs. why says that there is none.
func (x *bundling) drawings(ctx context.Context, c *computer.Computer, files []bundle.File) (why string, err error) {
	svg := false
	for _, f := range files {
		svg = svg || path.Ext(f.Path) == ".svg"
	}
	if !svg {
		return "", nil
	}
	res, err := c.Run(ctx, computer.Command{ID: "drawings", Args: []string{"sh", "-c", drawings}, Env: texEnv, Timeout: maxTeX})
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	fault := ""
	if err != nil {
		fault = err.Error()
	} else {
		fault = trialFault(res)
	}
	if fault != "" {
		return "drawings stand beside the PDF, in " + bundle.FolderFigures + ": " + fault, nil
	}
	return "", nil
}

// setTwice runs TeX. fault says what it complains of, lacks that there were characters that no font has.
func setTwice(ctx context.Context, c *computer.Computer, e engine, patience time.Duration) (fault string, lacks bool, err error) {
	for run := range 2 {
		args := append(append([]string{}, e...), bundle.FileLaTeX)
		res, err := c.Run(ctx, computer.Command{ID: fmt.Sprintf("tex-%d", run), Args: args, Env: texEnv, Timeout: patience})
		switch {
		case ctx.Err() != nil:
			return "", false, ctx.Err()
		case err != nil:
			return "it could not be run: " + err.Error(), false, nil
		}
		if fault := trialFault(res); fault != "" {
			return strings.TrimSpace(fault + " " + complaint(res.Stdout)), false, nil
		}
		lacks = bytes.Contains(res.Stdout.Head, []byte(bundle.Unset)) || bytes.Contains(res.Stdout.Tail, []byte(bundle.Unset))
	}
	return "", lacks, nil
}

// complaint is the first error that TeX printed.
func complaint(o computer.Output) string {
	for _, part := range [][]byte{o.Head, o.Tail} {
		for line := range bytes.Lines(part) {
			if bytes.HasPrefix(line, []byte("!")) || bytes.HasPrefix(line, []byte("./"+bundle.FileLaTeX+":")) || bytes.HasPrefix(line, []byte(bundle.FileLaTeX+":")) {
				return runtime.AtMost(string(bytes.TrimSpace(line)), 300)
			}
		}
	}
	return ""
}

// furnishTeX is a home with what TeX reads.
func furnishTeX(files []bundle.File) func(*os.Root) error {
	return func(home *os.Root) error {
		err := home.Mkdir(bundle.FolderFigures, 0o700)
		for _, f := range files {
			if f.Path == bundle.FileLaTeX || path.Dir(f.Path) == bundle.FolderFigures {
				err = errors.Join(err, home.WriteFile(f.Path, f.Data, 0o600))
			}
		}
		return err
	}
}
