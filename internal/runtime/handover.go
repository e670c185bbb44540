package runtime

import (
	"context"
	"fmt"
	"slices"

	"lyceum/internal/event"
	"lyceum/internal/ledger"

	"github.com/go-json-experiment/json"
)

// A run that is handed over takes the results that come in and records what follows, calls included,
// which it does not begin. Of a call that is open the next owner cannot tell whether it was begun, and
// some must not be made twice: so a note says which were not. It holds for the very end of the ledger
// that the run has left.

// unbegun is the kind of such notes, by quest.
const unbegun = "unbegun"

// leftCalls is what such a note says.
type leftCalls struct {
	Seq   uint64   `json:"seq"`
	Hash  string   `json:"hash"`
	Calls []uint64 `json:"calls"`
}

// isClosed reports whether a channel that nobody sends to is closed.
func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// handed reports whether a run that is being handed over has nothing under way any more.
func (l *live) handed() bool { return l.handing && l.busy() == 0 }

// noteUnbegun notes which calls the run has left. If that fails they are settled as after a crash.
func (l *live) noteUnbegun(ctx context.Context) error {
	if len(l.unbegun) == 0 || l.dead {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
	defer cancel()
	body, err := json.Marshal(leftCalls{l.state.Seq, l.state.Hash.String(), l.unbegun})
	if err != nil {
		return err
	}
	old, err := l.rt.Ledger.Note(ctx, unbegun, l.key)
	if err == nil {
		_, err = l.rt.Ledger.SwapNote(ctx, ledger.Note{Kind: unbegun, Key: l.key, Due: l.state.Time, Body: body}, old.Body)
	}
	if err != nil {
		return fmt.Errorf("note which calls were not begun: %w", err)
	}
	return nil
}

// toolCall is the kind of call that is then begun. Others that must not be made twice, as a request by a
// program in a computer, have nobody who waits for their answers any more.
var toolCall = (&event.ToolCall{}).Type()

// neverBegan reports whether the last owner left a call without having begun it.
func (l *live) neverBegan(ctx context.Context, seq uint64) bool {
	note, err := l.rt.Ledger.Note(ctx, unbegun, l.key)
	var left leftCalls
	if err != nil || note.Body == nil || json.Unmarshal(note.Body, &left) != nil {
		return false
	}
	return left.Seq == l.state.Seq && left.Hash == l.state.Hash.String() && slices.Contains(left.Calls, seq)
}
