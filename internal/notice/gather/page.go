package main

import (
	"cmp"
	_ "embed" // the licence of the fonts
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lyceum/internal/notice"

	"github.com/go-json-experiment/json"
)

// builders are tools that leave some lines of their own in what they build.
var builders = []string{"rolldown", "vite"}

// fontText is the notice of KaTeX's fonts, whose package has only that of its code. It
// says what the fonts say of themselves.
//
//go:embed fonts.txt
var fontText string

// folder is where the lock file has its packages.
const folder = "node_modules/"

// installed is a package that the lock file names.
type installed struct{ name, version, dir string }

// packages are the notices of what the page is built from. Where the packages are not
// installed their texts are those of before, if there is one of that version.
func packages(before []notice.Notice) ([]notice.Notice, error) {
	list, err := bundled("web/package-lock.json")
	if err != nil {
		return nil, err
	}
	var all []notice.Notice
	for _, p := range list {
		n, err := p.notice()
		if errors.Is(err, fs.ErrNotExist) {
			if n, err = kept(before, p); err == nil {
				fmt.Fprintf(os.Stderr, "gather: %s is not installed: its text was not looked at again. To do so: npm ci --prefix web\n", p.name)
			}
		}
		if err != nil {
			return nil, err
		}
		all = append(all, n)
	}
	return all, nil
}

// bundled are the packages that the page may carry: those that are not for development
// alone. Types have no code. A package of several versions is told once.
func bundled(lock string) ([]installed, error) {
	data, err := os.ReadFile(lock)
	if err != nil {
		return nil, err
	}
	var l struct {
		Packages map[string]struct {
			Version string `json:"version"`
			Dev     bool   `json:"dev"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(data, &l); err != nil {
		return nil, fmt.Errorf("read %s: %w", lock, err)
	}
	var all []installed
	for path, p := range l.Packages {
		at := strings.LastIndex(path, folder)
		if at < 0 {
			continue // the page itself
		}
		name := path[at+len(folder):]
		if strings.HasPrefix(name, "@types/") || p.Dev && !slices.Contains(builders, name) {
			continue
		}
		all = append(all, installed{name, p.Version, filepath.Join(filepath.Dir(lock), path)})
	}
	slices.SortFunc(all, func(a, b installed) int {
		return cmp.Or(cmp.Compare(a.name, b.name), cmp.Compare(a.version, b.version))
	})
	return slices.CompactFunc(all, func(a, b installed) bool { return a.name == b.name && a.version == b.version }), nil
}

func (p installed) notice() (notice.Notice, error) {
	data, err := os.ReadFile(filepath.Join(p.dir, "package.json"))
	if err != nil {
		return notice.Notice{}, err
	}
	var own struct {
		Version string `json:"version"`
	}
	if err := json.Unmarshal(data, &own); err != nil {
		return notice.Notice{}, fmt.Errorf("read the package.json of %s: %w", p.name, err)
	}
	if own.Version != p.version {
		return notice.Notice{}, fmt.Errorf("%s is installed in version %s, the lock file has %s. Run: npm ci --prefix web", p.name, own.Version, p.version)
	}
	texts, err := textsIn(p.dir, "")
	if err != nil {
		return notice.Notice{}, err
	}
	for i := range texts {
		// What follows is about what the tool is made of, not about what it leaves behind.
		texts[i].Text, _, _ = strings.Cut(texts[i].Text, "\n# Licenses of bundled dependencies")
	}
	return named(p.name, p.version, notice.Page, texts)
}

// kept is the notice of a package as it was.
func kept(before []notice.Notice, p installed) (notice.Notice, error) {
	for _, n := range before {
		if n.Kind == notice.Page && n.Name == p.name && n.Version == p.version {
			return n, nil
		}
	}
	return notice.Notice{}, fmt.Errorf("%s %s is not installed, and has no notice yet. Run: npm ci --prefix web", p.name, p.version)
}

// faces is the scope of the packages that are a font each. The names of a package's files begin with
// its own.
const faces = "@fontsource-variable/"

// fonts is the notice of KaTeX's fonts in the built page. The others are those of packages, which have
// their notices; a font that is of neither needs one of its own.
func fonts(packages []notice.Notice) (notice.Notice, error) {
	found, err := filepath.Glob("web/dist/assets/*.woff2")
	if err != nil {
		return notice.Notice{}, err
	}
	if len(found) == 0 {
		return notice.Notice{}, errors.New("the built page has no fonts: take their notice out of page.go")
	}
	for _, f := range found {
		base := filepath.Base(f)
		family, _, _ := strings.Cut(base, "-")
		packed := slices.ContainsFunc(packages, func(n notice.Notice) bool {
			name, ok := strings.CutPrefix(n.Name, faces)
			return ok && strings.HasPrefix(base, name+"-")
		})
		if !packed && (!strings.HasPrefix(family, "KaTeX_") || !strings.Contains(fontText, family)) {
			return notice.Notice{}, fmt.Errorf("%s is a font that has no notice: see fonts.txt", f)
		}
	}
	return named("KaTeX fonts", "", notice.Font, []notice.Text{{File: "OFL.txt", Text: tidy(fontText)}})
}
