//go:build !amd64

package computertest

// Only amd64 has other ways to call the kernel that an ordinary program can use.
func int80() {}
func x32()   {}
