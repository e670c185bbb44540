package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"lyceum/internal/ledger"
	"lyceum/internal/ledger/ledgertest"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/need"

	"go.uber.org/goleak"
)

func open(dir string) (ledger.Store, error) {
	return sqlite.Open(filepath.Join(dir, "lyceum.db"), &sqlite.Options{IndexEvery: 50})
}

func TestMain(m *testing.M) {
	if dir := os.Getenv(oneWriter); dir != "" {
		if err := appendAndTell(dir); err != nil {
			os.Stderr.WriteString(err.Error())
			os.Exit(1)
		}
		os.Exit(0)
	}
	if spec := os.Getenv(migrateUntil); spec != "" {
		os.Stderr.WriteString(dieInAMigration(spec).Error())
		os.Exit(1)
	}
	code := ledgertest.Main(m, open)
	if code == 0 && os.Getenv("LYCEUM_LEDGERTEST_DIR") == "" {
		if err := goleak.Find(); err != nil {
			os.Stderr.WriteString(err.Error())
			code = 1
		}
	}
	os.Exit(code)
}

func TestConformance(t *testing.T) { ledgertest.Exercise(t, open) }

func TestNothingAcknowledgedIsLostWhenKilled(t *testing.T) {
	need.NoDetector(t)
	ledgertest.Crash(t, open, need.Times(75, 200))
}
