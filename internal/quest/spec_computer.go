package quest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/strictyaml"
	"lyceum/internal/workspace"

	"github.com/goccy/go-yaml/ast"
	"github.com/google/jsonschema-go/jsonschema"
)

// Computer is what a quest.yaml says of its agents' computers: a word, or a mapping.
// The zero value is that it says nothing; then the profile does, or there are none.
type Computer struct {
	// Driver is one of Drivers, or empty.
	Driver string
	// Dockerfile is a file beside quest.yaml that an image is built from.
	Dockerfile string
	// Limits are zero where the spec says nothing: the computer's own default.
	Limits  event.ComputerLimits
	Network event.ComputerNetwork
	// AllowWrite and DenyRead are nil where the spec says nothing.
	AllowWrite, DenyRead []string
}

// Drivers are what a quest.yaml can have for a computer.
var Drivers = []string{"none", "auto", "namespaces", "bubblewrap", "docker"}

// Imaged reports whether the computers of a driver can be made of an image. The others have
// the programs of the machine.
func Imaged(driver string) bool { return driver == "auto" || driver == "docker" }

// The least that a program can work with, and the most that is believed to be meant.
const (
	minMemory    = 32 << 20
	minDisk      = 1 << 20
	maxSize      = 1 << 50
	minProcesses = 32
	maxProcesses = 1 << 22 // Linux has no more
	minFiles     = 16
	maxFiles     = 1 << 20
	minCPUs      = 50
	maxCPUs      = 10_000_000
	minWall      = 1_000_000
	maxWall      = 1 << 52
)

// How much a list of hosts may hold. It stands in the quest's first event.
const (
	maxAllow      = 100
	maxHost       = 255
	maxAllowBytes = 4 << 10
)

// IsZero reports whether nothing is said of computers.
func (c Computer) IsZero() bool { return c.Driver == "" }

// None reports whether there is no computer.
func (c Computer) None() bool { return c.Driver == "" || c.Driver == "none" }

// Spec is what quest.created says of it, nil if there is none. dockerfile is the blob
// of the file that c names.
func (c Computer) Spec(dockerfile *event.Ref) *event.ComputerSpec {
	if c.None() {
		return nil
	}
	return &event.ComputerSpec{AllowWrite: c.AllowWrite, DenyRead: c.DenyRead, Dockerfile: dockerfile, Driver: c.Driver, Limits: c.Limits, Network: c.Network}
}

// UnmarshalYAML implements yaml.NodeUnmarshaler.
func (c *Computer) UnmarshalYAML(n ast.Node) error {
	*c = Computer{}
	pairs, ok := strictyaml.Pairs(n)
	if !ok {
		if _, err := strictyaml.Scalar(n); err != nil {
			return strictyaml.At(n, "computer must be one of %s, or a mapping", strings.Join(Drivers, ", "))
		}
		return strictyaml.Choice(&c.Driver, Drivers...)(n)
	}
	c.Driver = "auto"
	err := strictyaml.Fields(n, "computer", map[string]func(ast.Node) error{
		"driver":      strictyaml.Choice(&c.Driver, Drivers...),
		"dockerfile":  strictyaml.Word(&c.Dockerfile),
		"network":     c.readNetwork,
		"memory":      sized(&c.Limits.Memory, minMemory, "32MiB"),
		"disk":        sized(&c.Limits.Disk, minDisk, "1MiB"),
		"processes":   counted(&c.Limits.Processes, minProcesses, maxProcesses),
		"files":       counted(&c.Limits.Files, minFiles, maxFiles),
		"cpus":        cores(&c.Limits.CPUs),
		"wall":        lasting(&c.Limits.Wall),
		"allow_write": strictyaml.Texts(&c.AllowWrite, "allow_write", 1, workspace.WritePath),
		"deny_read":   strictyaml.Texts(&c.DenyRead, "deny_read", 0, workspace.HideName),
	})
	if err == nil {
		err = strictyaml.Wrap(n, workspace.Bounds{Write: c.AllowWrite, Hide: c.DenyRead}.Check())
	}
	switch {
	case err != nil:
		return err
	case c.Driver == "none" && len(pairs) > 1:
		return strictyaml.At(n, "there is no computer, and more is said of it: leave that out, or choose a driver")
	case c.Driver != "none" && !Imaged(c.Driver) && c.Dockerfile != "":
		return strictyaml.At(n, "%s uses the programs of this machine and no image: leave dockerfile out, or choose docker", c.Driver)
	}
	return nil
}

