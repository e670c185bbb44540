package notice_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/notice"

	"github.com/google/go-cmp/cmp"
)

func TestEveryNoticeHasALicenceAndItsText(t *testing.T) {
	t.Parallel()
	all, err := notice.All()
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[string]int{}
	for _, n := range all {
		kinds[n.Kind]++
		if n.Name == "" || n.License == "" || len(n.Texts) == 0 {
			t.Errorf("the notice of %q: licence %q and %d texts, want both", n.Name, n.License, len(n.Texts))
		}
		for _, text := range n.Texts {
			if len(text.Text) < 100 {
				t.Errorf("%s of %s is %d bytes long, which is no licence", text.File, n.Name, len(text.Text))
			}
		}
	}
	for _, kind := range []string{notice.Own, notice.Module, notice.Page, notice.Font, notice.Data} {
		if kinds[kind] == 0 {
			t.Errorf("no notice of kind %q", kind)
		}
	}
}

func TestWhatIsPackedIsUnpackedAndPackedTheSame(t *testing.T) {
	t.Parallel()
	all := []notice.Notice{{Name: "a", Version: "v1", Kind: notice.Module, License: "MIT", Texts: []notice.Text{{File: "LICENSE", Text: "free"}}}, {Name: "b", Kind: notice.Font, License: "OFL-1.1"}}
	first, err := notice.Pack(all)
	if err != nil {
		t.Fatal(err)
	}
	second, err := notice.Pack(all)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Error("packed twice, the bytes differ")
	}
	got, err := notice.Unpack(first)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(all, got); diff != "" {
		t.Errorf("unpacked, the notices differ (-packed +unpacked):\n%s", diff)
	}
}

func TestADamagedFileIsAnError(t *testing.T) {
	t.Parallel()
	good, err := notice.Pack([]notice.Notice{{Name: "a"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"Empty": nil, "Cut": good[:len(good)-9], "NotPacked": []byte("[]")} {
		if got, err := notice.Unpack(data); err == nil {
			t.Errorf("%s: got %v, want an error", name, got)
		}
	}
}

func TestWritten(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	n := notice.Notice{Name: "a", Version: "v1", License: "MIT", Texts: []notice.Text{{File: "LICENSE", Text: "free"}, {File: "PATENTS", Text: "none"}}}
	if err := notice.Write(&out, []notice.Notice{n}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"==== a v1\n     MIT\n", "---- LICENSE of a\n\nfree\n", "---- PATENTS of a\n\nnone\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("what is written has no %q:\n%s", want, out.String())
		}
	}
	all, err := notice.All()
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(all, func(n notice.Notice) bool { return n.Title() == "Go" }) {
		t.Error("Go itself, which has no version here, is not called Go")
	}
}
