package event

// What a study writes at its end: an outline of claims, a bundle that is made of a line of work,
// a checklist that is computed of it, and a review by somebody who saw nothing else.

// MaxPaper is how many bytes the text of a paper has, with what belongs to it: a reviewer reads all
// of it at once.
const MaxPaper = 96 << 10

// OutlineSubmitted says what a paper will claim, and by which results.
type OutlineSubmitted struct {
	Answer  uint64         `json:"answer"`
	Because []string       `json:"because,omitempty"`
	Claims  []OutlineClaim `json:"claims"`
	ID      string         `json:"id"`
	Part    int64          `json:"part,omitzero"`
	// Supersedes is the outline before it.
	Supersedes string `json:"supersedes,omitzero"`
	Title      string `json:"title"`
}

// OutlineClaim is a sentence that a paper stands for.
type OutlineClaim struct {
	ID string `json:"id"`
	// Results are the results, by id, that it follows from.
	Results []string `json:"results"`
	Text    string   `json:"text"`
}

// BundleCall has a paper made of a checkpoint of a line of work: its text, its figures by their
// programs, twice, each in a fresh computer, and its bibliography. BundleResult answers it.
type BundleCall struct {
	Answer uint64 `json:"answer"`
	// Bibliography and Source are files of the branch: BibTeX, and the text in Markdown.
	Bibliography string `json:"bibliography,omitzero"`
	Branch       string `json:"branch"`
	// Checkpoint is the checkpoint.made that holds them.
	Checkpoint uint64         `json:"checkpoint"`
	Claims     []OutlineClaim `json:"claims"`
	Figures    []BundleFigure `json:"figures,omitempty"`
	// Outputs are what the programs of cited results printed, by the result's id.
	Outputs []BundleOutput `json:"outputs,omitempty"`
	Paper   string         `json:"paper"`
	Part    int64          `json:"part,omitzero"`
	Source  string         `json:"source"`
	Title   string         `json:"title"`
	Tree    TreeRef        `json:"tree"`
}

// BundleFigure is a figure that a program of the branch makes, of data of the branch.
type BundleFigure struct {
	Caption string `json:"caption"`
	// Data are the files that it shows.
	Data []string `json:"data,omitempty"`
	ID   string   `json:"id"`
	// Output is the file that Program writes, .svg, .png or .pdf.
	Output  string `json:"output"`
	Program string `json:"program"`
}

// BundleOutput is what a result printed: one that claims rest on, a baseline, or one that lost.
type BundleOutput struct {
	Metrics []Metric `json:"metrics"`
	Output  *Ref     `json:"output,omitzero"`
	Result  string   `json:"result"`
	Title   string   `json:"title"`
	Verdict string   `json:"verdict"`
}

// BundleResult is what became of it. Tree is the bundle: paper.md, paper.html, paper.tex,
// paper.pdf where there is TeX, figures/, references.bib, claims.json.
type BundleResult struct {
	Call    uint64       `json:"call"`
	Error   string       `json:"error,omitzero"`
	Figures []FigureMade `json:"figures,omitempty"`
	Files   []string     `json:"files,omitempty"`
	// Fingerprint is that of the computers that made the figures.
	Fingerprint Hash  `json:"fingerprint,omitzero"`
	Full        *Full `json:"full,omitzero"`
	// Named are the ids of Outputs that stand in the text as words of their own.
	Named   []string       `json:"named,omitempty"`
	Numbers []NumberTraced `json:"numbers,omitempty"`
	// PDF is made, missing or failed; Why says why.
	PDF string `json:"pdf,omitzero"`
	// References are the keys that the text cites; Unknown those of them that the bibliography
	// and the cards of papers do not have.
	References []string `json:"references,omitempty"`
	// Sections are the headings that have words below them.
	Sections []string `json:"sections,omitempty"`
	Stored   int64    `json:"stored,omitzero"`
	// Text is what a reviewer reads of the bundle: the text of the paper, at least.
	Text    *Text    `json:"text,omitzero"`
	Tree    *TreeRef `json:"tree,omitzero"`
	Unknown []string `json:"unknown,omitempty"`
	Why     string   `json:"why,omitzero"`
}

// FigureMade is how a figure was made: same, if twice to the byte the same; differs, failed or
// unchecked, and why.
type FigureMade struct {
	File    *Ref   `json:"file,omitzero"`
	ID      string `json:"id"`
	Verdict string `json:"verdict"`
	Why     string `json:"why,omitzero"`
}

// NumberTraced is a number of the text, and the result whose output it follows from; none, if
// it follows from no output that the text cites.
type NumberTraced struct {
	Line   int64  `json:"line"`
	Result string `json:"result,omitzero"`
	Text   string `json:"text"`
}

