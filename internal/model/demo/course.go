package demo

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"
)

// The tools of a study.
const (
	toolMove       = "move_anchor"
	toolInteract   = "interact"
	toolMemory     = "memory_write"
	toolPrepare    = "prepare_branch"
	toolActivate   = "activate_branch"
	toolCheckpoint = "checkpoint"
	toolRecord     = "record"
	toolIdea       = "submit_idea"
	toolResult     = "record_main_experiment"
	toolCampaign   = "create_analysis_campaign"
	toolSlice      = "record_slice"
	toolConfirm    = "confirm_baseline"
	toolSummary    = "refresh_summary"
	toolComplete   = "complete"
)

// course is a desk in a study, which goes from stage to stage. It knows one kind of question
// there: how to forecast a series. A sitting does all of a stage, and the next one begins with
// an empty window: what it needs by then it finds in the prompt, in files, and by asking for
// the summary.
type course struct {
	*desk
	// anchor is the stage; told are the words of people and of the prompt.
	anchor string
	told   []string
	// hasty says that a figure is written down without looking at it again.
	hasty bool
}

// hastySeed is the researcher that writes a figure down wrongly.
const hastySeed = 2

var anchorLine = late(`(?m)^- anchor: "([a-z-]+)"$`)

// newCourse reads the window.
func newCourse(r *model.Request, d *desk, seed uint64) *course {
	c := &course{desk: d, hasty: seed == hastySeed}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if m.Role != model.User || p.Kind != event.PartText {
				continue
			}
			c.told = append(c.told, p.Text)
			if found := anchorLine.FindAllStringSubmatch(p.Text, -1); len(found) > 0 {
				c.anchor = found[len(found)-1][1]
			}
		}
	}
	return c
}

// next is the researcher's turn in a study. Of other questions than it knows it thinks as it
// does alone.
func (c *course) next() (string, []call) {
	if !slices.ContainsFunc(c.told, func(t string) bool { return strings.Contains(strings.ToLower(t), "forecast") }) {
		return c.desk.next()
	}
	say, err := c.work()
	if errors.Is(err, errPending) {
		say = c.say
	} else {
		c.calls = nil
	}
	if !c.begun {
		return Label + " " + say, c.calls
	}
	return mark + say, c.calls
}

// work does what the stage asks for. Its answer is the end of the sitting.
func (c *course) work() (string, error) {
	for _, name := range []string{"exec", "write_file", "read_file", "list_files", toolPrepare, toolActivate, toolCheckpoint, toolResult, toolSummary} {
		if !c.offered[name] {
			return "I cannot work here: I am not offered the tool " + name + ".", nil
		}
	}
	stage := map[string]func(aSeries) (string, error){
		"scout": c.scout, "baseline": c.baseline, "idea": c.idea, "experiment": c.experiment, "analysis-campaign": c.campaign, "write": c.write, "finalize": c.finalize,
	}[c.anchor]
	if stage == nil {
		return "I do not know at which stage the study is, so I do nothing.", nil
	}
	if _, err := c.use("I read the skill of this stage.", readFile("skills/"+c.anchor+"/SKILL.md", 0, 0)); err != nil {
		return "", err
	}
	s, why, err := c.series()
	if err != nil {
		return "", err
	}
	if why != "" {
		return "I do not forecast this rather than guess: " + why + ".", nil
	}
	return stage(s)
}

// series looks for the table that is forecast.
func (c *course) series() (s aSeries, why string, err error) {
	out, err := c.use("I look at what there is.", listFiles("."))
	if err != nil {
		return s, "", err
	}
	name := ""
	for line := range strings.Lines(out[0].text) {
		if n, _, _ := strings.Cut(strings.TrimSpace(line), "  "); isTable(n) && name == "" {
			name = n
		}
	}
	if name == "" {
		return s, "there is no table at the top of my home", nil
	}
	seen, err := c.read("I read "+name+".", []string{name})
	if err != nil || len(seen) == 0 {
		return s, "I cannot read " + name, err
	}
	s, why = seriesIn(seen[0])
	return s, why, nil
}

// did makes calls one after the other, and returns what the last gave. One that fails ends the
// sitting: its words say why.
func (c *course) did(say string, calls ...call) (string, error) {
	text := ""
	for _, k := range calls {
		out, err := c.use(say, k)
		if err != nil {
			return "", err
		}
		if out[0].failed && !(k.tool == toolPrepare && strings.Contains(out[0].text, " already")) {
			return "", fmt.Errorf("%s: %s", k.tool, brief(out[0].text))
		}
		text = out[0].text
	}
	return text, nil
}

// stuck is the end of a sitting that did not come to its end.
func stuck(err error) (string, error) {
	if errors.Is(err, errPending) {
		return "", err
	}
	return "I am stuck, and say so rather than go on: " + err.Error() + ".", nil
}

