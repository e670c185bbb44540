package sqlite

// Queued returns how many writes wait for the writer.
func (s *Store) Queued() int { return len(s.queue) }

// OpenWith opens a ledger as a lyceum with other migrations would.
func OpenWith(path string, migrations []string, opts Options) (*Store, error) {
	opts.migrations = append([]string{}, migrations...)
	return Open(path, &opts)
}

// Migrations are the product's.
func Migrations() []string { return migrations }
