// Package pdf reads the text of a PDF, for somebody who has nothing to read PDFs with.
//
// Whoever made the file may be hostile, so nothing that it says about itself is believed: where
// objects stand is found out, all of it has bounds, and no byte is run, fetched or shown. What it
// cannot read it says: a text of which much would be guessed is none. So fonts must say which
// characters they show, by a table or by the names of their glyphs.
//
// Pictures, forms to fill in, notes in the margin and files inside are left out, and so is all that is encrypted.
package pdf

import (
	"errors"
	"fmt"
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"lyceum/internal/plain"
)

// leastReadable is how many of a hundred words must be readable for a text to be one.
const leastReadable = 85

// Text is the text of a document, with a line [page 2] before each page but the first. Its error
// says in words why there is none.
func Text(data []byte) (text string, err error) {
	defer func() {
		if recover() != nil { // a fault of ours: no stranger's file is to end more than its own reading
			text, err = "", errors.New("it cannot be read")
		}
	}()
	return read(data)
}

func read(data []byte) (string, error) {
	f, err := open(data)
	if err != nil {
		return "", err
	}
	pages, err := f.pages()
	if err != nil {
		return "", err
	}
	s := &scribe{f: f, fonts: map[ref]*font{}}
	var b strings.Builder
	var t tally
	for i, p := range pages {
		contents, err := f.contents(p)
		s.out.Reset()
		s.any = false
		s.draw(contents, p.resources, unit, 0)
		said := tidy(s.out.String())
		if t.take(said); err != nil {
			t.missing = err
			said += fmt.Sprintf("\n[this page, or some of it, is missing: %v]", err)
		}
		if b.Len()+len(said) > maxText {
			fmt.Fprintf(&b, "\n\n[page %d and those behind it are left out: the text is too long]", i+1)
			break
		}
		if i > 0 {
			fmt.Fprintf(&b, "\n\n[page %d]\n\n", i+1)
		}
		b.WriteString(said)
		if f.fuel <= 0 || f.work <= 0 {
			return "", errors.New("it takes too long to read")
		}
	}
	if err := t.fault(); err != nil {
		return "", err
	}
	return b.String() + "\n", nil
}

// ligatures are letters that are drawn as one, and were written as several.
var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl", "ﬅ", "st", "ﬆ", "st")

// soft is a hyphen at which a line may end.
var soft, _ = utf8.DecodeRuneInString(html.UnescapeString("&shy;"))

// tidy takes blanks off the ends of lines, and what cannot be seen out of them.
func tidy(s string) string {
	s = plain.Text(strings.Map(func(r rune) rune {
		switch {
		case r == soft:
			return '-'
		case r != '\n' && unicode.IsSpace(r):
			return ' '
		}
		return r
	}, ligatures.Replace(s)))
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// tally counts what of a text can be read.
type tally struct {
	words, good, letters, signs int
	missing                     error
}

func (t *tally) take(s string) {
	for w := range strings.FieldsSeq(s) {
		t.words++
		bad := utf8.RuneCountInString(w) > 60
		for _, r := range w {
			t.signs++
			switch {
			case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r):
				t.letters++
			case r == utf8.RuneError: // or what plain has made one
				bad = true
			}
		}
		if !bad {
			t.good++
		}
	}
}

// fault is why it is no text.
func (t *tally) fault() error {
	switch {
	case t.words == 0 && t.missing != nil:
		return t.missing
	case t.words == 0:
		return errors.New("it has no text: perhaps its pages are pictures")
	case t.good*100 < t.words*leastReadable:
		return fmt.Errorf("its fonts do not say which characters they show: only %d of %d words can be read", t.good, t.words)
	case t.letters*2 < t.signs:
		return errors.New("what can be read of it are signs, and no words")
	}
	return nil
}
