// Package setting reads what people say of MCP servers: the key mcp of a quest.yaml and of
// config.yaml.
//
// A server is a program that runs inside an agent's computer, or an address that Lyceum
// connects to from outside. Nothing secret stands here: headers name the variables that
// hold their values.
package setting

import (
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"lyceum/internal/plain"
	"lyceum/internal/strictyaml"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/google/jsonschema-go/jsonschema"
)

// Servers are MCP servers by name. The name is a part of what their tools are called.
type Servers map[string]Server

// Server is how one is reached, and what agents get of it.
type Server struct {
	// Run is a line for the shell of the agent's computer, or URL an address. One of them
	// is empty.
	Run string `json:"run,omitzero" yaml:"run,omitempty"`
	URL string `json:"url,omitzero" yaml:"url,omitempty"`
	// Tools are those that agents are offered, by the server's own names; none means all.
	Tools []string `json:"tools,omitempty" yaml:"tools,omitempty"`
	// Headers are sent with each request to URL: each has the variable that holds its value.
	Headers map[string]string `json:"headers,omitempty" yaml:"headers,omitempty"`
	// Repeatable are tools whose calls do no harm when they are made twice.
	Repeatable []string `json:"repeatable,omitempty" yaml:"repeatable,omitempty"`
	// Trust is trusted or stranger; empty is stranger.
	Trust string `json:"trust,omitzero" yaml:"trust,omitempty"`
	// Login is how Lyceum logs in to URL, where that takes more than a person at a browser.
	Login *Login `json:"login,omitzero" yaml:"login,omitempty"`
	// Sampling says that the server may have agents' models asked, when a person lets it.
	Sampling bool `json:"sampling,omitzero" yaml:"sampling,omitempty"`
	// Log is how grave what the server logs must be to be told; empty tells nothing.
	Log string `json:"log,omitzero" yaml:"log,omitempty"`
	// Pages is how many pages a list of the server may have; 0 is 50. Retry is how often a
	// connection to URL that broke is made again, -1 for never; 0 is twice.
	Pages int64 `json:"pages,omitzero" yaml:"pages,omitempty"`
	Retry int64 `json:"retry,omitzero" yaml:"retry,omitempty"`
	// Timeout is how long a call may take without a sign of life, in seconds; 0 is a minute.
	Timeout int64 `json:"timeout,omitzero" yaml:"-"`
}

// What an MCP server is reached by.
const (
	Stdio = "stdio"
	HTTP  = "http"
)

// Kind is Stdio or HTTP.
func (s *Server) Kind() string {
	if s.URL != "" {
		return HTTP
	}
	return Stdio
}

// Levels are how grave what a server logs can be, the least first.
var Levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// Trusts are what the owner of a quest can think of a server.
var Trusts = []string{"trusted", "stranger"}

// How much there can be. What is said of a server is a blob; their names stand in the
// quest's first event, and in the names of tools, which have 64 letters in all.
const (
	MaxServers = 64
	maxName    = 24
	maxLine    = 4 << 10
	maxList    = 64
	maxTool    = 128
	maxHeaders = 16
	maxTimeout = 10 * time.Minute
	maxPages   = 1000
	maxRetry   = 10
)

var (
	nameRule     = plain.Form{First: "a-z0-9", Rest: "a-z0-9-", Most: maxName}
	variableRule = plain.Form{First: "A-Za-z_", Rest: "A-Za-z0-9_", Most: 100}
	headerRule   = plain.Form{First: "A-Za-z0-9!#$%&'*+.^_`|~-", Rest: "A-Za-z0-9!#$%&'*+.^_`|~-", Most: 100}
)

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (l *Servers) UnmarshalYAML(n ast.Node) error {
	pairs, ok := strictyaml.Pairs(n)
	if !ok {
		return strictyaml.At(n, "mcp must be a mapping from names to servers, each with run or url")
	}
	if len(pairs) > MaxServers {
		return strictyaml.At(n, "there are %d servers: want at most %d", len(pairs), MaxServers)
	}
	*l = Servers{}
	seen := map[string]bool{}
	for _, p := range pairs {
		name, err := strictyaml.Key(p, seen)
		if err != nil {
			return err
		}
		if !nameRule.MatchString(name) {
			return strictyaml.At(p, "%.40q is no name of a server: want 1 to %d of a-z, 0-9 and -, beginning with a letter or a digit", name, maxName)
		}
		var s Server
		if err := s.read(p.Value); err != nil {
			return err
		}
		(*l)[name] = s
	}
	return nil
}