func using(tool string, args any) call { return call{tool, encode(args)} }

// goOn moves the study, and ends the sitting.
func (c *course) goOn(to, reason string, because []string, words string) (string, error) {
	type move struct {
		To      string   `json:"to"`
		Reason  string   `json:"reason"`
		Because []string `json:"because,omitempty"`
	}
	if _, err := c.did("This stage is done; I go on to "+to+".", using(toolMove, move{to, reason, because})); err != nil {
		return stuck(err)
	}
	return words, nil
}

// tell says something to people.
func (c *course) tell(kind, text string) call {
	return using(toolInteract, struct {
		Kind string `json:"kind"`
		Text string `json:"text"`
	}{kind, text})
}

// scout looks at the series and writes down what it is.
func (c *course) scout(s aSeries) (string, error) {
	type card struct {
		Kind  string `json:"kind"`
		Title string `json:"title"`
		Text  string `json:"text"`
	}
	text := fmt.Sprintf("%s has %d months of %s, without gaps. A forecast of a month may use all months before it, and no other. Every way is tried on %s; what counts is the mean absolute error, and less is better. What repeats each year is worth a look: there are %d whole years.", s.path, s.months, s.column, tested.name, s.months/12)
	if _, err := c.did("I keep what I know about the series, and say it.",
		using(toolMemory, card{"knowledge", "What is to be forecast: " + s.column, text}), c.tell("milestone", text)); err != nil {
		return stuck(err)
	}
	return c.goOn("baseline", "The series is known, and how forecasts of it are measured.", nil, "The series can be forecast, and it is clear what counts. Next comes what everything else is measured against.")
}

// line does one line of work: a branch, the data and the program in it, a run of it, and a
// checkpoint. It returns the figures, and the hash of the data.
func (c *course) line(s aSeries, branch, kind, id string, f forecast, over span) (map[string]string, string, error) {
	type prepare struct {
		Kind   string `json:"kind"`
		ID     string `json:"id"`
		Parent string `json:"parent,omitzero"`
	}
	type name struct {
		Name string `json:"name"`
	}
	parent := "main"
	if kind == "analysis" {
		parent = ""
	}
	dir := path.Join("work", branch)
	say := fmt.Sprintf("I try %s, on %s.", f.name, over.name)
	out, err := c.did(say,
		using(toolPrepare, prepare{kind, id, parent}), using(toolActivate, name{branch}),
		writeFile(path.Join(dir, entrypoint), f.evaluate(over)),
		execute("", fmt.Sprintf("cp %s %s/%s && cd %s && sh %s && sha256sum %s", shellQuote(s.path), dir, seriesFile, dir, entrypoint, seriesFile)))
	if err != nil {
		return nil, "", err
	}
	found, sum := figures(out), hashText.FindString(out)
	if found["mae"] == "" || sum == "" {
		return nil, "", fmt.Errorf("the program printed no figures: %s", brief(out))
	}
	_, err = c.did("It runs; I record it as it is.", using(toolCheckpoint, struct {
		Message string `json:"message"`
	}{fmt.Sprintf("%s: %s, on %s", branch, f.name, over.name)}))
	return found, sum, err
}

var (
	hashText = late(`\b[0-9a-f]{64}\b`)
	resultID = late(`\bresult-\d+\b`)
	anyID    = late(`\b(?:idea|decision|report|campaign|result)-\d+\b`)
)

// metric is a figure as it is handed in.
type metric struct {
	Name      string `json:"name"`
	Unit      string `json:"unit"`
	Direction string `json:"direction"`
	Value     string `json:"value"`
	Data      string `json:"data"`
}

func (s aSeries) metrics(value, sum string) []metric {
	return []metric{{"mae", s.column, "lower", value, sum}}
}

// claim records a result, and returns its id and what was said of it.
func (c *course) claim(kind, title string, because []string, list []metric) (id, said string, err error) {
	said, err = c.did("I record the figure; it is run twice by somebody else.", using(toolResult, struct {
		Kind       string   `json:"kind"`
		Title      string   `json:"title"`
		Entrypoint string   `json:"entrypoint"`
		Metrics    []metric `json:"metrics"`
		Because    []string `json:"because,omitempty"`
	}{kind, title, entrypoint, list, because}))
	return resultID.FindString(said), said, err
}

// decide records a decision.
func (c *course) decide(title, verdict, action, reason string, because ...string) error {
	_, err := c.did("I write down what follows from that.", using(toolRecord, struct {
		Kind    string   `json:"kind"`
		Title   string   `json:"title"`
		Verdict string   `json:"verdict"`
		Action  string   `json:"action"`
		Reason  string   `json:"reason"`
		Because []string `json:"because"`
	}{"decision", title, verdict, action, reason, because}))
	return err
}

