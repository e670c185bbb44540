package view

import (
	"errors"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"lyceum/internal/event"
)

// fill puts a text into every member of a body that holds one, and one element into
// every list.
func fill(v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), text)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), text)
		}
	}
}

// said are the words for each type of event: empty ones, and ones whose texts are all
// the same.
func said(t *testing.T, text string, check func(event.Type, Words)) {
	t.Helper()
	for _, kind := range event.Types() {
		for _, full := range []bool{false, true} {
			body := event.New(kind)
			if full {
				fill(reflect.ValueOf(body).Elem(), text)
			}
			for _, teller := range []*Teller{{}, {Title: func(string) string { return text }, Read: func(event.Ref) ([]byte, error) { return nil, errors.New(text) }}} {
				check(kind, teller.Tell(event.Event{Actor: "agent-1", Tool: text, Body: body}))
			}
		}
	}
}

func TestEveryEventHasWords(t *testing.T) {
	t.Parallel()
	for _, kind := range event.Types() {
		if _, ok := vocabulary[kind]; !ok {
			t.Errorf("there are no words for %s: give it some, in the file of its society or in words.go", kind)
		}
	}
	said(t, "word", func(kind event.Type, w Words) {
		if w.Text == "" || w.By != "" && !strings.HasPrefix(w.By, "agent-1") {
			t.Errorf("%s says %q by %q, want some words by agent-1 or nobody", kind, w.Text, w.By)
		}
	})
}

func TestNoEventIsPutIntoWordsTwice(t *testing.T) {
	t.Parallel()
	all := map[event.Type]bool{}
	dictionaries := []dictionary{coreWords, computerWords, executorWords, surveyWords}
	for _, s := range societies {
		dictionaries = append(dictionaries, s.words())
	}
	for _, d := range dictionaries {
		for _, w := range d {
			if all[w.of] {
				t.Errorf("two dictionaries have words for %s, want one", w.of)
			}
			all[w.of] = true
		}
	}
	if len(all) != len(vocabulary) {
		t.Errorf("the dictionaries have words for %d types, the vocabulary for %d: is one of them not joined?", len(all), len(vocabulary))
	}
}

// TestTheCoreSpeaksOfNoSociety: what is said of a society stands in its own file.
func TestTheCoreSpeaksOfNoSociety(t *testing.T) {
	t.Parallel()
	society := regexp.MustCompile(`(?i)\b(lab|solo|contract|architect)|society/`)
	for _, name := range []string{"teller.go", "words.go"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if found := society.Find(data); found != nil {
			t.Errorf("%s speaks of %q, want no society in it", name, found)
		}
	}
}

func TestWordsAreSafeWhateverAnEventHolds(t *testing.T) {
	t.Parallel()
	hostile := "\x1b]0;owned\a\x1b[2J\r\n\x00\u202eevil\u2066\u2028\u2029\u0085\u009b\uFEFF\xff\u061c" + strings.Repeat("long ", 1000)
	said(t, hostile, func(kind event.Type, w Words) {
		for _, s := range append(w.Notes, w.By, w.Text) {
			for _, r := range s {
				if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' || r == '\uFEFF' {
					t.Errorf("%s says %+q, want no %U in it", kind, s, r)
					break
				}
			}
			if n := utf8.RuneCountInString(s); !utf8.ValidString(s) || n > 800 {
				t.Errorf("%s says %d characters, valid: %v; want at most 800 of valid UTF-8", kind, n, utf8.ValidString(s))
			}
		}
	})
}

