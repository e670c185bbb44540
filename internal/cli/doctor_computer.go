package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"lyceum/internal/computer"
	"lyceum/internal/computer/cgroup"
	"lyceum/internal/computer/namespaces"
	"lyceum/internal/computer/quota"
	"lyceum/internal/config"
	"lyceum/internal/quest"
	"lyceum/internal/scratch"
)

// trial is how long a sandbox may take to show that it works.
const trial = time.Minute

// outcome is how the trial of a driver ended.
type outcome struct {
	driver computer.Driver
	text   string
	err    error
}

func (d *doctor) lookAtComputers(ctx context.Context) {
	// Whether the configuration can be read is told elsewhere.
	conf, _ := config.Load(d.Home)
	list := drivers(conf)
	defer closeDrivers(list)
	var all []outcome
	var chosen computer.Driver
	for _, driver := range list {
		o := outcome{driver: driver}
		o.text, o.err = try(ctx, driver)
		if o.err == nil && chosen == nil {
			chosen, d.Driver = driver, driver.Name()
		}
		all = append(all, o)
	}
	for _, o := range all {
		if o.err == nil {
			d.say(fine, o.driver.Name(), o.text, "")
			continue
		}
		// One that works is enough.
		status := warning
		if chosen == nil {
			status = problem
		}
		text, fix := o.err.Error(), ""
		if u, ok := errors.AsType[*computer.Unusable](o.err); ok {
			text, fix = u.Why, u.Fix
		}
		d.say(status, o.driver.Name(), text, fix)
	}
	d.sayChoice(all)
	d.lookAtNamespaces(chosen != nil && !quest.Imaged(d.Driver))
	switch {
	case chosen == nil:
	case quest.Imaged(d.Driver):
		d.section = "tools"
		d.say(fine, "image", "programs are those of the image that the quest's Dockerfile makes; look with: lyceum shell <quest> <agent>", "")
	default:
		d.lookAtUser()
		d.lookAtLimits()
		d.lookInside(ctx, chosen)
	}
}

// sayChoice says which driver auto takes, and why.
func (d *doctor) sayChoice(all []outcome) {
	var before []string
	for _, o := range all {
		switch {
		case o.err != nil:
			before = append(before, o.driver.Name())
			continue
		case len(before) == 0:
			d.say(fine, "auto", "computer: auto takes "+o.driver.Name()+", the first choice", "")
		default:
			d.say(fine, "auto", "computer: auto takes "+o.driver.Name()+", since "+strings.Join(before, " and ")+" did not pass the trial", "")
		}
		return
	}
	d.say(problem, "auto", "no sandbox works here, and agents never run on the bare host", "make one of the above work")
}

// try has a driver show that it works, and says what it is.
func try(ctx context.Context, driver computer.Driver) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, trial)
	defer cancel()
	if err := driver.Check(ctx); err != nil {
		return "", err
	}
	if e, ok := driver.(interface {
		Engine(context.Context) (string, error)
	}); ok {
		text, err := e.Engine(ctx)
		return "works: " + oneLine(text, 100), err
	}
	if driver.Name() == "bubblewrap" {
		return "works: " + bwrapVersion(ctx), nil
	}
	return "works, and needs nothing that is not here", nil
}

func bwrapVersion(ctx context.Context) string {
	path, err := exec.LookPath("bwrap")
	if err != nil {
		return "its version is not known"
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return path
	}
	return oneLine(string(out), 60) + " at " + path
}

// lookAtNamespaces says what the kernel's settings are. A sandbox that works is the
// better witness: a profile may allow to bwrap what is forbidden to others.
func (d *doctor) lookAtNamespaces(works bool) {
	for _, s := range namespaces.Switches {
		value, err := os.ReadFile(s.File)
		if err != nil || strings.TrimSpace(string(value)) != s.Bad || works {
			continue
		}
		status := warning
		if d.Driver == "" {
			status = problem
		}
		d.say(status, "user namespaces", fmt.Sprintf("the kernel forbids them: %s is %s", s.File, s.Bad), s.Fix)
		return
	}
	if works {
		d.say(fine, "user namespaces", "can be made", "")
	}
}

func (d *doctor) lookAtUser() {
	if os.Geteuid() == 0 {
		d.say(fine, "user", "Lyceum is root here: each agent runs as a user of its own, uid 1342177280 or higher, without any rights", "")
		return
	}
	d.say(fine, "user", fmt.Sprintf("agents run as you (uid %d), in a user namespace without any rights", os.Geteuid()), "")
}

