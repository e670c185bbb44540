package api_test

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lyceum/internal/api"
	"lyceum/internal/crate"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	checkpoint "lyceum/internal/proof"
	"lyceum/internal/vouch"
)

// zipped says that a body is a crate.
func zipped(r *http.Request) { r.Header.Set("Content-Type", "application/zip") }

func as(secret string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+secret) }
}

// start begins a job, and send an import.
func (s *server) start(quest, kind string) (j api.Job) {
	s.t.Helper()
	s.do("POST", "/api/quests/"+quest+"/jobs", map[string]any{"kind": kind}).want(s.t, 202).into(s.t, &j)
	return j
}

func (s *server) sendCrate(data []byte, query string) (j api.Job) {
	s.t.Helper()
	s.do("POST", "/api/imports"+query, string(data), zipped).want(s.t, 202).into(s.t, &j)
	return j
}

// over waits until a job is.
func (s *server) over(id string) (j api.Job) {
	s.t.Helper()
	return s.jobUntil(id, func(j api.Job) bool { return j.Over != 0 })
}

func (s *server) jobUntil(id string, fits func(api.Job) bool) (j api.Job) {
	s.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		s.do("GET", "/api/jobs/"+id, nil).want(s.t, 200).into(s.t, &j)
		if fits(j) {
			return j
		}
	}
	s.t.Fatalf("the job is not what was waited for: %+v", j)
	return j
}

// exported is a quest as a crate, by a job.
func (s *server) exported(quest string) []byte {
	s.t.Helper()
	j := s.over(s.start(quest, "export").ID)
	if j.State != "done" || j.Crate == nil || j.Done != j.Of || j.Done == 0 || j.Unit != "bytes" {
		s.t.Fatalf("an export that is over: got %+v, want a crate and all bytes done", j)
	}
	a := s.do("GET", "/api/jobs/"+j.ID+"/crate", nil).want(s.t, 200)
	sum := sha256.Sum256(a.body)
	if int64(len(a.body)) != j.Crate.Bytes || hex.EncodeToString(sum[:]) != j.Crate.SHA256 || !strings.Contains(a.header.Get("Content-Disposition"), quest+".zip") {
		s.t.Fatalf("the crate has %d bytes, and the headers %v: want those of %+v", len(a.body), a.header, j.Crate)
	}
	return a.body
}

// spooled are the files that lie in the spool of a home.
func (h *home) spooled() (out []string) {
	h.t.Helper()
	out, err := filepath.Glob(filepath.Join(h.dir, ".spool-*", "in", "*"))
	must(h.t, err)
	return out
}

func (h *home) mustBeSwept() {
	h.t.Helper()
	if left := h.spooled(); len(left) > 0 {
		h.t.Errorf("the spool still has %q, want nothing", left)
	}
}

func (s *server) names() (out string) {
	s.t.Helper()
	heads, err := s.rt.Ledger.Quests(s.t.Context())
	must(s.t, err)
	for _, q := range heads {
		out += q.Quest + " "
	}
	return strings.TrimSpace(out)
}

