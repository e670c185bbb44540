package runtime_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/tool"
)

// fill is a tool that writes so many KiB that nobody can pack into a file, or removes it.
func fill() tool.Tool {
	size := regexp.MustCompile(`"kib":(\d+)`)
	return tool.Tool{
		Tool:   model.Tool{Name: "fill", Description: "Fills a file.", Schema: `{"type":"object","properties":{"kib":{"type":"integer"}}}`},
		Writes: true,
		Run: func(_ context.Context, c tool.Call) (string, error) {
			n, err := strconv.Atoi(size.FindStringSubmatch(string(c.Args))[1])
			if err != nil {
				return "", err
			}
			if n == 0 {
				return "gone", c.Home.Remove("big")
			}
			data := make([]byte, n<<10)
			if _, err := rand.Read(data); err != nil {
				return "", err
			}
			return "filled", c.Home.WriteFile("big", data, 0o644)
		},
	}
}

// stored is how many bytes the blobs of a lab take.
func (l *lab) stored() (sum int64) {
	l.t.Helper()
	must(l.t, filepath.WalkDir(filepath.Join(l.Home, "blobs"), func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			sum += blob.Blocks(info.Size())
		}
		return err
	}))
	return sum
}

// rewrite has a lab write so many KiB each turn, and checks that it stays within limits and
// that its agents know. Figures are logged.
func rewrite(t *testing.T, agents int, turns int64, kib int, each, all int64) {
	l := research(t, t.TempDir(), func(_ context.Context, r *model.Request) []act {
		if r.Turn > turns {
			return nil
		}
		return []act{{"fill", args{"kib": kib + int(r.Turn)}}}
	})
	l.withTools(fill())
	name := l.found(agents, fmt.Sprintf("limits: {storage: %d, agent: {storage: %d, turns: %d}}\n", all, each, turns+5))
	s := l.run(name)
	disk := l.stored()
	t.Logf("%d agents, %d KiB each turn: %d turns, %d MiB stored of %d MiB allowed, %d MiB on the disk; the quest is %s (%s)",
		agents, kib, s.Spent.Turns, s.Spent.Stored>>20, all>>20, disk>>20, s.Status, s.Reason)
	if s.Spent.Stored > all+int64(agents)<<20 || disk > all+int64(agents)<<20 {
		t.Errorf("%d bytes are stored and %d on the disk, and %d are allowed", s.Spent.Stored, disk, all)
	}
	told := map[string]int{}
	for _, e := range l.events(name) {
		if b, ok := e.Body.(*event.ToolResult); ok && b.Full != nil {
			if !b.Error || !strings.Contains(b.Output.Text, "could not be recorded") || !strings.Contains(b.Output.Text, "big (") {
				t.Errorf("event %d: %s is told %q", e.Seq, e.Actor, b.Output.Text)
			}
			told[e.Actor]++
		}
	}
	for _, a := range s.Agents {
		if a.Stored > each+1<<20 {
			t.Errorf("%s has stored %d of %d bytes", a.Name, a.Stored, each)
		}
		if all >= each*int64(agents) && (told[a.Name] != quest.MaxUnkept || !strings.Contains(a.Parked, "has used")) {
			t.Errorf("%s was told %d times that its files are not recorded, and is parked for %q", a.Name, told[a.Name], a.Parked)
		}
	}
	l.sound(name)
}

// TestALabThatRewritesItsFilesStaysWithinItsStorage is the small form of what
// LYCEUM_STORAGE=1 does at its real size: 200 MB each turn, 50 turns, 8 agents.
func TestALabThatRewritesItsFilesStaysWithinItsStorage(t *testing.T) {
	t.Parallel()
	if os.Getenv("LYCEUM_STORAGE") != "" {
		rewrite(t, 8, 50, 200<<10, 1<<30, 9<<30)
		return
	}
	rewrite(t, 8, 50, 200, 2<<20, 20<<20)
}

