package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"lyceum/internal/blob"
	blobfs "lyceum/internal/blob/fs"
	"lyceum/internal/blob/s3"
	"lyceum/internal/conduct"
	"lyceum/internal/config"
	"lyceum/internal/ledger"
	"lyceum/internal/ledger/postgres"
	"lyceum/internal/ledger/sqlite"
	"lyceum/internal/runtime"
	"lyceum/internal/view"
)

// The variables that say where quests are kept. Unlike a flag and config.yaml the first may hold a
// password.
const (
	ledgerVariable = "LYCEUM_LEDGER"
	blobsVariable  = "LYCEUM_BLOBS"
)

// places are the addresses of a home's ledger and of its blobs, each empty for what is in the home.
type places struct{ ledger, blobs string }

// placesOf says where quests are kept: by the flag, else by the variables, else by config.yaml.
// There may be no configuration.
func placesOf(flag string, conf *config.Config) (places, error) {
	if conf == nil {
		conf = new(config.Config)
	}
	p := places{firstOf(flag, os.Getenv(ledgerVariable), conf.Ledger), firstOf(os.Getenv(blobsVariable), conf.Blobs)}
	if p.ledger != "" && !postgres.Is(p.ledger) {
		return p, usagef("the address of the ledger is none that is known: write it as postgres://user@host:5432/lyceum, or %s for the database in the home (--ledger, %s or ledger in config.yaml)", config.InHome, ledgerVariable)
	}
	if p.ledger != "" && flag != "" {
		if err := postgres.CheckFlag(p.ledger); err != nil {
			return p, usageError{err}
		}
	}
	if p.blobs != "" {
		if _, err := s3.Parse(p.blobs); err != nil {
			return p, usagef("%w (%s, or blobs in config.yaml)", err, blobsVariable)
		}
	}
	return p, nil
}

// firstOf is the first address that is given, empty if that is the home.
func firstOf(all ...string) string {
	for _, a := range all {
		if a = strings.TrimSpace(a); a != "" {
			if a == config.InHome {
				a = ""
			}
			return a
		}
	}
	return ""
}

// storeSecrets are what opens the stores of a home, as far as variables hold it. A password in a file
// is read by the driver alone.
func storeSecrets(conf *config.Config) (out []string) {
	if u, err := url.Parse(os.Getenv(ledgerVariable)); err == nil {
		password, _ := u.User.Password()
		_, written, _ := strings.Cut(u.User.String(), ":")
		out = append(out, password, written, u.Query().Get("password"), u.Query().Get("sslpassword"))
	}
	p, _ := placesOf("", conf) // what is wrong with it was told when the home was opened
	if p.ledger != "" {
		out = append(out, os.Getenv("PGPASSWORD"))
	}
	if p.blobs != "" {
		out = append(out, os.Getenv("AWS_SECRET_ACCESS_KEY"), os.Getenv("AWS_SESSION_TOKEN"))
	}
	return out
}

// nothingYet says that a home has no quests.
func nothingYet(where string) error {
	return fmt.Errorf("%w: there is nothing in %s yet", ledger.ErrNoQuest, where)
}

// hasDatabase reports whether a home has a database of its own.
func hasDatabase(home string) bool {
	_, err := os.Stat(filepath.Join(home, ledgerName))
	return !errors.Is(err, fs.ErrNotExist)
}

// stores are the ledger and the blobs of a home.
type stores struct {
	ledger ledger.Store
	blobs  blob.Store
	// room tells whether the disk of the home has room for more.
	room   func() error
	closes []func() error
}

// close closes them, the ledger first: blobs go on being held until no event can follow that names one.
func (s *stores) close() (err error) {
	for i := len(s.closes) - 1; i >= 0; i-- {
		err = errors.Join(err, s.closes[i]())
	}
	return err
}