func TestAQuestIsCheckedCarriedAndTakenOverByJobs(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve(api.Options{})
	s.finish("demo-number", "alone", "")
	for kind, verdict := range map[string]string{"verify": "consistent", "replay": "identical"} {
		j := s.over(s.start("alone", kind).ID)
		if j.State != "done" || j.Checked == nil || j.Checked.Verdict != verdict || j.Done != j.Of || j.Done != j.Checked.Events || j.Unit != "events" || j.Quest != "alone" {
			t.Errorf("%s: got %+v, want %s and all events done", kind, j, verdict)
		}
		if waited := s.do("GET", "/api/quests/alone/"+kind, nil).want(t, 200); !bytes.Contains(waited.body, []byte(`"verdict":"`+verdict+`"`)) {
			t.Errorf("%s without a job: got %.300s, want the same verdict", kind, waited.body)
		}
	}
	data := s.exported("alone")
	var direct bytes.Buffer
	must(t, crate.Export(t.Context(), s.rt, "alone", &direct))
	if !bytes.Equal(data, direct.Bytes()) {
		t.Error("the crate of a job differs from that of lyceum export")
	}
	other := newHome(t)
	to := other.serve(api.Options{})
	j := to.over(to.sendCrate(data, "").ID)
	if j.State != "done" || j.Quest != "alone" || j.Error != nil {
		t.Fatalf("an import: got %+v, want the quest", j)
	}
	if got, want := lines(t, to.rt, "alone"), lines(t, s.rt, "alone"); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Error("the imported ledger differs from the one that was exported")
	}
	if k := to.over(to.sendCrate(data, "").ID); k.State != "failed" || k.Error == nil || k.Error.Code != "conflict" || !strings.Contains(k.Error.Message, "another name") {
		t.Errorf("an import under a name that is taken: got %+v %+v, want a conflict that says what to do", k, k.Error)
	}
	if k := to.over(to.sendCrate(data, "?as=second").ID); k.Quest != "second" {
		t.Errorf("an import as second: got %+v", k)
	}
	to.do("POST", "/api/imports?as=No+Name", string(data), zipped).want(t, 400)
	if got := to.names(); got != "alone second" {
		t.Errorf("the other home has %q, want alone and second", got)
	}
	other.mustBeSwept()
	var list struct{ Jobs []api.Job }
	to.do("GET", "/api/jobs", nil).want(t, 200).into(t, &list)
	if len(list.Jobs) != 3 || list.Jobs[0].ID != j.ID {
		t.Errorf("the list has %d jobs, want the three imports, the oldest first", len(list.Jobs))
	}
	var kept api.Job
	s.do("GET", "/api/jobs", nil).want(t, 200).into(t, &list)
	for _, one := range list.Jobs {
		if one.Kind == "export" {
			kept = one
		}
	}
	s.do("DELETE", "/api/jobs/"+kept.ID, nil).want(t, 200)
	h.mustBeSwept()
	s.do("GET", "/api/jobs/"+kept.ID+"/crate", nil).want(t, 404)
}

// dammed is a ledger of which the quest slow is read when it is let.
type dammed struct {
	ledger.Store
	let chan struct{}
}

func (d dammed) Read(ctx context.Context, name string, seq uint64) iter.Seq2[event.Event, error] {
	if name != "slow" {
		return d.Store.Read(ctx, name, seq)
	}
	return func(yield func(event.Event, error) bool) {
		select {
		case <-d.let:
		case <-ctx.Done():
			yield(event.Event{}, ctx.Err())
			return
		}
		for e, err := range d.Store.Read(ctx, name, seq) {
			if !yield(e, err) {
				return
			}
		}
	}
}

// dammedHome has a quest whose jobs last until they are let.
func dammedHome(t *testing.T, opts api.Options) (h *home, s *server, let chan struct{}) {
	t.Helper()
	h, let = newHome(t), make(chan struct{})
	first := h.serve(api.Options{})
	first.create("slow", map[string]any{"model": "demo"})
	first.stop()
	h.wrap = func(st ledger.Store) ledger.Store { return dammed{st, let} }
	return h, h.serve(opts), let
}

func TestJobsAreBounded(t *testing.T) {
	t.Parallel()
	_, s, let := dammedHome(t, api.Options{Failures: 1000})
	scope, err := api.ParseScope("read")
	must(t, err)
	tok, secret := api.NewToken(scope, "", s.rt.Clock(), 0)
	must(t, s.rt.Ledger.PutToken(t.Context(), tok))
	body := map[string]any{"kind": "verify"}
	for range 4 {
		s.do("POST", "/api/quests/slow/jobs", body, as(secret)).want(t, 202)
	}
	if a := s.do("POST", "/api/quests/slow/jobs", body, as(secret)).want(t, 429); !bytes.Contains(a.body, []byte("DELETE /api/jobs")) {
		t.Errorf("one job too many of a token: got %s, want what to do", a.body)
	}
	var all []api.Job
	for range 12 {
		all = append(all, s.start("slow", "replay"))
	}
	s.do("POST", "/api/quests/slow/jobs", body).want(t, 429)
	if j := all[11]; j.State != "waiting" || j.Of == 0 {
		t.Errorf("the last job: got %+v, want that it waits, and of how many events", j)
	}
	var ended api.Job
	s.do("DELETE", "/api/jobs/"+all[11].ID, nil).want(t, 200).into(t, &ended)
	if ended.State != "ended" {
		t.Errorf("a job that was ended while it waited: got %+v", ended)
	}
	s.start("slow", "replay")
	close(let)
	if j := s.over(all[0].ID); j.State != "done" {
		t.Errorf("a job that had waited: got %+v, want that it is done", j)
	}
}

