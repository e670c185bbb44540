package task_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	. "lyceum/internal/society/architect/task"
)

func scope(include string, closed ...string) Scope {
	return Of(event.TaskScope{Include: strings.Fields(include), NoTouch: closed})
}

func TestScopeAllows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		scope Scope
		path  string
		want  string // why not
	}{
		{scope("."), "a.go", ""},
		{scope("./"), "a/b.go", ""},
		{scope("a/"), "a/b.go", ""},
		{scope("a"), "a/b.go", ""},
		{scope("a"), "a", ""},
		{scope("a"), "ab", "include"},
		{scope("a/"), "ab/c", "include"},
		{scope("a/"), "a", "include"},
		{scope("a/b.go"), "a", "include"},
		{scope("src/"), "SRC/a.go", "include"},
		{scope(""), "a", "include"},
		{Scope{}, "a", "include"},
		{Of(event.TaskScope{Include: []string{"/"}}), "a", "include"},
		{Of(event.TaskScope{Include: []string{""}}), "a", "include"},

		{scope(".", "go.mod"), "go.mod", "go.mod"},
		{scope(".", "go.mod"), "go.mod2", ""},
		{scope(".", "go.mod"), "GO.MOD", "go.mod"},
		{scope(".", "GO.MOD"), "go.mod", "GO.MOD"},
		{scope(".", "secret/"), "secret/key", "secret"},
		{scope(".", "secret/"), "Secret/key", "secret"},
		{scope(".", "secret/"), "secret", "secret"},      // a link in the place of a folder
		{scope(".", "a/b/secret"), "a/b", "secret"},      // a link above it
		{scope(".", "a/b/secret"), "a/bc", ""},           //
		{scope(".", "secret/"), "secret./key", "secret"}, // Windows
		{scope(".", "secret"), "secret ", "secret"},      //
		{scope(".", "caf\u00e9/"), "cafe\u0301/x", "caf"},
		{scope(".", "cafe\u0301/"), "CAF\u00c9/x", "caf"},
		{scope(".", "file.go"), "\ufb01le.go", "file.go"},      // a ligature
		{scope(".", "stra\u00dfe"), "STRASSE", "stra"},         // a letter that folds to two
		{scope(".", "\u1e9e"), "ss", "\u1e9e"},                 //
		{scope(".", "key"), "\u212aey", "key"},                 // the sign of Kelvin
		{scope(".", "secret"), "se\u200bcret", "secret"},       // cannot be seen
		{scope(".", "secret"), "\uff53ecret", "secret"},        // full width
		{scope(".", "\u03c3\u03c2"), "\u03a3\u03a3", "\u03c3"}, // sigma at the end
		{scope(".", "\u0130x"), "i\u0307x", "\u0130x"},         // a dotted I
		{Of(event.TaskScope{Include: []string{"a"}, Exclude: []string{"a/x"}}), "a/X/y", "excludes"},

		{scope("."), ".git/config", "git's own"},
		{scope("."), "a/.git", "git's own"},
		{scope("."), "a/.GIT/hooks/x", "git's own"},
		{scope("."), "git~1/x", "git's own"},
		{scope("."), ".g\u200cit/x", "git's own"},
		{scope(".git"), ".git/config", "git's own"},
		{scope("."), ".lyceum/manifest.yaml", "Lyceum's own"},
		{scope("."), ".Lyceum/x", "Lyceum's own"},
		{scope(". .lyceum/"), ".lyceum/x", "Lyceum's own"},
		{scope("."), "a/.lyceum/x", ""},
		{scope("."), ".gitignore", ""},
		{scope("."), "/etc/passwd", "absolute"},
		{scope("."), "a/../b", "elsewhere"},
		{scope("."), "", "empty"},
		{scope("."), "a\x00b", "cannot be seen"},
		{scope("."), "a\xffb", "not UTF-8"},
		{scope("."), `a\b`, "backslash"},
	} {
		ok, why := c.scope.Allows(c.path)
		if ok != (c.want == "") || !strings.Contains(why, c.want) || ok != (why == "") {
			t.Errorf("%v allows %q: got %v, %q; want %q", c.scope.Recorded(), c.path, ok, why, c.want)
		}
	}
}

func TestScopeMeets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"a/", "a/b.go", true}, {"a", "ab", false}, {".", "x", true}, {"a", "a", true}, {"a/", "a", true}, {"a b", "c b/d", true}, {"a", "b", false}, {"", ".", false},
		{"a/b", "a/c", false}, {"A/", "a/x", true}, {"caf\u00e9", "cafe\u0301", true},
	} {
		if got := scope(c.a).Meets(scope(c.b)); got != c.want || scope(c.b).Meets(scope(c.a)) != got {
			t.Errorf("%q meets %q: got %v, want %v either way", c.a, c.b, got, c.want)
		}
	}
}

func TestScopeWithinAndNarrower(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		inner, outer     Scope
		within, narrower bool
	}{
		{scope("a/b"), scope("a"), true, true},
		{scope("a"), scope("a"), true, false},
		{scope("a"), scope("."), true, true},
		{scope("."), scope("a"), false, false},
		{scope("a b"), scope("a"), false, false},
		{scope("a"), scope("a b"), true, true},
		{scope("a a/b"), scope("a"), true, false},
		{scope("ab"), scope("a"), false, false},
		{scope("a/"), scope("a"), true, false}, // in name only
		{scope("a"), scope("a/"), false, false},
		{scope("A/b"), scope("a"), false, false},
		{scope("a", "a/x"), scope("a"), true, true},
		{scope("a", "b"), scope("a"), true, false}, // closes what was not open
		{scope("a"), scope("a", "a/x"), false, false},
		{scope("a/y"), scope("a", "a/x"), true, true},
		{scope("a", "a"), scope("a", "a/x"), true, true},
		{scope("a", "A/X"), scope("a", "a/x"), true, false},
		{scope("a"), scope(".", "a"), false, false},
	} {
		if err := c.inner.Within(c.outer); (err == nil) != c.within {
			t.Errorf("%v within %v: got %v", c.inner.Recorded(), c.outer.Recorded(), err)
		}
		if err := c.inner.Narrower(c.outer); (err == nil) != c.narrower {
			t.Errorf("%v narrower than %v: got %v", c.inner.Recorded(), c.outer.Recorded(), err)
		}
	}
}

