package event_test

import (
	"slices"
	"testing"

	"lyceum/internal/event"
)

// TestTheCatalogueSaysWhatAnswersWhat: whoever adds a call or a result and forgets its
// other half is told here, not by a quest that stands still.
func TestTheCatalogueSaysWhatAnswersWhat(t *testing.T) {
	t.Parallel()
	answered := map[event.Type]bool{}
	for _, name := range event.Types() {
		_, result := event.New(name).(event.Result)
		call := name.Answered()
		if result != (call != "") {
			t.Errorf("%s has a method Answers: %v; the catalogue says that it answers %q", name, result, call)
		}
		if call == "" {
			continue
		}
		answered[call] = true
		if !call.Call() {
			t.Errorf("%s answers %s, which the catalogue does not know as a call", name, call)
		}
	}
	for _, name := range event.Types() {
		if name.Call() && !answered[name] {
			t.Errorf("%s is a call, and no type of event answers it", name)
		}
		if name.Call() && name.Input() {
			t.Errorf("%s is a call and an input: only rules can ask", name)
		}
	}
}

func TestOrdersAreInputsThatKeepTheirNumber(t *testing.T) {
	t.Parallel()
	orders := 0
	for _, name := range event.Types() {
		order, ok := event.New(name).(event.Order)
		if !ok {
			continue
		}
		orders++
		if order.SetNumber(7); order.Number() != 7 {
			t.Errorf("%s: got number %d after setting 7", name, order.Number())
		}
		if !name.Input() {
			t.Errorf("%s comes from an inbox, and the catalogue does not say that it is an input", name)
		}
	}
	if orders < 4 {
		t.Errorf("got %d kinds of orders, want at least 4", orders)
	}
}

// TestEveryInputIsSomebodysWord: whoever verifies a quest is told whose word it rests on, so a new input that is no
// result says whose it is.
func TestEveryInputIsSomebodysWord(t *testing.T) {
	t.Parallel()
	parties := []event.Party{event.PartyModel, event.PartyPerson, event.PartyServer, event.PartyAgent, event.PartyMachine}
	for _, typ := range event.Types() {
		word := typ.Word()
		switch {
		case typ.Input() && !slices.Contains(parties, word):
			t.Errorf("%s is an input and the word of %q: its line in the catalogue is to say whose, by saidBy with one of %q", typ, word, parties)
		case !typ.Input() && word != "":
			t.Errorf("%s is derived, and nobody's word: its line in the catalogue says %q", typ, word)
		}
	}
}
