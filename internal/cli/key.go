package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"lyceum/internal/config"
	"lyceum/internal/event"
	"lyceum/internal/identity"
	"lyceum/internal/plain"
	"lyceum/internal/proof"
	"lyceum/internal/runtime"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// keyJSON is a key that the home knows.
type keyJSON struct {
	Name        string      `json:"name"`
	Key         string      `json:"key"`
	Fingerprint string      `json:"fingerprint"`
	Trust       string      `json:"trust"`
	Place       string      `json:"place,omitempty"`
	Revoked     *event.Time `json:"revoked,omitempty"`
	Signing     bool        `json:"signing"`
}

func (a *app) keyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "key",
		Short: "The key by which this home signs its quests, and those that it trusts",
		Long: `A home with a key signs checkpoints of its quests: who has the crate and knows the key can tell
that the key's owner vouches for these events and no others. See docs/proof.md for what that
is worth. The secret is kept in the keyring, or in a file that a passphrase opens
(` + identity.PassphraseVariable + `); servers have it in ` + identity.SecretVariable + ` or in the file that ` + identity.FileVariable + ` names.
Keep a copy (lyceum key export --secret): a key that is lost cannot be made again.`,
		Args: exactArgs(0, "make, show, export, rotate, revoke, trust or list"),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.keyMakeCommand(), a.keyShowCommand(), a.keyExportCommand(), a.keyRotateCommand(), a.keyRevokeCommand(), a.keyTrustCommand(), a.keyListCommand())
	return cmd
}

// homeOnly finds the home without opening its ledger.
func (a *app) homeOnly() (err error) {
	a.home, err = config.Home(a.homeFlag)
	return err
}

// passphrase asks for one, if a file wants it and the variable does not have it.
func (a *app) passphrase(place string, twice bool) (string, error) {
	if p := os.Getenv(identity.PassphraseVariable); p != "" || place != identity.File {
		return p, nil
	}
	if !term.IsTerminal(int(os.Stdin.Fd())) {
		return "", identity.ErrPassphrase
	}
	ask := func(prompt string) (string, error) {
		fmt.Fprint(a.err, prompt)
		p, err := term.ReadPassword(int(os.Stdin.Fd()))
		fmt.Fprintln(a.err)
		return string(p), err
	}
	p, err := ask("Passphrase: ")
	if err == nil && twice {
		again, err := ask("Once more: ")
		if err != nil || again != p {
			return "", errors.Join(usagef("the two are not the same"), err)
		}
	}
	return p, err
}

func placeOf(file bool) string {
	if file {
		return identity.File
	}
	return identity.Keyring
}

func (a *app) keyMakeCommand() *cobra.Command {
	var name string
	var file, asJSON bool
	cmd := &cobra.Command{
		Use: "make", Short: "Make a key; quests that run from now on are signed", Args: exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.homeOnly(); err != nil {
				return err
			}
			book, err := identity.Load(a.home)
			if err != nil {
				return err
			}
			if v, ok := book.Current(); ok && name == "" {
				return usagef("this home has the key %s: lyceum key rotate makes one that follows it; with --name you can have another", v)
			}
			if name == "" {
				return usagef("--name: say what the key is called, such as ada.example.org; whoever verifies sees it")
			}
			pass, err := a.passphrase(placeOf(file), true)
			if err != nil {
				return err
			}
			s, err := identity.Make(cmd.Context(), a.home, name, placeOf(file), pass, runtime.SystemClock())
			if err != nil {
				return keyTrouble(err)
			}
			return a.printKey(s.Verifier(proof.Author), asJSON)
		},
	}
	cmd.Flags().StringVar(&name, "name", "", "what the key is called: a name that others see, without spaces")
	cmd.Flags().BoolVar(&file, "file", false, "keep the secret in a file that a passphrase opens, not in the keyring")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// keyTrouble says what else can be done.
