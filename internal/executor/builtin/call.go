package builtin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"lyceum/internal/acp"
	"lyceum/internal/plain"
	"lyceum/internal/tool"

	sdk "github.com/coder/acp-go-sdk"
)

// call is one under way, as the client is told of it.
type call struct {
	part part
	// content stands for the text of the result, if there is any.
	content []sdk.ToolCallContent
	// stopped says that the client has ended the prompt in place of an answer.
	stopped bool
}

// hints are what can be shown of a call before its arguments were checked.
type hints struct {
	Path    string `json:"path"`
	Command string `json:"command"`
	Pattern string `json:"pattern"`
}

func hintsOf(args string) (h hints) {
	_ = json.Unmarshal([]byte(args), &h) // what cannot be read is not shown
	return h
}

// maxTitle is how long a title is.
const maxTitle = 200

func title(name, args string) string {
	h := hintsOf(args)
	out := name
	switch name {
	case toolRead:
		out = "Read " + h.Path
	case toolWrite:
		out = "Write " + h.Path
	case toolEdit:
		out = "Edit " + h.Path
	case toolList:
		out = "List " + cmp.Or(h.Path, ".")
	case toolFind:
		out = "Find " + h.Pattern
	case toolSearch:
		out = "Search for " + h.Pattern
	case toolRun:
		out = h.Command
	}
	return cmp.Or(plain.Brief(out, maxTitle), "a call without a name")
}

func kindOf(name string) sdk.ToolKind {
	switch name {
	case toolRead, toolList:
		return sdk.ToolKindRead
	case toolFind, toolSearch:
		return sdk.ToolKindSearch
	case toolWrite, toolEdit:
		return sdk.ToolKindEdit
	case toolRun:
		return sdk.ToolKindExecute
	}
	return sdk.ToolKindOther
}

// The bounds of what a client is shown.
const (
	maxRaw   = 64 << 10
	maxShown = 64 << 10
	maxDiff  = 512 << 10
)

// rawInput is the arguments as a client is told them.
func rawInput(args string) any {
	switch {
	case len(args) <= maxRaw && json.Valid([]byte(args)):
		return json.RawMessage(args)
	case json.Valid([]byte(args)):
		return map[string]any{"path": plain.Cut(hintsOf(args).Path, maxPath), "bytes": len(args)}
	}
	return plain.Cut(strings.ToValidUTF8(args, "\uFFFD"), 1000)
}

func shown(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return plain.Cut(text, maxShown) + "\n(cut)"
}

func (t *turn) locations(p part) []sdk.ToolCallLocation {
	h := hintsOf(p.Args)
	if h.Path == "" {
		return nil
	}
	at, err := t.s.path(h.Path)
	if err != nil {
		return nil
	}
	return []sdk.ToolCallLocation{{Path: at}}
}

// do does a call, whatever it is, and tells the client of it.
func (t *turn) do(ctx context.Context, p part) (text string, failed, stopped bool) {
	t.now = &call{part: p}
	id := sdk.ToolCallId(p.Call)
	if p.Name != toolPlan {
		opts := []sdk.ToolCallStartOpt{sdk.WithStartKind(kindOf(p.Name)), sdk.WithStartStatus(sdk.ToolCallStatusPending), sdk.WithStartRawInput(rawInput(p.Args))}
		if at := t.locations(p); at != nil {
			opts = append(opts, sdk.WithStartLocations(at))
		}
		t.say(t.s.id, sdk.StartToolCall(id, title(p.Name, p.Args), opts...))
	}
	if remote, ok := t.s.remote(p.Name); ok {
		text, failed = remote.call(ctx, p.Args)
	} else {
		res := t.own.Do(ctx, p.Name, tool.Call{ID: p.Call, Args: []byte(p.Args), Home: t.home})
		text, failed = res.Text, res.Error
		if errors.Is(res.Cause, errLacking) {
			text = res.Cause.Error()
		}
	}
	status := sdk.ToolCallStatusCompleted
	if failed {
		status = sdk.ToolCallStatusFailed
	}
	content := t.now.content
	if content == nil || failed {
		content = append(content, sdk.ToolContent(sdk.TextBlock(shown(text))))
	}
	if p.Name != toolPlan {
		t.say(t.s.id, sdk.UpdateToolCall(id, sdk.WithUpdateStatus(status), sdk.WithUpdateContent(content)))
	}
	return text, failed, t.now.stopped
}

