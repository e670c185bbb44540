package cli_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestAServerIsAWitness: lyceum serve with witness in config.yaml cosigns what another home shows it,
// without a token and with nothing else open; it goes on with the key that follows the one it knows.
func TestAServerIsAWitness(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{"a.yaml": fmt.Sprintf(answered, "a")})
	h = h.with("LYCEUM_KEY_PASSPHRASE=correct-horse-battery")
	there := h.at(filepath.Join(t.TempDir(), "there"))
	there.ok("key", "make", "--file", "--name", "wit.example")
	there.configure("witness: {first_use: true}\n")
	s := there.serve()
	defer s.stop()
	s.says("This server is a witness at /witness. public_key: ")
	public := regexp.MustCompile(`public_key: (\S+)`).FindStringSubmatch(s.errOut.String())[1]
	base := s.url[:strings.Index(s.url, "/?")]
	h.ok("key", "make", "--file", "--name", "ada.example")
	h.configure(fmt.Sprintf("witnesses:\n  wit: {url: %s/witness, public_key: %s}\n", base, public))
	h.ok("run", "a.yaml")
	h.run("checkpoints", "a", "--sign").want(t, 0, "were seen by wit.example")
	h.ok("key", "rotate", "--file")
	h.ok("message", "a", "And again?")
	h.ok("run", "a")
	l := h.run("checkpoints", "a", "--sign")
	if l.want(t, 0, "were seen by wit.example"); strings.Contains(l.out, "only by their owner") || strings.Contains(l.errOut, "did not vouch") {
		t.Errorf("after a rotation the witness does not go on:\n%s%s", l.out, l.errOut)
	}
	// Somebody else under her name is refused: his key follows nobody's.
	eve := h.at(filepath.Join(t.TempDir(), "eve"))
	eve.ok("key", "make", "--file", "--name", "ada.example")
	config, err := os.ReadFile(filepath.Join(h.dir, "config.yaml"))
	must(t, err)
	eve.configure(string(config))
	eve.ok("run", "a.yaml")
	eve.run("checkpoints", "a", "--sign").want(t, 0, "no key of this log that is known here signed the checkpoint", "nobody else saw it")
	for _, c := range []struct {
		method, path string
		want         int
	}{{"POST", "/witness/add-checkpoint", 400}, {"GET", "/witness/add-checkpoint", 0}, {"POST", "/witness/../api/quests", 0}, {"POST", "/witness/other", 0}} {
		req, err := http.NewRequest(c.method, base+c.path, strings.NewReader("nonsense"))
		must(t, err)
		resp, err := http.DefaultClient.Do(req)
		must(t, err)
		body, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if c.want != 0 && resp.StatusCode != c.want || c.want == 0 && resp.StatusCode < 400 && strings.Contains(string(body), "ada.example") {
			t.Errorf("%s %s without a token: %d %.200s", c.method, c.path, resp.StatusCode, body)
		}
		if c.want == 0 && c.method == "POST" && resp.StatusCode < 400 {
			t.Errorf("%s %s without a token is let in: %d", c.method, c.path, resp.StatusCode)
		}
	}
}
