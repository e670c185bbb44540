package crate

import (
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// form names the way in which the computed files are computed. Import compares
// bytes, so any change to what this file or preview.go writes needs a new form,
// and a crate of an older one the code that wrote it.
const form = "lyceum-crate/2"

// firstForm is the one before. Its reviews are no quotations, and what is attached to papers
// stands in it as blobs alone.
const firstForm = "lyceum-crate/1"

// What the metadata conforms to.
const (
	crateSpec    = "https://w3id.org/ro/crate/1.3"
	crateContext = "https://w3id.org/ro/crate/1.3/context"
	processRun   = "https://w3id.org/ro/wfrun/process/0.6"
	schemaOrg    = "http://schema.org/"
)

// maxListed is how many blobs the metadata describes one by one. Of more it
// describes those that calls name, and the folder.
const maxListed = 10_000

// entity is a node of the metadata's flat graph.
type entity map[string]any

func modelID(name string) string { return "#model-" + url.PathEscape(name) }
func toolID(name string) string  { return "#tool-" + url.PathEscape(name) }
func agentID(name string) string { return "#agent-" + url.PathEscape(name) }
func eventID(seq uint64) string  { return "#event-" + strconv.FormatUint(seq, 10) }
func callID(seq uint64) string   { return "#call-" + strconv.FormatUint(seq, 10) }

func lyceumID(version string) string {
	if version == "" {
		return "#lyceum"
	}
	return "#lyceum-" + url.PathEscape(version)
}

const (
	personID  = "#person"
	licenseID = "#license-not-specified"
	headID    = "#last-event"
	questID   = "#quest"
)

func link(id string) entity { return entity{"@id": id} }

func links(ids ...string) any {
	if len(ids) == 1 {
		return link(ids[0])
	}
	out := make([]entity, len(ids))
	for i, id := range ids {
		out[i] = link(id)
	}
	return out
}

// metadata is the ro-crate-metadata.json of the quest. docs are the other
// computed files, without the preview, which is no part of a crate's content.
// attached are copies of blobs.
func (a *account) metadata(problem string, docs map[string][]byte, attached map[string]event.Ref) ([]byte, error) {
	graph := []entity{
		{
			"@id": metadataFile, "@type": "CreativeWork", "about": link("./"), "conformsTo": link(crateSpec),
			// Says to Import how to read the rest.
			"schemaVersion": a.form,
		},
		a.root(problem, docs, attached),
		{"@id": previewFile, "@type": "CreativeWork", "about": link("./"), "name": "The quest for people", "encodingFormat": "text/html"},
	}
	graph = append(graph, a.files(docs, attached)...)
	graph = append(graph, a.questAction())
	for _, act := range a.actions {
		graph = append(graph, act.entity())
	}
	for _, seq := range sortedSeqs(a.shown) {
		graph = append(graph, eventEntity(a.shown[seq]))
	}
	graph = append(graph, a.software()...)
	graph = append(graph, fixtures...)
	graph = append(graph, entity{
		"@id": headID, "@type": "PropertyValue", "name": "Hash of the last event",
		"propertyID": "sha256 of ledger event " + strconv.FormatUint(a.state.Seq, 10), "value": a.state.Hash.String(),
	})
	return encode(entity{"@context": crateContext, "@graph": graph})
}

// encode writes JSON in one spelling on every machine and in every release: that
// of RFC 8785, with line breaks.
func encode(doc entity) ([]byte, error) {
	data, err := json.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("encode metadata: %w", err)
	}
	v := jsontext.Value(data)
	if err := v.Canonicalize(); err != nil {
		return nil, fmt.Errorf("encode metadata: %w", err)
	}
	if err := v.Indent(jsontext.WithIndent("  ")); err != nil {
		return nil, fmt.Errorf("encode metadata: %w", err)
	}
	return append(v, '\n'), nil
}

func (a *account) root(problem string, docs map[string][]byte, attached map[string]event.Ref) entity {
	parts := slices.Concat(sortedKeys(docs), partIDs(attached), []string{ledgerFile, blobFolder})
	mentions := []string{questID}
	for _, act := range a.actions {
		mentions = append(mentions, callID(act.call.Seq))
	}
	return entity{
		"@id": "./", "@type": "Dataset", "name": "Quest " + a.state.Name, "description": clip(problem),
		"conformsTo": link(processRun), "license": link(licenseID), "identifier": link(headID),
		// The moment of the last event: when the content came to be what it is.
		"datePublished": a.state.Time.Time().Format("2006-01-02T15:04:05.000Z"),
		"dateCreated":   a.state.Created.String(), "hasPart": links(parts...), "mentions": links(mentions...),
	}
}

var about = map[string]struct{ name, description, format string }{
	briefFile:   {"The question", "As it was asked. A copy of what the ledger says.", "text/markdown"},
	proofFile:   {"The checkpoints", "Signed roots of the tree over the ledger's events (C2SP tlog-checkpoint, RFC 6962), with cosignatures of witnesses and time stamps (RFC 3161).", "application/json"},
	specFile:    {"The spec", "The quest.yaml that the quest was made from. A copy of what the ledger says.", "application/yaml"},
	summaryFile: {"The answer", "A copy of what the ledger says.", "text/markdown"},
}

