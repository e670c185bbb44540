package cli_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/api/client"
	"lyceum/internal/canary"
)

const answered = "name: %s\nproblem: How many primes are below 100?\nmodel: demo\n"

// with is the home for processes with one more variable.
func (h *home) with(variable string) *home {
	return &home{t: h.t, dir: h.dir, work: h.work, env: append([]string{variable}, h.env...)}
}

func TestTheCommandLineBringsAToken(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{"a.yaml": fmt.Sprintf(answered, "a"), "b.yaml": fmt.Sprintf(answered, "b")})
	h.ok("create", "a.yaml")
	h.ok("create", "b.yaml")
	s := h.serve()
	defer s.stop()
	make := func(scope string) string {
		t.Helper()
		return strings.TrimSpace(h.ok("token", "create", "--scope", scope, "--note", scope))
	}
	reader, mine := make("read"), make("quest:a")
	h.with("LYCEUM_TOKEN="+reader).run("run", "a").want(t, 1, "of scope steer or quest:a; yours is of scope read")
	h.with("LYCEUM_TOKEN="+mine).run("run", "b").want(t, 1, "of scope steer or quest:b; yours is of scope quest:a")
	h.with("LYCEUM_TOKEN="+mine).run("run", "a", "--max-turns", "90").want(t, 1, "the home's own")
	h.with("LYCEUM_TOKEN=lyceum_NONSENSE").run("run", "a").want(t, 1, "neither revoked nor expired")
	h.with("LYCEUM_TOKEN="+mine).run("run", "a").want(t, 0, "It runs in lyceum serve.")
	if got := h.show("b").Status; got != "created" {
		t.Errorf("the other quest is %s, want created", got)
	}
	c := s.calling(nil)
	link, _ := c.ask("GET", "/?token="+mine)
	cookie, key := session(link.Header)
	if resp, body := c.ask("GET", "/api/quests", "Cookie", cookie, "Lyceum-Key", key); resp.StatusCode != 200 || !strings.Contains(body, `"name":"a"`) || strings.Contains(body, `"name":"b"`) {
		t.Errorf("the page of a token for quest a lists %d %s, want that one alone", resp.StatusCode, body)
	}
	// A server in another process hears at once that a token is revoked.
	for line := range strings.Lines(h.ok("token", "list")) {
		h.ok("token", "revoke", strings.Fields(line)[0])
	}
	for _, headers := range [][]string{{"Cookie", cookie, "Lyceum-Key", key}, {"Authorization", "Bearer " + mine}, {"Authorization", "Bearer " + reader}} {
		if resp, _ := c.ask("GET", "/api/quests", headers...); resp.StatusCode != 401 {
			t.Errorf("a token that was revoked: got %d, want 401", resp.StatusCode)
		}
	}
}

func TestASecretIsKeptNowhere(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	secret := strings.TrimSpace(h.ok("token", "create", "--scope", "read", "--note", "findable"))
	canary.Nowhere(t, h.dir, strings.TrimPrefix(secret, "lyceum_"))
	if !h.holds("findable") {
		t.Error("the token's note is in no file of the home: the test looks in the wrong place")
	}
}

func TestVersionsThatDiffer(t *testing.T) {
	t.Parallel()
	t.Run("AreToldAndStillWork", func(t *testing.T) {
		t.Parallel()
		h := newHome(t, map[string]string{"a.yaml": fmt.Sprintf(answered, "a"), "b.yaml": fmt.Sprintf(answered, "b")})
		old := h.with("LYCEUM_TEST_VERSION=0.0.7-old")
		s := old.serve()
		defer s.stop()
		l := h.run("run", "a.yaml")
		l.want(t, 0, "It runs in lyceum serve.", "The server is lyceum 0.0.7-old, and this is lyceum ", "start it again: lyceum serve")
		if strings.Count(l.errOut, "0.0.7-old") != 1 || strings.Contains(l.out, "0.0.7-old") {
			t.Errorf("it is told more than once, or in the answer:\n%s%s", l.out, l.errOut)
		}
		same := old.run("run", "b.yaml")
		if same.want(t, 0); strings.Contains(same.errOut, "The server is") {
			t.Errorf("one of the same version is told, too: %s", same.errOut)
		}
	})
	for what, c := range map[string]struct {
		format string
		code   int
		says   []string
	}{
		"AreRefusedIfTheFormatDiffers":     {fmt.Sprint(api.Format + 1), 1, []string{"the server is lyceum 9.9.9 and speaks format 2", "start it again with this lyceum"}},
		"AreToldOfAServerThatDoesNotSayIt": {"", 1, []string{"an older lyceum that does not say which", "sorry"}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, map[string]string{"a.yaml": fmt.Sprintf(answered, "a")})
			h.ok("create", "a.yaml")
			token, err := api.Token(h.dir)
			must(t, err)
			fake := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get(api.FormatHeader) != fmt.Sprint(api.Format) || r.Header.Get(api.VersionHeader) == "" {
					t.Errorf("the command line says to be %q, format %q", r.Header.Get(api.VersionHeader), r.Header.Get(api.FormatHeader))
				}
				if c.format != "" {
					w.Header().Set(api.FormatHeader, c.format)
					w.Header().Set(api.VersionHeader, "9.9.9")
				}
				if r.Method == http.MethodPost {
					http.Error(w, `{"error":{"message":"sorry"}}`, http.StatusConflict)
				}
			}))
			fake.TLS, err = api.Mutual(token)
			must(t, err)
			fake.StartTLS()
			defer fake.Close()
			place, err := client.Take(h.dir)
			must(t, err)
			defer place.Leave()
			must(t, place.Announce(client.Note{Local: fake.Listener.Addr().String(), Pages: []string{fake.URL}}))
			h.run("run", "a").want(t, c.code, c.says...)
			if got := h.show("a").Status; got != "created" {
				t.Errorf("the quest is %s, want it untouched", got)
			}
		})
	}
}
