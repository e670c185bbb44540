package runtime_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
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
