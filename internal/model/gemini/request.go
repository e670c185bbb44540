package gemini

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"

	"github.com/go-json-experiment/json/jsontext"
)

// request is the body of a request.
type request struct {
	System   *content         `json:"systemInstruction,omitzero"`
	Contents []content        `json:"contents"`
	Tools    []declarations   `json:"tools,omitempty"`
	Config   generationConfig `json:"generationConfig,omitzero"`
}

type content struct {
	Role  string `json:"role,omitzero"`
	Parts []part `json:"parts"`
	first int    // the number of the message that it begins with
}

// part is a piece of a content. It has one of text, data, call and result; text
// may be empty where there is a signature.
type part struct {
	Text      *string `json:"text,omitzero"`
	Thought   bool    `json:"thought,omitzero"`
	Signature string  `json:"thoughtSignature,omitzero"`
	Data      *blob   `json:"inlineData,omitzero"`
	Call      *call   `json:"functionCall,omitzero"`
	Result    *result `json:"functionResponse,omitzero"`
}

type blob struct {
	Media string `json:"mimeType"`
	Data  []byte `json:"data"`
}

type call struct {
	ID   string         `json:"id,omitzero"`
	Name string         `json:"name"`
	Args jsontext.Value `json:"args,omitzero"`
}

type result struct {
	ID       string `json:"id,omitzero"`
	Name     string `json:"name"`
	Response output `json:"response"`
	// Parts are pictures, which Gemini 3 and later take here.
	Parts []picture `json:"parts,omitempty"`
}

type picture struct {
	Data *blob `json:"inlineData"`
}

// output is what a tool put out, or what went wrong with it.
type output struct {
	Output *string `json:"output,omitzero"`
	Error  *string `json:"error,omitzero"`
}

type declarations struct {
	Functions []function `json:"functionDeclarations"`
}

type function struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Schema      jsontext.Value `json:"parametersJsonSchema,omitzero"`
}

type generationConfig struct {
	MaxTokens int64           `json:"maxOutputTokens,omitzero"`
	Thinking  *thinkingConfig `json:"thinkingConfig,omitzero"`
}

type thinkingConfig struct {
	Include bool   `json:"includeThoughts,omitzero"`
	Budget  *int64 `json:"thinkingBudget,omitzero"`
	Level   string `json:"thinkingLevel,omitzero"`
}

// The roles of contents.
const (
	roleUser  = "user"
	roleModel = "model"
)

// bare is a request without its contents.
func (m *Model) bare(r *model.Request) *request {
	out := &request{
		Config: generationConfig{MaxTokens: cmp.Or(r.MaxTokens, m.opts.MaxTokens), Thinking: m.thinking(r)},
	}
	if r.System != "" {
		out.System = &content{Parts: []part{{Text: new(r.System)}}}
	}
	if len(r.Tools) > 0 {
		var list declarations
		for _, t := range r.Tools {
			list.Functions = append(list.Functions, function{Name: t.Name, Description: t.Description, Schema: jsontext.Value(t.Shown())})
		}
		out.Tools = []declarations{list}
	}
	return out
}

// thinking says how a model should think. Most models think whether one wants it
// or not, and refuse to be told otherwise; those that need not are told.
func (m *Model) thinking(r *model.Request) *thinkingConfig {
	switch {
	case r.Thinking && r.Effort != "" && wantsSignatures(r.Model):
		return &thinkingConfig{Include: true, Level: level(r)}
	case r.Thinking && r.Effort != "":
		return &thinkingConfig{Include: true, Budget: new(min(r.Effort.Tokens(), maxBudget))}
	case r.Thinking:
		return &thinkingConfig{Include: true, Budget: m.opts.ThinkingBudget}
	case strings.HasPrefix(r.Model, "gemini-2.5-flash"):
		return &thinkingConfig{Budget: new(int64(0))}
	}
	return nil
}

// maxBudget is what all models before Gemini 3 that think take for a budget.
const maxBudget = 24576

// level is how Gemini 3 and later are told how much to think. The first of the pro models
// knows no medium.
func level(r *model.Request) string {
	word := r.Effort.Word()
	if word == "medium" && strings.HasPrefix(r.Model, "gemini-3-pro") {
		return "high"
	}
	return word
}

// contents turns messages behind those of before into what the API takes for a conversation: nothing
// empty, neighbours of the same role joined, and the results of calls in front, in
// the order of the calls.
func (m *Model) contents(r *model.Request, before *past) []content {
	var out []content
	names := named{before.names, map[string]string{}}
	for i, message := range r.Messages {
		role := roleUser
		if message.Role == model.Assistant {
			role = roleModel
		}
		var parts []part
		for _, p := range message.Parts {
			if w, ok := m.part(p, names); ok {
				parts = append(parts, w)
				parts = append(parts, pictures(p, w.Result, r.Model)...)
			}
		}
		switch last := len(out) - 1; {
		case len(parts) == 0:
		case last >= 0 && out[last].Role == role:
			out[last].Parts = append(out[last].Parts, parts...)
		default:
			out = append(out, content{Role: role, Parts: parts, first: i})
		}
	}
	asked := before.asked
	for i := range out {
		if out[i].Role == roleUser && asked != nil {
			order(out[i].Parts, asked)
		}
		asked = places(out[i].Parts)
		if out[i].Role == roleModel && wantsSignatures(r.Model) {
			standIn(out[i].Parts)
		}
	}
	return out
}

