package ledgertest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
)

// ids names the tokens of a store, in its order.
func ids(t *testing.T, st ledger.Store) string {
	t.Helper()
	tokens, err := st.Tokens(t.Context())
	must(t, err)
	var out []string
	for _, tok := range tokens {
		out = append(out, tok.ID)
	}
	return strings.Join(out, " ")
}

func testTokens(t *testing.T, s *suite) {
	dir := t.TempDir()
	first, second := s.store(t, dir), s.store(t, dir)
	ctx := t.Context()
	laptop := ledger.Token{ID: "laptop", Hash: event.HashOf([]byte("secret")), Scope: "quest:primes", Note: "Ada's, of March", Created: 20, Expires: 90}
	phone := ledger.Token{ID: "phone", Hash: event.HashOf([]byte("another")), Scope: "read", Created: 10}

	t.Run("ThereAreNoneAtFirst", func(t *testing.T) {
		if got := ids(t, first); got != "" {
			t.Errorf("a new store has the tokens %q, want none", got)
		}
	})
	t.Run("AnotherProcessSeesWhatWasPutAllOfIt", func(t *testing.T) {
		must(t, first.PutToken(ctx, laptop))
		got, err := second.Tokens(ctx)
		must(t, err)
		if len(got) != 1 || got[0] != laptop {
			t.Errorf("the other process sees %+v, want %+v", got, laptop)
		}
	})
	t.Run("TheOldestComesFirst", func(t *testing.T) {
		must(t, second.PutToken(ctx, phone))
		must(t, second.PutToken(ctx, ledger.Token{ID: "as-old", Hash: phone.Hash, Created: laptop.Created}))
		if got, want := ids(t, first), "phone laptop as-old"; got != want {
			t.Errorf("the tokens are %q, want %q", got, want)
		}
	})
	t.Run("RefusesANameThatIsThereAndKeepsItsToken", func(t *testing.T) {
		wantError(t, second.PutToken(ctx, ledger.Token{ID: "laptop", Hash: phone.Hash, Scope: "steer", Created: 30}), ledger.ErrToken)
		got, err := first.Tokens(ctx)
		must(t, err)
		if got[1] != laptop {
			t.Errorf("the token is now %+v, want it as it was: %+v", got[1], laptop)
		}
	})
	t.Run("RefusesOneWithoutANameOrAHash", func(t *testing.T) {
		if first.PutToken(ctx, ledger.Token{Hash: phone.Hash}) == nil || first.PutToken(ctx, ledger.Token{ID: "open"}) == nil {
			t.Error("a token that nobody could name, or anybody could use, was kept")
		}
	})
	t.Run("DroppedIsGoneForEverybody", func(t *testing.T) {
		must(t, second.DropToken(ctx, "phone"))
		if got, want := ids(t, first), "laptop as-old"; got != want {
			t.Errorf("the tokens are %q, want %q", got, want)
		}
		wantError(t, first.DropToken(ctx, "phone"), ledger.ErrNoToken)
		must(t, first.PutToken(ctx, phone)) // the name is free again
	})
	t.Run("OfManyWhoPutOneNameOneWins", func(t *testing.T) { putOneName(t, first, second) })
	t.Run("OutlastsTheStore", func(t *testing.T) {
		want := ids(t, first)
		must(t, first.Close())
		if got := ids(t, s.store(t, dir)); got != want {
			t.Errorf("after closing and opening the tokens are %q, want %q", got, want)
		}
		wantError(t, first.PutToken(ctx, ledger.Token{ID: "late", Hash: phone.Hash}), ledger.ErrClosed)
	})
}

// putOneName has two processes put the same ID at once.
func putOneName(t *testing.T, stores ...ledger.Store) {
	var wg sync.WaitGroup
	won := make([]int, 8)
	for i := range won {
		wg.Go(func() {
			err := stores[i%len(stores)].PutToken(t.Context(), ledger.Token{ID: "shared", Hash: event.HashOf([]byte(fmt.Sprint(i))), Created: 40})
			if err == nil {
				won[i] = 1
			} else if !errors.Is(err, ledger.ErrToken) {
				t.Errorf("writer %d: got %v, want ErrToken", i, err)
			}
		})
	}
	wg.Wait()
	sum, winner := 0, 0
	for i, n := range won {
		if sum += n; n == 1 {
			winner = i
		}
	}
	tokens, err := stores[0].Tokens(t.Context())
	must(t, err)
	if last := tokens[len(tokens)-1]; sum != 1 || last.Hash != event.HashOf([]byte(fmt.Sprint(winner))) {
		t.Errorf("%d writers were told that their token is kept, want one, and its token to be there", sum)
	}
}
