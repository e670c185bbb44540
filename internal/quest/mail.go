package quest

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/plain"
)

// Mail and sittings, for societies that have the trait Mail. What people say waits until it is
// delivered: each word once, in the order in which they came. An agent works in sittings: it is
// asked for nothing between two of them. What it is told when one begins is a function of the
// state, in blocks, of which the event has the hashes alone.

// Letter is something that a person said, and that waits to be delivered.
type Letter struct {
	// Seq is the user.message, the interaction.answered, or quest.created, whose problem is the
	// first letter.
	Seq  uint64
	Time event.Time
	Text event.Text
	// Attachments, Conversation, Reply, Sender and Source are those of the message.
	Attachments  []event.Attachment `json:",omitempty"`
	Conversation string             `json:",omitzero"`
	Reply        uint64             `json:",omitzero"`
	Sender       string             `json:",omitzero"`
	Source       string             `json:",omitzero"`
	Copies
}

// Sitting is the one under way.
type Sitting struct {
	Agent  string
	Number int64
	// From is where it begins in the agent's transcript.
	From int64
	// Mail are the letters that it began with, as long as nothing has come of them; Came says
	// that a word or a call has come of it.
	Mail []Letter `json:",omitempty"`
	Came bool     `json:",omitzero"`
	// Cut is the call that was cut short, since something was to be heard at once.
	Cut uint64 `json:",omitzero"`
}

// Cut reports whether a call was cut short by what its agent was to hear at once. Nobody waits
// for its answer, also if the process has ended that was about to say so.
func (s *State) Cut(call uint64) bool { return s.Sitting != nil && s.Sitting.Cut == call }

// Prompter is a society whose agents are told in blocks what they need to know when a sitting
// begins.
type Prompter interface {
	// Blocks are what an agent is told when b begins, in their order, whether it knows them
	// already or not. They follow from the state before b, but for its seq, its time and its
	// calls, and from the members of b but Blocks and Cut. Together they have at most MaxPrompt
	// bytes. At least one must be another than before, or b bring mail.
	Blocks(s *State, a *agent.Agent, b *event.SittingBegun) []Block
}

// Block is a part of what an agent is told.
type Block struct {
	Name, Text string
	// Cut says that it was shortened, or left out.
	Cut bool
}

// MaxPrompt is how many bytes the blocks of a sitting have together.
const MaxPrompt = 24 << 10

// The blocks that are the core's own: the system prompt, which comes first, and what people
// said, which comes last.
const (
	blockSystem = "system"
	blockMail   = "mail"
)

// Rester is a memory that knows whether its society waits for people's words.
type Rester interface {
	// Resting reports whether nothing follows until a person says something.
	Resting(s *State) bool
}

// Steered is a memory of a society whose course people can set by orders.
type Steered interface {
	// MaySteer says why an order comes to nothing, in words for the person; nil, if it does not.
	MaySteer(b *event.StudyOrder) error
}

// Replied is a memory that knows what can be replied to.
type Replied interface {
	// MayReply says why nothing can be said in reply to that event, in words for the person.
	MayReply(seq uint64) error
}

// Bindable is a memory of a society whose words are delivered to conversations elsewhere.
type Bindable interface {
	// MayBind says why a conversation cannot be bound, or let go, in words for the person.
	MayBind(b *event.ConversationBound) error
	// Bound reports whether a conversation is bound already, in that way.
	Bound(b *event.ConversationBound) bool
}

// Bound reports whether a conversation is bound already, in that way.
func (s *State) Bound(b *event.ConversationBound) bool {
	m, ok := s.memory.(Bindable)
	return ok && m.Bound(b)
}

// checkBound tells whether a conversation may be bound now.
func (s *State) checkBound(b *event.ConversationBound) error {
	m, ok := s.memory.(Bindable)
	if !ok {
		return fmt.Errorf("quest %s says nothing to people elsewhere: its society is %s", s.Name, s.Society())
	}
	return m.MayBind(b)
}

