package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"lyceum/internal/model"
	"lyceum/internal/plain"
	"lyceum/internal/tool"

	sdk "github.com/coder/acp-go-sdk"
)

// The names of the tools.
const (
	toolRead   = "read_file"
	toolWrite  = "write_file"
	toolEdit   = "edit_file"
	toolList   = "list_files"
	toolFind   = "find_files"
	toolSearch = "search"
	toolRun    = "run_command"
	toolPlan   = "plan"
)

// errLacking is told to a model that calls a tool which this client has no part in.
var errLacking = errors.New("the program that started you does not offer this")

// tools are the agent's own. Those that the client lacks are among them, and say so.
func (t *turn) tools() []tool.Tool {
	return []tool.Tool{
		t.lacking(t.readFile(), !t.can.read, "it reads no files for you; use "+toolRun+" to look at them"),
		t.lacking(t.writeFile(), !t.can.write, "it writes no files for you; use "+toolRun),
		t.lacking(t.editFile(), !t.can.read || !t.can.write, "it does not both read and write files for you; use "+toolRun),
		t.lacking(t.runCommand(), !t.can.terminal, "it runs no commands for you; work with the file tools"),
		t.looking(tool.ListFiles(), toolList), t.looking(tool.Glob(), toolFind), t.looking(tool.Grep(), toolSearch),
		t.makePlan(),
	}
}

func (t *turn) lacking(x tool.Tool, lacks bool, why string) tool.Tool {
	if lacks {
		x.Run = func(context.Context, tool.Call) (string, error) { return "", fmt.Errorf("%w: %s", errLacking, why) }
	}
	return x
}

