package provider

import (
	"bytes"
	_ "embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"

	"lyceum/internal/config"
	"lyceum/internal/event"
	"lyceum/internal/strictyaml"

	"github.com/goccy/go-yaml/ast"
)

//go:embed prices.yaml
var prices []byte

// Price is what tokens cost, in nanodollars for a million, and who says so.
type Price struct {
	Input, Output, Cached, CacheWrite int64
	// Date is when the price was last known to hold, such as 2026-08-21; Source is a
	// URL, or config.yaml.
	Date, Source string
}

// Cost returns what u costs in nanodollars.
func (p Price) Cost(u event.Usage) int64 { return p.Recorded().Cost(u) }

// Recorded is the price as ledgers have it.
func (p Price) Recorded() event.Price {
	return event.Price{Input: p.Input, Output: p.Output, Cached: p.Cached, CacheWrites: p.CacheWrite}
}

// entry is what the table knows of a model.
type entry struct {
	context int64
	// output is how many tokens it can answer with, 0 if nobody knows.
	output int64
	// said is who says how large the context is: "" for the table.
	said  string
	price *Price
	// pictures says whether the model can see them; nil is as its server's do.
	pictures *bool
	// dialect is how the model is told of tools; "" is as its server's are.
	dialect string
}

// builtin is the table of this binary, whole.
var builtin = sync.OnceValues(func() (map[row]*entry, error) { return readPrices("prices.yaml", prices) })

func readPrices(file string, data []byte) (map[row]*entry, error) {
	root, err := strictyaml.Document(file, data)
	if err != nil {
		return nil, err
	}
	out := map[row]*entry{}
	err = strictyaml.Each(root, "the table", func(n ast.Node) error {
		k, e, err := readRow(n)
		if err == nil && out[k] != nil {
			err = strictyaml.At(n, "%s of %s is there twice", k.model, k.provider)
		}
		out[k] = e
		return err
	})
	return out, strictyaml.InFile(file, err)
}

// rowOf is the row of this binary's table for a model, nil if there is none. Each row is a line of
// the same form, and only that is read: whoever runs a quest asks for one.
func rowOf(provider, bare string) *entry {
	at := bytes.Index(prices, []byte("\n- {name: "+bare+", provider: "+provider+", "))
	if at < 0 {
		return nil
	}
	line, _, _ := bytes.Cut(prices[at+1:], []byte("\n"))
	rows, err := readPrices("prices.yaml", line)
	if err != nil {
		return nil // the name holds what no name of the table does
	}
	return rows[row{provider, bare}]
}

var dateForm = regexp.MustCompile(`^20\d\d-[01]\d-[0-3]\d$`)

func readRow(n ast.Node) (row, *entry, error) {
	var k row
	var e entry
	var date, source string
	var amounts config.PriceFields
	fields := amounts.Fields()
	fields["name"], fields["provider"] = strictyaml.Word(&k.model), strictyaml.Word(&k.provider)
	fields["context"] = strictyaml.Integer(&e.context, 1)
	fields["max_output"] = strictyaml.Integer(&e.output, 1)
	fields["pictures"] = config.Pictures(&e.pictures)
	fields["date"], fields["source"] = strictyaml.Word(&date), strictyaml.Word(&source)
	if err := strictyaml.Fields(n, "a row", fields); err != nil {
		return k, nil, err
	}
	p, err := amounts.Price()
	if err != nil || p == nil || k.model == "" || k.provider == "" || !dateForm.MatchString(date) || source == "" {
		return k, nil, strictyaml.At(n, "a row needs a name, a provider, input, output, a date and a source")
	}
	e.price = priceOf(p, date, source)
	return k, &e, nil
}

func priceOf(p *config.Price, date, source string) *Price {
	return &Price{Input: p.Input, Output: p.Output, Cached: p.Cached, CacheWrite: p.CacheWrite, Date: date, Source: source}
}

// configure takes in what the user says of models, above what the binary knows.
func (r *Registry) configure(own map[string]config.Model) error {
	r.own = map[row]*entry{}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		p, bare, err := r.resolve(name)
		if err != nil {
			return fmt.Errorf("config.yaml: models: %w", err)
		}
		e := entry{}
		if old := r.entry(p.name, bare); old != nil {
			e = *old
		}
		if c := own[name]; c.Context > 0 {
			e.context, e.said = c.Context, "config.yaml"
		}
		if c := own[name]; c.MaxOutput > 0 {
			e.output = c.MaxOutput
		}
		if c := own[name]; c.Pictures != nil {
			e.pictures = c.Pictures
		}
		if c := own[name]; c.Dialect != "" {
			e.dialect = c.Dialect
		}
		if c := own[name]; c.Price != nil {
			e.price = priceOf(c.Price, "", "config.yaml")
		}
		r.own[row{p.name, bare}] = &e
	}
	return nil
}

// rows are all models of which something is known, in order.
func (r *Registry) rows() []row {
	all, err := builtin()
	if err != nil {
		panic(err) // it is ours, and a test has read it
	}
	all = maps.Clone(all)
	maps.Copy(all, r.own)
	return slices.SortedFunc(maps.Keys(all), row.compare)
}

// dated is the end of the name of one state of a model, which costs what the model
// costs unless the table says otherwise.
var dated = regexp.MustCompile(`-(20\d{6}|20\d\d-\d\d-\d\d)$`)

// entry finds what is known of a model.
func (r *Registry) entry(provider, bare string) *entry {
	for _, name := range []string{bare, dated.ReplaceAllString(bare, "")} {
		if e := r.own[row{provider, name}]; e != nil {
			return e
		}
		if e := rowOf(provider, name); e != nil {
			return e
		}
	}
	return nil
}
