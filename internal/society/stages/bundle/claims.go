package bundle

import (
	"fmt"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/plain"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// record is claims.json: what the paper claims, and what each of it rests on, for programs.
type record struct {
	Title      string               `json:"title"`
	Claims     []event.OutlineClaim `json:"claims"`
	Results    []resultRecord       `json:"results"`
	Numbers    []event.NumberTraced `json:"numbers"`
	Figures    []figureRecord       `json:"figures"`
	References []referenceRecord    `json:"references"`
	Sections   []string             `json:"sections"`
	// Problems are what could not be read of the bibliography.
	Problems []string `json:"problems"`
}

type resultRecord struct {
	ID      string         `json:"id"`
	Title   string         `json:"title"`
	Verdict string         `json:"verdict"`
	Metrics []event.Metric `json:"metrics"`
	Output  *event.Ref     `json:"output,omitzero"`
}

type figureRecord struct {
	ID      string   `json:"id"`
	Number  int      `json:"number"`
	Caption string   `json:"caption"`
	File    string   `json:"file,omitzero"`
	SHA256  string   `json:"sha256,omitzero"`
	Program string   `json:"program"`
	Data    []string `json:"data"`
	Verdict string   `json:"verdict"`
	Why     string   `json:"why,omitzero"`
}

type referenceRecord struct {
	Key   string `json:"key"`
	Text  string `json:"text,omitzero"`
	Known bool   `json:"known"`
	URL   string `json:"url,omitzero"`
}

func (d *document) claims(numbers []event.NumberTraced) ([]byte, error) {
	r := record{Title: d.Title, Claims: d.Claims, Numbers: numbers, Sections: d.sections(), Problems: d.bib.problems}
	for i := range d.Outputs {
		o := &d.Outputs[i]
		r.Results = append(r.Results, resultRecord{o.Result, o.Title, o.Verdict, o.Metrics, o.Output})
	}
	for _, i := range d.figures {
		f := &d.Figures[i]
		x := figureRecord{ID: f.ID, Number: d.number(i), Caption: f.Caption, Program: f.Program, Data: f.BundleFigure.Data, Verdict: f.Verdict, Why: f.Why}
		if f.Data != nil {
			x.File, x.SHA256 = f.File(), event.HashOf(f.Data).String()
		}
		r.Figures = append(r.Figures, x)
	}
	for _, key := range d.cited {
		x := referenceRecord{Key: key, Text: d.reference(key)}
		if x.Known = x.Text != ""; x.Known && d.bib.entry(key) != nil {
			x.URL = d.bib.entry(key).address()
		}
		r.References = append(r.References, x)
	}
	data, err := json.Marshal(&r, json.Deterministic(true), jsontext.WithIndent("  "))
	return append(data, '\n'), err
}

// told is the paper for somebody who reads only text: what was written, and then what a page
// would show of figures, references and results.
func (d *document) told() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n", plain.Line(d.Title), strings.TrimSpace(plain.Text(string(d.Markdown))))
	part := func(title string, n int) {
		if n > 0 {
			fmt.Fprintf(&b, "\n## %s\n\n", title)
		}
	}
	part("Figures", len(d.figures))
	for _, i := range d.figures {
		f := &d.Figures[i]
		fmt.Fprintf(&b, "- Figure %d (%s): %s %s", d.number(i), f.ID, plain.Line(f.Caption), f.made())
		if f.Why != "" {
			b.WriteString(" " + plain.Line(f.Why))
		}
		b.WriteString("\n")
	}
	part("References", len(d.cited))
	for _, key := range d.cited {
		text := d.reference(key)
		if text == "" {
			text = "nothing is known of it"
		}
		fmt.Fprintf(&b, "- [@%s] %s\n", key, text)
	}
	part("Claims", len(d.Claims))
	for _, c := range d.Claims {
		fmt.Fprintf(&b, "- %s: %s (%s)\n", plain.Line(c.ID), plain.Line(c.Text), plain.Line(strings.Join(c.Results, ", ")))
	}
	part("Results", len(d.Outputs))
	for i := range d.Outputs {
		o := &d.Outputs[i]
		fmt.Fprintf(&b, "- %s, %s: %s", plain.Line(o.Result), plain.Line(o.Verdict), plain.Line(o.Title))
		for _, m := range o.Metrics {
			fmt.Fprintf(&b, "; %s", plain.Line(m.Name+" "+m.Value+" "+m.Unit))
		}
		b.WriteString("\n")
	}
	return b.String()
}
