package gateway

import (
	"net/http"

	"lyceum/internal/event"
	"lyceum/internal/model/respond"
)

// spent is the status by which each format says that there is no money left. Clients of
// OpenAI's and Google's formats know no other.
var spent = map[string]int{
	event.WireAnthropic: http.StatusPaymentRequired, event.WireChat: http.StatusTooManyRequests,
	event.WireResponses: http.StatusTooManyRequests, event.WireGemini: http.StatusTooManyRequests,
}

// How each format names what a status means.
var (
	anthropicKinds = map[int]string{
		http.StatusBadRequest: "invalid_request_error", http.StatusUnauthorized: "authentication_error", http.StatusPaymentRequired: "billing_error",
		http.StatusForbidden: "permission_error", http.StatusRequestEntityTooLarge: "request_too_large", http.StatusTooManyRequests: "rate_limit_error",
	}
	openAIKinds = map[int]string{
		http.StatusBadRequest: "invalid_request_error", http.StatusUnauthorized: "authentication_error", http.StatusForbidden: "permission_denied",
		http.StatusRequestEntityTooLarge: "invalid_request_error", http.StatusTooManyRequests: "rate_limit_exceeded",
	}
	geminiKinds = map[int]string{
		http.StatusBadRequest: "INVALID_ARGUMENT", http.StatusUnauthorized: "UNAUTHENTICATED", http.StatusForbidden: "PERMISSION_DENIED",
		http.StatusRequestEntityTooLarge: "INVALID_ARGUMENT", http.StatusTooManyRequests: "RESOURCE_EXHAUSTED", http.StatusServiceUnavailable: "UNAVAILABLE",
	}
)

// fail says in the words of a format why there is no answer.
func fail(w http.ResponseWriter, wire string, status int, text string) {
	fault(w, wire, status, "", text)
}

// overspent says that a limit is reached, so that no client tries again at once.
func overspent(w http.ResponseWriter, wire, text string) {
	w.Header().Set("X-Should-Retry", "false")
	fault(w, wire, spent[wire], "insufficient_quota", text)
}

func fault(w http.ResponseWriter, wire string, status int, code, text string) {
	named := func(kinds map[int]string, other string) string {
		if kind := kinds[status]; kind != "" {
			return kind
		}
		return other
	}
	var body any
	switch wire {
	case event.WireAnthropic:
		body = map[string]any{"type": "error", "error": map[string]any{"type": named(anthropicKinds, "api_error"), "message": text}}
	case event.WireGemini:
		body = map[string]any{"error": map[string]any{"code": status, "message": text, "status": named(geminiKinds, "INTERNAL")}}
	default:
		kind := named(openAIKinds, "server_error")
		if code == "" {
			code = kind
		} else {
			kind = code
		}
		body = map[string]any{"error": map[string]any{"message": text, "type": kind, "param": nil, "code": code}}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(respond.Write(body))
}
