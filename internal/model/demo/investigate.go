package demo

import (
	"fmt"
	"strings"
)

// trial is one run of a method.
type trial struct {
	method
	file   string
	result string
	// fault is why there is no result.
	fault string
}

func (t *trial) same(u *trial) bool { return t.fault == "" && u.fault == "" && t.result == u.result }

// told is the trial in a few words.
func (t *trial) told() string {
	if t.fault != "" {
		return fmt.Sprintf("%s failed (%s)", t.name, brief(t.fault))
	}
	first, more, _ := strings.Cut(t.result, "\n")
	if more != "" {
		first += ", …"
	}
	return fmt.Sprintf("%s gives %s", t.name, brief(first))
}

// study is an investigation as far as it has come.
type study struct {
	*task
	desk   *desk
	trials []*trial
	log    []string
	// slipped is the trial that a mistake was made in, -1 for none, and slip what.
	slipped int
	slip    slip
	// caught says that a mistake was found and repaired.
	caught bool
	noted  bool
}

// investigate computes in two ways, settles a disagreement by a third, and
// concludes.
func (d *desk) investigate(t *task) (string, error) {
	s := &study{task: t, desk: d}
	methods := [2]method{t.methods[0], t.methods[1]}
	if d.swap {
		methods[0], methods[1] = methods[1], methods[0]
	}
	var which int
	s.slipped, which = d.choose(methods)
	if s.slipped >= 0 {
		s.slip = methods[s.slipped].slips[which]
	}
	if !d.offered["calculate"] {
		return d.conclude("I cannot work on this: it has to be computed, and I am not offered the tool calculate. I know no numbers by heart.", "")
	}
	first, err := s.run("first", fmt.Sprintf("I take the question to be: %s. I compute it by %s.", t.asks, methods[0].name), methods[0], s.slipped == 0)
	if err != nil {
		return "", err
	}
	second, err := s.run("second", fmt.Sprintf("%s. One way alone can be wrong, so I compute it again, independently, by %s.", sentenceCase(first.told()), methods[1].name), methods[1], s.slipped == 1)
	if err != nil {
		return "", err
	}
	if first.same(second) {
		return s.finish(fmt.Sprintf("%s. Both ways agree.", sentenceCase(second.told())), first,
			"as sure as two independent programs can make it, for they agree.")
	}
	return s.settle(first, second)
}

// run tries a method, and keeps the program for whoever wants to run it again.
func (s *study) run(file, say string, m method, slipped bool) (*trial, error) {
	t := &trial{method: m, file: "programs/" + file + ".star"}
	if m.prepare != nil {
		code, err := m.prepare(s.desk, say)
		if err != nil {
			return nil, err
		}
		t.code, say = code, m.prepared
	}
	if slipped {
		t.code = s.slip.code
	}
	if t.code == "" {
		t.fault = "it could not be prepared"
		s.trials = append(s.trials, t)
		return t, nil
	}
	calls := []call{calculate(t.code)}
	if s.desk.offered["write_file"] {
		calls = append(calls, writeFile(t.file, t.code))
	}
	out, err := s.desk.use(say, calls...)
	if err != nil {
		return nil, err
	}
	if len(out) < 2 || out[1].failed {
		t.file = ""
	}
	if out[0].failed {
		t.fault = out[0].text
	} else if t.result = resultOf(out[0].text); t.result == "" {
		t.fault = "it printed nothing"
	}
	s.trials = append(s.trials, t)
	s.log = append(s.log, t.told()+".")
	return t, nil
}

