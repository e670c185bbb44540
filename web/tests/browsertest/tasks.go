package browsertest

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/chromedp/cdproto/tracing"
	"github.com/chromedp/chromedp"
)

// Task is one of a page's own thread: while it lasts nothing moves and no key is heard.
type Task struct {
	// Took is how long it lasted, Worked how long the processor was at it, both in milliseconds.
	Took, Worked float64
}

// traced is what a trace says of something that happened.
type traced struct {
	Name     string  `json:"name"`
	Phase    string  `json:"ph"`
	Process  int     `json:"pid"`
	Thread   int     `json:"tid"`
	At       float64 `json:"ts"`
	Took     float64 `json:"dur"`
	Worked   float64 `json:"tdur"`
	Category string  `json:"cat"`
}

// Tasks runs something and returns the tasks that the page's thread had meanwhile, the longest first.
// They are the browser's own account: also those that are too short for a PerformanceObserver.
func (tab *Tab) Tasks(run func()) []Task {
	tab.t.Helper()
	var all []traced
	over := make(chan error, 1)
	chromedp.ListenTarget(tab.Ctx, func(e any) {
		switch e := e.(type) {
		case *tracing.EventDataCollected:
			for _, v := range e.Value {
				var one traced
				if json.Unmarshal(v, &one) == nil { // what has no number for a thread is none of a page
					all = append(all, one)
				}
			}
		case *tracing.EventTracingComplete:
			var err error
			if e.DataLossOccurred {
				err = fmt.Errorf("the trace has holes")
			}
			select {
			case over <- err:
			default: // of another trace of this tab
			}
		}
	})
	tab.Do(tracing.Start().WithTransferMode(tracing.TransferModeReportEvents).WithTraceConfig(&tracing.TraceConfig{
		IncludedCategories: []string{"-*", "toplevel", "disabled-by-default-devtools.timeline", "devtools.timeline", "blink.user_timing"},
	}))
	tab.Eval(`performance.mark('tasks-begin'), true`, nil)
	run()
	tab.Eval(`performance.mark('tasks-end'), true`, nil)
	tab.Do(tracing.End())
	select {
	case err := <-over:
		if err != nil {
			tab.t.Fatal(err)
		}
	case <-tab.Ctx.Done():
		tab.t.Fatal("the trace does not end: ", tab.Ctx.Err())
	}
	return tasks(tab, all)
}

// tasks finds those of the thread that made the marks, between the marks.
func tasks(tab *Tab, all []traced) (out []Task) {
	tab.t.Helper()
	var begin, end traced
	for _, x := range all {
		switch x.Name {
		case "tasks-begin":
			begin = x
		case "tasks-end":
			end = x
		}
	}
	if begin.At == 0 || end.At <= begin.At {
		tab.t.Fatalf("the marks are not in the trace of %d events", len(all))
	}
	for _, x := range all {
		if x.Process == begin.Process && x.Thread == begin.Thread && x.At >= begin.At && x.At < end.At && x.Name == "RunTask" {
			out = append(out, Task{x.Took / 1000, x.Worked / 1000})
		}
	}
	slices.SortFunc(out, func(a, b Task) int { return int(1000 * (b.Took - a.Took)) })
	if len(out) == 0 {
		tab.t.Fatalf("no task of the page is in the trace of %d events", len(all))
	}
	return out
}
