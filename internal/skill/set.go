package skill

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lyceum/internal/blob"
	"lyceum/internal/event"
)

// Over puts skills together. Of those with the same name the one of the first list stands;
// the result is sorted by name.
func Over(lists ...[]*Skill) []*Skill {
	byName := map[string]*Skill{}
	for _, list := range slices.Backward(lists) {
		for _, s := range list {
			byName[s.Name] = s
		}
	}
	return slices.SortedFunc(maps.Values(byName), func(a, b *Skill) int { return cmp.Compare(a.Name, b.Name) })
}

// The bounds of what a quest pins. What is listed stands in its first event, beside much
// else.
const (
	MaxPinned     = 48
	maxPinnedSize = 32 << 20
	maxListed     = 6 << 10
)

// BoundsError says that there are more skills than a quest can pin.
type BoundsError struct{ text string }

func (e *BoundsError) Error() string { return e.text }

// Pin stores skills as one tree, and says what an event holds of them. put stores a blob.
func Pin(ctx context.Context, skills []*Skill, put func(context.Context, []byte) (event.Ref, error)) (*event.SkillSet, error) {
	if len(skills) > MaxPinned {
		return nil, &BoundsError{fmt.Sprintf("there are %d skills, ours included: a quest can have %d", len(skills), MaxPinned)}
	}
	tree, err := together(ctx, skills, put)
	if err != nil {
		return nil, err
	}
	return &event.SkillSet{List: listed(skills), Tree: tree}, nil
}

// store stores files, whose paths are sorted, as a tree.
func store(ctx context.Context, files []Content, put func(context.Context, []byte) (event.Ref, error)) (event.Ref, error) {
	var tree blob.Tree
	for i := 0; i < len(files); {
		name, _, below := strings.Cut(files[i].Path, "/")
		if !below {
			ref, err := put(ctx, files[i].Data)
			if err != nil {
				return event.Ref{}, err
			}
			e := blob.Entry{Name: name, Kind: blob.File, Mode: blob.ModePlain, Hash: ref.Hash, Size: ref.Size}
			if files[i].Exec {
				e.Mode = blob.ModeExec
			}
			tree = append(tree, e)
			i++
			continue
		}
		var inner []Content
		for ; i < len(files) && strings.HasPrefix(files[i].Path, name+"/"); i++ {
			f := files[i]
			f.Path = f.Path[len(name)+1:]
			inner = append(inner, f)
		}
		ref, err := store(ctx, inner, put)
		if err != nil {
			return event.Ref{}, err
		}
		tree = append(tree, blob.Entry{Name: name, Kind: blob.Dir, Hash: ref.Hash, Size: ref.Size})
	}
	return keep(ctx, tree, put)
}

func keep(ctx context.Context, tree blob.Tree, put func(context.Context, []byte) (event.Ref, error)) (event.Ref, error) {
	slices.SortFunc(tree, func(a, b blob.Entry) int { return cmp.Compare(a.Name, b.Name) })
	data, err := tree.Encode()
	if err != nil {
		return event.Ref{}, err
	}
	return put(ctx, data)
}

// listed is what an event says of skills: all their names, and as much of their descriptions
// as there is room for. The files have the whole.
func listed(skills []*Skill) []event.SkillPin {
	for most := 400; ; most -= 40 {
		list, size := make([]event.SkillPin, len(skills)), 0
		for i, s := range skills {
			p := event.SkillPin{Description: event.Shorten(s.Description, max(most, 0)), From: s.From, Name: s.Name, Role: s.Role}
			list[i] = p
			size += event.Weight(p.Description) + len(p.Name) + len(p.Role) + len(p.From) + 60
		}
		if size <= maxListed || most <= 0 {
			return list
		}
	}
}
