package postgres_test

import (
	"fmt"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/ledger/postgres/postgrestest"
	"lyceum/internal/need"

	"github.com/anishathalye/porcupine"
)

// owned is a quest with its head and the epoch of its last taking.
type owned struct {
	place
	epoch int64
}

// fenced is a quest that nodes take from each other: each taking has a higher epoch, and only who has the last one
// writes and begins calls.
var fenced = porcupine.Model{
	Init: func() any { return owned{} },
	Step: func(state, input, _ any) (bool, any) {
		s, d := state.(owned), input.(deed)
		at := place{d.Seq, d.Hash}
		switch d.Kind {
		case "took":
			return d.Epoch > s.epoch, owned{s.place, d.Epoch}
		case "look":
			return s.place == at, s
		case "append":
			return s.place == at && s.epoch == d.Epoch, owned{place{d.Seq + 1, d.Next}, s.epoch}
		default: // call
			return s.epoch == d.Epoch, s
		}
	},
}

// judge holds what nodes told of a quest against the model. What was refused left nothing, so it is no part of it.
func judge(t *testing.T, quest string, nodes []*member) bool {
	t.Helper()
	h := &history{}
	for _, m := range nodes {
		for _, d := range m.of(quest, "") {
			if d.Error != "" {
				t.Errorf("node %d, %s of quest %s: %s", m.who, d.Kind, quest, d.Error)
			}
			if d.Done && d.Kind != "lost" && d.Kind != "ended" {
				h.all = append(h.all, porcupine.Operation{ClientId: m.who, Input: d, Call: d.Begun, Return: d.Ended})
			}
		}
	}
	return h.holds(t, fenced)
}

// fault makes the node of a number still for a while: wait returns when it has been long enough.
type fault func(t *testing.T, node, round int, wait func())

// sink is one round: the first node has a quest and comes to a stand, the other takes the quest and goes on with it; then
// the first goes on, and is to tell that it lost the quest.
func sink(t *testing.T, round int, nodes []*member, f fault, atLeast time.Duration, leaveOut string) (whole bool) {
	t.Helper()
	quest := fmt.Sprint("q", round)
	victim := round % 2
	first, second := nodes[victim], nodes[1-victim]
	first.order(order{Quest: quest, LeaveOut: leaveOut})
	first.await(quest, "call", 3)
	second.order(order{Quest: quest})
	var still int
	f(t, victim, round, func() {
		begun := time.Now()
		second.await(quest, "took", 1)
		second.await(quest, "append", 5)
		time.Sleep(atLeast - time.Since(begun))
		still = len(first.of(quest, ""))
	})
	if leaveOut == "" {
		first.await(quest, "lost", 1)
		second.await(quest, "append", len(second.of(quest, "append"))+3)
	} else {
		first.await(quest, "", still+10)
	}
	for _, m := range nodes {
		m.order(order{Quest: quest, End: true})
	}
	for _, m := range nodes {
		m.await(quest, "ended", 1)
	}
	return judge(t, quest, nodes)
}

// stopped stops a process, as a machine that is suspended does.
func stopped(nodes []*member) fault {
	return func(t *testing.T, node, _ int, wait func()) {
		t.Helper()
		must(t, nodes[node].cmd.Process.Signal(syscall.SIGSTOP))
		wait()
		must(t, nodes[node].cmd.Process.Signal(syscall.SIGCONT))
	}
}

// cutOff cuts the line between a node and the database: wholly, or its answers.
func cutOff(lines []*postgrestest.Line) fault {
	return func(t *testing.T, node, round int, wait func()) {
		t.Helper()
		mend, err := lines[node].Cut(round/2%2 == 1)
		must(t, err)
		wait()
		must(t, mend())
	}
}

// wired are clusters of two nodes each, every one at the end of a line of its own to the same server. lines[i] are
// those of a cluster, and start starts its nodes.
func wired(t *testing.T, clusters int) (lines [][]*postgrestest.Line, start func(t *testing.T, i int) []*member) {
	t.Helper()
	needServer(t)
	var here []string
	for range clusters {
		two := []*postgrestest.Line{postgrestest.NewLine(t), postgrestest.NewLine(t)}
		lines = append(lines, two)
		here = append(here, two[0].Here, two[1].Here)
	}
	own := postgrestest.Start(t, "listen_addresses = '"+strings.Join(here, ",")+"'")
	must(t, own.Admit("host all lyceum 198.18.0.0/15 trust"))
	return lines, func(t *testing.T, i int) (nodes []*member) {
		t.Helper()
		name, err := own.Named(fmt.Sprint("cluster", i))
		must(t, err)
		for who, line := range lines[i] {
			address := url.URL{Scheme: "postgres", User: url.User("lyceum"), Host: line.Here + ":5432", Path: name, RawQuery: "sslmode=disable"}
			nodes = append(nodes, newMember(t, who, address.String(), line.Inside()...))
		}
		return nodes
	}
}

