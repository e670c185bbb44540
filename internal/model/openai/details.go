package openai

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// details puts the reasoning_details of a stream together. They are opaque, but
// come in pieces: those of one type and index in a row are one, whose texts follow
// each other and whose other fields come once. What is sealed comes whole.
type details []map[string]any

func (d *details) add(raw jsontext.Value) error {
	var piece map[string]any
	if err := json.Unmarshal(raw, &piece, lenient); err != nil {
		return err
	}
	n := len(*d)
	if n == 0 || place((*d)[n-1]) != place(piece) || piece["type"] == "reasoning.encrypted" {
		*d = append(*d, piece)
		return nil
	}
	last := (*d)[n-1]
	for name, value := range piece {
		was, isText := last[name].(string)
		more, moreText := value.(string)
		switch {
		case value == nil:
		case isText && moreText && (name == "text" || name == "summary"):
			last[name] = was + more
		default:
			last[name] = value
		}
	}
	return nil
}

func place(piece map[string]any) string { return fmt.Sprint(piece["type"], piece["index"]) }

// String is "" if there are none.
func (d details) String() string {
	if len(d) == 0 {
		return ""
	}
	data, err := json.Marshal(d, json.Deterministic(true))
	if err != nil {
		return "" // it was JSON before
	}
	return string(data)
}
