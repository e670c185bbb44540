package s3

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/event"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/encrypt"
)

// Options say where blobs are and how they are kept there.
type Options struct {
	// Endpoint is the address of the store, such as https://s3.example.org. Without one it is
	// Amazon's.
	Endpoint string
	// Region is us-east-1 if it is empty, which stores that have no regions are content with.
	Region string
	Bucket string
	// Space is what names begin with, such as team-a: several homes can share a bucket.
	Space string
	// PathStyle has the bucket in the path of an address, where it is not in the host's name.
	// It is so in any case at stores that are known to want it.
	PathStyle bool
	// CA is a file with certificates by which the store's is judged, beside the system's.
	CA string
	// Encrypt is "", "s3" for keys of the store, or "kms:" and the name of a key. A store that
	// does not confirm it is refused.
	Encrypt string
	// Credentials says where they come from: "environment", "file", "web" (a token that is
	// exchanged) or "instance"; "" tries them in this order.
	Credentials string

	// Grace is how long a blob stays that nobody names: Grace if zero, less in tests.
	Grace time.Duration
	// Unfinished is how old uploads are that Collect aborts: a day if zero.
	Unfinished time.Duration
	// Patience is how long requests are tried that fail in passing: a minute if zero.
	Patience time.Duration
	// Spool is a folder for content that has no name yet: the system's for temporary files if empty.
	Spool string
}

