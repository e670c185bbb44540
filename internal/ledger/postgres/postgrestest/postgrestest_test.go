package postgrestest

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/need"
)

// TestAServerStaysWhenTheThreadEndsThatAskedForIt, as threads that have made sandboxes do.
func TestAServerStaysWhenTheThreadEndsThatAskedForIt(t *testing.T) {
	need.Program(t, "pg_ctlcluster")
	type made struct {
		server *Server
		thread int
		err    error
	}
	done := make(chan made)
	var start func()
	start = func() {
		runtime.LockOSThread() // and never unlocked
		thread := syscall.Gettid()
		if thread == os.Getpid() { // which never ends
			defer runtime.UnlockOSThread()
			started := make(chan struct{})
			go func() { defer close(started); start() }()
			<-started
			return
		}
		server, err := New()
		done <- made{server, thread, err}
	}
	go start()
	m := <-done
	if m.err != nil {
		t.Fatal(m.err)
	}
	defer func() {
		if err := m.server.Remove(); err != nil {
			t.Error(err)
		}
	}()
	for {
		if _, err := os.Stat(fmt.Sprintf("/proc/self/task/%d", m.thread)); err != nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	for range 20 {
		if err := m.server.Exec(t.Context(), "postgres", "SELECT 1"); err != nil {
			t.Fatalf("the server has gone with the thread: %v", err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
