package anthropic

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/wire"

	"github.com/google/go-cmp/cmp"
)

const (
	begin  = `{"type":"message_start","message":{"usage":{"input_tokens":10,"cache_read_input_tokens":20,"cache_creation_input_tokens":30,"output_tokens":1}}}`
	close0 = `{"type":"content_block_stop","index":0}`
	finish = `{"type":"message_stop"}`
)

func open0(block string) string {
	return `{"type":"content_block_start","index":0,"content_block":` + block + `}`
}

func add0(delta string) string {
	return `{"type":"content_block_delta","index":0,"delta":` + delta + `}`
}

func reasoned(stop string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + stop + `"},"usage":{"output_tokens":5}}`
}

// hear plays events, and hangs after them if the last is "…".
func hear(t *testing.T, events ...string) (*model.Answer, error) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, e := range events {
			if e == "…" {
				_ = http.NewResponseController(w).Flush()
				_, _ = io.Copy(io.Discard, r.Body)
				<-r.Context().Done()
				return
			}
			_, _ = io.WriteString(w, "data: "+e+"\n\n")
		}
	}))
	defer s.Close()
	m := New(&wire.Client{Provider: "Anthropic", Base: s.URL}, Options{})
	return m.Generate(t.Context(), &model.Request{Model: "claude"}, nil)
}

