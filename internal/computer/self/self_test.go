package self

import (
	"errors"
	"os"
	"testing"
)

func TestCopy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	one, two := Copy{Temp: dir}, Copy{Temp: dir}
	path, err := one.Path()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := two.Path(); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("the first copy, after a second was made: %v %v", info, err)
	}
	if again, err := one.Path(); err != nil || again != path {
		t.Errorf("asked again: got %s, %v, want %s", again, err, path)
	}
	if err := errors.Join(one.Close(), two.Close(), one.Close()); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
