package acp

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/media"
	"lyceum/internal/plain"
	"lyceum/internal/society/stages/study"
	"lyceum/internal/view"

	sdk "github.com/coder/acp-go-sdk"
)

// Reader reads of one quest what its events only point to. All its texts may be a
// stranger's; how much of each is shown is the reader's to decide.
type Reader interface {
	// Text is what is shown of a text.
	Text(ctx context.Context, t event.Text) (string, error)
	// Event reads an event.
	Event(ctx context.Context, seq uint64) (event.Event, error)
	// Blob reads a file, whole and checked.
	Blob(ctx context.Context, ref event.Ref) ([]byte, error)
	// Nodes are what came about in the quest, in order, at least up to the newest event
	// that was translated.
	Nodes(ctx context.Context) ([]view.Node, error)
}

// Differ is a Reader that knows what stood in the files of a home.
type Differ interface {
	// File reads a text file of a tree; ok is false for what is not there, too long to be
	// shown, or no text.
	File(ctx context.Context, tree event.TreeRef, path string) (text string, ok bool)
}

// Translate says an event of a quest in the Agent Client Protocol, as the session/update
// notifications that an agent would send. Most events of the ledger have no counterpart
// there, and give none.
func Translate(ctx context.Context, name string, r Reader, e event.Event) []sdk.SessionNotification {
	return (&translator{reader: r, ctx: ctx, name: name, event: e}).notifications()
}

// Line is a notification as it goes over the wire.
func Line(n sdk.SessionNotification) json.RawMessage {
	data, err := json.Marshal(struct {
		Version string                  `json:"jsonrpc"`
		Method  string                  `json:"method"`
		Params  sdk.SessionNotification `json:"params"`
	}{"2.0", sdk.ClientMethodSessionUpdate, n})
	if err != nil {
		return nil // texts and numbers always encode
	}
	return data
}

// notification is one of a session. What Lyceum knows besides stands in its _meta.
func notification(name string, u sdk.SessionUpdate, more map[string]any) sdk.SessionNotification {
	return sdk.SessionNotification{SessionId: sdk.SessionId(name), Update: u, Meta: map[string]any{"lyceum": more}}
}

// translator is about one event.
type translator struct {
	reader Reader
	ctx    context.Context
	name   string
	event  event.Event
	// heard is what a reader has had live of the answer that the event is, by kind of part.
	heard map[string]string
	// folder is where the reader has the files of homes, empty if nowhere. diffs are what calls
	// that have no result yet changed there.
	folder string
	diffs  map[uint64][]sdk.ToolCallContent
	// voice is that of the reader, nil for one who is told of single events.
	voice *Voice
}

// says is what the agent of the event says.
func (t *translator) says(text string) sdk.SessionUpdate {
	if t.voice != nil {
		text = t.voice.named(t.event.Actor) + text
	}
	return sdk.UpdateAgentMessageText(text)
}

func (t *translator) notifications() (out []sdk.SessionNotification) {
	for _, u := range t.updates() {
		out = append(out, notification(t.name, u, map[string]any{"seq": t.event.Seq, "actor": t.event.Actor, "type": t.event.Type}))
	}
	return out
}

// maxLine is how many characters of a text a line has.
const maxLine = 200

// lineOf is what an event says, for people who see its actor beside it.
func lineOf(e event.Event) string { return (&view.Teller{Most: maxLine}).Tell(e).Text }

// text reads what is shown of a text; what cannot be read is said so in its place.
func (t *translator) text(x event.Text) string {
	text, err := t.reader.Text(t.ctx, x)
	if err != nil {
		return "[this text cannot be read: " + err.Error() + "]"
	}
	return text
}

