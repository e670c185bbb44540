package event

// The events of a world: a maker makes something, says what it will do, and finds out. Nothing
// that was made runs before the tiers in front of it have passed the same tree, and every
// prediction stands before its observation.

// WorldStructure is what a thing that was made consists of, in closed words.
type WorldStructure struct {
	Blocks   []WorldBlock   `json:"blocks,omitempty"`
	Channels []WorldChannel `json:"channels,omitempty"`
	Levers   []WorldLever   `json:"levers,omitempty"`
	Loops    []WorldLoop    `json:"loops,omitempty"`
	Objects  []WorldObject  `json:"objects,omitempty"`
}

// WorldPlace is where a part is found: by its role and name in the accessibility tree, or of a
// program by what it is called with.
type WorldPlace struct {
	Name string `json:"name,omitzero"`
	Role string `json:"role,omitzero"`
}

// WorldObject is something with parts: nested, relational, list or steps.
type WorldObject struct {
	At   WorldPlace `json:"at,omitzero"`
	Kind string     `json:"kind"`
	Name string     `json:"name"`
}

// WorldChannel is a way in which it speaks: text, binary, selection, audio or video.
type WorldChannel struct {
	At   WorldPlace `json:"at,omitzero"`
	Kind string     `json:"kind"`
	Name string     `json:"name"`
}

// WorldLever is what somebody can do with it: an affordance, a mechanic or a game, which acts at
// once (instant), little by little (progressive) or later (delayed).
type WorldLever struct {
	At   WorldPlace `json:"at,omitzero"`
	Kind string     `json:"kind"`
	Name string     `json:"name"`
	When string     `json:"when"`
}

// WorldLoop says that a lever leads to a response in a channel.
type WorldLoop struct {
	Channel  string `json:"channel"`
	Lever    string `json:"lever"`
	Name     string `json:"name"`
	Response string `json:"response"`
}

// WorldBlock is how parts lie together: pool, stream, wall, thread or grid.
type WorldBlock struct {
	At   WorldPlace `json:"at,omitzero"`
	Kind string     `json:"kind"`
	Name string     `json:"name"`
}

// StructureDeclared is what the maker, the actor, says its work consists of. It stands for the
// one before.
type StructureDeclared struct {
	Answer    uint64         `json:"answer"`
	Part      int64          `json:"part,omitzero"`
	Structure WorldStructure `json:"structure"`
}

// WorldStep is one thing that is done to what was made, from outside it. Of a page: click, type,
// press, select or wait; of a program: run.
type WorldStep struct {
	Args []string   `json:"args,omitempty"`
	At   WorldPlace `json:"at,omitzero"`
	Do   string     `json:"do"`
	// Input is what a program reads from its standard input.
	Input string `json:"input,omitzero"`
	// Milliseconds is how long a wait is, by the page's own clock.
	Milliseconds int64  `json:"milliseconds,omitzero"`
	Text         string `json:"text,omitzero"`
}

// WorldCondition is something that can be seen of it, or not. Of a page: present, absent, text,
// value, checked, disabled, focused, count, console, dialog, request or title; of a program:
// exit, output, error, file.
type WorldCondition struct {
	At WorldPlace `json:"at,omitzero"`
	// How compares: is or contains; without it, is.
	How  string `json:"how,omitzero"`
	Kind string `json:"kind"`
	Not  bool   `json:"not,omitzero"`
	// Number is a count or an exit code, Text what is compared.
	Number int64  `json:"number,omitzero"`
	Path   string `json:"path,omitzero"`
	Text   string `json:"text,omitzero"`
}

// WorldStory is something that somebody does with what was made, and what must be seen then.
type WorldStory struct {
	Expect []WorldCondition `json:"expect,omitempty"`
	Intent string           `json:"intent"`
	Name   string           `json:"name"`
	Steps  []WorldStep      `json:"steps,omitempty"`
}

