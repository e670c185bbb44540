package cli

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"lyceum/internal/identity"
	"lyceum/internal/proof"
	"lyceum/internal/runtime"
	"lyceum/internal/witness"

	"github.com/spf13/cobra"
)

func (a *app) witnessCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "witness", Short: "Be a witness of other homes' quests", Args: exactArgs(0, "serve"),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	var listen string
	var logs []string
	var firstUse bool
	serve := &cobra.Command{
		Use: "serve", Short: "Cosign checkpoints of others, if they begin with what was seen before", Args: exactArgs(0, "no arguments"),
		Long: `Cosign checkpoints of other homes' quests by the C2SP protocol tlog-witness: each only with a
proof that it begins with the last one seen of its log. So nobody can show two histories under
one name. A witness learns names of keys, random ids, sizes and hashes; nothing of quests.

It cosigns by the key of this home (lyceum key make) and remembers in the folder witness of the
home. Should that folder be lost, go on with another key. It is reached by anyone who can
reach its address: put a proxy with a certificate in front of it.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.homeOnly(); err != nil {
				return err
			}
			w, err := a.openWitness(cmd.Context(), logs, firstUse)
			if err != nil {
				return err
			}
			return errors.Join(a.serveWitness(cmd.Context(), listen, w), w.Close())
		},
	}
	serve.Flags().StringVar(&listen, "listen", "127.0.0.1:7430", "address and port")
	serve.Flags().StringArrayVar(&logs, "log", nil, "the public key of somebody whose logs are known (may be given several times)")
	serve.Flags().BoolVar(&firstUse, "first-use", false, "take over the key of a name that is not known, and no other of that name later")
	cmd.AddCommand(serve)
	return cmd
}

// openWitness makes this home a witness for some keys.
func (a *app) openWitness(ctx context.Context, logs []string, firstUse bool) (*witness.Witness, error) {
	if len(logs) == 0 && !firstUse {
		return nil, usagef("for whom? Give the public keys of logs with --log, or say --first-use")
	}
	opts := witness.Options{FirstUse: firstUse, Clock: runtime.SystemClock}
	for _, text := range logs {
		v, err := proof.ParseVerifier(text)
		if err == nil && v.Kind != proof.Author {
			err = errors.New("it is the key of a witness")
		}
		if err != nil {
			return nil, usagef("the public key %.80q of a log: %w", text, err)
		}
		opts.Keys = append(opts.Keys, v)
	}
	s, _, err := identity.Signer(ctx, a.home)
	if err != nil {
		return nil, err
	}
	return witness.Open(filepath.Join(a.home, "witness"), s, opts)
}

func (a *app) serveWitness(ctx context.Context, listen string, w *witness.Witness) error {
	ln, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("listen on %s: %w", listen, err)
	}
	mux := http.NewServeMux()
	mux.Handle("POST /add-checkpoint", w)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	fmt.Fprintf(a.out, "Witness at http://%s\npublic_key: %s\n", ln.Addr(), w.Key())
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(ln) }()
	select {
	case err = <-failed:
	case <-ctx.Done():
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = server.Shutdown(grace)
		<-failed
	}
	return err
}

// witnessPath is where a server is a witness, if config.yaml says so: witnesses of other homes have
// its address and /witness for their url.
const witnessPath = "/witness/add-checkpoint"

// alsoWitness has a server be a witness for other homes. A request there needs no token, and opens
// nothing else.
func (a *app) alsoWitness(ctx context.Context, web *http.Server) (done func(), err error) {
	set := a.config.Proof.Witness
	if set == nil {
		return func() {}, nil
	}
	w, err := a.openWitness(ctx, set.Logs, set.FirstUse)
	if err != nil {
		return nil, fmt.Errorf("witness in config.yaml: %w", err)
	}
	all := web.Handler
	web.Handler = http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path == witnessPath && r.Method == http.MethodPost {
			w.ServeHTTP(out, r)
			return
		}
		all.ServeHTTP(out, r)
	})
	fmt.Fprintf(a.err, "This server is a witness at /witness. public_key: %s\n", w.Key())
	return func() { _ = w.Close() }, nil
}
