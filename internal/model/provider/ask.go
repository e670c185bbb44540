package provider

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lyceum/internal/config"
	"lyceum/internal/model/wire"
)

// What servers say about themselves: which models they have, and how much these can see.
// Whoever makes a quest of it writes it down there, so that nothing ever depends on
// asking again.

// asking is how long a server has for all that it is asked about itself.
const asking = 3 * time.Second

// SafeContext is how much a model is taken to see if neither the table nor config.yaml nor
// its server says: as much as all but the smallest do. More would be cut off by some
// servers without a word.
const SafeContext = 32_000

// measured keeps what servers have said, by the name of the model.
type measured struct {
	mu    sync.Mutex
	infos map[string]Info
}

// Measure is like Info, but asks the server of a model whose context nobody knows. If it
// does not say either, the context is a safe one, and Doubt says so.
func (r *Registry) Measure(ctx context.Context, name string) (Info, error) {
	p, bare, err := r.resolve(name)
	if err != nil {
		return Info{}, err
	}
	info := r.info(p, bare)
	if info.Context > 0 {
		return info, nil
	}
	r.measured.mu.Lock()
	defer r.measured.mu.Unlock()
	if known, ok := r.measured.infos[name]; ok {
		return known, nil
	}
	fix := fmt.Sprintf("say it in config.yaml, under models: %s: {context: …}", r.display(p.name, bare))
	size, doubt := r.askSize(ctx, p, bare)
	switch {
	case size > 0 && doubt == "":
		info.Context, info.Said = size, "its server"
	case size > 0:
		info.Context, info.Doubt = min(size, SafeContext), doubt+"; "+fix
	default:
		info.Context = SafeContext
		info.Doubt = fmt.Sprintf("nobody knows how many tokens %s can see (%s); %d are taken: %s", info.Name, doubt, SafeContext, fix)
	}
	if r.measured.infos == nil {
		r.measured.infos = map[string]Info{}
	}
	r.measured.infos[name] = info
	return info, nil
}

// askSize asks a server how many tokens a model can see. Where it cannot tell for certain,
// doubt says why.
func (r *Registry) askSize(ctx context.Context, p *provider, bare string) (size int64, doubt string) {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	c, err := r.client(ctx, p)
	if err != nil {
		return 0, err.Error()
	}
	if p.name == ollama {
		return r.askOllama(ctx, c, bare)
	}
	list, err := askModels(ctx, c, p.api)
	if err != nil && (!p.own || p.api != config.APIOpenAI) {
		return 0, textOf(err)
	}
	for _, m := range list {
		if m.ID == bare && m.size() > 0 {
			return m.size(), ""
		}
	}
	if p.own && p.api == config.APIOpenAI {
		if size := askLlama(ctx, c); size > 0 {
			return size, ""
		}
		if size, doubt := r.askOllama(ctx, c, bare); size > 0 {
			return size, doubt
		}
	}
	if err != nil {
		return 0, textOf(err)
	}
	return 0, "its server does not tell"
}

// ollama is the provider whose servers are asked in a way of their own.
const ollama = "ollama"

// client is one for questions about a server.
func (r *Registry) client(ctx context.Context, p *provider) (*wire.Client, error) {
	base, err := p.address(r.getenv)
	if err != nil {
		return nil, err
	}
	key, err := p.key.get(ctx)
	if err != nil {
		return nil, err
	}
	return &wire.Client{Provider: p.name, Base: base, Header: header(p.api, key), Secrets: secrets(key), HTTP: r.http, Clock: r.clock.Now}, nil
}

// root is a client of the same server for paths beside those of the format.
func root(c *wire.Client) *wire.Client {
	own := *c
	own.Base = strings.TrimSuffix(c.Base, "/v1")
	return &own
}

// listed is a model in the list of a server. Which field tells the size depends on the
// program.
type listed struct {
	ID            string `json:"id"`
	MaxModelLen   int64  `json:"max_model_len"`      // vLLM
	ContextLength int64  `json:"context_length"`     // OpenRouter, Moonshot and others
	MaxContext    int64  `json:"max_context_length"` // Mistral, LM Studio
	ContextWindow int64  `json:"context_window"`
	// Name and Input are Gemini's words.
	Name  string `json:"name"`
	Input int64  `json:"inputTokenLimit"`
}

