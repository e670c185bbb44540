package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/api/client"
	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/runtime"
)

func TestParseScope(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"read", "steer", "quest:primes"} {
		if s, err := api.ParseScope(good); err != nil || s.String() != good {
			t.Errorf("%q: got %q %v, want it as it is", good, s, err)
		}
	}
	for _, bad := range []string{"", "owner", "admin", "Read", "read ", "read:x", "steer:mine", "quest", "quest:", "quest:*", "quest:A", "quest:a,b", "quest:a/b", "quest:..", "quest:a:b", "known", "open", "*"} {
		if s, err := api.ParseScope(bad); err == nil || s != (api.Scope{}) {
			t.Errorf("%q: got the scope %q, want an error and none", bad, s)
		}
	}
}

// A scope that nobody gave is good for nothing but what is open.
func TestNoScopeIsGoodForNothing(t *testing.T) {
	t.Parallel()
	for _, need := range api.Needs() {
		for _, quest := range []string{"", "mine"} {
			if got := (api.Scope{}).Allows(need, quest); got != (need == "open") {
				t.Errorf("no scope at a route that needs %s, quest %q: got %v", need, quest, got)
			}
		}
	}
}

func TestATokenForOneQuest(t *testing.T) {
	t.Parallel()
	g := newGatehouse(t)
	mine := g.bearer("mine")
	t.Run("ListsThatOneAlone", func(t *testing.T) {
		for name, want := range map[string]string{"mine": "mine", "other": "other", "read": "mine other", "steer": "mine other", "owner": "mine other"} {
			for _, headers := range [][]string{g.bearer(name), g.cookie(name)} {
				var list struct{ Quests []struct{ Name string } }
				must(t, json.Unmarshal(g.ask("GET", "/api/quests", "", headers...).body.Bytes(), &list))
				var got []string
				for _, q := range list.Quests {
					got = append(got, q.Name)
				}
				if slices.Sort(got); strings.Join(got, " ") != want {
					t.Errorf("%s sees the quests %q, want %q", name, got, want)
				}
			}
		}
	})
	t.Run("CannotTellWhetherOthersExist", func(t *testing.T) {
		for pattern := range g.Rows() {
			if !strings.Contains(pattern, "{quest}") {
				continue
			}
			method, target, body := g.target(pattern)
			there := g.ask(method, strings.Replace(target, "/mine", "/other", 1), body, mine...)
			gone := g.ask(method, strings.Replace(target, "/mine", "/never", 1), body, mine...)
			if there.code != 403 || strings.ReplaceAll(there.body.String(), "other", "never") != gone.body.String() {
				t.Errorf("%s: a quest that exists gives %d %s, one that does not %d %s", pattern, there.code, there.body.String(), gone.code, gone.body.String())
			}
		}
	})
	t.Run("GetsNoBytesOfOthersByTheirHash", func(t *testing.T) {
		for _, kind := range []string{"blobs", "trees"} {
			there := g.ask("GET", "/api/"+kind+"/"+g.spec("other"), "", mine...)
			gone := g.ask("GET", "/api/"+kind+"/"+strings.Repeat("0", 64), "", mine...)
			if there.code != 404 || strings.ReplaceAll(there.body.String(), g.spec("other"), strings.Repeat("0", 64)) != gone.body.String() {
				t.Errorf("%s of another quest: got %d %s, want 404 in the words of one that is not there: %s", kind, there.code, there.body.String(), gone.body.String())
			}
			asked := g.ask("GET", "/api/"+kind+"/"+g.spec("other"), "", append(mine, "If-None-Match", `"`+g.spec("other")+`"`, "Range", "bytes=0-1")...)
			if asked.code != 404 {
				t.Errorf("%s of another quest, if changed: got %d, want 404", kind, asked.code)
			}
		}
		if w := g.ask("GET", "/api/blobs/"+g.spec("mine"), "", mine...); w.code != 200 {
			t.Errorf("its own quest.yaml: got %d, want 200", w.code)
		}
	})
	t.Run("MayOrderWhatItsOwnerAllowed", func(t *testing.T) {
		at := "/api/quests/mine/control"
		for _, c := range []struct {
			body string
			want int
			says string
		}{
			{`{"action":"fork","name":"loot"}`, 403, "the home's own"},
			{`{"action":"start","limits":{"cost_usd":"1000"}}`, 403, "the home's own"},
			{`{"action":"start","limits":{"agent":{"turns":1000}}}`, 403, "the home's own"},
			{`{"action":"pause"}`, 409, "nothing to pause"},
			{`{"action":"stop","limits":{}}`, 200, ""},
		} {
			for _, name := range []string{"mine", "steer"} {
				w := g.ask("POST", at, c.body, g.bearer(name)...)
				if c.want == 200 && name == "steer" {
					continue // it is stopped already
				}
				if w.code != c.want || !strings.Contains(w.body.String(), c.says) {
					t.Errorf("%s by %s: got %d %s, want %d and %q", c.body, name, w.code, w.body.String(), c.want, c.says)
				}
			}
		}
		if w := g.ask("POST", "/api/quests/mine/messages", `{"text":"Hello."}`, mine...); w.code != 202 {
			t.Errorf("a message: got %d %s, want 202", w.code, w.body.String())
		}
	})
	t.Run("SaysWhichScopeIsNeeded", func(t *testing.T) {
		for _, c := range []struct{ name, method, target, says string }{
			{"read", "POST", "/api/quests/mine/messages", "of scope steer or quest:mine; yours is of scope read"},
			{"mine", "GET", "/api/quests/other", "of scope read, steer or quest:other; yours is of scope quest:mine"},
			{"mine", "GET", "/metrics", "of scope read or steer; yours is of scope quest:mine"},
			{"steer", "DELETE", "/api/quests/mine", "the home's own, which is in its file token; yours is of scope steer"},
		} {
			if w := g.ask(c.method, c.target, "", g.bearer(c.name)...); w.code != 403 || !strings.Contains(w.body.String(), c.says) {
				t.Errorf("%s %s by %s: got %d %s, want 403 and %q", c.method, c.target, c.name, w.code, w.body.String(), c.says)
			}
		}
	})
}

