package workspace

import (
	"slices"
	"strings"
	"testing"
)

// TestBoundsAreOnlyNarrowed: what two of them let pass, each lets pass by itself.
func TestBoundsAreOnlyNarrowed(t *testing.T) {
	t.Parallel()
	paths := []string{".", "a", "a/b", "a/b/c", "d", ".env", "a/.ssh/x", "key.pem"}
	sets := []Bounds{
		{}, {Write: []string{"."}}, {Write: []string{"a"}}, {Write: []string{"a/b", Temp}}, {Write: []string{Temp}}, {Write: []string{"d", Temp}, Hide: []string{".env"}},
		{Hide: []string{".ssh", "*.pem"}}, {Write: []string{Nowhere}},
	}
	for _, x := range sets {
		for _, y := range sets {
			both := x.Narrow(y)
			if err := both.Check(); err != nil {
				t.Errorf("%v narrowed by %v is %v: %v", x, y, both, err)
			}
			for _, at := range paths {
				if both.MayWrite(at) == nil && (x.MayWrite(at) != nil || y.MayWrite(at) != nil) {
					t.Errorf("%v narrowed by %v lets %s be written", x, y, at)
				}
				if both.MayWrite(at) != nil && x.MayWrite(at) == nil && y.MayWrite(at) == nil {
					t.Errorf("%v narrowed by %v keeps %s from being written, which both let pass", x, y, at)
				}
				if (both.MayRead(at) == nil) != (x.MayRead(at) == nil && y.MayRead(at) == nil) {
					t.Errorf("%v narrowed by %v: reading %s is %v", x, y, at, both.MayRead(at))
				}
			}
			if both.Temporary() != (x.Temporary() && y.Temporary()) {
				t.Errorf("%v narrowed by %v: writes to %s: %v", x, y, Temp, both.Temporary())
			}
		}
	}
}

func TestHidden(t *testing.T) {
	t.Parallel()
	b := Bounds{Hide: DefaultHide}
	if err := b.Check(); err != nil {
		t.Fatal(err)
	}
	for at, want := range map[string]bool{
		".env": true, "a/.env": true, ".ENV": true, "a/.Ssh/id": true, ".env.local": true, ".env.test.local": true, ".aws/credentials": true, ".git-credentials": true,
		".env.example": false, "env": false, "a.env": false, ".envrc": false, ".": false, ".sshd": false, "src/ssh": false,
	} {
		if got := b.Hidden(at) != ""; got != want {
			t.Errorf("%s is hidden: %v, want %v", at, got, want)
		}
	}
}

// FuzzBounds: whatever a stranger gives, bounds that pass the check have a form of their own, and
// nothing above the workspace is in them.
func FuzzBounds(f *testing.F) {
	f.Add("out", ".env")
	f.Add("../x", "[a-")
	f.Add("/tmp", "*.pem")
	f.Add("/home/agent/x", "a/b")
	f.Fuzz(func(t *testing.T, write, hide string) {
		if at, err := WritePath(write); err == nil {
			if again, err := WritePath(at); err != nil || again != at {
				t.Errorf("WritePath(%q): got %q, and of that %q (%v)", write, at, again, err)
			}
			if at != Temp && (strings.HasPrefix(at, "/") || slices.Contains(strings.Split(at, "/"), "..")) {
				t.Errorf("WritePath(%q): got %q, want a path of the workspace", write, at)
			}
		}
		if name, err := HideName(hide); err == nil {
			if again, err := HideName(name); err != nil || again != name {
				t.Errorf("HideName(%q): got %q, and of that %q (%v)", hide, name, again, err)
			}
			_ = Bounds{Hide: []string{name}}.Hidden(write)
		}
	})
}
