package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRegistries(t *testing.T) {
	t.Parallel()
	c, err := Parse("c.yaml", []byte(`
registries:
  - {host: NPM.example.com, variable: NPM_TOKEN}
  - host: "10.0.0.5:4873"
    header: x-api-key
    variable: CARGO_CREDENTIAL
    variables: {npm_config_registry: "https://10.0.0.5:4873/"}
  - {host: "[fd00::1]:8443", variable: A}
  - {host: "npm.example.com:8443", variable: NPM_TOKEN}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Registry{
		{Host: "npm.example.com", Port: 443, Header: "Authorization", Variable: "NPM_TOKEN"},
		{Host: "10.0.0.5", Port: 4873, Header: "X-Api-Key", Variable: "CARGO_CREDENTIAL", Variables: map[string]string{"npm_config_registry": "https://10.0.0.5:4873/"}},
		{Host: "fd00::1", Port: 8443, Header: "Authorization", Variable: "A"},
		{Host: "npm.example.com", Port: 8443, Header: "Authorization", Variable: "NPM_TOKEN"},
	}
	if diff := cmp.Diff(want, c.Registries); diff != "" {
		t.Errorf("what was read of registries (-want +got):\n%s", diff)
	}
}

func TestRegistriesThatCannotBe(t *testing.T) {
	t.Parallel()
	for entry, want := range map[string]string{
		"{host: npm.example.com}":                                                    "needs host",
		"{variable: A}":                                                              "needs host",
		"{host: '*.example.com', variable: A}":                                       "one host each",
		"{host: 'https://npm.example.com', variable: A}":                             "one host each",
		"{host: 'npm.example.com:0', variable: A}":                                   "one host each",
		"{host: 'npm.example.com:https', variable: A}":                               "one host each",
		"{host: a.example, variable: 'npm_canary-1'}":                                "never the credential",
		"{host: a.example, header: Host, variable: A}":                               "no header",
		"{host: a.example, header: transfer-encoding, variable: A}":                  "no header",
		"{host: a.example, header: 'X: y', variable: A}":                             "no header",
		"{host: a.example, token: canary}":                                           "keys are not kept in config.yaml",
		"{host: a.example, variable: A, variables: {LYCEUM_X: y}}":                   "are Lyceum's",
		"{host: a.example, variable: A, variables: {NPM_TOKEN: canary}}":             "never goes into a computer",
		"{host: a.example, variable: A, variables: {GOPROXY: 'https://u:canary@a'}}": "never goes into a computer",
		"{host: a.example, variable: A}\n- {host: A.example, variable: B}":           "there twice",
	} {
		_, err := Parse("c.yaml", []byte("registries:\n- "+entry+"\n"))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: got %v, want %q, and no key in it", entry, err, want)
		}
	}
}