// TestAFileThatReadsLikeAFolderOpensNothing: an agent decides what is in its files. One that
// lists another quest's blobs as if it were a folder leads to none of them.
func TestAFileThatReadsLikeAFolderOpensNothing(t *testing.T) {
	t.Parallel()
	g := newGatehouse(t)
	loot, err := event.ParseHash(g.spec("other"))
	must(t, err)
	put := func(data []byte) event.Ref {
		t.Helper()
		ref, err := g.rt.Blobs.Put(t.Context(), data)
		must(t, err)
		return ref
	}
	list := func(tree blob.Tree) event.Ref {
		t.Helper()
		data, err := tree.Encode()
		must(t, err)
		return put(data)
	}
	secret := put([]byte("The other quest's own."))
	hidden := list(blob.Tree{{Name: "secret.txt", Kind: blob.File, Mode: blob.ModePlain, Hash: secret.Hash, Size: secret.Size}})
	forged := list(blob.Tree{
		{Name: "dir", Kind: blob.Dir, Hash: hidden.Hash, Size: hidden.Size}, {Name: "loot", Kind: blob.File, Mode: blob.ModePlain, Hash: loot, Size: 1},
	})
	below := list(blob.Tree{{Name: "plain.txt", Kind: blob.File, Mode: blob.ModePlain, Hash: put([]byte("Mine.")).Hash, Size: 5}})
	home := list(blob.Tree{
		{Name: "below", Kind: blob.Dir, Hash: below.Hash, Size: below.Size}, {Name: "forged", Kind: blob.File, Mode: blob.ModePlain, Hash: forged.Hash, Size: forged.Size},
	})
	w := g.writes("mine")
	e, err := event.Seal("mine", w.seq+1, w.hash, event.Draft{Time: g.rt.Clock(), Actor: "agent-0", Body: &event.FileDiff{After: event.TreeRef(home), Cause: "outside"}})
	must(t, err)
	must(t, g.rt.Ledger.Append(t.Context(), ledgerBatch("mine", e)))
	for _, c := range []struct {
		what, path string
		want       int
	}{
		{"its folder", "/api/trees/" + home.Hash.String(), 200},
		{"a folder in it", "/api/trees/" + below.Hash.String(), 200},
		{"a folder in it by name", "/api/trees/" + home.Hash.String() + "?path=below", 200},
		{"a file in a folder in it", "/api/blobs/" + event.HashOf([]byte("Mine.")).String(), 200},
		{"the forged file as a file", "/api/blobs/" + forged.Hash.String(), 200},
		{"the forged file as a folder", "/api/trees/" + forged.Hash.String(), 404},
		{"what the forged file names as a folder", "/api/trees/" + forged.Hash.String() + "?path=dir", 404},
		{"a folder of nobody", "/api/trees/" + hidden.Hash.String(), 404},
		{"the bytes of that folder's list", "/api/blobs/" + hidden.Hash.String(), 404},
		{"the file in it", "/api/blobs/" + secret.Hash.String(), 404},
		{"the other quest's spec", "/api/blobs/" + loot.String(), 404},
	} {
		if got := g.ask("GET", c.path, "", g.bearer("mine")...); got.code != c.want {
			t.Errorf("%s: got %d %s, want %d", c.what, got.code, got.body.String(), c.want)
		}
		if got := g.ask("GET", c.path, "", g.bearer("read")...); got.code != 200 {
			t.Errorf("%s by a token for all: got %d %s, want 200", c.what, got.code, got.body.String())
		}
	}
}