func TestAJobThatRunsIsEnded(t *testing.T) {
	t.Parallel()
	h, s, _ := dammedHome(t, api.Options{})
	for _, kind := range []string{"verify", "replay", "export"} {
		j := s.start("slow", kind)
		s.jobUntil(j.ID, func(j api.Job) bool { return j.State == "running" })
		s.do("GET", "/api/jobs/"+j.ID+"/crate", nil).want(t, 409)
		s.do("DELETE", "/api/jobs/"+j.ID, nil).want(t, 200).into(t, &j)
		if j.State != "ended" || j.Checked != nil || j.Crate != nil {
			t.Errorf("%s: got %+v, want that it was ended, and has nothing", kind, j)
		}
		s.do("GET", "/api/jobs/"+j.ID, nil).want(t, 404)
	}
	h.mustBeSwept()
}

func TestJobsEndWithTheServer(t *testing.T) {
	t.Parallel()
	h, s, _ := dammedHome(t, api.Options{})
	j := s.start("slow", "verify")
	s.jobUntil(j.ID, func(j api.Job) bool { return j.State == "running" })
	s.stop()
	next := h.serve(api.Options{})
	if a := next.do("GET", "/api/jobs/"+j.ID, nil).want(t, 404); !bytes.Contains(a.body, []byte("jobs end with the server")) {
		t.Errorf("a job of the server before: got %s, want why it is not there", a.body)
	}
}

func TestWhatAKilledServerLeftInTheSpoolGoes(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	left := filepath.Join(h.dir, ".spool-dead", "in")
	must(t, os.MkdirAll(left, 0o700))
	must(t, os.WriteFile(filepath.Join(left, "half"), []byte("half a crate"), 0o600))
	h.serve(api.Options{})
	if exists(filepath.Dir(left)) {
		t.Error("what a killed server left is still there after another has started")
	}
}

func TestJobsAreForWhoMayReadTheirQuest(t *testing.T) {
	t.Parallel()
	g := newGatehouse(t)
	ask := func(who, method, path, body string) *memory {
		t.Helper()
		return g.ask(method, path, body, append(g.bearer(who), "Content-Type", "application/json")...)
	}
	started := map[string]string{}
	for _, who := range []string{"read", "steer", "mine", "owner"} {
		var j api.Job
		w := ask(who, "POST", "/api/quests/mine/jobs", `{"kind":"export"}`)
		if must(t, json.Unmarshal(w.body.Bytes(), &j)); w.code != 202 {
			t.Fatalf("%s starts an export: got %d %s, want 202", who, w.code, w.body.String())
		}
		g.over(j.ID)
		started[who] = "/api/jobs/" + j.ID
	}
	for who, want := range map[string]int{"read": 200, "steer": 200, "mine": 200, "owner": 200, "other": 404} {
		for _, path := range []string{started["read"], started["read"] + "/crate"} {
			if w := ask(who, "GET", path, ""); w.code != want {
				t.Errorf("%s asks for %s: got %d, want %d", who, path, w.code, want)
			}
		}
	}
	for _, c := range []struct {
		who, of string
		want    int
	}{{"other", "mine", 404}, {"mine", "read", 403}, {"read", "steer", 403}, {"read", "owner", 403}, {"read", "read", 200}, {"owner", "mine", 200}} {
		if w := ask(c.who, "DELETE", started[c.of], ""); w.code != c.want {
			t.Errorf("%s ends the job of %s: got %d %s, want %d", c.who, c.of, w.code, w.body.String(), c.want)
		}
	}
	g.sendCrate([]byte("no crate"), "")
	for who, want := range map[string]int{"other": 0, "mine": 2, "read": 2, "owner": 3} {
		var list struct{ Jobs []api.Job }
		must(t, json.Unmarshal(ask(who, "GET", "/api/jobs", "").body.Bytes(), &list))
		if len(list.Jobs) != want {
			t.Errorf("%s sees %d jobs, want %d: an import is the owner's alone", who, len(list.Jobs), want)
		}
	}
}

