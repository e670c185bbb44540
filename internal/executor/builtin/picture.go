package builtin

import (
	"encoding/base64"
	"slices"

	"lyceum/internal/acp"
	"lyceum/internal/event"
	"lyceum/internal/media"
	"lyceum/internal/model"
)

// picture came with a prompt.
type picture struct {
	Media string `json:"media"`
	Data  []byte `json:"data"`
}

// pictureSize is what a picture counts for among the bytes of a conversation: as many as the
// text that costs as much.
const pictureSize = 4 * media.PictureTokens

// droppedPicture stands in place of one that is not shown any more.
const droppedPicture = "(A picture was dropped here to make room.)"

// readPicture takes a picture of a prompt. What it is is told by its bytes alone.
func readPicture(data string) (picture, error) {
	bytes, err := base64.StdEncoding.DecodeString(data)
	kind := media.Sniff(bytes)
	if err != nil || !media.Showable(kind, int64(len(bytes))) {
		return picture{}, acp.Errorf(acp.InvalidParams, "prompt: an image must be a whole PNG, JPEG, GIF or WebP in base64, of at most %d bytes", media.MaxPicture)
	}
	return picture{kind, bytes}, nil
}

// pictures are those of a line as the model is shown them, or what stands in their place.
func (w window) pictures(i int, l *line) (out []model.Part) {
	for _, p := range l.Pictures {
		if i < w.Results {
			out = append(out, model.Part{Kind: event.PartText, Text: droppedPicture})
			continue
		}
		out = append(out, model.Part{Kind: model.PartImage, Media: p.Media, Data: p.Data})
	}
	return out
}

// bounded leaves the newest pictures, as many as one request may have.
func bounded(messages []model.Message) []model.Message {
	var sizes []int
	model.EachPicture(messages, func(p *model.Part) string { sizes = append(sizes, len(p.Data)); return "" })
	from, bytes := len(sizes), 0
	for from > 0 && len(sizes)-from < media.MaxShown && bytes+sizes[from-1] <= media.MaxShownBytes {
		from--
		bytes += sizes[from]
	}
	if from == 0 {
		return messages
	}
	n := 0
	return model.EachPicture(messages, func(*model.Part) string {
		if n++; n <= from {
			return droppedPicture
		}
		return ""
	})
}

// sighted reports whether messages have pictures.
func sighted(messages []model.Message) bool {
	return slices.ContainsFunc(messages, func(m model.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p model.Part) bool { return p.Kind == model.PartImage })
	})
}
