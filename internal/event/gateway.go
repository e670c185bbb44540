package event

// GatewayAsked says that an outside agent, the actor, has sent a request to the model
// gateway: the loopback port inside its computer behind which models are. It is not sent
// on yet. Texts are not kept: Hash and Size are those of the request as it came.
//
// With a server it is a request of an MCP server (sampling) that works on a call of the
// actor, whose model it wants asked. A person decides about it, and so its text is kept.
type GatewayAsked struct {
	// Count says that nothing is generated: the provider is asked how many tokens there
	// are, which costs nothing and is no turn.
	Count bool `json:"count,omitzero"`
	// For is the tool.call that the server works on.
	For  uint64 `json:"for,omitzero"`
	Hash Hash   `json:"hash"`
	// ID tells the agent's requests apart.
	ID string `json:"id"`
	// Model is the name as the agent wrote it.
	Model string `json:"model"`
	// Most is what the request can use at most: no text has more tokens than bytes, and no
	// answer more than its limit. It is what a request is charged of which no usage comes.
	Most Usage `json:"most"`
	// Path is that of the provider's format, such as /v1/messages.
	Path string `json:"path"`
	// Server is the MCP server that asks, empty for the agent itself.
	Server string `json:"server,omitzero"`
	Size   int64  `json:"size"`
	// Text is what a server wants the model told, a stranger's words. If it is only the
	// beginning, all of it is in Whole.
	Text  string `json:"text,omitzero"`
	Whole *Ref   `json:"whole,omitzero"`
	// Wire is the format: anthropic, chat, responses or gemini; mcp of a server's.
	Wire string `json:"wire"`
}

// GatewayCall says that a request has passed the gate and goes out, with the key that
// never enters the computer. It goes out once: one that is cut off by a crash is charged,
// and never sent again by Lyceum.
type GatewayCall struct {
	// Asked is the gateway.asked.
	Asked uint64 `json:"asked"`
	// Count says that nothing is generated: it is no turn.
	Count bool   `json:"count,omitzero"`
	ID    string `json:"id"`
	// Model is the quest's, whatever the agent called it.
	Model string `json:"model"`
}

// GatewayResult says what came of a request. It is durable before the agent has the end of
// its answer, and so before its next request.
type GatewayResult struct {
	Call uint64 `json:"call"`
	// Cost in nanodollars, by the price at the time of the call.
	Cost     int64 `json:"cost,omitzero"`
	Duration int64 `json:"duration,omitzero"`
	// Error is why there is no whole answer, if there is none.
	Error string `json:"error,omitzero"`
	// Estimated says that the provider did not tell what was used (the answer was cut off,
	// or cancelled), so that Usage and Cost are an upper bound.
	Estimated bool `json:"estimated,omitzero"`
	// Hash and Size are those of the answer, as far as it came.
	Hash Hash `json:"hash,omitzero"`
	// Price is what the tokens cost when the call was made.
	Price *Price `json:"price,omitzero"`
	// Request is what the provider calls the request by, in its own logs, if it said so.
	Request string `json:"request,omitzero"`
	Size    int64  `json:"size,omitzero"`
	// Status is that of HTTP, 0 if there was no answer.
	Status int64 `json:"status,omitzero"`
	// Unpriced says that the model has no known price, and Cost means nothing.
	Unpriced bool  `json:"unpriced,omitzero"`
	Usage    Usage `json:"usage"`
}

// GatewaySpec is what an outside agent may ask of the model gateway, besides its own model.
type GatewaySpec struct {
	// Any lets any name that is none of these models mean the agent's own: outside agents
	// make side requests, for titles and the like, to models of their makers' choice.
	Any bool `json:"any,omitzero"`
	// Models are others that it may ask for by their names.
	Models []string `json:"models,omitempty"`
	// Tools are types of the providers' own tools and of content that lead out of the
	// sandbox, such as web_search_20250305, and are let pass all the same.
	Tools []string `json:"tools,omitempty"`
}

// The formats that the gateway speaks.
const (
	WireAnthropic = "anthropic"
	WireChat      = "chat"
	WireResponses = "responses"
	WireGemini    = "gemini"
	// WireMCP is that of MCP servers that have a model asked, by no gateway.
	WireMCP = "mcp"
)

// Type implements Body.
func (*GatewayAsked) Type() Type { return "gateway.asked" }

// Type implements Body.
func (*GatewayCall) Type() Type { return "gateway.call" }

// Type implements Body.
func (*GatewayResult) Type() Type { return "gateway.result" }

// Answers implements Result.
func (b *GatewayResult) Answers() uint64 { return b.Call }

// Took implements Timed.
func (b *GatewayResult) Took() int64 { return b.Duration }
