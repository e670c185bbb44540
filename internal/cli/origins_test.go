package cli_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// configure writes config.yaml.
func (h *home) configure(text string) {
	h.t.Helper()
	if err := errors.Join(os.MkdirAll(h.dir, 0o700), os.WriteFile(filepath.Join(h.dir, "config.yaml"), []byte(text), 0o600)); err != nil {
		h.t.Fatal(err)
	}
}

// settingsOf are the settings that config show tells of a quest or a quest.yaml, as "value, from".
func (h *home) settingsOf(args ...string) map[string]string {
	h.t.Helper()
	var got struct {
		Settings []struct{ Key, Value, From string }
	}
	if err := json.Unmarshal([]byte(h.ok(append([]string{"config", "show", "--json"}, args...)...)), &got); err != nil {
		h.t.Fatal(err)
	}
	out := map[string]string{}
	for _, s := range got.Settings {
		if out[s.Key] != "" {
			h.t.Errorf("%s is told twice", s.Key)
		}
		out[s.Key] = s.Value + ", " + s.From
	}
	return out
}

// TestSettingsAreToldWithTheirOrigins: flags over quest.yaml over config.yaml, lists of servers by
// their names; the same before a quest is made and after, whatever the files say by then.
func TestSettingsAreToldWithTheirOrigins(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{
		"quest.yaml": "name: kept\nproblem: What is it?\nlimits: {turns: 5, cost: 1.50}\ncomputer: {driver: namespaces, memory: 256MiB, allow_write: [out, /tmp]}\n" +
			"mcp: {one: {run: mine}}\n",
	})
	h.configure("model: demo\ncomputer: {allow_write: [other], deny_read: [.env, '*.pem']}\nmcp: {one: {run: theirs}, two: {run: two}}\n")
	want := map[string]string{
		"model": `"demo", config.yaml`, "limits.turns": "7, flag", "limits.cost": "1.5, quest.yaml", "computer.driver": `"namespaces", quest.yaml`, "computer.memory": `"256MiB", quest.yaml`,
		"computer.wall": `"24h0m0s", default`, "computer.allow_write": `["out","/tmp"], quest.yaml`, "computer.deny_read": `[".env","*.pem"], config.yaml`,
		"mcp.one": `{"run":"mine"}, quest.yaml`, "mcp.two": `{"run":"two"}, config.yaml`, "name": `"kept", quest.yaml`,
	}
	check := func(what string, got map[string]string) {
		t.Helper()
		for key, is := range want {
			if got[key] != is {
				t.Errorf("%s: %s is %q, want %q", what, key, got[key], is)
			}
		}
	}
	check("before", h.settingsOf("quest.yaml", "--max-turns", "7"))
	h.ok("create", "quest.yaml", "--max-turns", "7")
	h.configure("model: other/model\n")
	check("after", h.settingsOf("kept"))
	if text := h.ok("config", "show", "kept"); !strings.Contains(text, "config.yaml") || !strings.Contains(text, "computer.deny_read") {
		t.Errorf("config show prints %q", text)
	}
}
