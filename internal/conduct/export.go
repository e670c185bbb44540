package conduct

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"lyceum/internal/crate"
	"lyceum/internal/ledger"
	"lyceum/internal/scratch"
	"lyceum/internal/survey"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The names in the crate of a study.
const (
	ledgerFile   = "study.jsonl"
	tableFile    = "cells.csv"
	metadataFile = "ro-crate-metadata.json"
	questFolder  = "quests/"
)

// epoch is the time of every entry: when a crate was packed is no part of the study.
var epoch = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// Export writes a study as one RO-Crate zip: its ledger, its table, and the crate of each quest, which
// can be imported, verified and replayed by itself.
func (m *Studies) Export(ctx context.Context, name string, w io.Writer) error {
	if err := m.export(ctx, name, w); err != nil {
		return fmt.Errorf("export study %s: %w", name, err)
	}
	return nil
}

func (m *Studies) export(ctx context.Context, name string, w io.Writer) error {
	s, err := m.Load(ctx, name)
	if err != nil {
		return err
	}
	dir, err := scratch.New("", "lyceum-study-")
	if err != nil {
		return err
	}
	defer dir.Close()
	out := zip.NewWriter(w)
	var parts []string
	for _, c := range s.Cells {
		if _, err := m.Runtime.Ledger.Head(ctx, c.Quest); errors.Is(err, ledger.ErrNoQuest) {
			continue // it is still to be made, was refused, or was removed
		} else if err != nil {
			return err
		}
		part := questFolder + c.Quest + ".zip"
		if err := m.addQuest(ctx, out, part, c.Quest, filepath.Join(dir.Path, "quest.zip")); err != nil {
			return err
		}
		parts = append(parts, part)
	}
	var lines, table bytes.Buffer
	for e, err := range m.Log.Read(ctx, name, 1) {
		if err != nil {
			return err
		}
		if lines.Write(append(bytes.Clone(e.Line()), '\n')); e.Seq == s.Seq {
			break // what came since then is not in the table either
		}
	}
	if err := s.CSV(&table); err != nil {
		return err
	}
	about, err := metadata(s, parts)
	if err != nil {
		return err
	}
	for _, f := range []struct {
		name string
		data []byte
	}{{ledgerFile, lines.Bytes()}, {tableFile, table.Bytes()}, {metadataFile, about}} {
		to, err := out.CreateHeader(&zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: epoch})
		if err == nil {
			_, err = to.Write(f.data)
		}
		if err != nil {
			return err
		}
	}
	return out.Close()
}

// addQuest puts the crate of a quest into the zip. It is packed on its own, and so not packed again.
func (m *Studies) addQuest(ctx context.Context, out *zip.Writer, part, quest, temp string) (err error) {
	f, err := os.Create(temp)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := crate.Export(ctx, m.Runtime, quest, f); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	to, err := out.CreateHeader(&zip.FileHeader{Name: part, Method: zip.Store, Modified: epoch})
	if err != nil {
		return err
	}
	_, err = io.Copy(to, f)
	return err
}

// entity is a node of the metadata's flat graph.
type entity map[string]any

// metadata describes the crate, in the form of RO-Crate 1.3.
func metadata(s *survey.State, quests []string) ([]byte, error) {
	_, answered := s.Counts()
	files := []entity{
		{"@id": ledgerFile, "@type": "File", "name": "The ledger of the study: its design, what each quest got, and what came of it", "encodingFormat": "application/jsonl"},
		{"@id": tableFile, "@type": "File", "name": "The table of its quests: answers, agreement, cost, time", "encodingFormat": "text/csv"},
	}
	for _, q := range quests {
		files = append(files, entity{"@id": q, "@type": "File", "name": "The RO-Crate of a quest of the study", "encodingFormat": "application/zip"})
	}
	parts := make([]entity, len(files))
	for i, f := range files {
		parts[i] = entity{"@id": f["@id"]}
	}
	graph := append([]entity{
		{"@id": metadataFile, "@type": "CreativeWork", "about": entity{"@id": "./"}, "conformsTo": entity{"@id": "https://w3id.org/ro/crate/1.3"}},
		{"@id": "./", "@type": "Dataset", "name": "Study " + s.Name, "identifier": s.Hash.String(), "datePublished": s.Updated.Time().UTC().Format(time.RFC3339),
			"description": fmt.Sprintf("%s\n\n%d of %d quests have an answer.", s.Design.Question, answered, len(s.Cells)),
			"license":     entity{"@id": "#license-not-specified"}, "hasPart": parts},
		{"@id": "#license-not-specified", "@type": "CreativeWork", "name": "No license was specified", "description": "Ask whoever gave you this crate."},
	}, files...)
	return json.Marshal(entity{"@context": "https://w3id.org/ro/crate/1.3/context", "@graph": graph}, json.Deterministic(true), jsontext.WithIndent(" "))
}
