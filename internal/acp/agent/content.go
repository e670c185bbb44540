package agent

import (
	"crypto/rand"
	"encoding/base64"
	"maps"
	"slices"
	"strings"

	"lyceum/internal/acp"
	"lyceum/internal/media"
	"lyceum/internal/runtime"

	sdk "github.com/coder/acp-go-sdk"
)

func newKey() string { return rand.Text() }

// said is what a prompt says: a text, and files that go with it.
type said struct {
	text  string
	files []media.File
	// names are files below the session's folder that it links to or has parts of.
	names []string
}

// read takes a prompt apart. Links stay in the text, where the person put them; what is
// embedded becomes a file, for it is not the person's word. What is below the session's folder
// is named from there on, as agents have it: where the folder is on this machine is nobody's
// business.
func read(folder string, blocks []sdk.ContentBlock) (out said, err error) {
	var text strings.Builder
	link := func(name, uri string) {
		if file, part := fileOf(folder, uri); file != "" {
			if uri = file; part != "" {
				uri += "#" + part
			}
			if !slices.Contains(out.names, file) {
				out.names = append(out.names, file)
			}
		}
		text.WriteString("[" + name + "](" + uri + ")")
	}
	add := func(name, data string) error {
		raw, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			return acp.Errorf(acp.InvalidParams, "prompt: a file is no base64: %v", err)
		}
		out.files = append(out.files, media.File{Name: name, Data: raw})
		return nil
	}
	for _, b := range blocks {
		switch {
		case b.Text != nil:
			text.WriteString(b.Text.Text)
		case b.ResourceLink != nil:
			link(b.ResourceLink.Name, b.ResourceLink.Uri)
		case b.Image != nil:
			name := ""
			if b.Image.Uri != nil {
				name = *b.Image.Uri
			}
			err = add(name, b.Image.Data)
		case b.Resource != nil && b.Resource.Resource.TextResourceContents != nil:
			r := b.Resource.Resource.TextResourceContents
			link(media.Name(r.Uri), r.Uri)
			out.files = append(out.files, media.File{Name: r.Uri, Data: []byte(r.Text)})
		case b.Resource != nil && b.Resource.Resource.BlobResourceContents != nil:
			r := b.Resource.Resource.BlobResourceContents
			link(media.Name(r.Uri), r.Uri)
			err = add(r.Uri, r.Blob)
		default:
			err = acp.Errorf(acp.InvalidParams, "prompt: want text, links, embedded resources and pictures")
		}
		if err != nil {
			return out, err
		}
	}
	out.text = strings.ToValidUTF8(strings.TrimSpace(text.String()), "\uFFFD")
	switch {
	case out.text == "" && len(out.files) == 0:
		return out, acp.Errorf(acp.InvalidParams, "prompt: it says nothing")
	case len(out.text) > runtime.MaxSource:
		return out, acp.Errorf(acp.InvalidParams, "prompt: %d bytes of text: want at most %d", len(out.text), runtime.MaxSource)
	}
	return out, nil
}

// maxMessage is how many bytes of text fit into a quest's inbox.
const maxMessage = 8 << 10

// short makes a file of a text that does not fit into an inbox.
func (s said) short() said {
	if len(s.text) <= maxMessage {
		return s
	}
	s.files = append([]media.File{{Name: "message.md", Data: []byte(s.text)}}, s.files...)
	s.text = "My message is in the file message.md."
	return s
}

// attach has files of the session's folder go along, where agents do not have them, or have them
// as they were: as many as a message takes. What the prompt has whole is not there twice.
func (s *said) attach(named map[string][]byte) {
	size := 0
	for _, f := range s.files {
		size += len(f.Data)
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		data := named[name]
		if len(data) == 0 || slices.ContainsFunc(s.files, func(f media.File) bool { return string(f.Data) == string(data) }) {
			continue
		}
		if len(s.files) == media.MaxFiles || size+len(data) > media.MaxBytes {
			return
		}
		size += len(data)
		s.files = append(s.files, media.File{Name: name, Data: data})
	}
}
