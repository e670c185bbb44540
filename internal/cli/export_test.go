package cli

import "lyceum/internal/ledger"

// SetRelease makes the test binary one of another release.
func SetRelease(version string) { release = version }

// SetLedger puts something between quests and the ledger of a home.
func SetLedger(around func(ledger.Store) ledger.Store) { opened = around }
