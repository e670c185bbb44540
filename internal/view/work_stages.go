package view

import (
	"strings"

	"lyceum/internal/event"
)

// Work says what an event is in a workflow, and the id of what it made, if that has one.
func Work(e event.Event) (kind, id string) {
	switch b := e.Body.(type) {
	case *event.ArtifactRecorded:
		id = b.ID
	case *event.ResultRecorded:
		id = b.ID
	case *event.CampaignCreated:
		id = b.ID
	case *event.OutlineSubmitted:
		id = b.ID
	case *event.PaperSubmitted:
		id = paperID(b.ID, b.Revision)
	case *event.BaselineAccepted:
		id = b.Result
	}
	return flowKind(e.Body), id
}

// Written is what the author of a recorded thing wrote, and the files that it is about.
func Written(e event.Event) (event.Text, []string) {
	switch b := e.Body.(type) {
	case *event.ArtifactRecorded:
		return b.Text, b.Files
	case *event.ResultRecorded:
		return event.Text{Text: b.Summary}, []string{b.Entrypoint}
	case *event.CampaignCreated:
		return event.Text{Text: b.Reason}, nil
	case *event.InteractSaid:
		return b.Text, b.Files
	case *event.OutlineSubmitted:
		var claims []string
		for _, c := range b.Claims {
			claims = append(claims, "- "+c.ID+": "+c.Text+" ("+strings.Join(c.Results, ", ")+")")
		}
		return event.Text{Text: strings.Join(claims, "\n")}, nil
	case *event.ReviewGiven:
		return event.Text{Text: b.Summary}, nil
	}
	return event.Text{}, nil
}
