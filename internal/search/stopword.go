package search

import "strings"

// stopWords say nothing about what a question is about, so they do not count when it
// is asked how much of the question a paragraph covers. They are searched like others.
var stopWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(`
a about above after again against all also am an and any are aren't as at be because been before being below
between both but by can can't cannot could did do does doing don't down during each either else etc every few
find for from further get give had has have having he hence her here hers him his how however i i'm if in into
is isn't it it's its itself just let like may me might more most much must my no nor not of off on once one only
or other ought our out over own per please rather s same shall she should show since so some such t tell than
that that's the their them then there these they this those through thus to too under until up upon us use used
using very via was we were what when where whether which while who whom whose why will with within without
would yet you your yours`) {
		m[w] = true
	}
	return m
}()

// StopWord reports whether a token says nothing about what a question is about.
func StopWord(token string) bool { return stopWords[token] }