func TestAtTheQuestsStorageItRestsAndGoesOnWithMore(t *testing.T) {
	t.Parallel()
	l := research(t, t.TempDir(), func(_ context.Context, r *model.Request) []act {
		if r.Turn > 6 {
			return nil
		}
		return []act{{"fill", args{"kib": 400}}}
	})
	l.withTools(fill())
	name := l.found(2, "limits: {storage: 1MiB}\n")
	s := l.run(name)
	if s.Status != quest.Exceeded || s.Reason != "storage" {
		t.Fatalf("the quest is %s (%s), want that its storage is exceeded", s.Status, s.Reason)
	}
	if s.Spent.Stored > 1<<20+64<<10 {
		t.Errorf("%d bytes are stored of a mebibyte", s.Spent.Stored)
	}
	l.sound(name)
	before := s.Spent.Turns
	s, err := l.Run(t.Context(), name, runtime.RunOptions{Limits: event.Limits{Storage: new(int64(100 << 20))}})
	must(t, err)
	if s.Spent.Turns <= before || s.Status == quest.Exceeded || s.Spent.Stored < 2<<20 {
		t.Errorf("with more storage the quest is %s (%s) after %d turns, with %d bytes stored", s.Status, s.Reason, s.Spent.Turns, s.Spent.Stored)
	}
	l.sound(name)
}

func TestAnAgentThatDeletesGoesOn(t *testing.T) {
	t.Parallel()
	var heardOf []string
	l := research(t, t.TempDir(), func(_ context.Context, r *model.Request) []act {
		heardOf = append(heardOf, heard(r))
		sizes := []int{600, 600, 0, 100, 600, 600, 0, 50, 1}
		if int(r.Turn) > len(sizes) {
			return nil
		}
		return []act{{"fill", args{"kib": sizes[r.Turn-1]}}}
	})
	l.withTools(fill())
	name := l.found(1, "limits: {agent: {storage: 1MiB}}\n")
	s := l.run(name)
	if a := s.Agents[0]; a.Held || a.Unkept != 0 {
		t.Errorf("an agent that deletes what it cannot keep is held: %q, and %d were not kept", a.Parked, a.Unkept)
	}
	if all := strings.Join(heardOf, "\n"); !strings.Contains(all, "could not be recorded") || !strings.Contains(all, "of storage that you have. Every change") {
		t.Errorf("the agent has heard %q, want that little is left and then that nothing is", all)
	}
	tree, err := blob.ReadTree(t.Context(), l.Blobs, *s.Agents[0].Tree)
	must(t, err)
	if len(tree) != 1 || tree[0].Size != 1<<10 {
		t.Errorf("its home is recorded as %v, want a file of a KiB", tree)
	}
	l.sound(name)
}

// crammed is a store on a disk that is full for a while.
type crammed struct {
	blob.Store
	full *atomic.Bool
}

func (c crammed) Put(ctx context.Context, data []byte) (event.Ref, error) {
	if c.full.Load() {
		return event.Ref{}, &fs.PathError{Op: "write", Path: "blobs/tmp", Err: syscall.ENOSPC}
	}
	return c.Store.Put(ctx, data)
}