// aboutPaper describes a file that people can read by itself.
func aboutPaper(name string) (x struct{ name, description, format string }) {
	x.name, x.description, x.format = strings.TrimPrefix(name, paperFolder), "A copy of what the ledger and the blobs say.", "text/plain"
	if strings.HasSuffix(name, ".md") {
		x.format = "text/markdown"
	}
	return x
}

// partIDs are the ids of attached files: their paths as a URI has them.
func partIDs(attached map[string]event.Ref) []string {
	ids := sortedKeys(attached)
	for i, name := range ids {
		ids[i] = pathID(name)
	}
	return ids
}

func pathID(name string) string { return (&url.URL{Path: name}).EscapedPath() }

func (a *account) files(docs map[string][]byte, attached map[string]event.Ref) []entity {
	var out []entity
	for _, name := range sortedKeys(docs) {
		x, ok := about[name]
		if !ok {
			x = aboutPaper(name)
		}
		sum := event.HashOf(docs[name])
		out = append(out, fileEntity(name, x.name, x.description, x.format, int64(len(docs[name])), sum.String()))
	}
	for _, name := range sortedKeys(attached) {
		ref := attached[name]
		out = append(out, fileEntity(pathID(name), strings.TrimPrefix(name, paperFolder), "Attached to the paper by its author. A copy of the blob "+ref.Hash.String()+".",
			"application/octet-stream", ref.Size, ref.Hash.String()))
	}
	out = append(out, fileEntity(ledgerFile, "The ledger",
		"Everything that happened, one event a line, each with the SHA-256 of the one before and itself. All else in this crate follows from it and the blobs.",
		"application/jsonl", a.bytes, hex.EncodeToString(a.sum.Sum(nil))))
	listed := a.listed()
	folder := entity{
		"@id": blobFolder, "@type": "Dataset", "name": "The blobs",
		"description": fmt.Sprintf("The %d files that the ledger names, %d bytes together, each under its SHA-256.", len(a.blobs.held), a.blobs.total),
	}
	if len(listed) > 0 {
		ids := make([]string, len(listed))
		for i, h := range listed {
			ids[i] = blobPath(h)
		}
		folder["hasPart"] = links(ids...)
	}
	out = append(out, folder)
	for _, h := range listed {
		out = append(out, a.blobs.held[h].entity(h))
	}
	return out
}

// listed are the blobs that the metadata describes, sorted.
func (a *account) listed() []event.Hash {
	named := map[string]bool{}
	for _, act := range a.actions {
		for _, id := range slices.Concat(act.object, act.result) {
			named[id] = true
		}
	}
	var out []event.Hash
	for h := range a.blobs.held {
		if len(a.blobs.held) <= maxListed || named[blobPath(h)] {
			out = append(out, h)
		}
	}
	slices.SortFunc(out, func(x, y event.Hash) int { return slices.Compare(x[:], y[:]) })
	return out
}

func fileEntity(id, name, description, format string, size int64, sum string) entity {
	return entity{
		"@id": id, "@type": "File", "name": name, "description": description, "encodingFormat": format,
		"contentSize": strconv.FormatInt(size, 10), "sha256": sum,
	}
}

func (h *holding) entity(sum event.Hash) entity {
	name, format := fmt.Sprintf("Text of event %d", h.by), "application/octet-stream"
	switch {
	case h.tree:
		name, format = fmt.Sprintf("Listing of a folder at event %d", h.by), "application/json"
	case h.path != "":
		name = fmt.Sprintf("File in a workspace at event %d", h.by)
	}
	e := fileEntity(blobPath(sum), name, fmt.Sprintf("Named by event %d, %s.", h.by, h.kind), format, h.size, sum.String())
	if h.path != "" {
		e["alternateName"] = h.path
	}
	return e
}

// questAction is the quest as a whole.
func (a *account) questAction() entity {
	what := fmt.Sprintf("Rules %s, %d events, %d calls of models and tools.", a.state.Rules, a.state.Seq, a.calls)
	if a.calls > maxActions {
		what += fmt.Sprintf(" More than %d calls are not described one by one here; each is in %s.", maxActions, ledgerFile)
	}
	e := entity{
		"@id": questID, "@type": "CreateAction", "name": "Quest " + a.state.Name, "description": what,
		"agent": link(personID), "instrument": links(a.lyceum()...), "object": links(briefFile, specFile), "result": link(ledgerFile),
	}
	if a.state.Answer != nil {
		e["result"] = links(ledgerFile, summaryFile)
	}
	if a.begun != 0 {
		e["startTime"], e["endTime"] = a.begun.String(), a.state.Time.String()
	}
	switch s := a.state; s.Status {
	case quest.Finished:
		e.status("Completed", "")
	case quest.Failed, quest.Stopped, quest.Exceeded:
		e.status("Failed", clip(reasoned(s)))
	case quest.Created:
		e.status("Potential", "")
	default:
		e.status("Active", "")
	}
	return e
}

