package demo

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// review deals with the papers that the agent is asked to review, the oldest first.
func (l *lab) review() error {
	seen := l.last(toolRequests)
	if seen == nil {
		return nil
	}
	for _, m := range requested.FindAllStringSubmatch(seen.text, -1) {
		ref := m[1]
		handled := slices.ContainsFunc(l.made, func(m made) bool {
			return m.tool == toolReview && m.at > seen.at && m.done && argument(m.call, "ref") == ref
		})
		if handled {
			continue
		}
		if err := l.examine(ref); err != nil {
			return err
		}
	}
	return nil
}

// examine runs a paper's program and an independent one, and compares the three: what
// the paper claims, what its program prints, and what the reviewer finds.
func (l *lab) examine(ref string) error {
	p, err := l.read("I am asked to review a paper. I get it.", ref)
	if err != nil {
		return err
	}
	v := verdict{paper: p, data: l.x.data}
	if p.fault == "" {
		v.check = l.check(p.method)
		if err := l.recompute(&v); err != nil {
			return err
		}
	}
	grade, content := v.write()
	return l.ask("I write my review: "+grade+".", call{toolReview, encode(struct {
		Ref        string  `json:"ref"`
		Grade      string  `json:"grade"`
		Content    string  `json:"content"`
		Confidence int     `json:"confidence"`
		Checked    checked `json:"checked"`
	}{ref, grade, strings.ToValidUTF8(content, "?"), v.confidence(), v.rests()})})
}

// checked is what a review rests on.
type checked struct {
	Claim          string `json:"claim"`
	Ran            string `json:"ran"`
	Counterexample string `json:"counterexample"`
}

// rests says what the reviewer has run, and what was tried against the claim.
func (v *verdict) rests() checked {
	out := checked{Claim: brief(orNothing(v.answer)), Ran: "Nothing: I could not read the paper.", Counterexample: "None: I could not read the paper."}
	if v.fault == "" {
		out.Ran = brief(fmt.Sprintf("Its entry point: %s.", v.theirs.told()))
		out.Counterexample = brief(fmt.Sprintf("Another way to the answer, %s: %s.", v.check.name, v.mine.told()))
	}
	return checked{strings.ToValidUTF8(out.Claim, "?"), strings.ToValidUTF8(out.Ran, "?"), strings.ToValidUTF8(out.Counterexample, "?")}
}

// confidence is full where the reviewer has computed the answer itself.
func (v *verdict) confidence() int {
	if v.fault != "" || v.mine.fault != "" {
		return 3
	}
	return 5
}

// recompute runs both programs, and compares the data that is attached with the
// reviewer's own.
func (l *lab) recompute(v *verdict) error {
	out, err := l.run(fmt.Sprintf("The paper says %s. I compute that myself, independently of it, by %s.", orNothing(v.answer), v.check.name), v.check)
	if err != nil {
		return err
	}
	v.mine = out[0]
	dir := "publications/" + v.ref
	var calls []call
	if v.entrypoint != "" {
		shell := map[string]string{".sh": "sh", ".py": "python3"}[path.Ext(v.entrypoint)]
		calls = append(calls, execute(dir, shell+" "+v.entrypoint))
	}
	if l.x.data != "" {
		calls = append(calls, execute("", fmt.Sprintf("cmp %s %s && echo same", shellQuote(l.x.data), shellQuote(dir+"/"+path.Base(l.x.data)))))
	}
	results, err := l.use(fmt.Sprintf("I find %s. Now I run the paper's own program.", v.mine.told()), calls...)
	if err != nil {
		return err
	}
	v.theirs = printed{fault: "the paper names no entry point that I can run"}
	if v.entrypoint != "" {
		v.theirs, results = printedBy(results[0]), results[1:]
	}
	v.sameData = len(results) == 0 || printedBy(results[0]).answer == "same"
	return nil
}

func orNothing(text string) string {
	if text == "" {
		return "nothing on a line of its own that I could take for its answer"
	}
	return text
}

// verdict is what a reviewer has found out about a paper.
type verdict struct {
	paper
	check        approach
	mine, theirs printed
	data         string
	sameData     bool
}

// write makes the grade and the review. A paper is accepted if everything fits.
func (v *verdict) write() (grade, text string) {
	var b strings.Builder
	grade = "ACCEPT"
	point := func(good bool, format string, args ...any) {
		if !good {
			grade = "REJECT"
		}
		fmt.Fprintf(&b, "- "+format+"\n", args...)
	}
	if v.fault != "" {
		point(false, "I could not read the paper: %s", brief(v.fault))
		return grade, b.String() + "\n" + Label
	}
	point(v.answer != "", "The paper claims: %s.", orNothing(v.answer))
	switch {
	case v.theirs.fault != "":
		point(false, "I ran its program, without an answer: %s.", brief(v.theirs.fault))
	case v.theirs.answer == v.answer:
		point(true, "I ran its entry point `%s`. It prints: %s. That is what the paper claims.", v.entrypoint, v.theirs.answer)
	default:
		point(false, "I ran its entry point `%s`. It prints: %s. That is NOT what the paper claims.", v.entrypoint, brief(v.theirs.answer))
	}
	if !v.sameData {
		point(false, "The file %s that is attached is not the one that I was given, or is missing.", path.Base(v.data))
	}
	switch {
	case v.mine.fault != "":
		point(false, "I could not compute it myself, so I have not checked it: %s.", brief(v.mine.fault))
	case v.mine.answer == v.answer:
		point(true, "I computed it independently, by %s. I find the same: %s.", v.check.name, v.mine.answer)
	default:
		point(false, "I computed it independently, by %s. I find: %s. That is NOT what the paper claims%s.", v.check.name, v.mine.answer, apart(v.answer, v.mine.answer))
	}
	hint := ""
	if v.mine.answer != v.answer {
		hint = " Has the paper taken that into account?"
	}
	for note := range strings.Lines(v.mine.notes) {
		point(true, "My program also says: %s.%s", strings.TrimSpace(note), hint)
	}
	if v.mine.fault == "" {
		fmt.Fprintf(&b, "\nMy program, for whoever wants to run it:\n\n```sh\n%s```\n", v.check.code)
	}
	if grade == "REJECT" {
		b.WriteString("\nWhat would convince me: a program whose answer stands up to a second one that reaches it in another way.\n")
	}
	return grade, fmt.Sprintf("%s.\n\n%s\n%s", map[string]string{"ACCEPT": "It holds", "REJECT": "It does not hold"}[grade], b.String(), Label)
}

// apart says by how much two whole numbers differ, if they are such.
func apart(claimed, found string) string {
	if !wholeNumber.MatchString(claimed) || !wholeNumber.MatchString(found) {
		return ""
	}
	d := digitsOf(claimed)
	d.Sub(d, digitsOf(found))
	return fmt.Sprintf(": the difference is %s", d)
}

var wholeNumber = late(`^\d{1,30}$`)
