package blob_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/blob/blobtest"
	"lyceum/internal/event"

	"github.com/google/go-cmp/cmp"
)

var hashA = event.HashOf([]byte("a"))

func file(name string) blob.Entry {
	return blob.Entry{Name: name, Kind: blob.File, Mode: blob.ModePlain, Hash: hashA, Size: 1}
}

func dir(name string, ref event.Ref) blob.Entry {
	return blob.Entry{Name: name, Kind: blob.Dir, Hash: ref.Hash, Size: ref.Size}
}

func link(name, target string) blob.Entry {
	return blob.Entry{Name: name, Kind: blob.Link, Target: target}
}

// sample has one entry of each kind and names that need care in JSON.
func sample() blob.Tree {
	script := blob.Entry{Name: "run.sh", Kind: blob.File, Mode: blob.ModeExec, Hash: hashA, Size: 0}
	t := blob.Tree{file("a"), script, dir("src", event.RefOf([]byte("t"))), link("up", "../..")}
	for _, name := range []string{"\"", "\\", "\b\f\n\r\t", "\x01\x1f\x7f", "<&>", "\u2028\u2029", "ünï", "𝄞", "..."} {
		t = append(t, file(name))
	}
	slices.SortFunc(t, func(a, b blob.Entry) int { return strings.Compare(a.Name, b.Name) })
	return t
}

func TestTree(t *testing.T) {
	t.Parallel()
	t.Run("ComesBackAsItWas", func(t *testing.T) {
		t.Parallel()
		data, err := sample().Encode()
		if err != nil {
			t.Fatal(err)
		}
		got, err := blob.ParseTree(data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(sample(), got); diff != "" {
			t.Errorf("the tree differs (-want +got):\n%s", diff)
		}
	})
	t.Run("IsCanonicalJSON", func(t *testing.T) {
		t.Parallel()
		data, err := sample().Encode()
		if err != nil {
			t.Fatal(err)
		}
		canonical, err := event.Canonical(data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(canonical), string(data)); diff != "" {
			t.Errorf("the tree's bytes are not canonical (-want +got):\n%s", diff)
		}
	})
	t.Run("HasOneSpellingForEver", func(t *testing.T) {
		t.Parallel()
		data, err := blob.Tree{file("a"), link("b", "a")}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		want := `{"entries":[{"hash":"` + hashA.String() + `","kind":"file","mode":"0644","name":"a","size":1},{"kind":"link","name":"b","target":"a"}],"tree":1}`
		if string(data) != want {
			t.Errorf("got  %s\nwant %s", data, want)
		}
	})
}

func TestTreeRefuses(t *testing.T) {
	t.Parallel()
	change := func(edit func(*blob.Entry)) blob.Tree {
		e := file("a")
		edit(&e)
		return blob.Tree{e}
	}
	for name, tree := range map[string]blob.Tree{
		"NoName":          {file("")},
		"Dot":             {file(".")},
		"DotDot":          {dir("..", event.Ref{})},
		"SlashInName":     {file("a/b")},
		"NULInName":       {file("a\x00b")},
		"LongName":        {file(strings.Repeat("n", 256))},
		"NameNotUTF8":     {file("a\xff")},
		"SameNameTwice":   {link("a", "/etc"), dir("a", event.Ref{})},
		"Unsorted":        {file("b"), file("a")},
		"UnknownKind":     change(func(e *blob.Entry) { e.Kind = "pipe" }),
		"SetuidMode":      change(func(e *blob.Entry) { e.Mode = 0o4755 }),
		"OddMode":         change(func(e *blob.Entry) { e.Mode = 0o600 }),
		"NegativeSize":    change(func(e *blob.Entry) { e.Size = -1 }),
		"SizeBeyondJSON":  change(func(e *blob.Entry) { e.Size = 1<<53 + 1 }),
		"FileWithTarget":  change(func(e *blob.Entry) { e.Target = "x" }),
		"DirWithMode":     change(func(e *blob.Entry) { e.Kind = blob.Dir }),
		"LinkToNothing":   {link("a", "")},
		"LinkNotUTF8":     {link("a", "\xff")},
		"LinkWithNUL":     {link("a", "x\x00")},
		"LinkTooLong":     {link("a", strings.Repeat("t", 4096))},
		"LinkWithContent": {{Name: "a", Kind: blob.Link, Target: "x", Hash: hashA}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if data, err := tree.Encode(); err == nil {
				t.Errorf("encoded %s", data)
			}
		})
	}
}

