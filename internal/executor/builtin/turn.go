package builtin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"lyceum/internal/acp"
	"lyceum/internal/event"
	"lyceum/internal/media"
	"lyceum/internal/model"
	"lyceum/internal/plain"
	"lyceum/internal/tool"

	sdk "github.com/coder/acp-go-sdk"
)

// turn is a prompt under way. It is of one goroutine.
type turn struct {
	*Agent
	s    *session
	can  client
	home *os.Root
	own  *tool.Registry
	// now is the call under way.
	now *call
	// blind says that the model takes no pictures.
	blind bool
}

// maxPrompt is how many bytes of text a prompt may have.
const maxPrompt = 4 << 20

// read takes a prompt apart. What is embedded is told as what it is.
func read(blocks []sdk.ContentBlock) (said line, err error) {
	said.Kind = kindUser
	var out []string
	for _, b := range blocks {
		switch {
		case b.Text != nil:
			out = append(out, b.Text.Text)
		case b.ResourceLink != nil:
			out = append(out, "["+b.ResourceLink.Name+"]("+b.ResourceLink.Uri+")")
		case b.Resource != nil && b.Resource.Resource.TextResourceContents != nil:
			r := b.Resource.Resource.TextResourceContents
			out = append(out, "<file uri="+plain.Quoted(r.Uri, 500)+">\n"+r.Text+"\n</file>")
		case b.Image != nil:
			p, err := readPicture(b.Image.Data)
			if err != nil {
				return said, err
			}
			said.Pictures = append(said.Pictures, p)
		default:
			return said, acp.Errorf(acp.InvalidParams, "prompt: want text, links, embedded texts and pictures")
		}
	}
	said.Text = strings.ToValidUTF8(strings.TrimSpace(strings.Join(out, "\n")), "\uFFFD")
	switch {
	case said.Text == "" && len(said.Pictures) == 0:
		return said, acp.Errorf(acp.InvalidParams, "prompt: it says nothing")
	case len(said.Text) > maxPrompt:
		return said, acp.Errorf(acp.InvalidParams, "prompt: %d bytes of text: want at most %d", len(said.Text), maxPrompt)
	case len(said.Pictures) > media.MaxFiles:
		return said, acp.Errorf(acp.InvalidParams, "prompt: %d pictures: want at most %d", len(said.Pictures), media.MaxFiles)
	}
	return said, nil
}

func (a *Agent) prompt(p *sdk.PromptRequest) (func(context.Context) (any, error), error) {
	said, err := read(p.Prompt)
	if err != nil {
		return nil, err
	}
	s, err := a.take(p.SessionId)
	if err != nil {
		return nil, err
	}
	// A cancel may come before the work begins.
	ctx, cancel := context.WithCancel(a.life)
	a.mu.Lock()
	s.cancel = cancel
	can := a.client
	a.mu.Unlock()
	return func(outer context.Context) (any, error) {
		defer a.release(s)
		defer cancel()
		defer context.AfterFunc(outer, cancel)()
		t := &turn{Agent: a, s: s, can: can}
		stop, err := t.run(ctx, said)
		if err != nil {
			return nil, err
		}
		return sdk.PromptResponse{StopReason: stop}, nil
	}, nil
}

// errStopped says that the client has ended the prompt.
var errStopped = errors.New("the prompt was cancelled")

// run works on a prompt until there is nothing more to do.
func (t *turn) run(ctx context.Context, said line) (sdk.StopReason, error) {
	// A folder that is not there is one without files; whoever lists them is told.
	if home, err := os.OpenRoot(t.s.cwd); err == nil {
		t.home = home
		defer home.Close()
	}
	var err error
	if t.own, err = tool.New(t.tools()...); err != nil {
		return "", err
	}
	if err := t.s.add(said); err != nil {
		return "", err
	}
	stop, err := t.work(ctx)
	if errors.Is(err, errStopped) || ctx.Err() != nil {
		// What was not done is told, so that the next prompt can go on.
		return sdk.StopReasonCancelled, t.s.settle("the prompt was cancelled before this call had a result")
	}
	return stop, err
}

func (t *turn) work(ctx context.Context) (sdk.StopReason, error) {
	for range t.opts.MaxRequests {
		ans, err := t.answer(ctx)
		if err != nil {
			return "", t.failed(ctx, err)
		}
		l, err := t.record(ans)
		if err != nil {
			return "", err
		}
		calls := l.calls()
		switch {
		case ans.Stop == model.StopRefusal:
			return sdk.StopReasonRefusal, t.s.settle("the answer was broken off, and nothing of this call was done")
		case len(calls) == 0 && ans.Stop == model.StopLength:
			return sdk.StopReasonMaxTokens, nil
		case len(calls) == 0:
			return sdk.StopReasonEndTurn, nil
		case ans.Stop == model.StopLength:
			// The last call is not whole, and nobody can say what the others were to lead to.
			if err := t.s.settle("your answer was cut at its limit of tokens, and nothing of this call was done: do it in smaller pieces"); err != nil {
				return "", err
			}
			continue
		}
		if err := t.callAll(ctx, calls); err != nil {
			return "", err
		}
	}
	return sdk.StopReasonMaxTurnRequests, nil
}

