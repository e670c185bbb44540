package computer

import (
	"context"
	"os"

	"lyceum/internal/computer/link"
)

// Driver makes sandboxes of one kind.
type Driver interface {
	Name() string
	// Check says why the driver cannot work on this machine, as an *Unusable, or nil.
	// It tries the real thing.
	Check(ctx context.Context) error
	// Prepare makes what sandboxes are booted from, such as an image, and returns its
	// digest. progress is told what takes long, line by line.
	Prepare(ctx context.Context, s Spec, progress func(string)) (base string, err error)
	// Boot starts a sandbox in which the helper is the first process, and returns a
	// word by which Kill and Meters find it again, in another process too. If it
	// fails, nothing is left running.
	Boot(ctx context.Context, b *Boot) (handle string, err error)
	// Kill ends a sandbox and waits until nothing of it is left. One that is gone
	// already is no error.
	Kill(ctx context.Context, handle string) error
	// Meters tells how often the sandbox met limits, as far as the driver can.
	Meters(handle string) Meters
}

// Boot is what a sandbox is started with.
type Boot struct {
	// Name is the same for every boot of the same computer, and no other has it.
	Name string
	// Dir is the computer's own folder on the host; nothing inside can reach it.
	Dir string
	// Home is the agent's home on the host.
	Home string
	// Base is what Prepare returned.
	Base string
	Spec Spec
	// Masks are to be covered, after all else is laid out: so that they cannot be read, written to,
	// moved or removed.
	Masks []Mask
	// Listener is the socket the helper accepts connections on.
	Listener *os.File
	// Config is what the helper is told. The driver fills in what depends on it.
	Config link.Config
}

// Meters count how often limits were met since the sandbox was booted.
type Meters struct{ Memory, Processes int64 }

// Environment is what commands find in every computer, besides what the driver adds.
func Environment(path string, n Network) []string {
	env := []string{
		"PATH=" + path, "HOME=" + HomeDir, "USER=agent", "LOGNAME=agent", "LANG=C.UTF-8", "TERM=dumb", "TMPDIR=/tmp",
		"SHELL=/bin/sh", "PYTHONUNBUFFERED=1", "GIT_TERMINAL_PROMPT=0", "PAGER=cat",
	}
	if n.Mode() == "allow" {
		for _, v := range []string{"http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"} {
			env = append(env, v+"=http://"+ProxyAddress)
		}
		env = append(env, "ALL_PROXY=socks5h://"+ProxyAddress, "NO_PROXY=localhost,127.0.0.1,::1", "no_proxy=localhost,127.0.0.1,::1")
	}
	return env
}

// ProxyAddress is where programs find the proxy, in a computer that has one.
const ProxyAddress = "127.0.0.1:3128"
