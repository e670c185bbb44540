// Command lax is an S3 server that ignores conditions and checksums. It is rclone's over a folder.
//
//	lax 127.0.0.1:9000 folder
//
// Each folder below that one is a bucket. The credentials are test and test-secret. It ends with
// its standard input, so that a test that is killed leaves nothing running.
package main

import (
	"fmt"
	"io"
	"os"

	_ "github.com/rclone/rclone/backend/local"
	"github.com/rclone/rclone/cmd"
	_ "github.com/rclone/rclone/cmd/serve/s3"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: lax address folder")
		os.Exit(2)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // an end is an end, however it came
		os.Exit(0)
	}()
	address, folder := os.Args[1], os.Args[2]
	// Removing empty folders fails where others write at the same time, and so would the request.
	os.Args = []string{"rclone", "serve", "s3", "--config", "", "--cache-dir", folder + ".cache", "--auth-key", "test,test-secret", "--no-cleanup", "--addr", address, folder}
	cmd.Main()
}
