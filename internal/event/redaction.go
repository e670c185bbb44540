package event

import "reflect"

// BlobRedacted says that a person has had blobs taken out of the store: a secret that leaked, or somebody's data. Their
// hashes stay wherever events name them, so that all else can still be verified.
type BlobRedacted struct {
	Blobs []Hash `json:"blobs"`
	// By is who had it done, as that person said; empty for the owner.
	By  string `json:"by,omitzero"`
	Why string `json:"why"`
}

// Type implements Body.
func (*BlobRedacted) Type() Type { return "blob.redacted" }

// Redacted is what is shown in the place of a text that was redacted.
const Redacted = "[redacted]"

// Passages are the blobs of a body that only people and agents read: long texts, what is attached, outputs of commands.
// Nothing is derived from what is in them, so they can be redacted.
func Passages(b Body) (out []Ref) {
	walk(reflect.ValueOf(b), func(part any) bool {
		var ref *Ref
		switch x := part.(type) {
		case Text:
			ref = x.Ref
		case Attachment:
			ref = &x.Ref
		case CommandOutput:
			ref = x.Ref
		default:
			return true
		}
		if ref != nil {
			out = append(out, *ref)
		}
		return false
	})
	return out
}
