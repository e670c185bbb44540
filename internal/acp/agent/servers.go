package agent

import (
	"fmt"
	"net/url"
	"strings"

	"lyceum/internal/mcp/setting"
	"lyceum/internal/plain"

	sdk "github.com/coder/acp-go-sdk"
)

// offered makes settings of the MCP servers that a client hands over, and says which are left
// out. What the client gives by value may be a secret, and would stand in the ledger: such a
// server is left out, and its owner told what to do instead.
func offered(list []sdk.McpServer) (out setting.Servers, left []string) {
	out = setting.Servers{}
	for _, given := range list {
		var s setting.Server
		name, why := "", ""
		switch {
		case given.Stdio != nil:
			name = given.Stdio.Name
			if s.Run = commandLine(given.Stdio.Command, given.Stdio.Args); len(given.Stdio.Env) > 0 {
				why = "it wants variables, whose values would be recorded: have a program of the agents' computer set them, or use a server with an address"
			}
		case given.Http != nil:
			name, s.URL = given.Http.Name, given.Http.Url
			if u, err := url.Parse(s.URL); len(given.Http.Headers) > 0 || err == nil && (u.RawQuery != "" || u.User != nil) {
				why = "it wants headers, or has a query or a password in its address, which would be recorded: name it under mcp in config.yaml, with the variables that hold the values of its headers"
			}
		case given.Sse != nil:
			name, why = given.Sse.Name, "it speaks SSE: give the address where it speaks streamable HTTP"
		default:
			why = "it is reached in a way that is not known here"
		}
		name = serverName(name, out)
		if len(out) == setting.MaxServers {
			why = fmt.Sprintf("there are more than %d", setting.MaxServers)
		}
		if why == "" {
			if err := setting.Check(name, s); err != nil {
				why = plain.Line(err.Error())
			}
		}
		if why != "" {
			left = append(left, fmt.Sprintf("The MCP server %s is left out: %s.", name, why))
			continue
		}
		out[name] = s
	}
	return out, left
}

// inside reports whether servers run in the agents' computers.
func inside(servers setting.Servers) bool {
	for _, s := range servers {
		if s.Kind() == setting.Stdio {
			return true
		}
	}
	return false
}

// outside are those of some servers that have addresses.
func outside(servers setting.Servers) setting.Servers {
	out := setting.Servers{}
	for name, s := range servers {
		if s.Kind() == setting.HTTP {
			out[name] = s
		}
	}
	return out
}

// serverName makes a name for settings of one that people read.
func serverName(name string, taken setting.Servers) string {
	const most = 20 // leaves room for a number
	slug := slugOf(name, most)
	if slug == "" {
		slug = "server"
	}
	for i, out := 2, slug; ; i++ {
		if _, ok := taken[out]; !ok {
			return out
		}
		out = fmt.Sprintf("%s-%d", slug, i)
	}
}

// slugOf is a name in small letters, digits and dashes.
func slugOf(name string, most int) string {
	slug := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, name), "-")
	if len(slug) > most {
		slug = strings.TrimRight(slug[:most], "-")
	}
	return slug
}

// commandLine is a line for the shell that runs a program.
func commandLine(program string, args []string) string {
	words := []string{quoted(program)}
	for _, a := range args {
		words = append(words, quoted(a))
	}
	return strings.Join(words, " ")
}

func quoted(word string) string {
	if word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=@,+") == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
