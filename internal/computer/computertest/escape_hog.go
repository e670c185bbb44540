package computertest

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Programs that take more than is theirs. args[0] is how much they try for, in MiB
// unless it says otherwise; they tell what they have and keep it for a while.

const mib = 1 << 20

var block = bytes.Repeat([]byte("lyceum"), mib/6+1)[:mib]

// fill writes files into the folders after args[0].
func fill(args []string) {
	var held []*os.File
	total := 0
	for _, dir := range args[1:] {
		f, err := os.OpenFile(filepath.Join(dir, ".lyceum-fill"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
		if err != nil {
			fmt.Println(dir, err)
			continue
		}
		held = append(held, f)
		defer os.Remove(f.Name())
		n := write(f, number(args[0])-total)
		fmt.Println(dir, n)
		total += n
	}
	fmt.Println("holds:", total)
	runtime.KeepAlive(held)
}

// write writes up to n MiB and returns how many went in.
func write(f *os.File, n int) int {
	for i := range n {
		if _, err := f.Write(block); err != nil {
			fmt.Println(err)
			return i
		}
	}
	return n
}

// inodes makes empty files in args[1].
func inodes(args []string) {
	n := 0
	for ; n < number(args[0]); n++ {
		fd, err := unix.Open(args[1]+"/"+strconv.Itoa(n), unix.O_CREAT|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
		if err != nil {
			fmt.Println(err)
			break
		}
		unix.Close(fd)
	}
	fmt.Println("holds:", n)
	keep(args)
}

// keep waits as long as the last argument says, and then wins: whoever should have
// ended this has not.
func keep(args []string) {
	d, err := time.ParseDuration(args[len(args)-1])
	if err == nil {
		time.Sleep(d)
		won("hold on to it")
	}
}

func forks(args []string) {
	n := 0
	for ; n < number(args[0]); n++ {
		if _, err := start("sleep", "3s"); err != nil {
			fmt.Println(err)
			break
		}
	}
	fmt.Println("holds:", n)
}

// memoryFile writes to a file that is nowhere but in memory, and maps none of it.
func memoryFile(args []string) {
	fd, err := unix.MemfdCreate("hog", unix.MFD_CLOEXEC)
	if err != nil {
		fmt.Println(err)
		return
	}
	f := os.NewFile(uintptr(fd), "hog")
	fmt.Println("holds:", write(f, number(args[0])))
	keep(args)
	runtime.KeepAlive(f)
}

// sharedMemory fills segments of which no process has any part.
func sharedMemory(args []string) {
	total := 0
	for total < number(args[0]) {
		id, err := unix.SysvShmGet(unix.IPC_PRIVATE, 16*mib, unix.IPC_CREAT|0o600)
		if err != nil {
			fmt.Println(err)
			break
		}
		b, err := unix.SysvShmAttach(id, 0, 0)
		if err != nil {
			fmt.Println(err)
			break
		}
		for range 16 {
			b = b[copy(b, block):]
			total++
		}
		detach()
	}
	fmt.Println("holds:", total)
	keep(args)
	segments, _ := os.ReadFile("/proc/sysvipc/shm")
	for _, line := range strings.Split(string(segments), "\n") {
		if f := strings.Fields(line); len(f) > 1 {
			_, _ = unix.SysvShmCtl(number(f[1]), unix.IPC_RMID, nil)
		}
	}
}

// detach lets go of every segment that is mapped.
func detach() {
	maps, _ := os.ReadFile("/proc/self/maps")
	for line := range strings.Lines(string(maps)) {
		if from, _, ok := strings.Cut(line, "-"); ok && strings.Contains(line, "SYSV") {
			at, _ := strconv.ParseUint(from, 16, 64)
			_, _, _ = unix.Syscall(unix.SYS_SHMDT, uintptr(at), 0, 0)
		}
	}
}

// deletedFiles holds files that have no name any more.
func deletedFiles(args []string) {
	var held []*os.File
	total := 0
	for total < number(args[0]) {
		f, err := os.Create("deleted")
		if err != nil {
			fmt.Println(err)
			break
		}
		_ = os.Remove("deleted")
		held = append(held, f)
		n := write(f, min(4, number(args[0])-total))
		total += n
		if n == 0 {
			break
		}
	}
	fmt.Println("holds:", total)
	keep(args)
	runtime.KeepAlive(held)
}

// closedFolder writes into a folder that nobody may look into.
func closedFolder(args []string) {
	_ = os.Mkdir("closed", 0o700)
	dir, err := os.OpenRoot("closed")
	if err != nil {
		fmt.Println(err)
		return
	}
	var held []*os.File
	for i := range 64 {
		if f, err := dir.Create(strconv.Itoa(i)); err == nil {
			held = append(held, f)
		}
	}
	_ = os.Chmod("closed", 0)
	total := 0
	for _, f := range held {
		total += write(f, min(4, number(args[0])-total))
	}
	fmt.Println("holds:", total)
	keep(args)
	_ = os.Chmod("closed", 0o700)
	_ = os.RemoveAll("closed")
}

// sparse makes files that take no room here, and much where they are copied to.
func sparse(args []string) {
	for i := range 8 {
		f, err := os.Create(fmt.Sprintf("sparse-%d", i))
		if err == nil {
			err = f.Truncate(int64(number(args[0])*mib/8 + i))
			f.Close()
		}
		fmt.Println(err)
	}
	keep(args)
}

// reserve takes 16 MiB in each of so many files.
func reserve(args []string) {
	for i := range number(args[0]) {
		f, err := os.Create(fmt.Sprintf("burst-%d", i))
		if err == nil {
			err = unix.Fallocate(int(f.Fd()), 0, 0, 16*mib)
			f.Close()
		}
		if err != nil {
			fmt.Println(err)
			return
		}
	}
}

func output(args []string) {
	for range number(args[0]) {
		_, _ = os.Stdout.Write(append(block[:mib-1:mib-1], '\n'))
	}
}

// Programs that do not end when they should.

// lowerMark becomes what the helper does not know as its own, and stays. args[0] is
// how far below its own the new mark is: 1 is that of the next command.
func lowerMark(args []string) {
	var l unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_RTTIME, &l); err != nil {
		fmt.Println(err)
		return
	}
	n, _ := strconv.ParseUint(args[0], 10, 64)
	l = unix.Rlimit{Cur: l.Max - n, Max: l.Max - n}
	fmt.Println("lowered:", unix.Prlimit(0, unix.RLIMIT_RTTIME, &l, nil))
	for range 100 {
		time.Sleep(100 * time.Millisecond)
		_ = os.WriteFile("alive", []byte(time.Now().String()), 0o600)
	}
	won("stay")
}

// leave leaves a process behind that has cut every tie. args[0] is how far it lowers
// its mark, args[1] the file it keeps writing to.
func leave(args []string) {
	cmd, err := start(append([]string{"daemon-child", "first"}, args...)...)
	if err == nil {
		err = cmd.Wait()
	}
	fmt.Println("left:", err)
	// Until it is there, there is nothing to find.
	for range 200 {
		if _, err := os.Stat(args[1]); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func leftBehind(args []string) {
	if args[0] == "first" {
		_, _ = start(append([]string{"daemon-child", "second"}, args[1:]...)...)
		return
	}
	for _, s := range []syscall.Signal{syscall.SIGHUP, syscall.SIGTERM, syscall.SIGINT, syscall.SIGCHLD} {
		signal.Ignore(s)
	}
	for fd := range 3 {
		unix.Close(fd)
	}
	if n, _ := strconv.ParseUint(args[1], 10, 64); n > 0 {
		var l unix.Rlimit
		_ = unix.Getrlimit(unix.RLIMIT_RTTIME, &l)
		l = unix.Rlimit{Cur: l.Max - n, Max: l.Max - n}
		_ = unix.Prlimit(0, unix.RLIMIT_RTTIME, &l, nil)
	}
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0)
	for range 500 {
		_ = os.WriteFile(args[2], []byte(strconv.FormatInt(time.Now().UnixNano(), 10)), 0o600)
		time.Sleep(20 * time.Millisecond)
	}
}
