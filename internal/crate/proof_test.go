package crate

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"testing"

	"lyceum/internal/proof"
	"lyceum/internal/runtime"
	"lyceum/internal/vouch"
)

// signs has the quests of a home signed by a key, and returns whom to believe for it.
func signs(t *testing.T, rt *runtime.Runtime, name string) proof.Known {
	t.Helper()
	seed := sha256.Sum256([]byte(name))
	signer, err := proof.NewSigner(name, seed[:])
	if err != nil {
		t.Fatal(err)
	}
	office := vouch.Open(vouch.Options{Ledger: rt.Ledger, Signer: signer, Every: 5, Say: func(line string) { t.Errorf("a quest is not signed: %s", line) }})
	t.Cleanup(func() { office.Close() })
	rt.Vouch = office
	return proof.Known{Keys: []proof.Key{{Verifier: signer.Verifier(proof.Author), Trust: "trusted"}}}
}

func verdict(t *testing.T, rt *runtime.Runtime, quest string, known proof.Known) *proof.Verdict {
	t.Helper()
	v, err := vouch.Judge(t.Context(), rt.Ledger, quest, known)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestCheckpointsTravelWithAQuest: an export of a signed quest has its checkpoints, an import keeps
// them, and what is exported again is the same; when the quest goes on there, it does in another log.
func TestCheckpointsTravelWithAQuest(t *testing.T) {
	t.Parallel()
	ours := newHome(t)
	known := signs(t, ours, "ada.example")
	runQuest(t, ours, "honest", nil)
	before := verdict(t, ours, "small", known)
	if before.Last == nil || before.Last.Size != before.Events || before.Broken != nil || len(before.Checkpoints) < 2 {
		t.Fatalf("a quest that ran with a key: %s; %d checkpoints", before.Words(), len(before.Checkpoints))
	}
	theirs := roundTrip(t, ours, "small", "")
	v := verdict(t, theirs, "small", known)
	if v.Last == nil || v.Last.Size != before.Events || len(v.Checkpoints) != len(before.Checkpoints) {
		t.Errorf("after the import: %s", v.Words())
	}
	graph := checkGraph(t, exported(t, ours, "small"))
	if graph[proofFile] == nil {
		t.Errorf("the metadata does not describe %s", proofFile)
	}
	also := signs(t, theirs, "bob.example")
	known.Keys = append(known.Keys, also.Keys...)
	fork, err := theirs.Fork(t.Context(), "small", runtime.ForkOptions{Name: "branch", At: before.Checkpoints[0].Size, Message: "Again."})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := theirs.Run(t.Context(), fork.Name, runtime.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	v = verdict(t, theirs, fork.Name, known)
	if v.Broken != nil || v.Checkpoints[0].Origin != before.Last.Origin || !strings.HasPrefix(v.Last.Origin, "bob.example/") || v.Last.Size != v.Events {
		t.Errorf("the fork: %s; its first checkpoint is of %s, its last of %s", v.Words(), v.Checkpoints[0].Origin, v.Last.Origin)
	}
}

// TestAnUnsignedQuestIsAsBefore: without a key nothing is added to a crate.
func TestAnUnsignedQuestIsAsBefore(t *testing.T) {
	t.Parallel()
	rt := newHome(t)
	runQuest(t, rt, "honest", nil)
	for _, f := range unzip(t, exported(t, rt, "small")) {
		if f.name == proofFile {
			t.Error("an unsigned quest has a file of checkpoints")
		}
	}
	if v := verdict(t, rt, "small", proof.Known{}); !strings.HasPrefix(v.Words(), "not signed") || v.Broken != nil {
		t.Errorf("an unsigned quest: %s", v.Words())
	}
}

// TestWhatIsNoProofFileIsRefused: one that says something else than its form allows.
func TestWhatIsNoProofFileIsRefused(t *testing.T) {
	t.Parallel()
	rt := newHome(t)
	signs(t, rt, "ada")
	runQuest(t, rt, "honest", nil)
	files := unzip(t, exported(t, rt, "small"))
	at := -1
	for i, f := range files {
		if f.name == proofFile {
			at = i
		}
	}
	if at < 0 {
		t.Fatal("a signed quest has no file of checkpoints")
	}
	for name, change := range map[string]func(string) string{
		"another form":    func(s string) string { return strings.Replace(s, testimonyForm, "lyceum-proof/9", 1) },
		"more than it is": func(s string) string { return strings.Replace(s, `"format"`, `"extra": 1, "format"`, 1) },
		"other spaces":    func(s string) string { return strings.Replace(s, "\n  ", "\n   ", 1) },
		"another root":    func(s string) string { return strings.Replace(s, `=\n\n`, `\n\n`, 1) },
		"no JSON":         func(s string) string { return s[1:] },
		"it is changed":   func(s string) string { return strings.Replace(s, "ada/", "eve/", 1) }, // the metadata has its hash
	} {
		data := change(string(files[at].data))
		if data == string(files[at].data) {
			t.Errorf("%s: nothing was changed", name)
		}
		if _, err := imported(t, newHome(t), rezip(t, replaced(files, at, file{name: proofFile, data: []byte(data)})), ""); err == nil {
			t.Errorf("%s: the crate was imported", name)
		}
	}
	if _, err := imported(t, newHome(t), rezip(t, files), ""); err != nil {
		t.Errorf("the crate itself: %v", err)
	}
	if bytes.Contains(files[at].data, []byte("PRIVATE")) {
		t.Error("the file holds a secret key")
	}
}