func keyTrouble(err error) error {
	if err != nil && strings.Contains(err.Error(), "keyring") {
		return fmt.Errorf("%w\nWith --file the secret is kept in a file that a passphrase opens", err)
	}
	return err
}

func (a *app) known() ([]keyJSON, error) {
	book, err := identity.Load(a.home)
	if err != nil {
		return nil, err
	}
	places := map[string]string{}
	for _, o := range book.Own {
		places[o.Key] = o.Place
	}
	current, has := book.Current()
	out := []keyJSON{}
	for _, k := range book.Keys() {
		j := keyJSON{Name: k.Name, Key: k.String(), Fingerprint: k.Fingerprint(), Trust: k.Trust, Place: places[k.String()], Signing: has && k.Verifier == current && k.Revoked == 0}
		if k.Revoked != 0 {
			j.Revoked = &k.Revoked
		}
		out = append(out, j)
	}
	return out, nil
}

func (a *app) printKey(v proof.Verifier, asJSON bool) error {
	keys, err := a.known()
	if err != nil {
		return err
	}
	j := keyJSON{Name: v.Name, Key: v.String(), Fingerprint: v.Fingerprint(), Trust: "own", Place: identity.Variable, Signing: true}
	for _, k := range keys {
		if k.Key == v.String() {
			j = k
		}
	}
	if asJSON {
		return a.printJSON(j)
	}
	fmt.Fprintf(a.out, "%s\nfingerprint %s, kept in the %s\n", printable(j.Key), j.Fingerprint, j.Place)
	return nil
}

