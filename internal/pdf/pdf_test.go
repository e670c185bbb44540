package pdf

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// maker makes a file of objects, with a table that is wrong: nothing of it is to be believed.
type maker struct{ objects []string }

func (m *maker) add(format string, args ...any) int {
	m.objects = append(m.objects, fmt.Sprintf(format, args...))
	return len(m.objects)
}

// stream adds a stream that is packed.
func (m *maker) stream(more, data string) int {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write([]byte(data))
	_ = z.Close()
	return m.add("<< /Length %d /Filter /FlateDecode %s >>\nstream\n%s\nendstream", b.Len(), more, b.String())
}

func (m *maker) file(trailer string) []byte {
	var b bytes.Buffer
	b.WriteString("%PDF-1.5\n%\xe2\xe3\xcf\xd3\n")
	for i, o := range m.objects {
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	fmt.Fprintf(&b, "xref\n0 1\n0000000000 65535 f \ntrailer\n<< /Size 1 %s >>\nstartxref\n99999\n%%%%EOF\n", trailer)
	return b.Bytes()
}

// page is a file of one page, with a font F of the given members.
func page1(font, content string, more ...string) []byte {
	m := &maker{}
	f := m.add("<< /Type /Font %s >>", font)
	c := m.stream("", content)
	p := m.add("<< /Type /Page /Contents %d 0 R /Resources << /Font << /F %d 0 R >> %s >> >>", c, f, strings.Join(more, " "))
	ps := m.add("<< /Type /Pages /Kids [%d 0 R] /Count 1 >>", p)
	root := m.add("<< /Type /Catalog /Pages %d 0 R >>", ps)
	return m.file(fmt.Sprintf("/Root %d 0 R", root))
}

const latin = "/Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding"

func TestTextOfPages(t *testing.T) {
	t.Parallel()
	cmap := "/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <0000> <FFFF> endcodespacerange 1 beginbfchar <0003> <0020> endbfchar 2 beginbfrange <0024> <0026> <0041> <0030> <0031> [<00660069> <D83DDE00>] endbfrange endcmap"
	wide := &maker{}
	table := wide.stream("", cmap)
	below := wide.add("<< /Subtype /CIDFontType2 /DW 500 /W [3 [250] 36 38 600] >>")
	composite := wide.add("<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /DescendantFonts [%d 0 R] /ToUnicode %d 0 R >>", below, table)
	content := wide.stream("", "BT /F 10 Tf 1 0 0 1 50 700 Tm <0024002500260003003000310024> Tj ET")
	p := wide.add("<< /Contents [%d 0 R] /Resources << /Font << /F %d 0 R >> >> >>", content, composite)
	// The list of pages stands in a stream of objects.
	packed := fmt.Sprintf("20 0 21 %d ", len("<< /Kids [21 0 R] >> "))
	body := fmt.Sprintf("<< /Kids [21 0 R] >> << /Kids [%d 0 R] >>", p)
	wide.stream(fmt.Sprintf("/Type /ObjStm /N 2 /First %d", len(packed)), packed+body)
	wide.add("<< /Type /Catalog /Pages 20 0 R >>")

	forms := &maker{}
	font := forms.add("<< /Type /Font %s >>", latin)
	inner := forms.stream(fmt.Sprintf("/Subtype /Form /Matrix [1 0 0 1 0 -20] /Resources << /Font << /G %d 0 R >> >>", font), "BT /G 10 Tf 50 700 Td (in a form) Tj ET")
	outer := forms.stream("", "BT /F 10 Tf 50 700 Td (On a page) Tj ET q /X Do Q BI /W 1 /H 1 ID (EI) x EI BT /F 10 Tf 50 600 Td (behind a picture) Tj ET")
	fp := forms.add("<< /Contents %d 0 R >>", outer)
	second := forms.add("<< >>")
	forms.add("<< /Type /Pages /Resources << /Font << /F %d 0 R >> /XObject << /X %d 0 R >> >> /Kids [%d 0 R %d 0 R] >>", font, inner, fp, second)
	froot := forms.add("<< /Type /Catalog /Pages %d 0 R >>", len(forms.objects))

	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"Simple":       {page1(latin, `BT /F 12 Tf 72 700 Td (Hello \(w\157rld\)\223) Tj ET`), "Hello (world)“\n"},
		"Lines":        {page1(latin, "BT /F 12 Tf 14 TL 72 700 Td (one) Tj T* (two) Tj (three) ' 1 2 (four) \" ET"), "one\ntwo\nthree\nfour\n"},
		"Paragraphs":   {page1(latin, "BT /F 12 Tf 72 700 Td (one) Tj 0 -30 Td (two) Tj ET"), "one\n\ntwo\n"},
		"Kerned":       {page1(latin+" /FirstChar 65 /Widths [600 600]", "BT /F 10 Tf 72 700 Td [(A)-20(B)-300(B)40(A)] TJ ET"), "AB BA\n"},
		"Placed":       {page1(latin+" /FirstChar 65 /Widths [600 600]", "BT /F 10 Tf 1 0 0 1 72 700 Tm (A) Tj 1 0 0 1 78 700 Tm (B) Tj 1 0 0 1 90 700 Tm (A) Tj ET"), "AB A\n"},
		"Rotated":      {page1(latin+" /FirstChar 65 /Widths [600 600]", "BT /F 10 Tf 0 1 -1 0 72 100 Tm (A) Tj 0 1 -1 0 72 106 Tm (B) Tj 0 1 -1 0 84 100 Tm (A) Tj ET"), "AB\nA\n"},
		"Superscript":  {page1(latin+" /FirstChar 65 /Widths [600 600]", "BT /F 10 Tf 72 700 Td (A) Tj /F 7 Tf 4 Ts (B) Tj ET"), "AB\n"},
		"Differences":  {page1("/Subtype /Type1 /Encoding << /Differences [1 /f_i /eacute /Scaron /uni4E2D /sigma /A.sc 65 /B] >>", `BT /F 10 Tf 72 700 Td (\001\002\003\004\005\006A) Tj ET`), "fiéŠ中σAB\n"},
		"Standard":     {page1("/Subtype /Type1", "BT /F 10 Tf 72 700 Td (it`s \256\257) Tj ET"), "it‘s fifl\n"},
		"Unmapped":     {wide.file(""), "ABC fi😀A\n"},
		"Forms":        {forms.file(fmt.Sprintf("/Root %d 0 R", froot)), "On a page\n\nin a form\n\nbehind a picture\n\n[page 2]\n\n\n"},
		"NothingShown": {page1(latin, "BT /F 10 Tf 72 700 Td (a\001b) Tj (\\255) Tj ET"), ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := Text(c.file)
			if c.want == "" {
				if err == nil {
					t.Errorf("got %q, want an error", got)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// TestTheEncodingOfAProgram: a font of TeX says what its codes are in its program alone.
func TestTheEncodingOfAProgram(t *testing.T) {
	t.Parallel()
	m := &maker{}
	program := m.stream("", "%!PS-AdobeFont-1.0: CMR10\n/Encoding 256 array\n0 1 255 {1 index exch /.notdef put} for\ndup 11 /ff put\ndup 12 /fi put\ndup 65 /A put\ndup 123 /endash put\nreadonly def\ncurrentdict end\ncurrentfile eexec\n\x01\x02/Encoding dup 65 /B put")
	about := m.add("<< /Type /FontDescriptor /Flags 4 /FontFile %d 0 R >>", program)
	font := m.add("<< /Type /Font /Subtype /Type1 /FontDescriptor %d 0 R >>", about)
	content := m.stream("", `BT /F 10 Tf 72 700 Td (A\013\014{) Tj ET`)
	p := m.add("<< /Contents %d 0 R /Resources << /Font << /F %d 0 R >> >> >>", content, font)
	m.add("<< /Type /Catalog /Pages << /Kids [%d 0 R] >> >>", p)
	if got, err := Text(m.file("")); err != nil || got != "Afffi–\n" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestWhatIsNotRead(t *testing.T) {
	t.Parallel()
	bomb := &maker{}
	big := bomb.stream("", strings.Repeat("q ", maxStream/2+10))
	p := bomb.add("<< /Contents %d 0 R >>", big)
	bomb.add("<< /Type /Catalog /Pages << /Kids [%d 0 R] >> >>", p)
	loop := &maker{}
	loop.add("<< /Type /Catalog /Pages 2 0 R >>")
	loop.add("<< /Kids [2 0 R 3 0 R] >>")
	loop.add("<< /Kids [2 0 R 3 0 R] >>")
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"Other":        {[]byte("GIF89a"), "does not begin as a PDF"},
		"Empty":        {[]byte("%PDF-1.4\n"), "lists no pages"},
		"Encrypted":    {bytes.Replace(page1(latin, "BT /F 10 Tf (x) Tj ET"), []byte("/Size 1"), []byte("/Size 1 /Encrypt << /V 1 >>"), 1), "encrypted"},
		"Pictures":     {page1(latin, "q 100 0 0 100 0 0 cm Q"), "has no text"},
		"OwnCodes":     {page1("/Subtype /Type0 /Encoding /Identity-H", "BT /F 10 Tf 72 700 Td (these are numbers of glyphs) Tj ET"), "do not say which characters"},
		"HalfItsCodes": {page1("/Subtype /Type1 /Encoding << /Differences [97 /G1 /G2] >>", "BT /F 10 Tf 72 700 Td (abba can be said, and no more) Tj ET"), "do not say which characters"},
		"Signs":        {page1(latin, "BT /F 10 Tf 72 700 Td (a ..... ,,,,, -----) Tj ET"), "no words"},
		"LZW":          {bytes.ReplaceAll(page1(latin, "BT /F 10 Tf (x) Tj ET"), []byte("/FlateDecode"), []byte("/LZWDecode  ")), "LZWDecode"},
		"Loops":        {loop.file(""), "no pages"},
		"TooLarge":     {bomb.file(""), "more than is read"},
		"Deep":         {append([]byte("%PDF-1.4\n1 0 obj "), bytes.Repeat([]byte("["), 1<<20)...), "lists no pages"},
		"ManyTokens":   {append(page1(latin, "BT /F 10 Tf (x) Tj ET"), bytes.Repeat([]byte("9 0 obj [0 0 0 0 0 0 0 0] "), 1<<19)...), "too long"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := Text(c.file); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %.80q, %v, want an error with %q", got, err, c.want)
			}
		})
	}
}

// TestFixtures reads what other programs have written: each says the same.
func TestFixtures(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.pdf")
	if err != nil || len(files) == 0 {
		t.Fatalf("there are %d fixtures, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Text(data)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range []string{"An efficient forecast", "The error of the first office is 0.42, and that of the second is 1.87.", "Größe, naïve, café", "[page 2]", "The end of the second page."} {
				if flat := strings.Join(strings.Fields(got), " "); !strings.Contains(flat, want) {
					t.Errorf("%q is not in it:\n%s", want, got)
				}
			}
		})
	}
}

// TestHostileFilesEndSoon: whatever a file asks for, it is answered within bounds.
func TestHostileFilesEndSoon(t *testing.T) {
	t.Parallel()
	inline := "<< /Subtype /Type1 /Widths [" + strings.Repeat("1 ", maxList) + "] >>"
	objects := &maker{}
	head := strings.Builder{}
	for i := range 20_000 {
		fmt.Fprintf(&head, "%d %d ", i+100, i)
	}
	objects.stream(fmt.Sprintf("/Type /ObjStm /N 20000 /First %d", head.Len()), head.String()+strings.Repeat("(", 1<<20))
	for name, file := range map[string][]byte{
		"FontsAnew": page1(latin, strings.Repeat("/G 1 Tf ", 200_000), "/Font << /G "+inline+" >>"),
		"Strings":   objects.file(""),
		"Forms":     page1(latin, strings.Repeat("/X Do ", 200_000), "/XObject << /X 2 0 R >>"),
		"Ranges":    page1("/Subtype /Type0 /DescendantFonts [<< /W ["+strings.Repeat("0 65535 1 ", 3000)+"] >>]", "BT /F 1 Tf (xx) Tj ET"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = Text(file)
			}()
			select {
			case <-done:
			case <-time.After(2 * time.Minute):
				t.Error("it is still being read after two minutes")
			}
		})
	}
}

func FuzzText(f *testing.F) {
	f.Add(page1(latin, `BT /F 12 Tf 72 700 Td (Hello) Tj [(a)-300<62>] TJ ET`))
	f.Add([]byte("%PDF-1.5\n1 0 obj << /Type /Catalog /Pages << /Kids [<< /Contents 2 0 R >>] >> >> 2 0 obj << >> stream BT (x) Tj ET endstream"))
	f.Add([]byte("%PDF-\n1 0 obj<</Type/XRef/Root 1 0 R/Pages<</Kids[1 0 R]>>/Filter[/AHx/A85/RL/Fl]/DecodeParms[<</Predictor 12>>]>>stream\n00>endstream"))
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := read(data) // which has no net
		if err == nil && (len(text) > 2*maxText || strings.ContainsAny(text, "\x00\x1b")) {
			t.Errorf("%d bytes of text: %.80q", len(text), text)
		}
	})
}
