package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lyceum/internal/api"
	"lyceum/internal/config"
	"lyceum/internal/keyring"
	"lyceum/internal/model/provider"
	"lyceum/internal/quest"
	"lyceum/internal/workspace"
)

// settings are what holds, for the page: a row for each key of config.yaml, with what goes by it. No
// key of a provider, registry, server or connector is in it, and no line of notify: only whether
// there is one, and where it stands.
func (a *app) settings(ctx context.Context) (*api.Settings, error) {
	found, err := provider.New(&provider.Options{Config: a.config, File: config.File(a.home)})
	if err != nil {
		return nil, err
	}
	defer found.Close()
	c := a.describeConfig(found, found.Servers(ctx))
	return &api.Settings{File: c.File, Exists: c.Exists, Settings: settingsOf(a.config, c, whereabouts(ctx, a.config))}, nil
}

// The sources of a setting.
const (
	fromFile        = "file"
	fromDefault     = "default"
	fromEnvironment = provider.FromEnvironment
	fromKeyring     = provider.FromKeyring
)

// whereabouts says of each variable of a connector where its value stands. Others are read from the
// environment alone. A keyring can be slow, so all are asked at once.
func whereabouts(ctx context.Context, conf *config.Config) func(variable string) string {
	var mu sync.Mutex
	var wait sync.WaitGroup
	stored := map[string]bool{}
	for _, c := range conf.Connectors {
		for _, v := range c.Variables {
			wait.Go(func() {
				key, err := keyring.Get(ctx, v)
				mu.Lock()
				defer mu.Unlock()
				stored[v] = err == nil && strings.TrimSpace(key) != ""
			})
		}
	}
	wait.Wait()
	return func(variable string) string {
		switch {
		case variable != "" && strings.TrimSpace(os.Getenv(variable)) != "":
			return fromEnvironment
		case stored[variable]:
			return fromKeyring
		}
		return ""
	}
}

// rows are the settings that are put together.
type rows struct {
	list  []api.Setting
	where func(variable string) string
}

// put adds a row for a key: pattern is its path, with * for a name of the user's.
func (r *rows) put(pattern, name, value, source string, secret bool) {
	m := meanings[pattern]
	r.list = append(r.list, api.Setting{
		Key: strings.Replace(pattern, "*", name, 1), Value: value, Set: source != fromDefault, Secret: secret, Source: source, About: m.about, Reader: m.reader,
	})
}

// holds adds a row for a key that has a value, whether or not config.yaml has it.
func (r *rows) holds(pattern, name, value string, own bool) {
	r.put(pattern, name, value, map[bool]string{true: fromFile, false: fromDefault}[own], false)
}

// own adds a row for what config.yaml says, none if it says nothing.
func (r *rows) own(pattern, name, value string) {
	if value != "" {
		r.put(pattern, name, value, fromFile, false)
	}
}

// secret adds a row that says only whether there is a value, and where.
func (r *rows) secret(pattern, name, source string) {
	r.put(pattern, name, "", cmp.Or(source, fromDefault), true)
}

// called gives the last row the key that config.yaml has it under.
func (r *rows) called(key string) { r.list[len(r.list)-1].Key = key }

// settingsOf are the rows of a configuration, in the order of a person who reads it.
func settingsOf(conf *config.Config, c configJSON, where func(variable string) string) []api.Setting {
	r := &rows{where: where}
	r.holds("model", "", c.Model, conf.Model != "")
	r.holds("retry", "", c.Retry, conf.Retry != 0)
	r.holds("patience", "", c.Patience, conf.Patience != 0)
	r.holds("reserve", "", c.Reserve, conf.Reserve != nil)
	r.place("ledger", c.Ledger, conf.Ledger, ledgerVariable)
	r.place("blobs", c.Blobs, conf.Blobs, blobsVariable)
	r.holds("outside_cost", "", c.OutsideCost, conf.OutsideCost != nil)
	r.holds("confirm_cost", "", c.ConfirmCost, conf.ConfirmCost != nil)
	r.holds("weak_limits", "", strconv.FormatBool(c.WeakLimits), c.WeakLimits)
	r.secret("notify", "", map[bool]string{true: fromFile}[c.Notify])
	r.holds("private_addresses", "", strings.Join(conf.Private, ", "), len(conf.Private) > 0)
	r.holds("repos", "", listed(conf.Repos), len(conf.Repos) > 0)
	for _, name := range slices.Sorted(maps.Keys(conf.Repos)) {
		r.own("repos.*", name, conf.Repos[name])
	}
	r.computer(conf.Computer)
	r.embeddings(conf.Embeddings, c.Embeddings)
	r.providers(conf.Providers, c.Providers)
	r.models(conf.Models)
	r.executors(conf.Executors)
	r.registries(conf.Registries)
	r.servers(conf)
	r.connectors(conf.Connectors)
	r.proof(conf.Proof)
	return r.list
}

