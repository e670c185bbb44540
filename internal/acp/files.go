package acp

import (
	"path/filepath"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/workspace"

	sdk "github.com/coder/acp-go-sdk"
)

// How much of what a call changed is shown.
const (
	maxDiffs     = 20
	maxDiffBytes = 512 << 10
	// maxOpen is how many calls with changes wait for their results.
	maxOpen = 20
)

// place is where a reader has a file of a home, empty if that is nowhere. The path is an
// agent's.
func (t *translator) place(name string) string {
	at, err := workspace.Path(name)
	if err != nil || t.folder == "" || at == "." || len(at) > 4096 || !filepath.IsLocal(filepath.FromSlash(at)) {
		return ""
	}
	return filepath.Join(t.folder, filepath.FromSlash(at))
}

// named is the file that the arguments of a tool name.
func (t *translator) named(input any) []sdk.ToolCallLocation {
	args, _ := input.(map[string]any)
	name, _ := args["path"].(string)
	if at := t.place(name); name != "" && at != "" {
		return []sdk.ToolCallLocation{{Path: at}}
	}
	return nil
}

// changed is what a call has changed, as far as it is text. It is said again with the call's
// result, which takes the place of what was said before.
func (t *translator) changed(b *event.FileDiff) []sdk.SessionUpdate {
	differ, ok := t.reader.(Differ)
	if !ok || t.folder == "" || b.Call == 0 || len(t.diffs) >= maxOpen {
		return nil
	}
	e, err := t.reader.Event(t.ctx, b.Call)
	call, ok := e.Body.(*event.ToolCall)
	if err != nil || !ok {
		return nil
	}
	var where []sdk.ToolCallLocation
	var diffs []sdk.ToolCallContent
	room := maxDiffBytes
	for _, c := range b.Changes {
		at := t.place(c.Path)
		if at == "" || strings.HasSuffix(c.Path, "/") || len(where) == maxDiffs {
			continue
		}
		where = append(where, sdk.ToolCallLocation{Path: at})
		var before, after string
		had, has := false, false
		if b.Before != nil && c.Kind != event.Added {
			before, had = differ.File(t.ctx, *b.Before, c.Path)
		}
		if c.Kind != event.Removed {
			after, has = differ.File(t.ctx, b.After, c.Path)
		}
		// Half a difference would be another one.
		if had != (c.Kind != event.Added) || has != (c.Kind != event.Removed) || len(before)+len(after) > room {
			continue
		}
		room -= len(before) + len(after)
		diffs = append(diffs, Diff(at, before, after, had))
	}
	if len(where) == 0 {
		return nil
	}
	t.diffs[b.Call] = diffs
	options := []sdk.ToolCallUpdateOpt{sdk.WithUpdateLocations(where)}
	if len(diffs) > 0 {
		options = append(options, sdk.WithUpdateContent(diffs))
	}
	return []sdk.SessionUpdate{sdk.UpdateToolCall(ToolID(call.Answer, call.Part), options...)}
}

// Diff is what became of a file; had is false for a new one.
func Diff(at, before, after string, had bool) sdk.ToolCallContent {
	if !had {
		return sdk.ToolDiffContent(at, after)
	}
	return sdk.ToolDiffContent(at, after, before)
}

// withDiffs has an outcome show what was changed, too.
func withDiffs(u sdk.SessionUpdate, diffs []sdk.ToolCallContent) sdk.SessionUpdate {
	if len(diffs) > 0 {
		u.ToolCallUpdate.Content = append(append([]sdk.ToolCallContent{}, diffs...), u.ToolCallUpdate.Content...)
	}
	return u
}
