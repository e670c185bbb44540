package config

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"lyceum/internal/strictyaml"

	"github.com/goccy/go-yaml/ast"
)

// Model is what the user knows of a model.
type Model struct {
	// Context is how many tokens it can see; 0 if nobody said.
	Context int64
	// MaxOutput is how many tokens it can answer with; 0 if nobody said.
	MaxOutput int64
	// Pictures says whether it can see them; nil if nobody said.
	Pictures *bool
	// Dialect is how it is told of tools; "" is as its provider's are.
	Dialect string
	// Price is nil if nobody said.
	Price *Price
}

// Price is what tokens cost, in nanodollars for a million.
type Price struct {
	Input, Output int64
	// Cached is for input that was read from the provider's cache, CacheWrite for
	// input that was put there.
	Cached, CacheWrite int64
}

func readModel(_ string, n ast.Node) (Model, error) {
	var m Model
	var p PriceFields
	if err := fields(n, "a model", m.fields(&p)); err != nil {
		return m, err
	}
	price, err := p.Price()
	if err != nil {
		return m, strictyaml.Wrap(n, err)
	}
	m.Price = price
	return m, nil
}

func (m *Model) fields(p *PriceFields) map[string]func(ast.Node) error {
	known := p.Fields()
	known["context"] = strictyaml.Integer(&m.Context, 1)
	known["max_output"] = strictyaml.Integer(&m.MaxOutput, 1)
	known["pictures"] = Pictures(&m.Pictures)
	known["dialect"] = readDialect(&m.Dialect)
	return known
}

// Pictures reads whether a model can see pictures.
func Pictures(to **bool) func(ast.Node) error {
	return func(n ast.Node) error {
		var sees bool
		if err := strictyaml.Truth(&sees)(n); err != nil {
			return err
		}
		*to = &sees
		return nil
	}
}

// PriceFields are the prices of a model as a file gives them, in dollars for a
// million tokens.
type PriceFields struct {
	input, output, cached, write *int64
}

// Fields reads them.
func (p *PriceFields) Fields() map[string]func(ast.Node) error {
	return map[string]func(ast.Node) error{
		"input": amount(&p.input), "output": amount(&p.output),
		"cached": amount(&p.cached), "cache_write": amount(&p.write),
	}
}

// Price returns what was read, nil if there was nothing. Input that went through
// the cache costs as much as other input, unless the file says what it costs.
func (p *PriceFields) Price() (*Price, error) {
	if p.input == nil && p.output == nil && p.cached == nil && p.write == nil {
		return nil, nil
	}
	if p.input == nil || p.output == nil {
		return nil, errors.New("a price needs both input and output, in dollars for a million tokens")
	}
	price := &Price{Input: *p.input, Output: *p.output, Cached: *p.input, CacheWrite: *p.input}
	if p.cached != nil {
		price.Cached = *p.cached
	}
	if p.write != nil {
		price.CacheWrite = *p.write
	}
	return price, nil
}

func amount(to **int64) func(ast.Node) error {
	return func(n ast.Node) error {
		text, err := strictyaml.Scalar(n)
		if err != nil {
			return err
		}
		v, err := nanos(text)
		if err != nil {
			return strictyaml.Wrap(n, err)
		}
		*to = &v
		return nil
	}
}

// nanos reads a decimal number of dollars, exactly.
func nanos(text string) (int64, error) {
	bad := fmt.Errorf("%.40q is no amount of dollars from 0 to 1000000, such as 2.50, with at most 9 decimals", text)
	whole, part, _ := strings.Cut(text, ".")
	if whole == "" || len(part) > 9 || strings.HasSuffix(text, ".") {
		return 0, bad
	}
	for _, r := range whole + part {
		if r < '0' || r > '9' {
			return 0, bad
		}
	}
	v, err := strconv.ParseInt(whole+part+strings.Repeat("0", 9-len(part)), 10, 64)
	if err != nil || v > 1e15 {
		return 0, bad
	}
	return v, nil
}
