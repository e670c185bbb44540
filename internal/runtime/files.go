package runtime

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"lyceum/internal/agent"
	"lyceum/internal/event"
	"lyceum/internal/quest"
)

// A quest's folder can be read without Lyceum. Its files are written from the
// ledger and can be written again; what they say is what the ledger says.

const (
	summaryFile = "SUMMARY.md"
	noAnswer    = "No answer yet.\n"
)

// QuestFile is a file of a quest's folder, and what it should hold.
type QuestFile struct {
	Name string
	Data []byte
}

// Files returns what the folder of a quest should hold, but for what its society writes there.
func (r *Runtime) Files(ctx context.Context, s *quest.State) ([]QuestFile, error) {
	spec, err := r.Blob(ctx, s.Spec)
	if err != nil {
		return nil, err
	}
	brief, err := r.textFile(ctx, quest.BriefFile, s.Brief())
	if err != nil {
		return nil, err
	}
	summary, err := r.summary(ctx, s)
	if err != nil {
		return nil, err
	}
	return []QuestFile{{"quest.yaml", spec}, brief, summary}, nil
}

// Summary is what SUMMARY.md says: the answer in a line, and whole.
type Summary struct {
	// Heading is that of quest.State.
	Heading string
	Answer  event.Text
}

// SummaryOf is that of a quest, nil while there is no answer.
func SummaryOf(s *quest.State) *Summary {
	if s.Answer == nil {
		return nil
	}
	return &Summary{s.Heading(), *s.Answer}
}

// summary is the answer, or that there is none.
func (r *Runtime) summary(ctx context.Context, s *quest.State) (QuestFile, error) {
	sum := SummaryOf(s)
	if sum == nil {
		return QuestFile{summaryFile, []byte(noAnswer)}, nil
	}
	f, err := r.textFile(ctx, summaryFile, sum.Answer)
	f.Data = append([]byte(sum.Heading), f.Data...)
	return f, err
}

// Summarised reports whether the folder of a quest that has ended holds its answer. That is
// written last, after all that the quest's society has there.
func (q *Quest) Summarised(ctx context.Context) (bool, error) {
	if q.State.Status != quest.Finished || q.State.Answer == nil {
		return false, nil
	}
	want, err := q.summary(ctx, q.State)
	if err != nil {
		return false, err
	}
	have, err := os.ReadFile(filepath.Join(q.QuestDir(q.Key), summaryFile))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	bare := bytes.TrimPrefix(want.Data, []byte(q.State.Heading()))
	return bytes.Equal(have, want.Data) || bytes.Equal(have, bare), err
}

func (r *Runtime) textFile(ctx context.Context, name string, t event.Text) (QuestFile, error) {
	text, err := agent.Read(t, func(ref event.Ref) ([]byte, error) { return r.Blob(ctx, ref) })
	return QuestFile{name, []byte(text + "\n")}, err
}

func (r *Runtime) writeFiles(ctx context.Context, name string, s *quest.State) error {
	files, err := r.Files(ctx, s)
	if err != nil {
		return fmt.Errorf("write the files of quest %s: %w", name, err)
	}
	for _, f := range files {
		if err := ReplaceFile(filepath.Join(r.QuestDir(name), f.Name), f.Data); err != nil {
			return fmt.Errorf("write the files of quest %s: %w", name, err)
		}
	}
	return nil
}

// restoreFiles writes those files of the folder that somebody has removed, and the brief if whoever
// ran the quest last did not come to it.
func (r *Runtime) restoreFiles(ctx context.Context, name string, s *quest.State) error {
	for _, file := range []string{"quest.yaml", quest.BriefFile} {
		if _, err := os.Lstat(filepath.Join(r.QuestDir(name), file)); errors.Is(err, os.ErrNotExist) {
			return r.writeFiles(ctx, name, s)
		}
	}
	return r.WriteBrief(ctx, name, s)
}

