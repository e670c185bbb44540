package executor

import (
	"maps"
	"slices"

	"lyceum/internal/event"
)

// The agents that Lyceum knows by name, each in the version that it was tried with. Their
// programs are other people's, and come from a folder of the host with what npm installs there:
// see docs/executors.md. In a computer there is no network: what phones home, looks for updates
// or wants a keyring is switched off, so that nothing waits for it.

// Known are their names, sorted.
func Known() []string { return slices.Sorted(maps.Keys(known)) }

// Lookup finds one by name.
func Lookup(name string) (Settings, bool) {
	s, ok := known[name]
	s.Name = name
	return s, ok
}

// node runs a script of a package in the folder with the folder's own Node, of which some agents
// need a later version than a computer has.
func node(script string, args ...string) []string {
	return append([]string{"{folder}/node_modules/node/bin/node", "{folder}/node_modules/" + script}, args...)
}

// toml is what codex reads first. A name for the model that it does not know makes it offer
// plain functions to it.
const toml = `model = "{model}"
model_provider = "lyceum"
check_for_update_on_startup = false
web_search = "disabled"
[model_providers.lyceum]
name = "Lyceum"
base_url = "{gateway}/v1"
wire_api = "responses"
env_key = "LYCEUM_TOKEN"
supports_websockets = false
[analytics]
enabled = false
`

// opencode takes its settings in a variable.
const opencode = `{"autoupdate": false, "share": "disabled", "model": "lyceum/{model}", "small_model": "lyceum/{model}",
"provider": {"lyceum": {"npm": "@ai-sdk/openai-compatible", "name": "Lyceum", "options": {"baseURL": "{gateway}/v1", "apiKey": "{token}"},
"models": {"{model}": {"name": "Lyceum", "tool_call": true, "limit": {"context": 200000, "output": 8192}}}}},
"permission": {"edit": "ask", "bash": "ask"}}`

var known = map[string]Settings{
	"claude": {
		Folder: "agents", Version: "0.99.0", Wire: event.WireAnthropic, Mode: "default", MCP: MCPHTTP, Reported: true,
		Command: node("@agentclientprotocol/claude-agent-acp/dist/index.js"),
		Variables: map[string]string{
			"HOME": "{settings}", "ANTHROPIC_BASE_URL": "{gateway}", "ANTHROPIC_API_KEY": "{token}", "ANTHROPIC_MODEL": "{model}",
			"ANTHROPIC_SMALL_FAST_MODEL": "{model}", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
			// It would hide the tools of servers behind a search.
			"ENABLE_TOOL_SEARCH": "false",
		},
	},
	"codex": {
		// Its own sandbox cannot stand in ours, and without one it asks nobody: what it may do is
		// what the computer lets it, and what it does is what it says.
		Folder: "agents", Version: "2.6.0", Wire: event.WireResponses, Mode: "agent-full-access", MCP: MCPHTTP, Reported: true,
		Command: node("@agentclientprotocol/codex-acp/dist/index.js"),
		Variables: map[string]string{
			"HOME": "{settings}", "CODEX_HOME": "{settings}/codex", "LYCEUM_TOKEN": "{token}", "OPENAI_API_KEY": "{token}", "NO_BROWSER": "1",
		},
		Files: map[string]string{"codex/config.toml": toml},
	},
	"gemini": {
		// An error for a file that is not there keeps it from writing a new one.
		Folder: "agents", Version: "0.61.0", Wire: event.WireGemini, Mode: "default", MCP: MCPHTTP, Authenticate: "gemini-api-key", NoRead: true, Reported: true,
		Command: node("@google/gemini-cli/bundle/gemini.js", "--acp"),
		Variables: map[string]string{
			"HOME": "{settings}", "GOOGLE_GEMINI_BASE_URL": "{gateway}", "GEMINI_API_KEY": "{token}", "GEMINI_MODEL": "{model}",
			"GEMINI_CLI_TRUST_WORKSPACE": "true", "GEMINI_CLI_DISABLE_AUTO_UPDATE": "true",
		},
	},
	"goose": {
		Folder: "agents", Version: "1.52.0", Wire: event.WireChat, MCP: MCPHTTP,
		Command: []string{"{folder}/node_modules/@aaif/goose-binary-linux-x64/bin/goose", "acp", "--with-builtin", "developer"},
		Variables: map[string]string{
			"HOME": "{settings}", "GOOSE_PROVIDER": "openai", "GOOSE_MODEL": "{model}", "OPENAI_HOST": "{gateway}", "OPENAI_API_KEY": "{token}",
			"GOOSE_DISABLE_KEYRING": "1", "GOOSE_MODE": "approve", "GOOSE_TELEMETRY_ENABLED": "false",
		},
	},
	"opencode": {
		Folder: "agents", Version: "1.18.33", Wire: event.WireChat, MCP: MCPHTTP, Reported: true,
		Command: []string{"{folder}/node_modules/.bin/opencode", "acp"},
		Variables: map[string]string{
			"HOME": "{settings}", "OPENCODE_CONFIG_CONTENT": opencode, "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1",
			"OPENCODE_PURE": "1", "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
		},
	},
	"qwen": {
		Folder: "agents", Version: "0.24.4", Wire: event.WireChat, Mode: "default", MCP: MCPHTTP, Reported: true,
		Command: node("@qwen-code/qwen-code/cli.js", "--acp"),
		Variables: map[string]string{
			"HOME": "{settings}", "OPENAI_BASE_URL": "{gateway}/v1", "OPENAI_API_KEY": "{token}", "OPENAI_MODEL": "{model}",
		},
	},
}

// How an agent takes the tools that Lyceum has for it.
const (
	MCPHTTP  = "http"
	MCPStdio = "stdio"
)
