package audit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"lyceum/internal/agent"
	"lyceum/internal/blob"
	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/scratch"

	"github.com/go-json-experiment/json"
)

// Execution is what came of running a quest's computer calls again.
type Execution struct {
	Same         int        `json:"same"`
	Different    int        `json:"different"`
	NotCheckable int        `json:"not_checkable"`
	Calls        []Executed `json:"calls"`
}

// Executed is one call that was run again, or could not be.
type Executed struct {
	// Seq is the cli.run, reproduction.call, compute.call, analysis.call, world.call or tool.call.
	Seq   uint64 `json:"seq"`
	Actor string `json:"actor"`
	// Kind is command, reproduction, computation, calculation, reading, stories, checks, try, or server for a call of an
	// MCP server's tool.
	Kind string `json:"kind"`
	// What was run, shortened.
	What   string `json:"what"`
	Status string `json:"status"`
	// Exit is the exit code of the command as it is recorded, and Again that of the run here; absent
	// where there is none.
	Exit  *int64 `json:"exit,omitempty"`
	Again *int64 `json:"exit_again,omitempty"`
	// Why says what differs, or why it cannot be told.
	Why string `json:"why,omitempty"`
}

// What can be said of a call that was run again.
const (
	ExecSame         = "same"
	ExecDifferent    = "different"
	ExecNotCheckable = "not checkable"
)

// Execute runs the computer calls that a quest recorded once more, each from the
// workspace as it was when it began, in a fresh computer without network, and compares
// what came out. An outcome that is the same is proof. One that is not, where something
// that is not recorded may be the cause, cannot be told from a forged one, and is not
// checkable.
//
// An image that is not there is built only if opts say so: its Dockerfile is whoever's
// quest it is, and building it runs what stands in it before anything is compared.
//
// The quest itself is only read. Everything happens in a folder for temporary files,
// which is removed however this ends. Each of opts is told of every call as it is done.
func Execute(ctx context.Context, r *runtime.Runtime, name string, opts ExecuteOptions) (out *Execution, err error) {
	calls, s, err := recordedCalls(ctx, r, name)
	if err != nil {
		return nil, fmt.Errorf("execute quest %s: %w", name, err)
	}
	temp, err := scratch.New("", "lyceum-execute-")
	if err != nil {
		return nil, err
	}
	dir := temp.Path
	defer func() { err = errors.Join(err, runtime.RemoveTree(dir), temp.Close()) }()
	x := &executor{Quest: &runtime.Quest{Runtime: shadow(r, dir), Key: name, State: s, Progress: func(string) {}, Fail: func(error) {}}}
	if s.Computer != nil {
		if x.Driver, x.Spec, err = x.Machine(ctx, s); err == nil {
			err = x.Driver.Check(ctx)
		}
		if x.missing = err; ctx.Err() != nil {
			return nil, ctx.Err()
		}
		x.open = x.Spec.Network.Open
		x.Spec.Network, x.Spec.Build = computer.Network{}, opts.build()
	}
	out = &Execution{Calls: []Executed{}}
	for i, c := range calls {
		done, err := x.again(ctx, c)
		if err != nil {
			return nil, fmt.Errorf("execute event %d of quest %s again: %w", c.seq, name, err)
		}
		out.add(done)
		if opts.Each != nil {
			opts.Each(done, i+1, len(calls))
		}
	}
	return out, nil
}

func (e *Execution) add(c Executed) {
	e.Calls = append(e.Calls, c)
	switch c.Status {
	case ExecSame:
		e.Same++
	case ExecDifferent:
		e.Different++
	default:
		e.NotCheckable++
	}
}

// ExecuteOptions are what can be said about running calls again.
type ExecuteOptions struct {
	// Build has an image built that is not there, without a network; BuildNetwork with one.
	Build, BuildNetwork bool
	// Each is told of every call, with its number and of how many; nil tells nobody.
	Each func(done Executed, number, of int)
}

func (o ExecuteOptions) build() computer.Build {
	if !o.Build && !o.BuildNetwork {
		return computer.Build{Refused: "there is no image of its Dockerfile here, and none is built unasked: read the Dockerfile, then say --build, or --build-network if its build needs the network"}
	}
	return computer.Build{Offline: !o.BuildNetwork}
}

