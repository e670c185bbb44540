package evidence

import (
	"math/big"
	"slices"
	"strconv"
	"strings"
)

// Value is a number with its unit, such as 35.09 and kJ/mol. The unit is in one
// form for all ways to write it: s^-1, s⁻¹ and 1/s are 1/s. It is "%" for a
// percentage and "" where none is known.
type Value struct {
	Number Number
	Unit   string
}

// Values returns the numbers of a text with their units. A word that is no unit
// of measure is none. What is only compared as text, such as ½ and ninety-nine,
// has no value here.
func Values(text string) []Value {
	var list []Value
	for _, f := range scan(text).found {
		if f.number.key != "" {
			continue
		}
		v := Value{Number: f.number, Unit: f.unit}
		if f.number.percent {
			v.Unit = "%"
		}
		list = append(list, v)
	}
	return list
}

// Comparable tells whether two values measure the same: their units differ by a
// power of ten at most. °C and K do not, nor do s and min.
func Comparable(a, b Value) bool {
	x, _ := scale(a.Unit)
	y, _ := scale(b.Unit)
	return x == y
}

// Agree tells whether two values are comparable and differ by at most so many
// thousandths of the larger. Zero asks for equal ones.
func Agree(a, b Value, tolerance int64) bool {
	if !Comparable(a, b) {
		return false
	}
	if a.Number.odd || b.Number.odd {
		return a.Unit == b.Unit && a.Number.Text == b.Number.Text
	}
	x, y := integers(a, b)
	apart := new(big.Int).Sub(x, y)
	apart.Abs(apart).Mul(apart, big.NewInt(1000))
	larger := x.Abs(x)
	if y.Abs(y).Cmp(larger) > 0 {
		larger = y
	}
	return apart.Cmp(larger.Mul(larger, big.NewInt(max(tolerance, 0)))) <= 0
}

// integers brings two values to the same power of ten. Both are within the
// limits, so that the zeros to be filled in are some thousand at most.
func integers(a, b Value) (x, y *big.Int) {
	_, sa := scale(a.Unit)
	_, sb := scale(b.Unit)
	m, n := a.Number.fraction(), b.Number.fraction()
	low := min(m.exponent+sa, n.exponent+sb)
	return integer(m, m.exponent+sa-low), integer(n, n.exponent+sb-low)
}

func integer(n Number, zeros int) *big.Int {
	x, ok := new(big.Int).SetString("0"+n.digits+strings.Repeat("0", zeros), 10)
	if !ok {
		return new(big.Int)
	}
	if n.negative {
		x.Neg(x)
	}
	return x
}

// unit is a product of powers of symbols.
type unit map[string]int

// bases are the symbols that may have a prefix; alone are those that may not.
var (
	bases    = []string{"mol", "cal", "bar", "eV", "Hz", "Pa", "K", "J", "g", "m", "s", "V", "A", "W", "N", "L", "M", "C", "T", "Ω"}
	alone    = []string{"min", "h", "d", "°C", "°F", "atm", "ppm", "ppb", "rad", "Å", "F"}
	prefixes = map[string]int{"f": -15, "p": -12, "n": -9, "µ": -6, "m": -3, "c": -2, "d": -1, "k": 3, "M": 6, "G": 9}
	synonyms = map[string]string{"l": "L", "ml": "mL", "µl": "µL", "sec": "s", "hr": "h", "hour": "h", "hours": "h", "day": "d", "days": "d", "minute": "min", "minutes": "min", "seconds": "s", "kelvin": "K", "Kelvin": "K", "℃": "°C", "℉": "°F", "degC": "°C", "degF": "°F",
		"second": "s", "gram": "g", "grams": "g", "kilogram": "kg", "kilograms": "kg", "milligram": "mg", "milligrams": "mg",
		"joule": "J", "joules": "J", "kilojoule": "kJ", "kilojoules": "kJ", "calories": "cal", "kilocalories": "kcal", "mole": "mol", "moles": "mol",
		"meter": "m", "meters": "m", "metre": "m", "metres": "m", "liter": "L", "liters": "L", "litre": "L", "litres": "L",
		"volt": "V", "volts": "V", "watt": "W", "watts": "W", "pascal": "Pa", "pascals": "Pa", "kelvins": "K"}
	// others are the symbols that stand for powers of others.
	others = map[string]struct {
		unit  unit
		power int
	}{"L": {unit{"m": 3}, -3}, "M": {unit{"mol": 1, "m": -3}, 3}, "Hz": {unit{"s": -1}, 0}}
	folded = foldedSymbols()
)

// foldedSymbols are all symbols and words for units in small letters.
func foldedSymbols() map[string]bool {
	all := map[string]bool{}
	for _, name := range slices.Concat(bases, alone) {
		all[strings.ToLower(name)] = true
	}
	for _, base := range bases {
		for prefix := range prefixes {
			all[strings.ToLower(prefix+base)] = true
		}
	}
	for name := range synonyms {
		all[strings.ToLower(name)] = true
	}
	return all
}

// symbol splits off a prefix: kJ is J and 3.
func symbol(text string) (base string, power int, ok bool) {
	if slices.Contains(bases, text) || slices.Contains(alone, text) {
		return text, 0, true
	}
	for prefix, power := range prefixes { // at most one fits: all have one letter
		if base, cut := strings.CutPrefix(text, prefix); cut && slices.Contains(bases, base) {
			return base, power, true
		}
	}
	return "", 0, false
}

// String is kJ/mol, K/(min·mol), 1/s: sorted, so that equal units are equal texts.
func (u unit) String() string {
	var above, below []string
	for name, power := range u {
		text := name
		if p := max(power, -power); p > 1 {
			text += "^" + strconv.Itoa(p)
		}
		if power > 0 {
			above = append(above, text)
		} else if power < 0 {
			below = append(below, text)
		}
	}
	slices.Sort(above)
	slices.Sort(below)
	text := strings.Join(above, "·")
	if len(below) == 0 {
		return text
	}
	if text == "" {
		text = "1"
	}
	if len(below) == 1 {
		return text + "/" + below[0]
	}
	return text + "/(" + strings.Join(below, "·") + ")"
}

// scale is a unit without its prefixes, and the power of ten that they made.
func scale(text string) (base string, power int) {
	if text == "%" {
		return "", 0 // the number knows
	}
	u, _, ok := unitAt([]rune(text), 0)
	if !ok {
		return text, 0
	}
	plain := unit{}
	for name, n := range u {
		b, p, _ := symbol(name)
		power += p * n
		o, ok := others[b]
		switch {
		case ok:
			power += o.power * n
			for name, m := range o.unit {
				plain[name] += m * n
			}
		case b == "°C" && len(u) > 1: // a difference, as in °C/min
			plain["K"] += n
		case len(u) == 1 && n == 1 && (name == "C" || name == "F"): // sloppy for degrees
			plain["°"+name]++
		default:
			plain[b] += n
		}
	}
	return plain.String(), power
}
