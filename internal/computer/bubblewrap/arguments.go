package bubblewrap

import (
	"fmt"
	"strconv"

	"lyceum/internal/computer/cell"
)

// arguments says to bwrap what the sandbox looks like.
func (w *launch) arguments() ([]string, error) {
	user := strconv.Itoa(cell.User)
	args := []string{
		"--unshare-all", "--unshare-user", "--disable-userns", "--uid", user, "--gid", user, "--hostname", cell.Hostname,
		"--as-pid-1", "--cap-drop", "ALL", "--clearenv", "--chdir", "/",
	}
	if w.Boot.Spec.Network.Open {
		args = append(args, "--share-net")
	}
	for _, p := range w.Root() {
		switch p.Kind {
		case cell.Show:
			args = append(args, "--ro-bind", p.From, p.Path)
		case cell.Home:
			bind := "--bind"
			if p.Fixed {
				bind = "--ro-bind"
			}
			args = append(args, bind, p.From, p.Path)
		case cell.Link:
			args = append(args, "--symlink", p.From, p.Path)
		case cell.Text:
			n, err := w.text(p.From)
			if err != nil {
				return nil, fmt.Errorf("write %s: %w", p.Path, err)
			}
			args = append(args, "--perms", "0444", "--ro-bind-data", strconv.Itoa(n), p.Path)
		case cell.Dir:
			args = append(args, "--dir", p.Path)
		case cell.Memory:
			args = append(args, "--size", strconv.FormatInt(p.Size, 10), "--perms", "1777", "--tmpfs", p.Path)
		case cell.Proc:
			args = append(args, "--proc", p.Path, "--ro-bind", p.Path+"/sys", p.Path+"/sys")
		case cell.Mask:
			args = append(args, "--ro-bind", "/dev/null", p.Path)
		case cell.Cover:
			args = append(args, "--size", "4096", "--perms", "0555", "--tmpfs", p.Path, "--remount-ro", p.Path)
		case cell.Devices:
			args = append(args, "--dev", p.Path)
		case cell.Close:
			args = append(args, "--remount-ro", p.Path)
		default:
			return nil, fmt.Errorf("bubblewrap knows no part %q of a root", p.Kind)
		}
	}
	return args, nil
}
