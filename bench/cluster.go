package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lyceum/internal/api"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/postgres"
	"lyceum/internal/ledger/postgres/postgrestest"

	"github.com/jackc/pgx/v5"
)

// cluster measures the ledger on a PostgreSQL of its own, and nodes of the built program that share it.
func (b *bench) cluster() error {
	fmt.Println("\nPostgreSQL, started for this: flushed, without a standby, by a socket")
	server, err := postgrestest.New()
	if err != nil {
		return err
	}
	return errors.Join(b.fenced(server), b.told(server), b.nodes(server), server.Remove())
}

// fenced sets appends against what a driver could do that checks nothing: it inserts what is queued by one
// unnest into a table of the same columns, without heads, hashes and epochs.
func (b *bench) fenced(server *postgrestest.Server) error {
	total := 4000
	if b.quick {
		total = 1000
	}
	for _, n := range []int{1, 8, 64} {
		var ours, plain []float64
		for round := range 3 {
			address, err := server.Database(fmt.Sprintf("fenced%d_%d", n, round))
			if err != nil {
				return err
			}
			a, err := appendRate(address, n, total)
			if err != nil {
				return err
			}
			p, err := plainRate(address, n, total)
			if err != nil {
				return err
			}
			ours, plain = append(ours, a), append(plain, p)
		}
		a, p := median(ours), median(plain)
		fmt.Printf("  %2d writers: %.0f appends/s, %.0f plain inserts/s\n", n, a, p)
		b.promise(fmt.Sprintf("fenced appends, share of plain inserts, %d writers", n), a/p, true, 0.8)
	}
	return nil
}

// appendRate has n quests append an event at a time, and returns how many they appended in a second.
func appendRate(address string, n, total int) (float64, error) {
	store, err := postgres.Open(context.Background(), address, nil)
	if err != nil {
		return 0, err
	}
	defer store.Close()
	quests := make([]*growing, n)
	for i := range quests {
		quests[i] = &growing{store: store, quest: fmt.Sprintf("q%d", i)}
		if err := quests[i].grow(1); err != nil {
			return 0, err
		}
	}
	return rateOf(n, total, func(i int) error { return quests[i].grow(1) })
}

// rateOf has n goroutines do total things between them.
func rateOf(n, total int, do func(i int) error) (float64, error) {
	var all sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(total))
	errs := make([]error, n)
	begun := time.Now()
	for i := range n {
		all.Go(func() {
			for errs[i] == nil && left.Add(-1) >= 0 {
				errs[i] = do(i)
			}
		})
	}
	all.Wait()
	return float64(total) / time.Since(begun).Seconds(), errors.Join(errs...)
}

// plainRow is a row that somebody waits for.
type plainRow struct {
	quest, seq int64
	line       []byte
	done       chan error
}

func plainRate(address string, n, total int) (float64, error) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	if _, err := conn.Exec(ctx, "CREATE TABLE plain (quest bigint, seq bigint, line bytea, PRIMARY KEY (quest, seq))"); err != nil {
		return 0, err
	}
	queue := make(chan plainRow, 1024)
	ended := make(chan struct{})
	go func() { insertPlain(ctx, conn, queue); close(ended) }()
	seqs := make([]int64, n)
	heads := make([]ledger.Head, n)
	rate, err := rateOf(n, total, func(i int) error {
		// It seals its events, as those who append to a ledger do.
		e, err := nextWord(fmt.Sprintf("q%d", i), heads[i])
		if err != nil {
			return err
		}
		heads[i].Seq, heads[i].Hash = e.Seq, e.Hash
		seqs[i]++
		r := plainRow{int64(i), seqs[i], e.Line(), make(chan error, 1)}
		queue <- r
		return <-r.done
	})
	close(queue)
	<-ended
	return rate, err
}

func insertPlain(ctx context.Context, conn *pgx.Conn, queue <-chan plainRow) {
	for r := range queue {
		rows := []plainRow{r}
		for more := true; more && len(rows) < 1024; {
			select {
			case r, ok := <-queue:
				if more = ok; ok {
					rows = append(rows, r)
				}
			default:
				more = false
			}
		}
		var quests, seqs []int64
		var lines [][]byte
		for _, r := range rows {
			quests, seqs, lines = append(quests, r.quest), append(seqs, r.seq), append(lines, r.line)
		}
		_, err := conn.Exec(ctx, "INSERT INTO plain SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bytea[])", quests, seqs, lines)
		for _, r := range rows {
			r.done <- err
		}
	}
}

