package runtime_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/need"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	rules "lyceum/internal/society/lab"
	"lyceum/internal/society/lab/paper"
)

// onDisk checks that the folder says what the ledger does: each paper with its
// attachments, and a commit for each that was decided, in the order of the decisions.
func (l *lab) onDisk(name string) {
	l.t.Helper()
	s, err := l.Load(context.Background(), name)
	must(l.t, err)
	folders, err := os.ReadDir(filepath.Join(l.QuestDir(name), "publications"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		l.t.Fatal(err)
	}
	if len(folders) != len(rules.Library(s).Papers) {
		l.t.Errorf("%d papers, %d folders", len(rules.Library(s).Papers), len(folders))
	}
	var subjects []string
	for _, e := range l.events(name) {
		if b, ok := e.Body.(*event.PublicationDecided); ok {
			subjects = append(subjects, b.Status+" "+b.Ref)
		}
	}
	for _, p := range rules.Library(s).Papers {
		dir := filepath.Join(l.QuestDir(name), "publications", p.Ref)
		want, err := paper.Markdown(p, func(t event.Text) (string, error) { return agentRead(l, t) })
		must(l.t, err)
		have, err := os.ReadFile(filepath.Join(dir, "publication.md"))
		must(l.t, err)
		if string(have) != want {
			l.t.Errorf("publication.md of %s is\n%s\nwant\n%s", p.Ref, have, want)
		}
		names, files := []string{}, append([]string{"publication.md"}, p.Attachments...)
		list, err := os.ReadDir(dir)
		must(l.t, err)
		for _, f := range list {
			names = append(names, f.Name())
		}
		if p.Decided != 0 && len(p.Reviews) > 0 {
			files = append(files, "reviews.md")
			l.hasReviews(filepath.Join(dir, "reviews.md"), p)
		}
		if slices.Sort(files); !slices.Equal(names, files) {
			l.t.Errorf("the folder of %s has %q, want %q", p.Ref, names, files)
		}
	}
	if len(subjects) == 0 {
		return
	}
	if got := l.git(name, "log", "--reverse", "--format=%s"); got != strings.Join(subjects, "\n") {
		l.t.Errorf("the history is\n%s\nwant\n%s", got, strings.Join(subjects, "\n"))
	}
	for line := range strings.Lines(l.git(name, "status", "--porcelain", "--untracked-files=all", "publications", "quest.yaml")) {
		// A paper that nobody has decided is not committed yet.
		if p := rules.Library(s).Paper(regexp.MustCompile(`[0-9a-f]{32}|$`).FindString(line)); p == nil || p.Decided != 0 {
			l.t.Errorf("what was committed is not what is there: %s", line)
		}
	}
}

// hasReviews checks that a file has all reviews of a paper, in their order.
func (l *lab) hasReviews(path string, p *paper.Paper) {
	l.t.Helper()
	data, err := os.ReadFile(path)
	must(l.t, err)
	rest := string(data)
	for i, r := range p.Reviews {
		content, err := agentRead(l, r.Content)
		must(l.t, err)
		var ok bool
		_, rest, ok = strings.Cut(rest, fmt.Sprintf("# Review %d of %d: %s by %s\n\n- confidence: %d of 5\n", i+1, len(p.Reviews), r.Grade, r.Reviewer, r.Confidence))
		if ok {
			_, rest, ok = strings.Cut(rest, "\n\n"+plain.Quotation(content)+"\n")
		}
		if !ok {
			l.t.Errorf("the review of %s by %s is not in\n%s", p.Ref, r.Reviewer, data)
		}
	}
}

func (l *lab) git(name string, args ...string) string {
	l.t.Helper()
	program := need.Program(l.t, "git")
	cmd := exec.Command(program, append([]string{"-c", "safe.directory=*", "-c", "core.quotePath=false", "-C", l.QuestDir(name)}, args...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		l.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// trio plays a lab of three: each publishes once, cites what it has heard of, reviews
// and votes. The first one's paper is rejected, and it revises it.
func trio(_ context.Context, r *model.Request) []act {
	text := heard(r)
	if m := regexp.MustCompile(`your publication ([0-9a-f]{32}), titled .*, is REJECTED`).FindStringSubmatch(text); m != nil {
		return append(honest(r, ""), act{"get_publication", args{"ref": m[1]}}, act{"submit_publication", args{"title": "Revised", "content": "better", "revises": m[1]}})
	}
	bad := "agent-0"
	if strings.Contains(text, "It revises") {
		bad = ""
	}
	out := honest(r, bad)
	if !said(r, "Submitted as") {
		// It votes when it has published itself, so that they do not agree too soon.
		out = slices.DeleteFunc(out, func(a act) bool { return a.tool == "vote_solution" })
		out = append(out, act{"submit_publication", args{"title": hostileTitle + r.Agent, "content": "by " + r.Agent, "attachments": []string{"data.csv"}}})
	}
	return out
}

// hostileTitle is one that nothing should run, leave out or take for a comment.
const hostileTitle = "#-m '$(touch pwned)' `id`; %s --amend "

// TestPapersStandInTheFolder: the folder and its history say what the ledger says,
// whatever agents call things.
func TestPapersStandInTheFolder(t *testing.T) {
	t.Parallel()
	l := research(t, t.TempDir(), trio)
	name := l.found(3, "")
	for i := range 3 {
		must(t, file("data.csv")(l.home(name, fmt.Sprint("agent-", i))))
	}
	s := l.run(name)
	if s.Status != quest.Finished || len(rules.Library(s).Papers) < 3 {
		t.Fatalf("%s %s, %d papers", s.Status, s.Reason, len(rules.Library(s).Papers))
	}
	l.onDisk(name)
	if log := l.git(name, "log", "--format=%B"); !strings.Contains(log, hostileTitle+"agent-1\nby agent-1, 2 for and 0 against") {
		t.Errorf("the history says\n%s", log)
	}
	if files := l.git(name, "ls-files"); strings.Contains(files, "agents/") || !strings.Contains(files, "/data.csv") {
		t.Errorf("git keeps\n%s", files)
	}
	l.whole(name)
}

// TestPapersAreWrittenAfterACrash drops everything in memory after n events, for many n,
// and goes on. What was not written or committed then, is.
func TestPapersAreWrittenAfterACrash(t *testing.T) {
	t.Parallel()
	step := 15
	if need.Detector {
		step = 40
	}
	for n := 5; n < 125; n += step {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			l := research(t, t.TempDir(), trio)
			name := l.found(3, "")
			for i := range 3 {
				must(t, file("data.csv")(l.home(name, fmt.Sprint("agent-", i))))
			}
			ctx, crash := context.WithCancel(t.Context())
			defer crash()
			seen := 1
			s, err := l.Run(ctx, name, runtime.RunOptions{OnEvent: func(event.Event, *quest.State) {
				if seen++; seen > n {
					crash()
				}
			}})
			if s.Status != quest.Finished && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			// A git that was killed, and a file that was begun. What the state says beyond the
			// ledger is of a quest that never was.
			s, err = l.Load(t.Context(), name)
			must(t, err)
			must(t, file("index.lock")(filepath.Join(l.QuestDir(name), ".git")))
			for _, p := range rules.Library(s).Papers {
				must(t, file(".new-1234")(filepath.Join(l.QuestDir(name), "publications", p.Ref)))
				must(t, os.RemoveAll(filepath.Join(l.QuestDir(name), "publications", p.Ref, "publication.md")))
			}
			if s.Status == quest.Finished { // the crash came with the last batch
				s, err = l.TidyUp(t.Context(), name, nil)
			} else {
				s, err = l.Run(t.Context(), name, runtime.RunOptions{})
			}
			if must(t, err); s.Status != quest.Finished {
				t.Fatalf("the lab is %s: %s, want it finished", s.Status, s.Reason)
			}
			l.onDisk(name)
			l.whole(name)
		})
	}
}

// TestAHistoryThatIsDamagedIsSetAside: as after a power cut. The quest goes on, and has
// a history again.
func TestAHistoryThatIsDamagedIsSetAside(t *testing.T) {
	t.Parallel()
	l := research(t, t.TempDir(), func(_ context.Context, r *model.Request) []act {
		if r.Turn > 3 {
			return nil
		}
		return []act{{"submit_publication", args{"title": fmt.Sprint("T", r.Turn), "content": "C"}}}
	})
	name := l.found(1, "limits: {turns: 3}\n")
	if s := l.run(name); s.Status != quest.Exceeded {
		t.Fatalf("the lab is %s: %s, want a limit exceeded", s.Status, s.Reason)
	}
	must(t, os.WriteFile(filepath.Join(l.QuestDir(name), ".git", "refs", "heads", "main"), nil, 0o644))
	must(t, os.WriteFile(filepath.Join(l.QuestDir(name), ".git", "index"), []byte("x"), 0o644))
	if s, err := l.Run(t.Context(), name, runtime.RunOptions{Limits: event.Limits{Turns: new(int64(9))}}); err != nil || s.Rested != event.RestNoAgreement {
		t.Fatalf("after the limit was raised the lab is %v, %v, want it to rest without a vote", s.Status, err)
	}
	l.onDisk(name)
	if _, err := os.Stat(filepath.Join(l.QuestDir(name), ".git-damaged-1")); err != nil {
		t.Error(err)
	}
}

// TestAHistoryThatIsGoneIsWrittenAgain: a quest without git's folder gets one, with all
// that was decided.
func TestAHistoryThatIsGoneIsWrittenAgain(t *testing.T) {
	t.Parallel()
	l := research(t, t.TempDir(), func(_ context.Context, r *model.Request) []act {
		if r.Turn > 3 {
			return nil
		}
		return []act{{"submit_publication", args{"title": fmt.Sprint("T", r.Turn), "content": "C"}}}
	})
	name := l.found(1, "limits: {turns: 3}\n")
	if s := l.run(name); s.Status != quest.Exceeded {
		t.Fatalf("the lab is %s: %s, want a limit exceeded", s.Status, s.Reason)
	}
	must(t, os.RemoveAll(filepath.Join(l.QuestDir(name), ".git")))
	must(t, os.RemoveAll(filepath.Join(l.QuestDir(name), "brief.md")))
	if s, err := l.Run(t.Context(), name, runtime.RunOptions{Limits: event.Limits{Turns: new(int64(9))}}); err != nil || s.Rested != event.RestNoAgreement {
		t.Fatalf("after the limit was raised the lab is %v, %v, want it to rest without a vote", s.Status, err)
	}
	l.onDisk(name)
	l.whole(name)
}
