package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	"lyceum/internal/config"
	"lyceum/internal/model/provider"
	"lyceum/internal/runtime"
	"lyceum/internal/strictyaml"

	"github.com/spf13/cobra"
)

// configJSON is what config show prints for programs. Fields are only added. It has no
// secret: keys are not kept in config.yaml, and the command of notify, which may hold
// one, is not repeated.
type configJSON struct {
	File string `json:"file"`
	// Exists says whether there is such a file; without one, everything is as it comes.
	Exists   bool   `json:"exists"`
	Model    string `json:"model"`
	Retry    string `json:"retry"`
	Patience string `json:"patience"`
	Reserve  string `json:"reserve"`
	// Ledger and Blobs are where quests are kept: home, or an address, without a password.
	Ledger string `json:"ledger"`
	Blobs  string `json:"blobs"`
	// OutsideCost is what a quest that another program runs may cost, in dollars.
	OutsideCost string `json:"outside_cost_usd"`
	// ConfirmCost is above which estimate a run is confirmed, in dollars.
	ConfirmCost string       `json:"confirm_cost_usd"`
	Notify      bool         `json:"notify"`
	WeakLimits  bool         `json:"weak_limits"`
	Embeddings  string       `json:"embeddings"`
	Providers   []serverJSON `json:"providers"`
	Models      []modelJSON  `json:"models"`
	// Executors are those that config.yaml names.
	Executors []executorJSON `json:"executors"`
	// Registries want credentials while homes are prepared.
	Registries []registryJSON `json:"registries"`
}

// registryJSON is a registry, and whether its variable holds a credential.
type registryJSON struct {
	Host     string `json:"host"`
	Port     int    `json:"port"`
	Header   string `json:"header"`
	Variable string `json:"variable"`
	Ready    bool   `json:"ready"`
}

// serverJSON is a provider as it is used.
type serverJSON struct {
	Name string `json:"name"`
	API  string `json:"api"`
	URL  string `json:"url"`
	// Key is the variable that holds the key, Ready whether it is there or not needed.
	Key   string `json:"key"`
	Ready bool   `json:"ready"`
	// KeyFrom is where the key stands: environment or keyring.
	KeyFrom     string `json:"key_from,omitempty"`
	Silence     string `json:"silence"`
	Concurrency int    `json:"concurrency"`
	// Dialect is how its models are told of tools, if that is as text.
	Dialect string `json:"dialect,omitempty"`
	// Own says that config.yaml names it.
	Own   bool   `json:"own"`
	Fault string `json:"fault,omitempty"`
}

func (a *app) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Say where the configuration is, and what holds",
		Long:  "Show what holds, as lyceum config show does; lyceum config path says where the file is.",
		Args:  exactArgs(0, "path or show"),
	}
	path := &cobra.Command{
		Use:   "path",
		Short: "Print where config.yaml is, or would be",
		Args:  exactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			home, err := config.Home(a.homeFlag)
			if err == nil {
				fmt.Fprintln(a.out, config.File(home))
			}
			return err
		},
	}
	var asJSON bool
	var flags specFlags
	show := &cobra.Command{
		Use:   "show [quest.yaml | quest]",
		Short: "Show what holds: config.yaml, the environment, and what Lyceum knows by itself",
		Long: `Show what holds: the default model, the providers with their addresses and whether their keys
are there, and what config.yaml says of models. No key is shown, and no server is asked.

Of a quest.yaml: what would hold for a quest made of it now, with the flags that lyceum run takes, and where each value comes from: a flag,
the quest.yaml, config.yaml, a profile, or nobody's word (default). Of a quest: the same, as it was recorded when the quest was made.`,
		Args: rangeArgs(0, 1, "nothing, a quest.yaml, or a quest's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				return a.showSettings(cmd.Context(), args[0], &flags, asJSON)
			}
			if err := a.configure(); err != nil {
				return err
			}
			found, err := provider.New(&provider.Options{Config: a.config, File: config.File(a.home)})
			if err != nil {
				return usageError{err}
			}
			defer found.Close()
			c := a.describeConfig(found, found.Servers(cmd.Context()))
			if c.Executors, err = a.ownExecutors(); err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(c)
			}
			a.printConfig(&c)
			return nil
		},
	}
	cmd.RunE = show.RunE
	for _, c := range []*cobra.Command{cmd, show} {
		c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	}
	flags.spec(show)
	flags.work(show)
	flags.sources(show)
	flags.limits(show)
	cmd.AddCommand(path, show)
	return cmd
}

// settingsJSON are the settings of a quest, made or not.
type settingsJSON struct {
	Quest    string            `json:"quest"`
	Settings []runtime.Setting `json:"settings"`
}

