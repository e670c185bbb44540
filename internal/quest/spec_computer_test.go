package quest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"lyceum/internal/event"
	"lyceum/internal/quest"
	"lyceum/internal/society"
	"lyceum/internal/strictyaml"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

func computerOf(yaml string) (quest.Computer, error) {
	s, err := society.All().ParseSpec("quest.yaml", []byte("problem: x\ncomputer: "+yaml+"\n"))
	if err != nil {
		return quest.Computer{}, err
	}
	return s.Computer, nil
}

// computers are what people write, and what it means.
var computers = map[string]quest.Computer{
	"none":           {Driver: "none"},
	"auto":           {Driver: "auto"},
	`"docker"`:       {Driver: "docker"},
	"{}":             {Driver: "auto"},
	"{driver: none}": {Driver: "none"},
	"{network: open, cpus: 2, memory: 1500000000}": {
		Driver: "auto", Limits: event.ComputerLimits{CPUs: 2000, Memory: 1_500_000_000}, Network: event.ComputerNetwork{Open: true},
	},
	"namespaces": {Driver: "namespaces"},
	"{driver: bubblewrap, network: none, wall: 1h}": {Driver: "bubblewrap", Limits: event.ComputerLimits{Wall: 3_600_000_000}},
	`
  driver: docker
  dockerfile: images/Dockerfile
  network:
    allow: [pypi.org, "*.example.org", "10.0.0.1:8080", "[::1]:80"]
  memory: 512MiB
  processes: 64
  cpus: 1.025
  disk: 10GiB
  files: 256
  wall: 1h30m`: {
		Driver: "docker", Dockerfile: "images/Dockerfile",
		Limits:  event.ComputerLimits{CPUs: 1025, Disk: 10 << 30, Files: 256, Memory: 512 << 20, Processes: 64, Wall: 5_400_000_000},
		Network: event.ComputerNetwork{Allow: []string{"pypi.org", "*.example.org", "10.0.0.1:8080", "[::1]:80"}},
	},
	"{memory: 32MiB, processes: 32, cpus: 0.05, disk: 1024KiB, files: 16, wall: 1s}": {
		Driver: "auto", Limits: event.ComputerLimits{CPUs: 50, Disk: 1 << 20, Files: 16, Memory: 32 << 20, Processes: 32, Wall: 1_000_000},
	},
	"{allow_write: [./out//x, /home/agent/src, /tmp/], deny_read: [.ENV, '*.pem']}": {
		Driver: "auto", AllowWrite: []string{"out/x", "src", "/tmp"}, DenyRead: []string{".env", "*.pem"},
	},
	"{deny_read: []}": {Driver: "auto", DenyRead: []string{}},
}

func TestAComputerIsAWordOrAMapping(t *testing.T) {
	t.Parallel()
	for text, want := range computers {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got, err := computerOf(text)
			must(t, err)
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
			ref := event.RefOf([]byte("FROM scratch"))
			spec := got.Spec(&ref)
			if want.Driver == "none" {
				if spec != nil {
					t.Errorf("a quest without computers has %+v", spec)
				}
				return
			}
			if d := cmp.Diff(&event.ComputerSpec{Dockerfile: &ref, Driver: want.Driver, Limits: want.Limits, Network: want.Network, AllowWrite: want.AllowWrite, DenyRead: want.DenyRead}, spec); d != "" {
				t.Errorf("as an event (-want +got):\n%s", d)
			}
		})
	}
	for _, nothing := range []string{"", "computer:\n", "computer: ~\n"} {
		s, err := society.All().ParseSpec("quest.yaml", []byte("problem: x\n"+nothing))
		must(t, err)
		if !s.Computer.IsZero() || s.Computer.Spec(nil) != nil {
			t.Errorf("a quest that says nothing has the computer %+v", s.Computer)
		}
	}
}

func TestAComputerThatIsWrittenDownIsReadAsTheSame(t *testing.T) {
	t.Parallel()
	for _, want := range computers {
		data, err := yaml.Marshal(&quest.Spec{Problem: "x", Computer: want})
		must(t, err)
		got, err := society.All().ParseSpec("quest.yaml", data)
		must(t, err)
		if d := cmp.Diff(want, got.Computer); d != "" {
			t.Errorf("%s comes back as another (-want +got):\n%s", data, d)
		}
	}
	data, err := yaml.Marshal(&quest.Spec{Problem: "x"})
	must(t, err)
	if strings.Contains(string(data), "computer") {
		t.Errorf("a quest without a computer is written with one: %s", data)
	}
}

