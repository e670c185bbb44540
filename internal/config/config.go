// Package config finds Lyceum's home and reads its config.yaml.
//
// Flags override a quest.yaml, which overrides config.yaml. An unknown key is
// refused with its line, so that a typing error never passes for a setting.
// Nothing secret belongs into the file: it names the variables that hold keys.
package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lyceum/internal/strictyaml"

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
	// Embeddings are where vectors of texts come from, nil for those of the binary.
	Embeddings *Embeddings
}

// Embeddings is a server of vectors that speaks like OpenAI's, or none at all.
type Embeddings struct {
	None bool
	// URL is what /embeddings comes after; KeyVariable is the environment variable that
	// holds the key, if it wants one.
	URL, Model, KeyVariable string
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

// Load reads config.yaml from a home. One that is not there is empty.
func Load(home string) (*Config, error) {
	path := filepath.Join(home, "config.yaml")
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return new(Config), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	return Parse(path, data)
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
	err = fields(root, "a config.yaml", map[string]func(ast.Node) error{
		"model":     strictyaml.Word(&c.Model),
		"providers": each("providers", &c.Providers, readProvider),
		"models":    each("models", &c.Models, readModel),
		"retry":     span(&c.Retry),
		"embeddings": func(n ast.Node) (err error) {
			c.Embeddings, err = readEmbeddings(n)
			return err
		},
	})
	if err != nil {
		return nil, strictyaml.InFile(file, err)
	}
	return c, nil
}

func readEmbeddings(n ast.Node) (*Embeddings, error) {
	e := new(Embeddings)
	if word, err := strictyaml.Scalar(n); err == nil {
		if word != "none" {
			return nil, strictyaml.At(n, "embeddings must be none, or a mapping with url and model")
		}
		return &Embeddings{None: true}, nil
	}
	err := fields(n, "embeddings", map[string]func(ast.Node) error{
		"url": strictyaml.Word(&e.URL), "model": strictyaml.Word(&e.Model), "key_variable": strictyaml.Word(&e.KeyVariable),
	})
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

// span reads a length of time.
func span(to *time.Duration) func(ast.Node) error {
	return func(n ast.Node) error {
		text, err := strictyaml.Scalar(n)
		if err != nil {
			return err
		}
		d, err := time.ParseDuration(text)
		if err != nil || d < time.Second || d > 24*time.Hour {
			return strictyaml.At(n, "%.40q is no time from 1s to 24h, such as 10m", text)
		}
		*to = d
		return nil
	}
}
