package quest

import (
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/media"
	"lyceum/internal/workspace"
)

// Files of mail. A model is shown little of a large file, and nothing of most kinds: before an
// agent that has a home hears a message, copies of its files are put there, where its tools can
// read them. That is a call of its own, which comes to something once, whatever is killed when.

// FilesDir is the folder of a home that has the files of messages, each in a folder called by the
// message's number.
const FilesDir = "files"

// Copies are what is known of the copies of a letter's files.
type Copies struct {
	// Copying is the call that puts them into the home, 0 if none does.
	Copying uint64 `json:",omitzero"`
	// Folder is where they are, empty if they are nowhere; Uncopied is why, once that was tried.
	Folder   string `json:",omitzero"`
	Uncopied string `json:",omitzero"`
	// Texts are what can be read of those that are PDFs.
	Texts []event.FileText `json:",omitempty"`
}

// wanted reports whether the files of a letter are to be copied.
func (l *Letter) wanted() bool {
	return len(l.Attachments) > 0 && l.Copying == 0 && l.Folder == "" && l.Uncopied == ""
}

// CopyFiles drafts the copying of files of mail that waits for an agent; nil, if there is nothing
// to copy.
func (s *State) CopyFiles(e event.Event, a *agent.Agent) []event.Draft {
	if !s.Houses(a) {
		return nil
	}
	for i := range s.Mail {
		if l := &s.Mail[i]; l.wanted() {
			return []event.Draft{After(e, a.Name, "", l.copies())}
		}
	}
	return nil
}

// Ready are the messages that wait and can be delivered, the oldest first: those before the first
// whose files are being copied, or are yet to be. One that came while the quest rested is such a one
// when it goes on.
func (s *State) Ready() []uint64 {
	all := s.Waits()
	for i := range s.Mail {
		if l := &s.Mail[i]; l.Copying != 0 || l.wanted() && slices.ContainsFunc(s.Agents, s.Houses) {
			return all[:i]
		}
	}
	return all
}

// copies are a letter's files as they are called in a home.
func (l *Letter) copies() *event.FilesCall {
	b := &event.FilesCall{Folder: fmt.Sprintf("%s/%d", FilesDir, l.Seq), Message: l.Seq}
	taken := map[string]bool{}
	for i, f := range l.Attachments {
		name := copyName(f.Name)
		for name == "" || taken[strings.ToLower(name)] {
			name = strings.TrimSuffix(fmt.Sprintf("%d-%s", i+1, name), "-")
		}
		taken[strings.ToLower(name)] = true
		b.Files = append(b.Files, event.FileCopy{Name: name, Ref: f.Ref})
	}
	return b
}

// CopyNames are what the copies of a letter's files are called.
func (l *Letter) CopyNames() (out []string) {
	for _, f := range l.copies().Files {
		out = append(out, f.Name)
	}
	return out
}

// readable says in which copies the texts of PDFs are, empty if in none.
func (l *Letter) readable() string {
	var names []string
	for _, t := range l.Texts {
		if t.Name != "" {
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return ", the text of PDFs in " + strings.Join(names, ", ")
}

// copyName makes a stranger's word the name of a file that nothing takes for its settings; empty,
// if nothing is left of it.
func copyName(name string) string {
	name = strings.TrimSpace(strings.TrimLeft(media.FileName(name, ""), ". "))
	if workspace.DotGit(name) {
		return ""
	}
	return name
}

// copying takes in that copies are being made.
func (s *State) copying(e event.Event, b *event.FilesCall) {
	i := s.letter(b.Message)
	if i < 0 || !s.Mail[i].wanted() || s.Agent(e.Actor) == nil {
		panic(fmt.Errorf("files of message %d are copied, and it has none that wait for it", b.Message))
	}
	s.Calls[e.Seq], s.Mail[i].Copying = Call{Kind: e.Type}, e.Seq
}

// copied takes in what became of them. A message that was taken back meanwhile needs none.
func (s *State) copied(b *event.FilesResult) {
	s.keeps(b)
	for i := range s.Mail {
		l := &s.Mail[i]
		if l.Copying != b.Call {
			continue
		}
		l.Copying = 0
		if l.Uncopied = b.Error; b.Error == "" {
			l.Folder, l.Texts = l.copies().Folder, b.Texts
		}
	}
}

// abandonCopies forgets the copies that a quest that was forked waited for.
func (s *State) abandonCopies() {
	for i := range s.Mail {
		s.Mail[i].Copying = 0
	}
}