// Repeater is a workshop whose calls can be run again.
type Repeater interface {
	// Recorded says what a call of a quest runs, in a word for its kind and in words for people;
	// no kind means that it runs nothing.
	Recorded(s *quest.State, call event.Event) (kind, what string)
	// Again runs a call that has a result, and compares.
	Again(ctx context.Context, x *Place, call, result event.Event, out Executed) (Executed, error)
}

// Place is where calls are run again: a quest whose home and whose new blobs are gone
// afterwards, and whose computers have no network.
type Place struct {
	*runtime.Quest
	// Missing says why there are no computers here, nil if there are.
	Missing error
}

// NoComputer says why there is no computer to run something in, nothing if there is.
func (p *Place) NoComputer() string {
	switch {
	case p.Missing != nil:
		return "there is no computer for it here: " + p.Missing.Error()
	case p.Driver == nil:
		return "the quest has no computers"
	}
	return ""
}

// shadow is what calls are run again on: the home is dir, and blobs are not kept.
func shadow(r *runtime.Runtime, dir string) *runtime.Runtime {
	return r.Shadow(dir, &passing{Store: r.Blobs})
}

// executor runs calls again.
type executor struct {
	*runtime.Quest
	// missing says why there is no driver here; open, that the quest's computers could
	// connect to anywhere.
	missing error
	open    bool
}

// again runs one call.
func (x *executor) again(ctx context.Context, c *recordedCall) (Executed, error) {
	out := Executed{Seq: c.seq, Actor: c.actor, Kind: c.kind, What: c.what}
	place := &Place{x.Quest, x.missing}
	switch {
	case c.server != "":
		return out.Not("the server " + c.server + " answered it, from outside what is recorded"), nil
	case c.shop != nil && c.result == nil:
		return out.Not("it has no result yet"), nil
	case c.shop != nil:
		return c.shop.Again(ctx, place, c.call, *c.result, out)
	case c.uncheckable() != "":
		return out.Not(c.uncheckable()), nil
	case place.NoComputer() != "":
		return out.Not(place.NoComputer()), nil
	}
	return x.command(ctx, c, out)
}

// OtherComputer excuses a difference by the computer's not being the one of then.
func OtherComputer(then, now event.Hash) []string {
	if then == now {
		return nil
	}
	return []string{"different environment: another computer"}
}

// Not says that a call cannot be checked, and why.
func (e Executed) Not(why string) Executed {
	e.Status, e.Why = ExecNotCheckable, runtime.AtMost(why, 1000)
	return e
}

// Judged is what a comparison comes to: differences, and what else could have caused
// them.
func (e Executed) Judged(differs, excuses []string) Executed {
	switch {
	case len(differs) == 0:
		e.Status = ExecSame
	case len(excuses) == 0:
		e.Status, e.Why = ExecDifferent, runtime.AtMost(strings.Join(differs, "; "), 1000)
	default:
		return e.Not(strings.Join(excuses, "; ") + "; " + strings.Join(differs, "; "))
	}
	return e
}

// command runs a command of an agent.
func (x *executor) command(ctx context.Context, c *recordedCall, out Executed) (Executed, error) {
	if held, err := x.expired(ctx, c.before); held || err != nil {
		return out.Not("its home held artifacts that have expired"), err
	}
	var args []string
	text, err := agent.Read(c.run.Args, func(ref event.Ref) ([]byte, error) { return x.Blob(ctx, ref) })
	if err == nil {
		err = json.Unmarshal([]byte(text), &args)
	}
	if err != nil {
		return out, fmt.Errorf("read its arguments: %w", err)
	}
	cmd := computer.Command{ID: "again", Args: args, Dir: c.run.Dir, Stdin: c.stdin, Input: c.run.Keep, Timeout: c.patience()}
	first, err := x.once(ctx, c, cmd, 1)
	if err != nil || first.fault != "" {
		return out.Not(first.fault), err
	}
	then, now := c.exit.Exit, first.exit
	out.Exit, out.Again = &then, &now
	if len(first.differs) == 0 || len(first.excuses) > 0 {
		return out.Judged(spoken(first.differs), first.excuses), nil
	}
	// What a command names or seems to need excuses nothing: if two runs here differ from each other, its output is
	// not to be had twice; where they do not, the recorded one is another.
	second, err := x.once(ctx, c, cmd, 2)
	if err != nil || second.fault != "" {
		return out.Not(second.fault), err
	}
	if stable := both(first.differs, second.differs); len(stable) > 0 {
		return out.Judged(spoken(stable), nil), nil
	}
	return out.Not("two runs here differ from each other, too: " + strings.Join(spoken(first.differs), "; ")), nil
}

