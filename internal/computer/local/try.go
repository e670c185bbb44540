package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"lyceum/internal/computer"
	"lyceum/internal/scratch"
)

// Try starts a computer with a driver and runs a program in it.
func Try(ctx context.Context, d computer.Driver) error {
	temp, err := scratch.New("", "lyceum-check-")
	if err != nil {
		return err
	}
	defer temp.Close()
	home := filepath.Join(temp.Path, "home")
	if err := os.Mkdir(home, 0o700); err != nil {
		return err
	}
	c, err := computer.Open(ctx, d, computer.Place{Home: home, Dir: filepath.Join(temp.Path, "computer")}, computer.Spec{}, computer.Options{})
	if err != nil {
		return err
	}
	defer c.Stop(context.WithoutCancel(ctx))
	r, err := c.Run(ctx, computer.Command{ID: "check", Args: []string{"true"}})
	if err == nil && r.Exit != 0 {
		err = fmt.Errorf("a program in a computer did not run: %s", strings.TrimSpace(string(r.Stderr.Head)))
	}
	return err
}
