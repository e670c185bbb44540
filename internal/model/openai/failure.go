package openai

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/wire"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// problem is what servers say of a failure. They do not agree on the form: code is
// a word or a status, and any of them may be missing.
type problem struct {
	Code    jsontext.Value `json:"code"`
	Type    string         `json:"type"`
	Message string         `json:"message"`
}

// code returns the code as a word, and as a status if it is one.
func (p *problem) code() (word string, status int) {
	word = strings.Trim(string(p.Code), `"`)
	if n, err := strconv.Atoi(word); err == nil && n >= 400 && n < 600 {
		status = n
	}
	return word, status
}

// problemOf finds the problem in a body: as it is, or below error.
func problemOf(body []byte) problem {
	var outer struct {
		problem
		Error jsontext.Value `json:"error"`
	}
	var p problem
	switch {
	case json.Unmarshal(body, &outer, lenient) != nil:
		p.Message = string(body)
	case json.Unmarshal(outer.Error, &p, lenient) == nil && (p.Message != "" || p.Type != "" || len(p.Code) > 0):
	case json.Unmarshal(outer.Error, &p.Message, lenient) == nil && p.Message != "":
	default:
		p = outer.problem
	}
	return p
}

// What servers write when the words are too many, in lower case. OpenAI, DeepSeek,
// vLLM and OpenRouter say maximum context length; the others follow in this order:
// OpenAI's Responses, its limit per minute that no waiting gets below, Cerebras,
// Mistral, Kimi, newer vLLM, llama.cpp and LM Studio.
var tooLong = []string{
	"context_length_exceeded", "maximum context length",
	"exceeds the context window", "request too large for", "reduce the length of",
	"too large for model with", "exceeded model token limit", "longer than the maximum model length",
	"exceed_context_size", "exceeds the available context size", "greater than the context length", "context the overflows",
}

// What they write when they do not want to answer: OpenAI, Kimi, DeepSeek.
var refusals = []string{"invalid_prompt", "content_policy_violation", "content_filter", "content exists risk"}

// What they write when waiting does not help: OpenAI, Kimi.
var unpaid = []string{"insufficient_quota", "billing_hard_limit", "exceeded_current_quota"}

// classify knows what a status does not say. See wire.Client.
func classify(_ int, body []byte) model.Kind {
	p := problemOf(body)
	return p.kind()
}

func (p *problem) kind() model.Kind {
	word, _ := p.code()
	text := strings.ToLower(word + " " + p.Type + " " + p.Message)
	has := func(list []string) bool {
		for _, s := range list {
			if strings.Contains(text, s) {
				return true
			}
		}
		return false
	}
	switch {
	case has(tooLong):
		return model.ContextTooLong
	case has(refusals):
		return model.Refused
	case has(unpaid):
		return model.Invalid
	}
	return ""
}

// failed makes an error of a problem that came in the stream, where no status
// tells its kind. Whatever does not blame the request may pass.
func failed(c *wire.Client, p problem, u event.Usage) error {
	word, status := p.code()
	kind := p.kind()
	switch {
	case kind != "":
	case status == http.StatusTooManyRequests, status == http.StatusRequestTimeout, status == http.StatusConflict, status >= 500:
		kind = model.Unavailable
	case status != 0, strings.Contains(word, "invalid"), strings.Contains(p.Type, "invalid"), strings.Contains(word, "not_found"),
		strings.Contains(p.Type, "authentication"), strings.Contains(p.Type, "permission"):
		kind = model.Invalid
	default:
		kind = model.Unavailable
	}
	text := wire.Redact(p.Message, c.Secrets) // before it is cut
	if text == "" {
		text = wire.Redact(strings.TrimSpace(p.Type+" "+word), c.Secrets)
	}
	if r := []rune(text); len(r) > 500 {
		text = string(r[:500]) + "…"
	}
	return &model.Error{
		Kind:  kind,
		Text:  c.Provider + " broke off its answer: " + text,
		After: after(text),
		Usage: u,
	}
}

var tryAgain = regexp.MustCompile(`(?i)try again in (\d+(?:\.\d+)?(?:ms|s|m))\b`)

// after finds how long to wait in a sentence; in the stream there is no header.
func after(text string) time.Duration {
	m := tryAgain.FindStringSubmatch(text)
	if m == nil {
		return 0
	}
	d, err := time.ParseDuration(m[1])
	if err != nil {
		return 0
	}
	return d
}
