package survey

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/strictyaml"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// What a design may hold. MaxName leaves room for the number that a quest's name ends with.
const (
	MaxCells    = 500
	MaxParallel = 16
	MaxName     = 56
)

// Draft is a design that is being made, with the study's name.
type Draft struct {
	Name string
	event.SurveyDesigned
}

// Parse reads the file of a study. file is its name in errors.
func Parse(file string, data []byte) (*Draft, error) {
	n, err := strictyaml.Document(file, data)
	if err != nil {
		return nil, err
	}
	d := &Draft{SurveyDesigned: event.SurveyDesigned{Parallel: 1}}
	err = strictyaml.Fields(n, "a study", map[string]func(ast.Node) error{
		"name":      strictyaml.Word(&d.Name),
		"question":  strictyaml.Word(&d.Question),
		"models":    d.readModels,
		"seeds":     d.readSeeds,
		"societies": d.readArms,
		"budget":    d.readBudget,
		"parallel":  strictyaml.Integer(&d.Parallel, 1),
		"quest": func(n ast.Node) (err error) {
			d.Common, err = mapping(n, "quest")
			return err
		},
	})
	return d, strictyaml.InFile(file, err)
}

// listed reads one value, or a list of them.
func listed(n ast.Node, what string, read func(ast.Node) error) error {
	if _, ok := n.(*ast.SequenceNode); ok {
		return strictyaml.Each(n, what, read)
	}
	return read(n)
}

func (d *Draft) readModels(n ast.Node) error {
	return listed(n, "models", func(n ast.Node) error {
		name, err := strictyaml.Scalar(n)
		d.Models = append(d.Models, name)
		return err
	})
}

func (d *Draft) readSeeds(n ast.Node) error {
	return listed(n, "seeds", func(n ast.Node) error {
		text, err := strictyaml.Scalar(n)
		if err == nil {
			err = strictyaml.Wrap(n, d.AddSeeds(text))
		}
		return err
	})
}

func (d *Draft) readBudget(n ast.Node) error {
	text, err := strictyaml.Scalar(n)
	if err == nil {
		err = strictyaml.Wrap(n, d.SetBudget(text))
	}
	return err
}

// readArms reads societies: a name, or a mapping with society, label, and what the quest.yaml of such
// quests says besides.
func (d *Draft) readArms(n ast.Node) error {
	return listed(n, "societies", func(n ast.Node) error {
		if _, ok := strictyaml.Pairs(n); !ok {
			text, err := strictyaml.Scalar(n)
			if err == nil {
				err = strictyaml.Wrap(n, d.AddSociety(text))
			}
			return err
		}
		text, err := mapping(n, "a society")
		if err != nil {
			return err
		}
		var keys yaml.MapSlice
		if err := yaml.Unmarshal([]byte(text), &keys); err != nil {
			return strictyaml.Wrap(n, err)
		}
		arm := event.SurveyArm{Society: takeText(&keys, "society"), Label: takeText(&keys, "label")}
		if len(keys) > 0 {
			if arm.Spec, err = written(keys); err != nil {
				return err
			}
		}
		d.Arms = append(d.Arms, arm)
		return nil
	})
}

// mapping is a mapping of a file as YAML of its own.
func mapping(n ast.Node, what string) (string, error) {
	if _, ok := strictyaml.Pairs(n); !ok {
		return "", strictyaml.At(n, "%s must be a mapping with keys of a quest.yaml", what)
	}
	var keys yaml.MapSlice
	if err := yaml.NodeToValue(n, &keys); err != nil {
		return "", strictyaml.Wrap(n, err)
	}
	return written(keys)
}

func written(keys yaml.MapSlice) (string, error) {
	data, err := yaml.Marshal(keys)
	return string(data), err
}

// takeText takes a key with a text out of a mapping.
func takeText(keys *yaml.MapSlice, key string) (text string) {
	*keys = slices.DeleteFunc(*keys, func(i yaml.MapItem) bool {
		if i.Key != key {
			return false
		}
		text = fmt.Sprint(i.Value)
		return true
	})
	return text
}

