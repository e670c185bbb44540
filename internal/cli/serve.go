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
	"lyceum/internal/config"
	"lyceum/internal/connector"
	"lyceum/internal/model"
	"lyceum/internal/runtime"
	"lyceum/internal/strictyaml"
	"lyceum/web"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"
)

// serveFlags are those of lyceum serve.
type serveFlags struct {
	listen, cert, key, page string
	memory                  string
	hosts                   []string
	open, proxy             bool
	// room and drain are for a node that shares its ledger with others.
	room  int
	drain time.Duration
	// replace has its token take the place of theirs.
	replace bool
	// link asks for a link to the page of the server that is up.
	link bool
	// tls has browsers come by TLS, nil if there is no certificate.
	tls *tls.Config
}

func (a *app) serveCommand() *cobra.Command {
	f := &serveFlags{}
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the page and the API; run quests in the background",
		Long: `Serve the page and the API on this machine, and run quests in the background. Open the
link that is printed: it signs one browser in, once, within five minutes. --link prints
another while the server is up. Programs find a token in the file token of the home; see
docs/api.md. A home has one server.

Ctrl-C stops cleanly, so do SIGTERM and SIGHUP: what is under way comes in, and quests are paused. They go on by
themselves when the server is started again, also after it was killed. Where several servers share a ledger (docs/cluster.md)
they are not paused: another server goes on with them.`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.link {
				return a.printLink(f)
			}
			return a.serve(cmd.Context(), f)
		},
	}
	cmd.Flags().StringVar(&f.listen, "listen", "127.0.0.1:7420", "address and port; anything but loopback needs TLS or --behind-proxy")
	cmd.Flags().BoolVar(&f.open, "open", false, "open the page in a browser")
	cmd.Flags().BoolVar(&f.link, "link", false, "print a new link to the page of the server that is up, and end")
	cmd.Flags().StringVar(&f.cert, "tls-cert", "", "certificate, in a file")
	cmd.Flags().StringVar(&f.key, "tls-key", "", "the certificate's key, in a file")
	cmd.Flags().BoolVar(&f.proxy, "behind-proxy", false, "something in front of the server has a certificate")
	cmd.Flags().StringArrayVar(&f.hosts, "host", nil, "a name under which people reach the server (may be given several times)")
	cmd.Flags().StringVar(&f.memory, "memory", "", "how much memory the server may have, such as 512MiB (default: what its control group leaves it)")
	cmd.Flags().IntVar(&f.room, "room", 64, "how many quests to run at once, where nodes share the ledger; others are left to them")
	cmd.Flags().DurationVar(&f.drain, "drain", time.Minute, "how long to wait for what is under way when stopped, where nodes share the ledger and go on with the quests")
	cmd.Flags().BoolVar(&f.replace, "replace-token", false, "have the token of this server take the place of the one that the servers of a shared ledger have")
	cmd.Flags().StringVar(&f.page, "page", "", "serve the page from this folder instead of the one in the binary")
	return a.weakLimits(cmd)
}

func (f *serveFlags) secure() bool { return f.cert != "" || f.proxy }

