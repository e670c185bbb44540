package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"lyceum/internal/config"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/model/provider"
	"lyceum/internal/runtime"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// doctorJSON is what doctor prints for programs. Fields are only added.
type doctorJSON struct {
	// Healthy says that the home is usable and that some sandbox works.
	Healthy bool   `json:"healthy"`
	Home    string `json:"home"`
	// Driver is the one that auto takes, empty if none works.
	Driver   string        `json:"driver"`
	Findings []findingJSON `json:"findings"`
}

// findingJSON is one thing that doctor looked at.
type findingJSON struct {
	Section string `json:"section"`
	Name    string `json:"name"`
	Status  string `json:"status"`
	Text    string `json:"text"`
	Fix     string `json:"fix,omitempty"`
}

// What can be said of a finding.
const (
	fine    = "ok"
	warning = "warning"
	problem = "problem"
)

// doctor looks at one thing after the other. What it finds is never an error of its
// own: it goes on.
type doctor struct {
	doctorJSON
	homeFlag, ledgerFlag string
	// places are where quests are kept; misplaced says why that cannot be told.
	places    places
	misplaced error
	section   string
	// tex are the programs of TeX that computers have, by name; nil if none was looked into.
	tex map[string]string
}

func (d *doctor) say(status, name, text, fix string) {
	if status == fine {
		fix = ""
	}
	d.Findings = append(d.Findings, findingJSON{Section: d.section, Name: name, Status: status, Text: strings.TrimSpace(text), Fix: fix})
}

// bad reports whether something in a section is a problem.
func (d *doctor) bad(section string) bool {
	return slices.ContainsFunc(d.Findings, func(f findingJSON) bool { return f.Section == section && f.Status == problem })
}

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what works on this machine, what does not, and what would change that",
		Long: `Look at this machine: the home, a ledger or blobs that are kept elsewhere, the sandboxes that agents' computers are made with,
the programs in them, git, TeX, the keys of models, the executors and connectors of config.yaml,
your skills, the clock. Sandboxes and executors are tried out, and services are asked whether they
take their keys; a store of blobs is tried out with an object of its own; no model is asked, and no message sent. No home is made, and nothing that is
recorded changes.

The exit code is 0 if the home, and where it keeps its quests, is usable and some sandbox works, and 1 if not.`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			d := &doctor{homeFlag: a.homeFlag, ledgerFlag: a.ledgerFlag, doctorJSON: doctorJSON{Findings: []findingJSON{}}}
			d.look(ctx)
			if err := ctx.Err(); err != nil {
				return err
			}
			if asJSON {
				if err := a.printJSON(d.doctorJSON); err != nil {
					return err
				}
			} else {
				a.printDoctor(d.doctorJSON)
			}
			if !d.Healthy {
				return errFailed
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (d *doctor) look(ctx context.Context) {
	d.misplaced = d.place()
	for _, part := range []struct {
		section string
		look    func(context.Context)
	}{
		{"home", d.lookAtHome}, {"ledger", d.lookAtLedger}, {"blobs", d.lookAtBlobs}, {"computers", d.lookAtComputers}, {"git", d.lookAtGit}, {"tex", d.lookAtTeX}, {"models", d.lookAtModels},
		{"runners", d.lookAtRunners}, {"connectors", d.lookAtConnectors}, {"skills", d.lookAtSkills}, {"time", d.lookAtTime},
	} {
		d.section = part.section
		part.look(ctx)
	}
	d.Healthy = d.Driver != "" && !d.bad("home") && !d.bad("ledger") && !d.bad("blobs")
}

func (a *app) printDoctor(d doctorJSON) {
	section := ""
	for _, f := range d.Findings {
		if f.Section != section {
			if section != "" {
				fmt.Fprintln(a.out)
			}
			section = f.Section
			fmt.Fprintln(a.out, section)
		}
		text := strings.ReplaceAll(printable(f.Text), "\n", "\n"+strings.Repeat(" ", 13))
		fmt.Fprintf(a.out, "  %-9s  %s: %s\n", f.Status, f.Name, text)
		if f.Fix != "" {
			fmt.Fprintf(a.out, "             fix: %s\n", printable(f.Fix))
		}
	}
	switch {
	case d.Healthy:
		fmt.Fprintf(a.out, "\nAgents can have computers here, made with %s.\n", d.Driver)
	case d.Driver == "":
		fmt.Fprintln(a.out, "\nNo sandbox works here. Quests with a computer do not run; all others do, if the home is usable.")
	default:
		fmt.Fprintln(a.out, "\nThe home, or where it keeps its quests, is not usable: quests cannot be recorded.")
	}
}

// lowDisk is how much a home should have left.
const lowDisk = 1 << 30

func (d *doctor) lookAtHome(ctx context.Context) {
	const other = "choose another home with --home or LYCEUM_HOME"
	home, err := config.Home(d.homeFlag)
	if err != nil {
		d.say(problem, "folder", err.Error(), "export LYCEUM_HOME=…")
		return
	}
	d.Home = home
	info, err := os.Stat(home)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.lookAbove(home, other)
		return
	case err != nil:
		d.say(problem, "folder", err.Error(), other)
		return
	case !info.IsDir():
		d.say(problem, "folder", home+" is not a folder", "move it away, or "+other)
		return
	}
	d.say(fine, "folder", home, "")
	if err := tryWriting(home); err != nil {
		d.cannotWrite(home, err, other)
	} else {
		d.say(fine, "writable", "files can be made in it", "")
	}
	d.lookAtDisk(home)
	d.lookAtDatabase(ctx, home)
}

