package demo

import (
	"encoding/binary"
	"hash/fnv"
)

// skill is a kind of question that the researcher can work on.
type skill interface {
	// recognise reads one sentence. It must take no sentence that it understands
	// only in part: a right answer to another question is a wrong one.
	recognise(s sentence) (inquiry, bool)
}

// inquiry is a question that was understood.
type inquiry interface {
	// plan makes the task. It may look at files on the way, and returns errPending
	// while it waits for them.
	plan(d *desk) (*task, error)
}

// skills are asked in this order.
func skills() []skill {
	return []skill{
		expressions{}, primes{}, nthPrime{}, fibonacci{}, digits{}, perfect{}, collatz{}, partitions{}, divisors{}, multiples{}, constants{},
		tables{},
	}
}

// task is how a question is worked on.
type task struct {
	// asks is what the question is understood to be, without a question mark.
	asks string
	// methods are independent of each other. The third decides between the others.
	methods [3]method
	// remarks belong into the answer: assumptions, and what was seen on the way.
	remarks []string
	// show makes a sentence of what the methods printed.
	show func(result string) string
	// refused says why the task is not done, and looked what was done instead.
	refused, looked string
}

// plan makes a task an inquiry that needs no look at anything.
func (t *task) plan(*desk) (*task, error) { return t, nil }

// method is a way to the result. Its code prints the result, and nothing else
// but remarks on lines that begin with #.
type method struct {
	name string
	code string
	// slips are mistakes that can be made in it. Each is sure to change the result.
	slips []slip
	// prepare looks at more before the code is run; it returns the code. prepared is
	// what to say then.
	prepare  func(d *desk, say string) (string, error)
	prepared string
}

// slip is a mistake made on purpose: the wrong code, and what was wrong.
type slip struct{ code, what string }

// character is what makes agents differ.
type character struct {
	// swap runs the second method first.
	swap bool
	// slip chooses a mistake; negative is none.
	slip int
}

// characterOf follows from the seed and the agent's name. Three of five make a
// mistake.
func characterOf(seed uint64, agent string) character {
	h := fnv.New64a()
	_, _ = h.Write(binary.BigEndian.AppendUint64(nil, seed))
	_, _ = h.Write([]byte(agent))
	// FNV's low bits are poor; splitmix64 stirs them.
	x := h.Sum64()
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x ^= x >> 31
	c := character{swap: x%2 == 1, slip: -1}
	if x/2%5 < 3 {
		c.slip = int(x / 10 % 1000)
	}
	return c
}

// choose returns which method has which slip; the first index is -1 if none has.
func (c character) choose(methods [2]method) (at, which int) {
	n := len(methods[0].slips) + len(methods[1].slips)
	if c.slip < 0 || n == 0 {
		return -1, 0
	}
	k := c.slip % n
	if k < len(methods[0].slips) {
		return 0, k
	}
	return 1, k - len(methods[0].slips)
}
