package compute

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestAFitIsDrawn(t *testing.T) {
	t.Parallel()
	for name, files := range map[string]data{
		"arrhenius":         {"a.csv": rates},
		"kissinger":         {"a.csv": peaks},
		"linear":            {"a.csv": "<x & \"y\">,y (m)\n1,2\n2,4.1\n3,5.9\n"},
		"activation-energy": {"a.csv": rates, "b.csv": peaks},
	} {
		program, _ := Program(name)
		out, err := Interpret(t.Context(), program, files.files())
		if err != nil {
			t.Fatalf("%s: got %v, want figures", name, err)
		}
		text, plots := Split(string(out))
		if len(plots) != len(files) || strings.Contains(text, "<svg") {
			t.Errorf("%s: got %d plots and %q, want one for each file, taken out of the text", name, len(plots), text)
		}
		for _, svg := range plots {
			for d := xml.NewDecoder(strings.NewReader(svg)); ; {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%s: the plot is no XML: %v in %s", name, err, svg)
				}
			}
		}
	}
}
