package provider

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lyceum/internal/need"
)

// TestKeyringForReal stores a key in a keyring of its own, as docs/models.md says,
// and finds it there. It runs itself again within a session bus.
func TestKeyringForReal(t *testing.T) {
	if variable := os.Getenv("LYCEUM_TEST_KEYRING"); variable != "" {
		key, err := keyring(context.Background(), variable)
		fmt.Printf("found %q %v\n", key, err)
		return
	}
	t.Parallel()
	need.Programs(t, "dbus-run-session", "gnome-keyring-daemon", "secret-tool")
	const script = `
printf pw | gnome-keyring-daemon --unlock --components=secrets >/dev/null 2>&1
printf sk-ant-in-the-keyring | secret-tool store --label=lyceum service lyceum account ANTHROPIC_API_KEY || exit 1
for v in ANTHROPIC_API_KEY OPENAI_API_KEY; do LYCEUM_TEST_KEYRING=$v "$TEST_BINARY" -test.run '^TestKeyringForReal$'; done
`
	dir := t.TempDir()
	run := filepath.Join(dir, "run")
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
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_RUNTIME_DIR="+run, "TEST_BINARY="+self)
	cmd.WaitDelay = 2 * time.Second
	out, err := cmd.CombinedOutput()
	text := string(out)
	if !strings.Contains(text, `found "sk-ant-in-the-keyring" <nil>`) || !strings.Contains(text, `found "" <nil>`) {
		t.Fatalf("the keyring: got %v\n%s, want the key, and none where none is", err, text)
	}
}
