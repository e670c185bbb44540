package cli_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"lyceum/internal/blob/s3/s3test"
	"lyceum/internal/config"
	"lyceum/internal/event"
	"lyceum/internal/ledger/postgres/postgrestest"
	"lyceum/internal/need"

	"github.com/jackc/pgx/v5"
)

// database is a PostgreSQL server for a test, and the address of a database of it.
func database(t *testing.T) (server *postgrestest.Server, address string) {
	t.Helper()
	server = postgrestest.Start(t)
	address, err := server.Database(t.Name())
	must(t, err)
	return server, address
}

// bucket is the address of an S3 store for a test.
func bucket(t *testing.T, kind s3test.Kind) string {
	t.Helper()
	return "s3://" + s3test.Bucket + "/home?path=true&endpoint=" + s3test.Start(t, kind).Endpoint
}

// awsKeys are the variables with the credentials of every S3 server of tests.
var awsKeys = []string{"AWS_ACCESS_KEY_ID=" + s3test.Key, "AWS_SECRET_ACCESS_KEY=" + s3test.Secret}

// elsewhere is a home whose config.yaml says that its ledger is in PostgreSQL and its blobs in an S3 store.
func elsewhere(t *testing.T, files map[string]string) (*home, *postgrestest.Server) {
	t.Helper()
	server, address := database(t)
	h := newHome(t, files)
	must(t, writeFolder(h.dir, map[string]string{"config.yaml": "ledger: " + address + "\nblobs: " + bucket(t, s3test.Strict) + "\n"}))
	h.env = append(h.env, awsKeys...)
	return h, server
}

// nothingInside fails the test if the home has a ledger or blobs of its own.
func (h *home) nothingInside() {
	h.t.Helper()
	for _, name := range []string{"lyceum.db", "blobs"} {
		if _, err := os.Stat(filepath.Join(h.dir, name)); err == nil {
			h.t.Errorf("there is a %s in a home that keeps such things elsewhere", name)
		}
	}
}

// TestEveryCommandWorksOnPostgresAndS3: each is a process of its own, so that what one did the next one sees.
func TestEveryCommandWorksOnPostgresAndS3(t *testing.T) {
	t.Parallel()
	h, _ := elsewhere(t, askFiles)
	h.run("list").want(t, 0, "There are no quests yet")
	h.run("show", "ask").want(t, 1, "there is nothing in the ledger's database yet")
	h.ok("create", "quest.yaml", "--name", "made")
	h.run("run", "quest.yaml").want(t, 0, "It is 42.")
	h.run("list").want(t, 0, "made", "ask")
	h.run("show", "ask").want(t, 0, "It is 42.")
	h.sound("ask")
	h.run("message", "ask", "Once again, please.").want(t, 0)
	h.run("run", "ask").want(t, 0, "Once more: 42.")
	h.sound("ask")
	h.ok("fork", "ask", "--at", "3", "--name", "forked")
	h.ok("run", "forked")
	h.run("verify", "forked").want(t, 0, "consistent")
	h.run("replay", "forked").want(t, 0, "identical")
	zip := filepath.Join(h.work, "ask.zip")
	h.ok("export", "ask", zip)
	h.run("verify", zip).want(t, 0, "consistent")
	h.ok("import", zip, "--as", "back")
	h.sound("back")
	// A home of files takes the same crate, and says the same of it.
	other := newHome(t, nil)
	other.ok("import", zip)
	if here, there := h.ok("trace", "back", "--jsonl"), other.ok("trace", "ask", "--jsonl"); here != there {
		t.Errorf("an imported quest in PostgreSQL and in a file: got\n%s\nand\n%s\nwant the same events", here, there)
	}
	h.run("clean", "ask").want(t, 0, "Removed the workspaces")
	h.run("clean", "ask", "--data", "--yes").want(t, 0, "Removed quest ask", "stay for now")
	h.run("show", "ask").want(t, 1, "no such quest")
	h.sound("back")
	h.run("redact", "back", "--text", "sevenfold", "--why", "a test", "--yes").want(t, 1, "Nothing was changed", "lyceum export")
	h.run("backup", filepath.Join(h.work, "copy")).want(t, 0, "Backed up")
	(&home{t: t, dir: filepath.Join(h.work, "copy"), work: h.work}).sound("back")
	h.run("token", "create", "--scope", "read", "--note", "a test").want(t, 0)
	h.run("token", "list").want(t, 0, "a test")
	h.run("config", "show").want(t, 0, "ledger      postgres://", "blobs       s3://")
	h.nothingInside()
}

func TestSocietiesWorkOnPostgresAndS3(t *testing.T) {
	t.Parallel()
	t.Run("ContractNet", func(t *testing.T) {
		t.Parallel()
		h, _ := elsewhere(t, netFiles(t, func(s string) string { return s + "computer: none\n" }))
		h.run("run", "quest.yaml").want(t, 0, "35.1 kJ/mol")
		h.run("replay", "thermal").want(t, 0, "identical")
		h.run("verify", "thermal").want(t, 0, "consistent")
	})
	t.Run("Lab", func(t *testing.T) {
		t.Parallel()
		need.Program(t, "bwrap")
		h, _ := elsewhere(t, exampleFiles(t, "lab-number"))
		h.ok("run", "quest.yaml")
		h.labSound("lab-number")
		h.nothingInside()
	})
}