func TestHostileCredentials(t *testing.T) {
	t.Parallel()
	g := newGatehouse(t)
	name, mine, _ := strings.Cut(g.cookies["mine"], "=")
	_, owner, _ := strings.Cut(g.cookies["owner"], "=")
	id, mac, _ := strings.Cut(mine, ".")
	_, wide, _ := strings.Cut(strings.SplitN(g.cookies["steer"], "=", 2)[1], ".")
	abroad := newGatehouse(t) // another home, with the same owner's token
	unknown, secret := api.NewToken(api.Scope{}, "", 1, 0)
	unknown.Scope = "root"
	must(t, g.rt.Ledger.PutToken(t.Context(), unknown))
	for _, c := range []struct {
		what    string
		want    int // of a quest that is not the token's
		headers []string
	}{
		{"the cookie of a token for one quest", 403, []string{"Cookie", name + "=" + mine, "Lyceum-Key", g.keys["mine"]}},
		{"its cookie with the name of a wider token", 401, []string{"Cookie", name + "=" + g.ids["steer"] + "." + mac, "Lyceum-Key", g.keys["mine"]}},
		{"its name with the proof of a wider token", 401, []string{"Cookie", name + "=" + id + "." + wide, "Lyceum-Key", g.keys["mine"]}},
		{"its name with the owner's proof", 401, []string{"Cookie", name + "=" + id + "." + owner, "Lyceum-Key", g.keys["mine"]}},
		{"its proof alone", 401, []string{"Cookie", name + "=" + mac, "Lyceum-Key", g.keys["mine"]}},
		{"its name alone", 401, []string{"Cookie", name + "=" + id + ".", "Lyceum-Key", g.keys["mine"]}},
		{"no name and a proof", 401, []string{"Cookie", name + "=." + mac, "Lyceum-Key", g.keys["mine"]}},
		{"a cookie that is cut off", 401, []string{"Cookie", name + "=" + mine[:len(mine)-1], "Lyceum-Key", g.keys["mine"]}},
		{"a cookie in capitals", 401, []string{"Cookie", name + "=" + strings.ToUpper(mine), "Lyceum-Key", g.keys["mine"]}},
		{"a cookie and more", 401, []string{"Cookie", name + "=" + mine + ".steer", "Lyceum-Key", g.keys["mine"]}},
		{"the secret as a cookie", 401, []string{"Cookie", name + "=" + g.secrets["steer"], "Lyceum-Key", g.keys["mine"]}},
		{"the cookie of another home", 401, []string{"Cookie", abroad.cookies["steer"], "Lyceum-Key", abroad.keys["steer"]}},
		{"the cookie under another name", 401, []string{"Cookie", "lyceum-00000000=" + owner, "Lyceum-Key", g.keys["owner"]}},
		{"a forged cookie in front of a good one", 200, []string{"Cookie", name + "=" + id + "." + wide + "; " + name + "=" + owner, "Lyceum-Key", g.keys["owner"]}},
		{"the owner's cookie alone", 401, []string{"Cookie", g.cookies["owner"]}},
		{"the owner's cookie with the key of another", 401, []string{"Cookie", g.cookies["owner"], "Lyceum-Key", g.keys["mine"]}},
		{"the owner's cookie with itself for a key", 401, []string{"Cookie", g.cookies["owner"], "Lyceum-Key", owner}},
		{"the owner's key alone", 401, []string{"Lyceum-Key", g.keys["owner"]}},
		{"the owner's key as a token", 401, []string{"Authorization", "Bearer " + g.keys["owner"]}},
		{"the owner's session from another port", 403, append(g.cookie("owner"), "Sec-Fetch-Site", "same-site")},
		{"the owner's session from another site", 403, append(g.cookie("owner"), "Sec-Fetch-Site", "cross-site")},
		{"the owner's session from its page", 200, append(g.cookie("owner"), "Sec-Fetch-Site", "same-origin")},
		{"the cookie as a token", 401, []string{"Authorization", "Bearer " + mine}},
		{"the name of a token as a token", 401, []string{"Authorization", "Bearer " + g.ids["steer"]}},
		{"the hash of a secret as a token", 401, []string{"Authorization", "Bearer " + event.HashOf([]byte(g.secrets["steer"])).String()}},
		{"a secret that is cut off", 401, []string{"Authorization", "Bearer " + g.secrets["steer"][:40]}},
		{"a secret of another home", 401, []string{"Authorization", "Bearer " + abroad.secrets["steer"]}},
		{"a secret as basic", 401, []string{"Authorization", "Basic " + g.secrets["steer"]}},
		{"a scope that this version does not know", 401, []string{"Authorization", "Bearer " + secret}},
		{"a scope beside the token", 403, append(g.bearer("mine"), "Scope", "steer", "X-Scope", "owner", "Lyceum-Scope", "owner")},
		{"a narrow token beside the owner's cookie", 403, append(g.bearer("mine"), g.cookie("owner")...)},
		{"a wrong token beside the owner's cookie", 401, []string{"Authorization", "Bearer x", "Cookie", g.cookies["owner"], "Lyceum-Key", g.keys["owner"]}},
		{"a narrow token in front of the owner's", 403, append(g.bearer("mine"), g.bearer("owner")...)},
		{"a proxy's own credentials beside the owner's cookie", 200, append(g.cookie("owner"), "Authorization", "Basic eDp5")},
	} {
		if w := g.ask("GET", "/api/quests/other", "", c.headers...); w.code != c.want {
			t.Errorf("%s: got %d %s, want %d", c.what, w.code, w.body.String(), c.want)
		}
	}
	for what, target := range map[string]string{
		"in the query": "/api/quests?token=" + g.secrets["read"], "by another name": "/api/quests?access_token=" + g.secrets["read"], "of the owner": "/api/quests?token=" + token,
	} {
		if w := g.ask("GET", target, ""); w.code != 401 {
			t.Errorf("a token %s: got %d, want 401", what, w.code)
		}
	}
	if w := g.ask("POST", "/api/quests/mine/messages?key="+g.keys["mine"], `{"text":"x"}`, "Cookie", g.cookies["mine"]); w.code != 401 || !strings.Contains(w.body.String(), "serve --link") {
		t.Errorf("a change with the key in the address: got %d %s, want 401 and what to do", w.code, w.body.String())
	}
	if w := g.ask("GET", "/api/quests/mine?key="+g.keys["mine"], "", "Cookie", g.cookies["mine"]); w.code != 200 {
		t.Errorf("reading with the key in the address: got %d %s, want 200", w.code, w.body.String())
	}
	if w := g.ask("GET", "/?token="+secret, ""); w.code != 303 {
		t.Errorf("a token of an unknown scope signs in with %d, want 303 and a cookie that is worth nothing", w.code)
	} else if cookie, key := session(w.header); g.ask("GET", "/api/openapi.json", "", "Cookie", cookie, "Lyceum-Key", key).code != 401 {
		t.Error("the session of an unknown scope is let in, want 401")
	}
}

