package setting

import (
	"net/url"
	"strings"

	"lyceum/internal/plain"
	"lyceum/internal/strictyaml"

	"github.com/goccy/go-yaml/ast"
	"github.com/google/jsonschema-go/jsonschema"
)

// Login is what Lyceum must know to log in to a server that does not let anybody register. A
// server that does needs none of it: lyceum mcp login is enough.
type Login struct {
	// Grant is Code, a person at a browser, or ClientCredentials, which takes no person;
	// empty is Code.
	Grant string `json:"grant,omitzero" yaml:"grant,omitempty"`
	// Client is what Lyceum is called there, Secret the variable that holds the secret of it.
	Client string `json:"client,omitzero" yaml:"client,omitempty"`
	Secret string `json:"secret,omitzero" yaml:"secret,omitempty"`
	// Issuer is whose client it is. The secret goes nowhere else, wherever the server points.
	Issuer string `json:"issuer,omitzero" yaml:"issuer,omitempty"`
	// Audience is whom tokens may be for besides the server itself, as they say it.
	Audience string `json:"audience,omitzero" yaml:"audience,omitempty"`
}

// The ways to log in.
const (
	Code              = "code"
	ClientCredentials = "client_credentials"
)

// sends reports whether a header is one of those that are sent.
func (s *Server) sends(header string) bool {
	for name := range s.Headers {
		if strings.EqualFold(name, header) {
			return true
		}
	}
	return false
}

// LogsIn reports whether tokens of a login may be sent to the server: it is reached from
// outside, nobody can read them on the way, and no header of its own stands in their place.
func (s *Server) LogsIn() bool {
	return s.URL != "" && !s.sends("Authorization") && (strings.HasPrefix(s.URL, "https:") || near(s.URL))
}

func (s *Server) readLogin(n ast.Node) error {
	l := &Login{}
	err := strictyaml.Fields(n, "login", map[string]func(ast.Node) error{
		"grant":    strictyaml.Choice(&l.Grant, Code, ClientCredentials),
		"client":   word("client", &l.Client),
		"secret":   variable(&l.Secret),
		"issuer":   issuer(&l.Issuer),
		"audience": word("audience", &l.Audience),
	})
	switch {
	case err != nil:
		return err
	case l.Client == "" && (l.Secret != "" || l.Issuer != ""):
		return strictyaml.At(n, "secret and issuer are a client's: say client")
	case l.Grant == ClientCredentials && l.Secret == "":
		return strictyaml.At(n, "client_credentials take client, secret and issuer")
	case l.Secret != "" && l.Issuer == "":
		return strictyaml.At(n, "a secret needs its issuer, such as https://login.example.com: it is sent there and nowhere else")
	}
	s.Login = l
	return nil
}

// word reads a name that somebody else gave.
func word(what string, to *string) func(ast.Node) error {
	return func(n ast.Node) (err error) {
		if *to, err = strictyaml.Scalar(n); err != nil {
			return err
		}
		if *to == "" || len(*to) > maxWord || !plain.Printable(*to) || strings.TrimSpace(*to) != *to {
			return strictyaml.At(n, "%s must be 1 to %d bytes that can be printed", what, maxWord)
		}
		return nil
	}
}

// maxWord is how many bytes the names of clients and audiences have.
const maxWord = 500

func variable(to *string) func(ast.Node) error {
	return func(n ast.Node) (err error) {
		if *to, err = strictyaml.Scalar(n); err == nil && !variableRule.MatchString(*to) {
			err = strictyaml.At(n, "secret wants the name of a variable that holds it, such as TRACKER_SECRET, and never the secret")
		}
		return err
	}
}

func issuer(to *string) func(ast.Node) error {
	return func(n ast.Node) (err error) {
		if *to, err = strictyaml.Scalar(n); err != nil {
			return err
		}
		u, err := url.Parse(*to)
		if err != nil || len(*to) > maxWord || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" && !(u.Scheme == "http" && near(*to)) {
			return strictyaml.At(n, "%.80q is no issuer like https://login.example.com", *to)
		}
		return nil
	}
}

func loginSchema() *jsonschema.Schema {
	text := func(description string) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "string", MinLength: new(1), MaxLength: new(maxWord), Description: description}
	}
	return &jsonschema.Schema{
		Type: "object", AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
		Description:   "how Lyceum logs in where a server does not let anybody register; otherwise lyceum mcp login is enough",
		PropertyOrder: []string{"grant", "client", "secret", "issuer", "audience"},
		Properties: map[string]*jsonschema.Schema{
			"grant":    {Enum: []any{Code, ClientCredentials}, Description: "code: a person at a browser, by lyceum mcp login; client_credentials: by the client's secret alone; default code"},
			"client":   text("the client's id; an https address is that of a document that describes the client"),
			"secret":   {Type: "string", Pattern: variableRule.String(), Description: "the environment variable that holds the client's secret"},
			"issuer":   text("who issued them, such as https://login.example.com: the secret is sent there and nowhere else"),
			"audience": text("whom tokens may be for besides the server's own address"),
		},
	}
}
