// Package web holds the page that lyceum serve serves: the built files of this
// folder, embedded. They are committed, so that a build of Lyceum needs no Node;
// TestDist fails when they are older than their sources.
package web

import (
	"embed"
	"io/fs"
)

//go:embed all:dist
var files embed.FS

// Dist is the page: index.html, and what it names below assets.
var Dist fs.FS = sub()

// sub cannot fail: the folder is named in the line that embeds it.
func sub() fs.FS {
	dist, err := fs.Sub(files, "dist")
	if err != nil {
		panic(err)
	}
	return dist
}
