// Command seccomp writes deploy/seccomp.json, by which an engine filters the calls of a node's container: Docker's own list,
// and the calls by which the driver namespaces makes a computer. Programs in computers are under a stricter list
// besides (internal/computer/confine).
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/moby/profiles/seccomp"
	"github.com/opencontainers/runtime-spec/specs-go"
)

// needed are what Docker's list keeps for CAP_SYS_ADMIN of the host. A node has no capabilities at all: the kernel lets it
// do these only in a user namespace of its own. setns is none of them: no node enters what another made.
var needed = []string{
	"clone", "unshare", // namespaces
	"open_tree", "mount_setattr", "move_mount", "fsopen", "fsconfig", "fsmount", "mount", "umount2", "pivot_root", "chroot", // a root of its own
	"sethostname",
}

func main() {
	p := seccomp.DefaultProfile()
	p.Syscalls = append(p.Syscalls, &seccomp.Syscall{
		LinuxSyscall: specs.LinuxSyscall{Names: needed, Action: specs.ActAllow},
		Comment:      "what a computer is made with, in a user namespace of its own",
	})
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", " ")
	if err := out.Encode(p); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