// check refuses an address that would send the token over a network in the clear, and a
// certificate that is none.
func (f *serveFlags) check() (host string, err error) {
	host, _, err = net.SplitHostPort(f.listen)
	if err != nil {
		return "", usagef("--listen %q: want an address and a port, such as 127.0.0.1:7420", f.listen)
	}
	if (f.cert == "") != (f.key == "") {
		return "", usagef("--tls-cert and --tls-key go together")
	}
	if f.cert != "" {
		pair, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return "", usagef("--tls-cert: %w", err)
		}
		f.tls = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
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
	var memory int64
	if f.memory != "" {
		if memory, err = strictyaml.ParseSize(f.memory); err != nil || memory < leastMemory {
			return usagef("--memory %q: want a size, such as 512MiB, at least %s", f.memory, strictyaml.FormatSize(leastMemory))
		}
	}
	if f.room < 1 || f.drain < 0 {
		return usagef("--room %d, --drain %s: want room for one quest at least, and a time such as 1m", f.room, f.drain)
	}
	tend(memory)
	until, end := context.WithCancel(ctx)
	defer end()
	go rests(until)
	configured, err := a.configSum()
	if err != nil {
		return err
	}
	if err := a.open(true); err != nil {
		return err
	}
	place, err := client.Take(a.home)
	if err != nil {
		return err
	}
	defer place.Leave()
	token, err := a.serverToken(ctx, f.replace)
	if err != nil {
		return err
	}
	on, err := f.bind(token)
	if err != nil {
		return err
	}
	defer on.close()
	on.note.Config = configured
	a.rt.Models = a.mayBeNew(configured, a.rt.Models)
	if ip := net.ParseIP(host); ip != nil && !ip.IsUnspecified() || ip == nil && host != "" {
		f.hosts = append(f.hosts, host)
	}
	page := web.Dist
	if f.page != "" {
		page = os.DirFS(f.page)
	}
	office := a.office(ctx)
	server := api.New(a.rt, api.Options{
		Token: token, Hosts: f.hosts, Secure: f.secure(), Page: page, Docs: handbook{}, Examples: examples.Files, Model: a.config.Model, Cost: outsideCost(a.config), Repos: a.config.Repos,
		Log: log.New(logLines{a}, "", 0), Settings: a.settings, Doctor: a.examined, Models: a.offers, Studies: a.studyStores(),
		Believed: a.believed, Address: on.note.Pages[0], QuestRoom: f.room,
	})
	defer server.Close()
	if office != nil {
		office.Quests = saying{server, a.rt}
	}
	server.Tidy(ctx)
	return a.serveOn(ctx, place, on, server, office, f)
}

// doors are what a server listens on: one for browsers and other programs, and one for the
// command line, where both ends prove themselves.
type doors struct {
	public, local net.Listener
	note          client.Note
}

func (d *doors) close() { d.public.Close(); d.local.Close() }

// bind opens the doors.
func (f *serveFlags) bind(token string) (*doors, error) {
	mutual, err := api.Mutual(token)
	if err != nil {
		return nil, err
	}
	public, err := net.Listen("tcp", f.listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, fmt.Errorf("%s is taken: a server of another home may be there, or another program; choose another port with --listen", f.listen)
	} else if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", f.listen, err)
	}
	room := rooms()
	public = api.NewDoor(public, room)
	local, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		local, err = net.Listen("tcp", "[::1]:0")
	}
	if err != nil {
		public.Close()
		return nil, fmt.Errorf("listen for the command line: %w", err)
	}
	local = api.NewDoor(local, room/2)
	page := "http://" + reachable(public.Addr()) + "/"
	if f.tls != nil {
		public, page = tls.NewListener(public, f.tls), "https://"+reachable(public.Addr())+"/"
	}
	d := &doors{public: public, local: tls.NewListener(local, mutual), note: client.Note{Local: local.Addr().String(), Pages: []string{page}}}
	if f.proxy && len(f.hosts) > 0 {
		d.note.Pages = append(d.note.Pages, fmt.Sprintf("https://%s/", f.hosts[0]))
	}
	return d, nil
}

// rooms is how many connections the server may have open at its public door: a quarter of the
// files that this process may open, so that most are left to quests whatever strangers do. Go
// has raised that number to the most that the system allows.
func rooms() int {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return leastRoom
	}
	return int(max(min(files.Cur/4, 4096), leastRoom))
}

// leastRoom is how many connections there is room for on the smallest machine.
const leastRoom = 32

