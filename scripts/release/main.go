// Command release builds what strangers download: for each platform one archive with a
// static, stripped binary, its notices and its documents, and the checksums of all.
//
//	go run ./scripts/release 0.2.0
//
// The archives of a commit are the same to the byte, whoever builds them and in whatever
// folder, as long as it is with the same Go; scripts/reproducible tries it. So nothing of
// the machine may get in: paths are trimmed, times are the commit's, owners are nobody.
//
// It refuses a version that the changelog does not tell of, and a source tree that is not
// a commit: nobody could build that again.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	out := flag.String("out", "bin/release", "the folder to write to")
	arch := flag.String("arch", "amd64,arm64", "the processors to build for")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "release: which version? Run: make release VERSION=0.2.0")
		os.Exit(2)
	}
	if err := run(context.Background(), flag.Arg(0), *out, strings.Split(*arch, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// commit is what a release is built from.
type commit struct {
	hash string
	time time.Time
}

func run(ctx context.Context, version, out string, archs []string) error {
	changelog, err := os.ReadFile("CHANGELOG.md")
	if err != nil {
		return err
	}
	if err := told(version, string(changelog)); err != nil {
		return err
	}
	c, err := head(".", version)
	if err != nil {
		return err
	}
	documents, err := documents(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	var sums bytes.Buffer
	for _, arch := range archs {
		name := fmt.Sprintf("lyceum-%s-linux-%s", version, arch)
		binary, err := compile(version, arch, c)
		if err != nil {
			return err
		}
		data, err := archive(name, c.time, append(documents, file{"lyceum", 0o755, binary}))
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(out, name+".tar.gz"), data, 0o644); err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s.tar.gz\n", sha256.Sum256(data), name)
	}
	if err := os.WriteFile(filepath.Join(out, "SHA256SUMS"), sums.Bytes(), 0o644); err != nil {
		return err
	}
	_, err = os.Stdout.Write(sums.Bytes())
	return err
}

// head is the commit that is checked out, if there is nothing else in the folder and the
// version is not another commit's already.
func head(dir, version string) (commit, error) {
	git := func(args ...string) (string, error) {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "TZ=UTC")
		data, err := cmd.Output()
		return strings.TrimSpace(string(data)), err
	}
	changed, err := git("status", "--porcelain")
	if err != nil {
		return commit{}, fmt.Errorf("ask git what has changed: %w. A release is built from a commit", err)
	}
	if changed != "" {
		return commit{}, fmt.Errorf("a release is built from a commit, but there are changes:\n%s\nCommit them, or take them away", changed)
	}
	line, err := git("log", "-1", "--format=%H %ct")
	if err != nil {
		return commit{}, fmt.Errorf("ask git for the commit: %w", err)
	}
	var c commit
	var seconds int64
	if _, err := fmt.Sscanf(line, "%s %d", &c.hash, &seconds); err != nil {
		return commit{}, fmt.Errorf("read what git says of the commit (%q): %w", line, err)
	}
	c.time = time.Unix(seconds, 0).UTC()
	tagged, err := git("rev-parse", "--verify", "--quiet", "refs/tags/v"+version+"^{commit}")
	if _, failed := errors.AsType[*exec.ExitError](err); err != nil && !failed {
		return commit{}, fmt.Errorf("ask git for the tag v%s: %w", version, err)
	}
	if err == nil && tagged != c.hash {
		return commit{}, fmt.Errorf("version %s is commit %s already, this is %s. Choose another version, or check out v%s", version, tagged, c.hash, version)
	}
	return c, nil
}

// compile builds the binary. The settings that change what a compiler writes are those
// that are given here, not those of the machine.
func compile(version, arch string, c commit) ([]byte, error) {
	dir, err := os.MkdirTemp("", "lyceum-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	const cli = "lyceum/internal/cli."
	linker := strings.Join([]string{
		"-s -w -buildid=",
		"-X " + cli + "release=" + version,
		"-X " + cli + "releaseCommit=" + c.hash,
		"-X " + cli + "releaseDate=" + c.time.Format(time.RFC3339),
	}, " ")
	path := filepath.Join(dir, "lyceum")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", linker, "-o", path, "./cmd/lyceum")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=", "GOFIPS140=off")
	cmd.Stderr = os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("build for linux/%s: %w", arch, err)
	}
	return os.ReadFile(path)
}
