// Command compose does what deploy/compose.yaml says, by the docker command, where there is no Docker Compose 2 to do so. It reads the file
// itself, so that what is tried is what stands there, and fails at any word that it does not know.
//
//	go run ./scripts/peers/compose deploy/compose.yaml up
//	go run ./scripts/peers/compose deploy/compose.yaml run node-2 doctor
package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
)

// file is a compose file, as far as ours goes.
type file struct {
	Name     string              `yaml:"name"`
	Node     any                 `yaml:"x-node"`
	Services map[string]*service `yaml:"services"`
	Networks map[string]*struct {
		Internal bool `yaml:"internal"`
	} `yaml:"networks"`
	Volumes map[string]any `yaml:"volumes"`
	Secrets map[string]struct {
		File string `yaml:"file"`
	} `yaml:"secrets"`

	dir string
}

type service struct {
	Image       string                       `yaml:"image"`
	Command     []string                     `yaml:"command"`
	Restart     string                       `yaml:"restart"`
	Grace       string                       `yaml:"stop_grace_period"`
	DependsOn   map[string]map[string]string `yaml:"depends_on"`
	Environment map[string]string            `yaml:"environment"`
	EnvFile     []struct {
		Path     string `yaml:"path"`
		Required bool   `yaml:"required"`
	} `yaml:"env_file"`
	Secrets  []string `yaml:"secrets"`
	User     string   `yaml:"user"`
	CapDrop  []string `yaml:"cap_drop"`
	ReadOnly bool     `yaml:"read_only"`
	Tmpfs    []string `yaml:"tmpfs"`
	Security []string `yaml:"security_opt"`
	Memory   string   `yaml:"mem_limit"`
	Shared   string   `yaml:"shm_size"`
	PIDs     int      `yaml:"pids_limit"`
	Networks []string `yaml:"networks"`
	Ports    []string `yaml:"ports"`
	Volumes  []string `yaml:"volumes"`
	Health   struct {
		Test     []string `yaml:"test"`
		Interval string   `yaml:"interval"`
		Timeout  string   `yaml:"timeout"`
		Start    string   `yaml:"start_period"`
		Retries  int      `yaml:"retries"`
	} `yaml:"healthcheck"`
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "compose:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) < 2 || args[1] != "up" && (args[1] != "run" || len(args) < 3) {
		return fmt.Errorf("want a compose.yaml and up, or run with a service and its arguments")
	}
	f, err := read(args[0])
	if err != nil {
		return err
	}
	if args[1] == "up" {
		return f.up()
	}
	s := f.Services[args[2]]
	if s == nil {
		return fmt.Errorf("there is no service %s", args[2])
	}
	s.Ports, s.Command = nil, args[3:]
	line, err := f.arguments(args[2], s)
	if err != nil {
		return err
	}
	return docker(append([]string{"run", "--rm"}, line...)...)
}

// variable is one as compose files have them, with what to take if it is not set; or a dollar sign.
var variable = regexp.MustCompile(`\$\$|\$\{([A-Z_0-9]+):-([^}]*)\}`)

func read(path string) (*file, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	text = variable.ReplaceAllFunc(text, func(found []byte) []byte {
		m := variable.FindSubmatch(found)
		if m[1] == nil {
			return []byte("$")
		}
		if value := os.Getenv(string(m[1])); value != "" {
			return []byte(value)
		}
		return m[2]
	})
	f := new(file)
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(f); err != nil {
		return nil, err
	}
	f.dir, err = filepath.Abs(filepath.Dir(path))
	return f, err
}

// up starts all services, each after those that it depends on, and waits until all are healthy.
func (f *file) up() error {
	for _, name := range slices.Sorted(maps.Keys(f.Networks)) {
		args := []string{"network", "create"}
		if n := f.Networks[name]; n != nil && n.Internal {
			args = append(args, "--internal")
		}
		if err := docker(append(args, f.Name+"_"+name)...); err != nil {
			return err
		}
	}
	started := map[string]bool{}
	var start func(name string) error
	start = func(name string) error {
		if started[name] {
			return nil
		}
		started[name] = true
		s := f.Services[name]
		for before := range s.DependsOn {
			if err := start(before); err != nil {
				return err
			}
			if err := f.healthy(before); err != nil {
				return err
			}
		}
		return f.create(name, s)
	}
	for _, name := range slices.Sorted(maps.Keys(f.Services)) {
		if err := start(name); err != nil {
			return err
		}
	}
	for name := range f.Services {
		if err := f.healthy(name); err != nil {
			return err
		}
	}
	return nil
}

