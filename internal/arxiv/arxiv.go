// Package arxiv asks arXiv for papers.
//
// A question is one request to its API, answered within five seconds or not at all. Nothing else
// is connected to: not where a redirect leads, and no address that is not one of the public
// internet. What comes back is a stranger's word: bounded, without control characters, and papers
// only if they have an id of arXiv's form.
package arxiv

import (
	"bytes"
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"lyceum/internal/computer/proxy"
	"lyceum/internal/plain"
)

// Host is who is asked.
const Host = "export.arxiv.org"

// Bounds of a question and its answer.
const (
	patience  = 5 * time.Second
	maxAnswer = 2 << 20
	maxWords  = 12
	maxText   = 2000 // bytes of a title or an abstract
	maxBy     = 5    // authors
)

// Paper is what arXiv says of one.
type Paper struct {
	// ID is like 2401.01234v1, Published a day like 2024-01-03.
	ID, Title, Summary, Published string
	Authors                       []string
}

// Client asks. The zero value asks arXiv.
type Client struct {
	// Address is that of the API, Allow what may be connected to for it; empty for arXiv's.
	Address string
	Allow   []string
	// Patience is how long an answer may take, 5 seconds if it is 0.
	Patience time.Duration
}

// Search returns papers that fit words, or the one that has an id. An error says what a person
// can read.
func (c *Client) Search(ctx context.Context, words string, limit int) ([]Paper, error) {
	wait := cmp.Or(c.Patience, patience)
	within, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	papers, err := c.search(within, words, limit)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case within.Err() != nil:
		return nil, fmt.Errorf("arXiv has not answered within %v", wait)
	}
	return papers, err
}

func (c *Client) search(ctx context.Context, words string, limit int) ([]Paper, error) {
	query := queryOf(words)
	if query == nil {
		return nil, errors.New("there is no word to look for")
	}
	query.Set("max_results", strconv.Itoa(limit))
	address, allow := c.Address, c.Allow
	if address == "" {
		address, allow = "https://"+Host+"/api/query", []string{Host + ":443"}
	}
	rules, err := proxy.Parse(allow)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"?"+query.Encode(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "lyceum")
	by := client(rules)
	defer by.CloseIdleConnections()
	resp, err := by.Do(req)
	if err != nil {
		return nil, fmt.Errorf("arXiv cannot be reached: %w", reason(err))
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return nil, fmt.Errorf("arXiv answers with %d: it is asked too often, try again in a minute", resp.StatusCode)
	default:
		return nil, fmt.Errorf("arXiv answers with %d", resp.StatusCode)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("arXiv's answer broke off: %w", reason(err))
	case len(data) > maxAnswer:
		return nil, fmt.Errorf("arXiv's answer has more than %d bytes", maxAnswer)
	}
	papers, err := parse(data)
	return papers[:min(len(papers), limit)], err
}

// client connects to what the rules open, and goes nowhere else.
func client(rules *proxy.Rules) *http.Client {
	t := &http.Transport{
		DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
			return (&proxy.Proxy{Rules: rules}).Connect(ctx, address)
		},
		MaxResponseHeaderBytes: 64 << 10,
	}
	return &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// reason is an error without the address that was asked for.
func reason(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

// id is that of a paper, as of today and as before 2007.
var id = regexp.MustCompile(`^(\d{4}\.\d{4,5}|[a-z-]{2,20}(\.[A-Z]{2})?/\d{7})(v\d{1,3})?$`)

// small are words that nothing is found by.
var small = strings.Fields("a an and are as at by for from in is of on or the to with")

// queryOf is what the API is asked: an id, or all words. It is nil if there is nothing to ask.
func queryOf(words string) url.Values {
	if w := strings.TrimPrefix(strings.TrimSpace(words), "arXiv:"); id.MatchString(w) {
		return url.Values{"id_list": {w}}
	}
	var terms []string
	for _, w := range strings.FieldsFunc(words, func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) && c != '-' }) {
		w = strings.Trim(w, "-")
		if w != "" && !slices.Contains(small, strings.ToLower(w)) && len(terms) < maxWords {
			terms = append(terms, "all:"+w)
		}
	}
	if len(terms) == 0 {
		return nil
	}
	return url.Values{"search_query": {strings.Join(terms, " AND ")}, "sortBy": {"relevance"}}
}

// parse reads an answer, which is a feed in Atom.
func parse(data []byte) ([]Paper, error) {
	var feed struct {
		XMLName xml.Name `xml:"http://www.w3.org/2005/Atom feed"`
		Entries []struct {
			ID        string `xml:"id"`
			Title     string `xml:"title"`
			Summary   string `xml:"summary"`
			Published string `xml:"published"`
			Authors   []struct {
				Name string `xml:"name"`
			} `xml:"author"`
		} `xml:"entry"`
	}
	if err := xml.NewDecoder(bytes.NewReader(data)).Decode(&feed); err != nil {
		return nil, errors.New("arXiv's answer cannot be read: it is no feed")
	}
	var out []Paper
	for _, e := range feed.Entries {
		_, ref, ok := strings.Cut(strings.TrimSpace(e.ID), "/abs/")
		switch {
		case strings.Contains(e.ID, "/api/errors"):
			return nil, fmt.Errorf("arXiv refuses the question: %s", clean(e.Summary, 200))
		case !ok || !id.MatchString(ref):
			continue
		}
		p := Paper{ID: ref, Title: clean(e.Title, maxText), Summary: clean(e.Summary, maxText), Published: day(e.Published)}
		for _, a := range e.Authors[:min(len(e.Authors), maxBy)] {
			p.Authors = append(p.Authors, clean(a.Name, 200))
		}
		out = append(out, p)
	}
	return out, nil
}

// day is the first part of a time, empty if it is none.
func day(s string) string {
	if t, err := time.Parse(time.RFC3339, strings.TrimSpace(s)); err == nil {
		return t.UTC().Format(time.DateOnly)
	}
	return ""
}

// clean is a stranger's text in one line, at most so many bytes of it.
func clean(s string, most int) string { return plain.Bare(strings.Join(strings.Fields(s), " "), most) }
