package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lyceum/internal/api"
	"lyceum/internal/event"
	"lyceum/internal/society/stages/study"
)

// study measures a researcher whom people talk to: what a prompt costs by how many cards its
// memory has, and what a thousand of them take that wait for a word.
func (b *bench) study() error {
	fmt.Printf("\nthe prompt of a study, by the cards of its memory\n")
	few, many := promptOf(100), promptOf(10_000)
	fmt.Printf("  100 cards: %.1f µs; 10,000 cards: %.1f µs\n", float64(few.Nanoseconds())/1000, float64(many.Nanoseconds())/1000)
	b.promise("times as long from 10,000 cards as from 100", float64(many)/float64(few), false, 2)
	b.promise("ms for a prompt from 10,000 cards", float64(many.Microseconds())/1000, false, 10)
	return b.atWait("studies that wait for a word", `{"name":%q,"problem":"Which?","society":"stages","model":"script:plan.yaml"}`, "rules:\n  - say: \"I heard you.\"\n", (*served).talk)
}

// promptOf is how long the blocks of a prompt take that are made from so many cards, the shortest
// of some hundred times.
func promptOf(cards int) time.Duration {
	s := study.New(study.Copilot, study.Scout, false)
	for i := range cards {
		s.Apply(event.Event{Seq: uint64(i) + 2, Type: "card.written", Actor: "researcher", Body: &event.CardWritten{
			Answer: uint64(i) + 1, ID: fmt.Sprintf("%032x", i), Kind: study.CardKinds[i%len(study.CardKinds)], Title: fmt.Sprintf("card about subject%d", i%97),
			Summary: fmt.Sprintf("annealing with schedule%d found nothing in attempt %d", i%13, i), Revision: 1, Stage: study.Scout,
		}})
	}
	f := &study.Facts{Skill: study.SkillDecision, Mail: []study.Letter{{Seq: 1 << 40, Text: "Did annealing with schedule7 find anything about subject13, or was every attempt for nothing?"}}}
	least := time.Hour
	for range 300 {
		begun := time.Now()
		s.Blocks(f)
		least = min(least, time.Since(begun))
	}
	return least
}

// talk says something to one of them, which must go on.
func (s *served) talk() error {
	ctx, begun := context.Background(), time.Now()
	if _, err := s.client.Send(ctx, "q7", api.NewMessage{Text: "And now?"}); err != nil {
		return err
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		d, err := s.client.Quest(ctx, "q7")
		if err != nil {
			return err
		}
		if d.Turns == 2 && d.Status == "waiting" {
			fmt.Printf("  a word to one of them: its sitting was over after %.0f ms\n", float64(time.Since(begun).Microseconds())/1000)
			return nil
		}
	}
	return errors.New("quest q7 does not go on after a word")
}
