package stages

import (
	"cmp"
	"fmt"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/society/lab/paper"
	"lyceum/internal/society/stages/study"
	"lyceum/internal/workspace"
)

const (
	record          = "record"
	submitIdea      = "submit_idea"
	recordMain      = "record_main_experiment"
	createCampaign  = "create_analysis_campaign"
	recordSlice     = "record_slice"
	confirmBaseline = "confirm_baseline"
	waiveBaseline   = "waive_baseline"
	publishBaseline = "publish_baseline"
	attachBaseline  = "attach_baseline"
	refreshSummary  = "refresh_summary"
)

const (
	titleSchema   = `"title":{"type":"string","minLength":1,"maxLength":200,"description":"one line"}`
	becauseSchema = `"because":{"type":"array","maxItems":16,"items":{"type":"string"},"description":"what it rests on: ids of artifacts, results, campaigns and cards, and numbers of events; default nothing"}`
	filesSchema   = `"files":{"type":"array","maxItems":16,"items":{"type":"string","maxLength":300},"description":"files of the branch that it is about, by path; default none"}`
	branchSchema  = `"branch":{"type":"string","maxLength":200,"description":"the branch that it belongs to; default the one you are at"}`
	resultSchema  = `"result":{"type":"string","maxLength":40,"description":"the id of the result"}`
	metricsSchema = `"metrics":{"type":"array","minItems":1,"maxItems":32,"description":"the figures, the one that matters first","items":{"type":"object","additionalProperties":false,"required":["name","direction","value","data"],"properties":{` +
		`"name":{"type":"string","maxLength":64,"description":"as the program prints it, without spaces"},` +
		`"unit":{"type":"string","maxLength":40,"description":"default none"},` +
		`"direction":{"type":"string","enum":["higher","lower"],"description":"what is better"},` +
		`"value":{"type":"string","maxLength":40,"description":"a decimal as text, such as \"0.125\": no exponent, no NaN"},` +
		`"tolerance":{"type":"string","maxLength":40,"description":"how far two values may be apart and still be the same; default 0"},` +
		`"data":{"type":"string","minLength":64,"maxLength":64,"description":"the SHA-256 of what it was measured on, 64 digits (sha256sum)"}}}}`
	entrySchema = `"entrypoint":{"type":"string","minLength":1,"maxLength":300,"description":"a file of the branch's last checkpoint that prints a line for each metric: metric <name> <value>. It is run in the branch's folder, twice, in fresh computers without network: .py by python3, .sh by sh, others by themselves"}`
)

