package cli

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"

	"lyceum/internal/config"
	"lyceum/internal/event"
	"lyceum/internal/mcp"
	"lyceum/internal/mcp/login"
	"lyceum/internal/mcp/setting"
	"lyceum/internal/model/provider"
	"lyceum/internal/runtime"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

// choice is which server a command is about.
type choice struct{ url string }

func (c *choice) flag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.url, "url", "", "the address of a server that config.yaml does not name")
}

// servers is what the configuration says of servers, without opening the home.
func (a *app) servers() (runtime.Servers, error) {
	if err := a.configure(); err != nil {
		return runtime.Servers{}, err
	}
	found, err := provider.New(&provider.Options{Config: a.config, File: config.File(a.home)})
	if err != nil {
		return runtime.Servers{}, usageError{err}
	}
	defer found.Close()
	return servers(a.config, secrets(a.home, a.config, found)), nil
}

// server is the one that a person means, and its name.
func (a *app) server(c choice, args []string) (name string, set setting.Server, all runtime.Servers, err error) {
	if all, err = a.servers(); err != nil {
		return "", set, all, err
	}
	known := slices.Sorted(maps.Keys(all.Known))
	switch {
	case len(args) == 1 && c.url != "":
		return "", set, all, usagef("a name and --url are both given: keep one")
	case c.url != "":
		if u, err := url.Parse(c.url); err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Fragment != "" {
			return "", set, all, usagef("--url %.80q is no address like https://mcp.example.com/mcp", c.url)
		}
		name, set = c.url, setting.Server{URL: c.url}
	case len(args) == 0:
		return "", set, all, usagef("which server? Name one of mcp in config.yaml %v, or give its address with --url", known)
	default:
		var ok bool
		if set, ok = all.Known[args[0]]; !ok {
			return "", set, all, usagef("config.yaml has no server %.40q under mcp: it has %v; a server of a quest.yaml is given by its address, with --url", args[0], known)
		}
		name = args[0]
	}
	switch {
	case set.URL == "":
		err = usagef("the server %s runs inside a computer, and nobody logs in to it", name)
	case !set.LogsIn():
		err = usagef("nothing of a login is sent to the server %s: it has a header Authorization, or its address is not of https", name)
	}
	return name, set, all, err
}

// loginAt is a server as logins see it.
func loginAt(set setting.Server, all runtime.Servers) login.Server {
	s := login.Server{Address: mcp.Address{URL: set.URL, Private: all.Private}}
	if set.Login != nil {
		s.Settings = *set.Login
		if s.Settings.Secret != "" {
			s.Secret = all.Variable(s.Settings.Secret)
		}
	}
	return s
}

func (a *app) mcpLoginCommand() *cobra.Command {
	var which choice
	var quiet bool
	var port int
	cmd := &cobra.Command{
		Use:   "login [server]",
		Short: "Log in to an MCP server, at a browser",
		Long: `Log in to an MCP server that wants it: one of mcp in config.yaml by its name, or any by its
address. A browser opens at the page that the server names; look whose it is before you log
in there. The tokens are kept in the keyring of the operating system, for the server's address,
and renewed when they end; quests that have the server use them.`,
		Args: rangeArgs(0, 1, "the name of a server in config.yaml, or --url"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, set, all, err := a.server(which, args)
			if err != nil {
				return err
			}
			if set.Login != nil && set.Login.Grant == setting.ClientCredentials {
				return usagef("the server %s is logged in to by the client's own secret: there is nothing for a person to do", name)
			}
			if port < 0 || port > 65535 {
				return usagef("--port %d: want one from 1 to 65535, or 0 for any", port)
			}
			return a.mcpLogin(cmd.Context(), name, loginAt(set, all), *all.Logins, port, quiet)
		},
	}
	which.flag(cmd)
	cmd.Flags().BoolVar(&quiet, "no-browser", false, "only print the address of the page")
	cmd.Flags().IntVar(&port, "port", 0, "where the browser comes back to on this machine, for clients that were registered with one (default any)")
	return cmd
}

