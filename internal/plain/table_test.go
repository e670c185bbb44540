package plain

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"testing"
	"unicode"
)

func TestTableIsInOrder(t *testing.T) {
	t.Parallel()
	for i, w := range table {
		if w.first > w.last || i > 0 && table[i-1].last >= w.first {
			t.Errorf("row %d, %U to %U: not in order, or it overlaps the row before", i, w.first, w.last)
		}
		if w.on&Shaping != 0 && w.on&People == 0 {
			t.Errorf("row %d, %U to %U: shapes what stands before it, and people may see it", i, w.first, w.last)
		}
	}
}

// TestPeopleAreShownNothingThatHides asks the tables of the Go release, which may know
// more characters than the table did when it was written. Those are to be added.
func TestPeopleAreShownNothingThatHides(t *testing.T) {
	t.Parallel()
	hides := []*unicode.RangeTable{
		unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp, unicode.Bidi_Control, unicode.Join_Control,
		unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point,
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		want := unicode.In(r, hides...) && r != '\n' && r != '\t'
		if got := People.Has(r); got != want {
			t.Errorf("%U is hidden from people: got %v, want %v", r, got, want)
		}
		if got := Controls.Has(r); got != unicode.IsControl(r) {
			t.Errorf("%U is a control: got %v, want %v", r, got, !got)
		}
	}
}

// TestFrozenListsStay: ledgers and crates were made by these lists.
func TestFrozenListsStay(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		list  List
		count int
		hash  string
	}{
		"Papers":  {Papers, 100, "56ecbd801251a178"},
		"Output":  {Output, 4194, "30f43eeb7c4105a2"},
		"Names":   {Names, 237, "4406b73b88c15a39"},
		"Words":   {Words, 430, "ccf6e1f7879524c6"},
		"Preview": {Preview, 72, "fe5d2f212e108ce2"},
	} {
		count, sum := 0, sha256.New()
		for r := rune(0); r <= unicode.MaxRune; r++ {
			if c.list.Has(r) {
				count++
				sum.Write(binary.BigEndian.AppendUint32(nil, uint32(r)))
			}
		}
		if got := hex.EncodeToString(sum.Sum(nil)[:8]); count != c.count || got != c.hash {
			t.Errorf("the frozen list %s: got %d characters, hash %s, want %d and %s", name, count, got, c.count, c.hash)
		}
	}
}
