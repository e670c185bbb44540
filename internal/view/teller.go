package view

import (
	"fmt"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/media"
	"lyceum/internal/plain"
)

// Words are what an event says to people, in a line that is safe wherever it is shown.
type Words struct {
	// Kind is what a reader calls such a step; empty if the event is no step of its own.
	Kind string
	// By is whose doing it is, where Text does not say so: “agent-1” before “votes for …”,
	// “agent-1's” before “files: …”. Whoever shows the actor beside the text leaves it out.
	By   string
	Text string
	// Notes are what else there is to the event: the performative of a message, that
	// something failed, how long it took, where evidence stands.
	Notes  []string
	Weight Weight

	// about is the paper or the task that the event is about, where that is not all it
	// says; concerns is the agent or paper that something is about which the rules do for
	// all of them. Steps are compared by these.
	about, concerns string
}

// Sentence is the line for whoever does not show the actor beside it.
func (w Words) Sentence() string { return strings.TrimSpace(w.By + " " + w.Text) }

// Weight is how much an event matters to somebody who watches a quest.
type Weight int

const (
	// Aside is for events that another one tells better.
	Aside Weight = iota
	// Detail is what single agents say and do. It is left out where many are seen at once.
	Detail
	// News is what everybody who watches is told.
	News
)

// Teller puts events into words. The zero Teller reads nothing but the events.
type Teller struct {
	// Most is how many characters of each text are shown, 100 if it is not set.
	Most int
	// Read reads a text that stands in a blob; without it, such a text is its size.
	Read Blobs
	// Title is what a thing is called that events name by a reference, empty if it is not
	// known. Without it, a reference is shown whole.
	Title func(ref string) string
}

// Tell says what an event means. Its body must be one of the catalogue.
func (t *Teller) Tell(e event.Event) Words {
	entry := vocabulary[e.Body.Type()]
	w := entry.tell(t, e)
	w.Kind = entry.kind
	if p := event.Performative(e.Body); p != "" {
		w.Notes = append([]string{p}, w.Notes...)
	}
	// Whatever a word was made of, here it becomes safe.
	w.By, w.Text = flat(w.By, t.most()), flat(w.Text, 8*t.most())
	for i, note := range w.Notes {
		w.Notes[i] = flat(note, t.most())
	}
	return w
}

// dictionary is the words for some types of events.
type dictionary []wording

// wording is how one type of event is put into words.
type wording struct {
	of   event.Type
	kind string
	tell func(*Teller, event.Event) Words
	// interest is why an event of this type is of interest, nil for a type that never is.
	interest func(event.Event) Interest
	// wrong reports whether an event says that something went wrong, or was turned down; nil for a type
	// that never does.
	wrong func(event.Event) bool
	// mark is what an event of this type is on the lane of who did it, empty for none.
	mark string
	// talk is what an event of this type changes in the conversation with a quest, nil for nothing.
	talk func(*Talk, event.Event)
	// speech is what an event of this type says at length, nil for a type whose line says all.
	speech func(event.Event) (Speech, bool)
}

// onLanes has all events of a type stand on the lane of who did it.
func (w wording) onLanes(mark string) wording {
	w.mark = mark
	return w
}

// mayFail adds to the words for a type of event which of them say that something went wrong, or was
// turned down.
func mayFail[B any, P interface {
	*B
	event.Body
}](w wording, wrong func(P) bool) wording {
	w.wrong = func(e event.Event) bool { return wrong(e.Body.(P)) }
	return w
}

// word makes the wording for the type of body that tell takes.
func word[B any, P interface {
	*B
	event.Body
}](kind string, tell func(*Teller, event.Event, P) Words) wording {
	return wording{of: P(new(B)).Type(), kind: kind, tell: func(t *Teller, e event.Event) Words { return tell(t, e, e.Body.(P)) }}
}

// inTalk adds to the words for a type of event what it changes in the conversation with a quest.
func inTalk[B any, P interface {
	*B
	event.Body
}](w wording, talk func(*Talk, event.Event, P)) wording {
	w.talk = func(t *Talk, e event.Event) { talk(t, e, e.Body.(P)) }
	return w
}

// Speech is what somebody says to people in a conversation, all of it.
type Speech struct {
	// Kind is what it is called: a milestone, a review.
	Kind string
	Text event.Text
	// Files are the paths of those that came with it.
	Files []string
}

