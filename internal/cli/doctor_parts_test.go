package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/api"
	"lyceum/internal/need"
)

// TestDoctorTriesWhatConfigNames: runners are started, services asked, skills read; each fault comes
// with a fix, and no secret with it. No message is sent.
func TestDoctorTriesWhatConfigNames(t *testing.T) {
	t.Parallel()
	const canary = "123456:canary-secret-of-a-bot"
	asked := make(chan string, 100)
	bot := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, method, _ := strings.Cut(r.URL.Path, canary+"/")
		asked <- method
		if method == "getMe" {
			_, _ = io.WriteString(w, `{"ok":true,"result":{"id":42,"is_bot":true,"username":"lab_bot"}}`)
			return
		}
		http.Error(w, "no", http.StatusNotFound)
	}))
	t.Cleanup(bot.Close)
	in := receive(t)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	away := closed.Addr().String()
	must(t, closed.Close())
	home := t.TempDir()
	must(t, writeFolder(home, map[string]string{
		"config.yaml": fmt.Sprintf(`executors:
  builtin: {}
  gone: {folder: /nowhere/at/all, command: ["{folder}/x"], wire: chat}
  silent: {command: [sleep, "0"], wire: chat}
connectors:
  phone: {driver: telegram, url: %q, key_variable: DOCTOR_BOT_KEY}
  lost: {driver: telegram, url: "http://%s", key_variable: DOCTOR_BOT_KEY}
  bare: {driver: telegram, key_variable: DOCTOR_NO_KEY}
  odd: {driver: pigeon}
  hook: {driver: webhook, url: %q, key_variable: DOCTOR_HOOK_KEY}
`, bot.URL, away, in.url),
		"skills/whole/SKILL.md":  "---\nname: whole\ndescription: A skill.\n---\nDo it.\n",
		"skills/broken/SKILL.md": "---\nname: broken\ndescription: A skill.\ncolour: red\n---\nDo it.\n",
	}))
	e := examine(t, home, func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, "DOCTOR_BOT_KEY="+canary, "DOCTOR_HOOK_KEY="+hookSecret)
	})
	e.want(t, "git git ok", "git version")
	e.want(t, "runners builtin ok", "answers as lyceum-builtin")
	e.want(t, "runners gone problem", "its folder is not there", "docs/executors.md")
	e.want(t, "runners silent problem", "the agent has ended", "lyceum executors --check silent")
	e.want(t, "connectors phone ok", "telegram: Telegram knows the bot 42")
	e.want(t, "connectors lost problem", "reach Telegram", "DOCTOR_BOT_KEY")
	e.want(t, "connectors bare problem", "has no key", "set DOCTOR_NO_KEY")
	e.want(t, "connectors odd problem", "there is no driver", "telegram, webhook")
	e.want(t, "connectors hook ok", "nothing was posted")
	e.want(t, "skills faults problem", filepath.Join("skills", "broken", "SKILL.md")+":4:1", "lyceum skills check")
	e.want(t, "skills skills ok", "1 of your own")
	data, err := json.Marshal(e.Findings)
	must(t, err)
	if strings.Contains(string(data), "canary") || strings.Contains(string(data), hookSecret[6:]) {
		t.Errorf("doctor tells a secret: %s", data)
	}
	if close(asked); len(in.got)+len(in.bad) > 0 {
		t.Errorf("the webhook was posted to: %v", in.got)
	}
	for method := range asked {
		if method != "getMe" {
			t.Errorf("Telegram was asked for %s, want getMe alone", method)
		}
	}
	for _, f := range e.Findings {
		if f.Status != "ok" && f.Fix == "" && !slices.Contains([]string{"models", "computers", "home"}, f.Section) {
			t.Errorf("%s %s is a %s without a fix: %s", f.Section, f.Name, f.Status, f.Text)
		}
	}
}

// TestDoctorWithoutAnything: no configuration, no git, and a home that is not there.
func TestDoctorWithoutAnything(t *testing.T) {
	t.Parallel()
	bin := public(t)
	must(t, need.Write(filepath.Join(bin, "git"), []byte("#!/bin/sh\nexit 3\n")))
	path, err := exec.LookPath("lyceum")
	must(t, err)
	e := examine(t, filepath.Join(t.TempDir(), "home"), func(cmd *exec.Cmd) {
		cmd.Env = append(cmd.Env, "PATH="+bin+":"+filepath.Dir(path)+":"+os.Getenv("PATH"))
	})
	e.want(t, "git git warning", "does not say its version", "apt-get install git")
	e.want(t, "runners executors ok", "config.yaml names none")
	e.want(t, "connectors connectors ok", "config.yaml names none")
	e.want(t, "skills skills ok", "are built in")
	tex := 0
	for _, f := range e.Findings {
		if f.Section == "tex" {
			tex++
		}
	}
	if tex == 0 {
		t.Errorf("doctor says nothing of TeX: %+v", e.Findings)
	}
}

// TestTheRouteFindsWhatTheCommandFinds: one list, for the page and for the command line.
func TestTheRouteFindsWhatTheCommandFinds(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	must(t, writeFolder(h.dir, map[string]string{
		"config.yaml":            "connectors:\n  bare: {driver: telegram, key_variable: DOCTOR_NO_KEY}\n",
		"skills/broken/SKILL.md": "---\nname: other\n---\nDo it.\n",
	}))
	s := h.serve()
	t.Cleanup(func() { s.kill() })
	token, err := api.ReadToken(h.dir)
	must(t, err)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.SplitN(s.url, "?", 2)[0]+"api/doctor", nil)
	must(t, err)
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultClient.Do(r)
	must(t, err)
	defer answer.Body.Close()
	var page examined
	must(t, json.NewDecoder(answer.Body).Decode(&page))
	page.want(t, "connectors bare problem", "set DOCTOR_NO_KEY")
	page.want(t, "skills faults problem", "SKILL.md:2:")
	var own examined
	l := h.run("doctor", "--json")
	must(t, json.Unmarshal([]byte(l.out), &own))
	names := func(e examined) (out []string) {
		for _, f := range e.Findings {
			out = append(out, f.Section+" "+f.Name+" "+f.Status)
		}
		return out
	}
	if a, b := names(page), names(own); !slices.Equal(a, b) || len(a) == 0 {
		t.Errorf("the route finds\n%v\nand the command\n%v", a, b)
	}
}
