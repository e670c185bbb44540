package tui

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/society/lab/paper"
)

// Document is a paper with all that belongs to it, to be read by a person. It holds
// copies, so the quest can go on while it is read.
type Document struct {
	Ref, Title, Author, Status string
	Time                       event.Time
	// Votes are the agents whose current vote it has, sorted.
	Votes []string
	// Cites are the papers it names, CitedBy the published ones that name it; Self
	// are those of its own author among them, which do not count.
	Cites, CitedBy, Self []Citation
	Revises              string
	RevisedBy            []string
	// Folder is where the paper stands on disk.
	Folder      string
	Attachments []string
	Entrypoint  string
	// Claims are the values that it stands for, Repeats published papers that seem to say
	// the same.
	Claims  []string
	Repeats []Citation
	// Running says that the entry point is being run.
	Running      bool
	Reproduction *event.ReproductionResult
	Reviews      []Review
	Content      string

	content event.Text
}

// Citation is a paper that another names.
type Citation struct{ Ref, Title, Author string }

// Review is one of a Document, or the request for one.
type Review struct {
	Reviewer string
	// Grade is empty as long as there is none; then State says why.
	Grade, State string
	Content      string
	// Confidence is from 1 to 5; Rubric is what the review rests on, by name.
	Confidence int64
	Rubric     [][2]string

	content event.Text
}

// NewDocument gathers what there is to say of a paper. The texts are read by Load.
func NewDocument(lib *paper.Library, p *paper.Paper, questDir string) *Document {
	d := &Document{
		Ref: p.Ref, Title: p.Title, Author: p.Author, Status: p.Status, Time: p.Time, Revises: p.Revises, RevisedBy: slices.Clone(p.RevisedBy),
		Folder: filepath.Join(questDir, "publications", p.Ref), Attachments: slices.Clone(p.Attachments), Entrypoint: p.Entrypoint,
		Running: p.Trial != 0, Reproduction: p.Reproduction, content: p.Content,
	}
	d.Claims = p.Claims
	for agent, ref := range lib.Votes {
		if ref == p.Ref {
			d.Votes = append(d.Votes, agent)
		}
	}
	slices.Sort(d.Votes)
	d.Cites, d.Repeats = named(lib, p.Cites), named(lib, p.Repeats)
	for _, from := range lib.Papers {
		if from.Status != event.Published || !slices.Contains(from.Cites, p.Ref) {
			continue
		}
		c := Citation{from.Ref, from.Title, from.Author}
		if from.Author == p.Author {
			d.Self = append(d.Self, c)
		} else {
			d.CitedBy = append(d.CitedBy, c)
		}
	}
	for _, r := range p.Reviews {
		d.Reviews = append(d.Reviews, Review{Reviewer: r.Reviewer, Grade: r.Grade, State: paper.Done, Confidence: r.Confidence, Rubric: r.Rubric(), content: r.Content})
	}
	for _, r := range p.Requests {
		if r.State != paper.Done {
			d.Reviews = append(d.Reviews, Review{Reviewer: r.Reviewer, State: r.State})
		}
	}
	return d
}

// named are papers by their references.
func named(lib *paper.Library, refs []string) (out []Citation) {
	for _, ref := range refs {
		c := Citation{Ref: ref}
		if to := lib.Paper(ref); to != nil {
			c.Title, c.Author = to.Title, to.Author
		}
		out = append(out, c)
	}
	return out
}

// Load reads the texts.
func (d *Document) Load(read func(event.Text) (string, error)) (err error) {
	if d.Content, err = read(d.content); err != nil {
		return fmt.Errorf("read paper %s: %w", d.Ref, err)
	}
	for i := range d.Reviews {
		r := &d.Reviews[i]
		if r.Grade == "" {
			continue
		}
		if r.Content, err = read(r.content); err != nil {
			return fmt.Errorf("read the review of paper %s by %s: %w", d.Ref, r.Reviewer, err)
		}
	}
	return nil
}

// Render sets the document for a terminal of that width. Everything that agents wrote
// at length has a bar at its left, so that no paper can look like what Lyceum says of
// it, or like a review.
func (d *Document) Render(width int, look Look) string {
	w := &sheet{width: max(width, 20), look: look}
	w.put("", w.style(bold, line(d.Title)))
	w.put("", w.style(statusStyle(d.Status), line(d.Status))+" · "+d.Ref)
	w.put("", "by "+line(d.Author)+" · "+d.Time.Time().Format("2006-01-02 15:04:05 UTC"))
	w.put("", "")
	w.fact("claims", line(strings.Join(d.Claims, ", ")))
	w.fact("reproduction", d.reproduction())
	if r := d.Reproduction; r != nil {
		w.fact("printed", line(event.Shorten(r.Printed, maxPrinted)))
		w.fact("NOT printed", line(strings.Join(r.Missing, ", ")))
	}
	for _, o := range paper.Outputs(d.Reproduction) {
		w.fact("output", o.File+" sha256:"+o.Ref.Hash.String())
	}
	w.fact("votes", count(len(d.Votes), strings.Join(d.Votes, ", ")))
	w.fact("revises", d.Revises)
	w.fact("revised by", strings.Join(d.RevisedBy, ", "))
	w.papers("repeats", d.Repeats)
	w.papers("cites", d.Cites)
	w.papers("cited by", d.CitedBy)
	w.papers("by itself", d.Self)
	w.fact("folder", d.Folder)
	for _, name := range d.Attachments {
		w.fact("attachment", filepath.Join(d.Folder, name))
	}
	w.section("Paper")
	w.quote(d.Content)
	for _, r := range d.Reviews {
		switch {
		case r.Grade != "":
			w.section("Review by " + line(r.Reviewer) + ": " + w.style(gradeStyle(r.Grade), line(r.Grade)))
			if r.Confidence > 0 {
				w.fact("confidence", fmt.Sprintf("%d of 5", r.Confidence))
			}
			for _, x := range r.Rubric {
				w.fact(x[0], line(x[1]))
			}
			w.quote(r.Content)
		case r.State == paper.Expired:
			w.section("Review by " + line(r.Reviewer) + ": expired, another agent was asked if there was one")
		default:
			w.section("Review by " + line(r.Reviewer) + ": not there yet")
		}
	}
	return w.b.String()
}

// maxPrinted is how much is shown of what a program printed.
const maxPrinted = 300

func count(n int, names string) string {
	if n == 0 {
		return "0"
	}
	return fmt.Sprintf("%d (%s)", n, names)
}

func (d *Document) reproduction() string {
	switch r := d.Reproduction; {
	case r != nil && r.Status == event.SameOutput:
		return r.Status + ": " + d.Entrypoint
	case r != nil && r.Status == event.Differs:
		return "differs: " + d.Entrypoint + " printed other bytes the second time"
	case r != nil:
		return r.Status + ": " + d.Entrypoint + ": " + r.Reason
	case d.Running:
		return "under way: " + d.Entrypoint
	case d.Entrypoint != "":
		return "waits: " + d.Entrypoint
	}
	return "none: the paper names no entry point"
}

func (w *sheet) papers(name string, list []Citation) {
	for _, c := range list {
		text := c.Ref + "  " + line(c.Title)
		if c.Author != "" {
			text += " (" + line(c.Author) + ")"
		}
		w.fact(name, text)
	}
}