func (l *listed) size() int64 {
	return plausible(cmp.Or(l.MaxModelLen, l.ContextLength, l.MaxContext, l.ContextWindow, l.Input))
}

// plausible is a context that a model can have, 0 for anything else.
func plausible(n int64) int64 {
	if n < 256 || n > 1<<30 {
		return 0
	}
	return n
}

// maxListed is how many models of a server are looked at.
const maxListed = 1000

func askModels(ctx context.Context, c *wire.Client, api string) ([]listed, error) {
	var out struct {
		Data   []listed `json:"data"`
		Models []listed `json:"models"`
	}
	path := "/models"
	if api == config.APIAnthropic {
		path = "/v1/models"
	}
	if err := c.Ask(ctx, path, nil, &out); err != nil {
		return nil, err
	}
	if api == config.APIGemini {
		for i := range out.Models {
			out.Models[i].ID = strings.TrimPrefix(out.Models[i].Name, "models/")
		}
		out.Data = out.Models
	}
	out.Data = out.Data[:min(len(out.Data), maxListed)]
	return slices.DeleteFunc(out.Data, func(l listed) bool { return !nameForm.MatchString(l.ID) || len(l.ID) > maxName }), nil
}

// askLlama asks a server of llama.cpp how large it has made its context.
func askLlama(ctx context.Context, c *wire.Client) int64 {
	var out struct {
		Default struct {
			Size int64 `json:"n_ctx"`
		} `json:"default_generation_settings"`
	}
	if root(c).Ask(ctx, "/props", nil, &out) != nil {
		return 0
	}
	return plausible(out.Default.Size)
}

// askOllama asks Ollama about a model. What the model could see is not what it is given:
// that is num_ctx of its own, what it was loaded with, or the server's own default, which
// the server does not tell.
func (r *Registry) askOllama(ctx context.Context, c *wire.Client, bare string) (size int64, doubt string) {
	var shown struct {
		Parameters string         `json:"parameters"`
		Info       map[string]any `json:"model_info"`
	}
	if err := root(c).Ask(ctx, "/api/show", map[string]string{"model": bare}, &shown); err != nil {
		return 0, textOf(err)
	}
	kind, _ := shown.Info["general.architecture"].(string)
	n, _ := shown.Info[kind+".context_length"].(float64) // of what is no number, 0
	most := plausible(int64(min(max(n, 0), 1<<40)))
	for line := range strings.Lines(shown.Parameters) {
		if word := strings.Fields(line); len(word) == 2 && word[0] == "num_ctx" {
			n, _ := strconv.ParseInt(word[1], 10, 64) // of what is no number, 0
			size = plausible(n)
		}
	}
	if size == 0 {
		size = askLoaded(ctx, c, bare)
	}
	if size == 0 && config.Loopback(c.Base) {
		n, _ := strconv.ParseInt(r.getenv("OLLAMA_CONTEXT_LENGTH"), 10, 64)
		size = plausible(n)
	}
	switch {
	case size > 0 && most > 0:
		return min(size, most), ""
	case size > 0:
		return size, ""
	case most > 0:
		return most, fmt.Sprintf("%s could see %d tokens, but Ollama gives models its own default, often 4096, and cuts off what is more without a word: "+
			"set OLLAMA_CONTEXT_LENGTH where it runs, or num_ctx of the model (%d are taken)", bare, most, min(most, SafeContext))
	}
	return 0, "Ollama does not tell"
}

// askLoaded asks Ollama what a model was loaded with, 0 if it is not loaded.
func askLoaded(ctx context.Context, c *wire.Client, bare string) int64 {
	var out struct {
		Models []struct {
			Name string `json:"name"`
			Size int64  `json:"context_length"`
		} `json:"models"`
	}
	if root(c).Ask(ctx, "/api/ps", nil, &out) != nil {
		return 0
	}
	for _, m := range out.Models {
		if strings.TrimSuffix(m.Name, ":latest") == strings.TrimSuffix(bare, ":latest") {
			return plausible(m.Size)
		}
	}
	return 0
}
