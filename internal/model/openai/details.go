package openai

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// details puts the reasoning_details of a stream together. They are opaque, but
// come in pieces: those of one type and index in a row are one, whose texts follow
// each other and whose other fields come once. What is sealed comes whole.
type details struct {
	list []map[string]any
	// growing are the texts of the last one that go on, by the names of their fields.
	growing map[string]*strings.Builder
}

func (d *details) add(raw jsontext.Value) error {
	var piece map[string]any
	if err := json.Unmarshal(raw, &piece, lenient); err != nil {
		return err
	}
	n := len(d.list)
	if n == 0 || place(d.list[n-1]) != place(piece) || piece["type"] == "reasoning.encrypted" {
		d.close()
		d.list = append(d.list, piece)
		return nil
	}
	last := d.list[n-1]
	for name, value := range piece {
		was, isText := last[name].(string)
		more, moreText := value.(string)
		switch {
		case value == nil:
		case isText && moreText && (name == "text" || name == "summary"):
			if d.growing[name] == nil {
				if d.growing == nil {
					d.growing = map[string]*strings.Builder{}
				}
				d.growing[name] = new(strings.Builder)
				d.growing[name].WriteString(was)
			}
			d.growing[name].WriteString(more)
		default:
			last[name] = value
		}
	}
	return nil
}

// close gives the last one the texts that have grown.
func (d *details) close() {
	for name, text := range d.growing {
		d.list[len(d.list)-1][name] = text.String()
	}
	clear(d.growing)
}

func place(piece map[string]any) string { return fmt.Sprint(piece["type"], piece["index"]) }

// String is "" if there are none.
func (d *details) String() string {
	if len(d.list) == 0 {
		return ""
	}
	d.close()
	data, err := json.Marshal(d.list, json.Deterministic(true))
	if err != nil {
		return "" // it was JSON before
	}
	return string(data)
}
