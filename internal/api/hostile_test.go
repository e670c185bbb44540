package api_test

import (
	"encoding/base64"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/event"
	"lyceum/internal/need"
)

// climbs are names that lead out of folders, or break what takes names on trust.
var climbs = []string{
	"..", ".", "../secret.txt", "../../secret.txt", "../../../../../../etc/passwd", "/etc/passwd", "//etc/passwd", "q/../../secret.txt", "q/..", "q/", "q\x00",
	"\x00", "q\x00/../secret.txt", `..\..\secret.txt`, `c:\secret.txt`, "file:///etc/passwd", "~/secret.txt", "$HOME", "token", "lyceum.db", "secret.txt",
	"..%2fsecret.txt", "%2e%2e%2fsecret.txt", "%252e%252e%252fsecret.txt", "\xc0\xae\xc0\xae/secret.txt", "\xff\xfe", "．．／secret.txt", "‥/secret.txt",
	"q\u202e", "q\u200b", "q\r\nX-Evil: 1", "Q", "ｑ", "q ", " q", "-q", "q?x=1", "q#x", "q;x", "q*", strings.Repeat("a", 64), strings.Repeat("a/", 2000), strings.Repeat("../", 300) + "etc/passwd",
}

// fort is a home with something beside it that nobody may see or touch.
type fort struct {
	*server
	home, around string
	before       map[string]string
}

const secret = "TOP SECRET"

func newFort(t *testing.T) *fort {
	t.Helper()
	around := t.TempDir()
	h := newHome(t)
	h.dir = filepath.Join(around, "home")
	must(t, os.MkdirAll(filepath.Join(around, "quests", "q"), 0o700))
	for _, at := range []string{"secret.txt", "quest.yaml", "quests/q/secret.txt"} {
		must(t, os.WriteFile(filepath.Join(around, at), []byte(secret), 0o600))
	}
	page := filepath.Join(around, "page")
	must(t, os.MkdirAll(page, 0o700))
	must(t, os.WriteFile(filepath.Join(page, "index.html"), []byte("page"), 0o600))
	must(t, os.MkdirAll(h.dir, 0o700))
	must(t, os.WriteFile(filepath.Join(h.dir, "secret.txt"), []byte(secret), 0o600))
	must(t, os.WriteFile(filepath.Join(h.dir, "token"), []byte(token), 0o600))
	s := h.serve(api.Options{Page: os.DirFS(page), Model: "demo"})
	s.finish("demo-number", "q", "")
	f := &fort{server: s, home: h.dir, around: around}
	f.before = f.outside()
	return f
}

// outside is all that is beside the home.
func (f *fort) outside() map[string]string {
	f.t.Helper()
	all := snapshot(f.t, f.around)
	maps.DeleteFunc(all, func(name, _ string) bool { return strings.HasPrefix(name, "home/") })
	return all
}

// check looks whether an answer gives away what it must not.
func (f *fort) check(what string, a answer) answer {
	f.t.Helper()
	for _, text := range []string{secret, "root:", token, f.home, os.TempDir()} {
		if contains(a, text) {
			f.t.Errorf("%.200s: %d gives away %q: %.300s", what, a.code, text, a.body)
		}
	}
	if a.code >= 500 || a.header.Get("X-Evil") != "" {
		f.t.Errorf("a hostile request broke something: %.200s: %d %.200s", what, a.code, a.body)
	}
	return a
}

// held fails if anything beside the home, or the quest in it, is not what it was.
func (f *fort) held() {
	f.t.Helper()
	if now := f.outside(); !maps.Equal(f.before, now) {
		f.t.Errorf("beside the home: %s", strings.Join(changed(f.before, now), "\n"))
	}
	f.do("GET", "/api/quests/q", nil).want(f.t, 200)
	data, err := os.ReadFile(filepath.Join(f.home, "secret.txt"))
	if err != nil || string(data) != secret {
		f.t.Errorf("in the home: %v %q", err, data)
	}
}

// fill puts values into the path of a pattern, and a hostile one into one place of it.
func fill(path, place, value string) string {
	for name, fair := range map[string]string{"quest": "q", "agent": "agent-0", "ref": strings.Repeat("0", 32), "hash": strings.Repeat("0", 64), "seq": "1", "task": "add", "message": "1", "artifact": "idea-1", "card": strings.Repeat("0", 32), "document": "brief.md", "job": "none", "study": "s"} {
		if name == place {
			fair = value
		}
		path = strings.ReplaceAll(path, "{"+name+"}", fair)
	}
	return path
}

