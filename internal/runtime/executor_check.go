package runtime

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"

	"lyceum/internal/computer"
	"lyceum/internal/event"
	"lyceum/internal/executor"
	"lyceum/internal/scratch"
)

// CheckExecutor starts an executor in a computer of its own, which is gone afterwards, and asks
// what it is. No model is asked: there is none at the gateway. driver is as quests name it.
func (r *Runtime) CheckExecutor(ctx context.Context, name, driver string, progress func(string)) (info executor.Info, err error) {
	if r.Executors == nil {
		return info, fmt.Errorf("no executor %s is known here", name)
	}
	set, _, err := r.Executors(name)
	if err != nil {
		return info, err
	}
	folder, err := r.executorFolder(set, name)
	if err != nil {
		return info, err
	}
	made, err := r.driver(ctx, driver)
	if err != nil {
		return info, err
	}
	cache := filepath.Join(r.Home, "cache")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return info, err
	}
	temp, err := scratch.New(cache, "executor-")
	if err != nil {
		return info, err
	}
	place := computer.Place{Home: filepath.Join(temp.Path, "home"), Dir: filepath.Join(temp.Path, "computer")}
	defer func() {
		ended, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
		defer cancel()
		err = errors.Join(err, clearPlace(ended, place, made), temp.Close())
	}()
	if err := furnish(place.Home, nil); err != nil {
		return info, err
	}
	spec := computer.Spec{Driver: driver, Limits: computer.DefaultLimits, Digests: r.digests()}
	nobody := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "this computer is only tried: nobody answers here", http.StatusServiceUnavailable)
	})
	admit := func(string) bool { return true }
	ports := equip(&spec, set, folder, map[string]computer.Port{gatewayPort: {Handler: nobody, Admit: admit}, toolsPort: {Handler: nobody, Admit: admit}})
	c, err := computer.Open(ctx, made, place, spec, computer.Options{Progress: progress, Ports: ports})
	if err != nil {
		return info, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	words, _, err := wordsFor(c, set, scratchAgent, "none")
	if err != nil {
		return info, err
	}
	at, let := context.WithCancel(ctx)
	defer let()
	x, err := executor.New(at, executor.Agent{
		Computer: c, ID: executorID, Settings: filled(set, words), Journal: filepath.Join(place.Dir, journalFile), Host: noHost{}, Version: r.Version,
	})
	if err != nil {
		return info, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	if info, err = x.Ready(ctx); err != nil {
		return info, err
	}
	if _, err = x.Open(ctx, ""); err != nil {
		return info, err
	}
	return x.Ready(ctx) // by now it has its mode
}

// scratchAgent is who an executor is that is only tried.
const scratchAgent = "check"

// noHost is that of an executor which is asked for nothing.
type noHost struct{}

var errTried = errors.New("the executor is only tried: it may do nothing")

func (noHost) Report(context.Context, event.Body) error                       { return nil }
func (noHost) Live(string, string)                                            {}
func (noHost) Permit(context.Context, *event.PermissionAsked) (string, error) { return "", errTried }
func (noHost) Ask(context.Context, executor.Question) ([]byte, error)         { return nil, errTried }
func (noHost) Write(context.Context, string) error                            { return errTried }
func (noHost) Run(context.Context, computer.Command) error                    { return errTried }
