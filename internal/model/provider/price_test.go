package provider

import (
	"math"
	"os"
	"strings"
	"testing"

	"lyceum/internal/event"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The costs that another program comes to for the same tokens, to the nanodollar.
func TestCostAgreesWithTheFixture(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/srchd_cost.json")
	if err != nil {
		t.Fatal(err)
	}
	var fixture struct {
		Usage  event.Usage               `json:"usage"`
		Expect map[string]jsontext.Value `json:"expect_usd"`
	}
	if err := json.Unmarshal(data, &fixture); err != nil {
		t.Fatal(err)
	}
	if fixture.Usage.Input != 1_000_000 || fixture.Usage.Cached != 600_000 || fixture.Usage.Output != 200_000 || len(fixture.Expect) < 19 {
		t.Fatalf("the fixture was not read: %+v", fixture)
	}
	r := registry(t, "", nil)
	for name, text := range fixture.Expect {
		whole, part, _ := strings.Cut(string(text), ".")
		var want int64
		for _, d := range whole + (part + "000000000")[:9] {
			want = want*10 + int64(d-'0')
		}
		p, bare, err := r.resolve(name)
		if err != nil {
			t.Error(err)
			continue
		}
		price := r.info(p, bare).Price
		if price == nil {
			t.Errorf("%s has no price", name)
			continue
		}
		if got := price.Cost(fixture.Usage); got != want {
			t.Errorf("%s costs %d, want %d", name, got, want)
		}
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	p := Price{Input: 3e9, Output: 15e9, Cached: 3e8, CacheWrite: 375e7}
	for _, c := range []struct {
		why  string
		p    Price
		u    event.Usage
		want int64
	}{
		{"nothing", p, event.Usage{}, 0},
		{"one token", p, event.Usage{Input: 1}, 3000},
		{"parts of the input", p, event.Usage{Input: 100, Cached: 60, CacheWrites: 30, Output: 7, Thinking: 5}, 10*3000 + 60*300 + 30*3750 + 7*15000},
		{"a part above the whole", p, event.Usage{Input: 10, Cached: 60}, 60 * 300},
		{"negative", p, event.Usage{Input: -1, Cached: -2, CacheWrites: -3, Output: -4}, 0},
		{"rounded up", Price{Input: 1}, event.Usage{Input: 1}, 1},
		{"not rounded", Price{Input: 1}, event.Usage{Input: 1_000_000}, 1},
		{"rounded once", Price{Input: 500_000, Output: 500_000}, event.Usage{Input: 1, Output: 1}, 1},
		{"too much", Price{Input: 1e15, Output: 1e15}, event.Usage{Input: math.MaxInt64, Output: math.MaxInt64}, math.MaxInt64},
		{"more than all", Price{math.MaxInt64, math.MaxInt64, math.MaxInt64, math.MaxInt64, "", ""}, event.Usage{Input: math.MaxInt64, Cached: math.MaxInt64, CacheWrites: math.MaxInt64, Output: math.MaxInt64}, math.MaxInt64},
		{"much", Price{Input: 1e15}, event.Usage{Input: 1_000_000_000}, 1e18},
		{"free", Price{}, event.Usage{Input: 1e9, Output: 1e9}, 0},
	} {
		if got := c.p.Cost(c.u); got != c.want {
			t.Errorf("%s: %d, want %d", c.why, got, c.want)
		}
	}
}

func TestEveryRowOfTheTableHasItsProvider(t *testing.T) {
	t.Parallel()
	rows, err := builtin()
	if err != nil {
		t.Fatal(err)
	}
	servers := known()
	for k, e := range rows {
		if _, ok := servers[k.provider]; !ok {
			t.Errorf("%s: there is no provider %s", k.model, k.provider)
		}
		if e.price.Cached > e.price.Input || e.price.Output < e.price.Input {
			t.Errorf("%s: the prices look mixed up: %+v", k.model, e.price)
		}
		if one := rowOf(k.provider, k.model); one == nil || *one.price != *e.price || one.context != e.context || one.output != e.output {
			t.Errorf("%s: by itself its line is read as %+v", k.model, one)
		}
		if !strings.HasPrefix(e.price.Source, "https://") {
			t.Errorf("%s: its source is no page: %s", k.model, e.price.Source)
		}
	}
	if len(rows) < 80 {
		t.Errorf("the table has only %d rows", len(rows))
	}
	for _, name := range []string{"", "x", "claude-opus-5, provider: anthropic, max_output: 64000, input: \"0\"", "gpt-5.6, provider: openai, context: 1050000, input", "\n- {name: x"} {
		if e := rowOf("anthropic", name); e != nil {
			t.Errorf("the table knows of %q: %+v", name, e)
		}
	}
}

func TestTablesThatAreWrong(t *testing.T) {
	t.Parallel()
	const row = `{name: a, provider: b, input: "1", output: "2", date: "2026-01-01", source: s}`
	for text, want := range map[string]string{
		"- " + row + "\n- " + row:                             "line 2", // the second
		"- " + strings.Replace(row, `"1"`, `"-1"`, 1):         "amount",
		"- " + strings.Replace(row, `"1"`, `"1e3"`, 1):        "amount",
		"- " + strings.Replace(row, `, source: s`, ``, 1):     "needs",
		"- " + strings.Replace(row, `2026-01-01`, `today`, 1): "needs",
		"- " + strings.Replace(row, `output`, `outptu`, 1):    "unknown key",
		"a: b": "must be a list",
	} {
		if _, err := readPrices("p.yaml", []byte(text)); err == nil || !strings.Contains(strings.Replace(err.Error(), "p.yaml:2", "line 2", 1), want) {
			t.Errorf("a price that is wrong was not refused as it should: %s: %v", text, err)
		}
	}
}
