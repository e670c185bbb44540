package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lyceum/internal/acp"
	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/repo"
	"lyceum/internal/runtime"
	"lyceum/internal/view"

	sdk "github.com/coder/acp-go-sdk"
)

// What an agent has made of a session's folder is shown as one difference a file, and each is
// written, or the file removed, only when the client permits it, and only if the file is as the
// agent found it or as it was written before. All else is named and left alone: no link,
// program or picture is written or removed. lyceum deliver does that.

// How much is brought. A line of the protocol holds both sides of a file, in JSON.
const (
	maxBrought = 200
	maxWritten = 512 << 10
	maxUnsaid  = 20
)

// brought is what a client was shown of a quest, and what was written. It stands beside the
// quest's files: it is about a folder of this machine.
type brought struct {
	// Offered tells the homes that the client has decided about: they are not shown again
	// before they change.
	Offered string `json:"offered"`
	// Files are the hashes of what was written, by path, or gone.
	Files map[string]string `json:"files,omitempty"`
}

// gone stands for the hash of a file that was removed.
const gone = "removed"

// madeOf is what stands in Files once a change is brought.
func madeOf(c repo.Change) string {
	if c.New == nil {
		return gone
	}
	return c.New.Hash.String()
}

func (a *Agent) broughtFile(name string) string {
	return filepath.Join(a.rt.QuestDir(name), "brought")
}

func (a *Agent) brought(name string) *brought {
	b := new(brought)
	if data, err := os.ReadFile(a.broughtFile(name)); err == nil && json.Unmarshal(data, b) != nil {
		*b = brought{} // then what was written counts as changed by somebody
	}
	if b.Files == nil {
		b.Files = map[string]string{}
	}
	return b
}

func (a *Agent) keepBrought(name string, b *brought) error {
	data, err := json.Marshal(b)
	if err == nil {
		err = runtime.ReplaceFile(a.broughtFile(name), data)
	}
	if err != nil {
		return fmt.Errorf("note what was written of session %s: %w", name, err)
	}
	return nil
}

// errElsewhere says that a quest works on other files than the session's.
var errElsewhere = errors.New("the quest works on another folder than this session's: lyceum deliver brings its changes there")

// works finds out whether a quest works on the folder of a session.
func (a *Agent) works(ctx context.Context, s *session, st *quest.State) error {
	if st.Repo == nil {
		return errors.New("the agents have none of this folder's files, so that there is nothing to write")
	}
	origin, err := a.rt.Origin(ctx, s.id)
	if err != nil {
		return err
	}
	if origin == nil || !sameFolder(origin.Path, s.folder) {
		return errElsewhere
	}
	return nil
}

// bring shows the client what an agent changed, and writes what it permits. Unasked, it
// says nothing where there is nothing new.
func (t *turn) bring(st *quest.State, agent string, asked bool) error {
	a, s := t.agent, t.session
	if err := a.works(t.ctx, s, st); err != nil {
		if asked {
			return err
		}
		return nil
	}
	changed, had := runtime.Changed(st), a.brought(s.id)
	var homes []string
	for _, name := range changed {
		homes = append(homes, name+" "+st.Agent(name).Tree.Hash.String())
	}
	now := strings.Join(homes, "\n")
	switch {
	case !asked && (len(changed) == 0 || now == had.Offered):
		return nil
	case agent == "" && runtime.Deliverer(st) == nil:
		had.Offered = now
		return errors.Join(a.keepBrought(s.id, had), t.notice("\n\nSeveral agents have changed files: "+plain.Brief(strings.Join(changed, ", "), 500)+". /deliver and a name shows the changes of one, and writes what you permit."))
	}
	d, who, err := a.rt.Delivery(t.ctx, st, agent)
	if err != nil {
		return err
	}
	b := &bringing{turn: t, project: a.project(s), delivery: d, who: who, seq: st.Seq, kept: had}
	if err := b.all(asked); err != nil {
		return err
	}
	had.Offered = now
	return a.keepBrought(s.id, had)
}

// bringing is one delivery to a client.
type bringing struct {
	*turn
	project  *project
	delivery *repo.Delivery
	who      string
	seq      uint64
	kept     *brought

	// offers are what can be written, left what cannot be and why. rest is what the client has
	// decided about all that it was not asked yet, empty if nothing.
	offers []offer
	left   []string
	wrote  int
	rest   string
}

// offer is a file that can be written, or removed if the change has nothing new.
type offer struct {
	change      repo.Change
	id          sdk.ToolCallId
	before, now string
}

func (b *bringing) all(asked bool) error {
	if err := b.look(); err != nil {
		return err
	}
	for i := range b.offers {
		if err := b.decide(i); err != nil {
			return err
		}
	}
	switch {
	case len(b.left) > 0:
		return b.notice("\n\n" + b.summary())
	case asked && len(b.offers) == 0:
		return b.notice("Nothing is different from what is in the folder.")
	case asked:
		return b.notice(fmt.Sprintf("%d of %s written or removed.", b.wrote, view.Several(int64(len(b.offers)), "file is", "files are")))
	}
	return nil
}

