package computer

import (
	"os"
	"path/filepath"
	"slices"
	"time"
)

// The logs of a computer together may take as much disk as its home. What is over and
// has lain for a while goes first: whoever wanted it has it. If that is not enough, the
// command that writes the most is killed.

// settled is how long a log must have been left alone to be given up.
const settled = time.Minute

// grew counts what was added to a log.
func (c *Computer) grew(n int64) {
	if c.logs.Add(n) <= c.saved.Fingerprint.Limits.Disk || !c.trimming.CompareAndSwap(false, true) {
		return
	}
	if !c.spawn(func() {
		defer c.trimming.Store(false)
		c.trim(c.saved.Fingerprint.Limits.Disk)
	}) {
		c.trimming.Store(false)
	}
}

// countLogs looks how much disk the logs take, the oldest first.
func (c *Computer) countLogs() (list []os.FileInfo, sum int64) {
	entries, err := os.ReadDir(filepath.Join(c.place.Dir, "log"))
	if err != nil {
		return nil, 0
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			list = append(list, info)
			sum += info.Size()
		}
	}
	slices.SortFunc(list, func(a, b os.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	return list, sum
}

func (c *Computer) trim(limit int64) {
	list, sum := c.countLogs()
	for _, info := range list {
		if sum <= limit/2 || now().Sub(info.ModTime()) < settled {
			break
		}
		if k := c.ours(info.Name()); k != nil && !k.over() {
			continue
		}
		if c.Forget(c.ctx, info.Name()) == nil {
			sum -= info.Size()
		}
	}
	if sum > limit {
		c.stopLargest(list)
	}
	_, sum = c.countLogs()
	c.logs.Store(sum)
}

// stopLargest kills the command that has written the most and still runs.
func (c *Computer) stopLargest(list []os.FileInfo) {
	var worst *capture
	var most int64
	for _, info := range list {
		if k := c.ours(info.Name()); k != nil && !k.over() && info.Size() > most {
			worst, most = k, info.Size()
		}
	}
	if worst == nil {
		return
	}
	worst.mu.Lock()
	worst.flooded = true
	worst.mu.Unlock()
	_ = c.Kill(c.ctx, worst.head.ID)
}

// over reports whether a command has ended.
func (k *capture) over() bool {
	select {
	case <-k.done:
		return true
	default:
		return false
	}
}
