package proxy

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"strings"
	"time"
)

// Registries are hosts that get credentials, and the authority by which the proxy passes for
// them. Its key is in memory only; its certificate holds for these hosts alone, and is given
// to one computer.
type Registries struct {
	hosts  map[string]*Registry // by host and port
	shown  map[string]*tls.Certificate
	signer *x509.Certificate
	key    *ecdsa.PrivateKey
	// roots verify the real ones; nil are this machine's.
	roots *x509.CertPool
}

// authorityTime is how long a certificate of ours holds: longer than any command runs.
const authorityTime = 48 * time.Hour

// NewRegistries makes an authority for registries. roots verify the hosts themselves, nil for
// those of this machine.
func NewRegistries(list []Registry, roots *x509.CertPool) (*Registries, error) {
	r := &Registries{hosts: map[string]*Registry{}, shown: map[string]*tls.Certificate{}, roots: roots}
	signer := certificate(1, "Lyceum, for registries of one computer")
	signer.IsCA, signer.BasicConstraintsValid, signer.MaxPathLenZero = true, true, true
	signer.KeyUsage, signer.PermittedDNSDomainsCritical = x509.KeyUsageCertSign, true
	for _, given := range list {
		reg, err := given.check()
		if err != nil {
			return nil, fmt.Errorf("the registry %s: %w", clean(given.Host), err)
		}
		at := place(reg.Host, reg.Port)
		if r.hosts[at] != nil {
			return nil, fmt.Errorf("the registry %s is there twice", at)
		}
		r.hosts[at] = reg
		if ip, err := netip.ParseAddr(reg.Host); err == nil {
			signer.PermittedIPRanges = append(signer.PermittedIPRanges, &net.IPNet{IP: ip.AsSlice(), Mask: net.CIDRMask(ip.BitLen(), ip.BitLen())})
		} else {
			signer.PermittedDNSDomains = append(signer.PermittedDNSDomains, reg.Host)
		}
	}
	var err error
	if r.signer, r.key, err = sign(signer, nil, nil); err != nil {
		return nil, err
	}
	n := int64(1)
	for at, reg := range r.hosts {
		n++
		leaf := certificate(n, reg.Host)
		leaf.KeyUsage, leaf.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
		if ip := net.ParseIP(reg.Host); ip != nil {
			leaf.IPAddresses = []net.IP{ip}
		} else {
			leaf.DNSNames = []string{reg.Host}
		}
		made, key, err := sign(leaf, r.signer, r.key)
		if err != nil {
			return nil, err
		}
		r.shown[at] = &tls.Certificate{Certificate: [][]byte{made.Raw}, PrivateKey: key, Leaf: made}
	}
	return r, nil
}

func certificate(number int64, name string) *x509.Certificate {
	return &x509.Certificate{
		SerialNumber: big.NewInt(number), Subject: pkix.Name{CommonName: name[:min(len(name), 64)]},
		NotBefore: now().Add(-time.Hour), NotAfter: now().Add(authorityTime),
	}
}

// sign makes a certificate with a key of its own, signed by that of another or by itself.
func sign(c, by *x509.Certificate, with *ecdsa.PrivateKey) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if by == nil {
		by, with = c, key
	}
	raw, err := x509.CreateCertificate(rand.Reader, c, by, &key.PublicKey, with)
	if err != nil {
		return nil, nil, err
	}
	made, err := x509.ParseCertificate(raw)
	return made, key, err
}

func place(host string, port int) string { return fmt.Sprintf("%s %d", host, port) }

// Certificate is that of the authority in PEM, for programs of the computer to trust.
func (r *Registries) Certificate() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.signer.Raw})
}

// at is the registry that a program asks for, nil if there is none.
func (r *Registries) at(hostname string, port int) *Registry {
	h, err := parseHost(hostname)
	if r == nil || err != nil {
		return nil
	}
	if h.addr.IsValid() {
		h.name = h.addr.String()
	}
	return r.hosts[place(h.name, port)]
}

// show is the registry as a program sees it.
func (r *Registries) show(c *conn, reg *Registry) *tls.Conn {
	return tls.Server(asConn{c: c}, &tls.Config{
		MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			if hello.ServerName != "" && !strings.EqualFold(strings.TrimSuffix(hello.ServerName, "."), reg.Host) {
				return nil, errors.New("that is not the registry")
			}
			return r.shown[place(reg.Host, reg.Port)], nil
		},
	})
}

// secure begins TLS with the real registry, and makes sure that it is the one.
func (r *Registries) secure(ctx context.Context, up net.Conn, reg *Registry) (net.Conn, error) {
	made := tls.Client(up, &tls.Config{MinVersion: tls.VersionTLS12, ServerName: reg.Host, RootCAs: r.roots, NextProtos: []string{"http/1.1"}})
	if err := made.HandshakeContext(ctx); err != nil {
		if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
			return nil, errors.New("its certificate is none that this machine trusts")
		}
		return nil, errors.New("it was reached, but does not speak TLS as it should")
	}
	return made, nil
}

// asConn is a client's connection as package tls wants it.
type asConn struct {
	net.Conn // nil: what is not below is not asked for
	c        *conn
}

func (a asConn) Read(b []byte) (int, error)  { return a.c.r.Read(b) }
func (a asConn) Write(b []byte) (int, error) { return a.c.Write(b) }
func (a asConn) Close() error                { a.c.cancel(); return nil }

// SetWriteDeadline keeps a last word from waiting for a program that does not listen.
func (a asConn) SetWriteDeadline(t time.Time) error {
	if d, ok := a.c.client.(interface{ SetWriteDeadline(time.Time) error }); ok {
		return d.SetWriteDeadline(t)
	}
	return nil
}
