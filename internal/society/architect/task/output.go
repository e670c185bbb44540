package task

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"regexp"
	"strings"

	"lyceum/internal/plain"

	"github.com/go-json-experiment/json"
)

// maxLine is how much of a line is kept of what failed.
const maxLine = 300

// failing are the signs of the line that tells what failed, the surest first.
var failing = []*regexp.Regexp{
	regexp.MustCompile(`^\s*--- FAIL: |^panic: |^FAILED |^E {2,}\S|^not ok \d`),
	regexp.MustCompile(`^\S+:\d+(:\d+)?: |(^|\s)(error|fatal|Error|ERROR|FATAL)(\[\w+\])?: |^\w*(Error|Exception)\b|^Traceback `),
	regexp.MustCompile(`(?i)^\s*FAIL\b|\bfailed\b|\berror\b|not found|no such|cannot|denied|killed|timed? ?out`),
}

// FirstFailing is the line of a command's output that says first what failed; empty if it
// said nothing. Lines of go test -json are read as what they stand for.
func FirstFailing(output []byte) string {
	var lines []string
	for line := range bytes.Lines(output) {
		text := string(line)
		if e, ok := testLine(line); ok {
			text = e.Output
		}
		if text = plain.Cut(strings.TrimRight(ansi.ReplaceAllString(strings.ToValidUTF8(text, "\uFFFD"), ""), " \t\r\n"), maxLine); strings.TrimSpace(text) != "" {
			lines = append(lines, text)
		}
	}
	for _, sign := range failing {
		for _, line := range lines {
			if sign.MatchString(line) {
				return plain.Bare(strings.TrimSpace(line), maxLine)
			}
		}
	}
	if len(lines) == 0 {
		return ""
	}
	return plain.Bare(strings.TrimSpace(lines[len(lines)-1]), maxLine)
}

// What differs between two outputs of the same error.
var (
	ansi  = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")
	times = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|[+-]\d\d:?\d\d)?|\b\d\d:\d\d:\d\d(\.\d+)?|\b\d+(\.\d+)?(ns|µs|us|ms|s|sec|seconds|m|min|h)\b`)
	paths = regexp.MustCompile(`[^\s"'()\[\]<>=,;:]*/[^\s"'()\[\]<>=,;:]*|\b[\w.-]+\.[A-Za-z]\w{0,4}(:\d+)+`)
	hexes = regexp.MustCompile(`\b0x[0-9a-fA-F]+\b|\b[0-9a-f]*\d[0-9a-f]{7,}\b|\b[0-9a-f]{7,}\d[0-9a-f]*\b`)
	nums  = regexp.MustCompile(`[0-9]+`)
)

// Same is a key that two errors share if they are the same: of the same category, with the
// same exit, and a first failing line that differs in numbers, paths and times at most.
func Same(category string, exit int64, line string) string {
	line = ansi.ReplaceAllString(line, "")
	for _, r := range []*regexp.Regexp{times, paths, hexes, nums} {
		line = r.ReplaceAllString(line, " ")
	}
	line = strings.Join(strings.FieldsFunc(strings.ToLower(line), func(r rune) bool { return r == ' ' || r == '\t' || r == ':' || r == '\u00a0' }), " ")
	return fmt.Sprintf("%s %d %s", category, exit, plain.Cut(line, maxLine))
}

// Counts are of tests.
type Counts struct{ Passed, Failed, Skipped int64 }

// testEvent is a line of go test -json.
type testEvent struct {
	Action  string `json:"Action"`
	Package string `json:"Package"`
	Test    string `json:"Test"`
	Output  string `json:"Output"`
}

func testLine(line []byte) (e testEvent, ok bool) {
	if line = bytes.TrimSpace(line); len(line) == 0 || line[0] != '{' || !bytes.Contains(line, []byte(`"Action"`)) {
		return e, false
	}
	return e, json.Unmarshal(line, &e) == nil && e.Action != ""
}

// Count reads how many tests there were out of the output of a command, if that is what go
// test -json or JUnit write.
func Count(output []byte) (Counts, bool) {
	if c, ok := countGo(output); ok {
		return c, true
	}
	return countJUnit(output)
}

// countGo counts tests and those in them by how they ended, and packages that failed
// without a test.
func countGo(output []byte) (c Counts, ok bool) {
	ended := map[[2]string]string{}
	failed := map[string]bool{} // packages with a test that failed
	var packages []string
	for line := range bytes.Lines(output) {
		e, is := testLine(line)
		if !is {
			continue
		}
		ok = true
		if e.Test == "" {
			if e.Action == "fail" {
				packages = append(packages, e.Package)
			}
			continue
		}
		if e.Action == "pass" || e.Action == "fail" || e.Action == "skip" {
			ended[[2]string{e.Package, e.Test}] = e.Action
			failed[e.Package] = failed[e.Package] || e.Action == "fail"
		}
	}
	for _, action := range ended {
		switch action {
		case "pass":
			c.Passed++
		case "fail":
			c.Failed++
		case "skip":
			c.Skipped++
		}
	}
	for _, p := range packages {
		if !failed[p] {
			c.Failed++
		}
	}
	return c, ok
}

// countJUnit counts the test cases of the first report in an output.
func countJUnit(output []byte) (c Counts, ok bool) {
	start := bytes.Index(output, []byte("<testsuite"))
	if start < 0 {
		return c, false
	}
	dec := xml.NewDecoder(bytes.NewReader(output[start:]))
	depth, state := 0, ""
	for {
		token, err := dec.Token()
		if err != nil {
			return c, false // cut off: nobody knows what it would say
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
			switch name := t.Name.Local; {
			case name == "testcase":
				state = "passed"
			case state != "" && (name == "failure" || name == "error"):
				state = "failed"
			case state == "passed" && name == "skipped":
				state = "skipped"
			}
		case xml.EndElement:
			depth--
			if t.Name.Local == "testcase" {
				switch state {
				case "passed":
					c.Passed++
				case "failed":
					c.Failed++
				case "skipped":
					c.Skipped++
				}
				state = ""
			}
			if depth == 0 {
				return c, true
			}
		}
	}
}