// baseline makes what the others are measured against.
func (c *course) baseline(s aSeries) (string, error) {
	found, sum, err := c.line(s, "run/baseline", "run", "baseline", lastValue, tested)
	if err != nil {
		return stuck(err)
	}
	id, said, err := c.claim("baseline", "Forecast by "+lastValue.name, nil, s.metrics(found["mae"], sum))
	if err != nil {
		return stuck(err)
	}
	if !verified(said) {
		return "The baseline does not hold, so I go no further: " + brief(said), nil
	}
	if _, err := c.did("It was verified; I take it as the baseline.", using(toolConfirm, struct {
		Result string `json:"result"`
		Reason string `json:"reason"`
	}{id, lastValue.why}), c.tell("milestone", fmt.Sprintf("The baseline is %s: a mean absolute error of %s %s on %s.", lastValue.name, found["mae"], s.column, tested.name))); err != nil {
		return stuck(err)
	}
	return c.goOn("idea", "There is a baseline that was run twice.", []string{id}, "The baseline stands. Next come ideas that could beat it.")
}

func verified(said string) bool { return strings.Contains(firstLine(said), ", and verified:") }

// idea submits two ideas.
func (c *course) idea(s aSeries) (string, error) {
	var ids []string
	for _, f := range []forecast{meanOfYear, yearBefore} {
		said, err := c.did("I submit an idea: "+f.name+".", using(toolIdea, struct {
			Title string `json:"title"`
			Text  string `json:"text"`
		}{sentenceCase(f.name), f.why + " If it is wrong, its error is not below the baseline's."}))
		if err != nil {
			return stuck(err)
		}
		ids = append(ids, anyID.FindString(said))
	}
	if err := c.decide("Which ideas are tried", "open", "Try both, each in a branch of its own.", "Both cost one run, and they exclude each other: a mean forgets the seasons that the other is built on.", ids...); err != nil {
		return stuck(err)
	}
	return c.goOn("experiment", "Two ideas are submitted, and both are cheap to try.", ids, "Two ideas are there to be tried on "+s.column+".")
}

// experiment tries both ideas.
func (c *course) experiment(s aSeries) (string, error) {
	found, sum, err := c.line(s, "run/mean", "run", "mean", meanOfYear, tested)
	if err != nil {
		return stuck(err)
	}
	lost, said, err := c.claim("main", "Forecast by "+meanOfYear.name, nil, s.metrics(found["mae"], sum))
	if err != nil {
		return stuck(err)
	}
	if err := c.decide("The mean of a year is dropped", "bad", "Keep the branch as it is; go on with the other idea.", "Its error is "+found["mae"]+", above the baseline's. "+brief(said), lost); err != nil {
		return stuck(err)
	}
	found, sum, err = c.line(s, "run/season", "run", "season", yearBefore, tested)
	if err != nil {
		return stuck(err)
	}
	value := found["mae"]
	if c.hasty {
		value = miscopied(value)
	}
	won, said, err := c.claim("main", "Forecast by "+yearBefore.name, nil, s.metrics(value, sum))
	if err != nil {
		return stuck(err)
	}
	if !verified(said) {
		if won, found["mae"], err = c.mend(s, won, said); err != nil {
			return stuck(err)
		}
	}
	if err := c.decide("The season is kept", "good", "Ask of it whether it holds in both halves, and what the growth adds.", "Its error is "+found["mae"]+", and it was run twice.", won); err != nil {
		return stuck(err)
	}
	if _, err := c.did("That is worth a word.", c.tell("milestone", fmt.Sprintf("%s has an error of %s %s on %s, and was run twice.", sentenceCase(yearBefore.name), found["mae"], s.column, tested.name))); err != nil {
		return stuck(err)
	}
	return c.goOn("analysis-campaign", "One idea lost and one won; it is to be seen why.", []string{lost, won}, "One of the two ideas beats the baseline. Next comes why.")
}

// miscopied is a figure with two of its digits the wrong way round.
func miscopied(value string) string {
	b := []byte(value)
	for i := len(b) - 1; i > 0; i-- {
		if b[i] != '.' && b[i-1] != '.' && b[i] < b[i-1] {
			b[i-1], b[i] = b[i], b[i-1]
			return string(b)
		}
	}
	return "0" + value[1:]
}

// mend records anew what was written down wrongly: what did not come out again is not claimed.
func (c *course) mend(s aSeries, wrong, said string) (id, value string, err error) {
	if err := c.decide("The figure of "+wrong+" does not stand", "bad", "Run the program again in a branch of its own, and write down what it prints.", "I have written it down without looking at it again. "+brief(said), wrong); err != nil {
		return "", "", err
	}
	found, sum, err := c.line(s, "run/season-again", "run", "season-again", yearBefore, tested)
	if err != nil {
		return "", "", err
	}
	id, said, err = c.claim("main", "Forecast by "+yearBefore.name+", the figure as printed", []string{wrong}, s.metrics(found["mae"], sum))
	if err == nil && !verified(said) {
		err = fmt.Errorf("the figure did not come out again: %s", brief(said))
	}
	return id, found["mae"], err
}

