// Package conduct carries studies out: it makes the quests of a study's cells, has them run, and
// records what came of them.
//
// Studies have a ledger of their own, beside that of quests. One process conducts a study at a time,
// under a claim. A cell's money is durable before its quest is made, and what came of the quest is
// recorded once it is over for good. Killed at any point, the next one folds the ledger and goes on:
// a quest that is there already is recognized by its quest.yaml, and one that is over is not run.
package conduct

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/scratch"
	"lyceum/internal/strictyaml"
	"lyceum/internal/survey"
)

// ErrNone says that there is no study of a name, ErrThere that there is one.
var (
	ErrNone  = errors.New("no such study")
	ErrThere = errors.New("there is a study of that name")
)

// Studies are those of a home.
type Studies struct {
	// Log holds the studies' ledgers.
	Log ledger.Store
	// Runtime makes and reads the quests.
	Runtime *runtime.Runtime
	// Run runs a cell's quest until it rests; nil has the runtime do it here. If another has
	// the quest, it returns ledger.ErrClaimed.
	Run func(ctx context.Context, quest string, interrupt <-chan struct{}) (*quest.State, error)
	// Say is told what is worth a person's knowing, if it is not nil.
	Say func(string)
	// Making is called around the making of each quest, if it is not nil.
	Making func(make func() error) error
	// Served is set by a server that conducts studies in the background: that it does is noted in the
	// ledger's store, and at the end, with the error of Conduct, Served tells whether the note stays.
	// Any other Conduct takes away what a server noted.
	Served func(s *survey.State, err error) (keep bool)
}

// Name is how a study is found in a list.
type Name struct {
	Name string
	Seq  uint64
}

// Make records the design of a study. Nothing runs yet, and no quest is there. All quests it leads to
// are planned first: what is wrong with one of them is told now, and not after hours.
func (m *Studies) Make(ctx context.Context, d *survey.Draft) (*survey.State, error) {
	d.Complete()
	if err := survey.Check(d.Name, &d.SurveyDesigned); err != nil {
		return nil, &runtime.PlanError{Err: err}
	}
	claim, err := m.Log.Claim(ctx, d.Name)
	if err != nil {
		return nil, fmt.Errorf("make study %s: %w", d.Name, err)
	}
	defer claim.Release()
	if err := m.free(ctx, d.Name); err != nil {
		return nil, err
	}
	s, first, err := m.designed(ctx, d)
	if err != nil {
		return nil, err
	}
	return s, m.record(ctx, s, []event.Event{first})
}

// Rehearse tells all that is wrong with a design, as Make does, and makes nothing. Without faults, it
// is the study that Make would make. Where nothing is missing but a name, a question or money, the
// quests are planned all the same.
func (m *Studies) Rehearse(ctx context.Context, d *survey.Draft) (*survey.State, error) {
	d.Complete()
	fault := survey.Check(d.Name, &d.SurveyDesigned)
	faults := quest.FaultsOf(fault)
	if m.Log != nil && event.ValidName(d.Name) {
		switch err := m.free(ctx, d.Name); {
		case errors.Is(err, ErrThere):
			faults = append(faults, quest.Fault("name", "%v: choose another name", ErrThere))
		case err != nil:
			return nil, err
		}
	}
	mended := d.Mended()
	if err := survey.Check(mended.Name, &mended.SurveyDesigned); err != nil {
		return nil, &runtime.PlanError{Err: strictyaml.Join(faults)}
	}
	s, _, err := m.designed(ctx, mended)
	if plan, ok := errors.AsType[*runtime.PlanError](err); ok {
		faults = append(faults, quest.FaultsOf(plan.Err)...)
	} else if err != nil {
		return nil, err
	}
	if len(faults) > 0 {
		return nil, &runtime.PlanError{Err: strictyaml.Join(faults)}
	}
	return s, nil
}

// free is ErrThere if there is a study of a name.
func (m *Studies) free(ctx context.Context, name string) error {
	if _, err := m.Log.Head(ctx, name); err == nil {
		return fmt.Errorf("make study %s: %w: choose another name", name, ErrThere)
	} else if !errors.Is(err, ledger.ErrNoQuest) {
		return err
	}
	return nil
}

// designed is a study that nobody has recorded yet, all of whose quests can be made, and its first
// event. A share that holds for calls under way, too, takes models of which it is known how long their
// answers can be. Where one is not like that, none is held to it: cells are to be alike.
func (m *Studies) designed(ctx context.Context, d *survey.Draft) (*survey.State, event.Event, error) {
	d.Strict = true
	s, first, err := m.design(ctx, d)
	if _, ok := errors.AsType[*runtime.PlanError](err); ok {
		d.Strict = false
		s, first, err = m.design(ctx, d)
	}
	return s, first, err
}