func TestParseTreeRefuses(t *testing.T) {
	t.Parallel()
	entry := `{"hash":"` + hashA.String() + `","kind":"file","mode":"0644","name":"a","size":1}`
	for name, data := range map[string]string{
		"Nothing":        ``,
		"Null":           `null`,
		"AnotherVersion": `{"entries":[],"tree":2}`,
		"WhiteSpace":     `{"entries": [],"tree":1}`,
		"NullEntries":    `{"entries":null,"tree":1}`,
		"UnknownMember":  `{"entries":[],"more":1,"tree":1}`,
		"SecondMember":   `{"entries":[],"entries":[],"tree":1}`,
		"TwoValues":      `{"entries":[],"tree":1}{}`,
		"SameEntryTwice": `{"entries":[` + entry + `,` + entry + `],"tree":1}`,
		"ModeInDecimal":  `{"entries":[` + strings.Replace(entry, `"0644"`, `420`, 1) + `],"tree":1}`,
		"ModeTooLong":    `{"entries":[` + strings.Replace(entry, `0644`, `00644`, 1) + `],"tree":1}`,
		"SlashEscaped":   `{"entries":[` + strings.Replace(entry, `"a"`, `"..\/x"`, 1) + `],"tree":1}`,
		"BadUTF8":        `{"entries":[` + strings.Replace(entry, `"a"`, "\"\xff\"", 1) + `],"tree":1}`,
		"UpperCaseHash":  `{"entries":[` + strings.Replace(entry, hashA.String(), strings.ToUpper(hashA.String()), 1) + `],"tree":1}`,
		"SizeAsFloat":    `{"entries":[` + strings.Replace(entry, `:1}`, `:1.0}`, 1) + `],"tree":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := blob.ParseTree([]byte(data)); err == nil {
				t.Errorf("took %s for %v", data, got)
			}
		})
	}
	if _, err := blob.ParseTree([]byte(`{"entries":[` + entry + `],"tree":1}`)); err != nil {
		t.Errorf("the untouched entry is refused too: %v", err)
	}
}

// FuzzParseTree looks for bytes that parse and yet are not the one spelling of a
// safe tree.
func FuzzParseTree(f *testing.F) {
	data, err := sample().Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"entries":[],"tree":1}`))
	f.Add([]byte(`{"entries":[{"kind":"link","name":"..","target":"/"}],"tree":1}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		tree, err := blob.ParseTree(data)
		if err != nil {
			return
		}
		for i, e := range tree {
			if e.Name == "" || e.Name == "." || e.Name == ".." || strings.ContainsAny(e.Name, "/\x00") {
				t.Errorf("unsafe name %q", e.Name)
			}
			if i > 0 && tree[i-1].Name >= e.Name {
				t.Errorf("%q stands before %q", tree[i-1].Name, e.Name)
			}
		}
		if again, err := tree.Encode(); err != nil || !bytes.Equal(again, data) {
			t.Errorf("a second spelling: %s (%v)", again, err)
		}
	})
}

// plant stores a tree and returns its reference.
func plant(t *testing.T, s blob.Store, tree ...blob.Entry) event.Ref {
	t.Helper()
	data, err := blob.Tree(tree).Encode()
	if err != nil {
		t.Fatal(err)
	}
	return plantBytes(t, s, data)
}

func plantBytes(t *testing.T, s blob.Store, data []byte) event.Ref {
	t.Helper()
	ref, err := s.Put(t.Context(), data)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

func plantFile(t *testing.T, s blob.Store, name, content string) blob.Entry {
	t.Helper()
	ref := plantBytes(t, s, []byte(content))
	return blob.Entry{Name: name, Kind: blob.File, Mode: blob.ModePlain, Hash: ref.Hash, Size: ref.Size}
}

func TestReadTree(t *testing.T) {
	t.Parallel()
	t.Run("RefusesAnotherSizeThanListed", func(t *testing.T) {
		t.Parallel()
		var s blobtest.Memory
		ref := plant(t, &s, file("a"))
		for _, size := range []int64{-1, 0, ref.Size - 1, ref.Size + 1, 1 << 60} {
			if _, err := blob.ReadTree(t.Context(), &s, event.TreeRef{Hash: ref.Hash, Size: size}); err == nil {
				t.Errorf("read a tree of %d bytes as one of %d", ref.Size, size)
			}
		}
	})
	t.Run("TellsDamage", func(t *testing.T) {
		t.Parallel()
		var s blobtest.Memory
		ref := plant(t, &s, file("a"))
		data, err := blob.Tree{file("b")}.Encode()
		if err != nil {
			t.Fatal(err)
		}
		s.Damage(ref.Hash, data)
		var damage *blob.DamageError
		if _, err := blob.ReadTree(t.Context(), &s, event.TreeRef(ref)); !errors.As(err, &damage) {
			t.Errorf("got %v, want damage", err)
		}
	})
}

func TestWalk(t *testing.T) {
	t.Parallel()
	walk := func(t *testing.T, s blob.Store, ref event.Ref) ([]event.Ref, error) {
		var met []event.Ref
		err := blob.Walk(t.Context(), s, event.TreeRef(ref), func(r event.Ref) error {
			met = append(met, r)
			return nil
		})
		return met, err
	}
	t.Run("MeetsEachBlobOnce", func(t *testing.T) {
		t.Parallel()
		var s blobtest.Memory
		same := plantFile(t, &s, "same", "same")
		leaf := plant(t, &s, same, link("z", "same"))
		top := plant(t, &s, dir("a", leaf), dir("b", leaf), same)
		met, err := walk(t, &s, top)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]event.Ref{top, leaf, same.Ref()}, met); diff != "" {
			t.Errorf("the blobs that were met differ (-want +got):\n%s", diff)
		}
	})
	t.Run("OpensATreeThatIsAlsoAFile", func(t *testing.T) {
		t.Parallel()
		var s blobtest.Memory
		deep := plantFile(t, &s, "deep", "deep")
		leaf := plant(t, &s, deep)
		asFile := dir("a", leaf)
		asFile.Kind, asFile.Mode = blob.File, blob.ModePlain
		met, err := walk(t, &s, plant(t, &s, asFile, dir("b", leaf)))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(met, deep.Ref()) {
			t.Errorf("met %v without %v", met, deep.Ref())
		}
	})
	t.Run("IsNotFooledBySharedTrees", func(t *testing.T) {
		t.Parallel()
		var s blobtest.Memory
		if met, err := walk(t, &s, bomb(t, &s, 60)); err != nil || len(met) != 61 {
			t.Errorf("met %d blobs, want 61: %v", len(met), err)
		}
	})
	t.Run("StopsAtAMissingTree", func(t *testing.T) {
		t.Parallel()
		var s blobtest.Memory
		top := plant(t, &s, dir("a", event.RefOf([]byte("nowhere"))))
		if _, err := walk(t, &s, top); !errors.Is(err, blob.ErrNotFound) {
			t.Errorf("got %v, want ErrNotFound", err)
		}
	})
	t.Run("StopsWithItsVisitor", func(t *testing.T) {
		t.Parallel()
		var s blobtest.Memory
		enough := errors.New("enough")
		err := blob.Walk(t.Context(), &s, event.TreeRef(plant(t, &s)), func(event.Ref) error { return enough })
		if !errors.Is(err, enough) {
			t.Errorf("got %v, want the visitor's error", err)
		}
	})
}

// bomb plants levels folders that each hold the next ten times.
func bomb(t *testing.T, s blob.Store, levels int) event.Ref {
	t.Helper()
	ref := plant(t, s)
	for range levels {
		var tree blob.Tree
		for i := range 10 {
			tree = append(tree, dir(fmt.Sprint(i), ref))
		}
		ref = plant(t, s, tree...)
	}
	return ref
}