// MayReply says why nothing can be said in reply to an event. It is for whoever posts a message:
// one that is posted is heard, also if the question was closed meanwhile.
func (s *State) MayReply(seq uint64) error {
	if m, ok := s.memory.(Replied); ok {
		return m.MayReply(seq)
	}
	return nil
}

// HasMail reports whether what people say to the quest waits until it is delivered.
func (s *State) HasMail() bool { return s.rules.traits.Mail }

// Wakes reports whether a message has the quest go on, though it has its answer.
func (s *State) Wakes() bool { return s.HasMail() && s.Status == Finished }

// resting reports whether the society waits for people's words.
func (s *State) resting() bool {
	m, ok := s.memory.(Rester)
	return ok && s.Sitting == nil && len(s.Mail) == 0 && m.Resting(s)
}

// patient reports whether a society with mail waits for people. That can take for ever.
func (s *State) patient() bool { return s.HasMail() && s.Waiting() }

// hush forgets the timers of a quest that waits for words: of its time, which stands still, and
// those that nobody waits for any more. So nothing happens meanwhile.
func (s *State) hush() {
	if !s.patient() {
		return
	}
	for seq, c := range s.Calls {
		if c.Timer == durationTimer || c.Timer != "" && s.idle(c.Timer) {
			delete(s.Calls, seq)
		}
	}
}

// sits reports whether an agent may be asked for something.
func (s *State) sits(a *agent.Agent) bool {
	return !s.HasMail() || s.Sitting != nil && s.Sitting.Agent == a.Name
}

// Beside is a society of whose agents some work beside the sittings: nobody talks to them, they
// are given something to do and nothing else, and no server's tools.
type Beside interface {
	// Works reports whether an agent has something to do beside the sittings.
	Works(s *State, a *agent.Agent) bool
}

// beside reports whether an agent works beside the sittings.
func (s *State) beside(a *agent.Agent) bool {
	b, ok := s.rules.Society.(Beside)
	return ok && b.Works(s, a)
}

// reads gives an agent beside the sittings something to read, in an empty window.
func (s *State) reads(e event.Event, b *event.ReviewBegun) {
	a := s.Agent(e.Actor)
	if a == nil || a.Asked != 0 || len(a.Open) > 0 || s.Sitting != nil && s.Sitting.Agent == a.Name {
		panic(fmt.Errorf("%.40q is given something to read, and is busy or nobody", e.Actor))
	}
	a.Afresh()
	if !a.Held {
		a.Retry()
		a.Heed()
	}
	a.Told(b.Words)
	a.Told(b.Text)
}

// Sit drafts the beginning of a sitting: b says all but what the agent is told.
func (s *State) Sit(e event.Event, a *agent.Agent, b *event.SittingBegun) []event.Draft {
	b.Blocks, b.Cut, _ = s.blocks(a, b)
	return []event.Draft{After(e, a.Name, "", b)}
}

// blocks are what an agent is told with b, by their hashes, which of them were cut, and the
// words of those that are said.
func (s *State) blocks(a *agent.Agent, b *event.SittingBegun) (out []event.SittingBlock, cut []string, words string) {
	add := func(name string, hash event.Hash, size int64) bool {
		said := b.Fresh || a.Knows(name) != hash
		out = append(out, event.SittingBlock{Hash: hash, Name: name, Said: said, Size: size})
		return said
	}
	add(blockSystem, a.System.Hash, a.System.Size)
	var said []string
	if p, ok := s.rules.Society.(Prompter); ok {
		for _, x := range p.Blocks(s, a, b) {
			if add(x.Name, event.HashOf([]byte(x.Text)), int64(len(x.Text))) && x.Text != "" {
				said = append(said, x.Text)
			}
			if x.Cut {
				cut = append(cut, x.Name)
			}
		}
	}
	if mail := s.Mail[:min(len(b.Mail), len(s.Mail))]; len(mail) > 0 {
		told := s.letters(a, mail, mailRoom(out))
		out = append(out, event.SittingBlock{Hash: sumOfMail(mail), Name: blockMail, Said: true, Size: told.size})
		if len(told.cut) > 0 {
			cut = append(cut, blockMail)
		}
	}
	return out, cut, strings.Join(said, "\n\n")
}

