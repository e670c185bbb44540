// Command questschema prints the JSON Schema of a quest.yaml.
package main

import (
	"fmt"
	"os"

	"lyceum/internal/quest"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

func main() {
	s, err := quest.Schema()
	if err == nil {
		var data []byte
		if data, err = json.Marshal(s, jsontext.WithIndent("  ")); err == nil {
			fmt.Println(string(data))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
