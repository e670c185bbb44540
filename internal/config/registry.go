package config

import (
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"lyceum/internal/plain"
	"lyceum/internal/strictyaml"

	"github.com/goccy/go-yaml/ast"
)

// Registry is a host with packages that wants a credential. It stands in config.yaml alone: a
// quest.yaml may be a stranger's.
type Registry struct {
	// Host is a name or an address, in small letters; Port is 443 if nothing else is said.
	Host string
	Port int
	// Header is the one that holds the credential, Authorization if nothing else is said.
	Header string
	// Variable is the environment variable that has its value.
	Variable string
	// Variables are given to the command that prepares a home.
	Variables map[string]string
}

const maxRegistries = 32

var (
	registryHost   = plain.Form{First: "a-z0-9", Rest: "a-z0-9-", Most: 63} // each label, which does not end with a hyphen
	registryHeader = plain.Form{First: "A-Za-z", Rest: "A-Za-z0-9-", Most: 100}
	// connecting are headers that say how a connection is used, or for whom it is.
	connecting = []string{"Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Expect", "Host", "Keep-Alive", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent"}
)

func (c *Config) readRegistry(n ast.Node) error {
	r := Registry{Port: 443, Header: "Authorization"}
	err := fields(n, "a registry", r.fields())
	switch {
	case err != nil:
		return err
	case r.Host == "" || r.Variable == "":
		return strictyaml.At(n, "a registry needs host, such as npm.example.com, and variable, the name of the environment variable that holds the credential")
	case slices.ContainsFunc(c.Registries, func(o Registry) bool { return o.Host == r.Host && o.Port == r.Port }):
		return strictyaml.At(n, "the registry %s is there twice", r.Host)
	case len(c.Registries) == maxRegistries:
		return strictyaml.At(n, "there are more than %d registries", maxRegistries)
	}
	c.Registries = append(c.Registries, r)
	return nil
}

func (r *Registry) fields() map[string]func(ast.Node) error {
	return map[string]func(ast.Node) error{
		"host": r.readHost, "header": r.readHeader, "variable": r.readVariable,
		"variables": values("variables", maxVariables, &r.Variables, checkShown),
	}
}

// readHost reads a name or an address, with or without a port.
func (r *Registry) readHost(n ast.Node) error {
	text, err := strictyaml.Scalar(n)
	if err != nil {
		return err
	}
	bad := strictyaml.At(n, "%.80q is no host like npm.example.com or 10.0.0.5:4873: credentials go to one host each, by https", text)
	r.Host = strings.ToLower(text)
	if _, err := netip.ParseAddr(text); err == nil {
		return nil
	}
	if at, err := netip.ParseAddrPort(text); err == nil && at.Port() > 0 {
		r.Host, r.Port = at.Addr().String(), int(at.Port())
		return nil
	}
	if name, port, ok := strings.Cut(r.Host, ":"); ok {
		number, err := strconv.ParseUint(port, 10, 16)
		if err != nil || number == 0 {
			return bad
		}
		r.Host, r.Port = name, int(number)
	}
	if !isHost(r.Host) {
		return bad
	}
	return nil
}

func (r *Registry) readHeader(n ast.Node) error {
	text, err := strictyaml.Scalar(n)
	if err != nil {
		return err
	}
	r.Header = http.CanonicalHeaderKey(text)
	if !registryHeader.MatchString(text) || slices.Contains(connecting, r.Header) {
		return strictyaml.At(n, "%.80q is no header that can hold a credential", text)
	}
	return nil
}

func (r *Registry) readVariable(n ast.Node) error {
	if err := strictyaml.Word(&r.Variable)(n); err != nil {
		return err
	}
	if !executorVariable.MatchString(r.Variable) {
		return strictyaml.At(n, "variable wants the name of the environment variable that holds the credential, such as NPM_TOKEN, and never the credential")
	}
	return nil
}

// checkShown refuses what may be a key: programs of the computer see these.
func checkShown(n ast.Node, name, value string) error {
	switch {
	case !executorVariable.MatchString(name):
		return strictyaml.At(n, "%.40q is no name of a variable", name)
	case strings.HasPrefix(name, "LYCEUM_"):
		return strictyaml.At(n, "%s: variables that begin with LYCEUM_ are Lyceum's", name)
	case secretive(name), strings.Contains(value, "@") && strings.Contains(value, "://"):
		return strictyaml.At(n, "%s: the credential never goes into a computer: the proxy puts it in", name)
	}
	return nil
}

// isHost reports whether a name is one that a server can have.
func isHost(name string) bool {
	for label := range strings.SplitSeq(name, ".") {
		if !registryHost.MatchString(label) || strings.HasSuffix(label, "-") {
			return false
		}
	}
	return true
}
