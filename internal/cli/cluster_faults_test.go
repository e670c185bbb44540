package cli_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lyceum/internal/blob/s3/s3test"
	"lyceum/internal/event"
	"lyceum/internal/ledger/postgres/postgrestest"
	"lyceum/internal/need"

	"golang.org/x/sys/unix"
)

// unmade wants commands to say what is wrong with where quests are kept, and to make nothing.
func (h *home) unmade(says ...string) {
	h.t.Helper()
	for _, args := range [][]string{{"list"}, {"run", "quest.yaml", "--name", "fresh"}, {"message", "ask", "x"}} {
		l := h.run(args...)
		l.want(h.t, 1, says...)
		if strings.Contains(l.errOut, "goroutine ") {
			h.t.Fatalf("lyceum %s panicked:\n%s", strings.Join(args, " "), l.errOut)
		}
	}
	if _, err := os.Stat(filepath.Join(h.dir, "quests", "fresh")); err == nil {
		h.t.Error("a quest was made all the same")
	}
	h.nothingOf("lyceum.db")
}

func (h *home) nothingOf(name string) {
	h.t.Helper()
	if _, err := os.Stat(filepath.Join(h.dir, name)); err == nil {
		h.t.Errorf("there is a %s in the home", name)
	}
}

// TestALedgerElsewhereThatCannotBeUsedSaysWhatToDo tries what can be wrong against a real server.
func TestALedgerElsewhereThatCannotBeUsedSaysWhatToDo(t *testing.T) {
	t.Parallel()
	server := postgrestest.Start(t)
	at := func(address string) *home {
		h := newHome(t, askFiles)
		h.env = []string{"LYCEUM_LEDGER=" + address}
		return h
	}
	made := func(key string, statements ...string) string {
		t.Helper()
		name, err := server.Named(key)
		must(t, err)
		for _, sql := range statements {
			must(t, server.Exec(context.Background(), name, strings.ReplaceAll(sql, "DB", name)))
		}
		return server.Address(name)
	}
	as := func(address, user string) string { return strings.Replace(address, "user=lyceum", "user="+user, 1) }
	must(t, server.Exec(context.Background(), "postgres", "CREATE ROLE reader LOGIN"))
	must(t, server.Exec(context.Background(), "postgres", "CREATE ROLE secret LOGIN PASSWORD 'right'"))
	must(t, server.Admit("local all secret scram-sha-256"))
	must(t, server.Admit("local all banished reject"))

	at("postgres://lyceum@127.0.0.1:1/lyceum").unmade("nobody answers there: check host and port")
	at("postgres://lyceum@nowhere.invalid/lyceum").unmade("no host of that name: check the address")
	at(server.Address("missing")).unmade("createdb missing")
	at(as(made("any"), "secret&password=wrong")).unmade("the password is wrong or missing", "PGPASSFILE")
	at(as(made("any"), "banished")).unmade("pg_hba.conf")
	at(as(made("empty"), "reader")).run("run", "quest.yaml").want(t, 1, "GRANT CREATE, CONNECT ON DATABASE")
	at(made("unsafe", "ALTER DATABASE DB SET synchronous_commit = off")).unmade("synchronous_commit = off", "ALTER DATABASE")

	foreign := made("foreign", "CREATE TABLE customers (id int)")
	at(foreign).unmade("another program's", "createdb")
	name, err := server.Named("foreign")
	must(t, err)
	must(t, server.Exec(context.Background(), name, "CREATE SCHEMA lyceum")) // fails if one was made
	must(t, server.Exec(context.Background(), name, "DROP SCHEMA lyceum"))

	used := made("used")
	at(used).ok("create", "quest.yaml")
	at(as(used, "reader")).unmade("GRANT <the owner of the schema lyceum> TO reader")
	at(made("used", "UPDATE lyceum.meta SET format = format + 2")).unmade("written by a newer Lyceum", "use the lyceum that wrote it or a newer one")

	// Only reading makes no tables.
	h := at(made("reading"))
	h.run("list").want(t, 0, "There are no quests yet")
	made("reading", "CREATE SCHEMA lyceum", "DROP SCHEMA lyceum")
	for _, address := range []string{"mysql://host/lyceum", "host=localhost"} {
		at(address).run("list").want(t, 2, "write it as postgres://")
	}
}

