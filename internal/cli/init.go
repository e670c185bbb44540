package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lyceum/internal/quest"

	"github.com/spf13/cobra"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of a quest.yaml, for editors",
		Long: `Print the JSON Schema of a quest.yaml. An editor that knows YAML uses it to complete keys
and to mark mistakes, if the file's first line names it:

  # yaml-language-server: $schema=quest.schema.json`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			data, err := societies().SchemaFile()
			if err == nil {
				_, err = a.out.Write(data)
			}
			return err
		},
	}
}

// The files that init writes.
const (
	specName   = "quest.yaml"
	schemaName = "quest.schema.json"
)

func (a *app) initCommand() *cobra.Command {
	var society string
	cmd := &cobra.Command{
		Use:   "init [folder]",
		Short: "Write a quest.yaml to begin with: every key, and what it means",
		Long: `Write a quest.yaml into a folder, this one if none is given, and beside it the schema with
which editors complete and check it. It can be run as it is: the question is a small one, and
the model is the demo, which works offline and is no language model.

  lyceum init riddle
  lyceum init riddle --society lab
  lyceum run riddle/quest.yaml`,
		Args: rangeArgs(0, 1, "at most one folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			}
			return a.initialise(dir, society)
		},
	}
	cmd.Flags().StringVar(&society, "society", societies().Names()[0], "the rules the agents work by: "+strings.Join(societies().Names(), " or "))
	complete(cmd, "society", func(*cobra.Command) []string { return societies().Names() })
	return cmd
}

func (a *app) initialise(dir, society string) error {
	spec, files, err := firstSpec(society)
	if err != nil {
		return err
	}
	schema, err := societies().SchemaFile()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder: %w", err)
	}
	path := filepath.Join(dir, specName)
	if err := writeNew(path, []byte(spec)); errors.Is(err, fs.ErrExist) {
		return usagef("%s is there already, and stays as it is: give another folder, such as lyceum init %s", path, filepath.Join(dir, "another"))
	} else if err != nil {
		return err
	}
	for name, text := range files {
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := writeNew(to, []byte(text)); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
	}
	// One that is there is of this lyceum or of another; this one's is what the file was made of.
	if err := os.WriteFile(filepath.Join(dir, schemaName), schema, 0o644); err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.out, "Wrote %s. Put your question into it, and run it with: lyceum run %s\n", path, path)
	return err
}

// writeNew writes a file that must not be there.
func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// firstSpec is a quest.yaml that can be run as it is, with all other keys that it could have
// as comments, and the files that it needs.
func firstSpec(society string) (text string, files map[string]string, err error) {
	soc := societies().Named(society)
	if soc == nil || society == "" {
		return "", nil, usagef("--society: %q is none of %s", society, strings.Join(societies().Names(), ", "))
	}
	said := map[string]string{
		"problem": "problem: |\n  How many primes are there below 10,000?",
		"model":   "model: demo",
		"society": "society: " + society,
	}
	if soc.Traits().Many {
		said["agents"] = "agents: 3"
	}
	files = map[string]string{}
	named(society).first(said, files)
	var b strings.Builder
	fmt.Fprintf(&b, "# yaml-language-server: $schema=%s\n#\n# A quest: what is asked, and who works on it. Run it with: lyceum run %s\n", schemaName, specName)
	b.WriteString("# What is commented out is not needed; docs/quest.schema.json and lyceum schema say the same.\n")
	keys, err := specKeys(soc)
	for _, k := range keys {
		b.WriteString("\n" + comment(k.text))
		if line, ok := said[k.name]; ok {
			b.WriteString(line + "\n")
		} else {
			b.WriteString(strings.TrimSpace("# "+k.name+": "+instances[k.name]) + "\n")
		}
	}
	return b.String(), files, err
}

// instances are values for keys that one may want to give.
var instances = map[string]string{
	"name": "my-quest", "problem_file": "problem.md", "profile": "research", "tools": "[calculate, read_file, write_file]", "data": "data", "may_ask": "true", "permission_timeout": "30m",
	"computer": "auto", "seed": "1", "thinking": "false", "window": "100000", "policies": "[{use: max-calls, tools: [exec], max: 100}]",
	"limits": "{cost: 5.00, turns: 200, duration: 2h, storage: 10GiB}",
}

type specKey struct{ name, text string }

// specKeys are the keys that a quest of a society can have, in the order of the schema.
func specKeys(soc quest.Society) (keys []specKey, err error) {
	name := quest.NameOf(soc.Rules())
	s, err := societies().Schema()
	if err != nil {
		return nil, err
	}
	for _, key := range s.PropertyOrder {
		if owners := societies().Owners(key); len(owners) > 0 && !slices.Contains(owners, name) {
			continue
		}
		keys = append(keys, specKey{key, s.Properties[key].Description})
	}
	return keys, nil
}

// comment breaks a text into lines of a comment.
func comment(text string) string {
	var b strings.Builder
	line := "#"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > 96 {
			b.WriteString(line + "\n")
			line = "#"
		}
		line += " " + word
	}
	return b.String() + line + "\n"
}
