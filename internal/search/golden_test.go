package search

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// golden are document, score and relevance of three searches.
var golden = []string{
	"00146 5084923860 1000000000",
	"00220 5031816869 989555991",
	"00481 4944409599 972366497",
	"00288 7351089129 1000000000",
	"00124 6212291352 845084482",
	"00498 6098143122 829556412",
	"00426 4866267113 1000000000",
	"00445 4275725136 878645795",
	"00414 4046560475 831553300",
}

const goldenFloor = 0x3ff44b86ec6eede7

// TestNothingIsFused: on arm64 the compiler fuses a product with a sum wherever the
// source lets it. That there is no such instruction in these packages shows that the
// source never does.
func TestNothingIsFused(t *testing.T) {
	t.Parallel()
	for _, name := range []string{".", "./glove"} {
		cmd := exec.Command("go", "build", "-buildvcs=false", "-gcflags=-S", name)
		cmd.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("the compiler for arm64: %v: %s", err, out[max(0, len(out)-2000):])
		}
		listing := string(out)
		if !strings.Contains(listing, "FMULD") {
			t.Fatalf("%s: the listing shows no multiplication at all", name)
		}
		for _, fused := range []string{"FMADD", "FMSUB", "FNMADD", "FNMSUB"} {
			if i := strings.Index(listing, fused); i >= 0 {
				t.Errorf("%s: fused: %s", name, listing[max(0, i-120):i+40])
			}
		}
	}
}