func TestAFullDiskPausesTheQuest(t *testing.T) {
	t.Parallel()
	for name, reserve := range map[string]bool{"WhileItStores": false, "AtTheReserve": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			full := new(atomic.Bool)
			l := research(t, t.TempDir(), func(_ context.Context, r *model.Request) []act {
				switch r.Turn {
				case 1:
					return []act{{"fill", args{"kib": 10}}}
				case 2:
					full.Store(true)
					return []act{{"fill", args{"kib": 20}}}
				case 3:
					return []act{{"fill", args{"kib": 30}}}
				}
				return nil
			})
			l.withTools(fill())
			if reserve {
				l.Room = func() error {
					if full.Load() {
						return &blob.FullError{Dir: "blobs", Free: 1 << 20, Reserve: 1 << 30}
					}
					return nil
				}
			} else {
				l.Blobs = crammed{l.Blobs, full}
			}
			name := l.found(1, "")
			s := l.run(name)
			if s.Status != quest.Paused || !strings.Contains(s.Reason, "the disk is full") || !strings.Contains(s.Reason, "resume") {
				t.Fatalf("the quest is %s (%s), want it paused because the disk is full", s.Status, s.Reason)
			}
			if reserve {
				if _, err := l.Run(t.Context(), name, runtime.RunOptions{}); !blob.Full(err) {
					t.Errorf("resumed with a full disk: %v, want that it is full", err)
				}
			}
			full.Store(false)
			s = l.run(name)
			if strings.Contains(s.Reason, "full") || s.Status == quest.Paused {
				t.Errorf("with room again the quest is %s (%s)", s.Status, s.Reason)
			}
			recorded := map[int64]bool{}
			for _, e := range l.events(name) {
				if b, ok := e.Body.(*event.FileDiff); ok {
					recorded[b.Changes[0].Size>>10] = true
				}
			}
			if !recorded[20] || !recorded[30] {
				t.Errorf("files of %v KiB are recorded, want what was written when the disk was full, too", recorded)
			}
			l.sound(name)
		})
	}
}

func TestAnAgentIsToldOnceWhatIsNotRecorded(t *testing.T) {
	t.Parallel()
	var heardOf []string
	l := research(t, t.TempDir(), func(_ context.Context, r *model.Request) []act {
		heardOf = append(heardOf, heard(r))
		if r.Turn > 2 {
			return nil
		}
		return []act{{"odd", args{"n": r.Turn}}}
	})
	l.withTools(tool.Tool{
		Tool:   model.Tool{Name: "odd", Description: "Makes what cannot be recorded.", Schema: `{"type":"object","properties":{"n":{"type":"integer"}}}`},
		Writes: true,
		Run: func(_ context.Context, c tool.Call) (string, error) {
			at := filepath.Join(c.Home.Name(), "sparse")
			if err := os.WriteFile(at, []byte("x"), 0o600); err != nil {
				return "", err
			}
			return "made", os.Truncate(at, 1<<40)
		},
	})
	name := l.found(1, "")
	s := l.run(name)
	if s.Spent.Turns < 3 {
		t.Fatalf("the quest is %s (%s) after %d turns", s.Status, s.Reason, s.Spent.Turns)
	}
	all := strings.Join(heardOf, "\n")
	if strings.Count(all, "Not recorded of your home") != 1 || !strings.Contains(all, "sparse: 109951162") {
		t.Errorf("of a file of a terabyte the agent hears %q, want once that it is not recorded", all)
	}
	l.sound(name)
}

// TestALongAnswerCountsForStorage has a model give arguments that no event has room for, and
// that nobody can pack.
func TestALongAnswerCountsForStorage(t *testing.T) {
	t.Parallel()
	const long = 300 << 10
	say := func(turns int64) func(context.Context, *model.Request) []act {
		return func(_ context.Context, r *model.Request) []act {
			if r.Turn > turns {
				return nil
			}
			noise := make([]byte, long/2)
			_, _ = rand.Read(noise)
			return []act{{"fill", args{"kib": 1, "pad": fmt.Sprintf("%x", noise)}}}
		}
	}
	stored := func(l *lab, name string) (answers int64) {
		for _, e := range l.events(name) {
			if b, ok := e.Body.(*event.ModelResult); ok {
				answers += b.Stored
				if b.Stored != 0 && b.Stored < long {
					t.Errorf("event %d: an answer of %d bytes took %d", e.Seq, long, b.Stored)
				}
			}
		}
		return answers
	}
	t.Run("AndIsInTheSum", func(t *testing.T) {
		t.Parallel()
		l := research(t, t.TempDir(), say(1))
		l.withTools(fill())
		name := l.found(1, "")
		s := l.run(name)
		answers := stored(l, name)
		if answers < long || answers > long+long/4 {
			t.Errorf("one answer of %d bytes, and short ones, took %d", long, answers)
		}
		if s.Spent.Stored < answers || s.Agents[0].Stored < answers {
			t.Errorf("answers took %d bytes, and the sum is %d for the quest and %d for its agent", answers, s.Spent.Stored, s.Agents[0].Stored)
		}
		l.sound(name)
	})
	t.Run("AndMayUseItUp", func(t *testing.T) {
		t.Parallel()
		l := research(t, t.TempDir(), say(9))
		l.withTools(fill())
		name := l.found(1, "limits: {storage: 1MiB}\n")
		s := l.run(name)
		if s.Status != quest.Exceeded || s.Reason != "storage" {
			t.Errorf("the quest is %s (%s) after %d turns and %d bytes, want that its storage is exceeded", s.Status, s.Reason, s.Spent.Turns, s.Spent.Stored)
		}
		if s.Spent.Stored > 1<<20+2*long {
			t.Errorf("%d bytes are stored of a mebibyte", s.Spent.Stored)
		}
		l.sound(name)
	})
}