func (t *translator) updates() []sdk.SessionUpdate {
	switch b := t.event.Body.(type) {
	case *event.QuestCreated:
		return []sdk.SessionUpdate{sdk.UpdateUserMessageText(t.text(b.Problem))}
	case *event.UserMessage:
		return t.person(b)
	case *event.MessageSent:
		if !b.Quiet && (t.voice == nil || !t.voice.beside[b.To]) { // whom nobody talks to, the rules remind
			return []sdk.SessionUpdate{sdk.UpdateUserMessageText(t.text(b.Text))}
		}
	case *event.InteractionOpened:
		return []sdk.SessionUpdate{t.says(t.question(b))}
	case *event.InteractionAnswered:
		return []sdk.SessionUpdate{sdk.UpdateUserMessageText(lineOf(t.event))}
	case *event.InteractionExpired:
		return []sdk.SessionUpdate{sdk.UpdateAgentMessageText(lineOf(t.event))}
	case *event.AdvisorySent:
		return []sdk.SessionUpdate{sdk.UpdateUserMessageText(t.text(b.Text))}
	case *event.ModelResult:
		return t.said(b)
	case *event.ReviewGiven:
		if text := view.ReviewWords(b); text != "" {
			return []sdk.SessionUpdate{t.says("\n\n" + text + "\n\n")}
		}
	case *event.InteractSaid:
		return t.interacted(b)
	case *event.PromptResult, *event.ToolProposed, *event.ToolReported, *event.PlanReported, *event.SaidReported:
		return t.executor()
	case *event.QuestFinished:
		return t.finished(b)
	case *event.ModeSet:
		return []sdk.SessionUpdate{InMode(b.Mode)}
	case *event.AnchorMoved:
		return []sdk.SessionUpdate{sdk.UpdatePlan(stagePlan(b.To)...), InMode(b.To)}
	case *event.PlanMade, *event.ContractAwarded, *event.TaskCompleted, *event.TaskFailed:
		return t.plan()
	default:
		return t.called()
	}
	return nil
}

// stagePlan is the way of a study through its stages, as it stands at one of them.
func stagePlan(at string) (out []sdk.PlanEntry) {
	status := sdk.PlanEntryStatusCompleted
	for _, stage := range view.Anchors {
		now := status
		if stage == at {
			now, status = sdk.PlanEntryStatusInProgress, sdk.PlanEntryStatusPending
		}
		out = append(out, sdk.PlanEntry{Content: stage, Priority: sdk.PlanEntryPriorityMedium, Status: now})
	}
	return out
}

// InMode says which mode a session is in.
func InMode(id string) sdk.SessionUpdate {
	return sdk.SessionUpdate{CurrentModeUpdate: &sdk.SessionCurrentModeUpdate{SessionUpdate: "current_mode_update", CurrentModeId: sdk.SessionModeId(id)}}
}

// question is one to a person, with the answers to choose from. The protocol has questions
// of its own only for what an agent may do, and those want their answer at once.
func (t *translator) question(b *event.InteractionOpened) string {
	lines := []string{fmt.Sprintf("Question %d: %s", t.event.Seq, t.text(b.Question))}
	for _, o := range b.Options {
		lines = append(lines, "- "+o)
	}
	if b.Expires != 0 {
		lines = append(lines, fmt.Sprintf("If nobody answers by %s: %s", b.Expires, cmp.Or(b.Default, "it goes on without an answer")))
	}
	return "\n\n" + strings.Join(append(lines, fmt.Sprintf("Answer with: lyceum answer %s %d …", t.name, t.event.Seq)), "\n") + "\n\n"
}

// interacted is what a researcher says to people. A question comes as one right after, and words
// that complete a study as the answer of its quest.
func (t *translator) interacted(b *event.InteractSaid) []sdk.SessionUpdate {
	if b.Reply == study.ReplyBlocking || t.event.Tool == study.Complete {
		return nil
	}
	text := t.text(b.Text)
	for _, f := range b.Files {
		text += "\n\n(file: " + plain.Line(f) + ")"
	}
	return []sdk.SessionUpdate{t.says("\n\n" + text + "\n\n")}
}

// said are the parts of an answer.
func (t *translator) said(b *event.ModelResult) (out []sdk.SessionUpdate) {
	for i, p := range b.Parts {
		switch {
		case p.Kind == event.PartText && p.Text != nil:
			if text := unheard(t.heard, p.Kind, t.text(*p.Text)); text != "" {
				out = append(out, t.says(text))
			}
		case p.Kind == event.PartThinking && p.Text != nil:
			if text := unheard(t.heard, p.Kind, t.text(*p.Text)); text != "" {
				out = append(out, sdk.UpdateAgentThoughtText(text))
			}
		case p.Kind == event.PartToolCall:
			input := t.input(p.Args)
			out = append(out, sdk.StartToolCall(ToolID(t.event.Seq, int64(i)), p.Name, sdk.WithStartKind(toolKind(p.Name)),
				sdk.WithStartStatus(sdk.ToolCallStatusPending), sdk.WithStartRawInput(input), sdk.WithStartLocations(t.named(input))))
		}
	}
	return out
}