// How many bytes of mail an agent is told at once: what the other blocks of a prompt leave, but
// no less than leastMail; mostMail between two turns. leastLetter is what a letter takes that is
// worth being shown.
const (
	mostMail    = 8 << 10
	leastMail   = 2 << 10
	leastLetter = 300
)

// mailRoom is how much room the blocks before the mail leave for it.
func mailRoom(blocks []event.SittingBlock) int64 {
	room := int64(MaxPrompt)
	for _, k := range blocks {
		room -= k.Size
	}
	return min(max(room, leastMail), mostMail)
}

// told is mail as an agent is told it.
type told struct {
	words []agent.Word
	size  int64
	// cut are the letters that it is not shown whole.
	cut []*Letter
}

// letters is how an agent is told mail in so much room. What finds none is cut: it says so, and
// where it can be read. A letter has an equal part of the room, and what those before it left.
func (s *State) letters(a *agent.Agent, mail []Letter, room int64) (t told) {
	reads := slices.Contains(a.ToolNames, ReadResult)
	room -= leastLetter // for what is said of those that are left out
	for i := range mail {
		l, left := &mail[i], room-t.size
		if left < leastLetter {
			t.leaveOut(mail[i:], reads)
			break
		}
		head, share := l.head(), max(left/int64(len(mail)-i), leastLetter)
		switch whole := int64(len(head)) + 1 + l.Text.Len(); {
		case whole > share:
			t.add(event.Text{Text: head + "\n" + l.beginning(share-int64(len(head))-1, reads)}, l.Attachments)
			t.cut = append(t.cut, l)
		case l.Text.Ref != nil:
			t.add(event.Text{Text: head}, nil)
			t.add(l.Text, l.Attachments)
		default:
			t.add(event.Text{Text: head + "\n" + l.Text.Text}, l.Attachments)
		}
	}
	return t
}

func (t *told) add(words event.Text, with []event.Attachment) {
	t.words = append(t.words, agent.Word{Text: words, Attached: with})
	t.size += words.Len()
}

// leaveOut tells of letters that there is no room for at all.
func (t *told) leaveOut(mail []Letter, reads bool) {
	for i := range mail {
		t.cut = append(t.cut, &mail[i])
	}
	how := ""
	if reads {
		how = fmt.Sprintf(" %s shows each, by its number for the call.", ReadResult)
	}
	t.add(event.Text{Text: fmt.Sprintf("[%d more messages, %d to %d, are left out: there is no room for them.%s]", len(mail), mail[0].Seq, mail[len(mail)-1].Seq, how)}, nil)
}

// beginning is as much of a letter as there is room for, and where the rest is. Of a text in a
// blob the rules know no beginning.
func (l *Letter) beginning(room int64, reads bool) string {
	how := ""
	if reads {
		how = fmt.Sprintf(": %s(call: %d, from: 1000000) shows them", ReadResult, l.Seq)
	}
	shown := event.Cut(l.Text.Text, max(0, int(room)-len(how)-60))
	if reads {
		how = fmt.Sprintf(": %s(call: %d, from: %d) shows them", ReadResult, l.Seq, 1+strings.Count(shown, "\n"))
	}
	return fmt.Sprintf("%s\n[%d more bytes are left out%s.]", shown, l.Text.Len()-int64(len(shown)), how)
}

// sumOfMail is the hash of letters.
func sumOfMail(mail []Letter) event.Hash {
	var all strings.Builder
	for i := range mail {
		l := &mail[i]
		fmt.Fprintf(&all, "%d %s\n", l.Seq, l.head())
		if all.WriteString(l.Text.Text); l.Text.Ref != nil {
			fmt.Fprint(&all, l.Text.Ref.Hash)
		}
		for _, a := range l.Attachments {
			fmt.Fprintf(&all, "\n%s %q %s", a.Media, a.Name, a.Ref.Hash)
		}
		all.WriteByte('\n')
	}
	return event.HashOf([]byte(all.String()))
}

