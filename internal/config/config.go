// Package config finds Lyceum's home and reads its config.yaml.
//
// Flags override a quest.yaml, which overrides config.yaml. An unknown key is
// refused with its line, so that a typing error never passes for a setting.
package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
)

// Config is a config.yaml.
type Config struct {
	// Model is used by quests that name none.
	Model string `yaml:"model,omitempty"`
}

// FaultError is a fault in a config.yaml, with its place.
type FaultError struct {
	File         string
	Line, Column int
	Text         string
}

func (e *FaultError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Text)
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Line, e.Column, e.Text)
}

// maxSize bounds a config.yaml. The parser has no limit of its own, and needs
// memory with the square of the depth: this much it can take.
const maxSize = 8 << 10

// Home returns the folder that everything is kept in: flag, else $LYCEUM_HOME,
// else ~/.lyceum.
func Home(flag string) (string, error) {
	if flag == "" {
		flag = os.Getenv("LYCEUM_HOME")
	}
	if flag == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the home folder: %w: set LYCEUM_HOME or give --home", err)
		}
		flag = filepath.Join(user, ".lyceum")
	}
	return filepath.Abs(flag)
}

// Load reads config.yaml from a home. One that is not there is empty.
func Load(home string) (*Config, error) {
	path := filepath.Join(home, "config.yaml")
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return new(Config), nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	if len(data) > maxSize {
		return nil, &FaultError{File: path, Text: fmt.Sprintf("it has %d bytes, more than the %d a configuration may have", len(data), maxSize)}
	}
	c := new(Config)
	if err := yaml.UnmarshalWithOptions(data, c, yaml.Strict()); err != nil {
		fault := &FaultError{File: path, Text: err.Error()}
		if y, ok := errors.AsType[yaml.Error](err); ok && y.GetToken() != nil {
			pos := y.GetToken().Position
			fault.Line, fault.Column, fault.Text = pos.Line, pos.Column, y.GetMessage()
		}
		if strings.HasPrefix(fault.Text, "unknown field") {
			fault.Text += "; the only key of a config.yaml is model"
		}
		return nil, fault
	}
	return c, nil
}