// ran is what came of a command that was run again: why nothing did, or in what it is not as recorded, what
// might excuse that, and its exit code.
type ran struct {
	fault   string
	differs []aspect
	excuses []string
	exit    int64
}

// aspect is something that did not come out as it was recorded: which, in words, and what it was here.
type aspect struct{ of, says, is string }

// both are the aspects in which two runs came out alike.
func both(a, b []aspect) (out []aspect) {
	for _, x := range a {
		if slices.Contains(b, x) {
			out = append(out, x)
		}
	}
	return out
}

// spoken tells of aspects in words; of files it names the first.
func spoken(list []aspect) (out []string) {
	var files []string
	for _, x := range list {
		if x.says == "" {
			files = append(files, x.of)
		} else {
			out = append(out, x.says)
		}
	}
	if len(files) > 0 {
		out = append(out, fmt.Sprintf("%d files differ: %s", len(files), strings.Join(files[:min(len(files), 5)], ", ")))
	}
	return out
}

// once runs a command in a fresh computer.
func (x *executor) once(ctx context.Context, c *recordedCall, cmd computer.Command, number int) (out ran, err error) {
	f := x.Fresh(fmt.Sprintf("command-%d-%d", c.seq, number))
	fault, err := f.Use(ctx, x.Furnished(ctx, x.State, c.before), func(m *computer.Computer, started *event.ComputerStarted) (err error) {
		res, err := m.Run(ctx, cmd)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			res = &computer.Result{Exit: 127} // as it is recorded of one that could not begin
		}
		if res.End != "" {
			out.fault = "it met the limit on " + res.End + " here"
			return nil
		}
		out, err = x.compare(ctx, c, started, f.Place, res)
		return err
	})
	out.fault = cmp.Or(fault, out.fault)
	return out, err
}

// expired reports whether a home held what is no longer kept.
func (x *executor) expired(ctx context.Context, home *event.TreeRef) (held bool, err error) {
	gone := x.Expired(ctx, x.State)
	if home == nil || gone == nil {
		return false, nil
	}
	err = blob.Walk(ctx, x.Blobs, *home, func(b event.Ref) error {
		held = held || gone(b.Hash)
		return nil
	})
	return held, err
}

// patience is how long a command may take: what it was given then, or much longer than
// it took.
func (c *recordedCall) patience() time.Duration {
	if c.run.Timeout > 0 {
		return time.Duration(c.run.Timeout) * time.Microsecond
	}
	return max(time.Minute, 10*time.Duration(c.exit.Duration)*time.Microsecond)
}

// compare finds what is not as it was recorded.
func (x *executor) compare(ctx context.Context, c *recordedCall, started *event.ComputerStarted, place computer.Place, res *computer.Result) (out ran, err error) {
	out.exit = int64(res.Exit)
	if out.exit != c.exit.Exit || res.Signal != c.exit.Signal {
		ended := outcome(out.exit, res.Signal)
		out.differs = append(out.differs, aspect{"exit", fmt.Sprintf("it ended with %s, not with %s", ended, outcome(c.exit.Exit, c.exit.Signal)), ended})
	}
	for _, o := range []struct {
		name     string
		now      computer.Output
		then     event.CommandOutput
		recorded string
	}{{"stdout", res.Stdout, c.exit.Stdout, c.stdout.String()}, {"stderr", res.Stderr, c.exit.Stderr, c.stderr.String()}} {
		now, err := x.sumOf(o.now)
		if err != nil {
			return out, err
		}
		want := event.HashOf([]byte(o.recorded))
		if o.then.Ref != nil {
			want = o.then.Ref.Hash
		}
		if o.then.Ref == nil && o.now.Size != o.then.Size || now != want {
			out.differs = append(out.differs, aspect{o.name, fmt.Sprintf("%s differs (%d bytes, then %d)", o.name, o.now.Size, o.then.Size), now.String()})
		}
	}
	files, err := x.otherFiles(ctx, c, place)
	if err != nil {
		return out, err
	}
	out.differs = append(out.differs, files...)
	out.excuses = c.excuses()
	if other := otherEnvironment(c.computer, started); other != "" {
		out.excuses = append(out.excuses, "different environment: "+other)
	}
	if x.open {
		out.excuses = append(out.excuses, "its computer could connect to anywhere, and what came from there is not recorded")
	}
	return out, nil
}

