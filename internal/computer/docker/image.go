package docker

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"lyceum/internal/computer"
	"lyceum/internal/plain"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/types/jsonstream"
	"github.com/moby/moby/client"
)

// DefaultDockerfile is what images are built from where a quest gives none.
//
//go:embed default.Dockerfile
var DefaultDockerfile []byte

// Prepare implements computer.Driver: it builds the image, if there is none of that
// Dockerfile yet. Two Dockerfiles that differ in one byte are two images. To build
// one again, for newer packages, remove its tag.
func (d *Driver) Prepare(ctx context.Context, s computer.Spec, progress func(string)) (string, error) {
	e, err := d.connect(ctx)
	if err != nil {
		return "", err
	}
	text := s.Dockerfile
	if len(bytes.TrimSpace(text)) == 0 {
		text = DefaultDockerfile
	}
	sum := sha256.Sum256(text)
	digest := hex.EncodeToString(sum[:])
	tag := "lyceum:" + digest[:16]
	if id, err := e.built(ctx, tag, digest); err != nil || id != "" {
		return id, err
	}
	if s.Build.Refused != "" {
		return "", errors.New(s.Build.Refused)
	}
	select {
	case d.building <- struct{}{}:
		defer func() { <-d.building }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	// Whoever held it may have built this one.
	if id, err := e.built(ctx, tag, digest); err != nil || id != "" {
		return id, err
	}
	if s.Build.Offline {
		if err := e.offline(ctx, text); err != nil {
			return "", err
		}
	}
	if err := e.build(ctx, text, tag, digest, s.Build.Offline, progress); err != nil {
		return "", err
	}
	id, err := e.built(ctx, tag, digest)
	if err == nil && id == "" {
		err = fmt.Errorf("the engine built the image %s and does not have it; try again", tag)
	}
	return id, err
}

// built is the id of the image that has the tag and is ours, empty if there is none.
func (e *engine) built(ctx context.Context, tag, digest string) (string, error) {
	image, err := e.ImageInspect(ctx, tag)
	if errdefs.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("look for the image %s: %w", tag, inWords(err))
	}
	if image.Config == nil || image.Config.Labels[labelDockerfile] != digest {
		return "", nil
	}
	return image.ID, fit(image)
}

// fit refuses images that ask for more than a computer is.
func fit(image client.ImageInspectResult) error {
	if v := slices.Sorted(maps.Keys(image.Config.Volumes)); len(v) > 0 {
		return fmt.Errorf("the image declares the volume %s, and a computer keeps nothing but its home: take VOLUME out of the Dockerfile, or use another base image",
			plain.Bare(v[0], 200))
	}
	for _, v := range image.Config.Env {
		if strings.HasPrefix(v, "LYCEUM_") {
			return fmt.Errorf("the image sets %s, and names that begin with LYCEUM_ are Lyceum's own: take that ENV out of the Dockerfile", plain.Bare(v, 200))
		}
	}
	return nil
}

// How much of a build's output an error shows.
const (
	lastLines = 20
	maxWidth  = 300
)

// narrator follows a build. What it passes on comes from programs nobody has read.
type narrator struct {
	progress func(string)
	step     string
	last     []string
	partial  string
}

func (n *narrator) follow(r io.Reader) error {
	for d := json.NewDecoder(r); ; {
		var m jsonstream.Message
		err := d.Decode(&m)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("the engine broke off: %w", err)
		case m.Error != nil:
			return errors.New(plain.Bare(m.Error.Message, 1000))
		}
		n.take(m.Stream)
		// Layers report their progress too, many times a second.
		if m.Status != "" && (m.Progress == nil || m.Progress.Current == 0) && strings.HasPrefix(m.Status, "Pulling from") {
			n.progress(plain.Bare(m.Status+" "+m.ID, maxWidth))
		}
	}
}

// take puts pieces of output together to lines.
func (n *narrator) take(text string) {
	for text != "" {
		piece, rest, whole := strings.Cut(text, "\n")
		if text = rest; len(n.partial) < 4*maxWidth {
			n.partial += piece[:min(len(piece), 4*maxWidth)]
		}
		if whole {
			n.line(n.partial)
			n.partial = ""
		}
	}
}

func (n *narrator) line(raw string) {
	// Of a line that was written over itself, the last is what a reader would see.
	raw = strings.TrimRight(raw, "\r \t")
	l := plain.Bare(raw[strings.LastIndexByte(raw, '\r')+1:], maxWidth)
	switch {
	case l == "":
	case strings.HasPrefix(raw, "Step ") || strings.HasPrefix(raw, "STEP "):
		n.step, n.last = l, nil
		n.progress(l)
	case strings.HasPrefix(l, "--->") || strings.HasPrefix(l, "Removing intermediate container"):
		// The builder's own bookkeeping.
	default:
		n.last = append(n.last, l)
		n.last = n.last[max(0, len(n.last)-lastLines):]
	}
}

// explain makes an error of a build that failed.
func (n *narrator) explain(err error) error {
	n.line(n.partial)
	step := n.step
	if step == "" {
		step = "before the first step"
	}
	text := ""
	if len(n.last) > 0 {
		text = "\nThe last it said:\n\t" + strings.Join(n.last, "\n\t")
	}
	advice := "Correct the Dockerfile."
	said := err.Error()
	switch {
	case strings.Contains(said, "pull access denied") || strings.Contains(said, "manifest unknown") || strings.Contains(said, "not found: manifest"):
		advice = "Correct the name of the image after FROM, or fetch the image by hand with docker pull."
	case strings.Contains(said, "registry") || strings.Contains(said, "lookup ") || strings.Contains(said, "dial tcp"):
		advice = "The base image is not here and cannot be fetched: see that the engine has a network, or fetch the image by hand with docker pull."
	case strings.HasPrefix(said, "COPY failed") || strings.HasPrefix(said, "ADD failed"):
		advice = "There are no files to copy from: an image is built from the Dockerfile alone. Write what is needed with RUN, or fetch it there."
	case strings.Contains(said, "no space left"):
		advice = "Make room on the disk of the engine, for example with docker system prune."
	}
	return fmt.Errorf("build the image, %s: %w%s\n%s", step, err, text, advice)
}