// lookAbove says whether a home that is not there yet could be made.
func (d *doctor) lookAbove(home, other string) {
	above := filepath.Dir(home)
	for {
		if _, err := os.Lstat(above); err == nil || above == filepath.Dir(above) {
			break
		}
		above = filepath.Dir(above)
	}
	d.say(fine, "folder", home+" is not there yet; the first quest makes it", "")
	info, err := os.Stat(above)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "mkdir", Path: above, Err: syscall.ENOTDIR}
	}
	if err == nil {
		err = unix.Access(above, unix.W_OK|unix.X_OK)
	}
	if err != nil {
		d.cannotWrite(above, err, other)
		return
	}
	d.say(fine, "writable", "it can be made in "+above, "")
	d.lookAtDisk(above)
}

func (d *doctor) cannotWrite(dir string, err error, other string) {
	switch {
	case errors.Is(err, syscall.EROFS):
		d.say(problem, "writable", "the file system of "+dir+" is read-only", "mount -o remount,rw it, or "+other)
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		d.say(problem, "writable", "there is no room for files in "+dir+": the disk is full", "make room on it, or "+other)
	case errors.Is(err, fs.ErrPermission):
		d.say(problem, "writable", fmt.Sprintf("no right to make files in %s (this is uid %d)", dir, os.Geteuid()), fmt.Sprintf("chown -R %d %s, or %s", os.Geteuid(), dir, other))
	default:
		d.say(problem, "writable", fmt.Sprintf("no file can be made in %s: %v", dir, err), other)
	}
}

// tryWriting makes a file in a folder, and removes it. Rights alone do not tell of a
// full disk.
func tryWriting(dir string) (err error) {
	f, err := os.CreateTemp(dir, ".doctor-")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 64<<10))
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

func (d *doctor) lookAtDisk(dir string) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		d.say(warning, "disk", fmt.Sprintf("how much is free cannot be told: %v", err), "")
		return
	}
	free := int64(s.Bavail) * s.Bsize
	text := fmt.Sprintf("%.1f GiB free", float64(free)/(1<<30))
	if free < lowDisk {
		d.say(warning, "disk", fmt.Sprintf("%d MiB free, less than 1 GiB", free>>20), "make room, or choose a home on another disk with --home or LYCEUM_HOME")
		return
	}
	d.say(fine, "disk", text, "")
}

func (d *doctor) lookAtDatabase(ctx context.Context, home string) {
	if d.places.ledger != "" {
		return
	}
	path := filepath.Join(home, "lyceum.db")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		d.say(fine, "database", "there is none yet; the first quest makes it", "")
		return
	}
	if d.bad("home") {
		// The home is not writable, so the database cannot be opened; that was reported above.
		return
	}
	if has, makes, err := sqlite.Formats(path); err == nil && has > 0 && has < makes {
		d.say(fine, "database", fmt.Sprintf("it has format %d; the next command that opens it keeps a copy and brings it to format %d", has, makes), "")
		return
	}
	var heads []ledger.Head
	store, err := sqlite.Open(path, nil)
	if err == nil {
		heads, err = store.Quests(ctx)
		err = errors.Join(err, store.Close())
	}
	if err != nil {
		d.say(problem, "database", err.Error(), hint(err))
		return
	}
	d.say(fine, "database", "opens; it has "+view.Several(int64(len(heads)), "quest"), "")
}

