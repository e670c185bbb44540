package config

import (
	"net"
	"net/url"
	"strings"
	"time"

	"lyceum/internal/plain"
	"lyceum/internal/strictyaml"

	"github.com/goccy/go-yaml/ast"
)

// The ways to speak with a server.
const (
	APIOpenAI    = "openai"    // chat completions, which most servers understand
	APIResponses = "responses" // OpenAI's Responses
	APIAnthropic = "anthropic"
	APIGemini    = "gemini"
)

// The ways in which a model is told of tools: in its provider's own, or as text, for models
// that have none. Package dialect has them.
const (
	DialectNative        = "native"
	DialectFunctionGemma = "functiongemma"
	DialectTags          = "tags"
)

// readDialect reads one of them.
func readDialect(to *string) func(ast.Node) error {
	return strictyaml.Choice(to, DialectNative, DialectFunctionGemma, DialectTags)
}

// Provider is a server of models.
type Provider struct {
	// API is how it is spoken with; "" is as Lyceum knows it.
	API string
	// URL is its base; "" is as Lyceum knows it.
	URL string
	// KeyVariable is the environment variable that holds the key, and the name of
	// the key in the keyring. "" is as Lyceum knows it, or none.
	KeyVariable string
	// Insecure lets the key go over http to another machine.
	Insecure bool
	// Concurrency is how many calls may be under way; 0 leaves it to the program.
	Concurrency int64
	// Silence is how long it may say nothing before an attempt is given up; 0 leaves it to
	// the program.
	Silence time.Duration
	// Dialect is how its models are told of tools; "" is native.
	Dialect string
}

var (
	providerName = plain.Form{First: "a-z", Rest: "a-z0-9_-", Most: 32}
	variableName = plain.Form{First: "A-Z_", Rest: "A-Z0-9_", Most: 64}
)

// ProviderName reports whether a provider can have this name.
func ProviderName(name string) bool { return providerName.MatchString(name) }

func readProvider(name string, n ast.Node) (Provider, error) {
	var p Provider
	if !ProviderName(name) {
		return p, strictyaml.At(n, "%.40q cannot name a provider: small letters, digits, - and _ can, at most 32", name)
	}
	err := fields(n, "a provider", p.fields())
	if err == nil && p.Concurrency > 10_000 {
		err = strictyaml.At(n, "concurrency: it must be at most 10000")
	}
	return p, err
}

func (p *Provider) fields() map[string]func(ast.Node) error {
	return map[string]func(ast.Node) error{
		"api":          strictyaml.Choice(&p.API, APIOpenAI, APIResponses, APIAnthropic, APIGemini),
		"url":          address(&p.URL),
		"key_variable": variable(&p.KeyVariable),
		"insecure":     strictyaml.Truth(&p.Insecure),
		"concurrency":  strictyaml.Integer(&p.Concurrency, 1),
		"silence":      span(&p.Silence, 24*time.Hour),
		"dialect":      readDialect(&p.Dialect),
	}
}

// variable reads the name of an environment variable. What does not look like one
// may be the key itself, and is not repeated.
func variable(to *string) func(ast.Node) error {
	return func(n ast.Node) error {
		text, err := strictyaml.Scalar(n)
		if err != nil {
			return err
		}
		word := strings.Contains(text, "_") || len(text) < 16
		if !variableName.MatchString(text) || !word {
			return strictyaml.At(n, "it must be the name of an environment variable, such as VLLM_API_KEY. If it is the key itself, take it out of this file, make a new one, and put that into the variable or the keyring")
		}
		*to = text
		return nil
	}
}

func address(to *string) func(ast.Node) error {
	return func(n ast.Node) error {
		text, err := strictyaml.Scalar(n)
		if err != nil {
			return err
		}
		if fault := AddressFault(text); fault != "" {
			return strictyaml.At(n, "%s", fault)
		}
		*to = strings.TrimRight(text, "/")
		return nil
	}
}

// Complete makes the base of an address that people give: with or without the version, or
// with the whole path of a request, which ends as one of ends.
func Complete(base, version string, ends ...string) string {
	base = strings.TrimRight(base, "/")
	for _, end := range ends {
		base = strings.TrimSuffix(base, end)
	}
	if u, err := url.Parse(base); err == nil && (u.Path == "" || u.Path == "/") {
		return base + version
	}
	return base
}

// AddressFault says what is wrong with a base URL, "" if nothing is. It does not
// repeat the URL, which may hold a secret.
func AddressFault(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Hostname() == "", u.Opaque != "":
		return "a base URL is like https://host/v1 or http://localhost:8000/v1"
	case u.User != nil:
		return "a base URL has no user or password in it: a key goes into the environment or the keyring"
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "a base URL has no ? or # in it: a key goes into the environment or the keyring"
	}
	return ""
}

// Loopback reports whether a base URL stays on this machine.
func Loopback(base string) bool {
	u, err := url.Parse(base)
	if err != nil {
		return false
	}
	host := strings.ToLower(u.Hostname())
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
