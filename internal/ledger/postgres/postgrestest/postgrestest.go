// Package postgrestest starts real PostgreSQL servers for tests, from the system's packages, in
// folders of their own and reached by a socket there. They flush as any server does: what is
// tested is what they keep.
package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/need"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Server is a server that runs, or has been stopped.
type Server struct {
	bin, dir string
	as       *syscall.Credential // nil for this user

	ended <-chan struct{} // closed when the server's first process is gone

	mu   sync.Mutex // guards made
	made map[string]bool
}

// Start starts a server, which is gone when the test is over. settings are lines of
// postgresql.conf.
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	need.Program(t, "pg_ctlcluster")
	s, err := New(settings...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Remove(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// New is Start for a TestMain, which removes the server itself.
func New(settings ...string) (*Server, error) {
	s, err := place()
	if err != nil {
		return nil, err
	}
	settings = append([]string{
		"listen_addresses = ''", fmt.Sprintf("unix_socket_directories = '%s'", s.dir), "max_connections = 400",
		"shared_buffers = 32MB", "log_min_messages = fatal", "logging_collector = off",
	}, settings...)
	err = s.run("initdb", "-D", s.data(), "-U", "lyceum", "--auth=trust", "-E", "UTF8", "--locale=C", "--no-sync")
	if err == nil {
		err = s.configure(settings)
	}
	if err == nil {
		err = s.Boot()
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(s.dir))
	}
	return s, nil
}

// place finds the programs, makes a folder, and whom the server runs as: it refuses root.
func place() (*Server, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return nil, errors.New("there is no PostgreSQL server: apt-get install postgresql")
	}
	slices.Sort(found)
	s := &Server{bin: filepath.Dir(found[len(found)-1]), made: map[string]bool{}}
	if s.dir, err = os.MkdirTemp("", "lyceum-pg-"); err != nil || os.Geteuid() != 0 {
		return s, err
	}
	who, err := user.Lookup("postgres")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("PostgreSQL does not run as root, and there is no user postgres, which its package makes: %w", err), os.RemoveAll(s.dir))
	}
	uid, _ := strconv.Atoi(who.Uid)
	gid, _ := strconv.Atoi(who.Gid)
	s.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	return s, os.Chown(s.dir, uid, gid)
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }

func (s *Server) run(program string, args ...string) error {
	cmd := exec.Command(filepath.Join(s.bin, program), args...)
	cmd.Dir, cmd.Env = s.dir, append(os.Environ(), "LC_ALL=C")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, out)
	}
	return nil
}

