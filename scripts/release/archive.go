package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"lyceum/internal/cli"
	"lyceum/internal/notice"
)

// file is one of an archive.
type file struct {
	name string
	mode int64
	data []byte
}

// documents are what an archive has besides the binary.
func documents(ctx context.Context) ([]file, error) {
	var all []file
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md"} {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		all = append(all, file{name, 0o644, data})
	}
	notices, err := notice.All()
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := notice.Write(&text, notices); err != nil {
		return nil, err
	}
	all = append(all, file{"NOTICES", 0o644, text.Bytes()})
	for shell, name := range map[string]string{"bash": "lyceum.bash", "zsh": "_lyceum", "fish": "lyceum.fish"} {
		var out, errs bytes.Buffer
		if code := cli.Main(ctx, []string{"completion", shell}, nil, &out, &errs); code != 0 {
			return nil, fmt.Errorf("make the completion for %s: exit code %d: %s", shell, code, errs.String())
		}
		all = append(all, file{"completions/" + name, 0o644, out.Bytes()})
	}
	pages, err := cli.ManPages()
	if err != nil {
		return nil, err
	}
	for name, page := range pages {
		all = append(all, file{"man/" + name, 0o644, page})
	}
	return all, nil
}

// archive packs files into a folder, sorted by name: the same bytes for the same files.
func archive(folder string, at time.Time, files []file) ([]byte, error) {
	var out bytes.Buffer
	packed, err := gzip.NewWriterLevel(&out, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(packed)
	sorted := slices.SortedFunc(slices.Values(files), func(a, b file) int { return cmp.Compare(a.name, b.name) })
	for _, f := range sorted {
		h := &tar.Header{Name: folder + "/" + f.name, Mode: f.mode, Size: int64(len(f.data)), ModTime: at, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	if err := packed.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
