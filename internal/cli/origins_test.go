package cli_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/need"
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

// TestFlagsBoundWhatAgentsDo: --allow-write and --deny-read take the place of the lists in
// quest.yaml and config.yaml, are told as a flag's word, and hold.
func TestFlagsBoundWhatAgentsDo(t *testing.T) {
	t.Parallel()
	need.Program(t, "bwrap")
	h := newHome(t, map[string]string{
		"quest.yaml": "name: kept\nproblem: What is it?\nmodel: script:plan.yaml\ndata: src\ncomputer: {driver: bubblewrap, allow_write: [out]}\n",
		"none.yaml":  "name: none\nproblem: What is it?\nmodel: script:plan.yaml\n",
		"plan.yaml": "rules:\n  - on: {turn: 1}\n    call:\n      - {tool: read_file, args: {path: private.txt}}\n      - {tool: write_file, args: {path: out/a, content: x}}\n" +
			"      - {tool: write_file, args: {path: notes/a, content: x}}\n      - {tool: exec, args: {command: \"cat private.txt; echo x > out/b || echo y > notes/b; cat notes/b\"}}\n  - on: {turn: 2}\n    say: done\n",
		"src/private.txt": "hidden-from-all",
		"src/out/kept":    "1",
	})
	h.configure("computer: {deny_read: [.env]}\n")
	flags := []string{"--allow-write", "notes/,/tmp", "--deny-read", "Private.txt"}
	want := map[string]string{"computer.allow_write": `["notes","/tmp"], flag`, "computer.deny_read": `["private.txt"], flag`, "computer.driver": `"bubblewrap", quest.yaml`}
	check := func(what string, got map[string]string) {
		t.Helper()
		for key, is := range want {
			if got[key] != is {
				t.Errorf("%s: %s is %q, want %q", what, key, got[key], is)
			}
		}
	}
	check("before", h.settingsOf(append([]string{"quest.yaml"}, flags...)...))
	if got := h.settingsOf("quest.yaml", "--deny-read=")["computer.deny_read"]; got != "[], flag" {
		t.Errorf("nothing hidden by a flag: got %q", got)
	}
	h.ok(append([]string{"run", "quest.yaml"}, flags...)...)
	check("after", h.settingsOf("kept"))
	var results []string
	for _, e := range h.rawEvents("kept") {
		if e["type"] == "tool.result" {
			text, _ := body(e)["output"].(map[string]any)["text"].(string)
			results = append(results, text)
		}
	}
	if len(results) != 4 || !strings.Contains(results[0], "(deny_read)") || !strings.Contains(results[1], "(allow_write)") || !strings.Contains(results[2], "wrote") || strings.Contains(results[3], "hidden-from-all") || !strings.Contains(results[3], "y\n") {
		t.Errorf("the agent was answered %q", results)
	}
	for _, c := range []struct{ want, args string }{
		{"--allow-write: ", "run quest.yaml --name x --allow-write /etc"},
		{"--deny-read: ", "run quest.yaml --name x --deny-read a/b"},
		{"--deny-read: ", "run none.yaml --deny-read a"},
		{"--allow-write cannot change a quest that exists", "run kept --allow-write out"},
	} {
		h.run(strings.Fields(c.args)...).want(t, 2, c.want)
	}
	h.run("run", "quest.yaml", "--allow-write", "out").want(t, 1, "made with other bounds")
}
