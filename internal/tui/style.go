package tui

import (
	"lyceum/internal/event"
	"lyceum/internal/quest"

	"charm.land/lipgloss/v2"
)

// The sixteen colours of the terminal, so that its theme decides how they look.
// Nothing is said by colour alone.
var (
	bold   = lipgloss.NewStyle().Bold(true)
	faint  = lipgloss.NewStyle().Faint(true)
	green  = lipgloss.NewStyle().Foreground(lipgloss.Green)
	yellow = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
	red    = lipgloss.NewStyle().Foreground(lipgloss.Red)
	cyan   = lipgloss.NewStyle().Foreground(lipgloss.Cyan)
	cursor = lipgloss.NewStyle().Reverse(true)
	// magenta is where a person is waited for.
	magenta = lipgloss.NewStyle().Foreground(lipgloss.Magenta)
)

func statusStyle(status string) lipgloss.Style {
	switch status {
	case event.Published:
		return green
	case event.Rejected:
		return red
	}
	return yellow
}

func sureStyle(sure string) lipgloss.Style {
	switch sure {
	case quest.SureHigh:
		return green
	case quest.SureLow:
		return red
	}
	return yellow
}

func gradeStyle(grade string) lipgloss.Style {
	if grade == event.Accept {
		return green
	}
	return red
}