func (m *Studies) design(ctx context.Context, d *survey.Draft) (*survey.State, event.Event, error) {
	body := d.SurveyDesigned
	first, err := event.Seal(d.Name, 1, event.Hash{}, event.Draft{Time: m.Runtime.Clock(), Actor: "person", Body: &body})
	if err != nil {
		return nil, first, &runtime.PlanError{Err: fmt.Errorf("the design of a study must be shorter: %w", err)}
	}
	s, err := survey.New(first)
	if err == nil {
		err = m.plannable(ctx, s)
	}
	return s, first, err
}

// plannable finds out whether all quests of a study can be made as things are, and tells all that is
// wrong with them. Cells that differ by their seed alone are alike.
func (m *Studies) plannable(ctx context.Context, s *survey.State) error {
	var faults []error
	for i := range s.Cells {
		c := &s.Cells[i]
		if _, err := m.Runtime.Ledger.Head(ctx, c.Quest); err == nil {
			faults = append(faults, quest.Fault("name", "there is a quest %s already, which would be one of the study's: choose another name", c.Quest))
			break
		} else if !errors.Is(err, ledger.ErrNoQuest) {
			return err
		}
	}
	told := map[string]bool{}
	for c := range s.Kinds() {
		err := m.planned(s, c, func(p runtime.Plan) error { return m.Runtime.Faults(ctx, p) })
		plan, ok := errors.AsType[*runtime.PlanError](err)
		if !ok && err != nil {
			return fmt.Errorf("cell %d (%s, %s): %w", c.Number, c.Arm.Label, c.Model, err)
		}
		if !ok {
			continue
		}
		for _, fault := range quest.FaultsOf(plan.Err) {
			text := fault.Error()
			if at, ok := errors.AsType[*strictyaml.Error](fault); ok {
				text = at.Text // nobody has seen that quest.yaml
			}
			if !told[text] { // what is wrong with a society is wrong whatever its model
				faults = append(faults, quest.Fault(field(fault, c), "cell %d (%s, %s): %s", c.Number, c.Arm.Label, c.Model, text))
			}
			told[text] = true
		}
	}
	if len(faults) > 0 {
		return &runtime.PlanError{Err: strictyaml.Join(faults)}
	}
	return nil
}

// field is the key of a study that a fault in the quest.yaml of one of its cells is about.
func field(fault error, c *survey.Cell) string {
	key := quest.FieldOf(fault)
	switch key {
	case "limits.cost", "model": // a model whose price nobody knows, or that is none
		return "models"
	case "problem":
		return "question"
	case "society", "agents":
		return "societies"
	}
	if c.Arm.Spec == "" && key != "" {
		return "quest"
	}
	return "societies"
}