// resultTools are about artifacts, results and baselines.
var resultTools = []quest.OwnTool{
	{
		Step: quest.AnsweredTool,
		Tool: model.Tool{Name: record, Description: "Keep something that the study has come to, as an artifact with an id: a decision with its verdict, action, reason and what it rests on; progress, an answer, a milestone, a run, a report, an approval, a graph, a note on a baseline. Ideas and results have tools of their own.",
			Schema: `{"type":"object","additionalProperties":false,"required":["kind","title"],"properties":{` +
				`"kind":{"type":"string","enum":["baseline","decision","progress","answer","milestone","run","report","approval","graph"]},` + titleSchema + `,` +
				`"text":{"type":"string","maxLength":8000,"description":"Markdown; what is longer belongs into a file, which the artifact names"},` +
				`"verdict":{"type":"string","enum":["good","bad","neutral","open"],"description":"of a decision"},` +
				`"action":{"type":"string","maxLength":400,"description":"of a decision: what follows from it"},` +
				`"reason":{"type":"string","maxLength":2000,"description":"of a decision: why"},` + becauseSchema + `,` + filesSchema + `,` + branchSchema + `,` +
				`"supersedes":{"type":"string","maxLength":40,"description":"the artifact of the same kind that it takes the place of; default none"}}}`},
	},
	{
		Step: quest.AnsweredTool,
		Tool: model.Tool{Name: submitIdea, Description: "Submit an idea to try: what is changed against the baseline, why that should help, what would be seen if it were wrong. The study goes to the stage idea, if it is elsewhere.",
			Schema: `{"type":"object","additionalProperties":false,"required":["title","text"],"properties":{` + titleSchema + `,` +
				`"text":{"type":"string","minLength":1,"maxLength":8000,"description":"Markdown"},` + becauseSchema + `,` + filesSchema + `,` + branchSchema + `,` +
				`"supersedes":{"type":"string","maxLength":40,"description":"the idea that it takes the place of; default none"}}}`},
	},
	{
		Step: quest.AnsweredTool,
		Tool: model.Tool{Name: recordMain, Description: "Record a result: an entry point of the branch's last checkpoint and the figures that it prints. It is run twice in fresh computers, and you are told whether the figures came out again, and how they stand to the baseline and the best result. This closes the branch: what else is asked of it is an analysis campaign. The study goes to the stage experiment, or baseline for one of that kind.",
			Schema: `{"type":"object","additionalProperties":false,"required":["title","entrypoint","metrics"],"properties":{` + titleSchema + `,` +
				`"kind":{"type":"string","enum":["main","baseline"],"description":"baseline: what others are compared with, once it is confirmed; default main"},` + entrySchema + `,` + metricsSchema + `,` +
				`"summary":{"type":"string","maxLength":2000,"description":"what follows from it"},` + becauseSchema + `,` + branchSchema + `}}`},
	},
	{
		Step: quest.AnsweredTool,
		Tool: model.Tool{Name: createCampaign, Description: "Begin an analysis of a result: one or more slices, each a question with a branch of its own below the result's. The study goes to the stage analysis-campaign.",
			Schema: `{"type":"object","additionalProperties":false,"required":["result","reason","slices"],"properties":{` + resultSchema + `,` +
				`"reason":{"type":"string","minLength":1,"maxLength":1000},` +
				`"slices":{"type":"array","minItems":1,"maxItems":24,"items":{"type":"object","additionalProperties":false,"required":["id","question"],"properties":{` +
				`"id":{"type":"string","maxLength":32,"description":"a short name: a to z, digits, hyphens"},"question":{"type":"string","minLength":1,"maxLength":300}}}}}}`},
	},
	{
		Step: quest.AnsweredTool,
		Tool: model.Tool{Name: recordSlice, Description: "Record the result of a slice, as record_main_experiment does for a main one. It is run twice as well.",
			Schema: `{"type":"object","additionalProperties":false,"required":["campaign","slice","title","entrypoint","metrics"],"properties":{` +
				`"campaign":{"type":"string","maxLength":40},"slice":{"type":"string","maxLength":32},` + titleSchema + `,` + entrySchema + `,` + metricsSchema + `,` +
				`"summary":{"type":"string","maxLength":2000,"description":"what follows from it"},` + becauseSchema + `,` + branchSchema + `}}`},
	},
	{
		Step: quest.AnsweredTool,
		Tool: model.Tool{Name: confirmBaseline, Description: "Make a result, or an attached baseline, what others are compared with. One that was verified here needs nobody; about any other a person is asked.",
			Schema: `{"type":"object","additionalProperties":false,"required":["result"],"properties":{` + resultSchema + `,` +
				`"reason":{"type":"string","maxLength":1000,"description":"why this one"}}}`},
	},
	{
		Step: quest.AnsweredTool,
		Tool: model.Tool{Name: waiveBaseline, Description: "Ask a person that the study may go on without a baseline. Nobody else can allow it.",
			Schema: `{"type":"object","additionalProperties":false,"required":["reason"],"properties":{"reason":{"type":"string","minLength":1,"maxLength":1000,"description":"why there can be none"}}}`},
	},
	{
		Step: quest.AnsweredTool,
		Tool: model.Tool{Name: publishBaseline, Description: "Offer an accepted and verified baseline to all studies of this home, with its files, figures, output and proof.",
			Schema: `{"type":"object","additionalProperties":false,"required":["result","name"],"properties":{` + resultSchema + `,` +
				`"name":{"type":"string","minLength":1,"maxLength":63,"description":"under which others find it: a to z, digits, hyphens"}}}`},
	},
	{
		Step: quest.AnsweredTool,
		Tool: model.Tool{Name: attachBaseline, Description: "Bring a baseline that another study has published. It is checked to the byte and run here twice; then it can be confirmed.",
			Schema: `{"type":"object","additionalProperties":false,"required":["name"],"properties":{"name":{"type":"string","minLength":1,"maxLength":63}}}`},
	},
	{
		Step: quest.AnsweredTool,
		Tool: model.Tool{Name: refreshSummary, Description: "Have what the study has come to summed up from the record, and keep that as progress: baseline, ideas, results with verdicts, decisions.",
			Schema: `{"type":"object","additionalProperties":false,"properties":{}}`},
	},
}

var resultUses = map[string]func(*using) []event.Draft{
	record: (*using).record, submitIdea: (*using).idea, recordMain: (*using).main, recordSlice: (*using).slice, createCampaign: (*using).campaign,
	confirmBaseline: (*using).confirm, waiveBaseline: (*using).waive, publishBaseline: (*using).publish, attachBaseline: (*using).attach, refreshSummary: (*using).summary,
}

// lines says what is wrong with a title, and a text that may be empty.
func lines(title, text string) string {
	switch {
	case title == "" || event.Weight(title) > maxTitle || plain.Papers.In(title):
		return fmt.Sprintf("The title must be one line of 1 to %d bytes, without control characters.", maxTitle)
	case event.Weight(text) > maxCard:
		return fmt.Sprintf("The text must have at most %d bytes. What is longer belongs into a file, which the artifact names.", maxCard)
	}
	return ""
}

// paths says which files are none of the home.
func paths(files []string) string {
	if len(files) > maxFiles {
		return fmt.Sprintf("There can be %d files.", maxFiles)
	}
	for _, f := range files {
		if _, err := workspace.Path(f); err != nil || len(f) > maxFile {
			return fmt.Sprintf("%s is no file of your home.", paper.Quote(event.Shorten(f, 100)))
		}
	}
	return ""
}