func TestAnUploadIsBounded(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve(api.Options{Upload: 1000, Spool: 100})
	s.do("POST", "/api/imports", strings.Repeat("x", 2000), zipped).want(t, 413)
	chunked := func(r *http.Request) { zipped(r); r.ContentLength = -1; r.Body = io.NopCloser(r.Body) }
	if a := s.do("POST", "/api/imports", strings.Repeat("x", 500), chunked).want(t, 503); !bytes.Contains(a.body, []byte("no room")) {
		t.Errorf("more than the spool holds: got %s, want that there is no room now", a.body)
	}
	roomy := newHome(t).serve(api.Options{Upload: 1000})
	roomy.do("POST", "/api/imports", strings.Repeat("x", 2000), chunked).want(t, 413)
	if j := s.over(s.sendCrate([]byte("fits"), "").ID); j.State != "failed" || !strings.Contains(j.Error.Message, "not a zip") {
		t.Errorf("after others were refused there is room again: got %+v %+v, want that it is no zip", j, j.Error)
	}
	s.create("big", map[string]any{"model": "demo"})
	if j := s.over(s.start("big", "export").ID); j.State != "failed" || j.Error.Code != "unavailable" || j.Crate != nil {
		t.Errorf("an export that has no room: got %+v %+v, want that it failed for the moment", j, j.Error)
	}
	h.mustBeSwept()
	if got := s.names(); got != "big" {
		t.Errorf("the home has the quests %q, want none but big", got)
	}
}

func TestAnUploadThatBreaksOffLeavesNothing(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	s := h.serve(api.Options{})
	s.create("q", map[string]any{"model": "demo"})
	data := s.exported("q")
	s.do("DELETE", "/api/quests/q", nil).want(t, 204)
	conn, err := net.Dial("tcp", s.web.Listener.Addr().String())
	must(t, err)
	_, err = fmt.Fprintf(conn, "POST /api/imports HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/zip\r\nContent-Length: %d\r\n\r\n%s", token, len(data), data[:len(data)/2])
	must(t, err)
	find := func() (j api.Job) {
		var list struct{ Jobs []api.Job }
		s.do("GET", "/api/jobs", nil).want(t, 200).into(t, &list)
		for _, one := range list.Jobs {
			if one.Kind == "import" {
				j = one
			}
		}
		return j
	}
	for end := time.Now().Add(patience); find().Done < uint64(len(data)/2) && time.Now().Before(end); {
		time.Sleep(time.Millisecond)
	}
	if j := find(); j.State != "receiving" || j.Of != uint64(len(data)) || j.Unit != "bytes" || len(h.spooled()) != 2 {
		t.Errorf("half of it has come: got %+v and %q in the spool, want how many bytes of how many, and a file beside the export", j, h.spooled())
	}
	must(t, conn.Close())
	if j := s.over(find().ID); j.State != "failed" || !strings.Contains(j.Error.Message, "broke off") || !strings.Contains(j.Error.Message, "send it again") {
		t.Errorf("an upload that broke off: got %+v %+v", j, j.Error)
	}
	if left := h.spooled(); len(left) != 1 || s.names() != "" {
		t.Errorf("left in the spool %q, quests %q: want the export alone, and none", left, s.names())
	}
}

func TestOfTwoImportsOfOneQuestOneIsMade(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.finish("demo-number", "alone", "")
	data := s.exported("alone")
	h := newHome(t)
	to := h.serve(api.Options{})
	a, b := to.sendCrate(data, ""), to.sendCrate(data, "")
	states := map[string]int{}
	for _, id := range []string{a.ID, b.ID} {
		j := to.over(id)
		if states[j.State]++; j.State == "failed" && j.Error.Code != "conflict" {
			t.Errorf("the one that came late: got %+v, want a conflict", j.Error)
		}
	}
	if states["done"] != 1 || states["failed"] != 1 || to.names() != "alone" {
		t.Errorf("two at once: got %v and the quests %q, want one of each, and one quest", states, to.names())
	}
	if j := to.over(to.start("alone", "verify").ID); j.Checked == nil || j.Checked.Verdict != "consistent" {
		t.Errorf("the quest that was made: got %+v, want that it verifies", j)
	}
	h.mustBeSwept()
}

