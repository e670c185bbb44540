package service_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/runtime/service"
	"lyceum/internal/society/stages/bundle"
)

const paperText = `## Results

The error is 1.5 [result-1], not 9.25. See [@fig:good] and [@known; @unknown].

![Errors](fig:good)

## Limits

There are some.
`

// svgProgram draws bars of a table with awk, in colours of the style.
const svgProgram = `test -r "$MATPLOTLIBRC" || exit 9
awk -F, -v ink="$(awk -F, '$1 == "second" { print $2 }' "$LYCEUM_STYLE/palette.csv")" '
BEGIN { print "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 100 50\">" }
{ printf "<rect y=\"%d\" width=\"%d\" height=\"8\" fill=\"%s\"/>\n", 10 * NR, $2, ink }
END { print "</svg>" }' data.csv >`

// paperFiles are the files of a paper's branch.
func paperFiles() map[string]string {
	return map[string]string{
		"paper.md": paperText, "refs.bib": "@book{known, title={Known}, year=2001}", "data.csv": "a,30\nb,60\n",
		"good.sh":     svgProgram + " good.svg",
		"chance.sh":   svgProgram + ` chance.svg; echo "<!-- $(od -An -N8 -tx8 /dev/urandom) -->" >> chance.svg`,
		"bad.sh":      "echo no data >&2; exit 3",
		"lazy.sh":     "exit 0",
		"lazy.svg":    `<svg xmlns="http://www.w3.org/2000/svg"/>`,
		"script.sh":   `echo '<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>' > script.svg`,
		"link.sh":     "ln -s /etc/passwd link.svg",
		"pipe.sh":     "mkfifo pipe.svg",
		"mad.nothing": "#!/no/such/interpreter\n",
	}
}

func figure(id, program string) event.BundleFigure {
	return event.BundleFigure{ID: id, Caption: "Figure " + id, Data: []string{"data.csv"}, Output: id + ".svg", Program: program}
}

// bundleCall is a paper of a branch with these figures.
func bundleCall(ctx context.Context, t *testing.T, q *runtime.Quest, figures ...event.BundleFigure) (*event.BundleCall, error) {
	tree, err := treeWith(ctx, t, q.Blobs, paperFiles())
	if err != nil {
		return nil, err
	}
	printed, err := q.Blobs.Put(ctx, []byte("metric mae 1.50\n"))
	return &event.BundleCall{
		Bibliography: "refs.bib", Branch: "paper/one", Checkpoint: 40, Claims: []event.OutlineClaim{{ID: "c", Text: "It is good.", Results: []string{"result-1"}}}, Figures: figures,
		Outputs: []event.BundleOutput{{Metrics: []event.Metric{{Name: "mae", Value: "1.5", Direction: "lower"}}, Output: &printed, Result: "result-1", Title: "It", Verdict: "verified"}},
		Paper:   "paper-1", Source: "paper.md", Title: "On errors", Tree: tree,
	}, err
}

// inQuest does work in a quest with computers.
func inQuest(t *testing.T, work func(context.Context, *runtime.Quest) error) *runtime.Runtime {
	t.Helper()
	rt := openRuntime(t, t.TempDir(), newShop(work))
	create(t, rt)
	run(t, rt)
	return rt
}

func namesOf(ctx context.Context, t *testing.T, rt *runtime.Runtime, tree event.TreeRef) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, blob.Files(ctx, rt.Blobs, tree, func(path string, ref event.Ref) error {
		data, err := rt.Blobs.Get(ctx, ref.Hash)
		out[path] = string(data)
		return err
	}))
	return out
}

