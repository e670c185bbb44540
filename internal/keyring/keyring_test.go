package keyring_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"lyceum/internal/keyring"
	"lyceum/internal/need"
)

// TestKeyringForReal stores secrets in a keyring of its own, as docs/models.md says and by
// Put, and finds them there. It runs itself again within a session bus.
func TestKeyringForReal(t *testing.T) {
	if variable := os.Getenv("LYCEUM_TEST_KEYRING"); variable != "" {
		ctx := context.Background()
		key, err := keyring.Get(ctx, variable)
		fmt.Printf("found %q %v\n", key, err)
		long := strings.Repeat("\nlong", keyring.MaxSecret/5)
		err = keyring.Put(ctx, "mcp:a b", long)
		back, _ := keyring.Get(ctx, "mcp:a b")
		fmt.Println("kept", back == long, err)
		err = keyring.Put(ctx, "mcp:a b", "another")
		back, _ = keyring.Get(ctx, "mcp:a b")
		fmt.Println("replaced", back == "another", err)
		err = keyring.Drop(ctx, "mcp:a b")
		back, _ = keyring.Get(ctx, "mcp:a b")
		fmt.Println("dropped", back == "", err, keyring.Drop(ctx, "mcp:a b"))
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
	for _, want := range []string{"kept true <nil>", "replaced true <nil>", "dropped true <nil> <nil>"} {
		if strings.Count(text, want) != 2 {
			t.Errorf("the keyring says\n%s, want twice %s", text, want)
		}
	}
	if !strings.Contains(text, `found "sk-ant-in-the-keyring" <nil>`) || !strings.Contains(text, `found "" <nil>`) {
		t.Fatalf("the keyring: got %v\n%s, want the key, and none where none is", err, text)
	}
}

func TestItRunsSecretTool(t *testing.T) {
	if runtime.GOOS != "linux" {
		need.Elsewhere(t, "the test has a secret-tool of its own, which only Linux asks")
	}
	dir := t.TempDir()
	tool := "#!/bin/sh\n[ \"$*\" = \"lookup service lyceum account OPENAI_API_KEY\" ] || exit 1\necho sk-stored-1234\n"
	if err := need.Write(filepath.Join(dir, "secret-tool"), []byte(tool)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	if key, err := keyring.Get(t.Context(), "OPENAI_API_KEY"); key != "sk-stored-1234" || err != nil {
		t.Errorf("the key from secret-tool: got %q, %v", key, err)
	}
	if key, err := keyring.Get(t.Context(), "MISTRAL_API_KEY"); key != "" || err != nil {
		t.Errorf("a key that is not stored: %q, %v", key, err)
	}
	if err := need.Write(filepath.Join(dir, "secret-tool"), []byte("#!/bin/sh\nexec /bin/sleep 60\n")); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if key, err := keyring.Get(ctx, "OPENAI_API_KEY"); key != "" || err == nil || !strings.Contains(err.Error(), "locked") {
		t.Errorf("one that does not answer: %q, %v", key, err)
	}
	t.Setenv("PATH", t.TempDir())
	if key, err := keyring.Get(t.Context(), "OPENAI_API_KEY"); key != "" || err != nil {
		t.Errorf("without secret-tool: %q, %v", key, err)
	}
}

func TestASecretIsNoArgument(t *testing.T) {
	if runtime.GOOS != "linux" {
		need.Elsewhere(t, "the test has a secret-tool of its own, which only Linux asks")
	}
	dir := t.TempDir()
	tool := "#!/bin/sh\necho \"$*\" >> " + dir + "/args\n[ $1 != store ] || /bin/cat > " + dir + "/stored\n"
	if err := need.Write(filepath.Join(dir, "secret-tool"), []byte(tool)); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	if err := keyring.Put(t.Context(), "mcp:x", "hunter2"); err != nil {
		t.Fatal(err)
	}
	args, _ := os.ReadFile(filepath.Join(dir, "args"))
	if stored, err := os.ReadFile(filepath.Join(dir, "stored")); string(stored) != "hunter2" || strings.Contains(string(args), "hunter2") {
		t.Errorf("stored %q, %v; the arguments are %s: want the secret on standard input alone", stored, err, args)
	}
	if err := keyring.Put(t.Context(), "mcp:x", strings.Repeat("x", keyring.MaxSecret+1)); err == nil {
		t.Error("a secret that no keyring takes was taken")
	}
	t.Setenv("PATH", t.TempDir())
	if err := keyring.Put(t.Context(), "mcp:x", "hunter2"); err == nil || !strings.Contains(err.Error(), "libsecret-tools") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("without a keyring: got %v, want what to install", err)
	}
}
