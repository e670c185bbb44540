package main

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	number  = regexp.MustCompile(`^\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$`)
	heading = regexp.MustCompile(`^## (\S+)(?: \((\d{4}-\d{2}-\d{2})\))?$`)
)

// told says whether the changelog tells of a version: a heading with its number and the
// day of its release, "## 0.2.0 (2026-12-01)", and something below it.
func told(version, changelog string) error {
	if !number.MatchString(version) {
		return fmt.Errorf("%q is no version: want three numbers, such as 0.2.0 or 0.2.0-rc.1", version)
	}
	found, lines := false, 0
	for line := range strings.Lines(changelog) {
		line = strings.TrimSpace(line)
		m := heading.FindStringSubmatch(line)
		switch {
		case m != nil && found:
			return something(version, lines)
		case m != nil && m[1] == version:
			if m[2] == "" {
				return fmt.Errorf("CHANGELOG.md does not say when %s is released: want \"## %s (year-month-day)\"", version, version)
			}
			found = true
		case found && line != "":
			lines++
		}
	}
	if !found {
		return fmt.Errorf("CHANGELOG.md has no section of version %s. Make one of what is under \"Unreleased\": \"## %s (year-month-day)\"", version, version)
	}
	return something(version, lines)
}

func something(version string, lines int) error {
	if lines == 0 {
		return fmt.Errorf("CHANGELOG.md says nothing of version %s", version)
	}
	return nil
}