// showSettings says what holds for a quest, or would for one of a quest.yaml, and by whose word.
func (a *app) showSettings(ctx context.Context, arg string, f *specFlags, asJSON bool) error {
	out := settingsJSON{Quest: arg}
	if isFile(arg) || isThere(arg) {
		d, err := draftOfFile(ctx, arg)
		if err != nil {
			return err
		}
		bounds, err := f.bounds()
		if err != nil {
			return err
		}
		plan, err := a.plan(ctx, d, f, bounds)
		if err != nil {
			return err
		}
		if err := a.open(true); err != nil {
			return err
		}
		if out.Settings, err = a.rt.Settings(ctx, plan); err != nil {
			return err
		}
		out.Quest = plan.Spec.Name
	} else {
		if err := checkName(arg); err != nil {
			return err
		}
		if err := a.open(false); err != nil {
			return err
		}
		var err error
		if out.Settings, err = a.rt.SettingsOf(ctx, arg); err != nil {
			return err
		}
	}
	if asJSON {
		return a.printJSON(out)
	}
	for _, s := range out.Settings {
		fmt.Fprintf(a.out, "%-28s %-14s %s\n", printable(s.Key), printable(s.From), oneLine(s.Value, 200))
	}
	return nil
}

func (a *app) describeConfig(found *provider.Registry, servers []provider.Server) configJSON {
	file := config.File(a.home)
	_, err := os.Stat(file)
	c := configJSON{
		File: file, Exists: err == nil, Model: a.config.Model, Retry: found.Patience().String(), Patience: cmp.Or(a.config.Patience, runtime.DefaultPatience).String(), Notify: a.config.Notify != "", WeakLimits: a.config.WeakLimits,
		Reserve: strictyaml.FormatSize(reserve(a.config)), OutsideCost: outsideCost(a.config), ConfirmCost: confirmUSD(a.config), Embeddings: "the binary's own", Providers: []serverJSON{}, Models: []modelJSON{},
	}
	c.Ledger, c.Blobs = shownPlace(a.places.ledger), shownPlace(a.places.blobs)
	switch e := a.config.Embeddings; {
	case e != nil && e.None:
		c.Embeddings = "none"
	case e != nil:
		c.Embeddings = e.Model + " at " + e.URL
	}
	for _, s := range servers {
		j := serverJSON{
			Name: s.Name, API: s.API, URL: s.URL, Key: s.KeyVariable, Ready: s.HasKey, KeyFrom: s.KeyFrom, Silence: s.Silence.String(), Concurrency: s.Concurrency, Dialect: s.Dialect, Own: s.Own,
		}
		if s.Fault != nil {
			j.Fault = s.Fault.Error()
		}
		c.Providers = append(c.Providers, j)
	}
	c.Registries = []registryJSON{}
	for _, r := range registries(a.config) {
		c.Registries = append(c.Registries, registryJSON{Host: r.Host, Port: r.Port, Header: r.Header, Variable: r.Variable, Ready: r.Value != ""})
	}
	for _, name := range slices.Sorted(maps.Keys(a.config.Models)) {
		if info, err := found.Info(name); err == nil { // New has refused names that mean nothing
			c.Models = append(c.Models, modelOf(info))
		}
	}
	return c
}

func (a *app) printConfig(c *configJSON) {
	there := ""
	if !c.Exists {
		there = " (not there: everything is as it comes)"
	}
	notify := "nobody"
	if c.Notify {
		notify = "a command, which is not shown"
	}
	limits := "hold, or computers do not start"
	if c.WeakLimits {
		limits = "may be weak: computers start also where their memory cannot be counted in full"
	}
	model := c.Model
	if model == "" {
		model = "none: quests name their own"
	}
	fmt.Fprintf(a.out, "file        %s%s\nmodel       %s\nretry       %s\npatience    %s\nreserve     %s\nledger      %s\nblobs       %s\noutside     up to $%s for each quest\nconfirm     runs estimated above $%s\nnotify      %s\nlimits      %s\nembeddings  %s\n\n", printable(c.File), there, printable(model), c.Retry, c.Patience, c.Reserve, printable(c.Ledger), printable(c.Blobs), c.OutsideCost, c.ConfirmCost, notify, limits, printable(c.Embeddings))
	fmt.Fprintf(a.out, "%-12s %-10s %-28s %8s  %s\n", "PROVIDER", "API", "KEY", "SILENCE", "URL")
	for _, s := range c.Providers {
		key := "none needed"
		switch {
		case s.Key != "" && s.Ready:
			key = s.Key + " is there"
		case s.Key != "":
			key = "set " + s.Key
		}
		url := s.URL
		if s.Dialect != "" {
			url += ", tools as " + s.Dialect
		}
		if s.Fault != "" {
			url = s.Fault
		}
		fmt.Fprintf(a.out, "%-12s %-10s %-28s %8s  %s\n", s.Name, s.API, key, s.Silence, printable(url))
	}
	if len(c.Models) > 0 {
		fmt.Fprintln(a.out)
		a.modelTable(c.Models)
	}
	if len(c.Executors) > 0 {
		fmt.Fprintln(a.out)
		a.executorTable(c.Executors)
	}
	if len(c.Registries) > 0 {
		fmt.Fprintf(a.out, "\n%-40s %-20s %s\n", "REGISTRY", "HEADER", "CREDENTIAL")
	}
	for _, r := range c.Registries {
		state := "set " + r.Variable
		if r.Ready {
			state = r.Variable + " is there"
		}
		fmt.Fprintf(a.out, "%-40s %-20s %s\n", fmt.Sprintf("%s:%d", r.Host, r.Port), r.Header, state)
	}
}
