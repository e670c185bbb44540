package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"lyceum/internal/notice"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// platforms are those that a release is built for; each may link other modules.
var platforms = []string{"amd64", "arm64"}

// linked is a module with those of its folders that are linked.
type linked struct {
	path, version, dir string
	folders            map[string]bool
}

// modules are the notices of Go and of all modules that are linked into lyceum.
func modules() ([]notice.Notice, error) {
	found, err := linkedModules(".")
	if err != nil {
		return nil, err
	}
	golang, err := golang()
	if err != nil {
		return nil, err
	}
	all := []notice.Notice{golang}
	for _, m := range found {
		texts, err := m.texts()
		if err != nil {
			return nil, err
		}
		n, err := named(m.path, m.version, notice.Module, texts)
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

// golang is the notice of the runtime and the standard library. They are those of the
// Go that builds, so the notice has no version.
func golang() (notice.Notice, error) {
	out, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return notice.Notice{}, fmt.Errorf("ask go where it is: %w", err)
	}
	texts, err := textsIn(strings.TrimSpace(string(out)), "")
	if err != nil {
		return notice.Notice{}, err
	}
	return named("Go", "", notice.Module, texts)
}

// linkedModules are the modules of others that cmd/lyceum is linked from, on any platform.
func linkedModules(root string) ([]*linked, error) {
	byPath := map[string]*linked{}
	for _, arch := range platforms {
		cmd := exec.Command("go", "list", "-deps", "-json=Dir,Module", "./cmd/lyceum")
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("list what is linked for %s: %w", arch, err)
		}
		if err := note(byPath, out); err != nil {
			return nil, err
		}
	}
	var all []*linked
	for _, m := range byPath {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *linked) int { return cmp.Compare(a.path, b.path) })
	return all, nil
}

// note adds the packages of go list's output to their modules.
func note(byPath map[string]*linked, list []byte) error {
	dec := jsontext.NewDecoder(bytes.NewReader(list))
	for {
		var p struct {
			Dir    string
			Module *struct {
				Path, Version, Dir string
				Main               bool
			}
		}
		err := json.UnmarshalDecode(dec, &p)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read what go list says: %w", err)
		}
		if p.Module == nil || p.Module.Main {
			continue
		}
		m := byPath[p.Module.Path]
		if m == nil {
			m = &linked{p.Module.Path, p.Module.Version, p.Module.Dir, map[string]bool{}}
			byPath[m.path] = m
		}
		m.folders[p.Dir] = true
	}
}

// texts are the licences of the module, and of folders on the way to what is linked.
func (m *linked) texts() ([]notice.Text, error) {
	dirs := map[string]bool{}
	for dir := range m.folders {
		for ; dir != m.dir && strings.HasPrefix(dir, m.dir); dir = filepath.Dir(dir) {
			dirs[dir] = true
		}
	}
	sorted := []string{m.dir}
	for dir := range dirs {
		sorted = append(sorted, dir)
	}
	slices.Sort(sorted)
	var all []notice.Text
	for _, dir := range sorted {
		prefix := strings.TrimPrefix(dir[len(m.dir):], string(filepath.Separator))
		if prefix != "" {
			prefix = filepath.ToSlash(prefix) + "/"
		}
		texts, err := textsIn(dir, prefix)
		if err != nil {
			return nil, err
		}
		all = append(all, texts...)
	}
	return all, nil
}