// failed says what went wrong with the model. The client gets it as the prompt's error, so
// that nobody takes it for an answer, and whoever watches reads it as text.
func (t *turn) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errStopped
	}
	if _, ok := errors.AsType[*acp.Error](err); ok {
		return err
	}
	why := plain.Brief(err.Error(), 1000)
	if e, ok := errors.AsType[*model.Error](err); ok {
		why = plain.Brief(e.Text, 1000)
	}
	t.say(t.s.id, sdk.UpdateAgentMessageText("(The model cannot be asked: "+why+")"))
	return acp.Errorf(acp.Internal, "the model cannot be asked: %s", why)
}

// maxNarrowed is how often the window is made smaller because a model says that it is too large.
const maxNarrowed = 4

// answer asks the model. Where the conversation is too long, what is oldest is left out.
func (t *turn) answer(ctx context.Context) (*model.Answer, error) {
	t.s.refresh(ctx, t.opts)
	most := t.opts.MaxContext
	for try := 0; ; try++ {
		if w := t.s.window.narrow(t.s.lines, most); w != t.s.window {
			if err := t.s.add(line{Kind: kindWindow, Window: &w}); err != nil {
				return nil, err
			}
		}
		r := &model.Request{
			Agent: t.s.id, Model: t.asks.name(), Turn: int64(len(t.s.lines)), System: t.system(), Tools: t.offered(), Messages: bounded(t.s.window.messages(t.s.lines)),
		}
		if t.blind {
			r.Messages = model.Unsighted(r.Messages)
		}
		out := &speech{say: func(u sdk.SessionUpdate) { t.say(t.s.id, u) }}
		ans, err := t.asks.ask(ctx, r, out.hear)
		out.flush()
		if err != nil && !t.blind && model.KindOf(err) == model.Invalid && sighted(r.Messages) {
			t.blind = true // a model that cannot see is asked without what it cannot
			continue
		}
		if err == nil || model.KindOf(err) != model.ContextTooLong || try == maxNarrowed || ctx.Err() != nil {
			return ans, err
		}
		most = min(most, sizeOf(r.Messages)) / 2
	}
}

func sizeOf(messages []model.Message) (n int) {
	for _, m := range messages {
		for _, p := range m.Parts {
			n += len(p.Text) + len(p.Args) + len(p.Opaque)
			if p.Kind == model.PartImage {
				n += pictureSize
			}
		}
	}
	return n
}

// The bounds of an answer.
const (
	maxCalls = 64
	maxArgs  = 4 << 20
)

// record keeps an answer, before anything is done for it. Its calls get names of our own: what
// a model calls them need not differ.
func (t *turn) record(ans *model.Answer) (*line, error) {
	l := line{Kind: kindAnswer}
	n := t.s.calls
	for _, p := range ans.Parts {
		made := part{Kind: p.Kind, Text: p.Text, ID: p.ID, Name: plain.Cut(p.Name, 200), Args: p.Args, Opaque: p.Opaque}
		if p.Kind == event.PartToolCall {
			n++
			made.Call = fmt.Sprintf("call-%d", n)
			if len(p.Args) > maxArgs {
				made.Args = fmt.Sprintf(`{"too_large":"the arguments had %d bytes, and at most %d are taken"}`, len(p.Args), maxArgs)
			}
		}
		l.Parts = append(l.Parts, made)
	}
	return &l, t.s.add(l)
}

// callAll does the calls of an answer, one after the other.
func (t *turn) callAll(ctx context.Context, calls []part) error {
	for i, p := range calls {
		if ctx.Err() != nil {
			return errStopped
		}
		var text string
		var failed, stopped bool
		if i >= maxCalls {
			text, failed = fmt.Sprintf("an answer has at most %d calls: make the rest in the next one", maxCalls), true
		} else {
			text, failed, stopped = t.do(ctx, p)
		}
		if err := t.s.add(line{Kind: kindResult, ID: p.Call, Text: text, Failed: failed}); err != nil {
			return err
		}
		if stopped {
			return errStopped
		}
	}
	return nil
}

// speech passes on what a model says as it comes, in pieces that are worth a line.
type speech struct {
	say  func(sdk.SessionUpdate)
	kind string
	held strings.Builder
	last time.Time
}

// How much is held back, and for how long, while more comes.
const (
	heldBytes = 100
	heldTime  = 50 * time.Millisecond
)

func (s *speech) hear(d model.Delta) {
	if d.Kind != s.kind {
		s.flush()
		s.kind = d.Kind
	}
	switch d.Kind {
	case model.Restart:
		s.say(sdk.UpdateAgentMessageText("\n\n(The answer broke off here, and begins anew.)\n\n"))
		s.kind = ""
		return
	case event.PartText, event.PartThinking:
	default:
		return
	}
	s.held.WriteString(d.Text)
	if s.held.Len() >= heldBytes || now().Sub(s.last) >= heldTime {
		s.flush()
	}
}

func (s *speech) flush() {
	text := s.held.String()
	s.held.Reset()
	s.last = now()
	switch {
	case text == "":
	case s.kind == event.PartThinking:
		s.say(sdk.UpdateAgentThoughtText(text))
	default:
		s.say(sdk.UpdateAgentMessageText(text))
	}
}
