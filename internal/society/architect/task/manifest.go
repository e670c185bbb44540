package task

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/strictyaml"
	"lyceum/internal/workspace"
)

// Bounds of a manifest. All of it stands in an event.
const (
	MaxItems     = 32
	MaxManifest  = 64 << 10
	maxBy        = 100
	maxRef       = 200
	maxWord      = 100
	maxListed    = 8 << 10 // bytes of all words of the items
	checksumSize = 64
)

// Types are what an item of a manifest can be.
var Types = []string{"patch", "workspace_snapshot", "build_output", "test_report", "log_bundle", "doc", "table", "image"}

// Whole is the ref of an item that is no file: all that the executor leaves.
const Whole = "."

// Files are where an executor may leave its manifest, the first that is there counts.
var Files = []string{Own + "/manifest.yaml", Own + "/manifest.yml", Own + "/manifest.json"}

// Manifest is what an executor says it made.
type Manifest struct {
	ID          string `yaml:"manifest_id"`
	Session     string `yaml:"session_id"`
	Generated   string `yaml:"generated_at"`
	Fingerprint string `yaml:"environment_fingerprint"`
	Items       []Item `yaml:"items"`
}

// Item is one thing that was made.
type Item struct {
	Type     string `yaml:"type"`
	Ref      string `yaml:"ref"`
	By       string `yaml:"generated_by"`
	Checksum string `yaml:"checksum,omitempty"`
}

// Encode writes a manifest as YAML.
func (m *Manifest) Encode() []byte { return encode(*m) }

// DecodeManifest reads a manifest, YAML or JSON. Findings say what is wrong with it, in words
// for the executor; with one it counts as not handed in.
func DecodeManifest(data []byte) (*Manifest, []string) {
	if len(data) > MaxManifest {
		return nil, []string{fmt.Sprintf("the manifest has %d bytes, more than %d", len(data), MaxManifest)}
	}
	m := new(Manifest)
	if err := strictyaml.Decode("manifest", data, m); err != nil { // JSON is YAML
		return nil, []string{fmt.Sprintf("the manifest cannot be read: %s. It has manifest_id, session_id, generated_at, environment_fingerprint and items; an item has type, ref, generated_by and checksum", plain.Brief(err.Error(), 300))}
	}
	if len(m.Items) == 0 {
		m.Items = nil
	}
	if findings := m.findings(); len(findings) > 0 {
		return nil, findings
	}
	return m, nil
}

func (m *Manifest) findings() (found []string) {
	say := func(format string, args ...any) { found = append(found, fmt.Sprintf(format, args...)) }
	for _, w := range []struct{ name, value string }{{"manifest_id", m.ID}, {"session_id", m.Session}, {"environment_fingerprint", m.Fingerprint}} {
		if w.value == "" || len(w.value) > maxWord || plain.Controls.In(w.value) {
			say("%s is missing, has more than %d bytes, or characters that cannot be seen", w.name, maxWord)
		}
	}
	if _, err := time.Parse(time.RFC3339, m.Generated); err != nil || len(m.Generated) > maxWord {
		say("generated_at %s is no time such as 2026-01-31T12:00:00Z", plain.Quoted(m.Generated, 40))
	}
	if len(m.Items) > MaxItems {
		say("there are %d items, more than %d: bundle files", len(m.Items), MaxItems)
		return found
	}
	seen, words := map[string]bool{}, 0
	for i, item := range m.Items {
		for _, f := range item.findings() {
			say("item %d, %s: %s", i+1, plain.Quoted(item.Ref, 80), f)
		}
		if key := item.Type + "\x00" + item.Path(""); seen[key] {
			say("item %d, %s: it is there twice", i+1, plain.Quoted(item.Ref, 80))
		} else {
			seen[key] = true
		}
		words += len(item.Ref) + len(item.By)
	}
	if words > maxListed {
		say("ref and generated_by of all items have more than %d bytes: bundle files, or use shorter names", maxListed)
	}
	return found
}

func (i Item) findings() (found []string) {
	if !slices.Contains(Types, i.Type) {
		found = append(found, fmt.Sprintf("type %s is none of %s", plain.Quoted(i.Type, 40), strings.Join(Types, ", ")))
	}
	if i.By == "" || len(i.By) > maxBy || plain.Controls.In(i.By) {
		found = append(found, fmt.Sprintf("generated_by is missing or has more than %d bytes: name the command or tool that made it", maxBy))
	}
	if i.Ref == Whole {
		if i.Type != "workspace_snapshot" && i.Type != "patch" {
			found = append(found, "only a workspace_snapshot or a patch can be all of the folder; name a file")
		}
		if i.Checksum != "" {
			found = append(found, "all of the folder has no checksum: leave it out")
		}
		return found
	}
	if len(i.Ref) > maxRef || strings.Contains(i.Ref, "://") {
		found = append(found, fmt.Sprintf("ref must be the path of a file in your folder, of at most %d bytes", maxRef))
	} else if why := workspace.Odd(strings.TrimPrefix(path.Clean("/"+i.Ref), "/")); why != "" || strings.Contains("/"+i.Ref+"/", "/../") {
		found = append(found, "ref must be the path of a file in your folder, without .git and ..")
	}
	if _, ok := i.Sum(); !ok {
		found = append(found, "checksum must be the SHA-256 of the file, as 64 hexadecimal digits")
	}
	return found
}

// Path is the path of the item's file below the folder that an executor works in; empty for
// one that is no file, or not there.
func (i Item) Path(dir string) string {
	if i.Ref == Whole {
		return ""
	}
	p := i.Ref
	if path.IsAbs(p) {
		below, ok := strings.CutPrefix(path.Clean(p), dir+"/")
		if !ok {
			return ""
		}
		p = below
	}
	return path.Clean(p)
}

// Sum is the checksum as hexadecimal digits.
func (i Item) Sum() (string, bool) {
	sum := strings.ToLower(strings.TrimPrefix(strings.TrimPrefix(i.Checksum, "sha256:"), "SHA256:"))
	return sum, len(sum) == checksumSize && strings.Trim(sum, "0123456789abcdef") == ""
}

// Recorded is the manifest as an event has it, without what was found of it.
func (m *Manifest) Recorded(task string, run int64) *event.ArtifactManifest {
	rec := &event.ArtifactManifest{Fingerprint: m.Fingerprint, Generated: m.Generated, ID: m.ID, Run: run, Session: m.Session, Task: task, Items: []event.ArtifactItem{}}
	for _, i := range m.Items {
		rec.Items = append(rec.Items, event.ArtifactItem{Checksum: i.Checksum, By: i.By, Ref: i.Ref, Type: i.Type})
	}
	return rec
}

// Strange says what in a manifest is not of the run that it was handed in for.
func Strange(m *event.ArtifactManifest, session, fingerprint string) (found []string) {
	if m.Session != session {
		found = append(found, fmt.Sprintf("session_id is %s, and the package says %s", plain.Quoted(m.Session, 80), plain.Quoted(session, 80)))
	}
	if m.Fingerprint != fingerprint {
		found = append(found, fmt.Sprintf("environment_fingerprint is %s, and the package says %s", plain.Quoted(m.Fingerprint, 80), plain.Quoted(fingerprint, 80)))
	}
	return found
}