func TestBlobsElsewhereThatCannotBeUsedSayWhatToDo(t *testing.T) {
	t.Parallel()
	endpoint := s3test.Start(t, s3test.Strict).Endpoint
	for _, c := range []struct {
		name, address string
		keys          []string
		says          string
	}{
		{"Bucket", "s3://missing/home?path=true&endpoint=" + endpoint, awsKeys, "there is no such bucket; make it, or correct its name"},
		{"Credentials", "s3://blobs/home?path=true&endpoint=" + endpoint, []string{"AWS_ACCESS_KEY_ID=" + s3test.Key, "AWS_SECRET_ACCESS_KEY=hunter2-canary"}, "the credentials are not the store's"},
		{"NoCredentials", "s3://blobs/home?path=true&credentials=environment&endpoint=" + endpoint, nil, "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"},
		{"Encryption", "s3://blobs/home?path=true&encrypt=s3&endpoint=" + endpoint, awsKeys, "does not confirm that it encrypts"},
		{"Nobody", "s3://blobs/home?path=true&endpoint=http://127.0.0.1:1", awsKeys, "no store answers there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, askFiles)
			h.env = append([]string{"LYCEUM_BLOBS=" + c.address}, c.keys...)
			l := h.run("run", "quest.yaml")
			l.want(t, 1, c.says)
			if strings.Contains(l.out+l.errOut, "canary") {
				t.Errorf("it tells the secret:\n%s", l.errOut)
			}
			h.nothingOf("lyceum.db")
			h.nothingOf("quests")
			h.run("doctor").want(t, 1, "problem    store: ", c.says)
		})
	}
}

// TestAFullDiskOfTheLedgersServerLosesNothing: what does not fit is refused in words, and all goes on once there is room.
func TestAFullDiskOfTheLedgersServerLosesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.Chmod(filepath.Dir(dir), 0o755)) // the server is another user
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=24m,mode=777"); err != nil {
		need.Missing(t, "mounting a small tmpfs takes root and CAP_SYS_ADMIN (%v): run the tests with sudo, or in a container with --privileged", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	server := postgrestest.Start(t)
	sub := filepath.Join(dir, "space")
	must(t, os.Mkdir(sub, 0o700))
	if as := server.User(); as != nil {
		must(t, os.Chown(sub, int(as.Uid), int(as.Gid)))
	}
	ctx := context.Background()
	must(t, server.Exec(ctx, "postgres", "CREATE TABLESPACE small LOCATION '"+sub+"'"))
	must(t, server.Exec(ctx, "postgres", "CREATE DATABASE tight TABLESPACE small"))
	h := newHome(t, askFiles)
	h.env = []string{"LYCEUM_LEDGER=" + server.Address("tight")}
	h.ok("run", "quest.yaml")
	must(t, server.Exec(ctx, "tight", "CREATE TABLE public.filler (data text)"))
	for n := 1 << 10; n > 0; { // until not even a page is left
		if server.Exec(ctx, "tight", fmt.Sprintf("INSERT INTO public.filler SELECT repeat('x', 1500) FROM generate_series(1, %d)", n)) != nil {
			n /= 2
		}
	}
	long := "Does this fit? "
	for len(long) < 8000 { // what cannot be packed
		long += rand.Text()
	}
	h.run("message", "ask", long).want(t, 1, "the disk is full, that of the database server: make room there", "Nothing that was recorded is lost")
	must(t, server.Exec(ctx, "tight", "DROP TABLE public.filler"))
	h.sound("ask")
	h.ok("message", "ask", "Once again, please.")
	h.run("run", "ask").want(t, 0, "Once more: 42.")
	h.sound("ask")
}

