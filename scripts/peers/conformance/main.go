// Command conformance judges what a suite of MCP's authors has said of us, by the names of the scenarios that failed.
// Its exit code and its totals say too little: a scenario in which nothing was checked has no failures, one that is not
// scored fails unseen, and one that begins to fail is hidden by another that stops.
//
//	… client --suite core 2>&1 | go run ./scripts/peers/conformance "client 0.1.16 core" 18
//
// It reads the suite's output, and wants so many scenarios. Those that fail must be the ones which expected.txt has for
// this suite, each with its reason: one more is a regression, one less a reason that is no longer true. It ends with 1 if
// the names are not as they should be, with 2 if there is nothing to judge.
package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed expected.txt
var written string

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: conformance SUITE SCENARIOS < what the suite has printed")
		os.Exit(2)
	}
	os.Exit(run(os.Args[1], os.Args[2], os.Stdin, os.Stdout))
}

// run returns the code to end with.
func run(suite, scenarios string, in io.Reader, out io.Writer) int {
	said, err := io.ReadAll(in)
	if err != nil {
		fmt.Fprintln(out, "conformance: read what the suite has printed:", err)
		return 2
	}
	want, err := strconv.Atoi(scenarios)
	expected, err2 := parse(written)
	results, err3 := read(said)
	if err := errors.Join(err, err2, err3); err != nil {
		fmt.Fprintln(out, "conformance:", err)
		return 2
	}
	wrong := judge(results, expected[suite], want)
	for _, line := range wrong {
		fmt.Fprintf(out, "%s: %s\n", suite, line)
	}
	if len(wrong) > 0 {
		return 1
	}
	fmt.Fprintf(out, "%d scenarios", len(results))
	if names := slices.Sorted(maps.Keys(expected[suite])); len(names) > 0 {
		fmt.Fprintf(out, ", of which fail as expected: %s", strings.Join(names, ", "))
	}
	fmt.Fprintln(out)
	return 0
}

// parse reads the list of expected failures: the reasons, by suite and scenario.
func parse(list string) (map[string]map[string]string, error) {
	all := map[string]map[string]string{}
	for i, line := range strings.Split(list, "\n") {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		parts := strings.SplitN(line, " | ", 3)
		if len(parts) != 3 || strings.TrimSpace(parts[2]) == "" {
			return nil, fmt.Errorf("line %d of expected.txt: want a suite, a scenario and a reason, with | between them", i+1)
		}
		suite, name := strings.TrimSpace(parts[0]), strings.TrimSpace(parts[1])
		if all[suite] == nil {
			all[suite] = map[string]string{}
		}
		if all[suite][name] != "" {
			return nil, fmt.Errorf("line %d of expected.txt: %s is there twice for %s", i+1, name, suite)
		}
		all[suite][name] = strings.TrimSpace(parts[2])
	}
	return all, nil
}

// The lines of a suite's summary.
var (
	judged  = regexp.MustCompile(`^([✓✗]) (\S+): ([0-9]+) passed, ([0-9]+) failed`)
	skipped = regexp.MustCompile(`^- (\S+): skipped`)
)

// read returns why each scenario failed, by its name: nothing, if it did not.
func read(said []byte) (map[string]string, error) {
	results := map[string]string{}
	for line := range bytes.Lines(said) {
		if m := skipped.FindSubmatch(line); m != nil {
			results[string(m[1])] = "it was skipped"
			continue
		}
		m := judged.FindSubmatch(line)
		if m == nil {
			continue
		}
		name, why := string(m[2]), ""
		switch {
		case string(m[1]) == "✗" || string(m[4]) != "0":
			why = strings.TrimSpace(string(line))
		case string(m[3]) == "0":
			why = "nothing was checked"
		}
		if before, twice := results[name]; !twice || before == "" {
			results[name] = why
		}
	}
	if len(results) == 0 {
		return nil, errors.New("the suite has printed no summary: see its output")
	}
	return results, nil
}

// judge says what is not as expected, nothing if all is.
func judge(results, expected map[string]string, want int) (wrong []string) {
	if len(results) != want {
		wrong = append(wrong, fmt.Sprintf("%d scenarios were run, want %d", len(results), want))
	}
	for _, name := range slices.Sorted(maps.Keys(results)) {
		switch why := results[name]; {
		case why != "" && expected[name] == "":
			wrong = append(wrong, fmt.Sprintf("%s fails: %s", name, why))
		case why == "" && expected[name] != "":
			wrong = append(wrong, fmt.Sprintf("%s passes, and was expected to fail (%s): take its line out of expected.txt", name, expected[name]))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(expected)) {
		if _, ran := results[name]; !ran {
			wrong = append(wrong, fmt.Sprintf("%s was not run, and was expected to fail (%s)", name, expected[name]))
		}
	}
	return wrong
}