// AddSociety adds one as a flag names it: its name, and after a colon how many agents it has.
func (d *Draft) AddSociety(text string) error {
	name, agents, many := strings.Cut(text, ":")
	arm := event.SurveyArm{Society: name}
	if many {
		n, err := strconv.ParseUint(agents, 10, 16)
		if err != nil || n == 0 {
			return fmt.Errorf("%.40q: want a society, or one with a number of agents, such as lab:3", text)
		}
		arm.Spec = fmt.Sprintf("agents: %d\n", n)
	}
	d.Arms = append(d.Arms, arm)
	return nil
}

// AddSeeds adds a seed, or those from one to another: 7, or 1..3.
func (d *Draft) AddSeeds(text string) error {
	from, to, many := strings.Cut(text, "..")
	if !many {
		to = from
	}
	first, err := strconv.ParseUint(strings.TrimSpace(from), 10, 64)
	last, err2 := strconv.ParseUint(strings.TrimSpace(to), 10, 64)
	if err := errors.Join(err, err2); err != nil || last < first {
		return fmt.Errorf("%.40q: want a number, or a range such as 1..3", text)
	}
	if last-first >= MaxCells {
		return fmt.Errorf("%.40q are more than %d seeds", text, MaxCells)
	}
	for seed := first; ; seed++ {
		d.Seeds = append(d.Seeds, strconv.FormatUint(seed, 10))
		if seed == last || seed == math.MaxUint64 {
			return nil
		}
	}
}

// SetBudget reads an amount in US dollars.
func (d *Draft) SetBudget(text string) error {
	usd, err := quest.ParseUSD(text)
	d.Budget = int64(usd)
	return err
}

// Complete gives a draft what nobody said: a seed, a society, and labels that differ.
func (d *Draft) Complete() {
	if len(d.Seeds) == 0 {
		d.Seeds = []string{"1"}
	}
	if len(d.Arms) == 0 {
		d.Arms = []event.SurveyArm{{Society: "solo"}}
	}
	taken := map[string]int{}
	for i := range d.Arms {
		a := &d.Arms[i]
		if a.Label == "" {
			a.Label = a.Society
		}
		if taken[a.Label]++; taken[a.Label] > 1 {
			a.Label = fmt.Sprintf("%s-%d", a.Label, taken[a.Label])
		}
	}
}

// Check tells what is wrong with the design of a study, all of it. quest.FieldOf has the key of the
// file that each fault is about.
func Check(name string, d *event.SurveyDesigned) error {
	var faults []error
	bad := func(key, format string, args ...any) { faults = append(faults, quest.Fault(key, format, args...)) }
	if !event.ValidName(name) || len(name) > MaxName {
		bad("name", "name %.80q: want %s, and at most %d of them", name, event.NameRule, MaxName)
	}
	if strings.TrimSpace(d.Question) == "" {
		bad("question", "no question: give question")
	}
	for what, list := range map[string][]string{"models": d.Models, "seeds": d.Seeds} {
		if len(list) == 0 {
			bad(what, "no %s: give at least one", what)
		}
		for i, one := range list {
			if one == "" || slices.Contains(list[:i], one) {
				bad(what, "%s: %.80q is there twice, or empty", what, one)
			}
		}
	}
	labels := map[string]bool{}
	for _, a := range d.Arms {
		if a.Society == "" || a.Label == "" || labels[a.Label] {
			bad("societies", "societies: each has a society, and a label that no other has: %.80q", a.Label)
		}
		labels[a.Label] = true
		faults = append(faults, checkKeys("societies", a.Spec)...)
	}
	faults = append(faults, checkKeys("quest", d.Common)...)
	count := len(d.Seeds) * len(d.Arms) * len(d.Models)
	if len(d.Arms) == 0 || count > MaxCells {
		bad("seeds", "models × seeds × societies are %d quests: want 1 to %d", count, MaxCells)
	}
	if d.Parallel < 1 || d.Parallel > MaxParallel {
		bad("parallel", "parallel must be from 1 to %d", MaxParallel)
	}
	if Share(d) < 1 {
		bad("budget", "no budget: give budget in US dollars, for all %d quests together", max(count, 1))
	}
	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return strictyaml.Join(faults)
}

