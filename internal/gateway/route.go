package gateway

import (
	"net/http"
	"regexp"
	"strings"
	"sync"

	"lyceum/internal/event"
	"lyceum/internal/model/respond"
)

// route is what a path asks for.
type route struct {
	// wire is the format; of a path that is none, the likeliest.
	wire string
	// verb is what the provider's path ends with, or list.
	verb string
	// path is that of the format, without what the agent put in it.
	path string
	// model is the name in the path, of Gemini's.
	model string
	// count says that nothing is generated, stream that the path says so.
	count, stream bool
}

const verbList = "list"

// posts are the paths of the formats that have the model in the body.
var posts = map[string]route{
	"/v1/messages":              {wire: event.WireAnthropic, verb: "messages"},
	"/v1/messages/count_tokens": {wire: event.WireAnthropic, verb: "messages/count_tokens", count: true},
	"/v1/chat/completions":      {wire: event.WireChat, verb: "chat/completions"},
	"/chat/completions":         {wire: event.WireChat, verb: "chat/completions"},
	"/v1/responses":             {wire: event.WireResponses, verb: "responses"},
	"/responses":                {wire: event.WireResponses, verb: "responses"},
}

// geminiPath is one of a model. A name that needs an escape is no model's.
var geminiPath = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^/(v1|v1beta|v1alpha)/models/([A-Za-z0-9][A-Za-z0-9._-]{0,127}):([A-Za-z]+)$`)
})

// routeOf finds what is asked for. What was written is what counts: no path is cleaned, and
// nothing but a path is taken, whatever host it names.
func routeOf(r *http.Request) (rt route, known bool) {
	raw, query, _ := strings.Cut(r.RequestURI, "?")
	rt = posts[raw]
	if rt.path = raw; rt.wire == "" {
		rt.wire = likely(raw, r.Header)
	}
	switch {
	case !strings.HasPrefix(raw, "/") || r.URL.Host != "" || r.URL.Opaque != "":
		return rt, false
	case r.Method == http.MethodGet && (raw == "/v1/models" || raw == "/models" || raw == "/v1beta/models"):
		rt.verb = verbList
		return rt, true
	case r.Method != http.MethodPost:
		return rt, false
	case rt.verb != "":
		return rt, true
	}
	m := geminiPath().FindStringSubmatch(raw)
	if m == nil {
		return rt, false
	}
	rt.wire, rt.model, rt.verb, rt.path = event.WireGemini, m[2], m[3], "/"+m[1]+"/models/*:"+m[3]
	switch rt.verb {
	case "countTokens":
		rt.count = true
	case "streamGenerateContent":
		// Without alt=sse it would be an array that never ends.
		rt.stream = true
		return rt, strings.Contains("&"+query+"&", "&alt=sse&")
	case "generateContent":
	default:
		return rt, false
	}
	return rt, true
}

// likely is the format that somebody speaks at a path.
func likely(path string, h http.Header) string {
	switch {
	case strings.HasPrefix(path, "/v1/messages"), h.Get("Anthropic-Version") != "":
		return event.WireAnthropic
	case strings.HasPrefix(path, "/v1beta"), strings.HasPrefix(path, "/v1/models/") && strings.Contains(path, ":"):
		return event.WireGemini
	}
	return event.WireChat
}

// list says which models there are, in the words of the format.
func (h *Handler) list(w http.ResponseWriter, rt route) {
	list := []any{}
	names := h.names()
	var out any
	switch rt.wire {
	case event.WireAnthropic:
		for _, name := range names {
			list = append(list, map[string]any{"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"})
		}
		out = map[string]any{"data": list, "has_more": false, "first_id": names[0], "last_id": names[len(names)-1]}
	case event.WireGemini:
		for _, name := range names {
			list = append(list, map[string]any{
				"name": "models/" + name, "displayName": name, "supportedGenerationMethods": []string{"generateContent", "streamGenerateContent", "countTokens"},
			})
		}
		out = map[string]any{"models": list}
	default:
		for _, name := range names {
			list = append(list, map[string]any{"id": name, "object": "model", "created": 0, "owned_by": "lyceum"})
		}
		out = map[string]any{"object": "list", "data": list}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(respond.Write(out))
}
