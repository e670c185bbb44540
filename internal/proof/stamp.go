package proof

import (
	"bytes"
	"crypto"
	_ "crypto/sha1" // certificates are named by it in older stamps, and signed by nothing
	_ "crypto/sha256"
	_ "crypto/sha512"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"lyceum/internal/event"
)

// MaxStamp is how many bytes a time stamp may have.
const MaxStamp = 32 << 10

// The object identifiers of RFC 3161 and of what it rests on (RFC 5652, RFC 5035).
var (
	oidSHA256        = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}
	oidSHA384        = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 2}
	oidSHA512        = asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 3}
	oidSignedData    = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 2}
	oidStampInfo     = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 1, 4}
	oidContentType   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 3}
	oidMessageDigest = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 4}
	oidSigningCertV2 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 47}
	oidSigningCert   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 12}
	oidExtKeyUsage   = asn1.ObjectIdentifier{2, 5, 29, 37}
)

type imprint struct {
	Algorithm pkix.AlgorithmIdentifier
	Hash      []byte
}

type stampRequest struct {
	Version int
	Imprint imprint
	Nonce   *big.Int
	Certs   bool
}

type stampResponse struct {
	Status struct {
		Status int
		Text   []asn1.RawValue `asn1:"optional"`
		Fail   asn1.BitString  `asn1:"optional"`
	}
	Token asn1.RawValue `asn1:"optional"`
}

type contentInfo struct {
	Type    asn1.ObjectIdentifier
	Content asn1.RawValue `asn1:"explicit,tag:0"`
}

type signedData struct {
	Version int
	Digests []pkix.AlgorithmIdentifier `asn1:"set"`
	Content struct {
		Type    asn1.ObjectIdentifier
		Content []byte `asn1:"explicit,tag:0"`
	}
	Certificates asn1.RawValue `asn1:"optional,tag:0"`
	CRLs         asn1.RawValue `asn1:"optional,tag:1"`
	Signers      []signerInfo  `asn1:"set"`
}

type signerInfo struct {
	Version    int
	ID         asn1.RawValue
	Digest     pkix.AlgorithmIdentifier
	Attributes asn1.RawValue `asn1:"optional,tag:0"`
	Algorithm  pkix.AlgorithmIdentifier
	Signature  []byte
	Unsigned   asn1.RawValue `asn1:"optional,tag:1"`
}

type attribute struct {
	Type   asn1.ObjectIdentifier
	Values asn1.RawValue `asn1:"set"`
}

type accuracy struct {
	Seconds int `asn1:"optional"`
	Millis  int `asn1:"optional,tag:0"`
	Micros  int `asn1:"optional,tag:1"`
}

type stampInfo struct {
	Version  int
	Policy   asn1.ObjectIdentifier
	Imprint  imprint
	Serial   *big.Int
	Time     time.Time `asn1:"generalized"`
	Accuracy accuracy  `asn1:"optional"`
	Ordering bool      `asn1:"optional"`
	Nonce    *big.Int  `asn1:"optional"`
}

// StampRequest asks an authority for a time stamp of a hash. The nonce is random, of up to 8 bytes.
func StampRequest(h event.Hash, nonce []byte) ([]byte, error) {
	return asn1.Marshal(stampRequest{1, sha256Imprint(h), new(big.Int).SetBytes(nonce), true})
}

func sha256Imprint(h event.Hash) imprint {
	return imprint{pkix.AlgorithmIdentifier{Algorithm: oidSHA256, Parameters: asn1.NullRawValue}, h[:]}
}

// StampResponse takes the time stamp out of an authority's answer, if it granted one and it is of
// this hash and nonce. Whether the authority is to be believed, ReadStamp says.
func StampResponse(data []byte, h event.Hash, nonce []byte) ([]byte, error) {
	if len(data) > MaxStamp {
		return nil, fmt.Errorf("an answer of %d bytes, more than %d", len(data), MaxStamp)
	}
	var r stampResponse
	if err := unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("the answer is no time stamp: %w", err)
	}
	if r.Status.Status > 1 || len(r.Token.FullBytes) == 0 {
		return nil, fmt.Errorf("the authority refused (status %d)", r.Status.Status)
	}
	_, info, err := parseStamp(r.Token.FullBytes, h)
	if err != nil {
		return nil, err
	}
	if info.Nonce == nil || info.Nonce.Cmp(new(big.Int).SetBytes(nonce)) != 0 {
		return nil, errors.New("the time stamp is the answer to another request")
	}
	return bytes.Clone(r.Token.FullBytes), nil
}

