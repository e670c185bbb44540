package wording

import (
	"slices"
	"strings"
)

// Same are the stems of words that may stand for a word in lower case.
func Same(word string) (out []string) {
	stem := Stem(word)
	for _, group := range groupsOf[stem] {
		for _, s := range groups[group] {
			if s != stem && !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	return out
}

// groups are words for much the same, by their stems. They are such as questions use
// for what texts say otherwise: measures and their adjectives, money, time, persons,
// making and ending.
var groups = func() (out [][]string) {
	for line := range strings.Lines(thesaurus) {
		var group []string
		for _, w := range strings.Fields(line) {
			group = append(group, Stem(w))
		}
		if len(group) > 0 {
			out = append(out, group)
		}
	}
	return out
}()

var groupsOf = func() map[string][]int {
	m := map[string][]int{}
	for i, group := range groups {
		for _, s := range group {
			m[s] = append(m[s], i)
		}
	}
	return m
}()

const thesaurus = `
heavy weigh weight mass kg kilogram gram heavier
tall high height taller higher
long length longer longest
wide width broad across wider diameter
deep depth deeper
thick thickness thicker
big large size great
fast speed quick rate faster quickly
old age year
hot temperature heat warm degree celsius hotter
cold cool winter
loud noise decibel
cost price fee pay charge crown expense
expensive price cost
buy purchase order acquire
sell sale sold
pay reimburse refund
free gratis
money fund crown
ban forbid forbidden prohibit allowed
allow may permit permitted leave admit
need require
begin start commence
end stop finish until cease
build built construct erect
make made manufacture produce
maker make manufacturer
found founded establish
die dead death lose perish drown kill
fire blaze burn flame
born birth
marry wife husband married
wife widow married
lead led head director direct chief
boss head chief
invent inventor
create make
repair mend fix restore
replace change exchange renew
renew extend
change switch
remove delete take
deleted removed
restore recover back
error mistake fault
break broke crack damage
clean wipe wash
dirty dust dirt
check test verify inspect
calibrate adjust
store keep kept storage
fridge cold
sick ill disease
illness disease
doctor physician
car vehicle lorry
bike bicycle
train railway rail
boat ship hull
child children pupil
pupil student child
teacher teach
house home building
room chamber
shop store
road street
town city
boil cook
eat food edible
poison toxic poisonous
chop fell cut
plant sow grow
harvest pick crop
watering sprinkle
lawn grass
drought dry
vote decide decision majority
attend present
quorum present
chair chairman president
borrow loan lend
return back
late overdue
fine penalty
law by-law statute
job work
salary wage
yearly annual year
monthly month
weekly week
daily day
average mean
maximum most highest max
minimum lowest least
limit limited most
biggest largest greatest
smallest least
remain stay
locate lie stand
location place
colour color
contain content
material made consist
telescope refractor
lens glass
instrument device apparatus
machine device
display screen
battery cell
notebook journal book
mercury quicksilver
lab laboratory
alone himself
purge flush
blackout power failure
failure fail
reverse direction
string text
integer int number
convert turn format
split slice cut
concurrent parallel simultaneous
simultaneously concurrent parallel
safe safety
compare equal comparison
compared compare
whitespace space
trim strip remove
finish done complete
deadline timeout
report return
list array slice
empty zero
random pseudo-random
biggest max
sort order
cause reason because
leak leaking
`