// TestTheCopiesOfPapersCountForStorage has an agent hand in the same file again and again: it
// is recorded once, and lies beside each paper.
func TestTheCopiesOfPapersCountForStorage(t *testing.T) {
	t.Parallel()
	for of, limits := range map[string]string{"quest": "limits: {storage: 2MiB}\n", "agent": "limits: {agent: {storage: 2MiB}}\n"} {
		t.Run(of, func(t *testing.T) {
			t.Parallel()
			l := research(t, t.TempDir(), func(_ context.Context, r *model.Request) []act {
				switch {
				case r.Turn == 1:
					return []act{{"fill", args{"kib": 200}}}
				case r.Turn < 20:
					return []act{{"submit_publication", args{"title": fmt.Sprint("Paper ", r.Turn), "content": fmt.Sprint("It is ", r.Turn), "attachments": []string{"big"}}}}
				}
				return nil
			})
			l.withTools(fill())
			name := l.found(1, limits)
			s := l.run(name)
			switch a := s.Agents[0]; {
			case of == "quest" && (s.Status != quest.Exceeded || s.Reason != "storage"):
				t.Errorf("the quest is %s (%s), want that its storage is exceeded", s.Status, s.Reason)
			case of == "agent" && (!strings.Contains(a.Parked, "has used") || a.Unkept != quest.MaxUnkept):
				t.Errorf("the agent is parked for %q after %d in a row, want for its storage", a.Parked, a.Unkept)
			}
			var disk int64
			must(t, filepath.WalkDir(l.Home, func(_ string, e fs.DirEntry, err error) error {
				if err != nil || e.IsDir() || e.Name() != "big" && !strings.Contains(e.Name(), "pack") {
					return err
				}
				info, err := e.Info()
				disk += info.Size()
				return err
			}))
			if disk > 2<<20 || disk < 5*200<<10 {
				t.Errorf("papers take %d bytes of the disk, want a few of them within 2 MiB", disk)
			}
			l.sound(name)
		})
	}
}

func TestWhatANetComputesCountsForStorage(t *testing.T) {
	t.Parallel()
	l := newNet(t)
	s := l.run(l.create(thermal.plan(t)))
	var results, said int64
	for _, e := range l.events("net") {
		if b, ok := e.Body.(*event.ComputeResult); ok && b.Printed != nil {
			results++
			said += b.Stored
			want := b.Printed.Size
			for _, p := range b.Plots {
				want += p.Size
			}
			if b.Stored != want || b.Full != nil {
				t.Errorf("event %d: what was printed took %d bytes and met %v, want %d bytes and no limit", e.Seq, b.Stored, b.Full, want)
			}
		}
	}
	if results == 0 || s.Spent.Stored != said {
		t.Errorf("%d results say that they took %d bytes, and the sum is %d", results, said, s.Spent.Stored)
	}
	l.sound("net")
}
