package event_test

import (
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/event"
)

func TestAFileDiffFitsHoweverLongItsPathsAre(t *testing.T) {
	t.Parallel()
	for name, path := range map[string]string{
		"Short": "a", "Usual": "src/internal/event/computers.go", "Controls": strings.Repeat("\x01", 255),
		"Quotes": strings.Repeat(`"\`, 100), "Deep": strings.Repeat("folder/", 30_000), "Chinese": strings.Repeat("中文", 60),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &event.FileDiff{Cause: event.CauseOutside, Before: &event.TreeRef{Size: 1 << 53}, Call: 1 << 53, More: 7}
			d.After.Size = 1 << 53
			for i := range 2000 {
				d.Changes = append(d.Changes, event.Change{Kind: event.Removed, Path: fmt.Sprint(path, i), Size: 1 << 53})
				d.Skipped = append(d.Skipped, event.Skipped{Path: path, Reason: path})
			}
			d.Fit()
			if _, err := event.EncodeBody(d); err != nil {
				t.Error(err)
			}
			if got := int64(len(d.Changes)) + d.More; got != 2007 {
				t.Errorf("%d changes, listed and not, want 2007", got)
			}
			if len(path) < 300 && (len(d.Changes) == 0 || d.Changes[0].Path != path+"0") {
				t.Errorf("the first of %d changes is gone", len(d.Changes))
			}
		})
	}
	small := &event.FileDiff{Changes: []event.Change{{Kind: event.Added, Path: "a"}}, Skipped: []event.Skipped{{Path: "s", Reason: "a socket"}}}
	if small.Fit(); len(small.Changes) != 1 || len(small.Skipped) != 1 || small.More != 0 {
		t.Errorf("what fits was shortened: %+v", small)
	}
}

func TestTheFingerprintOfAComputerIsOverEverythingElse(t *testing.T) {
	t.Parallel()
	sum := func(change func(*event.ComputerStarted)) event.Hash {
		b := &event.ComputerStarted{Arch: "amd64", Base: "sha256:1", Driver: "bubblewrap", Kernel: "6.1", Confinement: []string{"seccomp"}}
		b.Limits.CPUs = 2000
		change(b)
		h, err := b.Sum()
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	plain := sum(func(*event.ComputerStarted) {})
	if got := sum(func(b *event.ComputerStarted) { b.Fingerprint = event.HashOf(nil) }); got != plain {
		t.Error("the fingerprint is part of itself")
	}
	if got := sum(func(b *event.ComputerStarted) { b.Owner = "server/echo" }); got != plain {
		t.Error("the same computer has another fingerprint with another owner")
	}
	if want := event.HashOf([]byte(`{"arch":"amd64","base":"sha256:1","confinement":["seccomp"],"driver":"bubblewrap","kernel":"6.1","limits":{"cpus":2000},"network":{}}`)); plain != want {
		t.Errorf("the fingerprint is not the hash of the other members in canonical form")
	}
	for name, change := range map[string]func(*event.ComputerStarted){
		"arch": func(b *event.ComputerStarted) { b.Arch = "arm64" }, "base": func(b *event.ComputerStarted) { b.Base = "" },
		"driver": func(b *event.ComputerStarted) { b.Driver = "docker" }, "kernel": func(b *event.ComputerStarted) { b.Kernel = "5" },
		"limits": func(b *event.ComputerStarted) { b.Limits.Wall = 1 }, "network": func(b *event.ComputerStarted) { b.Network.Open = true },
		"confinement": func(b *event.ComputerStarted) { b.Confinement = nil }, "ports": func(b *event.ComputerStarted) { b.Ports = []string{"mcp"} },
		"folders": func(b *event.ComputerStarted) { b.Folders = []event.ComputerFolder{{Name: "tools"}} },
	} {
		if sum(change) == plain {
			t.Errorf("another %s has the same fingerprint", name)
		}
	}
}
