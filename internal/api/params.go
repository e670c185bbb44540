package api

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"lyceum/internal/plain"
)

// params reads the parameters of a query strictly: each at most once, none that is not
// known, numbers within their bounds. The first fault is kept.
type params struct {
	values url.Values
	known  []string
	fault  error
}

func paramsOf(r *http.Request) *params {
	v, err := url.ParseQuery(r.URL.RawQuery)
	p := &params{values: v}
	if err != nil {
		p.fault = problemf(http.StatusBadRequest, "", "the query is malformed: %v", err)
	}
	return p
}

// text returns a parameter, empty if it is not given.
func (p *params) text(name string, most int) string {
	p.known = append(p.known, name)
	list := p.values[name]
	if len(list) == 0 {
		return ""
	}
	if len(list) > 1 {
		p.fail(badParameter(name, "it is given %d times", len(list)))
	}
	if len(list[0]) > most || !utf8.ValidString(list[0]) {
		p.fail(badParameter(name, "want at most %d bytes of text", most))
		return ""
	}
	return list[0]
}

func (p *params) fail(err error) {
	if p.fault == nil {
		p.fault = err
	}
}

// number returns a parameter as a number within bounds, otherwise what stands for it.
func (p *params) number(name string, least, most, otherwise int64) int64 {
	s := p.text(name, 20)
	if s == "" && !p.values.Has(name) {
		return otherwise
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < least || n > most {
		p.fail(badParameter(name, "%.30q: want a number from %d to %d", s, least, most))
		return otherwise
	}
	return n
}

func (p *params) choice(name string, values ...string) string {
	s := p.text(name, 100)
	if s != "" && !slices.Contains(values, s) {
		p.fail(badParameter(name, "%.30q: want one of %s", s, strings.Join(values, ", ")))
	}
	return s
}

func (p *params) truth(name string) bool { return p.choice(name, "true", "false") == "true" }

// list is a parameter with commas.
func (p *params) list(name string) (out []string) {
	for s := range strings.SplitSeq(p.text(name, 4096), ",") {
		if s = strings.TrimSpace(s); s != "" {
			out = append(out, s)
		}
	}
	return out
}

// maxNamed is how many events can be asked for by their seqs.
const maxNamed = 400

// seqs is a list of events.
func (p *params) seqs(name string) (out []uint64) {
	for _, s := range p.list(name) {
		n, err := strconv.ParseUint(s, 10, 53)
		if err != nil || n == 0 || len(out) == maxNamed {
			p.fail(badParameter(name, "want at most %d numbers from 1 on, with commas", maxNamed))
			return nil
		}
		out = append(out, n)
	}
	return out
}

// done returns the first fault, also that of a parameter that nobody asked for.
func (p *params) done() error {
	for name := range p.values {
		if !slices.Contains(p.known, name) {
			p.fail(badParameter(clip(name), "there is no such parameter here: it takes %s", strings.Join(p.known, ", ")))
		}
	}
	return p.fault
}

// clip is a caller's word as it is said back.
func clip(s string) string { return plain.Brief(s[:min(len(s), 1000)], 60) }

// none refuses all parameters.
func none(r *http.Request) error {
	p := paramsOf(r)
	if len(p.values) > 0 {
		for name := range p.values {
			return badParameter(clip(name), "this takes no parameters")
		}
	}
	return p.fault
}

// maxSeq is the last place that a ledger can have.
const maxSeq = 1 << 53

// holds reports whether a line holds a text, whatever the case of ASCII letters. The
// text must be in lower case.
func holds(line []byte, text string) bool {
	if len(text) == 0 {
		return true
	}
	first := text[0]
	for i := 0; i+len(text) <= len(line); i++ {
		if lower(line[i]) == first && foldEqual(line[i:i+len(text)], text) {
			return true
		}
		if first >= 0x80 { // no letter of ASCII: the library is faster
			next := bytes.IndexByte(line[i+1:], first)
			if next < 0 {
				return false
			}
			i += next
		}
	}
	return false
}

func foldEqual(line []byte, text string) bool {
	for i := range line {
		if lower(line[i]) != text[i] {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

func lowerASCII(s string) string {
	b := []byte(s)
	for i, c := range b {
		b[i] = lower(c)
	}
	return string(b)
}