// lookAtLimits says who holds the limits of computers.
func (d *doctor) lookAtLimits() {
	tree := cgroup.Find("/sys/fs/cgroup", "/proc/self/cgroup")
	fix := "systemd-run --user --scope lyceum run <quest>"
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err != nil {
		fix = "boot with control groups of version 2 (systemd.unified_cgroup_hierarchy=1), or run Lyceum as root"
	}
	for _, l := range []struct{ name, controller, instead string }{
		{"memory", cgroup.Memory, "a limit for each process (RLIMIT_DATA), and a watchdog that counts what all together hold, shared memory and files in memory included, and kills the largest command"},
		{"processes", cgroup.Processes, "a limit on the user's processes (RLIMIT_NPROC)"},
		{"cpu", cgroup.CPU, "computers are pinned to as many processors as they may use"},
	} {
		if tree.Has(l.controller) {
			d.say(fine, l.name, "held by control groups, version "+strconv.Itoa(tree.Version), "")
		} else {
			d.say(warning, l.name, tree.Why[l.controller]+"; instead: "+l.instead, fix)
		}
	}
	d.lookAtQuota()
}

// lookAtQuota says who holds the limit on homes, which are below the home of quests.
func (d *doctor) lookAtQuota() {
	const watchdog = "a watchdog in the computer, and a limit on each file (RLIMIT_FSIZE)"
	dir := d.Home
	for dir != "" && dir != filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
		dir = filepath.Dir(dir) // whose file system the home will be on
	}
	why, fix := quota.Lacking(dir)
	switch {
	case why == "":
		d.say(fine, "disk", "held by the kernel, by a project quota of each home; "+watchdog+" say which command met it", "")
	case fix != "":
		d.say(fine, "disk", "held by "+watchdog+", which can be outrun for a moment. The kernel could hold it, but "+why+": "+fix, "")
	default:
		d.say(fine, "disk", "held by "+watchdog+", which can be outrun for a moment. The kernel cannot hold it: "+why, "")
	}
}

// programs are those that agents want most, and what installs them.
var programs = []struct{ name, install string }{
	{"sh", "apt-get install dash"}, {"python3", "apt-get install python3"}, {"git", "apt-get install git"},
	{"node", "apt-get install nodejs"}, {"go", "apt-get install golang-go"},
}

// lookInside starts a computer and looks around in it.
func (d *doctor) lookInside(ctx context.Context, driver computer.Driver) {
	ctx, cancel := context.WithTimeout(ctx, trial)
	defer cancel()
	said, confinement, err := visitComputer(ctx, driver)
	if err != nil {
		d.say(problem, "inside", err.Error(), "")
		d.Driver = ""
		return
	}
	for _, layer := range []struct{ name, without string }{
		{"seccomp", "the computer runs without a filter of system calls; one without is not to be trusted"},
		{"landlock", "this kernel has no Landlock (it came with Linux 5.13, and must be in lsm=): mounts alone keep programs to their folders"},
	} {
		has := ""
		for _, c := range confinement {
			if name, version, _ := strings.Cut(c, " "); name == layer.name {
				has = "in force"
				if version != "" {
					has = "in force, ABI " + version
				}
			}
		}
		if has != "" {
			d.say(fine, layer.name, has, "")
		} else {
			d.say(warning, layer.name, layer.without, "use a kernel that has it")
		}
	}
	d.section = "tools"
	for i, p := range programs {
		d.lookAtProgram(p.name, p.install, said[i])
	}
	d.tex = map[string]string{}
	for i, e := range engines {
		d.tex[e.name] = said[len(programs)+i]
	}
}

// lookAtProgram says where a program is inside; path is empty if it is not.
func (d *doctor) lookAtProgram(name, install, path string) {
	if path != "" {
		d.say(fine, name, path, "")
		return
	}
	text := "not in the folders that agents can see"
	if host, err := exec.LookPath(name); err == nil {
		text = "this machine has it at " + host + ", which is not in the folders that agents can see (/usr, /bin, /usr/local)"
	}
	d.say(warning, name, text, install)
}

// visitComputer boots a computer, asks where the programs are in it, and how it is
// confined.
func visitComputer(ctx context.Context, driver computer.Driver) (paths, confinement []string, err error) {
	temp, err := scratch.New("", "lyceum-doctor-")
	if err != nil {
		return nil, nil, err
	}
	defer temp.Close()
	home := filepath.Join(temp.Path, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		return nil, nil, err
	}
	c, err := computer.Open(ctx, driver, computer.Place{Home: home, Dir: filepath.Join(temp.Path, "computer")}, computer.Spec{}, computer.Options{})
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, c.Stop(context.WithoutCancel(ctx))) }()
	var names []string
	for _, p := range programs {
		names = append(names, p.name)
	}
	for _, e := range engines {
		names = append(names, e.name)
	}
	script := ""
	for _, name := range names {
		script += "command -v " + name + " || echo\n"
	}
	r, err := c.Run(ctx, computer.Command{ID: "programs", Args: []string{"sh", "-c", script}})
	if err != nil {
		return nil, nil, err
	}
	paths = strings.Split(string(r.Stdout.Head), "\n")
	if len(paths) != len(names)+1 {
		return nil, nil, fmt.Errorf("a computer said what nobody understands: %s", oneLine(string(r.Stdout.Head), 200))
	}
	for i := range paths {
		paths[i] = oneLine(paths[i], 200)
	}
	return paths, c.Confinement(), nil
}
