package tool

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"lyceum/internal/workspace"
)

// pattern is a glob, part by part; a part ** stands for any number of folders.
type pattern []string

// parsePattern returns the patterns that text stands for: {a,b} makes several.
func parsePattern(text string) ([]pattern, error) {
	texts, err := alternatives(text, 100)
	if err != nil {
		return nil, err
	}
	var all []pattern
	for _, t := range texts {
		p, err := parseOne(t)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func parseOne(text string) (pattern, error) {
	if rest, ok := strings.CutPrefix(text, workspace.Home+"/"); ok {
		text = "./" + rest // what follows must not become absolute
	}
	if filepath.IsAbs(text) {
		return nil, fmt.Errorf("the pattern %.200q is not relative; give it from the workspace on, such as **/*.txt", text)
	}
	var p pattern
	for part := range strings.SplitSeq(text, "/") {
		switch _, err := filepath.Match(part, ""); {
		case part == "" || part == ".":
		case part == "..":
			return nil, fmt.Errorf("the pattern %.200q leads out of the workspace", text)
		case err != nil:
			return nil, fmt.Errorf("%.200q is no pattern: there are *, ?, [a-z], {a,b} and ** for any number of folders; \\ takes the meaning of the next character", part)
		default:
			p = append(p, part)
		}
	}
	if len(p) == 0 {
		return nil, errors.New("the pattern is empty; ** matches everything")
	}
	return p, nil
}

// alternatives writes out the braces of a text, up to most texts.
func alternatives(text string, most int) ([]string, error) {
	open := strings.IndexByte(text, '{')
	if open < 0 {
		return []string{text}, nil
	}
	end := strings.IndexByte(text[open:], '}')
	if end < 0 || strings.Contains(text[open+1:open+end], "{") {
		return nil, fmt.Errorf("%.200q is no pattern: braces are like {a,b}, not one within another", text)
	}
	rest, err := alternatives(text[open+end+1:], most)
	if err != nil {
		return nil, err
	}
	var all []string
	for choice := range strings.SplitSeq(text[open+1:open+end], ",") {
		for _, r := range rest {
			all = append(all, text[:open]+choice+r)
		}
		if len(all) > most {
			return nil, fmt.Errorf("the braces of the pattern stand for more than %d patterns", most)
		}
	}
	return all, nil
}

// match reports whether the pattern matches the path, and whether it could match
// one below. It looks at each part of the path once, however many ** there are.
func (p pattern) match(path string) (whole, below bool) {
	at := make([]bool, len(p)+1)
	at[0] = true
	p.skip(at)
	for name := range strings.SplitSeq(path, string(filepath.Separator)) {
		next := make([]bool, len(p)+1)
		for i, part := range p {
			if !at[i] {
				continue
			}
			if part == "**" {
				next[i] = true
			} else if ok, err := filepath.Match(part, name); ok && err == nil {
				next[i+1] = true
			}
		}
		at = next
		p.skip(at)
	}
	return at[len(p)], slices.Contains(at[:len(p)], true)
}

// skip lets each ** stand for nothing.
func (p pattern) skip(at []bool) {
	for i, part := range p {
		if at[i] && part == "**" {
			at[i+1] = true
		}
	}
}