// changedEntry is a crate with other bytes in one of its files.
func changedEntry(t *testing.T, data []byte, name string, change func([]byte) []byte) []byte {
	t.Helper()
	in, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	must(t, err)
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range in.File {
		r, err := f.Open()
		must(t, err)
		text, err := io.ReadAll(r)
		must(t, err)
		if f.Name == name {
			text = change(text)
		}
		to, err := w.Create(f.Name)
		must(t, err)
		_, err = to.Write(text)
		must(t, err)
	}
	must(t, w.Close())
	return out.Bytes()
}

func TestAForgedCrateIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	s := newHome(t).serve(api.Options{})
	s.finish("demo-number", "alone", "")
	data := s.exported("alone")
	h := newHome(t)
	to := h.serve(api.Options{})
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"one event less":     {changedEntry(t, data, "ledger.jsonl", func(b []byte) []byte { return b[:bytes.LastIndexByte(b[:len(b)-1], '\n')+1] }), "is missing"},
		"a changed event":    {changedEntry(t, data, "ledger.jsonl", func(b []byte) []byte { return bytes.Replace(b, []byte(`"seq":3`), []byte(`"seq":4`), 1) }), "seq 3"},
		"a changed question": {changedEntry(t, data, "brief.md", func(b []byte) []byte { return append(b, "Or not?\n"...) }), "brief.md"},
		"half of it":         {data[:len(data)/2], "not a zip"},
		"nothing":            {nil, "not a zip"},
	} {
		j := to.over(to.sendCrate(c.data, "").ID)
		if j.State != "failed" || j.Error == nil || j.Error.Code != "failed" || !strings.Contains(j.Error.Message, c.says) || !strings.Contains(j.Error.Message, "nothing was taken over") || strings.Contains(j.Error.Message, h.dir) {
			t.Errorf("%s: got %+v %+v, want that it is refused with %q", name, j, j.Error, c.says)
		}
	}
	if got := to.names(); got != "" {
		t.Errorf("the home has the quests %q, want none", got)
	}
	h.mustBeSwept()
}

func TestTheRecordSaysWhoSigned(t *testing.T) {
	t.Parallel()
	seed := sha256.Sum256([]byte("ada"))
	ada, err := checkpoint.NewSigner("ada.example.org", seed[:])
	must(t, err)
	seed = sha256.Sum256([]byte("witness"))
	eve, err := checkpoint.NewSigner("witness.example.org", seed[:])
	must(t, err)
	opts := api.Options{Believed: func(context.Context) (checkpoint.Known, error) {
		return checkpoint.Known{Keys: []checkpoint.Key{{Verifier: ada.Verifier(checkpoint.Author)}}, Witnesses: []checkpoint.Verifier{eve.Verifier(checkpoint.Cosigner)}}, nil
	}}
	h := newHome(t)
	s := h.serve(opts)
	s.finish("demo-number", "alone", "")
	record := func() (r api.Record) {
		t.Helper()
		a := s.do("GET", "/api/quests/alone/record", nil).want(t, 200)
		if err := readDocument(t).fits(json.RawMessage(`{"$ref":"#/$defs/QuestRecord"}`), a.body); err != nil {
			t.Errorf("the record does not fit the document: %v", err)
		}
		a.into(t, &r)
		return r
	}
	if r := record(); r.Signed != nil || r.Checked != nil || !strings.HasPrefix(r.Words, "not signed") || r.Cite != "lyceum verify alone.zip --head "+r.Head.String() {
		t.Errorf("nobody has signed or checked it: got %+v", r)
	}
	office := vouch.Open(vouch.Options{Ledger: s.rt.Ledger, Signer: ada})
	row, err := office.Make(t.Context(), "alone")
	must(t, err)
	must(t, office.Close())
	cosign(t, s.rt.Ledger, eve, row)
	r := record()
	if r.Signed == nil || strings.Join(r.Signed.By, " ") != "ada.example.org" || r.Signed.Events != r.Events || r.Witnesses != 1 || r.Seen == nil || strings.Join(r.Seen.By, " ") != "witness.example.org" || r.Seen.Time == 0 {
		t.Errorf("signed and witnessed: got %+v %+v %+v", r, r.Signed, r.Seen)
	}
	a := s.do("GET", "/api/quests/alone/verify", nil).want(t, 200)
	if err := readDocument(t).fits(json.RawMessage(`{"$ref":"#/$defs/Checked"}`), a.body); err != nil || !bytes.Contains(a.body, []byte("signed by ada.example.org up to event")) {
		t.Errorf("verify: got %.2000s, want who signed it, as in the document: %v", a.body, err)
	}
	if r := record(); r.Checked != nil {
		t.Errorf("a GET has written down what it found: %+v", r.Checked)
	}
	s.over(s.start("alone", "verify").ID)
	if r := record(); r.Checked == nil || r.Checked.Verdict != "consistent" || !r.Checked.Replayed || r.Checked.Events != r.Events || r.Checked.Time == 0 {
		t.Errorf("after a check: got %+v, want when it was found consistent", r.Checked)
	}
	before := record().Checked
	s = h.again(s, opts)
	if r := record(); r.Checked == nil || *r.Checked != *before {
		t.Errorf("after a restart: got %+v, want the check before it, %+v", r.Checked, before)
	}
	s.do("DELETE", "/api/quests/alone", nil).want(t, 204)
	s.finish("demo-number", "alone", "")
	if r := record(); r.Checked != nil || r.Signed != nil {
		t.Errorf("another quest of the same name: got %+v, want that nothing is known of it", r)
	}
}

