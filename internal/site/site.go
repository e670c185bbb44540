// Package site makes a site and man pages of Lyceum's documents: of the same Markdown that is read in
// the repository.
//
// The site is static. It has a page for each document, and one with all of them and a search, whose
// index is made of the sections; it works from a folder as it does from a server, and asks nobody for
// anything. The documents are our own: nothing of agents' or of strangers' may be given to it.
package site

import (
	"archive/zip"
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// document is one of them.
type document struct {
	// Name is the file's without .md, Title its first heading.
	Name, Title string
	source      []byte
	root        ast.Node
}

// section is what a search finds: a heading and what stands below it.
type section struct {
	Page   string `json:"p"`
	Anchor string `json:"a"`
	Title  string `json:"t"`
	Text   string `json:"x"`
}

// set is how documents are read: as GitHub does it.
var set = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// read reads all documents of a folder, by their titles.
func read(files fs.FS) ([]*document, error) {
	names, err := fs.Glob(files, "*.md")
	if err != nil {
		return nil, err
	}
	var all []*document
	for _, name := range names {
		source, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		d := &document{Name: strings.TrimSuffix(name, ".md"), source: source, root: set.Parser().Parse(text.NewReader(source))}
		d.Title = d.Name
		for n := d.root.FirstChild(); n != nil; n = n.NextSibling() {
			if h, ok := n.(*ast.Heading); ok && h.Level == 1 {
				d.Title = d.words(h)
				break
			}
		}
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b *document) int { return strings.Compare(strings.ToLower(a.Title), strings.ToLower(b.Title)) })
	return all, nil
}

// words are the text of a node, without marks.
func (d *document) words(n ast.Node) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			if n.Type() == ast.TypeBlock {
				b.WriteByte(' ')
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Value(d.source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			b.Write(n.Lines().Value(d.source))
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// sections are what a search finds in a document.
func (d *document) sections() (out []section) {
	out = append(out, section{Page: d.Name + ".html", Title: d.Title})
	for n := d.root.FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Level > 1 {
			id, _ := h.AttributeString("id")
			anchor, _ := id.([]byte)
			out = append(out, section{Page: d.Name + ".html", Anchor: string(anchor), Title: d.words(h)})
			continue
		}
		last := &out[len(out)-1]
		last.Text = strings.TrimSpace(last.Text + " " + d.words(n))
	}
	return out
}

// relative is a link to another document.
var relative = regexp.MustCompile(`^([A-Za-z0-9_-]+)\.md(#.*)?$`)

// link has links lead to pages of the site. Those to other files of the repository become text: they
// are not here.
func (d *document) link(known map[string]bool) {
	var lost []ast.Node
	_ = ast.Walk(d.root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			to := string(n.Destination)
			if m := relative.FindStringSubmatch(to); m != nil && known[m[1]] {
				n.Destination = []byte(m[1] + ".html" + m[2])
			} else if !strings.HasPrefix(to, "#") && !strings.Contains(to, "://") {
				lost = append(lost, n)
			}
		case *ast.Image:
			lost = append(lost, n)
		}
		return ast.WalkContinue, nil
	})
	for _, n := range lost {
		parent := n.Parent()
		for c := n.FirstChild(); c != nil; c = n.FirstChild() {
			parent.InsertBefore(parent, n, c)
		}
		parent.RemoveChild(parent, n)
	}
}

// Faces are the fonts of the site, in WOFF2, and the licence that goes where they go. Without a font
// its text has the letters of the system.
type Faces struct {
	Sans, Mono []byte
	License    string
}

// files are what of them the site has, by name.
func (f Faces) files() map[string][]byte {
	all := map[string][]byte{}
	sheet := css
	for _, face := range []struct {
		name, family string
		data         []byte
	}{{"sans.woff2", "Inter", f.Sans}, {"mono.woff2", "JetBrains Mono", f.Mono}} {
		if len(face.data) > 0 {
			all[face.name] = face.data
			all["fonts.txt"] = []byte(f.License)
			sheet += fmt.Sprintf("@font-face{font-family:%q;font-weight:100 800;font-display:swap;src:url(%s) format(\"woff2\")}\n", face.family, face.name)
		}
	}
	all["site.css"] = []byte(sheet)
	return all
}

// reached has what scrolls sideways be reached by the keyboard. The documents' own marks are escaped.
var reached = strings.NewReplacer("<pre>", `<pre tabindex="0">`, "<table>", `<table tabindex="0">`)

