package plain

import (
	"fmt"
	"strings"
)

// Form is what a name looks like: its first letter is one of First, each other one of Rest, and it has Least
// (1 if that is 0) to Most of them. First and Rest are as within the brackets of a regular expression, of ASCII
// letters and with a hyphen last. Unlike a regular expression a Form costs nothing before it is used.
type Form struct {
	First, Rest string
	Least, Most int
}

// MatchString reports whether s looks like that, all of it.
func (f Form) MatchString(s string) bool {
	if len(s) < max(f.Least, 1) || len(s) > f.Most || !among(f.First, s[0]) {
		return false
	}
	for i := 1; i < len(s); i++ {
		if !among(f.Rest, s[i]) {
			return false
		}
	}
	return true
}

// String is the form as a regular expression.
func (f Form) String() string {
	return fmt.Sprintf("^[%s][%s]{%d,%d}$", f.First, f.Rest, max(f.Least, 1)-1, f.Most-1)
}

// among reports whether a letter is one of a class.
func among(class string, c byte) bool {
	for len(class) > 0 {
		if len(class) > 2 && class[1] == '-' {
			if class[0] <= c && c <= class[2] {
				return true
			}
			class = class[3:]
			continue
		}
		if class[0] == c {
			return true
		}
		class = class[1:]
	}
	return false
}

// IsHex reports whether s is so many hexadecimal digits, in small letters.
func IsHex(s string, digits int) bool {
	return len(s) == digits && strings.Trim(s, "0123456789abcdef") == ""
}
