package wording

import (
	"slices"
	"strings"
	"unicode"
)

// Kind is a kind of answer.
type Kind string

// The kinds of answers that a question can ask for.
const (
	Any    Kind = ""
	Count  Kind = "count"  // so many of something
	Amount Kind = "amount" // a number, mostly with a unit
	Time   Kind = "time"   // a day, a year, an hour
	Person Kind = "person" // a name, or who it is
	Name   Kind = "name"
	Reason Kind = "reason"
	Place  Kind = "place"
	YesNo  Kind = "yes or no"
)

// Wanted is what a question asks for.
type Wanted struct {
	Kind Kind
	// Of are the stems of what is counted.
	Of []string
	// Units are the units one of which must follow the number, empty if any may.
	Units map[string]bool
	// asked are the question's words in lower case.
	asked []string
}

// Wants reads from a question what kind of answer it asks for.
func Wants(question string) Wanted {
	w := Wanted{}
	for _, word := range Words(question) {
		w.asked = append(w.asked, strings.ToLower(word))
	}
	at := func(i int) string {
		if i < len(w.asked) {
			return w.asked[i]
		}
		return ""
	}
	for i, word := range w.asked {
		next := at(i + 1)
		switch word {
		case "how":
			switch {
			case next == "many":
				w.Kind = Count
				for _, noun := range w.asked[min(i+2, len(w.asked)):min(i+4, len(w.asked))] {
					if emptyWords[noun] {
						break
					}
					w.Of = append(w.Of, Stem(noun))
				}
			case next == "old":
				w.Kind = Count
				w.Of = []string{"year", "month", "old", "born", "age"}
			case measures[next]:
				w.Kind = Amount
			}
		case "when":
			if i < 2 {
				w.Kind = Time
			}
		case "who", "whom":
			w.Kind = Person
		case "where":
			if i < 2 {
				w.Kind = Place
			}
		case "why":
			w.Kind = Reason
		case "what", "which":
			switch {
			case times[next] || times[at(i+2)] && emptyWords[next]:
				w.Kind = Time
			case next == "name" || next == "is" && at(i+2) == "the" && at(i+3) == "name":
				w.Kind = Name
			case slices.ContainsFunc(w.asked[i:], func(s string) bool { return quantities[Stem(s)] }) && !slices.Contains(w.asked[i:], "mean"):
				w.Kind = Amount
			}
		default:
			if i == 0 && yesNo[word] {
				w.Kind = YesNo
			}
		}
		if w.Kind != Any {
			break
		}
	}
	if w.Kind == Amount {
		w.Units = w.units()
	}
	return w
}

// units are those that measure what is asked for.
func (w Wanted) units() map[string]bool {
	for _, word := range w.asked {
		for _, m := range measured {
			if m.of[word] {
				return m.units
			}
		}
	}
	return nil
}

// measured are properties and the units of their measure.
var measured = []struct{ of, units map[string]bool }{
	{set("heavy weigh weighs weight mass"), set("g kg mg t gram grams kilogram kilograms tonne tonnes ton tons pound pounds lb")},
	{set("tall high height deep depth wide width thick thickness length diameter distance"), set("m mm cm km nm µm metre metres meter meters centimetre centimetres millimetre millimetres kilometre kilometres foot feet inch inches mile miles step steps")},
	{set("cost costs price fee charge expensive salary pay paid fine"), set("crown crowns euro euros dollar dollars pound pounds penny pence cent cents thaler thalers franc francs mark marks free nothing € $ £")},
	{set("temperature hot cold"), set("c k f celsius kelvin fahrenheit degree degrees °c °f")},
}

var (
	measures   = set("much long heavy high tall deep wide thick far fast often big large hot cold loud old late early")
	times      = set("year years day days date dates month months time times hour century weekday weekdays")
	yesNo      = set("is are was were do does did can may must should will has have am could would")
	months     = set("january february march april may june july august september october november december")
	days       = set("monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays thursdays fridays saturdays sundays")
	quantities = func() map[string]bool {
		m := map[string]bool{}
		for w := range set("weight mass length width height depth thickness size temperature price cost fee speed rate capacity voltage power energy density pressure percentage population salary area volume age frequency diameter distance hardness range") {
			m[Stem(w)] = true
		}
		return m
	}()
	spelled = set(`one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty
thirty forty fifty sixty seventy eighty ninety hundred thousand million half third quarter fifth dozen once twice none nothing free`)
	reasons   = set("because since so for that as therefore due to why cause causes caused reason otherwise would")
	placings  = set("in at on beside near under to behind above below from into outside inside by within")
	articles  = set("the a an his her its their")
	roleStart = set("by")
)

