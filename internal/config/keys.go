package config

import (
	"slices"

	"lyceum/internal/mcp/setting"

	"github.com/goccy/go-yaml/ast"
)

// Keys are all that a config.yaml can have, as paths: * stands for a name of the user's, or for a
// place in a list. What a driver of a connector has besides is for package connector to know.
func Keys() (out []string) {
	add := func(under string, fields map[string]func(ast.Node) error) {
		for name := range fields {
			out = append(out, under+name)
		}
	}
	add("", new(Config).fields())
	add("providers.*.", new(Provider).fields())
	add("models.*.", new(Model).fields(new(PriceFields)))
	add("computer.", new(Computer).fields())
	add("embeddings.", new(Embeddings).fields())
	add("executors.*.", new(Executor).fields())
	add("registries.*.", new(Registry).fields())
	add("connectors.*.", new(Connector).fields())
	add("witnesses.*.", new(Witness).fields())
	add("timestamps.", new(Timestamps).fields())
	add("witness.", new(Witnessing).fields())
	for name, s := range setting.Schema("").AdditionalProperties.Properties {
		out = append(out, "mcp.*."+name)
		for below := range s.Properties {
			out = append(out, "mcp.*."+name+"."+below)
		}
	}
	slices.Sort(out)
	return out
}
