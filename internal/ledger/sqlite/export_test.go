package sqlite

// Queued returns how many writes wait for the writer.
func (s *Store) Queued() int { return len(s.queue) }

// OpenWith opens a ledger as a lyceum with other migrations would. before is told of
// each step of a migration just before it is taken.
func OpenWith(path string, opts Options, migrations []string, before func(step string)) (*Store, error) {
	opts.migrations, opts.before = append([]string{}, migrations...), before
	return Open(path, &opts)
}

// Migrations are the product's.
func Migrations() []string { return migrations }