// begun tells that a call is under way, and what there is to see of it.
func (t *turn) begun(content ...sdk.ToolCallContent) {
	if content != nil {
		t.now.content = content
	}
	opts := []sdk.ToolCallUpdateOpt{sdk.WithUpdateStatus(sdk.ToolCallStatusInProgress)}
	if t.now.content != nil {
		opts = append(opts, sdk.WithUpdateContent(t.now.content))
	}
	t.say(t.s.id, sdk.UpdateToolCall(sdk.ToolCallId(t.now.part.Call), opts...))
}

// The answers to a request for permission. There is none that holds for more than once.
const (
	allowOnce  = "allow"
	rejectOnce = "reject"
)

// errRefused is told to a model that was not allowed something.
var errRefused = errors.New("this was not allowed. Do not do the same in another way; go on without it, or say what you need and why")

// permit asks whether the call may be done, unless the mode says that it may.
func (t *turn) permit(ctx context.Context) error {
	if t.modeOf(t.s) == ModeAuto {
		return nil
	}
	p := t.now.part
	ask := sdk.RequestPermissionRequest{
		SessionId: sdk.SessionId(t.s.id),
		ToolCall: sdk.ToolCallUpdate{
			ToolCallId: sdk.ToolCallId(p.Call), Title: new(title(p.Name, p.Args)), Kind: new(kindOf(p.Name)), Status: new(sdk.ToolCallStatusPending),
			RawInput: rawInput(p.Args), Locations: t.locations(p), Content: t.now.content,
		},
		Options: []sdk.PermissionOption{
			{OptionId: allowOnce, Kind: sdk.PermissionOptionKindAllowOnce, Name: "Allow"},
			{OptionId: rejectOnce, Kind: sdk.PermissionOptionKindRejectOnce, Name: "Reject"},
		},
	}
	var answer struct {
		Outcome struct {
			Outcome string `json:"outcome"`
			Option  string `json:"optionId"`
		} `json:"outcome"`
	}
	if err := t.ask(ctx, sdk.ClientMethodSessionRequestPermission, ask, &answer); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("nobody could be asked whether this is allowed, so it is not: %w", err)
	}
	switch {
	case answer.Outcome.Outcome == "cancelled":
		t.now.stopped = true
		return errStopped
	case answer.Outcome.Outcome == "selected" && answer.Outcome.Option == allowOnce:
		return nil
	}
	return errRefused
}

// ask asks the client. What it refuses with is a stranger's word, for the model.
func (t *turn) ask(ctx context.Context, method string, params, result any) error {
	err := t.conn.Call(ctx, method, params, result)
	if e, ok := errors.AsType[*acp.Error](err); ok {
		return errors.New(plain.Brief(e.Message, 1000))
	}
	return err
}

// maxPath is how many bytes a path may have.
const maxPath = 4096

// path is the absolute form of a path, which is below the session's folder.
func (s *session) path(text string) (string, error) {
	switch {
	case text == "":
		return "", errors.New("the path is empty")
	case len(text) > maxPath || strings.ContainsRune(text, 0):
		return "", errors.New("the path is too long, or has a NUL character in it")
	}
	at := filepath.Clean(text)
	if !filepath.IsAbs(at) {
		at = filepath.Join(s.cwd, at)
	}
	if s.cwd != "/" && at != s.cwd && !strings.HasPrefix(at, s.cwd+"/") {
		return "", fmt.Errorf("%s is outside the working folder %s, where the file tools do not go", plain.Quoted(text, 200), s.cwd)
	}
	return at, nil
}
