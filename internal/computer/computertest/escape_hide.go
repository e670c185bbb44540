package computertest

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Programs that hold what is theirs where nobody looks. As with the other hogs, args[0] is
// how much they try for, in MiB.

// piece is how much is hidden at a time: less than a limit, so that nobody sees the limit
// passed before it is hidden.
const piece = 8

// hideIn makes files without a name, writes to each, and has each hidden. hide takes the
// descriptor and returns whether it worked. What is hidden is told and kept.
func hideIn(args []string, create func() (int, error), hide func(fd int) error) {
	total := 0
	for total < number(args[0]) {
		fd, err := create()
		if err != nil {
			fmt.Println(err)
			break
		}
		f := os.NewFile(uintptr(fd), "piece")
		n := write(f, min(piece, number(args[0])-total))
		err = hide(fd)
		f.Close()
		if err != nil || n == 0 {
			fmt.Println("hide:", err)
			break
		}
		total += n
	}
	fmt.Println("holds:", total)
	keep(args)
}

// deletedFile is a file of the folder that has no name any more.
func deletedFile() (int, error) {
	fd, err := unix.Open("piece", unix.O_CREAT|unix.O_RDWR|unix.O_EXCL|unix.O_CLOEXEC, 0o600)
	if err == nil {
		err = unix.Unlink("piece")
	}
	return fd, err
}

func memoryPiece() (int, error) { return unix.MemfdCreate("piece", unix.MFD_CLOEXEC) }

// pin maps one page of a file and never touches it. The file stays as long as this process.
func pin(fd int) error {
	_, err := unix.Mmap(fd, 0, 4096, unix.PROT_READ, unix.MAP_SHARED)
	return err
}

func mappedFiles(args []string) { hideIn(args, deletedFile, pin) }

func mappedMemory(args []string) { hideIn(args, memoryPiece, pin) }

// sendAway has a descriptor wait in a socket, where nobody has it open.
func sendAway() func(fd int) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	return func(fd int) error {
		if err != nil {
			return err
		}
		return unix.Sendmsg(pair[0], []byte{1}, unix.UnixRights(fd), nil, 0)
	}
}

func sentFiles(args []string) { hideIn(args, deletedFile, sendAway()) }

func sentMemory(args []string) { hideIn(args, memoryPiece, sendAway()) }