func TestAFaultOfAComputerIsNamedWithItsLine(t *testing.T) {
	t.Parallel()
	hosts := func(n, length int) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf("h%0*d", length-1, i))
		}
		return "{network: {allow: [" + strings.Join(list, ", ") + "]}}"
	}
	for name, c := range map[string]struct{ yaml, want string }{
		"UnknownWord":         {"chroot", `quest.yaml:2:11: "chroot" is none of none, auto, namespaces, bubblewrap, docker`},
		"AList":               {"[auto]", "quest.yaml:2:11: computer must be one of"},
		"ANumber":             {"1", `"1" is none of`},
		"UnknownKey":          {"\n  colour: red", `quest.yaml:3:3: unknown key "colour"; computer has allow_write, cpus, deny_read, disk,`},
		"AKeyTwice":           {"{memory: 1GiB, memory: 2GiB}", "quest.yaml:2"},
		"UnknownDriver":       {"\n  driver: host", `quest.yaml:3:11: driver: "host" is none of`},
		"NoneAndMore":         {"{driver: none, memory: 1GiB}", "there is no computer, and more is said of it"},
		"BubblewrapImage":     {"{driver: bubblewrap, dockerfile: Dockerfile}", "bubblewrap uses the programs of this machine and no image"},
		"NamespacesImage":     {"{driver: namespaces, dockerfile: Dockerfile}", "namespaces uses the programs of this machine and no image"},
		"EmptyDockerfile":     {`{dockerfile: ""}`, "dockerfile: it is empty"},
		"NetworkWord":         {"{network: some}", "network: it must be none, open, or a mapping with allow"},
		"NetworkList":         {"{network: [pypi.org]}", "network: it must be none, open, or a mapping with allow"},
		"NetworkKey":          {"\n  network:\n    deny: [x]", `quest.yaml:4:5: network: unknown key "deny"`},
		"AllowNothing":        {"{network: {allow: []}}", "allow: it is empty: list a host"},
		"AllowAWord":          {"{network: {allow: pypi.org}}", "allow must be a list"},
		"AllowEmpty":          {`{network: {allow: [""]}}`, "is no host"},
		"AllowABlank":         {`{network: {allow: ["a b"]}}`, "is no host"},
		"AllowANewline":       {`{network: {allow: ["a\nb"]}}`, "is no host"},
		"AllowAnEscape":       {`{network: {allow: ["a\e[2J"]}}`, "is no host"},
		"AllowTwice":          {"{network: {allow: [a, b, a]}}", "a is listed twice"},
		"AllowALongOne":       {hosts(1, 256), "is no host"},
		"AllowMany":           {hosts(101, 10), "more than 100 hosts"},
		"AllowMuch":           {hosts(20, 255), "more than 4096 bytes"},
		"AllowAMapping":       {"{network: {allow: [{a: b}]}}", "allow: it must be a text"},
		"LittleMemory":        {"\n  memory: 31MiB", "quest.yaml:3:11: memory: 31MiB is out of range: want 32MiB"},
		"MuchMemory":          {"{memory: 1025TiB}", "out of range"},
		"NegativeMemory":      {"{memory: -1}", "is not a size"},
		"MemoryOfAFloat":      {"{memory: 1.5GiB}", "is not a size, such as 512MiB"},
		"MemoryInAnotherUnit": {"{memory: 2GB}", "is not a size, such as 512MiB"},
		"MemoryThatOverflows": {"{memory: 9000000000000000000TiB}", "more than any machine has"},
		"MemoryWithAZero":     {"{memory: 017777777777}", "is not a size"},
		"MemoryList":          {"{memory: [1GiB]}", "memory: it must be a text"},
		"LittleDisk":          {"{disk: 1023KiB}", "disk: 1023KiB is out of range: want 1MiB"},
		"FewProcesses":        {"{processes: 3}", "processes: it must be a whole number from 32 to 4194304"},
		"ManyProcesses":       {"{processes: 4194305}", "from 32 to"},
		"HalfAProcess":        {"{processes: 4.5}", "whole number"},
		"FewFiles":            {"{files: 15}", "from 16 to"},
		"FewCPUs":             {"{cpus: 0.049}", "cpus: 0.049 is out of range: want 0.05 to 10000 cores"},
		"ManyCPUs":            {"{cpus: 10001}", "out of range"},
		"FineCPUs":            {"{cpus: 1.0005}", "at most 3 places"},
		"CPUsInWords":         {"{cpus: two}", "not a number of cores"},
		"CPUsAsAPower":        {"{cpus: 1e3}", "not a number of cores"},
		"NegativeCPUs":        {"{cpus: -1}", "not a number of cores"},
		"ShortWall":           {"{wall: 10ms}", "wall: 10ms is out of range"},
		"WriteNowhere":        {"{allow_write: []}", "allow_write: it is empty"},
		"WriteToTheHost":      {"\n  allow_write:\n    - /etc", "quest.yaml:4:7: allow_write: \"/etc\" is not relative"},
		"WriteAbove":          {"{allow_write: [../x]}", "leads out of the workspace"},
		"WriteToSomeOfTmp":    {"{allow_write: [/tmp/x]}", "allow /tmp as a whole"},
		"WriteTwice":          {"{allow_write: [a, ./a]}", "./a is listed twice"},
		"WriteAWord":          {"{allow_write: out}", "allow_write must be a list"},
		"HideAPath":           {"{deny_read: [.config/gcloud]}", "is a path: give the name"},
		"HideEverything":      {"{deny_read: ['*']}", "would hide everything"},
		"HideNoPattern":       {"{deny_read: ['[']}", "is no pattern"},
		"HideAnEscape":        {`{deny_read: ["a\e[2J"]}`, "can be printed"},
		"HideMuch":            {"{deny_read: [" + strings.Repeat("a", 100) + strings.Join(long(30), "") + "]}", "more than 2048 bytes"},
		"HideWithoutComputer": {"{driver: none, deny_read: [.env]}", "there is no computer, and more is said of it"},
		"WallInWords":         {"{wall: soon}", "is not a duration"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := computerOf(c.yaml)
			if err == nil {
				t.Fatalf("it is read as %+v", got)
			}
			if !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "quest.yaml:") {
				t.Errorf("got %v, want something with %q", err, c.want)
			}
		})
	}
	if _, err := computerOf(hosts(100, 10)); err != nil {
		t.Error(err)
	}
}

