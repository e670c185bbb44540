// Command gather writes internal/notice/notices.json.gz: the licences of all that is
// linked into lyceum or bundled with it. Run it from the root of the repository:
//
//	go run ./internal/notice/gather          write the file
//	go run ./internal/notice/gather -check   fail if the file is not what would be written
//
// A licence that it does not know is an error: somebody has to read it first.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"reflect"

	"lyceum/internal/notice"
)

const file = "internal/notice/notices.json.gz"

func main() {
	check := flag.Bool("check", false, "compare instead of writing")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "gather:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	before, err := held()
	if err != nil {
		return err
	}
	all, err := gather(before)
	if err != nil {
		return err
	}
	if check {
		if !reflect.DeepEqual(before, all) {
			return errors.New("the notices are not those of what is linked and bundled. Run: make generate")
		}
		return nil
	}
	data, err := notice.Pack(all)
	if err != nil {
		return err
	}
	return os.WriteFile(file, data, 0o644)
}

// held are the notices that the file has now; none if there is no file.
func held() ([]notice.Notice, error) {
	data, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) || len(data) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return notice.Unpack(data)
}

// gather finds every notice. before is used for the texts of the page's packages where
// those are not installed.
func gather(before []notice.Notice) ([]notice.Notice, error) {
	own, err := single("Lyceum", notice.Own, "LICENSE")
	if err != nil {
		return nil, err
	}
	modules, err := modules()
	if err != nil {
		return nil, err
	}
	packages, err := packages(before)
	if err != nil {
		return nil, err
	}
	fonts, err := fonts(packages)
	if err != nil {
		return nil, err
	}
	words, err := single("GloVe word vectors", notice.Data, "internal/search/glove/LICENSE.words")
	if err != nil {
		return nil, err
	}
	all := append([]notice.Notice{own}, modules...)
	all = append(all, packages...)
	return append(all, fonts, words), nil
}