// readNetwork reads none, open, or a mapping with the hosts to allow.
func (c *Computer) readNetwork(n ast.Node) error {
	if _, ok := strictyaml.Pairs(n); ok {
		return strictyaml.Fields(n, "network", map[string]func(ast.Node) error{"allow": c.readAllow})
	}
	mode := ""
	if err := strictyaml.Choice(&mode, "none", "open")(n); err != nil {
		return strictyaml.At(n, "it must be none, open, or a mapping with allow, a list of hosts")
	}
	c.Network.Open = mode == "open"
	return nil
}

// readAllow reads a list of hosts. What they mean, the proxy knows; here they are
// only kept from being something else than names.
func (c *Computer) readAllow(n ast.Node) error {
	size, full := 0, false
	err := strictyaml.Each(n, "allow", func(n ast.Node) error {
		host, err := strictyaml.Scalar(n)
		if err != nil || full {
			return err
		}
		size += event.Weight(host) + 3
		full = len(c.Network.Allow) == maxAllow || size > maxAllowBytes // which is said once
		switch {
		case host == "" || len(host) > maxHost || !plain.Printable(host) || strings.Contains(host, " "):
			return strictyaml.At(n, "%.40q is no host: want 1 to %d bytes that can be printed", host, maxHost)
		case len(c.Network.Allow) == maxAllow:
			return strictyaml.At(n, "there are more than %d hosts: allow a domain, as *.example.org, or say open", maxAllow)
		case size > maxAllowBytes:
			return strictyaml.At(n, "the hosts take more than %d bytes: allow a domain, as *.example.org, or say open", maxAllowBytes)
		case slices.Contains(c.Network.Allow, host):
			return strictyaml.At(n, "%s is listed twice", host)
		}
		c.Network.Allow = append(c.Network.Allow, host)
		return nil
	})
	if err == nil && len(c.Network.Allow) == 0 {
		err = strictyaml.At(n, "it is empty: list a host, or say network: none")
	}
	return err
}

// ParseCPUs reads a number of cores, such as 2 or 1.5, in thousandths. It never passes
// through a float.
func ParseCPUs(s string) (int64, error) {
	whole, frac, point := strings.Cut(s, ".")
	digits := whole + frac + strings.Repeat("0", max(0, 3-len(frac)))
	n, err := strconv.ParseUint(digits, 10, 63)
	if err != nil || whole == "" || point && frac == "" || len(frac) > 3 || strings.Contains(s, "+") {
		return 0, fmt.Errorf("%.40q is not a number of cores, such as 2 or 1.5, with at most 3 places", s)
	}
	return int64(n), nil
}

func formatCPUs(n int64) string {
	return strings.TrimRight(strings.TrimRight(fmt.Sprintf("%d.%03d", n/1000, n%1000), "0"), ".")
}

func sized(to *int64, least int64, words string) func(ast.Node) error {
	return func(n ast.Node) error {
		text, err := strictyaml.Scalar(n)
		if err != nil {
			return err
		}
		if *to, err = strictyaml.ParseSize(text); err == nil && (*to < least || *to > maxSize) {
			err = fmt.Errorf("%.40s is out of range: want %s to 1024TiB", text, words)
		}
		return strictyaml.Wrap(n, err)
	}
}

func counted(to *int64, least, most int64) func(ast.Node) error {
	return func(n ast.Node) error {
		if err := strictyaml.Integer(to, least)(n); err != nil || *to > most {
			return strictyaml.At(n, "it must be a whole number from %d to %d", least, most)
		}
		return nil
	}
}

func cores(to *int64) func(ast.Node) error {
	return func(n ast.Node) error {
		text, err := strictyaml.Scalar(n)
		if err != nil {
			return err
		}
		if *to, err = ParseCPUs(text); err == nil && (*to < minCPUs || *to > maxCPUs) {
			err = fmt.Errorf("%.40s is out of range: want %s to %s cores", text, formatCPUs(minCPUs), formatCPUs(maxCPUs))
		}
		return strictyaml.Wrap(n, err)
	}
}

func lasting(to *int64) func(ast.Node) error {
	return func(n ast.Node) error {
		text, err := strictyaml.Scalar(n)
		if err != nil {
			return err
		}
		d, err := ParseDuration(text)
		if err == nil && (d < minWall || d > maxWall) {
			err = fmt.Errorf("%.40s is out of range: want at least 1s", text)
		}
		*to = int64(d)
		return strictyaml.Wrap(n, err)
	}
}