// long are further entries of a list, each of a hundred letters.
func long(n int) (out []string) {
	for i := range n {
		out = append(out, fmt.Sprintf(", b%099d", i))
	}
	return out
}

func TestSizesAndCoresNeverPassThroughAFloat(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int64{"0": 0, "1500000": 1_500_000, "512MiB": 512 << 20, "2GiB": 2 << 30, "3KiB": 3072, "1TiB": 1 << 40, "8191TiB": 8191 << 40} {
		if got, err := strictyaml.ParseSize(in); err != nil || got != want {
			t.Errorf("%s is %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "MiB", "-1", "+1", "1 GiB", " 1", "1G", "1gib", "0x10", "1_000", "01", "1.0GiB", "1GiBGiB", "9223372036854775808", "8388608TiB"} {
		if got, err := strictyaml.ParseSize(in); err == nil {
			t.Errorf("%q is %d", in, got)
		}
	}
	for in, want := range map[string]int64{"0": 0, "1": 1000, "1.5": 1500, "0.05": 50, "0.001": 1, "16.125": 16125, "2.000": 2000} {
		if got, err := quest.ParseCPUs(in); err != nil || got != want {
			t.Errorf("%s is %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", ".", ".5", "1.", "1.2.3", "-1", "+1", "1.-5", "1.0000", "1e1", "0x1", "99999999999999999999"} {
		if got, err := quest.ParseCPUs(in); err == nil {
			t.Errorf("%q is %d", in, got)
		}
	}
}

func TestTheSchemaTakesWhatTheParserTakes(t *testing.T) {
	t.Parallel()
	s, err := society.All().Schema()
	must(t, err)
	schema, err := s.Resolve(nil)
	must(t, err)
	valid := func(text string) error {
		var v any
		must(t, yaml.Unmarshal([]byte("problem: x\ncomputer: "+text+"\n"), &v))
		data, err := json.Marshal(v) // as an editor that holds YAML against a schema does
		must(t, err)
		must(t, json.Unmarshal(data, &v))
		return schema.Validate(v)
	}
	for text := range computers {
		if err := valid(text); err != nil {
			t.Errorf("a computer that is right was refused: %s: %v", text, err)
		}
	}
	for _, text := range []string{"chroot", "[auto]", "{colour: red}", "{driver: host}", "{network: some}", "{network: {allow: []}}", "{network: {deny: [a]}}",
		"{memory: 2GB}", "{processes: 3}", "{files: 1.5}", "{wall: 3}", `{dockerfile: ""}`, "{cpus: []}"} {
		if valid(text) == nil {
			t.Errorf("the schema takes %s", text)
		}
		if _, err := computerOf(text); err == nil {
			t.Errorf("the parser takes %s", text)
		}
	}
}
