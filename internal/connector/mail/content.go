package mail

import (
	"bytes"
	"encoding/base64"
	"html"
	"io"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net/textproto"
	"regexp"
	"strings"
	"sync"

	"lyceum/internal/connector"
	"lyceum/internal/connector/wire"
	"lyceum/internal/media"

	"golang.org/x/text/encoding/charmap"
)

// The limits of a mail's parts.
const (
	maxParts = 100
	maxDepth = 5
	maxText  = 256 << 10
)

// decoder reads words of a head in other character sets.
var decoder = &mime.WordDecoder{CharsetReader: func(charset string, in io.Reader) (io.Reader, error) {
	data, err := io.ReadAll(io.LimitReader(in, maxText))
	return strings.NewReader(text(data, charset)), err
}}

// charsets are those that are not UTF-8 and that people still write in.
var charsets = map[string]*charmap.Charmap{
	"iso-8859-1": charmap.Windows1252, "iso-8859-2": charmap.ISO8859_2, "iso-8859-5": charmap.ISO8859_5, "iso-8859-7": charmap.ISO8859_7,
	"iso-8859-9": charmap.ISO8859_9, "iso-8859-15": charmap.ISO8859_15, "windows-1250": charmap.Windows1250, "windows-1251": charmap.Windows1251,
	"windows-1252": charmap.Windows1252, "windows-1253": charmap.Windows1253, "windows-1254": charmap.Windows1254, "koi8-r": charmap.KOI8R,
}

// text is one in UTF-8. What is in a character set that nobody knows is read as that, too.
func text(data []byte, charset string) string {
	if c := charsets[strings.ToLower(charset)]; c != nil {
		if out, err := c.NewDecoder().Bytes(data); err == nil {
			data = out
		}
	}
	return strings.ToValidUTF8(string(data), "\uFFFD")
}

// part is what is collected of a mail.
type part struct {
	plain, html string
	files       []connector.File
	parts       int
	left        int
	omitted     []string
}

// content is what a mail says, without what it quotes, and its files.
func content(fields []field, body []byte) (string, []connector.File) {
	h := textproto.MIMEHeader{}
	for _, name := range []string{"Content-Type", "Content-Transfer-Encoding", "Content-Disposition"} {
		h.Set(name, one(fields, strings.ToLower(name)))
	}
	p := &part{left: wire.MaxFile}
	p.read(h, bytes.NewReader(body), 0)
	said := p.plain
	if strings.TrimSpace(said) == "" {
		said = p.html
	}
	said = reply(said)
	if subject, err := decoder.DecodeHeader(one(fields, "subject")); err == nil && said == "" {
		said = strings.Join(strings.Fields(subject), " ")
	}
	return strings.TrimSpace(strings.Join(append([]string{said}, p.omitted...), "\n")), p.files
}

func (p *part) read(h textproto.MIMEHeader, body io.Reader, depth int) {
	if p.parts++; p.parts > maxParts || depth > maxDepth {
		return
	}
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		kind, params = "text/plain", map[string]string{}
	}
	if strings.HasPrefix(kind, "multipart/") && params["boundary"] != "" {
		in := multipart.NewReader(body, params["boundary"])
		for p.parts <= maxParts {
			next, err := in.NextRawPart()
			if err != nil {
				return
			}
			p.read(next.Header, next, depth+1)
		}
		return
	}
	switch strings.ToLower(strings.TrimSpace(h.Get("Content-Transfer-Encoding"))) {
	case "base64":
		body = base64.NewDecoder(base64.StdEncoding, body)
	case "quoted-printable":
		body = quotedprintable.NewReader(body)
	}
	data, err := io.ReadAll(io.LimitReader(body, int64(p.left)+1))
	if err != nil && len(data) == 0 {
		return
	}
	how, named, _ := mime.ParseMediaType(h.Get("Content-Disposition"))
	name := named["filename"]
	if name == "" {
		name = params["name"]
	}
	if decoded, err := decoder.DecodeHeader(name); err == nil {
		name = decoded
	}
	p.put(kind, params["charset"], how == "attachment" || name != "", media.FileName(name, "file"), data)
}

// put keeps a part: as the text, if it is that, else as a file.
func (p *part) put(kind, charset string, file bool, name string, data []byte) {
	switch {
	case len(data) > p.left:
		p.omitted = append(p.omitted, wire.Omitted(name, "the files of a mail are too large"))
	case !file && kind == "text/plain" && p.plain == "":
		p.plain = text(data[:min(len(data), maxText)], charset)
	case !file && kind == "text/html" && p.html == "":
		p.html = bareText(text(data[:min(len(data), maxText)], charset))
	case file:
		p.left -= len(data)
		p.files = append(p.files, connector.File{Name: name, Type: kind, Data: data})
	}
}

var (
	hiddenHTML = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?is)<(style|script|head|title)\b.*?</(style|script|head|title)\s*>|<!--.*?-->`)
	})
	breakHTML = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?i)<(br|/p|/div|/li|/tr|/h[1-6])\b[^>]*>`) })
	tagHTML   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<[^>]*>`) })
	quoteHTML = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?is)<blockquote\b.*`) })
)

// bareText is the text of HTML, for mails that have no other.
func bareText(s string) string {
	s = quoteHTML().ReplaceAllString(hiddenHTML().ReplaceAllString(s, ""), "")
	s = tagHTML().ReplaceAllString(breakHTML().ReplaceAllString(strings.Join(strings.Fields(s), " "), "\n"), "")
	return html.UnescapeString(s)
}

// above is the line that stands over what is sent, and in what answers to it quote.
const above = "--- Please write above this line ---"

var attribution = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`:\s*$`) })

// reply is what somebody wrote, without what is quoted below it.
func reply(s string) string {
	lines := strings.Split(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	end, quoted := len(lines), false
	for i, l := range lines {
		if strings.Contains(l, above) {
			end, quoted = i, true
			break
		}
	}
	for end > 0 {
		l := strings.TrimSpace(lines[end-1])
		if l != "" && !strings.HasPrefix(l, ">") {
			break
		}
		quoted = quoted || l != ""
		end--
	}
	// Above what is quoted stands who wrote it, on one line or two.
	if quoted && end > 0 && attribution().MatchString(lines[end-1]) && strings.Contains(strings.Join(lines[max(0, end-2):end], " "), "@") {
		for end--; end > 0 && strings.TrimSpace(lines[end-1]) != ""; end-- {
		}
	}
	return strings.TrimSpace(strings.Join(lines[:end], "\n"))
}