func TestScopeCheck(t *testing.T) {
	t.Parallel()
	for want, s := range map[string]Scope{
		"":                      scope("a/ b.go .", "c/"),
		"include is empty":      scope(""),
		"nothing is left":       scope("a/b", "a"),
		"absolute":              scope("/etc"),
		"leads elsewhere":       scope("a/../.."),
		"it is a pattern":       scope("**/*.go"),
		"git's own":             scope(".", ".git/hooks"),
		"cannot be seen":        scope(".", "a\x00"),
		"not UTF-8":             scope(".", "\xff"),
		"more than 64":          scope(strings.Repeat("a ", 65)),
		"more than 300 bytes":   scope(strings.Repeat("a", 301)),
		"no_touch: /x:":         scope(".", "/x"),
		"its path is empty":     scope(".", ""),
		"such as cmd/main.go":   scope("a//b"),
		"its path is absolute;": scope("C:/x"),
	} {
		if err := s.Check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("check of %v: got %v, want %q", s.Recorded(), err, want)
		}
	}
}

func TestScopeWithAddsAndNeverDrops(t *testing.T) {
	t.Parallel()
	a := scope(".", "x")
	b := a.With("y", "x")
	if got := b.Recorded().NoTouch; !slices.Equal(got, []string{"x", "y"}) {
		t.Errorf("no_touch: got %v, want x and y once each", got)
	}
	if ok, _ := b.Allows("Y/z"); ok {
		t.Error("what was added is open")
	}
	if ok, _ := a.Allows("y"); !ok {
		t.Error("the scope that it was made of has changed")
	}
}

// names are made to be the same in some form, or nearly.
var names = []string{"a", "A", "ab", "a.", "caf\u00e9", "cafe\u0301", "CAFE\u0301", "b", "\uff42", "ss", "\u00df", ".git", ".lyceum"}

func randomPath(r *rand.Rand) string {
	parts := make([]string, 1+r.IntN(3))
	for i := range parts {
		parts[i] = names[r.IntN(len(names))]
	}
	return strings.Join(parts, "/")
}

func randomScope(r *rand.Rand) Scope {
	some := func(most int) (paths []string) {
		for range r.IntN(most) {
			p := []string{".", randomPath(r), randomPath(r), randomPath(r) + "/"}[r.IntN(4)]
			paths = append(paths, p)
		}
		return paths
	}
	return Of(event.TaskScope{Include: append(some(3), randomPath(r)), Exclude: some(2), NoTouch: some(3)})
}

// TestScopesKeepTheirPromises: of many scopes and paths, what follows from what.
func TestScopesKeepTheirPromises(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(19, 1))
	count := map[string]int{}
	for range 10_000 {
		a, b, p := randomScope(r), randomScope(r), randomPath(r)
		inA, _ := a.Allows(p)
		inB, _ := b.Allows(p)
		within, narrower := a.Within(b) == nil, a.Narrower(b) == nil
		tell := func(what string) {
			count[what]++
			if count[what] > 3 {
				return
			}
			t.Errorf("%s: %v and %v with %q", what, a.Recorded(), b.Recorded(), p)
		}
		if inA && inB {
			count["both"]++
			if !a.Meets(b) {
				tell("both allow a path, and they do not meet")
			}
		}
		if within {
			count["within"]++
			if inA && !inB {
				tell("a scope within another allows more")
			}
		}
		if narrower {
			count["narrower"]++
			if !within || b.Narrower(a) == nil {
				tell("a narrower scope is not within, or the other is narrower, too")
			}
		}
		if a.Meets(b) != b.Meets(a) {
			tell("meeting has a direction")
		}
		if a.Narrower(a) == nil || a.Within(a) != nil {
			tell("a scope is not within itself, or narrower than itself")
		}
		shut := a.With(p)
		for _, form := range []string{p, strings.ToUpper(p), strings.ReplaceAll(p, "e\u0301", "\u00e9"), p + "/x", p + "."} {
			if ok, _ := shut.Allows(form); ok {
				tell("what was closed is open as " + fmt.Sprintf("%q", form))
			}
		}
		if shut.Within(a) != nil {
			tell("closing has made it wider")
		}
	}
	for _, what := range []string{"both", "within", "narrower"} {
		if count[what] < 50 {
			t.Errorf("only %d times %s: what was looked at?", count[what], what)
		}
	}
}

func FuzzScope(f *testing.F) {
	f.Add("a/", "a/b", "A/B")
	f.Add(".", "\u212a", "k")
	f.Fuzz(func(t *testing.T, include, closed, path string) {
		s := Of(event.TaskScope{Include: []string{include}, NoTouch: []string{closed}})
		if ok, why := s.Allows(path); ok && why != "" || !ok && why == "" {
			t.Fatalf("allows %q: %v, %q", path, ok, why)
		}
		if ok, _ := s.With(path).Allows(path); ok {
			t.Fatalf("%q is open though it is closed", path)
		}
		if s.Check() == nil && s.Within(s) != nil {
			t.Fatalf("%v is not within itself", s.Recorded())
		}
	})
}
