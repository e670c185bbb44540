package plain

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
)

// MaxToolName is how long a name may be that models call a tool by.
const MaxToolName = 64

var callable = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// ToolName is what agents call a stranger's tool: <owner>__<tool>. A name that is too long or
// has other letters than models can write is shortened, with a hash of all of it, so that it
// stands for no other.
func ToolName(owner, tool string) string {
	name := owner + "__" + tool
	if callable.MatchString(tool) && len(name) <= MaxToolName {
		return name
	}
	sum := sha256.Sum256([]byte(tool))
	tail := "_" + hex.EncodeToString(sum[:])[:10]
	head := []byte(name)
	for i, c := range head {
		if !callable.Match([]byte{c}) {
			head[i] = '_'
		}
	}
	return string(head[:min(len(head), MaxToolName-len(tail))]) + tail
}