// input are the arguments of a tool: JSON, if the model kept to it.
func (t *translator) input(args *event.Text) any {
	if args == nil {
		return map[string]any{}
	}
	text := t.text(*args)
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return map[string]any{"text": text}
	}
	return v
}

// finished is the answer, unless an agent has just said it.
func (t *translator) finished(b *event.QuestFinished) []sdk.SessionUpdate {
	if t.event.Parent > 0 {
		if cause, err := t.reader.Event(t.ctx, t.event.Parent); err == nil && (cause.Type == "model.result" || cause.Type == "prompt.result") {
			return nil
		}
	}
	return []sdk.SessionUpdate{t.says(t.text(b.Answer))}
}

// called are the steps of calls, of tools and of the rules' own.
func (t *translator) called() []sdk.SessionUpdate {
	one := func(u sdk.SessionUpdate) []sdk.SessionUpdate { return []sdk.SessionUpdate{u} }
	switch b := t.event.Body.(type) {
	case *event.ToolCall:
		return one(sdk.UpdateToolCall(ToolID(b.Answer, b.Part), sdk.WithUpdateStatus(sdk.ToolCallStatusInProgress)))
	case *event.PolicyBlocked:
		if b.Answer != 0 {
			return one(outcome(ToolID(b.Answer, b.Part), true, lineOf(t.event)))
		}
	case *event.FileDiff:
		return t.changed(b)
	case *event.ToolResult:
		return t.result(b.Call, b.Error, t.text(b.Output), b.Attachments)
	case *event.ToolAnswered:
		return t.result(b.Call, b.Error, t.text(b.Output), b.Attachments)
	case *event.SearchCall:
		return one(sdk.StartToolCall(callID(t.event.Seq), lineOf(t.event), sdk.WithStartKind(sdk.ToolKindSearch), sdk.WithStartStatus(sdk.ToolCallStatusInProgress)))
	case *event.ComputeCall:
		return one(sdk.StartToolCall(callID(t.event.Seq), lineOf(t.event), sdk.WithStartKind(sdk.ToolKindExecute), sdk.WithStartStatus(sdk.ToolCallStatusInProgress)))
	case *event.SearchResult:
		text := b.Error
		for _, a := range b.Anchors {
			text += fmt.Sprintf("%s, paragraph %d: %s\n", a.Doc, a.Paragraph, a.Snippet)
		}
		return one(outcome(callID(b.Call), b.Error != "", text))
	case *event.ComputeResult:
		return one(outcome(callID(b.Call), b.Error != "", b.Error+t.text(b.Output)))
	}
	return nil
}

// result is that of a tool. Which part of which answer called for it stands in the call.
func (t *translator) result(call uint64, failed bool, text string, files []event.Attachment) []sdk.SessionUpdate {
	e, err := t.reader.Event(t.ctx, call)
	if err != nil {
		return nil
	}
	switch b := e.Body.(type) {
	case *event.ToolCall:
		return []sdk.SessionUpdate{withDiffs(outcome(ToolID(b.Answer, b.Part), failed, text, t.blocks(files)...), t.diffs[call])}
	case *event.ToolSkipped:
		return []sdk.SessionUpdate{outcome(ToolID(b.Answer, b.Part), failed, text)}
	case *event.PolicyBlocked:
		return []sdk.SessionUpdate{outcome(ToolID(b.Answer, b.Part), failed, text, t.blocks(files)...)}
	}
	return nil
}

func outcome(id sdk.ToolCallId, failed bool, text string, more ...sdk.ContentBlock) sdk.SessionUpdate {
	status := sdk.ToolCallStatusCompleted
	if failed {
		status = sdk.ToolCallStatusFailed
	}
	content := []sdk.ToolCallContent{sdk.ToolContent(sdk.TextBlock(text))}
	for _, b := range more {
		content = append(content, sdk.ToolContent(b))
	}
	return sdk.UpdateToolCall(id, sdk.WithUpdateStatus(status), sdk.WithUpdateContent(content))
}