// Weigh tells of what the cells of a study would be made, one of each kind.
func (m *Studies) Weigh(ctx context.Context, s *survey.State, weigh func(c *survey.Cell, created *event.QuestCreated) error) error {
	for c := range s.Kinds() {
		err := m.planned(s, c, func(p runtime.Plan) error {
			created, err := m.Runtime.Rehearse(ctx, p)
			if err != nil {
				return err
			}
			return weigh(c, created)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// planned is use with the plan of a cell's quest, in a folder without files.
func (m *Studies) planned(s *survey.State, c *survey.Cell, use func(runtime.Plan) error) error {
	source, err := s.Source(c)
	if err != nil {
		return err
	}
	dir, err := scratch.New("", "lyceum-study-")
	if err != nil {
		return err
	}
	defer dir.Close()
	d := runtime.Draft{File: "the quest.yaml of cell " + fmt.Sprint(c.Number), Source: source, Dir: dir.Path, Home: m.Runtime.Home}
	p, err := d.Plan(m.Runtime.Societies)
	if err != nil {
		return &runtime.PlanError{Err: err}
	}
	p.Sent, p.Say = true, m.Say
	return use(p)
}

// Names are the studies there are, in the order of their names.
func (m *Studies) Names(ctx context.Context) ([]Name, error) {
	heads, err := m.Log.Quests(ctx)
	out := make([]Name, len(heads))
	for i, h := range heads {
		out[i] = Name{h.Quest, h.Seq}
	}
	return out, err
}

// Load folds a study.
func (m *Studies) Load(ctx context.Context, name string) (s *survey.State, err error) {
	for e, err := range m.Log.Read(ctx, name, 1) {
		switch {
		case errors.Is(err, ledger.ErrNoQuest):
			return nil, fmt.Errorf("study %s: %w", name, ErrNone)
		case err != nil:
			return nil, fmt.Errorf("study %s: %w", name, err)
		case s == nil:
			s, err = survey.New(e)
		default:
			err = s.Fold(e)
		}
		if err != nil {
			return nil, err
		}
	}
	if s == nil {
		return nil, fmt.Errorf("study %s: %w", name, ErrNone)
	}
	return s, nil
}

// Running reports whether somebody conducts a study now.
func (m *Studies) Running(name string) (bool, error) { return m.Log.Claimed(name) }

// record appends events that are part of a state already, and all that follows from them.
func (m *Studies) record(ctx context.Context, s *survey.State, events []event.Event) error {
	for len(s.Due()) > 0 {
		e, err := event.Seal(s.Name, s.Seq+1, s.Hash, event.Draft{Parent: s.Seq, Time: s.Updated, Actor: "study", Body: s.Due()[0]})
		if err == nil {
			err = s.Fold(e)
		}
		if err != nil {
			return err
		}
		events = append(events, e)
	}
	if len(events) == 0 {
		return nil
	}
	return m.Log.Append(ctx, ledger.Batch{Quest: s.Name, Events: events})
}

// Progress is told of a study's quests while it is conducted.
type Progress struct {
	// Begun is told once the study is claimed, and noted if a server conducts it.
	Begun func()
	// Began is told when a cell's quest is about to run, Ended when the study knows what came of it,
	// Rests when it came to rest for now.
	Began, Ended func(c survey.Cell)
	Rests        func(c survey.Cell, why string)
}

// worked is what became of a cell's quest in this process.
type worked struct {
	cell int64
	seen *event.SurveyObserved // nil if it is not over
	rest string
	err  error
}

// Conduct goes on with a study until all its cells were observed, or none can go on by itself. Once
// interrupt is closed, the quests are paused, and Conduct returns when what is under way came in. The
// error of one quest stops no other.
func (m *Studies) Conduct(ctx context.Context, name string, interrupt <-chan struct{}, p Progress) (*survey.State, error) {
	claim, err := m.Log.Claim(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("run study %s: %w", name, err)
	}
	defer claim.Release()
	s, err := m.Load(ctx, name)
	if err == nil {
		err = m.mark(ctx, name)
	}
	if err != nil {
		return nil, err
	}
	if p.Begun != nil {
		p.Begun()
	}
	s, err = m.conduct(ctx, s, interrupt, p)
	if m.Served != nil && !m.Served(s, err) {
		// Though ctx has ended: a server that goes away is no reason to keep the note of a study that is over.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteTime)
		defer cancel()
		err = errors.Join(err, m.Log.Unwant(ctx, name))
	}
	return s, err
}

// noteTime is how long a study that has ended waits for the store to note it.
const noteTime = 5 * time.Second

// mark notes that a server conducts a study, or forgets it. The study is claimed.
func (m *Studies) mark(ctx context.Context, name string) error {
	if m.Served == nil {
		return m.Log.Unwant(ctx, name)
	}
	return m.Log.Want(ctx, ledger.Wanted{Quest: name})
}

func (m *Studies) conduct(ctx context.Context, s *survey.State, interrupt <-chan struct{}, p Progress) (*survey.State, error) {
	if err := m.record(ctx, s, nil); err != nil {
		return s, err
	}
	var work sync.WaitGroup
	defer work.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // before work.Wait: whoever leaves early takes the quests' runs along
	results := make(chan worked)
	begun, under := map[int64]bool{}, 0
	var failed error
	for {
		for i := range s.Cells {
			c := s.Cells[i]
			if !c.Open() || begun[c.Number] || ended(interrupt) || ctx.Err() != nil {
				continue
			}
			begun[c.Number] = true
			under++
			p.began(c)
			snapshot := *s
			work.Go(func() {
				select {
				case results <- m.work(ctx, &snapshot, c, interrupt):
				case <-ctx.Done():
				}
			})
		}
		if under == 0 {
			break
		}
		select {
		case w := <-results:
			under--
			if err := m.take(ctx, s, w, p, &failed); err != nil {
				return s, fmt.Errorf("study %s: %w", s.Name, err)
			}
		case <-ctx.Done():
			return s, ctx.Err()
		}
	}
	if failed == nil && ended(interrupt) && !s.Over {
		failed = runtime.ErrInterrupted
	}
	return s, failed
}

// take records what became of a cell's quest.
func (m *Studies) take(ctx context.Context, s *survey.State, w worked, p Progress, failed *error) error {
	c := &s.Cells[w.cell-1]
	switch {
	case w.err != nil:
		*failed = errors.Join(*failed, fmt.Errorf("cell %d, quest %s: %w", c.Number, c.Quest, w.err))
		return nil
	case w.seen == nil:
		p.rests(*c, w.rest)
		return nil
	}
	e, err := event.Seal(s.Name, s.Seq+1, s.Hash, event.Draft{Time: m.Runtime.Clock(), Actor: "study", Body: w.seen})
	if err == nil {
		err = s.Fold(e)
	}
	if err == nil {
		err = m.record(ctx, s, []event.Event{e})
	}
	if err == nil {
		p.ended(*c)
	}
	return err
}

func ended(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func (p *Progress) began(c survey.Cell) {
	if p.Began != nil {
		p.Began(c)
	}
}

func (p *Progress) ended(c survey.Cell) {
	if p.Ended != nil {
		p.Ended(c)
	}
}

func (p *Progress) rests(c survey.Cell, why string) {
	if p.Rests != nil {
		p.Rests(c, why)
	}
}