// TestAKilledRunGoesOnInPostgres: the claim of a process that was killed is free once it has been still for long enough, and
// the next run waits for that.
func TestAKilledRunGoesOnInPostgres(t *testing.T) {
	t.Parallel()
	h, _ := elsewhere(t, map[string]string{"quest.yaml": slowQuest, "plan.yaml": slowPlan})
	for at, how := range map[int]string{4: "after", 7: "before"} {
		name := "slow-" + how
		h.ok("create", "quest.yaml", "--name", name)
		if l := h.dies(at, how, "run", name); l.code != -1 {
			t.Fatalf("the process did not die: %d\n%s", l.code, l.errOut)
		}
		h.run("run", name).want(t, 0, "Done.")
		h.sound(name)
	}
	// One that lives is not waited for.
	h.ok("create", "quest.yaml", "--name", "busy")
	p := h.start("run", "busy")
	h.await("busy", "model.result", 1)
	h.run("run", "busy").want(t, 1, "running in another process")
	p.wait().want(t, 0)
}

// TestAServerOnPostgres: what one process does another's clients see, and what a killed server ran the next goes on with.
func TestAServerOnPostgres(t *testing.T) {
	t.Parallel()
	h, _ := elsewhere(t, askFiles)
	first := h.serve()
	h.ok("run", "quest.yaml")
	q, err := first.client.Quest(t.Context(), "ask")
	must(t, err)
	if q.Status != "finished" {
		t.Errorf("a quest that another process ran, as the server says it: got %s, want finished", q.Status)
	}
	first.slow()
	h.await("slow", "model.call", 2)
	first.kill()
	second := h.serve()
	second.end("slow")
	h.sound("slow")
	second.signal(syscall.SIGTERM)
	second.wait().want(t, 0)
	h.nothingInside()
}

// TestWhatARemovedQuestLeavesGoesAfterItsGrace: small blobs of the database and objects of the bucket, beside a server, and nothing else.
func TestWhatARemovedQuestLeavesGoesAfterItsGrace(t *testing.T) {
	t.Parallel()
	server, address := database(t)
	objects := s3test.Start(t, s3test.Strict)
	h := newHome(t, map[string]string{"quest.yaml": askQuest, "plan.yaml": askPlan, "other/quest.yaml": askQuest, "other/plan.yaml": strings.ReplaceAll(askPlan, "six times seven", "only here")})
	h.env = append([]string{"LYCEUM_LEDGER=" + address, "LYCEUM_BLOBS=s3://" + s3test.Bucket + "/home?path=true&endpoint=" + objects.Endpoint}, awsKeys...)
	h.ok("run", "quest.yaml")
	h.ok("run", "other/quest.yaml", "--name", "other")
	name := event.HashOf([]byte("only here")).String()
	object := filepath.Join(objects.Dir, s3test.Bucket, "home", name[:2], name[2:4], name)
	h.run("clean", "other", "--data", "--yes").want(t, 0, "stay for now")
	if _, err := os.Stat(object); err != nil {
		t.Fatalf("an object that was put lately: got %v, want it to stay", err)
	}
	// Two days go by.
	then := time.Now().Add(-48 * time.Hour)
	must(t, filepath.WalkDir(objects.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chtimes(path, then, then)
	}))
	note := filepath.Join(h.dir, "cache", "garbage")
	must(t, os.Chtimes(note, then, then))
	in, err := server.Named(t.Name())
	must(t, err)
	must(t, server.Exec(t.Context(), in, "UPDATE lyceum.blobs SET put = put - interval '2 days'"))
	small := func() (n int) {
		conn, err := pgx.Connect(t.Context(), address)
		must(t, err)
		must(t, errors.Join(conn.QueryRow(t.Context(), "SELECT count(*) FROM lyceum.blobs").Scan(&n), conn.Close(t.Context())))
		return n
	}
	before := small()
	s := h.serve()
	for deadline := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		if _, err := os.Stat(note); err != nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("a server does not collect: %s", s.errOut.String())
		}
	}
	if _, err := os.Stat(object); err == nil {
		t.Error("an object that no quest names is still there after its grace")
	}
	if after := small(); after >= before {
		t.Errorf("small blobs in the database: got %d after %d, want fewer", after, before)
	}
	h.sound("ask")
	s.signal(syscall.SIGTERM)
	s.wait().want(t, 0)
}

