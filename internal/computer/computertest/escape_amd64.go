package computertest

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// int80 makes a system call the old way, by which numbers mean other calls: 20 is
// getpid there.
func int80() {
	page, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		fmt.Println(err)
		return
	}
	result := uint64(uintptr(unsafe.Pointer(&page[2048])))
	code := []byte{0x53, 0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0x48, 0xb9} // push rbx; mov eax, 20; int 0x80; mov rcx, …
	code = binary.LittleEndian.AppendUint64(code, result)
	code = append(code, 0x48, 0x89, 0x01, 0x5b, 0xc3) // mov [rcx], rax; pop rbx; ret
	copy(page, code)
	if err := unix.Mprotect(page, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC); err != nil {
		fmt.Println(err)
		return
	}
	// A function's value is a pointer to a pointer to its code.
	entry := unsafe.Pointer(&page[0])
	pointer := unsafe.Pointer(&entry)
	(*(*func())(unsafe.Pointer(&pointer)))()
	if got := int64(binary.LittleEndian.Uint64(page[2048:])); got > 0 {
		won("call the kernel by int 0x80: %d", got)
	} else {
		fmt.Println("int 0x80:", got)
	}
}

// x32 makes system calls by the numbers of another way to call this kernel.
func x32() {
	const bit = 0x40000000
	for _, nr := range []uintptr{unix.SYS_GETPID, unix.SYS_UNSHARE, unix.SYS_PTRACE} {
		_, _, e := unix.RawSyscall(nr|bit, 0, 0, 0)
		if e != unix.ENOSYS && e != unix.EPERM {
			won("call %d of x32: %v", nr, e)
		}
	}
}
