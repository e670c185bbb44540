package cli

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"lyceum/internal/api"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/runtime"

	"github.com/spf13/cobra"
)

func (a *app) tokenCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Give others a part of what the server can do",
		Long: `A token lets a program or a person use lyceum serve without the home's own token, and do
no more than its scope says. Send it as Authorization: Bearer, put it into LYCEUM_TOKEN,
or open the page with /?token=<secret>; see docs/api.md.

  read          look at every quest
  steer         that, and messages, start, pause, resume, stop
  quest:<name>  look at that quest and steer it, and see nothing of others

To make, fork and remove quests and to raise their limits takes the home's own token.`,
		Args: exactArgs(0, "create, list or revoke"),
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.tokenCreateCommand(), a.tokenListCommand(), a.tokenRevokeCommand())
	return cmd
}

// tokenJSON is a token; its secret is there only when it is made.
type tokenJSON struct {
	Token   string      `json:"token"`
	Scope   string      `json:"scope"`
	Note    string      `json:"note"`
	Created event.Time  `json:"created"`
	Expires *event.Time `json:"expires"`
	Expired bool        `json:"expired"`
	Secret  string      `json:"secret,omitempty"`
}

func tokenOf(t ledger.Token, now event.Time) tokenJSON {
	j := tokenJSON{Token: t.ID, Scope: t.Scope, Note: t.Note, Created: t.Created, Expired: api.Expired(t, now)}
	if t.Expires != 0 {
		j.Expires = &t.Expires
	}
	return j
}

func (a *app) tokenCreateCommand() *cobra.Command {
	var scope, expires, note string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "create --scope read|steer|quest:<name>",
		Short: "Make a token; its secret is printed once and kept nowhere",
		Args:  exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			s, err := api.ParseScope(scope)
			if err != nil {
				return usagef("--scope: %w", err)
			}
			until, err := parseExpiry(expires, runtime.SystemClock())
			if err != nil {
				return err
			}
			if len(note) > maxNote {
				return usagef("--note has %d bytes: want at most %d", len(note), maxNote)
			}
			if err := a.open(true); err != nil {
				return err
			}
			return a.createToken(cmd.Context(), s, note, until, asJSON)
		},
	}
	cmd.Flags().StringVar(&scope, "scope", "", "what it is good for: read, steer or quest:<name>")
	cmd.Flags().StringVar(&expires, "expires", "30d", "when it ends: 24h, 30d, a date such as 2027-01-31 (that day included, UTC), or never")
	cmd.Flags().StringVar(&note, "note", "", "whose it is or what for, for token list")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// maxNote is how long a note is at most: it is a line of a list.
const maxNote = 200

func (a *app) createToken(ctx context.Context, s api.Scope, note string, until event.Time, asJSON bool) error {
	if name := s.Quest(); name != "" { // a token for a quest to come would open whatever gets that name
		if _, err := a.rt.Ledger.Head(ctx, name); err != nil {
			return fmt.Errorf("make a token for quest %s: %w", name, err)
		}
	}
	now := a.rt.Clock()
	t, secret := api.NewToken(s, note, now, until)
	if err := a.rt.Ledger.PutToken(ctx, t); err != nil {
		return err
	}
	if asJSON {
		j := tokenOf(t, now)
		j.Secret = secret
		return a.printJSON(j)
	}
	fmt.Fprintln(a.out, secret)
	fmt.Fprintf(a.err, "Token %s, scope %s, %s. The secret is not shown again. Take the token back with: lyceum token revoke %s\n", t.ID, t.Scope, ending(t, now), t.ID)
	return nil
}

// ending says when a token ends.
func ending(t ledger.Token, now event.Time) string {
	switch {
	case t.Expires == 0:
		return "never expires"
	case api.Expired(t, now):
		return "expired " + t.Expires.Time().Format("2006-01-02 15:04 UTC")
	}
	return "expires " + t.Expires.Time().Format("2006-01-02 15:04 UTC")
}

var days = regexp.MustCompile(`^([0-9]{1,6})d$`)

// parseExpiry reads when a token ends: after hours or days, with a date, or never.
func parseExpiry(text string, now event.Time) (event.Time, error) {
	const last = 100 * 366 * 24 * time.Hour // nobody means more, and it must fit
	until := now.Time()
	if text == "never" {
		return 0, nil
	}
	if d, err := time.ParseDuration(text); err == nil {
		until = until.Add(min(d, 2*last))
	} else if m := days.FindStringSubmatch(text); m != nil {
		n, _ := strconv.Atoi(m[1]) // six digits
		until = until.AddDate(0, 0, n)
	} else if day, err := time.Parse(time.DateOnly, text); err == nil {
		until = day.AddDate(0, 0, 1)
	} else {
		return 0, usagef("--expires %q: want hours such as 24h, days such as 30d, a date such as 2027-01-31, or never", text)
	}
	if left := until.Sub(now.Time()); left <= 0 || left > last {
		return 0, usagef("--expires %q is over already, or more than a hundred years off", text)
	}
	return event.TimeOf(until), nil
}

func (a *app) tokenListCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the tokens there are, without their secrets",
		Args:  exactArgs(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.open(false); err != nil {
				return err
			}
			all, err := a.rt.Ledger.Tokens(cmd.Context())
			if err != nil {
				return err
			}
			now := a.rt.Clock()
			list := []tokenJSON{}
			for _, t := range all {
				list = append(list, tokenOf(t, now))
				if !asJSON {
					fmt.Fprintf(a.out, "%-10s %-20s %-32s %s\n", printable(t.ID), printable(t.Scope), ending(t, now), cmp.Or(printable(t.Note), "-"))
				}
			}
			if asJSON {
				return a.printJSON(list)
			}
			if len(all) == 0 {
				fmt.Fprintln(a.err, "There are no tokens but the home's own. Make one with: lyceum token create --scope read")
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (a *app) tokenRevokeCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "revoke <token>",
		Short: "Take a token back: it is worth nothing from now on",
		Args:  exactArgs(1, "the name of a token, as lyceum token list shows it"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.open(false); err != nil {
				return err
			}
			if err := a.rt.Ledger.DropToken(cmd.Context(), args[0]); err != nil {
				return fmt.Errorf("revoke: %w", err)
			}
			fmt.Fprintf(a.err, "Token %s is revoked. Streams that it reads end in a moment.\n", printable(args[0]))
			return nil
		},
	}
}