// pair is a cluster of two nodes on this machine's own network.
func pair(t *testing.T) []*member {
	t.Helper()
	address, _ := database(t)
	return []*member{newMember(t, 0, address), newMember(t, 1, address)}
}

// The long form is 200 rounds in eight clusters side by side, in which a node stands still for 20 seconds, the short one
// five rounds of as long as it takes to lose a quest.

func stand(clusters int) time.Duration {
	if clusters > 1 {
		return 20 * time.Second
	}
	return 0
}

// rounds runs so many of one cluster, and tells how long they took.
func rounds(t *testing.T, n int, nodes []*member, f fault, atLeast time.Duration) {
	t.Helper()
	begun := time.Now()
	for round := range n {
		if !sink(t, round, nodes, f, atLeast, "") {
			t.Errorf("round %d: no order of what the nodes told gives a quest that one node at a time had: lost, doubled or stale", round)
		}
	}
	t.Logf("%d rounds in %v", n, time.Since(begun).Round(time.Second))
}

func TestANodeThatWasStoppedWritesNothingAfterItWakes(t *testing.T) {
	t.Parallel()
	clusters, each := need.Times(1, 8), need.Times(5, 25)
	for i := range clusters {
		t.Run(fmt.Sprint("Cluster", i), func(t *testing.T) {
			t.Parallel()
			nodes := pair(t)
			rounds(t, each, nodes, stopped(nodes), stand(clusters))
		})
	}
}

// TestANodeThatWasCutOffWritesNothingUnderALostClaim: by a line that is down, or over which no answer comes.
func TestANodeThatWasCutOffWritesNothingUnderALostClaim(t *testing.T) {
	t.Parallel()
	clusters, each := need.Times(1, 8), need.Times(5, 25)
	lines, start := wired(t, clusters)
	for i := range clusters {
		t.Run(fmt.Sprint("Cluster", i), func(t *testing.T) {
			t.Parallel()
			rounds(t, each, start(t, i), cutOff(lines[i]), stand(clusters))
		})
	}
}

// TestANodeThatWasStoppedInATransactionHoldsNobodyUp: what its transaction has locked is free long before the server
// would notice that nobody is there.
func TestANodeThatWasStoppedInATransactionHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	address, _ := database(t)
	owner, other := newMember(t, 0, address), newMember(t, 1, address+"&application_name=other")
	owner.order(order{Quest: "q"})
	owner.await("q", "append", 1)
	other.order(order{Quest: "q"}) // asks for it again and again, which locks the quest's row for a moment
	within := func() bool {
		return ask[bool](t, address, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'other' AND state = 'idle in transaction' AND query LIKE '%INTO lyceum.quests%')")
	}
	for begun := time.Now(); ; {
		must(t, other.cmd.Process.Signal(syscall.SIGSTOP))
		if within() {
			break
		}
		must(t, other.cmd.Process.Signal(syscall.SIGCONT))
		if time.Since(begun) > 90*time.Second {
			t.Fatal("the node was never stopped within a transaction: the test shows nothing")
		}
		time.Sleep(time.Duration(time.Now().UnixNano() % int64(nodeBeat/20)))
	}
	owner.await("q", "append", len(owner.of("q", "append"))+20)
	must(t, other.cmd.Process.Signal(syscall.SIGCONT))
	for _, m := range []*member{owner, other} {
		m.order(order{Quest: "q", End: true})
		m.await("q", "ended", 1)
	}
	if !judge(t, "q", []*member{owner, other}) {
		t.Error("no order of what the nodes told gives a quest that one node at a time had")
	}
}

// TestAFenceLeftOutIsFound by what judges those rounds.
func TestAFenceLeftOutIsFound(t *testing.T) {
	t.Parallel()
	found := func(t *testing.T, how string, nodes []*member, f fault) {
		t.Helper()
		for round, what := range []string{unfenced, unasked} {
			if sink(t, round, nodes, f, 0, what) {
				t.Errorf("a node that was %s and leaves out %s: its history passes for a sound one", how, what)
			}
		}
	}
	t.Run("Stopped", func(t *testing.T) {
		t.Parallel()
		nodes := pair(t)
		found(t, "stopped", nodes, stopped(nodes))
	})
	t.Run("CutOff", func(t *testing.T) {
		t.Parallel()
		lines, start := wired(t, 1)
		found(t, "cut off", start(t, 0), cutOff(lines[0]))
	})
}
