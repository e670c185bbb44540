package proof_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/proof"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// key is a key made of its name.
func key(t testing.TB, name string) proof.Signer {
	t.Helper()
	seed := sha256.Sum256([]byte(name))
	return must[proof.Signer](t)(proof.NewSigner(name, seed[:]))
}

// signed is a checkpoint's note.
func signed(t testing.TB, k proof.Signer, c proof.Checkpoint) proof.Note {
	t.Helper()
	return proof.Note{Text: c.Text(), Signatures: []proof.Signature{must[proof.Signature](t)(k.Sign(c.Text()))}}
}

// TestNotesAreReadByAnotherProgram: golang.org/x/mod/sumdb/note reads ours, and we its.
func TestNotesAreReadByAnotherProgram(t *testing.T) {
	t.Parallel()
	ada := key(t, "ada.example/lab")
	c := proof.Checkpoint{Origin: proof.Origin("ada.example/lab", []byte{1, 2, 3}), Size: 7, Root: grown(hashes(7)).Root()}
	n := signed(t, ada, c)
	cosigned := must[proof.Signature](t)(key(t, "witness.example/w1").Cosign(c.Text(), 1700000000))
	n.Signatures = append(n.Signatures, cosigned)

	theirs := must[note.Verifier](t)(note.NewVerifier(ada.Verifier(proof.Author).String()))
	opened, err := note.Open([]byte(n.String()), note.VerifierList(theirs))
	if err != nil || opened.Text != c.Text() || len(opened.Sigs) != 1 || len(opened.UnverifiedSigs) != 1 {
		t.Fatalf("another program reads our note as %+v, %v", opened, err)
	}
	if tree, err := tlog.ParseTree([]byte(strings.Replace(c.Text(), c.Origin, "go.sum database tree", 1))); err != nil || tree.N != 7 || event.Hash(tree.Hash) != c.Root {
		t.Errorf("another program reads our checkpoint as %+v, %v", tree, err)
	}

	secret, public, err := note.GenerateKey(bytes.NewReader(bytes.Repeat([]byte{7}, 64)), "bob.example")
	if err != nil {
		t.Fatal(err)
	}
	signer := must[note.Signer](t)(note.NewSigner(secret))
	made := must[[]byte](t)(note.Sign(&note.Note{Text: "some\n\ntext\n"}, signer))
	read := must[proof.Note](t)(proof.ParseNote(string(made)))
	v := must[proof.Verifier](t)(proof.ParseVerifier(public))
	if got, _ := read.By(v); got != proof.Good || read.Text != "some\n\ntext\n" || v.String() != public {
		t.Errorf("another program's note: %+v, signed %v by %s, want %s", read, got, v, public)
	}
}

func TestAnExampleOfTheFormats(t *testing.T) {
	t.Parallel()
	const text = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n"
	n := must[proof.Note](t)(proof.ParseNote(text + "\n" +
		"— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n" +
		"— witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n"))
	c := must[proof.Checkpoint](t)(proof.ParseCheckpoint(n.Text))
	if c.Size != 20852163 || c.Origin != "example.com/behind-the-sofa" || c.Text() != text || len(n.Signatures) != 2 || c.Owner() != "example.com" {
		t.Errorf("the example of the format is read as %+v with %d signatures", c, len(n.Signatures))
	}
}

func TestSignatures(t *testing.T) {
	t.Parallel()
	ada, eve, w := key(t, "ada"), key(t, "eve"), key(t, "w1")
	c := proof.Checkpoint{Origin: "ada/00", Size: 3, Root: event.HashOf([]byte("root"))}
	n := signed(t, ada, c)
	n.Signatures = append(n.Signatures, must[proof.Signature](t)(w.Cosign(n.Text, 1700000000)))
	other := n
	other.Text = strings.Replace(n.Text, "\n3\n", "\n4\n", 1)
	stolen := n // eve puts her own signature below ada's name
	s := must[proof.Signature](t)(eve.Sign(n.Text))
	s.Name, s.ID = "ada", ada.Verifier(proof.Author).ID()
	stolen.Signatures = []proof.Signature{s}
	late := n
	late.Signatures = []proof.Signature{n.Signatures[0], n.Signatures[1]}
	late.Signatures[1].Data = bytes.Clone(late.Signatures[1].Data)
	late.Signatures[1].Data[7]++ // another second
	for name, c := range map[string]struct {
		note proof.Note
		by   proof.Verifier
		want proof.Signed
		at   int64
	}{
		"by its author":               {n, ada.Verifier(proof.Author), proof.Good, 0},
		"by its witness":              {n, w.Verifier(proof.Cosigner), proof.Good, 1700000000},
		"by nobody else":              {n, eve.Verifier(proof.Author), proof.Unsigned, 0},
		"the author as a witness":     {n, ada.Verifier(proof.Cosigner), proof.Unsigned, 0},
		"another text, the author":    {other, ada.Verifier(proof.Author), proof.Bad, 0},
		"another text, the witness":   {other, w.Verifier(proof.Cosigner), proof.Bad, 0},
		"another time of the witness": {late, w.Verifier(proof.Cosigner), proof.Bad, 0},
		"by somebody under her name":  {stolen, ada.Verifier(proof.Author), proof.Bad, 0},
	} {
		if got, at := c.note.By(c.by); got != c.want || at != c.at {
			t.Errorf("%s: got %v at %d, want %v at %d", name, got, at, c.want, c.at)
		}
	}
}

