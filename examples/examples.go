// Package examples holds the example quests, so that the page can offer them.
package examples

import "embed"

// Files are the folders of the examples, each with a quest.yaml.
//
//go:embed *
var Files embed.FS
