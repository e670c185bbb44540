package service

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/runtime"
)

// copies answers files.call: it puts copies of a message's files into the home of who hears it.
// A folder that is there stays as it is: it is what a call before a crash has put there, or the
// agent's own.
type copies struct{ q *runtime.Quest }

// Start implements runtime.Service.
func (s *copies) Start(e event.Event) (runtime.Work, error) {
	b := e.Body.(*event.FilesCall)
	return func(ctx context.Context) ([]event.Draft, error) {
		r := &event.FilesResult{Call: e.Seq}
		told, err := s.put(runtime.Refusable(ctx), e, b)
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

func (s *copies) put(ctx context.Context, e event.Event, b *event.FilesCall) ([]event.Draft, error) {
	var tree blob.Tree
	for _, f := range b.Files {
		tree = append(tree, blob.Entry{Name: f.Name, Kind: blob.File, Mode: blob.ModePlain, Hash: f.Ref.Hash, Size: f.Ref.Size})
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
	return told, err
}
