package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"lyceum/internal/config"
	"lyceum/internal/executor"
	"lyceum/internal/plain"

	"github.com/spf13/cobra"
)

// executors finds executors by name: those that Lyceum knows, and what config.yaml says of them
// and of others. There may be no configuration.
func executors(conf *config.Config) func(string) (executor.Settings, string, error) {
	return func(name string) (set executor.Settings, folder string, err error) {
		set, known := knownExecutor(name)
		var own config.Executor
		configured := false
		if conf != nil {
			own, configured = conf.Executors[name]
		}
		switch {
		case !known && !configured:
			return set, "", unknownExecutor(name, conf)
		case !known && (len(own.Command) == 0 || own.Wire == ""):
			return set, "", fmt.Errorf("config.yaml does not say enough of the executor %s: it needs command and wire", name)
		}
		return configuredExecutor(name, set, own), own.Folder, nil
	}
}

// knownExecutor is what Lyceum itself knows of an executor.
func knownExecutor(name string) (executor.Settings, bool) {
	if name == executor.BuiltinName {
		return executor.Builtin(), true
	}
	return executor.Lookup(name)
}

func unknownExecutor(name string, conf *config.Config) error {
	names := executorNames(conf)
	meant := ""
	if near := plain.Near(name, names); len(near) > 0 {
		meant = fmt.Sprintf("; did you mean %s?", strings.Join(near, " or "))
	}
	return fmt.Errorf("there is no executor %s%s There are %s; config.yaml can add others under executors", plain.Quoted(name, 40), cmp.Or(meant, "."), strings.Join(names, ", "))
}

