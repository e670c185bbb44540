package gateway

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/wire"
)

// passed are the headers of an answer that an agent sees.
var passed = []string{"Content-Type", "Request-Id", "X-Request-Id", "Retry-After", "Retry-After-Ms"}

// linger is how long a provider may keep a stream open after the end of its answer.
const linger = 2 * time.Second

// pieces are where answers are read into, on their way.
var pieces = sync.Pool{New: func() any { return new([16 << 10]byte) }}

// forward sends a request to its provider, and passes the answer back.
func (x *exchange) forward(body []byte) {
	up := x.model.Upstream
	ctx, watch, stop := x.watched()
	defer stop()
	resp, err := up.Send(ctx, x.Quest, x.route.wire, x.route.verb, x.header(), x.renamed(body))
	if err != nil {
		x.unsent(ctx, err)
		return
	}
	defer resp.Body.Close()
	a := &answering{exchange: x, resp: resp, watch: watch, sum: sha256.New(), res: &event.GatewayResult{Status: int64(resp.StatusCode), Request: wire.RequestID(resp.Header)}}
	switch {
	case resp.StatusCode >= http.StatusBadRequest:
		a.fault()
	case resp.StatusCode != http.StatusOK:
		a.res.Error = fmt.Sprintf("the provider answered %d", resp.StatusCode)
		if x.end(a.res) {
			fail(x.w, x.route.wire, http.StatusBadGateway, fmt.Sprintf("the provider sends elsewhere, or says something that is no answer (%d): it is not followed", resp.StatusCode))
		}
	case strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream"):
		a.stream(ctx)
	default:
		a.whole(ctx)
	}
}

// unsent ends a request that has no answer at all.
func (x *exchange) unsent(ctx context.Context, err error) {
	why := (*wire.UnsentError)(nil)
	out := errors.As(err, &why)
	text := err.Error()
	if e := (*model.Error)(nil); errors.As(err, &e) {
		text = e.Text
	}
	text = x.clean(text)
	res := &event.GatewayResult{Error: text}
	if ctx.Err() != nil && !out {
		// It had gone out, and the agent did not wait: the provider may still answer, and
		// charge for it.
		res.Error, res.Usage, res.Estimated = "cancelled by the agent before an answer came", x.most, true
		x.bill(res)
	}
	if x.end(res) && ctx.Err() == nil {
		fail(x.w, x.route.wire, http.StatusServiceUnavailable, short(text))
	}
}

// answering is an answer on its way from a provider to an agent.
type answering struct {
	*exchange
	resp  *http.Response
	res   *event.GatewayResult
	watch *time.Timer
	sum   hash.Hash
}

// head begins the answer to the agent.
func (a *answering) head(status int) {
	for _, name := range passed {
		if v := a.resp.Header.Get(name); v != "" && len(v) <= 200 && string(a.secrets().Clean([]byte(v))) == v {
			a.w.Header().Set(name, v)
		}
	}
	a.w.WriteHeader(status)
}

// took counts what has come.
func (a *answering) took(p []byte) {
	a.res.Size += int64(len(p))
	_, _ = a.sum.Write(p)
}

// reckon says what the answer used, and what it cost.
func (a *answering) reckon(c wire.Counter) {
	copy(a.res.Hash[:], a.sum.Sum(nil))
	u, told := c.Usage()
	if !told {
		a.res.Estimated = true
		output := a.most.Output
		if c.Ended() { // all of it is here: no text has more tokens than bytes
			output = min(output, a.res.Size)
		}
		if u.Input <= 0 {
			u = event.Usage{Input: a.most.Input}
		}
		u.Output = max(output, u.Output)
	}
	a.res.Usage = sane(u)
	a.bill(a.res)
}

// sane is a usage without numbers that none has.
func sane(u event.Usage) event.Usage {
	n := func(v int64) int64 { return min(max(v, 0), 1<<50) }
	return event.Usage{Input: n(u.Input), Cached: n(u.Cached), CacheWrites: n(u.CacheWrites), Output: n(u.Output), Thinking: n(u.Thinking)}
}

