// Package browsertest drives the page that lyceum serve serves, in Chromium.
//
// A Server is a real process on a home of its own; a Browser is one Chromium for a
// whole program, and each Tab of it has its own cookies and cache, so that none sees what
// another did. A Tab keeps all that the page must never do (errors on the console,
// requests to other hosts, dialogs, violations of its policy), and Sound fails the test
// over it.
package browsertest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

// Build builds lyceum into a folder and returns the program. root is the folder of go.mod.
func Build(root, dir string) (string, error) {
	bin := filepath.Join(dir, "lyceum")
	cmd := exec.Command("go", "build", "-buildvcs=false", "-o", bin, "./cmd/lyceum")
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build lyceum: %w\n%s", err, out)
	}
	return bin, nil
}

// Home is a folder with quests, and the program that works on it.
type Home struct {
	Bin, Dir string
	// Passphrase is of its key, if it has one.
	Passphrase string
}

func (h Home) command(args ...string) *exec.Cmd {
	cmd := exec.Command(h.Bin, args...)
	cmd.Env = append(os.Environ(), "LYCEUM_HOME="+h.Dir)
	if h.Passphrase != "" {
		cmd.Env = append(cmd.Env, "LYCEUM_KEY_PASSPHRASE="+h.Passphrase)
	}
	return cmd
}

// Lyceum runs the program to its end, and returns what it printed.
func (h Home) Lyceum(args ...string) (string, error) {
	out, err := h.command(args...).CombinedOutput()
	if err != nil {
		err = fmt.Errorf("lyceum %s: %w\n%s", strings.Join(args, " "), err, out[max(0, len(out)-2000):])
	}
	return string(out), err
}

// Server is lyceum serve as a process.
type Server struct {
	// Link signs browsers in, as often as is wanted: it has the home's own token, where the
	// link that is printed opens once. Base is the same without.
	Link, Base string
	cmd        *exec.Cmd
	said       *bytes.Buffer
}

// Serve starts a server. listen is an address; with port 0 it finds one that is free.
func (h Home) Serve(listen string) (*Server, error) {
	s := &Server{cmd: h.command("serve", "--listen", listen), said: new(bytes.Buffer)}
	s.cmd.Stderr = s.said
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, after, ok := strings.Cut(lines.Text(), "http"); ok {
			s.Base, _, _ = strings.Cut("http"+strings.Fields(after)[0], "?")
			token, err := os.ReadFile(filepath.Join(h.Dir, "token"))
			s.Link = s.Base + "?token=" + strings.TrimSpace(string(token))
			return s, err
		}
	}
	err = s.cmd.Wait()
	return nil, fmt.Errorf("lyceum serve printed no link: %w\n%s", err, s.said)
}

// Address is where it listens, so that another can take its place.
func (s *Server) Address() string {
	return strings.TrimSuffix(strings.TrimPrefix(s.Base, "http://"), "/")
}

// Stop has the server end in order.
func (s *Server) Stop() error {
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		return ignoreEnded(err)
	}
	_ = s.GoOn() // a test that failed while it was held would wait for ever
	if err := s.cmd.Wait(); err != nil {
		return fmt.Errorf("lyceum serve: %w\n%s", err, s.said)
	}
	return nil
}

// Kill ends it as kill -9 does: it comes to nothing more.
func (s *Server) Kill() error {
	if err := s.cmd.Process.Kill(); err != nil {
		return err
	}
	_ = s.cmd.Wait() // it says that it was killed
	return nil
}

func ignoreEnded(err error) error {
	if errors.Is(err, os.ErrProcessDone) {
		return nil
	}
	return err
}

// Hold stops the process where it stands, without its noticing; GoOn lets it go on.
func (s *Server) Hold() error { return s.cmd.Process.Signal(syscall.SIGSTOP) }

// GoOn ends Hold.
func (s *Server) GoOn() error { return s.cmd.Process.Signal(syscall.SIGCONT) }