func (f *file) container(name string) string { return f.Name + "-" + name + "-1" }

// create makes a container, puts it into its networks under its name, and starts it.
func (f *file) create(name string, s *service) error {
	line, err := f.arguments(name, s)
	if err != nil {
		return err
	}
	if err := docker(append([]string{"create", "--name", f.container(name), "--restart", s.Restart}, line...)...); err != nil {
		return err
	}
	for _, network := range s.Networks[1:] {
		if err := docker("network", "connect", "--alias", name, f.Name+"_"+network, f.container(name)); err != nil {
			return err
		}
	}
	return docker("start", f.container(name))
}

// arguments are those of docker create.
func (f *file) arguments(name string, s *service) (args []string, err error) {
	add := func(flag string, values ...string) {
		for _, v := range values {
			if v != "" && v != "0" {
				args = append(args, flag+"="+v)
			}
		}
	}
	add("--network", f.Name+"_"+s.Networks[0])
	add("--network-alias", name)
	add("--user", s.User)
	add("--cap-drop", s.CapDrop...)
	add("--tmpfs", s.Tmpfs...)
	for _, o := range s.Security {
		if rest, ok := strings.CutPrefix(o, "seccomp="); ok {
			o = "seccomp=" + filepath.Join(f.dir, rest)
		}
		add("--security-opt", o)
	}
	add("--memory", s.Memory)
	add("--shm-size", s.Shared)
	add("--pids-limit", fmt.Sprint(s.PIDs))
	add("--publish", s.Ports...)
	if s.ReadOnly {
		args = append(args, "--read-only")
	}
	for _, key := range slices.Sorted(maps.Keys(s.Environment)) {
		add("--env", key+"="+s.Environment[key])
	}
	for _, e := range s.EnvFile {
		path := filepath.Join(f.dir, e.Path)
		if _, missing := os.Stat(path); missing == nil || e.Required {
			add("--env-file", path)
		}
	}
	for _, secret := range s.Secrets {
		add("--volume", filepath.Join(f.dir, f.Secrets[secret].File)+":/run/secrets/"+secret+":ro")
	}
	for _, v := range s.Volumes {
		from, _, _ := strings.Cut(v, ":")
		if _, known := f.Volumes[from]; !known {
			return nil, fmt.Errorf("service %s: there is no volume %s", name, from)
		}
		add("--volume", f.Name+"_"+v)
	}
	if t, err := time.ParseDuration(s.Grace); err == nil {
		add("--stop-timeout", fmt.Sprint(int(t.Seconds())))
	}
	switch h := s.Health; h.Test[0] {
	case "CMD-SHELL":
		add("--health-cmd", h.Test[1])
	case "CMD":
		add("--health-cmd", strings.Join(h.Test[1:], " "))
	}
	add("--health-interval", s.Health.Interval)
	add("--health-timeout", s.Health.Timeout)
	add("--health-start-period", s.Health.Start)
	add("--health-retries", fmt.Sprint(s.Health.Retries))
	return append(append(args, s.Image), s.Command...), nil
}

// healthy waits until a service says that it is well.
func (f *file) healthy(name string) error {
	for {
		out, err := exec.Command("docker", "inspect", "-f", "{{.State.Health.Status}} {{.State.Running}} {{.RestartCount}}", f.container(name)).Output()
		if err != nil {
			return fmt.Errorf("look at %s: %w", name, err)
		}
		switch state := strings.Fields(string(out)); {
		case state[0] == "healthy":
			return nil
		case state[0] == "unhealthy" || state[1] != "true" || state[2] != "0":
			return fmt.Errorf("the service %s is not well: %s", name, out)
		}
		time.Sleep(500 * time.Millisecond)
	}
}

func docker(args ...string) error {
	cmd := exec.Command("docker", args...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("docker %s: %w", args[0], err)
	}
	return nil
}
