package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"testing"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/blob/blobtest"
	"lyceum/internal/blob/s3/s3test"
	"lyceum/internal/event"
	"lyceum/internal/need"
)

// writer names the variable that makes a process of this test one that writes to a store.
const writer = "LYCEUM_S3_WRITER"

// content is what the writer creates, in parts.
func content(n int) []byte { return blobtest.Bytes(11<<20+n, uint64(n)) }

// write puts large blobs into a store until it is killed, and says when each is there.
func write(endpoint string) error {
	ctx := context.Background()
	s, err := Open(ctx, Options{Endpoint: endpoint, Bucket: s3test.Bucket, Space: "killed", PathStyle: true})
	if err != nil {
		return err
	}
	s.part = 5 << 20
	for n := 0; ; n++ {
		if _, err := s.Create(ctx, bytes.NewReader(content(n))); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

func TestWhoIsKilledLeavesNoHalfOfABlob(t *testing.T) {
	t.Parallel()
	rounds := need.Times(2, 30)
	both(t, func(t *testing.T, server *s3test.Server) {
		s := mustOpen(t, at(server, "killed"))
		for range rounds {
			told := killedWriter(t, server.Endpoint, rand.N(1500*time.Millisecond))
			for n := range bytes.Count(told, []byte("\n")) + 2 {
				data := content(n)
				got, err := s.Get(t.Context(), event.HashOf(data))
				acknowledged := n < bytes.Count(told, []byte("\n"))
				if err == nil && bytes.Equal(got, data) || !acknowledged && errors.Is(err, blob.ErrNotFound) {
					continue
				}
				t.Errorf("blob %d of a killed writer, acknowledged %t: %d bytes, %v", n, acknowledged, len(got), err)
			}
		}
	})
}

// killedWriter runs a writer for a time and kills it. It returns what the writer said.
func killedWriter(t *testing.T, endpoint string, after time.Duration) []byte {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), writer+"="+endpoint)
	var told bytes.Buffer
	cmd.Stdout = &told
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-time.After(after):
	case <-t.Context().Done():
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	return told.Bytes()
}