// Paths that are spelled otherwise are the same route to the guard and to the handler, or
// none. What is redirected says nothing.
func TestHostilePathsKeepTheScope(t *testing.T) {
	t.Parallel()
	g := newGatehouse(t)
	secret := "Another question that nobody else may read."
	for _, target := range []string{
		"/api/quests/mine/../other", "/api/quests/mine/%2e%2e/other", "/api/quests/mine%2f..%2fother", "/api/quests/mine%2Fother", "/api/quests//other", "//api/quests/other",
		"/api//quests/other", "/api/./quests/other", "/api/../api/quests/other", "/./api/quests/other", "/assets/../api/quests/other", "/assets/..%2fapi/quests/other", "/assets/%2e%2e/api/quests/other",
		"/API/quests/other", "/Api/Quests/other", "/api/quests/OTHER", "/api/quests/Other", "/api%2fquests%2fother", "/%61pi/quests/other", "/api/quests/%6fther", "/api/quests/other/", "/api/quests/other%00", "/api/quests/other;mine",
		"/api/quests/other?quest=mine", "/api/quests/other?name=mine", "/api/quests/other#mine", "/api/quests/other%23/mine", "/api/quests/other%3fmine", "/api/quests/mine?quest=other", "/api/quests/mine/events?quest=other",
		"/api/quests/mine/agents/..%2f..%2fother", "/api/quests/mine/papers/..%2f..%2fother", "/api/diff?a=mine&b=other", "/api/diff?a=other&b=other", "/api/diff?a=mine&b=mine",
		"/metrics/../api/quests/other", "/metrics", "/metrics/", "/api/quests/mine/events/..%2f..%2fother%2fevents%2f1", "/icon.svg/../api/quests/other", "/icon.svg%2f..%2fapi%2fquests%2fother",
	} {
		for _, name := range []string{"nobody", "mine"} {
			for _, method := range []string{"GET", "HEAD", "POST", "DELETE"} {
				w := g.ask(method, target, "", g.bearer(name)...)
				if w.code < 300 || strings.Contains(w.body.String(), secret) || strings.Contains(w.body.String(), g.spec("other")) {
					t.Errorf("%s %s by %s: got %d %s, want nothing of the other quest", method, target, name, w.code, w.body.String())
				}
				if name == "nobody" && w.code != 401 && !strings.HasPrefix(target, "/assets/") && !strings.HasPrefix(target, "/icon.svg") {
					t.Errorf("%s %s without credentials: got %d, want 401", method, target, w.code)
				}
			}
		}
		if n := len(lines(t, g.rt, "other")); n != 1 {
			t.Fatalf("%s: the other quest has %d events now, want 1", target, n)
		}
	}
	for _, c := range []struct {
		headers []string
		host    string
	}{{g.bearer("read"), "evil.example"}, {append(g.bearer("read"), "Origin", "https://evil.example"), "localhost"}} {
		r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+c.host+"/api/quests", nil)
		must(t, err)
		for i := 0; i < len(c.headers); i += 2 {
			r.Header.Set(c.headers[i], c.headers[i+1])
		}
		w := &memory{header: http.Header{}}
		if g.ServeHTTP(w, r); w.code != 403 {
			t.Errorf("a good token with Host %s and %q: got %d, want 403", c.host, c.headers, w.code)
		}
	}
}

