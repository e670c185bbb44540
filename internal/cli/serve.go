package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"lyceum/examples"
	"lyceum/internal/api"
	"lyceum/internal/api/client"
	"lyceum/web"

	"github.com/spf13/cobra"
)

// serveFlags are those of lyceum serve.
type serveFlags struct {
	listen, cert, key, page string
	hosts                   []string
	open, proxy             bool
	// front is the name that people type for the proxy, if it was given.
	front string
	// certificate is the server's own, as it is sent.
	certificate []byte
}

func (a *app) serveCommand() *cobra.Command {
	f := &serveFlags{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the page and the API; run quests in the background",
		Long: `Serve the page and the API on this machine, and run quests in the background. Open the
link that is printed: it carries a token, which becomes a cookie. Programs find the
token in the file token of the home; see docs/api.md.

Ctrl-C stops cleanly: what is under way comes in, and quests are paused. They go on by
themselves when the server is started again, also after it was killed.`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), f) },
	}
	cmd.Flags().StringVar(&f.listen, "listen", "127.0.0.1:7420", "address and port; anything but loopback needs TLS or --behind-proxy")
	cmd.Flags().BoolVar(&f.open, "open", false, "open the page in a browser")
	cmd.Flags().StringVar(&f.cert, "tls-cert", "", "certificate, in a file")
	cmd.Flags().StringVar(&f.key, "tls-key", "", "the certificate's key, in a file")
	cmd.Flags().BoolVar(&f.proxy, "behind-proxy", false, "something in front of the server has a certificate")
	cmd.Flags().StringArrayVar(&f.hosts, "host", nil, "a name under which people reach the server (may be given several times)")
	cmd.Flags().StringVar(&f.page, "page", "", "serve the page from this folder instead of the one in the binary")
	return cmd
}

func (f *serveFlags) secure() bool { return f.cert != "" || f.proxy }

// check refuses an address that would send the token over a network in the clear.
func (f *serveFlags) check() (host string, err error) {
	host, _, err = net.SplitHostPort(f.listen)
	if err != nil {
		return "", usagef("--listen %q: want an address and a port, such as 127.0.0.1:7420", f.listen)
	}
	if (f.cert == "") != (f.key == "") {
		return "", usagef("--tls-cert and --tls-key go together")
	}
	ip := net.ParseIP(host)
	if host == "localhost" || ip != nil && ip.IsLoopback() || f.secure() {
		return host, nil
	}
	return "", usagef("--listen %s is not on loopback: others on the network could read the token on its way. Give a certificate with --tls-cert and --tls-key, say --behind-proxy if something in front of the server has one, or listen on 127.0.0.1", f.listen)
}

func (a *app) serve(ctx context.Context, f *serveFlags) error {
	host, err := f.check()
	if err != nil {
		return err
	}
	ln, err := net.Listen("tcp", f.listen)
	if err != nil {
		if errors.Is(err, syscall.EADDRINUSE) {
			return fmt.Errorf("%s is taken: lyceum serve may be running already, or choose another port with --listen", f.listen)
		}
		return fmt.Errorf("listen on %s: %w", f.listen, err)
	}
	defer ln.Close()
	if f.cert != "" {
		pair, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return usagef("--tls-cert: %w", err)
		}
		f.certificate = pair.Certificate[0]
		ln = tls.NewListener(ln, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	}
	if err := a.open(true); err != nil {
		return err
	}
	token, err := api.Token(a.home)
	if err != nil {
		return err
	}
	if f.proxy && len(f.hosts) > 0 {
		f.front = f.hosts[0]
	}
	if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() || ip == nil && host != "" {
		f.hosts = append(f.hosts, host)
	}
	page := web.Dist
	if f.page != "" {
		page = os.DirFS(f.page)
	}
	server := api.New(a.rt, api.Options{
		Token: token, Hosts: f.hosts, Secure: f.secure(), Page: page, Examples: examples.Files, Model: a.config.Model,
		Log: log.New(logLines{a}, "", 0),
	})
	defer server.Close()
	server.Tidy(ctx)
	return a.serveOn(ctx, ln, server, token, f)
}

// logLines makes what the server says safe for a terminal.
type logLines struct{ a *app }

func (l logLines) Write(p []byte) (int, error) {
	fmt.Fprintln(l.a.err, printable(strings.TrimRight(string(p), "\n")))
	return len(p), nil
}

// serveOn serves until it is interrupted.
func (a *app) serveOn(ctx context.Context, ln net.Listener, server *api.Server, token string, f *serveFlags) error {
	interrupt := ctx.Done()
	ctx, stop := a.patient(ctx)
	defer stop()
	scheme := "http"
	if f.cert != "" {
		scheme = "https"
	}
	url := fmt.Sprintf("%s://%s/", scheme, reachable(ln.Addr()))
	if err := client.Announce(a.home, url, f.certificate); err != nil {
		return err
	}
	defer client.Withdraw(a.home, url, f.certificate)
	web := server.HTTP()
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(ln) }()
	var warming sync.WaitGroup
	warming.Go(server.Warm)
	defer func() { server.Close(); warming.Wait() }()
	going, err := server.Keeper().GoOn(ctx)
	if err != nil {
		fmt.Fprintln(a.err, printable(err.Error()))
	}
	for _, name := range going {
		fmt.Fprintf(a.err, "Going on with quest %s.\n", name)
	}
	link := url + "?token=" + token
	fmt.Fprintf(a.out, "Lyceum is at %s\n", link)
	if f.front != "" {
		fmt.Fprintf(a.out, "Through the proxy it is at https://%s/?token=%s\n", f.front, token)
	}
	if f.open {
		openBrowser(url + "?token=" + server.Pass())
	}
	select {
	case err = <-failed:
	case <-interrupt:
		err = nil
	}
	// First the quests, while readers still see them come to rest; then the readers.
	server.Keeper().Shutdown(ctx)
	server.EndStreams()
	grace, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if e := web.Shutdown(grace); e != nil {
		_ = web.Close()
	}
	server.Tidy(ctx)
	if err == nil || errors.Is(err, http.ErrServerClosed) {
		fmt.Fprintln(a.err, "Stopped. Quests that ran go on with the next: lyceum serve")
		return nil
	}
	return fmt.Errorf("serve: %w", err)
}

// reachable is an address that a browser on this machine can open.
func reachable(addr net.Addr) string {
	host, port, err := net.SplitHostPort(addr.String())
	if err != nil {
		return addr.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// openBrowser tries to show a page; who has no browser has the link. Every user of the
// machine can read it among the arguments of programs.
func openBrowser(link string) {
	cmd := exec.Command("xdg-open", link)
	if cmd.Start() == nil {
		go func() { _ = cmd.Wait() }()
	}
}
