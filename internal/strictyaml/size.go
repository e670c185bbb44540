package strictyaml

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// units are those of sizes, and how many times two is in them.
var units = []struct {
	name string
	bits int
}{{"TiB", 40}, {"GiB", 30}, {"MiB", 20}, {"KiB", 10}}

// ParseSize reads a number of bytes, such as 512MiB, 2GiB or 1500000.
func ParseSize(s string) (int64, error) {
	digits, bits := s, 0
	for _, u := range units {
		if rest, ok := strings.CutSuffix(s, u.name); ok {
			digits, bits = rest, u.bits
		}
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || strings.Contains(digits, "+") || len(digits) > 1 && digits[0] == '0' {
		return 0, fmt.Errorf("%.40q is not a size, such as 512MiB, 2GiB or 1500000", s)
	}
	if n > math.MaxInt64>>bits {
		return 0, fmt.Errorf("%.40q is more than any machine has", s)
	}
	return int64(n) << bits, nil
}

// FormatSize writes a size as ParseSize reads it.
func FormatSize(n int64) string {
	for _, u := range units {
		if n > 0 && n%(1<<u.bits) == 0 {
			return strconv.FormatInt(n>>u.bits, 10) + u.name
		}
	}
	return strconv.FormatInt(n, 10)
}
