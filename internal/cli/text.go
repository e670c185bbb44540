package cli

import (
	"errors"

	"lyceum/internal/ledger"
	"lyceum/internal/plain"
)

// printable makes text of agents, files and errors safe for a terminal.
func printable(s string) string { return plain.Text(s) }

// oneLine is printable text for a list: no breaks, and not too long.
func oneLine(s string, most int) string { return plain.Brief(s, most) }

func isNoHome(err error) bool { return errors.Is(err, ledger.ErrNoQuest) }
