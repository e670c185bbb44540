package cli_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"lyceum/internal/api"
)

// TestDoctorAndMetricsTellOfNodes: who is there with how much room, how their clocks are, and what no node can run.
func TestDoctorAndMetricsTellOfNodes(t *testing.T) {
	t.Parallel()
	h, server := elsewhere(t, map[string]string{"quest.yaml": "name: keyed\nproblem: Who are you?\nmodel: openai/gpt-5-mini\ncomputer: none\n"})
	shift(t, server, t.Name(), "1 hour")
	keyed := h.in(t)
	keyed.env = append(slices.Clone(h.env), "OPENAI_API_KEY=a-key-of-a-test")
	keyed.ok("create", "quest.yaml")
	h.env = append(h.env, "OPENAI_API_KEY=")
	s := h.serve("--room", "7")
	defer s.stop()
	h.run("run", "keyed").want(t, 1, "OPENAI_API_KEY")
	s.says("no node can run quest keyed")
	token, err := api.ReadToken(h.dir)
	must(t, err)
	var body string
	until(t, "a beat has told of the node's clock", func() bool {
		_, body = s.calling(nil).ask("GET", "/metrics", "Authorization", "Bearer "+token)
		return regexp.MustCompile(`lyceum_node_clock_offset_seconds\{node="\d+",address="http://127[^"]*"\} 3[56]\d\d\.`).MatchString(body)
	})
	for _, want := range []string{
		`lyceum_nodes 1`, `lyceum_node_room\{node="\d+",address="http://127[^"]*"\} 7`, `lyceum_node_quests\{[^}]*\} 0`, `lyceum_node_beat_age_seconds\{[^}]*\} [\d.e-]+`,
		`lyceum_quests_waiting 1`, `lyceum_quests_stranded 1`,
	} {
		if !regexp.MustCompile(`(?m)^` + want + `$`).MatchString(body) {
			t.Errorf("the metrics have no line like %s:\n%s", want, body)
		}
	}
	h.run("doctor").want(t, 0, "0 quests, room for 7; last beat ", "its clock is off by 1h0m0", "warning    stranded: no node can run quest keyed: http://127", "OPENAI_API_KEY", "each tries again within a minute")
	alone := newHome(t, nil)
	only := alone.serve()
	defer only.stop()
	token, err = api.ReadToken(alone.dir)
	must(t, err)
	if _, body := only.calling(nil).ask("GET", "/metrics", "Authorization", "Bearer "+token); strings.Contains(body, "lyceum_node") || !strings.Contains(body, "lyceum_quests_held") {
		t.Errorf("the metrics of a home tell of nodes, or of nothing:\n%s", body)
	}
}
