package analysis

import (
	"fmt"
	"net/url"
	"path"
	"strings"

	"lyceum/internal/plain"
)

// addresses are the attributes that name files, by element; those under * are everybody's.
var addresses = map[string]map[string]bool{
	"a": set("href ping"), "area": set("href ping"), "link": set("href"), "script": set("src"), "img": set("src"), "iframe": set("src"), "frame": set("src"),
	"audio": set("src"), "video": set("src poster"), "source": set("src"), "track": set("src"), "embed": set("src"), "object": set("data"), "input": set("src formaction"),
	"button": set("formaction"), "form": set("action"), "blockquote": set("cite"), "q": set("cite"), "image": set("href"), "use": set("href"), "*": set("xlink:href background manifest"),
}

// inData are the elements whose files may stand in the page itself, as data.
var inData = set("img source audio video track image link input")

// refers looks at what an element refers to.
func (l *look) refers(p *page, e *element) {
	if e.tag == "base" {
		l.fail(p.path, e.line, "reference", "addresses that mean what they say", "<base>")
	}
	if e.tag == "meta" && strings.EqualFold(e.attr("http-equiv"), "refresh") {
		l.fail(p.path, e.line, "reference", "a page that stays", "<meta http-equiv=\"refresh\">")
	}
	for _, name := range []string{"href", "src", "data", "action", "formaction", "poster", "ping", "cite", "xlink:href", "background", "manifest"} {
		if value, ok := e.attrs[name]; ok && (addresses[e.tag][name] || addresses["*"][name]) {
			l.refer(p.path, e.line, value, inData[e.tag], p)
		}
	}
	for _, name := range []string{"srcset", "imagesrcset"} {
		if value := e.attrs[name]; value != "" && (e.tag == "img" || e.tag == "source" || e.tag == "link") {
			for part := range strings.SplitSeq(value, ",") {
				if fields := strings.Fields(part); len(fields) > 0 && !strings.HasPrefix(value, "data:") {
					l.refer(p.path, e.line, fields[0], true, p)
				}
			}
		}
	}
	if value := e.attrs["style"]; value != "" {
		l.style(p.path, e.line, []byte("x{"+value+"}"))
	}
	if value, ok := e.attrs["srcdoc"]; ok && value != "" {
		l.fail(p.path, e.line, "reference", "a file of the folder", "srcdoc, a page within an attribute")
	}
}

// refer looks at one address. data says that it may be data itself, of a page p its parts are
// known.
func (l *look) refer(from string, line int, address string, data bool, p *page) {
	what := within(address)
	expected := "a file of the folder"
	switch {
	case what.outer != "":
		if what.outer != "data" || !data {
			l.fail(from, line, "reference", expected, fmt.Sprintf("%s, which lies outside", squeeze(address)))
		}
	case what.path == "" && what.part == "":
	case what.path == "":
		if p != nil && what.part != "top" && p.ids[what.part] == nil {
			l.absent(p, &element{tag: "a", line: line}, "reference", "href", "#"+what.part)
		}
	default:
		at, ok := l.resolve(from, what.path)
		switch f := l.files[at]; {
		case !ok:
			l.fail(from, line, "reference", expected, fmt.Sprintf("%s, which leads out of the folder", squeeze(address)))
		case f == nil || f.Link:
			l.fail(from, line, "reference", expected, fmt.Sprintf("%s, which is not there", squeeze(address)))
		}
	}
}

// address is what an address means: something outside (by its scheme, or //), or a path and a
// part of it.
type address struct{ outer, path, part string }

// within reads an address as browsers do: without breaks and tabs, with slashes either way.
func within(s string) address {
	s = strings.Map(func(r rune) rune {
		if r == '\n' || r == '\r' || r == '\t' {
			return -1
		}
		return r
	}, s)
	s = strings.TrimFunc(s, func(r rune) bool { return r == ' ' || plain.Controls.Has(r) })
	s, part, _ := strings.Cut(s, "#")
	if i := strings.IndexAny(s, ":/?\\"); i > 0 && s[i] == ':' {
		return address{outer: strings.ToLower(s[:i])}
	}
	s, _, _ = strings.Cut(s, "?")
	s = strings.ReplaceAll(s, "\\", "/")
	if strings.HasPrefix(s, "//") {
		return address{outer: "//"}
	}
	if bare, err := url.PathUnescape(s); err == nil {
		s = strings.ReplaceAll(bare, "\\", "/")
	}
	return address{path: s, part: part}
}

// resolve is the file that a path of a file means; it may not lead out of the folder.
func (l *look) resolve(from, to string) (string, bool) {
	at := path.Dir(from)
	if strings.HasPrefix(to, "/") {
		at, to = ".", strings.TrimLeft(to, "/")
	}
	whole := path.Join(at, to)
	if whole == ".." || strings.HasPrefix(whole, "../") {
		return "", false
	}
	if whole == "." || strings.HasSuffix(to, "/") {
		whole = path.Join(whole, Entry)
	}
	return whole, true
}