// cosign puts a witness's word under a checkpoint, as vouch does.
func cosign(t *testing.T, store ledger.Store, who checkpoint.Signer, row ledger.Checkpoint) {
	t.Helper()
	stored, err := vouch.Decode(row.Body)
	must(t, err)
	note, err := checkpoint.ParseNote(stored.Note)
	must(t, err)
	sig, err := who.Cosign(note.Text, 1_700_000_000)
	must(t, err)
	note.Signatures = append(note.Signatures, sig)
	stored.Note = note.String()
	row.Body, err = vouch.Encode(stored)
	must(t, err)
	must(t, store.PutCheckpoint(t.Context(), "alone", row))
}

// askJobs goes through what jobs answer.
func (w *world) askJobs(t *testing.T, ask func(string, string, any, ...func(*http.Request)) answer) {
	t.Helper()
	const start, one, fetch = "POST /api/quests/{quest}/jobs", "GET /api/jobs/{job}", "GET /api/jobs/{job}/crate"
	var crate []byte
	for _, kind := range []string{"verify", "replay", "export"} {
		var j api.Job
		ask(start, "/api/quests/alone/jobs", map[string]any{"kind": kind}).want(t, 202).into(t, &j)
		w.over(j.ID)
		ask(one, "/api/jobs/"+j.ID, nil).want(t, 200)
		ask("GET /api/jobs", "/api/jobs", nil).want(t, 200)
		if kind == "export" {
			crate = ask(fetch, "/api/jobs/"+j.ID+"/crate", nil).want(t, 200).body
		} else {
			ask(fetch, "/api/jobs/"+j.ID+"/crate", nil).want(t, 409)
		}
		ask("DELETE "+"/api/jobs/{job}", "/api/jobs/"+j.ID, nil).want(t, 200)
		ask(one, "/api/jobs/"+j.ID, nil).want(t, 404)
		ask(fetch, "/api/jobs/"+j.ID+"/crate", nil).want(t, 404)
		ask("DELETE /api/jobs/{job}", "/api/jobs/"+j.ID, nil).want(t, 404)
	}
	ask("GET /api/quests/{quest}/record", "/api/quests/alone/record", nil).want(t, 200)
	for _, query := range []string{"?as=again", "?as=alone"} {
		var j api.Job
		ask("POST /api/imports", "/api/imports"+query, string(crate), zipped).want(t, 202).into(t, &j)
		w.over(j.ID)
		ask(one, "/api/jobs/"+j.ID, nil).want(t, 200)
	}
}
