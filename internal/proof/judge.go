package proof

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"slices"

	"lyceum/internal/event"
)

// Stored is a checkpoint as a store or a crate has it: a note with the signatures of its author and
// of witnesses, time stamps, and statements by which its author's key follows another.
type Stored struct {
	Note       string   `json:"note"`
	Stamps     [][]byte `json:"stamps,omitempty"`
	Statements []string `json:"statements,omitempty"`
}

// Known is whom a verifier believes. The zero Known believes nobody: then a Judge says only what
// is consistent with what.
type Known struct {
	// Keys are of authors, Witnesses of cosigners.
	Keys      []Key
	Witnesses []Verifier
	// Authorities are the certificates that time stamps must lead to, nil for none.
	Authorities *x509.CertPool
}

// Mark is one word for a checkpoint: who gave it, whether the verifier knows them, and when.
type Mark struct {
	// By is the name of the key, or of the authority.
	By string `json:"by"`
	// Key is the short number of the key, in hex, "" of an authority.
	Key string `json:"key,omitempty"`
	// Time is when, as they say; 0 of an author, who does not say.
	Time event.Time `json:"time,omitzero"`
	// State is known, unknown, wrong (it is by no means theirs), or revoked.
	State string `json:"state"`
	// Why says more, for people: why a key is known, what is wrong with a stamp.
	Why string `json:"why,omitempty"`
}

// The states of a Mark.
const (
	MarkKnown   = "known"
	MarkUnknown = "unknown"
	MarkWrong   = "wrong"
	MarkRevoked = "revoked"
)

// Judged is what is known of one checkpoint.
type Judged struct {
	Origin string     `json:"origin"`
	Size   uint64     `json:"size"`
	Root   event.Hash `json:"root"`
	// Holds says that the first Size events have this root, and that no signature or stamp is
	// wrong. Why says what does not hold.
	Holds bool   `json:"holds"`
	Why   string `json:"why,omitempty"`
	// Signed are the words of authors, Witnessed those of witnesses, Stamped those of authorities.
	Signed    []Mark `json:"signed,omitempty"`
	Witnessed []Mark `json:"witnessed,omitempty"`
	Stamped   []Mark `json:"stamped,omitempty"`
}

// Vouched reports whether a key signed the checkpoint that the verifier knows.
func (j *Judged) Vouched() bool { return count(j.Signed) > 0 }

// Witnesses is how many witnesses that the verifier knows cosigned it.
func (j *Judged) Witnesses() int { return count(j.Witnessed) }

// By is when somebody else whom the verifier knows, a witness or an authority, had seen the
// checkpoint: the events that it covers are not younger. 0 if nobody has.
func (j *Judged) By() (t event.Time) {
	for _, m := range slices.Concat(j.Witnessed, j.Stamped) {
		if m.State == MarkKnown && (t == 0 || m.Time < t) {
			t = m.Time
		}
	}
	return t
}

func count(marks []Mark) (n int) {
	var seen []string
	for _, m := range marks {
		if id := m.By + "+" + m.Key; m.State == MarkKnown && !slices.Contains(seen, id) {
			seen = append(seen, id)
			n++
		}
	}
	return n
}

// Verdict is what is known of a quest by its checkpoints.
type Verdict struct {
	// Events is how many events were judged, Root the root of the tree over them.
	Events uint64     `json:"events"`
	Root   event.Hash `json:"root"`
	// Checkpoints are all that there are, the smallest first.
	Checkpoints []Judged `json:"checkpoints"`
	// Last is the last checkpoint that holds and a known key signed, nil if there is none.
	// Events after it rest on the chain alone.
	Last *Judged `json:"last,omitempty"`
	// Bound is the last checkpoint that holds and somebody other than the owner had seen: the
	// owner alone cannot have changed anything before it since.
	Bound *Judged `json:"bound,omitempty"`
	// Broken is the first checkpoint that does not hold, nil if all do: somebody signed other
	// events than these.
	Broken *Judged `json:"broken,omitempty"`
	// Unreadable are checkpoints that are none: what is wrong with each.
	Unreadable []string `json:"unreadable,omitempty"`
}

