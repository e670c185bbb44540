package crate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"lyceum/internal/event"
)

type graph map[string]map[string]any

// checkGraph checks what RO-Crate and the profile ask of the metadata, and that
// it is about the very files of the zip.
func checkGraph(t *testing.T, data []byte) graph {
	t.Helper()
	files := unzip(t, data)
	var doc struct {
		Context string           `json:"@context"`
		Graph   []map[string]any `json:"@graph"`
	}
	if err := json.Unmarshal(find(t, files, metadataFile), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Context != "https://w3id.org/ro/crate/1.3/context" {
		t.Errorf("context %q", doc.Context)
	}
	g := graph{}
	for _, e := range doc.Graph {
		id, _ := e["@id"].(string)
		if id == "" || e["@type"] == nil || g[id] != nil {
			t.Errorf("entity without @id or @type, or twice: %v", e)
		}
		g[id] = e
	}
	for id, e := range g {
		for key, v := range e {
			g.checkValue(t, id+" "+key, v)
		}
	}
	if g[metadataFile]["about"].(map[string]any)["@id"] != "./" || g["./"]["@type"] != "Dataset" {
		t.Error("the descriptor is not about the root dataset")
	}
	for _, key := range []string{"name", "description", "datePublished", "license", "conformsTo"} {
		if g["./"][key] == nil {
			t.Errorf("the root has no %s", key)
		}
	}
	g.checkFiles(t, files)
	for id, e := range g {
		if e["@type"] != "CreateAction" {
			continue
		}
		if !slices.Contains(ids(g["./"]["mentions"]), id) {
			t.Errorf("%s is not mentioned", id)
		}
		for _, i := range ids(e["instrument"]) {
			if g[i]["@type"] != "SoftwareApplication" {
				t.Errorf("the instrument %s of %s is a %v", i, id, g[i]["@type"])
			}
		}
		if len(ids(e["instrument"])) == 0 || len(ids(e["agent"])) == 0 {
			t.Errorf("%s has no instrument or agent", id)
		}
		if failed := ids(e["actionStatus"])[0] == "http://schema.org/FailedActionStatus"; !failed && e["error"] != nil {
			t.Errorf("%s has an error without having failed", id)
		}
	}
	return g
}

// checkValue checks that the graph is flat and its references lead somewhere.
func (g graph) checkValue(t *testing.T, where string, v any) {
	t.Helper()
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			g.checkValue(t, where, x)
		}
	case map[string]any:
		if id, _ := v["@id"].(string); len(v) != 1 || g[id] == nil {
			t.Errorf("%s: not a reference to an entity: %v", where, v)
		}
	case string:
	default:
		t.Errorf("a value of a kind that JSON-LD has not, at %s: %T", where, v)
	}
}

// checkFiles checks that every file is part of the root, at most by way of a
// folder, and described truly. The metadata and the preview must not be parts.
func (g graph) checkFiles(t *testing.T, files []file) {
	t.Helper()
	parts := ids(g["./"]["hasPart"])
	parts = append(parts, ids(g[blobFolder]["hasPart"])...)
	for _, f := range files {
		if f.name == metadataFile || f.name == previewFile {
			if slices.Contains(parts, f.name) {
				t.Errorf("%s is a part", f.name)
			}
			continue
		}
		e := g[f.name]
		if !slices.Contains(parts, f.name) || e["@type"] != "File" {
			t.Errorf("%s is no part of the crate, or no File: %v", f.name, e)
			continue
		}
		if e["contentSize"] != strconv.Itoa(len(f.data)) || e["sha256"] != event.HashOf(f.data).String() {
			t.Errorf("%s is described as %v", f.name, e)
		}
	}
	if want := len(files) - 2 + 1; len(parts) != want { // and the folder of blobs
		t.Errorf("%d parts, want %d", len(parts), want)
	}
}

func ids(v any) (out []string) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			out = append(out, ids(x)...)
		}
	case map[string]any:
		out = append(out, v["@id"].(string))
	}
	return out
}

