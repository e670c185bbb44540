// Command canary looks for a key that is to be nowhere, as the tests do: in files and folders, in packed blobs and
// in git repositories too. It prints each place that has the key.
//
//	go run ./scripts/peers/canary KEY PLACE…        ends with 1 if a place has it, with 2 if one could not be looked at
//	go run ./scripts/peers/canary -pack KEY STORE   puts it into a packed blob of a store, to see that it is found there
package main

import (
	"context"
	"fmt"
	"os"

	"lyceum/internal/canary"
)

func main() {
	ctx, args := context.Background(), os.Args[1:]
	switch {
	case len(args) == 3 && args[0] == "-pack":
		if err := canary.Pack(ctx, args[2], args[1]); err != nil {
			fmt.Fprintln(os.Stderr, "canary:", err)
			os.Exit(2)
		}
	case len(args) >= 2 && args[0] != "-pack":
		os.Exit(look(ctx, args[0], args[1:]))
	default:
		fmt.Fprintln(os.Stderr, "usage: canary KEY PLACE…, or canary -pack KEY STORE")
		os.Exit(2)
	}
}

// look returns the code to end with.
func look(ctx context.Context, key string, places []string) (code int) {
	for _, place := range places {
		found, err := canary.In(ctx, place, key)
		if err != nil {
			fmt.Fprintln(os.Stderr, "canary:", err)
			code = 2
		}
		for _, at := range found {
			fmt.Printf("%s: %s\n", place, at)
			code = max(code, 1)
		}
	}
	return code
}