func (a *app) keyShowCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "show", Short: "Print the public key that this home signs by", Args: exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			v, err := a.current(cmd.Context())
			if err != nil {
				return err
			}
			return a.printKey(v, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// current is the public key that the home signs by. Its secret need not be at hand.
func (a *app) current(ctx context.Context) (proof.Verifier, error) {
	if err := a.homeOnly(); err != nil {
		return proof.Verifier{}, err
	}
	if s, place, err := identity.Signer(ctx, a.home); err == nil && place == identity.Variable {
		return s.Verifier(proof.Author), nil
	}
	book, err := identity.Load(a.home)
	if err != nil {
		return proof.Verifier{}, err
	}
	v, ok := book.Current()
	if !ok {
		return v, identity.ErrNone
	}
	return v, nil
}

// secret is the secret of the key that the home signs by.
func (a *app) secret(ctx context.Context) (proof.Signer, error) {
	s, _, err := identity.Signer(ctx, a.home)
	if !errors.Is(err, identity.ErrPassphrase) {
		return s, err
	}
	book, err := identity.Load(a.home)
	if err != nil {
		return s, err
	}
	v, ok := book.Current()
	if !ok {
		return s, identity.ErrNone
	}
	pass, err := a.passphrase(identity.File, false)
	if err != nil {
		return s, err
	}
	return identity.Find(ctx, a.home, v, pass)
}

func (a *app) keyExportCommand() *cobra.Command {
	var secret bool
	cmd := &cobra.Command{
		Use: "export", Short: "Print the public key, and what was said about it, for those who verify", Args: exactArgs(0, "no arguments"),
		Long: `Print the public key with its rotations and revocations: what lyceum key trust reads. With
--secret the secret itself is printed, for a copy in a safe place: whoever has it can sign.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			v, err := a.current(cmd.Context())
			if err != nil {
				return err
			}
			if secret {
				s, err := a.secret(cmd.Context())
				if err != nil {
					return err
				}
				fmt.Fprintln(a.out, identity.Secret(s))
				return nil
			}
			book, err := identity.Load(a.home)
			if err != nil {
				return err
			}
			fmt.Fprint(a.out, book.Public(v))
			return nil
		},
	}
	cmd.Flags().BoolVar(&secret, "secret", false, "print the secret: keep it where nobody else can read it")
	return cmd
}

func (a *app) keyRotateCommand() *cobra.Command {
	var file, asJSON bool
	cmd := &cobra.Command{
		Use: "rotate", Short: "Make a key that follows the one before: the old signs the new", Args: exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.homeOnly(); err != nil {
				return err
			}
			from, err := a.secret(cmd.Context())
			if err != nil {
				return err
			}
			pass, err := a.passphrase(placeOf(file), true)
			if err != nil {
				return err
			}
			s, err := identity.Rotate(cmd.Context(), a.home, from, placeOf(file), pass, runtime.SystemClock())
			if err != nil {
				return keyTrouble(err)
			}
			return a.printKey(s.Verifier(proof.Author), asJSON)
		},
	}
	cmd.Flags().BoolVar(&file, "file", false, "keep the secret in a file that a passphrase opens, not in the keyring")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) keyRevokeCommand() *cobra.Command {
	var since string
	cmd := &cobra.Command{
		Use: "revoke", Short: "Say that what the key signed from a time on is not to be believed", Args: exactArgs(0, "no arguments"),
		Long: `Say that what the key signed from a time on is not to be believed, because somebody else may
have it. What a witness or an authority had seen before stays good. Hand on what lyceum key
export then prints: whoever has not heard of it goes on believing the key.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.homeOnly(); err != nil {
				return err
			}
			at := runtime.SystemClock()
			if since != "" {
				t, err := time.Parse(time.RFC3339, since)
				if err != nil || t.Unix() < 0 {
					return usagef("--since %q: want a time such as 2026-03-01T12:00:00Z", since)
				}
				at = event.Time(t.UnixMicro())
			}
			s, err := a.secret(cmd.Context())
			if err != nil {
				return err
			}
			if err := identity.Revoke(a.home, s, at); err != nil {
				return err
			}
			fmt.Fprintf(a.out, "%s is not to be believed from %s on.\n", printable(s.String()), at)
			return nil
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "from when on, such as 2026-03-01T12:00:00Z (default: now)")
	return cmd
}

func (a *app) keyTrustCommand() *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use: "trust <public key|file>", Short: "Believe somebody's key: one that you know to be theirs", Args: exactArgs(1, "a public key, or a file that lyceum key export wrote"),
		RunE: func(_ *cobra.Command, args []string) error {
			if err := a.homeOnly(); err != nil {
				return err
			}
			text := args[0]
			if !strings.Contains(text, "+") {
				data, err := os.ReadFile(text)
				if err != nil {
					return usagef("%w: give a public key, or a file with one", err)
				}
				text = string(data)
			}
			if len(text) > 1<<20 || len(note) > maxNote || !plain.Printable(note) {
				return usagef("the file, or --note, is too long or not plain text")
			}
			v, statements, err := identity.Read(text)
			if err != nil {
				return usageError{err}
			}
			book, err := identity.Load(a.home)
			if err == nil {
				err = book.Trust(v, note, runtime.SystemClock())
			}
			for _, s := range statements {
				if err == nil {
					_, err = book.Hear(s)
				}
			}
			if err == nil {
				err = book.Save(a.home)
			}
			if err != nil {
				return err
			}
			fmt.Fprintf(a.out, "Trusted: %s\nfingerprint %s\n", printable(v.String()), v.Fingerprint())
			return nil
		},
	}
	cmd.Flags().StringVar(&note, "note", "", "whose it is, in your words")
	return cmd
}

func (a *app) keyListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List the keys that this home believes", Args: exactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			if err := a.homeOnly(); err != nil {
				return err
			}
			keys, err := a.known()
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(keys)
			}
			for _, k := range keys {
				state := k.Trust
				if k.Signing {
					state += ", signs"
				}
				if k.Revoked != nil {
					state += ", revoked from " + k.Revoked.String()
				}
				fmt.Fprintf(a.out, "%s  %s\n", printable(k.Key), printable(state))
			}
			if len(keys) == 0 {
				fmt.Fprintln(a.out, "There are no keys. Quests are not signed; lyceum key make makes one.")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}
