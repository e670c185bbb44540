package wire

import (
	"runtime"
	"sync/atomic"
	"unsafe"

	"lyceum/internal/model"
)

// Kept is what a driver has written of an agent's conversation, so that the next request writes
// only what is new. Settled messages are those whose bytes no later message can change; what stands
// behind them is written anew each time. S is what the driver must know of them to go on.
//
// It lies in the memo of the requests, and belongs to the one call of the agent that is under way. The
// bytes are only ever appended to: a connection may still read those of the request before.
type Kept[S any] struct {
	// Before and After are the request around the list of messages, the same for the same frame.
	Before, After []byte
	// Text is the settled messages as they stand in the list, State what came of them.
	Text  []byte
	State S

	frame any
	read  []model.Message
	size  *atomic.Int64 // of Text, as it counts in kept
}

// maxKept is how many bytes are kept for all conversations of a process together. One for which
// there is no room is written whole each time.
const maxKept = 128 << 20

// kept counts them.
var kept atomic.Int64

// Settled returns what is kept for r, and how many of its messages that holds. Nothing is if r has
// no memo, if its frame is another one (a comparable value: all that Before and After are made of,
// and the driver), or if its messages do not begin as those that were written.
func Settled[S any](r *model.Request, frame any) (k *Kept[S], n int) {
	if r.Memo != nil {
		old, ok := r.Memo.Kept.(*Kept[S])
		switch {
		case !ok || old.frame != frame:
		case model.Begin(r.Messages, old.read):
			return old, len(old.read)
		default: // the window was cut
			k = &Kept[S]{Before: old.Before, After: old.After}
		}
	}
	if k == nil {
		k = new(Kept[S])
	}
	k.frame, k.size = frame, new(atomic.Int64)
	runtime.AddCleanup(k, func(size *atomic.Int64) { kept.Add(-size.Load()) }, k.size)
	if r.Memo != nil {
		r.Memo.Kept = k
	}
	return k, 0
}

// Settle notes that the first n messages of r are written in text, all of it, which begins with k.Text.
func (k *Kept[S]) Settle(r *model.Request, n int, text []byte, state S) {
	grown := int64(cap(text) - cap(k.Text))
	k.Text, k.State, k.read = text, state, r.Messages[:n:n]
	k.size.Add(grown)
	if kept.Add(grown) > maxKept && r.Memo != nil {
		r.Memo.Kept = nil
	}
}

// Toolset says which tools a request has, by their place: those of an agent are read once.
type Toolset struct {
	first *model.Tool
	count int
}

// ToolsOf is the tools of r.
func ToolsOf(r *model.Request) Toolset {
	return Toolset{unsafe.SliceData(r.Tools), len(r.Tools)}
}
