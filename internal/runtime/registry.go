package runtime

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lyceum/internal/computer"
	"lyceum/internal/computer/proxy"
)

// Registry is a host with packages that wants a credential. While a home is prepared, the
// proxy of its computer has the credential; no computer ever does.
type Registry struct {
	proxy.Registry
	// Variable is where Value was read, for people; Value is empty if nothing was there.
	Variable string
	// Variables are for the command that prepares: where its programs look for packages.
	Variables map[string]string
}

// trustFile is where a computer has the certificates that its programs are to trust: its
// own, and that of the authority for registries. It is in no home.
const trustFile = "/tmp/lyceum-certificates.pem"

// trust puts it there.
const trust = `set -e
for f in /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem /etc/ssl/cert.pem; do
	if [ -r "$f" ]; then cat "$f" >` + trustFile + `; break; fi
done
cat >>` + trustFile

// trusting are variables that have programs trust the file: OpenSSL and Go, node and npm
// (whose own settings would else win), pip and Python, curl, git, cargo.
var trusting = []string{"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "npm_config_cafile", "PIP_CERT", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "CARGO_HTTP_CAINFO"}

// registries are those that a preparation of this quest gets credentials for, with what its
// command finds in its environment; nil for none. lack says what a person should know who
// expected more.
//
// A quest that came from elsewhere gets none: what it prepares is a stranger's command.
func (l *live) registries(n computer.Network) (all *proxy.Registries, env []string, lack string, err error) {
	rules, err := proxy.Parse(n.Allow)
	if err != nil {
		return nil, nil, "", err
	}
	var list []proxy.Registry
	var named, empty []string
	variables := map[string]string{}
	for _, r := range l.rt.Registries {
		at := fmt.Sprintf("%s:%d", r.Host, r.Port)
		switch {
		case n.Mode() == "open":
			named = append(named, at)
		case rules.Allows(r.Host, r.Port) != nil:
		case r.Value == "":
			empty = append(empty, fmt.Sprintf("%s (%s)", at, r.Variable))
		default:
			named = append(named, at)
			list = append(list, r.Registry)
			maps.Copy(variables, r.Variables)
		}
	}
	switch {
	case l.imported != nil && len(named)+len(empty) > 0:
		return nil, nil, "the quest came from elsewhere, and gets no credentials of this home's registries", nil
	case n.Mode() == "open" && len(named) > 0:
		return nil, nil, "credentials for registries of config.yaml are put in by the proxy, and an open network has none: list hosts under network.allow", nil
	case len(empty) > 0:
		lack = "the variables of these registries hold no credential: " + strings.Join(empty, ", ")
	}
	if len(list) == 0 {
		return nil, nil, lack, nil
	}
	if all, err = proxy.NewRegistries(list, nil); err != nil {
		return nil, nil, "", err
	}
	for _, name := range trusting {
		env = append(env, name+"="+trustFile)
	}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		env = append(env, name+"="+variables[name])
	}
	return all, env, lack, nil
}

// trustIn has the programs of a station's computer trust an authority.
func trustIn(ctx context.Context, s *Station, r *proxy.Registries) error {
	c, err := s.Computer()
	if err != nil {
		return err
	}
	res, err := c.Run(ctx, computer.Command{ID: "trust", Args: []string{"sh", "-c", trust}, Stdin: r.Certificate()})
	switch {
	case err != nil:
		return err
	case res.Exit != 0 || res.End != "":
		return errors.New("the certificate for registries could not be put into the computer: " + lastWords(res))
	}
	return c.Forget(ctx, "trust")
}