// spaces are names of spaces: what every store takes, and cannot be taken for a hash's beginning.
var spaces = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{2,62}$`)

// Parse reads an address of blobs:
//
//	s3://bucket/space?endpoint=https://host:9000&region=eu-west-1&path=true&ca=/file.pem&encrypt=s3&credentials=file
//
// The space is lyceum if there is none. Credentials are refused: an address is seen by others.
func Parse(address string) (Options, error) {
	u, err := url.Parse(address)
	if err != nil {
		return Options{}, errors.New("the address of blobs is no URL; write it as s3://bucket/space?endpoint=https://host")
	}
	if u.User != nil {
		return Options{}, errors.New("the address of blobs has credentials in it, where others can see them; leave them out, and set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY or use a credentials file")
	}
	o := Options{Bucket: u.Host, Space: strings.Trim(u.Path, "/")}
	if u.Scheme != "s3" || o.Bucket == "" {
		return Options{}, fmt.Errorf("%q does not name blobs; write s3://bucket/space?endpoint=https://host", address)
	}
	for key, values := range u.Query() {
		value := values[0]
		switch key {
		case "endpoint":
			o.Endpoint = value
		case "region":
			o.Region = value
		case "path":
			o.PathStyle = value == "true"
			if value != "true" && value != "false" {
				return Options{}, fmt.Errorf("path=%s in the address of blobs; write true or false", value)
			}
		case "ca":
			o.CA = value
		case "encrypt":
			o.Encrypt = value
		case "credentials":
			o.Credentials = value
		default:
			return Options{}, fmt.Errorf("the address of blobs has %q; it can have endpoint, region, path, ca, encrypt and credentials", key)
		}
	}
	return o, o.check()
}

func (o *Options) check() error {
	if o.Space == "" {
		o.Space = "lyceum"
	}
	if !spaces.MatchString(o.Space) {
		return fmt.Errorf("%q cannot be the space of blobs; take 3 to 63 small letters, digits, points and hyphens", o.Space)
	}
	if o.Encrypt != "" && o.Encrypt != "s3" && (!strings.HasPrefix(o.Encrypt, "kms:") || o.Encrypt == "kms:") {
		return fmt.Errorf("encrypt=%s in the address of blobs; write s3, or kms: and the name of a key", o.Encrypt)
	}
	if o.Endpoint == "" {
		o.Endpoint = "https://s3.amazonaws.com"
	}
	if o.Region == "" {
		o.Region = "us-east-1"
	}
	for _, d := range []struct {
		set *time.Duration
		to  time.Duration
	}{{&o.Grace, Grace}, {&o.Unfinished, unfinished}, {&o.Patience, time.Minute}} {
		if *d.set == 0 {
			*d.set = d.to
		}
	}
	return nil
}

// Open asks the store whether all is as the options say, and makes nothing there.
func Open(ctx context.Context, opts Options) (*Store, error) {
	if err := opts.check(); err != nil {
		return nil, err
	}
	s, err := open(opts)
	if err == nil {
		err = s.probe(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("open the blobs of bucket %s at %s: %w", opts.Bucket, opts.Endpoint, err)
	}
	return s, nil
}

func open(opts Options) (*Store, error) {
	u, err := url.Parse(opts.Endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || strings.Trim(u.Path, "/") != "" || u.User != nil || u.RawQuery != "" {
		return nil, errors.New("the endpoint is no address of a store; write it as https://host or http://host:port")
	}
	transport, err := transportFor(opts)
	if err != nil {
		return nil, err
	}
	creds, err := credentialsFor(opts, transport)
	if err != nil {
		return nil, err
	}
	lookup := minio.BucketLookupAuto
	if opts.PathStyle {
		lookup = minio.BucketLookupPath
	}
	core, err := minio.NewCore(u.Host, &minio.Options{
		Creds: creds, Secure: u.Scheme == "https", Transport: listening{transport}, Region: opts.Region, BucketLookup: lookup,
		MaxRetries: 1, // retry knows what is worth it, and for how long
	})
	if err != nil {
		return nil, err
	}
	s := &Store{opts: opts, core: *core, bucket: opts.Bucket, prefix: opts.Space + "/", part: partSize, began: now(), lines: transport, puts: &puts{over: map[event.Hash]chan struct{}{}}}
	switch key, kms := strings.CutPrefix(opts.Encrypt, "kms:"); {
	case kms:
		s.sse, err = encrypt.NewSSEKMS(key, nil)
	case opts.Encrypt == "s3":
		s.sse = encrypt.NewSSE()
	}
	return s, err
}

func transportFor(opts Options) (*http.Transport, error) {
	t := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		MaxIdleConnsPerHost:   64,
		IdleConnTimeout:       time.Minute,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: silent,
		DisableCompression:    true, // or what is stored packed would come back unpacked
	}
	if opts.CA == "" {
		return t, nil
	}
	pem, err := os.ReadFile(opts.CA)
	if err != nil {
		return nil, fmt.Errorf("read the store's certificates (ca): %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s (ca) has no certificate in it; it takes PEM, beginning with -----BEGIN CERTIFICATE-----", opts.CA)
	}
	t.TLSClientConfig = &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	return t, nil
}

// probe asks for one name of the space, for one that is not there, and, if blobs are to be encrypted, whether they are.
func (s *Store) probe(ctx context.Context) error {
	hasty := *s
	hasty.opts.Patience = min(s.opts.Patience, 5*time.Second) // somebody waits for the command to begin
	var a *answer
	enough := errors.New("enough")
	err := hasty.each(ctx, "", &a, func(minio.ObjectInfo) error { return enough })
	if err != nil && !errors.Is(err, enough) {
		return s.advise(err)
	}
	if a.header.Get("Date") == "" {
		_, err := a.date()
		return err
	}
	name := s.prefix + "probe/" + rand.Text()
	if _, err := hasty.stat(ctx, name); !errors.Is(err, blob.ErrNotFound) {
		return s.advise(errors.Join(err, errNoStore))
	}
	if s.sse == nil {
		return nil
	}
	err = hasty.retry(ctx, 0, func(ctx context.Context, a *answer) error {
		_, err := s.core.PutObject(ctx, s.bucket, name, strings.NewReader(""), 0, "", event.HashOf(nil).String(), s.putOptions())
		if err != nil {
			return s.advise(err)
		}
		return s.confirm(a.header)
	})
	return errors.Join(err, hasty.remove(ctx, name))
}

// confirm checks that a store says it encrypted what it was sent.
func (s *Store) confirm(h http.Header) error {
	if s.sse == nil {
		return nil
	}
	want := http.Header{}
	s.sse.Marshal(want)
	if got := h.Get(encrypt.SseGenericHeader); got != want.Get(encrypt.SseGenericHeader) {
		return fmt.Errorf("the store does not confirm that it encrypts (%s: %q); have it do so, or leave out encrypt", encrypt.SseGenericHeader, got)
	}
	return nil
}

// permanent reports whether no waiting helps against an error of a connection.
func permanent(err error) bool {
	if d, ok := errors.AsType[*net.DNSError](err); ok && d.IsNotFound {
		return true
	}
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	_, invalid := errors.AsType[x509.CertificateInvalidError](err)
	_, other := errors.AsType[x509.HostnameError](err)
	_, record := errors.AsType[tls.RecordHeaderError](err)
	return unknown || invalid || other || record || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client")
}

// errNoStore says that what answers has what cannot be there.
var errNoStore = errors.New("it has what nobody put there")

// advise says what to do about a store that cannot be opened.
func (s *Store) advise(err error) error {
	refused, answered := errors.AsType[minio.ErrorResponse](err)
	_, unknown := errors.AsType[x509.UnknownAuthorityError](err)
	next := ""
	switch {
	case unknown:
		next = "its certificate is signed by nobody that is known here; name the file with the certificate of who signed it: ca=/file.pem"
	case permanent(err) && !answered:
		next = "check the endpoint: its name, http or https, and its port"
	case errors.Is(err, errNoStore) && refused.StatusCode < 300:
		next = "what answers there is no store; check the endpoint: its name, and its port"
	case !answered || refused.StatusCode == 0:
		next = "no store answers there; check that it runs, and the endpoint: its name, http or https, and its port"
	case refused.Code == minio.NoSuchBucket:
		next = "there is no such bucket; make it, or correct its name"
	case refused.Region != "" && refused.Region != s.opts.Region:
		next = "the bucket is in another region; set region=" + refused.Region
	case refused.Code == "InvalidAccessKeyId" || refused.Code == "SignatureDoesNotMatch" || refused.Code == "InvalidToken" || refused.Code == "ExpiredToken":
		next = "the credentials are not the store's; check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or the credentials file"
	case refused.Code == "RequestTimeTooSkewed":
		next = "the clock of this machine is off; set it"
	case refused.Code == "AccessDenied" || refused.StatusCode == http.StatusForbidden:
		next = "the credentials do not allow it; they need to list, get, put and delete objects of the bucket"
	case refused.StatusCode >= 500:
		next = "the store is not well; see what it logs"
	default:
		next = "what answers there does not act as a store; check the endpoint, region and path"
	}
	return fmt.Errorf("%s (%w)", next, err)
}