// AttemptProposed is something that the maker, the actor, has made: the tree is what is judged,
// never the folder.
type AttemptProposed struct {
	Answer uint64 `json:"answer"`
	// Attempt counts them, from 1.
	Attempt int64        `json:"attempt"`
	Intent  string       `json:"intent"`
	Part    int64        `json:"part,omitzero"`
	Path    string       `json:"path"`
	Stories []WorldStory `json:"stories"`
	// Structure is the structure.declared that it claims to have, 0 for none.
	Structure uint64  `json:"structure,omitzero"`
	Tree      TreeRef `json:"tree"`
}

// AnalysisCall has a tier look at an attempt: 1 by rules, 3 by its stories. Held-out stories are
// the author's, in a computer of their own, after all others. AnalysisResult answers it.
type AnalysisCall struct {
	Attempt int64 `json:"attempt"`
	// HeldOut says that the stories are those that the author kept from the maker; they stand in
	// the quest's settings.
	HeldOut   bool            `json:"held_out,omitzero"`
	Stories   []WorldStory    `json:"stories,omitempty"`
	Structure *WorldStructure `json:"structure,omitzero"`
	Tier      int64           `json:"tier"`
	Tree      TreeRef         `json:"tree"`
}

// WorldFinding is something that a tier has to say.
type WorldFinding struct {
	// Check is the name of what was looked at.
	Check    string `json:"check"`
	Expected string `json:"expected,omitzero"`
	// Kind is failed, unavailable or told: what is told blocks nothing.
	Kind     string `json:"kind"`
	Line     int64  `json:"line,omitzero"`
	Observed string `json:"observed,omitzero"`
	Path     string `json:"path,omitzero"`
	// Required says that it blocks.
	Required bool `json:"required,omitzero"`
}

// StoryVerdict is how a story went: passed, assertion, accessibility, timeout, crash, error,
// vacuous, flaky or unavailable.
type StoryVerdict struct {
	// After is what was seen at its end.
	After    *WorldSight    `json:"after,omitzero"`
	Findings []WorldFinding `json:"findings,omitempty"`
	// Met counts the conditions that held, of all that were looked at.
	Met        int64  `json:"met"`
	Name       string `json:"name"`
	Conditions int64  `json:"of"`
	Verdict    string `json:"verdict"`
}

// AnalysisResult is what a tier says: passed, failed or unavailable.
type AnalysisResult struct {
	// Analyser names what looked, with its version: whoever has the same can look again.
	Analyser string `json:"analyser"`
	Call     uint64 `json:"call"`
	Duration int64  `json:"duration,omitzero"`
	Error    Text   `json:"error,omitzero"`
	// Findings are the first, More counts the others.
	Findings []WorldFinding `json:"findings,omitempty"`
	// Fingerprint is that of the computers in which something was run.
	Fingerprint Hash  `json:"fingerprint,omitzero"`
	Full        *Full `json:"full,omitzero"`
	More        int64 `json:"more,omitzero"`
	// Runs is what was seen in every run of the stories: whoever has it comes to their verdicts.
	Runs    *Ref           `json:"runs,omitzero"`
	Stored  int64          `json:"stored,omitzero"`
	Stories []StoryVerdict `json:"stories,omitempty"`
	// Text is what judges are shown of the tree: its texts, within bounds.
	Text    *Ref   `json:"text,omitzero"`
	Verdict string `json:"verdict"`
}

// MarksCall has the quotations of a judge, the actor, looked for in what it judges. MarksResult
// answers it.
type MarksCall struct {
	Answer  uint64      `json:"answer"`
	Attempt int64       `json:"attempt"`
	Marks   []WorldMark `json:"marks"`
	Part    int64       `json:"part,omitzero"`
	Text    Ref         `json:"text"`
}

// WorldMark is what a judge gives for a criterion, 0 to 1000, and a quotation that shows it.
type WorldMark struct {
	Criterion string `json:"criterion"`
	Mark      int64  `json:"mark"`
	Quotation string `json:"quotation"`
}

