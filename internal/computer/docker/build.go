package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"lyceum/internal/plain"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/build"
	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"golang.org/x/sys/unix"
)

// What a build may use. A Dockerfile's programs run as root of a container, and nobody has
// read what they do.
const (
	buildTime   = time.Hour
	buildMemory = 4 << 30
	buildCPUs   = 2
	// buildFile is the largest file that a program may write, buildDisk how much room on
	// the engine's disk may go while an image is built, and how large it may be.
	buildFile = 8 << 30
	buildDisk = 20 << 30
	// buildSaid is how much of a build's output is read.
	buildSaid = 64 << 20
	// buildLook is how often it is looked how much room is left.
	buildLook = 2 * time.Second
)

// limited is how an image is built.
func limited(tag, digest string, offline bool) client.ImageBuildOptions {
	o := client.ImageBuildOptions{
		Tags: []string{tag}, Dockerfile: "Dockerfile", Labels: map[string]string{labelDockerfile: digest},
		Remove: true, ForceRemove: true, Version: build.BuilderV1,
		Memory: buildMemory, MemorySwap: buildMemory, CPUPeriod: 100_000, CPUQuota: buildCPUs * 100_000,
		Ulimits: []*container.Ulimit{{Name: "fsize", Soft: buildFile, Hard: buildFile}},
	}
	if offline {
		o.NetworkMode = "none"
	}
	return o
}

// build has the engine make an image. The Dockerfile is all there is to build from:
// nothing of the host gets in.
func (e *engine) build(ctx context.Context, text []byte, tag, digest string, offline bool, progress func(string)) error {
	var files bytes.Buffer
	w := tar.NewWriter(&files)
	err := w.WriteHeader(&tar.Header{Name: "Dockerfile", Mode: 0o644, Size: int64(len(text))})
	if err == nil {
		_, err = w.Write(text)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	progress("building the image " + tag + " with " + e.String())
	ctx, stop := context.WithTimeoutCause(ctx, buildTime, fmt.Errorf("it took longer than %s, which is the most there is for it", buildTime))
	defer stop()
	ctx, full := context.WithCancelCause(ctx)
	defer full(nil)
	go e.guardDisk(ctx, full)
	r, err := e.ImageBuild(ctx, &files, limited(tag, digest, offline))
	if err != nil {
		return fmt.Errorf("build the image from the Dockerfile: %w", errors.Join(inWords(err), context.Cause(ctx)))
	}
	defer r.Body.Close()
	n := narrator{progress: progress}
	if err := n.follow(io.LimitReader(r.Body, buildSaid)); err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("build the image: %w", context.Cause(ctx))
		}
		return n.explain(err)
	}
	return e.notTooLarge(ctx, tag)
}

// guardDisk ends a build under which the engine's disk fills up. What others write there
// meanwhile counts too: it cannot be told apart.
func (e *engine) guardDisk(ctx context.Context, full context.CancelCauseFunc) {
	before, ok := e.disk(e.info.DockerRootDir)
	if !ok {
		return // podman does not say where it is
	}
	look := time.NewTicker(e.look)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
		if now, ok := e.disk(e.info.DockerRootDir); ok && before-now > buildDisk {
			full(fmt.Errorf("it took more than %d GiB of the engine's disk, which is the most there is for it", int64(buildDisk)>>30))
			return
		}
	}
}

// room is how many bytes are free on the disk of a folder.
func room(dir string) (int64, bool) {
	var st unix.Statfs_t
	if dir == "" || unix.Statfs(dir, &st) != nil {
		return 0, false
	}
	return int64(st.Bavail) * st.Bsize, true
}

// notTooLarge removes an image that is larger than one may be.
func (e *engine) notTooLarge(ctx context.Context, tag string) error {
	image, err := e.ImageInspect(ctx, tag)
	if err != nil || image.Size <= buildDisk {
		return nil // what is not there, the caller finds
	}
	_, err = e.ImageRemove(ctx, tag, client.ImageRemoveOptions{PruneChildren: true})
	return errors.Join(fmt.Errorf("the image has %d bytes, and %d are the most an image may have: install less in it", image.Size, int64(buildDisk)), err)
}

// offline refuses to build without a network what the engine itself, whose network is the
// host's, would have to fetch: base images that are not here, and files by their addresses.
// What it cannot see through it refuses: with --build-network everything goes.
func (e *engine) offline(ctx context.Context, text []byte) error {
	needs, err := fetched(string(text))
	if err != nil {
		return fmt.Errorf("the Dockerfile cannot be built without a network: %w; look at it, and allow its build the network with --build-network", err)
	}
	for _, name := range needs {
		_, err := e.ImageInspect(ctx, name)
		if errdefs.IsNotFound(err) {
			return fmt.Errorf("the Dockerfile begins with the image %s, which is not here, and its build has no network: fetch the image with docker pull, or allow the build the network with --build-network", plain.Bare(name, 200))
		}
		if err != nil {
			return fmt.Errorf("look for the image %s: %w", plain.Bare(name, 200), inWords(err))
		}
	}
	return nil
}

var (
	comment   = regexp.MustCompile(`(?m)^[ \t]*#.*\n?`)
	directive = regexp.MustCompile(`(?im)^[ \t]*#[ \t]*(escape|syntax)[ \t]*=`)
	continued = regexp.MustCompile(`\\[ \t]*\r?\n`)
	doubled   = regexp.MustCompile(`\\\\[ \t]*\r?\n`)
)

// quiet are the instructions for which an engine fetches nothing by itself.
var quiet = []string{"ARG", "CMD", "ENTRYPOINT", "ENV", "EXPOSE", "HEALTHCHECK", "LABEL", "MAINTAINER", "SHELL", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR"}

// fetched are the images that a Dockerfile is built of, without its own stages. It errs
// about what the engine would fetch besides, and wherever the engine might read the file in
// another way.
func fetched(text string) (images []string, err error) {
	text = strings.TrimPrefix(text, "\ufeff")
	if directive.MatchString(text) {
		return nil, errors.New("it says how it is to be read, with escape or syntax")
	}
	text = comment.ReplaceAllString(text, "")
	if doubled.MatchString(text) {
		return nil, errors.New("a line of it ends in two backslashes")
	}
	var stages []string
	for line := range strings.Lines(continued.ReplaceAllString(text, "")) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		verb, rest := strings.ToUpper(words[0]), words[1:]
		var flags []string
		for len(rest) > 0 && strings.HasPrefix(rest[0], "--") {
			flags, rest = append(flags, rest[0]), rest[1:]
		}
		switch {
		case verb == "FROM":
			if len(rest) == 0 || strings.Contains(line, "$") {
				return nil, fmt.Errorf("%s does not name its image", plain.Bare(line, 100))
			}
			if rest[0] != "scratch" && !slices.Contains(stages, strings.ToLower(rest[0])) {
				images = append(images, rest[0])
			}
			if len(rest) == 3 {
				stages = append(stages, strings.ToLower(rest[2]))
			}
		case verb == "COPY" || verb == "RUN":
			for _, f := range flags {
				from, ok := strings.CutPrefix(f, "--from=")
				if !ok || !slices.Contains(stages, strings.ToLower(from)) {
					return nil, fmt.Errorf("it has %s with %s, which is no stage of its own", verb, plain.Bare(f, 100))
				}
			}
		case !slices.Contains(quiet, verb):
			return nil, fmt.Errorf("it has %s, which may fetch something", plain.Bare(verb, 40))
		}
	}
	return images, nil
}