func TestWhatIsNoNoteIsRefused(t *testing.T) {
	t.Parallel()
	ada := key(t, "ada")
	good := signed(t, ada, proof.Checkpoint{Origin: "ada/00", Size: 3}).String()
	for name, text := range map[string]string{
		"nothing":               "",
		"without signatures":    "text\n\n",
		"without an empty line": strings.Replace(good, "\n\n", "\n", 1),
		"without an end":        strings.TrimSuffix(good, "\n"),
		"a control character":   "a\x01" + good,
		"not UTF-8":             "\xff" + good,
		"a carriage return":     strings.Replace(good, "\n", "\r\n", 1),
		"a name with a plus":    strings.Replace(good, "— ada", "— a+a", 1),
		"a short signature":     "text\n\n— ada AAAAAA==\n",
		"loose base64":          "text\n\n— ada AAAAAAB=\n",
		"too many signatures":   "text\n\n" + strings.Repeat("— ada AAAAAAA=\n", 101),
		"too long":              strings.Repeat("a", proof.MaxNote) + good,
	} {
		if n, err := proof.ParseNote(text); err == nil {
			t.Errorf("%s: a note is read: %+v", name, n)
		}
	}
	v := ada.Verifier(proof.Author).String()
	for name, text := range map[string]string{
		"nothing": "", "no key": "ada+00000000", "another number": strings.Replace(v, "ada", "eve", 1), "a kind that is unknown": strings.Replace(v, "+A", "+B", 1), "cut off": v[:len(v)-1],
	} {
		if v, err := proof.ParseVerifier(text); err == nil {
			t.Errorf("%s: a key is read: %v", name, v)
		}
	}
	for name, text := range map[string]string{
		"a size with a zero": "o\n03\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n", "a negative size": "o\n-3\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n",
		"no origin": "\n3\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n", "a short root": "o\n3\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jx\n",
		"an empty line": "o\n3\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n", "two lines": "o\n3\n", "a size beyond all": "o\n18446744073709551615\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n",
	} {
		if c, err := proof.ParseCheckpoint(text); err == nil {
			t.Errorf("%s: a checkpoint is read: %+v", name, c)
		}
	}
}

// TestASecretIsNotPrinted: a signer that gets into a message says its public half.
func TestASecretIsNotPrinted(t *testing.T) {
	t.Parallel()
	ada := key(t, "ada")
	for _, s := range printed(ada) {
		if strings.Contains(s, string(ada.Seed())) || !strings.Contains(s, ada.Verifier(proof.Author).String()) {
			t.Errorf("a signer is printed as %q", s)
		}
	}
}

func FuzzNote(f *testing.F) {
	n := signed(f, key(f, "ada"), proof.Checkpoint{Origin: "ada/00", Size: 3})
	n.Signatures = append(n.Signatures, must[proof.Signature](f)(key(f, "w").Cosign(n.Text, 5)))
	f.Add(n.String())
	f.Add("text\n\n— ada AAAAAAA=\n")
	v := key(f, "ada").Verifier(proof.Author)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := proof.ParseNote(text)
		if err != nil {
			return
		}
		if got.String() != text {
			t.Fatalf("the note %q is written again as %q", text, got)
		}
		if s, _ := got.By(v); s == proof.Good && got.Text != n.Text {
			t.Fatalf("the key signed %q, which it never did", got.Text)
		}
	})
}

func FuzzCheckpoint(f *testing.F) {
	f.Add(proof.Checkpoint{Origin: "ada/00", Size: 3}.Text())
	f.Add("example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\nmore\n")
	f.Add(proof.Request{Old: 3, Path: hashes(2), Note: signed(f, key(f, "ada"), proof.Checkpoint{Origin: "ada/00", Size: 3})}.String())
	f.Fuzz(func(t *testing.T, text string) {
		if c, err := proof.ParseCheckpoint(text); err == nil && c.Text() != text {
			t.Fatalf("the checkpoint %q is written again as %q", text, c.Text())
		}
		if r, err := proof.ParseRequest(text); err == nil && r.String() != text {
			t.Fatalf("the request %q is written again as %q", text, r)
		}
		_, _ = proof.ParseStatement(text)
		_, _ = proof.ParseVerifier(text)
		_, _ = proof.ReadStamp([]byte(text), event.Hash{}, nil)
	})
}

// printed are the ways a value gets into a message.
func printed(v any) (out []string) {
	for _, f := range []string{"%v", "%+v", "%#v", "%s"} {
		out = append(out, fmt.Sprintf(f, v))
	}
	return out
}
