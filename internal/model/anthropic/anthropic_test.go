package anthropic

import (
	"net/http"
	"testing"
	"time"

	"lyceum/internal/model"
	"lyceum/internal/model/modeltest"
	"lyceum/internal/model/wire"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func driver(name string) modeltest.Driver {
	open := func(base, key string, silence time.Duration) model.Model {
		return New(&wire.Client{
			Provider: "Anthropic", Base: base, Header: http.Header{"X-Api-Key": {key}}, Secrets: []string{key}, Silence: silence,
		}, Options{})
	}
	return modeltest.Driver{
		Wire: &modeltest.AnthropicWire{}, Provider: "anthropic", Model: name, Thinking: true, Images: true, CachePoints: true,
		Open: func(base, key string) model.Model { return open(base, key, 0) }, OpenQuiet: open,
	}
}

func TestWithABudget(t *testing.T) { modeltest.Exercise(t, driver("claude-sonnet-4-5-20250929")) }
func TestAdaptively(t *testing.T)  { modeltest.Exercise(t, driver("claude-opus-4-6")) }