// MarksResult says which quotations are not there.
type MarksResult struct {
	Call    uint64   `json:"call"`
	Error   string   `json:"error,omitzero"`
	Full    *Full    `json:"full,omitzero"`
	Missing []string `json:"missing,omitempty"`
	Stored  int64    `json:"stored,omitzero"`
}

// MarksGiven is what a judge, the actor, says of an attempt; its quotations are there.
type MarksGiven struct {
	Answer  uint64      `json:"answer"`
	Attempt int64       `json:"attempt"`
	Marks   []WorldMark `json:"marks"`
	Part    int64       `json:"part,omitzero"`
}

// TierJudged is what a tier comes to for an attempt: passed, failed, waived or unavailable. The
// held-out stories are tier 4.
type TierJudged struct {
	Attempt int64 `json:"attempt"`
	// Call is the analysis.call behind it, 0 of judges.
	Call uint64 `json:"call,omitzero"`
	// Criteria are the lower medians of the judges, by criterion.
	Criteria []WorldMedian `json:"criteria,omitempty"`
	Reason   string        `json:"reason,omitzero"`
	Tier     int64         `json:"tier"`
	Tree     TreeRef       `json:"tree"`
	Verdict  string        `json:"verdict"`
}

// WorldMedian is the lower median of what judges gave for a criterion.
type WorldMedian struct {
	Criterion string `json:"criterion"`
	Mark      int64  `json:"mark"`
}

// RewardGiven is what an attempt earned, in thousandths. None says that it cannot be told.
type RewardGiven struct {
	Accessibility int64 `json:"accessibility"`
	Attempt       int64 `json:"attempt"`
	Conditions    int64 `json:"conditions"`
	// HeldOut is the share of held-out stories that passed, beside the sum; nil if there are none
	// or they did not run.
	HeldOut *int64 `json:"held_out,omitzero"`
	None    bool   `json:"none,omitzero"`
	Stories int64  `json:"stories"`
	Sum     int64  `json:"sum"`
}

// PredictionMade is what the maker, the actor, expects before it tries: each condition with a
// probability in thousandths.
type PredictionMade struct {
	Answer  uint64             `json:"answer"`
	Attempt int64              `json:"attempt"`
	Expect  []WorldExpectation `json:"expect"`
	Part    int64              `json:"part,omitzero"`
	Steps   []WorldStep        `json:"steps"`
}

// WorldExpectation is a condition and how probable it is. Loop names the declared loop that it
// comes from, if it does.
type WorldExpectation struct {
	Condition   WorldCondition `json:"condition"`
	Loop        string         `json:"loop,omitzero"`
	Probability int64          `json:"probability"`
}

// WorldCall has steps done to an attempt, and looks before and after. WorldObserved answers it.
type WorldCall struct {
	Attempt int64 `json:"attempt"`
	// Expect are the conditions of the prediction, in its order.
	Expect []WorldCondition `json:"expect"`
	// Prediction is the prediction.made that it puts to the test.
	Prediction uint64      `json:"prediction"`
	Steps      []WorldStep `json:"steps"`
	Tree       TreeRef     `json:"tree"`
}

// WorldObserved is what was seen.
type WorldObserved struct {
	After    WorldSight `json:"after,omitzero"`
	Before   WorldSight `json:"before,omitzero"`
	Call     uint64     `json:"call"`
	Changes  []string   `json:"changes,omitempty"`
	Duration int64      `json:"duration,omitzero"`
	// End is done, timeout, crash, error or unavailable.
	End   string `json:"end"`
	Error Text   `json:"error,omitzero"`
	// Fingerprint is that of the computer.
	Fingerprint Hash  `json:"fingerprint,omitzero"`
	Full        *Full `json:"full,omitzero"`
	// Held says of each condition of the prediction whether it held afterwards; it is empty where
	// nothing could be seen.
	Held   []bool `json:"held,omitempty"`
	Stored int64  `json:"stored,omitzero"`
	// Unforeseen counts changes that no condition speaks of; Changes are the first.
	Unforeseen int64 `json:"unforeseen,omitzero"`
}

