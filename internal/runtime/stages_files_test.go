package runtime_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/media"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
)

// shows posts a message with files.
func (l *lab) shows(name, text string, files ...media.File) {
	l.t.Helper()
	list, err := l.Attach(l.t.Context(), files)
	must(l.t, err)
	_, err = l.Post(l.t.Context(), name, ledger.Command{Key: text, Body: &event.UserMessage{Text: event.Text{Text: text}, Attachments: list}})
	must(l.t, err)
}

// Files of a message, as large as they may be, lie in the home before it is heard, whatever ends
// between the call for that and its result; and they are recorded as nobody's work.
func TestFilesOfAMessageLieInTheHome(t *testing.T) {
	l := newStages(t, nil)
	name := l.create(plan(t, "q", "society: stages\n", talks))
	l.rests(name)
	large := bytes.Repeat([]byte("0123456789abcde\n"), media.MaxFile/16)
	l.shows(name, "Read these.", media.File{Name: "/tmp/series.csv", Data: large}, media.File{Name: "p.bin", Data: []byte{0, 1, 2}})
	for _, at := range []event.Type{"files.call", "files.result"} {
		ctx, cancel := context.WithCancel(t.Context())
		_, err := l.Run(ctx, name, runtime.RunOptions{Leave: true, OnEvent: func(e event.Event, _ *quest.State) {
			if e.Type == at {
				cancel()
			}
		}})
		if cancel(); err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
	}
	s := l.rests(name)
	var call *event.FilesCall
	heard, recorded := false, false
	for _, e := range l.events(name) {
		switch b := e.Body.(type) {
		case *event.FilesCall:
			if call != nil {
				t.Errorf("the files are called for again at %d", e.Seq)
			}
			call = b
		case *event.FileDiff:
			recorded = recorded || b.Cause == event.CauseOutside && strings.Contains(fmt.Sprint(b.Changes), "series.csv")
		case *event.SittingBegun:
			heard = heard || call != nil && len(b.Mail) == 1 && b.Mail[0] == call.Message
		}
	}
	if call == nil || !heard || !recorded || len(s.Mail) != 0 {
		t.Fatalf("files called for: %v, recorded: %v, heard: %v", call, recorded, heard)
	}
	for file, want := range map[string][]byte{"series.csv": large, "p.bin": {0, 1, 2}} {
		got, err := os.ReadFile(filepath.Join(l.QuestDir(name), "agents", "researcher", call.Folder, file))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s in the home has %d bytes, %v; want %d", file, len(got), err, len(want))
		}
	}
	l.sound(name)
}

// What is in the way of copies is said, and the message is heard all the same.
func TestCopiesThatFindNoPlace(t *testing.T) {
	l := newStages(t, nil)
	name := l.create(plan(t, "q", "society: stages\n", talks))
	l.rests(name)
	home, outside := filepath.Join(l.QuestDir(name), "agents", "researcher"), t.TempDir()
	must(t, os.Symlink(outside, filepath.Join(home, quest.FilesDir)))
	l.shows(name, "Read this.", media.File{Name: "a.txt", Data: []byte("a")})
	s := l.rests(name)
	if list, err := os.ReadDir(outside); err != nil || len(list) != 0 {
		t.Errorf("a link leads to %v, %v", list, err)
	}
	said := ""
	for _, e := range l.events(name) {
		if r, ok := e.Body.(*event.FilesResult); ok {
			said += r.Error
		}
	}
	if !strings.Contains(said, "links are not followed") || len(s.Mail) != 0 {
		t.Errorf("it is said %q, and %d messages wait", said, len(s.Mail))
	}
	l.sound(name)
}

// aPDF is a PDF whose one page says some words.
func aPDF(t *testing.T, words string) []byte {
	t.Helper()
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	_, err := fmt.Fprintf(z, "BT /F 10 Tf 72 700 Td (%s) Tj ET", words)
	must(t, errors.Join(err, z.Close()))
	return fmt.Appendf(nil, "%%PDF-1.4\n1 0 obj << /Type /Catalog /Pages << /Kids [2 0 R] >> >> endobj\n2 0 obj << /Contents 3 0 R /Resources << /Font << /F << /Subtype /Type1 >> >> >> >> endobj\n"+
		"3 0 obj << /Filter /FlateDecode /Length %d >> stream\n%s\nendstream endobj\n", packed.Len(), packed.String())
}

// The text of a PDF lies beside its copy, without keys; where there is none, the prompt says why.
func TestTheTextOfAPDF(t *testing.T) {
	l := newStages(t, nil)
	const key = "sk-canary-Tx4Wn8"
	l.Secrets = func() []string { return []string{key} }
	name := l.create(plan(t, "q", "society: stages\n", talks))
	l.rests(name)
	file := func(words string) []byte { return aPDF(t, words) }
	l.shows(name, "Read these.", media.File{Name: "Paper.pdf", Data: file("The error is 0.42 with " + key + ".")}, media.File{Name: "paper.pdf.TXT", Data: []byte("mine")}, media.File{Name: "scan.pdf", Data: file("")})
	s := l.rests(name)
	var call *event.FilesCall
	var came *event.FilesResult
	for _, e := range l.events(name) {
		switch b := e.Body.(type) {
		case *event.FilesCall:
			call = b
		case *event.FilesResult:
			came = b
		}
	}
	want := []event.FileText{{Of: "Paper.pdf", Name: "Paper.pdf-2.txt"}, {Of: "scan.pdf", Why: "it has no text: perhaps its pages are pictures"}}
	if came == nil || !slices.Equal(came.Texts, want) || came.Stored <= 0 {
		t.Fatalf("the files came to %+v, want %+v", came, want)
	}
	got, err := os.ReadFile(filepath.Join(l.QuestDir(name), "agents", "researcher", call.Folder, "Paper.pdf-2.txt"))
	if err != nil || string(got) != "The error is 0.42 with [key].\n" {
		t.Errorf("the text is %q, %v", got, err)
	}
	w := window(s)
	for _, want := range []string{`its text is "` + call.Folder + `/Paper.pdf-2.txt"`, `no readable copy: "it has no text: perhaps its pages are pictures"`, "of your home, the text of PDFs in Paper.pdf-2.txt"} {
		if !strings.Contains(w, want) {
			t.Errorf("there is no %q in what the researcher is told:\n%s", want, w)
		}
	}
	l.sound(name)
}
