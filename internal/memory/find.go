package memory

import (
	"context"
	"slices"

	"lyceum/internal/search"
	"lyceum/internal/society/stages/study"
)

// Approved are the cards of some kinds that a person has approved, the newest first. No kinds
// are all.
func Approved(all []*Card, kinds []string) []*Card {
	return slices.DeleteFunc(slices.Clone(all), func(c *Card) bool {
		return c.Approved == 0 || len(kinds) > 0 && !slices.Contains(kinds, c.Kind)
	})
}

// Others are the cards of other quests than one.
func Others(all []*Card, quest string) []*Card {
	return slices.DeleteFunc(slices.Clone(all), func(c *Card) bool { return c.Quest == quest })
}

// Plan are the cards for a prompt: the newest of each kind, and those with words of the mail.
func Plan(all []*Card, kinds []string, mail string) (out []*Card) {
	s := study.Study{}
	byID := map[string]*Card{}
	for i, c := range slices.Backward(all) {
		byID[c.ID] = c
		s.Cards = append(s.Cards, &study.Card{ID: c.ID, Kind: c.Kind, Title: c.Title, Tags: c.Tags, Summary: study.Summary(c.Text), Seq: uint64(len(all) - i)})
	}
	for _, k := range s.Plan(kinds, mail) {
		out = append(out, byID[k.ID])
	}
	return out
}

// Find are the cards that fit a question best, by their words.
func Find(ctx context.Context, all []*Card, query string, limit int) (out []*Card, err error) {
	docs, byID := make([]search.Document, 0, len(all)), map[string]*Card{}
	for _, c := range all {
		byID[c.ID] = c
		// The title counts with every paragraph's words, and is one to be found itself.
		docs = append(docs, search.Document{ID: c.ID, Title: c.Title, Paragraphs: append([]string{c.Title}, search.Paragraphs(c.Text, true)...)})
	}
	hits, err := search.NewIndex(docs).Search(ctx, query, max(100, 10*limit))
	for _, h := range hits {
		if c := byID[h.Doc]; c != nil && len(out) < limit {
			out = append(out, c)
			delete(byID, h.Doc) // its best paragraph is enough
		}
	}
	return out, err
}