func TestEventsInWords(t *testing.T) {
	t.Parallel()
	const ref = "0123456789abcdef0123456789abcdef"
	hash := event.HashOf(nil)
	text := func(s string) event.Text { return event.Text{Text: s} }
	part := func(s string) *event.Text { return &event.Text{Text: s} }
	for _, c := range []struct {
		body   event.Body
		want   string // the sentence
		notes  string
		weight Weight
	}{
		{&event.QuestCreated{Rules: "solo/4", Problem: text("What is six times seven?")}, "agent-1 asks solo/4: What is six times seven?", "", Aside},
		{&event.QuestStarted{}, "started", "", News},
		{&event.QuestPaused{Reason: "its process ended"}, "paused: its process ended", "", News},
		{&event.QuestStopped{Reason: "stopped by a person"}, "stopped by a person", "", News},
		{&event.QuestFinished{Answer: text("It is\n42.")}, "finished: It is 42.", "", News},
		{&event.UserMessage{Text: text("Hurry.")}, "agent-1 says: Hurry.", "", News},
		{&event.UserMessage{Text: text("Look."), Attachments: []event.Attachment{
			{Media: "image/png", Name: "a\u202e.png", Ref: event.Ref{Size: 12}}, {Media: "text/plain", Ref: event.Ref{Size: 3}},
		}}, "agent-1 says: Look. [picture a\uFFFD.png, 12 bytes] [file text/plain, 3 bytes]", "", News},
		{&event.ToolResult{Attachments: []event.Attachment{{Media: "image/gif", Name: "b.gif", Ref: event.Ref{Size: 5}}}}, "calculate gave: [picture b.gif, 5 bytes]", "0.0 ms", Detail},
		{&event.MessageSent{To: "agent-2", Text: text("x"), Performative: "inform"}, "agent-1 says to agent-2: x", "inform", Detail},
		{&event.MessageSent{To: "agent-2", Text: text("x"), Quiet: true}, "agent-1 says to agent-2: x", "", Aside},
		{&event.MessageSent{To: "agent-2", Text: event.Text{Ref: &event.Ref{Size: 70_000}}}, "agent-1 says to agent-2: (70000 bytes)", "", Detail},
		{&event.ModelResult{Duration: 1500, Parts: []event.Part{
			{Kind: event.PartThinking, Text: part("hm")}, {Kind: event.PartText, Text: part("Computing.")}, {Kind: event.PartToolCall, Name: "calculate", Args: part("{}")},
		}}, "agent-1 says: Computing. · calls calculate {}", "0+0 tokens, 1.5 ms", Detail},
		{&event.ModelResult{}, "agent-1 says nothing", "0+0 tokens, 0.0 ms", Detail},
		{&event.ModelResult{Error: &event.ModelError{Kind: "refused", Text: "no"}, Duration: 1500}, "agent-1 got no answer, refused: no", "failed, 1.5 ms", News},
		{&event.ToolResult{Output: text("42")}, "calculate gave: 42", "0.0 ms", Detail},
		{&event.ToolResult{Error: true, Output: text("error: no such name")}, "calculate failed: no such name", "failed, 0.0 ms", Detail},
		{&event.ToolAnswered{Error: true, Output: text("Refused")}, "calculate failed: Refused", "failed", Detail},
		{&event.PolicyBlocked{Proposal: "quest.finished", By: []event.Blocker{{Policy: "first", Reason: "Compute it"}, {Policy: "shut", Reason: "No"}}}, "agent-1 is refused quest.finished by first: Compute it; by shut: No", "", Aside},
		{&event.PolicyFailed{Policy: "shut", Reason: "too long"}, "the policy shut broke down: too long", "", News},
		{&event.BudgetExceeded{Limit: "turns", Used: 3, Max: 3}, "the limit on turns is reached (3 of 3 turns)", "", News},
		{&event.BudgetExceeded{Limit: "turns", Used: 1, Max: 1}, "the limit on turns is reached (1 of 1 turn)", "", News},
		{&event.BudgetExceeded{Limit: "tokens", Used: 12_345, Max: 1, Next: 1}, "the limit on tokens is reached (12,345 of 1 token, and the next call can use 1 token)", "", News},
		{&event.BudgetRaised{Limits: event.Limits{Turns: new(int64(1)), Duration: new(int64(1_000_000)), Agent: &event.Share{Tokens: new(int64(1))}}}, "agent-1 sets other limits: 1 turn, 1 s, 1 token for each agent", "", News},
		{&event.AgentParked{Reason: "agent-1 has answered 3 times"}, "agent-1 is parked: has answered 3 times", "", News},

		{&event.StandingShown{Text: text("You are agent-1.")}, "agent-1 is told where it stands: You are agent-1.", "", Aside},
		{&event.ModelCall{Model: "m", First: 3, Last: 9, Turn: 4, Compact: &event.Compaction{First: 10}}, "agent-1 asks m for a summary of messages 3 to 9, which leave its window", "", Aside},

		{&event.CliRun{Command: "c1", Args: text(`["sh","-c","ls | wc"]`)}, "agent-1 starts c1: ls | wc", "", Aside},
		{&event.CliExit{Command: "c1", Exit: 137, Signal: "SIGKILL", End: "killed"}, "agent-1's command c1: exit 137, SIGKILL, killed", "failed, 0.0 ms, 0+0 bytes", Detail},
		{&event.FileDiff{Cause: event.CauseOutside, Changes: []event.Change{{Kind: event.Added, Path: "a"}, {Kind: event.Removed, Path: "b"}}, More: 2}, "agent-1's files: from outside: +a -b and 2 more", "", Detail},
		{&event.NetConnection{Host: "example.org", Port: 443, Sent: 1, Received: 2, Duration: 2000}, "agent-1 connects to example.org:443 (1 byte out, 2 in)", "2.0 ms", News},
		{&event.NetConnection{Host: "example.org", Port: 443, Refused: "not allowed"}, "agent-1 may not connect to example.org:443: not allowed", "0.0 ms", News},

		{&event.PublicationSubmitted{Ref: ref, Title: "On six"}, "agent-1 hands in 01234567 “On six”", "", News},
		{&event.ReviewRequested{Ref: ref, Reviewer: "agent-2", Deadline: 4}, "agent-2 is asked to review 01234567 “On six”", "until its turn 4", News},
		{&event.ReviewExpired{Ref: ref, Reviewer: "agent-2"}, "agent-2 has not reviewed 01234567 “On six” in time; nobody is asked instead", "", News},
		{&event.ReviewSubmitted{Ref: ref, Grade: event.Accept, Content: text("It holds.")}, "agent-1 accepts 01234567 “On six”: It holds.", "", News},
		{&event.PublicationDecided{Ref: ref, Status: event.Published, Accepts: 2, Rejects: 1}, "01234567 “On six” is PUBLISHED (2 for, 1 against)", "", News},
		{&event.CitationMade{Ref: ref, To: []string{"fedcba9876543210"}}, "01234567 “On six” cites fedcba98", "", Aside},
		{&event.VoteCast{Ref: ref}, "agent-1 votes for 01234567 “On six”", "", News},
		{&event.VoteCast{}, "agent-1 takes its vote back", "", News},
		{&event.AdvisorySent{Kind: event.AdviseAnnounced, Except: "agent-2", Text: text("news")}, "the lab tells all but agent-2: news", "announced", Aside},
		{&event.AdvisorySent{Kind: event.AdviseUpdated, To: []string{"agent-0"}, Text: text("it changed")}, "Lyceum tells agent-0: it changed", "updated", Aside},
		{&event.ReproductionResult{Status: event.NotRun, Reason: "exit code 3", Output: &event.Ref{Hash: hash}}, "the program: failed: exit code 3", "failed, 0.0 ms, output e3b0c44298fc", News},

		{&event.IntentionFormed{Intention: "research", Reason: "words"}, "agent-1 intends research: words", "", News},
		{&event.IntentionFormed{Intention: "wait", Reason: "no need", Dropped: true}, "agent-1 leaves out wait: no need", "", News},
		{&event.BidSubmitted{Task: "research-1", Score: 835_000_000, Cost: 100}, "agent-1 bids for research-1: score 0.835 (cost 0.1, latency 0, p 0, cap 0)", "bid", Aside},
		{&event.ContractAwarded{Task: "research-1", To: "agent-2", Score: 1_500_000_000}, "research-1 goes to agent-2 at 1.5", "award", News},
		{&event.SearchResult{Paragraphs: 9, Anchors: []event.Anchor{{Doc: "a\u202e.md", Paragraph: 3, Hash: hash}}}, "agent-1 found 1 of 9 paragraphs", "a\uFFFD.md:3 e3b0c44298fc, 0.0 ms", News},
		{&event.SearchResult{Error: "no corpus"}, "agent-1 found nothing: no corpus", "failed, 0.0 ms", News},
		{&event.ComputeResult{Engine: "python 3", Printed: &event.Ref{Hash: hash}}, "agent-1 computed by python 3", "output e3b0c44298fc, 0.0 ms", News},
		{&event.ComputeResult{Exit: 2, Error: "no"}, "agent-1 could not compute: exit 2: no", "failed, 0.0 ms", News},
		{&event.ClaimMade{Claim: 1, Text: "So.", Sources: []int64{1, 2}}, "agent-1 makes claim 1: So. [1][2]", "", News},
		{&event.ClaimAttacked{To: 2, From: 1, Reason: "other"}, "claim 2 is attacked by claim 1: other", "", News},
		{&event.ChallengeRaised{Challenge: 3, Rule: "sources", Reason: "few"}, "agent-1 raises challenge 3 of the answer, sources: few", "challenge", News},
		{&event.HomeCall{}, "agent-1 gets a new home: what every home begins with", "", Aside},
		{&event.HomeRenewed{Error: text("no space")}, "agent-1 has no home: no space", "failed", News},
		{&event.PromptStopped{Reason: "900 s are over"}, "agent-1 is told to stop: 900 s are over", "", News},
		{&event.TaskOrder{Action: event.OrderCancel, Task: "add"}, "agent-1 cancels add", "", News},
		{&event.TaskOrder{Action: event.OrderMessage, Task: "add", Text: "use cobra"}, "agent-1 says to whoever works on add: use cobra", "", News},
		{&event.PlanProposed{Tasks: []event.TaskPlan{{ID: "add", Goal: "a command"}}}, "agent-1 plans 1 task: add (a command)", "", News},
		{&event.PlanApproved{Interaction: 4}, "a person says yes to the plan: 0 tasks:", "", News},
		{&event.PlanApproved{Interaction: 4, Edited: true}, "a person has changed the plan, which now stands: 0 tasks:", "", News},
		{&event.HandoverBegun{Task: "add", Worker: "builtin-1", Run: 1}, "add is handed over to builtin-1", "run 1", News},
		{&event.HandoverBegun{Task: "add", Worker: "builtin-1", Run: 2, Repair: true, Package: text("README.md is outside")}, "add goes back to builtin-1 for a repair: README.md is outside", "run 2", News},
		{&event.HandoverEnded{Task: "add", Run: 2, Outcome: event.OutcomeChecked}, "run 2 of add has passed every check, and stands to be judged", "", News},
		{&event.HandoverEnded{Task: "add", Run: 1, Outcome: event.OutcomeError}, "run 1 of add is over without a result", "", News},
		{&event.InspectionResult{Files: 2, Changes: []event.TaskChange{{Kind: event.Added, Path: "a.go"}, {Kind: "mode", Path: "b"}}, Outside: []event.Skipped{{Path: "c", Reason: "no_touch"}}}, "2 files changed: +a.go ~b", "outside its scope: c (no_touch)", Detail},
		{&event.TestReport{Duration: 1000, Commands: []event.TestRun{{Command: "go vet"}, {Command: "go test", Exit: 1, Passed: 2, Failed: 1}}}, "1 of 2 acceptance commands succeeded; go test ends with 1", "2 tests passed, 1 failed, 1.0 ms", News},
		{&event.TestReport{Commands: []event.TestRun{{Command: "go test", End: "time"}}}, "0 of 1 acceptance command succeeded; go test is ended: time", "0.0 ms", News},
		{&event.TaskError{Task: "add", Run: 1, Category: event.ErrorScope, Line: "README.md", Same: 2, Text: text("outside")}, "add went wrong in run 1 (scope): outside", "failed, README.md, the same 2 times", News},
		{&event.TaskJudged{Task: "add", Run: 2, Verdict: event.VerdictNarrow, Reasons: text("too much"), Shown: []string{"event 9"}}, "agent-1 asks for less of add: too much", "run 2, shown by event 9", News},
		{&event.TaskTurned{Task: "add", How: event.TurnedSwap, Executor: "codex", Reason: "the same error twice"}, "add goes to another executor, codex: the same error twice", "", News},
		{&event.TaskEnded{Task: "add", Status: event.TaskFailedFor, Reason: "out of handovers"}, "add is failed: out of handovers", "", News},
		{&event.MergeReport{Files: 3}, "all that was made is put together: 3 files changed", "", News},
		{&event.MergeReport{Conflicts: []event.Skipped{{Path: "a.go", Reason: "changed by both"}}}, "what was made does not fit together, and the base stays: 1 conflict at a.go (changed by both)", "failed", News},
		{&event.GatewayAsked{Server: "maps", For: 7, Model: "m", Text: "user: Where?", Size: 12, Wire: event.WireMCP}, "agent-1 the server maps, which works on call 7, wants m asked: user: Where?", "", Detail},
		{&event.ModeSet{Mode: "approve"}, "agent-1 sets the mode approve", "", News},
		{&event.ClaimRetracted{Claim: 2, Reason: "wrong"}, "agent-1 takes back claim 2: wrong", "retract", News},
	} {
		teller := &Teller{Title: func(r string) string { return map[string]string{ref: "On six"}[r] }}
		w := teller.Tell(event.Event{Actor: "agent-1", Tool: "calculate", Body: c.body})
		if got := w.Sentence(); got != c.want {
			t.Errorf("%s: got %q, want %q", c.body.Type(), got, c.want)
		}
		if got := strings.Join(w.Notes, ", "); got != c.notes || w.Weight != c.weight {
			t.Errorf("%s: got the notes %q and weight %d, want %q and %d", c.body.Type(), got, w.Weight, c.notes, c.weight)
		}
	}
}

