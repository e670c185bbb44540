package web_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"lyceum/web"
)

// sources are what the page is built from, as scripts/sources.mjs lists them.
func sources(t *testing.T) []string {
	t.Helper()
	files := []string{"index.html", "package-lock.json", "package.json", "tsconfig.json", "vite.config.ts"}
	for _, folder := range []string{"public", "scripts", "src"} {
		err := fs.WalkDir(os.DirFS("."), folder, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(files)
	return files
}

func TestDist(t *testing.T) {
	t.Parallel()
	t.Run("IsBuiltFromTheSourcesThatAreHere", func(t *testing.T) {
		t.Parallel()
		whole := sha256.New()
		for _, path := range sources(t) {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(whole, "%x  %s\n", sha256.Sum256(content), path)
		}
		want := hex.EncodeToString(whole.Sum(nil))
		got, err := fs.ReadFile(web.Dist, "sources.sha256")
		if err != nil {
			t.Fatalf("the page is not built: %v; run: make web", err)
		}
		if strings.TrimSpace(string(got)) != want {
			t.Error("the built page is not of these sources; run: make web")
		}
	})
	t.Run("AsksNoOtherHost", func(t *testing.T) {
		t.Parallel()
		page, err := fs.ReadFile(web.Dist, "index.html")
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range []string{"http://", "https://", "src=\"//", "href=\"//", "<style", "style="} {
			if strings.Contains(string(page), word) {
				t.Errorf("index.html holds %q", word)
			}
		}
	})
}
