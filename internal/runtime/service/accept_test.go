package service_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/runtime"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/runtime/service"
)

// TestAcceptanceCommands: in a real sandbox, on a tree, and what is told of them.
func TestAcceptanceCommands(t *testing.T) {
	t.Parallel()
	const secret = "sk-1234567890abcdef"
	commands := []string{
		"cat greeting && touch made",
		"test -e made && ! test -e /nothere",
		"echo loud; echo wrong >&2; exit 3",
		`echo '{"Action":"pass","Package":"p","Test":"A"}'; echo '{"Action":"fail","Package":"p","Test":"B"}'`,
		"echo key: " + secret,
		"head -c 6000000 /dev/zero | tr '\\0' x; echo the end",
		"(exec 3<>/dev/tcp/1.1.1.1/80) 2>/dev/null || wget -q -T 1 http://1.1.1.1 2>/dev/null || echo no network",
		"echo '--- FAIL: TestX (0.01s)'; head -c 9000 /dev/zero | tr '\\0' '\\n' | sed 's/^/at it/'; exit 1",
		"sleep 1000",
	}
	var report *event.TestReport
	var tree event.TreeRef
	s := newShop(func(ctx context.Context, q *runtime.Quest) (err error) {
		if tree, err = aTree(ctx, t, q.Blobs); err != nil {
			return err
		}
		report, err = service.AcceptOf(ctx, q, 7, &event.AcceptanceCall{Commands: commands, Seconds: 20, Side: event.SideAfter, Tree: tree})
		return err
	})
	rt := openRuntime(t, t.TempDir(), s)
	rt.Secrets = func() []string { return []string{secret} }
	create(t, rt)
	run(t, rt)
	if report.Error.Text != "" || len(report.Commands) != len(commands) || report.Fingerprint.IsZero() {
		t.Fatalf("got %+v, want %d commands that were run", report, len(commands))
	}
	for i, want := range []struct {
		exit int64
		end  string
		tail string
	}{
		{0, "", "hello"}, {0, "", ""}, {3, "", "loud\nwrong"}, {0, "", `"Test":"B"}`}, {0, "", "key: [key]"}, {0, "", "xxxthe end"}, {0, "", "no network"}, {1, "", "at it"}, {-1, computer.EndTimeout, ""},
	} {
		c := report.Commands[i]
		if want.exit >= 0 && c.Exit != want.exit || c.End != want.end || !strings.HasSuffix(c.Tail, want.tail) || c.Command != commands[i] || c.Good() != (want.exit == 0) {
			t.Errorf("%s: got exit %d, end %q, %q; want %+v", c.Command, c.Exit, c.End, c.Tail, want)
		}
		data, err := rt.Blobs.Get(t.Context(), c.Output.Hash)
		if err != nil || strings.Contains(string(data), secret) || int64(len(data)) != c.Output.Size {
			t.Errorf("%s: its output is not kept, or has the secret: %v", c.Command, err)
		}
	}
	if c := report.Commands[3]; c.Passed != 1 || c.Failed != 1 {
		t.Errorf("tests: got %d passed and %d failed, want one each", c.Passed, c.Failed)
	}
	if tail := report.Commands[7].Tail; !strings.HasPrefix(tail, "--- FAIL: TestX (0.01s)\n[…]\n") || len(tail) > 2<<10 {
		t.Errorf("of what failed first: got %.200q, want its line before the end", tail)
	}
	if size := report.Commands[5].Output.Size; size > 5<<20 {
		t.Errorf("of 6 MB of output %d bytes are kept", size)
	}
	if _, err := event.EncodeBody(report); err != nil {
		t.Errorf("record the report: %v", err)
	}
	if _, err := os.Stat(rt.Place("q", "acceptance-7").Home); !os.IsNotExist(err) {
		t.Errorf("the home of the commands is still there: %v", err)
	}
}

// aTree stores a folder with one file.
func aTree(ctx context.Context, t *testing.T, store blob.Store) (event.TreeRef, error) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		return event.TreeRef{}, err
	}
	defer root.Close()
	if err := root.WriteFile("greeting", []byte("hello\n"), 0o644); err != nil {
		return event.TreeRef{}, err
	}
	tree, _, _, err := blob.Snapshot(ctx, store, root, nil)
	return tree, err
}

// TestAcceptanceIsRepeated: verify --execute tells what ends otherwise from what does not.
func TestAcceptanceIsRepeated(t *testing.T) {
	t.Parallel()
	var said []string
	s := newShop(func(ctx context.Context, q *runtime.Quest) error {
		tree, err := aTree(ctx, t, q.Blobs)
		if err != nil {
			return err
		}
		call := &event.AcceptanceCall{Commands: []string{"cat greeting", "date +%N; false"}, Tree: tree}
		then, err := service.AcceptOf(ctx, q, 7, call)
		if err != nil {
			return err
		}
		other := *then
		other.Commands = []event.TestRun{then.Commands[0], then.Commands[0]}
		for _, report := range []*event.TestReport{then, &other} {
			kind, what := service.Architect{}.Recorded(nil, event.Event{Body: call})
			out, err := service.Architect{}.Again(ctx, &audit.Place{Quest: q}, event.Event{Seq: 7, Body: call}, event.Event{Seq: 8, Body: report}, audit.Executed{Kind: kind, What: what})
			if err != nil {
				return err
			}
			said = append(said, fmt.Sprint(out.Kind, " ", out.Status, " ", out.Why))
		}
		return nil
	})
	rt := openRuntime(t, t.TempDir(), s)
	create(t, rt)
	run(t, rt)
	if len(said) != 2 || !strings.HasPrefix(said[0], "acceptance "+audit.ExecSame) || !strings.HasPrefix(said[1], "acceptance "+audit.ExecDifferent) || !strings.Contains(said[1], "exit code 1") {
		t.Errorf("run again: got %q, want the same, and then another exit", said)
	}
}
