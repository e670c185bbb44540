package mail

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net"
	"net/mail"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// maxSignatures is how many signatures of a mail are looked at, for each costs a look at the DNS.
const maxSignatures = 5

// signature is a field DKIM-Signature (RFC 6376, 8463).
type signature struct {
	algorithm, domain, selector string
	relaxedHead, relaxedBody    bool
	headers                     []string
	bodyHash, value             []byte
	identity                    string // the domain of i=
	made, expires               int64
	field                       field
}

var hostName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$`)
})

// tags reads a list of them. One that is there twice makes it none.
func tags(s string) (map[string]string, bool) {
	out := map[string]string{}
	for part := range strings.SplitSeq(s, ";") {
		name, value, ok := strings.Cut(part, "=")
		name = strings.TrimSpace(name)
		if !ok {
			if strings.TrimSpace(part) != "" {
				return nil, false
			}
			continue
		}
		if _, twice := out[name]; twice || name == "" {
			return nil, false
		}
		out[name] = strings.TrimSpace(value)
	}
	return out, true
}

func decoded(s string) ([]byte, error) {
	return base64.StdEncoding.DecodeString(strings.Join(strings.Fields(s), ""))
}

// readSignature reads one that could be verified. A signature over a part of the body is none:
// anybody could write the rest.
func readSignature(f field) (*signature, bool) {
	t, ok := tags(f.value())
	if _, part := t["l"]; !ok || part || t["v"] != "1" {
		return nil, false
	}
	s := &signature{algorithm: strings.ToLower(t["a"]), domain: strings.ToLower(t["d"]), selector: strings.ToLower(t["s"]), field: f}
	head, body, _ := strings.Cut(strings.ToLower(t["c"]), "/")
	var known bool
	if s.relaxedHead, known = relaxed(head); !known {
		return nil, false
	}
	if s.relaxedBody, known = relaxed(body); !known {
		return nil, false
	}
	for name := range strings.SplitSeq(t["h"], ":") {
		s.headers = append(s.headers, strings.ToLower(strings.TrimSpace(name)))
	}
	var err, err2 error
	s.bodyHash, err = decoded(t["bh"])
	s.value, err2 = decoded(t["b"])
	if x, has := t["x"]; has {
		n, err := strconv.ParseInt(x, 10, 64)
		if err != nil || n < 1 {
			return nil, false
		}
		s.expires = n
	}
	s.made, _ = strconv.ParseInt(t["t"], 10, 64) // without it the date of the mail counts
	s.identity = s.domain
	if i := strings.ToLower(t["i"]); i != "" {
		_, s.identity, _ = strings.Cut(i, "@")
	}
	inside := s.identity == s.domain || strings.HasSuffix(s.identity, "."+s.domain)
	q := t["q"]
	return s, err == nil && err2 == nil && len(s.value) > 0 && s.covers("from") && inside && (q == "" || q == "dns/txt") &&
		strings.Contains(s.domain, ".") && len(s.domain)+len(s.selector) < 230 && hostName().MatchString(s.domain) && hostName().MatchString(s.selector)
}

func relaxed(s string) (is, known bool) {
	return s == "relaxed", s == "" || s == "simple" || s == "relaxed"
}

func (s *signature) covers(name string) bool { return slices.Contains(s.headers, name) }

// old is how long after it was signed a mail may come. Later it may be a copy of one that was
// taken, and forgotten.
const old = 3 * 24 * time.Hour

// at tells whether it held when the mail came: it says when it was made, or signs a date, and
// that was not long ago.
func (s *signature) at(t time.Time, fields []field) bool {
	made := time.Unix(s.made, 0)
	if s.made <= 0 {
		var err error
		if made, err = mail.ParseDate(one(fields, "date")); err != nil || !s.covers("date") || len(all(fields, "date")) != 1 {
			return false
		}
	}
	return !t.IsZero() && t.Sub(made).Abs() <= old && (s.expires == 0 || t.Unix() <= s.expires)
}

// verify is the digest of what is signed, or "" if it is not. An error is one of the DNS.
func (s *signature) verify(ctx context.Context, keys Resolver, fields []field, body []byte) (string, error) {
	if sum := sha256.Sum256(canonicalBody(body, s.relaxedBody)); !bytes.Equal(sum[:], s.bodyHash) {
		return "", nil
	}
	key, err := s.key(ctx, keys)
	if err != nil || key == nil {
		return "", err
	}
	digest := sha256.Sum256(s.head(fields))
	switch key := key.(type) {
	case *rsa.PublicKey:
		if rsa.VerifyPKCS1v15(key, crypto.SHA256, digest[:], s.value) != nil {
			return "", nil
		}
	case ed25519.PublicKey:
		if !ed25519.Verify(key, digest[:], s.value) {
			return "", nil
		}
	}
	return hex.EncodeToString(digest[:]), nil
}

// head is what is signed of a mail's head: the fields that are named, those further down first,
// and the signature itself without its value.
func (s *signature) head(fields []field) []byte {
	var b bytes.Buffer
	used := map[string]int{}
	for _, name := range s.headers {
		seen := 0
		for i := len(fields) - 1; i >= 0; i-- {
			if fields[i].name != name {
				continue
			}
			if seen++; seen > used[name] {
				b.WriteString(canonicalField(fields[i].raw, s.relaxedHead))
				used[name]++
				break
			}
		}
	}
	own := canonicalField(valueOf().ReplaceAllString(s.field.raw, "$1"), s.relaxedHead)
	b.WriteString(strings.TrimRight(own, "\r\n"))
	return b.Bytes()
}

var (
	valueOf = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`((?:^[^:]*:|;)\s*b\s*=)[^;]*`) })
	spaces  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[ \t]+`) })
)

