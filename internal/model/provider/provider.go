// Package provider finds the model that a name means, and calls it well: with the
// right key at the right address, again when the provider is not available, never
// more at once than the provider bears, and with what it cost.
//
// A Registry stands between all agents of a process and the drivers. What it
// refuses (a name nobody knows, a missing key, a key that would travel in the
// clear) it refuses before the first call. During a call only the provider can
// fail; then the call is tried again for as long as that makes sense, and what the
// failed attempts cost is part of the answer's cost.
//
// Keys come from the environment or the keyring of the operating system, and go
// nowhere but into the requests to their provider. No message repeats one.
package provider

import (
	"cmp"
	"context"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"lyceum/internal/config"
	"lyceum/internal/keyring"
	"lyceum/internal/ledger"
	"lyceum/internal/model"
	"lyceum/internal/model/dialect"
	"lyceum/internal/model/wire"
)

// Options are what a Registry can be given. The zero value is the real world.
type Options struct {
	// Config is the user's; nil is an empty one.
	Config *config.Config
	// File is where that stands, for messages; "" is config.yaml.
	File string
	// Getenv reads the environment; nil is os.Getenv.
	Getenv func(string) string
	// Keyring returns the key that is stored under the name of a variable, "" if
	// there is none; nil asks the operating system.
	Keyring func(ctx context.Context, variable string) (string, error)
	// HTTP speaks with the servers.
	HTTP *http.Client
	// Clock is the time; nil is the system's.
	Clock Clock
	// Lines are those that this process has together with others; nil if it has them for itself.
	Lines ledger.Lines
	// Rand returns a number from 0 up to 1, for the length of pauses; nil is random.
	Rand func() float64
}

// Registry knows the models. It is safe for use by many at once.
type Registry struct {
	clock     Clock
	rand      func() float64
	patience  time.Duration
	file      string
	getenv    func(string) string
	http      *http.Client
	providers map[string]*provider
	own       map[row]*entry
	shares    *shares

	measured measured
}

// row names a model without doubt.
type row struct{ provider, model string }

func (k row) compare(other row) int {
	return cmp.Or(strings.Compare(k.provider, other.provider), strings.Compare(k.model, other.model))
}

// transport connects to providers. As many connections to one of them stay open between two calls as there
// may be calls under way: with fewer, a thousand agents would connect anew for most of theirs.
func transport(c *config.Config) *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConns, t.MaxIdleConnsPerHost = 0, defaultConcurrency
	for _, p := range c.Providers {
		t.MaxIdleConnsPerHost = max(t.MaxIdleConnsPerHost, int(p.Concurrency))
	}
	t.DialContext = wire.Dial(&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second})
	proxy := t.Proxy
	t.Proxy = func(r *http.Request) (*url.URL, error) {
		if config.Loopback(r.URL.String()) {
			return nil, nil // what stays on this machine goes by no proxy
		}
		return proxy(r)
	}
	return t
}

// provider is a server with its key and its line.
type provider struct {
	server
	line *line
	key  keeper
}

// Info is what is known of a model.
type Info struct {
	// Name is what the model is called in a quest, Model what its provider calls it.
	Name, Provider, Model string
	// Context is how many tokens it can see; 0 if nobody knows.
	Context int64
	// Said is who says so: the table, config.yaml, the server, or "" for nobody. Doubt is
	// what is not certain about it, for a person, if anything is not.
	Said, Doubt string
	// MaxOutput is how many tokens it can answer with; 0 if nobody knows.
	MaxOutput int64
	// Pictures says that it can be shown pictures.
	Pictures bool
	// Dialect is how it is told of tools that it has no calls for; "" if it has.
	Dialect string
	// Price is nil if nobody knows.
	Price *Price
	// KeyVariable holds the key; "" if there is no need of one. HasKey says whether
	// a key is there, or not needed.
	KeyVariable string
	HasKey      bool
}