// SpeechOf is what an event of a society's own says to people; there is none where its line, as Tell
// makes it, is all that there is to say.
func SpeechOf(e event.Event) (Speech, bool) {
	if speech := vocabulary[e.Body.Type()].speech; speech != nil {
		return speech(e)
	}
	return Speech{}, false
}

// inFull adds to the words for a type of event what one of them says at length.
func inFull[B any, P interface {
	*B
	event.Body
}](w wording, speech func(P) (Speech, bool)) wording {
	w.speech = func(e event.Event) (Speech, bool) { return speech(e.Body.(P)) }
	return w
}

// join makes one table of several dictionaries.
func join(all ...dictionary) map[event.Type]wording {
	out := map[event.Type]wording{}
	for _, d := range all {
		for _, w := range d {
			out[w.of] = w
		}
	}
	return out
}

func (t *Teller) most() int {
	if t.Most > 0 {
		return t.Most
	}
	return 100
}

// cut is the beginning of what somebody wrote.
func (t *Teller) cut(s string) string { return flat(s, t.most()) }

// text is the beginning of a text, wherever it stands.
func (t *Teller) text(x event.Text) string {
	if x.Text != "" || x.Ref == nil {
		return t.cut(x.Text)
	}
	if t.Read == nil || x.Ref.Size > maxText {
		return fmt.Sprintf("(%d bytes)", x.Ref.Size)
	}
	data, err := t.Read(*x.Ref)
	if err != nil {
		return t.cut("[this text cannot be read: " + err.Error() + "]")
	}
	return t.cut(string(data))
}

// prose is text without the marks of Markdown.
func (t *Teller) prose(x event.Text) string {
	if x.Text != "" {
		x.Text = plain.Unmarked(plain.Cut(x.Text, 16*t.most()))
	}
	return t.text(x)
}

// with is a text and the files that came with it.
func (t *Teller) with(x event.Text, files []event.Attachment) string {
	text := t.text(x)
	for _, f := range files {
		text = strings.TrimSpace(text + " " + fileWords(f))
	}
	return text
}

// fileWords names a picture or a file that came with a text.
func fileWords(f event.Attachment) string {
	what := "file"
	if media.Picture(f.Media) {
		what = "picture"
	}
	name := flat(f.Name, 60)
	if name == "" {
		name = flat(f.Media, 60)
	}
	return fmt.Sprintf("[%s %s, %d bytes]", what, name, f.Ref.Size)
}

// thing names what has a reference: by its beginning and the title, or by the whole of it.
func (t *Teller) thing(ref string) string {
	if t.Title == nil {
		return flat(ref, 64)
	}
	return t.titled(flat(ref, 64), t.Title(ref))
}

func (t *Teller) titled(ref, title string) string {
	if t.Title != nil {
		ref = ref[:min(len(ref), 8)]
	}
	if title == "" {
		return ref
	}
	return ref + " “" + flat(title, 50) + "”"
}

// things names several.
func (t *Teller) things(refs ...string) string {
	var out []string
	for _, ref := range refs {
		out = append(out, t.thing(ref))
	}
	return strings.Join(out, ", ")
}

func millis(micros int64) string {
	if micros >= 1_000_000 {
		return fmt.Sprintf("%.1f s", float64(micros)/1e6)
	}
	return fmt.Sprintf("%.1f ms", float64(micros)/1000)
}

// outcome are the notes of something that took a while and may have failed.
func outcome(failed bool, micros int64) []string {
	if failed {
		return []string{"failed", millis(micros)}
	}
	return []string{millis(micros)}
}

// printed notes where an output stands.
func printed(ref *event.Ref) []string {
	if ref == nil {
		return nil
	}
	return []string{"output " + ref.Hash.String()[:12]}
}

// because adds a reason to what happened, if there is one that says more.
func because(what, reason string) string {
	switch {
	case reason == "":
		return what
	case strings.HasPrefix(reason, what):
		return reason
	}
	return what + ": " + reason
}

// Decimal writes a number of units of 10^-places.
func Decimal(n int64, places int) string {
	s := fmt.Sprintf("%0*d", places+1, n)
	return s[:len(s)-places] + "." + s[len(s)-places:]
}

// maxLine is how much of a step's text is kept, in characters.
const maxLine = 200

// line is the beginning of a text, on one line.
func line(s string) string { return flat(s, maxLine) }

// flat is the beginning of a text, on one line that is safe to show. A text may be long,
// and more bytes than this are never needed.
func flat(s string, most int) string { return plain.Brief(plain.Cut(s, 16*most), most) }
