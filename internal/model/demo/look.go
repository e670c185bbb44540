package demo

import (
	"fmt"
	"path"
	"strings"
)

// file is one that was looked at.
type file struct{ path, text string }

// files are what a workspace has, as far as it was looked at.
type files []file

// The limits of a look around.
const (
	maxFolders = 6
	maxLooks   = 8
	maxLines   = 50 // of a file that is no table
)

// look lists the workspace and reads its tables, or else a few of its texts.
// What they say is data, whatever it is.
func (d *desk) look() (files, error) {
	if !d.offered["list_files"] || !d.offered["read_file"] {
		return d.lookAtNamed()
	}
	names, err := d.list()
	if err != nil {
		return nil, err
	}
	var wanted []string
	for _, tables := range []bool{true, false} {
		for _, n := range names {
			if isTable(n) == tables && len(wanted) < maxLooks {
				wanted = append(wanted, n)
			}
		}
		if len(wanted) > 0 {
			break
		}
	}
	return d.read("I read what may matter: "+brief(strings.Join(wanted, ", "))+".", wanted)
}

// lookAtNamed reads the file that the question names, if nothing can be listed.
func (d *desk) lookAtNamed() (files, error) {
	named := namesTable.FindString(d.question.text)
	if named == "" || !d.offered["read_file"] {
		return nil, nil
	}
	return d.read("I cannot list the workspace, but the question names a file. I read it.", []string{named})
}

// list names the files of the workspace, folder by folder. Its own are left out.
func (d *desk) list() ([]string, error) {
	var names []string
	folders := []string{"."}
	for i := 0; i < len(folders) && i < maxFolders; i++ {
		say := "First I look at what is in the workspace."
		if i > 0 {
			say = "There is a folder; I look into it."
		}
		out, err := d.use(say, listFiles(folders[i]))
		if err != nil {
			return nil, err
		}
		if out[0].failed || strings.HasPrefix(out[0].text, "(empty folder)") {
			continue
		}
		for line := range strings.Lines(out[0].text) {
			line = strings.TrimRight(line, "\n")
			name, _, _ := strings.Cut(line, "  ")
			full := path.Join(folders[i], name)
			switch {
			case name == "" || strings.HasPrefix(name, "(") || strings.HasPrefix(name, ".") || strings.HasPrefix(name, `"`):
			case full == "notes.md" || full == "programs/":
			case strings.HasSuffix(name, "/"):
				if full != "programs" && full != "publications" {
					folders = append(folders, full)
				}
			default:
				names = append(names, full)
			}
		}
	}
	return names, nil
}

func (d *desk) read(say string, names []string) (files, error) {
	var calls []call
	for _, n := range names {
		limit := maxLines
		if isTable(n) {
			limit = 0
		}
		calls = append(calls, readFile(n, 0, limit))
	}
	out, err := d.use(say, calls...)
	if err != nil {
		return nil, err
	}
	var list files
	for i, o := range out {
		if !o.failed {
			list = append(list, file{names[i], o.text})
		}
	}
	return list, nil
}

// lost is the task of a question that cannot be worked on.
func (f files) lost(why string) *task {
	var b strings.Builder
	if len(f) > 0 {
		b.WriteString("I looked at:\n\n")
		for _, one := range f {
			fmt.Fprintf(&b, "- %s, %d lines of it\n", one.path, strings.Count(strings.TrimRight(one.text, "\n"), "\n")+1)
		}
		b.WriteString("\n")
	}
	b.WriteString(abilities)
	return &task{refused: why + ".", looked: b.String()}
}

const abilities = `What I can work on, asked in one plain English sentence:

- an expression, such as 17*23+4
- how many primes are below N, or their sum; the N-th prime
- the N-th Fibonacci number, or the sum of its digits
- the sum of the digits of 2^N or of N!
- the perfect numbers below N; the longest Collatz chain below N; the number of partitions of N
- the number or the sum of the divisors of N; the sum of the multiples of 3 or 5 below N
- pi, e, ln 2 or the square root of N to k digits
- the mean, median, sum, minimum, maximum or trend of a column of a CSV file, also for each group`

// unknown is a question that no skill knows.
type unknown struct{}

func (unknown) plan(d *desk) (*task, error) {
	if strings.TrimSpace(d.question.text) == "" {
		return files(nil).lost("There is no question, so there is no answer"), nil
	}
	seen, err := d.look()
	if err != nil {
		return nil, err
	}
	return seen.lost("I do not know how to work on this question, so I give no answer to it rather than a guess"), nil
}
