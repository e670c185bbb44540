package cgroup

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMemoryOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		self  string
		files map[string]string
		want  int64
	}{
		"TheLeastOfAllAbove":   {"0::/a/b\n", map[string]string{"a/memory.max": "1000\n", "a/b/memory.max": "max\n"}, 1000},
		"ItsOwn":               {"0::/a/b\n", map[string]string{"a/memory.max": "1000\n", "a/b/memory.max": "500\n"}, 500},
		"InAContainer":         {"0::/../../docker/x\n", map[string]string{"memory.max": "700\n"}, 700},
		"None":                 {"0::/a\n", map[string]string{"a/memory.max": "max\n"}, 0},
		"VersionOne":           {"5:memory:/a\n1:name=systemd:/\n", map[string]string{"memory/a/memory.limit_in_bytes": "900\n"}, 900},
		"VersionOneWithoutOne": {"5:memory:/a\n", map[string]string{"memory/a/memory.limit_in_bytes": "9223372036854771712\n"}, 0},
		"NoGroups":             {"", nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			self := filepath.Join(t.TempDir(), "cgroup")
			if err := os.WriteFile(self, []byte(c.self), 0o600); err != nil {
				t.Fatal(err)
			}
			for path, text := range c.files {
				if err := os.MkdirAll(filepath.Dir(filepath.Join(root, path)), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(root, path), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := MemoryOf(root, self); got != c.want {
				t.Errorf("the memory is %d, want %d", got, c.want)
			}
		})
	}
}
