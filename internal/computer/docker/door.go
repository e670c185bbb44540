package docker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const socketName = "socket"

// door is where a container gets what it cannot inherit: a folder that it sees, with
// a socket over which the helper fetches its listener, before it runs anything.
// After that the folder is empty and the socket is gone.
type door struct {
	dir, passwd, groups string
	// nothing is a file that nobody may read, and empty a folder: what covers others.
	nothing, empty string
	listener       *net.UnixListener
}

// openDoor makes the folder in dir, which only Lyceum can walk into; so its own
// rights matter in the container alone.
func openDoor(dir string, user, group int) (d *door, err error) {
	dir, err = filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	d = &door{dir: filepath.Join(dir, "door"), passwd: filepath.Join(dir, "passwd"), groups: filepath.Join(dir, "group"), nothing: filepath.Join(dir, "nothing"), empty: filepath.Join(dir, "empty")}
	if err := os.RemoveAll(d.dir); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			d.close()
		}
	}()
	passwd, groups := accounts(user, group)
	if err := errors.Join(os.RemoveAll(d.empty), os.Mkdir(d.empty, 0o755), os.Chmod(d.empty, 0o555), write(d.nothing, ""), os.Chmod(d.nothing, 0)); err != nil {
		return d, err
	}
	if err := errors.Join(write(d.passwd, passwd), write(d.groups, groups), os.Mkdir(d.dir, 0o755), os.Chmod(d.dir, 0o755)); err != nil {
		return d, err
	}
	// The path may be longer than a socket's address can be.
	f, err := os.Open(d.dir)
	if err != nil {
		return d, err
	}
	defer f.Close()
	path := fmt.Sprintf("/proc/self/fd/%d/%s", f.Fd(), socketName)
	if d.listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: path}); err != nil {
		return d, err
	}
	d.listener.SetUnlinkOnClose(false) // that path will be another's
	return d, os.Chmod(filepath.Join(d.dir, socketName), 0o666)
}

func write(path, text string) error {
	_ = os.Remove(path)
	return errors.Join(os.WriteFile(path, []byte(text), 0o644), os.Chmod(path, 0o644))
}

// close takes everything away. What the container has of it, it keeps.
func (d *door) close() {
	if d.listener != nil {
		_ = d.listener.Close()
	}
	for _, path := range []string{d.dir, d.passwd, d.groups, d.nothing, d.empty} {
		_ = os.RemoveAll(path)
	}
}

// hand gives the listener to the process of that number, and to no other. If the
// number is 0, or those who come are in no namespace of ours, it cannot be compared;
// then it goes to the first.
func (d *door) hand(ctx context.Context, listener *os.File, pid int) error {
	defer context.AfterFunc(ctx, func() { _ = d.listener.SetDeadline(time.Unix(1, 0)) })()
	for {
		c, err := d.listener.AcceptUnix()
		if err != nil {
			return errors.Join(err, ctx.Err())
		}
		who, err := peer(c)
		if err == nil && (who == pid || who == 0 || pid == 0) {
			_, _, err = c.WriteMsgUnix([]byte{1}, syscall.UnixRights(int(listener.Fd())), nil)
			return errors.Join(err, c.Close())
		}
		_ = c.Close()
	}
}

// peer is the number of the process at the other end.
func peer(c *net.UnixConn) (pid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var cred *unix.Ucred
	if e := raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); e != nil {
		return 0, e
	}
	if err != nil {
		return 0, err
	}
	return int(cred.Pid), nil
}