// A stream ends within seconds when its token does, whether or not anything happens in the
// quest, and says why. Others go on.
func TestAStreamEndsWithItsToken(t *testing.T) {
	t.Parallel()
	g := newGatehouse(t)
	g.issue("short", "read", g.rt.Clock()+2_000_000)
	w := g.writes("mine")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	type end struct {
		name, reason string
		err          error
	}
	ends, began := make(chan end, 10), make(chan string, 10)
	for _, name := range []string{"mine", "short", "steer"} {
		c := client.New(g.web.URL, g.secrets[name])
		defer c.Close()
		go func() {
			last := end{name: name, err: errors.New("it just ended")}
			for s, err := range c.Follow(ctx, "mine", 0) {
				if s.Seq == 1 {
					began <- name
				}
				if s.Kind == "cut" || err != nil {
					last.reason, last.err = string(s.Data), err
					break
				}
			}
			ends <- last
		}()
	}
	for range 3 {
		<-began
	}
	must(t, g.rt.Ledger.DropToken(t.Context(), g.ids["mine"]))
	for i := range 2 {
		e := <-ends
		if e.name == "steer" || e.err != nil || !strings.Contains(e.reason, "revoked, or has expired") {
			t.Errorf("a stream ends: %+v, want those of mine and short, with the reason", e)
		}
		w.write(i+1, 0) // a busy quest is no way around it
	}
	if got := seqs(t, client.New(g.web.URL, g.secrets["steer"]), "mine", 0, w.seq); uint64(len(got)) != w.seq {
		t.Errorf("a token that holds reads %d events, want %d", len(got), w.seq)
	}
	if g.Readers() == 0 {
		t.Error("the stream of a token that holds has ended, too")
	}
	cancel()
	if e := <-ends; e.name != "steer" {
		t.Errorf("the last stream is that of %s, want steer", e.name)
	}
}

