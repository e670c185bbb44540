package computertest

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"lyceum/internal/need"

	"github.com/moby/moby/client"
)

// small programs for the full image, as far as the machine has them.
const fullPrograms = `sh bash busybox true false cat ls cp mv rm mkdir rmdir echo head tail wc sort uniq tr cut seq sleep date env id
	stat touch chmod chown ln readlink dd yes tee printf test kill ps grep sed awk find xargs tar gzip timeout nproc uname
	whoami basename dirname du df mktemp sync truncate mkfifo mknod od base64 sha256sum md5sum tty stty setsid prlimit
	nohup pwd getent unshare nsenter mount umount chroot su sudo curl strace ldd python3 git`

// fullFolders are what some of them need besides libraries.
var fullFolders = []string{"/usr/lib/git-core", "/usr/share/git-core"}

// furnish imports the images that Dockerfiles for tests begin with. They are made of
// the machine's own programs, for there is no registry.
func (d *daemon) furnish() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	c, err := client.New(client.WithHost(d.host()))
	if err != nil {
		return err
	}
	defer c.Close()
	return errors.Join(importImage(ctx, c, smallImage, packSmall), importImage(ctx, c, fullImage, packFull))
}

func importImage(ctx context.Context, c *client.Client, name string, pack func(*packer) error) error {
	r, w := io.Pipe()
	go func() {
		p := &packer{w: tar.NewWriter(w), seen: map[string]bool{}}
		err := p.folders("proc", "sys", "dev", "etc", "run", "root", "home/agent")
		if err == nil {
			err = p.w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777})
		}
		if err == nil {
			err = pack(p)
		}
		w.CloseWithError(errors.Join(err, p.w.Close()))
	}()
	body, err := c.ImageImport(ctx, client.ImageImportSource{Source: r, SourceName: "-"}, name, client.ImageImportOptions{})
	r.CloseWithError(err)
	if err != nil {
		return fmt.Errorf("import the image %s: %w", name, err)
	}
	defer body.Close()
	said, err := io.ReadAll(body)
	if err == nil && !strings.Contains(string(said), "sha256:") {
		err = fmt.Errorf("import the image %s: %s", name, said)
	}
	return err
}

// packer writes files of this machine into a tar, each once.
type packer struct {
	w    *tar.Writer
	seen map[string]bool
}

// folders writes folders, with those above them.
func (p *packer) folders(names ...string) error {
	for _, name := range names {
		if p.seen["/"+name] || name == "." || name == "" {
			continue
		}
		if err := p.folders(filepath.Dir(name)); err != nil {
			return err
		}
		p.seen["/"+name] = true
		if err := p.w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: name + "/", Mode: 0o755}); err != nil {
			return err
		}
	}
	return nil
}

// packSmall is busybox under its names.
func packSmall(p *packer) error {
	path, missing := need.Find("busybox")
	if missing != "" {
		return errors.New(missing)
	}
	names, err := exec.Command(path, "--list").Output()
	if err != nil {
		return err
	}
	if err := errors.Join(p.folders("bin"), p.file(path, "bin/busybox")); err != nil {
		return err
	}
	for _, name := range strings.Fields(string(names)) {
		if name == "busybox" {
			continue
		}
		if err := p.w.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: "bin/" + name, Linkname: "busybox"}); err != nil {
			return err
		}
	}
	return nil
}

// packFull is a part of this machine.
func packFull(p *packer) error {
	for _, top := range []string{"/bin", "/sbin", "/lib", "/lib64"} {
		if err := p.add(top, false); err != nil {
			return err
		}
	}
	var programs []string
	for _, name := range strings.Fields(fullPrograms) {
		for _, dir := range []string{"/usr/bin/", "/bin/", "/usr/sbin/", "/sbin/"} {
			// A person's own, such as pyenv's, would not do: they lie all over the place.
			if path, err := exec.LookPath(dir + name); err == nil {
				programs = append(programs, path)
				break
			}
		}
	}
	folders := fullFolders
	// Modules of Python are libraries too, which need others.
	out, err := exec.Command("/usr/bin/python3", "-c", `import sysconfig; print(sysconfig.get_path("stdlib"))`).Output()
	if err == nil {
		stdlib := strings.TrimSpace(string(out))
		folders = append(folders, stdlib)
		modules, _ := filepath.Glob(filepath.Join(stdlib, "lib-dynload", "*.so"))
		programs = append(programs, modules...)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	for _, path := range append(libraries(append(programs, self)), programs...) {
		if err := p.add(path, true); err != nil {
			return err
		}
	}
	for _, dir := range folders {
		if err := p.tree(dir); err != nil {
			return err
		}
	}
	return nil
}

// libraries are those that programs are linked with.
func libraries(programs []string) (list []string) {
	out, _ := exec.Command("ldd", programs...).CombinedOutput() // it fails if one is linked with none
	for _, word := range strings.Fields(string(out)) {
		if filepath.IsAbs(word) && !strings.HasSuffix(word, ":") {
			list = append(list, word)
		}
	}
	return list
}

// tree adds a folder, without what is large and nobody runs.
func (p *packer) tree(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "test" || d.Name() == "idlelib" || strings.HasPrefix(d.Name(), "config-")):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		return p.add(path, true)
	})
}

// add writes a file, or a link, and then what it leads to.
func (p *packer) add(path string, follow bool) error {
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return nil
	}
	path = filepath.Join(dir, filepath.Base(path))
	info, err := os.Lstat(path)
	if err != nil || p.seen[path] {
		return nil
	}
	if err := p.folders(strings.TrimPrefix(dir, "/")); err != nil {
		return err
	}
	switch info.Mode().Type() {
	case 0:
		p.seen[path] = true
		return p.file(path, path[1:])
	case fs.ModeSymlink:
		p.seen[path] = true
		target, err := os.Readlink(path)
		if err == nil {
			err = p.w.WriteHeader(&tar.Header{Typeflag: tar.TypeSymlink, Name: path[1:], Linkname: target})
		}
		if err != nil || !follow {
			return err
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(dir, target)
		}
		return p.add(target, true)
	}
	return nil
}

func (p *packer) file(path, name string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	mode := int64(info.Mode().Perm())
	if info.Mode()&fs.ModeSetuid != 0 {
		mode |= 0o4000 // tests see that it is of no use
	}
	if err := p.w.WriteHeader(&tar.Header{Name: name, Mode: mode, Size: info.Size()}); err != nil {
		return err
	}
	_, err = io.Copy(p.w, f)
	return err
}
