package cli

import (
	"fmt"
	"strings"

	"lyceum/internal/config"
	"lyceum/internal/model"
	"lyceum/internal/model/demo"
	"lyceum/internal/model/provider"
	"lyceum/internal/model/script"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"

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

// isDemo reports whether a name means the demo: demo, or demo:7 with a seed.
func isDemo(name string) bool { return name == "demo" || strings.HasPrefix(name, "demo:") }

// costs reports whether a model of a quest may cost something.
func costs(s *quest.State) bool {
	for _, g := range s.Agents {
		if g.Model != "" && !strings.HasPrefix(g.Model, "script:") && !isDemo(g.Model) {
			return true
		}
	}
	return false
}

// known tells what is known of a model before it is asked.
func known(found *provider.Registry) func(string) runtime.Known {
	return func(name string) runtime.Known {
		if strings.HasPrefix(name, "script:") || isDemo(name) {
			return runtime.Known{Priced: true}
		}
		info, err := found.Info(name)
		if err != nil {
			return runtime.Known{}
		}
		return runtime.Known{Priced: info.Price != nil, Context: info.Context}
	}
}

// modelJSON is one line of models. Prices are in dollars for a million tokens, as
// decimal texts.
type modelJSON struct {
	Name     string `json:"name"`
	Provider string `json:"provider"`
	// Context is how many tokens it can see, 0 if nobody knows.
	Context int64 `json:"context"`
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
		Short: "List the models whose prices are known, and whether their keys are there",
		Long: `List the models that Lyceum knows the prices of, in US dollars for a million tokens.
Any other model of a provider can be used as well; its cost is then unknown.
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
			found, err := provider.New(&provider.Options{Config: conf})
			if err != nil {
				return usageError{err}
			}
			defer found.Close()
			list := []modelJSON{}
			for _, info := range found.Models(cmd.Context()) {
				m := modelOf(info)
				if (len(args) == 0 || strings.Contains(m.Provider+"/"+m.Name, args[0])) && (m.Ready || !ready) {
					list = append(list, m)
				}
			}
			if asJSON {
				return a.printJSON(list)
			}
			a.printModels(list)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&ready, "ready", false, "only those whose keys are there")
	return cmd
}

func modelOf(i provider.Info) modelJSON {
	m := modelJSON{Name: i.Name, Provider: i.Provider, Context: i.Context, Key: i.KeyVariable, Ready: i.HasKey}
	if p := i.Price; p != nil {
		usd := func(n int64) string { return quest.USD(n).String() }
		m.Price = &priceJSON{Input: usd(p.Input), Cached: usd(p.Cached), CacheWrites: usd(p.CacheWrite), Output: usd(p.Output), Date: p.Date, Source: p.Source}
	}
	return m
}

func (a *app) printModels(list []modelJSON) {
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
		context := "?"
		if m.Context > 0 {
			context = fmt.Sprint(m.Context)
		}
		fmt.Fprintf(a.out, "%-32s %-11s %9s %9s %9s %9s  %s\n", printable(m.Name), m.Provider, context, in, cached, out, key)
	}
	fmt.Fprintln(a.out, "\nPrices are in US dollars for a million tokens. Besides these there are demo (offline, no key, not a\nlanguage model), script:<file>, ollama/<model>, and any other model of a provider: provider/model.")
}
