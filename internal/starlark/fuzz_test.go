package starlark

import (
	"strings"
	"testing"

	"lyceum/internal/starlark/starlarktest"
)

// FuzzDialects: whatever the text, both dialects come back, say the same again,
// print no more than they may, and no guard shows.
func FuzzDialects(f *testing.F) {
	for _, text := range starlarktest.Programs(f) {
		f.Add(text)
	}
	for _, text := range bombs {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range []Dialect{full, shared} {
			d.Steps, d.Memory = 20_000, 1<<20
			out, err := d.Run(t.Context(), text)
			again, fault := d.Run(t.Context(), text)
			if string(out) != string(again) || said(err) != said(fault) {
				t.Errorf("%q\nprints %q, %v\nand then %q, %v", text, out, err, again, fault)
			}
			if len(out) > d.Output || len(said(err)) > maxError+10 {
				t.Errorf("%q prints %d bytes and ends with an error of %d", text, len(out), len(said(err)))
			}
			if strings.Contains(said(err), "the interpreter gave up") || strings.Contains(said(err), "$") && !strings.Contains(text, "$") {
				t.Errorf("%q ends with %v", text, err)
			}
		}
	})
}

func said(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
