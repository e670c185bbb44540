// Command questschema prints the JSON Schema of a quest.yaml.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"lyceum/internal/quest"
)

func main() {
	s, err := quest.Schema()
	if err == nil {
		var data []byte
		if data, err = json.MarshalIndent(s, "", "  "); err == nil {
			fmt.Println(string(data))
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