func canonicalField(raw string, relaxed bool) string {
	if !relaxed {
		return strings.TrimRight(raw, "\r\n") + "\r\n"
	}
	name, value, _ := strings.Cut(raw, ":")
	value = strings.NewReplacer("\r\n", "", "\n", "").Replace(value)
	return strings.ToLower(strings.TrimSpace(name)) + ":" + strings.Trim(spaces().ReplaceAllString(value, " "), " ") + "\r\n"
}

func canonicalBody(body []byte, relaxed bool) []byte {
	var b bytes.Buffer
	b.Grow(len(body) + 2)
	empty := 0
	for len(body) > 0 {
		line, rest, _ := bytes.Cut(body, []byte("\r\n"))
		body = rest
		if relaxed {
			line = bytes.TrimRight(spaces().ReplaceAll(line, []byte(" ")), " ")
		}
		if len(line) == 0 {
			empty++
			continue
		}
		for ; empty > 0; empty-- {
			b.WriteString("\r\n")
		}
		b.Write(line)
		b.WriteString("\r\n")
	}
	if b.Len() == 0 && !relaxed {
		return []byte("\r\n")
	}
	return b.Bytes()
}

// key finds the public key. There is none if the domain has none, has taken it back, tries it
// out only, or has one that is too weak or too large.
func (s *signature) key(ctx context.Context, keys Resolver) (crypto.PublicKey, error) {
	texts, err := keys.LookupTXT(ctx, s.selector+"._domainkey."+s.domain+".")
	if gone, ok := errors.AsType[*net.DNSError](err); ok && gone.IsNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(texts) != 1 || len(texts[0]) > 4096 {
		return nil, nil
	}
	t, ok := tags(texts[0])
	flags := strings.Split(strings.ReplaceAll(t["t"], " ", ""), ":")
	if v, has := t["v"]; !ok || has && v != "DKIM1" || slices.Contains(flags, "y") || slices.Contains(flags, "s") && s.identity != s.domain {
		return nil, nil
	}
	if h, has := t["h"]; has && !slices.Contains(strings.Split(strings.ReplaceAll(h, " ", ""), ":"), "sha256") {
		return nil, nil
	}
	if e, has := t["s"]; has && !strings.Contains(e, "*") && !strings.Contains(e, "email") {
		return nil, nil
	}
	data, err := decoded(t["p"])
	if err != nil || len(data) == 0 {
		return nil, nil
	}
	return readKey(s.algorithm, t["k"], data), nil
}

// readKey is nil if a key is not one for an algorithm.
func readKey(algorithm, kind string, data []byte) crypto.PublicKey {
	switch {
	case algorithm == "ed25519-sha256" && kind == "ed25519" && len(data) == ed25519.PublicKeySize:
		return ed25519.PublicKey(data)
	case algorithm == "rsa-sha256" && (kind == "" || kind == "rsa"):
		any, err := x509.ParsePKIXPublicKey(data)
		if err != nil {
			any, err = x509.ParsePKCS1PublicKey(data)
		}
		if key, ok := any.(*rsa.PublicKey); ok && err == nil && key.N.BitLen() >= 1024 && key.N.BitLen() <= 8192 {
			return key
		}
	}
	return nil
}