// artifact is what is kept with record and submit_idea.
type artifact struct {
	Kind       string   `json:"kind"`
	Title      string   `json:"title"`
	Text       string   `json:"text"`
	Verdict    string   `json:"verdict"`
	Action     string   `json:"action"`
	Reason     string   `json:"reason"`
	Because    []string `json:"because"`
	Files      []string `json:"files"`
	Branch     string   `json:"branch"`
	Supersedes string   `json:"supersedes"`
}

// record keeps an artifact.
func (c *using) record() []event.Draft {
	var x artifact
	if bad := c.read(&x); bad != "" {
		return c.wrong("%s", bad)
	}
	if step := c.recorded(); step != nil {
		return step
	}
	x.Reason = strings.TrimSpace(x.Reason)
	switch {
	case x.Kind == study.KindIdea:
		return c.wrong("An idea is submitted with %s.", submitIdea)
	case x.Kind == study.KindDecision && x.Reason == "":
		return c.wrong("A decision has a reason.")
	case x.Kind != study.KindDecision && x.Reason != "":
		return c.wrong("Only a decision has a reason: say it in the text.")
	case event.Weight(x.Reason) > 2*maxReason || event.Weight(x.Action) > maxWord:
		return c.wrong("The reason has at most %d bytes, the action %d.", 2*maxReason, maxWord)
	}
	if x.Reason != "" {
		x.Text = strings.TrimSpace(x.Reason + "\n\n" + x.Text)
	}
	b, bad := c.artifact(&x)
	if bad != "" {
		return c.wrong("%s", bad)
	}
	return c.do(b)
}

// recorded answers a call that has left its artifact, nil if it has not.
func (c *using) recorded() []event.Draft {
	if seq := c.study.Effect(c.place); seq != 0 {
		if a := c.study.ArtifactAt(seq); a != nil {
			return c.say("%s is recorded.", a.ID)
		}
		return c.say("It is recorded, as event %d.", seq)
	}
	return nil
}

// artifact is the event of one, or what is wrong with it.
func (c *using) artifact(x *artifact) (b *event.ArtifactRecorded, bad string) {
	x.Title, x.Text, x.Action = strings.TrimSpace(x.Title), strings.TrimSpace(x.Text), strings.TrimSpace(x.Action)
	branch, bad := c.branch(x.Branch)
	if bad = cmp.Or(lines(x.Title, x.Text), paths(x.Files), bad, c.because(x.Because)); bad != "" {
		return nil, bad
	}
	b = &event.ArtifactRecorded{
		Action: x.Action, Answer: c.place.Answer, Because: x.Because, Branch: branch, Files: x.Files, ID: c.study.NewID(x.Kind), Kind: x.Kind, Part: c.place.Part,
		Supersedes: x.Supersedes, Text: event.Text{Text: x.Text}, Title: x.Title, Verdict: x.Verdict,
	}
	if err := c.study.MayRecord(b); err != nil {
		return nil, capital(err.Error()) + "."
	}
	return b, ""
}

// idea submits an idea.
func (c *using) idea() []event.Draft {
	x := artifact{}
	if bad := c.read(&x); bad != "" {
		return c.wrong("%s", bad)
	}
	if step := c.recorded(); step != nil {
		return step
	}
	if x.Kind != "" || x.Verdict != "" || x.Action != "" || x.Reason != "" {
		return c.wrong("An idea has a title, a text, because, files, branch and supersedes.")
	}
	x.Kind = study.KindIdea
	b, bad := c.artifact(&x)
	switch {
	case bad != "":
		return c.wrong("%s", bad)
	case x.Text == "":
		return c.wrong("An idea has a text: what is changed, why that should help, and what would be seen if it were wrong.")
	}
	if step, wait := c.asked(fmt.Sprintf("The researcher wants to try this idea: %s\n\n%s", x.Title, x.Text), "idea"); wait {
		return step
	}
	if step := c.arrive(study.Idea, "the idea "+paper.Quote(event.Shorten(x.Title, 100))+" is submitted"); step != nil {
		return step
	}
	return c.do(b)
}

// arrive goes to the stage that a tool's work belongs to, if the study is elsewhere.
func (c *using) arrive(anchor, reason string) []event.Draft {
	if c.study.Anchor == anchor {
		return nil
	}
	if err := c.study.MayMove(anchor); err != nil {
		return c.wrong("%s.", capital(err.Error()))
	}
	return c.do(&event.AnchorMoved{From: c.study.Anchor, To: anchor, By: c.u.Name, Reason: reason})
}

// summary keeps what the study has come to.
func (c *using) summary() []event.Draft {
	if bad := c.read(&struct{}{}); bad != "" {
		return c.wrong("%s", bad)
	}
	if a := c.study.ArtifactAt(c.study.Effect(c.place)); a != nil {
		return c.say("The summary is kept as %s.\n\n%s", a.ID, c.study.Account())
	}
	b, bad := c.artifact(&artifact{Kind: study.KindProgress, Title: "Summary", Text: event.Shorten(c.study.Account(), maxCard)})
	if bad != "" {
		return c.wrong("%s", bad)
	}
	return c.do(b)
}
