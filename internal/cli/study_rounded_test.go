package cli

import (
	"testing"

	"lyceum/internal/survey"
)

func TestTimesOfAStudyAreRoundedForPeople(t *testing.T) {
	t.Parallel()
	for micros, want := range map[survey.Seconds]string{
		0: "0.0s", 1_234_567: "1.2s", 59_940_000: "59.9s", 59_960_000: "1m0s", 200_654_321: "3m21s", 3_723_400_000: "1h2m3s",
	} {
		if got := rounded(micros); got != want {
			t.Errorf("%d microseconds: got %q, want %q", micros, got, want)
		}
	}
}
