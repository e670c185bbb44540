package sqlite

import "sync"

// recent remembers where this process's latest events stand, until the index
// covers them, so that reading a quest that is being written need not scan the
// end of the table. It knows nothing of what other processes write: when one
// has, it begins anew.
type recent struct {
	mu sync.Mutex
	// All rows in (from, to] are in of, by quest.
	from, to int64
	of       map[int64][]run
}

// committed notes the rows of a transaction that began after row before.
func (r *recent) committed(before, last int64, rows map[int64][]run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if before != r.to || r.of == nil {
		r.from, r.of = before, map[int64][]run{}
	}
	r.to = last
	for quest, runs := range rows {
		for _, next := range runs {
			r.of[quest] = addRun(r.of[quest], next)
		}
	}
}

func addRun(runs []run, next run) []run {
	if n := len(runs); n > 0 && runs[n-1].last+1 == next.first {
		runs[n-1].last = next.last
		return runs
	}
	return append(runs, next)
}

// covered forgets what the index knows.
func (r *recent) covered(by int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if by <= r.from {
		return
	}
	r.from = by
	for quest, runs := range r.of {
		keep := runs[:0]
		for _, x := range runs {
			if x.last > by {
				keep = append(keep, x)
			}
		}
		if len(keep) == 0 {
			delete(r.of, quest)
		} else {
			r.of[quest] = keep
		}
	}
	r.to = max(r.to, by)
}

// after returns where a quest's rows beyond row covered stand, if that is known.
func (r *recent) after(quest, covered int64) []run {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil || covered < r.from {
		return nil
	}
	return append([]run(nil), r.of[quest]...)
}