// Mended is a draft with something in the place of what is missing in it: what is wrong with its quests
// can be found though it has no name, no question or no budget yet.
func (d *Draft) Mended() *Draft {
	out := *d
	if !event.ValidName(out.Name) || len(out.Name) > MaxName {
		out.Name = "study"
	}
	if strings.TrimSpace(out.Question) == "" {
		out.Question = "What?"
	}
	if Share(&out.SurveyDesigned) < 1 {
		out.Budget = MaxCells * 1e9
	}
	out.Parallel = min(max(out.Parallel, 1), MaxParallel)
	return &out
}

// kept are the keys of a quest.yaml that a study sets itself, or that name files: a study goes on
// wherever it is given, and so has none.
var kept = []string{"name", "problem", "problem_file", "society", "model", "seed", "data", "repo", "base", "prepare", "deliver", "prompts"}

// checkKeys looks at what a quest.yaml is to say besides.
func checkKeys(what, text string) (faults []error) {
	keys, err := keysOf(text)
	if err != nil {
		return []error{quest.Fault(what, "%s: %v", what, err)}
	}
	for _, k := range keys {
		name := fmt.Sprint(k.Key)
		if slices.Contains(kept, name) {
			faults = append(faults, quest.Fault(what, "%s: %s cannot stand here: the study says it, or it names files, which a study has none of", what, name))
		}
		if limits, ok := k.Value.(yaml.MapSlice); ok && name == "limits" {
			for _, l := range limits {
				if l.Key == "cost" || l.Key == "strict" {
					faults = append(faults, quest.Fault(what, "%s: limits.%s cannot stand here: each quest gets its share of the budget", what, l.Key))
				}
			}
		}
	}
	return faults
}

func keysOf(text string) (keys yaml.MapSlice, err error) {
	if text == "" {
		return nil, nil
	}
	if _, err := strictyaml.Tokens("", []byte(text)); err != nil {
		return nil, err
	}
	err = yaml.UnmarshalWithOptions([]byte(text), &keys, yaml.UseOrderedMap())
	return keys, err
}

// Source is the quest.yaml of a cell. Its first line has the hash of the study's first event: by it a
// quest that is there already is known as the cell's own, and no other's.
func (s *State) Source(c *Cell) ([]byte, error) {
	common, err := keysOf(s.Design.Common)
	if err != nil {
		return nil, err
	}
	own, err := keysOf(c.Arm.Spec)
	if err != nil {
		return nil, err
	}
	seed, err := strconv.ParseUint(c.Seed, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("seed %.40q is no number", c.Seed)
	}
	keys := yaml.MapSlice{{Key: "name", Value: c.Quest}, {Key: "problem", Value: s.Design.Question}, {Key: "society", Value: c.Arm.Society}, {Key: "model", Value: c.Model}, {Key: "seed", Value: seed}}
	limits := yaml.MapSlice{{Key: "cost", Value: quest.USD(Share(s.Design))}}
	if s.Design.Strict {
		limits = append(limits, yaml.MapItem{Key: "strict", Value: true})
	}
	for _, more := range append(own, without(common, own)...) {
		if l, ok := more.Value.(yaml.MapSlice); ok && more.Key == "limits" {
			limits = append(limits, l...)
			continue
		}
		keys = append(keys, more)
	}
	data, err := yaml.Marshal(append(keys, yaml.MapItem{Key: "limits", Value: limits}))
	return append(fmt.Appendf(nil, "# Cell %d of study %s, whose ledger begins with %s.\n", c.Number, s.Name, s.First), data...), err
}

// without are those of a mapping that another does not have.
func without(keys, other yaml.MapSlice) (out yaml.MapSlice) {
	for _, k := range keys {
		if !slices.ContainsFunc(other, func(o yaml.MapItem) bool { return o.Key == k.Key }) {
			out = append(out, k)
		}
	}
	return out
}
