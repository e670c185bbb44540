package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/api"
	"lyceum/internal/config"
	"lyceum/internal/event"
	"lyceum/internal/gateway"
	"lyceum/internal/model"
	"lyceum/internal/model/demo"
	"lyceum/internal/model/provider"
	"lyceum/internal/model/script"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

// finder finds a model by its name: a script beside quest.yaml, the demo, or one
// that a provider has.
func finder(found *provider.Registry) runtime.Models {
	return func(name string, pin func(string) ([]byte, error)) (model.Model, error) {
		if file, ok := strings.CutPrefix(name, "script:"); ok {
			data, err := pin(name)
			if err != nil {
				return nil, err
			}
			return script.Parse(file, data)
		}
		if isDemo(name) {
			return demo.Open(name)
		}
		m, _, err := found.Open(name)
		return m, err
	}
}

// forwarder finds the way to a model's provider, for the gateway. Scripts and the demo have
// none: they answer here, and so do models that a dialect stands before.
func forwarder(found *provider.Registry) func(string) (gateway.Upstream, error) {
	return func(name string) (gateway.Upstream, error) {
		if strings.HasPrefix(name, "script:") || isDemo(name) {
			return nil, nil
		}
		// What programs send in a provider's format would reach a model that has no calls in it.
		if info, err := found.Info(name); err == nil && info.Dialect != "" {
			return nil, nil
		}
		way, err := found.Forward(name)
		if err != nil {
			return nil, err
		}
		return way, nil
	}
}

// isDemo reports whether a name means the demo: demo, or demo:7 with a seed.
func isDemo(name string) bool { return name == "demo" || strings.HasPrefix(name, "demo:") }

// costs reports whether a model of a quest may cost something.
func costs(s *quest.State) bool {
	for _, g := range s.Agents {
		if view.Costly(g.Model) {
			return true
		}
	}
	return false
}

// known tells what is known of a model before it is asked.
func known(found *provider.Registry) func(string) runtime.Known {
	return func(name string) runtime.Known {
		switch {
		case isDemo(name):
			return runtime.Known{Priced: true, Price: &event.Price{}}
		case strings.HasPrefix(name, "script:"): // its author says of each answer what it costs
			return runtime.Known{Priced: true}
		}
		info, err := found.Info(name)
		if err != nil || info.Price == nil {
			return runtime.Known{}
		}
		return runtime.Known{Priced: true, Price: new(info.Price.Recorded())}
	}
}

// measure finds out how much a model can take, and asks its server where nobody knows.
func measure(found *provider.Registry) func(context.Context, string) runtime.Measured {
	return func(ctx context.Context, name string) runtime.Measured {
		if strings.HasPrefix(name, "script:") || isDemo(name) {
			return runtime.Measured{}
		}
		info, err := found.Measure(ctx, name)
		if err != nil {
			return runtime.Measured{} // a name that nobody knows has been refused already
		}
		return runtime.Measured{Context: info.Context, MaxOutput: info.MaxOutput, Doubt: info.Doubt}
	}
}

// modelJSON is one line of models. Prices are in dollars for a million tokens, as
// decimal texts.
type modelJSON struct {
	Name     string `json:"name"`
	Provider string `json:"provider"`
	// Context is how many tokens it can see, 0 if nobody knows; ContextFrom is who says so.
	Context     int64  `json:"context"`
	ContextFrom string `json:"context_from,omitempty"`
	// ContextDoubt is why its server does not say for certain, if it says anything.
	ContextDoubt string `json:"context_doubt,omitempty"`
	// MaxOutput is how many tokens it can answer with, 0 if nobody knows.
	MaxOutput int64 `json:"max_output,omitempty"`
	// Dialect is how it is told of tools, if that is as text.
	Dialect string `json:"dialect,omitempty"`
	// Price is null if nobody knows it.
	Price *priceJSON `json:"price"`
	// Key is the variable that holds the key, Ready whether it is there or not
	// needed.
	Key   string `json:"key"`
	Ready bool   `json:"ready"`
}

type priceJSON struct {
	Input       string `json:"input"`
	Cached      string `json:"cached"`
	CacheWrites string `json:"cache_writes"`
	Output      string `json:"output"`
	Date        string `json:"date"`
	Source      string `json:"source"`
}