// Number says whether a word is a number: digits, or spelled.
func Number(word string) bool {
	return word != "" && unicode.IsDigit([]rune(word)[0]) || spelled[strings.ToLower(word)]
}

// Fits says whether a text can hold an answer of the kind that is asked for. It errs
// towards yes, but for counts: so many of something must be said of that.
func (w Wanted) Fits(text string) bool {
	words := Words(text)
	some := func(is func(i int, low string) bool) bool {
		for i, word := range words {
			if is(i, strings.ToLower(word)) {
				return true
			}
		}
		return false
	}
	switch w.Kind {
	case Amount:
		return some(func(i int, low string) bool {
			return Number(low) && !slices.Contains(w.asked, low) && (w.Units == nil || w.measured(words, i))
		})
	case Count:
		return some(func(i int, low string) bool {
			return Number(low) && !vague[low] && !slices.Contains(w.asked, low) && w.counted(words, i)
		})
	case Time:
		return some(func(_ int, low string) bool {
			return !slices.Contains(w.asked, low) && (Number(low) || months[low] || days[low] || low == "morning" || low == "noon" || low == "night")
		})
	case Name, Person:
		if w.Kind == Name && strings.ContainsAny(text, "\"“„") {
			return true
		}
		return some(func(i int, low string) bool {
			if w.Kind == Person && roleStart[low] && i+2 < len(words) && articles[strings.ToLower(words[i+1])] && !slices.Contains(w.asked, strings.ToLower(words[i+2])) {
				return true
			}
			if !nameLike(words[i]) || slices.Contains(w.asked, low) {
				return false
			}
			if w.Kind == Name {
				return i > 0
			}
			before := ""
			if i > 0 {
				before = words[i-1]
			}
			return i+1 < len(words) && nameLike(words[i+1]) || nameLike(before) || before != "" && (before == "by" || !emptyWords[strings.ToLower(before)] && !placings[strings.ToLower(before)])
		})
	case Reason:
		return some(func(_ int, low string) bool { return reasons[low] })
	case Place:
		return some(func(_ int, low string) bool { return placings[low] })
	}
	return true
}

// counted says whether the number at i is one of what is counted: that stands within the
// three words after it.
func (w Wanted) counted(words []string, i int) bool {
	if len(w.Of) == 0 || i > 0 && slices.Contains(w.Of, Stem(strings.ToLower(words[i-1]))) {
		return true // a column of a table names what its numbers count
	}
	for _, word := range words[i+1 : min(i+4, len(words))] {
		s := Stem(strings.ToLower(word))
		if emptyWords[s] && s != "of" && s != "more" || placings[s] {
			return false
		}
		if slices.Contains(w.Of, s) || slices.ContainsFunc(Same(strings.ToLower(word)), func(o string) bool { return slices.Contains(w.Of, o) }) {
			return true
		}
	}
	return false
}

// nameLike says whether a word is written as a name is: a capital and small letters, and
// no month or day.
func nameLike(word string) bool {
	runes := []rune(word)
	low := strings.ToLower(word)
	return len(runes) > 1 && unicode.IsUpper(runes[0]) && string(runes[1:]) == low[len(string(runes[0])):] && !months[low] && !days[low] && !emptyWords[low] && !Number(low)
}

// measured says whether a unit follows the number at i, or "to" and another number do.
func (w Wanted) measured(words []string, i int) bool {
	for _, word := range words[i+1 : min(i+4, len(words))] {
		switch low := strings.ToLower(word); {
		case w.Units[low]:
			return true
		case Number(low), low == "to", low == "or", low == "and":
		default:
			return false
		}
	}
	return spelledFree[strings.ToLower(words[i])]
}

var (
	vague       = set("one once none nothing free half third quarter fifth")
	spelledFree = set("free nothing")
)
