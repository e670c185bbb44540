package api

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"time"
)

// errStranger says that the other end does not have the home's token.
var errStranger = errors.New("the other end does not know the token of the home")

// Mutual is how the command line and the server of one home speak: over TLS, where each end
// shows a key that is made of the home's token, and accepts no other. So both know whom they
// speak to before anything is said, on every connection anew. Whoever listens on the port of
// a server that has died learns nothing, and one that passes everything on to the server
// cannot read it. The configuration is for both ends.
func Mutual(token string) (*tls.Config, error) {
	if !tokenForm.MatchString(token) {
		return nil, errors.New("the token is not one of 64 hex digits")
	}
	key := ed25519.NewKeyFromSeed(derived(token, "lyceum mutual 1"))
	// A certificate is the envelope in which TLS wants a key. Nobody looks at the rest of it.
	about := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(0, 0), NotAfter: time.Unix(1<<33, 0)}
	der, err := x509.CreateCertificate(nil, about, about, key.Public(), key)
	if err != nil {
		return nil, fmt.Errorf("make the key of the home: %w", err)
	}
	return &tls.Config{
		MinVersion:             tls.VersionTLS13,
		Certificates:           []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}},
		ClientAuth:             tls.RequireAnyClientCert,
		InsecureSkipVerify:     true, // in favour of VerifyConnection, which both ends ask
		SessionTicketsDisabled: true,
		VerifyConnection: func(s tls.ConnectionState) error {
			if len(s.PeerCertificates) == 0 || !key.Public().(ed25519.PublicKey).Equal(s.PeerCertificates[0].PublicKey) {
				return errStranger
			}
			return nil
		},
	}, nil
}

// derived is something for a purpose that only who has a token can make.
func derived(token, purpose string) []byte {
	mac := hmac.New(sha256.New, []byte(token))
	mac.Write([]byte(purpose))
	return mac.Sum(nil)
}
