package crate

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"html"
	"strings"

	"lyceum/internal/plain"
)

// preview is the page that shows the quest to people. It is written by hand and
// not with html/template, whose output may change from one release of Go to the
// next, because Import compares it byte for byte. Everything that comes from the
// quest passes through escape, and stands between tags, never within one; but for plots,
// which stand in base64 as images, and an image runs nothing.
func (a *account) preview(problem, answer string, plots [][]byte) []byte {
	s := a.state
	var b bytes.Buffer
	images := ""
	if len(plots) > 0 {
		images = "; img-src data:"
	}
	fmt.Fprintf(&b, previewHead, images, escape(s.Name), escape(s.Name))
	fmt.Fprintf(&b, "<p>Status: <strong>%s</strong></p>\n", escape(reasoned(s)))
	fmt.Fprintf(&b, "<h2>Question</h2>\n<pre>%s</pre>\n", escape(problem))
	if v := s.Verdict(); v != nil {
		fmt.Fprintf(&b, "<p>In a line: <strong>%s</strong></p>\n", escape(v.Line()))
	}
	if s.Answer != nil {
		fmt.Fprintf(&b, "<h2>Answer</h2>\n<pre>%s</pre>\n", escape(answer))
	} else {
		b.WriteString("<p>The quest has no answer.</p>\n")
	}
	for i, svg := range plots {
		fmt.Fprintf(&b, "<p><img alt=\"Plot %d\" src=\"data:image/svg+xml;base64,%s\"></p>\n", i+1, base64.StdEncoding.EncodeToString(svg))
	}
	b.WriteString("<h2>Agents</h2>\n<table>\n<tr><th>Agent</th><th>Model</th><th>Turns</th><th>Tools</th></tr>\n")
	for _, ag := range s.Agents {
		fmt.Fprintf(&b, "<tr><td>%s</td><td>%s</td><td>%d</td><td>%s</td></tr>\n",
			escape(ag.Name), escape(ag.Model), ag.Turns, escape(strings.Join(ag.ToolNames, ", ")))
	}
	b.WriteString("</table>\n<h2>Record</h2>\n<table>\n")
	for _, row := range [][2]string{
		{"Rules", s.Rules},
		{"Lyceum", strings.Join(a.versions, ", ")},
		{"Created", s.Created.String()},
		{"Last event", s.Time.String()},
		{"Events", fmt.Sprintf("%d, of which %d came from outside the rules", s.Seq, a.inputs)},
		{"Calls", fmt.Sprintf("%d of models, %d of tools", s.Spent.Turns, s.Spent.Tools)},
		{"Tokens", fmt.Sprintf("%d read, %d written", s.Spent.Usage.Input, s.Spent.Usage.Output)},
		{"Blobs", fmt.Sprintf("%d, %d bytes together", len(a.blobs.held), a.blobs.total)},
		{"Licence", "not specified by the author"},
		{"Hash of the last event", s.Hash.String()},
	} {
		fmt.Fprintf(&b, "<tr><th>%s</th><td>%s</td></tr>\n", escape(row[0]), escape(row[1]))
	}
	b.WriteString(previewTail)
	return b.Bytes()
}

// escape makes text fit for standing between tags. Control characters, which
// HTML does not allow, become the sign for what cannot be shown, and so do those
// that turn the direction of writing, with which a text can look like another.
func escape(s string) string {
	return html.EscapeString(plain.Preview.Replace(s, '\uFFFD'))
}

const previewHead = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'%s">
<title>Quest %s</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50em; margin: 2em auto; padding: 0 1em; color: #222; background: #fff; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #f4f4f4; padding: 1em; }
th, td { text-align: left; vertical-align: top; padding: 0 1.5em 0.3em 0; overflow-wrap: anywhere; }
</style>
</head>
<body>
<h1>Quest %s</h1>
`

const previewTail = `</table>
<h2>Is it true?</h2>
<p>Everything on this page is computed from <a href="ledger.jsonl">ledger.jsonl</a> and the files in <code>blobs/</code>.
To check that nothing was changed, and that the rules lead from what came in to what came out, run</p>
<pre>lyceum verify file.zip
lyceum replay file.zip</pre>
<p>and compare the hash of the last event with the one you were told by somebody you trust.
See also <a href="ro-crate-metadata.json">ro-crate-metadata.json</a>, the same for machines.</p>
</body>
</html>
`
