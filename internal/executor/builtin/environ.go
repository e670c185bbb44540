package builtin

import (
	"cmp"
	"errors"
	"path/filepath"
	"slices"
	"strconv"

	"lyceum/internal/event"
)

// prefix is how the variables begin that tell the agent what it needs.
const prefix = "LYCEUM_EXECUTOR_"

// The variables.
const (
	VariableGateway  = prefix + "GATEWAY"
	VariableToken    = prefix + "TOKEN"
	VariableModel    = prefix + "MODEL"
	VariableWire     = prefix + "WIRE"
	VariableDir      = prefix + "DIR"
	VariableRequests = prefix + "REQUESTS"
	VariableContext  = prefix + "CONTEXT"
)

// FromEnvironment reads the options from variables, by get. Sessions are kept in the home if no
// variable says where.
func FromEnvironment(get func(string) string) (o Options, err error) {
	o = Options{Gateway: get(VariableGateway), Token: get(VariableToken), Model: cmp.Or(get(VariableModel), "default"), Wire: get(VariableWire), Dir: get(VariableDir)}
	if o.Gateway == "" {
		return o, errors.New(VariableGateway + " is not set: it says where models are asked, such as http://127.0.0.1:3129")
	}
	if !slices.Contains([]string{"", event.WireAnthropic, event.WireChat, event.WireResponses, event.WireGemini}, o.Wire) {
		return o, errors.New(VariableWire + ": want anthropic, chat, responses or gemini")
	}
	if o.Dir == "" {
		home := get("HOME")
		if home == "" {
			return o, errors.New("neither " + VariableDir + " nor HOME is set: one of them says where sessions are kept")
		}
		o.Dir = filepath.Join(home, ".lyceum-executor")
	}
	for name, to := range map[string]*int{VariableRequests: &o.MaxRequests, VariableContext: &o.MaxContext} {
		if text := get(name); text != "" {
			if *to, err = strconv.Atoi(text); err != nil || *to <= 0 {
				return o, errors.New(name + ": want a whole number above 0")
			}
		}
	}
	return o, nil
}
