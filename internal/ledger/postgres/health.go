package postgres

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"lyceum/internal/ledger"

	"github.com/jackc/pgx/v5"
)

// Health is what can be said of a ledger's database by looking at it. Nothing is made or changed.
type Health struct {
	// Name is what people are told the address is.
	Name string
	// Version is the server's.
	Version string
	// Unsafe is a setting by which the server can lose what it has acknowledged, nil if there is none.
	Unsafe error
	// Named is what the server calls its synchronous standbys, empty for none; Standbys is how many follow it.
	Named    string
	Standbys int
	// Format is that of the tables, 0 if there are none; Makes is the one that this program makes.
	Format, Makes int
	// Lacking is what the user has no right to, as what to say to grant it; empty if nothing is lacking.
	Lacking string
	// Offset is by how much the server's clock is ahead of this machine's; it is known up to Within.
	Offset, Within time.Duration
	Quests         int
	Nodes          []NodeHealth
	// Waiting is how many quests are to run that nobody owns, Stranded those of them that no node can run.
	Waiting  int
	Stranded []ledger.Stranded
}

// NodeHealth is a process that has claimed quests, or is there to take some.
type NodeHealth struct {
	ledger.Node
	// Still says that it has not beaten while it was looked at, for longer than a beat takes.
	Still bool
}

// watch is how long nodes are looked at: a beat, and a half for one that is late.
const watched = 1500 * time.Millisecond

// Examine looks at the database at an address. The error says why that cannot be done, and what to do about it.
func Examine(ctx context.Context, address string) (*Health, error) {
	config, err := parse(address)
	if err != nil {
		return nil, err
	}
	h := &Health{Name: Name(config), Makes: len(migrations)}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err == nil {
		err = errors.Join(h.look(ctx, conn, config), conn.Close(ctx))
	}
	if err != nil {
		return nil, fmt.Errorf("look at %s: %w", h.Name, explain(config, err))
	}
	return h, nil
}

func (h *Health) look(ctx context.Context, conn *pgx.Conn, config *pgx.ConnConfig) error {
	var setting *SettingError
	if err := checkSettings(ctx, conn); errors.As(err, &setting) {
		h.Unsafe = setting
	} else if err != nil {
		return err
	}
	err := conn.QueryRow(ctx, "SELECT current_setting('server_version'), current_setting('synchronous_standby_names'), (SELECT count(*) FROM pg_stat_replication)").Scan(&h.Version, &h.Named, &h.Standbys)
	if err != nil {
		return err
	}
	if err := h.time(ctx, conn); err != nil {
		return err
	}
	if h.Format, err = formatOf(ctx, conn); err != nil {
		return err
	}
	if err := h.rights(ctx, conn, config); err != nil || h.Format == 0 || h.Lacking != "" {
		return err
	}
	if err := conn.QueryRow(ctx, "SELECT count(*) FROM lyceum.quests WHERE head > 0").Scan(&h.Quests); err != nil {
		return err
	}
	if err := h.nodes(ctx, conn); err != nil || h.Format < 4 {
		return err
	}
	if h.Waiting, err = waitingOf(ctx, conn); err != nil {
		return err
	}
	h.Stranded, err = strandedOf(ctx, conn)
	return err
}

// time asks for the server's time a few times: the quickest answer says it best.
func (h *Health) time(ctx context.Context, conn *pgx.Conn) error {
	h.Within = time.Hour
	for range 3 {
		var told time.Time
		asked := now()
		if err := conn.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&told); err != nil {
			return err
		}
		if half := now().Sub(asked) / 2; half < h.Within {
			h.Within, h.Offset = half, told.Sub(asked.Add(half))
		}
	}
	return nil
}

// rights finds out what the user may not do that a ledger needs.
func (h *Health) rights(ctx context.Context, conn *pgx.Conn, config *pgx.ConnConfig) error {
	var may bool
	if h.Format == 0 {
		err := conn.QueryRow(ctx, "SELECT has_database_privilege(current_database(), 'CREATE')").Scan(&may)
		if err == nil && !may {
			h.Lacking = grant(config)
		}
		return err
	}
	err := conn.QueryRow(ctx, `SELECT NOT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'lyceum' AND c.relkind = 'r'
		AND NOT (has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'INSERT') AND has_table_privilege(c.oid, 'UPDATE') AND has_table_privilege(c.oid, 'DELETE')))`).Scan(&may)
	if err == nil && !may {
		h.Lacking = join(config)
	}
	return err
}

// nodes looks at the beats twice.
func (h *Health) nodes(ctx context.Context, conn *pgx.Conn) error {
	first, err := beats(ctx, conn)
	if err != nil || len(first) == 0 {
		return err
	}
	if !pause(ctx, watched) {
		return ctx.Err()
	}
	second, err := beats(ctx, conn)
	if err != nil {
		return err
	}
	about := map[int64]ledger.Node{} // tables of an older format do not say
	if h.Format >= 4 {
		list, err := nodesOf(ctx, conn)
		if err != nil {
			return err
		}
		for _, n := range list {
			about[n.ID] = n
		}
	}
	for _, id := range slices.Sorted(maps.Keys(second)) {
		n := about[id]
		n.ID, n.Quests = id, second[id].claims
		was, known := first[id]
		h.Nodes = append(h.Nodes, NodeHealth{Node: n, Still: known && was.beat == second[id].beat})
	}
	return nil
}

type beating struct {
	beat   int64
	claims int
}

func beats(ctx context.Context, conn *pgx.Conn) (map[int64]beating, error) {
	rows, err := conn.Query(ctx, "SELECT n.id, n.beat, (SELECT count(*) FROM lyceum.quests q WHERE q.node = n.id) FROM lyceum.nodes n")
	if err != nil {
		return nil, err
	}
	out := map[int64]beating{}
	var id int64
	var b beating
	_, err = pgx.ForEachRow(rows, []any{&id, &b.beat, &b.claims}, func() error { out[id] = b; return nil })
	return out, err
}

// grant and join are what a person with more rights says to give those that are lacking: on a database that is empty, and
// on tables that another has made.
func grant(config *pgx.ConnConfig) string {
	return fmt.Sprintf("GRANT CREATE, CONNECT ON DATABASE %s TO %s", config.Database, config.User)
}

func join(config *pgx.ConnConfig) string {
	return fmt.Sprintf("GRANT <the owner of the schema lyceum> TO %s", config.User)
}
