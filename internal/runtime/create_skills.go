package runtime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/skill"
)

// takeSkills pins what agents can look up: the quest's skills before the home's before ours. One
// with a fault is left out, told and noted.
func (c *creation) takeSkills(ctx context.Context, root *os.Root, soc quest.Society, b *event.QuestCreated) error {
	s, ok := soc.(quest.Skilled)
	if !ok {
		return nil
	}
	var left []event.LeftOut
	c.left = &left
	own, err := c.questSkills(root, s.SkillPaths(c.plan.Spec))
	if err != nil {
		return err
	}
	if err := c.clearOf(ctx, quest.SkillsDir, b); err != nil {
		return err
	}
	b.Skills, err = skill.Pin(ctx, skill.Over(own, c.homeSkills(), skill.Ours()), c.keep)
	if _, ok := errors.AsType[*skill.BoundsError](err); ok {
		return BadKey(quest.KeySkills, "%v", err)
	}
	if err == nil {
		b.Skills.LeftOut = left
	}
	return err
}

// homeSkills are those of the home that are well. The others are told.
func (c *creation) homeSkills() []*skill.Skill {
	if c.rt.Home == "" {
		return nil
	}
	home, faults := c.withoutKeys(skill.OfTheHome(c.rt.Home))
	home = slices.DeleteFunc(home, func(s *skill.Skill) bool {
		why, err := skill.Stale(c.rt.Home, s.Name, c.rt.Clock())
		if err != nil {
			why = err.Error()
		}
		if why != "" {
			faults = append(faults, errors.New(why))
		}
		return why != ""
	})
	c.leftOut(faults)
	return home
}

// keep stores a blob beside those of trees.
func (c *creation) keep(ctx context.Context, data []byte) (event.Ref, error) {
	if c.texts.dry {
		return event.RefOf(data), nil
	}
	return c.rt.Blobs.Put(ctx, data)
}

// questSkills reads the folders that a spec names. A skill with a fault is left out; a folder that
// is not there, or holds none, is an error of whoever named it.
func (c *creation) questSkills(root *os.Root, paths []string) (all []*skill.Skill, err error) {
	for _, name := range paths {
		dir, err := root.OpenRoot(name)
		if err != nil {
			return nil, badWord(quest.KeySkills, name, "%s: %v", quest.KeySkills, inFolder(root, name, err))
		}
		some, faults := skill.All(dir, filepath.Clean(name), skill.OfQuest)
		_ = dir.Close() // it was read
		some, faults = c.withoutKeys(some, faults)
		if len(some)+len(faults) == 0 {
			return nil, badWord(quest.KeySkills, name, "%s: there is no skill in %s: a skill is a folder with a file %s", quest.KeySkills, name, skill.File)
		}
		c.leftOut(faults)
		for _, s := range some {
			if slices.ContainsFunc(all, func(o *skill.Skill) bool { return o.Name == s.Name }) {
				return nil, badWord(quest.KeySkills, name, "%s: there are two skills %s, one in %s", quest.KeySkills, s.Name, s.Dir)
			}
			c.warned(s)
			all = append(all, s)
		}
	}
	return all, nil
}

// withoutKeys leaves out skills that hold a key of this process.
func (c *creation) withoutKeys(all []*skill.Skill, faults []error) ([]*skill.Skill, []error) {
	secrets := c.rt.secrets()
	if len(secrets) == 0 {
		return all, faults
	}
	return slices.DeleteFunc(all, func(s *skill.Skill) bool {
		for _, f := range s.Files {
			if found, err := holdsOneOf(bytes.NewReader(f.Data), secrets); found || err != nil {
				faults = append(faults, fmt.Errorf("%s holds a key that this process uses: take it out, agents would see it", filepath.Join(s.Dir, f.Path)))
				return true
			}
		}
		return false
	}), faults
}

// leftOut tells of skills that are left out, and notes them.
func (c *creation) leftOut(faults []error) {
	for _, err := range faults {
		c.notKnown("a skill", err.Error())
	}
}

// warned tells what is odd about a skill.
func (c *creation) warned(s *skill.Skill) {
	for _, w := range s.Warnings {
		c.say("skill %s: %v", s.Name, w)
	}
}

// clearOf refuses files for homes that would lie in the folder where skills do.
func (c *creation) clearOf(ctx context.Context, dir string, b *event.QuestCreated) error {
	if c.texts.dry {
		return nil
	}
	for key, tree := range map[string]*event.TreeRef{"data": b.Data, "repo": repoTree(b)} {
		if tree == nil {
			continue
		}
		list, err := blob.ReadTree(ctx, c.rt.Blobs, *tree)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(list, func(e blob.Entry) bool { return e.Name == dir }) {
			return BadKey(key, "it has %s at its top, where the skills of agents lie in their homes: rename it there; skills are named under the key %s", dir, quest.KeySkills)
		}
	}
	return nil
}

func repoTree(b *event.QuestCreated) *event.TreeRef {
	if b.Repo == nil {
		return nil
	}
	return &b.Repo.Tree
}

// laid is what of skills lies in homes, and in which folder: all of them, where agents look things
// up there, or the programs of those that they find; nil for nothing.
func laid(s *quest.State) (dir string, tree *event.TreeRef) {
	switch k := s.Knowledge; {
	case s.Skills != nil:
		return quest.SkillsDir, &s.Skills.Tree
	case k != nil && k.Skills != nil && k.Skills.Programs != nil:
		return quest.ProgramsDir, k.Skills.Programs
	}
	return "", nil
}

// fixed are the folders of a quest's homes that nobody writes to.
func fixed(s *quest.State) []string {
	if dir, tree := laid(s); tree != nil {
		return []string{dir}
	}
	return nil
}

// putSkills puts skills into a home that is being made.
func (r *Runtime) putSkills(ctx context.Context, s *quest.State, home *os.Root) error {
	name, tree := laid(s)
	if tree == nil {
		return nil
	}
	if err := errors.Join(home.RemoveAll(name), home.Mkdir(name, 0o755)); err != nil {
		return err
	}
	dir, err := home.OpenRoot(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	return blob.Restore(ctx, r.Blobs, *tree, dir)
}

// mendSkills makes the skills of a home what the ledger says: a person may have changed them
// while nobody ran the quest.
func (r *Runtime) mendSkills(ctx context.Context, s *quest.State, home *os.Root) error {
	name, want := laid(s)
	if want == nil {
		return nil
	}
	if info, err := home.Lstat(name); err == nil && info.IsDir() {
		dir, err := home.OpenRoot(name)
		if err != nil {
			return err
		}
		tree, _, skipped, err := blob.Snapshot(ctx, r.Blobs, dir, nil)
		_ = dir.Close() // it was read
		if err == nil && len(skipped) == 0 && tree == *want {
			return nil
		}
	}
	return r.putSkills(ctx, s, home)
}
