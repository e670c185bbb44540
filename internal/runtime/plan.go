package runtime

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/profile"
	"lyceum/internal/quest"
	"lyceum/internal/workspace"

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
	// Folders are folders elsewhere, by the key of the spec that they are read for instead
	// of one in Dir. A spec cannot name them: only the person who makes the quest can.
	Folders map[string]string
	// Over are files of the repo that hold something else than what is on the disk, by their
	// paths: what a person has in an editor.
	Over map[string][]byte
	// Sent says that Dir holds what a stranger sent. A repository in it is read as files.
	Sent bool
	// Run are limits that the quest will be run with: they are checked before there is one.
	Run event.Limits
	// Made is told the quest's first event once it is durable, if it is not nil.
	Made func(event.Event)
	// Say is told what is worth a person's knowing, if it is not nil.
	Say func(string)

	// file is what Source is called, empty where there is no file. changed are the keys whose
	// values are not the file's, and faults what its draft is wrong about.
	file    string
	changed map[string]bool
	// by is where changes come from, and the spec if it is no file.
	by     string
	faults []error
	// profiled is the profile that the spec's computer was taken from, if changes needed it.
	profiled string
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
	// By is who says so, and the spec if there is no file: one of FromFlag, which it is if empty,
	// FromRequest and FromSession.
	By string
}

// Changes are what shall be otherwise than a spec says. What is nil or empty stays.
type Changes struct {
	// Name, Model and Profile are the whole quest's: groups of agents lose their own.
	Name, Model string
	Profile     *string
	Seed        *uint64
	Thinking    quest.Thinking
	// Society follows from Keys or Agents where neither it nor the spec says one.
	Society *string
	Agents  *int64
	Data    *string
	// Repo and Base are those of the spec; where the folder is, Folders says.
	Repo, Base *string
	Limits     quest.Bounds
	// Keys are those of societies. An empty text takes away what the spec says.
	Keys quest.Keys
	// Computer is a driver; the rest of the computer stays as the spec or its profile
	// has it. A Dockerfile means docker if no driver is named.
	Computer   string
	Dockerfile *Dockerfile
	// AllowWrite and DenyRead take the place of the computer's lists.
	AllowWrite, DenyRead *[]string
	// Folders are absolute paths of folders, by the keys that have their names.
	Folders map[string]string
}

// Dockerfile is what an image is built from, and what the file is called.
type Dockerfile struct {
	Name string
	Data []byte
}

// Plan checks a draft as a whole. An error about a quest.yaml alone names the line. Any
// other is a *PlanError; quest.FieldOf knows the key that it is about. What may be said
// depends on the societies that there are. The plan of a quest.yaml that could be read in
// part comes with the error: Runtime.Faults finds out what else is wrong with it.
func (d *Draft) Plan(societies quest.Societies) (Plan, error) {
	p := Plan{Source: d.Source, Dir: d.Dir, by: cmp.Or(d.By, FromFlag), changed: d.Changes.keys()}
	if d.Source != nil {
		p.file = d.File
	}
	var err error
	if p.Spec, err = d.read(societies); p.Spec == nil {
		return Plan{}, err
	}
	if wrong := d.Changes.apply(&p, d.Home, societies); wrong != nil {
		err = quest.InOrder(append(quest.FaultsOf(err), &PlanError{wrong}))
	}
	if p.Spec.Name = cmp.Or(p.Spec.Name, d.Name); err == nil && p.Spec.Name == "" {
		err = &PlanError{quest.Fault("name", "give the quest a name")}
	}
	if err == nil {
		if wrong := societies.Check(p.Spec); wrong != nil {
			err = &PlanError{wrong}
		}
	}
	if err == nil && p.Source == nil { // without the configured model: nobody named it here
		var wrong error
		if p.Source, wrong = yaml.Marshal(p.Spec); wrong != nil {
			return Plan{}, fmt.Errorf("write the quest down: %w", wrong)
		}
	}
	if p.Spec.Model == "" && !societies.ByRules(p.Spec) {
		p.Spec.Model = d.Model
	}
	p.faults = quest.FaultsOf(err)
	return p, err
}

// read returns the spec of a draft, which may then be changed.
func (d *Draft) read(societies quest.Societies) (*quest.Spec, error) {
	if len(d.Source) > MaxSource {
		return nil, BadPlan("%s has more than %d bytes: put long texts into files of their own", d.File, MaxSource)
	}
	if d.Source != nil {
		return societies.ParseSpec(d.File, d.Source)
	}
	if len(societies.Question(d.Spec)) > MaxSource {
		return nil, &PlanError{quest.Fault("problem", "the question has more than %d bytes: give it as a file, and shorter", MaxSource)}
	}
	spec := *d.Spec
	spec.Agents, spec.Keys = slices.Clone(spec.Agents), maps.Clone(spec.Keys)
	return &spec, nil
}

