// Package config finds Lyceum's home and reads its config.yaml.
//
// Flags override a quest.yaml, which overrides config.yaml. An unknown key is
// refused with its line, so that a typing error never passes for a setting.
// Nothing secret belongs into the file: it names the variables that hold keys.
package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lyceum/internal/mcp/setting"
	"lyceum/internal/strictyaml"
	"lyceum/internal/workspace"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Config is a config.yaml.
type Config struct {
	// Model is used by quests that name none.
	Model string
	// Providers are servers of models by name: those that Lyceum does not know, and
	// what is different about those that it does.
	Providers map[string]Provider
	// Models are prices and context sizes by the name of the model.
	Models map[string]Model
	// Retry is how long a model that is not available is tried; 0 leaves it to
	// the program.
	Retry time.Duration
	// Patience is how long a quest waits for a provider that is away, before it is paused;
	// 0 leaves it to the program.
	Patience time.Duration
	// Reserve is how many bytes of the disk of the home stay free: below that nothing is
	// stored. nil leaves it to the program.
	Reserve *int64
	// OutsideCost is what a quest that has no limit on its cost may cost, in nanodollars, if
	// another program runs it. nil leaves it to the program.
	OutsideCost *int64
	// ConfirmCost is above which estimate of its cost, in nanodollars, a run is confirmed by a
	// person. nil leaves it to the program; 0 has every run confirmed that costs something.
	ConfirmCost *int64
	// Ledger and Blobs are the addresses of what keeps events and files, empty if nothing is said;
	// InHome is the home itself.
	Ledger, Blobs string
	// Embeddings are where vectors of texts come from, nil for those of the binary.
	Embeddings *Embeddings
	// MCP are servers of tools that every new quest has, besides its own.
	MCP setting.Servers
	// Executors are outside agents by name, those included of which Lyceum knows something.
	Executors map[string]Executor
	// Private are addresses that are not of the public internet and that Lyceum may connect
	// to where a quest names a server: like the entries of network.allow.
	Private []string
	// Registries are hosts with packages that want a credential of whoever prepares a home.
	Registries []Registry
	// Repos are the folders that quests made by requests may work on, by the names that
	// requests call them.
	Repos map[string]string
	// Computer is what computers of quests are that do not say it themselves.
	Computer Computer
	// Notify is a line for the shell that is run when a quest asks a person something, and
	// when it has ended.
	Notify string
	// Connectors are ways by which people elsewhere talk with quests, by name.
	Connectors map[string]Connector
	// Proof is who vouches for quests.
	Proof Proof
	// WeakLimits lets computers start where what they hold of memory can be counted only
	// in part, and nothing else limits it.
	WeakLimits bool
}

// Embeddings is a server of vectors that speaks like OpenAI's, or none at all.
type Embeddings struct {
	None bool
	// URL is what /embeddings comes after; KeyVariable is the environment variable that
	// holds the key, if it wants one.
	URL, Model, KeyVariable string
}

// Computer is what programs of agents may write and read: as in a quest.yaml. A list is nil where
// nothing is said.
type Computer struct{ AllowWrite, DenyRead []string }

func (c *Computer) fields() map[string]func(ast.Node) error {
	return map[string]func(ast.Node) error{
		"allow_write": strictyaml.Texts(&c.AllowWrite, "allow_write", 1, workspace.WritePath), "deny_read": strictyaml.Texts(&c.DenyRead, "deny_read", 0, workspace.HideName),
	}
}

func (c *Config) readComputer(n ast.Node) error {
	err := fields(n, "computer", c.Computer.fields())
	if err == nil {
		err = strictyaml.Wrap(n, workspace.Bounds{Write: c.Computer.AllowWrite, Hide: c.Computer.DenyRead}.Check())
	}
	return err
}

// Home returns the folder that everything is kept in: flag, else $LYCEUM_HOME,
// else ~/.lyceum.
func Home(flag string) (string, error) {
	if flag == "" {
		flag = os.Getenv("LYCEUM_HOME")
	}
	if flag == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the home folder: %w: set LYCEUM_HOME or give --home", err)
		}
		flag = filepath.Join(user, ".lyceum")
	}
	return filepath.Abs(flag)
}

// File is where the configuration of a home is.
func File(home string) string { return filepath.Join(home, "config.yaml") }

// Load reads config.yaml from a home. One that is not there is empty.
func Load(home string) (*Config, error) {
	path := File(home)
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return new(Config), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	return Parse(path, data)
}

