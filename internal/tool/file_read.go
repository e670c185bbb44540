package tool

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"lyceum/internal/media"
	"lyceum/internal/model"

	"github.com/go-json-experiment/json"
)

// ReadFile returns the tool read_file.
func ReadFile() Tool {
	return Tool{
		Tool: model.Tool{
			Name:        "read_file",
			Description: "Returns the text of a file in your workspace, or some of its lines, as the calls before it in the same answer left it; calls that only read run together. At most 256 KiB come at once; the end of the output says how to read on. A picture (PNG, JPEG, GIF or WebP) is shown; any other binary file is described.",
			Schema: `{"type":"object","properties":{` +
				`"path":{"type":"string","description":"Path of the file, relative to the workspace."},` +
				`"offset":{"type":"integer","minimum":1,"maximum":1000000000,"description":"The first line to return, from 1."},` +
				`"limit":{"type":"integer","minimum":1,"maximum":1000000000,"description":"How many lines to return at most."}` +
				`},"required":["path"],"additionalProperties":false}`,
		},
		Repeatable: true,
		Reads:      true,
		Paths:      []string{"path"},
		Give: func(ctx context.Context, c Call) (string, []media.File, error) {
			// Floats, for 2.0 is an integer in JSON Schema but not in Go.
			args := struct {
				Path   string  `json:"path"`
				Offset float64 `json:"offset"`
				Limit  float64 `json:"limit"`
			}{Offset: 1}
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return "", nil, err
			}
			f, info, err := open(c.room(), args.Path)
			if err != nil {
				return "", nil, err
			}
			defer f.Close()
			if info.IsDir() {
				return "", nil, fmt.Errorf("%s is a folder; list_files shows what is in it", args.Path)
			}
			in := bufio.NewReaderSize(f, 32<<10)
			if text, files, err := readPicture(in, args.Path, info.Size()); text != "" || err != nil {
				return text, files, err
			}
			text, err := readLines(ctx, in, info.Size(), int64(args.Offset), int64(args.Limit))
			return text, nil, err
		},
	}
}

// readPicture returns the file if it is a picture that can be shown, and some words about
// it if it is a picture at all. Otherwise nothing is taken from in.
func readPicture(in *bufio.Reader, path string, size int64) (string, []media.File, error) {
	head, err := in.Peek(16)
	kind := media.Announced(head)
	if err != nil && err != io.EOF || kind == "" {
		return "", nil, nil // what is wrong, readLines tells
	}
	if size > media.MaxPicture {
		return fmt.Sprintf("(picture of type %s, %d bytes, not shown: it may have %d)", kind, size, media.MaxPicture), nil, nil
	}
	// The file may have grown since it was looked at.
	data, err := io.ReadAll(io.LimitReader(in, media.MaxPicture+1))
	if err != nil {
		return "", nil, inWords("read", err)
	}
	if !media.Showable(media.Sniff(data), int64(len(data))) {
		in.Reset(bytes.NewReader(data))
		return "", nil, nil
	}
	return "The file is a picture.", []media.File{{Name: path, Data: data}}, nil
}

// readLines returns up to limit lines from line offset on; limit 0 is all.
func readLines(ctx context.Context, in *bufio.Reader, size, offset, limit int64) (string, error) {
	head, err := in.Peek(8 << 10)
	if err != nil && err != io.EOF {
		return "", inWords("read", err)
	}
	if what := binary(head); what != "" {
		return fmt.Sprintf("(%s, %d bytes, not shown; it begins with % x)", what, size, head[:min(len(head), 16)]), nil
	}
	if len(head) == 0 {
		return "(empty file)", nil
	}
	w := window{first: offset, last: offset + limit - 1, line: 1}
	if limit == 0 {
		w.last = 1 << 62
	}
	for {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		piece, err := in.ReadSlice('\n')
		if done := w.add(piece); done || err == io.EOF {
			return w.text()
		}
		if err != nil && err != bufio.ErrBufferFull {
			return "", inWords("read", err)
		}
	}
}

// window collects the lines first to last of a text.
type window struct {
	first, last int64
	// line is the number of the line that is being read.
	line    int64
	scanned int
	out     bytes.Buffer
	note    string
}

// add takes a line or a part of one, and reports whether that is enough.
func (w *window) add(piece []byte) bool {
	if len(piece) == 0 {
		return false
	}
	if w.line > w.last {
		w.note = fmt.Sprintf("(there is more; go on with offset %d)", w.line)
		return true
	}
	if w.scanned += len(piece); w.scanned > maxScan {
		w.note = fmt.Sprintf("(stopped after %d MiB of the file, in line %d)", maxScan>>20, w.line)
		return true
	}
	if w.line >= w.first {
		if w.out.Len()+len(piece) > maxRead {
			w.cut(piece)
			return true
		}
		w.out.Write(piece)
	}
	if piece[len(piece)-1] == '\n' {
		w.line++
	}
	return false
}

// cut ends the output at its limit: before the line that does not fit, or within
// it if it is the only one.
func (w *window) cut(piece []byte) {
	if i := bytes.LastIndexByte(w.out.Bytes(), '\n'); i >= 0 {
		w.out.Truncate(i + 1)
		w.note = fmt.Sprintf("(there is more; go on with offset %d)", w.line)
		return
	}
	w.out.Write(piece[:maxRead-w.out.Len()])
	w.note = fmt.Sprintf("(line %d is longer than %d KiB; the rest of it is not shown)", w.line, maxRead>>10)
}

func (w *window) text() (string, error) {
	if w.out.Len() == 0 && w.note == "" {
		return "", fmt.Errorf("the offset is %d, but the file has fewer lines", w.first)
	}
	text := w.out.String()
	if w.note != "" {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += w.note
	}
	return text, nil
}

// binary says what a file is that begins with head, if it is not text.
func binary(head []byte) string {
	if bytes.IndexByte(head, 0) >= 0 {
		return "binary file"
	}
	for i := 0; i < len(head); {
		r, n := utf8.DecodeRune(head[i:])
		if r == utf8.RuneError && n == 1 && (utf8.FullRune(head[i:]) || len(head) < 8<<10) {
			return "file that is not UTF-8 text"
		}
		i += n
	}
	return ""
}
