package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"lyceum/internal/config"
	"lyceum/internal/executor"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/scratch"
	"lyceum/internal/skill"
)

// How long the parts may take: a program that only says its version, one runner that is asked who it
// is, and all of them.
const (
	versionTime = 5 * time.Second
	runnerTime  = 30 * time.Second
	runnersTime = 90 * time.Second
)

// settings reads config.yaml. Whether it can be read is told among the models.
func (d *doctor) settings() *config.Config {
	if d.Home != "" {
		if conf, err := config.Load(d.Home); err == nil {
			return conf
		}
	}
	return new(config.Config)
}

// lookAtGit tries the git of this machine: repositories are read and delivered to by it.
func (d *doctor) lookAtGit(ctx context.Context) {
	const install = "apt-get install git"
	path, err := exec.LookPath("git")
	if err != nil {
		d.say(warning, "git", "it is not here: quests cannot work on repositories, and nothing can be delivered", install)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, versionTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "--version")
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	said := oneLine(string(out), 80)
	if err != nil || !strings.HasPrefix(said, "git version ") {
		d.say(warning, "git", fmt.Sprintf("%s does not say its version (%v): %q", path, err, said), install)
		return
	}
	d.say(fine, "git", said+" at "+path, "")
}

// engines are the programs of TeX, and whether papers are made with them.
var engines = []struct {
	name string
	used bool
}{{"pdflatex", true}, {"lualatex", true}, {"xelatex", true}, {"tectonic", false}}

// lookAtTeX says which TeX the computers of agents have; where none could be looked into, which one
// this machine has.
func (d *doctor) lookAtTeX(context.Context) {
	where := "computers have"
	if d.tex == nil {
		where = "this machine has"
		if quest.Imaged(d.Driver) {
			where = "computers have what their image has; this machine has"
		}
		d.tex = map[string]string{}
		for _, e := range engines {
			if path, err := exec.LookPath(e.name); err == nil {
				d.tex[e.name] = path
			}
		}
	}
	usable := false
	for _, e := range engines {
		path := d.tex[e.name]
		if path == "" {
			continue
		}
		usable = usable || e.used
		text := where + " it at " + path
		if !e.used {
			text += "; papers are not made with it, for it gets what it lacks from the network"
		}
		d.say(fine, e.name, text, "")
	}
	if !usable {
		d.say(warning, "latex", where+" none of pdflatex, lualatex and xelatex: papers have no PDF, and all else",
			"apt-get install texlive-latex-extra texlive-fonts-recommended, or an image that has them")
	}
}

// lookAtRunners starts each executor of config.yaml in a computer without a network, and asks who it
// is. No model is asked.
func (d *doctor) lookAtRunners(ctx context.Context) {
	conf := d.settings()
	names := slices.Sorted(maps.Keys(conf.Executors))
	if len(names) == 0 {
		d.say(fine, "executors", "config.yaml names none; the researcher can be the quest's model, or builtin", "")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, runnersTime)
	defer cancel()
	find := executors(conf)
	for _, name := range names {
		set, folder, err := find(name)
		if missing := missingOf(name, set, folder, err); missing != "" {
			d.say(problem, name, missing, "mend executors in "+config.File(d.Home)+": docs/executors.md says how each is installed")
			continue
		}
		d.tryRunner(ctx, conf, name)
	}
}

// tryRunner has one executor say who it is.
func (d *doctor) tryRunner(ctx context.Context, conf *config.Config, name string) {
	if d.Driver == "" {
		d.say(warning, name, "it cannot be tried: no sandbox works here", "make one of the computers above work")
		return
	}
	info, err := askRunner(ctx, conf, name, d.Driver)
	switch {
	case ctx.Err() != nil:
		d.say(warning, name, fmt.Sprintf("it was not tried to the end: all together have %v", runnersTime), "lyceum executors --check "+name)
	case err != nil:
		d.say(problem, name, oneLine(err.Error(), 500), "lyceum executors --check "+name+" tells more; docs/executors.md says how it is installed")
	default:
		d.say(fine, name, fmt.Sprintf("answers as %s %s, protocol %d", info.Name, info.Version, info.Protocol), "")
	}
}

// askRunner starts an executor in a home of its own, which is gone afterwards.
func askRunner(ctx context.Context, conf *config.Config, name, driver string) (info executor.Info, err error) {
	temp, err := scratch.New("", "lyceum-doctor-")
	if err != nil {
		return info, err
	}
	defer func() { err = errors.Join(err, temp.Close()) }()
	list := drivers(conf)
	defer closeDrivers(list)
	within, cancel := context.WithTimeout(ctx, runnerTime)
	defer cancel()
	rt := &runtime.Runtime{Executors: executors(conf), Computers: list, Clock: runtime.SystemClock, Home: temp.Path, Version: thisBuild().recorded()}
	info, err = rt.CheckExecutor(within, name, driver, func(string) {})
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("it has not said who it is within %v", runnerTime)
	}
	return info, err
}

// lookAtConnectors looks whether each has its keys, and has its driver ask the service whether it
// takes them. No message is sent.
func (d *doctor) lookAtConnectors(ctx context.Context) {
	conf := d.settings()
	all := connectors(ctx, conf)
	if len(all) == 0 {
		d.say(fine, "connectors", "config.yaml names none; docs/connectors.md has how people elsewhere talk with studies", "")
		return
	}
	type outcome struct {
		text string
		err  error
	}
	found := map[string]*outcome{}
	var wait sync.WaitGroup
	for name, c := range all {
		o := &outcome{}
		found[name] = o
		wait.Go(func() { o.text, o.err = c.Check(ctx) })
	}
	wait.Wait()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		c, o := all[name], found[name]
		switch no, lacks := errors.AsType[*noKey](c.Fault); {
		case lacks:
			d.say(problem, name, no.Error(), no.fix())
		case c.Fault != nil:
			d.say(problem, name, o.err.Error(), "mend connectors in "+config.File(d.Home)+": docs/connectors.md has what each driver needs")
		case o.err != nil:
			d.say(problem, name, oneLine(o.err.Error(), 500), fmt.Sprintf("see whether the service can be reached from here, and whether %s holds what it gave you", variablesOf(conf.Connectors[name])))
		default:
			d.say(fine, name, fmt.Sprintf("%s: %s", conf.Connectors[name].Driver, o.text), "")
		}
	}
}

// variablesOf are the names of the variables that hold a connector's secrets.
func variablesOf(c config.Connector) string {
	return strings.Join(slices.Sorted(maps.Values(c.Variables)), " and ")
}

// lookAtSkills reads a person's own skills.
func (d *doctor) lookAtSkills(context.Context) {
	if d.Home == "" {
		return
	}
	own, faults := skill.OfTheHome(d.Home)
	for _, err := range faults {
		d.say(problem, "faults", err.Error(), "mend it, or move the folder away: lyceum skills check <folder>")
	}
	for _, s := range own {
		for _, w := range s.Warnings {
			d.say(warning, s.Name, w.Error(), "lyceum skills check "+s.Dir)
		}
	}
	switch _, err := os.Stat(skill.Folder(d.Home)); {
	case err != nil:
		d.say(fine, "skills", fmt.Sprintf("%d are built in; your own would be in %s", len(skill.Ours()), skill.Folder(d.Home)), "")
	default:
		d.say(fine, "skills", fmt.Sprintf("%d of your own can be used, besides %d that are built in", len(own), len(skill.Ours())), "")
	}
}
