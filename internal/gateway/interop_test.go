package gateway_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"

	"lyceum/internal/config"
	"lyceum/internal/event"
	"lyceum/internal/gateway"
	"lyceum/internal/model/provider"
)

// TestServeForInterop is the gateway for clients of other people: scripts/interop.d/gateway
// starts it, with a model server behind it, and closes its standard input at the end. It
// writes down each result.
func TestServeForInterop(t *testing.T) {
	server := os.Getenv("LYCEUM_INTEROP_MODEL")
	if server == "" {
		return // nobody asks for it
	}
	yaml := ""
	for name, api := range map[string]string{"ant": "anthropic", "chat": "openai", "resp": "responses", "gem": "gemini"} {
		yaml += fmt.Sprintf("  %s: {api: %s, url: %q, key_variable: CANARY_KEY}\n", name, api, server)
	}
	c, err := config.Parse("config.yaml", []byte("providers:\n"+yaml))
	must(t, err)
	found, err := provider.New(&provider.Options{
		Config: c, Getenv: func(v string) string { return map[string]string{"CANARY_KEY": canary}[v] },
		Keyring: func(context.Context, string) (string, error) { return "", nil },
	})
	must(t, err)
	defer found.Close()
	urls := map[string]string{}
	for _, name := range []string{"ant", "chat", "resp", "gem"} {
		way, err := found.Forward(name + "/fake-1")
		must(t, err)
		o := &office{t: t}
		o.ended = func(r *event.GatewayResult) {
			line, _ := json.Marshal(map[string]any{"provider": name, "status": r.Status, "input": r.Usage.Input, "output": r.Usage.Output, "estimated": r.Estimated, "error": r.Error})
			fmt.Fprintln(os.Stderr, string(line))
		}
		o.Handler = &gateway.Handler{Quest: "q", Agent: "agent-0", Own: name + "/fake-1", Models: map[string]gateway.Model{name + "/fake-1": {Upstream: way}}, Any: true, Ask: o.ask}
		urls[name] = o.open(http.Handler(o.Handler), "agent-0")
	}
	line, err := json.Marshal(urls)
	must(t, err)
	must(t, os.WriteFile(os.Getenv("LYCEUM_INTEROP_URLS"), line, 0o600))
	_, _ = io.Copy(io.Discard, os.Stdin)
}