// summary says what was not written.
func (b *bringing) summary() string {
	lines := []string{"Not written:"}
	lines = append(lines, b.left[:min(len(b.left), maxUnsaid)]...)
	if n := len(b.left) - maxUnsaid; n > 0 {
		lines = append(lines, fmt.Sprintf("- and %d others", n))
	}
	return strings.Join(append(lines, fmt.Sprintf("\nlyceum deliver %s has the whole patch.", b.session.id)), "\n")
}

func (b *bringing) leave(name, why string) {
	b.left = append(b.left, fmt.Sprintf("- %s: %s", plain.Bare(name, 300), plain.Line(why)))
}

// look finds out which files can be written, and shows these and those that have changed.
func (b *bringing) look() error {
	keep := map[string]string{}
	for _, c := range b.delivery.Changes {
		if err := b.ctx.Err(); err != nil {
			return err
		}
		if hash, ok := b.kept.Files[c.Path]; ok {
			keep[c.Path] = hash
			if hash == madeOf(c) {
				continue // it was brought; what became of it since is the person's
			}
		}
		o, why, err := b.offer(c)
		switch {
		case err != nil:
			return err
		case why == here:
			keep[c.Path] = madeOf(c)
			continue
		case why == "" && len(b.offers) == maxBrought:
			why = fmt.Sprintf("more than %d files have changed", maxBrought)
		}
		if why != "" {
			b.leave(c.Path, why)
		} else {
			b.offers = append(b.offers, o)
		}
	}
	for _, l := range b.delivery.LeftOut {
		b.leave(l.Path, l.Reason)
	}
	b.kept.Files = keep
	for i := range b.offers {
		o := &b.offers[i]
		o.id = sdk.ToolCallId(fmt.Sprintf("deliver-%d-%d", b.seq, i))
		if err := b.tell(sdk.StartToolCall(o.id, b.title(o), sdk.WithStartKind(o.kind()), sdk.WithStartStatus(sdk.ToolCallStatusPending),
			sdk.WithStartLocations([]sdk.ToolCallLocation{{Path: b.project.path(o.change.Path)}}), sdk.WithStartContent(b.shown(o)))); err != nil {
			return err
		}
	}
	return nil
}

// title names the file. A person permits what they see: where there is more than that, it is
// said.
func (b *bringing) title(o *offer) string {
	if o.change.New == nil {
		return "Remove " + plain.Bare(o.change.Path, 200)
	}
	title := "Write " + plain.Bare(o.change.Path, 200)
	if unseen(o.now) && !unseen(o.before) {
		title += " (it has characters that cannot be seen)"
	}
	return title
}

func (o *offer) kind() sdk.ToolKind {
	if o.change.New == nil {
		return sdk.ToolKindDelete
	}
	return sdk.ToolKindEdit
}

func unseen(text string) bool {
	const mark = "\uFFFD" // what stands for such a character
	return strings.Count(plain.Text(text), mark) > strings.Count(text, mark)
}

func (b *bringing) shown(o *offer) []sdk.ToolCallContent {
	return []sdk.ToolCallContent{acp.Diff(b.project.path(o.change.Path), o.before, o.now, o.change.Old != nil)}
}

func (b *bringing) tell(u sdk.SessionUpdate) error {
	return b.agent.conn.Update(sdk.SessionNotification{SessionId: sdk.SessionId(b.session.id), Update: u})
}

// here says that a file holds already what would be written, or is not there any more.
const here = "it is there"

// sinceChanged says that a file is not what the agent began with.
const sinceChanged = "it has changed since the quest took it, and is left as it is"

// offer makes an offer of a change, or says why there is none.
func (b *bringing) offer(c repo.Change) (o offer, why string, err error) {
	o.change = c
	switch {
	case c.Old != nil && c.New != nil && c.Old.Hash == c.New.Hash && c.Old.Kind == c.New.Kind:
		return o, "nothing but its mode has changed", nil
	}
	for _, side := range []struct {
		entry *blob.Entry
		text  *string
	}{{c.Old, &o.before}, {c.New, &o.now}} {
		if side.entry == nil {
			continue
		}
		switch {
		case side.entry.Kind != blob.File:
			return o, "it is a link, or was one", nil
		case side.entry.Size > maxWritten:
			return o, fmt.Sprintf("it has more than %d KiB", maxWritten>>10), nil
		}
		text, is, err := b.delivery.Text(b.ctx, side.entry, maxWritten)
		if err != nil || !is {
			return o, "it is no text", err
		}
		*side.text = text
	}
	return o, b.stands(&o), nil
}