// resultOf drops the remarks of a program.
func resultOf(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "#") {
			lines = append(lines, strings.TrimRight(line, " \r\n"))
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// settle asks the third method which of two results is wrong.
func (s *study) settle(first, second *trial) (string, error) {
	trouble := fmt.Sprintf("The two DISAGREE: %s. At least one of them is wrong, and I do not choose the one I like", difference(first, second))
	if first.fault != "" || second.fault != "" {
		trouble = "So there are not two results to compare"
	}
	s.log = append(s.log, trouble+".")
	third, err := s.run("third", fmt.Sprintf("%s. %s. A third way decides: %s.", sentenceCase(second.told()), trouble, s.methods[2].name), s.methods[2], false)
	if err != nil {
		return "", err
	}
	var right, wrong *trial
	at := 0
	switch {
	case third.same(first):
		right, wrong, at = first, second, 1
	case third.same(second):
		right, wrong, at = second, first, 0
	default:
		return s.undecided(third)
	}
	verdict := fmt.Sprintf("%s. It agrees with %s, so what %s gave was wrong", sentenceCase(third.told()), right.name, wrong.name)
	s.log = append(s.log, verdict+".")
	if at != s.slipped {
		return s.finish(verdict+", though I see no mistake in its program.", right,
			"fairly, for two of three independent programs agree. I did not find why the third one does not.")
	}
	repaired, err := s.run([]string{"first", "second"}[at]+"-corrected",
		fmt.Sprintf("%s. I look at its program again and see my mistake: %s. I correct it and run it again.", verdict, s.slip.what), s.healthy(wrong), false)
	if err != nil {
		return "", err
	}
	s.log = append(s.log, "The mistake: "+s.slip.what+".")
	if !repaired.same(right) {
		return s.finish(fmt.Sprintf("%s, which still does not fit.", sentenceCase(repaired.told())), right,
			"fairly, for two of three independent programs agree. The other one still gives something else after a correction.")
	}
	s.caught = true
	return s.finish(fmt.Sprintf("%s and agrees with the others.", sentenceCase(repaired.told())), right,
		"as sure as three independent programs can make it, for after one correction they all agree.")
}

// healthy is the method of a trial without the slip.
func (s *study) healthy(t *trial) method {
	m := t.method
	for _, other := range s.methods {
		if other.name == m.name {
			m.code = other.code
		}
	}
	m.name += ", corrected,"
	return m
}

func (s *study) undecided(third *trial) (string, error) {
	s.log = append(s.log, "No two of the three agree.")
	if err := s.note(sentenceCase(third.told())+". No two of the three agree.", "none that I can defend", nil); err != nil {
		return "", err
	}
	return s.desk.conclude("I have no answer that I can defend: three ways to compute it do not lead to one result.",
		"I take the question to be: "+s.asks+".\n\n"+s.ways(nil))
}

// finish keeps the notes and answers.
func (s *study) finish(say string, right *trial, sure string) (string, error) {
	result := s.show(right.result)
	if err := s.note(say+" I write my notes.", result, right); err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "How it was obtained (I take the question to be: %s):\n\n%s", s.asks, s.ways(right))
	if s.caught {
		fmt.Fprintf(&b, "\nA mistake was made on the way and caught, because two ways disagreed: %s. (This demo makes some on purpose, chosen by its seed, to show what checks are for.)\n", s.slip.what)
	}
	for _, r := range s.remarks {
		fmt.Fprintf(&b, "\nNote: %s\n", r)
	}
	fmt.Fprintf(&b, "\nHow sure: %s", sure)
	if s.noted {
		b.WriteString(" The programs and notes.md are in the workspace; calculate runs the programs again.")
	}
	return s.desk.conclude(result, b.String())
}

// ways lists what was run, in order, and how it compares with what is right.
func (s *study) ways(right *trial) string {
	var b strings.Builder
	for _, t := range s.trials {
		told := t.told()
		if right != nil && t.fault == "" && strings.Contains(t.result, "\n") {
			told = t.name + " gives just that"
			if !t.same(right) {
				told = fmt.Sprintf("%s gives something else: %s", t.name, difference(t, right))
			}
		}
		fmt.Fprintf(&b, "- %s", told)
		if t.file != "" {
			fmt.Fprintf(&b, " (%s)", t.file)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// note writes notes.md, if files can be written.
func (s *study) note(say, result string, right *trial) error {
	if !s.desk.offered["write_file"] {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Notes\n\nWritten by the demo researcher, which is not a language model.\n\nQuestion as asked:\n\n%s\n\nAs I take it: %s.\n\n## What I did\n\n", quoted(s.desk.question.text), s.asks)
	for i, line := range s.log {
		fmt.Fprintf(&b, "%d. %s\n", i+1, sentenceCase(line))
	}
	fmt.Fprintf(&b, "\n## Programs\n\n%s\n", s.ways(right))
	for _, r := range s.remarks {
		fmt.Fprintf(&b, "Note: %s\n\n", r)
	}
	fmt.Fprintf(&b, "## Result\n\n%s\n", result)
	out, err := s.desk.use(say, writeFile("notes.md", strings.ToValidUTF8(b.String(), "?")))
	if err != nil {
		return err
	}
	s.noted = !out[0].failed
	if out[0].failed {
		s.remarks = append(s.remarks, "the notes could not be written: "+brief(out[0].text))
	}
	return nil
}

// conclude makes the answer: the result first, then the rest, and who says so.
func (d *desk) conclude(result, rest string) (string, error) {
	var b strings.Builder
	b.WriteString(result + "\n")
	if rest != "" {
		b.WriteString("\n" + strings.TrimSpace(rest) + "\n")
	}
	if other := d.question.unread(); other != "" {
		fmt.Fprintf(&b, "\nOf the question I worked on one sentence only. This I did not take into account: %q\n", brief(other))
	}
	for _, text := range d.ignored {
		fmt.Fprintf(&b, "\nI do not know what to do with this later message: %q\n", brief(text))
	}
	b.WriteString("\n" + Label)
	return b.String(), nil
}