// part turns a part of a message into the API's; false if it has nothing to say
// there. Thoughts that Gemini has not signed are of no use to it, and may be
// another model's.
func (m *Model) part(p model.Part, names named) (part, bool) {
	out := part{}
	if sig, ok := model.Own(m.opts.Provider, p.Opaque); ok {
		out.Signature = sig
	}
	switch p.Kind {
	case event.PartText:
		out.Text = new(p.Text)
		return out, p.Text != "" || out.Signature != ""
	case event.PartThinking:
		out.Text, out.Thought = new(p.Text), true
		return out, out.Signature != ""
	case event.PartToolCall:
		names.fresh[p.ID] = p.Name
		out.Call = &call{ID: p.ID, Name: nameOf(p.Name), Args: object(p.Args)}
		return out, true
	case model.PartToolResult:
		name, ok := names.of(p.ID)
		if !ok {
			name = p.Name
		}
		said := output{Output: new(p.Text)}
		if p.Error {
			said = output{Error: said.Output}
		}
		return part{Result: &result{ID: p.ID, Name: nameOf(name), Response: said}}, true
	case model.PartImage:
		return shown(p), len(p.Data) > 0
	}
	return part{}, false
}

// shown is a picture, or a word in its place: Gemini does not take GIF.
func shown(p model.Part) part {
	if p.Media == "image/gif" {
		return part{Text: new(model.Unseen)}
	}
	return part{Data: &blob{Media: p.Media, Data: p.Data}}
}

// pictures puts those that came with a result into it, or, for models before Gemini 3,
// behind the results, where order moves them.
func pictures(p model.Part, into *result, name string) (behind []part) {
	if into == nil || len(p.Pictures) == 0 {
		return nil
	}
	for _, x := range p.Pictures {
		w := shown(x)
		if w.Data != nil && wantsSignatures(name) {
			into.Parts = append(into.Parts, picture{w.Data})
			continue
		}
		behind = append(behind, w)
	}
	if len(behind) > 0 {
		behind = slices.Insert(behind, 0, part{Text: new("Pictures that came with the result of " + into.Name + ":")})
	}
	return behind
}

// places are where the calls of a content stand, by their ids.
func places(asked []part) map[string]int {
	place := map[string]int{}
	for i, p := range asked {
		if p.Call != nil {
			place[p.Call.ID] = i
		}
	}
	return place
}

// order puts results first, as their calls are ordered.
func order(parts []part, place map[string]int) {
	at := func(p part) int {
		if p.Result == nil {
			return math.MaxInt
		}
		return place[p.Result.ID]
	}
	slices.SortStableFunc(parts, func(a, b part) int { return cmp.Compare(at(a), at(b)) })
}

// noSignature is what Google documents for calls that another model made: it takes
// the place of the signature that Gemini 3 and later refuse to be without.
const noSignature = "skip_thought_signature_validator"

// wantsSignatures reports whether a model refuses calls without a signature.
func wantsSignatures(name string) bool {
	version, ok := strings.CutPrefix(name, "gemini-")
	return ok && !strings.HasPrefix(version, "1") && !strings.HasPrefix(version, "2")
}

// standIn puts a signature on the first call of a turn if it has none; only that
// one must have it.
func standIn(parts []part) {
	for i := range parts {
		if parts[i].Call != nil {
			parts[i].Signature = cmp.Or(parts[i].Signature, noSignature)
			return
		}
	}
}

// object makes an object of arguments that may be anything.
func object(args string) jsontext.Value {
	v := jsontext.Value(args)
	switch {
	case strings.TrimSpace(args) == "":
		return jsontext.Value("{}")
	case !v.IsValid():
		v, _ = jsontext.AppendQuote(nil, strings.ToValidUTF8(args, "\uFFFD"))
	case v.Kind() == '{':
		return v
	}
	return slices.Concat(jsontext.Value(`{"arguments":`), v, jsontext.Value("}"))
}

// nameOf makes a name of a function that the API takes, out of one that a model
// made up.
func nameOf(name string) string {
	name = strings.Map(func(c rune) rune {
		if c == '_' || c == '.' || c == ':' || c == '-' || '0' <= c && c <= '9' || letter(c) {
			return c
		}
		return '_'
	}, name)
	if name == "" || name[0] != '_' && !letter(rune(name[0])) {
		name = "_" + name
	}
	return name[:min(len(name), 128)]
}

func letter(c rune) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }
