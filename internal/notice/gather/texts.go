package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"lyceum/internal/notice"
)

// licence is what files with licences are called. Those of documents and logos, which a
// binary does not carry, are left out.
var (
	licence = regexp.MustCompile(`(?i)^(licen[cs]e|copying|copyright|unlicense)`)
	besides = regexp.MustCompile(`(?i)^(notice|patents)`)
	others  = regexp.MustCompile(`(?i)([.-](docs|logo)|\.go|\.js)$`)
)

// textsIn reads the licences, notices and patent grants of a folder.
func textsIn(dir, prefix string) ([]notice.Text, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var texts []notice.Text
	for _, e := range entries {
		name := e.Name()
		if e.IsDir() || others.MatchString(name) || !licence.MatchString(name) && !besides.MatchString(name) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		texts = append(texts, notice.Text{File: prefix + name, Text: tidy(string(data))})
	}
	return texts, nil
}

// tidy ends lines as this machine does, without blanks behind them.
func tidy(text string) string {
	lines := strings.Split(strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t\f")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

// named gives texts to a work, and finds its licence in them.
func named(name, version, kind string, texts []notice.Text) (notice.Notice, error) {
	n := notice.Notice{Name: name, Version: version, Kind: kind, Texts: texts}
	var all []string
	for _, t := range texts {
		base := t.File[strings.LastIndexByte(t.File, '/')+1:]
		found := identify(t.Text)
		if len(found) == 0 && !besides.MatchString(base) {
			return n, fmt.Errorf("%s: the licence in %s is not known. Read it, then teach identify.go", n.Title(), t.File)
		}
		// A list of third parties' licences names works that are not linked too.
		if !strings.Contains(strings.ToUpper(base), "3RD-PARTY") {
			all = append(all, found...)
		}
	}
	if len(all) == 0 {
		return n, fmt.Errorf("%s has no licence in its folder: find out whether it may be carried", n.Title())
	}
	slices.Sort(all)
	n.License = strings.Join(slices.Compact(all), " AND ")
	return n, nil
}

// single is a work whose licence is one file of this repository.
func single(name, kind, path string) (notice.Notice, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return notice.Notice{}, err
	}
	return named(name, "", kind, []notice.Text{{File: filepath.Base(path), Text: tidy(string(data))}})
}
