package mcp

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"lyceum/internal/media"
	"lyceum/internal/plain"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Beside is what a server has besides tools, as the server describes it. All of it is a
// stranger's.
type Beside struct {
	Resources []Resource `json:"resources,omitempty"`
	Prompts   []Prompt   `json:"prompts,omitempty"`
}

// Resource is something that can be read, or, with a template in the place of an address, many
// such.
type Resource struct {
	URI         string `json:"uri"`
	Template    bool   `json:"template,omitzero"`
	Name        string `json:"name,omitzero"`
	Title       string `json:"title,omitzero"`
	Description string `json:"description,omitzero"`
	MIME        string `json:"mime,omitzero"`
}

// Prompt is a text that a server writes for somebody who says what it is about.
type Prompt struct {
	Name        string     `json:"name"`
	Title       string     `json:"title,omitzero"`
	Description string     `json:"description,omitzero"`
	Arguments   []Argument `json:"arguments,omitempty"`
}

// Argument is what a prompt wants to know.
type Argument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitzero"`
	Required    bool   `json:"required,omitzero"`
}

// MaxURI is how long the address of a resource may be, and a prompt's name.
const MaxURI = 1000

// ListBeside is every resource, template and prompt of a server that has any, within the bounds of
// List.
func (c *Client) ListBeside(ctx context.Context) (out Beside, err error) {
	caps := &sdk.ServerCapabilities{}
	if i := c.session.InitializeResult(); i != nil && i.Capabilities != nil {
		caps = i.Capabilities
	}
	b := &bounds{most: c.pages}
	if caps.Resources != nil {
		err = c.pagesOf(ctx, "list resources", b, func(cursor string) (string, error) {
			page, err := c.session.ListResources(ctx, &sdk.ListResourcesParams{Cursor: cursor})
			if err != nil {
				return "", err
			}
			for _, r := range page.Resources {
				one := Resource{URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIME: r.MIMEType}
				if err := b.take(&out.Resources, one, r.URI, len(one.URI+one.Name+one.Title+one.Description+one.MIME)); err != nil {
					return "", err
				}
			}
			return page.NextCursor, nil
		})
		if err == nil {
			err = c.pagesOf(ctx, "list templates of resources", b, func(cursor string) (string, error) {
				page, err := c.session.ListResourceTemplates(ctx, &sdk.ListResourceTemplatesParams{Cursor: cursor})
				if unknown(err) {
					return "", nil // many servers have none
				}
				if err != nil {
					return "", err
				}
				for _, r := range page.ResourceTemplates {
					one := Resource{URI: r.URITemplate, Template: true, Name: r.Name, Title: r.Title, Description: r.Description, MIME: r.MIMEType}
					if err := b.take(&out.Resources, one, r.URITemplate, len(one.URI+one.Name+one.Title+one.Description+one.MIME)); err != nil {
						return "", err
					}
				}
				return page.NextCursor, nil
			})
		}
	}
	if err == nil && caps.Prompts != nil {
		err = c.pagesOf(ctx, "list prompts", b, func(cursor string) (string, error) {
			page, err := c.session.ListPrompts(ctx, &sdk.ListPromptsParams{Cursor: cursor})
			if err != nil {
				return "", err
			}
			for _, p := range page.Prompts {
				if err := out.prompt(b, p); err != nil {
					return "", err
				}
			}
			return page.NextCursor, nil
		})
	}
	return out, err
}

func (out *Beside) prompt(b *bounds, p *sdk.Prompt) error {
	one := Prompt{Name: p.Name, Title: p.Title, Description: p.Description}
	size := len(p.Name + p.Title + p.Description)
	for _, a := range p.Arguments {
		one.Arguments = append(one.Arguments, Argument{a.Name, a.Description, a.Required})
		size += len(a.Name + a.Description)
	}
	if b.count++; b.count > maxTools {
		return errTooMuch
	}
	if b.size += size; b.size > maxListBytes {
		return errTooMuch
	}
	if fitting(p.Name) {
		out.Prompts = append(out.Prompts, one)
	}
	return nil
}

// bounds are what lists may have together.
type bounds struct{ count, size, most int }

var errTooMuch = fmt.Errorf("the server has more than %d of them, or they take more than %d MiB", maxTools, maxListBytes>>20)

