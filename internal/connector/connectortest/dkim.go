package connectortest

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"net"
	"regexp"
	"strings"
	"testing"
)

// Signer signs mails with DKIM, and is the DNS where its keys are found.
type Signer struct {
	key   crypto.Signer
	texts map[string][]string
	// Trouble is what the DNS says instead of an answer.
	Trouble error
}

// NewSigner makes a key of a kind, rsa or ed25519, for the selector "sel" of a domain.
func NewSigner(t *testing.T, kind, domain string) *Signer {
	s := &Signer{texts: map[string][]string{}}
	var public []byte
	if kind == "ed25519" {
		pub, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		s.key, public = key, pub
	} else {
		key, err := rsa.GenerateKey(rand.Reader, 2048)
		if err != nil {
			t.Fatal(err)
		}
		s.key = key
		if public, err = x509.MarshalPKIXPublicKey(&key.PublicKey); err != nil {
			t.Fatal(err)
		}
	}
	s.Publish("sel", domain, "v=DKIM1; k="+kind+"; p="+base64.StdEncoding.EncodeToString(public))
	return s
}

// Publish puts a text where the key of a selector is looked for.
func (s *Signer) Publish(selector, domain, text string) {
	s.texts[selector+"._domainkey."+domain+"."] = []string{text}
}

// Key is the text of the first key.
func (s *Signer) Key(domain string) string { return s.texts["sel._domainkey."+domain+"."][0] }

// LookupTXT is what the DNS answers.
func (s *Signer) LookupTXT(_ context.Context, name string) ([]string, error) {
	if s.Trouble != nil {
		return nil, s.Trouble
	}
	if list, ok := s.texts[name]; ok {
		return list, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

var runs = regexp.MustCompile("[ \t]+")

// Sign puts a signature before a mail whose lines end with CRLF. The tags are what it says
// besides its hashes: c, d, h and so on.
func (s *Signer) Sign(mail, tags string) string {
	way := regexp.MustCompile(`c=(\w+)/(\w+)`).FindStringSubmatch(tags)
	names := strings.Split(regexp.MustCompile(`h=([\w:-]+)`).FindStringSubmatch(tags)[1], ":")
	head, body, _ := strings.Cut(mail, "\r\n\r\n")
	if way[2] == "relaxed" {
		lines := strings.Split(body, "\r\n")
		for i, l := range lines {
			lines[i] = strings.TrimRight(runs.ReplaceAllString(l, " "), " ")
		}
		body = strings.Join(lines, "\r\n")
	}
	for strings.HasSuffix(body, "\r\n") {
		body = strings.TrimSuffix(body, "\r\n")
	}
	if body != "" || way[2] == "simple" {
		body += "\r\n"
	}
	hash := sha256.Sum256([]byte(body))
	algorithm := "rsa-sha256"
	if _, ok := s.key.(ed25519.PrivateKey); ok {
		algorithm = "ed25519-sha256"
	}
	own := "DKIM-Signature: v=1; a=" + algorithm + ";\r\n\t" + tags + "; s=sel;\r\n bh=" + base64.StdEncoding.EncodeToString(hash[:]) + ";\r\n b="
	folded := regexp.MustCompile("\r\n([ \t])")
	fields := strings.Split(folded.ReplaceAllString(head, "\x00$1"), "\r\n")
	canonical := func(f string) string {
		f = strings.ReplaceAll(f, "\x00", "\r\n")
		if way[1] == "simple" {
			return f
		}
		name, value, _ := strings.Cut(f, ":")
		value = runs.ReplaceAllString(strings.ReplaceAll(value, "\r\n", ""), " ")
		return strings.ToLower(strings.TrimSpace(name)) + ":" + strings.TrimSpace(value)
	}
	signed := ""
	for _, name := range names {
		for i := len(fields) - 1; i >= 0; i-- {
			if f, _, _ := strings.Cut(fields[i], ":"); strings.EqualFold(strings.TrimSpace(f), name) {
				signed += canonical(fields[i]) + "\r\n"
				fields = append(fields[:i:i], fields[i+1:]...)
				break
			}
		}
	}
	digest := sha256.Sum256([]byte(signed + canonical(own)))
	var value []byte
	if algorithm == "rsa-sha256" {
		value, _ = s.key.Sign(rand.Reader, digest[:], crypto.SHA256)
	} else {
		value, _ = s.key.Sign(rand.Reader, digest[:], crypto.Hash(0))
	}
	return own + base64.StdEncoding.EncodeToString(value) + "\r\n" + mail
}