// deepFiles writes below so many folders that no path leads there.
func deepFiles(args []string) {
	name := strings.Repeat("d", 200)
	at, err := unix.Open(".", unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	for range 60 {
		if err == nil {
			_ = unix.Mkdirat(at, name, 0o700)
			at, err = unix.Openat(at, name, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		}
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	total := 0
	for i := 0; total < number(args[0]); i++ {
		fd, err := unix.Openat(at, strconv.Itoa(i), unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
		if err != nil {
			fmt.Println(err)
			break
		}
		f := os.NewFile(uintptr(fd), "deep")
		n := write(f, piece)
		f.Close()
		if total += n; n == 0 {
			break
		}
	}
	fmt.Println("holds:", total)
	keep(args)
}

// hiddenFiles closes this process's folder in /proc to whoever looks.
func hiddenFiles(args []string) {
	fmt.Println("hide:", unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0))
	deletedFiles(args)
}

// unreadable does the same by running a program that may be run and not read.
func unreadable(args []string) {
	if len(args) > 0 && args[0] == "again" {
		deletedFiles(args[1:])
		return
	}
	if err := copyFile("/proc/self/exe", "program"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(os.Chmod("program", 0o111))
	passOn("./program", append([]string{AttemptRole, "unreadable", "again"}, args...)...)
}

// passOn runs a program in the place of this one.
func passOn(program string, args ...string) {
	dir, _ := os.Getwd()
	fmt.Println(unix.Exec(program, append([]string{program}, args...), append(os.Environ(), folder+"="+dir)))
}

// headless lets the first thread end, and goes on in another: of the process, nothing is
// shown from then on but in the folders of its threads.
func headless(args []string) {
	behead(func() { deletedFiles(args); fmt.Println(tried, "headless"); os.Exit(0) })
}

func headlessMemory(args []string) {
	behead(func() {
		b, err := unix.Mmap(-1, 0, number(args[0])*mib, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		n := 0
		for i := 0; i < len(b); i += mib {
			n += copy(b[i:], block)
		}
		fmt.Println(err)
		fmt.Println("holds:", n/mib)
		keep(args)
		fmt.Println(tried, "headless-memory")
		os.Exit(0)
	})
}

// behead runs something in another thread than the first, which ends. Only main's first
// goroutine can be sure to have that one, and only if it was locked to it from the start.
func behead(do func()) {
	for range 1000 {
		done := make(chan bool)
		go func() {
			runtime.LockOSThread()
			if unix.Gettid() == os.Getpid() {
				done <- true
				// The runtime ends no thread that it did not make; so the kernel is asked, in a
				// way that the runtime knows of: it waits for a thread that it believes to run.
				_, _, _ = unix.Syscall(unix.SYS_EXIT, 0, 0, 0)
			}
			done <- false
			time.Sleep(time.Millisecond)
			runtime.UnlockOSThread()
		}()
		if <-done {
			do()
			return
		}
	}
	fmt.Println("the first thread does not come up")
}

// ownFiles gives a thread files of its own, and closes those that others see.
func ownFiles(args []string) {
	runtime.LockOSThread()
	// The runtime's poller must be there before, or only some threads would have it.
	if r, w, err := os.Pipe(); err == nil {
		defer r.Close()
		defer w.Close()
	}
	done := make(chan bool)
	own := func() {
		// There is nothing above to close; it is the flag that counts.
		const unshare = 2
		fmt.Println("hide:", unix.CloseRange(1<<20, 1<<21, unshare))
		total := 0
		for total < number(args[0]) {
			// Not by package os, whose poller has other files in another thread.
			fd, err := deletedFile()
			for i := 0; i < piece && err == nil; i++ {
				if _, err = unix.Write(fd, block); err == nil {
					total++
				}
			}
			if err != nil {
				fmt.Println(err)
				break
			}
		}
		fmt.Println("holds:", total)
		keep(args)
	}
	go func() {
		runtime.LockOSThread()
		// Of two threads, one is not the first, whose files are shown for the process.
		mine := unix.Gettid() != os.Getpid()
		if mine {
			own()
		}
		done <- mine
	}()
	if !<-done {
		own()
	}
}

// programFiles runs programs that are deleted, and much larger than what is run of them.
func programFiles(args []string) {
	if len(args) > 0 && args[0] == "wait" {
		keep(args)
		return
	}
	total := 0
	for total < number(args[0]) {
		if err := copyFile("/proc/self/exe", "program"); err != nil {
			fmt.Println(err)
			break
		}
		info, err := os.Stat("program")
		if err != nil {
			fmt.Println(err)
			break
		}
		cmd := exec.Command("./program", AttemptRole, "program-files", "wait", args[len(args)-1])
		// It is in the folder already, and one that begins late must not make it again.
		cmd.Env = append(os.Environ(), folder+"=")
		if err := cmd.Start(); err != nil {
			fmt.Println(err)
			break
		}
		_ = os.Remove("program")
		total += int(info.Size()) / mib
	}
	fmt.Println("holds:", total)
	keep(args)
}

// deletedFolders holds folders that once had many names in them and have none, not even
// their own.
func deletedFolders(args []string) { emptied(args, nil) }

// leftFolders has processes stand in such folders for as long as it runs, and nobody have them
// open.
func leftFolders(args []string) {
	emptied(args, func(dir string) error {
		cmd := exec.Command("/proc/self/exe", AttemptRole, "sleep", args[len(args)-1])
		cmd.Dir = dir
		for _, v := range os.Environ() {
			if !strings.HasPrefix(v, folder+"=") {
				cmd.Env = append(cmd.Env, v)
			}
		}
		return cmd.Start()
	})
}

// emptied makes such folders. They are kept open, unless use, which is called with each
// while it has its name, keeps them in another way.
func emptied(args []string, use func(dir string) error) {
	total := int64(0)
	for i := 0; total < int64(number(args[0]))*mib; i++ {
		dir := fmt.Sprintf("folder-%d", i)
		if err := os.Mkdir(dir, 0o700); err != nil {
			fmt.Println(err)
			break
		}
		fd, err := unix.Open(dir, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			fmt.Println(err)
			break
		}
		name := strings.Repeat("n", 240)
		// Links to one file take no room but that of the folder.
		_ = os.WriteFile("linked", nil, 0o600)
		for n := range 2000 {
			_ = unix.Linkat(unix.AT_FDCWD, "linked", fd, name+strconv.Itoa(n), 0)
		}
		for n := range 2000 {
			_ = unix.Unlinkat(fd, name+strconv.Itoa(n), 0)
		}
		if use != nil {
			if err := use(dir); err != nil {
				fmt.Println(err)
				break
			}
		}
		_ = unix.Rmdir(dir)
		var s unix.Stat_t
		if err := unix.Fstat(fd, &s); err != nil || s.Blocks*512 < 64<<10 {
			fmt.Println("a folder that was large is small again:", s.Blocks, err)
			break
		}
		total += s.Blocks * 512
		if use != nil {
			unix.Close(fd)
		}
	}
	fmt.Println("holds:", total/mib)
	keep(args)
}

// sharedAnonymous fills shared memory and unmaps all of it but a page.
func sharedAnonymous(args []string) {
	total := 0
	for total < number(args[0]) {
		b, _, e := unix.Syscall6(unix.SYS_MMAP, 0, piece*mib, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANONYMOUS, ^uintptr(0), 0)
		if e != 0 {
			fmt.Println(e)
			break
		}
		memory := unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&b))), piece*mib)
		for i := 0; i < len(memory); i += mib {
			copy(memory[i:], block)
		}
		if _, _, e := unix.Syscall(unix.SYS_MUNMAP, b+4096, piece*mib-4096, 0); e != 0 {
			fmt.Println(e)
			break
		}
		// By a name of its own it is not known for what it is.
		const nameIt, anonymous = 0x53564d41, 0
		name := []byte("mine\x00")
		_, _, _ = unix.Syscall6(unix.SYS_PRCTL, nameIt, anonymous, b, 4096, uintptr(unsafe.Pointer(&name[0])), 0)
		total += piece
	}
	fmt.Println("holds:", total)
	keep(args)
}

// pageTables reads one page of each of many ranges that nobody may write, for which the
// kernel makes tables and takes no memory otherwise.
func pageTables(args []string) {
	const span = 2 << 20 // what one page of the tables stands for
	size := uintptr(number(args[0])) * 256 * span
	b, _, e := unix.Syscall6(unix.SYS_MMAP, 0, size, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|unix.MAP_NORESERVE, ^uintptr(0), 0)
	if e != 0 {
		fmt.Println(e)
		return
	}
	// Or the kernel takes one large page instead of a table.
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, b, size, unix.MADV_NOHUGEPAGE)
	memory := unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&b))), size)
	sum := byte(0)
	for at := uintptr(0); at < size; at += span {
		sum += memory[at]
	}
	fmt.Println("holds:", number(args[0])+int(sum))
	keep(args)
}