func (a *app) modelsCommand() *cobra.Command {
	var asJSON, ready bool
	cmd := &cobra.Command{
		Use:   "models [text]",
		Short: "List the models that are known, and whether their keys are there",
		Long: `List the models that Lyceum knows the prices of, in US dollars for a million tokens, and
those that the servers of config.yaml and Ollama say they have, if they are there: each is asked for
its /models. Any other model of a provider can be used as well; its cost is then unknown.
Besides them there are demo, an offline researcher that is no language model, and
script:<file>, which plays fixed lines.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("models wants at most one text to look for")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			home, err := config.Home(a.homeFlag)
			if err != nil {
				return err
			}
			conf, err := config.Load(home)
			if err != nil {
				return err
			}
			found, err := provider.New(&provider.Options{Config: conf, File: config.File(home)})
			if err != nil {
				return usageError{err}
			}
			defer found.Close()
			servers := found.Listings(cmd.Context())
			list := slices.DeleteFunc(allModels(found.Models(cmd.Context()), servers), func(m modelJSON) bool {
				return len(args) > 0 && !strings.Contains(m.Provider+"/"+m.Name, args[0]) || ready && !m.Ready
			})
			if asJSON {
				return a.printJSON(list)
			}
			a.printModels(list)
			a.printDoubts(list)
			for _, s := range servers {
				if s.Err != nil && (len(args) == 0 || strings.Contains(s.Provider+"/", args[0])) {
					fmt.Fprintf(a.out, "%s did not tell its models: %s\n", s.Provider, printable(s.Err.Error()))
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&ready, "ready", false, "only those whose keys are there")
	return cmd
}

// allModels are the demo, those that are known, and those that servers say they have. What
// config.yaml says of a model stands above what its server does.
func allModels(known []provider.Info, servers []provider.Listing) []modelJSON {
	free := &priceJSON{Input: "0.00", Cached: "0.00", CacheWrites: "0.00", Output: "0.00", Source: "it runs here"}
	list := []modelJSON{{Name: "demo", Provider: "demo", Price: free, Ready: true}}
	seen := map[string]bool{}
	for _, s := range servers {
		for _, info := range s.Models {
			seen[info.Name] = true
			list = append(list, modelOf(info))
		}
	}
	for _, info := range known {
		if !seen[info.Name] {
			list = append(list, modelOf(info))
		}
	}
	return list
}

func modelOf(i provider.Info) modelJSON {
	m := modelJSON{Name: i.Name, Provider: i.Provider, Context: i.Context, ContextFrom: i.Said, ContextDoubt: i.Doubt, MaxOutput: i.MaxOutput, Dialect: i.Dialect, Key: i.KeyVariable, Ready: i.HasKey}
	if p := i.Price; p != nil {
		usd := func(n int64) string { return quest.USD(n).String() }
		m.Price = &priceJSON{Input: usd(p.Input), Cached: usd(p.Cached), CacheWrites: usd(p.CacheWrite), Output: usd(p.Output), Date: p.Date, Source: p.Source}
	}
	return m
}

func (a *app) printModels(list []modelJSON) {
	a.modelTable(list)
	fmt.Fprintln(a.out, "\nPrices are in US dollars for a million tokens. The demo is offline and not a language\nmodel. Besides these there are script:<file> and any other model of a provider: provider/model. A model whose\ncontext is ? is asked for it when a quest is made; see docs/models.md.")
}

// printDoubts says why the context of a model is not known although its server speaks of it, once
// for each server.
func (a *app) printDoubts(list []modelJSON) {
	told := map[string]bool{}
	for _, m := range list {
		if m.ContextDoubt != "" && !told[m.Provider] {
			told[m.Provider] = true
			fmt.Fprintf(a.out, "%s: %s\n", printable(m.Name), printable(m.ContextDoubt))
		}
	}
}

func (a *app) modelTable(list []modelJSON) {
	fmt.Fprintf(a.out, "%-32s %-11s %9s %9s %9s %9s  %s\n", "MODEL", "PROVIDER", "CONTEXT", "INPUT", "CACHED", "OUTPUT", "KEY")
	for _, m := range list {
		in, cached, out := "?", "?", "?"
		if m.Price != nil {
			in, cached, out = m.Price.Input, m.Price.Cached, m.Price.Output
		}
		key := m.Key
		switch {
		case m.Ready:
			key = "ready"
		case key != "":
			key = "set " + key
		}
		if m.Dialect != "" {
			key = strings.TrimPrefix(key+", tools as "+m.Dialect, ", ")
		}
		context := "?"
		if m.Context > 0 {
			context = fmt.Sprint(m.Context)
		}
		fmt.Fprintf(a.out, "%-32s %-11s %9s %9s %9s %9s  %s\n", printable(m.Name), m.Provider, context, in, cached, out, key)
	}
}

// offers are the models that the form of the page offers, those whose keys are there first. No server is
// asked for what it has.
func (a *app) offers(ctx context.Context) ([]api.Offer, error) {
	found, err := provider.New(&provider.Options{Config: a.config, File: config.File(a.home)})
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var ready, others []api.Offer
	for _, m := range allModels(found.Models(ctx), nil) {
		o := api.Offer{Name: m.Name, Ready: m.Ready, Key: m.Key}
		if m.Price != nil {
			o.Input, o.Output = m.Price.Input, m.Price.Output
		}
		if m.Ready {
			ready = append(ready, o)
		} else {
			others = append(others, o)
		}
	}
	return append(ready, others...), nil
}