// lacks are the names of the tools that this client has no part in.
func (c client) lacks() (out []string) {
	for name, has := range map[string]bool{toolRead: c.read, toolWrite: c.write, toolEdit: c.read && c.write, toolRun: c.terminal} {
		if !has {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// offered are the tools that the model is told of.
func (t *turn) offered() (out []model.Tool) {
	lacks := t.can.lacks()
	for _, name := range t.own.Names() {
		if x, _ := t.own.Lookup(name); !slices.Contains(lacks, name) {
			out = append(out, x.Tool)
		}
	}
	for _, x := range t.s.remotes() {
		out = append(out, x.Tool)
	}
	return out
}

// looking is a tool of Lyceum's that only looks at files, for the session's folder.
func (t *turn) looking(x tool.Tool, name string) tool.Tool {
	x.Name = name
	run := x.Run
	x.Run = func(ctx context.Context, c tool.Call) (string, error) {
		if c.Home == nil {
			return "", fmt.Errorf("the working folder %s cannot be opened", t.s.cwd)
		}
		var err error
		if c.Args, err = t.relative(c.Args); err != nil {
			return "", err
		}
		return run(ctx, c)
	}
	return x
}

// relative has the path of arguments begin at the session's folder.
func (t *turn) relative(args []byte) ([]byte, error) {
	var given map[string]any
	if err := json.Unmarshal(args, &given); err != nil {
		return nil, err
	}
	text, ok := given["path"].(string)
	if !ok {
		return args, nil
	}
	at, err := t.s.path(text)
	if err != nil {
		return nil, err
	}
	if given["path"], err = filepath.Rel(t.s.cwd, at); err != nil {
		return nil, err
	}
	return json.Marshal(given)
}

// The bounds of the file tools.
const (
	readLines = 2000
	maxRead   = 128 << 10
	maxWrite  = 2 << 20
	maxEdited = 4 << 20
)

func (t *turn) readFile() tool.Tool {
	return tool.Tool{
		Tool: model.Tool{
			Name:        toolRead,
			Description: fmt.Sprintf("Reads a text file: at most %d lines at a time, from the first or from the line that you give.", readLines),
			Schema: `{"type":"object","properties":{` +
				`"path":{"type":"string","description":"The file, from the working folder on."},` +
				`"line":{"type":"integer","minimum":1,"description":"The line to begin with; 1 if left out."},` +
				fmt.Sprintf(`"limit":{"type":"integer","minimum":1,"maximum":%d,"description":"How many lines; %d if left out."}`, readLines, readLines) +
				`},"required":["path"],"additionalProperties":false}`,
		},
		Run: func(ctx context.Context, c tool.Call) (string, error) {
			args := struct {
				Path  string  `json:"path"`
				Line  float64 `json:"line"`
				Limit float64 `json:"limit"`
			}{Line: 1, Limit: readLines}
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return "", err
			}
			at, err := t.s.path(args.Path)
			if err != nil {
				return "", err
			}
			from, most := int(min(args.Line, 1e9)), int(args.Limit)
			text, err := t.read(ctx, at, &from, &most)
			if err != nil {
				return "", err
			}
			return excerpt(text, from, most), nil
		},
	}
}

// excerpt bounds what was read, and says how to read on.
func excerpt(text string, from, most int) string {
	if text == "" {
		return fmt.Sprintf("(there is nothing from line %d on)", from)
	}
	lines := strings.SplitAfter(text, "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	var out strings.Builder
	n := 0
	for n < len(lines) && n < most && out.Len()+len(lines[n]) <= maxRead {
		out.WriteString(lines[n])
		n++
	}
	switch {
	case n == 0:
		return plain.Cut(lines[0], maxRead) + fmt.Sprintf("\n(line %d is longer than this, and cut)", from)
	case n < len(lines) || n == most:
		return out.String() + fmt.Sprintf("\n(this ends with line %d, and there may be more: read on with line %d)", from+n-1, from+n)
	}
	return out.String()
}

// read has the client read a file: all of it, or some lines.
func (t *turn) read(ctx context.Context, path string, from, most *int) (string, error) {
	var out struct {
		Content string `json:"content"`
	}
	err := t.ask(ctx, sdk.ClientMethodFsReadTextFile, sdk.ReadTextFileRequest{SessionId: sdk.SessionId(t.s.id), Path: path, Line: from, Limit: most}, &out)
	return out.Content, err
}

func (t *turn) writeFile() tool.Tool {
	return tool.Tool{
		Tool: model.Tool{
			Name:        toolWrite,
			Description: "Writes a text file, new or in place of the one that is there. To change a part of a file, edit_file is better.",
			Schema: `{"type":"object","properties":{` +
				`"path":{"type":"string","description":"The file, from the working folder on. Folders are made as needed."},` +
				`"content":{"type":"string","description":"All that is to be in the file."}` +
				`},"required":["path","content"],"additionalProperties":false}`,
		},
		Run: func(ctx context.Context, c tool.Call) (string, error) {
			var args struct{ Path, Content string }
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return "", err
			}
			at, err := t.s.path(args.Path)
			if err != nil {
				return "", err
			}
			var old *string
			if t.can.read {
				// A file that cannot be read is taken for one that is not there: only what the
				// client shows depends on it.
				if text, err := t.read(ctx, at, nil, nil); err == nil {
					old = &text
				}
			}
			if err := t.write(ctx, at, old, args.Content); err != nil {
				return "", err
			}
			if old == nil {
				return fmt.Sprintf("wrote %s (%d bytes)", args.Path, len(args.Content)), nil
			}
			return fmt.Sprintf("wrote %s anew (%d bytes, and %d before)", args.Path, len(args.Content), len(*old)), nil
		},
	}
}

func (t *turn) editFile() tool.Tool {
	return tool.Tool{
		Tool: model.Tool{
			Name:        toolEdit,
			Description: "Replaces a piece of a text file. The piece must be in the file exactly as you give it, and once, unless you want all of them replaced: take enough lines around it.",
			Schema: `{"type":"object","properties":{` +
				`"path":{"type":"string","description":"The file, from the working folder on."},` +
				`"old":{"type":"string","minLength":1,"description":"The piece as it is."},` +
				`"new":{"type":"string","description":"What is to stand there."},` +
				`"all":{"type":"boolean","description":"Whether to replace every one; false if left out."}` +
				`},"required":["path","old","new"],"additionalProperties":false}`,
		},
		Run: func(ctx context.Context, c tool.Call) (string, error) {
			var args struct {
				Path, Old, New string
				All            bool
			}
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return "", err
			}
			at, err := t.s.path(args.Path)
			if err != nil {
				return "", err
			}
			text, err := t.read(ctx, at, nil, nil)
			if err != nil {
				return "", err
			}
			n := strings.Count(text, args.Old)
			switch {
			case n == 0:
				return "", fmt.Errorf("%s has no such piece: read the file, and give the piece exactly as it is there", args.Path)
			case n > 1 && !args.All:
				return "", fmt.Errorf("%s has the piece %d times: give more lines around the one you mean, or set all", args.Path, n)
			case args.Old == args.New:
				return "", errors.New("old and new are the same")
			case len(text)+n*(len(args.New)-len(args.Old)) > maxEdited:
				return "", fmt.Errorf("the file would have more than %d bytes", maxEdited)
			}
			if err := t.write(ctx, at, &text, strings.ReplaceAll(text, args.Old, args.New)); err != nil {
				return "", err
			}
			return fmt.Sprintf("replaced %d in %s", n, args.Path), nil
		},
	}
}

// write has the client write a file, if that is allowed.
func (t *turn) write(ctx context.Context, path string, old *string, text string) error {
	if old == nil && len(text) > maxWrite {
		return fmt.Errorf("a file has at most %d bytes, and this would be %d", maxWrite, len(text))
	}
	if len(text) <= maxDiff && (old == nil || len(*old) <= maxDiff) {
		var before []string
		if old != nil {
			before = []string{*old}
		}
		t.now.content = []sdk.ToolCallContent{sdk.ToolDiffContent(path, text, before...)}
	}
	if err := t.permit(ctx); err != nil {
		return err
	}
	t.begun()
	return t.ask(ctx, sdk.ClientMethodFsWriteTextFile, sdk.WriteTextFileRequest{SessionId: sdk.SessionId(t.s.id), Path: path, Content: text}, nil)
}

// step is one of a plan.
type step struct {
	Content  string `json:"content"`
	Status   string `json:"status"`
	Priority string `json:"priority,omitzero"`
}

// maxStep is how many bytes of a step are shown.
const maxStep = 1000

func planUpdate(steps []step) sdk.SessionUpdate {
	entries := []sdk.PlanEntry{}
	for _, x := range steps {
		e := sdk.PlanEntry{Content: plain.Brief(x.Content, maxStep), Status: sdk.PlanEntryStatus(x.Status), Priority: sdk.PlanEntryPriority(x.Priority)}
		if e.Priority == "" {
			e.Priority = sdk.PlanEntryPriorityMedium
		}
		entries = append(entries, e)
	}
	return sdk.UpdatePlan(entries...)
}

func (t *turn) makePlan() tool.Tool {
	return tool.Tool{
		Tool: model.Tool{
			Name:        toolPlan,
			Description: "Shows your plan to whoever watches. Each call stands for the whole plan, in place of the one before: call it again when a step is done. For work of one or two steps none is needed.",
			Schema: `{"type":"object","properties":{"steps":{"type":"array","maxItems":50,"items":{"type":"object","properties":{` +
				`"content":{"type":"string","description":"What is to be done."},` +
				`"status":{"type":"string","enum":["pending","in_progress","completed"]},` +
				`"priority":{"type":"string","enum":["high","medium","low"]}` +
				`},"required":["content","status"],"additionalProperties":false}}},"required":["steps"],"additionalProperties":false}`,
		},
		Run: func(_ context.Context, c tool.Call) (string, error) {
			var args struct{ Steps []step }
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return "", err
			}
			if err := t.s.add(line{Kind: kindPlan, Plan: args.Steps}); err != nil {
				return "", err
			}
			t.say(t.s.id, planUpdate(args.Steps))
			return "shown", nil
		},
	}
}
