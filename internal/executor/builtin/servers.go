package builtin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"lyceum/internal/acp"
	"lyceum/internal/mcp"
	"lyceum/internal/model"
	"lyceum/internal/plain"

	sdk "github.com/coder/acp-go-sdk"
)

// server is one of MCP that the client has named. Its fields are of whoever has the session
// busy, but for stale.
type server struct {
	name string
	set  sdk.McpServer

	client *mcp.Client
	tools  []remote
	// fault is why there are none.
	fault string
	// stale says that the list of tools is another one.
	stale atomic.Bool
}

// remote is a tool of a server as the model is told of it.
type remote struct {
	model.Tool
	server *server
	// theirs is what the server calls it.
	theirs string
}

// The bounds of servers.
const (
	maxServers  = 16
	maxRemotes  = 128
	connectTime = 20 * time.Second
	childTime   = 2 * time.Second
)

var serverName = regexp.MustCompile(`[^a-zA-Z0-9_-]+`)

func newServers(list []sdk.McpServer) (out []*server, err error) {
	if len(list) > maxServers {
		return nil, acp.Errorf(acp.InvalidParams, "mcpServers: %d of them: want at most %d", len(list), maxServers)
	}
	for i, x := range list {
		s := &server{set: x}
		switch {
		case x.Http != nil:
			s.name = x.Http.Name
		case x.Stdio != nil:
			s.name = x.Stdio.Name
		default:
			return nil, acp.Errorf(acp.InvalidParams, "mcpServers: the kinds here are stdio and http")
		}
		s.name = cmp.Or(strings.Trim(plain.Cut(serverName.ReplaceAllString(s.name, "_"), 30), "_"), fmt.Sprintf("server%d", i+1))
		out = append(out, s)
	}
	return out, nil
}

// connect reaches all servers that are not reached, at the same time. One that cannot be
// reached is told to the model, and tried again with the next prompt.
func (s *session) connect(ctx context.Context, opts Options) {
	var all sync.WaitGroup
	for _, x := range s.servers {
		all.Go(func() {
			if x.client != nil && x.client.Lost() {
				x.close()
			}
			if x.client == nil {
				x.open(ctx, opts, s.cwd)
			} else if x.stale.Swap(false) {
				x.list(ctx)
			}
		})
	}
	all.Wait()
}

// refresh looks after the servers before a model is asked.
func (s *session) refresh(ctx context.Context, opts Options) {
	for _, x := range s.servers {
		if x.client == nil || x.client.Lost() || x.stale.Load() {
			s.connect(ctx, opts)
			return
		}
	}
}

// open connects to the server, and learns what it has.
func (x *server) open(ctx context.Context, opts Options, cwd string) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	o := mcp.Options{Version: opts.Version, Root: cwd, Changed: func() { x.stale.Store(true) }}
	var err error
	if x.set.Http != nil {
		x.client, err = dial(ctx, x.set.Http, o)
	} else {
		x.client, err = start(ctx, x.set.Stdio, cwd, o)
	}
	if err != nil {
		x.client, x.fault = nil, plain.Brief(err.Error(), 300)
		opts.Say("the MCP server " + x.name + " cannot be used: " + x.fault)
		return
	}
	x.stale.Store(false)
	x.list(ctx)
}

// list learns what tools the server has. What a model cannot be told is left out.
func (x *server) list(ctx context.Context) {
	x.tools, x.fault = nil, ""
	tools, err := x.client.List(ctx)
	if err != nil {
		x.fault = plain.Brief(err.Error(), 300)
		return
	}
	for _, t := range tools {
		if schema, why := t.Arguments(); why == "" {
			x.tools = append(x.tools, remote{model.Tool{Name: mcp.ToolName(x.name, t.Name), Description: t.Words(x.name), Schema: schema}, x, t.Name})
		}
	}
}

func (x *server) close() {
	if x.client != nil {
		x.client.Close()
	}
	x.client, x.tools = nil, nil
}

// remotes are the tools of all servers. Of two with the same name the first counts.
func (s *session) remotes() (out []remote) {
	seen := map[string]bool{}
	for _, x := range s.servers {
		for _, t := range x.tools {
			if !seen[t.Name] && len(out) < maxRemotes {
				seen[t.Name] = true
				out = append(out, t)
			}
		}
	}
	return out
}

func (s *session) remote(name string) (remote, bool) {
	for _, t := range s.remotes() {
		if t.Name == name {
			return t, true
		}
	}
	return remote{}, false
}

// call calls a tool of a server.
func (t remote) call(ctx context.Context, args string) (text string, failed bool) {
	if strings.TrimSpace(args) == "" {
		args = "{}"
	}
	if !object(args) {
		return "error: the arguments are not a JSON object", true
	}
	if t.server.client == nil {
		return "error: the server cannot be reached now", true
	}
	res, err := t.server.client.Call(ctx, t.theirs, []byte(args), mcp.LongestCall)
	switch {
	case ctx.Err() != nil:
		return "error: the call was cancelled", true
	case errors.Is(err, mcp.ErrLost):
		return "error: " + plain.Brief(err.Error(), 500) + ". Whether the call was done, nobody knows: look before you make it again.", true
	case err != nil:
		return "error: " + plain.Brief(err.Error(), 500), true
	}
	text = res.Text
	if n := len(res.Files); n > 0 {
		text += fmt.Sprintf("\n(%d files or pictures came with it, which cannot be shown here)", n)
	}
	if len(text) > maxRead {
		text = plain.Cut(text, maxRead) + "\n(cut)"
	}
	return cmp.Or(strings.TrimSpace(text), "(it said nothing)"), res.Failed
}

// dial connects to a server by HTTP: to the address that the client has named, wherever that
// is, and to no other.
func dial(ctx context.Context, set *sdk.McpServerHttpInline, o mcp.Options) (*mcp.Client, error) {
	at := mcp.Address{URL: set.Url, Header: http.Header{}}
	for _, h := range set.Headers {
		at.Header.Add(h.Name, h.Value)
	}
	if u, err := url.Parse(set.Url); err == nil {
		host, port := u.Hostname(), u.Port()
		if host == "localhost" {
			host = "127.0.0.1"
		}
		if port == "" {
			port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
		}
		if ip := net.ParseIP(host); ip != nil {
			at.Private = []string{net.JoinHostPort(host, port)}
		}
	}
	return mcp.Dial(ctx, at, o)
}

// start runs a server as a child.
func start(ctx context.Context, set *sdk.McpServerStdio, cwd string, o mcp.Options) (*mcp.Client, error) {
	cmd := exec.Command(set.Command, set.Args...)
	cmd.Dir = cwd
	// What opens the gateway is none of its business.
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, prefix) {
			cmd.Env = append(cmd.Env, v)
		}
	}
	for _, v := range set.Env {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	return mcp.Pipe(ctx, &child{ReadCloser: out, in: in, cmd: cmd}, o)
}

// child is a server's program.
type child struct {
	io.ReadCloser
	in   io.WriteCloser
	cmd  *exec.Cmd
	once sync.Once
}

func (c *child) Write(p []byte) (int, error) { return c.in.Write(p) }

// Close ends the program and all that it has started, if it does not end by itself.
func (c *child) Close() error {
	c.once.Do(func() {
		_ = c.in.Close()
		group := -c.cmd.Process.Pid
		kill := time.AfterFunc(childTime, func() { _ = syscall.Kill(group, syscall.SIGKILL) })
		_ = c.cmd.Wait()
		kill.Stop()
		_ = syscall.Kill(group, syscall.SIGKILL)
	})
	return nil
}