// patience is how long an unavailable provider is tried.
const patience = 10 * time.Minute

// New makes a Registry. It fails if the configuration makes no sense.
func New(opts *Options) (*Registry, error) {
	o := Options{}
	if opts != nil {
		o = *opts
	}
	o.fill()
	r := &Registry{
		clock: o.Clock, rand: o.Rand, patience: patience, file: cmp.Or(o.File, "config.yaml"), getenv: o.Getenv, http: observed(o.HTTP),
		providers: map[string]*provider{}, shares: newShares(o.Lines),
	}
	if o.Config.Retry > 0 {
		r.patience = o.Config.Retry
	}
	servers, err := configured(o.Config.Providers)
	if err != nil {
		return nil, err
	}
	for name, s := range servers {
		l := newLine(name, s.concurrency, r.patience, r.clock)
		l.part = newPart(r.shares)
		r.providers[name] = &provider{
			server: s, line: l,
			key: keeper{server: s, getenv: o.Getenv, keyring: o.Keyring},
		}
	}
	if err := r.configure(o.Config.Models); err != nil {
		return nil, err
	}
	return r, nil
}

func (o *Options) fill() {
	if o.Config == nil {
		o.Config = new(config.Config)
	}
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Keyring == nil {
		o.Keyring = keyring.Get
	}
	if o.HTTP == nil {
		o.HTTP = &http.Client{Transport: transport(o.Config)}
	}
	if o.Clock == nil {
		o.Clock = system{}
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
}

// Close gives back connections that nobody uses, and asks for no shares any more.
func (r *Registry) Close() {
	r.shares.close()
	r.http.CloseIdleConnections()
}

// Open returns the model of a name. What can be known to be wrong before the first
// call is told here: a name that nobody knows, a missing key, an address that makes
// no sense or would leak the key.
func (r *Registry) Open(name string) (model.Model, Info, error) {
	p, bare, base, key, err := r.ready(name)
	if err != nil {
		return nil, Info{}, err
	}
	info := r.info(p, bare)
	info.HasKey = true
	client := &wire.Client{
		Provider: p.name, Base: base, Header: header(p.api, key), Secrets: secrets(key),
		HTTP: r.http, Clock: r.clock.Now, Silence: p.silence,
	}
	driver, err := drive(client, &p.server, info)
	if err != nil {
		return nil, Info{}, err
	}
	return &caller{
		driver: driver, dialect: dialect.Of(info.Dialect), model: bare, provider: p.name, price: info.Price, sees: info.Pictures, line: p.line,
		context: info.Context, output: info.limit(p.api),
		clock: r.clock, rand: r.rand, patience: r.patience,
	}, info, nil
}

func (r *Registry) ready(name string) (p *provider, bare, base, key string, err error) {
	if p, bare, err = r.resolve(name); err != nil {
		return nil, "", "", "", err
	}
	if base, err = p.address(r.getenv); err != nil {
		return nil, "", "", "", err
	}
	// A model is opened without a context. The keyring has a time limit of its own.
	if key, err = p.key.get(context.Background()); err != nil {
		return nil, "", "", "", err
	}
	return p, bare, base, key, nil
}

// Info tells what is known of a model, without looking for its key.
func (r *Registry) Info(name string) (Info, error) {
	p, bare, err := r.resolve(name)
	if err != nil {
		return Info{}, err
	}
	return r.info(p, bare), nil
}

// Models returns all models whose price or context is known, and says whether
// their keys are there.
func (r *Registry) Models(ctx context.Context) []Info {
	found := r.keys(ctx)
	var out []Info
	for _, k := range r.rows() {
		info := r.info(r.providers[k.provider], k.model)
		_, info.HasKey = found[k.provider]
		out = append(out, info)
	}
	return out
}

// Patience is how long a call to a provider that is not available is tried.
func (r *Registry) Patience() time.Duration { return r.patience }

// Server is what is known of a provider.
type Server struct {
	Name, API, URL string
	// KeyVariable holds the key, "" if there is no need of one; HasKey says whether it is
	// there, or not needed.
	KeyVariable string
	HasKey      bool
	// KeyFrom is where the key came from, "" if there is none.
	KeyFrom     string
	Concurrency int
	// Silence is how long it may say nothing.
	Silence time.Duration
	// Dialect is how its models are told of tools; "" if they have calls of their own.
	Dialect string
	// Own says that config.yaml names it.
	Own bool
	// Fault is why its address cannot be used, if it cannot.
	Fault error
}

// Servers returns all providers.
func (r *Registry) Servers(ctx context.Context) []Server {
	found := r.keys(ctx)
	var out []Server
	for _, name := range slices.Sorted(maps.Keys(r.providers)) {
		p := r.providers[name]
		from, has := found[name]
		s := Server{Name: name, API: p.api, HasKey: has, KeyFrom: from, Concurrency: p.concurrency, Silence: cmp.Or(p.silence, wire.Silence), Own: p.own}
		if p.dialect != dialect.Native {
			s.Dialect = p.dialect
		}
		if len(p.variables) > 0 {
			s.KeyVariable = p.variables[0]
		}
		s.URL, s.Fault = p.address(r.getenv)
		out = append(out, s)
	}
	return out
}

// keys says whose keys are there, or not needed, and where they came from. A keyring can be slow, so
// all are asked at once.
func (r *Registry) keys(ctx context.Context) map[string]string {
	var mu sync.Mutex
	var wait sync.WaitGroup
	found := map[string]string{}
	for name, p := range r.providers {
		wait.Go(func() {
			_, from, err := p.key.find(ctx)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				found[name] = from
			}
		})
	}
	wait.Wait()
	return found
}