func (d *doctor) lookAtModels(ctx context.Context) {
	conf := new(config.Config)
	if d.Home != "" {
		var err error
		if conf, err = config.Load(d.Home); err != nil {
			d.say(problem, "config", err.Error(), "mend config.yaml, or move it away")
			return
		}
	}
	found, err := provider.New(&provider.Options{Config: conf, File: config.File(d.Home)})
	if err != nil {
		d.say(problem, "config", err.Error(), "mend config.yaml, or move it away")
		return
	}
	defer found.Close()
	var names, without []string
	ready := map[string]bool{}
	for _, info := range found.Models(ctx) {
		if slices.Contains(names, info.Provider) {
			continue
		}
		names = append(names, info.Provider)
		if ready[info.Provider] = info.HasKey; !info.HasKey {
			without = append(without, info.KeyVariable)
		}
	}
	slices.Sort(names)
	for _, n := range names {
		if ready[n] {
			d.say(fine, n, "its key is there", "")
		}
	}
	d.lookAtServers(ctx, found, conf)
	slices.Sort(without)
	switch {
	case len(without) == len(names):
		d.say(warning, "keys", "no provider has a key; demo, script:<file> and ollama/<model> need none", "export one of "+strings.Join(without, ", "))
	case len(without) > 0:
		d.say(fine, "keys", "not set: "+strings.Join(without, ", "), "")
	}
}

// lookAtServers asks the servers that no table can know what they have, and how much the
// model of config.yaml can see.
func (d *doctor) lookAtServers(ctx context.Context, found *provider.Registry, conf *config.Config) {
	for _, s := range found.Listings(ctx) {
		switch {
		case s.Err == nil:
			d.say(fine, s.Provider, fmt.Sprintf("is at %s; models: %d%s", s.URL, len(s.Models), dialects(s.Models)), "")
		case s.Provider != "ollama": // which need not be there
			d.say(warning, s.Provider, "did not tell its models: "+s.Err.Error(), "see whether it runs, and providers in "+config.File(d.Home))
		}
	}
	if conf.Model == "" || strings.HasPrefix(conf.Model, "script:") || isDemo(conf.Model) {
		return
	}
	info, err := found.Measure(ctx, conf.Model)
	switch {
	case err != nil:
		d.say(problem, "model", err.Error(), "change model in "+config.File(d.Home))
	case info.Doubt != "":
		d.say(warning, "model", info.Doubt, "")
	default:
		d.say(fine, "model", fmt.Sprintf("%s can see %d tokens, says %s%s", conf.Model, info.Context, info.Said, dialects([]provider.Info{info})), "")
	}
}

// dialects says how many models are told of tools as text, and in which way.
func dialects(models []provider.Info) string {
	count := map[string]int{}
	for _, m := range models {
		if m.Dialect != "" {
			count[m.Dialect]++
		}
	}
	out := ""
	for _, name := range slices.Sorted(maps.Keys(count)) {
		out += "; tools as " + name
		if len(models) > 1 {
			out += fmt.Sprintf(": %d", count[name])
		}
	}
	return out
}

// released is a time that has passed for certain.
var released = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// lookAtTime finds clocks that are wrong beyond doubt. Limits on time, prices and
// certificates depend on them.
func (d *doctor) lookAtTime(context.Context) {
	now := runtime.SystemClock().Time()
	text := now.Format("2006-01-02 15:04:05 MST")
	if now.Before(released) {
		d.say(warning, "clock", "it says "+text+", which has passed long ago", "timedatectl set-ntp true")
		return
	}
	if info, err := os.Stat(filepath.Join(d.Home, "lyceum.db")); d.Home != "" && err == nil && info.ModTime().After(now.Add(10*time.Minute)) {
		d.say(warning, "clock", fmt.Sprintf("it says %s, and the home was last written at %s", text, info.ModTime().UTC().Format("2006-01-02 15:04:05 MST")), "timedatectl set-ntp true")
		return
	}
	d.say(fine, "clock", text, "")
}
