package modeltest

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/model"
	"lyceum/internal/need"

	"github.com/go-json-experiment/json"
)

// What providers cache, in bytes; a token is about four.
const (
	// least is the shortest prefix that is cached.
	least = 1024 * 4
	// step is by how much an automatic cache grows.
	step = 128 * 4
	// lookback is how many blocks before a cache point are searched for one of an
	// earlier request, itself included.
	lookback = 20
)

func testCache(t *testing.T, d Driver) {
	run(t, "HoldsMostOfALongLoop", func(t *testing.T) {
		turns := 50
		if need.Detector {
			turns = 30 // what is sent grows with the square, and the detector finds nothing new in it
		}
		share := CachedShare(t, d, turns)
		t.Logf("cached share over %d turns: %.2f %%", turns, 100*share)
		if share <= 0.9 {
			t.Errorf("only %.1f %% of the loop would come from the provider's cache", 100*share)
		}
	})
}

// CachedShare plays a loop of tools with so many turns through the driver, and
// returns which share of all that was sent the provider would have read from its
// cache. With cache points that is what lies before a point of the request and was
// sent before, up to a point that an earlier request had there or up to twenty
// blocks before; without, it is what begins as the request before it began. Every
// tenth turn makes more calls than a look back reaches.
func CachedShare(t *testing.T, d Driver, turns int) float64 {
	t.Helper()
	var plays []play
	for i := range turns {
		plays = append(plays, d.answer(d.step(i), nil))
	}
	s := serve(t, d, plays...)
	r := d.request(user(text("Find out which of these numbers are prime. " + strings.Repeat("Take care. ", 40))))
	r.System = strings.Repeat("You are a researcher who computes and does not guess. ", 60)
	r.Tools, r.Thinking = kit(), d.Thinking
	for i := range turns {
		r.Turn = int64(i + 1)
		a := d.must(t, s, r)
		r.Messages = append(r.Messages, d.turn(a)...)
		last := r.Messages[len(r.Messages)-1].Parts
		for j := range last {
			last[j].Text += strings.Repeat(fmt.Sprintf(" line %d of turn %d\n", j, i), 40)
		}
	}
	if d.CachePoints {
		return pointed(t, s.all())
	}
	return automatic(s.all())
}

// step is what the server says in a turn of the loop.
func (d Driver) step(i int) Reply {
	out := Reply{Stop: model.StopTools}
	if d.Thinking {
		out.Parts = append(out.Parts, thought(fmt.Sprintf("Turn %d: what is left?", i), fmt.Sprintf("c2lnbmF0dXJl%08d", i)))
	}
	out.Parts = append(out.Parts, text(fmt.Sprintf("I look at number %d. ", i)))
	calls := 1 + i%3
	if i%10 == 9 {
		calls = 15
	}
	for j := range calls {
		out.Parts = append(out.Parts, call(fmt.Sprintf("call_%d_%d", i, j), "is_prime", fmt.Sprintf(`{"n":%d}`, 100*i+j)))
	}
	return out
}

// blocks are the pieces of a prompt, in the order in which providers cache them.
func blocks(s *Seen) []string {
	var out []string
	add := func(v any) {
		data, err := json.Marshal(v, json.Deterministic(true))
		if err != nil {
			panic(err) // what was read from JSON can be written
		}
		out = append(out, string(data))
	}
	for _, x := range s.Tools {
		add(x)
	}
	if s.System != "" {
		add(s.System)
	}
	for _, m := range s.Messages {
		for _, p := range m.Parts {
			add(struct {
				Role model.Role
				Part model.Part
			}{m.Role, p})
		}
	}
	return out
}

// points are the cache points of a request, in blocks.
func points(s *Seen) []int {
	if s.CachePoints != nil || s.CachedMessages < 0 {
		return s.CachePoints
	}
	n := len(s.Tools)
	if s.System != "" {
		n++
	}
	for _, m := range s.Messages[:s.CachedMessages] {
		n += len(m.Parts)
	}
	return []int{n}
}

func pointed(t *testing.T, all []*Seen) float64 {
	t.Helper()
	written := map[[sha256.Size]byte]bool{}
	var cached, total int
	for i, s := range all {
		list := blocks(s)
		sizes, sums := []int{0}, [][sha256.Size]byte{{}} // of what is before each block
		whole := sha256.New()
		for _, b := range list {
			fmt.Fprintf(whole, "%d:%s", len(b), b)
			sizes = append(sizes, sizes[len(sizes)-1]+len(b))
			sums = append(sums, [sha256.Size]byte(whole.Sum(nil)))
		}
		hit := 0
		own := points(s)
		if len(own) == 0 {
			t.Errorf("request %d has no cache point", i)
		}
		for _, p := range own {
			for q := p; q > max(p-lookback, 0); q-- {
				if written[sums[q]] {
					hit = max(hit, sizes[q])
				}
			}
		}
		for _, p := range own {
			if sizes[p] >= least {
				written[sums[p]] = true
			}
		}
		cached, total = cached+hit, total+sizes[len(list)]
	}
	return float64(cached) / float64(total)
}

func automatic(all []*Seen) float64 {
	var cached, total int
	before := ""
	for _, s := range all {
		now := strings.Join(blocks(s), "")
		same := 0
		for same < min(len(before), len(now)) && before[same] == now[same] {
			same++
		}
		if same >= least {
			cached += least + (same-least)/step*step
		}
		total += len(now)
		before = now
	}
	return float64(cached) / float64(total)
}
