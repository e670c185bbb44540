// Command conform is the client of package mcp as the suites of other people drive it: the
// MCP conformance suite starts it with a server's address and the name of a scenario. With
// the word try it connects to any server, over either transport, and uses its tools.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"slices"
	"strings"

	"lyceum/internal/mcp"
	"lyceum/internal/mcp/login"
	"lyceum/internal/mcp/setting"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/auth"
)

func main() {
	// This is the whole program: there is no other main.
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	switch {
	case len(args) > 1 && args[0] == "try":
		return try(ctx, args[1:])
	case len(args) == 1:
		return scenario(ctx, args[0], os.Getenv("MCP_CONFORMANCE_SCENARIO"), os.Getenv("MCP_CONFORMANCE_CONTEXT"))
	}
	return errors.New("usage: conform ADDRESS, or conform try ADDRESS|PROGRAM")
}

// wanted is what a scenario says that the client should do.
type wanted struct {
	ToolCalls []struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	} `json:"toolCalls"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	Issuer       string `json:"issuer"`
}

// scenario plays one of the conformance suite: what an agent would do.
func scenario(ctx context.Context, address, name, extra string) error {
	var w wanted
	if extra != "" {
		if err := json.Unmarshal([]byte(extra), &w); err != nil {
			return err
		}
	}
	o := mcp.Options{Version: "1"}
	if strings.HasPrefix(name, "auth/") {
		handler, done, err := w.login(name, address)
		if err != nil {
			return err
		}
		defer done()
		o.Login = handler
	}
	switch name { // somebody is there, and says yes
	case "elicitation-sep1034-client-defaults":
		o.Ask = accept(nil)
	case "sep-2322-client-request-state":
		o.Ask = accept(map[string]any{"confirmed": true})
	}
	c, err := dial(ctx, address, o)
	if err != nil {
		return err
	}
	defer c.Close()
	list, err := c.List(ctx)
	if err != nil {
		if name == "request-metadata" || name == "sep-2322-client-request-state" {
			list, err = nil, nil // they list nothing
		} else {
			return err
		}
	}
	call := func(tool, args string) {
		if _, err := c.Call(ctx, tool, []byte(args), 0); err != nil {
			fmt.Fprintln(os.Stderr, err) // the suite judges by what it saw
		}
	}
	switch {
	case name == "tools_call":
		call("add_numbers", `{"a":5,"b":3}`)
	case name == "json-schema-2020-12-preservation":
		i := slices.IndexFunc(list, func(t mcp.Tool) bool { return t.Name == "json_schema_2020_12_tool" })
		if i < 0 {
			return errors.New("the tool with the schema is not there")
		}
		call("json_schema_echo", `{"schema":`+list[i].Schema+`}`)
	case name == "sep-2322-client-request-state":
		for _, tool := range []string{"echo_state", "no_state", "unrelated", "no_result_type"} {
			call("test_mrtr_"+tool, `{}`)
		}
	case len(w.ToolCalls) > 0:
		for _, t := range w.ToolCalls {
			call(t.Name, string(t.Arguments))
		}
	case name == "http-invalid-tool-headers":
		for _, t := range list {
			call(t.Name, `{"region":"us-west1"}`)
		}
	case name != "initialize" && name != "json-schema-ref-no-deref":
		for _, t := range list {
			call(t.Name, `{}`)
		}
	}
	return nil
}

func accept(values map[string]any) func(context.Context, *mcp.Form) (*mcp.Reply, error) {
	return func(context.Context, *mcp.Form) (*mcp.Reply, error) {
		return &mcp.Reply{Accepted: true, Values: values}, nil
	}
}

// dial connects to a server on this machine.
func dial(ctx context.Context, address string, o mcp.Options) (*mcp.Client, error) {
	return mcp.Dial(ctx, here(address), o)
}

func here(address string) mcp.Address {
	a := mcp.Address{URL: address}
	if u, err := url.Parse(address); err == nil {
		a.Private = []string{"127.0.0.1:" + u.Port()}
	}
	return a
}

// login gets tokens as a person with a browser would, who agrees at once; or by credentials,
// where the scenario is about those.
func (w *wanted) login(name, address string) (o auth.OAuthHandler, done func(), err error) {
	s := login.Server{Address: here(address), Secret: w.ClientSecret, HTTP: &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}}
	s.Settings = setting.Login{Client: w.ClientID, Issuer: w.Issuer}
	if strings.HasPrefix(name, "auth/client-credentials") {
		s.Settings.Grant = setting.ClientCredentials
		return (&login.Keeper{}).Handler(s), func() {}, nil
	}
	if w.ClientID == "" || w.ClientSecret == "" {
		s.Settings = setting.Login{Client: "https://conformance-test.local/client-metadata.json"}
	}
	v, err := (&login.Browser{Open: agree}).Begin(s)
	if err != nil {
		return nil, nil, err
	}
	return v, v.Close, nil
}

// agree visits the page of a login, which sends the visitor back with a code.
func agree(page, _ string) {
	go func() {
		resp, err := http.Get(page)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return
		}
		_ = resp.Body.Close()
	}()
}

// try uses the tools of server-everything, and fails unless they say what they should.
func try(ctx context.Context, args []string) error {
	var c *mcp.Client
	var err error
	if strings.HasPrefix(args[0], "http") {
		c, err = dial(ctx, args[0], mcp.Options{Version: "1"})
	} else {
		c, err = start(ctx, args)
	}
	if err != nil {
		return err
	}
	defer c.Close()
	list, err := c.List(ctx)
	if err != nil {
		return err
	}
	for _, t := range list {
		if _, why := t.Arguments(); why != "" {
			return fmt.Errorf("the tool %s cannot be offered: %s", t.Name, why)
		}
	}
	for _, want := range []struct{ tool, args, says string }{
		{"echo", `{"message":"over and out"}`, "over and out"},
		{"get-sum", `{"a":2,"b":40}`, "42"},
		{"trigger-long-running-operation", `{"duration":1,"steps":4}`, "completed"},
	} {
		r, err := c.Call(ctx, want.tool, []byte(want.args), 0)
		if err != nil || !strings.Contains(r.Text, want.says) {
			return fmt.Errorf("%s says %+v, %w", want.tool, r, err)
		}
	}
	picture, err := c.Call(ctx, "get-tiny-image", []byte(`{}`), 0)
	if err != nil || len(picture.Files) != 1 {
		return fmt.Errorf("the picture is %+v, %w", picture, err)
	}
	i := c.Info()
	fmt.Printf("%s %s by %s: %d tools, 4 used\n", i.Name, i.Version, i.Protocol, len(list))
	return nil
}

// pipes are the input and output of a program.
type pipes struct {
	io.ReadCloser
	io.WriteCloser
	cmd *exec.Cmd
}

func (p pipes) Close() error {
	return errors.Join(p.WriteCloser.Close(), p.cmd.Process.Kill())
}

func start(ctx context.Context, args []string) (*mcp.Client, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	return mcp.Pipe(ctx, pipes{out, in, cmd}, mcp.Options{Version: "1", Root: "/tmp"})
}