// Build makes the site of a folder of documents.
func Build(files fs.FS, faces Faces) (fs.FS, error) {
	all, err := read(files)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, d := range all {
		known[d.Name] = true
	}
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	put := func(name string, data []byte) error {
		w, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	}
	index := []section{}
	for _, d := range all {
		index = append(index, d.sections()...)
		d.link(known)
		var body, page bytes.Buffer
		if err := set.Renderer().Render(&body, d.source, d.root); err != nil {
			return nil, fmt.Errorf("set %s: %w", d.Name, err)
		}
		if err := frame.Execute(&page, map[string]any{"Title": d.Title, "Here": d.Name, "All": all, "Body": template.HTML(reached.Replace(body.String()))}); err != nil {
			return nil, err
		}
		if err := put(d.Name+".html", page.Bytes()); err != nil {
			return nil, err
		}
	}
	var front bytes.Buffer
	if err := frame.Execute(&front, map[string]any{"Title": "Lyceum", "All": all, "Search": true}); err != nil {
		return nil, err
	}
	found, err := json.Marshal(index)
	if err != nil {
		return nil, err
	}
	rest := faces.files()
	rest["index.html"], rest["search.js"] = front.Bytes(), []byte("const sections = "+string(found)+";\n"+search)
	for name, data := range rest {
		if err := put(name, data); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return zip.NewReader(bytes.NewReader(packed.Bytes()), int64(packed.Len()))
}

// Names are the pages of a folder of documents, by the documents' names.
func Names(files fs.FS) []string {
	names, _ := fs.Glob(files, "*.md") // the pattern is right
	for i, n := range names {
		names[i] = strings.TrimSuffix(path.Base(n), ".md")
	}
	return names
}

var frame = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Title}}{{if ne .Title "Lyceum"}} · Lyceum{{end}}</title><link rel="icon" href="data:,"><link rel="stylesheet" href="site.css"></head>
<body><nav aria-label="Documents"><a href="index.html"{{if .Search}} aria-current="page"{{end}}>Search</a>{{range .All}}<a href="{{.Name}}.html"{{if eq .Name $.Here}} aria-current="page"{{end}}>{{.Title}}</a>{{end}}</nav>
<main>{{if .Search}}<h1>Lyceum</h1><p><label for="q">Search in all documents</label> <input id="q" type="search" autofocus autocomplete="off"></p><p id="count" role="status"></p><ol id="found"></ol>
<ul id="all">{{range .All}}<li><a href="{{.Name}}.html">{{.Title}}</a></li>{{end}}</ul><script src="search.js"></script>{{else}}{{.Body}}{{end}}</main></body></html>
`))

const css = `:root{color-scheme:light dark;font:16px/1.55 Inter,system-ui,sans-serif}
*{font-variant-ligatures:none!important}a{color:light-dark(#2b5a8c,#8ab8e6)}
body{margin:0;background:light-dark(#faf9f7,#141517);color:light-dark(#1f1e1c,#e9e7e2);display:grid;grid-template-columns:14rem minmax(0,1fr);min-height:100vh}
nav{padding:1rem;border-right:1px solid #8884;font-size:.9rem;position:sticky;top:0;max-height:100vh;overflow:auto;box-sizing:border-box}
nav a{display:block;padding:.2rem 0;text-decoration:none}nav a[aria-current]{font-weight:700}
main{padding:1rem 2rem 4rem;max-width:56rem;box-sizing:border-box;overflow-wrap:break-word}
pre{overflow:auto;padding:.8rem;background:#8881;border-radius:4px}code{font:.9em "JetBrains Mono",ui-monospace,monospace}
table{border-collapse:collapse;display:block;overflow-x:auto}td,th{border:1px solid #8884;padding:.3rem .6rem;text-align:left;vertical-align:top}
input{font:inherit;padding:.4rem .6rem;width:min(30rem,100%);box-sizing:border-box}#found li{margin:.6rem 0}
@media(max-width:48rem){body{display:block}nav{position:static;max-height:11rem;border-right:0;border-bottom:1px solid #8884}main{padding:1rem}}
`

// search shows the sections that have all words, those with most of them in their headings first. The
// texts are set as text, never as HTML.
const search = `const box = document.getElementById('q'), found = document.getElementById('found'), count = document.getElementById('count'), all = document.getElementById('all');
const lower = sections.map(s => [s.t.toLowerCase(), s.x.toLowerCase()]);
function look() {
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  found.textContent = ''; all.hidden = words.length > 0;
  if (!words.length) { count.textContent = ''; return; }
  const hits = [];
  sections.forEach((s, i) => {
    const [t, x] = lower[i];
    if (!words.every(w => t.includes(w) || x.includes(w))) return;
    hits.push([words.filter(w => t.includes(w)).length * 10 + (t === words.join(' ') ? 20 : 0), i]);
  });
  hits.sort((a, b) => b[0] - a[0] || a[1] - b[1]);
  count.textContent = hits.length === 1 ? '1 section' : hits.length + ' sections' + (hits.length > 40 ? ', the first 40' : '');
  for (const [, i] of hits.slice(0, 40)) {
    const s = sections[i], li = document.createElement('li'), a = document.createElement('a'), p = document.createElement('div');
    a.href = s.p + (s.a ? '#' + s.a : ''); a.textContent = s.t + ' (' + s.p.replace('.html', '') + ')';
    const at = Math.max(0, Math.min(...words.map(w => lower[i][1].indexOf(w)).filter(n => n >= 0), s.x.length) - 60);
    p.textContent = (at ? '… ' : '') + s.x.slice(at, at + 240);
    li.append(a, p); found.append(li);
  }
  history.replaceState(null, '', '#q=' + encodeURIComponent(box.value));
}
box.addEventListener('input', look);
if (location.hash.startsWith('#q=')) { try { box.value = decodeURIComponent(location.hash.slice(3)); look(); } catch { /* no text is written so */ } }
`
