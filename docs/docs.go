// Package docs holds the documents of this folder, embedded: lyceum docs makes a site and man pages of
// them.
package docs

import "embed"

// Files are the documents, in Markdown.
//
//go:embed *.md
var Files embed.FS