// Sum tells one config.yaml of a home from another; none has one too.
func Sum(home string) string {
	data, err := os.ReadFile(filepath.Join(home, "config.yaml"))
	if err != nil {
		return "none"
	}
	return fmt.Sprintf("%x", sha256.Sum256(data))
}

// Parse reads a config.yaml; file is its name, for messages.
func Parse(file string, data []byte) (*Config, error) {
	tokens, err := strictyaml.Tokens(file, data)
	if err != nil {
		return nil, err
	}
	c := new(Config)
	if !says(tokens) {
		return c, nil
	}
	root, err := strictyaml.Document(file, data)
	if err != nil {
		return nil, err
	}
	if root.Type() == ast.NullType {
		return c, nil
	}
	err = fields(root, "a config.yaml", c.fields())
	if err == nil && len(c.Executors) > maxExecutors {
		err = strictyaml.At(root, "there are %d executors: want at most %d", len(c.Executors), maxExecutors)
	}
	if err == nil && len(c.Connectors) > maxConnectors {
		err = strictyaml.At(root, "there are %d connectors: want at most %d", len(c.Connectors), maxConnectors)
	}
	if err == nil && len(c.Proof.Witnesses) > maxWitnesses {
		err = strictyaml.At(root, "there are %d witnesses: want at most %d", len(c.Proof.Witnesses), maxWitnesses)
	}
	if err != nil {
		return nil, strictyaml.InFile(file, err)
	}
	return c, nil
}

func (c *Config) fields() map[string]func(ast.Node) error {
	return map[string]func(ast.Node) error{
		"model":        strictyaml.Word(&c.Model),
		"providers":    each("providers", &c.Providers, readProvider),
		"models":       each("models", &c.Models, readModel),
		"computer":     c.readComputer,
		"retry":        span(&c.Retry, 24*time.Hour),
		"patience":     span(&c.Patience, 30*24*time.Hour),
		"reserve":      size(&c.Reserve),
		"outside_cost": amount(&c.OutsideCost),
		"confirm_cost": amount(&c.ConfirmCost),
		"ledger":       place(&c.Ledger, "postgres", "postgresql"),
		"blobs":        place(&c.Blobs, "s3"),
		"mcp":          func(n ast.Node) error { return c.MCP.UnmarshalYAML(n) },
		"executors":    each("executors", &c.Executors, readExecutor),
		"private_addresses": func(n ast.Node) error {
			return strictyaml.Each(n, "private_addresses", func(n ast.Node) error { return c.readPrivate(n) })
		},
		"registries": func(n ast.Node) error {
			return strictyaml.Each(n, "registries", func(n ast.Node) error { return c.readRegistry(n) })
		},
		"repos":       each("repos", &c.Repos, readRepo),
		"notify":      strictyaml.Word(&c.Notify),
		"connectors":  each("connectors", &c.Connectors, readConnector),
		"weak_limits": strictyaml.Truth(&c.WeakLimits),
		"checkpoints": c.readCheckpoints,
		"witnesses":   each("witnesses", &c.Proof.Witnesses, readWitness),
		"timestamps":  c.readTimestamps,
		"witness":     c.readWitnessing,
		"embeddings": func(n ast.Node) (err error) {
			c.Embeddings, err = readEmbeddings(n)
			return err
		},
	}
}

// InHome is the address of the ledger and the blobs that are in the home.
const InHome = "home"

// place reads where something is kept that need not be in the home. What it has to be beyond its
// scheme is for its driver to know; a password in it is refused here, and not repeated.
func place(to *string, schemes ...string) func(ast.Node) error {
	return func(n ast.Node) error {
		text, err := strictyaml.Scalar(n)
		if err != nil {
			return err
		}
		u, err := url.Parse(text)
		switch {
		case text == InHome:
		case err != nil:
			return strictyaml.At(n, "it must be %s, or an address like %s://…, with special characters as %%25 and so on", InHome, schemes[0])
		case !slices.Contains(schemes, u.Scheme):
			return strictyaml.At(n, "it must be %s, or an address like %s://…", InHome, schemes[0])
		case hasPassword(u):
			return strictyaml.At(n, "it has a password in it, and those are not kept in config.yaml: leave it out, and put it into ~/.pgpass or the file that PGPASSFILE names, or put the whole address into LYCEUM_LEDGER (for s3, set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)")
		}
		*to = text
		return nil
	}
}

func hasPassword(u *url.URL) bool {
	_, has := u.User.Password()
	return has || u.Query().Has("password") || u.Query().Has("sslpassword")
}

