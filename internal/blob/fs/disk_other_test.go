//go:build !linux

package fs

import (
	"testing"

	"golang.org/x/sys/unix"
)

var errNoSpace error = unix.ENOSPC

func smallDisk(t *testing.T) string {
	t.Skip("a small disk is made with tmpfs: run the tests on Linux as root")
	return ""
}
