package proof_test

import (
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/proof"
)

// vouched is a checkpoint of the first events of a list, as a store has it.
func vouched(t testing.TB, k proof.Signer, list []event.Hash, witnesses ...proof.Signer) proof.Stored {
	t.Helper()
	c := proof.Checkpoint{Origin: k.Verifier(proof.Author).Name + "/0102", Size: uint64(len(list)), Root: grown(list).Root()}
	n := signed(t, k, c)
	for _, w := range witnesses {
		n.Signatures = append(n.Signatures, must[proof.Signature](t)(w.Cosign(c.Text(), 1700000000)))
	}
	return proof.Stored{Note: n.String()}
}

func judged(known proof.Known, stored []proof.Stored, list []event.Hash) *proof.Verdict {
	j := proof.NewJudge(known, stored)
	for _, h := range list {
		j.Add(h)
	}
	return j.Verdict()
}

func trusts(k proof.Signer) []proof.Key {
	return []proof.Key{{Verifier: k.Verifier(proof.Author), Trust: "trusted"}}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	ada, w1, w2 := key(t, "ada"), key(t, "w1"), key(t, "w2")
	list := hashes(20)
	forged := append(append([]event.Hash{}, list[:9]...), hashes(40)[29:]...) // from event 10 on it is another history
	known := proof.Known{Keys: trusts(ada), Witnesses: []proof.Verifier{w1.Verifier(proof.Cosigner), w2.Verifier(proof.Cosigner)}}
	stored := []proof.Stored{vouched(t, ada, list[:15], w1, w2), vouched(t, ada, list[:5], w1), vouched(t, ada, list)}
	for name, c := range map[string]struct {
		known               proof.Known
		stored              []proof.Stored
		list                []event.Hash
		last, bound, broken uint64
		words               string
	}{
		"Unsigned":            {known, nil, list, 0, 0, 0, "not signed"},
		"ByNobodyKnown":       {proof.Known{}, stored, list, 0, 0, 0, "lyceum key trust"},
		"ByItsOwnerAlone":     {proof.Known{Keys: trusts(ada)}, stored, list, 20, 0, 0, "nobody else saw it"},
		"BeforeTwoWitnesses":  {known, stored, list, 20, 15, 0, "events 1 to 15 were seen by w1, w2; events 16 to 20 only by their owner"},
		"AnotherHistory":      {known, stored, forged, 5, 5, 15, "the checkpoint of 15 events does not hold"},
		"ACutEnd":             {known, stored, list[:17], 15, 15, 20, "the end was cut off"},
		"AnotherOwnersLog":    {known, []proof.Stored{anothersLog(t, ada, list)}, list, 0, 0, 20, "the log is of another key"},
		"NoCheckpoint":        {known, []proof.Stored{{Note: "hello"}}, list, 0, 0, 0, "cannot be read"},
		"AStampThatIsNone":    {known, []proof.Stored{stamped(vouched(t, ada, list), []byte("stamp"))}, list, 0, 0, 20, "no time stamp"},
		"SignedAfterTheRoot":  {known, []proof.Stored{{Note: strings.Replace(stored[2].Note, "\n20\n", "\n19\n", 1)}}, list, 0, 0, 19, "is wrong"},
		"OnlyTheWitnessKnown": {proof.Known{Witnesses: known.Witnesses}, stored, list, 0, 15, 0, "were seen by w1, w2"},
	} {
		v := judged(c.known, c.stored, c.list)
		size := func(j *proof.Judged) uint64 {
			if j == nil {
				return 0
			}
			return j.Size
		}
		if size(v.Last) != c.last || size(v.Bound) != c.bound || size(v.Broken) != c.broken || !strings.Contains(v.Words(), c.words) {
			t.Errorf("%s: the last is of %d, bound by %d, broken at %d, want %d, %d, %d; in words %q, want %q in it",
				name, size(v.Last), size(v.Bound), size(v.Broken), c.last, c.bound, c.broken, v.Words(), c.words)
		}
	}
}

func stamped(s proof.Stored, token []byte) proof.Stored {
	s.Stamps = [][]byte{token}
	return s
}

func anothersLog(t *testing.T, k proof.Signer, list []event.Hash) proof.Stored {
	return proof.Stored{Note: signed(t, k, proof.Checkpoint{Origin: "eve/00", Size: 20, Root: grown(list).Root()}).String()}
}

func TestKeysFollowEachOther(t *testing.T) {
	t.Parallel()
	first, w := key(t, "ada"), key(t, "w1")
	next := must[proof.Signer](t)(proof.NewSigner("ada", []byte("another seed of thirty-two bytes")))
	eve := must[proof.Signer](t)(proof.NewSigner("ada", []byte("a seed of eve's of thirty-two by")))
	list := hashes(4)
	with := func(s proof.Stored, notes ...proof.Note) proof.Stored {
		for _, n := range notes {
			s.Statements = append(s.Statements, n.String())
		}
		return s
	}
	rotated := must[proof.Note](t)(proof.Rotate(first, next, 1600000000))
	revoked := must[proof.Note](t)(proof.Revoke(first, 1650000000))
	forged := must[proof.Note](t)(proof.Rotate(eve, eve, 1600000000))
	forged = proof.Note{Text: strings.Replace(rotated.Text, next.String(), eve.String(), 1), Signatures: append(rotated.Signatures[:1:1], forged.Signatures...)}
	for name, c := range map[string]struct {
		stored proof.Stored
		state  string
	}{
		"TheKeyItself":                 {vouched(t, first, list), proof.MarkKnown},
		"AnotherOfItsName":             {vouched(t, next, list), proof.MarkUnknown},
		"OneThatItNamed":               {with(vouched(t, next, list), rotated), proof.MarkKnown},
		"OneThatItDidNotName":          {with(vouched(t, eve, list), forged), proof.MarkUnknown},
		"Revoked":                      {with(vouched(t, first, list), revoked), proof.MarkRevoked},
		"RevokedAndWitnessedLater":     {with(vouched(t, first, list, w), revoked), proof.MarkRevoked},
		"NamedByOneThatWasRevoked":     {with(vouched(t, next, list), revoked, rotated), proof.MarkUnknown},
		"RevokedAndWitnessedLongSince": {with(vouched(t, first, list, w), must[proof.Note](t)(proof.Revoke(first, 1800000000))), proof.MarkKnown},
	} {
		v := judged(proof.Known{Keys: trusts(first), Witnesses: []proof.Verifier{w.Verifier(proof.Cosigner)}}, []proof.Stored{c.stored}, list)
		if got := v.Checkpoints[0].Signed[0]; got.State != c.state {
			t.Errorf("%s: the signature is %s (%s), want %s", name, got.State, got.Why, c.state)
		}
	}
	if _, err := proof.ParseStatement(forged.String()); err == nil {
		t.Error("a rotation that the old key did not sign is believed")
	}
	if s, err := proof.ParseStatement(rotated.String()); err != nil || s.Old != first.Verifier(proof.Author) || *s.New != next.Verifier(proof.Author) {
		t.Errorf("a rotation is read as %+v, %v", s, err)
	}
}