// person is what a person said, and the files that came with it.
func (t *translator) person(b *event.UserMessage) (out []sdk.SessionUpdate) {
	if text := t.text(b.Text); text != "" || len(b.Attachments) == 0 {
		out = append(out, sdk.UpdateUserMessageText(text))
	}
	for _, block := range t.blocks(b.Attachments) {
		out = append(out, sdk.UpdateUserMessage(block))
	}
	return out
}

// maxInline is how much room the pictures of an event take in its notifications.
const maxInline = 64 << 10

// blocks are files as the protocol has them: pictures whole, as long as those of an event
// take no more room than a text may, and all else as links to where the server has them.
func (t *translator) blocks(files []event.Attachment) (out []sdk.ContentBlock) {
	room := int64(maxInline * 3 / 4) // base64 makes four bytes of three
	for _, f := range files {
		if media.Showable(f.Media, f.Ref.Size) && f.Ref.Size <= room {
			// What it is, the ledger says; an import may say anything.
			if data, err := t.reader.Blob(t.ctx, f.Ref); err == nil && media.Sniff(data) == f.Media {
				room -= f.Ref.Size
				out = append(out, sdk.ImageBlock(base64.StdEncoding.EncodeToString(data), f.Media))
				continue
			}
		}
		link := sdk.ResourceLinkBlock(media.FileName(f.Name, f.Ref.Hash.String()[:16]), "/api/blobs/"+f.Ref.Hash.String())
		link.ResourceLink.MimeType, link.ResourceLink.Size = &f.Media, new(int(f.Ref.Size))
		out = append(out, link)
	}
	return out
}

// ToolID is how a call of a tool is named: by the part of the answer that it stands in.
func ToolID(answer uint64, part int64) sdk.ToolCallId {
	return sdk.ToolCallId(fmt.Sprintf("%d-%d", answer, part))
}

func callID(seq uint64) sdk.ToolCallId { return sdk.ToolCallId(fmt.Sprintf("call-%d", seq)) }

// toolKind is what a client draws a tool as.
func toolKind(name string) sdk.ToolKind {
	switch {
	case strings.HasPrefix(name, "read"), strings.HasPrefix(name, "list"), strings.HasPrefix(name, "get"):
		return sdk.ToolKindRead
	case strings.HasPrefix(name, "write"), strings.HasPrefix(name, "edit"):
		return sdk.ToolKindEdit
	case strings.Contains(name, "search"), strings.HasPrefix(name, "grep"), strings.HasPrefix(name, "find"), strings.HasPrefix(name, "glob"):
		return sdk.ToolKindSearch
	case strings.HasPrefix(name, "exec"), strings.HasPrefix(name, "run"), name == "calculate":
		return sdk.ToolKindExecute
	}
	return sdk.ToolKindOther
}

// plan is how the work stands after an event: all parts of it, as the protocol wants it
// each time, with those that a later round has added.
func (t *translator) plan() []sdk.SessionUpdate {
	nodes, err := t.reader.Nodes(t.ctx)
	if err != nil {
		return nil
	}
	entries := []sdk.PlanEntry{}
	for _, n := range nodes {
		if n.Kind != "task" || n.Seq > t.event.Seq {
			continue
		}
		stands := ""
		for _, c := range n.Changes {
			if c.Seq <= t.event.Seq {
				stands = c.Status
			}
		}
		text, status := n.Label, sdk.PlanEntryStatusPending
		if n.Detail != "" {
			text += ": " + n.Detail
		}
		switch stands {
		case "awarded":
			status = sdk.PlanEntryStatusInProgress
		case "completed":
			status = sdk.PlanEntryStatusCompleted
		case "failed": // the protocol has no word for it
			text, status = text+" (could not be done)", sdk.PlanEntryStatusCompleted
		}
		entries = append(entries, sdk.PlanEntry{Content: text, Priority: sdk.PlanEntryPriorityMedium, Status: status})
	}
	return []sdk.SessionUpdate{sdk.UpdatePlan(entries...)}
}
