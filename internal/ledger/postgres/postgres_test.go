package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"lyceum/internal/ledger"
	"lyceum/internal/ledger/ledgertest"
	"lyceum/internal/ledger/postgres"
	"lyceum/internal/ledger/postgres/postgrestest"
	"lyceum/internal/need"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"
)

// serverDir tells a process that Crash starts where the server is.
const serverDir = "LYCEUM_POSTGRESTEST_SERVER"

// server is shared by the tests that do not stop theirs; each folder is a database of it.
var server *postgrestest.Server

func open(dir string) (ledger.Store, error) {
	address, err := server.Database(dir)
	if err != nil {
		return nil, err
	}
	return postgres.Open(context.Background(), address, nil)
}

func TestMain(m *testing.M) {
	if address := os.Getenv(nodeAddress); address != "" {
		os.Exit(nodeMain(address))
	}
	if dir := os.Getenv(serverDir); dir != "" {
		server = postgrestest.Join(dir)
		os.Exit(ledgertest.Main(m, open))
	}
	need.AtATime(8)
	var err error
	if server, err = postgrestest.New(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		os.Setenv(serverDir, server.Dir())
	}
	code := m.Run()
	if server != nil {
		if err := server.Remove(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	if err := goleak.Find(); code == 0 && err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// needServer leaves a test out where there is no server.
func needServer(t testing.TB) {
	t.Helper()
	need.Program(t, "pg_ctlcluster")
	if server == nil {
		t.Fatal("the server did not start: see above")
	}
}

// database is one of the shared server for a test, and a way to run statements in it.
func database(t testing.TB) (address string, exec func(sql string)) {
	t.Helper()
	needServer(t)
	address, err := server.Database(t.Name())
	must(t, err)
	return address, func(sql string) {
		t.Helper()
		conn, err := pgx.Connect(t.Context(), address)
		must(t, err)
		_, err = conn.Exec(t.Context(), sql)
		must(t, errors.Join(err, conn.Close(t.Context())))
	}
}

// ask returns what a query of one value says.
func ask[T any](t testing.TB, address, sql string) (out T) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	must(t, err)
	defer conn.Close(context.Background())
	must(t, conn.QueryRow(t.Context(), sql).Scan(&out))
	return out
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func store(t testing.TB, address string, opts *postgres.Options) *postgres.Store {
	t.Helper()
	st, err := postgres.Open(t.Context(), address, opts)
	must(t, err)
	t.Cleanup(func() {
		if err := st.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return st
}

// begin appends the first n events of a quest, and returns its head.
func begin(t testing.TB, st ledger.Store, quest string, n int) ledger.Head {
	t.Helper()
	return more(t, st, ledger.Head{Quest: quest}, n)
}

func more(t testing.TB, st ledger.Store, h ledger.Head, n int, blobs ...[]byte) ledger.Head {
	t.Helper()
	events := ledgertest.Chain(t, h, n)
	must(t, st.Append(t.Context(), ledger.Batch{Quest: h.Quest, Events: events, Blobs: blobs}))
	last := events[n-1]
	return ledger.Head{Quest: h.Quest, Seq: last.Seq, Hash: last.Hash}
}

func TestNothingAcknowledgedIsLostWhenKilled(t *testing.T) {
	needServer(t)
	need.NoDetector(t)
	ledgertest.Crash(t, open, need.Times(5, 200))
}

func TestConformance(t *testing.T) {
	needServer(t)
	ledgertest.Exercise(t, open)
}
