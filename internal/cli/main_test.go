package cli_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"lyceum/internal/cli"
	"lyceum/internal/ledger"
	"lyceum/internal/need"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"
)

// The test binary is lyceum, too, when it is called by that name: testscript
// puts it into the PATH. So what is tested are real processes, which can be
// killed.
func TestMain(m *testing.M) {
	// And inside computers it is what lyceum is there.
	if code, played := cli.Inside(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr); played {
		os.Exit(code)
	}
	// Otherwise every process of a race build would wait a second before it ends.
	if os.Getenv("GORACE") == "" {
		os.Setenv("GORACE", "atexit_sleep_ms=0")
	}
	// And it is of another version, where a test wants two that meet.
	if v := os.Getenv("LYCEUM_TEST_VERSION"); v != "" {
		cli.SetRelease(v)
	}
	// And it dies by itself, where a test says when.
	if v := os.Getenv(dieVariable); v != "" {
		cli.SetLedger(func(s ledger.Store) ledger.Store { return newDying(s, v) })
	}
	// And it notes which events it reads.
	if file := os.Getenv(readsVariable); file != "" {
		cli.SetLedger(func(s ledger.Store) ledger.Store { return noting{s, file} })
	}
	// And it asks a test for the addresses of names.
	if at := os.Getenv("LYCEUM_TEST_NAMES"); at != "" {
		net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "udp", at)
		}}
	}
	testscript.Main(leakTest{m}, map[string]func(){
		"unboxed": unboxed,
		"blinded": blinded,
		"lyceum":  func() { os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

type leakTest struct{ *testing.M }

func (m leakTest) Run() int {
	// A test run that outlives its terminal (nohup) does not heed a hangup, and neither would
	// the programs that it starts: one that is caught here is theirs to heed again.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	if signal.Ignored(os.Interrupt) { // nor does one that a shell began in the background
		signal.Notify(make(chan os.Signal, 1), os.Interrupt)
	}
	need.AtATime(6)
	code := m.M.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}
