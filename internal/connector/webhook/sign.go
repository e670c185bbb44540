package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"lyceum/internal/connector"
)

// The headers of Standard Webhooks.
const (
	headerID        = "webhook-id"
	headerTime      = "webhook-timestamp"
	headerSignature = "webhook-signature"
)

// tolerance is how far the time of a request may be from ours, both ways.
const tolerance = 5 * time.Minute

// key reads a secret: whsec_ and base64 of 24 to 64 bytes.
func key(secret string) ([]byte, error) {
	raw, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(strings.TrimSpace(secret), "whsec_"))
	if err != nil || len(raw) < 24 || len(raw) > 64 {
		return nil, errors.New("the secret must be whsec_ and the base64 of 24 to 64 bytes, as Standard Webhooks has it: make one with openssl rand -base64 32")
	}
	return raw, nil
}

// sign is the signature of a request.
func sign(key []byte, id, stamp string, body []byte) string {
	m := hmac.New(sha256.New, key)
	fmt.Fprintf(m, "%s.%s.", id, stamp)
	m.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(m.Sum(nil))
}

// maxSignatures is how many signatures of a request are looked at: a sender that changes its
// secret signs with both.
const maxSignatures = 8

// verify finds out whether whoever sent a request has the secret, and sent it now. It returns
// the signature that holds.
func verify(key []byte, h http.Header, body []byte, now time.Time) (signature string, err error) {
	id, stamp := h.Get(headerID), h.Get(headerTime)
	if id == "" || len(id) > 200 || strings.Contains(id, ".") {
		return "", fmt.Errorf("%w: it has no webhook-id of at most 200 bytes without a dot", connector.ErrSignature)
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || strconv.FormatInt(seconds, 10) != stamp {
		return "", fmt.Errorf("%w: its webhook-timestamp is no number of seconds", connector.ErrSignature)
	}
	if off := now.Sub(time.Unix(seconds, 0)); off > tolerance || off < -tolerance {
		return "", fmt.Errorf("%w: its webhook-timestamp is more than %v off", connector.ErrSignature, tolerance)
	}
	want := sign(key, id, stamp, body)
	for i, s := range strings.Fields(h.Get(headerSignature)) {
		if i < maxSignatures && hmac.Equal([]byte(s), []byte(want)) {
			return want, nil
		}
	}
	return "", fmt.Errorf("%w: no webhook-signature is one of this secret", connector.ErrSignature)
}