// TestAPaperIsMade: its figures twice in real sandboxes, its pages, and what is to be known of it.
func TestAPaperIsMade(t *testing.T) {
	t.Parallel()
	var call *event.BundleCall
	var r *event.BundleResult
	rt := inQuest(t, func(ctx context.Context, q *runtime.Quest) (err error) {
		outside := figure("outside", "good.sh")
		outside.Output = "../outside.svg"
		nothing := figure("nothing", "no-such.sh")
		call, err = bundleCall(ctx, t, q, figure("good", "good.sh"), figure("chance", "chance.sh"), figure("bad", "bad.sh"), figure("lazy", "lazy.sh"), figure("script", "script.sh"),
			figure("link", "link.sh"), figure("pipe", "pipe.sh"), figure("mad", "mad.nothing"), outside, nothing)
		if err == nil {
			r, err = service.BundleOf(ctx, q, 50, call, [][]string{{"no-such-tex"}}, 0)
		}
		return err
	})
	for i, want := range []struct{ id, verdict, why string }{
		{"good", bundle.Same, ""}, {"chance", bundle.Differs, "different files"}, {"bad", bundle.Failed, "exit code 3: no data"}, {"lazy", bundle.Failed, "wrote no file"}, {"script", bundle.Failed, "script"},
		{"link", bundle.Failed, "link.svg"}, {"pipe", bundle.Failed, "no file"}, {"mad", "", ""}, {"outside", bundle.Failed, "cannot be what it writes"}, {"nothing", bundle.Failed, "no-such.sh"},
	} {
		f := r.Figures[i]
		if f.ID != want.id || want.verdict != "" && f.Verdict != want.verdict || !strings.Contains(f.Why, want.why) || f.Verdict == bundle.Same != (f.Why == "") {
			t.Errorf("the figure %s is told as %+v, want %s, %q", want.id, f, want.verdict, want.why)
		}
	}
	if f := r.Figures[7]; f.Verdict == bundle.Same || f.Verdict == bundle.Differs || f.File != nil {
		t.Errorf("a figure whose program has no interpreter is told as %+v", f)
	}
	files := namesOf(t.Context(), t, rt, *r.Tree)
	want := []string{"claims.json", "figures/chance.svg", "figures/good.svg", "paper.html", "paper.md", "paper.tex", "references.bib"}
	if !slices.Equal(r.Files, want) || len(files) != len(want) {
		t.Errorf("the bundle has %q, want %q", r.Files, want)
	}
	if files["paper.md"] != paperText || !strings.Contains(files["figures/good.svg"], `width="60" height="8" fill="#D55E00"`) || !strings.Contains(files["paper.html"], "On errors") {
		t.Errorf("the text or the figure is another: %s", files["figures/good.svg"])
	}
	if r.PDF != "missing" || !strings.Contains(r.Why, "no TeX") {
		t.Errorf("the PDF is %s: %s", r.PDF, r.Why)
	}
	if !slices.Equal(r.Unknown, []string{"unknown"}) || !slices.Equal(r.References, []string{"known", "unknown"}) || !slices.Equal(r.Sections, []string{"Results", "Limits"}) || !slices.Equal(r.Named, []string{"result-1"}) {
		t.Errorf("of the text it is told %+v", r)
	}
	if !slices.Contains(r.Numbers, event.NumberTraced{Line: 3, Result: "result-1", Text: "1.5"}) || !slices.Contains(r.Numbers, event.NumberTraced{Line: 3, Text: "9.25"}) {
		t.Errorf("its numbers are told as %+v", r.Numbers)
	}
	text, err := rt.Blob(t.Context(), *r.Text.Ref)
	if err != nil || !strings.Contains(string(text), "On errors") || r.Fingerprint.IsZero() {
		t.Errorf("its text is %q, %v; its computer %v", text, err, r.Fingerprint)
	}
	witnessed(t, rt, call, r)
}

// witnessed has a witness look at a paper, and at what is forged of it.
func witnessed(t *testing.T, rt *runtime.Runtime, call *event.BundleCall, r *event.BundleResult) {
	t.Helper()
	look := func(r event.BundleResult) *audit.Difference {
		w := service.Stages{}.Witness(rt, event.Event{}, nil, func(event.Event, string, ...any) {})
		d, err := w.Looks()[call.Type()].At(t.Context(), event.Event{Body: call}, event.Event{Body: &r})
		must(t, err)
		return d
	}
	if d := look(*r); d != nil {
		t.Errorf("a witness of the paper finds %+v", d)
	}
	for name, forge := range map[string]func(*event.BundleResult){
		"numbers":    func(r *event.BundleResult) { r.Numbers = r.Numbers[:1] },
		"unknown":    func(r *event.BundleResult) { r.Unknown = nil },
		"sections":   func(r *event.BundleResult) { r.Sections = append(slices.Clone(r.Sections), "More limits") },
		"named":      func(r *event.BundleResult) { r.Named = nil },
		"references": func(r *event.BundleResult) { r.References = nil },
		"figure": func(r *event.BundleResult) {
			r.Figures = slices.Clone(r.Figures)
			r.Figures[0].File = new(event.RefOf([]byte("x")))
		},
		"made": func(r *event.BundleResult) {
			r.Figures = slices.Clone(r.Figures)
			r.Figures[2].Verdict = bundle.Same
		},
		"tree": func(r *event.BundleResult) { r.Tree = &call.Tree },
	} {
		f := *r
		if forge(&f); look(f) == nil {
			t.Errorf("a witness does not find other %s", name)
		}
	}
}

// TestAPaperThatCannotBeMade: whoever wrote it is told why.
func TestAPaperThatCannotBeMade(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*event.BundleCall)
		want   string
	}{
		"NoText":  {func(b *event.BundleCall) { b.Source = "other.md" }, "other.md"},
		"NoBib":   {func(b *event.BundleCall) { b.Bibliography = "other.bib" }, "other.bib"},
		"Outside": {func(b *event.BundleCall) { b.Source = "../../etc/passwd" }, "passwd"},
		"NoTitle": {func(b *event.BundleCall) { b.Title = "" }, "title"},
		"BadName": {func(b *event.BundleCall) { b.Figures[0].ID = "A/B" }, "cannot name"},
		"TooMany": {func(b *event.BundleCall) { b.Figures = slices.Repeat(b.Figures, 40) }, "figures"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newShop(func(ctx context.Context, q *runtime.Quest) error {
				q.Driver = nil
				b, err := bundleCall(ctx, t, q, figure("good", "good.sh"))
				if err != nil {
					return err
				}
				c.change(b)
				_, err = service.BundleOf(ctx, q, 50, b, nil, 0)
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("it is refused with %v, want %q", err, c.want)
				}
				return nil
			})
			rt := openRuntime(t, t.TempDir(), s)
			create(t, rt)
			run(t, rt)
		})
	}
}

