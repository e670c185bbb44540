package api_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/api"
)

// TestARemovedQuestLeavesNothing looks whether its blobs go.
func TestARemovedQuestLeavesNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	h.gate = newGate()
	s := h.serve(api.Options{})
	// large makes a quest with a large problem, and returns the address of its blob.
	large := func(name string) string {
		s.create(name, map[string]any{"problem": strings.Repeat("It is long. "+name, 20_000)})
		var list struct {
			Artifacts []struct{ Kind, Hash string }
		}
		s.do("GET", "/api/quests/"+name+"/artifacts", nil).want(t, 200).into(t, &list)
		for _, a := range list.Artifacts {
			if a.Kind == "problem" {
				return "/api/blobs/" + a.Hash
			}
		}
		t.Fatal("the problem is no blob")
		return ""
	}
	kept, gone := large("kept"), large("gone")
	s.do("DELETE", "/api/quests/gone", nil).want(t, 204)
	s.Tidied()
	s.do("GET", gone, nil).want(t, 404)
	s.do("GET", kept, nil).want(t, 200)

	// While a quest runs it waits: who runs may be about to name a blob.
	gone = large("gone")
	s.control("kept", map[string]any{"action": "start"}).want(t, 200)
	until(t, s.rt, "kept", isType("model.call"))
	s.do("DELETE", "/api/quests/gone", nil).want(t, 204)
	s.Tidied()
	s.do("GET", gone, nil).want(t, 200)
	s.control("kept", map[string]any{"action": "stop"}).want(t, 200)
	h.gate.let(3)
	s.released("kept")
	for s.Keeper().Running() > 0 { // its stream has ended a moment before
		s.control("kept", map[string]any{"action": "stop"})
	}
	s.Tidy(t.Context())
	s.do("GET", gone, nil).want(t, 404)
	s.do("GET", kept, nil).want(t, 200)
}

func TestAFaultyProfileDoesNotHideTheOthers(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	must(t, os.MkdirAll(filepath.Join(h.dir, "profiles", "bad"), 0o700))
	s := h.serve(api.Options{})
	var out struct {
		Profiles []struct{ Name string }
		Faults   []string `json:"profile_faults"`
	}
	s.do("GET", "/api/options", nil).want(t, 200).into(t, &out)
	if len(out.Profiles) == 0 || len(out.Faults) != 1 || !strings.Contains(out.Faults[0], "bad") {
		t.Errorf("profiles %v, faults %q", out.Profiles, out.Faults)
	}
}

// TestManyRanges: each of them would have a large blob read again.
func TestManyRanges(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve(api.Options{})
	s.create("q", map[string]any{"model": "demo", "problem": strings.Repeat("It is long. ", 20_000)})
	var list struct {
		Artifacts []struct{ Kind, Hash string }
	}
	s.do("GET", "/api/quests/q/artifacts", nil).want(t, 200).into(t, &list)
	for _, a := range list.Artifacts {
		if a.Kind != "problem" {
			continue
		}
		ranged := func(want string) answer {
			return s.do("GET", "/api/blobs/"+a.Hash, nil, func(r *http.Request) { r.Header.Set("Range", want) })
		}
		if got := ranged("bytes=3-6").want(t, 206); string(got.body) != "is l" {
			t.Errorf("a range is %q", got.body)
		}
		if got := ranged("bytes=9-9,0-0,5-5").want(t, 200); len(got.body) != 240_000 {
			t.Errorf("several ranges are %d bytes", len(got.body))
		}
		return
	}
	t.Fatal("the problem is no blob")
}