// Stamp is what an authority says: it was shown a hash at a time.
type Stamp struct {
	Time event.Time
	// Authority is the name in the certificate that signed.
	Authority string
	// Known says that the certificate leads to one that the verifier trusts; if not, Why says so.
	Known bool
	Why   string
}

// ReadStamp checks a time stamp of a hash. An error says that it is wrong, whoever made it: of
// something else, or not signed by the certificate that comes with it. trusted may be nil.
func ReadStamp(token []byte, h event.Hash, trusted *x509.CertPool) (s Stamp, err error) {
	if len(token) > MaxStamp {
		return s, fmt.Errorf("a time stamp of %d bytes, more than %d", len(token), MaxStamp)
	}
	sd, info, err := parseStamp(token, h)
	if err != nil {
		return s, err
	}
	certs, err := x509.ParseCertificates(sd.Certificates.Bytes)
	if err != nil || len(certs) == 0 || len(certs) > 16 {
		return s, errors.New("the time stamp brings no certificate along")
	}
	signer := sd.Signers[0]
	cert, err := signer.verify(certs, sd.Content.Content)
	if err != nil {
		return s, err
	}
	s = Stamp{Time: event.Time(info.Time.UnixMicro()), Authority: cert.Subject.CommonName}
	if s.Authority == "" {
		s.Authority = cert.Subject.String()
	}
	if trusted == nil {
		s.Why = "no authority is trusted here: name its certificate in config.yaml"
		return s, nil
	}
	between := x509.NewCertPool()
	for _, c := range certs {
		between.AddCert(c)
	}
	if _, err := cert.Verify(x509.VerifyOptions{Roots: trusted, Intermediates: between, CurrentTime: info.Time, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping}}); err != nil {
		s.Why = err.Error()
		return s, nil
	}
	s.Known = true
	return s, nil
}

// parseStamp reads a time stamp and holds its imprint against a hash.
func parseStamp(token []byte, h event.Hash) (sd signedData, info stampInfo, err error) {
	var ci contentInfo
	if err = unmarshal(token, &ci); err == nil && !ci.Type.Equal(oidSignedData) {
		err = errors.New("it is not signed data")
	}
	if err == nil {
		err = unmarshal(ci.Content.Bytes, &sd)
	}
	if err == nil && (!sd.Content.Type.Equal(oidStampInfo) || len(sd.Signers) != 1) {
		err = errors.New("it is not a time stamp with one signer")
	}
	if err == nil {
		err = unmarshal(sd.Content.Content, &info)
	}
	if err != nil {
		return sd, info, fmt.Errorf("it is no time stamp: %w", err)
	}
	if !info.Imprint.Algorithm.Algorithm.Equal(oidSHA256) || !bytes.Equal(info.Imprint.Hash, h[:]) {
		return sd, info, errors.New("the time stamp is of something else")
	}
	if y := info.Time.Year(); y < 1970 || y > 9999 {
		return sd, info, errors.New("the time stamp is of no time")
	}
	return sd, info, nil
}

// verify finds the certificate by which the content was signed, among those that came along: the
// one that the signed attributes name by its hash.
func (s signerInfo) verify(certs []*x509.Certificate, content []byte) (*x509.Certificate, error) {
	hash, ok := digest(s.Digest.Algorithm)
	if !ok || len(s.Attributes.FullBytes) == 0 {
		return nil, errors.New("the time stamp is signed in a way that is unknown here")
	}
	attributes := bytes.Clone(s.Attributes.FullBytes)
	attributes[0] = asn1.TagSet | 0x20 // what is signed is the set, not its place in the structure
	var list []attribute
	if rest, err := asn1.UnmarshalWithParams(attributes, &list, "set"); err != nil || len(rest) > 0 {
		return nil, errors.New("the signed attributes of the time stamp cannot be read")
	}
	sum := hash.New()
	sum.Write(content)
	var named *x509.Certificate
	var typed, digested bool
	for _, a := range list {
		switch {
		case a.Type.Equal(oidContentType):
			var t asn1.ObjectIdentifier
			typed = unmarshal(a.Values.Bytes, &t) == nil && t.Equal(oidStampInfo)
		case a.Type.Equal(oidMessageDigest):
			var d []byte
			digested = unmarshal(a.Values.Bytes, &d) == nil && bytes.Equal(d, sum.Sum(nil))
		case a.Type.Equal(oidSigningCertV2), a.Type.Equal(oidSigningCert):
			named = signingCertificate(a, certs)
		}
	}
	switch {
	case !typed || !digested:
		return nil, errors.New("the time stamp was changed: its signature is of something else")
	case named == nil:
		return nil, errors.New("the time stamp does not say which certificate signed it")
	case !stampsOnly(named):
		return nil, errors.New("the certificate of the time stamp is not one for time stamps")
	}
	algorithm := signatureAlgorithm(s.Algorithm.Algorithm, hash, named)
	if err := named.CheckSignature(algorithm, attributes, s.Signature); err != nil {
		return nil, fmt.Errorf("the signature of the time stamp is wrong: %w", err)
	}
	return named, nil
}