func TestWhatATellerIsGiven(t *testing.T) {
	t.Parallel()
	tell := func(teller Teller, b event.Body) string { return teller.Tell(event.Event{Body: b}).Text }
	decided := &event.PublicationDecided{Ref: "0123456789abcdef", Status: event.Rejected}
	if got, want := tell(Teller{}, decided), "0123456789abcdef is REJECTED (0 for, 0 against)"; got != want {
		t.Errorf("without titles: got %q, want the whole reference: %q", got, want)
	}
	message := &event.UserMessage{Text: event.Text{Ref: &event.Ref{Size: 11}}}
	read := func(event.Ref) ([]byte, error) { return []byte("hello world"), nil }
	if got, want := tell(Teller{Read: read, Most: 6}, message), "says: hello…"; got != want {
		t.Errorf("with blobs and room for 6 characters: got %q, want %q", got, want)
	}
	lost := func(event.Ref) ([]byte, error) { return nil, errors.New("gone") }
	if got, want := tell(Teller{Read: lost}, message), "says: [this text cannot be read: gone]"; got != want {
		t.Errorf("with a blob that is lost: got %q, want %q", got, want)
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`{"limit":3,"query":"heat\nflow"}`:   "heat flow",
		`{"command":["ls","-l"],"path":"x"}`: "ls -l",
		`{"other":1}`:                        `{"other":1}`,
		"no\x1bJSON":                         "no\uFFFDJSON",
	} {
		if got := Arguments(args); got != want {
			t.Errorf("arguments %q: got %q, want %q", args, got, want)
		}
	}
}
