package postgres

import (
	"context"
	"errors"
	"fmt"

	"lyceum/internal/ledger"

	"github.com/jackc/pgx/v5"
)

// migrations[0] makes format 1 of nothing, migrations[1] format 2, and so on, each in one
// transaction. One that was released is never changed.
//
// A migration only adds, and what it adds may be left out: while nodes are replaced one by one,
// those of the version before go on writing as they did.
var migrations = []string{`
CREATE TABLE lyceum.meta (id int PRIMARY KEY CHECK (id = 1), program text NOT NULL, format int NOT NULL);
INSERT INTO lyceum.meta VALUES (1, 'lyceum ledger', 0);
CREATE TABLE lyceum.barrier (passed bigint NOT NULL);
INSERT INTO lyceum.barrier VALUES (0);

-- A quest that is claimed and not yet made has head 0. Most of a page is left free, so that a head
-- moves within its page, and no index is written: rows are few and small.
CREATE TABLE lyceum.quests (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE, head bigint NOT NULL, hash bytea NOT NULL, epoch bigint NOT NULL, node bigint) WITH (fillfactor = 15, autovacuum_vacuum_scale_factor = 0.02);
CREATE SEQUENCE lyceum.epochs;
CREATE TABLE lyceum.nodes (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, beat bigint NOT NULL) WITH (fillfactor = 50);
CREATE TABLE lyceum.events (quest bigint NOT NULL, seq bigint NOT NULL, line bytea NOT NULL, PRIMARY KEY (quest, seq));
CREATE TABLE lyceum.blobs (hash bytea PRIMARY KEY, put timestamptz NOT NULL, data bytea NOT NULL);
CREATE TABLE lyceum.gone (quest bigint PRIMARY KEY);

-- Its own row, so that who posts does not wait for who appends. Strangers' words are bytea: text
-- holds neither zero bytes nor what is no UTF-8.
CREATE TABLE lyceum.inboxes (quest bigint PRIMARY KEY, last bigint NOT NULL) WITH (fillfactor = 50);
CREATE TABLE lyceum.inbox (quest bigint NOT NULL, number bigint NOT NULL, key bytea, attempt bytea NOT NULL, type text NOT NULL, body bytea NOT NULL, PRIMARY KEY (quest, number));
CREATE UNIQUE INDEX inbox_key ON lyceum.inbox (quest, key);
CREATE UNIQUE INDEX inbox_attempt ON lyceum.inbox (attempt);

CREATE TABLE lyceum.tokens (number bigint GENERATED ALWAYS AS IDENTITY, id bytea PRIMARY KEY, hash bytea NOT NULL, scope bytea NOT NULL, note bytea NOT NULL, created bigint NOT NULL, expires bigint NOT NULL);
CREATE TABLE lyceum.notes (number bigint GENERATED ALWAYS AS IDENTITY, kind bytea NOT NULL, key bytea NOT NULL, due bigint NOT NULL, body bytea NOT NULL, PRIMARY KEY (kind, key));
CREATE INDEX notes_due ON lyceum.notes (kind, due, number);
CREATE TABLE lyceum.checkpoints (quest bigint NOT NULL, size bigint NOT NULL, origin bytea NOT NULL, own boolean NOT NULL, edge bytea NOT NULL, body bytea NOT NULL, PRIMARY KEY (quest, size, origin));
-- A cache: a crash of the server may empty it.
CREATE UNLOGGED TABLE lyceum.glances (form text NOT NULL, quest text COLLATE "C" NOT NULL, version text NOT NULL, hash bytea NOT NULL, body bytea NOT NULL, PRIMARY KEY (form, quest));
`,
	// 2: which quests are to run. seq is 0 of one that does not wait for a person.
	`CREATE TABLE lyceum.wanted (quest bigint PRIMARY KEY, seq bigint NOT NULL, hash bytea NOT NULL, inbox bigint NOT NULL, due bigint NOT NULL) WITH (fillfactor = 50);`,
	// 3: what nodes are, what they cannot run and why, and the epoch before the last taking.
	`ALTER TABLE lyceum.nodes ADD COLUMN address text NOT NULL DEFAULT '', ADD COLUMN version text NOT NULL DEFAULT '', ADD COLUMN rules text[] NOT NULL DEFAULT '{}', ADD COLUMN drivers text[] NOT NULL DEFAULT '{}', ADD COLUMN room int NOT NULL DEFAULT 0;
ALTER TABLE lyceum.quests ADD COLUMN before bigint NOT NULL DEFAULT 0;
CREATE TABLE lyceum.refused (quest bigint NOT NULL, node bigint NOT NULL, at timestamptz NOT NULL, why bytea NOT NULL, PRIMARY KEY (quest, node));`,
	// 4: lines that nodes share, and their shares; when a node last beat, and by how much the database's clock is ahead
	// of its own, in microseconds: for people, nothing is decided by it.
	`ALTER TABLE lyceum.nodes ADD COLUMN at timestamptz NOT NULL DEFAULT clock_timestamp(), ADD COLUMN ahead bigint NOT NULL DEFAULT 0;
CREATE TABLE lyceum.lines (line text COLLATE "C" PRIMARY KEY, bears double precision NOT NULL, cuts bigint NOT NULL DEFAULT 0, turns bigint NOT NULL DEFAULT 0, until timestamptz NOT NULL DEFAULT 'epoch', at timestamptz NOT NULL DEFAULT clock_timestamp()) WITH (fillfactor = 50);
CREATE TABLE lyceum.shares (line text COLLATE "C" NOT NULL, node bigint NOT NULL, most int NOT NULL, held int NOT NULL, wants int NOT NULL, turn bigint NOT NULL, PRIMARY KEY (line, node)) WITH (fillfactor = 50);`,
}