// readPrivate reads an address, or a range of some, with or without a port. What it opens is
// for package proxy to know; a name opens nothing, for whoever owns the name says where it leads.
func (c *Config) readPrivate(n ast.Node) error {
	text, err := strictyaml.Scalar(n)
	if err != nil {
		return err
	}
	bare := text
	if at, err := netip.ParseAddrPort(text); err == nil {
		bare = at.Addr().String()
	} else if before, port, ok := strings.Cut(text, ":"); ok && strings.Count(text, ":") == 1 && port != "" {
		bare = before
	}
	_, one := netip.ParseAddr(bare)
	_, many := netip.ParsePrefix(bare)
	if one != nil && many != nil {
		return strictyaml.At(n, "%.80q is no address like 127.0.0.1:8080 or 10.0.0.0/8", text)
	}
	c.Private = append(c.Private, text)
	return nil
}

// readRepo reads where a folder is.
func readRepo(name string, n ast.Node) (path string, err error) {
	if err := strictyaml.Word(&path)(n); err != nil {
		return "", err
	}
	if !filepath.IsAbs(path) || strings.ContainsAny(name, `/\`) {
		return "", strictyaml.At(n, "repos: want names without slashes, each with the absolute path of a folder")
	}
	return filepath.Clean(path), nil
}

func (e *Embeddings) fields() map[string]func(ast.Node) error {
	return map[string]func(ast.Node) error{
		"url": strictyaml.Word(&e.URL), "model": strictyaml.Word(&e.Model), "key_variable": strictyaml.Word(&e.KeyVariable),
	}
}

func readEmbeddings(n ast.Node) (*Embeddings, error) {
	e := new(Embeddings)
	if word, err := strictyaml.Scalar(n); err == nil {
		if word != "none" {
			return nil, strictyaml.At(n, "embeddings must be none, or a mapping with url and model")
		}
		return &Embeddings{None: true}, nil
	}
	err := fields(n, "embeddings", e.fields())
	if err == nil && (e.URL == "" || e.Model == "") {
		err = strictyaml.At(n, "embeddings need url, such as https://api.example.com/v1, and model")
	}
	return e, err
}

// says reports whether there is more in a file than comments.
func says(tokens token.Tokens) bool {
	for _, t := range tokens {
		switch t.Type {
		case token.CommentType, token.DocumentHeaderType, token.DocumentEndType:
		default:
			return true
		}
	}
	return false
}

// fields reads a mapping like strictyaml.Fields. A key that asks for a secret
// gets an answer of its own.
func fields(n ast.Node, what string, known map[string]func(ast.Node) error) error {
	pairs, _ := strictyaml.Pairs(n)
	for _, p := range pairs {
		name, err := strictyaml.Key(p, map[string]bool{})
		if err != nil {
			return err
		}
		if known[name] == nil && secretive(name) {
			return strictyaml.At(p, "keys are not kept in config.yaml: put the key into an environment variable or the keyring, and name the variable with key_variable")
		}
	}
	return strictyaml.Fields(n, what, known)
}

// secretive reports whether a field is meant to hold a secret.
func secretive(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"key", "secret", "password", "authorization", "bearer"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return name == "token" || strings.HasSuffix(name, "_token")
}

// each reads a mapping from names of the user's to things of one kind.
func each[T any](what string, to *map[string]T, read func(name string, n ast.Node) (T, error)) func(ast.Node) error {
	return func(n ast.Node) error {
		list, ok := strictyaml.Pairs(n)
		if !ok {
			return strictyaml.At(n, "%s must be a mapping from names", what)
		}
		*to = make(map[string]T)
		seen := make(map[string]bool)
		for _, p := range list {
			name, err := strictyaml.Key(p, seen)
			if err != nil {
				return err
			}
			v, err := read(name, p.Value)
			if err != nil {
				return err
			}
			(*to)[name] = v
		}
		return nil
	}
}

// span reads a length of time, from a second up to most.
func size(to **int64) func(ast.Node) error {
	return func(n ast.Node) error {
		text, err := strictyaml.Scalar(n)
		if err != nil {
			return err
		}
		v, err := strictyaml.ParseSize(text)
		*to = &v
		return strictyaml.Wrap(n, err)
	}
}

func span(to *time.Duration, most time.Duration) func(ast.Node) error {
	return func(n ast.Node) error {
		text, err := strictyaml.Scalar(n)
		if err != nil {
			return err
		}
		d, err := time.ParseDuration(text)
		if err != nil || d < time.Second || d > most {
			return strictyaml.At(n, "%.40q is no time from 1s to %.0fh, such as 10m", text, most.Hours())
		}
		*to = d
		return nil
	}
}