// stands looks at a file as it is now, and says why it is not written or removed: because it
// holds something else than the agent found, or than was written before.
func (b *bringing) stands(o *offer) string {
	data, there, err := b.project.current(b.ctx, o.change.Path, 2*maxWritten)
	switch {
	case err != nil:
		return err.Error()
	case o.change.New == nil && !there, o.change.New != nil && there && sameText(string(data), o.now):
		return here
	case !there && (o.change.Old == nil || b.kept.Files[o.change.Path] == gone), there && o.change.Old != nil && sameText(string(data), o.before):
		return ""
	case there && b.wroteIt(o.change.Path, string(data)):
		o.before = string(data)
		return ""
	}
	return sinceChanged
}

// wroteIt reports whether a file holds what was written to it before.
func (b *bringing) wroteIt(name, text string) bool {
	hash, ok := b.kept.Files[name]
	return ok && hash == event.HashOf([]byte(text)).String()
}

// sameText compares what an editor has with what was read from a disk: some editors change the
// ends of lines in memory, and put them back when they write.
func sameText(a, b string) bool {
	unify := func(s string) string {
		return strings.ReplaceAll(strings.TrimPrefix(s, "\uFEFF"), "\r\n", "\n")
	}
	return a == b || unify(a) == unify(b)
}

// What a client can say of a file.
const (
	writeOne = "write"
	writeAll = "write-all"
	leaveOne = "leave"
	leaveAll = "leave-all"
)

// decide asks the client about one file, unless it has spoken about all, and writes it.
func (b *bringing) decide(i int) error {
	o := &b.offers[i]
	choice := b.rest
	if choice == "" {
		choice = b.ask(o, len(b.offers)-i)
		if err := b.ctx.Err(); err != nil {
			return err
		}
		if choice == writeAll || choice == leaveAll {
			b.rest = choice
		}
	}
	why := "you did not permit it"
	if choice == writeOne || choice == writeAll {
		// The person may have taken their time, and gone on writing.
		if why = b.stands(o); why == "" {
			why = b.do(o)
		}
	}
	status := sdk.ToolCallStatusCompleted
	content := b.shown(o)
	if why == "" || why == here {
		b.wrote++
		b.kept.Files[o.change.Path] = madeOf(o.change)
		if err := b.agent.keepBrought(b.session.id, b.kept); err != nil {
			return err
		}
	} else {
		status = sdk.ToolCallStatusFailed
		content = append(content, sdk.ToolContent(sdk.TextBlock("Not written: "+plain.Line(why))))
		b.leave(o.change.Path, why)
	}
	return b.tell(sdk.UpdateToolCall(o.id, sdk.WithUpdateStatus(status), sdk.WithUpdateContent(content)))
}

// do writes or removes a file, and says why it could not.
func (b *bringing) do(o *offer) string {
	if o.change.New == nil {
		if err := b.project.remove(o.change.Path, o.before); err != nil {
			return "it could not be removed: " + err.Error()
		}
		return ""
	}
	if err := b.project.write(b.ctx, o.change.Path, o.now, o.change.New.Mode == blob.ModeExec); err != nil {
		return "it could not be written: " + err.Error()
	}
	return ""
}

// ask has the client decide about a file. No answer is a no.
func (b *bringing) ask(o *offer, left int) string {
	kind, one, all := o.kind(), "Write it", "Write all %d"
	if o.change.New == nil {
		one = "Remove it"
	}
	if slices.ContainsFunc(b.offers[len(b.offers)-left:], func(o offer) bool { return o.change.New == nil }) {
		all = "Write or remove all %d, as shown"
	}
	p := sdk.RequestPermissionRequest{SessionId: sdk.SessionId(b.session.id), ToolCall: sdk.ToolCallUpdate{
		ToolCallId: o.id, Title: new(b.title(o)), Kind: &kind, Content: b.shown(o),
		Locations: []sdk.ToolCallLocation{{Path: b.project.path(o.change.Path)}},
	}}
	option := func(id, name string, kind sdk.PermissionOptionKind) {
		p.Options = append(p.Options, sdk.PermissionOption{OptionId: sdk.PermissionOptionId(id), Name: name, Kind: kind})
	}
	option(writeOne, one, sdk.PermissionOptionKindAllowOnce)
	if left > 1 {
		option(writeAll, fmt.Sprintf(all, left), sdk.PermissionOptionKindAllowAlways)
	}
	option(leaveOne, "Leave the file as it is", sdk.PermissionOptionKindRejectOnce)
	if left > 1 {
		option(leaveAll, "Leave all as they are", sdk.PermissionOptionKindRejectAlways)
	}
	return b.turn.agent.permit(b.ctx, p)
}

// permit returns the option that the client chose, empty if it chose none of them.
func (a *Agent) permit(ctx context.Context, p sdk.RequestPermissionRequest) string {
	var out sdk.RequestPermissionResponse
	if err := a.conn.Call(ctx, sdk.ClientMethodSessionRequestPermission, p, &out); err != nil || out.Outcome.Selected == nil {
		return ""
	}
	chosen := out.Outcome.Selected.OptionId
	if slices.ContainsFunc(p.Options, func(o sdk.PermissionOption) bool { return o.OptionId == chosen }) {
		return string(chosen)
	}
	return ""
}
