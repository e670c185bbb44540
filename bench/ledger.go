package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/sqlite"

	"golang.org/x/sys/unix"
)

// appendFunc makes one event durable.
type appendFunc func(quest string, e event.Event) error

// ledger compares durable appends of 2.6 KB events with a plain segmented file
// that flushes by the same rule: one flush for whatever is queued, and nobody is
// told before it.
func (b *bench) ledger() error {
	fmt.Println("\nDurable appends of 2.6 KB events, hash chain included; medians of interleaved runs")
	fmt.Printf("  %8s %14s %14s %8s\n", "writers", "plain file/s", "ledger/s", "ratio")
	span, rounds := 2*time.Second, 5
	if b.quick {
		span, rounds = 700*time.Millisecond, 3
	}
	for _, writers := range []int{1, 8, 64, 512} {
		var plain, ours []float64
		for range rounds {
			p, err := b.measureAppends(writers, span, openPlain)
			if err != nil {
				return err
			}
			o, err := b.measureAppends(writers, span, openLedger)
			if err != nil {
				return err
			}
			plain, ours = append(plain, p), append(ours, o)
		}
		ratio := median(ours) / median(plain)
		fmt.Printf("  %8d %14.0f %14.0f %8.2f\n", writers, median(plain), median(ours), ratio)
		switch writers {
		case 1:
			b.promise("appends of 1 writer, share of the plain file's", ratio, true, 0.70)
		case 64:
			b.promise("appends of 64 writers, share of the plain file's", ratio, true, 0.35)
		}
	}
	return nil
}

func (b *bench) measureAppends(writers int, span time.Duration, open func(dir string) (appendFunc, func() error, error)) (float64, error) {
	dir := b.fresh()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	put, closeAll, err := open(dir)
	if err != nil {
		return 0, err
	}
	text := strings.Repeat("a laboratory of agents ", 102)
	begun := time.Now()
	var wg sync.WaitGroup
	counts, errs := make([]int, writers), make([]error, writers)
	for i := range writers {
		wg.Go(func() {
			var seq uint64
			var prev event.Hash
			quest := fmt.Sprintf("q%d", i)
			for time.Since(begun) < span {
				e, err := event.Seal(quest, seq+1, prev, event.Draft{Time: event.Time(seq), Actor: "agent-0", Body: &event.UserMessage{Text: event.Text{Text: text}}})
				if err == nil {
					err = put(quest, e)
				}
				if err != nil {
					errs[i] = err
					return
				}
				seq, prev = e.Seq, e.Hash
				counts[i]++
			}
		})
	}
	wg.Wait()
	took := time.Since(begun).Seconds()
	total := 0
	for i := range counts {
		if errs[i] != nil {
			return 0, errs[i]
		}
		total += counts[i]
	}
	return float64(total) / took, closeAll()
}

func openLedger(dir string) (appendFunc, func() error, error) {
	s, err := sqlite.Open(filepath.Join(dir, "lyceum.db"), nil)
	if err != nil {
		return nil, nil, err
	}
	return func(quest string, e event.Event) error {
		return s.Append(context.Background(), ledger.Batch{Quest: quest, Events: []event.Event{e}})
	}, s.Close, nil
}

// plainFile is the limit: lines in files of 64 MiB, one write and one fdatasync
// for all that is queued.
type plainFile struct {
	queue chan *plainRequest
	done  chan struct{}
	dir   string
}

type plainRequest struct {
	line []byte
	err  chan error
}

func openPlain(dir string) (appendFunc, func() error, error) {
	p := &plainFile{queue: make(chan *plainRequest, 1024), done: make(chan struct{}), dir: dir}
	f, err := p.segment(0)
	if err != nil {
		return nil, nil, err
	}
	go p.write(f)
	put := func(_ string, e event.Event) error {
		r := &plainRequest{line: e.Line(), err: make(chan error, 1)}
		p.queue <- r
		return <-r.err
	}
	return put, func() error { close(p.queue); <-p.done; return nil }, nil
}

func (p *plainFile) segment(n int) (*os.File, error) {
	return os.Create(filepath.Join(p.dir, fmt.Sprintf("segment-%06d", n)))
}

func (p *plainFile) write(f *os.File) {
	defer close(p.done)
	var buf []byte
	var group []*plainRequest
	written, segments := 0, 0
	for r := range p.queue {
		group, buf = append(group[:0], r), append(append(buf[:0], r.line...), '\n')
		for len(group) < 1024 {
			select {
			case r, ok := <-p.queue:
				if !ok {
					break
				}
				group, buf = append(group, r), append(append(buf, r.line...), '\n')
				continue
			default:
			}
			break
		}
		_, err := f.Write(buf)
		if err == nil {
			err = unix.Fdatasync(int(f.Fd()))
		}
		for _, r := range group {
			r.err <- err
		}
		if written += len(buf); written > 64<<20 && err == nil {
			_ = f.Close()
			segments++
			if f, err = p.segment(segments); err != nil {
				return
			}
			written = 0
		}
	}
	_ = f.Close()
}
