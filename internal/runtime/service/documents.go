package service

import (
	"context"

	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/society/stages"
)

// Documents are the files of a quest's folder that tell people about it as a whole, as they follow
// from a state. They are not read from the disk: whoever runs the quest may not have come to
// write them.
func Documents(ctx context.Context, r *runtime.Runtime, s *quest.State) ([]runtime.QuestFile, error) {
	out, err := r.Files(ctx, s)
	if err != nil {
		return nil, err
	}
	if m := stages.Of(s); m != nil {
		for _, p := range stated(s, m.Study) {
			out = append(out, runtime.QuestFile{Name: p.Path, Data: []byte(p.Head)})
		}
	}
	return out, nil
}
