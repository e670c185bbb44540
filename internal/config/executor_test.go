package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestExecutors(t *testing.T) {
	t.Parallel()
	c, err := Parse("c.yaml", []byte(`
executors:
  mine:
    folder: /opt/agents/mine/
    command: ["{folder}/bin/mine", --acp]
    variables: {OPENAI_API_KEY: "{token}", OPENAI_BASE_URL: "{gateway}/v1", MINE_DISABLE_KEYRING: "1"}
    files: {config/settings.json: '{"model": "{model}"}'}
    wire: chat
    mcp: stdio
    mode: ask
    authenticate: api-key
    version: 1.2.3
    no_read: false
    reported: true
  claude: {folder: /opt/claude}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]Executor{
		"mine": {
			Folder: "/opt/agents/mine", Command: []string{"{folder}/bin/mine", "--acp"},
			Variables: map[string]string{"OPENAI_API_KEY": "{token}", "OPENAI_BASE_URL": "{gateway}/v1", "MINE_DISABLE_KEYRING": "1"},
			Files:     map[string]string{"config/settings.json": `{"model": "{model}"}`},
			Wire:      "chat", MCP: "stdio", Mode: "ask", Authenticate: "api-key", Version: "1.2.3", NoRead: new(false), Reported: new(true),
		},
		"claude": {Folder: "/opt/claude"},
	}
	if diff := cmp.Diff(want, c.Executors); diff != "" {
		t.Errorf("what was read of executors (-want +got):\n%s", diff)
	}
}

func TestExecutorsThatCannotBe(t *testing.T) {
	t.Parallel()
	many := "executors:\n"
	for i := range maxExecutors + 1 {
		many += fmt.Sprintf("  e%d: {wire: chat}\n", i)
	}
	for text, want := range map[string]string{
		"executors: {Mine: {wire: chat}}":                                         "cannot name an executor",
		"executors: {mine: {folder: agents/mine}}":                                "absolute path",
		"executors: {mine: {command: mine --acp}}":                                "command",
		"executors: {mine: {command: []}}":                                        "must be a list",
		"executors: {mine: {command: ['', a]}}":                                   "must be a list",
		"executors: {mine: {wire: grpc}}":                                         "wire",
		"executors: {mine: {mcp: sse}}":                                           "mcp",
		"executors: {mine: {mode: [a]}}":                                          "mode",
		"executors: {mine: {reported: 7}}":                                        "reported",
		"executors: {mine: {foldr: /opt}}":                                        `unknown key "foldr"`,
		"executors: {mine: {api_key: sk-1}}":                                      "keys are not kept in config.yaml",
		"executors: {mine: {variables: {1A: x}}}":                                 "no name of a variable",
		"executors: {mine: {variables: {LYCEUM_HOME: x}}}":                        "are Lyceum's",
		"executors: {mine: {variables: {A_API_KEY: sk-canary-Zq7Xw2Vt9Lm4Rb6K}}}": "keys never go into a computer",
		"executors: {mine: {variables: [A]}}":                                     "must be a mapping",
		"executors: {mine: {files: {../x: y}}}":                                   "no path of a file",
		"executors: {mine: {files: {/etc/x: y}}}":                                 "no path of a file",
		"executors: {mine: {files: {a/../b: y}}}":                                 "no path of a file",
		"executors: [mine]":                                                       "must be a mapping from names",
		many:                                                                      "want at most 32",
	} {
		_, err := Parse("c.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%.80s: got %v, want %q, and no key in it", text, err, want)
		}
	}
}
