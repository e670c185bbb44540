package cli

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// What the linker sets when a release is built: see scripts/release. In every other build
// they are empty, and what is known comes from Go, which notes the commit unless it is
// told not to (go run, -buildvcs=false, a source tree without git).
var release, releaseCommit, releaseDate string

// coming is the release that this source will be.
const coming = "0.1.0-dev"

// build is what this binary was built from.
type build struct {
	Version string `json:"version"`
	// Release is false for development builds, whatever they were built from.
	Release bool `json:"release"`
	// Commit is empty if the build does not know it.
	Commit string `json:"commit"`
	// Modified: there were changes that no commit has.
	Modified bool `json:"modified"`
	// Date is the commit's.
	Date     string   `json:"date"`
	Go       string   `json:"go"`
	Platform string   `json:"platform"`
	Rules    []string `json:"rules"`
}

// thisBuild is what is known of the program that runs.
func thisBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	b := describe(info)
	if release != "" {
		b.Version, b.Release, b.Commit, b.Modified, b.Date = release, true, releaseCommit, false, releaseDate
	}
	for _, s := range societies() {
		b.Rules = append(b.Rules, s.Rules())
	}
	return b
}

// describe reads what Go noted about a development build.
func describe(info *debug.BuildInfo) build {
	b := build{Version: coming, Go: info.GoVersion}
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	b.Commit, b.Modified, b.Date = set["vcs.revision"], set["vcs.modified"] == "true", set["vcs.time"]
	b.Platform = strings.Trim(set["GOOS"]+"/"+set["GOARCH"], "/")
	return b
}

// recorded is the version as ledgers have it: of a development build with its commit, so
// that whoever reads a ledger later can find the source.
func (b build) recorded() string {
	if b.Release || b.Commit == "" {
		return b.Version
	}
	if b.Modified {
		return b.Version + "+" + b.short() + ".modified"
	}
	return b.Version + "+" + b.short()
}

func (b build) short() string { return b.Commit[:min(12, len(b.Commit))] }

// String is one line for people.
func (b build) String() string {
	from := "commit unknown"
	if b.Commit != "" {
		from = "commit " + b.short()
		if day, _, ok := strings.Cut(b.Date, "T"); ok {
			from += " of " + day
		}
		if b.Modified {
			from += " with changes"
		}
	}
	if !b.Release {
		from = "development build, " + from
	}
	return fmt.Sprintf("lyceum %s (%s, %s, %s)", b.Version, from, b.Go, b.Platform)
}

func (a *app) versionCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version, and what it was built from",
		Args:  exactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return a.printJSON(thisBuild())
			}
			_, err := fmt.Fprintln(a.out, thisBuild())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
