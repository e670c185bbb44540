package mcp

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"lyceum/internal/plain"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Form is what a server wants to know of a person.
type Form struct {
	// Message is the server's, made plain.
	Message string
	// Fields are what it asks for, none for an Address to visit: that is shown, with its Host,
	// and never opened.
	Fields        []Field
	Address, Host string
}

// Field is one thing that a server asks for.
type Field struct {
	Name, Title, Description string
	// Kind is string, number, integer or boolean.
	Kind     string
	Options  []string
	Required bool
}

// Reply is what a person said.
type Reply struct {
	// Accepted says that Values are given, or that the address was visited.
	Accepted bool
	Values   map[string]any
}

// How much a form may ask.
const (
	maxFields  = 20
	maxOptions = 50
	maxWords   = 2000
)

// secretive is what fields are called that ask for what no server may be told this way.
var secretive = regexp.MustCompile(`(?i)pass(word|wd|phrase|code)?\b|\bpin\b|secret|token|credential|api.?key|private.?key|\bcvv|\bcvc|\botp\b|\b2fa|card.?number|\bssn\b`)

// elicit answers what a server wants to know. Without anybody to ask, it is declined.
func elicit(ctx context.Context, p *sdk.ElicitParams, ask func(context.Context, *Form) (*Reply, error)) (*sdk.ElicitResult, error) {
	declined := &sdk.ElicitResult{Action: "decline"}
	if ask == nil {
		return declined, nil
	}
	f := formOf(p)
	if f == nil {
		return declined, nil
	}
	r, err := ask(ctx, f)
	if err != nil || r == nil || !r.Accepted {
		return declined, nil
	}
	if f.Address != "" {
		return &sdk.ElicitResult{Action: "accept"}, nil
	}
	values := r.Values
	if values == nil {
		values = map[string]any{}
	}
	return &sdk.ElicitResult{Action: "accept", Content: values}, nil
}

// formOf reads what a server asks for; nil is nothing that a person is asked: it is not flat,
// too long, or wants a password.
func formOf(p *sdk.ElicitParams) *Form {
	f := &Form{Message: plain.Cut(plain.Text(p.Message), maxWords)}
	if p.Mode == "url" {
		u, err := url.Parse(p.URL)
		if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || len(p.URL) > maxWords || !plain.Printable(p.URL) {
			return nil
		}
		f.Address, f.Host = p.URL, u.Hostname()
		return f
	}
	var s jsonschema.Schema
	data, err := json.Marshal(p.RequestedSchema)
	if err == nil && p.RequestedSchema != nil {
		err = json.Unmarshal(data, &s)
	}
	if err != nil || len(s.Properties) > maxFields || secretive.MatchString(words(p.Message)) {
		return nil
	}
	for name, of := range s.Properties {
		field := Field{Name: line(name, 100), Title: line(of.Title, 200), Description: line(of.Description, 500), Kind: of.Type, Required: slices.Contains(s.Required, name)}
		if field.Name != name || len(of.Enum) > maxOptions || !slices.Contains([]string{"string", "number", "integer", "boolean"}, of.Type) ||
			secretive.MatchString(words(name+" "+of.Title+" "+of.Description)) || of.Format == "password" {
			return nil
		}
		for _, option := range of.Enum {
			text, ok := option.(string)
			if !ok || line(text, 200) != text {
				return nil
			}
			field.Options = append(field.Options, text)
		}
		f.Fields = append(f.Fields, field)
	}
	slices.SortFunc(f.Fields, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return f
}

// words takes a name apart that is written as names of fields are.
func words(name string) string {
	var b strings.Builder
	small := false
	for _, c := range name {
		if c == '_' || c == '-' {
			c = ' '
		}
		if small && c >= 'A' && c <= 'Z' {
			b.WriteByte(' ')
		}
		small = c >= 'a' && c <= 'z'
		b.WriteRune(c)
	}
	return b.String()
}