// shift has the clock of a database go on by some time.
func shift(t *testing.T, server *postgrestest.Server, key, by string) {
	t.Helper()
	name, err := server.Named(key)
	must(t, err)
	for _, sql := range []string{
		"CREATE SCHEMA IF NOT EXISTS shifted",
		"CREATE OR REPLACE FUNCTION shifted.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ SELECT pg_catalog.clock_timestamp() + interval '" + by + "' $$",
		"ALTER DATABASE " + name + " SET search_path = shifted, pg_catalog",
	} {
		must(t, server.Exec(context.Background(), name, sql))
	}
}

// times are those of a quest's events.
func (h *home) times(quest string) (out []time.Time) {
	h.t.Helper()
	for line := range strings.Lines(h.ok("trace", quest, "--jsonl")) {
		var e struct{ Time event.Time }
		must(h.t, json.Unmarshal([]byte(line), &e))
		out = append(out, e.Time.Time())
	}
	return out
}

// TestEventsAreStampedByTheDatabasesClock and never before the quest's head, should that clock go back.
func TestEventsAreStampedByTheDatabasesClock(t *testing.T) {
	t.Parallel()
	server, address := database(t)
	shift(t, server, t.Name(), "1 hour")
	h := newHome(t, askFiles)
	h.env = []string{"LYCEUM_LEDGER=" + address}
	begun := time.Now()
	h.ok("run", "quest.yaml")
	first := h.times("ask")
	for i, at := range first {
		if ahead := at.Sub(begun); ahead < 59*time.Minute || ahead > 65*time.Minute {
			t.Fatalf("event %d is stamped %v after this machine's time, want the database's, an hour on", i+1, ahead)
		}
	}
	h.run("doctor").want(t, 0, "warning    clock: this machine's clock is 1h0m0", "behind the database's")
	shift(t, server, t.Name(), "-10 minutes")
	h.ok("message", "ask", "Once again, please.")
	h.ok("run", "ask")
	for i, all := 1, h.times("ask"); i < len(all); i++ {
		if all[i].Before(all[i-1]) {
			t.Errorf("event %d is stamped %v, before the one before it at %v", i+1, all[i], all[i-1])
		}
	}
	h.sound("ask")
}

func TestDoctorLooksAtALedgerAndBlobsElsewhere(t *testing.T) {
	t.Parallel()
	h, server := elsewhere(t, map[string]string{"quest.yaml": slowQuest, "plan.yaml": steps(60)})
	h.run("doctor").want(t, 0, "ok         database: PostgreSQL at", "; version 1", "there are no tables yet", "ok         rights", "ok         settings", "warning    standby: there is no synchronous standby",
		"ok         clock", "ok         store: bucket blobs answers; an object was written, read and deleted", "keeps conditions and keeps checksums", "encryption: the store does not say")
	name, err := server.Named(t.Name())
	must(t, err)
	must(t, server.Exec(context.Background(), name, "CREATE SCHEMA lyceum")) // fails if doctor has made one
	must(t, server.Exec(context.Background(), name, "DROP SCHEMA lyceum"))

	p := h.start("run", "quest.yaml")
	h.await("slow", "model.result", 2)
	h.run("doctor").want(t, 0, "this lyceum's; 1 quest", "ok         nodes: 1 process with 1 quest, and all of them beat")
	p.kill()
	h.run("doctor").want(t, 0, "warning    nodes: 1 process with 1 quest; without a beat for more than a second: 1")
	must(t, server.Exec(context.Background(), name, "UPDATE lyceum.meta SET format = format + 2"))
	h.run("doctor").want(t, 1, "problem    format", "use the lyceum that wrote it or a newer one")

	lax := newHome(t, nil)
	lax.env = append([]string{"LYCEUM_BLOBS=" + bucket(t, s3test.Lax)}, awsKeys...)
	lax.run("doctor").want(t, 0, "ignores conditions and ignores checksums; neither is relied on")
	away := newHome(t, nil)
	away.env = []string{"LYCEUM_LEDGER=postgres://lyceum@127.0.0.1:1/lyceum"}
	away.run("doctor").want(t, 1, "problem    database: ", "check host and port", "is not usable")
}
