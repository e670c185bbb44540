package postgres

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"syscall"
	"time"

	"lyceum/internal/ledger"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"golang.org/x/sys/unix"
)

// CheckFlag refuses an address that has a password in it: whoever can list processes reads what
// stands on a command line.
func CheckFlag(address string) error {
	u, err := url.Parse(address)
	if err == nil {
		if _, has := u.User.Password(); !has && !u.Query().Has("password") && !u.Query().Has("sslpassword") {
			return nil
		}
	}
	return errors.New("the address of the ledger has a password in it, or cannot be read; every user of this machine can read what stands on a command line: take the password out, and put it into ~/.pgpass or the file that PGPASSFILE names, or put the whole address into LYCEUM_LEDGER")
}

// Scheme begins the addresses of this driver's ledgers.
const Scheme = "postgres://"

// Is reports whether an address is one of this driver's.
func Is(address string) bool {
	return strings.HasPrefix(address, Scheme) || strings.HasPrefix(address, "postgresql://")
}

// Name is what people are told an address is: never its password.
func Name(c *pgx.ConnConfig) string {
	host := c.Host
	if !strings.HasPrefix(host, "/") {
		host = net.JoinHostPort(c.Host, fmt.Sprint(c.Port))
	}
	return fmt.Sprintf("PostgreSQL at %s, database %s", host, c.Database)
}

// silence is after how long without an answer from the other machine's kernel a connection is
// taken for lost. A server that works on a statement for long answers such questions all the same.
const silence = 10 * time.Second

// parse makes the settings of every connection.
func parse(address string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(address)
	if err != nil {
		// The library's error repeats the address, but for the password if it can find that.
		return nil, errors.New("the address of the ledger cannot be read: it must be like postgres://user@host:5432/lyceum, with special characters as %25 and so on; a service that it names must be in ~/.pg_service.conf or the file that PGSERVICEFILE names, and files that it names must be there")
	}
	// A description of a statement is kept, and not a prepared statement: a pooler may give the
	// next one another server process.
	config.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	if config.ValidateConnect == nil {
		config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 5 * time.Second
	}
	config.OnNotice = func(c *pgconn.PgConn, n *pgconn.Notice) {
		if n.SeverityUnlocalized == "WARNING" {
			c.CustomData()[warned] = true
		}
	}
	dialer := &net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3},
		Control:         giveUpSilent,
	}
	config.DialFunc = dialer.DialContext
	return config, nil
}

// giveUpSilent has the kernel give up a connection over which nothing is acknowledged.
func giveUpSilent(network, _ string, c syscall.RawConn) (err error) {
	if !strings.HasPrefix(network, "tcp") {
		return nil
	}
	failed := c.Control(func(fd uintptr) {
		err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(silence.Milliseconds()))
	})
	return errors.Join(err, failed)
}

// warned marks a connection over which a warning came. The one that matters says that the wait for
// the standby was cancelled; its words depend on the server's language, so that any counts.
const warned = "lyceum warned"

// unsure reports whether a warning has come since it was last asked.
func unsure(conn *pgx.Conn) bool {
	data := conn.PgConn().CustomData()
	was, _ := data[warned].(bool)
	delete(data, warned)
	return was
}

var errUnsure = errors.New("the server did not wait for its standby")

// ready makes a new connection fit for use: its server flushes, and has acknowledged a write, so
// that whatever is read after that stays.
func ready(ctx context.Context, conn *pgx.Conn) error {
	if err := checkSettings(ctx, conn); err != nil {
		return err
	}
	return barrier(ctx, conn)
}

// barrier returns once a write is acknowledged, by the standby too, if there is one: so is then
// everything that could be seen before it.
func barrier(ctx context.Context, conn *pgx.Conn) error {
	unsure(conn)
	if _, err := conn.Exec(ctx, "UPDATE lyceum.barrier SET passed = passed + 1"); err != nil {
		return err
	}
	if unsure(conn) {
		return errUnsure
	}
	return nil
}

// checkSettings refuses a server that calls a commit durable which is not.
func checkSettings(ctx context.Context, conn *pgx.Conn) error {
	var fsync, pages, sync, standby string
	err := conn.QueryRow(ctx, "SELECT current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit'), current_setting('synchronous_standby_names')").Scan(&fsync, &pages, &sync, &standby)
	switch {
	case err != nil:
		return err
	case fsync != "on":
		return unsafe("fsync", fsync)
	case pages != "on":
		return unsafe("full_page_writes", pages)
	case sync == "off", sync == "local" && standby != "":
		return unsafe("synchronous_commit", sync)
	}
	return nil
}

