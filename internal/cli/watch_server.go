package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"lyceum/internal/api/client"
	"lyceum/internal/model"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"
	"lyceum/internal/tui"
)

// watch shows a quest until a person leaves.
func (a *app) watch(ctx context.Context, name string, s *quest.State) error {
	ctx, leave := context.WithCancel(ctx)
	v := tui.Start(ctx, a.source(ctx, name, nil), s, a.in, a.out)
	heard := make(chan struct{})
	go func() { defer close(heard); a.listen(ctx, name, v) }()
	<-v.Done()
	leave()
	<-heard
	return v.Err()
}

// speaks shows what a model says in a view.
func speaks(v *tui.View, d runtime.Delta) {
	switch d.Kind {
	case model.Retry:
		v.Note(d.Agent + ": " + oneLine(d.Text, 200))
	case "text", model.Restart:
		v.Speaks(d.Agent, d.Call, d.Text, d.Kind == model.Restart)
	}
}

// listenAgain is how long after the server had nothing to say, or there was none, it is asked again.
const listenAgain = 3 * time.Second

// listen hears what models of a quest say while they say it, as long as the server of the home runs it.
// Of another process that runs it nobody hears that; what was said is in the ledger.
func (a *app) listen(ctx context.Context, name string, v *tui.View) {
	for ctx.Err() == nil {
		a.listenOnce(ctx, name, v)
		select {
		case <-time.After(listenAgain):
		case <-ctx.Done():
		}
	}
}

func (a *app) listenOnce(ctx context.Context, name string, v *tui.View) {
	claimed, err := a.rt.Ledger.Claimed(name)
	if err != nil || !claimed {
		return
	}
	c, err := client.Find(ctx, a.home, a.rt.Version, os.Getenv(tokenVariable))
	if err != nil {
		return
	}
	defer c.Close()
	head, err := a.rt.Ledger.Head(ctx, name)
	if err != nil {
		return
	}
	for sig, err := range c.Follow(ctx, name, head.Seq) {
		var d runtime.Delta
		switch {
		case err != nil || sig.Kind == "end" || sig.Kind == "cut":
			return
		case sig.Kind == "delta" && json.Unmarshal(sig.Data, &d) == nil:
			speaks(v, d)
		}
	}
}

// follow shows a quest that the server runs, as run shows one that runs here. It stays when the quest
// has ended; who leaves before leaves it running.
func (sh *showing) follow(ctx context.Context, a *app, name string, s *quest.State) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	v := tui.Start(ctx, a.source(ctx, name, nil), s, a.in, a.out)
	v.Notice("It runs in lyceum serve: q leaves it running.")
	heard := make(chan struct{})
	go func() { defer close(heard); a.listen(ctx, name, v) }()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		sh.linger(ctx, a, name, s, v)
	}()
	<-v.Done()
	leave()
	<-heard
	<-ended
	if err := v.Err(); err != nil {
		return err
	}
	end, err := a.rt.Load(context.WithoutCancel(ctx), name)
	if err != nil {
		return err
	}
	if end.Status == quest.Running {
		return a.leftRunning(name)
	}
	return a.printOutcome(context.WithoutCancel(ctx), name, end, false)
}

// linger waits until a quest has its answer, and lets the view stay then.
func (sh *showing) linger(ctx context.Context, a *app, name string, s *quest.State, v *tui.View) {
	for e, err := range a.rt.Ledger.Follow(ctx, name, s.Seq+1) {
		if err != nil {
			return
		}
		if e.Type == "quest.finished" {
			v.Notice(fmt.Sprintf("The quest is finished. esc looks around; q leaves, and so do %v without a key.", lookAround))
			v.Linger(lookAround)
			return
		}
	}
}

// forkHere makes a fork of a quest after an event.
func (a *app) forkHere(ctx context.Context, name, as string, at uint64) (string, error) {
	if as != "" {
		if err := checkName(as); err != nil {
			return "", err
		}
	}
	s, err := a.rt.Fork(ctx, name, runtime.ForkOptions{Name: as, At: at})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("Forked at %d as %s. Run it with: lyceum run %s", at, s.Name, s.Name), nil
}

// browse opens a quest on the page of the server that is up.
func (a *app) browse(name string) (string, error) {
	note, err := client.Look(a.home)
	if err != nil {
		return "", fmt.Errorf("no server is up: start one with lyceum serve --open")
	}
	page := note.Pages[0] + "#/q/" + name
	openBrowser(page)
	return "Opened " + page + ". A browser that is not signed in: lyceum serve --link --open", nil
}
