package runtime

import (
	"context"
	"fmt"
	"strings"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/media"
)

// Attach stores the files of a person's message, and returns what the message says of
// them. They are durable when it returns: the message may wait in an inbox for long, and
// an inbox holds no blobs. Files that are too many or too large are refused.
func (r *Runtime) Attach(ctx context.Context, files []media.File) ([]event.Attachment, error) {
	if len(files) > media.MaxFiles {
		return nil, BadPlan("a message has at most %d files; this one has %d", media.MaxFiles, len(files))
	}
	for _, f := range files {
		if len(f.Data) > media.MaxFile {
			return nil, BadPlan("a file of a message has at most %d MiB; %.80q has %d bytes", media.MaxFile>>20, media.Name(f.Name), len(f.Data))
		}
	}
	var out []event.Attachment
	for _, f := range files {
		data, a := r.attachment(f)
		if _, err := r.Blobs.Put(ctx, data); err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// attachment is what an event says of a file, and the bytes that it means: those of the
// file, without secrets.
func (r *Runtime) attachment(f media.File) ([]byte, event.Attachment) {
	data := []byte(r.Redact(string(f.Data)))
	return data, event.Attachment{Media: media.Sniff(data), Name: AtMost(r.Redact(media.Name(f.Name)), media.MaxName), Ref: event.RefOf(data)}
}

// attach stores the files that a tool gave. Those that are too many or too large, or
// would fill more than half of the agent's window, are left out; note says so.
func (t *texts) attach(ctx context.Context, files []media.File, window int64) (out []event.Attachment, note string, err error) {
	size, room := 0, window/2
	for _, f := range files {
		data, a := t.rt.attachment(f)
		tokens := agent.Weigh(a)
		if len(out) == media.MaxFiles || size+len(data) > media.MaxBytes || tokens > room {
			note += "\n(left out: " + media.Line(a.Name, a.Media, a.Ref.Size) + ")"
			continue
		}
		if _, err := t.put(ctx, data); err != nil {
			return nil, "", err
		}
		size, room = size+len(data), room-tokens
		out = append(out, a)
	}
	if list := strings.Split(note, "\n"); len(list) > media.MaxFiles+1 {
		note = strings.Join(list[:media.MaxFiles+1], "\n") + fmt.Sprintf("\n(and %d more)", len(list)-media.MaxFiles-1)
	}
	return out, note, nil
}
