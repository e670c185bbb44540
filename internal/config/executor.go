package config

import (
	"path/filepath"
	"strings"

	"lyceum/internal/plain"
	"lyceum/internal/strictyaml"

	"github.com/goccy/go-yaml/ast"
)

// Executor is an outside agent: one that Lyceum does not know, or what is different about one
// that it does. What is not said is as Lyceum knows it.
type Executor struct {
	// Folder is where its programs stand on this machine, from the root on. Computers have it
	// to read.
	Folder string
	// Command are the program and its arguments; {folder} is where the folder is inside.
	Command []string
	// Variables are those of its environment, in which {gateway}, {token}, {model}, {home} and
	// {folder} are filled in. Files are written before it is started, likewise.
	Variables map[string]string
	Files     map[string]string
	// Wire is the format in which it asks for models, MCP how it takes tools.
	Wire, MCP string
	// Mode is the one it is given, Authenticate the method that it is signed in by.
	Mode, Authenticate string
	// Version is the only one that is used, if it is given, as the executor itself calls it.
	Version string
	// NoRead and Reported are nil for what Lyceum knows.
	NoRead, Reported *bool
}

// The formats in which executors ask for models, and the ways in which they take tools.
var (
	Wires    = []string{"anthropic", "chat", "responses", "gemini"}
	ToolWays = []string{"http", "stdio"}
)

// How much can be said of an executor. All of it is a blob of each quest that has it.
const (
	maxExecutors = 32
	maxArguments = 64
	maxVariables = 64
	maxFiles     = 16
	maxValue     = 16 << 10
)

var (
	executorName     = plain.Form{First: "a-z", Rest: "a-z0-9-", Most: 32}
	executorVariable = plain.Form{First: "A-Za-z_", Rest: "A-Za-z0-9_", Most: 100}
)

// ExecutorName reports whether an executor can have this name.
func ExecutorName(name string) bool { return executorName.MatchString(name) }

func readExecutor(name string, n ast.Node) (Executor, error) {
	var e Executor
	if !ExecutorName(name) {
		return e, strictyaml.At(n, "%.40q cannot name an executor: small letters, digits and - can, at most 32", name)
	}
	err := fields(n, "an executor", e.fields())
	return e, err
}

func (e *Executor) fields() map[string]func(ast.Node) error {
	return map[string]func(ast.Node) error{
		"folder":       e.readFolder,
		"command":      e.readCommand,
		"variables":    values("variables", maxVariables, &e.Variables, checkVariable),
		"files":        values("files", maxFiles, &e.Files, checkFile),
		"wire":         strictyaml.Choice(&e.Wire, Wires...),
		"mcp":          strictyaml.Choice(&e.MCP, ToolWays...),
		"mode":         word(&e.Mode),
		"authenticate": word(&e.Authenticate),
		"version":      word(&e.Version),
		"no_read":      truth(&e.NoRead),
		"reported":     truth(&e.Reported),
	}
}

func (e *Executor) readFolder(n ast.Node) error {
	text, err := strictyaml.Scalar(n)
	if err != nil {
		return err
	}
	if !filepath.IsAbs(text) || !plain.Printable(text) {
		return strictyaml.At(n, "folder must be the absolute path of a folder of this machine")
	}
	e.Folder = filepath.Clean(text)
	return nil
}

func (e *Executor) readCommand(n ast.Node) error {
	err := strictyaml.Each(n, "command", func(n ast.Node) error {
		text, err := strictyaml.Scalar(n)
		switch {
		case err != nil:
			return err
		case text == "" && len(e.Command) == 0, len(text) > maxValue, strings.ContainsRune(text, 0):
			return strictyaml.At(n, "command must be a list: the program, and its arguments")
		case len(e.Command) == maxArguments:
			return strictyaml.At(n, "command has more than %d arguments", maxArguments)
		}
		e.Command = append(e.Command, text)
		return nil
	})
	if err == nil && len(e.Command) == 0 {
		err = strictyaml.At(n, "command must be a list: the program, and its arguments")
	}
	return err
}

// values reads a mapping from names to texts.
func values(what string, most int, to *map[string]string, check func(n ast.Node, name, value string) error) func(ast.Node) error {
	return func(n ast.Node) error {
		pairs, ok := strictyaml.Pairs(n)
		if !ok || len(pairs) > most {
			return strictyaml.At(n, "%s must be a mapping of at most %d, from names to texts", what, most)
		}
		*to = map[string]string{}
		seen := map[string]bool{}
		for _, p := range pairs {
			name, err := strictyaml.Key(p, seen)
			if err != nil {
				return err
			}
			value, err := strictyaml.Scalar(p.Value)
			if err != nil {
				return err
			}
			if len(value) > maxValue || strings.ContainsRune(value, 0) {
				return strictyaml.At(p.Value, "%s: a text has at most %d bytes, and no zero among them", what, maxValue)
			}
			if err := check(p.Value, name, value); err != nil {
				return err
			}
			(*to)[name] = value
		}
		return nil
	}
}

// checkVariable refuses what no program can have, and what may be a key: what stands here is
// in every quest.
func checkVariable(n ast.Node, name, value string) error {
	const short = 16 // too short for a key, as the 1 of a switch
	switch {
	case !executorVariable.MatchString(name):
		return strictyaml.At(n, "%.40q is no name of a variable", name)
	case strings.HasPrefix(name, "LYCEUM_"):
		return strictyaml.At(n, "%s: variables that begin with LYCEUM_ are Lyceum's", name)
	case secretive(name) && len(value) >= short && !strings.Contains(value, "{token}"):
		return strictyaml.At(n, "%s: keys never go into a computer: say {token}, and the gateway puts the key of the model's provider in its place", name)
	}
	return nil
}

func checkFile(n ast.Node, name, _ string) error {
	if !filepath.IsLocal(name) || filepath.Clean(name) != name || name == "." || !plain.Printable(name) {
		return strictyaml.At(n, "%.80q is no path of a file below the executor's folder of settings", name)
	}
	return nil
}

// word reads a short text that can be printed.
func word(to *string) func(ast.Node) error {
	return func(n ast.Node) error {
		if err := strictyaml.Word(to)(n); err != nil {
			return err
		}
		if len(*to) > 100 || !plain.Printable(*to) {
			return strictyaml.At(n, "it must be a word of at most 100 bytes that can be printed")
		}
		return nil
	}
}

func truth(to **bool) func(ast.Node) error {
	return func(n ast.Node) error {
		var v bool
		err := strictyaml.Truth(&v)(n)
		*to = &v
		return err
	}
}
