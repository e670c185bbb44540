package wire

import (
	"runtime"
	"strconv"
	"testing"

	"lyceum/internal/model"
)

// TestWhatIsKeptHasARoom is not parallel: the room is all conversations' together.
func TestWhatIsKeptHasARoom(t *testing.T) {
	for kept.Load() != 0 { // of other tests
		runtime.GC()
	}
	messages := []model.Message{{Role: model.User}, {Role: model.Assistant}}
	var all []*model.Memo
	full := false
	for range 2*maxKept>>20 + 1 { // half a MiB each
		r := &model.Request{Messages: messages, Memo: new(model.Memo)}
		k, _ := Settled[int](r, "frame")
		k.Settle(r, 1, make([]byte, 1<<19), 0)
		full = full || r.Memo.Kept == nil
		if r.Memo.Kept != nil {
			if _, n := Settled[int](r, "frame"); n != 1 {
				t.Fatalf("of the same request %d messages are kept, want 1", n)
			}
		}
		all = append(all, r.Memo)
	}
	if !full {
		t.Errorf("more than %d bytes were kept", maxKept)
	}
	runtime.KeepAlive(all)
	all = nil
	for kept.Load() != 0 { // as the collector finds them
		runtime.GC()
	}
}

func TestOnlyTheVerySameMessagesCount(t *testing.T) {
	one := []model.Message{{Role: model.User, Parts: []model.Part{{Text: "1"}}}, {Role: model.Assistant, Parts: []model.Part{{Text: "2"}}}}
	two := []model.Message{{Role: model.User, Parts: []model.Part{{Text: "1"}}}, one[1]}
	for i, c := range []struct {
		messages []model.Message
		frame    string
		want     int
	}{
		{one, "frame", 1}, {append([]model.Message(nil), one...), "frame", 1}, {two, "frame", 0}, {one, "other", 0}, {nil, "frame", 0},
	} {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			memo := new(model.Memo)
			first := &model.Request{Messages: one, Memo: memo}
			k, _ := Settled[int](first, "frame")
			k.Settle(first, 1, []byte("x"), 0)
			if _, n := Settled[int](&model.Request{Messages: c.messages, Memo: memo}, c.frame); n != c.want {
				t.Errorf("%d messages are kept, want %d", n, c.want)
			}
		})
	}
}