// tap is a reader of a stream that does something when the first event comes.
type tap struct {
	memory
	first func()
}

func (w *tap) Flush() {}

func (w *tap) Write(p []byte) (int, error) {
	n, err := w.memory.Write(p)
	if w.first != nil && strings.Contains(string(p), "data: ") {
		w.first()
		w.first = nil
	}
	return n, err
}

// A stream that always has something to write looks at its token, too: while it catches up
// with a long ledger, and when it is at the end of a busy one.
func TestABusyStreamEndsWithItsToken(t *testing.T) {
	t.Parallel()
	for what, c := range map[string]struct{ before, after int }{"WhileItCatchesUp": {7000, 0}, "AtTheEnd": {1, 5}} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			g := newGatehouse(t)
			var later atomic.Int64
			g.rt.Clock = func() event.Time { return runtime.SystemClock() + event.Time(later.Load()) }
			w := g.writes("mine")
			w.write(c.before, 0)
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			// Whoever is there first decides where the feed begins.
			next, stop := iter.Pull2(g.client.Follow(ctx, "mine", w.seq-1))
			defer stop()
			if _, err, ok := next(); !ok || err != nil {
				t.Fatalf("the first reader gets %v, want an event", err)
			}
			r, err := http.NewRequestWithContext(ctx, "GET", "http://localhost/api/quests/mine/events", nil)
			must(t, err)
			r.Header.Set("Authorization", "Bearer "+g.secrets["mine"])
			r.Header.Set("Accept", "text/event-stream")
			got := &tap{memory: memory{header: http.Header{}}}
			got.first = func() {
				must(t, g.rt.Ledger.DropToken(ctx, g.ids["mine"]))
				later.Store(2_000_000)
				if c.after > 0 {
					w.write(c.after, 0)
				}
			}
			g.ServeHTTP(got, r)
			body := got.body.String()
			if !strings.Contains(body, "event: cut") || strings.Contains(body, fmt.Sprintf("id: %d\n", w.seq)) {
				t.Errorf("the stream went on to event %d after its token was revoked: %.300q … %.300q", w.seq, body, body[max(0, len(body)-300):])
			}
		})
	}
}

// A cookie is of one token, and not of another that is called the same.
func TestACookieIsOfOneSecret(t *testing.T) {
	t.Parallel()
	g := newGatehouse(t)
	must(t, g.rt.Ledger.DropToken(t.Context(), g.ids["mine"]))
	must(t, g.rt.Ledger.PutToken(t.Context(), ledger.Token{ID: g.ids["mine"], Hash: event.HashOf([]byte("another")), Scope: "steer", Created: 1}))
	if w := g.ask("GET", "/api/quests", "", g.cookie("mine")...); w.code != 401 {
		t.Errorf("the cookie of a token whose name another has now: got %d, want 401", w.code)
	}
}