// Words says in one line what the verdict is worth.
func (v *Verdict) Words() string {
	last := "no checkpoint holds"
	if v.Bound != nil {
		last = fmt.Sprintf("the last that holds and somebody else saw is of %d events", v.Bound.Size)
	} else if v.Last != nil {
		last = fmt.Sprintf("the last that holds is of %d events", v.Last.Size)
	}
	switch {
	case v.Broken != nil:
		return fmt.Sprintf("the checkpoint of %d events does not hold: %s; %s", v.Broken.Size, v.Broken.Why, last)
	case len(v.Unreadable) > 0:
		return "a checkpoint cannot be read: " + v.Unreadable[0] + "; " + last
	case len(v.Checkpoints) == 0:
		return "not signed: whoever has the ledger could have written all of it"
	case v.Last == nil && v.Bound == nil:
		return "signed by no key that is known here: lyceum key trust"
	case v.Bound == nil:
		return fmt.Sprintf("signed by %s up to event %d, and nobody else saw it: the owner of the key could have written another history and signed that",
			name(v.Last.Signed), v.Last.Size)
	}
	s := fmt.Sprintf("events 1 to %d were seen by %s", v.Bound.Size, name(slices.Concat(v.Bound.Witnessed, v.Bound.Stamped)))
	if v.Last != nil {
		s = fmt.Sprintf("signed by %s up to event %d; ", name(v.Last.Signed), v.Last.Size) + s
	}
	if v.Bound.Size < v.Events {
		s += fmt.Sprintf("; events %d to %d only by their owner", v.Bound.Size+1, v.Events)
	}
	return s
}

// name lists whose marks are known.
func name(marks []Mark) (s string) {
	for _, m := range marks {
		if m.State == MarkKnown {
			s += ", " + m.By
		}
	}
	return s[min(2, len(s)):]
}

// Judge finds out what checkpoints say of a quest, while its events are read once: make one with
// NewJudge, Add the hash of each event from the first on, and ask for the Verdict at the end.
//
//	j := proof.NewJudge(known, stored)
//	for e := range events { j.Add(e.Hash) }
//	v := j.Verdict()
type Judge struct {
	tree  Tree
	known Known
	// judged are sorted by size; those before next have been compared with the events.
	judged     []Judged
	next       int
	unreadable []string
}

// NewJudge reads checkpoints and checks what can be checked without the events: the signatures
// and the stamps.
func NewJudge(known Known, stored []Stored) *Judge {
	j := &Judge{known: known}
	var statements []Statement
	for _, c := range stored {
		for _, s := range c.Statements {
			if st, err := ParseStatement(s); err == nil && !slices.ContainsFunc(statements, func(o Statement) bool { return o.Text() == st.Text() }) {
				statements = append(statements, st)
			}
		}
	}
	j.known.Keys = Extend(known.Keys, statements)
	for _, c := range stored {
		one, err := j.judge(c)
		if err != nil {
			j.unreadable = append(j.unreadable, err.Error())
			continue
		}
		j.judged = append(j.judged, one)
	}
	slices.SortStableFunc(j.judged, func(a, b Judged) int { return cmp.Compare(a.Size, b.Size) })
	j.compare()
	return j
}

// Add takes in the hash of the next event.
func (j *Judge) Add(h event.Hash) {
	j.tree.Add(h)
	j.compare()
}

// compare holds the checkpoints of the tree's size against its root.
func (j *Judge) compare() {
	for ; j.next < len(j.judged) && j.judged[j.next].Size == j.tree.size; j.next++ {
		c := &j.judged[j.next]
		if root := j.tree.Root(); c.Root != root {
			c.fail(fmt.Sprintf("the first %d events have the root %s, and %s was signed: they are not the ones that were there", c.Size, root, c.Root))
		}
	}
}

func (j *Judged) fail(why string) {
	if j.Holds {
		j.Holds, j.Why = false, why
	}
}

