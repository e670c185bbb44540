// Package remote asks a server for vectors, in the format of OpenAI's /embeddings that
// most servers of models speak.
//
// Nothing the server sends is trusted: its answer is bounded, and must hold one vector
// of finite numbers for each text, all of one length. A redirect is not followed, since
// it would take the key elsewhere. The key is never part of an error. A request is
// made once; whoever calls may try again.
package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"lyceum/internal/search"

	"github.com/go-json-experiment/json"
)

// The limits of one request and of its answer.
const (
	batchTexts = 64
	batchBytes = 256 << 10
	maxAnswer  = 64 << 20
	maxError   = 16 << 10
	maxQuote   = 300
	maxVector  = 100_000
)

// Embedder implements search.Embedder.
type Embedder struct {
	base, model, key string
	client           *http.Client
	options          Options
}

// Options are what can be set about an embedder.
type Options struct {
	// Nothing and Everything are the cosines between which relevance grows from 0 to
	// 1; what they are depends on the model. Zero means careful usual ones.
	Nothing, Everything float64
	// Client is used instead of a usual one. It does not follow redirects either.
	Client *http.Client
}

var (
	_ search.Embedder   = (*Embedder)(nil)
	_ search.Calibrated = (*Embedder)(nil)
)

// New returns an embedder that posts to base/embeddings. The key may be empty; the
// context of each call bounds its time.
func New(base, model, key string, options *Options) (*Embedder, error) {
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, errors.New("the base URL of the embedder is no http or https address: set it to one such as https://api.openai.com/v1")
	case u.User != nil:
		return nil, errors.New("the base URL of the embedder holds a password: give the key instead")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the base URL of the embedder holds a ? or a #: leave out what follows")
	case model == "":
		return nil, errors.New("the embedder has no model: name one, such as text-embedding-3-small")
	case strings.ContainsAny(key, "\r\n\x00"):
		return nil, errors.New("the embedder's key holds a line break: set it again without")
	}
	e := &Embedder{base: strings.TrimRight(base, "/"), model: model, key: key}
	if options != nil {
		e.options = *options
	}
	if e.options.Nothing == 0 && e.options.Everything == 0 {
		e.options.Nothing, e.options.Everything = search.UsualNothing, search.UsualEverything
	}
	if e.options.Nothing >= e.options.Everything {
		return nil, fmt.Errorf("the embedder's cosines are the wrong way round: %v must be less than %v", e.options.Nothing, e.options.Everything)
	}
	client := http.Client{Transport: transport()}
	if e.options.Client != nil {
		client = *e.options.Client
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	e.client = &client
	return e, nil
}

func transport() *http.Transport {
	return &http.Transport{
		IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 15 * time.Second, ForceAttemptHTTP2: true,
		DialContext: (&net.Dialer{Timeout: 15 * time.Second}).DialContext,
	}
}

// Name implements search.Embedder. Two servers' models of one name may differ.
func (e *Embedder) Name() string { return e.model + " at " + e.base }

// Calibration implements search.Calibrated.
func (e *Embedder) Calibration() (nothing, everything float64) {
	return e.options.Nothing, e.options.Everything
}

// Embed implements search.Embedder.
func (e *Embedder) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	list := make([][]float32, 0, len(texts))
	for len(texts) > 0 {
		n, size := 0, 0
		for n < len(texts) && n < batchTexts && (n == 0 || size+len(texts[n]) <= batchBytes) {
			size += len(texts[n])
			n++
		}
		some, err := e.ask(ctx, texts[:n])
		if err != nil {
			return nil, err
		}
		if len(list) > 0 && len(some[0]) != len(list[0]) {
			return nil, fmt.Errorf("%s gave vectors of %d and of %d dimensions: ask for one model only", e.Name(), len(list[0]), len(some[0]))
		}
		list, texts = append(list, some...), texts[n:]
	}
	return list, nil
}

type request struct {
	Model string   `json:"model"`
	Input []string `json:"input"`
}

type answer struct {
	Data []struct {
		Index     int       `json:"index"`
		Embedding []float32 `json:"embedding"`
	} `json:"data"`
}

func (e *Embedder) ask(ctx context.Context, texts []string) ([][]float32, error) {
	body, err := json.Marshal(request{e.model, input(texts)})
	if err != nil {
		return nil, fmt.Errorf("write the request for vectors: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.base+"/embeddings", bytes.NewReader(body))
	if err != nil {
		return nil, errors.New("the base URL of the embedder is no address: check it")
	}
	req.Header.Set("Content-Type", "application/json")
	if e.key != "" {
		req.Header.Set("Authorization", "Bearer "+e.key)
	}
	resp, err := e.client.Do(req)
	if err != nil {
		return nil, e.unreachable(ctx, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, maxError)) // as much as comes
		return nil, e.errorf("answered %d (%s): %s", resp.StatusCode, advice(resp.StatusCode), said)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return nil, e.unreachable(ctx, err)
	}
	if len(data) > maxAnswer {
		return nil, e.errorf("sent more than %d MiB for %d texts: check the base URL and the model", maxAnswer>>20, len(texts))
	}
	return e.read(data, len(texts))
}

// input is what servers take: they refuse empty texts and bytes that are no UTF-8.
func input(texts []string) []string {
	list := make([]string, len(texts))
	for i, t := range texts {
		if list[i] = strings.ToValidUTF8(t, "�"); strings.TrimSpace(t) == "" {
			list[i] = "-"
		}
	}
	return list
}

// read puts the vectors in the order of the texts.
func (e *Embedder) read(data []byte, texts int) ([][]float32, error) {
	var a answer
	if err := json.Unmarshal(data, &a); err != nil {
		return nil, e.errorf("sent what is no list of vectors (check the base URL and the model): %v", err)
	}
	if len(a.Data) != texts {
		return nil, e.errorf("sent %d vectors for %d texts: check the model", len(a.Data), texts)
	}
	list := make([][]float32, texts)
	for _, d := range a.Data {
		if d.Index < 0 || d.Index >= texts || list[d.Index] != nil {
			return nil, e.errorf("numbered its vectors wrongly: check the base URL")
		}
		if len(d.Embedding) == 0 || len(d.Embedding) > maxVector || len(d.Embedding) != len(a.Data[0].Embedding) {
			return nil, e.errorf("sent a vector of %d dimensions: check the model", len(d.Embedding))
		}
		list[d.Index] = d.Embedding
	}
	return list, nil
}

func advice(status int) string {
	switch {
	case status >= 300 && status < 400:
		return "it sends elsewhere: set the base URL to where it leads"
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return "check the key"
	case status == http.StatusNotFound:
		return "check the base URL and the model's name"
	case status == http.StatusTooManyRequests, status >= 500:
		return "try again later"
	case status == http.StatusRequestEntityTooLarge:
		return "choose a model with a larger window"
	}
	return "check the model and the base URL"
}

// unreachable says what went wrong on the way. The context's end is its own reason.
func (e *Embedder) unreachable(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return e.errorf("cannot be reached (check the base URL and the network): %v", err)
}

// errorf takes the key out before it cuts what the server said, so that no piece of it
// is left.
func (e *Embedder) errorf(format string, args ...any) error {
	text := fmt.Sprintf(format, args...)
	if e.key != "" {
		text = strings.ReplaceAll(text, e.key, "[key]")
	}
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "�")), " ")
	if len(text) > maxQuote {
		text = strings.ToValidUTF8(text[:maxQuote], "") + "…"
	}
	return fmt.Errorf("the embedder %s %s", e.Name(), text)
}
