package browser

import (
	"testing"
	"time"

	"lyceum/internal/event"
)

func TestALimitIsTimeInWhichAPageCouldWork(t *testing.T) {
	t.Parallel()
	s := time.Second
	for _, c := range []struct {
		name string
		had  share
		want bool
	}{
		{"a quiet machine", share{wall: 5 * s, waited: 0}, true},
		{"a quiet machine, a little before", share{wall: 4900 * time.Millisecond}, false},
		{"a machine that others use", share{wall: 9 * s, waited: 8 * s, worked: s / 2}, false},
		{"a machine that the page itself uses up", share{wall: 5 * s, waited: 5 * s, worked: 9 * s}, true},
		{"a machine that others use, for very long", share{wall: 30 * s, waited: 30 * s, worked: s}, true},
	} {
		if got := c.had.used(5*s, most); got != c.want {
			t.Errorf("%s, %+v of a limit of 5s: used up %v, want %v", c.name, c.had, got, c.want)
		}
	}
}

func TestPressureIsReadAsTheKernelWritesIt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"some avg10=2.08 avg60=7.37 avg300=17.70 total=116339391\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n": 116339391 * time.Microsecond,
		"": 0,
		"some avg10=0.00 avg60=0.00 avg300=0.00 total=x\n": 0,
		"full total=1\n": 0,
	} {
		if got := pressure(text); got != want {
			t.Errorf("pressure(%q) = %s, want %s", text, got, want)
		}
	}
}

// TestAVisitOnABusyMachineHasItsTime: a right page is not called slow as long as the machine has no processor for it, and a
// page that takes all there is meets its limit all the same.
func TestAVisitOnABusyMachineHasItsTime(t *testing.T) {
	t.Parallel()
	r := enter(t)
	const limit = 3 * time.Second
	began := time.Now()
	r.b.waited, r.b.most = func() time.Duration { return time.Since(began) }, int64(patience/limit)
	page := files(map[string]string{"index.html": counter})
	slow := func(path string) ([]byte, string, error) {
		<-time.After(time.Until(began.Add(limit + limit/4))) // all that time the machine has no processor for it
		return page(path)
	}
	if s := r.look(Visit{Files: slow, Entry: "index.html", Limit: limit, Steps: []event.WorldStep{click("button", "More")}}); s.End != Done {
		t.Errorf("a good page that waited for a processor: %s, %s; want done", s.End, s.Why)
	}
	bad := Visit{Files: files(map[string]string{"index.html": page1(`for(;;);`)}), Entry: "index.html", Limit: limit}
	began = time.Now()
	if s := r.look(bad); s.End != Timeout || time.Since(began) > patience/2 {
		t.Errorf("a page in a loop: %s after %s, want timeout when it has worked for %s", s.End, time.Since(began), bad.Limit)
	}
}
