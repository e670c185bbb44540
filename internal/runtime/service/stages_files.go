package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/pdf"
	"lyceum/internal/runtime"
)

// copies answers files.call: it puts copies of a message's files into the home of who hears it, and
// beside those that are PDFs their texts.
// A folder that is there stays as it is: it is what a call before a crash has put there, or the
// agent's own.
type copies struct{ q *runtime.Quest }

// Start implements runtime.Service.
func (s *copies) Start(e event.Event) (runtime.Work, error) {
	b := e.Body.(*event.FilesCall)
	return func(ctx context.Context) ([]event.Draft, error) {
		r := &event.FilesResult{Call: e.Seq}
		told, err := s.put(runtime.Refusable(ctx), e, b, r)
		if why, full := runtime.NoRoom(err); full {
			r.Error, err = "there is no room for them: "+why, nil
		}
		if err == nil {
			return append(told, s.q.Result(e.Seq, "core", r)), nil
		}
		if r.Error, err = unfit(s.q, err); err != nil {
			return nil, fmt.Errorf("files.call %d: %w", e.Seq, err)
		}
		return []event.Draft{s.q.Result(e.Seq, "core", r)}, nil
	}, nil
}

func (s *copies) put(ctx context.Context, e event.Event, b *event.FilesCall, r *event.FilesResult) ([]event.Draft, error) {
	var tree blob.Tree
	for _, f := range b.Files {
		tree = append(tree, blob.Entry{Name: f.Name, Kind: blob.File, Mode: blob.ModePlain, Hash: f.Ref.Hash, Size: f.Ref.Size})
	}
	var texts []event.FileText
	for _, f := range b.Files {
		t, ref, err := s.text(ctx, f)
		switch {
		case err != nil:
			return nil, err
		case t == nil:
			continue
		case t.Why == "":
			t.Name = beside(tree, f.Name)
			tree = append(tree, blob.Entry{Name: t.Name, Kind: blob.File, Mode: blob.ModePlain, Hash: ref.Hash, Size: ref.Size})
		}
		texts = append(texts, *t)
	}
	slices.SortFunc(tree, func(a, b blob.Entry) int { return strings.Compare(a.Name, b.Name) })
	data, err := tree.Encode()
	if err != nil {
		return nil, err
	}
	ref, err := s.q.Blobs.Put(ctx, data)
	if err != nil {
		return nil, err
	}
	_, told, err := s.q.PutFolder(ctx, e.Actor, e.Seq, 0, b.Folder, (*event.TreeRef)(&ref))
	if err == nil {
		r.Texts = texts
	}
	return told, err
}

// text stores the text of a file that is a PDF, or says why there is none. Of other files it is
// nil.
func (s *copies) text(ctx context.Context, f event.FileCopy) (*event.FileText, event.Ref, error) {
	head := make([]byte, len(magic))
	in, err := s.q.Blobs.Open(ctx, f.Ref.Hash)
	if err != nil {
		return nil, event.Ref{}, err
	}
	n, err := io.ReadFull(in, head)
	_ = in.Close()
	if string(head[:n]) != magic {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		return nil, event.Ref{}, err
	}
	data, err := s.q.Blobs.Get(ctx, f.Ref.Hash)
	if err != nil {
		return nil, event.Ref{}, err
	}
	t := &event.FileText{Of: f.Name}
	words, err := pdf.Text(data)
	if err != nil {
		t.Why = runtime.AtMost(s.q.Redact(err.Error()), 200)
		return t, event.Ref{}, nil
	}
	ref, err := s.q.Blobs.Put(ctx, []byte(s.q.Redact(words)))
	return t, ref, err
}

// magic is how a PDF begins.
const magic = "%PDF-"

// beside is a name for the text of a file, which no other file of a folder has, whatever case it
// is written in.
func beside(tree blob.Tree, name string) string {
	for n := 1; ; n++ {
		out := name + ".txt"
		if n > 1 {
			out = fmt.Sprintf("%s-%d.txt", name, n)
		}
		if !slices.ContainsFunc(tree, func(e blob.Entry) bool { return strings.EqualFold(e.Name, out) }) {
			return out
		}
	}
}