// printLink prints links to the page of the server that is up.
func (a *app) printLink(f *serveFlags) error {
	var err error
	if a.home, err = config.Home(a.homeFlag); err != nil {
		return err
	}
	note, err := client.Look(a.home)
	if err != nil {
		return fmt.Errorf("%w for the home %s: start one with lyceum serve", err, a.home)
	}
	token, err := api.ReadToken(a.home)
	if err != nil {
		return err
	}
	a.links(note, func() string { return api.Pass(token, runtime.SystemClock()) }, f.open)
	return nil
}

// links prints links to the page, with a pass each, and opens the first if that is wanted.
func (a *app) links(note client.Note, pass func() string, open bool) {
	for i, page := range note.Pages {
		says := "Lyceum is at"
		if i > 0 {
			says = "Through the proxy it is at"
		}
		fmt.Fprintf(a.out, "%s %s?token=%s\n", says, page, pass())
	}
	if open {
		openBrowser(note.Pages[0] + "?token=" + pass())
	}
}

// logLines makes what the server says safe for a terminal, and for whoever reads a log.
type logLines struct{ a *app }

func (l logLines) Write(p []byte) (int, error) {
	fmt.Fprintln(l.a.err, printable(l.a.rt.Redact(strings.TrimRight(string(p), "\n"))))
	return len(p), nil
}

// serveOn serves until it is interrupted.
func (a *app) serveOn(ctx context.Context, place *client.Place, on *doors, server *api.Server, office *connector.Office, f *serveFlags) error {
	interrupt := ctx.Done()
	ctx, stop := a.patient(ctx)
	defer stop()
	if err := place.Announce(on.note); err != nil {
		return err
	}
	web := server.HTTP()
	witnessing, err := a.alsoWitness(ctx, web)
	if err != nil {
		return err
	}
	defer witnessing()
	failed := make(chan error, 2)
	for _, ln := range []net.Listener{on.public, on.local} {
		go func() { failed <- web.Serve(ln) }()
	}
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
	studies, err := server.GoOnWithStudies(ctx)
	if err != nil {
		fmt.Fprintln(a.err, printable(err.Error()))
	}
	for _, name := range studies {
		fmt.Fprintf(a.err, "Going on with study %s.\n", name)
	}
	disconnect := a.connect(ctx, office)
	defer disconnect()
	a.links(on.note, server.Pass, f.open)
	look := time.NewTicker(2 * time.Second)
	defer look.Stop()
	for told, up := on.note.Config, true; up; {
		select {
		case err = <-failed:
			up = false
		case <-interrupt:
			err, up = nil, false
		case <-look.C:
			if now := config.Sum(a.home); now != told {
				fmt.Fprintln(a.err, otherConfig)
				told = now
			}
		}
	}
	disconnect()
	// First the quests, while readers still see them come to rest; then the readers.
	server.RestStudies()
	a.rest(ctx, server.Keeper(), f.drain)
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

// rest has quests come to rest. Where nodes share the ledger others go on with them, after a while even
// without what is still under way here.
func (a *app) rest(ctx context.Context, k *api.Keeper, drain time.Duration) {
	if k.Shares() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, drain)
		defer cancel()
	}
	k.Shutdown(ctx)
}

// otherConfig is said where a server and the configuration of its home have come apart.
const otherConfig = "config.yaml has changed since the server was started, and the server goes on with what it read then. To have it read the file, stop it and start it again: lyceum serve"

// mayBeNew says of a model that the server cannot find that config.yaml has changed since it was
// read, if it has: whoever asks for the model need not be the one who sees this terminal.
func (a *app) mayBeNew(read string, models runtime.Models) runtime.Models {
	return func(name string, pin func(string) ([]byte, error)) (model.Model, error) {
		m, err := models(name, pin)
		if err != nil && config.Sum(a.home) != read {
			err = fmt.Errorf("%s. %w", otherConfig, err)
		}
		return m, err
	}
}

// configSum tells which configuration the home has now.
func (a *app) configSum() (string, error) {
	home, err := config.Home(a.homeFlag)
	return config.Sum(home), err
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
