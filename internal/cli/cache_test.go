package cli_test

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/model/modeltest"
)

// weigh is about how many bytes of a prompt some messages are.
func weigh(messages []model.Message) (n int) {
	for _, m := range messages {
		for _, p := range m.Parts {
			n += len(p.Text) + len(p.Args) + len(p.ID) + len(p.Name) + 40
		}
	}
	return n
}

// TestALongLoopStaysCached runs fifty turns with tools, and reckons from the requests,
// as Anthropic would, how much of them had been cached by the request before. With a
// small window there are cuts on the way: they are few, because each cuts to half.
func TestALongLoopStaysCached(t *testing.T) {
	t.Parallel()
	for window, want := range map[string]float64{"200000": 0.9, "5000": 0.9} {
		t.Run(window, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			var asked []*modeltest.Seen
			h := provided(t, "anthropic", modeltest.Handler(wires["anthropic"].wire, func(seen *modeltest.Seen) (modeltest.Reply, modeltest.Failure) {
				mu.Lock()
				defer mu.Unlock()
				asked = append(asked, seen)
				usage := event.Usage{Input: int64(fixed(seen)+weigh(seen.Messages)) / 4, Output: 60}
				if n := len(asked); n <= 50 {
					return modeltest.Reply{Usage: usage, Stop: model.StopTools, Parts: []model.Part{
						{Kind: event.PartText, Text: strings.Repeat("I look at the next case. ", 8)},
						{Kind: event.PartToolCall, ID: fmt.Sprint("call_", n), Name: "calculate", Args: fmt.Sprintf(`{"code":"print('case ' * 40 + '%d')"}`, n)},
					}}, ""
				}
				return modeltest.Reply{Usage: usage, Stop: model.StopEnd, Parts: []model.Part{{Kind: event.PartText, Text: "It holds."}}}, ""
			}))
			must(t, writeFolder(h.work, map[string]string{"quest.yaml": "name: q\nproblem: Does it hold?\nmodel: claude-sonnet-5\nwindow: " + window + "\n"}))
			h.run("run", "quest.yaml").want(t, 0, "It holds.")
			all, cached, cuts := 0, 0, 0
			for i, now := range asked[1:] {
				before := asked[i]
				same := 0
				for same < len(now.Messages) && same < before.CachedMessages && same < len(before.Messages) && reflect.DeepEqual(now.Messages[same], before.Messages[same]) {
					same++
				}
				if same < len(before.Messages) {
					cuts++
				}
				all += fixed(now) + weigh(now.Messages)
				cached += fixed(now) + weigh(now.Messages[:same])
			}
			share := float64(cached) / float64(all)
			t.Logf("%.1f %% of %d requests was cached, with %d cuts", 100*share, len(asked), cuts)
			if share < want || len(asked) != 51 || (window == "5000") != (cuts > 0) {
				t.Errorf("share %.3f, want %.2f; %d requests, %d cuts", share, want, len(asked), cuts)
			}
		})
	}
}

// fixed is what every request begins with.
func fixed(s *modeltest.Seen) (n int) {
	n = len(s.System)
	for _, tool := range s.Tools {
		n += len(tool.Name) + len(tool.Description) + len(tool.Schema)
	}
	return n
}
