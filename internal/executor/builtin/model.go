package builtin

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/anthropic"
	"lyceum/internal/model/gemini"
	"lyceum/internal/model/openai"
	"lyceum/internal/model/wire"
)

// asker asks the gateway, and asks again where that helps.
type asker struct {
	opts Options

	mu   sync.Mutex
	wire string
}

func newAsker(opts Options) *asker {
	return &asker{opts: opts, wire: cmp.Or(opts.Wire, event.WireAnthropic)}
}

// How often a request is made, and how long the pauses between are at most.
const (
	maxTries = 6
	maxPause = 30 * time.Second
)

// otherFormat is how the gateway says that a model is asked in another format: see
// gateway.Handler.
var otherFormat = regexp.MustCompile(`is asked in the format (anthropic|chat|responses|gemini), and this is`)

// ask returns an answer that is whole. emit is told of it as it comes, and with model.Restart
// that what came is void.
func (a *asker) ask(ctx context.Context, r *model.Request, emit func(model.Delta)) (*model.Answer, error) {
	switched := false
	for try := 1; ; try++ {
		said := false
		ans, err := a.driver().Generate(ctx, r, func(d model.Delta) {
			said = true
			emit(d)
		})
		if err == nil {
			return ans, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if said {
			emit(model.Delta{Kind: model.Restart})
		}
		if !switched && a.opts.Wire == "" && a.follow(err) {
			switched = true
			continue
		}
		e, ok := errors.AsType[*model.Error](err)
		if !ok || !e.Retryable() || try >= maxTries {
			return nil, err
		}
		wait := min(max(e.After, time.Second<<(try-1)), maxPause)
		if err := a.opts.Pause(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// follow takes the format that the gateway names, if it does.
func (a *asker) follow(err error) bool {
	m := otherFormat.FindStringSubmatch(err.Error())
	if m == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	changed := a.wire != m[1]
	a.wire = m[1]
	return changed
}

// driver speaks the format of now.
func (a *asker) driver() model.Model {
	a.mu.Lock()
	format := a.wire
	a.mu.Unlock()
	base := strings.TrimRight(a.opts.Gateway, "/")
	c := &wire.Client{Provider: "the gateway", Base: base, Header: http.Header{}, Secrets: []string{a.opts.Token}}
	switch format {
	case event.WireChat:
		c.Base = base + "/v1"
		c.Header.Set("Authorization", "Bearer "+a.opts.Token)
		return openai.NewChat(c, openai.Options{Provider: "gateway"})
	case event.WireResponses:
		c.Base = base + "/v1"
		c.Header.Set("Authorization", "Bearer "+a.opts.Token)
		return openai.NewResponses(c, openai.Options{Provider: "gateway"})
	case event.WireGemini:
		c.Base = base + "/v1beta"
		c.Header.Set("X-Goog-Api-Key", a.opts.Token)
		return gemini.New(c, gemini.Options{Provider: "gateway"})
	}
	c.Header.Set("X-Api-Key", a.opts.Token)
	return anthropic.New(c, anthropic.Options{Provider: "gateway"})
}

// name is what to call the model. In Gemini's format it stands in a path.
func (a *asker) name() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.wire == event.WireGemini {
		return unpathable.ReplaceAllString(a.opts.Model, "-")
	}
	return a.opts.Model
}

var unpathable = regexp.MustCompile(`[^A-Za-z0-9._-]`)