// keys are those that are changed.
func (c *Changes) keys() map[string]bool {
	out := map[string]bool{
		"name": c.Name != "", "model": c.Model != "", "profile": c.Profile != nil, "seed": c.Seed != nil, "society": c.Society != nil,
		"agents": c.Agents != nil, "data": c.Data != nil, "repo": c.Repo != nil, "base": c.Base != nil, "computer": c.Computer != "" || c.Dockerfile != nil, "limits.strict": c.Limits.Strict,
		"computer.allow_write": c.AllowWrite != nil, "computer.deny_read": c.DenyRead != nil,
	}
	for key := range c.Keys {
		out[key] = true
	}
	limitKeys(out, c.Limits.Limits())
	return out
}

// limitKeys notes which limits are set.
func limitKeys(out map[string]bool, l event.Limits) {
	each := event.Share{}
	if l.Agent != nil {
		each = *l.Agent
	}
	for key, set := range map[string]bool{
		"limits.cost": l.Cost != nil, "limits.duration": l.Duration != nil, "limits.storage": l.Storage != nil, "limits.tokens": l.Tokens != nil, "limits.turns": l.Turns != nil,
		"limits.agent.cost": each.Cost != nil, "limits.agent.duration": each.Duration != nil, "limits.agent.storage": each.Storage != nil, "limits.agent.tokens": each.Tokens != nil, "limits.agent.turns": each.Turns != nil,
	} {
		out[key] = out[key] || set
	}
}

// NoModel says that agents would have nothing to think with.
const NoModel = "no model: give model in quest.yaml, in config.yaml, or --model (demo needs no key)"

func (c *Changes) apply(p *Plan, home string, societies quest.Societies) error {
	s := p.Spec
	p.Folders = c.Folders
	set(&s.Society, c.Society)
	s.Society = cmp.Or(s.Society, societies.Meant(c.Keys, c.Agents != nil))
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
		if c.Thinking != "" {
			s.Agents[i].Thinking = ""
		}
	}
	set(&s.Seed, c.Seed)
	set(&s.Data, c.Data)
	set(&s.Repo, c.Repo)
	set(&s.Base, c.Base)
	for key, value := range c.Keys {
		s.Set(key, value)
	}
	s.Thinking = cmp.Or(c.Thinking, s.Thinking)
	s.Limits.Override(c.Limits)
	return c.computer(p, home, societies)
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// computer changes what the agents' computers would be otherwise, be it by the spec or
// by its profile.
func (c *Changes) computer(p *Plan, home string, societies quest.Societies) error {
	driver := c.Computer
	if c.Dockerfile != nil {
		driver = cmp.Or(driver, "docker")
	}
	bounded := c.AllowWrite != nil || c.DenyRead != nil
	switch {
	case driver == "" && !bounded:
		return nil
	case driver != "" && !slices.Contains(quest.Drivers, driver):
		return quest.Fault("computer", "%.40q is none of %s", driver, strings.Join(quest.Drivers, ", "))
	case c.Dockerfile != nil && !quest.Imaged(driver):
		return quest.Fault("computer", "a Dockerfile and %s: an image is for docker; leave one out", driver)
	case driver == "none" && !bounded:
		p.Spec.Computer = quest.Computer{Driver: driver}
		return nil
	}
	is := p.Spec.Computer
	if name := societies.ComputerProfile(p.Spec); is.IsZero() && name != "" {
		found, err := profile.Find(home, name)
		if err != nil {
			return err
		}
		is, p.profiled = found.Computer, found.Name
	}
	if soc := societies.Named(p.Spec.Society); driver == "" && is.IsZero() && soc != nil && soc.Traits().Computes {
		driver = "auto"
	}
	is.Driver = cmp.Or(driver, is.Driver)
	if err := c.bound(&is); err != nil {
		return err
	}
	if !quest.Imaged(is.Driver) {
		is.Dockerfile = ""
	}
	if c.Dockerfile != nil {
		is.Dockerfile, p.Dockerfile = c.Dockerfile.Name, c.Dockerfile.Data
	}
	p.Spec.Computer = is
	return nil
}

// bound gives a computer the bounds that are changed. Where there is no computer nothing would hold
// them.
func (c *Changes) bound(is *quest.Computer) error {
	for _, b := range []struct {
		key  string
		most *[]string
		list *[]string
		form func(string) (string, error)
	}{{"allow_write", c.AllowWrite, &is.AllowWrite, workspace.WritePath}, {"deny_read", c.DenyRead, &is.DenyRead, workspace.HideName}} {
		if b.most == nil {
			continue
		}
		if is.None() {
			return quest.Fault(b.key, "the agents of this quest have no computers, and nothing else holds it: give computer: auto, or leave it out")
		}
		list := []string{}
		for _, text := range *b.most {
			one, err := b.form(text)
			if err != nil {
				return quest.Fault(b.key, "%v", err)
			}
			if !slices.Contains(list, one) {
				list = append(list, one)
			}
		}
		if b.key == "allow_write" && len(list) == 0 {
			return quest.Fault(b.key, "name at least one folder: %s alone keeps all of the home as it is", workspace.Temp)
		}
		*b.list = list
		if err := (workspace.Bounds{Write: is.AllowWrite, Hide: is.DenyRead}).Check(); err != nil {
			return quest.Fault(b.key, "%v", err)
		}
	}
	return nil
}
