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

	"lyceum/internal/strictyaml"
)

// Config is a config.yaml.
type Config struct {
	// Model is used by quests that name none.
	Model string `yaml:"model,omitempty"`
}

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
	c := new(Config)
	if err := strictyaml.Decode(path, data, c); err != nil {
		if e, ok := errors.AsType[*strictyaml.Error](err); ok && strings.HasPrefix(e.Text, "unknown field") {
			e.Text += "; the only key of a config.yaml is model"
		}
		return nil, err
	}
	return c, nil
}