// semaphores makes sets of them, each of which takes 64 bytes.
func semaphores(args []string) {
	var made []uintptr
	total := 0
	for total < number(args[0]) {
		id, _, e := unix.Syscall(unix.SYS_SEMGET, unix.IPC_PRIVATE, 32000, unix.IPC_CREAT|0o600)
		if e != 0 {
			fmt.Println(e)
			break
		}
		made = append(made, id)
		total = len(made) * 32000 * 64 / mib
	}
	fmt.Println("holds:", total)
	keep(args)
	for _, id := range made {
		_, _, _ = unix.Syscall(unix.SYS_SEMCTL, id, 0, unix.IPC_RMID)
	}
}

// messages fills queues that nobody reads.
func messages(args []string) {
	var made []uintptr
	total := 0
	text := make([]byte, 8+8192)
	text[0] = 1
	for total < number(args[0])*mib {
		id, _, e := unix.Syscall(unix.SYS_MSGGET, unix.IPC_PRIVATE, unix.IPC_CREAT|0o600, 0)
		if e != 0 {
			fmt.Println(e)
			break
		}
		made = append(made, id)
		for {
			if _, _, e := unix.Syscall6(unix.SYS_MSGSND, id, uintptr(unsafe.Pointer(&text[0])), uintptr(len(text)-8), unix.IPC_NOWAIT, 0, 0); e != 0 {
				break
			}
			total += len(text) - 8
		}
	}
	fmt.Println("holds:", total/mib)
	keep(args)
	for _, id := range made {
		_, _, _ = unix.Syscall(unix.SYS_MSGCTL, id, unix.IPC_RMID, 0)
	}
}

// manySockets fills sockets that nobody reads.
func manySockets(args []string) {
	total := 0
	for total < number(args[0])*mib {
		pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			fmt.Println(err)
			break
		}
		for {
			n, err := unix.Write(pair[0], block[:32<<10])
			if err != nil {
				break
			}
			total += n
		}
	}
	fmt.Println("holds:", total/mib)
	keep(args)
}

// secretMemory fills memory that even the kernel does not see.
func secretMemory(args []string) {
	total := 0
	for total < number(args[0]) {
		fd, _, e := unix.Syscall(unix.SYS_MEMFD_SECRET, unix.O_CLOEXEC, 0, 0)
		if e != 0 {
			fmt.Println(e)
			break
		}
		_ = unix.Ftruncate(int(fd), 4*mib)
		b, err := unix.Mmap(int(fd), 0, 4*mib, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err != nil {
			fmt.Println(err)
			break
		}
		for i := 0; i < len(b); i += mib {
			copy(b[i:], block)
		}
		_ = unix.Munmap(b)
		total += 4
	}
	fmt.Println("holds:", total)
	keep(args)
}