func (s *Server) read(n ast.Node) error {
	err := strictyaml.Fields(n, "a server", map[string]func(ast.Node) error{
		"run":        line(&s.Run),
		"url":        s.readURL,
		"tools":      tools("tools", &s.Tools),
		"headers":    s.readHeaders,
		"repeatable": tools("repeatable", &s.Repeatable),
		"trust":      strictyaml.Choice(&s.Trust, Trusts...),
		"login":      s.readLogin,
		"sampling":   strictyaml.Truth(&s.Sampling),
		"timeout":    s.readTimeout,
		"log":        strictyaml.Choice(&s.Log, Levels...),
		"pages":      number("pages", &s.Pages, 1, maxPages),
		"retry":      number("retry", &s.Retry, -1, maxRetry),
	})
	switch {
	case err != nil:
		return err
	case s.Run == "" && s.URL == "":
		return strictyaml.At(n, "a server needs run, a command inside the agent's computer, or url")
	case s.Run != "" && s.URL != "":
		return strictyaml.At(n, "run and url are both given: keep one")
	case s.Run != "" && len(s.Headers) > 0:
		return strictyaml.At(n, "headers are for a server with url: nothing secret goes into a computer")
	case s.Run != "" && s.Retry != 0:
		return strictyaml.At(n, "retry is for a server with url: a program is started again when it is needed")
	case s.Run != "" && s.Login != nil:
		return strictyaml.At(n, "login is for a server with url: nothing secret goes into a computer")
	case s.Login != nil && s.sends("Authorization"):
		return strictyaml.At(n, "login and the header Authorization are both given: keep one")
	case len(s.Headers) > 0 && strings.HasPrefix(s.URL, "http:") && !near(s.URL):
		return strictyaml.At(n, "headers over http could be read on the way: say https")
	}
	return nil
}

func line(to *string) func(ast.Node) error {
	return func(n ast.Node) error {
		text, err := strictyaml.Scalar(n)
		if err != nil {
			return err
		}
		*to = strings.TrimSpace(text)
		if *to == "" || len(*to) > maxLine || !plain.Printable(*to) {
			return strictyaml.At(n, "run must be a line for the shell of 1 to %d bytes that can be printed", maxLine)
		}
		return nil
	}
}

func (s *Server) readURL(n ast.Node) error {
	text, err := strictyaml.Scalar(n)
	if err != nil {
		return err
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || len(text) > maxLine || !plain.Printable(text) || u.Host == "" || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https":
		return strictyaml.At(n, "%.80q is no address like https://mcp.example.com/mcp", text)
	case u.User != nil:
		return strictyaml.At(n, "an address holds no password: put it into a variable, and name that under headers")
	case u.Fragment != "":
		return strictyaml.At(n, "an address of a server has nothing behind a #")
	}
	s.URL = text
	return nil
}

// near reports whether an address names this machine, or is no name at all: then config.yaml
// must list it.
func near(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	a, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && (a.IsLoopback() || a.IsPrivate())
}

// own are headers that the protocol itself sends.
var own = []string{"accept", "connection", "content-length", "content-type", "host", "last-event-id", "transfer-encoding", "upgrade"}

func (s *Server) readHeaders(n ast.Node) error {
	pairs, ok := strictyaml.Pairs(n)
	if !ok || len(pairs) > maxHeaders {
		return strictyaml.At(n, "headers must be a mapping of at most %d, from names to the variables that hold their values", maxHeaders)
	}
	s.Headers = map[string]string{}
	seen := map[string]bool{}
	for _, p := range pairs {
		name, err := strictyaml.Key(p, seen)
		if err != nil {
			return err
		}
		variable, err := strictyaml.Scalar(p.Value)
		if err != nil {
			return err
		}
		low := strings.ToLower(name)
		switch {
		case !headerRule.MatchString(name):
			return strictyaml.At(p, "%.40q is no name of a header", name)
		case slices.Contains(own, low) || strings.HasPrefix(low, "mcp-"):
			return strictyaml.At(p, "the header %s is the protocol's own", name)
		case !variableRule.MatchString(variable):
			return strictyaml.At(p.Value, "the header %s wants the name of a variable that holds its value, such as TRACKER_TOKEN, and never the value", name)
		}
		s.Headers[name] = variable
	}
	return nil
}

func tools(what string, to *[]string) func(ast.Node) error {
	return func(n ast.Node) error {
		return strictyaml.Each(n, what, func(n ast.Node) error {
			name, err := strictyaml.Scalar(n)
			if err != nil {
				return err
			}
			switch {
			case name == "" || len(name) > maxTool || !plain.Printable(name):
				return strictyaml.At(n, "%.40q is no name of a tool: want 1 to %d bytes that can be printed", name, maxTool)
			case len(*to) == maxList:
				return strictyaml.At(n, "there are more than %d tools", maxList)
			case slices.Contains(*to, name):
				return strictyaml.At(n, "%s is listed twice", name)
			}
			*to = append(*to, name)
			return nil
		})
	}
}