// place adds a row for an address, which a variable may hold as well.
func (r *rows) place(key, value, own, variable string) {
	source := fromDefault
	switch {
	case os.Getenv(variable) != "":
		source = fromEnvironment
	case own != "":
		source = fromFile
	}
	r.put(key, "", value, source, false)
}

// listed are the names of a mapping.
func listed[T any](m map[string]T) string { return strings.Join(slices.Sorted(maps.Keys(m)), ", ") }

// yes is true as config.yaml has it, and nothing for false.
func yes(b bool) string { return map[bool]string{true: "true"}[b] }

// number is one that was given, and nothing for 0.
func number(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// length is a time that was given, and nothing for 0.
func length(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

func (r *rows) computer(c config.Computer) {
	r.holds("computer", "", "", c.AllowWrite != nil || c.DenyRead != nil)
	write := []string{workspace.Home, workspace.Temp}
	if c.AllowWrite != nil {
		write = c.AllowWrite
	}
	hide := workspace.DefaultHide
	if c.DenyRead != nil {
		hide = c.DenyRead
	}
	r.holds("computer.allow_write", "", strings.Join(write, ", "), c.AllowWrite != nil)
	r.holds("computer.deny_read", "", strings.Join(hide, ", "), c.DenyRead != nil)
}

func (r *rows) embeddings(e *config.Embeddings, holds string) {
	r.holds("embeddings", "", holds, e != nil)
	if e == nil || e.None {
		return
	}
	r.own("embeddings.url", "", e.URL)
	r.own("embeddings.model", "", e.Model)
	if r.own("embeddings.key_variable", "", e.KeyVariable); e.KeyVariable != "" {
		source := ""
		if os.Getenv(e.KeyVariable) != "" {
			source = fromEnvironment
		}
		r.secret("embeddings.key", "", source)
	}
}

func (r *rows) providers(own map[string]config.Provider, all []serverJSON) {
	r.holds("providers", "", listed(own), len(own) > 0)
	for _, s := range all {
		p := own[s.Name]
		r.holds("providers.*.url", s.Name, s.URL, p.URL != "")
		r.own("providers.*.api", s.Name, p.API)
		r.own("providers.*.key_variable", s.Name, p.KeyVariable)
		if s.Key != "" {
			r.secret("providers.*.key", s.Name, s.KeyFrom)
		}
		r.own("providers.*.insecure", s.Name, yes(p.Insecure))
		r.own("providers.*.concurrency", s.Name, number(p.Concurrency))
		r.own("providers.*.silence", s.Name, length(p.Silence))
		r.own("providers.*.dialect", s.Name, p.Dialect)
	}
}

func (r *rows) models(own map[string]config.Model) {
	r.holds("models", "", listed(own), len(own) > 0)
	for _, name := range slices.Sorted(maps.Keys(own)) {
		m := own[name]
		r.own("models.*.context", name, number(m.Context))
		r.own("models.*.max_output", name, number(m.MaxOutput))
		if m.Pictures != nil {
			r.own("models.*.pictures", name, strconv.FormatBool(*m.Pictures))
		}
		r.own("models.*.dialect", name, m.Dialect)
		if m.Price != nil {
			r.own("models.*.input", name, quest.USD(m.Price.Input).String())
			r.own("models.*.output", name, quest.USD(m.Price.Output).String())
			r.own("models.*.cached", name, quest.USD(m.Price.Cached).String())
			r.own("models.*.cache_write", name, quest.USD(m.Price.CacheWrite).String())
		}
	}
}

// executors: of variables and files only the names are told, for they may be anything.
func (r *rows) executors(own map[string]config.Executor) {
	r.holds("executors", "", listed(own), len(own) > 0)
	for _, name := range slices.Sorted(maps.Keys(own)) {
		e := own[name]
		r.own("executors.*.folder", name, e.Folder)
		r.own("executors.*.command", name, strings.Join(e.Command, " "))
		r.own("executors.*.variables", name, listed(e.Variables))
		r.own("executors.*.files", name, listed(e.Files))
		r.own("executors.*.wire", name, e.Wire)
		r.own("executors.*.mcp", name, e.MCP)
		r.own("executors.*.mode", name, e.Mode)
		r.own("executors.*.authenticate", name, e.Authenticate)
		r.own("executors.*.version", name, e.Version)
		if e.NoRead != nil {
			r.own("executors.*.no_read", name, strconv.FormatBool(*e.NoRead))
		}
		if e.Reported != nil {
			r.own("executors.*.reported", name, strconv.FormatBool(*e.Reported))
		}
	}
}

func (r *rows) registries(own []config.Registry) {
	var hosts []string
	for _, g := range own {
		hosts = append(hosts, g.Host)
	}
	r.holds("registries", "", strings.Join(hosts, ", "), len(own) > 0)
	for i, g := range own {
		name := strconv.Itoa(i)
		r.own("registries.*.host", name, fmt.Sprintf("%s:%d", g.Host, g.Port))
		r.own("registries.*.header", name, g.Header)
		r.own("registries.*.variable", name, g.Variable)
		r.secret("registries.*.credential", name, environment(g.Variable))
		r.own("registries.*.variables", name, listed(g.Variables))
	}
}

// environment says whether a variable is set that is read from the environment alone.
func environment(variable string) string {
	if strings.TrimSpace(os.Getenv(variable)) == "" {
		return ""
	}
	return fromEnvironment
}

func (r *rows) servers(conf *config.Config) {
	r.holds("mcp", "", listed(conf.MCP), len(conf.MCP) > 0)
	for _, name := range slices.Sorted(maps.Keys(conf.MCP)) {
		s := conf.MCP[name]
		r.own("mcp.*.run", name, s.Run)
		r.own("mcp.*.url", name, hostOf(s.URL))
		r.own("mcp.*.tools", name, strings.Join(s.Tools, ", "))
		r.own("mcp.*.repeatable", name, strings.Join(s.Repeatable, ", "))
		r.own("mcp.*.trust", name, s.Trust)
		r.own("mcp.*.sampling", name, yes(s.Sampling))
		r.own("mcp.*.timeout", name, length(time.Duration(s.Timeout)*time.Second))
		r.own("mcp.*.log", name, s.Log)
		r.own("mcp.*.pages", name, number(s.Pages))
		r.own("mcp.*.retry", name, number(s.Retry))
		r.own("mcp.*.headers", name, listed(s.Headers))
		for _, header := range slices.Sorted(maps.Keys(s.Headers)) {
			r.secret("mcp.*.headers.value", name, environment(s.Headers[header]))
			r.called("mcp." + name + ".headers." + header)
		}
		if l := s.Login; l != nil {
			r.own("mcp.*.login", name, cmp.Or(l.Grant, "code"))
			r.own("mcp.*.login.grant", name, l.Grant)
			r.own("mcp.*.login.client", name, l.Client)
			r.own("mcp.*.login.issuer", name, l.Issuer)
			r.own("mcp.*.login.audience", name, l.Audience)
			if l.Secret != "" {
				r.secret("mcp.*.login.secret", name, environment(l.Secret))
			}
		}
	}
}

func (r *rows) connectors(own map[string]config.Connector) {
	r.holds("connectors", "", listed(own), len(own) > 0)
	for _, name := range slices.Sorted(maps.Keys(own)) {
		c := own[name]
		r.own("connectors.*.driver", name, c.Driver)
		var may []string
		for _, sender := range slices.Sorted(maps.Keys(c.Allow)) {
			may = append(may, sender+": "+c.Allow[sender])
		}
		r.own("connectors.*.allow", name, strings.Join(may, ", "))
		for _, key := range slices.Sorted(maps.Keys(c.Values)) {
			value := c.Values[key]
			if key == "url" {
				value = hostOf(value)
			}
			r.own("connectors.*.setting", name, value)
			r.called("connectors." + name + "." + key)
		}
		for _, key := range slices.Sorted(maps.Keys(c.Variables)) {
			r.own("connectors.*.variable", name, c.Variables[key])
			r.called("connectors." + name + "." + key + "_variable")
			r.secret("connectors.*.key", name, r.where(c.Variables[key]))
			r.called("connectors." + name + "." + key)
		}
	}
}

// hostOf is an address without what comes after its host: some services put a secret there.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if address == "" || err != nil || u.Host == "" {
		return address
	}
	short := u.Scheme + "://" + u.Host
	if strings.TrimSuffix(address, "/") != short {
		short += "/…"
	}
	return short
}

// examined is what doctor finds, for the page.
func (a *app) examined(ctx context.Context) (*api.Doctor, error) {
	d := &doctor{homeFlag: a.homeFlag, ledgerFlag: a.ledgerFlag, doctorJSON: doctorJSON{Findings: []findingJSON{}}}
	d.look(ctx)
	out := &api.Doctor{Healthy: d.Healthy, Home: d.Home, Driver: d.Driver, Findings: []api.Finding{}}
	for _, f := range d.Findings {
		out.Findings = append(out.Findings, api.Finding(f))
	}
	return out, ctx.Err()
}
