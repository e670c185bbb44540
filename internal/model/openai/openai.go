// Package openai speaks the two formats of OpenAI: Responses, and Chat Completions,
// which half the world's servers have taken over.
//
// Both keep nothing on the server: each request holds the whole conversation, and
// the thoughts of reasoning models travel with it, sealed. What a conversation
// holds that a server would refuse for ever (a call nobody answered, a result
// without a call, an id or a name that is too long) is mended on the way out, since
// an agent could not take it back.
//
// An answer is whole, or it is an error. Pieces are only shown.
package openai

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/wire"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Options says what a server is like. The zero value suits OpenAI's own, apart
// from MaxTokensField.
type Options struct {
	// Provider marks the opaque parts of answers.
	Provider string
	// MaxTokens bounds answers whose request does not; 0 leaves it to the server.
	MaxTokens int64
	// Effort is how hard to think when thinking is asked for, such as high; ""
	// leaves it to the server.
	Effort string
	// EffortIn is where the effort of a request goes: "" is reasoning_effort, "reasoning" an
	// object of that name, and "nowhere" for servers that know only of thinking or not.
	EffortIn string
	// Extra is put into each request, Thinking into those that ask for thinking,
	// and Plain into the others. A field stands above the driver's own of that name;
	// nil takes it out.
	Extra, Thinking, Plain map[string]any

	// NoSummary does without summaries of thoughts, which OpenAI gives only to
	// organizations that it has verified. For Responses.
	NoSummary bool

	// The rest is for Chat.

	// MaxTokensField is the name of the limit; "" is max_tokens. OpenAI's own
	// reasoning models want max_completion_tokens.
	MaxTokensField string
	// NoStreamOptions is for servers that refuse stream_options. Without it, most
	// do not tell the usage.
	NoStreamOptions bool
	// ReasoningField is where thoughts are sent back, such as reasoning_content;
	// "" sends none. DeepSeek and Kimi refuse calls that come back without their
	// thoughts, so a call that has none goes with a blank.
	ReasoningField string
	// ShortIDs gives calls ids of nine letters and digits, as Mistral wants them.
	ShortIDs bool
	// AfterTools is what the assistant says between results and a user's words,
	// for servers that want to hear it first, as Mistral does; "" is nothing.
	AfterTools string
	// PlainText joins several texts to one, for servers that read no lists.
	PlainText bool
	// CacheKey names the agent in prompt_cache_key, so that a server can send it
	// where its prefix is cached: OpenAI, Mistral and Kimi know it.
	CacheKey bool
}

// with returns a client that knows what failures of this kind of server mean.
func with(c *wire.Client) *wire.Client {
	own := *c
	if own.Classify == nil {
		own.Classify = classify
	}
	return &own
}

// lenient reads what servers write, which is not always quite JSON.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// body adds what the options say to a request.
func (o *Options) body(r *model.Request, fields map[string]any) map[string]any {
	own := o.Plain
	if r.Thinking {
		own = o.Thinking
	}
	for _, extra := range []map[string]any{o.Extra, own} {
		maps.Copy(fields, extra)
	}
	maps.DeleteFunc(fields, func(_ string, v any) bool { return v == nil })
	return fields
}

// The places of an effort besides the usual one.
const (
	EffortReasoning = "reasoning"
	EffortNowhere   = "nowhere"
)

// effort is the word for how hard to think, "" if it is not said in a word of its own.
func (o *Options) effort(r *model.Request) string {
	if r.Effort == "" || o.EffortIn != "" {
		return o.Effort
	}
	return r.Effort.Word()
}

func (o *Options) maxTokens(r *model.Request) int64 {
	if r.MaxTokens > 0 {
		return r.MaxTokens
	}
	return o.MaxTokens
}

// cacheKey is the same for all requests of an agent. It does not tell its name.
func cacheKey(r *model.Request) string {
	sum := sha256.Sum256([]byte(r.Quest + "\x00" + r.Agent))
	return hex.EncodeToString(sum[:16])
}

// parameters is the schema of a tool. The servers want an object with properties,
// even when there are none.
func parameters(t model.Tool) any {
	t.Schema = t.Shown()
	fields := map[string]jsontext.Value{}
	if t.Schema != "" && json.Unmarshal([]byte(t.Schema), &fields) != nil {
		return jsontext.Value(t.Schema) // the server says what is wrong with it
	}
	if _, ok := fields["properties"]; ok && t.Schema != "" {
		return jsontext.Value(t.Schema)
	}
	fields["properties"] = jsontext.Value("{}")
	if _, ok := fields["type"]; !ok {
		fields["type"] = jsontext.Value(`"object"`)
	}
	return fields
}

func dataURL(p model.Part) string {
	return "data:" + p.Media + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
}

// output is the text of a result. The formats have no mark for one that failed.
func output(p model.Part) string {
	if p.Error {
		return "Error: " + strings.TrimPrefix(p.Text, "error: ") // as most tools begin
	}
	return p.Text
}

