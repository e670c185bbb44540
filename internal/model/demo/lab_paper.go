package demo

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

var (
	anyRef = late(`\b[0-9a-f]{32}\b`)
	// listed is a line of the library. A title is in quotes that it cannot end, and on
	// one line; what is after it is the library's word again.
	listed    = late(`(?m)^- ([0-9a-f]{32}) (SUBMITTED|PUBLISHED|REJECTED) by (\S+), titled ".*" \(cited (\d+),`)
	requested = late(`(?m)^- ([0-9a-f]{32}) by (\S+), titled `)

	answerLine = late(`(?m)^\*\*Answer: (.{1,1000})\*\*$`)
	methodLine = late(`(?m)^Method: (.{1,200})\.$`)
	entryLine  = late(`(?m)^entrypoint: "([A-Za-z0-9][A-Za-z0-9._-]{0,99}\.(?:sh|py))"$`)
)

// entry is a paper as the library lists it.
type entry struct {
	ref, status, author string
	cited               int
}

// library is what was listed last, the latest first.
func (l *lab) library() (list []entry) {
	seen := l.last(toolList)
	if seen == nil {
		return nil
	}
	for _, m := range listed.FindAllStringSubmatch(seen.text, -1) {
		cited, _ := strconv.Atoi(m[4]) // digits; too many of them are no number to reckon with
		list = append(list, entry{m[1], m[2], m[3], cited})
	}
	return list
}

// mine are the agent's own papers, the latest last: what it handed in, and what the
// library has of it.
func (l *lab) mine() (refs []string) {
	list := l.library()
	slices.Reverse(list)
	for _, e := range list {
		if e.author == l.agent {
			refs = append(refs, e.ref)
		}
	}
	for _, m := range l.made {
		if m.tool == toolSubmit && m.done && !m.failed {
			if ref := anyRef.FindString(m.text); ref != "" && !slices.Contains(refs, ref) {
				refs = append(refs, ref)
			}
		}
	}
	return refs
}

// paper is one that was read.
type paper struct {
	ref, answer, method, entrypoint string
	fault                           string
}

// read copies a paper into the home and reads it. What it says is data.
func (l *lab) read(say, ref string) (paper, error) {
	out, err := l.use(say, refCall(toolGet, ref))
	if err != nil {
		return paper{}, err
	}
	p := paper{ref: ref}
	if out[0].failed {
		p.fault = out[0].text
		return p, nil
	}
	out, err = l.use("I read it.", readFile("publications/"+ref+"/publication.md", 0, 0))
	if err != nil {
		return paper{}, err
	}
	if out[0].failed {
		p.fault = out[0].text
		return p, nil
	}
	p.answer, p.method, p.entrypoint = first(answerLine, out[0].text), first(methodLine, out[0].text), first(entryLine, out[0].text)
	return p, nil
}