// Secrets returns all keys of this process that are known so far, whether or not
// they were used, for whoever must keep them out of texts.
func (r *Registry) Secrets() []string {
	var all []string
	for _, p := range r.providers {
		all = append(all, p.key.all()...)
	}
	slices.SortFunc(all, func(a, b string) int {
		if len(a) != len(b) {
			return len(b) - len(a) // a key that holds another goes first
		}
		return strings.Compare(a, b)
	})
	return slices.Compact(all)
}

func (r *Registry) info(p *provider, bare string) Info {
	// The three that have a format of their own see. Behind the format that half the
	// world speaks there may be anything, and a model that cannot see refuses for good.
	info := Info{Name: r.display(p.name, bare), Provider: p.name, Model: bare, Pictures: p.api != config.APIOpenAI}
	if len(p.variables) > 0 {
		info.KeyVariable = p.variables[0]
	}
	if e := r.entry(p.name, bare); e != nil {
		info.Context, info.Said, info.MaxOutput, info.Price = e.context, e.said, e.output, e.price
		if e.context > 0 && e.said == "" {
			info.Said = "the table"
		}
		if e.pictures != nil {
			info.Pictures = *e.pictures
		}
		info.Dialect = e.dialect
	}
	if info.Dialect = cmp.Or(info.Dialect, p.dialect); info.Dialect == dialect.Native {
		info.Dialect = ""
	}
	if info.Context == 0 && p.context > 0 {
		info.Context, info.Said = p.context, "all models of "+p.name
	}
	return info
}

// standardOutput is how many tokens an answer may have where the format wants a limit and
// nobody gives one.
const standardOutput = 16_000

func (i Info) defaultOutput() int64 {
	if i.MaxOutput > 0 {
		return min(i.MaxOutput, standardOutput)
	}
	return standardOutput
}

// limit is how many tokens an answer has at most where no request says so; 0 if nobody
// knows.
func (i Info) limit(api string) int64 {
	if api == config.APIAnthropic {
		return i.defaultOutput()
	}
	return i.MaxOutput
}
