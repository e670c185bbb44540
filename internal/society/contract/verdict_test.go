package contract_test

import (
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society/contract"
)

func TestAVerdictIsTheFirstClaimThatStands(t *testing.T) {
	t.Parallel()
	for name, x := range map[string]struct {
		documents []string
		sure      string
	}{
		"WithoutADoubt":  {[]string{"a.md", "b.md"}, quest.SureHigh},
		"WithOpenPoints": {[]string{"a.md"}, quest.SureMedium},
	} {
		w := open(t, setting{task: "Explain how it is.", audit: contract.Standard, corpus: true, vectors: true})
		w.find = func(*event.SearchCall) *event.SearchResult {
			r := &event.SearchResult{}
			for i, doc := range x.documents {
				r.Anchors = append(r.Anchors, anchor(doc, 1, 900, "It is so."+strings.Repeat(" Indeed.", i)))
			}
			return r
		}
		if got := w.State.Verdict(); got != nil {
			t.Errorf("%s: before the end the verdict is %+v, want none", name, got)
		}
		w.run()
		got := w.State.Verdict()
		if got == nil || !strings.Contains(got.Value, "It is so.") || got.Candidate || !strings.Contains(got.Agree, "claims stand after the audit") {
			t.Fatalf("%s: the verdict is %+v, want the claim that stands", name, got)
		}
		if open := len(w.State.Warnings) > 0; open != (got.Sure == quest.SureMedium) {
			t.Errorf("%s: with the warnings %q it is %s, want medium only with some", name, w.State.Warnings, got.Sure)
		}
		if got.Sure != x.sure {
			t.Errorf("%s: it is %s, want %s", name, got.Sure, x.sure)
		}
	}
}
