package postgrestest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"testing"

	"lyceum/internal/need"
)

// Line joins this machine's network to a namespace in which nothing else is, as the one cable of another
// machine would. It can be cut so that nobody is told: what is sent is gone, and connections stay open.
type Line struct {
	// Here and There are the addresses of its two ends.
	Here, There string

	link   string // the end that is here
	holder int    // a process that keeps the namespace, and takes it along when it ends
}

// lines numbers those of this process.
var lines atomic.Int64

// NewLine makes a line, which is gone when the test is over, however that ends.
func NewLine(t testing.TB) *Line {
	t.Helper()
	need.Root(t, "make network namespaces")
	need.Programs(t, "ip", "nsenter", "unshare", "sleep")
	n := lines.Add(1)
	// Of 198.18.0.0/15, which is for trying out networks, four addresses each.
	four := (os.Getpid()%1024*32 + int(n)%32) * 4
	at := func(i int) string { return net.IPv4(198, byte(18+four>>16), byte(four>>8), byte(four+i)).String() }
	l := &Line{Here: at(1), There: at(2), link: fmt.Sprintf("ly%x-%d", os.Getpid(), n)}
	ready, told, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("unshare", "--net", "sh", "-c", "echo; exec sleep infinity")
	cmd.Stdout = told
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	ended, err := launch(cmd)
	told.Close()
	if err != nil {
		t.Fatal(errors.Join(err, ready.Close()))
	}
	l.holder = cmd.Process.Pid
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		<-ended
		_ = l.ip("link", "delete", l.link) // it goes with the namespace, a moment later
	})
	_, err = ready.Read(make([]byte, 1)) // until the namespace is there
	if err = errors.Join(err, ready.Close()); err == nil {
		err = l.ip("link", "add", l.link, "type", "veth", "peer", "name", "far", "netns", fmt.Sprint(l.holder))
	}
	if err != nil {
		need.Missing(t, "network namespaces with a line between them take CAP_SYS_ADMIN and CAP_NET_ADMIN (%v): run the tests with sudo, or in a container with --privileged", err)
	}
	err = errors.Join(l.ip("addr", "add", l.Here+"/30", "dev", l.link), l.ip("link", "set", l.link, "up"),
		l.there("ip", "addr", "add", l.There+"/30", "dev", "far"), l.there("ip", "link", "set", "far", "up"), l.there("ip", "link", "set", "lo", "up"))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Inside are the words before a command that has it run at the far end.
func (l *Line) Inside() []string {
	return []string{"nsenter", "--net=/proc/" + fmt.Sprint(l.holder) + "/ns/net"}
}

// Cut cuts the line until mend is called: wholly, or so that what is sent from there arrives, and no answer does.
func (l *Line) Cut(answers bool) (mend func() error, err error) {
	if answers {
		return func() error { return l.ip("route", "delete", "blackhole", l.There) }, l.ip("route", "add", "blackhole", l.There)
	}
	return func() error { return l.ip("link", "set", l.link, "up") }, l.ip("link", "set", l.link, "down")
}

func (l *Line) ip(args ...string) error { return said(exec.Command("ip", args...)) }

func (l *Line) there(args ...string) error {
	all := append(l.Inside(), args...)
	return said(exec.Command(all[0], all[1:]...))
}

func said(cmd *exec.Cmd) error {
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w: %s", cmd.Args, err, out)
	}
	return nil
}