// executorNames are all that are known here.
func executorNames(conf *config.Config) []string {
	names := append(executor.Known(), executor.BuiltinName)
	if conf != nil {
		names = append(names, slices.Collect(maps.Keys(conf.Executors))...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// configuredExecutor is what is known of an executor, with what config.yaml says in place.
func configuredExecutor(name string, set executor.Settings, own config.Executor) executor.Settings {
	set.Name = name
	set.Wire, set.MCP, set.Mode = cmp.Or(own.Wire, set.Wire), cmp.Or(own.MCP, set.MCP, executor.MCPHTTP), cmp.Or(own.Mode, set.Mode)
	set.Authenticate, set.Version = cmp.Or(own.Authenticate, set.Authenticate), cmp.Or(own.Version, set.Version)
	set.Exact = own.Version != ""
	if len(own.Command) > 0 {
		set.Command = own.Command
	}
	if own.Folder != "" && set.Folder == "" {
		set.Folder = name
	}
	set.Variables, set.Files = laidOver(set.Variables, own.Variables), laidOver(set.Files, own.Files)
	if own.NoRead != nil {
		set.NoRead = *own.NoRead
	}
	if own.Reported != nil {
		set.Reported = *own.Reported
	}
	return set
}

// laidOver are values with others in their place; an empty one takes one away.
func laidOver(known, own map[string]string) map[string]string {
	out := maps.Clone(known)
	for k, v := range own {
		switch {
		case v == "":
			delete(out, k)
		case out == nil:
			out = map[string]string{k: v}
		default:
			out[k] = v
		}
	}
	return out
}

// executorJSON is one line of executors. Fields are only added.
type executorJSON struct {
	Name string `json:"name"`
	// Own says that config.yaml names it.
	Own bool `json:"own"`
	// Version is the one that is known to work.
	Version string `json:"version,omitempty"`
	Wire    string `json:"wire,omitempty"`
	Mode    string `json:"mode,omitempty"`
	Tools   string `json:"tools,omitempty"`
	// Folder is where its programs are on this machine, empty if it needs none.
	Folder string `json:"folder,omitempty"`
	// Reported says that it runs its commands by itself, so that only its word is known of them.
	Reported bool `json:"reported"`
	// Ready says whether nothing is missing that can be known without starting it; Missing is
	// what is, and what to do.
	Ready   bool   `json:"ready"`
	Missing string `json:"missing,omitempty"`
	// Found is what it said of itself, if it was started.
	Found *foundJSON `json:"found,omitempty"`
}

// foundJSON is what an executor said of itself.
type foundJSON struct {
	Name         string   `json:"name"`
	Version      string   `json:"version"`
	Protocol     int64    `json:"protocol"`
	Mode         string   `json:"mode,omitempty"`
	Capabilities []string `json:"capabilities"`
}

func (a *app) executorsCommand() *cobra.Command {
	var asJSON, check bool
	var driver string
	cmd := &cobra.Command{
		Use:   "executors [name...]",
		Short: "List the outside coding agents that agents of a quest can be, and what is missing",
		Long: `List the executors: coding agents of other people that can be an agent of a quest, and
lyceum's own, builtin. Those that are other people's need a folder with their programs, which
config.yaml names: docs/executors.md says how to install each.

With --check each is started in a computer without a network and asked what it is, up to an
open session. No model is asked. The exit code is 1 if one of those named, or all of
them, cannot be used.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.executors(cmd.Context(), args, driver, check, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&check, "check", false, "start each, and ask what it is")
	cmd.Flags().StringVar(&driver, "driver", "auto", "what computers are made with, for --check")
	return cmd
}

func (a *app) executors(ctx context.Context, names []string, driver string, check, asJSON bool) error {
	if err := a.configure(); err != nil {
		return err
	}
	list, err := a.listExecutors(names)
	if err != nil {
		return err
	}
	if check {
		if err := a.checkExecutors(ctx, list, driver); err != nil {
			return err
		}
	}
	if asJSON {
		err = a.printJSON(list)
	} else {
		a.printExecutors(list, check)
	}
	if err != nil || !check {
		return err
	}
	usable := slices.ContainsFunc(list, func(e executorJSON) bool { return e.Ready })
	if len(names) > 0 {
		usable = !slices.ContainsFunc(list, func(e executorJSON) bool { return !e.Ready })
	}
	if !usable {
		return errFailed
	}
	return nil
}

// listExecutors describes those of these names, all if there are none.
func (a *app) listExecutors(names []string) ([]executorJSON, error) {
	find, list := executors(a.config), []executorJSON{}
	if len(names) == 0 {
		names = executorNames(a.config)
	}
	for _, name := range names {
		_, own := a.config.Executors[name]
		e := executorJSON{Name: name, Own: own}
		set, folder, err := find(name)
		if err != nil && !own {
			return nil, usageError{err}
		}
		e.Version, e.Wire, e.Mode, e.Tools, e.Folder, e.Reported = set.Version, set.Wire, set.Mode, set.MCP, folder, set.Reported
		e.Missing = missingOf(name, set, folder, err)
		e.Ready = e.Missing == ""
		list = append(list, e)
	}
	return list, nil
}

// ownExecutors are those that config.yaml names.
func (a *app) ownExecutors() ([]executorJSON, error) {
	if len(a.config.Executors) == 0 {
		return []executorJSON{}, nil
	}
	return a.listExecutors(slices.Sorted(maps.Keys(a.config.Executors)))
}

// missingOf says what an executor lacks, as far as that can be seen from outside.
func missingOf(name string, set executor.Settings, folder string, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case set.Folder == "":
		return ""
	case folder == "":
		return fmt.Sprintf("install it as docs/executors.md says, and name the folder in config.yaml: executors: {%s: {folder: …}}", name)
	}
	if info, err := os.Stat(folder); err != nil {
		return "its folder is not there: " + err.Error()
	} else if !info.IsDir() {
		return folder + " is no folder"
	}
	return ""
}

// checkExecutors starts those that nothing is missing of.
func (a *app) checkExecutors(ctx context.Context, list []executorJSON, driver string) error {
	if err := a.open(true); err != nil {
		return err
	}
	for i := range list {
		e := &list[i]
		if !e.Ready {
			continue
		}
		fmt.Fprintf(a.err, "Starting %s…\n", e.Name)
		info, err := a.rt.CheckExecutor(ctx, e.Name, driver, func(line string) { fmt.Fprintln(a.err, printable(line)) })
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			e.Ready, e.Missing = false, err.Error()
			continue
		}
		e.Found = &foundJSON{Name: info.Name, Version: info.Version, Protocol: info.Protocol, Mode: info.Mode, Capabilities: info.Capabilities}
		if e.Found.Capabilities == nil {
			e.Found.Capabilities = []string{}
		}
		e.Reported = info.Reported
	}
	return nil
}

func (a *app) printExecutors(list []executorJSON, checked bool) {
	a.executorTable(list)
	if !checked {
		fmt.Fprintln(a.out, "\nStart them and see what they are with: lyceum executors --check")
	}
}

func (a *app) executorTable(list []executorJSON) {
	fmt.Fprintf(a.out, "%-12s %-10s %-10s %-10s %s\n", "EXECUTOR", "VERSION", "MODELS", "COMMANDS", "")
	for _, e := range list {
		commands := "witnessed"
		if e.Reported {
			commands = "reported"
		}
		said := "ready to be tried"
		switch {
		case e.Missing != "":
			said = e.Missing
		case e.Found != nil:
			said = fmt.Sprintf("ready: %s %s", e.Found.Name, e.Found.Version)
			if e.Found.Mode != "" {
				said += ", mode " + e.Found.Mode
			}
		}
		fmt.Fprintf(a.out, "%-12s %-10s %-10s %-10s %s\n", e.Name, cmp.Or(e.Version, "-"), cmp.Or(e.Wire, "any"), commands, strings.ReplaceAll(printable(said), "\n", " "))
	}
}