// applySitting takes in what is about mail and sittings. It panics on what cannot follow.
func (s *State) applySitting(e event.Event) {
	switch b := e.Body.(type) {
	case *event.SittingBegun:
		s.begun(e, b)
	case *event.SittingEnded:
		s.sat(e, b)
	case *event.MailDelivered:
		a := s.Agent(b.To)
		if a == nil || !s.sits(a) || len(b.Messages) == 0 {
			panic(fmt.Errorf("mail is delivered to %.40q, who does not sit", b.To))
		}
		if b.With == event.WithNow {
			s.Sitting.Cut = a.Asked
		}
		taken := s.takeMail(b.Messages)
		if !s.Sitting.Came {
			s.Sitting.Mail = append(s.Sitting.Mail, taken...)
		}
		a.Heed()
		if b.With == event.WithInteract && a.Session != nil && a.Asked != 0 {
			for i := range taken { // the answer of the tool has them
				a.Brings(e.Seq, event.Text{Text: taken[i].Said()})
			}
			return
		}
		s.deliver(a, taken, mostMail)
	case *event.MailWithdrawn:
		i := s.letter(b.Message)
		if i < 0 {
			panic(fmt.Errorf("message %d does not wait to be delivered", b.Message))
		}
		s.Mail = slices.Delete(s.Mail, i, i+1)
	case *event.FilesCall:
		s.copying(e, b)
	case *event.FilesResult:
		s.copied(b)
	case *event.StudyOrder:
		s.took(b.Inbox)
	}
}

// begun begins a sitting.
func (s *State) begun(e event.Event, b *event.SittingBegun) {
	a := s.Agent(e.Actor)
	switch {
	case a == nil || !s.HasMail() || s.Sitting != nil:
		panic(errors.New("a sitting begins where there is none, or during another"))
	case a.Asked != 0 || len(a.Open) > 0:
		panic(fmt.Errorf("a sitting begins, and %s is busy", a.Name))
	}
	blocks, cut, words := s.blocks(a, b)
	if !slices.Equal(blocks, b.Blocks) || !slices.Equal(cut, b.Cut) {
		panic(errors.New("a sitting begins with other blocks than follow from the state"))
	}
	if b.Fresh {
		a.Afresh()
	}
	if !a.Held { // an executor that could not be used is tried again
		a.Retry()
		a.Heed()
	}
	s.Sitting = &Sitting{Agent: a.Name, Number: b.Number, From: a.Transcript.End()}
	for _, k := range b.Blocks {
		if k.Said && k.Name != blockMail {
			a.Learn(k.Name, k.Hash)
		}
	}
	if words != "" {
		a.Told(event.Text{Text: words})
	}
	s.Sitting.Mail = s.takeMail(b.Mail)
	s.deliver(a, s.Sitting.Mail, mailRoom(b.Blocks[:len(b.Blocks)-min(len(b.Mail), 1)]))
}

// sat ends a sitting. If nothing has come of it, it is as if it had not been: its mail leads
// the next one.
func (s *State) sat(e event.Event, b *event.SittingEnded) {
	a := s.Agent(e.Actor)
	if a == nil || s.Sitting == nil || s.Sitting.Agent != a.Name || s.Sitting.Number != b.Number {
		panic(fmt.Errorf("sitting %d of %.40q ends, and is not under way", b.Number, e.Actor))
	}
	was := s.Sitting
	s.Sitting = nil
	if (b.Outcome == event.SittingFailed || b.Outcome == event.SittingInterrupted) && !was.Came {
		s.Mail = append(slices.Clone(was.Mail), s.Mail...)
		a.Unsay(was.From)
	}
}

// came notes that a word or a call has come of a sitting.
func (s *State) came(agent string) {
	if s.Sitting != nil && s.Sitting.Agent == agent {
		s.Sitting.Came, s.Sitting.Mail = true, nil
	}
}

func (s *State) letter(seq uint64) int {
	return slices.IndexFunc(s.Mail, func(l Letter) bool { return l.Seq == seq })
}