// A quest's tokens go with it: what gets its name later is another quest.
func TestTokensOfAQuestGoWithIt(t *testing.T) {
	t.Parallel()
	g := newGatehouse(t)
	if w := g.ask("DELETE", "/api/quests/mine", "", g.bearer("owner")...); w.code != 204 {
		t.Fatalf("remove the quest: got %d %s, want 204", w.code, w.body.String())
	}
	g.create("mine", map[string]any{"model": "demo"})
	for _, headers := range [][]string{g.bearer("mine"), g.cookie("mine")} {
		if w := g.ask("GET", "/api/quests/mine", "", headers...); w.code != 401 {
			t.Errorf("the token of the quest that was removed: got %d, want 401", w.code)
		}
	}
	for _, name := range []string{"other", "read"} {
		if w := g.ask("GET", "/api/quests/other", "", g.bearer(name)...); w.code != 200 {
			t.Errorf("the token %s after another quest was removed: got %d, want 200", name, w.code)
		}
	}
}

// deaf is a store that cannot be asked for tokens.
type deaf struct{ ledger.Store }

func (deaf) Tokens(context.Context) ([]ledger.Token, error) { return nil, errors.New("out of order") }

func TestAStoreThatCannotBeAskedLetsOnlyTheOwnerIn(t *testing.T) {
	t.Parallel()
	rt, done := newHome(t).runtime()
	defer done()
	rt.Ledger = deaf{rt.Ledger}
	g := &gatehouse{server: &server{t: t, rt: rt, Server: api.New(rt, api.Options{Token: token})}, secrets: map[string]string{"owner": token}}
	defer g.Close()
	_, g.secrets["read"] = api.NewToken(api.Scope{}, "", 1, 0)
	if w := g.ask("GET", "/api/quests", "", g.bearer("owner")...); w.code != 200 {
		t.Errorf("the owner: got %d, want 200", w.code)
	}
	for what, w := range map[string]*memory{"a token": g.ask("GET", "/api/quests", "", g.bearer("read")...), "a link": g.ask("GET", "/?token="+g.secrets["read"], "")} {
		if w.code != 500 || w.header.Get("Set-Cookie") != "" || strings.Contains(w.body.String(), g.secrets["read"]) {
			t.Errorf("%s: got %d %s, want 500", what, w.code, w.body.String())
		}
	}
}

func TestTheHandshake(t *testing.T) {
	t.Parallel()
	g := newGatehouse(t)
	for what, c := range map[string]struct {
		headers []string
		want    int
	}{
		"a program that says nothing": {g.bearer("read"), 200},
		"one of another version":      {append(g.bearer("read"), api.VersionHeader, "9.9.9", api.FormatHeader, fmt.Sprint(api.Format)), 200},
		"one of another format":       {append(g.bearer("read"), api.VersionHeader, "9.9.9", api.FormatHeader, fmt.Sprint(api.Format+1)), 400},
		"one of no format at all":     {append(g.bearer("read"), api.FormatHeader, "x"), 400},
	} {
		w := g.ask("GET", "/api/quests", "", c.headers...)
		if w.code != c.want || w.header.Get(api.VersionHeader) != "test" || w.header.Get(api.FormatHeader) != fmt.Sprint(api.Format) {
			t.Errorf("%s: got %d from a server that says to be %q, format %q; want %d, test, %d", what, w.code, w.header.Get(api.VersionHeader), w.header.Get(api.FormatHeader), c.want, api.Format)
		}
		if w.code == 400 && !strings.Contains(w.body.String(), "start the server again") {
			t.Errorf("%s is told %s, want what to do", what, w.body.String())
		}
	}
	if w := g.ask("GET", "/api/quests", ""); w.header.Get(api.VersionHeader) != "" {
		t.Errorf("who has no credentials is told the version %q, want none", w.header.Get(api.VersionHeader))
	}
}
