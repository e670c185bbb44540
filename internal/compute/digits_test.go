package compute

import (
	"strings"
	"testing"
)

// TestAResultHasTheDigitsThatItsDataCarry: two digits of its standard error, or where none
// stands beside it, one; and no more than the data have, if there is no error.
func TestAResultHasTheDigitsThatItsDataCarry(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ program, table, want string }{
		"ScatteredRates": {"arrhenius", rates, `
			activation energy Ea = 35.1 kJ/mol
			standard error of Ea = 2.3 kJ/mol
			pre-exponential factor A = 1.0e+03 1/s
			standard error of ln A = 0.74
			R² = 0.987`},
		"EqualRates": {"arrhenius", "T (K),k (1/s)\n300,0.1\n310,0.1\n320,0.1\n", `
			activation energy Ea = 0 kJ/mol
			standard error of Ea = 0 kJ/mol
			pre-exponential factor A = 0.1 1/s
			standard error of ln A = 0
			R² = undefined, since all values are equal`},
		"Peaks": {"kissinger", peaks, `
			activation energy Ea = 105.26 kJ/mol
			standard error of Ea = 0.43 kJ/mol
			pre-exponential factor A = 2.2e+07 1/s
			standard error of ln A = 0.095
			R² = 0.999967`},
		"ALineThroughAllPoints": {"linear", "x,y\n0.1,1\n0.2,2\n0.3,3\n0.4,4\n", `
			slope = 10
			standard error of slope = 0
			intercept = 0
			standard error of intercept = 0
			R² = 1`},
		"AThird": {"linear", "x,y\n0,1\n3,2\n6,3\n", `
			slope = 0.3
			standard error of slope = 0
			intercept = 1
			standard error of intercept = 0
			R² = 1`},
		"AnErrorOfHundreds": {"linear", "x,y\n1,12345\n2,13900\n3,14000\n4,17000\n", `
			slope = 1.41e+03
			standard error of slope = 3.8e+02
			intercept = 1.08e+04
			standard error of intercept = 1.1e+03
			R² = 0.87`},
		"AnErrorThatRoundsUp": {"statistics", "x\n1\n1.3992\n", `
			mean = 1.20
			standard error of the mean = 0.20
			standard deviation = 0.3
			minimum = 1
			maximum = 1.3992
			median = 1.1996`},
		"OneValue": {"statistics", "x (g)\n30.5\n", `
			mean = 30.5 g
			standard deviation = undefined for one value
			minimum = 30.5 g
			maximum = 30.5 g
			median = 30.5 g`},
		"ValuesThatDoNotVary": {"statistics", "x\n0.1\n0.1\n0.1\n", `
			mean = 0.1
			standard error of the mean = 0
			standard deviation = 0
			minimum = 0.1
			maximum = 0.1
			median = 0.1`},
		"FarApart": {"statistics", "x\n-0.00001\n0\n1300\n123456789012345\n", `
			mean = 3.1e+13
			standard error of the mean = 3.1e+13
			standard deviation = 6e+13
			minimum = -1e-05
			maximum = 123456789012345
			median = 650`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := result(t, c.program, data{"a.csv": c.table})
			var got []string
			for line := range strings.Lines(out) {
				if strings.Contains(line, " = ") && !strings.Contains(line, ": ") && !strings.Contains(line, " n = ") {
					got = append(got, strings.TrimSuffix(line, "\n"))
				}
			}
			if want := strings.Fields(c.want); strings.Join(strings.Fields(strings.Join(got, "\n")), " ") != strings.Join(want, " ") {
				t.Errorf("the results: got\n%s\nwant%s", strings.Join(got, "\n"), strings.ReplaceAll(c.want, "\t", ""))
			}
		})
	}
}
