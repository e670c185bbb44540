// Command strict is an S3 server that keeps its word: a condition that does not hold is refused,
// and so is content that does not match its checksum. It is Versity's gateway over a folder.
//
//	strict 127.0.0.1:9000 folder
//
// Each folder below that one is a bucket. The credentials are test and test-secret. It ends with
// its standard input, so that a test that is killed leaves nothing running.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/embedgw"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: strict address folder [certificate key]")
		os.Exit(2)
	}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin) // an end is an end, however it came
		os.Exit(0)
	}()
	// It ends with its standard input, and not before.
	if err := serve(context.Background(), os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func serve(ctx context.Context, address, folder string, tls []string) error {
	store, err := posix.New(folder, meta.XattrMeta{}, posix.PosixOpts{Concurrency: 64, CopyObjectThreshold: 5 << 30})
	if err != nil {
		return err
	}
	conf := &embedgw.Config{
		RootUserAccess: "test", RootUserSecret: "test-secret", Region: "us-east-1", Ports: []string{address},
		MaxConnections: 1000, MaxRequests: 1000, MultipartMaxParts: 10_000, Quiet: true, DisableACLs: true,
	}
	if len(tls) == 2 {
		conf.CertFile, conf.KeyFile = tls[0], tls[1]
	}
	return embedgw.RunVersityGW(ctx, store, conf)
}
