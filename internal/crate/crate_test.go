package crate

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
)

// roundTrip exports small, imports it elsewhere and checks that it is the same.
func roundTrip(t *testing.T, rt *runtime.Runtime, name, as string) *runtime.Runtime {
	t.Helper()
	ctx := t.Context()
	first := exported(t, rt, name)
	other := newHome(t)
	s, err := imported(t, other, first, as)
	if err != nil {
		t.Fatal(err)
	}
	here := as
	if here == "" {
		here = s.Name
	}
	want, err := rt.Ledger.Head(ctx, name)
	if err != nil {
		t.Fatal(err)
	}
	got, err := other.Ledger.Head(ctx, here)
	if err != nil || got.Hash != want.Hash || got.Seq != want.Seq || s.Hash != want.Hash {
		t.Errorf("head %v, %v; want %v", got, err, want)
	}
	for what, check := range map[string]func() (*audit.Report, error){
		"verify": func() (*audit.Report, error) { return audit.Verify(ctx, other, here, nil) },
		"replay": func() (*audit.Report, error) { return audit.Replay(ctx, other, here, nil) },
	} {
		if rep, err := check(); err != nil || rep.Difference != nil || rep.Events != want.Seq {
			t.Errorf("the imported quest, checked by %s: %+v, %v", what, rep, err)
		}
	}
	if second := exported(t, other, here); !bytes.Equal(first, second) {
		t.Errorf("the export of the import has %d bytes and another content, the first export %d", len(second), len(first))
	}
	return other
}

func homeTree(t *testing.T, rt *runtime.Runtime, name string) event.Hash {
	t.Helper()
	root, err := os.OpenRoot(filepath.Join(rt.QuestDir(name), "agents", "agent-0"))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	tree, _, _, err := blob.Snapshot(t.Context(), rt.Blobs, root, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tree.Hash
}

func TestAQuestComesBackAsItWas(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 1<<20+99)
	_, _ = rand.NewChaCha8(sha256.Sum256([]byte("noise"))).Read(noise)
	data := map[string][]byte{
		"zeros.bin": make([]byte, 1<<20+1), "sub/noise.bin": noise, "sub/empty": nil, "text.csv": []byte(strings.Repeat("1,2,3 lots of the same\n", 46_000) + "end"),
	}
	for name, c := range map[string]struct {
		model string
		data  map[string][]byte
		as    string
	}{
		"Finished":         {"honest", nil, ""},
		"UnderAnotherName": {"honest", nil, "renamed"},
		"WithData":         {"honest", data, ""},
		"Failed":           {"broken", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rt := newHome(t)
			runQuest(t, rt, c.model, c.data)
			other := roundTrip(t, rt, "small", c.as)
			here := "small"
			if c.as != "" {
				here = c.as
			}
			// The workspace is unpacked when somebody runs it.
			root, err := os.OpenRoot(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			s, err := other.Load(t.Context(), here)
			if err != nil {
				t.Fatal(err)
			}
			if err := other.Restored(t.Context(), s.Agents[0].Tree)(root); err != nil {
				t.Fatal(err)
			}
			tree, _, _, err := blob.Snapshot(t.Context(), other.Blobs, root, nil)
			if want := homeTree(t, rt, "small"); err != nil || tree.Hash != want {
				t.Errorf("the workspace has the tree %s, %v, was %s", tree.Hash, err, want)
			}
		})
	}
	t.Run("WithMessagesAndALongAnswer", func(t *testing.T) {
		t.Parallel()
		rt := newHome(t)
		createQuest(t, rt, "verbose", nil)
		word := &event.UserMessage{Text: event.Text{Text: strings.Repeat("hurry ", 200)}}
		if _, err := rt.Ledger.Post(t.Context(), "small", ledger.Command{Body: word}); err != nil {
			t.Fatal(err)
		}
		if s, err := rt.Run(t.Context(), "small", runtime.RunOptions{}); err != nil || s.Answer.Ref == nil {
			t.Fatalf("the quest: got %+v, %v, want an answer as a blob", s, err)
		}
		roundTrip(t, rt, "small", "")
		data := exported(t, rt, "small")
		told := map[string]bool{}
		for id, e := range checkGraph(t, data) {
			if strings.HasPrefix(id, "#event-") {
				told[e["name"].(string)] = true
			}
		}
		if !told["user.message by person"] || !told["message.sent by core"] {
			t.Errorf("what the agent was told: %v", told)
		}
		summary := string(find(t, unzip(t, data), summaryFile))
		if verdict, answer, ok := strings.Cut(summary, "\n\n"); !ok || len(answer) != 120_001 || !strings.HasPrefix(verdict, "> ") || !strings.Contains(verdict, " · sure: unchecked") {
			t.Errorf("the summary begins with %.300q and has %d bytes, want the answer in a line and then whole", summary, len(summary))
		}
	})
	t.Run("NeverStarted", func(t *testing.T) {
		t.Parallel()
		rt := newHome(t)
		createQuest(t, rt, "honest", nil)
		other := roundTrip(t, rt, "small", "")
		if s, err := other.Run(t.Context(), "small", runtime.RunOptions{}); err != nil || s.Status != quest.Finished {
			t.Errorf("running it elsewhere: %v, %v", s, err)
		}
	})
	t.Run("Forked", func(t *testing.T) {
		t.Parallel()
		rt := newHome(t)
		runQuest(t, rt, "honest", nil)
		// Event 7 is in the middle of the first turn, with calls under way.
		if _, err := rt.Fork(t.Context(), "small", runtime.ForkOptions{Name: "branch", At: 7, Model: "broken", Dir: t.TempDir()}); err != nil {
			t.Fatal(err)
		}
		roundTrip(t, rt, "branch", "")
		if _, err := rt.Run(t.Context(), "branch", runtime.RunOptions{}); err != nil {
			t.Fatal(err)
		}
		checkGraph(t, exported(t, rt, "branch"))
		other := roundTrip(t, rt, "branch", "elsewhere")
		if s, err := other.Load(t.Context(), "elsewhere"); err != nil || s.Name != "branch" || s.Origin == nil {
			t.Errorf("the imported branch: got %+v, %v, want its name and origin", s, err)
		}
	})
}

