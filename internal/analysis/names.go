package analysis

import (
	"fmt"
	"regexp"
	"strings"
)

var language = regexp.MustCompile(`^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$`)

// document looks at what a page says of itself: its language and its title.
func (l *look) document(p *page) {
	var root, title *element
	for _, e := range p.all {
		switch {
		case e.tag == "html" && root == nil:
			root = e
		case e.tag == "title" && title == nil && (e.up == nil || e.up.tag != "svg"):
			title = e
		}
	}
	switch {
	case root == nil:
		l.fail(p.path, 1, "language", `<html lang="…">`, "no <html>")
	case !language.MatchString(root.attr("lang")):
		l.fail(p.path, root.line, "language", `a language, as in <html lang="en">`, fmt.Sprintf("<html> with the language %q", root.attr("lang")))
	}
	if title == nil || strings.TrimSpace(l.textOf(title)) == "" {
		l.fail(p.path, 1, "title", "a <title> with text", "none")
	}
}

// Elements and roles that people act on.
var (
	controls = set("button link checkbox radio switch textbox searchbox combobox listbox slider spinbutton menuitem menuitemcheckbox menuitemradio tab treeitem option")
	// fromContent are the roles that are named by what they hold.
	fromContent = set("button link checkbox radio switch menuitem menuitemcheckbox menuitemradio tab treeitem option heading cell columnheader rowheader row tooltip")
)

// roles are those that elements have by themselves.
var roles = map[string]string{
	"button": "button", "textarea": "textbox", "option": "option", "summary": "button", "output": "status", "progress": "progressbar", "meter": "meter",
	"h1": "heading", "h2": "heading", "h3": "heading", "h4": "heading", "h5": "heading", "h6": "heading",
	"img": "image", "nav": "navigation", "main": "main", "aside": "complementary", "article": "article", "form": "form", "dialog": "dialog", "table": "table",
	"ul": "list", "ol": "list", "menu": "list", "li": "listitem", "tr": "row", "td": "cell", "th": "columnheader", "fieldset": "group", "details": "group", "hr": "separator",
	"p": "paragraph", "figure": "figure", "search": "search", "section": "region", "header": "banner", "footer": "contentinfo", "audio": "audio", "video": "video", "canvas": "canvas", "iframe": "iframe",
}

// inputs are the roles of <input>, by its type; others are text boxes.
var inputs = map[string]string{
	"button": "button", "submit": "button", "reset": "button", "image": "button", "checkbox": "checkbox", "radio": "radio", "range": "slider", "number": "spinbutton", "search": "searchbox", "hidden": "",
}

// roleOf is the role of an element, nothing if it has none.
func roleOf(e *element) string {
	if first, _, _ := strings.Cut(e.attr("role"), " "); first != "" {
		if first = strings.ToLower(first); first == "img" {
			return "image"
		}
		return first
	}
	switch e.tag {
	case "a", "area":
		if e.has("href") {
			return "link"
		}
		return ""
	case "input":
		kind := strings.ToLower(e.attr("type"))
		if role, ok := inputs[kind]; ok {
			return role
		}
		if e.has("list") {
			return "combobox"
		}
		return "textbox"
	case "select":
		if e.has("multiple") {
			return "listbox"
		}
		return "combobox"
	}
	return roles[e.tag]
}

// hidden reports whether nobody is shown an element.
func hidden(e *element) bool {
	for ; e != nil; e = e.up {
		if e.has("hidden") || e.attr("aria-hidden") == "true" || e.tag == "template" {
			return true
		}
	}
	return false
}

// nameOf is what an element is called for who cannot see it.
func (l *look) nameOf(p *page, e *element) string {
	if ids := strings.Fields(e.attr("aria-labelledby")); len(ids) > 0 {
		var parts []string
		for _, id := range ids[:min(len(ids), 20)] {
			if of := p.ids[id]; of != nil {
				parts = append(parts, l.textOf(of))
			}
		}
		if name := squeeze(strings.Join(parts, " ")); name != "" {
			return name
		}
	}
	if name := squeeze(e.attr("aria-label")); name != "" {
		return name
	}
	if name := squeeze(l.ownName(p, e)); name != "" {
		return name
	}
	return squeeze(e.attr("title"))
}

// ownName is the name that an element has by what it is.
func (l *look) ownName(p *page, e *element) string {
	switch e.tag {
	case "img", "area":
		return e.attr("alt")
	case "input":
		switch kind := strings.ToLower(e.attr("type")); kind {
		case "submit", "reset":
			if e.has("value") {
				return e.attr("value")
			}
			return map[string]string{"submit": "Submit", "reset": "Reset"}[kind]
		case "button":
			return e.attr("value")
		case "image":
			return e.attr("alt")
		}
		return l.labelOf(p, e)
	case "select", "textarea", "output", "progress", "meter":
		return l.labelOf(p, e)
	case "fieldset":
		return l.childText(e, "legend")
	case "figure":
		return l.childText(e, "figcaption")
	case "table":
		return l.childText(e, "caption")
	}
	if fromContent[roleOf(e)] {
		return l.textOf(e)
	}
	return ""
}