func TestTheMetadataDescribesTheQuest(t *testing.T) {
	t.Parallel()
	rt := newHome(t)
	runQuest(t, rt, "honest", map[string][]byte{"in put%.txt": []byte("x")})
	g := checkGraph(t, exported(t, rt, "small"))

	calls, failed := map[string]int{}, 0
	for id, e := range g {
		if strings.HasPrefix(id, "#call-") {
			calls[ids(e["instrument"])[0]]++
			if e["startTime"] == nil || e["endTime"] == nil || e["result"] == nil || e["object"] == nil {
				t.Errorf("%s lacks something: %v", id, e)
			}
			if e["error"] != nil {
				failed++
			}
		}
	}
	want := map[string]int{"#model-honest": 3, "#tool-write_file": 2, "#tool-calculate": 2, "#lyceum-v0-test": 1}
	if fmt.Sprint(calls) != fmt.Sprint(want) || failed != 2 {
		t.Errorf("calls %v, want %v; %d failed, want 2", calls, want, failed)
	}
	if g["#lyceum-v0-test"]["softwareVersion"] != "v0-test" {
		t.Errorf("lyceum is %v", g["#lyceum-v0-test"])
	}
	named := false
	for _, e := range g {
		named = named || e["alternateName"] == "in put%.txt"
	}
	if !named {
		t.Error("no blob knows the name it had as a file")
	}
	head, err := rt.Ledger.Head(t.Context(), "small")
	if err != nil || g[headID]["value"] != head.Hash.String() {
		t.Errorf("last event %v, want %v, %v", g[headID], head, err)
	}
}

// TestAnAgentWithoutAModelNamesNone: one that works by rules alone asks nobody.
func TestAnAgentWithoutAModelNamesNone(t *testing.T) {
	t.Parallel()
	ref := event.RefOf([]byte("pinned"))
	created := &event.QuestCreated{
		Name: "q", Rules: "solo/4", Spec: ref, Policies: []event.PolicySpec{{Name: "budget", Use: "budget/1"}},
		Agents: []event.AgentSpec{{Name: "planner", System: ref, Tools: ref, Window: 2000}},
	}
	e, err := event.Seal("q", 1, event.Hash{}, event.Draft{Actor: "person", Body: created})
	if err != nil {
		t.Fatal(err)
	}
	a, err := open(e, newHome(t).Societies, nil)
	if err != nil {
		t.Fatal(err)
	}
	a.state.Apply(e)
	a.uses(created.Agents[0])
	for _, x := range a.software() {
		if id := x["@id"].(string); strings.HasPrefix(id, "#model-") || x["softwareRequirements"] != nil {
			t.Errorf("the crate of a quest without a model: got %v, want nothing of a model", x)
		}
	}
}

func TestTheMetadataOfALongQuestStaysSmall(t *testing.T) {
	t.Parallel()
	rt := newHome(t)
	runQuest(t, rt, "stubborn", nil)
	data := exported(t, rt, "small")
	g := checkGraph(t, data)
	if got := ids(g["./"]["mentions"]); !slices.Equal(got, []string{questID}) {
		t.Errorf("%d actions, want the quest alone", len(got))
	}
	if what, _ := g[questID]["description"].(string); !strings.Contains(what, "More than 1000 calls") {
		t.Errorf("the quest is described as %q", what)
	}
	if n := len(find(t, unzip(t, data), metadataFile)); n > 20_000 {
		t.Errorf("%d bytes", n)
	}
	if _, err := imported(t, newHome(t), data, ""); err != nil {
		t.Error(err)
	}
}

func TestThePreviewEscapesEverything(t *testing.T) {
	t.Parallel()
	for model, want := range map[string][]string{
		"honest":             {"What is 6*7 &amp; &lt;why&gt;?", "&lt;script&gt;42&lt;/script&gt;", "finished", "lyceum verify file.zip"},
		"broken":             {"failed: ", "no &lt;b&gt;key&lt;/b&gt;", "The quest has no answer."},
		"a<img>\u202e\x01 b": {"<td>a&lt;img&gt;\uFFFD\uFFFD b</td>"},
	} {
		rt := newHome(t)
		runQuest(t, rt, model, nil)
		page := string(find(t, unzip(t, exported(t, rt, "small")), previewFile))
		for _, s := range want {
			if !strings.Contains(page, s) {
				t.Errorf("%q: the page has no %q:\n%s", model, s, page)
			}
		}
		for _, s := range []string{"<script", "<b>", "<img", "<why"} {
			if strings.Contains(page, s) {
				t.Errorf("%q: the page has %q", model, s)
			}
		}
	}
}