// told measures how long it takes from an append until a follower with a store of its own has the event: by
// NOTIFY, and where there is none.
func (b *bench) told(server *postgrestest.Server) error {
	for _, way := range []struct {
		name   string
		silent bool
		most   float64
	}{{"notification", false, 5}, {"polling", true, 300}} {
		address, err := server.Database("told_" + way.name)
		if err != nil {
			return err
		}
		took, err := latency(address, &postgres.Options{Silent: way.silent})
		if err != nil {
			return err
		}
		b.promise(fmt.Sprintf("ms from an append to a follower elsewhere, by %s, at the median", way.name), median(took), false, way.most)
	}
	return nil
}

func latency(address string, opts *postgres.Options) (took []float64, err error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	writer, err := postgres.Open(ctx, address, opts)
	if err != nil {
		return nil, err
	}
	defer writer.Close()
	reader, err := postgres.Open(ctx, address, opts)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	g := &growing{store: writer, quest: "q"}
	if err := g.grow(1); err != nil {
		return nil, err
	}
	seen := make(chan time.Time)
	go func() {
		for _, err := range reader.Follow(ctx, "q", 2) {
			if err != nil {
				close(seen)
				return
			}
			seen <- time.Now()
		}
	}()
	time.Sleep(time.Second) // it follows by now
	for range 60 {
		if err := g.grow(1); err != nil {
			return nil, err
		}
		done := time.Now()
		at, ok := <-seen
		if !ok {
			return nil, errors.New("the follower ended")
		}
		took = append(took, max(0, at.Sub(done).Seconds()*1000))
		time.Sleep(17 * time.Millisecond) // not in step with whoever polls
	}
	return took, nil
}

// eachNode is how many quests a node runs.
const eachNode = 16

// nodes measures turns of four nodes of the built program against one, with models that take 100 ms.
func (b *bench) nodes(server *postgrestest.Server) error {
	program, err := b.build()
	if err != nil {
		return err
	}
	models, stop, err := startProcess("-serve-openai")
	if err != nil {
		return err
	}
	defer stop()
	p := &paths{bench: b, program: program, server: models}
	rates := map[int]float64{}
	for _, n := range []int{1, 4} {
		address, err := server.Database(fmt.Sprintf("nodes%d", n))
		if err != nil {
			return err
		}
		if rates[n], err = p.shared(n, address); err != nil {
			return fmt.Errorf("%d nodes: %w", n, err)
		}
	}
	fmt.Printf("  turns/s of %d quests a node, models that take 100 ms: one node %.0f, four nodes %.0f\n", eachNode, rates[1], rates[4])
	b.promise("turns/s of four nodes, times those of one", rates[4]/rates[1], true, 3.5)
	return nil
}

// shared has n nodes run the quests that each was told of, and returns the turns in a second.
func (p *paths) shared(n int, address string) (rate float64, err error) {
	t := trip{N: n * eachNode, K: 50, Window: 2_000_000, Server: p.server, Slow: true}
	var nodes []*served
	defer func() {
		for _, s := range nodes {
			s.stop()
		}
	}()
	for range n {
		t.Dir = p.fresh()
		defer os.RemoveAll(t.Dir)
		if err := t.home(); err != nil {
			return 0, err
		}
		s, err := startServe(p.program, t.Dir, "LYCEUM_LEDGER="+address, "LYCEUM_TOKEN="+strings.Repeat("0b", 32))
		if err != nil {
			return 0, err
		}
		nodes = append(nodes, s)
	}
	if err := p.watch(t, nodes[0].cmd.Process.Pid); err != nil {
		return 0, err
	}
	ctx := context.Background()
	_, err = callers(t.N, func(i int) error {
		_, err := nodes[i%n].client.Create(ctx, api.NewQuest{Spec: []byte(t.spec(fmt.Sprintf("q%d", i)))})
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("make a quest: %w", err)
	}
	_, err = callers(t.N, func(i int) error {
		_, err := nodes[i%n].client.Control(ctx, fmt.Sprintf("q%d", i), api.Control{Action: "start"})
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("start a quest: %w", err)
	}
	s, err := p.seen()
	if err != nil {
		return 0, err
	}
	return float64(t.N*t.K) / s.Wall, kept(address, t.N)
}

// kept finds out whether the quests are where they were meant to be.
func kept(address string, want int) error {
	store, err := postgres.Open(context.Background(), address, nil)
	if err != nil {
		return err
	}
	defer store.Close()
	heads, err := store.Quests(context.Background())
	if err == nil && len(heads) != want {
		err = fmt.Errorf("the database has %d quests, want %d", len(heads), want)
	}
	return err
}

// nextWord is the next event of a quest of small events.
func nextWord(quest string, head ledger.Head) (event.Event, error) {
	return event.Seal(quest, head.Seq+1, head.Hash, event.Draft{Time: event.Time(head.Seq), Actor: "agent-0", Body: &event.UserMessage{Text: event.Text{Text: "a word"}}})
}