func TestNothingLeadsOutOfTheHome(t *testing.T) {
	need.NoDetector(t)
	t.Parallel()
	t.Run("ThroughAnyParameterOfAnyRoute", func(t *testing.T) {
		t.Parallel()
		f := newFort(t)
		places := 0
		for pattern, op := range readDocument(t).ops {
			method, path, _ := strings.Cut(pattern, " ")
			var body any
			if op.RequestBody != nil {
				body = map[string]any{}
			}
			for _, p := range op.Parameters {
				if p.In != "path" && p.In != "query" {
					continue
				}
				places++
				for _, c := range climbs {
					target := fill(path, p.Name, url.PathEscape(c))
					if p.In == "query" {
						target = fill(path, "", "") + "?" + p.Name + "=" + url.QueryEscape(c)
					}
					a := f.check(method+" "+target, f.do(method, target, body))
					if p.In == "path" && a.code < 300 && p.Name != "quest" {
						t.Errorf("%s %s is answered: %d %.200s", method, target, a.code, a.body)
					}
				}
			}
		}
		if places < 40 {
			t.Errorf("only %d parameters were tried", places)
		}
		f.held()
	})
	t.Run("ThroughPathsThatAreNotEscaped", func(t *testing.T) {
		t.Parallel()
		f := newFort(t)
		for _, c := range []string{"..", "../secret.txt", "../../secret.txt", "..%2fsecret.txt", "%2e%2e/secret.txt", "..%5csecret.txt", "%2fetc%2fpasswd", "q%00", "%c0%ae%c0%ae/x", "./secret.txt", "//secret.txt"} {
			for _, before := range []string{"/", "/assets/", "/api/", "/api/quests/", "/api/quests/q/", "/api/blobs/", "/api/trees/"} {
				a := f.check(before+c, f.do("GET", before+c, nil))
				if a.code == 200 && strings.HasPrefix(before, "/api/") {
					t.Errorf("%s is answered: %.100s", before+c, a.body)
				}
			}
		}
		f.held()
	})
	t.Run("ThroughTheNameOfANewQuest", func(t *testing.T) {
		t.Parallel()
		f := newFort(t)
		for _, c := range climbs {
			for what, a := range map[string]answer{
				"name":         f.do("POST", "/api/quests", map[string]any{"example": "demo-number", "name": c}),
				"spec name":    f.do("POST", "/api/quests", map[string]any{"spec": map[string]any{"name": c, "problem": "x", "model": "demo"}}),
				"example":      f.do("POST", "/api/quests", map[string]any{"example": c, "name": "x"}),
				"profile":      f.do("POST", "/api/quests", map[string]any{"spec": map[string]any{"name": "x", "problem": "x", "model": "demo", "profile": c}}),
				"fork":         f.control("q", map[string]any{"action": "fork", "name": c}),
				"agent":        f.do("POST", "/api/quests/q/messages", map[string]any{"text": "x", "to": c}),
				"model":        f.do("POST", "/api/quests", map[string]any{"spec": map[string]any{"name": "x", "problem": "x", "model": c}}),
				"fork's model": f.control("q", map[string]any{"action": "fork", "name": "x", "model": "script:" + c}),
			} {
				if f.check(what+" "+c, a); a.code < 400 && !event.ValidName(c) {
					t.Errorf("a name that is none was taken: %s %q: %d", what, c, a.code)
				}
			}
		}
		f.held()
	})
	t.Run("ThroughTheFilesThatASpecNames", func(t *testing.T) {
		t.Parallel()
		f := newFort(t)
		for _, c := range climbs {
			base := map[string]any{"name": "climb", "problem": "x", "model": "demo"}
			for key, change := range map[string]map[string]any{
				"problem_file": {"problem_file": c, "problem": ""},
				"data":         {"data": c},
				"corpus":       {"corpus": c, "society": "contract"},
				"script":       {"model": "script:" + c},
				"agent script": {"society": "lab", "agents": []any{map[string]any{"count": 2, "model": "script:" + c}}},
				"policies":     {"policies": []any{c}},
				"dockerfile":   {"computer": map[string]any{"driver": "docker", "dockerfile": c}},
			} {
				spec := maps.Clone(base)
				maps.Copy(spec, change)
				for _, path := range []string{"/api/quests", "/api/validate"} {
					a := f.check(key+" "+c, f.do("POST", path, map[string]any{"spec": spec}))
					if path == "/api/quests" && a.code < 400 && key+c != "data." { // the quest's own folder
						t.Errorf("%s %q: a quest is made of it", key, c)
					}
					f.do("DELETE", "/api/quests/climb", nil)
				}
			}
		}
		f.held()
	})
	t.Run("ThroughTheFilesThatComeWithASpec", func(t *testing.T) {
		t.Parallel()
		f := newFort(t)
		text := base64.StdEncoding.EncodeToString([]byte("x"))
		for _, c := range append([]string{"../x", "/x", "a/../../x", `a\b`, "", "a//b", "./a", "a/", "a/..", "a\x00b"}, climbs...) {
			a := f.check("file "+c, f.do("POST", "/api/quests", map[string]any{
				"spec": map[string]any{"name": "files", "problem": "x", "model": "demo"}, "files": []any{map[string]any{"path": c, "base64": text}}}))
			if a.code == 201 {
				if !filepath.IsLocal(c) {
					t.Errorf("the file %q is taken", c)
				}
				f.do("DELETE", "/api/quests/files", nil).want(t, 204)
			}
		}
		// One name cannot be a file and a folder, and a file is never a link to another.
		f.check("a folder in a file", f.do("POST", "/api/quests", map[string]any{
			"spec":  map[string]any{"name": "files", "problem": "x", "model": "demo"},
			"files": []any{map[string]any{"path": "a", "text": "x"}, map[string]any{"path": "a/b", "text": "x"}}})).want(t, 400)
		f.held()
	})
}
