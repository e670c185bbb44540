package service

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/pdf"
	"lyceum/internal/runtime"
	"lyceum/internal/society/stages/study"
)

// reports answers report.call: it reads a review among the files that the quest was made with, or
// one that came with a message, and compares. What an agent did to its copy does not count. A call that was interrupted is made again.
type reports struct{ q *runtime.Quest }

// maxReview is how many bytes of a review are read.
const maxReview = 1 << 20

// Start implements runtime.Service.
func (s *reports) Start(e event.Event) (runtime.Work, error) {
	b, data := e.Body.(*event.ReportCall), s.q.State.Begun()
	return func(ctx context.Context) ([]event.Draft, error) {
		r := &event.ReportResult{}
		switch text, err := s.find(ctx, data, b); {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			r.Error = runtime.AtMost(s.q.Redact(err.Error()), 500)
		default:
			r = study.CompareReport(s.q.Redact(text), b)
		}
		r.Call = e.Seq
		return []event.Draft{s.q.Result(e.Seq, "core", r)}, nil
	}, nil
}

// find is the text of the file that a call names.
func (s *reports) find(ctx context.Context, data *event.TreeRef, b *event.ReportCall) (string, error) {
	switch {
	case b.Ref == nil:
		return s.read(ctx, data, b.Source)
	case b.Ref.Size > maxReview:
		return "", fmt.Errorf("%.100q has more than %d bytes", b.Source, maxReview)
	}
	return s.text(ctx, b.Source, b.Ref.Hash)
}

// read is the text of a file below a folder, also of one that is a PDF.
func (s *reports) read(ctx context.Context, tree *event.TreeRef, path string) (string, error) {
	if tree == nil {
		return "", errors.New("homes of this quest began empty")
	}
	at := *tree
	parts := strings.Split(path, "/")
	for i, name := range parts {
		list, err := blob.ReadTree(ctx, s.q.Blobs, at)
		if err != nil {
			return "", err
		}
		j := entry(list, name)
		switch last := i == len(parts)-1; {
		case j == nil || last != (j.Kind == blob.File):
			return "", fmt.Errorf("%.100q is no file that the homes of this quest began with", path)
		case !last:
			at = event.TreeRef{Hash: j.Hash, Size: j.Size}
		case j.Size > maxReview:
			return "", fmt.Errorf("%.100q has more than %d bytes", path, maxReview)
		default:
			return s.text(ctx, path, j.Hash)
		}
	}
	return "", fmt.Errorf("%.100q is no file", path)
}

func entry(list blob.Tree, name string) *blob.Entry {
	for i := range list {
		if list[i].Name == name && (list[i].Kind == blob.File || list[i].Kind == blob.Dir) {
			return &list[i]
		}
	}
	return nil
}

func (s *reports) text(ctx context.Context, path string, hash event.Hash) (string, error) {
	data, err := s.q.Blobs.Get(ctx, hash)
	switch {
	case err != nil:
		return "", err
	case bytes.HasPrefix(data, []byte(magic)):
		return pdf.Text(data)
	case !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0:
		return "", fmt.Errorf("%.100q is no text", path)
	}
	return string(data), nil
}
