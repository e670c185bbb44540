package identity_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/identity"
	"lyceum/internal/need"
	"lyceum/internal/proof"
)

// TestAKeyInARealKeyring: a key is made, found again and rotated with its secret in a keyring alone. The
// test runs itself again within a session bus, in a process for each step.
func TestAKeyInARealKeyring(t *testing.T) {
	if step := os.Getenv("LYCEUM_TEST_IDENTITY"); step != "" {
		fmt.Println(step, kept(step, os.Getenv("LYCEUM_TEST_HOME")))
		return
	}
	t.Parallel()
	need.Programs(t, "dbus-run-session", "gnome-keyring-daemon", "secret-tool")
	const script = `
printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1
for s in make sign rotate sign lose; do LYCEUM_TEST_IDENTITY=$s "$TEST_BINARY" -test.run '^TestAKeyInARealKeyring$'; done
`
	dir := t.TempDir()
	run, home := filepath.Join(dir, "run"), filepath.Join(dir, "lyceum")
	if err := os.Mkdir(run, 0o700); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "dbus-run-session", "--", "sh", "-c", script)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_RUNTIME_DIR="+run, "TEST_BINARY="+self, "LYCEUM_TEST_HOME="+home)
	cmd.WaitDelay = 2 * time.Second
	out, err := cmd.CombinedOutput()
	for _, want := range []string{"make ok", "rotate ok", "lose ok"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("want %q of a home whose key is in a keyring: %v\n%s", want, err, out)
		}
	}
	if n := strings.Count(string(out), "sign ok"); n != 2 {
		t.Errorf("the secret was found %d times, want before and after the rotation:\n%s", n, out)
	}
	err = filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), "PRIVATE") || strings.HasSuffix(path, ".key") {
			t.Errorf("the secret is in the keyring, and %s has one", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// kept does one step, in a process of its own.
func kept(step, home string) string {
	ctx, now := context.Background(), event.Time(time.Now().UnixMicro())
	if step == "make" {
		_, err := identity.Make(ctx, home, "ada.example", identity.Keyring, "", now)
		return told(err)
	}
	s, place, err := identity.Signer(ctx, home)
	if err != nil || place != identity.Keyring {
		return fmt.Sprintf("in %q: %v", place, err)
	}
	switch step {
	case "sign":
		sig, err := s.Sign("a text\n")
		if err == nil {
			if got, _ := (proof.Note{Text: "a text\n", Signatures: []proof.Signature{sig}}).By(s.Verifier(proof.Author)); got != proof.Good {
				return "the key of the book is not that of the keyring"
			}
		}
		return told(err)
	case "rotate":
		next, err := identity.Rotate(ctx, home, s, identity.Keyring, "", now)
		book, failed := identity.Load(home)
		if err != nil || failed != nil || len(book.Lineage(next.Verifier(proof.Author))) != 1 {
			return fmt.Sprint(err, failed)
		}
		return "ok"
	}
	// What the keyring does not have is told, and what to do about it.
	if err := exec.Command("secret-tool", "clear", "service", "lyceum", "account", fmt.Sprintf("signing-key-%08x", s.Verifier(proof.Author).ID())).Run(); err != nil {
		return err.Error()
	}
	if _, _, err := identity.Signer(ctx, home); err == nil || !strings.Contains(err.Error(), "the keyring does not have the key") {
		return fmt.Sprint(err)
	}
	return "ok"
}

func told(err error) string {
	if err != nil {
		return err.Error()
	}
	return "ok"
}