// restoreGiven writes what the quest was given, if somebody has removed it, and no summary: that is
// written last.
func (r *Runtime) restoreGiven(ctx context.Context, name string, s *quest.State) error {
	files, err := r.Files(ctx, s)
	for _, f := range files {
		path := filepath.Join(r.QuestDir(name), f.Name)
		if _, gone := os.Lstat(path); f.Name == summaryFile || !errors.Is(gone, os.ErrNotExist) {
			continue
		}
		err = errors.Join(err, ReplaceFile(path, f.Data))
	}
	if err != nil {
		return fmt.Errorf("write the files of quest %s: %w", name, err)
	}
	return nil
}

// WriteBrief writes a brief that people have changed, unless the folder has it.
func (r *Runtime) WriteBrief(ctx context.Context, name string, s *quest.State) error {
	if len(s.Briefings) == 0 {
		return nil
	}
	f, err := r.textFile(ctx, quest.BriefFile, s.Brief())
	if err == nil {
		path := filepath.Join(r.QuestDir(name), f.Name)
		if have, failed := os.ReadFile(path); failed == nil && bytes.Equal(have, f.Data) {
			return nil
		}
		err = ReplaceFile(path, f.Data)
	}
	if err != nil {
		return fmt.Errorf("write the brief of quest %s: %w", name, err)
	}
	return nil
}

// writeSummary writes what a run has changed in the folder.
func (r *Runtime) writeSummary(ctx context.Context, name string, s *quest.State) error {
	if err := r.WriteBrief(ctx, name, s); err != nil {
		return err
	}
	f, err := r.summary(ctx, s)
	if err == nil {
		err = updateFile(filepath.Join(r.QuestDir(name), f.Name), f.Data)
	}
	if err != nil {
		return fmt.Errorf("write the summary of quest %s: %w", name, err)
	}
	return nil
}

// updateFile writes a file that is there already. A short one is written in
// place: making a file is the most expensive thing there is on some disks. A
// process that is killed in between leaves it empty, never half written.
func updateFile(path string, data []byte) error {
	const page = 4096 // a write within one is not torn by a signal
	if len(data) > page {
		return ReplaceFile(path, data)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0)
	if errors.Is(err, os.ErrNotExist) {
		return ReplaceFile(path, data)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// ChangedFiles returns the names of those that differ from the ledger. One that
// is not there, or empty, has yet to be written, and is no lie; nor is a brief or a summary
// that the quest had before, one of those given or none yet: a process that was killed
// did not come to write the new one.
func (r *Runtime) ChangedFiles(ctx context.Context, name string, s *quest.State, before []Summary) ([]string, error) {
	files, err := r.Files(ctx, s)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, f := range files {
		path := filepath.Join(r.QuestDir(name), f.Name)
		data, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		earlier := f.Name == quest.BriefFile && hadBrief(s, data)
		if f.Name == summaryFile {
			if earlier, err = r.earlierSummary(ctx, data, before); err != nil {
				return nil, err
			}
		}
		if len(data) > 0 && !earlier && !bytes.Equal(data, f.Data) {
			out = append(out, path)
		}
	}
	if folder := r.folder(s); folder != nil {
		more, err := folder.Changed(ctx, r.look(name, s, nil))
		return append(out, more...), err
	}
	return out, nil
}

// hadBrief reports whether a file is a brief that the quest had.
func hadBrief(s *quest.State, data []byte) bool {
	text, whole := bytes.CutSuffix(data, []byte("\n"))
	return whole && s.HadBrief(event.HashOf(text))
}

// earlierSummary finds a summary among those that a quest had. One without a heading is of a
// Lyceum that wrote the answer alone.
func (r *Runtime) earlierSummary(ctx context.Context, data []byte, before []Summary) (bool, error) {
	if string(data) == noAnswer {
		return true, nil
	}
	for _, sum := range before {
		f, err := r.textFile(ctx, summaryFile, sum.Answer)
		if err != nil || bytes.Equal(data, f.Data) || string(data) == sum.Heading+string(f.Data) {
			return err == nil, err
		}
	}
	return false, nil
}