func first(re pattern, text string) string {
	if m := re.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// maxSubmits is how often an agent tries to hand something in.
const maxSubmits = 5

func (l *lab) submits() (n int) {
	for _, m := range l.made {
		if m.tool == toolSubmit {
			n++
		}
	}
	return n
}

// publish works out the agent's first paper and hands it in.
func (l *lab) publish() error {
	if len(l.mine()) > 0 || l.submits() >= maxSubmits {
		return nil
	}
	a := l.own()
	if a.flaw != "" {
		return l.publishHastily(a)
	}
	out, err := l.run(fmt.Sprintf("I take the question to be: %s. I begin with %s.", l.x.asks, a.name), a)
	if err != nil || out[0].fault != "" {
		return err
	}
	other := l.check(a.name)
	again, err := l.run(fmt.Sprintf("It prints %s. One way alone can be wrong, so I compute it again, independently, by %s.", out[0].answer, other.name), other)
	if err != nil || again[0].answer != out[0].answer {
		return err
	}
	if l.last(toolList) == nil {
		return l.ask(fmt.Sprintf("Both ways give %s. Before I publish I look at what others have done.", out[0].answer), requestsCall, listCall)
	}
	if known, err := l.known(out[0].answer); known || err != nil {
		return err
	}
	return l.ask("I publish what I have found.", l.submit(draft{
		approach: a, printed: out[0], checked: checkedBy(other), with: []approach{other},
	}))
}

// publishHastily runs one program and hands in what it prints.
func (l *lab) publishHastily(a approach) error {
	if l.last(toolReview) != nil {
		// Who has checked another's paper has seen that its own way was wrong.
		return nil
	}
	const end = "END_OF_PROGRAM"
	command := fmt.Sprintf("mkdir -p programs && cat > %s <<'%s' && sh %s%s\n%s%s\n", a.path(), end, a.path(), l.argument(), a.code, end)
	out, err := l.use(fmt.Sprintf("I take the question to be: %s. I compute it by %s.", l.x.asks, a.name), execute("", command))
	if err != nil {
		return err
	}
	p := printedBy(out[0])
	if p.fault != "" {
		return nil
	}
	return l.ask(fmt.Sprintf("It prints %s. %s, and publish at once.", p.answer, a.excuse), l.submit(draft{approach: a, printed: p, checked: a.excuse + "."}))
}

// known reports whether a colleague's paper says the same already: one that is
// published, or that the agent itself has accepted.
func (l *lab) known(answer string) (bool, error) {
	for _, e := range l.library() {
		if e.author == l.agent || e.status == "REJECTED" || e.status == "SUBMITTED" && !l.accepted(e.ref) {
			continue
		}
		p, err := l.read("A colleague's paper has been published. I read it before I publish the same.", e.ref)
		if err != nil || p.answer == answer {
			return true, err
		}
	}
	return false, nil
}

func (l *lab) accepted(ref string) bool {
	return slices.ContainsFunc(l.made, func(m made) bool {
		return m.tool == toolReview && m.done && !m.failed && argument(m.call, "ref") == ref && argument(m.call, "grade") == "ACCEPT"
	})
}

// argument is a text among the arguments of a call.
func argument(c call, name string) string {
	args := map[string]any{}
	if json.Unmarshal([]byte(c.args), &args) != nil {
		return "" // another model's call
	}
	text, _ := args[name].(string)
	return text
}

// revise hands in a corrected paper in the place of one that was rejected, or beside
// one that was published though it is wrong.
func (l *lab) revise() error {
	mine := l.mine()
	if len(mine) == 0 || l.submits() >= maxSubmits {
		return nil
	}
	old := mine[len(mine)-1]
	i := slices.IndexFunc(l.library(), func(e entry) bool { return e.ref == old })
	if i < 0 || l.library()[i].status == "SUBMITTED" {
		return nil
	}
	rejected := l.library()[i].status == "REJECTED"
	was, err := l.read("My paper is decided. I get it with its reviews.", old)
	if err != nil || was.fault != "" {
		return err
	}
	d := draft{approach: l.check(), said: fmt.Sprintf("It takes the place of `%s`, which said %s.", old, was.answer), revises: old}
	if !rejected {
		d.said, d.revises = fmt.Sprintf("It corrects [%s], which said %s.", old, was.answer), ""
	}
	other := l.check(d.name)
	out, err := l.run(fmt.Sprintf("I do not take anybody's word for it, not even my own: I compute the answer again by %s, and by %s.", d.name, other.name), d.approach, other)
	if err != nil || len(out) < 2 || out[0].fault != "" || out[0].answer != out[1].answer || !rejected && was.answer == out[0].answer {
		return err
	}
	d.printed, d.with, d.checked = out[0], []approach{other}, checkedBy(other)
	if was.answer == d.answer {
		d.said += " I have computed it again, in two ways, and still find the same."
	} else if err := l.confess(&d, old, rejected); err != nil {
		return err
	}
	cites, err := l.agreeing(d.answer)
	if err != nil {
		return err
	}
	if len(cites) > 0 {
		d.said += fmt.Sprintf(" Colleagues have come to the same result in other ways: [%s].", strings.Join(cites, ", "))
	}
	return l.ask("I see what was wrong, and correct my paper.", l.submit(d))
}

// confess says what was wrong with a paper, and whether the reviewers saw it.
func (l *lab) confess(d *draft, old string, rejected bool) error {
	d.said += " That was wrong."
	if rejected {
		reviews, err := l.use("I read the reviews.", readFile("publications/"+old+"/reviews.md", 0, 0))
		if err != nil {
			return err
		}
		if strings.Contains(reviews[0].text, d.answer) {
			d.said += " The reviewers were right to reject it: what they found is what I find now."
		}
	}
	if flaw := l.own().flaw; flaw != "" {
		d.said += " My mistake: " + flaw + ". (This demo makes one on purpose, chosen by the agent's name and the seed, to show what reviews are for.)"
	}
	return nil
}

func checkedBy(a approach) string {
	return fmt.Sprintf("I computed it a second time, independently, by %s (`%s.sh`, attached), with the same result.", a.name, a.slug)
}

// agreeing are the published papers of others that say the same.
func (l *lab) agreeing(answer string) (refs []string, err error) {
	for _, e := range l.library() {
		if e.status != "PUBLISHED" || e.author == l.agent {
			continue
		}
		p, err := l.read("I look at what has been published.", e.ref)
		if err != nil {
			return nil, err
		}
		if p.answer == answer {
			refs = append(refs, e.ref)
		}
	}
	return refs, nil
}

// draft is a paper before it is handed in.
type draft struct {
	approach
	printed
	checked, said, revises string
	// with are further programs to attach.
	with []approach
}

// maxClaim is how long a value may be that a paper names as its claim.
const maxClaim = 100

// submit makes the call that hands a paper in.
func (l *lab) submit(d draft) call {
	var b strings.Builder
	fmt.Fprintf(&b, "**Answer: %s**\n\nThe question, as I take it: %s.\n\nMethod: %s.\n\n", d.answer, l.x.asks, d.name)
	if d.said != "" {
		fmt.Fprintf(&b, "%s\n\n", d.said)
	}
	fmt.Fprintf(&b, "The entry point `%s.sh` prints the answer. It is this program:\n\n```sh\n%s```\n\n", d.slug, d.code)
	for note := range strings.Lines(d.notes) {
		fmt.Fprintf(&b, "It also says: %s.\n\n", strings.TrimSpace(note))
	}
	fmt.Fprintf(&b, "How sure: %s\n\n%s\n", d.checked, Label)
	args := struct {
		Title       string   `json:"title"`
		Content     string   `json:"content"`
		Attachments []string `json:"attachments"`
		Claims      []string `json:"claims,omitempty"`
		Entrypoint  string   `json:"entrypoint"`
		Revises     string   `json:"revises,omitzero"`
	}{
		Title: l.x.title + ", by " + d.name, Content: strings.ToValidUTF8(b.String(), "?"),
		Attachments: []string{d.path()}, Entrypoint: path.Base(d.path()), Revises: d.revises,
	}
	if n := len(d.answer); n > 0 && n <= maxClaim {
		args.Claims = []string{strings.ToValidUTF8(d.answer, "?")}
	}
	for _, a := range d.with {
		args.Attachments = append(args.Attachments, a.path())
	}
	if l.x.data != "" {
		args.Attachments = append(args.Attachments, l.x.data)
	}
	return call{toolSubmit, encode(args)}
}

// vote is for the published paper with the answer that the agent itself has found:
// the one that is cited most, then the earliest.
func (l *lab) vote() error {
	list := l.library()
	slices.Reverse(list)
	best := entry{cited: -1}
	for _, e := range list {
		if e.status != "PUBLISHED" {
			continue
		}
		sound, err := l.sound()
		if err != nil {
			return err
		}
		p, err := l.read("A paper has been published. I read it, to see whether it deserves my vote.", e.ref)
		if err != nil {
			return err
		}
		if sound.fault == "" && p.answer == sound.answer && e.cited > best.cited {
			best = e
		}
	}
	c := refCall(toolVote, best.ref)
	if v := l.last(toolVote); best.ref == "" || v != nil && v.call == c || l.tries(c) > 2 {
		return nil
	}
	return l.ask("Its answer is the one that I have computed myself, and of those that say so it is cited most, or came first. It has my vote.", c)
}