// TestABackupOfALedgerInTheHomeBringsObjectsAlong, so that the copy needs no bucket.
func TestABackupOfALedgerInTheHomeBringsObjectsAlong(t *testing.T) {
	t.Parallel()
	h := newHome(t, askFiles)
	h.env = append([]string{"LYCEUM_BLOBS=" + bucket(t, s3test.Strict)}, awsKeys...)
	h.ok("run", "quest.yaml")
	h.sound("ask")
	h.nothingOf("blobs")
	to := filepath.Join(h.work, "copy")
	h.ok("backup", to)
	(&home{t: t, dir: to, work: h.work}).sound("ask")
}

func TestWhoSaysWhereTheLedgerIs(t *testing.T) {
	t.Parallel()
	server, first := database(t)
	address := func(key string) string {
		a, err := server.Database(t.Name() + key)
		must(t, err)
		return a
	}
	h := newHome(t, askFiles)
	h.ok("run", "quest.yaml", "--name", "in-the-home")
	must(t, writeFolder(h.dir, map[string]string{"config.yaml": "ledger: " + first + "\n"}))
	h.ok("create", "quest.yaml", "--name", "by-config")
	second := h.in(t)
	second.env = append(second.env, "LYCEUM_LEDGER="+address("second"))
	second.ok("create", "quest.yaml", "--name", "by-variable")
	second.ok("create", "quest.yaml", "--name", "by-flag", "--ledger", address("third"))
	for _, c := range []struct {
		h    *home
		args []string
		want string
	}{{h, nil, "by-config"}, {second, nil, "by-variable"}, {second, []string{"--ledger", address("third")}, "by-flag"}, {second, []string{"--ledger", config.InHome}, "in-the-home"}} {
		l := c.h.run(append([]string{"list"}, c.args...)...)
		l.want(t, 0, c.want)
		if n := strings.Count(l.out, "by-") + strings.Count(l.out, "in-the-home"); n != 1 {
			t.Errorf("list %q: got\n%swant %s alone", c.args, l.out, c.want)
		}
		if said := strings.Count(l.errOut, "1 quest is in"); (said == 1) == (c.want == "in-the-home") {
			t.Errorf("list of %s says %d times that the home has a quest, too:\n%s", c.want, said, l.errOut)
		}
	}
}

func TestAPasswordOfTheLedgerIsNowhereToBeRead(t *testing.T) {
	t.Parallel()
	const password = "hunter2-canary"
	server, address := database(t)
	must(t, server.Exec(context.Background(), "postgres", "CREATE ROLE secret LOGIN SUPERUSER PASSWORD '"+password+"'"))
	must(t, server.Admit("local all secret scram-sha-256"))
	h := newHome(t, askFiles)
	with := strings.Replace(address, "user=lyceum", "user=secret&password="+password, 1)
	silent := func(l lyceum) lyceum {
		t.Helper()
		if strings.Contains(l.out+l.errOut, password) {
			t.Errorf("it tells the password:\n%s%s", l.out, l.errOut)
		}
		return l
	}
	for _, wrong := range []string{with, "postgres://secret:" + password + "@localhost/lyceum", "host=localhost password=" + password} {
		silent(h.run("list", "--ledger", wrong)).want(t, 2)
	}
	silent(h.run("list", "--ledger", with)).want(t, 2, "PGPASSFILE", "LYCEUM_LEDGER")
	must(t, writeFolder(h.dir, map[string]string{"config.yaml": "ledger: " + with + "\n"}))
	silent(h.run("create", "quest.yaml")).want(t, 2, "PGPASSFILE", "LYCEUM_LEDGER", "config.yaml:1")
	must(t, os.Remove(config.File(h.dir)))
	h.env = append(h.env, "LYCEUM_LEDGER="+with)
	must(t, writeFolder(h.work, map[string]string{"quest.yaml": strings.Replace(askQuest, "What is", "My password is "+password+". What is", 1)}))
	silent(h.run("run", "quest.yaml")).want(t, 0, "It is 42.")
	for _, args := range [][]string{{"show", "ask"}, {"trace", "ask", "--jsonl"}, {"config", "show"}, {"config", "show", "--json"}, {"doctor"}} {
		silent(h.run(args...))
	}
	// From a file it works as well.
	file := filepath.Join(h.work, "pgpass")
	must(t, os.WriteFile(file, []byte("*:*:*:secret:"+password+"\n"), 0o600))
	h.env = []string{"PGPASSFILE=" + file}
	silent(h.run("list", "--ledger", strings.Replace(address, "user=lyceum", "user=secret", 1))).want(t, 0, "ask")
	in, err := server.Named(t.Name())
	must(t, err)
	file = filepath.Join(h.work, "services")
	must(t, os.WriteFile(file, []byte("[mine]\nhost="+server.Dir()+"\nuser=secret\npassword="+password+"\ndbname="+in+"\n"), 0o600))
	h.env = []string{"PGSERVICEFILE=" + file}
	silent(h.run("list", "--ledger", "postgres:///?service=mine")).want(t, 0, "ask")
	silent(h.run("list", "--ledger", "postgres:///?service=other")).want(t, 1, "PGSERVICEFILE")
}
