package main

import (
	"regexp"
	"slices"
	"strings"
)

// marks are sentences that only one licence has. A text may have several licences.
var marks = []struct{ license, mark string }{
	{"Apache-2.0", "terms and conditions for use, reproduction, and distribution"},
	{"ISC", "permission to use, copy, modify, and/or distribute this software for any purpose with or without fee"},
	{"ISC", "permission to use, copy, modify, and distribute this software for any purpose with or without fee"},
	{"MIT", "permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files"},
	{"MPL-2.0", "mozilla public license version 2.0"},
	{"OFL-1.1", "sil open font license version 1.1"},
	{"PDDL-1.0", "public domain dedication and license 1.0"},
	{"Unlicense", "this is free and unencumbered software released into the public domain"},
	{"blessing", "all of the code and documentation in sqlite has been dedicated to the public domain"},
	{"CC-BY-SA-4.0", "attribution-sharealike 4.0 international"},
}

const (
	bsd = "redistribution and use in source and binary forms, with or without modification"
	// third is the clause that the shorter form of BSD does not have.
	third = "be used to endorse or promote products derived from"
)

var blank = regexp.MustCompile(`(?:[\s*#>]|//)+`)

// identify says which licences a text has, in SPDX's names, sorted; nothing if it knows
// none of them. Line breaks and marks of comments do not count.
func identify(text string) []string {
	flat := blank.ReplaceAllString(strings.ToLower(text), " ")
	var found []string
	for _, m := range marks {
		if strings.Contains(flat, m.mark) {
			found = append(found, m.license)
		}
	}
	for i, part := range strings.Split(flat, bsd) {
		switch {
		case i == 0:
		case strings.Contains(part, third):
			found = append(found, "BSD-3-Clause")
		default:
			found = append(found, "BSD-2-Clause")
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