// SettingError says that the server has a setting by which it can lose what it has acknowledged.
type SettingError struct{ Name, Value string }

func (e *SettingError) Error() string {
	return fmt.Sprintf("the server has %s = %s, and can lose what it has said is kept: set it to on (ALTER SYSTEM SET %s = 'on'; SELECT pg_reload_conf(); or take away what ALTER DATABASE or ALTER ROLE set)", e.Name, e.Value, e.Name)
}

func unsafe(name, value string) error { return &SettingError{name, value} }

// code is the SQLSTATE of a server's error, "" if it is none.
func code(err error) string {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code
	}
	return ""
}

// gone reports whether an error of a connection leaves open what the server did: the connection
// broke, the server said farewell, or it has not waited for its standby.
func gone(conn *pgx.Conn, err error) bool {
	return err != nil && (errors.Is(err, errUnsure) || conn == nil || conn.IsClosed() || farewell(err))
}

// farewell reports whether the server goes down, starts, has too many connections, or was demoted.
func farewell(err error) bool {
	c := code(err)
	return strings.HasPrefix(c, "08") || strings.HasPrefix(c, "57P") || c == "53300" || c == "25006"
}

// away reports whether there was no connection to be had, for a reason that passes.
func away(err error) bool {
	var connect *pgconn.ConnectError
	var op net.Error
	return errors.Is(err, errUnsure) || farewell(err) || code(err) == "" && (pgconn.SafeToRetry(err) || errors.As(err, &connect) || errors.As(err, &op) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF))
}

// again reports whether the server undid everything for a reason that passes.
func again(err error) bool {
	switch code(err) {
	case "40001", "40P01", "55P03", "57014":
		return true
	}
	return false
}

// kind turns PostgreSQL's errors into those of package ledger.
func kind(err error) error {
	switch c := code(err); {
	case c == "53100":
		return fmt.Errorf("%w, that of the database server: make room there (%w)", ledger.ErrFull, err)
	case c == "XX001", c == "XX002":
		return fmt.Errorf("%w (%w)", ledger.ErrCorrupt, err)
	}
	return err
}

// explain says what to do about an error of opening.
func explain(config *pgx.ConnConfig, err error) error {
	var dial *net.OpError
	var dns *net.DNSError
	var unknown x509.UnknownAuthorityError
	next := ""
	switch c := code(err); {
	case errors.Is(err, ledger.ErrNewer), errors.Is(err, ErrForeign):
		return err
	case c == "28P01":
		next = "the password is wrong or missing: put it into ~/.pgpass, the file that PGPASSFILE names, or LYCEUM_LEDGER"
	case c == "28000":
		next = fmt.Sprintf("the server lets no user %q in from here: see its pg_hba.conf", config.User)
	case c == "3D000":
		next = fmt.Sprintf("there is no such database: make it with: createdb %s", config.Database)
	case c == "42501":
		next = fmt.Sprintf("the user %q has no right to that: let the database's owner say: %s; or, if another user has made Lyceum's tables there: %s", config.User, grant(config), join(config))
	case c == "25006", strings.Contains(err.Error(), "read only connection"):
		next = "the server only reads, as a standby does: name the one that writes, or all of them (postgres://user@one,two/lyceum)"
	case c == "" && strings.Contains(err.Error(), "refused TLS"):
		next = "the server does not speak TLS: have it do so (ssl = on), or, on a network that you trust, add sslmode=disable to the address"
	case errors.As(err, &unknown):
		next = "the server's certificate is signed by nobody that is known here: name the file with the certificate of who signed it: sslrootcert=/file.pem in the address"
	case errors.Is(err, syscall.EACCES):
		next = "this user may not reach the server's socket: check its folder's rights, or use a host in the address"
	case c == "57P03", c == "53300":
		next = "the server is busy or starts: try again in a moment"
	case errors.As(err, &dns):
		next = "there is no host of that name: check the address"
	case errors.As(err, &dial), errors.Is(err, context.DeadlineExceeded):
		next = "nobody answers there: check host and port, and that the server runs"
	default:
		return kind(err)
	}
	return fmt.Errorf("%s (%w)", next, err)
}