// ErrForeign says that the database is another program's.
var ErrForeign = errors.New("the database is another program's: give Lyceum one of its own, made with createdb")

// ErrEmpty says that the database has no tables yet, and none were to be made.
var ErrEmpty = errors.New("the database has nothing in it yet")

// making is the key of the lock that those hold who make tables; it goes with their transaction.
const making = 0x6c796365

// prepare makes the tables, or checks that they are ours, and brings them up to date, one
// transaction for each migration, however many nodes start at once.
func (s *Store) prepare(ctx context.Context, conn *pgx.Conn) error {
	for {
		format, err := formatOf(ctx, conn)
		mine := len(s.opts.migrations)
		switch {
		case err != nil:
			return err
		case format > mine+1:
			return fmt.Errorf("%w: it has format %d, this lyceum knows formats up to %d and works with %d; use the lyceum that wrote it or a newer one", ledger.ErrNewer, format, mine, mine+1)
		case format >= mine:
			return nil
		case format == 0 && s.opts.Existing:
			return ErrEmpty
		}
		if err := s.migrate(ctx, conn); err != nil {
			return fmt.Errorf("bring it from format %d to %d (it stays as it is): %w", format, format+1, err)
		}
	}
}

// formatOf is the format of the tables, 0 if there are none.
func formatOf(ctx context.Context, q querier) (format int, err error) {
	var there, ours bool
	err = q.QueryRow(ctx, `SELECT to_regclass('lyceum.meta') IS NOT NULL, EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE c.relkind IN ('r', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\_%')`).Scan(&there, &ours)
	switch {
	case err != nil:
		return 0, err
	case !there && ours:
		return 0, ErrForeign
	case !there:
		return 0, nil
	}
	var program string
	err = q.QueryRow(ctx, "SELECT format, program FROM lyceum.meta").Scan(&format, &program)
	switch c := code(err); {
	case c == "42703" || c == "42P01" || errors.Is(err, pgx.ErrNoRows) || err == nil && program != "lyceum ledger":
		return 0, ErrForeign
	case err != nil:
		return 0, err
	}
	return format, nil
}

// migrate makes the next format, unless another node was faster.
func (s *Store) migrate(ctx context.Context, conn *pgx.Conn) error {
	return pgx.BeginTxFunc(ctx, conn, begin, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock($1)", making); err != nil {
			return err
		}
		format, err := formatOf(ctx, tx)
		if err != nil || format >= len(s.opts.migrations) {
			return err
		}
		script := s.opts.migrations[format]
		if format == 0 {
			script = "CREATE SCHEMA IF NOT EXISTS lyceum;" + script
		}
		// A script of many statements, which only the simple protocol takes.
		if _, err := tx.Conn().PgConn().Exec(ctx, script).ReadAll(); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "UPDATE lyceum.meta SET format = $1", format+1)
		return err
	})
}

// querier is what a connection, a transaction and the pool have in common.
type querier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}