// configure adds lines to the settings.
func (s *Server) configure(lines []string) error {
	f, err := os.OpenFile(filepath.Join(s.data(), "postgresql.conf"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(strings.Join(lines, "\n") + "\n")
	return errors.Join(err, f.Close())
}

// Boot starts a server that was stopped, and returns when it answers. It ends with this process,
// however that ends.
func (s *Server) Boot() (err error) {
	for range 100 {
		// Of a server that was killed some processes may be there for a while, and keep its memory.
		if err = s.boot(); err == nil || !strings.Contains(err.Error(), "is still in use") {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

func (s *Server) boot() error {
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	before, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	cmd := exec.Command(filepath.Join(s.bin, "postgres"), "-D", s.data())
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.dir, append(os.Environ(), "LC_ALL=C"), log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as, Pdeathsig: syscall.SIGQUIT}
	ended, err := launch(cmd)
	if err != nil {
		return err
	}
	s.ended = ended
	for range 600 {
		err = s.Exec(context.Background(), "postgres", "SELECT 1")
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			said, _ := os.ReadFile(log.Name())
			return fmt.Errorf("the server ended: %s", said[min(int64(len(said)), before):])
		case <-time.After(50 * time.Millisecond):
		}
	}
	return fmt.Errorf("the server does not answer: %w", err)
}

// launch starts a process from a thread that stays until the process has ended, which is said then: the server is
// told when that thread ends, not when this process does, and a thread that makes sandboxes ends with them.
func launch(cmd *exec.Cmd) (ended <-chan struct{}, err error) {
	started, gone := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
			close(gone)
		}
	}()
	return gone, <-started
}

// Stop stops the server: fast, or immediate, as after a loss of power.
func (s *Server) Stop(how string) error {
	return s.run("pg_ctl", "stop", "-w", "-D", s.data(), "-m", how)
}

// Kill has the server's first process die; those that serve connections end when they notice.
func (s *Server) Kill() error {
	data, err := os.ReadFile(filepath.Join(s.data(), "postmaster.pid"))
	if err != nil {
		return err
	}
	first, _, _ := strings.Cut(string(data), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		return err
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		return err
	}
	<-s.ended // as long as it is there, another takes it for one that runs
	return nil
}

// Remove stops the server and takes its folder away.
func (s *Server) Remove() error {
	_ = s.Stop("immediate") // it may have been stopped
	if s.ended != nil {
		<-s.ended
	}
	err := os.RemoveAll(s.dir)
	for range 20 { // of a server that was killed some processes may still write
		if err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
		err = os.RemoveAll(s.dir)
	}
	return err
}

// Address is that of a database of the server.
func (s *Server) Address(database string) string {
	q := url.Values{"host": {s.dir}, "user": {"lyceum"}}
	return "postgres:///" + database + "?" + q.Encode()
}

// Database makes a database for a key, once, and returns its address.
func (s *Server) Database(key string) (string, error) {
	name, err := s.Named(key)
	return s.Address(name), err
}

// User is whom the server runs as, nil for this process's own user.
func (s *Server) User() *syscall.Credential { return s.as }

// Named is Database for whoever reaches it in another way: it returns the database's name.
func (s *Server) Named(key string) (string, error) {
	name := nameOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	for try := 0; !s.made[name]; try++ {
		err := s.Exec(context.Background(), "postgres", "CREATE DATABASE "+name)
		var pg *pgconn.PgError
		switch {
		case err == nil, errors.As(err, &pg) && (pg.Code == "42P04" || pg.Code == "23505"): // another process was faster
			s.made[name] = true
		case try == 20 || pg == nil || pg.Code != "55006": // the template is in use, for a moment
			return "", err
		}
	}
	return name, nil
}

// Dir is the server's folder; Join in another process takes it.
func (s *Server) Dir() string { return s.dir }

// Join is the server of another process, to make and find databases in.
func Join(dir string) *Server { return &Server{dir: dir, made: map[string]bool{}} }

// Admit adds a line before all others of pg_hba.conf, and has the server read it.
func (s *Server) Admit(line string) error {
	path := filepath.Join(s.data(), "pg_hba.conf")
	rest, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, append([]byte(line+"\n"), rest...), 0o600)
	}
	if err != nil {
		return err
	}
	return s.run("pg_ctl", "reload", "-D", s.data())
}

// Exec runs a statement as the server's owner.
func (s *Server) Exec(ctx context.Context, database, sql string) error {
	conn, err := pgx.Connect(ctx, s.Address(database))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(ctx))
}

// Standby makes a synchronous standby of the server: from then on the server acknowledges only
// what both have.
func (s *Server) Standby() (*Server, error) {
	b, err := place()
	if err != nil {
		return nil, err
	}
	err = b.run("pg_basebackup", "-D", b.data(), "-h", s.dir, "-U", "lyceum", "-X", "stream", "-c", "fast", "-R", "-d", "application_name=second")
	if err == nil {
		err = b.configure([]string{fmt.Sprintf("unix_socket_directories = '%s'", b.dir), "wal_retrieve_retry_interval = 100ms"})
	}
	if err == nil {
		err = b.Boot()
	}
	if err == nil {
		err = s.Exec(context.Background(), "postgres", "ALTER SYSTEM SET synchronous_standby_names = 'second'")
	}
	if err == nil {
		err = s.run("pg_ctl", "reload", "-D", s.data())
	}
	for try := 0; err == nil; try++ {
		var there bool
		conn, failed := pgx.Connect(context.Background(), s.Address("postgres"))
		if failed != nil {
			return nil, failed
		}
		err = conn.QueryRow(context.Background(), "SELECT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync')").Scan(&there)
		err = errors.Join(err, conn.Close(context.Background()))
		if there {
			return b, err
		}
		if try == 300 {
			err = errors.New("the standby does not become synchronous")
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil, errors.Join(err, b.Remove())
}

// Promote makes a standby the server that writes.
func (s *Server) Promote() error { return s.run("pg_ctl", "promote", "-w", "-D", s.data()) }

// Either is the address of a key's database at whichever of two servers writes.
func (s *Server) Either(other *Server, key string) string {
	q := url.Values{"host": {s.dir + "," + other.dir}, "port": {"5432,5432"}, "user": {"lyceum"}, "target_session_attrs": {"read-write"}}
	return "postgres:///" + nameOf(key) + "?" + q.Encode()
}

// nameOf is the name of a key's database.
func nameOf(key string) string { return "t" + event.HashOf([]byte(key)).String()[:20] }