func (l *look) childText(e *element, tag string) string {
	for _, k := range e.kids {
		if k.tag == tag {
			return l.textOf(k)
		}
	}
	return ""
}

// labelOf is the text of the labels of a field, or what stands in it while it is empty.
func (l *look) labelOf(p *page, e *element) string {
	for up := e.up; up != nil; up = up.up {
		if up.tag == "label" {
			return l.textOf(up)
		}
	}
	if id := e.attr("id"); id != "" && p.ids[id] == e {
		for _, label := range p.labels()[id] {
			if text := l.textOf(label); text != "" {
				return text
			}
		}
	}
	return e.attr("placeholder")
}

// labels are the labels of a page, by the ids that they are for.
func (p *page) labels() map[string][]*element {
	if p.labelled == nil {
		p.labelled = map[string][]*element{}
		for _, e := range p.all {
			if id := e.attr("for"); e.tag == "label" && id != "" && len(p.labelled[id]) < 10 {
				p.labelled[id] = append(p.labelled[id], e)
			}
		}
	}
	return p.labelled
}

// textOf is what stands in an element, pictures by their names. Of much it is the beginning.
func (l *look) textOf(e *element) string {
	var b strings.Builder
	l.gather(e, &b)
	return squeeze(b.String())
}

func (l *look) gather(e *element, b *strings.Builder) {
	if b.Len() > 1000 || !l.spend(1) {
		return
	}
	switch {
	case e.tag == "":
		b.WriteString(e.text[:min(len(e.text), 1000)])
	case e.has("hidden") || e.attr("aria-hidden") == "true" || e.tag == "template":
		return
	case e.attr("aria-label") != "":
		b.WriteString(" " + e.attr("aria-label") + " ")
		return
	case e.tag == "img":
		b.WriteString(" " + e.attr("alt") + " ")
	case e.tag == "br":
		b.WriteString(" ")
	}
	for _, k := range e.kids {
		l.gather(k, b)
	}
}

func squeeze(s string) string { return strings.Join(strings.Fields(s[:min(len(s), 2000)]), " ") }

// accessible looks at one element: whether it has a name, and whether what it names is there.
func (l *look) accessible(p *page, e *element) {
	if e.tag == "img" && !e.has("alt") && e.attr("role") != "presentation" && e.attr("role") != "none" && e.attr("aria-label") == "" && e.attr("aria-labelledby") == "" {
		l.fail(p.path, e.line, "alt", `alt="…", empty for what is only decoration`, "<img> without alt")
	}
	if e.tag == "iframe" && l.nameOf(p, e) == "" {
		l.fail(p.path, e.line, "name", "a title", "<iframe> without a title")
	}
	if role := roleOf(e); (controls[role] && role != "option" || e.attr("role") == "img") && !hidden(e) && l.nameOf(p, e) == "" {
		l.unnamed(p, e, role)
	}
	if e.tag == "label" && e.attr("for") != "" && p.ids[e.attr("for")] == nil {
		l.absent(p, e, "label", "for", e.attr("for"))
	}
	for _, name := range []string{"aria-labelledby", "aria-describedby", "aria-controls"} {
		for i, id := range strings.Fields(e.attrs[name]) {
			if i < 20 && p.ids[id] == nil {
				l.absent(p, e, "label", name, id)
			}
		}
	}
}

// unnamed tells of an element that people act on and that has no name. A script that sets texts
// may give it one before anybody sees it, but a person who reads the file cannot know.
func (l *look) unnamed(p *page, e *element, role string) {
	expected := "a name: a text in it, or aria-label"
	switch role {
	case "textbox", "searchbox", "combobox", "listbox", "slider", "spinbutton", "checkbox", "radio":
		expected = "a name: a <label> for it, or aria-label"
	}
	l.fail(p.path, e.line, "name", expected, fmt.Sprintf("<%s>, a %s without a name", e.tag, role))
}

// absent tells of an id that nothing has. Scripts may make what has it.
func (l *look) absent(p *page, e *element, check, attr, id string) {
	kind := Failed
	if p.scripted {
		kind = Told
	}
	l.note(p.path, e.line, check, kind, "an element with that id", fmt.Sprintf("<%s %s=%q>, which nothing has", e.tag, attr, squeeze(id)))
}