// MarshalYAML implements yaml.InterfaceMarshaler: what UnmarshalYAML reads.
func (c Computer) MarshalYAML() (any, error) {
	w := written{AllowWrite: c.AllowWrite, Driver: c.Driver, Dockerfile: c.Dockerfile, Processes: c.Limits.Processes, Files: c.Limits.Files}
	if c.None() {
		return "none", nil
	}
	if c.DenyRead != nil {
		w.DenyRead = c.DenyRead
	}
	switch {
	case c.Network.Open:
		w.Network = "open"
	case len(c.Network.Allow) > 0:
		w.Network = map[string][]string{"allow": c.Network.Allow}
	}
	for _, s := range []struct {
		to     *string
		n      int64
		format func(int64) string
	}{{&w.Memory, c.Limits.Memory, strictyaml.FormatSize}, {&w.Disk, c.Limits.Disk, strictyaml.FormatSize}, {&w.CPUs, c.Limits.CPUs, formatCPUs},
		{&w.Wall, c.Limits.Wall, func(n int64) string { return Duration(n).String() }}} {
		if s.n > 0 {
			*s.to = s.format(s.n)
		}
	}
	return w, nil
}

// written is the form of a Computer in YAML.
type written struct {
	Driver     string `yaml:"driver"`
	Dockerfile string `yaml:"dockerfile,omitempty"`
	Network    any    `yaml:"network,omitempty"`
	Memory     string `yaml:"memory,omitempty"`
	Processes  int64  `yaml:"processes,omitempty"`
	CPUs       string `yaml:"cpus,omitempty"`
	Disk       string `yaml:"disk,omitempty"`
	Files      int64  `yaml:"files,omitempty"`
	Wall       string `yaml:"wall,omitempty"`
	// DenyRead is nil, or a list that may be empty.
	AllowWrite []string `yaml:"allow_write,omitempty"`
	DenyRead   any      `yaml:"deny_read,omitempty"`
}

// computerSchema is the form of a Computer.
func computerSchema(text string) *jsonschema.Schema {
	names := words(Drivers)
	closed := func() *jsonschema.Schema { return &jsonschema.Schema{Not: &jsonschema.Schema{}} }
	size := func(text string) *jsonschema.Schema {
		return &jsonschema.Schema{Types: []string{"integer", "string"}, Pattern: `^(0|[1-9][0-9]*)([KMGT]iB)?$`, Description: text}
	}
	allow := &jsonschema.Schema{
		Type: "object", Required: []string{"allow"}, AdditionalProperties: closed(), Description: "only these hosts, through a proxy that records each connection",
		Properties: map[string]*jsonschema.Schema{"allow": {
			Type: "array", MinItems: new(1), MaxItems: new(maxAllow), UniqueItems: true,
			Items: &jsonschema.Schema{Type: "string", MinLength: new(1), MaxLength: new(maxHost)},
		}},
	}
	bounds := func(text string, least int) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "array", MinItems: &least, MaxItems: new(50), UniqueItems: true, Items: &jsonschema.Schema{Type: "string", MinLength: new(1)}, Description: text}
	}
	return &jsonschema.Schema{Description: text, AnyOf: []*jsonschema.Schema{
		{Enum: names},
		{
			Type: "object", AdditionalProperties: closed(),
			Properties: map[string]*jsonschema.Schema{
				"driver":     {Enum: names, Description: "auto, the default here, takes the first that works on this machine"},
				"dockerfile": {Type: "string", MinLength: new(1), Description: "a file beside quest.yaml or below it that the image is built from, where the driver uses images"},
				"network": {Description: "where programs can connect to: none (the default), open, or a list of hosts to allow",
					AnyOf: []*jsonschema.Schema{{Enum: []any{"none", "open"}}, allow}},
				"memory":      size("memory of all processes together, at least 32MiB, such as 512MiB or 2GiB"),
				"disk":        size("how much the home may hold, at least 1MiB, such as 10GiB"),
				"processes":   {Type: "integer", Minimum: new(minProcesses * 1.0), Maximum: new(maxProcesses * 1.0), Description: "processes and threads at one time"},
				"files":       {Type: "integer", Minimum: new(minFiles * 1.0), Maximum: new(maxFiles * 1.0), Description: "files that one process may have open"},
				"cpus":        {Types: []string{"number", "string"}, Description: "cores, at least 0.05, such as 1.5"},
				"allow_write": bounds("the folders that can be written to: paths from the home on, or /tmp; default: the home and /tmp", 1),
				"deny_read":   bounds("names of files and folders of the home that nobody there reads, wherever they are, such as .env or *.pem; default: the names under which keys are kept", 0),
				"wall":        {Type: "string", Description: "the longest that any command may take, such as 90s or 1h"},
			},
		},
	}}
}
