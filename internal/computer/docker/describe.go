package docker

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"lyceum/internal/computer"
	"lyceum/internal/computer/helper"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/mount"
)

// doorPath is where the container finds the folder of its door.
const doorPath = "/run/lyceum"

// standardPath is where commands are looked for if the image does not say.
const standardPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// describe says what the container is, and completes the helper's configuration.
func (w *launch) describe() (*container.Config, *container.HostConfig, error) {
	host := w.host()
	b := w.boot
	b.Config.Bootstrap = doorPath + "/" + socketName
	b.Config.Read = []string{"/"}
	b.Config.Write = b.Spec.Writes()
	b.Config.Env = environment(w.env, b.Spec.Network)
	text, err := json.Marshal(b.Config)
	if err != nil {
		return nil, nil, err
	}
	return &container.Config{
		Image: b.Base, User: strconv.Itoa(w.user) + ":" + strconv.Itoa(w.group), WorkingDir: computer.HomeDir, Hostname: "lyceum",
		Entrypoint: []string{computer.Program}, Cmd: []string{helper.Role, string(text)},
		// Of the image's variables, these would be for the helper.
		Env:    []string{"GODEBUG=", "GOGC=", "GOMEMLIMIT=", "GOMAXPROCS=", "GOTRACEBACK="},
		Labels: map[string]string{labelComputer: b.Name},
		// The engine would run it past the helper.
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
		// The helper takes no other, and the host would wait for it to do so.
		StopSignal: "SIGKILL",
	}, host, nil
}

// host is what the container may take of the machine. What the engine cannot limit,
// the helper does.
func (w *launch) host() *container.HostConfig {
	e, b, no := w.engine, w.boot, false
	l := b.Spec.Limits
	h := &container.HostConfig{
		NetworkMode: "none", IpcMode: "private", CgroupnsMode: "private", ReadonlyRootfs: true, Init: &no,
		CapDrop: []string{"ALL"}, SecurityOpt: []string{"no-new-privileges"},
		RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyDisabled},
		LogConfig:     container.LogConfig{Type: "json-file", Config: map[string]string{"max-size": "1m"}},
		Tmpfs:         map[string]string{"/tmp": "rw,exec,nosuid,nodev,mode=1777,size=" + strconv.FormatInt(l.Memory/2, 10)},
		ShmSize:       l.Memory / 4,
		Mounts: []mount.Mount{
			bind(w.program, computer.Program, true), bind(w.door.dir, doorPath, true),
			bind(w.door.passwd, "/etc/passwd", true), bind(w.door.groups, "/etc/group", true),
		},
	}
	for _, f := range b.Spec.Folders {
		h.Mounts = append(h.Mounts, bind(f.Path, f.Inside(), true))
	}
	for _, name := range b.Spec.Fixed {
		h.Mounts = append(h.Mounts, bind(filepath.Join(w.home, name), path.Join(computer.HomeDir, name), true))
	}
	w.bound(h)
	h.MaskedPaths = hidden
	h.Ulimits = []*container.Ulimit{
		{Name: "nofile", Soft: l.Files, Hard: l.Files}, {Name: "core"},
		// The helper marks commands by this one, and needs it to be high.
		{Name: "rttime", Soft: -1, Hard: -1},
	}
	switch {
	case b.Spec.Network.Open:
		h.NetworkMode = "default"
	case !e.podman:
		// Or it would find those of the host written down.
		h.DNS, h.DNSSearch = []netip.Addr{netip.MustParseAddr("127.0.0.1")}, []string{"."}
	}
	switch {
	case e.podman && e.rootless:
		h.UsernsMode = "keep-id"
	case e.has("userns"):
		h.UsernsMode = "host" // the home's owner is one of the host's users
	}
	if e.has("selinux") {
		h.SecurityOpt = append(h.SecurityOpt, "label=disable")
	}
	w.limit(h, l)
	return h
}

// bound holds the bounds of the computer by mounts.
func (w *launch) bound(h *container.HostConfig) {
	b := w.boot
	folders := b.Spec.Bounds.Folders()
	if slices.Equal(folders, []string{"."}) {
		h.Mounts = append(h.Mounts, bind(w.home, computer.HomeDir, false))
	} else {
		h.Mounts = append(h.Mounts, bind(w.home, computer.HomeDir, true))
		for _, at := range folders {
			h.Mounts = append(h.Mounts, bind(filepath.Join(w.home, at), path.Join(computer.HomeDir, at), false))
		}
	}
	for _, m := range b.Masks {
		from := w.door.nothing
		if m.Dir {
			from = w.door.empty
		}
		h.Mounts = append(h.Mounts, bind(from, m.Path, true))
	}
	if !b.Spec.Bounds.Temporary() {
		h.Tmpfs = map[string]string{"/tmp": "ro,nosuid,nodev,mode=1777,size=4k", "/dev/shm": "ro,nosuid,nodev,noexec,mode=1777,size=4k"}
	}
}

// hidden is what no program needs and what tells of the host: more than an engine
// hides by itself. Its list is replaced by ours, so it is in it.
var hidden = []string{
	"/proc/asound", "/proc/acpi", "/proc/interrupts", "/proc/kcore", "/proc/keys", "/proc/key-users", "/proc/kallsyms", "/proc/latency_stats",
	"/proc/timer_list", "/proc/timer_stats", "/proc/sched_debug", "/proc/scsi", "/proc/kpagecount", "/proc/kmsg", "/sys",
}

func (w *launch) limit(h *container.HostConfig, l computer.Limits) {
	info, c, can := w.engine.info, &w.boot.Config, w.engine.limits()
	if can && info.MemoryLimit {
		h.Memory, h.MemorySwap = l.Memory, l.Memory
	} else {
		c.Memory = l.Memory
	}
	if can && info.PidsLimit {
		h.PidsLimit = &l.Processes
	} else {
		c.Processes = l.Processes
	}
	if can && info.CPUCfsQuota {
		// More than there are would be refused.
		h.NanoCPUs = max(min(l.CPUs, int64(max(info.NCPU, 1))*1000), 10) * 1_000_000
	} else {
		c.CPUs = int((l.CPUs + 999) / 1000)
	}
}

func bind(from, to string, readOnly bool) mount.Mount {
	return mount.Mount{Type: mount.TypeBind, Source: from, Target: to, ReadOnly: readOnly}
}

// environment is that of commands: the image's, as far as it is not ours to say.
func environment(image []string, n computer.Network) []string {
	path := standardPath
	for _, v := range image {
		if p, ok := strings.CutPrefix(v, "PATH="); ok && p != "" {
			path = p
		}
	}
	ours := computer.Environment(path, n)
	taken := map[string]bool{}
	for _, v := range ours {
		name, _, _ := strings.Cut(v, "=")
		taken[name] = true
	}
	var env []string
	for _, v := range image {
		if name, _, ok := strings.Cut(v, "="); ok && !taken[name] {
			env, taken[name] = append(env, v), true
		}
	}
	return append(env, ours...)
}

// accounts are the users and groups that programs find inside: ours has a name.
func accounts(user, group int) (passwd, groups string) {
	if user != 0 {
		passwd, groups = "root:x:0:0:root:/root:/usr/sbin/nologin\n", "root:x:0:\n"
	}
	passwd += fmt.Sprintf("agent:x:%d:%d:agent:%s:/bin/sh\nnobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n", user, group, computer.HomeDir)
	groups += fmt.Sprintf("agent:x:%d:\nnogroup:x:65534:\n", group)
	return passwd, groups
}
