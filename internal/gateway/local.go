package gateway

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/respond"

	"github.com/go-json-experiment/json/jsontext"
)

// answer has a model of Lyceum's own answer, in whatever format it was asked.
func (x *exchange) answer(body []byte) {
	req, err := readRequest(x.route.wire, body)
	res := &event.GatewayResult{Status: http.StatusOK}
	if err != nil {
		res.Status, res.Error = http.StatusBadRequest, "the request cannot be read: "+short(err.Error())
		if x.end(res) {
			fail(x.w, x.route.wire, http.StatusBadRequest, res.Error)
		}
		return
	}
	if x.route.count {
		x.put(res, "application/json", tokens(x.route.wire, int64(len(body))/4+1))
		return
	}
	req.Quest, req.Agent, req.Model = x.Quest, x.Agent, x.call.Model()
	a, err := x.model.Local.Generate(x.r.Context(), req, nil)
	if err == nil && a == nil {
		err = errors.New("the model answered nothing")
	}
	if a != nil {
		res.Usage, res.Cost, res.Price, res.Unpriced, res.Estimated = sane(a.Usage), a.Cost, a.Price, a.Unpriced, a.Estimated
		res.Usage.Add(a.Wasted)
	}
	if err != nil {
		x.failed(res, err)
		return
	}
	out := &respond.Answer{
		ID: "lyceum", Model: x.wish.model, Created: int64(x.Clock()) / 1e6, Usage: sane(a.Usage),
	}
	out.Parts, out.Stop = readable(a.Parts, a.Stop)
	format := respond.Of(x.route.wire)
	if !x.wish.stream {
		x.put(res, "application/json", format.Whole(out))
		return
	}
	var text strings.Builder
	format.Stream(func(name, data string) bool {
		if name != "" {
			text.WriteString("event: " + name + "\n")
		}
		text.WriteString("data: " + data + "\n\n")
		return true
	}, out)
	x.put(res, "text/event-stream", []byte(text.String()))
}

// readable makes words of calls whose arguments are no object: the formats have no place for
// these, and a program would make the call without any.
func readable(parts []model.Part, stop string) ([]model.Part, string) {
	out := slices.Clone(parts)
	calls := false
	for i, p := range out {
		if p.Kind != event.PartToolCall {
			continue
		}
		args := jsontext.Value(p.Args)
		if p.Args == "" || args.IsValid() && args.Kind() == '{' {
			calls = true
			continue
		}
		out[i] = model.Part{Kind: event.PartText, Text: fmt.Sprintf("(a call of %s that was not made: %s)", short(p.Name), short(p.Args))}
	}
	if !calls && stop == model.StopTools {
		stop = model.StopEnd
	}
	return out, stop
}

// put records what came of the request, and gives the answer to the agent.
func (x *exchange) put(res *event.GatewayResult, kind string, body []byte) {
	body = x.secrets().Clean(body)
	res.Size, res.Hash = int64(len(body)), sha256.Sum256(body)
	if !x.end(res) {
		panic(http.ErrAbortHandler)
	}
	x.w.Header().Set("Content-Type", kind)
	x.give(body)
}

// failed tells of a model that did not answer.
func (x *exchange) failed(res *event.GatewayResult, err error) {
	status, text := http.StatusServiceUnavailable, err.Error()
	if e := (*model.Error)(nil); errors.As(err, &e) {
		text = e.Text
		if e.Kind == model.Invalid || e.Kind == model.ContextTooLong || e.Kind == model.Refused {
			status = http.StatusBadRequest
		}
	}
	text = x.clean(text)
	res.Status, res.Error = int64(status), text
	if x.end(res) {
		fail(x.w, x.route.wire, status, short(text))
	}
}

// tokens says how many there are, in the words of a format.
func tokens(wire string, n int64) []byte {
	if wire == event.WireGemini {
		return respond.Write(map[string]any{"totalTokens": n})
	}
	return respond.Write(map[string]any{"input_tokens": n})
}