func (b *bounds) take(to *[]Resource, one Resource, name string, size int) error {
	if b.count, b.size = b.count+1, b.size+size; b.count > maxTools || b.size > maxListBytes {
		return errTooMuch
	}
	if fitting(name) {
		*to = append(*to, one)
	}
	return nil
}

// fitting reports whether something can be asked for by its name.
func fitting(name string) bool {
	return name != "" && len(name) <= MaxURI && plain.Printable(name)
}

// unknown reports whether a server does not know what it was asked for.
func unknown(err error) bool {
	wire, ok := errors.AsType[*jsonrpc.Error](err)
	return ok && wire.Code == jsonrpc.CodeMethodNotFound
}

// pagesOf follows a list to its end.
func (c *Client) pagesOf(ctx context.Context, doing string, b *bounds, page func(cursor string) (next string, err error)) error {
	cursor, seen := "", map[string]bool{}
	for range b.most {
		next, err := await(ctx, func() (string, error) { return page(cursor) })
		switch {
		case errors.Is(err, errTooMuch):
			return fmt.Errorf("%s: %w", doing, err)
		case err != nil:
			return c.fault(doing, err)
		case next == "":
			return nil
		case seen[next] || len(next) > 4<<10:
			return fmt.Errorf("%s: the pages of the server's list go round in a circle", doing)
		}
		cursor, seen[next] = next, true
	}
	return fmt.Errorf("%s: the server's list has more than %d pages", doing, b.most)
}

// Read reads a resource, and, if watch is set and the server can, asks to be told when it changes.
func (c *Client) Read(ctx context.Context, uri string, watch bool) (*Result, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, CallTime, ErrLate)
	defer cancel()
	res, err := await(ctx, func() (*sdk.ReadResourceResult, error) {
		return c.session.ReadResource(ctx, &sdk.ReadResourceParams{URI: uri})
	})
	if err != nil {
		return nil, c.fault("read "+line(uri, 200), err)
	}
	out := &Result{}
	var texts []string
	for _, r := range res.Contents {
		switch {
		case r == nil:
		case len(r.Blob) > 0:
			out.file(path.Base(r.URI), r.Blob)
		default:
			texts = append(texts, "("+line(r.URI, 500)+")\n"+plain.Told(r.Text, 0))
		}
	}
	out.say(texts)
	if i := c.session.InitializeResult(); watch && i != nil && i.Capabilities != nil && i.Capabilities.Resources != nil && i.Capabilities.Resources.Subscribe {
		if _, err := await(ctx, func() (any, error) { return nil, c.session.Subscribe(ctx, &sdk.SubscribeParams{URI: uri}) }); err != nil {
			out.Text += "\n(you are not told when it changes: " + line(c.fault("subscribe", err).Error(), 200) + ")"
		}
	} else if watch {
		out.Text += "\n(the server does not tell when it changes)"
	}
	return out, nil
}

// Prompt has a server write a prompt.
func (c *Client) Prompt(ctx context.Context, name string, args map[string]string) (*Result, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, CallTime, ErrLate)
	defer cancel()
	res, err := await(ctx, func() (*sdk.GetPromptResult, error) {
		return c.session.GetPrompt(ctx, &sdk.GetPromptParams{Name: name, Arguments: args})
	})
	if err != nil {
		return nil, c.fault("get the prompt "+line(name, 80), err)
	}
	out := &Result{}
	var texts []string
	for _, m := range res.Messages {
		if m == nil {
			continue
		}
		one := resultOf(&sdk.CallToolResult{Content: []sdk.Content{m.Content}})
		texts = append(texts, line(string(m.Role), 20)+": "+one.Text)
		out.Files = append(out.Files, one.Files...)
	}
	out.say(texts)
	return out, nil
}

// say is the text of a result, cut where it is too long.
func (r *Result) say(texts []string) {
	r.Text = strings.Join(texts, "\n")
	if len(r.Text) > maxText {
		whole := r.Text
		r.Files = append(r.Files, media.File{Name: "result.txt", Data: []byte(whole)})
		r.Text = plain.Cut(whole, maxText) + fmt.Sprintf("\n(cut after %d of %d bytes; the whole result is the attached file result.txt)", maxText, len(whole))
	}
}
