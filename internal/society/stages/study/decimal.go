package study

import (
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// Decimal is a number as it was written: digits, perhaps a sign in front and a point within.
// It is exact; there are no floats here, which other processors would round otherwise. The zero
// value is 0.
type Decimal struct {
	// unit is the number without its point, scale how many digits stand behind that.
	unit  big.Int
	scale int
}

// maxDecimal is how many characters a decimal has.
const maxDecimal = 40

// ParseDecimal reads a decimal, and says what is wrong with any other text.
func ParseDecimal(text string) (d Decimal, err error) {
	digits := strings.TrimPrefix(text, "-")
	whole, after, point := strings.Cut(digits, ".")
	switch lower := strings.ToLower(strings.TrimLeft(text, "+-")); {
	case text == "":
		return d, errors.New("a value is missing")
	case len(text) > maxDecimal:
		return d, fmt.Errorf("%.20q… is too long: a decimal has at most %d characters", text, maxDecimal)
	case strings.HasPrefix(lower, "nan"), strings.HasPrefix(lower, "inf"):
		return d, fmt.Errorf("%q is no number: what has no value is no result", text)
	case digitsOnly(strings.NewReplacer("e", "", "+", "", "-", "", ".", "").Replace(lower)) && strings.Contains(lower, "e"):
		return d, fmt.Errorf("%q has an exponent: write the digits out, such as 0.00012", text)
	case !digitsOnly(whole) || point && !digitsOnly(after):
		return d, fmt.Errorf("%q is no decimal: write digits, such as -12.50", text)
	}
	d.unit.SetString(whole+after, 10)
	if len(digits) < len(text) {
		d.unit.Neg(&d.unit)
	}
	d.scale = len(after)
	return d, nil
}

func digitsOnly(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// at is the number without its point, with so many digits behind it.
func (d *Decimal) at(scale int) *big.Int {
	ten := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale-d.scale)), nil)
	return ten.Mul(ten, &d.unit)
}

// Cmp is negative if d is less than e, 0 if they are equal, and positive if it is more.
func (d *Decimal) Cmp(e *Decimal) int {
	scale := max(d.scale, e.scale)
	return d.at(scale).Cmp(e.at(scale))
}

// Minus is how much d is more than e.
func (d *Decimal) Minus(e *Decimal) (out Decimal) {
	out.scale = max(d.scale, e.scale)
	out.unit.Sub(d.at(out.scale), e.at(out.scale))
	return out
}

// Within reports whether d and e are at most so far apart.
func (d *Decimal) Within(e, tolerance *Decimal) bool {
	apart := d.Minus(e)
	apart.unit.Abs(&apart.unit)
	return apart.Cmp(tolerance) <= 0
}

// String writes a decimal with all of its digits behind the point.
func (d *Decimal) String() string {
	digits := new(big.Int).Abs(&d.unit).String()
	if n := d.scale + 1 - len(digits); n > 0 {
		digits = strings.Repeat("0", n) + digits
	}
	if d.scale > 0 {
		digits = digits[:len(digits)-d.scale] + "." + digits[len(digits)-d.scale:]
	}
	if d.unit.Sign() < 0 {
		digits = "-" + digits
	}
	return digits
}