// PaperSubmitted is a paper of a study: a bundle, and its checklist, computed by the rules.
type PaperSubmitted struct {
	Call      uint64         `json:"call"`
	Checklist []ChecklistRow `json:"checklist"`
	ID        string         `json:"id"`
	Outline   string         `json:"outline"`
	// Revision counts from 1, of this paper.
	Revision int64   `json:"revision"`
	Title    string  `json:"title"`
	Tree     TreeRef `json:"tree"`
}

// ChecklistRow is one thing that a paper must have: evidence, baselines, losers, limits,
// references or figures.
type ChecklistRow struct {
	Findings []string `json:"findings,omitempty"`
	Holds    bool     `json:"holds"`
	Item     string   `json:"item"`
}

// ReviewBegun gives a paper to a second agent, the actor, who is told nothing but the bundle, in
// an empty window.
type ReviewBegun struct {
	Paper    string `json:"paper"`
	Revision int64  `json:"revision"`
	// Round counts from 1, to at most 2.
	Round int64 `json:"round"`
	// Text is the bundle's, and Words what is said before it.
	Text  Text `json:"text"`
	Words Text `json:"words"`
}

// ReviewGiven is what it says: numbered points. Answer and Part are the call that gave it. One
// without is of a reviewer who came to no end, and says why in Error: it is no round.
type ReviewGiven struct {
	Answer uint64        `json:"answer,omitzero"`
	Error  string        `json:"error,omitzero"`
	Paper  string        `json:"paper,omitzero"`
	Part   int64         `json:"part,omitzero"`
	Points []ReviewPoint `json:"points,omitempty"`
	Round  int64         `json:"round"`
	// Source is reviewer, or the file of materials.
	Source  string `json:"source"`
	Summary string `json:"summary"`
}

// ReviewPoint is one of them, by a number of its own over all rounds.
type ReviewPoint struct {
	Number int64 `json:"number"`
	// Severity is major or minor.
	Severity string `json:"severity"`
	Text     string `json:"text"`
}

// ReportCall has a review that stands in a file of the materials read against the points that the
// actor takes from it, for a tool call. ReportResult answers it.
type ReportCall struct {
	Answer uint64 `json:"answer"`
	Part   int64  `json:"part,omitzero"`
	// Points is how many are taken, Quotes the words of the file that they are about.
	Points int64         `json:"points,omitzero"`
	Quotes []ReportQuote `json:"quotes,omitempty"`
	// Ref is the file, if it came with a message; without it, it is one that homes began with.
	Ref    *Ref   `json:"ref,omitzero"`
	Source string `json:"source"`
}

// ReportQuote is words of a file, and the point that names them, counted from 1.
type ReportQuote struct {
	Point int64  `json:"point"`
	Text  string `json:"text"`
}

// ReportResult is how they stand to each other.
type ReportResult struct {
	// Absent are quotes that the file does not have, counted from 1.
	Absent []int64 `json:"absent,omitempty"`
	Call   uint64  `json:"call"`
	// Error is why the file cannot be read.
	Error string `json:"error,omitzero"`
	// Items is how many points the file lists, Left how each begins that no quote is of. More
	// counts those that are left and are not named.
	Items int64    `json:"items,omitzero"`
	Left  []string `json:"left,omitempty"`
	More  int64    `json:"more,omitzero"`
}

// PointAnswered is what a researcher does about a point: mended, slice, or rebutted. Warning,
// if two rounds have passed without it; then the rules say so.
type PointAnswered struct {
	Answer  uint64   `json:"answer,omitzero"`
	Because []string `json:"because,omitempty"`
	How     string   `json:"how"`
	Paper   string   `json:"paper"`
	Part    int64    `json:"part,omitzero"`
	Point   int64    `json:"point"`
	Text    string   `json:"text"`
}

func (*OutlineSubmitted) Type() Type { return "outline.submitted" }
func (*BundleCall) Type() Type       { return "bundle.call" }
func (*BundleResult) Type() Type     { return "bundle.result" }
func (*PaperSubmitted) Type() Type   { return "paper.submitted" }
func (*ReviewBegun) Type() Type      { return "review.begun" }
func (*ReviewGiven) Type() Type      { return "review.given" }
func (*ReportCall) Type() Type       { return "report.call" }
func (*ReportResult) Type() Type     { return "report.result" }
func (*PointAnswered) Type() Type    { return "point.answered" }

// Answers implements Result.
func (b *BundleResult) Answers() uint64 { return b.Call }

// Answers implements Result.
func (b *ReportResult) Answers() uint64 { return b.Call }

// Kept implements Keeper.
func (b *BundleResult) Kept() (int64, *Full) { return b.Stored, b.Full }

// SetKept implements Keeper.
func (b *BundleResult) SetKept(stored int64, full *Full) { b.Stored, b.Full = stored, full }
