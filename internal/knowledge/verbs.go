package knowledge

import (
	"strings"

	"lyceum/internal/search"
	"lyceum/internal/wording"
)

// kindsOf are the kinds of doing that verbs of tools stand for, by stem. Names of tools use few
// verbs, and people many: who wants to throw something away looks for delete.
var kindsOf = func() map[string][]string {
	m := map[string][]string{}
	for line := range strings.Lines(`
make: create add make new write insert open begin start compose prepare set register record log note append attach post build
look: get read show see view retrieve fetch look what which tell describe inspect is how when where who
many: list all which what every browse are many
seek: search find look query lookup locate discover about
alter: update change edit modify replace set rename adjust move put convert switch resize turn
away: delete remove drop clear purge throw erase discard empty away revoke close forget off
give: send share post publish deliver forward pass announce give grant notify tell invite write
halt: stop cancel pause end kill disable mute silence close void shut
begin: start run execute launch trigger restart begin invoke deploy enable go play boot kick
back: restore undo rollback revert recover back return refund bring
keep: save store upload keep put set backup
fetch: download export save get pull
judge: check verify test validate compare review inspect approve diff differ differ
plan: schedule book reserve plan arrange set appoint
join: merge combine connect link add join
watch: watch follow monitor subscribe track alert warn observe
hand: assign give hand allocate
done: complete finish close resolve settle fix done mark acknowledge
`) {
		kind, words, ok := strings.Cut(strings.TrimSpace(line), ": ")
		if !ok {
			continue
		}
		for w := range strings.FieldsSeq(words) {
			m[wording.Stem(w)] = append(m[wording.Stem(w)], "doing"+kind)
		}
	}
	return m
}()

// kinds are the kinds of doing in a text, each once, as words that stand in no text.
func kinds(text string) string {
	var out []string
	seen := map[string]bool{}
	for _, w := range search.Tokens(text) {
		for _, k := range kindsOf[wording.Stem(w)] {
			if !seen[k] {
				seen[k] = true
				out = append(out, k)
			}
		}
	}
	return strings.Join(out, " ")
}
