package proof_test

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/proof"
)

// TestAProofOfASmallerTreeIsNoneOfALarger: what leads to the root of two events is no proof of four,
// whose root somebody says is the same.
func TestAProofOfASmallerTreeIsNoneOfALarger(t *testing.T) {
	t.Parallel()
	list := hashes(5)
	one, two, five := grown(list[:1]).Root(), grown(list[:2]).Root(), grown(list).Root()
	path := must[[]event.Hash](t)(proof.Prove(must[[]proof.Span](t)(proof.Consistency(1, 2)), nil, stream(list)))
	if err := proof.CheckConsistency(1, one, 2, two, path); err != nil {
		t.Fatalf("the proof itself: %v", err)
	}
	if proof.CheckConsistency(1, one, 4, two, path) == nil {
		t.Error("a proof that ends halfway up is believed of a tree of four events")
	}
	path = must[[]event.Hash](t)(proof.Prove(must[[]proof.Span](t)(proof.Inclusion(1, 2)), nil, stream(list)))
	if proof.CheckInclusion(1, list[0], 4, two, path) == nil {
		t.Error("an event of two is believed to be one of four by a proof that ends halfway up")
	}
	if proof.CheckConsistency(5, five, 5, five, path) == nil || proof.CheckConsistency(0, event.HashOf(nil), 5, five, path) == nil {
		t.Error("a proof that needs no hash is believed with one")
	}
	if proof.CheckConsistency(0, one, 5, five, nil) == nil {
		t.Error("no events are believed to have a root that is not that of none")
	}
}

// TestRevokedAtTheVerySecond: what others saw before a key was revoked counts, the earliest of them, and
// not what they saw in that second.
func TestRevokedAtTheVerySecond(t *testing.T) {
	t.Parallel()
	ada, w1, w2 := key(t, "ada"), key(t, "w1"), key(t, "w2")
	list := hashes(4)
	known := proof.Known{Keys: trusts(ada), Witnesses: []proof.Verifier{w1.Verifier(proof.Cosigner), w2.Verifier(proof.Cosigner)}}
	cosigned := func(since int64, times ...int64) *proof.Judged {
		s := vouched(t, ada, list)
		n := must[proof.Note](t)(proof.ParseNote(s.Note))
		for i, at := range times {
			n.Signatures = append(n.Signatures, must[proof.Signature](t)([]proof.Signer{w1, w2}[i%2].Cosign(n.Text, at)))
		}
		s.Note, s.Statements = n.String(), []string{must[proof.Note](t)(proof.Revoke(ada, since)).String()}
		return &judged(known, []proof.Stored{s}, list).Checkpoints[0]
	}
	for name, c := range map[string]struct {
		got  *proof.Judged
		want string
	}{
		"seen a second before":          {cosigned(1700, 1699), proof.MarkKnown},
		"seen in the very second":       {cosigned(1700, 1700), proof.MarkRevoked},
		"seen late, and by one before":  {cosigned(1700, 1800, 1600), proof.MarkKnown},
		"seen before, and by one after": {cosigned(1700, 1600, 1800), proof.MarkKnown},
	} {
		if got := c.got.Signed[0].State; got != c.want {
			t.Errorf("%s: the signature is %s, want %s", name, got, c.want)
		}
	}
	if n := cosigned(1<<40, 1600, 1601, 1602).Witnesses(); n != 2 {
		t.Errorf("two witnesses, of whom one cosigned twice, count as %d", n)
	}
	// Whoever revokes twice means the earlier time.
	late, early := proof.Statement{Old: ada.Verifier(proof.Author), Since: 1800}, proof.Statement{Old: ada.Verifier(proof.Author), Since: 1650}
	for _, both := range [][]proof.Statement{{late, early}, {early, late}} {
		if got := proof.Extend(trusts(ada), both)[0].Revoked; got != 1650*1_000_000 {
			t.Errorf("revoked from 1650 and from 1800 on: got %d", got)
		}
	}
}

// TestWhatIsNoStatementIsRefused: all signed as they should be.
func TestWhatIsNoStatementIsRefused(t *testing.T) {
	t.Parallel()
	ada, bob := key(t, "ada"), key(t, "bob")
	note := func(text string, by proof.Signer) string {
		return proof.Note{Text: text, Signatures: []proof.Signature{must[proof.Signature](t)(by.Sign(text))}}.String()
	}
	good := must[proof.Note](t)(proof.Revoke(ada, 5))
	witness := strings.Replace(good.Text, ada.String(), ada.Verifier(proof.Cosigner).String(), 1)
	for name, text := range map[string]string{
		"a key of another name follows": must[proof.Note](t)(proof.Rotate(ada, bob, 5)).String(),
		"a key follows itself":          must[proof.Note](t)(proof.Rotate(ada, ada, 5)).String(),
		"a time with a zero before it":  note(strings.Replace(good.Text, "\n5\n", "\n05\n", 1), ada),
		"a time with a sign":            note(strings.Replace(good.Text, "\n5\n", "\n+5\n", 1), ada),
		"by another key":                note(good.Text, bob),
		"about a witness's key":         proof.Note{Text: witness, Signatures: []proof.Signature{must[proof.Signature](t)(ada.Cosign(witness, 5))}}.String(),
	} {
		if s, err := proof.ParseStatement(text); err == nil {
			t.Errorf("%s: it is read as %+v", name, s)
		}
	}
	if _, err := proof.ParseStatement(good.String()); err != nil {
		t.Errorf("the statement itself: %v", err)
	}
	if _, err := proof.ParseStatement(fmt.Sprint(good.Text)); err == nil {
		t.Error("a statement that nobody signed is read")
	}
}
