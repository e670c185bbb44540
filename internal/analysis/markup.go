package analysis

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// Bounds of one page.
const (
	maxElements = 50_000
	maxNesting  = 200
	maxAttrs    = 200
)

// element is one of a page, or a text in it if it has no tag.
type element struct {
	tag   string
	attrs map[string]string
	line  int
	// up is the element around it, none for the page itself.
	up   *element
	kids []*element
	text string
}

func (e *element) attr(name string) string { return strings.TrimSpace(e.attrs[name]) }

func (e *element) has(name string) bool {
	_, ok := e.attrs[name]
	return ok
}

// page is a page as its tags stand in the file.
type page struct {
	path string
	root *element
	// all are its elements, in order; ids those with an id, the first of each.
	all []*element
	ids map[string]*element
	// labelled are labels by the ids that they are for, once somebody asked.
	labelled map[string][]*element
	// scripted says that it has scripts: what is missing may be made by them.
	scripted bool
}

// Elements without an end, and elements that end where their parent or a next one does.
var (
	void    = set("area base br col embed hr img input link meta source track wbr param")
	endless = set("p li dt dd option optgroup tr td th thead tbody tfoot colgroup caption html head body rt rp")
	// closes are the open elements that one of these ends.
	closes = map[string]map[string]bool{
		"li": set("li"), "dt": set("dt dd"), "dd": set("dt dd"), "option": set("option"), "optgroup": set("option optgroup"),
		"tr": set("tr td th"), "td": set("td th"), "th": set("td th"), "tbody": set("thead tbody tr td th colgroup caption"), "tfoot": set("tbody tr td th"), "thead": set("colgroup caption"),
		"rt": set("rt rp"), "rp": set("rt rp"), "body": set("head"),
	}
	// ends are what a paragraph cannot hold: it ends in front of them.
	ends = set("address article aside blockquote details div dl fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr main menu nav ol p pre section table ul")
)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

// page reads a page.
func (l *look) page(path string, data []byte) {
	p := &page{path: path, root: &element{}, ids: map[string]*element{}}
	l.pages = append(l.pages, p)
	if bytes.IndexByte(data, 0) >= 0 {
		l.fail(path, 1, "html", "a text", "zero bytes")
		return
	}
	r := &pageReader{look: l, page: p, at: p.root, line: 1}
	r.read(data)
	l.check(p)
}

// pageReader makes elements of tags.
type pageReader struct {
	look *look
	page *page
	at   *element
	// deep is how many elements are open, line where the reader stands.
	deep, line int
	full       bool
}

func (r *pageReader) read(data []byte) {
	z := html.NewTokenizer(bytes.NewReader(data))
	for !r.full {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		begin := r.line
		r.line += bytes.Count(z.Raw(), []byte("\n"))
		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			r.start(z, begin, kind == html.SelfClosingTagToken, len(z.Raw()))
		case html.EndTagToken:
			name, _ := z.TagName()
			r.end(string(name), begin)
		case html.TextToken:
			r.words(z, begin)
		}
	}
	for ; r.at != nil && r.at.up != nil; r.at = r.at.up {
		if !endless[r.at.tag] {
			r.look.fail(r.page.path, r.at.line, "html", "</"+r.at.tag+">", "<"+r.at.tag+"> is never closed")
		}
	}
}

// start opens an element.
func (r *pageReader) start(z *html.Tokenizer, line int, closed bool, size int) {
	if size > MaxFile/4 {
		r.look.fail(r.page.path, line, "html", "a tag of a few kilobytes", fmt.Sprintf("one of %d bytes", size))
		r.full = true
		return
	}
	name, more := z.TagName()
	e := &element{tag: string(name), attrs: map[string]string{}, line: line}
	for n := 0; more; n++ {
		var key, value []byte
		key, value, more = z.TagAttr()
		if n == maxAttrs {
			r.look.fail(r.page.path, line, "html", fmt.Sprintf("at most %d attributes", maxAttrs), "<"+e.tag+"> has more")
			break
		}
		if _, twice := e.attrs[string(key)]; !twice { // the first counts
			e.attrs[string(key)] = string(value)
		}
	}
	r.implied(e.tag)
	if !r.add(e) || void[e.tag] || closed && foreign(e) {
		return
	}
	if r.deep++; r.deep > maxNesting {
		r.look.fail(r.page.path, line, "html", fmt.Sprintf("at most %d elements in each other", maxNesting), "more")
		r.full = true
		return
	}
	r.at = e
}