// fault passes an error of the provider on, in its words. That it does not take the key is
// nothing that an agent can do something about.
func (a *answering) fault() {
	body, err := io.ReadAll(io.LimitReader(a.resp.Body, maxFault))
	a.res.Size, a.res.Hash = int64(len(body)), event.HashOf(body)
	a.res.Error = fmt.Sprintf("the provider answered %d", a.resp.StatusCode)
	if !a.end(a.res) {
		return
	}
	switch code := a.resp.StatusCode; {
	case err != nil:
		fail(a.w, a.route.wire, http.StatusBadGateway, "the provider's error did not come whole")
	case code == http.StatusUnauthorized, code == http.StatusForbidden, code == http.StatusPaymentRequired:
		fail(a.w, a.route.wire, http.StatusBadGateway, fmt.Sprintf("the provider does not take Lyceum's key, or the account behind it (%d): a person must look", code))
	default:
		a.head(code)
		a.give([]byte(a.clean(string(body))))
	}
}

// whole passes an answer on that is not streamed, once it is there and recorded.
func (a *answering) whole(ctx context.Context) {
	c := a.model.Upstream.Counter(a.route.wire)
	body, err := io.ReadAll(io.LimitReader(a.resp.Body, maxAnswer+1))
	if err == nil && len(body) > maxAnswer {
		err = fmt.Errorf("an answer of more than %d MiB", maxAnswer>>20)
	}
	a.took(body)
	if err == nil {
		c.Whole(body)
	} else {
		a.res.Error = a.why(ctx, err)
	}
	a.reckon(c)
	switch {
	case !a.end(a.res):
		panic(http.ErrAbortHandler)
	case err != nil:
		fail(a.w, a.route.wire, http.StatusBadGateway, short(a.res.Error))
	default:
		a.head(http.StatusOK)
		a.give(a.secrets().Clean(body))
	}
}

// why says what cut an answer off.
func (a *answering) why(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return "cancelled by the agent"
	}
	if e := (*model.Error)(nil); errors.As(err, &e) {
		err = errors.New(e.Text)
	}
	return "cut: " + a.clean(err.Error())
}

// stream passes an answer on as it comes. From the event that ends it on, it is held until
// what it used is recorded: an agent goes on when it has that.
func (a *answering) stream(ctx context.Context) {
	c := a.model.Upstream.Counter(a.route.wire)
	split := &wire.Splitter{Each: c.Event, Soon: true}
	sieve := a.secrets().Sieve(true)
	buf := pieces.Get().(*[16 << 10]byte)
	defer pieces.Put(buf)
	a.head(http.StatusOK)
	out := &paced{w: a.w, control: http.NewResponseController(a.w), watch: a.watch, patience: a.patience()}
	out.begin()
	var err error
	var rest []byte
	var late *time.Timer
	for err == nil {
		var n int
		n, err = a.resp.Body.Read(buf[:])
		_, _ = split.Write(buf[:n])
		a.took(buf[:n])
		piece := sieve.Pass(buf[:n])
		switch {
		case c.Ended():
			if rest = append(rest, piece...); len(rest) > maxAnswer {
				err = errors.New("more than anybody needs behind its end")
			}
			if late == nil {
				late = time.AfterFunc(linger, func() { _ = a.resp.Body.Close() })
			}
		case len(piece) > 0:
			if sent := out.write(piece); sent != nil {
				err = sent
			}
		}
	}
	if late != nil {
		late.Stop()
	}
	whole := errors.Is(err, io.EOF) || c.Ended() && len(rest) <= maxAnswer && ctx.Err() == nil
	if !whole {
		a.res.Error = a.why(ctx, err)
	}
	a.reckon(c)
	kept := a.end(a.res)
	if rest = append(rest, sieve.End()...); !kept || !whole {
		rest = nil
	}
	if out.end(rest) != nil || !kept || !whole {
		panic(http.ErrAbortHandler) // as the provider's own would end
	}
}
