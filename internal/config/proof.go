package config

import (
	"net/url"
	"path/filepath"
	"strings"

	"lyceum/internal/strictyaml"

	"github.com/goccy/go-yaml/ast"
)

// Proof is what the configuration says of who vouches for quests.
type Proof struct {
	// Checkpoints is after how many events of a quest that runs there is a checkpoint; 0 leaves it
	// to the program.
	Checkpoints int64
	// Witnesses are asked to cosign checkpoints, and are believed, by name.
	Witnesses map[string]Witness
	// Timestamps is who is asked for time stamps, nil for nobody.
	Timestamps *Timestamps
	// Witness has lyceum serve be a witness for other homes, nil if it is none.
	Witness *Witnessing
}

// Witness is one who cosigns.
type Witness struct {
	// URL is what /add-checkpoint comes after, empty for one that is believed and not asked.
	URL string
	// PublicKey is the key by which it does, as lyceum witness serve prints it.
	PublicKey string
}

// Timestamps is an authority by RFC 3161.
type Timestamps struct {
	// URL is where it is asked, empty for one that is believed and not asked.
	URL string
	// Certificates is a file in PEM with the certificates that its time stamps must lead to.
	Certificates string
}

// Witnessing is for whom a server is a witness.
type Witnessing struct {
	// Logs are the public keys of those whose logs it knows.
	Logs []string
	// FirstUse has it take over the key of a name that it does not know.
	FirstUse bool
}

const maxWitnesses = 16

func (w *Witness) fields() map[string]func(ast.Node) error {
	return map[string]func(ast.Node) error{"url": webAddress(&w.URL), "public_key": strictyaml.Word(&w.PublicKey)}
}

func readWitness(_ string, n ast.Node) (w Witness, err error) {
	if err = fields(n, "a witness", w.fields()); err == nil && w.PublicKey == "" {
		err = strictyaml.At(n, "a witness needs public_key, as its operator prints it")
	}
	return w, err
}

func (t *Timestamps) fields() map[string]func(ast.Node) error {
	return map[string]func(ast.Node) error{"url": webAddress(&t.URL), "certificates": strictyaml.Word(&t.Certificates)}
}

func (c *Config) readTimestamps(n ast.Node) error {
	t := new(Timestamps)
	err := fields(n, "timestamps", t.fields())
	if err == nil && t.URL == "" && t.Certificates == "" {
		err = strictyaml.At(n, "timestamps need url, such as https://stamps.example.org, or certificates, a file")
	}
	if err == nil && t.Certificates != "" && !filepath.IsAbs(t.Certificates) {
		err = strictyaml.At(n, "certificates: want the absolute path of a file in PEM")
	}
	c.Proof.Timestamps = t
	return err
}

func (w *Witnessing) fields() map[string]func(ast.Node) error {
	return map[string]func(ast.Node) error{
		"logs": func(n ast.Node) error {
			return strictyaml.Each(n, "logs", func(n ast.Node) error {
				text, err := strictyaml.Scalar(n)
				w.Logs = append(w.Logs, text)
				return err
			})
		},
		"first_use": strictyaml.Truth(&w.FirstUse),
	}
}

func (c *Config) readWitnessing(n ast.Node) error {
	w := new(Witnessing)
	err := fields(n, "witness", w.fields())
	if err == nil && len(w.Logs) == 0 && !w.FirstUse {
		err = strictyaml.At(n, "witness needs logs, the public keys of those it is a witness for, or first_use: true")
	}
	c.Proof.Witness = w
	return err
}

// webAddress reads an http or https URL without a person's name and password in it.
func webAddress(to *string) func(ast.Node) error {
	return func(n ast.Node) error {
		text, err := strictyaml.Scalar(n)
		if err != nil {
			return err
		}
		u, err := url.Parse(text)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.ContainsAny(text, " \n") {
			return strictyaml.At(n, "%.80q is no address like https://witness.example.org", text)
		}
		*to = text
		return nil
	}
}

func (c *Config) readCheckpoints(n ast.Node) error {
	text, err := strictyaml.Scalar(n)
	if err != nil {
		return err
	}
	v, err := strictyaml.ParseSize(text)
	if err != nil || v < 10 || v > 1_000_000 {
		return strictyaml.At(n, "checkpoints: want after how many events there is one, 10 to 1000000")
	}
	c.Proof.Checkpoints = v
	return nil
}
