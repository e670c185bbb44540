package executor

import (
	"bytes"
	"encoding/base64"
	"encoding/json"

	"lyceum/internal/acp/wire"
	"lyceum/internal/event"
)

// shown is one of those that a prompt is made of.
type shown struct {
	Type  string  `json:"type"`
	Text  *string `json:"text,omitempty"`
	Media string  `json:"mimeType,omitempty"`
	Data  *string `json:"data,omitempty"`
	URI   string  `json:"uri,omitempty"`
}

// blocks are a prompt as the protocol has it: the text, then the pictures that it names.
func blocks(p Prompt) []shown {
	out := []shown{{Type: "text", Text: &p.Text}}
	for _, x := range p.Pictures {
		out = append(out, shown{Type: "image", Media: x.Media, Data: new(base64.StdEncoding.EncodeToString(x.Data))})
	}
	return out
}

// bare is a line that was sent as it is recorded: where a picture stood is its hash. The bytes
// are among the quest's blobs, and need not be kept twice.
func bare(line []byte) []byte {
	if !bytes.Contains(line, []byte(`"image"`)) {
		return line
	}
	var params struct {
		Prompt  []shown `json:"prompt"`
		Session string  `json:"sessionId"`
	}
	m := wire.Parse(line)
	if m.Method != methodPrompt || json.Unmarshal(m.Params, &params) != nil {
		return line
	}
	for i, b := range params.Prompt {
		if b.Type != "image" || b.Data == nil {
			continue
		}
		data, err := base64.StdEncoding.DecodeString(*b.Data)
		if err != nil {
			return line
		}
		params.Prompt[i].Data, params.Prompt[i].URI = new(""), "sha256:"+event.HashOf(data).String()
	}
	encoded, err := wire.Encode(params)
	if err != nil {
		return line
	}
	return mustLine(wire.Outgoing{ID: m.ID, Method: m.Method, Params: encoded})
}