// openStores is the one place where the ledger and the blobs of a home are opened: nobody above knows
// which engines they are. Without mayCreate nothing is made in a database that has no tables yet.
func openStores(ctx context.Context, home string, conf *config.Config, p places, mayCreate bool, say func(line string)) (*stores, error) {
	s := new(stores)
	err := s.openBlobs(ctx, home, conf, p.blobs)
	if err == nil {
		err = s.openLedger(ctx, home, p.ledger, mayCreate, say)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *stores) openBlobs(ctx context.Context, home string, conf *config.Config, address string) error {
	if address == "" {
		files, err := blobfs.Open(filepath.Join(home, "blobs"), &blobfs.Options{Reserve: reserve(conf)})
		if err != nil {
			return err
		}
		s.blobs, s.room, s.closes = files, files.Room, append(s.closes, files.Close)
		return nil
	}
	opts, err := s3.Parse(address)
	if err != nil {
		return usageError{err}
	}
	objects, err := s3.Open(ctx, opts)
	if err != nil {
		return err
	}
	// Workspaces are in the home all the same.
	s.room = func() error { return blobfs.RoomOn(home, reserve(conf)) }
	s.blobs, s.closes = objects, append(s.closes, func() error { objects.Close(); return nil })
	return nil
}

func (s *stores) openLedger(ctx context.Context, home, address string, mayCreate bool, say func(line string)) error {
	if address == "" {
		file, err := sqlite.Open(filepath.Join(home, ledgerName), &sqlite.Options{Say: say})
		if err != nil {
			return err
		}
		s.ledger, s.closes = file, append(s.closes, file.Close)
		return nil
	}
	db, err := postgres.Open(ctx, address, &postgres.Options{Existing: !mayCreate})
	if errors.Is(err, postgres.ErrEmpty) {
		return nothingYet("the ledger's database")
	}
	if err != nil {
		return err
	}
	s.ledger, s.closes = shared{db}, append(s.closes, db.Close)
	return nil
}

// shared is a ledger whose owners may have died without a word, elsewhere. What a killed process has claimed is free
// for the next one, as it is in a home, but only once it has been still for long enough: so whoever claims waits for that.
type shared struct{ *postgres.Store }

// Claim implements ledger.Store.
func (s shared) Claim(ctx context.Context, quest string) (ledger.Claim, error) {
	for {
		c, err := s.Store.Claim(ctx, quest)
		if !errors.Is(err, ledger.ErrClaimed) {
			return c, err
		}
		if free, unknown := s.Outlast(ctx, quest); unknown != nil || !free {
			return nil, err
		}
	}
}

// leftBehind says how many quests the home's own database has, if the ledger is another.
func (a *app) leftBehind(ctx context.Context) {
	if a.places.ledger == "" || !hasDatabase(a.home) {
		return
	}
	path := filepath.Join(a.home, ledgerName)
	file, err := sqlite.Open(path, nil)
	if err != nil {
		return // whoever opens it is told why
	}
	heads, err := file.Quests(ctx)
	left := 0
	for _, h := range heads {
		if to, unknown := (&runtime.Runtime{Ledger: file}).MovedTo(ctx, h.Quest); unknown == nil && to == "" {
			left++
		}
	}
	if errors.Join(err, file.Close()) != nil || left == 0 {
		return
	}
	fmt.Fprintf(a.err, "%s in %s, too, and not in this list: see there with %s=%s lyceum --ledger %s list. To have them here: lyceum --ledger %s move --to <the address of this ledger>\n",
		view.Several(int64(left), "quest is", "quests are"), printable(path), blobsVariable, config.InHome, config.InHome, config.InHome)
}

// shownPlace is an address as people are shown it: without a password.
func shownPlace(address string) string {
	if address == "" {
		return config.InHome
	}
	u, err := url.Parse(address)
	if err != nil {
		return "an address that cannot be read"
	}
	if u.User != nil {
		u.User = url.User(u.User.Username())
	}
	q := u.Query()
	for _, secret := range []string{"password", "sslpassword"} {
		q.Del(secret)
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// studiesFile is the database of a home's studies. It is the home's own wherever quests are kept, and
// has a folder of its own for its claims and its index.
func studiesFile(home string) string { return filepath.Join(home, "studies", ledgerName) }

// studyStores opens the ledgers of the home's studies once, as soon as they are wanted and there, for as
// long as the program lasts.
func (a *app) studyStores() func(mayCreate bool) (ledger.Store, error) {
	var mu sync.Mutex
	var store ledger.Store
	a.closes = append(a.closes, func() error {
		mu.Lock()
		defer mu.Unlock()
		if store == nil {
			return nil
		}
		return store.Close()
	})
	return func(mayCreate bool) (ledger.Store, error) {
		mu.Lock()
		defer mu.Unlock()
		if store != nil {
			return store, nil
		}
		opened, err := openStudies(a.home, mayCreate, a.saying())
		if err == nil {
			store = opened
		}
		return opened, err
	}
}

// openStudies opens the ledgers of a home's studies. Without mayCreate a home that has none is
// conduct.ErrNone.
func openStudies(home string, mayCreate bool, say func(line string)) (ledger.Store, error) {
	file := studiesFile(home)
	if !mayCreate && !hasStudies(home) {
		return nil, fmt.Errorf("%w: there are no studies in %s yet", conduct.ErrNone, home)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of studies: %w", err)
	}
	return sqlite.Open(file, &sqlite.Options{Say: say})
}
