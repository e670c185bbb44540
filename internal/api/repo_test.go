package api_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/api"
)

// TestRequestsNameOnlyListedRepositories: a request reaches no folder of this machine but those
// that its owner has listed, and does not hear where these are.
func TestRequestsNameOnlyListedRepositories(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "secret-place")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.py"), []byte("print(1)\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(dir, "gone")
	s := newHome(t).serve(api.Options{Model: "demo", Repos: map[string]string{"code": dir, "gone": gone}})
	make := func(name, repo string, files ...map[string]any) answer {
		return s.do("POST", "/api/quests", map[string]any{"spec": map[string]any{"name": name, "problem": "x", "repo": repo}, "files": files})
	}
	make("good", "code").want(t, 201)
	if text := string(s.do("GET", "/api/quests/good/events", nil).want(t, 200).body); !strings.Contains(text, `"repo":{`) || strings.Contains(text, dir) {
		t.Errorf("the ledger has no repo, or says where it is: %s", text)
	}
	make("sent", "mine", map[string]any{"path": "mine/a", "text": "1"}, map[string]any{"path": "mine/.git/config", "text": "[core]\n\tfsmonitor = touch /tmp/x\n"}).want(t, 201)
	for _, repo := range []string{dir, "../..", "/etc", "elsewhere", "gone"} {
		a := make("bad", repo)
		if a.code != 400 || strings.Contains(string(a.body), gone) {
			t.Errorf("repo %s: %d, %s; want a refusal that names no path", repo, a.code, a.body)
		}
	}
}