func outcome(exit int64, signal string) string {
	if signal != "" {
		return signal
	}
	return fmt.Sprintf("exit code %d", exit)
}

// sumOf is the hash of a stream as it would be recorded.
func (x *executor) sumOf(now computer.Output) (event.Hash, error) {
	if now.Size == 0 {
		return event.HashOf(nil), nil
	}
	in, err := now.Open()
	if err != nil {
		return event.Hash{}, err
	}
	defer in.Close()
	h := sha256.New()
	_, err = io.Copy(h, x.Redacting(in))
	return event.Hash(h.Sum(nil)), err
}

// otherFiles looks at the home a command left, and tells of what is in it that is not as it
// was recorded. What ran beside others is not looked at: whose the changes are is not
// recorded.
func (x *executor) otherFiles(ctx context.Context, c *recordedCall, place computer.Place) (out []aspect, err error) {
	if c.beside || c.run.Keep {
		return nil, nil
	}
	root, err := os.OpenRoot(place.Home)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	kept := &passing{Store: x.Blobs}
	tree, _, _, err := runtime.SnapshotHome(ctx, kept, root, nil, runtime.Lent(x.State))
	if err != nil {
		return nil, err
	}
	want := c.after
	if want == nil {
		want = c.before
	}
	if want == nil && tree.Hash == runtime.EmptyTree || want != nil && tree.Hash == want.Hash {
		return nil, nil
	}
	changes, more, err := blob.Diff(ctx, kept, want, tree, runtime.MaxListed)
	if err != nil {
		return nil, err
	}
	for _, ch := range changes {
		// What Python keeps beside a module holds the time of the module's file.
		if strings.HasPrefix(ch.Path, "__pycache__/") || strings.Contains(ch.Path, "/__pycache__/") {
			continue
		}
		is, err := fileSum(root, ch.Path)
		if err != nil {
			return nil, err
		}
		out = append(out, aspect{of: ch.Path, is: is})
	}
	if more > 0 {
		out = append(out, aspect{"files", fmt.Sprintf("%d more files differ", more), tree.Hash.String()})
	}
	return out, nil
}

// fileSum tells a file of a home from others: what it is, and the hash of what it holds.
func fileSum(root *os.Root, path string) (string, error) {
	info, err := root.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return "gone", nil
	}
	if err != nil {
		return "", err
	}
	switch {
	case info.Mode()&os.ModeSymlink != 0:
		return root.Readlink(path)
	case !info.Mode().IsRegular():
		return info.Mode().String(), nil
	}
	f, err := root.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return info.Mode().String() + " " + event.Hash(h.Sum(nil)).String(), nil
}

// otherEnvironment says in what two computers differ. In where they can connect to
// they may: here they never can.
func otherEnvironment(then, now *event.ComputerStarted) string {
	if then == nil {
		return "what the computer was is not recorded"
	}
	var out []string
	for _, d := range []struct {
		what  string
		other bool
	}{
		{"driver", then.Driver != now.Driver}, {"programs", then.Base != now.Base}, {"kernel", then.Kernel != now.Kernel},
		{"processor", then.Arch != now.Arch}, {"limits", then.Limits != now.Limits}, {"what can be written", !slices.Equal(then.AllowWrite, now.AllowWrite)},
		{"what is hidden", !slices.Equal(then.DenyRead, now.DenyRead)}, {"confinement", !slices.Equal(then.Confinement, now.Confinement)},
	} {
		if d.other {
			out = append(out, d.what)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return "other " + strings.Join(out, ", ")
}