// reasoned is a quest's status, with why.
func reasoned(s *quest.State) string {
	if s.Reason == "" {
		return string(s.Status)
	}
	return fmt.Sprintf("%s: %s", s.Status, s.Reason)
}

func (e entity) status(word, failure string) {
	e["actionStatus"] = link(schemaOrg + word + "ActionStatus")
	if failure != "" {
		e["error"] = failure
	}
}

func (act *action) entity() entity {
	what := fmt.Sprintf("Model call of %s", act.call.Actor)
	if act.call.Type == "tool.call" {
		what = fmt.Sprintf("Call of the tool %s by %s", act.call.Tool, act.call.Actor)
	}
	if act.call.Type == "tool.call" && act.call.Tool == "" {
		what = fmt.Sprintf("Call by %s of a tool that there is not, answered by the rules", act.call.Actor)
	}
	e := entity{
		"@id": callID(act.call.Seq), "@type": "CreateAction", "name": what,
		"description": fmt.Sprintf("Event %d of %s, with the hash %s.", act.call.Seq, ledgerFile, act.call.Hash),
		"agent":       link(personID), "participant": link(agentID(act.call.Actor)), "instrument": link(act.instrument),
		"startTime": act.call.Time.String(),
	}
	if len(act.object) > 0 {
		e["object"] = links(act.object...)
	}
	if len(act.result) > 0 {
		e["result"] = links(act.result...)
	}
	if act.end == 0 {
		e.status("Active", "")
		return e
	}
	e["endTime"] = act.end.String()
	if act.failed {
		e.status("Failed", act.failure)
	} else {
		e.status("Completed", "")
	}
	return e
}

func eventEntity(e event.Event) entity {
	return entity{
		"@id": eventID(e.Seq), "@type": "PropertyValue", "name": fmt.Sprintf("%s by %s", e.Type, e.Actor),
		"propertyID": "sha256 of ledger event " + strconv.FormatUint(e.Seq, 10), "value": e.Hash.String(),
	}
}

// software is everything that acted.
func (a *account) software() []entity {
	var out []entity
	for i, id := range a.lyceum() {
		e := entity{"@id": id, "@type": "SoftwareApplication", "name": "Lyceum", "description": "Runs AI agents on a question and records every step."}
		if len(a.versions) > 0 && a.versions[i] != "" {
			e["softwareVersion"] = a.versions[i]
		}
		out = append(out, e)
	}
	for _, m := range a.models {
		out = append(out, entity{"@id": modelID(m), "@type": "SoftwareApplication", "name": m, "description": "A model, under the name that the quest gives it."})
	}
	for _, t := range a.tools {
		out = append(out, entity{"@id": toolID(t), "@type": "SoftwareApplication", "name": t, "description": "A tool that agents of the quest could use."})
	}
	for _, ag := range a.state.Agents {
		var needs []string
		if ag.Model != "" {
			needs = append(needs, modelID(ag.Model))
		}
		for _, t := range ag.ToolNames {
			needs = append(needs, toolID(t))
		}
		e := entity{
			"@id": agentID(ag.Name), "@type": "SoftwareApplication", "name": ag.Name,
			"description": "An AI agent of the quest. It chose the calls that it is the participant of.",
		}
		if needs != nil {
			e["softwareRequirements"] = links(needs...)
		}
		out = append(out, e)
	}
	return out
}

// fixtures is what every crate refers to.
var fixtures = []entity{
	{
		"@id": personID, "@type": "Person", "name": "The person who asked",
		"description": "Lyceum does not record who asks. On behalf of this person agents acted.",
	},
	{
		"@id": licenseID, "@type": "CreativeWork", "name": "Not specified by the author",
		"description": "The author has not said how this crate may be used. Without a licence only what the law allows anyway is allowed: ask the author.",
	},
	{"@id": crateSpec, "@type": "CreativeWork", "name": "RO-Crate", "version": "1.3"},
	{"@id": processRun, "@type": "CreativeWork", "name": "Process Run Crate", "version": "0.6"},
	{"@id": schemaOrg + "ActiveActionStatus", "@type": "ActionStatusType", "name": "Under way"},
	{"@id": schemaOrg + "CompletedActionStatus", "@type": "ActionStatusType", "name": "Completed"},
	{"@id": schemaOrg + "FailedActionStatus", "@type": "ActionStatusType", "name": "Failed"},
	{"@id": schemaOrg + "PotentialActionStatus", "@type": "ActionStatusType", "name": "Not begun"},
}

func sortedSeqs[V any](m map[uint64]V) []uint64 {
	out := make([]uint64, 0, len(m))
	for seq := range m {
		out = append(out, seq)
	}
	slices.Sort(out)
	return out
}
