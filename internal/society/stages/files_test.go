package stages_test

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest/questtest"
	"lyceum/internal/society/stages"
)

// brings is a message with files.
func (k talk) brings(text string, names ...string) []event.Event {
	m := &event.UserMessage{Text: event.Text{Text: text}}
	for _, n := range names {
		m.Attachments = append(m.Attachments, event.Attachment{Media: "application/pdf", Name: n, Ref: event.RefOf([]byte(n))})
	}
	return k.Take("person", m)
}

// copied answers the call that copies files.
func (k talk) copied(fault string) []event.Event {
	return k.Take("core", &event.FilesResult{Call: k.Open("files.call", "")[0], Error: fault})
}

// Files of a message are copied into the home before it is heard, and the prompt says where.
func TestFilesOfAMessageAreCopiedIntoTheHome(t *testing.T) {
	t.Run("BeforeASitting", func(t *testing.T) {
		k := begin(t, "")
		k.Start()
		k.says("So.")
		got := k.brings("Read these.", "a.pdf", "../b c.pdf")
		call := all[*event.FilesCall](got)
		if kinds(got) != "files.call" || call[0].Folder != fmt.Sprint("files/", call[0].Message) || len(call[0].Files) != 2 || call[0].Files[1].Name != "b c.pdf" {
			t.Fatalf("a message with files leads to %q, %+v", kinds(got), call)
		}
		if got := kinds(k.message("And this.")); got != "" {
			t.Errorf("while files are copied, a message leads to %q", got)
		}
		if got := kinds(k.copied("")); got != "sitting.begun model.call" {
			t.Errorf("copied files lead to %q", got)
		}
		for _, want := range []string{`a copy is "` + call[0].Folder + `/b c.pdf" in your home`, "; copies of its files are in " + call[0].Folder + " of your home:]", "And this."} {
			if !strings.Contains(k.window(), want) {
				t.Errorf("there is no %q in what it is told:\n%s", want, k.window())
			}
		}
		k.Sound()
	})
	t.Run("DuringOne", func(t *testing.T) {
		k := begin(t, "", "interact")
		k.Start()
		if got := kinds(k.brings("Read this.", "a.pdf")); got != "files.call" {
			t.Fatalf("a message with a file leads to %q", got)
		}
		k.message("And hear this.")
		got := k.does("interact", `{"kind":"progress","text":"On it."}`)
		if len(all[*event.MailDelivered](got)) != 0 {
			t.Fatalf("mail is delivered before its files are there: %q", kinds(got))
		}
		k.copied("")
		got = k.does("interact", `{"kind":"progress","text":"Still on it."}`)
		if d := all[*event.MailDelivered](got); len(d) != 1 || len(d[0].Messages) != 2 {
			t.Errorf("with the files there, it leads to %q, %+v", kinds(got), d)
		}
		k.Sound()
	})
	t.Run("ThatCameWhileTheQuestRested", func(t *testing.T) {
		k := begin(t, "", "interact")
		k.Start()
		k.does("interact", `{"kind":"progress","text":"On it."}`)
		k.Take("person", &event.QuestPaused{})
		k.Take(stages.Researcher, &event.ModelResult{Call: k.Open("model.call", "")[0], Error: &event.ModelError{Kind: event.KindStopped, Text: "the quest was paused"}})
		if got := kinds(k.brings("Read this.", "a.pdf")); got != "" {
			t.Fatalf("a message to a quest that rests leads to %q", got)
		}
		k.Take("person", &event.StudyOrder{Action: event.SteerNow})
		got := k.Take("person", &event.QuestResumed{})
		if !strings.Contains(kinds(got), "files.call") || len(all[*event.MailDelivered](got)) != 0 {
			t.Fatalf("when it goes on, there is %q: want the files copied before the message is heard", kinds(got))
		}
		k.copied("")
		k.does("interact", `{"kind":"progress","text":"Still on it."}`)
		if d := all[*event.MailDelivered](k.Events); len(d) != 1 {
			t.Errorf("with the files there, the message is delivered %d times", len(d))
		}
		k.Sound()
	})
	t.Run("NowWaitsForThem", func(t *testing.T) {
		k := begin(t, "")
		k.Start()
		k.brings("Read this.", "a.pdf")
		if got := kinds(k.Take("person", &event.StudyOrder{Action: event.SteerNow})); got != "" {
			t.Errorf("/now leads to %q before the files are there", got)
		}
		if got := kinds(k.copied("")); !strings.HasPrefix(got, "mail.delivered") {
			t.Errorf("with the files there, /now leads to %q", got)
		}
		k.Sound()
	})
	t.Run("TakenBackMeanwhile", func(t *testing.T) {
		k := begin(t, "")
		k.Start()
		k.says("So.")
		k.brings("Read this.", "a.pdf")
		k.Take("person", &event.StudyOrder{Action: event.SteerWithdraw, Message: k.State.Mail[0].Seq})
		if got := kinds(k.copied("")); got != "" || !k.State.Waiting() {
			t.Errorf("files of a message that was taken back lead to %q", got)
		}
		k.Sound()
	})
	t.Run("NotThere", func(t *testing.T) {
		k := begin(t, "")
		k.Start()
		k.says("So.")
		k.brings("Read this.", "a.pdf")
		if got := kinds(k.copied("something is in the way")); got != "sitting.begun model.call" {
			t.Errorf("files that could not be copied lead to %q", got)
		}
		if w := k.window(); !strings.Contains(w, `there is no copy in your home: "something is in the way"`) || strings.Contains(w, "copies of its files") {
			t.Errorf("it is told:\n%s", w)
		}
		k.Sound()
	})
	t.Run("AForkCopiesThemAnew", func(t *testing.T) {
		k := begin(t, "")
		k.Start()
		k.says("So.")
		k.brings("Read this.", "a.pdf")
		f := talk{k.Fork(len(k.Events), nil)}
		if got := kinds(f.Take("person", &event.QuestResumed{})); !strings.HasSuffix(got, "files.call") {
			t.Fatalf("a fork goes on with %q", got)
		}
		if got := kinds(f.copied("")); got != "sitting.begun model.call" {
			t.Errorf("copied files lead to %q in a fork", got)
		}
		f.Sound()
	})
	t.Run("AForkInASittingHearsThemAfterwards", func(t *testing.T) {
		k := begin(t, "", "interact")
		k.Start()
		k.does("interact", `{"kind":"progress","text":"On it."}`)
		k.brings("Read this.", "a.pdf")
		k.Take("person", &event.StudyOrder{Action: event.SteerNow})
		f := talk{k.Fork(len(k.Events), nil)}
		got := f.Take("person", &event.QuestResumed{})
		if !strings.Contains(kinds(got), "files.call") || len(all[*event.MailDelivered](got)) != 0 {
			t.Fatalf("a fork goes on with %q: want the files copied before the message is heard", kinds(got))
		}
		f.copied("")
		f.does("interact", `{"kind":"progress","text":"Still on it."}`)
		if d := all[*event.MailDelivered](f.Events); len(d) != 1 {
			t.Errorf("with the files there, the message is delivered %d times", len(d))
		}
		f.Sound()
	})
	t.Run("LedAgainAfterAFailure", func(t *testing.T) {
		k := begin(t, "")
		k.Start()
		k.says("So.")
		k.brings("Read this.", "a.pdf")
		k.copied("")
		k.Answer(stages.Researcher, questtest.Fails(model.Unavailable))
		k.message("Go on.")
		if n := len(all[*event.FilesCall](k.Events)); n != 1 {
			t.Errorf("the files are copied %d times, want once", n)
		}
		k.Sound()
	})
}

// Names are strangers' words: none leads out of the folder, is taken for settings, or stands for
// two files.
func TestNamesOfCopies(t *testing.T) {
	k := begin(t, "")
	k.Start()
	k.brings("Read these.", "", ".git", "../../x", "A.txt", "a.txt", "4-a.txt", "a.txt", ".bashrc")
	seen := map[string]bool{}
	for i, f := range all[*event.FilesCall](k.Events)[0].Files {
		want := []string{"1", "git", "x", "A.txt", "5-a.txt", "4-a.txt", "7-a.txt", "bashrc"}[i]
		if f.Name != want || seen[strings.ToLower(f.Name)] {
			t.Errorf("file %d is called %q, want %q", i, f.Name, want)
		}
		seen[strings.ToLower(f.Name)] = true
	}
}
