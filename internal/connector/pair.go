package connector

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
)

// codeTime is how long a code can be used.
const codeTime = 10 * time.Minute

// Pairing is what a code gives to the first who says it.
type Pairing struct {
	Connector string `json:"connector"`
	Right     Right  `json:"right"`
	// Quest is the one that the conversation is bound to as well, empty for none.
	Quest string `json:"quest,omitzero"`
	// Until is when it is worth nothing any more.
	Until event.Time `json:"until"`
	// Sender is who has used it.
	Sender string `json:"sender,omitzero"`
}

// Paired is a sender who was paired by a code.
type Paired struct {
	Connector string     `json:"connector"`
	Sender    string     `json:"sender"`
	Right     Right      `json:"right"`
	Time      event.Time `json:"time"`
}

// codes look like ABCDE-FGHJK: 50 bits, of which nobody guesses one in ten minutes.
var codeForm = regexp.MustCompile(`^[A-Z2-7]{5}-[A-Z2-7]{5}$`)

func newCode() string {
	t := rand.Text()
	return t[:5] + "-" + t[5:10]
}

// codeIn is the code that a message is, empty if it is none. Who writes in a group names us too.
func codeIn(text string) string {
	for _, w := range strings.Fields(text) {
		if w = strings.ToUpper(w); codeForm.MatchString(w) {
			return w
		}
	}
	return ""
}

// hashed is the key of a code: the box does not hold what opens it.
func hashed(code string) string {
	sum := sha256.Sum256([]byte("lyceum code\n" + code))
	return hex.EncodeToString(sum[:])
}

// Pair makes a code.
func (b *Box) Pair(ctx context.Context, p Pairing) (code string, until event.Time, err error) {
	p.Until = b.Clock() + event.Time(codeTime.Microseconds())
	code = newCode()
	_, err = b.put(ctx, kindCode, hashed(code), p.Until, p, nil)
	return code, p.Until, err
}

// Redeem gives a sender what a code says, once: nil, if there is no such code for them. The same
// sender may say it again, since the answer may have been lost.
func (b *Box) Redeem(ctx context.Context, connector, sender, code string) (*Pairing, error) {
	p := new(Pairing)
	body, err := b.get(ctx, kindCode, hashed(code), p)
	if err != nil || body == nil || p.Connector != connector || b.Clock() >= p.Until || p.Sender != "" && p.Sender != sender {
		return nil, err
	}
	if p.Sender == "" {
		p.Sender = sender
		if ok, err := b.put(ctx, kindCode, hashed(code), p.Until, p, body); err != nil || !ok {
			return nil, err // somebody else was faster
		}
	}
	return p, b.grant(ctx, Paired{Connector: connector, Sender: sender, Right: p.Right, Time: b.Clock()})
}

// grant gives a sender a right, in place of the one they had.
func (b *Box) grant(ctx context.Context, p Paired) error {
	for {
		var old Paired
		body, err := b.get(ctx, kindPaired, name(p.Connector, p.Sender), &old)
		if err != nil || body != nil && old.Right == p.Right {
			return err
		}
		if ok, err := b.put(ctx, kindPaired, name(p.Connector, p.Sender), 0, p, body); ok || err != nil {
			return err
		}
	}
}

// Unpair takes a sender's right back, and reports whether they had one.
func (b *Box) Unpair(ctx context.Context, connector, sender string) (bool, error) {
	var old Paired
	body, err := b.get(ctx, kindPaired, name(connector, sender), &old)
	if err != nil || body == nil {
		return false, err
	}
	return b.Notes.SwapNote(ctx, ledger.Note{Kind: kindPaired, Key: name(connector, sender)}, body)
}

// Pairs are all who were paired.
func (b *Box) Pairs(ctx context.Context) ([]Paired, error) { return list[Paired](ctx, b, kindPaired) }