// takeMail takes letters out of what waits. They must be the oldest, in their order.
func (s *State) takeMail(seqs []uint64) []Letter {
	if len(seqs) > len(s.Mail) {
		panic(fmt.Errorf("%d messages are delivered, and %d wait", len(seqs), len(s.Mail)))
	}
	for i, seq := range seqs {
		if s.Mail[i].Seq != seq {
			panic(fmt.Errorf("message %d is delivered, and %d is older", seq, s.Mail[i].Seq))
		}
	}
	taken := slices.Clone(s.Mail[:len(seqs)])
	s.Mail = slices.Clone(s.Mail[len(seqs):])
	if len(s.Mail) == 0 {
		s.Mail = nil
	}
	return taken
}

// Waits are the messages that wait to be delivered, the oldest first.
func (s *State) Waits() (out []uint64) {
	for i := range s.Mail {
		out = append(out, s.Mail[i].Seq)
	}
	return out
}

// deliver tells an agent what people said, in so much room.
func (s *State) deliver(a *agent.Agent, mail []Letter, room int64) {
	t := s.letters(a, mail, room)
	for _, w := range t.words {
		a.Told(w.Text, w.Attached...)
	}
	for _, l := range t.cut {
		a.Keep(l.Seq, l.Text)
	}
}

// Short reports whether a letter is a short text and nothing else, so that the answer of a tool
// has room for it; Said is what an agent is told of such a one.
func (l *Letter) Short(most int) bool {
	return l.Text.Ref == nil && len(l.Attachments) == 0 && event.Weight(l.Said()) <= most
}
func (l *Letter) Said() string { return l.head() + "\n" + l.Text.Text }

// head is the line before a letter, which says whose it is. Names are strangers' words.
func (l *Letter) head() string {
	word := func(text string) string { return plain.Bare(strings.NewReplacer("[", "(", "]", ")").Replace(text), 80) }
	if l.Seq == 1 {
		return "[Message 1, which began this:]"
	}
	words := fmt.Sprintf("[Message %d", l.Seq)
	if l.Sender != "" {
		words += " of " + word(l.Sender)
	}
	if l.Source != "" {
		words += " by " + word(l.Source)
	}
	if l.Conversation != "" {
		words += " in " + word(l.Conversation)
	}
	if l.Reply != 0 {
		words += fmt.Sprintf(", in reply to %d", l.Reply)
	}
	if l.Folder != "" {
		words += "; copies of its files are in " + l.Folder + " of your home" + l.readable()
	}
	return words + ":]"
}

// post puts what a person said into the mail. Whoever was not to be asked any more gets another
// chance.
func (s *State) post(l Letter, to string) {
	for _, a := range s.Agents {
		if to == "" || to == a.Name {
			a.Retry()
		}
	}
	s.Mail = append(s.Mail, l)
}

// Own reports whether a question is one that the society asks by itself, of which nobody waits
// for the answer in a call: it comes with the mail.
func (q *Question) Own() bool {
	return q.Body.Call == 0 && q.Body.Proposal == "" && q.Body.Form == 0 && q.Body.Server == ""
}

// checkSteer tells whether a person's word about the course of a study may come now.
func (s *State) checkSteer(b *event.StudyOrder) error {
	m, ok := s.memory.(Steered)
	switch {
	case !ok:
		return fmt.Errorf("quest %s has no course that an order could set: its society is %s", s.Name, s.Society())
	case len(b.Reason)+len(b.What) > maxOrder:
		return fmt.Errorf("an order has at most %d bytes; this one has %d", maxOrder, len(b.Reason)+len(b.What))
	case b.Action == event.SteerWithdraw && s.letter(b.Message) < 0:
		return fmt.Errorf("message %d does not wait: it was delivered, withdrawn, or never said", b.Message)
	case b.Action == event.SteerNow && len(s.Mail) == 0:
		return fmt.Errorf("nothing waits to be said to quest %s", s.Name)
	}
	return m.MaySteer(b)
}
