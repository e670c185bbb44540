package proof_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/proof"
)

// record is a quest of some length, as drafts: an owner chooses every input.
func record(n int) (out []event.Draft) {
	text := func(format string, args ...any) event.Text { return event.Text{Text: fmt.Sprintf(format, args...)} }
	for i := range n {
		d := event.Draft{Time: event.Time(1_780_000_000_000_000 + i*1_000_000), Actor: "agent-0"}
		switch i % 4 {
		case 0:
			t := text("answer %d", i)
			d.Body = &event.ModelResult{Call: uint64(i), Cost: int64(100 + i), Stop: "end", Parts: []event.Part{{Kind: event.PartText, Text: &t}}}
		case 1:
			d.Body = &event.ToolResult{Call: uint64(i), Output: text("output %d", i)}
		case 2:
			d.Body = &event.ReviewSubmitted{Content: text("review %d", i), Grade: "REJECT"}
		default:
			d.Body = &event.UserMessage{Text: text("word %d", i)}
		}
		out = append(out, d)
	}
	return out
}

// sealed are the hashes of a record: whoever has it can compute them again.
func sealed(t testing.TB, drafts []event.Draft) (out []event.Hash) {
	t.Helper()
	var prev event.Hash
	for i, d := range drafts {
		e, err := event.Seal("q", uint64(i)+1, prev, d)
		if err != nil {
			t.Fatal(err)
		}
		out, prev = append(out, e.Hash), e.Hash
	}
	return out
}

// rewrites are what forgers do; each returns the first event that is another.
var rewrites = map[string]func(random *rand.Rand, drafts []event.Draft) int{
	"Answer": func(random *rand.Rand, d []event.Draft) int {
		i := 4 * random.IntN(len(d)/4)
		b := *d[i].Body.(*event.ModelResult)
		t := event.Text{Text: "a better answer"}
		b.Parts = []event.Part{{Kind: event.PartText, Text: &t}}
		d[i].Body = &b
		return i
	},
	"Cost": func(random *rand.Rand, d []event.Draft) int {
		i := 4 * random.IntN(len(d)/4)
		b := *d[i].Body.(*event.ModelResult)
		b.Cost /= 2
		d[i].Body = &b
		return i
	},
	"Time": func(random *rand.Rand, d []event.Draft) int {
		i := random.IntN(len(d))
		d[i].Time -= 1 + event.Time(random.IntN(1000))
		return i
	},
	"Order": func(random *rand.Rand, d []event.Draft) int {
		i := random.IntN(len(d) - 1)
		d[i], d[i+1] = d[i+1], d[i]
		return i
	},
	"Review": func(random *rand.Rand, d []event.Draft) int {
		i := 4*random.IntN(len(d)/4) + 2
		d[i].Body = &event.ReviewSubmitted{Content: event.Text{Text: "fine"}, Grade: "ACCEPT"}
		return i
	},
}

// TestForgers: 200 rewrites of each kind with all hashes recomputed, by one without the key, by the
// owner alone, and by the owner against two witnesses.
func TestForgers(t *testing.T) {
	t.Parallel()
	const n = 64
	owner, thief := key(t, "ada"), must[proof.Signer](t)(proof.NewSigner("ada", []byte("a seed of eve's of thirty-two by")))
	w1, w2 := key(t, "w1"), key(t, "w2")
	known := proof.Known{Keys: trusts(owner), Witnesses: []proof.Verifier{w1.Verifier(proof.Cosigner), w2.Verifier(proof.Cosigner)}}
	honest := sealed(t, record(n))
	sizes := []int{8, 16, 24, 32, 40, 48, 56, n}
	checkpoints := func(k proof.Signer, list []event.Hash, witnesses ...proof.Signer) (out []proof.Stored) {
		for _, s := range sizes {
			out = append(out, vouched(t, k, list[:s], witnesses...))
		}
		return out
	}
	plainly, witnessed := checkpoints(owner, honest), checkpoints(owner, honest, w1, w2)
	for name, rewrite := range rewrites {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(25, uint64(len(name))))
			for range 200 {
				drafts := record(n)
				first := rewrite(random, drafts)
				forged := sealed(t, drafts)
				last := uint64(first / 8 * 8) // the last checkpoint before what he changed

				// Without the key: the owner's checkpoints tell on him, and his own are nobody's.
				expect(t, "the owner's checkpoints left in", judged(known, plainly, forged), true, last, 0)
				v := judged(known, checkpoints(thief, forged), forged)
				if v.Last != nil || !strings.Contains(v.Words(), "no key that is known here") {
					t.Fatalf("signed by a thief's key: %s", v.Words())
				}
				// With the key alone: consistent, and the words say what that is worth.
				v = judged(known, checkpoints(owner, forged), forged)
				if v.Broken != nil || v.Last == nil || v.Last.Size != n || !strings.Contains(v.Words(), "could have written another history") {
					t.Fatalf("signed again by the owner: %s", v.Words())
				}
				// Against two witnesses: what they saw does not hold, and a witness signs no other.
				expect(t, "the cosigned checkpoints left in", judged(known, witnessed, forged), true, last, last)
				mixed := checkpoints(owner, forged)
				copy(mixed, witnessed[:last/8])
				expect(t, "the cosigned ones that do not fit left out", judged(known, mixed, forged), false, n, last)
				if proof.CheckConsistency(n, grown(honest).Root(), n, grown(forged).Root(), nil) == nil {
					t.Fatalf("a witness that saw %d events believes others", n)
				}
			}
		})
	}
}

// expect holds a verdict against whether something is broken, and which are the last that hold.
func expect(t *testing.T, what string, v *proof.Verdict, broken bool, last, bound uint64) {
	t.Helper()
	size := func(j *proof.Judged) uint64 {
		if j == nil {
			return 0
		}
		return j.Size
	}
	if (v.Broken != nil) != broken || size(v.Last) != last || size(v.Bound) != bound {
		t.Fatalf("%s: broken %v, the last that holds is of %d events, seen by others up to %d; want %v, %d, %d: %s",
			what, v.Broken != nil, size(v.Last), size(v.Bound), broken, last, bound, v.Words())
	}
	if broken && last > 0 && !strings.Contains(v.Words(), fmt.Sprintf("of %d events", last)) {
		t.Fatalf("%s: the words do not name the last checkpoint that holds, %d: %s", what, last, v.Words())
	}
}
