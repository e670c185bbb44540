package cli_test

import (
	"archive/zip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/need"
)

// claimsLab is a lab of one that publishes a program under two claims, of which its output
// holds one, and votes for the first.
var claimsLab = map[string]string{
	"quest.yaml": "name: claims\nsociety: lab\nagents: 1\nproblem: What is it?\nmodel: script:plan.yaml\ncomputer: bubblewrap\n",
	"plan.yaml": `rules:
  - on: {turn: 1}
    call: [{tool: write_file, args: {path: programs/run.sh, content: "echo it is 42"}}]
  - on: {turn: 2}
    call: [{tool: submit_publication, args: {title: "It is so", content: "It is 42, see [Smith].", claims: ["42"], attachments: [programs/run.sh], entrypoint: programs/run.sh}}]
  - on: {turn: 3}
    call: [{tool: submit_publication, args: {title: "Something else", content: "We find 43.", attachments: [programs/run.sh], entrypoint: programs/run.sh}}]
  - on: {last: "(?s)PUBLISHED by agent-0, titled \"Something else\".*- ([0-9a-f]{32}) PUBLISHED by agent-0, titled \"It is so\""}
    call: [{tool: vote_solution, args: {ref: "$1"}}]
  - call: [{tool: exec, args: {command: "sleep 0.2; date +%N"}}, {tool: list_publications, args: {}}]
`,
}

// TestAnOutputIsHeldAgainstWhatThePaperClaims: what a program printed stands beside the
// claim wherever the paper is shown, and the answer is a line of its own.
func TestAnOutputIsHeldAgainstWhatThePaperClaims(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	h := newHome(t, claimsLab)
	h.run("run", "quest.yaml", "--max-turns", "300").want(t, 0)
	var show struct {
		Verdict struct {
			Value, Agree, Sure string
			Candidate          bool
		}
		Publications []struct {
			Title, Ref, Folder string
			Claims             []string
			Reproduction       struct {
				Status, Printed string
				Missing         []string
			}
		}
	}
	must(t, json.Unmarshal([]byte(h.ok("show", "claims", "--json")), &show))
	if v := show.Verdict; v.Value != "42" || v.Candidate || v.Sure != "high" || !strings.HasPrefix(v.Agree, "1 of 1 vote;") {
		t.Errorf("the verdict: got %+v, want 42 with all votes", v)
	}
	if n := len(show.Publications); n != 2 {
		t.Fatalf("the lab has %d papers, want 2", n)
	}
	wrong, right := show.Publications[0], show.Publications[1]
	if r := wrong.Reproduction; r.Status != "same output twice" || r.Printed != "it is 42" || len(r.Missing) != 1 || r.Missing[0] != "43" {
		t.Errorf("the paper that claims what is not printed: got %+v, want 43 missing", r)
	}
	if r := right.Reproduction; r.Status != "same output twice" || len(r.Missing) != 0 {
		t.Errorf("the paper that claims what is printed: got %+v, want nothing missing", r)
	}
	for _, c := range []struct{ what, text, want string }{
		{"show", h.ok("show", "claims"), "answer     42\n           1 of 1 vote; 0 other papers say the same, 0 papers say otherwise\n           sure: high (its program prints what it claims)\n"},
		{"the summary", summary(t, h, "claims"), "> 42 · 1 of 1 vote; 0 other papers say the same, 0 papers say otherwise · sure: high (its program prints what it claims) · publication " + right.Ref + " by agent-0\n\nIt is so\n"},
		{"list", h.ok("list"), "42, sure: high"},
		{"the list of papers", h.ok("publication", "list", "claims"), "same output twice, 1 of 1 claim not in it"},
		{"the paper", h.ok("publication", "view", wrong.Ref), "NOT printed   43"},
		{"the trace", h.ok("trace", "claims"), "claims that are not in its output: 43"},
		{"the trace", h.ok("trace", "claims"), "the lab tells agent-0: Advisory (claims not shown)"},
	} {
		if !strings.Contains(c.text, c.want) {
			t.Errorf("%s does not say %q:\n%s", c.what, c.want, c.text)
		}
	}
	h.run("verify", "claims").want(t, 0, "consistent")
	h.run("replay", "claims").want(t, 0, "identical")
	papersInACrate(t, h, right.Ref)
	must(t, os.RemoveAll(right.Folder))
	h.run("verify", "claims").want(t, 1, filepath.Base(right.Folder))
}

// summary is what the folder of a quest says in the end.
func summary(t *testing.T, h *home, quest string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(h.dir, "quests", quest, "SUMMARY.md"))
	must(t, err)
	return string(data)
}

// papersInACrate checks that a crate has the papers to be read, and comes back.
func papersInACrate(t *testing.T, h *home, ref string) {
	t.Helper()
	h.ok("export", "claims", "claims.zip")
	h.ok("import", "claims.zip", "--as", "again")
	r, err := zip.OpenReader(filepath.Join(h.work, "claims.zip"))
	must(t, err)
	defer r.Close()
	for name, want := range map[string]string{
		"publications/" + ref + "/publication.md":   "It is 42, see [Smith].\n",
		"publications/" + ref + "/reproduction.txt": "it is 42\n",
		"SUMMARY.md": "> 42 · 1 of 1 vote",
	} {
		f, err := r.Open(name)
		must(t, err)
		data, err := io.ReadAll(f)
		must(t, err)
		if !strings.Contains(string(data), want) {
			t.Errorf("%s of the crate says %q, want %q in it", name, data, want)
		}
	}
}
