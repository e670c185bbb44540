package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"lyceum/internal/api"
	"lyceum/internal/config"
	"lyceum/internal/model/provider"
)

// settings are what holds, for the page: what config show prints, a row for each key. No key of a
// provider or registry is in it, and no line of notify: only whether there is one.
func (a *app) settings(ctx context.Context) (*api.Settings, error) {
	found, err := provider.New(&provider.Options{Config: a.config, File: config.File(a.home)})
	if err != nil {
		return nil, err
	}
	defer found.Close()
	c := a.describeConfig(found, found.Servers(ctx))
	out := &api.Settings{File: c.File, Exists: c.Exists, Settings: []api.Setting{}}
	add := func(key, value string, own bool, about, reader string) {
		source := "default"
		if own {
			source = "file"
		}
		out.Settings = append(out.Settings, api.Setting{Key: key, Value: value, Set: own, Source: source, About: about, Reader: reader})
	}
	secret := func(key string, set bool, source, about, reader string) {
		out.Settings = append(out.Settings, api.Setting{Key: key, Secret: true, Set: set, Source: source, About: about, Reader: reader})
	}
	const quests = "every quest that is made or run"
	add("model", c.Model, a.config.Model != "", "the model of quests that name none", quests)
	add("retry", c.Retry, a.config.Retry != 0, "how long a model that is not available is tried", quests)
	add("patience", c.Patience, a.config.Patience != 0, "how long a quest waits for a provider that is away, before it is paused", quests)
	add("reserve", c.Reserve, a.config.Reserve != nil, "how much of the disk stays free", "whatever stores files")
	add("outside_cost", c.OutsideCost, a.config.OutsideCost != nil, "what a quest that another program runs may cost, in dollars", "MCP and A2A clients")
	add("embeddings", c.Embeddings, a.config.Embeddings != nil, "where vectors of texts come from", "searches")
	add("weak_limits", strconv.FormatBool(c.WeakLimits), c.WeakLimits, "computers start where memory is counted only in part", "agents' computers")
	secret("notify", c.Notify, "file", "a line for the shell when a quest asks something, and when it has ended", "lyceum serve and run")
	for _, p := range c.Providers {
		add("providers."+p.Name+".url", p.URL, p.Own, "where it is reached", "models of "+p.Name)
		if p.Key != "" {
			secret("providers."+p.Name+".key", p.Ready, "environment", "the variable "+p.Key+", or the keyring", "models of "+p.Name)
		}
	}
	for i, r := range c.Registries {
		secret(fmt.Sprintf("registries.%d", i), r.Ready, "environment", "the credential for "+r.Host+", in the variable "+r.Variable, "the preparing of homes")
	}
	for _, name := range slices.Sorted(maps.Keys(a.config.Executors)) {
		add("executors."+name, "", true, "an outside agent", "quests that name it")
	}
	for _, name := range slices.Sorted(maps.Keys(a.config.Repos)) {
		add("repos."+name, a.config.Repos[name], true, "a folder that requests may have worked on", "quests that are made by the page or the API")
	}
	return out, nil
}

// examined is what doctor finds, for the page.
func (a *app) examined(ctx context.Context) (*api.Doctor, error) {
	d := &doctor{homeFlag: a.homeFlag, doctorJSON: doctorJSON{Findings: []findingJSON{}}}
	d.look(ctx)
	out := &api.Doctor{Healthy: d.Healthy, Home: d.Home, Driver: d.Driver, Findings: []api.Finding{}}
	for _, f := range d.Findings {
		out.Findings = append(out.Findings, api.Finding(f))
	}
	return out, ctx.Err()
}