// picturesOf stands before the pictures of a result where they cannot stand in it.
func picturesOf(p model.Part) string {
	return "Pictures that came with the result of " + toolName(p.Name) + ":"
}

func arguments(p model.Part) string {
	if p.Args == "" {
		return "{}"
	}
	return p.Args
}

// toolName makes a name that can be sent of one that a model made up.
func toolName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || isAlnum(r) {
			return r
		}
		return '_'
	}, name)
	if name == "" {
		return "unknown"
	}
	return name[:min(len(name), 64)]
}

func isAlnum(r rune) bool {
	return '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
}

// shortID makes an id that every server takes, the same for the same words.
func shortID(words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	text := strconv.FormatUint(binary.BigEndian.Uint64(sum[:8]), 36)
	return ("000000000" + text)[len(text):][:9]
}

// isShortID reports whether id is as Mistral wants it.
func isShortID(id string) bool {
	return len(id) == 9 && strings.IndexFunc(id, func(r rune) bool { return !isAlnum(r) }) < 0
}

// conversation is the messages as the formats want them: the sides take turns, and
// each call is answered in the next message, whose results come first and in the
// order of the calls. Ids that do not fit are made anew, for calls and results
// alike. open are the calls of the turn before the messages.
func conversation(turns []turn, open []call, fits func(id string) bool) []turn {
	for i := range turns {
		t := &turns[i]
		if t.Role == model.Assistant {
			t.calls = calls(t.Parts, fits)
			open = t.calls
			continue
		}
		t.Parts = answers(open, t.Parts)
		open = nil
	}
	if len(open) > 0 {
		turns = append(turns, turn{Message: model.Message{Role: model.User, Parts: answers(open, nil)}})
	}
	return turns
}

// turn is what one side said in a row, from the message of that number on.
type turn struct {
	model.Message
	first int
	calls []call
}

// call is one that waits for its result.
type call struct {
	// id is what the result says, sent what both are sent with.
	id, sent string
}

// calls are those of a message, which gets the ids that fit.
func calls(parts []model.Part, fits func(id string) bool) []call {
	var list []call
	for i := range parts {
		p := &parts[i]
		if p.Kind != event.PartToolCall {
			continue
		}
		c := call{id: p.ID, sent: p.ID}
		if !fits(p.ID) || slices.ContainsFunc(list, func(other call) bool { return other.id == p.ID }) {
			c.sent = shortID(p.ID, strconv.Itoa(len(list)))
		}
		p.ID = c.sent
		list = append(list, c)
	}
	return list
}

// alternate merges what one side said in a row, without what is empty and without
// thoughts that nothing followed. The result shares nothing that is changed with
// the messages.
func alternate(messages []model.Message) []turn {
	var turns []turn
	for i, m := range messages {
		parts := slices.DeleteFunc(slices.Clone(m.Parts), func(p model.Part) bool {
			return p.Kind == event.PartText && p.Text == ""
		})
		if !slices.ContainsFunc(parts, func(p model.Part) bool { return p.Kind != event.PartThinking }) {
			continue
		}
		if n := len(turns); n > 0 && turns[n-1].Role == m.Role {
			turns[n-1].Parts = append(turns[n-1].Parts, parts...)
		} else {
			turns = append(turns, turn{Message: model.Message{Role: m.Role, Parts: parts}, first: i})
		}
	}
	return turns
}

// answers puts the results of calls first. A call without a result is answered, and
// a result without a call is said instead.
func answers(calls []call, parts []model.Part) []model.Part {
	var out []model.Part
	taken := make([]bool, len(parts))
	for _, c := range calls {
		result := model.Part{Kind: model.PartToolResult, Text: "there is no result", Error: true}
		for i, p := range parts {
			if p.Kind == model.PartToolResult && p.ID == c.id && !taken[i] {
				result, taken[i] = p, true
				break
			}
		}
		result.ID = c.sent
		out = append(out, result)
	}
	for i, p := range parts {
		switch {
		case taken[i]:
		case p.Kind == model.PartToolResult:
			out = append(out, model.Part{Kind: event.PartText, Text: "Result of " + toolName(p.Name) + ": " + output(p)})
			out = append(out, p.Pictures...)
		default:
			out = append(out, p)
		}
	}
	return out
}

// identify gives each call of an answer an id of its own, where the server does not.
// The same answer to the same turn gets the same ids.
func identify(parts []model.Part, r *model.Request) {
	seen := make(map[string]bool)
	for i := range parts {
		p := &parts[i]
		if p.Kind != event.PartToolCall {
			continue
		}
		if p.ID == "" || seen[p.ID] {
			p.ID = shortID(r.Quest, r.Agent, strconv.FormatInt(r.Turn, 10), strconv.Itoa(i))
		}
		seen[p.ID] = true
	}
}

// stop says why an answer ended, if nothing ended it early.
func stop(parts []model.Part) string {
	for _, p := range parts {
		if p.Kind == event.PartToolCall {
			return model.StopTools
		}
	}
	return model.StopEnd
}
