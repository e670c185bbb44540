package mail

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/mail"
	"strings"
	"time"

	"lyceum/internal/connector"
	"lyceum/internal/connector/wire"
)

// field is one of a mail's head, as it is written, with its end.
type field struct{ name, raw string }

// value is what a field says, on one line.
func (f field) value() string {
	_, v, _ := strings.Cut(f.raw, ":")
	return strings.TrimSpace(strings.NewReplacer("\r\n", "", "\n", "").Replace(v))
}

// maxFields is how many fields are looked at.
const maxFields = 500

// split takes a mail apart. A head that is none has no fields.
func split(raw []byte) (fields []field, body []byte) {
	for len(raw) > 0 && len(fields) < maxFields {
		n := 0
		for first := true; n < len(raw); first = false {
			if !first && raw[n] != ' ' && raw[n] != '\t' {
				break
			}
			end := bytes.IndexByte(raw[n:], '\n')
			if end < 0 {
				n = len(raw)
				break
			}
			n += end + 1
		}
		line := raw[:n]
		raw = raw[n:]
		if len(bytes.TrimRight(line, "\r\n")) == 0 {
			return fields, raw
		}
		name, _, ok := strings.Cut(string(line), ":")
		if !ok {
			return nil, nil
		}
		fields = append(fields, field{strings.ToLower(strings.TrimRight(name, " \t")), string(line)})
	}
	return fields, nil
}

// all are the values of the fields of a name.
func all(fields []field, name string) (out []string) {
	for _, f := range fields {
		if f.name == name {
			out = append(out, f.value())
		}
	}
	return out
}

func one(fields []field, name string) string {
	if v := all(fields, name); len(v) > 0 {
		return v[0]
	}
	return ""
}

// addresses are those of a field.
func addresses(fields []field, name string) (out []string) {
	for _, v := range all(fields, name) {
		list, err := (&mail.AddressParser{WordDecoder: decoder}).ParseList(v)
		if err != nil {
			continue
		}
		for _, a := range list {
			out = append(out, strings.ToLower(a.Address))
		}
	}
	return out
}

// message is what a mail says. It is none if a machine wrote it, or nobody did: answers to
// those would never end. An error is one of finding keys.
func (d *Driver) message(ctx context.Context, raw []byte, whole bool, at time.Time) (m connector.Message, ok bool, err error) {
	fields, body := split(raw)
	from := addresses(fields, "from")
	if len(from) != 1 || len(all(fields, "from")) != 1 || machine(fields) {
		return m, false, nil
	}
	sender, ok := bare(from[0])
	if _, own := d.ours(sender); !ok || own {
		return m, false, nil
	}
	m = connector.Message{Conversation: sender, Sender: sender, Time: at}
	if id := one(fields, "message-id"); messageID().MatchString(id) {
		m.Mark = id
	}
	to := append(addresses(fields, "to"), addresses(fields, "cc")...)
	m.Group = len(to) > 1
	for _, a := range to {
		if _, own := d.ours(a); own {
			m.Mentioned = true
		}
	}
	sum := sha256.Sum256([]byte(sender + "\x00" + one(fields, "message-id") + "\x00" + one(fields, "date")))
	m.ID = "mail/" + hex.EncodeToString(sum[:16])
	if m.Proven = d.secretly(fields, sender); !m.Proven && whole {
		digest, why := d.signed(ctx, fields, body, sender, at)
		if err = why; digest != "" {
			// Only what is signed names it: a copy with another message id is the same mail.
			m.ID, m.Proven, m.Signature = "dkim/"+digest, true, digest
		}
	}
	if !m.Proven {
		return m, true, err // nobody will read it
	}
	if whole {
		m.Text, m.Files = content(fields, body)
	} else {
		m.Text = wire.Omitted("mail", fmt.Sprintf("files of a mail have at most %d MiB", wire.MaxFile>>20))
	}
	return m, true, nil
}

// machine tells whether a mail was written by one.
func machine(fields []field) bool {
	auto := strings.ToLower(one(fields, "auto-submitted"))
	switch strings.ToLower(one(fields, "precedence")) {
	case "bulk", "list", "junk":
		return true
	}
	return auto != "" && auto != "no" || len(all(fields, "list-id")) > 0 || one(fields, "return-path") == "<>"
}

// secretly tells whether a mail came to the address that only its sender knows.
func (d *Driver) secretly(fields []field, sender string) bool {
	if d.o.Secret == "" {
		return false
	}
	for _, name := range []string{"to", "cc", "delivered-to", "x-original-to"} {
		for _, a := range addresses(fields, name) {
			if token, own := d.ours(a); own && hmac.Equal([]byte(token), []byte(d.token(sender))) {
				return true
			}
		}
	}
	return false
}

// signed is the digest of a signature that proves the sender, if there is one: of the sender's
// domain, over who wrote it and that it is for us. Fields that readers look at must not be there
// twice, or one of them could be somebody else's.
func (d *Driver) signed(ctx context.Context, fields []field, body []byte, sender string, at time.Time) (string, error) {
	for _, name := range []string{"from", "to", "cc", "subject", "content-type", "content-transfer-encoding"} {
		if len(all(fields, name)) > 1 {
			return "", nil
		}
	}
	toUs := func(name string) bool {
		for _, a := range addresses(fields, name) {
			if _, own := d.ours(a); own {
				return true
			}
		}
		return false
	}
	_, domain, _ := strings.Cut(sender, "@")
	tried := 0
	var trouble error
	for _, f := range fields {
		if f.name != "dkim-signature" {
			continue
		}
		if tried++; tried > maxSignatures {
			break
		}
		s, ok := readSignature(f)
		if !ok || s.domain != domain && !strings.HasSuffix(domain, "."+s.domain) || !s.at(at, fields) {
			continue
		}
		if !(s.covers("to") && toUs("to") || s.covers("cc") && toUs("cc")) {
			continue
		}
		digest, err := s.verify(ctx, d.o.Keys, fields, body)
		if err != nil {
			trouble = err
			continue
		}
		if digest != "" {
			return digest, nil
		}
	}
	return "", trouble
}