// TestWithoutComputers: a paper is made, its figures are unchecked, and there is no PDF.
func TestAPaperWithoutComputers(t *testing.T) {
	t.Parallel()
	inQuest(t, func(ctx context.Context, q *runtime.Quest) error {
		alone := *q
		alone.Driver = nil
		b, err := bundleCall(ctx, t, q, figure("good", "good.sh"))
		if err != nil {
			return err
		}
		r, err := service.BundleOf(ctx, &alone, 50, b, service.Engines(), 0)
		if err != nil {
			return err
		}
		if r.Figures[0].Verdict != bundle.Unchecked || r.PDF != "missing" || r.Tree == nil || r.Figures[0].File != nil {
			t.Errorf("without computers it is %+v", r)
		}
		return nil
	})
}

// TestTeXThatCannotBeTrusted: none that hangs, lies or fails gives a PDF.
func TestTeXThatCannotBeTrusted(t *testing.T) {
	t.Parallel()
	good := `grep -q 'begin{document}' "$0" && printf '%%PDF-1.5\nbody\nstartxref\n9\n%%%%EOF\n' > paper.pdf; echo "$openin_any" >> paper.pdf`
	for name, c := range map[string]struct {
		tex          string
		status, want string
	}{
		"Good":    {good, "made", ""},
		"Lying":   {"exit 0", "failed", "wrote no file"},
		"Garbage": {"echo hello > paper.pdf", "failed", "no whole PDF"},
		"Cut":     {`printf '%%PDF-1.5\nbody' > paper.pdf`, "failed", "no whole PDF"},
		"Failing": {`printf 'x\n! Undefined control sequence.\n'; exit 1`, "failed", "Undefined control sequence"},
		"Hung":    {"exec sleep 1000", "failed", "limit on wall time"},
		"Link":    {"ln -s /etc/passwd paper.pdf", "failed", "paper.pdf"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			patience := time.Minute
			if name == "Hung" {
				patience = 300 * time.Millisecond
			}
			inQuest(t, func(ctx context.Context, q *runtime.Quest) error {
				b, err := bundleCall(ctx, t, q)
				if err != nil {
					return err
				}
				r, err := service.BundleOf(ctx, q, 50, b, [][]string{{"no-such-tex"}, {"sh", "-c", c.tex}}, patience)
				if err != nil {
					return err
				}
				if r.PDF != c.status || !strings.Contains(r.Why, c.want) || slices.Contains(r.Files, "paper.pdf") != (c.status == "made") {
					t.Errorf("the PDF is %s: %s (%q), want %s: %s", r.PDF, r.Why, r.Files, c.status, c.want)
				}
				return nil
			})
		})
	}
}

// TestFiguresAreMadeAgain: by verify --execute; same, different, or not checkable.
func TestFiguresAreMadeAgain(t *testing.T) {
	t.Parallel()
	var outs []audit.Executed
	inQuest(t, func(ctx context.Context, q *runtime.Quest) error {
		b, err := bundleCall(ctx, t, q, figure("good", "good.sh"))
		if err != nil {
			return err
		}
		then, err := service.BundleOf(ctx, q, 60, b, nil, 0)
		if err != nil {
			return err
		}
		forged, other, never := *then, *then, *then
		forged.Figures = []event.FigureMade{{File: new(event.RefOf([]byte("x"))), ID: "good", Verdict: bundle.Same}}
		other.Figures, other.Fingerprint = forged.Figures, event.HashOf([]byte("another"))
		never.Figures = []event.FigureMade{{ID: "good", Verdict: bundle.Failed}}
		call := event.Event{Seq: 60, Body: b}
		for _, r := range []*event.BundleResult{then, &forged, &other, &never} {
			out, err := service.Stages{}.Again(ctx, &audit.Place{Quest: q}, call, event.Event{Body: r}, audit.Executed{})
			if err != nil {
				return err
			}
			outs = append(outs, out)
		}
		out, err := service.Stages{}.Again(ctx, &audit.Place{Quest: q, Missing: errors.New("none")}, call, event.Event{Body: then}, audit.Executed{})
		outs = append(outs, out)
		if kind, what := (service.Stages{}).Recorded(nil, call); kind != "figures" || what != "sh ./good.sh" {
			t.Errorf("it is told as %q, %q", kind, what)
		}
		return err
	})
	var got []string
	for _, o := range outs {
		got = append(got, o.Status)
	}
	if want := []string{audit.ExecSame, audit.ExecDifferent, audit.ExecNotCheckable, audit.ExecNotCheckable, audit.ExecNotCheckable}; !slices.Equal(got, want) {
		t.Errorf("made again they are %+v, want %v", outs, want)
	}
}