func TestExport(t *testing.T) {
	t.Parallel()
	t.Run("PacksNothingThatImportTakesForABomb", func(t *testing.T) {
		t.Parallel()
		rt := newHome(t)
		zeros := make([]byte, 1<<20+1)
		runQuest(t, rt, "honest", map[string][]byte{"zeros": zeros})
		if n := len(exported(t, rt, "small")); n < len(zeros) {
			t.Errorf("%d zero bytes were packed into %d", len(zeros), n)
		}
	})
	t.Run("RefusesADamagedBlob", func(t *testing.T) {
		t.Parallel()
		rt := newHome(t)
		content := []byte("a file of some length")
		runQuest(t, rt, "honest", map[string][]byte{"file": content})
		name := event.HashOf(content).String()
		path := filepath.Join(rt.Home, "blobs", name[:2], name)
		if err := os.Chmod(path, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("a file of same length"), 0o600); err != nil {
			t.Fatal(err)
		}
		err := Export(t.Context(), rt, "small", &bytes.Buffer{})
		if _, ok := errors.AsType[*blob.DamageError](err); !ok || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("KnowsNoQuestThatIsNotThere", func(t *testing.T) {
		t.Parallel()
		if err := Export(t.Context(), newHome(t), "nobody", &bytes.Buffer{}); !errors.Is(err, ledger.ErrNoQuest) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("KeepsToTheLimits", func(t *testing.T) {
		t.Parallel()
		rt := newHome(t)
		createQuest(t, rt, "honest", nil)
		tight := standard
		tight.total = 1000
		if err := export(t.Context(), rt, "small", &bytes.Buffer{}, tight, ExportOptions{}); err == nil || !strings.Contains(err.Error(), "more than the 1000") {
			t.Errorf("got %v", err)
		}
	})
}

func TestImportKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	data := smallCrate(t)
	rt := newHome(t)
	if _, err := imported(t, rt, data, ""); err != nil {
		t.Fatal(err)
	}
	for _, as := range []string{"", "small"} {
		if _, err := imported(t, rt, data, as); !errors.Is(err, runtime.ErrExists) {
			t.Errorf("a second import as %q: %v", as, err)
		}
	}
	if _, err := imported(t, rt, data, "../up"); err == nil || !strings.Contains(err.Error(), `"../up"`) {
		t.Errorf("a name that is a path: %v", err)
	}
	if rep, err := audit.Verify(t.Context(), rt, "small", nil); err != nil || rep.Difference != nil {
		t.Errorf("after all that: %+v, %v", rep, err)
	}
}

// A quest whose folder cannot be made is not left behind half.
func TestImportTakesBackWhatItCannotFinish(t *testing.T) {
	t.Parallel()
	data := smallCrate(t)
	rt := newHome(t)
	if err := os.WriteFile(filepath.Join(rt.Home, "quests"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := imported(t, rt, data, ""); err == nil {
		t.Fatal("a file stands where the quests belong, and still it was imported")
	}
	if heads, err := rt.Ledger.Quests(t.Context()); err != nil || len(heads) > 0 {
		t.Errorf("left behind: %v, %v", heads, err)
	}
}
