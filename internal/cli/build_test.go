package cli

import (
	"runtime/debug"
	"testing"
)

func TestBuilds(t *testing.T) {
	t.Parallel()
	noted := func(more ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{GoVersion: "go1.26.8", Settings: append([]debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: "arm64"}}, more...)}
	}
	commit := []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}, {Key: "vcs.time", Value: "2026-11-16T01:02:03Z"}, {Key: "vcs.modified", Value: "false"}}
	changed := append(commit[:2:2], debug.BuildSetting{Key: "vcs.modified", Value: "true"})
	for name, c := range map[string]struct {
		build           build
		line, inLedgers string
	}{
		"OfACommit":        {describe(noted(commit...)), "lyceum 0.1.0-dev (development build, commit 0123456789ab of 2026-11-16, go1.26.8, linux/arm64)", "0.1.0-dev+0123456789ab"},
		"WithChanges":      {describe(noted(changed...)), "lyceum 0.1.0-dev (development build, commit 0123456789ab of 2026-11-16 with changes, go1.26.8, linux/arm64)", "0.1.0-dev+0123456789ab.modified"},
		"NothingIsKnown":   {describe(noted()), "lyceum 0.1.0-dev (development build, commit unknown, go1.26.8, linux/arm64)", "0.1.0-dev"},
		"ARelease":         {build{Version: "1.2.0", Release: true, Commit: "0123456789abcdef", Date: "2026-11-16T01:02:03Z", Go: "go1.26.8", Platform: "linux/amd64"}, "lyceum 1.2.0 (commit 0123456789ab of 2026-11-16, go1.26.8, linux/amd64)", "1.2.0"},
		"AnAbridgedCommit": {describe(noted(debug.BuildSetting{Key: "vcs.revision", Value: "0123"})), "lyceum 0.1.0-dev (development build, commit 0123, go1.26.8, linux/arm64)", "0.1.0-dev+0123"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := c.build.String(); got != c.line {
				t.Errorf("the line: got %q, want %q", got, c.line)
			}
			if got := c.build.recorded(); got != c.inLedgers {
				t.Errorf("what ledgers have: got %q, want %q", got, c.inLedgers)
			}
		})
	}
}