func TestAnswersAreRead(t *testing.T) {
	t.Parallel()
	used := event.Usage{Input: 60, Cached: 20, CacheWrites: 30, Output: 5}
	for name, c := range map[string]struct {
		events []string
		want   model.Answer
	}{
		"ThatHaveAllInTheBeginning": {
			[]string{begin, open0(`{"type":"text","text":"hi"}`), close0, reasoned("end_turn"), finish},
			model.Answer{Parts: []model.Part{text("hi")}, Stop: model.StopEnd},
		},
		"WithArgumentsInTheBeginning": {
			[]string{begin, open0(`{"type":"tool_use","id":"1","name":"now","input":{"a":1}}`), close0, reasoned("tool_use"), finish},
			model.Answer{Parts: []model.Part{call("1", "now", `{"a":1}`)}, Stop: model.StopTools},
		},
		"WithArgumentsThatWereCutOff": {
			[]string{begin, open0(`{"type":"tool_use","id":"1","name":"now","input":{}}`), add0(`{"type":"input_json_delta","partial_json":"{\"a\":"}`), close0, reasoned("max_tokens"), finish},
			model.Answer{Parts: []model.Part{call("1", "now", `{"a":`)}, Stop: model.StopLength},
		},
		"WithSealedThoughts": {
			[]string{begin, open0(`{"type":"redacted_thinking","data":"abc"}`), close0, reasoned("end_turn"), finish},
			model.Answer{Parts: []model.Part{thought("", "anthropic:redacted:abc")}, Stop: model.StopEnd},
		},
		"WithThoughtsThatAreNotShown": {
			[]string{begin, open0(`{"type":"thinking","thinking":""}`), add0(`{"type":"signature_delta","signature":"sig"}`), close0, reasoned("end_turn"), finish},
			model.Answer{Parts: []model.Part{thought("", "anthropic:sig")}, Stop: model.StopEnd},
		},
		"WithThoughtsNobodySigned": {
			[]string{begin, open0(`{"type":"thinking","thinking":"hm"}`), close0, reasoned("end_turn"), finish},
			model.Answer{Parts: []model.Part{thought("hm", "anthropic:")}, Stop: model.StopEnd},
		},
		"WithoutEmptyBlocks": {
			[]string{begin, open0(`{"type":"text","text":""}`), close0, reasoned("end_turn"), finish},
			model.Answer{Stop: model.StopEnd},
		},
		"WithBlocksFromTheFuture": {
			[]string{begin, open0(`{"type":"dream","dream":{"a":[]}}`), add0(`{"type":"dream_delta","dream":"x"}`), close0, reasoned("end_turn"), finish},
			model.Answer{Stop: model.StopEnd},
		},
		"ThatAreFollowedBySilence": {
			[]string{begin, open0(`{"type":"text","text":"hi"}`), close0, reasoned("end_turn"), finish, "…"},
			model.Answer{Parts: []model.Part{text("hi")}, Stop: model.StopEnd},
		},
		"ThatRanOutOfWindow": {[]string{begin, reasoned("model_context_window_exceeded"), finish}, model.Answer{Stop: model.StopLength}},
		"ThatPaused":         {[]string{begin, reasoned("pause_turn"), finish}, model.Answer{Stop: model.StopEnd}},
		"ThatMetAStop":       {[]string{begin, reasoned("stop_sequence"), finish}, model.Answer{Stop: model.StopEnd}},
		"ThatStoppedSomehow": {[]string{begin, reasoned("mood"), finish}, model.Answer{Stop: model.StopEnd}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := hear(t, c.events...)
			if err != nil {
				t.Fatal(err)
			}
			c.want.Usage = used
			if diff := cmp.Diff(&c.want, got); diff != "" {
				t.Errorf("the answer differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnswersAreRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		output int64 // as far as it was told
		kind   model.Kind
		words  string
		events []string
	}{
		"WithoutABeginning":     {0, model.Unavailable, "message_delta out of place", []string{reasoned("end_turn"), finish}},
		"WithTwoBeginnings":     {1, model.Unavailable, "message_start out of place", []string{begin, begin}},
		"WithoutAnEnd":          {5, model.Unavailable, "ended its answer in the middle", []string{begin, reasoned("end_turn")}},
		"WithoutAReason":        {1, model.Unavailable, "an end without a reason", []string{begin, finish}},
		"WithAnOpenBlock":       {5, model.Unavailable, "an end before that of block 0", []string{begin, open0(`{"type":"text"}`), reasoned("end_turn"), finish}},
		"WithABlockLeftOut":     {1, model.Unavailable, "block 1, where block 0", []string{begin, `{"type":"content_block_start","index":1}`}},
		"WithMoreOfNothing":     {1, model.Unavailable, "block 0, which is not there", []string{begin, add0(`{}`)}},
		"WithMoreOfAClosed":     {1, model.Unavailable, "block 0, which is not there", []string{begin, open0(`{"type":"text"}`), close0, add0(`{}`)}},
		"WithANegativeBlock":    {1, model.Unavailable, "block -1", []string{begin, `{"type":"content_block_stop","index":-1}`}},
		"WithAStrangeError":     {1, model.Unavailable, "in an error", []string{begin, `{"type":"error","error":[]}`}},
		"WithAStrangeBlock":     {1, model.Unavailable, "in content_block_start", []string{begin, open0(`7`)}},
		"ThatAreTooLong":        {1, model.ContextTooLong, "prompt is too long", []string{begin, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 2 > 1"}}`}},
		"ThatAreNotPermitted":   {1, model.Invalid, "permission_error: no", []string{begin, `{"type":"error","error":{"type":"permission_error","message":"no"}}`}},
		"ThatFailInNewWays":     {1, model.Unavailable, "solar_error: flare", []string{begin, `{"type":"error","error":{"type":"solar_error","message":"flare"}}`}},
		"ThatFailByTheirServer": {1, model.Unavailable, "api_error", []string{begin, `{"type":"error","error":{"type":"api_error","message":"x"}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := hear(t, c.events...)
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Kind != c.kind || !strings.Contains(e.Text, c.words) {
				t.Fatalf("error is %v, want %s: %s", err, c.kind, c.words)
			}
			known := event.Usage{Input: 60, Cached: 20, CacheWrites: 30, Output: c.output}
			if c.output == 0 {
				known = event.Usage{} // nothing was told
			}
			if diff := cmp.Diff(known, e.Usage); diff != "" {
				t.Errorf("what it cost is lost:\n%s", diff)
			}
		})
	}
}

func TestFailuresThatMeanTheWindow(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]model.Kind{
		`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 214315 tokens > 200000 maximum"}}`:                                    model.ContextTooLong,
		`{"type":"error","error":{"type":"invalid_request_error","message":"input length and ` + "`max_tokens`" + ` exceed context limit: 188240 + 21333 > 200000"}}`: model.ContextTooLong,
		`{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`:                                                          model.ContextTooLong,
		`{"type":"error","error":{"type":"invalid_request_error","message":"max_tokens: 99999 > 64000"}}`:                                                             "",
		`prompt is too long`: "",
		``:                   "",
	} {
		if got := classify(http.StatusBadRequest, []byte(body)); got != want {
			t.Errorf("%s: got %q, want %q", body, got, want)
		}
	}
}
