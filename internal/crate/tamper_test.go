package crate

import (
	"archive/zip"
	"bytes"
	"context"
	"io/fs"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime/audit"
	"lyceum/internal/society/solo"
)

var names = regexp.MustCompile(`seq \d+|event \d+|[0-9a-f]{64}`)

// Whatever byte of whatever file is changed, the crate is refused with a word on
// where, and nothing of it exists afterwards.
func TestAChangedByteIsFound(t *testing.T) {
	t.Parallel()
	whole := unzip(t, smallCrate(t))
	rt := newHome(t)
	for i, f := range whole {
		const flips = 11
		for n := range flips {
			at := n * len(f.data) / flips
			if n == flips-1 {
				at = len(f.data) - 1
			}
			files := slices.Clone(whole)
			files[i].data = bytes.Clone(f.data)
			files[i].data[at] ^= 1 << (n * 3 % 8)
			_, err := imported(t, rt, rezip(t, files), "")
			if err == nil {
				t.Fatalf("%s: byte %d changed, and still imported", f.name, at)
			}
			if !strings.Contains(err.Error(), f.name) && !names.MatchString(err.Error()) {
				t.Errorf("%s, byte %d: the error does not say where: %v", f.name, at, err)
			}
		}
	}
	mustBeEmpty(t, rt)
	if _, err := imported(t, rt, rezip(t, whole), ""); err != nil {
		t.Errorf("unchanged, it is refused: %v", err)
	}
}

func TestImportRefuses(t *testing.T) {
	t.Parallel()
	crate := smallCrate(t)
	whole := unzip(t, crate)
	blobAt := slices.IndexFunc(whole, func(f file) bool { return strings.HasPrefix(f.name, blobFolder) })
	stray := []byte("nobody named me")
	at := func(name string) int {
		return slices.IndexFunc(whole, func(f file) bool { return f.name == name })
	}
	cases := map[string]struct {
		files []file
		want  string
	}{
		"AnEntryTwice":     {append(slices.Clone(whole), whole[0]), "twice"},
		"ABlobTwice":       {append(slices.Clone(whole), whole[blobAt]), "twice"},
		"AStrangeEntry":    {append(slices.Clone(whole), file{name: "README", data: stray}), `"README": an exported quest has no such file`},
		"AStrayBlob":       {append(slices.Clone(whole), file{name: blobPath(event.HashOf(stray)), data: stray}), "no event names it"},
		"ABlobElsewhere":   {append(slices.Clone(whole), file{name: "blobs/" + event.HashOf(stray).String(), data: stray}), "no such file"},
		"APathUp":          {append(slices.Clone(whole), file{name: "../quest.yaml", data: stray}), "no such file"},
		"APathUpInBlobs":   {append(slices.Clone(whole), file{name: "blobs/../" + blobPath(event.HashOf(stray)), data: stray}), "no such file"},
		"AnAbsolutePath":   {append(slices.Clone(whole), file{name: "/etc/passwd", data: stray}), "no such file"},
		"ABackslash":       {append(slices.Clone(whole), file{name: `..\quest.yaml`, data: stray}), "no such file"},
		"AnEmptyName":      {append(slices.Clone(whole), file{data: stray}), "no such file"},
		"AFolder":          {append(slices.Clone(whole), file{name: "blobs/"}), "only files"},
		"ALink":            {replaced(whole, at(summaryFile), file{name: summaryFile, data: stray, change: func(h *zip.FileHeader) { h.SetMode(fs.ModeSymlink | 0o777) }}), "only files"},
		"AnEncryptedEntry": {replaced(whole, at(summaryFile), file{name: summaryFile, data: stray, change: func(h *zip.FileHeader) { h.Flags |= 1 }}), "encrypted"},
		"AForgedSummary":   {replaced(whole, at(summaryFile), file{name: summaryFile, data: []byte("The answer is 43.\n")}), summaryFile},
		"ATailOfSummary":   {replaced(whole, at(summaryFile), file{name: summaryFile, data: append(bytes.Clone(whole[at(summaryFile)].data), "more"...)}), summaryFile},
		"AnotherForm":      {replaced(whole, at(metadataFile), file{name: metadataFile, data: bytes.Replace(whole[at(metadataFile)].data, []byte(form), []byte("lyceum-crate/9"), 1)}), "use the version that wrote it"},
		"NoEvents":         {replaced(whole, at(ledgerFile), file{name: ledgerFile}), "no events"},
		"AShorterLedger":   {replaced(whole, at(ledgerFile), file{name: ledgerFile, data: withoutLast(whole[at(ledgerFile)].data)}), ""},
		"AnEmptyLine":      {replaced(whole, at(ledgerFile), file{name: ledgerFile, data: append(bytes.Clone(whole[at(ledgerFile)].data), '\n')}), ledgerFile},
		"NoLastLineEnd":    {replaced(whole, at(ledgerFile), file{name: ledgerFile, data: bytes.TrimSuffix(whole[at(ledgerFile)].data, []byte("\n"))}), "no end"},
		"ALongLine":        {replaced(whole, at(ledgerFile), file{name: ledgerFile, data: bytes.Repeat([]byte("x"), 30_000)}), "longer than"},
		"ABomb":            {replaced(whole, at(ledgerFile), file{name: ledgerFile, data: make([]byte, 2<<20), change: deflated}), "bomb"},
		"ABlobAsABomb":     {replaced(whole, blobAt, file{name: whole[blobAt].name, data: make([]byte, 2<<20), change: deflated}), "bomb"},
	}
	refusing := newHome(t)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			rt := refusing // stays empty, so they can share it
			if _, err := imported(t, rt, rezip(t, c.files), ""); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want something with %q", err, c.want)
			}
			mustBeEmpty(t, rt)
		})
	}
	t.Run("AMissingEntry", func(t *testing.T) {
		rt := refusing
		for i, f := range whole {
			_, err := imported(t, rt, rezip(t, slices.Delete(slices.Clone(whole), i, i+1)), "")
			if err == nil || !strings.Contains(err.Error(), f.name) {
				t.Errorf("without %s: %v", f.name, err)
			}
		}
		mustBeEmpty(t, rt)
	})
	t.Run("WhatIsNoZip", func(t *testing.T) {
		rt := refusing
		for _, n := range []int{0, 10, len(crate) / 2, len(crate) - 1} {
			if _, err := imported(t, rt, crate[:n], ""); err == nil {
				t.Errorf("the first %d bytes of a crate were imported", n)
			}
		}
		mustBeEmpty(t, rt)
	})
}