// account is what the study has come to, as the record has it.
func (c *course) account() (string, error) {
	said, err := c.did("I look at what the study has come to.", call{toolSummary, "{}"})
	_, account, _ := strings.Cut(said, "\n\n")
	return account, err
}

// campaign asks what the winning result rests on.
func (c *course) campaign(s aSeries) (string, error) {
	account, err := c.account()
	if err != nil {
		return stuck(err)
	}
	won, branch := winner(account)
	if won == "" {
		return "I find no result that beats the baseline and was verified, so there is nothing to analyse.", nil
	}
	type slice struct {
		ID       string `json:"id"`
		Question string `json:"question"`
	}
	said, err := c.did("I ask two questions of "+won+".", using(toolCampaign, struct {
		Result string  `json:"result"`
		Reason string  `json:"reason"`
		Slices []slice `json:"slices"`
	}{won, "One figure on all months does not say where it comes from.", []slice{
		{"recent", "Does it hold in " + halves[1].name + " alone?"},
		{"growth", "What is left of it without the growth from year to year?"},
	}}))
	if err != nil {
		return stuck(err)
	}
	id := anyID.FindString(said)
	var figure []string
	for _, k := range []struct {
		slice string
		f     forecast
		over  span
	}{{"recent", yearBefore, halves[1]}, {"growth", yearAlone, tested}} {
		name := strings.TrimPrefix(branch, "run/") + "/" + id + "-" + k.slice
		found, sum, err := c.line(s, "analysis/"+name, "analysis", name, k.f, k.over)
		if err != nil {
			return stuck(err)
		}
		if _, err := c.did("I record the slice.", using(toolSlice, struct {
			Campaign   string   `json:"campaign"`
			Slice      string   `json:"slice"`
			Title      string   `json:"title"`
			Entrypoint string   `json:"entrypoint"`
			Metrics    []metric `json:"metrics"`
		}{id, k.slice, sentenceCase(k.f.name) + ", on " + k.over.name, entrypoint, s.metrics(found["mae"], sum)})); err != nil {
			return stuck(err)
		}
		figure = append(figure, found["mae"])
	}
	if err := c.decide("What the gain rests on", "good", "Write it down.", fmt.Sprintf("In %s alone the error is %s; without the growth from year to year it is %s.", halves[1].name, figure[0], figure[1]), won); err != nil {
		return stuck(err)
	}
	return c.goOn("write", "Both questions are answered.", []string{won, id}, "It holds in the last months alone, and it is seen what the growth adds. Next it is written down.")
}

// write writes the paper, or a report where there is to be none.
func (c *course) write(s aSeries) (string, error) {
	if c.offered[toolPaper] && !slices.ContainsFunc(c.told, func(t string) bool { return strings.Contains(t, noPaper) }) {
		return c.paper(s)
	}
	account, err := c.account()
	if err != nil {
		return stuck(err)
	}
	said, err := c.did("I write the report.", using(toolRecord, struct {
		Kind  string `json:"kind"`
		Title string `json:"title"`
		Text  string `json:"text"`
	}{"report", "Forecasts of one month ahead", account + "\n\n" + Label}))
	if err != nil {
		return stuck(err)
	}
	return c.goOn("finalize", "The report is written, from the record alone.", []string{anyID.FindString(said)}, "The report is there. What is left is the answer.")
}

// finalize gives the answer.
func (c *course) finalize(s aSeries) (string, error) {
	account, err := c.account()
	if err != nil {
		return stuck(err)
	}
	won, _ := winner(account)
	answer := "No way that I tried beats the last value and was verified."
	if won != "" {
		answer = fmt.Sprintf("%s is forecast one month ahead by %s (%s). It was run twice in fresh computers, and beats %s.", sentenceCase(s.column), yearBefore.name, won, lastValue.name)
	}
	if _, err := c.did("I end the study.", using(toolComplete, struct {
		Answer string `json:"answer"`
	}{answer + "\n\n" + account + "\n\n" + Label})); err != nil {
		return stuck(err)
	}
	return answer, nil
}

// winner finds the verified result of the better idea in the account of a study, and its branch.
func winner(account string) (id, branch string) {
	for line := range strings.Lines(account) {
		m := resultLine.FindStringSubmatch(line)
		if m != nil && strings.Contains(line, yearBefore.name) && strings.Contains(line, ", verified") {
			id, branch = m[1], m[2]
		}
	}
	return id, branch
}

var resultLine = late(`^- (result-\d+)\b.*\b(run/[a-z-]+)`)
