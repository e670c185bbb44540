// Package gemini speaks with Google's Gemini models, in the format of the
// generateContent API, version v1beta.
//
// A conversation goes there as contents of a user and a model in turns. The API
// wants all calls of one turn of the model answered together in the next one of
// the user, and it wants the signatures it put on parts back on the same parts:
// so an answer's parts are never joined across a signature. Calls mostly come
// without an id and get one that depends on the request alone.
//
// An answer counts once the API has said why it ended. A stream that stops before
// that is a failure, and so is an end for a reason that no answer has, such as a
// function call that Gemini itself could not read; both are worth another attempt.
package gemini

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"lyceum/internal/model"
	"lyceum/internal/model/wire"
)

// Options are what a model need not be told.
type Options struct {
	// Provider is the mark of opaque parts; "" means gemini.
	Provider string
	// MaxTokens is how many tokens an answer may have where the request does not
	// say; 0 leaves it to the API.
	MaxTokens int64
	// ThinkingBudget is how many tokens a request that wants thinking may think
	// for, -1 as many as the model finds right; nil leaves it to the API.
	ThinkingBudget *int64
}

// Model asks Gemini.
type Model struct {
	client *wire.Client
	opts   Options
}

var _ model.Model = (*Model)(nil)

// New returns a driver that speaks through c, whose base is such as
// https://generativelanguage.googleapis.com/v1beta and whose header has the key as
// X-Goog-Api-Key. What a failure means, the driver knows itself: c.Classify is not
// asked.
func New(c *wire.Client, opts Options) *Model {
	if opts.Provider == "" {
		opts.Provider = "gemini"
	}
	return &Model{client: c, opts: opts}
}

// Generate implements model.Model.
func (m *Model) Generate(ctx context.Context, r *model.Request, emit func(model.Delta)) (*model.Answer, error) {
	path, err := pathOf(r.Model)
	if err != nil {
		return nil, err
	}
	a := m.listen(r, emit)
	var after time.Duration
	client := *m.client
	client.Classify = func(_ int, body []byte) model.Kind {
		f := readFailure(body)
		after = f.after()
		return f.kind()
	}
	body, err := m.write(r)
	if err != nil {
		return nil, err
	}
	request, err := client.Stream(ctx, path, body, a.take)
	if err == nil {
		out, err := a.whole()
		if out != nil {
			out.Request = cmp.Or(request, a.request)
		}
		return out, err
	}
	if e, ok := errors.AsType[*model.Error](err); ok {
		e.After, e.Usage = max(e.After, after), a.usage
	}
	return nil, err
}

// pathOf is where a model is asked. Its name is one segment, whatever is in it.
func pathOf(name string) (string, error) {
	if name == "" || strings.Contains(name, "/") {
		return "", &model.Error{Kind: model.Invalid, Text: fmt.Sprintf("%.100q is no name of a Gemini model; one is such as gemini-2.5-pro", name)}
	}
	segment := strings.ReplaceAll(url.PathEscape(name), ":", "%3A") // a colon begins the verb
	return "/models/" + segment + ":streamGenerateContent?alt=sse", nil
}
