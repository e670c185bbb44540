package runtime

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"lyceum/internal/profile"
	"lyceum/internal/quest"

	"github.com/goccy/go-yaml"
)

// Plan is a spec with all it refers to. A Draft makes one.
type Plan struct {
	Spec *quest.Spec
	// Source is the spec as it was written.
	Source []byte
	// Dir is the folder that the spec's paths are in. No path can leave it.
	Dir string
	// Dockerfile is what the spec's computer.dockerfile holds, if it is not to be read
	// from Dir.
	Dockerfile []byte
	// Say is told what is worth a person's knowing, if it is not nil.
	Say func(string)
}

// MaxSource is how many bytes a quest.yaml, or a question without one, may have.
const MaxSource = 1 << 20

// Draft is what somebody wants a quest to be made of: a quest.yaml, or a spec without a
// file, and what shall be otherwise than it says. The command line fills a Draft from
// flags and the API from the members of a request. What may be said and what follows
// from it is decided here, once for both.
type Draft struct {
	// Source is a quest.yaml, File its name in errors. Without a Source, Spec is what the
	// quest is made of, and is written down as its source.
	File   string
	Source []byte
	Spec   *quest.Spec
	// Dir is the folder that the spec's paths are in. Home holds the profiles.
	Dir, Home string
	// Name and Model are what a spec gets that names none.
	Name, Model string
	// Changes are what shall be otherwise than the spec says.
	Changes Changes
}

// Changes are what shall be otherwise than a spec says. What is nil or empty stays.
type Changes struct {
	// Name, Model and Profile are the whole quest's: groups of agents lose their own.
	Name, Model string
	Profile     *string
	Seed        *uint64
	Thinking    *bool
	// Society follows from Agents, Corpus or Audit where neither it nor the spec says one.
	Society                        *string
	Agents, Reviewers              *int64
	Corpus, Data, Audit, WaitUntil *string
	Limits                         quest.Bounds
	// Computer is a driver; the rest of the computer stays as the spec or its profile
	// has it. A Dockerfile means docker if no driver is named.
	Computer   string
	Dockerfile *Dockerfile
}

// Dockerfile is what an image is built from, and what the file is called.
type Dockerfile struct {
	Name string
	Data []byte
}

// Plan checks a draft as a whole. An error about a quest.yaml alone names the line. Any
// other is a *PlanError; quest.FieldOf knows the key that it is about.
func (d *Draft) Plan() (Plan, error) {
	p := Plan{Source: d.Source, Dir: d.Dir}
	var err error
	if p.Spec, err = d.read(); err != nil {
		return Plan{}, err
	}
	if err := d.Changes.apply(&p, d.Home); err != nil {
		return Plan{}, &PlanError{err}
	}
	if p.Spec.Name = cmp.Or(p.Spec.Name, d.Name); p.Spec.Name == "" {
		return Plan{}, &PlanError{quest.Fault("name", "give the quest a name")}
	}
	if err := p.Spec.Check(); err != nil {
		return Plan{}, &PlanError{err}
	}
	if p.Source == nil {
		if p.Source, err = yaml.Marshal(p.Spec); err != nil {
			return Plan{}, fmt.Errorf("write the quest down: %w", err)
		}
	}
	if p.Spec.Model == "" && !ByRules(p.Spec) {
		p.Spec.Model = d.Model
	}
	return p, nil
}

// read returns the spec of a draft, which may then be changed.
func (d *Draft) read() (*quest.Spec, error) {
	if len(d.Source) > MaxSource {
		return nil, BadPlan("%s has more than %d bytes: put long texts into files of their own", d.File, MaxSource)
	}
	if d.Source != nil {
		return quest.ParseSpec(d.File, d.Source)
	}
	if len(d.Spec.Question()) > MaxSource {
		return nil, &PlanError{quest.Fault("problem", "the question has more than %d bytes: give it as a file, and shorter", MaxSource)}
	}
	spec := *d.Spec
	spec.Agents = slices.Clone(spec.Agents)
	return &spec, nil
}

// NoModel says that agents would have nothing to think with.
const NoModel = "no model: give model in quest.yaml, in config.yaml, or --model (demo needs no key)"

// ByRules reports whether a quest works without a model: a contract net without one
// works by rules alone.
func ByRules(s *quest.Spec) bool { return s.Model == "" && s.IsContract() }

// society is the one that is meant where none is named: a corpus and an audit are those
// of a contract net, and several agents make a lab.
func (c *Changes) society() string {
	switch {
	case c.Corpus != nil, c.Audit != nil:
		return "contract"
	case c.Agents != nil:
		return "lab"
	}
	return ""
}

func (c *Changes) apply(p *Plan, home string) error {
	s := p.Spec
	set(&s.Society, c.Society)
	s.Society = cmp.Or(s.Society, c.society())
	if c.Agents != nil {
		if *c.Agents < 1 || *c.Agents > quest.MaxAgents {
			return quest.Fault("agents", "agents must be a whole number from 1 to %d", quest.MaxAgents)
		}
		s.Agents = quest.Agents{{Count: *c.Agents}}
	}
	s.Name = cmp.Or(c.Name, s.Name)
	set(&s.Profile, c.Profile)
	s.Model = cmp.Or(c.Model, s.Model)
	for i := range s.Agents {
		if c.Model != "" {
			s.Agents[i].Model = ""
		}
		if c.Profile != nil {
			s.Agents[i].Profile = ""
		}
	}
	set(&s.Seed, c.Seed)
	set(&s.Corpus, c.Corpus)
	set(&s.Data, c.Data)
	set(&s.Audit, c.Audit)
	set(&s.WaitUntil, c.WaitUntil)
	s.Thinking = cmp.Or(c.Thinking, s.Thinking)
	s.Reviewers = cmp.Or(c.Reviewers, s.Reviewers)
	s.Limits.Override(c.Limits)
	return c.computer(p, home)
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// computer changes what the agents' computers would be otherwise, be it by the spec or
// by its profile.
func (c *Changes) computer(p *Plan, home string) error {
	driver := c.Computer
	if c.Dockerfile != nil {
		driver = cmp.Or(driver, "docker")
	}
	switch {
	case driver == "":
		return nil
	case !slices.Contains(quest.Drivers, driver):
		return quest.Fault("computer", "%.40q is none of %s", driver, strings.Join(quest.Drivers, ", "))
	case c.Dockerfile != nil && (driver == "none" || driver == "bubblewrap"):
		return quest.Fault("computer", "a Dockerfile and %s: an image is for docker; leave one out", driver)
	case driver == "none":
		p.Spec.Computer = quest.Computer{Driver: driver}
		return nil
	}
	is := p.Spec.Computer
	if name := p.Spec.ComputerProfile(); is.IsZero() && name != "" {
		found, err := profile.Find(home, name)
		if err != nil {
			return err
		}
		is = found.Computer
	}
	is.Driver = driver
	if driver == "bubblewrap" {
		is.Dockerfile = "" // it has no images
	}
	if c.Dockerfile != nil {
		is.Dockerfile, p.Dockerfile = c.Dockerfile.Name, c.Dockerfile.Data
	}
	p.Spec.Computer = is
	return nil
}
