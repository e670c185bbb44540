package tui

import (
	"fmt"
	"math"
	"strings"
	"time"

	"lyceum/internal/quest"
	"lyceum/internal/view"

	"github.com/charmbracelet/x/ansi"
)

// rateLine is how fast the quest spends, with what it spent in the last minutes as bars, and when
// that comes to a limit. It is empty where nothing was spent lately.
func (m *Model) rateLine() string {
	if m.state.Status != quest.Running || !m.claimed {
		return ""
	}
	r := m.rates.At(max(m.now, m.state.Time))
	if r.Tokens == 0 {
		return ""
	}
	spent, costs := r.Spent[:], r.Costs[:]
	if m.width < inARow {
		spent, costs = shorter(spent), shorter(costs)
	}
	tokens := faint.Render("tokens ") + thousands(int64(math.Round(r.Tokens))) + "/s " + cyan.Render(view.Bars(spent))
	parts := []string{tokens}
	if r.Cost > 0 {
		parts = []string{faint.Render("spends ") + dollars(int64(r.Cost)) + " a minute " + green.Render(view.Bars(costs)), tokens}
	}
	if left := m.toLimit(r); left != "" {
		parts = append([]string{left}, parts...)
	}
	// What does not fit whole is left out.
	for len(parts) > 1 && ansi.StringWidth(strings.Join(parts, "  "))+1 > m.width {
		parts = parts[:len(parts)-1]
	}
	return fit(" "+strings.Join(parts, "  "), m.width)
}

// toLimit says which limit is reached first if all goes on like this.
func (m *Model) toLimit(r view.Rate) string {
	s, first, name := m.state, math.Inf(1), ""
	look := func(limit *int64, used, perSecond float64, what string) {
		if limit == nil || perSecond <= 0 {
			return
		}
		if left := max(float64(*limit)-used, 0) / perSecond; left < first {
			first, name = left, what
		}
	}
	look(s.Limits.Cost, float64(s.Spent.Cost), r.Cost/60, "cost")
	look(s.Limits.Tokens, float64(s.Spent.Usage.Input+s.Spent.Usage.Output), r.Tokens, "tokens")
	look(s.Limits.Duration, float64(m.elapsed()), 1e6, "time")
	if name == "" || first > 99*3600 {
		return ""
	}
	text := fmt.Sprintf("limit on %s in %s", name, about(time.Duration(first*1e9)))
	if first < 120 {
		return yellow.Render(text)
	}
	return text
}

// about is a time as one says it.
func about(d time.Duration) string {
	switch {
	case d < 100*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 100*time.Minute:
		return fmt.Sprintf("%.0f min", d.Minutes())
	}
	return fmt.Sprintf("%.0f h", d.Hours())
}
