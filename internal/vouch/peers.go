package vouch

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/plain"
	"lyceum/internal/proof"
)

// maxAnswer is how much of an answer is read.
const maxAnswer = proof.MaxNote

func (o *Office) peers() (out []*peer) {
	for _, w := range o.opts.Witnesses {
		out = append(out, &peer{name: "the witness " + w.Key.Name, waiting: map[string]sealed{}, ask: func(ctx context.Context, quest string, s sealed) (word, error) {
			return o.witness(ctx, w, quest, s)
		}})
	}
	for _, url := range o.opts.Authorities {
		out = append(out, &peer{name: "the time stamp authority " + url, waiting: map[string]sealed{}, ask: func(ctx context.Context, _ string, s sealed) (word, error) {
			return o.stamp(ctx, url, s.row)
		}})
	}
	return out
}

// witness asks for a cosignature. The witness says which size it saw last, if that is another than
// this home believes; then it is asked once more.
func (o *Office) witness(ctx context.Context, w Witness, quest string, s sealed) (word, error) {
	row := s.row
	note, err := noteOf(row)
	if err != nil {
		return word{}, err
	}
	old, err := o.seen(ctx, w, quest, row)
	if err != nil {
		return word{}, err
	}
	for range 2 {
		path, err := o.proves(ctx, quest, s, old)
		if err != nil {
			return word{}, err
		}
		resp, body, err := o.post(ctx, strings.TrimSuffix(w.URL, "/")+"/add-checkpoint", "text/plain; charset=utf-8", proof.Request{Old: old, Path: path, Note: note}.String(), o.introduced())
		if err != nil {
			return word{}, err
		}
		switch {
		case resp.StatusCode == http.StatusOK:
			return cosignatures(string(body), note, w.Key)
		case resp.StatusCode == http.StatusConflict && resp.Header.Get("Content-Type") == "text/x.tlog.size":
			last, err := strconv.ParseUint(strings.TrimSuffix(string(body), "\n"), 10, 64)
			if err != nil || last == old {
				return word{}, errors.New("it has seen another history of this log")
			}
			if last > row.Size {
				return word{}, fmt.Errorf("it has seen %d events of this log, and there are %d here: was the home brought back from a copy?", last, row.Size)
			}
			old = last
		default:
			return word{}, fmt.Errorf("it answered %d: %s", resp.StatusCode, plain.Brief(string(body), 200))
		}
	}
	return word{}, errors.New("it changes its mind about what it saw last")
}

// proves is the proof that a checkpoint goes on from the first old events: of what was read to make it,
// if it is at hand.
func (o *Office) proves(ctx context.Context, quest string, s sealed, old uint64) ([]event.Hash, error) {
	if s.hashes == nil || old == 0 || old != s.since.Size() {
		return Consistency(ctx, o.opts.Ledger, quest, old, s.row.Size)
	}
	spans, err := proof.Consistency(old, s.row.Size)
	if err != nil {
		return nil, err
	}
	return proof.Prove(spans, s.since, func(yield func(event.Hash, error) bool) {
		for _, h := range s.hashes {
			if !yield(h, nil) {
				return
			}
		}
	})
}

// introduced is what a witness is told of the key that takes keys on first use: the key, and by which
// statements it follows others, the last of very many.
func (o *Office) introduced() http.Header {
	h := http.Header{}
	h.Set(proof.KeyHeader, o.opts.Signer.String())
	for _, s := range o.opts.Statements[max(0, len(o.opts.Statements)-proof.MaxFollows):] {
		h.Add(proof.FollowsHeader, base64.StdEncoding.EncodeToString([]byte(s)))
	}
	return h
}

// seen is the size that a witness cosigned last of a log, as far as this home knows.
func (o *Office) seen(ctx context.Context, w Witness, quest string, row ledger.Checkpoint) (uint64, error) {
	cosigned := func(r ledger.Checkpoint) bool {
		return r.Origin == row.Origin && r.Size <= row.Size && signedBy(r, w.Key)
	}
	rows, err := recent(ctx, o.opts.Ledger, quest, cosigned)
	if err != nil {
		return 0, err
	}
	for i := len(rows) - 1; i >= 0; i-- {
		if cosigned(rows[i]) {
			return rows[i].Size, nil
		}
	}
	return 0, nil
}

// cosignatures takes those of a key out of an answer. What others signed is left out.
func cosignatures(body string, note proof.Note, key proof.Verifier) (w word, err error) {
	for line := range strings.Lines(body) {
		s, err := proof.ParseSignature(strings.TrimSuffix(line, "\n"))
		if err != nil {
			return word{}, err
		}
		if signed, _ := (proof.Note{Text: note.Text, Signatures: []proof.Signature{s}}).By(key); signed == proof.Good {
			w.signatures = append(w.signatures, s)
		}
	}
	if len(w.signatures) != 1 {
		return word{}, errors.New("its answer has no cosignature by its key")
	}
	return w, nil
}

// stamp asks an authority when it was.
func (o *Office) stamp(ctx context.Context, url string, row ledger.Checkpoint) (word, error) {
	note, err := noteOf(row)
	if err != nil {
		return word{}, err
	}
	var nonce [8]byte
	rand.Read(nonce[:])
	h := event.HashOf([]byte(note.Text))
	request, err := proof.StampRequest(h, nonce[:])
	if err != nil {
		return word{}, err
	}
	resp, body, err := o.post(ctx, url, "application/timestamp-query", string(request), nil)
	if err != nil {
		return word{}, err
	}
	if resp.StatusCode != http.StatusOK {
		return word{}, fmt.Errorf("it answered %d", resp.StatusCode)
	}
	token, err := proof.StampResponse(body, h, nonce[:])
	if err == nil {
		_, err = proof.ReadStamp(token, h, nil)
	}
	return word{stamp: token}, err
}

func (o *Office) post(ctx context.Context, url, kind, body string, more http.Header) (*http.Response, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader([]byte(body)))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Content-Type", kind)
	req.Header.Set("User-Agent", "lyceum")
	for name, values := range more {
		req.Header[name] = values
	}
	resp, err := o.web.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(data) > maxAnswer {
		err = fmt.Errorf("an answer of more than %d bytes", maxAnswer)
	}
	return resp, data, err
}