// number reads a whole number.
func number(what string, to *int64, least, most int64) func(ast.Node) error {
	return func(n ast.Node) error {
		text, err := strictyaml.Scalar(n)
		if err != nil {
			return err
		}
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil || v < least || v > most || v == 0 {
			return strictyaml.At(n, "%.40q is no number for %s: want one from %d to %d, and not 0", text, what, least, most)
		}
		*to = v
		return nil
	}
}

func (s *Server) readTimeout(n ast.Node) error {
	text, err := strictyaml.Scalar(n)
	if err != nil {
		return err
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < time.Second || d > maxTimeout || d%time.Second != 0 {
		return strictyaml.At(n, "%.40q is no time from 1s to 10m, in whole seconds", text)
	}
	s.Timeout = int64(d / time.Second)
	return nil
}

// MarshalYAML implements yaml.InterfaceMarshaler: what UnmarshalYAML reads.
func (s Server) MarshalYAML() (any, error) {
	type plainly Server // without this method
	timeout := ""
	if s.Timeout > 0 {
		timeout = (time.Duration(s.Timeout) * time.Second).String()
	}
	return struct {
		plainly `yaml:",inline"`
		Timeout string `yaml:"timeout,omitempty"`
	}{plainly(s), timeout}, nil
}

// Check refuses a server that could not stand in a quest.yaml.
func Check(name string, s Server) error {
	data, err := yaml.Marshal(Servers{name: s})
	if err != nil {
		return err
	}
	n, err := strictyaml.Document("mcp", data)
	if err != nil {
		return err
	}
	return strictyaml.Value(n, new(Servers))
}

// Over are these servers, and those of below whose names are not among them.
func (l Servers) Over(below Servers) Servers {
	out := maps.Clone(below)
	if out == nil {
		out = Servers{}
	}
	maps.Copy(out, l)
	return out
}

// Schema is the form of Servers.
func Schema(text string) *jsonschema.Schema {
	closed := func() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }
	names := func(text string) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "array", UniqueItems: true, MaxItems: new(maxList), Description: text,
			Items: &jsonschema.Schema{Type: "string", MinLength: new(1), MaxLength: new(maxTool)}}
	}
	var trusts []any
	for _, t := range Trusts {
		trusts = append(trusts, t)
	}
	var levels []any
	for _, l := range Levels {
		levels = append(levels, l)
	}
	server := &jsonschema.Schema{
		Type: "object", AdditionalProperties: closed(), OneOf: []*jsonschema.Schema{{Required: []string{"run"}}, {Required: []string{"url"}}},
		PropertyOrder: []string{"run", "url", "tools", "headers", "login", "repeatable", "trust", "sampling", "timeout", "log", "pages", "retry"},
		Properties: map[string]*jsonschema.Schema{
			"run":   {Type: "string", MinLength: new(1), MaxLength: new(maxLine), Description: "a line for the shell of the agent's computer, which runs there and speaks MCP over its input and output"},
			"url":   {Type: "string", Pattern: "^https?://", MaxLength: new(maxLine), Description: "where a server is that speaks MCP by streamable HTTP; a private address only if private_addresses of config.yaml lists it"},
			"tools": names("the tools that agents are offered, by the server's own names; default: all"),
			"headers": {Type: "object", MaxProperties: new(maxHeaders), Description: "headers of each request, each with the name of the environment variable that holds its value",
				AdditionalProperties: &jsonschema.Schema{Type: "string", Pattern: variableRule.String()}},
			"login":      loginSchema(),
			"repeatable": names("tools whose calls do no harm when they are made twice: after a crash they are made again; of any other the outcome is unknown"),
			"trust":      {Enum: trusts, Description: "what you think of the server, for policies; default stranger"},
			"sampling":   {Type: "boolean", Description: "whether the server may have the agent's model asked, within the agent's limits; you are asked each time; only servers of the revision 2025-11-25 can; default false"},
			"timeout":    {Type: "string", Description: "how long a call may take without a sign of progress, such as 90s; default 60s; with progress it may take 10m in all"},
			"log":        {Enum: levels, Description: "how grave what the server logs must be to be told in the ledger; default: nothing of it"},
			"pages":      {Type: "integer", Minimum: new(1.0), Maximum: new(float64(maxPages)), Description: "how many pages a list of the server may have; one that has more is an error; default 50"},
			"retry":      {Type: "integer", Minimum: new(-1.0), Maximum: new(float64(maxRetry)), Description: "how often a connection to url that broke is made again, -1 for never; default 2"},
		},
	}
	return &jsonschema.Schema{Type: "object", Description: text, MaxProperties: new(MaxServers), PropertyNames: &jsonschema.Schema{Pattern: nameRule.String()}, AdditionalProperties: server}
}
