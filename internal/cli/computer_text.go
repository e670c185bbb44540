package cli

import (
	"encoding/json"
	"fmt"
	"strings"

	"lyceum/internal/event"
)

// gistComputer says in a line what happened in an agent's computer.
func gistComputer(b event.Body) string {
	switch b := b.(type) {
	case *event.ComputerStarted:
		return fmt.Sprintf("%s, %s, %s", b.Driver, oneLine(b.Kernel, 40), networkOf(b.Network))
	case *event.CliRun:
		return b.Command + ": " + oneLine(commandLine(b.Args.Text), 70)
	case *event.CliStdout:
		return b.Command + ": " + oneLine(b.Text.Text, 70)
	case *event.CliStderr:
		return b.Command + ": " + oneLine(b.Text.Text, 70)
	case *event.CliExit:
		out := fmt.Sprintf("%s: exit %d", b.Command, b.Exit)
		for _, word := range []string{b.Signal, b.End, b.Met} {
			if word != "" {
				out += ", " + word
			}
		}
		return out + fmt.Sprintf(" (%.1f ms, %d+%d bytes)", float64(b.Duration)/1000, b.Stdout.Size, b.Stderr.Size)
	case *event.FileDiff:
		return changesOf(b)
	case *event.NetConnection:
		if b.Refused != "" {
			return fmt.Sprintf("%s:%d refused: %s", oneLine(b.Host, 60), b.Port, oneLine(b.Refused, 80))
		}
		return fmt.Sprintf("%s:%d (%d bytes out, %d in)", oneLine(b.Host, 60), b.Port, b.Sent, b.Received)
	}
	return ""
}

// commandLine is what was run, without the shell around it.
func commandLine(args string) string {
	var list []string
	if json.Unmarshal([]byte(args), &list) != nil {
		return args
	}
	if len(list) == 3 && list[0] == "sh" && list[1] == "-c" {
		return list[2]
	}
	return strings.Join(list, " ")
}

func networkOf(n event.ComputerNetwork) string {
	switch {
	case n.Open:
		return "open network"
	case len(n.Allow) > 0:
		return "network: " + oneLine(strings.Join(n.Allow, ", "), 60)
	}
	return "no network"
}

// changesOf names the first files that changed.
func changesOf(b *event.FileDiff) string {
	sign := map[string]string{event.Added: "+", event.Changed: "~", event.Removed: "-"}
	var names []string
	for _, c := range b.Changes[:min(len(b.Changes), 3)] {
		names = append(names, sign[c.Kind]+c.Path)
	}
	if more := int64(len(b.Changes)-len(names)) + b.More; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	out := oneLine(strings.Join(names, " "), 90)
	if b.Cause == event.CauseOutside {
		out = "from outside: " + out
	}
	return out
}
