package view

import "lyceum/internal/quest"

// vocabulary is how each type of event is put into words: those of the core, and one
// dictionary for each society, which stands in a file of its own.
var vocabulary = join(coreWords, computerWords, labWords, contractWords)

// titles find what a society calls a thing that has a reference, empty for another's.
var titles = []func(*quest.State, string) string{paperTitle}

// Titles are what the things of a quest are called, for a Teller.
func Titles(s *quest.State) func(ref string) string {
	return func(ref string) string {
		for _, title := range titles {
			if name := title(s, ref); name != "" {
				return name
			}
		}
		return ""
	}
}