// Verdict says what is known. Checkpoints of more events than were added do not hold.
func (j *Judge) Verdict() *Verdict {
	v := &Verdict{Events: j.tree.size, Root: j.tree.Root(), Checkpoints: append([]Judged{}, j.judged...), Unreadable: j.unreadable}
	for i := range v.Checkpoints {
		c := &v.Checkpoints[i]
		if i >= j.next {
			c.fail(fmt.Sprintf("there are %d events, and %d were signed: the end was cut off", v.Events, c.Size))
		}
		switch {
		case !c.Holds:
			if v.Broken == nil {
				v.Broken = c
			}
		default:
			if c.Vouched() {
				v.Last = c
			}
			if c.By() != 0 {
				v.Bound = c
			}
		}
	}
	return v
}

// judge checks the signatures and stamps of a checkpoint.
func (j *Judge) judge(s Stored) (Judged, error) {
	note, err := ParseNote(s.Note)
	if err != nil {
		return Judged{}, err
	}
	c, err := ParseCheckpoint(note.Text)
	if err != nil {
		return Judged{}, err
	}
	out := Judged{Origin: c.Origin, Size: c.Size, Root: c.Root, Holds: true}
	out.Stamped = j.stamped(s.Stamps, note.Text)
	seen := out.By()
	for _, sig := range note.Signatures {
		m, witness := j.mark(sig, note)
		if witness {
			out.Witnessed = append(out.Witnessed, m)
			if m.State == MarkKnown && (seen == 0 || m.Time < seen) {
				seen = m.Time
			}
		} else {
			out.Signed = append(out.Signed, m)
		}
	}
	for i := range out.Signed {
		out.Signed[i] = j.revoke(out.Signed[i], seen)
		if out.Signed[i].State == MarkKnown && out.Signed[i].By != c.Owner() {
			out.Signed[i].State, out.Signed[i].Why = MarkWrong, "the log is of another key: "+c.Origin
		}
	}
	for _, m := range slices.Concat(out.Signed, out.Witnessed, out.Stamped) {
		if m.State == MarkWrong {
			out.fail(fmt.Sprintf("the signature of %s is wrong: %s", m.By, m.Why))
		}
	}
	return out, nil
}

// revoke takes back the word of a key that was revoked, unless somebody else had seen the
// checkpoint before.
func (j *Judge) revoke(m Mark, seen event.Time) Mark {
	for _, k := range j.known.Keys {
		if m.State != MarkKnown || k.Revoked == 0 || k.Name != m.By || fmt.Sprintf("%08x", k.ID()) != m.Key {
			continue
		}
		if seen == 0 || seen >= k.Revoked {
			m.State, m.Why = MarkRevoked, "the key was revoked, and nobody says that this was signed before"
		}
	}
	return m
}

// mark judges one signature, and tells whether it is a witness's.
func (j *Judge) mark(s Signature, n Note) (m Mark, witness bool) {
	m = Mark{By: s.Name, Key: fmt.Sprintf("%08x", s.ID), State: MarkUnknown}
	one := Note{Text: n.Text, Signatures: []Signature{s}}
	for _, w := range j.known.Witnesses {
		if signed, seconds := one.By(w); signed != Unsigned {
			m.Time, m.State = event.Time(min(seconds, maxSeconds))*second, MarkKnown
			if signed == Bad {
				m.Time, m.State, m.Why = 0, MarkWrong, "it is not of this text"
			}
			return m, true
		}
	}
	for _, k := range j.known.Keys {
		if signed, _ := one.By(k.Verifier); signed != Unsigned {
			m.State, m.Why = MarkKnown, k.Trust
			if signed == Bad {
				m.State, m.Why = MarkWrong, "it is not of this text"
			}
			return m, false
		}
	}
	return m, len(s.Data) != signatureSize
}

// signatureSize is of an author's signature; a witness's is longer by a time. maxSeconds keeps
// times of strangers within what event.Time can say.
const (
	signatureSize = 64
	maxSeconds    = 1 << 42
)

func (j *Judge) stamped(tokens [][]byte, text string) (out []Mark) {
	for _, t := range tokens {
		s, err := ReadStamp(t, event.HashOf([]byte(text)), j.known.Authorities)
		m := Mark{By: s.Authority, Time: s.Time, State: MarkKnown}
		switch {
		case err != nil:
			m = Mark{By: cmp.Or(s.Authority, "a time stamp"), State: MarkWrong, Why: err.Error()}
		case !s.Known:
			m.State, m.Why = MarkUnknown, s.Why
		}
		out = append(out, m)
	}
	return out
}