// WorldSight is what is seen of a thing at one time. What is long stands in blobs; Text is what a
// model is shown.
type WorldSight struct {
	// Accessibility is the tree of roles and names, as lines.
	Accessibility Text     `json:"accessibility,omitzero"`
	Console       []string `json:"console,omitempty"`
	Dialogs       []string `json:"dialogs,omitempty"`
	Errors        Text     `json:"errors,omitzero"`
	// Exit, Output and Errors are of a program, Files what it left.
	Exit  int64      `json:"exit,omitzero"`
	Files []FileSeen `json:"files,omitempty"`
	// Left counts the lines of console, dialogs and requests that are not shown here; Lines are
	// those by which conditions are judged, if that is more.
	Left     int64          `json:"left,omitzero"`
	Lines    *Ref           `json:"lines,omitzero"`
	Output   Text           `json:"output,omitzero"`
	Picture  *Ref           `json:"picture,omitzero"`
	Requests []WorldRequest `json:"requests,omitempty"`
	Text     Text           `json:"text,omitzero"`
	Title    string         `json:"title,omitzero"`
}

// FileSeen is a file that a program left.
type FileSeen struct {
	File Ref    `json:"file"`
	Path string `json:"path"`
}

// WorldRequest is something that a page asked for: given from its tree, or refused.
type WorldRequest struct {
	Given  bool   `json:"given,omitzero"`
	Method string `json:"method"`
	URL    string `json:"url"`
}

// SurpriseMeasured is how far a prediction was from what was seen: the square of the difference,
// in millionths, of each condition.
type SurpriseMeasured struct {
	Attempt    int64   `json:"attempt"`
	Conditions []int64 `json:"conditions"`
	// Mean is that of the conditions, rounded down.
	Mean       int64  `json:"mean"`
	Observed   uint64 `json:"observed"`
	Prediction uint64 `json:"prediction"`
	Unforeseen int64  `json:"unforeseen,omitzero"`
}

func (*StructureDeclared) Type() Type { return "structure.declared" }
func (*AttemptProposed) Type() Type   { return "attempt.proposed" }
func (*AnalysisCall) Type() Type      { return "analysis.call" }
func (*AnalysisResult) Type() Type    { return "analysis.result" }
func (*MarksCall) Type() Type         { return "marks.call" }
func (*MarksResult) Type() Type       { return "marks.result" }
func (*MarksGiven) Type() Type        { return "marks.given" }
func (*TierJudged) Type() Type        { return "tier.judged" }
func (*RewardGiven) Type() Type       { return "reward.given" }
func (*PredictionMade) Type() Type    { return "prediction.made" }
func (*WorldCall) Type() Type         { return "world.call" }
func (*WorldObserved) Type() Type     { return "world.observed" }
func (*SurpriseMeasured) Type() Type  { return "surprise.measured" }

// Answers implements Result.
func (b *AnalysisResult) Answers() uint64 { return b.Call }

// Kept implements Keeper.
func (b *AnalysisResult) Kept() (int64, *Full) { return b.Stored, b.Full }

// SetKept implements Keeper.
func (b *AnalysisResult) SetKept(stored int64, full *Full) { b.Stored, b.Full = stored, full }

// Answers implements Result.
func (b *MarksResult) Answers() uint64 { return b.Call }

// Kept implements Keeper.
func (b *MarksResult) Kept() (int64, *Full) { return b.Stored, b.Full }

// SetKept implements Keeper.
func (b *MarksResult) SetKept(stored int64, full *Full) { b.Stored, b.Full = stored, full }

// Answers implements Result.
func (b *WorldObserved) Answers() uint64 { return b.Call }

// Kept implements Keeper.
func (b *WorldObserved) Kept() (int64, *Full) { return b.Stored, b.Full }

// SetKept implements Keeper.
func (b *WorldObserved) SetKept(stored int64, full *Full) { b.Stored, b.Full = stored, full }
