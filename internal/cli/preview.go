package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"lyceum/internal/blob"
	"lyceum/internal/event"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
)

// previewPolicy lets a page that an agent made use what is in its own tree and nothing else: no
// host, no frame, no form, no worker. By its sandbox the page is of no origin, so that it has no
// cookies: those of this machine's other ports, Lyceum's own among them, would be its too.
const previewPolicy = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; " +
	"media-src 'self' data: blob:; connect-src 'none'; worker-src 'none'; frame-src 'none'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts allow-modals"

func (a *app) previewCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "preview <quest> [attempt]",
		Short: "Serve what a maker made, apart from all else, until ctrl-C",
		Long: `Serve the files of an attempt on a port of their own of this machine, without any network and
without a way to Lyceum's page, until ctrl-C. Without a number it is the last attempt that
passed, or else the last.

  lyceum preview counter 3`,
		Args: rangeArgs(1, 2, "a quest's name and, if you like, the number of an attempt"),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := a.attempt(cmd.Context(), args)
			if err != nil {
				return err
			}
			return a.preview(cmd.Context(), args[0], at)
		},
	}
	return a.questArg(cmd)
}

// attempt is the one that a quest's name and perhaps a number mean.
func (a *app) attempt(ctx context.Context, args []string) (*view.Attempt, error) {
	s, err := a.loadWith(ctx, args[0], a.read)
	if err != nil {
		return nil, err
	}
	m, err := a.making(ctx, args[0], s.Seq)
	if err != nil {
		return nil, err
	}
	return previewed(m, args)
}

// previewed is the attempt that is meant.
func previewed(m *view.Making, args []string) (*view.Attempt, error) {
	if len(args) == 2 {
		n, err := strconv.ParseInt(args[1], 10, 64)
		if err != nil || m.Attempt(n) == nil {
			return nil, usagef("quest %s has no attempt %.20q: it has %s", args[0], args[1], view.Several(int64(len(m.Attempts)), "attempt"))
		}
		return m.Attempt(n), nil
	}
	if len(m.Attempts) == 0 {
		return nil, usagef("quest %s has no attempts to look at", args[0])
	}
	last := m.Attempts[len(m.Attempts)-1]
	for _, at := range m.Attempts {
		if at.State == view.AttemptPassed {
			last = at
		}
	}
	return last, nil
}

// preview serves the tree of an attempt until ctx ends.
func (a *app) preview(ctx context.Context, quest string, at *view.Attempt) error {
	proposed, err := a.rt.EventAt(ctx, quest, at.Seq)
	if err != nil {
		return err
	}
	files := map[string]event.Ref{}
	err = blob.Files(ctx, a.rt.Blobs, proposed.Body.(*event.AttemptProposed).Tree, func(name string, ref event.Ref) error {
		files[name] = ref
		return nil
	})
	if err != nil {
		return fmt.Errorf("read attempt %d of quest %s: %w", at.Number, quest, err)
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: previewer(l.Addr().String(), files, func(ref event.Ref) (io.ReadCloser, error) { return a.rt.Blobs.Open(ctx, ref.Hash) }), ReadHeaderTimeout: 5 * time.Second}
	fmt.Fprintf(a.out, "Attempt %d of %s (%s): http://%s/\nctrl-C stops it.\n", at.Number, quest, at.State, l.Addr())
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
		return errors.Join(server.Close())
	}
}

// previewer answers for one host alone, with files of the tree alone, and asks browsers to keep
// nothing.
func previewer(host string, files map[string]event.Ref, open func(event.Ref) (io.ReadCloser, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", previewPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Access-Control-Allow-Origin", "null") // a page of no origin may load its own modules
		h.Set("Cache-Control", "no-store")
		if r.Host != host { // a name that somebody points here is not this place
			http.Error(w, "this is not served under that name", http.StatusForbidden)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			http.Error(w, "there are only files here", http.StatusMethodNotAllowed)
			return
		}
		name := strings.TrimPrefix(path.Clean(r.URL.Path), "/")
		ref, ok := files[name]
		if !ok {
			name = path.Join(name, "index.html")
			ref, ok = files[name]
		}
		if !ok {
			http.Error(w, "the attempt has no such file", http.StatusNotFound)
			return
		}
		body, err := open(ref)
		if err != nil {
			http.Error(w, "the file cannot be read", http.StatusInternalServerError)
			return
		}
		defer body.Close()
		kind := mime.TypeByExtension(path.Ext(name))
		if kind == "" {
			kind = "text/plain; charset=utf-8"
		}
		h.Set("Content-Type", kind)
		h.Set("Content-Length", strconv.FormatInt(ref.Size, 10))
		if r.Method == http.MethodGet {
			_, _ = io.Copy(w, body) // who went away is not told
		}
	})
}
