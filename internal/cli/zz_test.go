package cli_test
import ("testing";"os";"path/filepath")
func TestZZ(t *testing.T) {
	h := asked(t)
	h.ok("trace", "ask", "--jsonl")
	execute(h.t, h.database(), "VACUUM")
	m, _ := filepath.Glob(h.dir+"/*")
	for _, f := range m { i, _ := os.Stat(f); t.Log(f, i.Size()) }
}
