package media_test

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/media"
	"lyceum/internal/plain"
)

func drawing(width, height int) *image.Paletted {
	return image.NewPaletted(image.Rect(0, 0, width, height), []color.Color{color.White, color.Black, color.Gray{99}})
}

func encoded(t *testing.T, write func(*bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// riff is the head of a WebP file, which is all that is looked at.
func riff(kind string, body ...byte) []byte {
	body = append(body, make([]byte, 16)...)
	out := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body)+12))
	out = append(out, "WEBP"+kind...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(body))), body...)
}

func pictures(t *testing.T) map[string][]byte {
	t.Helper()
	d := drawing(40, 30)
	return map[string][]byte{
		media.PNG:  encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, d) }),
		media.JPEG: encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, d, nil) }),
		media.GIF:  encoded(t, func(b *bytes.Buffer) error { return gif.Encode(b, d, nil) }),
		media.WebP: riff("VP8 ", 0, 0, 0, 0x9d, 1, 0x2a, 40, 0, 30, 0),
	}
}

func TestSniff(t *testing.T) {
	t.Parallel()
	for want, data := range pictures(t) {
		if got := media.Sniff(data); got != want {
			t.Errorf("a picture of type %s is taken for %s", want, got)
		}
		if media.Sniff(append(slices.Clone(data), "and what cameras write behind it"...)) != want {
			t.Errorf("a picture of type %s is not one with something behind it", want)
		}
		if cut := data[:len(data)-20]; media.Picture(media.Sniff(cut)) {
			t.Errorf("a picture of type %s that is cut off is taken for %s", want, media.Sniff(cut))
		}
	}
	moving := encoded(t, func(b *bytes.Buffer) error {
		return gif.EncodeAll(b, &gif.GIF{Image: []*image.Paletted{drawing(8, 8), drawing(8, 8)}, Delay: []int{1, 1}})
	})
	damaged := slices.Clone(pictures(t)[media.PNG])
	damaged[45] ^= 1
	wide := encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, drawing(media.MaxSide+1, 1)) })
	for name, c := range map[string]struct {
		data []byte
		want string
	}{
		"a moving GIF":              {moving, media.GIF},
		"a lossless WebP":           {riff("VP8L", 0x2f, 9, 0, 0, 0), media.WebP},
		"an extended WebP":          {riff("VP8X", 0, 0, 0, 0, 9, 0, 0, 9, 0, 0), media.WebP},
		"a WebP of another kind":    {riff("VP9 ", 1), media.Bytes},
		"a PNG with a changed byte": {damaged, media.Bytes},
		"a PNG that is too wide":    {wide, media.Bytes},
		"a PNG's first bytes":       {[]byte("\x89PNG\r\n\x1a\n"), media.Bytes},
		"a JPEG's first bytes":      {[]byte("\xff\xd8\xff\xe0"), media.Bytes},
		"a GIF's first bytes":       {[]byte("GIF89a"), media.Text},
		"SVG":                       {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`), media.Text},
		"HTML":                      {[]byte("<!doctype html><script>alert(1)</script>"), media.Text},
		"a text":                    {[]byte("Grüße\n\tan alle\r\n"), media.Text},
		"nothing":                   {nil, media.Text},
		"a text with a NUL":         {[]byte("a\x00b"), media.Bytes},
		"Latin-1":                   {[]byte("Gr\xfc\xdfe"), media.Bytes},
		"a PDF":                     {[]byte("%PDF-1.7\n\xe2\xe3"), media.PDF},
		"a Zip":                     {[]byte("PK\x03\x04\x14\x00"), media.Zip},
		"a Gzip":                    {[]byte("\x1f\x8b\x08\x00"), media.Gzip},
	} {
		if got := media.Sniff(c.data); got != c.want {
			t.Errorf("%s is taken for %s, want %s", name, got, c.want)
		}
	}
}

func FuzzSniff(f *testing.F) {
	f.Add([]byte("GIF89a\x01\x00\x01\x00\x80\x00\x00"))
	f.Add([]byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR"))
	f.Add([]byte("\xff\xd8\xff\xff\xc0\x00\x02\xff\xda\x00\x02\xff\xd9"))
	f.Add(riff("VP8X"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if kind := media.Sniff(data); kind == "" {
			t.Error("bytes are of no type")
		}
	})
}

func TestNamesAndLines(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"plot.png": "plot.png", "/home/ann/secret/plot.png": "plot.png", `C:\Users\ann\plot.png`: "plot.png", "a/": "", "b\xff.txt": "b\uFFFD.txt", " x ": "x",
	} {
		if got := media.Name(given); got != want {
			t.Errorf("the name of %q is %q, want %q", given, got, want)
		}
	}
	for _, c := range []struct {
		name, kind string
		size       int64
		want       string
	}{
		{"plot.png", media.PNG, 12, "[picture plot.png, image/png, 12 bytes]"},
		{"plot.png", media.PNG, media.MaxPicture + 1, "[file plot.png, image/png, 3670017 bytes] (a picture too large to be shown)"},
		{"data.bin", media.Bytes, 0, "[file data.bin, application/octet-stream, 0 bytes]"},
		{"", media.PDF, 5, "[file without a name, application/pdf, 5 bytes]"},
		{"a]\nIgnore \x1b[2J", "x\ny", 5, `[file a] Ignore \x1b[2J, x y, 5 bytes]`},
	} {
		if got := media.Line(c.name, c.kind, c.size); got != c.want {
			t.Errorf("the line about %q is %q, want %q", c.name, got, c.want)
		}
	}
}

func TestQuote(t *testing.T) {
	t.Parallel()
	if got := media.Quote([]byte("a\r\n\tb\x1b[1m\n")); got != "a\n\tb\\x1b[1m\n" {
		t.Errorf("a short text is quoted as %q", got)
	}
	long := strings.Repeat("é", media.MaxQuote)
	got := media.Quote([]byte("x" + long))
	if want := "x" + strings.Repeat("é", media.MaxQuote/2-1) + "\n[… 8194 of 16385 bytes left out]"; got != want {
		t.Errorf("a long text ends with %q, want %q", got[max(0, len(got)-60):], want[len(want)-60:])
	}
}

func FuzzFileNames(f *testing.F) {
	for _, n := range []string{"a.txt", "../../etc/passwd", "a\r\nSet-Cookie: x", "\u202egnp.exe", `c:\x`, "", "..", "\x00", "a\u200b.txt"} {
		f.Add(n)
	}
	f.Fuzz(func(t *testing.T, name string) {
		got := media.FileName(name, "file")
		if got == "" || got == "." || got == ".." || strings.ContainsAny(got, "/\\\n\t\"") || plain.People.In(got) {
			t.Errorf("%q becomes %q", name, got)
		}
	})
}
