package wire

import (
	"context"
	"io"
	"net/http"
	"strings"

	"lyceum/internal/model"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxAsked is how much a server may say about itself.
const maxAsked = 8 << 20

// Ask asks a server about itself: it gets a path, or posts body to it if there is one,
// and reads what comes as JSON into out. Failures are told as those of Stream.
func (c *Client) Ask(ctx context.Context, path string, body, out any) error {
	method, data := http.MethodGet, Body(nil)
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return &model.Error{Kind: model.Invalid, Text: "the request cannot be written as JSON: " + err.Error()}
		}
		method, data = http.MethodPost, Body{text}
	}
	resp, err := c.send(ctx, method, path, "application/json", data)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	in := io.LimitReader(resp.Body, maxAsked)
	if resp.StatusCode != http.StatusOK {
		return c.failed(ctx, resp, in)
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return c.broke(ctx, err)
	}
	if nested(text) {
		return c.Garbled("more than anybody could need")
	}
	if err := json.Unmarshal(text, out, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		if strings.HasPrefix(strings.TrimSpace(string(text)), "<") {
			return c.Garbled("a web page (check the base URL)")
		}
		return c.Garbled("%v", err)
	}
	return nil
}
