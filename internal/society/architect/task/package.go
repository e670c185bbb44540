package task

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/strictyaml"
)

// Modes of an executor's tools.
const (
	ModeFull     = "full"
	ModeReadOnly = "read-only"
)

// Package is all that an executor is told of a task, but for the text of the snapshot.
type Package struct {
	Session string `yaml:"session_id"`
	Task    string `yaml:"task_id"`
	// Context is the hash of the snapshot that goes with it.
	Context     string      `yaml:"context_ref"`
	Instruction Instruction `yaml:"instruction"`
	Runtime     Runtime     `yaml:"runtime"`
}

// Instruction is what is to be done.
type Instruction struct {
	Goal  string       `yaml:"goal"`
	Scope PackageScope `yaml:"scope"`
	// Acceptance are commands that will be run, and what else must hold, in words.
	Acceptance  []string    `yaml:"acceptance"`
	Constraints Constraints `yaml:"constraints"`
}

// PackageScope is which files may change.
type PackageScope struct {
	Include []string `yaml:"include_paths"`
	Exclude []string `yaml:"exclude_paths"`
}

// Constraints are the limits of a run.
type Constraints struct {
	Calls   int64    `yaml:"max_cli_calls"`
	Seconds int64    `yaml:"max_duration_seconds"`
	NoTouch []string `yaml:"no_touch"`
}

// Runtime is where an executor works.
type Runtime struct {
	Dir         string `yaml:"cwd"`
	Mode        string `yaml:"tool_mode"`
	Fingerprint string `yaml:"environment_fingerprint"`
}

// Scope is what the package allows.
func (p *Package) Scope() Scope {
	i := p.Instruction
	return Of(event.TaskScope{Include: i.Scope.Include, Exclude: i.Scope.Exclude, NoTouch: i.Constraints.NoTouch})
}

// Encode writes a package. DecodePackage gives it back, and that encodes to the same bytes.
func (p *Package) Encode() []byte { return encode(*p) }

// DecodePackage reads a package.
func DecodePackage(data []byte) (*Package, error) {
	p := new(Package)
	if !readOwn(data, p) {
		if err := strictyaml.Decode("package", data, p); err != nil {
			return nil, err
		}
	}
	for _, l := range []*[]string{&p.Instruction.Scope.Include, &p.Instruction.Scope.Exclude, &p.Instruction.Acceptance, &p.Instruction.Constraints.NoTouch} {
		if len(*l) == 0 {
			*l = nil
		}
	}
	if err := p.Check(); err != nil {
		return nil, fmt.Errorf("package: %w", err)
	}
	return p, nil
}

// Check says what a package lacks.
func (p *Package) Check() error {
	i := p.Instruction
	switch {
	case p.Session == "" || p.Task == "" || p.Context == "":
		return errors.New("session_id, task_id and context_ref must be there")
	case strings.TrimSpace(i.Goal) == "":
		return errors.New("instruction.goal is empty")
	case len(i.Acceptance) == 0:
		return errors.New("instruction.acceptance is empty")
	case i.Constraints.Calls < 0 || i.Constraints.Seconds < 0:
		return errors.New("instruction.constraints: a limit is below zero")
	case !path.IsAbs(p.Runtime.Dir) || path.Clean(p.Runtime.Dir) != p.Runtime.Dir:
		return errors.New("runtime.cwd must be an absolute path")
	case p.Runtime.Mode != ModeFull && p.Runtime.Mode != ModeReadOnly:
		return fmt.Errorf("runtime.tool_mode must be %s or %s", ModeFull, ModeReadOnly)
	}
	if err := p.Scope().Check(); err != nil {
		return fmt.Errorf("instruction.scope: %w", err)
	}
	return nil
}