// signingCertificate finds the certificate whose hash an attribute begins with.
func signingCertificate(a attribute, certs []*x509.Certificate) *x509.Certificate {
	var value struct {
		Certs    []asn1.RawValue
		Policies asn1.RawValue `asn1:"optional"`
	}
	if unmarshal(a.Values.Bytes, &value) != nil || len(value.Certs) == 0 {
		return nil
	}
	hash, rest := crypto.SHA1, value.Certs[0].Bytes
	if a.Type.Equal(oidSigningCertV2) {
		hash = crypto.SHA256
		var id pkix.AlgorithmIdentifier
		if after, err := asn1.Unmarshal(rest, &id); err == nil {
			h, ok := digest(id.Algorithm)
			if !ok {
				return nil
			}
			hash, rest = h, after
		}
	}
	var sum []byte
	if _, err := asn1.Unmarshal(rest, &sum); err != nil || !hash.Available() {
		return nil
	}
	i := slices.IndexFunc(certs, func(c *x509.Certificate) bool {
		h := hash.New()
		h.Write(c.Raw)
		return bytes.Equal(h.Sum(nil), sum)
	})
	if i < 0 {
		return nil
	}
	return certs[i]
}

// stampsOnly reports whether a certificate is for time stamps and says that this is critical.
func stampsOnly(c *x509.Certificate) bool {
	critical := slices.ContainsFunc(c.Extensions, func(e pkix.Extension) bool { return e.Id.Equal(oidExtKeyUsage) && e.Critical })
	return critical && len(c.ExtKeyUsage) == 1 && c.ExtKeyUsage[0] == x509.ExtKeyUsageTimeStamping
}

func digest(id asn1.ObjectIdentifier) (crypto.Hash, bool) {
	switch {
	case id.Equal(oidSHA256):
		return crypto.SHA256, true
	case id.Equal(oidSHA384):
		return crypto.SHA384, true
	case id.Equal(oidSHA512):
		return crypto.SHA512, true
	}
	return 0, false
}

// signatureAlgorithm goes by the key of the certificate and the hash. RSA with PSS is told by its
// identifier.
func signatureAlgorithm(id asn1.ObjectIdentifier, hash crypto.Hash, c *x509.Certificate) x509.SignatureAlgorithm {
	of := func(s256, s384, s512 x509.SignatureAlgorithm) x509.SignatureAlgorithm {
		switch hash {
		case crypto.SHA384:
			return s384
		case crypto.SHA512:
			return s512
		}
		return s256
	}
	switch c.PublicKeyAlgorithm {
	case x509.RSA:
		if id.Equal(asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 10}) {
			return of(x509.SHA256WithRSAPSS, x509.SHA384WithRSAPSS, x509.SHA512WithRSAPSS)
		}
		return of(x509.SHA256WithRSA, x509.SHA384WithRSA, x509.SHA512WithRSA)
	case x509.ECDSA:
		return of(x509.ECDSAWithSHA256, x509.ECDSAWithSHA384, x509.ECDSAWithSHA512)
	case x509.Ed25519:
		return x509.PureEd25519
	}
	return x509.UnknownSignatureAlgorithm
}

// unmarshal reads DER that ends where it should.
func unmarshal(data []byte, into any) error {
	rest, err := asn1.Unmarshal(data, into)
	if err == nil && len(rest) > 0 {
		err = errors.New("something follows it")
	}
	return err
}
