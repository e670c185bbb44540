package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"lyceum/internal/api"
	"lyceum/internal/chat"
	"lyceum/internal/config"
	"lyceum/internal/connector"
	sorts "lyceum/internal/connector/drivers"
	"lyceum/internal/event"
	"lyceum/internal/keyring"
	"lyceum/internal/ledger"
	"lyceum/internal/runtime"
	"lyceum/internal/view"
)

// connectors makes the connectors of config.yaml ready. What is wrong with one is its Fault, and
// no reason not to have the others.
func connectors(ctx context.Context, conf *config.Config) map[string]*connector.Connector {
	out := map[string]*connector.Connector{}
	if conf == nil {
		return out
	}
	kinds := sorts.Kinds()
	for name, c := range conf.Connectors {
		x := &connector.Connector{Name: name, Allow: map[string]connector.Right{}}
		out[name] = x
		kind, ok := kinds[c.Driver]
		if !ok {
			x.Fault = fmt.Errorf("connector %s: there is no driver %.40q: there are %s", name, c.Driver, strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
			continue
		}
		x.Most = kind.Most
		for sender, right := range c.Allow {
			if x.Allow[sender], x.Fault = connector.ParseRight(right); x.Fault != nil {
				break
			}
		}
		set := connector.Settings{Name: name, Values: c.Values, Secrets: map[string]string{}}
		for secret, variable := range c.Variables {
			if set.Secrets[secret], x.Fault = secretOf(ctx, name, variable); x.Fault != nil {
				break
			}
			x.Secrets = append(x.Secrets, set.Secrets[secret])
		}
		if x.Fault == nil {
			x.Driver, x.Fault = kind.Make(set)
		}
	}
	return out
}

// secretOf is what a variable holds, in the environment or the keyring.
func secretOf(ctx context.Context, name, variable string) (string, error) {
	if v := strings.TrimSpace(os.Getenv(variable)); v != "" {
		return v, nil
	}
	v, err := keyring.Get(ctx, variable)
	if v = strings.TrimSpace(v); v != "" && err == nil {
		return v, nil
	}
	return "", &noKey{name, variable}
}

// noKey says that a connector lacks a key, and where it looked.
type noKey struct{ connector, variable string }

func (e *noKey) Error() string {
	return fmt.Sprintf("connector %s has no key: %s", e.connector, e.fix())
}

// fix is how to give it one.
func (e *noKey) fix() string {
	how := "set " + e.variable
	if store := keyring.Storing(e.variable); store != "" {
		how += ", or store it with: " + store
	}
	return how
}

// connectorSecrets are the keys of connectors that stand in the environment.
func connectorSecrets(conf *config.Config) (out []string) {
	if conf == nil {
		return nil
	}
	for _, c := range conf.Connectors {
		for _, v := range c.Variables {
			out = append(out, strings.TrimSpace(os.Getenv(v)))
		}
	}
	return out
}

// box is what the home keeps of connectors.
func (a *app) box() connector.Box { return connector.Box{Notes: a.rt.Ledger, Clock: a.rt.Clock} }

// officeLock is the file whose lock the one has who sends.
func (a *app) officeLock() string { return filepath.Join(a.home, "connectors.lock") }

// office makes what sends and receives by the connectors of config.yaml; nil, if there are none. It
// is made before anything runs: from then on their keys are taken out of whatever is recorded.
func (a *app) office(ctx context.Context) *connector.Office {
	all := connectors(ctx, a.config)
	if len(all) == 0 {
		return nil
	}
	var keys []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		keys = append(keys, all[name].Secrets...)
	}
	hidden := a.rt.Secrets
	a.rt.Secrets = func() []string { return append(hidden(), keys...) }
	return &connector.Office{Box: a.box(), Connectors: all, Trouble: func(line string) {
		a.showing.say(a.err, printable(a.rt.Redact(line)))
	}}
}

// connect runs an office beside something else. Whoever calls the function that is returned waits
// for its end.
func (a *app) connect(ctx context.Context, o *connector.Office) (stop func()) {
	if o == nil {
		return func() {}
	}
	for _, name := range slices.Sorted(maps.Keys(o.Connectors)) {
		if fault := o.Connectors[name].Fault; fault != nil {
			o.Trouble(fault.Error())
		}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var work sync.WaitGroup
	work.Go(func() { o.Run(ctx, a.officeLock()) })
	return sync.OnceFunc(func() { cancel(); work.Wait() })
}

// lastTry is how long a command that ends tries to send what was said last.
const lastTry = 10 * time.Second

// sending sends while a quest runs here, and what was said last when it has come to rest. Where
// another process sends already, that one does. say is told of trouble; nil is standard error.
func (a *app) sending(ctx context.Context, say func(line string)) (end func()) {
	o := a.office(ctx)
	if o != nil && say != nil {
		o.Trouble = func(line string) { say(printable(a.rt.Redact(line))) }
	}
	stop := a.connect(ctx, o)
	return func() {
		if stop(); o != nil && ctx.Err() == nil {
			a.flush(ctx, o)
		}
	}
}

// flush sends what can be sent now, and says how much is left.
func (a *app) flush(ctx context.Context, o *connector.Office) {
	ctx, cancel := context.WithTimeout(ctx, lastTry)
	defer cancel()
	o.Once = true
	o.Run(ctx, a.officeLock())
	all, err := o.Box.Deliveries(context.WithoutCancel(ctx))
	if err != nil {
		o.Trouble(err.Error())
	}
	left := 0
	for _, d := range all {
		if d.State == connector.Waiting {
			left++
		}
	}
	if left > 0 {
		fmt.Fprintf(a.err, "%s to be sent by lyceum serve, or by lyceum connector send\n", view.Several(int64(left), "delivery waits", "deliveries wait"))
	}
}

// saying is a server's quests, as connectors see them.
type saying struct {
	server *api.Server
	rt     *runtime.Runtime
}

// Needs implements connector.Quests.
func (q saying) Needs(text string) connector.Right {
	switch cmd, _, err := chat.Parse(text); {
	case err != nil || cmd != nil && cmd.Looks():
		return connector.Read // one that is none is answered with those there are
	case cmd != nil:
		return connector.Control
	}
	return connector.Talk
}

// Say implements connector.Quests.
func (q saying) Say(ctx context.Context, quest, key, source string, m connector.Message) (string, error) {
	said := api.NewMessage{Text: m.Text, Source: source, Sender: m.Sender, Conversation: m.Conversation, Key: key}
	for _, f := range m.Files {
		said.Attachments = append(said.Attachments, api.NewAttachment{Name: f.Name, Data: f.Data})
	}
	posted, err := q.server.Say(ctx, quest, said)
	return posted.Reply, refusal(err)
}

// Bind implements connector.Quests.
func (q saying) Bind(ctx context.Context, quest, key string, b *event.ConversationBound) error {
	return refusal(q.server.Bind(ctx, quest, key, b))
}

// Gone implements connector.Quests.
func (q saying) Gone(ctx context.Context, quest string) (bool, error) { return gone(ctx, q.rt, quest) }

func gone(ctx context.Context, rt *runtime.Runtime, quest string) (bool, error) {
	_, err := rt.Ledger.Head(ctx, quest)
	if errors.Is(err, ledger.ErrNoQuest) {
		return true, nil
	}
	return false, err
}

// refusal is what the server refuses for good, as connectors say it.
func refusal(err error) error {
	if reason, ok := api.Refusal(err); ok {
		return &connector.Refused{Reason: reason}
	}
	return err
}