// implied ends elements that the next one ends by beginning.
func (r *pageReader) implied(tag string) {
	if ends[tag] && r.at.tag == "p" {
		r.pop()
	}
	for closes[tag][r.at.tag] {
		r.pop()
	}
}

func (r *pageReader) pop() { r.at, r.deep = r.at.up, r.deep-1 }

// foreign reports whether an element is of a drawing or a formula, where tags may close
// themselves.
func foreign(e *element) bool {
	for ; e != nil; e = e.up {
		if e.tag == "svg" || e.tag == "math" {
			return true
		}
	}
	return false
}

// add puts an element where the reader stands.
func (r *pageReader) add(e *element) bool {
	if len(r.page.all) >= maxElements {
		if !r.full {
			r.look.fail(r.page.path, e.line, "html", fmt.Sprintf("at most %d elements", maxElements), "more")
		}
		r.full = true
		return false
	}
	e.up = r.at
	r.at.kids = append(r.at.kids, e)
	r.page.all = append(r.page.all, e)
	return true
}

// end closes an element, and those within it that end by themselves.
func (r *pageReader) end(tag string, line int) {
	if tag == "br" || tag == "p" && r.at.tag != "p" && !r.within("p") {
		r.look.fail(r.page.path, line, "html", "<"+tag+">", "</"+tag+"> closes nothing")
		return
	}
	if void[tag] || !r.within(tag) {
		r.look.fail(r.page.path, line, "html", "an element that is open", "</"+tag+"> closes nothing")
		return
	}
	for ; r.at.tag != tag; r.pop() {
		if !endless[r.at.tag] {
			r.look.fail(r.page.path, line, "html", "</"+r.at.tag+">", fmt.Sprintf("</%s> while <%s> of line %d is open", tag, r.at.tag, r.at.line))
		}
	}
	r.pop()
}

func (r *pageReader) within(tag string) bool {
	for e := r.at; e != nil; e = e.up {
		if e.tag == tag {
			return true
		}
	}
	return false
}

// words are a text, a style or a script, as the element around says.
func (r *pageReader) words(z *html.Tokenizer, line int) {
	switch r.at.tag {
	case "script":
		r.look.inline(r.page, r.at, line, bytes.Clone(z.Raw()))
	case "style":
		r.look.style(r.page.path, line, bytes.Clone(z.Raw()))
	case "noscript": // a text for who has scripts
	default:
		if text := string(z.Text()); strings.TrimSpace(text) != "" {
			r.add(&element{text: text, line: line})
		}
	}
}

// check looks at a page as a whole.
func (l *look) check(p *page) {
	p.scripted = slices.ContainsFunc(p.all, func(e *element) bool { return e.tag == "script" || handles(e) })
	for _, e := range p.all {
		id, ok := e.attrs["id"]
		switch other := p.ids[id]; {
		case !ok:
		case id == "" || strings.ContainsAny(id, " \t\n\f\r"):
			l.fail(p.path, e.line, "id", "an id without spaces", fmt.Sprintf("<%s id=%q>", e.tag, id))
		case other != nil:
			l.fail(p.path, e.line, "id", "each id once", fmt.Sprintf("%q is also that of <%s> in line %d", id, other.tag, other.line))
		default:
			p.ids[id] = e
		}
	}
	l.document(p)
	for _, e := range p.all {
		if e.tag != "" {
			l.refers(p, e)
			l.accessible(p, e)
			l.handlers(p, e)
		}
	}
}
