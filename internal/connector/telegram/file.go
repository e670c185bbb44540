package telegram

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"path"
	"strconv"
	"strings"

	"lyceum/internal/connector"
	"lyceum/internal/connector/wire"
	"lyceum/internal/media"
	"lyceum/internal/plain"

	"github.com/go-json-experiment/json/jsontext"
)

// maxTries is how often a file is asked for before its message comes without it.
const maxTries = 3

// style is the HTML that Telegram knows.
var style = wire.Style{
	Escape: func(s string) string { return wire.Angles(quiet(s)) },
	Bold:   [2]string{"<b>", "</b>"}, Code: [2]string{"<code>", "</code>"}, Block: [2]string{"<pre>", "</pre>"}, Break: "\n", Most: 4096,
}

// quiet makes words that would call people by their names none: an agent rings nobody up.
func quiet(s string) string {
	var b strings.Builder
	last := ' '
	for _, r := range s {
		if r == '@' && !letter(last) {
			b.WriteRune('＠')
		} else {
			b.WriteRune(r)
		}
		last = r
	}
	return b.String()
}

func letter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '.' || r == '-' || r == '+'
}

// buttons are the options, one in a row. What a button says when it is pressed is its number.
func buttons(options []string) (rows [][]button) {
	for i, o := range options {
		if o = plain.Brief(o, 60); o != "" && i < 20 {
			rows = append(rows, []button{{Text: o, Data: strconv.Itoa(i)}})
		}
	}
	return rows
}

// files gets what came with a message. A file that does not come, or is too large, is a line of
// the message instead: one must not hold up all that come after it.
func (d *Driver) files(ctx context.Context, in *message, m *connector.Message) error {
	var all []*document
	if n := len(in.Photos); n > 0 {
		in.Photos[n-1].Name = "photo.jpg" // the largest is the last
		all = append(all, &in.Photos[n-1])
	}
	for _, f := range []*document{in.Document, in.Audio, in.Voice, in.Video} {
		if f != nil {
			all = append(all, f)
		}
	}
	for _, f := range all {
		name := media.FileName(f.Name, "file")
		data, err := d.get(ctx, f)
		if err == nil {
			m.Files = append(m.Files, connector.File{Name: name, Type: f.Type, Data: data})
			continue
		}
		_, no := errors.AsType[*connector.Refused](err)
		if d.tries[m.ID]++; ctx.Err() != nil || !no && !errors.Is(err, wire.ErrTooLarge) && d.tries[m.ID] < maxTries {
			return err
		}
		m.Text = strings.TrimSpace(m.Text + "\n" + wire.Omitted(name, err.Error()))
	}
	return nil
}

func (d *Driver) get(ctx context.Context, f *document) ([]byte, error) {
	if f.Size > wire.MaxFile {
		return nil, fmt.Errorf("%d MiB are the most: %w", wire.MaxFile>>20, wire.ErrTooLarge)
	}
	found, err := call[struct {
		Path string `json:"file_path"`
	}](ctx, d, "getFile", map[string]any{"file_id": f.ID}, 0)
	if err != nil {
		return nil, err
	}
	if found.Path == "" || path.Clean("/"+found.Path) != "/"+found.Path || strings.ContainsAny(found.Path, "?#%\\") {
		return nil, &connector.Refused{Reason: "Telegram names no file that can be asked for"}
	}
	base, _, _ := strings.Cut(d.client.Base, "/bot"+d.token)
	return d.client.File(ctx, base+"/file/bot"+d.token+"/"+found.Path, nil, wire.MaxFile)
}

// file sends one.
func (d *Driver) file(ctx context.Context, chat, topic int64, f connector.File) error {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	_ = w.WriteField("chat_id", strconv.FormatInt(chat, 10)) // a buffer takes everything
	if topic != 0 {
		_ = w.WriteField("message_thread_id", strconv.FormatInt(topic, 10))
	}
	part, _ := w.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="document"; filename="` + media.FileName(f.Name, "file") + `"`},
		"Content-Type":        {"application/octet-stream"},
	})
	_, _ = part.Write(f.Data)
	_ = w.Close()
	var out struct {
		Result jsontext.Value `json:"result"`
	}
	return d.client.Call(ctx, http.MethodPost, "/sendDocument", wire.Raw{Type: w.FormDataContentType(), Data: b.Bytes()}, &out, 0)
}
