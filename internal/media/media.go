// Package media says what bytes are: a picture that models and pages can show, a text,
// or something else.
//
// Whoever hands in a file says what it is called and perhaps of which type it is. Only
// the bytes are believed. Some bytes are a picture if they are one of four formats from
// the first byte to the last, of a size that providers take: one that is cut off would
// be refused by a provider in every later request, since an agent cannot take back what
// it was shown. SVG is no picture here; it is a program as much as a drawing.
//
// Nothing here fails. All bytes are something, if only bytes.
package media

import (
	"bytes"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"lyceum/internal/plain"
)

// The bounds of what goes with one message or one result of a tool.
const (
	// MaxFiles is how many files there are. Each file of a person's message may have MaxFile
	// bytes, those of a tool's result MaxBytes together. A text that is larger than that is
	// only told of, and not quoted.
	MaxFiles = 8
	MaxFile  = 25 << 20
	MaxBytes = 7 << 20
	// MaxPicture is how large a picture may be to be shown: 3.5 MiB, less than 5 MB
	// once it is base64, which is the least that a provider takes.
	MaxPicture = 7 << 19
	// MaxSide is how many pixels wide or high a picture may be, for the same reason.
	MaxSide = 8000
	// MaxName is how many bytes of a ledger a name may take.
	MaxName = 200
	// MaxQuote is how many bytes of a text a model is shown.
	MaxQuote = 8 << 10
)

// The bounds of one request to a model, however many messages it has. The strictest
// provider wants pictures smaller beyond twenty, another takes twenty megabytes in all.
const (
	MaxShown      = 20
	MaxShownBytes = 12 << 20
)

// PictureTokens is what a picture counts for in an estimate, whatever its size.
// Providers scale large ones down to about 1600 tokens, and small ones cost less: a
// window is cut rather too early.
const PictureTokens = 1600

// File is a picture or any other file, whole, on its way into a quest.
type File struct {
	// Name is what somebody calls it: anything, or nothing.
	Name string
	Data []byte
}

// The types that are told apart. A text has no other type, whatever it is written in.
const (
	PNG   = "image/png"
	JPEG  = "image/jpeg"
	GIF   = "image/gif"
	WebP  = "image/webp"
	Text  = "text/plain"
	PDF   = "application/pdf"
	Zip   = "application/zip"
	Gzip  = "application/gzip"
	Bytes = "application/octet-stream"
)

var pictures = []string{PNG, JPEG, GIF, WebP}

// Picture reports whether a type is one of a picture.
func Picture(kind string) bool { return slices.Contains(pictures, kind) }

// Showable reports whether something of a type and size can be shown as a picture.
func Showable(kind string, size int64) bool { return Picture(kind) && size > 0 && size <= MaxPicture }

// Announced is the type of picture that the first bytes of a file promise, if they do.
// Whether the rest keeps the promise only Sniff can tell.
func Announced(head []byte) string {
	for _, f := range []struct{ kind, magic string }{{PNG, "\x89PNG\r\n\x1a\n"}, {JPEG, "\xff\xd8\xff"}, {GIF, "GIF87a"}, {GIF, "GIF89a"}} {
		if bytes.HasPrefix(head, []byte(f.magic)) {
			return f.kind
		}
	}
	if len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP" {
		return WebP
	}
	return ""
}

// Sniff says of which type bytes are, by looking at all of them.
func Sniff(data []byte) string {
	for _, f := range []struct {
		kind string
		size func([]byte) (width, height int)
	}{{PNG, png}, {JPEG, jpeg}, {GIF, gif}, {WebP, webp}} {
		if w, h := f.size(data); w > 0 && h > 0 && w <= MaxSide && h <= MaxSide {
			return f.kind
		}
	}
	if text(data) {
		return Text
	}
	for _, f := range []struct{ kind, magic string }{{PDF, "%PDF-"}, {Zip, "PK\x03\x04"}, {Gzip, "\x1f\x8b"}} {
		if bytes.HasPrefix(data, []byte(f.magic)) {
			return f.kind
		}
	}
	return Bytes
}

// text reports whether data is UTF-8 without NUL. What else is in it, plain makes safe.
func text(data []byte) bool { return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 }

// Name is a file's own name, without the folders before it, as a ledger takes it. It is
// a stranger's word: whoever shows it uses package plain.
func Name(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = s[strings.LastIndexAny(s, `/\`)+1:]
	return strings.TrimSpace(s)
}

// FileName makes a stranger's word a plain file name; one of which nothing is left is called
// otherwise.
func FileName(name, otherwise string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	name = strings.Map(func(c rune) rune {
		if (plain.People | plain.Controls).Has(c) || strings.ContainsRune(`"/\:*?<>|`, c) || c == utf8.RuneError {
			return -1
		}
		return c
	}, name)
	if name == "" || name == "." || name == ".." {
		return otherwise
	}
	return name
}

// Line tells a model of a file: what it is, its name, its type and its size.
func Line(name, kind string, size int64) string {
	what := "file"
	if Showable(kind, size) {
		what = "picture"
	}
	if name == "" {
		name = "without a name"
	}
	line := "[" + what + " " + word(name) + ", " + word(kind) + ", " + strconv.FormatInt(size, 10) + " bytes]"
	if Picture(kind) && what == "file" {
		line += " (a picture too large to be shown)"
	}
	return line
}

// word is a stranger's word in a line.
func word(s string) string { return plain.Escape(strings.Join(strings.Fields(s), " ")) }

// Quote is a text as a model is shown it: its beginning, if it is long, and what is
// missing.
func Quote(data []byte) string {
	cut := plain.Cut(string(data), MaxQuote)
	lines := strings.Split(cut, "\n")
	for i, line := range lines {
		lines[i] = plain.Escape(strings.TrimSuffix(line, "\r"))
	}
	shown := strings.Join(lines, "\n")
	if len(cut) == len(data) {
		return shown
	}
	return shown + "\n[… " + strconv.Itoa(len(data)-len(cut)) + " of " + strconv.Itoa(len(data)) + " bytes left out]"
}