func (a *app) mcpLogin(ctx context.Context, name string, s login.Server, store login.Store, port int, quiet bool) error {
	if err := store.Check(ctx); err != nil {
		return fmt.Errorf("log in to %s: %w; a server that takes a token in a header can have it from a variable: see headers in docs/protocols.md", name, err)
	}
	b := login.Browser{Port: port, Version: thisBuild().recorded(), Open: func(page, host string) {
		fmt.Fprintf(a.err, "%s is to be logged in to at %s:\n%s\n", printable(name), printable(host), printable(page))
		if !quiet {
			openBrowser(page)
		}
	}}
	l, tools, err := b.Login(ctx, s)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if err := store.Save(ctx, l); err != nil {
		return fmt.Errorf("log in to %s: %w", name, err)
	}
	fmt.Fprintf(a.err, "Logged in to %s, by %s. It has %s. The login is in the keyring; end it with: lyceum mcp logout %s\n", printable(name), oneLine(l.Issuer, 200), view.Several(int64(tools), "tool"), logoutOf(name, s.URL))
	return nil
}

func logoutOf(name, address string) string {
	if name == address {
		return "--url " + printable(address)
	}
	return printable(name)
}

func (a *app) mcpLogoutCommand() *cobra.Command {
	var which choice
	cmd := &cobra.Command{
		Use:   "logout [server]",
		Short: "End a login to an MCP server",
		Args:  rangeArgs(0, 1, "the name of a server in config.yaml, or --url"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, set, all, err := a.server(which, args)
			if err != nil {
				return err
			}
			l, err := all.Logins.Load(cmd.Context(), set.URL)
			if err == nil && l == nil {
				fmt.Fprintf(a.err, "There is no login to %s.\n", printable(name))
				return nil
			}
			if err := all.Logins.Forget(cmd.Context(), set.URL); err != nil {
				return fmt.Errorf("log out of %s: %w", name, err)
			}
			fmt.Fprintf(a.err, "The login to %s is out of the keyring. What runs now may use its last token until that ends.\n", printable(name))
			if l != nil {
				if err := l.Revoked(cmd.Context(), loginAt(set, all)); err != nil {
					fmt.Fprintln(a.err, printable(err.Error()))
				}
			}
			return nil
		},
	}
	which.flag(cmd)
	return cmd
}

// mcpServerJSON is a server of config.yaml, and how its login stands.
type mcpServerJSON struct {
	Server  string      `json:"server"`
	URL     string      `json:"url"`
	Login   string      `json:"login"`
	Issuer  string      `json:"issuer"`
	Expires *event.Time `json:"expires"`
}

func (a *app) mcpListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the MCP servers of config.yaml, and which are logged in to",
		Args:  exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := a.servers()
			if err != nil {
				return err
			}
			list := []mcpServerJSON{}
			for _, name := range slices.Sorted(maps.Keys(all.Known)) {
				j := stands(cmd.Context(), name, all.Known[name], *all.Logins)
				list = append(list, j)
				if !asJSON {
					fmt.Fprintf(a.out, "%-24s %-20s %s\n", printable(j.Server), j.Login, cmp.Or(printable(j.URL), "inside a computer"))
				}
			}
			if asJSON {
				return a.printJSON(list)
			}
			if len(list) == 0 {
				fmt.Fprintln(a.err, "config.yaml names no servers under mcp; see docs/protocols.md")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// stands says how the login of a server stands.
func stands(ctx context.Context, name string, set setting.Server, store login.Store) mcpServerJSON {
	j := mcpServerJSON{Server: name, URL: set.URL}
	switch {
	case set.URL == "":
		j.Login = "none"
		return j
	case !set.LogsIn():
		j.Login = "headers"
		return j
	case set.Login != nil && set.Login.Grant == setting.ClientCredentials:
		j.Login, j.Issuer = "client credentials", set.Login.Issuer
		return j
	}
	l, err := store.Load(ctx, set.URL)
	switch {
	case err != nil:
		j.Login = "unreadable"
	case l == nil:
		j.Login = "none"
	case l.Ended():
		j.Login, j.Issuer = "ended", l.Issuer
	default:
		j.Login, j.Issuer = "logged in", l.Issuer
	}
	if l != nil && !l.Expires.IsZero() {
		j.Expires = new(event.TimeOf(l.Expires))
	}
	return j
}