func TestImportHasLimits(t *testing.T) {
	t.Parallel()
	data := smallCrate(t)
	rt := newHome(t)
	for name, tighten := range map[string]func(*limits){
		"files":           func(l *limits) { l.entries = 5 },
		"files have":      func(l *limits) { l.total = 20_000 },
		"ledger.jsonl":    func(l *limits) { l.ledger = 100 },
		"longer than":     func(l *limits) { l.line = 100 },
		"list of entries": func(l *limits) { l.directory = 100 },
		"a text of":       func(l *limits) { l.text = 10 },
		metadataFile:      func(l *limits) { l.metadata = 10 },
	} {
		lim := standard
		tighten(&lim)
		_, err := importCrate(t.Context(), rt, bytes.NewReader(data), int64(len(data)), ImportOptions{}, lim)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	mustBeEmpty(t, rt)
}

// forge rewrites the history of a crate, with hashes, copies and metadata that
// fit the new one: what a liar with our source can do.
func forge(t *testing.T, data []byte, change func(e event.Event, d *event.Draft)) []byte {
	t.Helper()
	return forgeIn(t, form, data, []quest.Society{solo.Society{}}, change)
}

// forgeIn forges a crate of a form: only a part of what can be forged fits into the newest.
func forgeIn(t *testing.T, form string, data []byte, societies quest.Societies, change func(e event.Event, d *event.Draft)) []byte {
	t.Helper()
	a, err := unpack(bytes.NewReader(data), int64(len(data)), standard)
	if err != nil {
		t.Fatal(err)
	}
	events, err := a.ledger(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var head event.Hash
	for i, e := range events {
		d := event.Draft{Parent: e.Parent, Time: e.Time, Actor: e.Actor, Tool: e.Tool, Body: e.Body}
		change(e, &d)
		if events[i], err = event.Seal(e.Quest, e.Seq, head, d); err != nil {
			t.Fatal(err)
		}
		head = events[i].Hash
	}
	return repacked(t, form, data, societies, events, nil)
}

// repacked is a crate with the blobs of another and other events, and all files as an export would
// write them; proof is its file of checkpoints, nil for none.
func repacked(t testing.TB, form string, data []byte, societies quest.Societies, events []event.Event, proof []byte) []byte {
	t.Helper()
	a, err := unpack(bytes.NewReader(data), int64(len(data)), standard)
	if err != nil {
		t.Fatal(err)
	}
	acc, err := open(events[0], societies, a)
	if err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	for _, e := range events {
		lines.Write(append(bytes.Clone(e.Line()), '\n'))
		tolerate(func() { err = acc.add(t.Context(), e) })
		if err != nil {
			t.Fatal(err)
		}
	}
	files := []file{{name: ledgerFile, data: lines.Bytes()}}
	acc.form, acc.proof = form, proof
	docs, attached, err := acc.documents(t.Context(), func(ref event.Ref) ([]byte, error) { return a.Get(context.Background(), ref.Hash) })
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range unzip(t, data) {
		switch {
		case strings.HasPrefix(f.name, blobFolder):
			if h, err := event.ParseHash(f.name[strings.LastIndexByte(f.name, '/')+1:]); err == nil && acc.blobs.held[h] != nil {
				files = append(files, f)
			}
		}
	}
	for name, ref := range attached {
		data, err := a.Get(t.Context(), ref.Hash)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file{name: name, data: data})
	}
	for name, data := range docs {
		files = append(files, file{name: name, data: data})
	}
	return rezip(t, files)
}

// tolerate lets a fold break down on what was forged.
func tolerate(do func()) {
	defer func() { _ = recover() }()
	do()
}

func TestAForgedRunIsFound(t *testing.T) {
	t.Parallel()
	data := smallCrate(t)
	refusing := newHome(t)
	for name, c := range map[string]struct {
		change func(event.Event, *event.Draft)
		want   string
	}{
		"AnotherAnswer": {func(_ event.Event, d *event.Draft) {
			if _, ok := d.Body.(*event.QuestFinished); ok {
				d.Body = &event.QuestFinished{Answer: event.Text{Text: "43"}}
			}
		}, "the rules derive another event"},
		"AnotherTool": {func(e event.Event, d *event.Draft) {
			if e.Type == "tool.call" && e.Tool == "calculate" {
				d.Tool = "write_file"
			}
		}, "seq "},
		"AnActorNobodyKnows": {func(e event.Event, d *event.Draft) {
			if e.Type == "model.call" {
				d.Actor = "ghost"
			}
		}, "seq "},
		"AResultOfNoCall": {func(_ event.Event, d *event.Draft) {
			if b, ok := d.Body.(*event.ModelResult); ok {
				b.Call = 1
			}
		}, "no open model.call"},
		"ABlobOfAnotherSize": {func(_ event.Event, d *event.Draft) {
			if b, ok := d.Body.(*event.QuestCreated); ok {
				b.Spec.Size++
			}
		}, "bytes"},
		"ATextOfEndlessSize": {func(_ event.Event, d *event.Draft) {
			if b, ok := d.Body.(*event.QuestCreated); ok {
				b.Agents[0].System.Size, b.Agents[0].Tools.Size = 1<<53, 1<<53
			}
		}, "bytes"},
		"AWindowOfNothing": {func(_ event.Event, d *event.Draft) {
			if b, ok := d.Body.(*event.QuestCreated); ok {
				b.Agents[0].Window = math.MinInt32
			}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			rt := refusing
			var forged []byte
			tolerate(func() { forged = forge(t, data, c.change) })
			if forged == nil {
				t.Fatal("the forger broke down")
			}
			if _, err := imported(t, rt, forged, ""); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want something with %q", err, c.want)
			}
			mustBeEmpty(t, rt)
		})
	}
	// What came in from the world can be invented. Only the last hash tells.
	t.Run("ButAnInventedInputShowsInTheLastHashAlone", func(t *testing.T) {
		forged := forge(t, data, func(_ event.Event, d *event.Draft) {
			if b, ok := d.Body.(*event.ModelResult); ok {
				b.Duration++
			}
		})
		s, err := imported(t, newHome(t), forged, "")
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(find(t, unzip(t, data), metadataFile), []byte(s.Hash.String())) {
			t.Error("the hash of the last event is as before")
		}
	})
}

