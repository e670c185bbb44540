package need

import (
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"
)

// Heap runs f and returns how many bytes of the heap were in use at most meanwhile, beyond what was
// before. It needs the process for itself, so neither the test nor one around it may be parallel:
// parallel tests wait for those that are not. What a server in the same process uses counts, too.
func Heap(t testing.TB, f func()) (peak int64) {
	t.Helper()
	t.Setenv("LYCEUM_ALONE", t.Name()) // panics in a parallel test
	debug.FreeOSMemory()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			var now runtime.MemStats
			runtime.ReadMemStats(&now)
			peak = max(peak, int64(now.HeapInuse)-int64(before.HeapInuse))
			select {
			case <-tick.C:
			case <-done:
				return
			}
		}
	})
	func() {
		defer watch.Wait()
		defer close(done)
		f()
	}()
	return peak
}
