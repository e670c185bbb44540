package site

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"lyceum/docs"
)

// TestEveryLinkLeadsSomewhere: the pages of the site name only pages that are there, and places in them.
func TestEveryLinkLeadsSomewhere(t *testing.T) {
	t.Parallel()
	files, err := Build(docs.Files, Faces{Sans: []byte("sans"), Mono: []byte("mono"), License: "free"})
	if err != nil {
		t.Fatal(err)
	}
	pages, ids := map[string]string{}, map[string]map[string]bool{}
	id := regexp.MustCompile(` id="([^"]+)"`)
	for _, name := range append(Names(docs.Files), "index") {
		data, err := fs.ReadFile(files, name+".html")
		if err != nil {
			t.Fatal(err)
		}
		pages[name+".html"], ids[name+".html"] = string(data), map[string]bool{"": true}
		for _, m := range id.FindAllStringSubmatch(string(data), -1) {
			ids[name+".html"][m[1]] = true
		}
	}
	links := 0
	for name, page := range pages {
		for _, m := range regexp.MustCompile(`(?:href|src)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
			to, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(to, "://") || strings.HasPrefix(to, "data:") {
				continue
			}
			links++
			if to == "" {
				to = name
			}
			if _, err := fs.Stat(files, to); err != nil {
				t.Errorf("%s links to %s, which is not there", name, m[1])
			} else if ids[to] != nil && !ids[to][anchor] {
				t.Errorf("%s links to %s: the page has no such place", name, m[1])
			}
		}
	}
	if links < 500 {
		t.Errorf("there are %d links, want those of all documents and of the list in each", links)
	}
	script, err := fs.ReadFile(files, "search.js")
	if err != nil || !strings.Contains(string(script), `"p":"cli.html","a":"backups","t":"Backups"`) {
		t.Errorf("the search does not know the section on backups of cli.md (%v)", err)
	}
	for _, name := range []string{"sans.woff2", "mono.woff2", "fonts.txt"} {
		if _, err := fs.Stat(files, name); err != nil {
			t.Errorf("the site has fonts: want %s among its files", name)
		}
	}
	if sheet, err := fs.ReadFile(files, "site.css"); err != nil || !strings.Contains(string(sheet), "url(sans.woff2)") || !strings.Contains(string(sheet), "url(mono.woff2)") {
		t.Errorf("the style sheet does not name both fonts (%v)", err)
	}
	if strings.Contains(pages["cli.html"], "<script") {
		t.Error("a page of a document runs a script, want none")
	}
}

// TestManPagesAreRoff: lines that begin with a dot are requests that are meant, whatever the documents say.
func TestManPagesAreRoff(t *testing.T) {
	t.Parallel()
	pages, err := Man(docs.Files, "0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	request := regexp.MustCompile(`^\.(TH|SH|SS|PP|IP|TP|EX|EE|RS|RE)( |$)`)
	for name, page := range pages {
		for i, l := range strings.Split(string(page), "\n") {
			if strings.HasPrefix(l, "'") || strings.HasPrefix(l, ".") && !request.MatchString(l) {
				t.Errorf("%s:%d: %q would be a request", name, i+1, l)
			}
		}
	}
	page := string(pages["lyceum-lab.7"])
	for _, want := range []string{`.TH "LYCEUM\-LAB" 7 "" "Lyceum 0.1.0" Lyceum`, "lyceum\\-lab \\- Labs\n", ".EX\nlyceum create primes \\-\\-problem primes.md", `\fBlab\fR`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page of lab.md lacks %q:\n%.1500s", want, page)
		}
	}
	if got := Escape(".SH `a-b`\\n\n'quote"); got != "\\&.SH `a\\-b`\\en\n\\&'quote" {
		t.Errorf("a text that looks like requests: got %q", got)
	}
}
