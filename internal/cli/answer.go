package cli

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"lyceum/internal/api/client"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/quest"
	"lyceum/internal/view"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// printQuestions says what a quest asks, and how to answer.
func (a *app) printQuestions(name string, questions []view.Question) {
	for _, q := range questions {
		fmt.Fprintf(a.out, "\n%s asks (question %d of %s):\n%s\n", printable(q.Asker), q.ID, name, indent(printable(q.Text)))
		if q.Expires != nil {
			fmt.Fprintf(a.out, "  If nobody answers by %s: %s\n", q.Expires, printable(cmp.Or(q.Default, "it goes on without an answer")))
		}
		if q.Answered {
			fmt.Fprintf(a.out, "  It has an answer. Go on with: lyceum run %s\n", name)
			continue
		}
		answers := []string{`"…"`}
		if len(q.Options) > 0 {
			answers = nil
			for _, o := range q.Options {
				answers = append(answers, quoted(oneLine(o, maxOption)))
			}
		}
		for _, answer := range answers {
			fmt.Fprintf(a.out, "  lyceum answer %s %d %s\n", name, q.ID, answer)
		}
	}
}

// maxOption is how much of an option is shown: all that it may have.
const maxOption = 200

// quoted is a word as one types it in a shell.
func quoted(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.,/:", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func (a *app) answerCommand() *cobra.Command {
	var why string
	cmd := &cobra.Command{
		Use:   "answer <quest> [question] <answer|->",
		Short: "Answer what a quest asks",
		Long: `Answer a question of a quest: with one of its options, or in your own words. A question
about something that an agent wants to do is answered with yes or no. lyceum list shows
what is asked; the number of the question can be left out where there is only one.

An answer counts once. A quest that runs in lyceum serve, or in a terminal, goes on at
once; any other with lyceum run.`,
		Args: rangeArgs(2, 3, "a quest's name, the number of the question and the answer"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			s, err := a.load(ctx, args[0])
			if err != nil {
				return err
			}
			answered, err := a.rt.Answered(ctx, args[0], s)
			if err != nil {
				return err
			}
			q, err := asked(s, args[0], args[1:len(args)-1], answered)
			if err != nil {
				return err
			}
			text, err := a.words(ctx, args[len(args)-1])
			if err != nil {
				return err
			}
			return a.answer(ctx, args[0], q, text, why)
		},
	}
	cmd.Flags().StringVar(&why, "why", "", "a word with it, such as the reason for a no")
	return a.questArg(cmd)
}

// asked finds the question that is meant, among those that have no answer yet.
func asked(s *quest.State, name string, number []string, answered map[uint64]bool) (quest.Question, error) {
	open := slices.DeleteFunc(s.Open(), func(q quest.Question) bool { return answered[q.Seq] })
	if len(open) == 0 && len(answered) > 0 {
		return quest.Question{}, usagef("what quest %s asks has an answer: go on with lyceum run %s", name, name)
	}
	if len(number) == 0 && len(open) == 1 {
		return open[0], nil
	}
	if len(open) == 0 {
		return quest.Question{}, usagef("quest %s asks nothing", name)
	}
	var numbers []string
	for _, q := range open {
		numbers = append(numbers, strconv.FormatUint(q.Seq, 10))
	}
	if len(number) == 0 {
		return quest.Question{}, usagef("quest %s has %d questions open, %s: say which (lyceum show %s has them)", name, len(open), strings.Join(numbers, ", "), name)
	}
	i := slices.Index(numbers, strings.TrimPrefix(number[0], "#"))
	if i < 0 {
		return quest.Question{}, usagef("quest %s has no open question %.40q: it has %s", name, number[0], strings.Join(numbers, ", "))
	}
	return open[i], nil
}

// words are a text from the command line, or from standard input.
func (a *app) words(ctx context.Context, text string) (string, error) {
	if text == "-" {
		data, err := reading(ctx, func() ([]byte, error) { return io.ReadAll(io.LimitReader(a.in, maxMessage+1)) })
		if err != nil {
			return "", err
		}
		text = string(data)
	}
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")
	if text == "" || len(text) > maxMessage {
		return "", usagef("a message has 1 to %d bytes; this one has %d", maxMessage, len(text))
	}
	return text, nil
}

// reply makes an answer of what somebody typed: an option, or words.
func reply(q *quest.Question, text, why string) *event.InteractionAnswered {
	b := &event.InteractionAnswered{Interaction: q.Seq, Text: why}
	for _, o := range q.Body.Options {
		if strings.EqualFold(o, text) || q.Body.Proposal != "" && strings.EqualFold(o[:1], text) {
			b.Choice = o
			return b
		}
	}
	b.Text = strings.TrimSpace(text + " " + why)
	return b
}

func (a *app) answer(ctx context.Context, name string, q quest.Question, text, why string) error {
	b := reply(&q, text, why)
	if err := q.Check(b); err != nil {
		return usageError{err}
	}
	_, running, err := a.post(ctx, name, b)
	if err != nil {
		return err
	}
	fmt.Fprintln(a.out, a.thanks(ctx, name, running))
	return nil
}

// thanks says what becomes of an answer that was posted.
func (a *app) thanks(ctx context.Context, name string, running bool) string {
	if running || a.lookedAfter(ctx, name) {
		return "Answered. " + name + " goes on."
	}
	return "Answered. Go on with: lyceum run " + name
}

// lookedAfter reports whether a server waits with a quest, and takes what is posted.
func (a *app) lookedAfter(ctx context.Context, name string) bool {
	return a.rt.IsMarked(ctx, name) && a.served(ctx)
}

// served reports whether a server of this home is up.
func (a *app) served(ctx context.Context) bool {
	c, err := client.Find(ctx, a.home, a.rt.Version, os.Getenv(tokenVariable))
	if err == nil {
		c.Close()
	}
	return err == nil
}

// prompts reports whether somebody sits there who could answer.
func (a *app) prompts() bool {
	for _, f := range []any{a.in, a.err} {
		f, ok := f.(*os.File)
		if !ok || !term.IsTerminal(int(f.Fd())) {
			return false
		}
	}
	return true
}

// converse takes lines that are typed while a quest runs for answers to its oldest
// question. Nothing can break off the reading: it ends with the process.
func (p *progress) converse(ctx context.Context) {
	lines := bufio.NewScanner(p.app.in)
	for lines.Scan() {
		p.mu.Lock()
		open := p.open
		p.mu.Unlock()
		text, err := p.app.words(ctx, strings.TrimPrefix(lines.Text(), "-"))
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
		case len(open) == 0:
			p.trouble("Nothing is asked. To say something to the agents: lyceum message " + p.quest + " \"…\"")
		default:
			b := reply(&open[0], text, "")
			if err = open[0].Check(b); err == nil {
				_, err = p.app.rt.Post(ctx, p.quest, ledger.Command{Key: rand.Text(), Body: b})
			}
			if err != nil {
				p.trouble(oneLine(err.Error(), 200))
			}
		}
	}
}
