package demo

import (
	"regexp"
	"sync"
)

// pattern is a regular expression that is compiled when it is first used: most
// processes of this program never ask the demo anything, and the many expressions here
// take longer to compile than the rest of the program takes to start.
type pattern func() *regexp.Regexp

func late(expr string) pattern {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

func (p pattern) MatchString(s string) bool              { return p().MatchString(s) }
func (p pattern) FindString(s string) string             { return p().FindString(s) }
func (p pattern) FindStringIndex(s string) []int         { return p().FindStringIndex(s) }
func (p pattern) FindStringSubmatch(s string) []string   { return p().FindStringSubmatch(s) }
func (p pattern) FindAllString(s string, n int) []string { return p().FindAllString(s, n) }
func (p pattern) FindAllStringSubmatch(s string, n int) [][]string {
	return p().FindAllStringSubmatch(s, n)
}
func (p pattern) ReplaceAllString(s, by string) string { return p().ReplaceAllString(s, by) }
func (p pattern) Split(s string, n int) []string       { return p().Split(s, n) }