func deflated(h *zip.FileHeader) { h.Method = zip.Deflate }

func replaced(files []file, i int, f file) []file {
	out := slices.Clone(files)
	out[i] = f
	return out
}

func withoutLast(lines []byte) []byte {
	cut := bytes.LastIndexByte(bytes.TrimSuffix(lines, []byte("\n")), '\n')
	return lines[:cut+1]
}

// FuzzImport feeds damaged zips. Only such bytes may be changed as mean nothing:
// what is accepted is a quest that holds, and what is not leaves none.
func FuzzImport(f *testing.F) {
	data := smallCrate(f)
	rt := newHome(f)
	if _, err := imported(f, rt, data, "first"); err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:len(data)/2])
	f.Add(rezip(f, unzip(f, data)[:3]))
	f.Add([]byte("PK\x05\x06"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := imported(t, rt, data, "fuzzed")
		if err == nil {
			if rep, err := audit.Replay(t.Context(), rt, "fuzzed", nil); err != nil || rep.Difference != nil || rep.Events != s.Seq {
				t.Errorf("a damaged zip became a damaged quest: %+v, %v", rep, err)
			}
			if err := rt.Clean(t.Context(), "fuzzed", true); err != nil {
				t.Fatal(err)
			}
			return
		}
		if heads, err := rt.Ledger.Quests(t.Context()); err != nil || len(heads) != 1 {
			t.Errorf("left behind: %v, %v", heads, err)
		}
	})
}
