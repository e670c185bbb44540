package postgres_test

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/ledger"
	"lyceum/internal/ledger/ledgertest"
	"lyceum/internal/ledger/postgres"
	"lyceum/internal/need"
)

// pooler starts a pgbouncer that hands out a server's connection for each transaction, and returns
// how a database is reached through it.
func pooler(t *testing.T) (via func(database string) string) {
	t.Helper()
	needServer(t)
	program := need.Program(t, "pgbouncer")
	dir, err := os.MkdirTemp("", "lyceum-pool-")
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must(t, os.Chmod(dir, 0o755))
	users, settings := filepath.Join(dir, "users"), filepath.Join(dir, "settings")
	must(t, os.WriteFile(users, []byte("\"lyceum\" \"\"\n"), 0o644))
	must(t, os.WriteFile(settings, fmt.Appendf(nil, "[databases]\n* = host=%s\n[pgbouncer]\nlisten_addr =\nunix_socket_dir = %s\nauth_type = trust\nauth_file = %s\npool_mode = transaction\nmax_client_conn = 500\ndefault_pool_size = 4\nignore_startup_parameters = extra_float_digits\n", server.Dir(), dir, users), 0o644))
	cmd := exec.Command(program, "-q", settings)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: server.User()}
	if server.User() != nil {
		must(t, os.Chown(dir, int(server.User().Uid), int(server.User().Gid)))
	}
	cmd.Stderr = os.Stderr
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		conn, err := net.Dial("unix", filepath.Join(dir, ".s.PGSQL.6432"))
		if err == nil {
			_ = conn.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("pgbouncer does not answer: %v", err)
		}
	}
	return func(database string) string {
		return "postgres:///" + database + "?" + url.Values{"host": {dir}, "port": {"6432"}, "user": {"lyceum"}}.Encode()
	}
}

func TestConformanceBehindAPooler(t *testing.T) {
	via := pooler(t)
	ledgertest.Exercise(t, func(dir string) (ledger.Store, error) {
		name, err := server.Named("pooled " + dir)
		if err != nil {
			return nil, err
		}
		return postgres.Open(t.Context(), via(name), nil)
	})
}
