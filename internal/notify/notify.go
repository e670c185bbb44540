// Package notify tells a person, by a command of theirs, what they should know of a quest
// that they do not watch: that it asks something, and that it has come to rest.
//
// What agents have written reaches the command on its standard input alone, as JSON:
// never as an argument, where a shell or an option parser could make something of it.
package notify

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"lyceum/internal/event"
	"lyceum/internal/plain"
	"lyceum/internal/quest"

	"github.com/go-json-experiment/json"
)

// Notice is what the command reads.
type Notice struct {
	// Kind is question or ended.
	Kind  string `json:"kind"`
	Quest string `json:"quest"`
	// Question is the number of the question, and the rest what it says.
	Question uint64   `json:"question,omitzero"`
	Asker    string   `json:"asker,omitzero"`
	Text     string   `json:"text"`
	Options  []string `json:"options,omitzero"`
	Expires  string   `json:"expires,omitzero"`
	// Status is how the quest has ended.
	Status string `json:"status,omitzero"`
}

// Notifier runs the command of a config.yaml, one at a time.
type Notifier struct {
	// Command is a line for the shell.
	Command string
	// Environ is what the command finds in its environment; keys of models are not in it.
	Environ []string
	// Trouble is told when the command fails.
	Trouble func(string)

	mu    sync.Mutex
	queue []Notice
	work  sync.WaitGroup
	busy  bool
}

// patience is how long a command may take, and how many notices wait behind it. Whoever
// has more to be told than that reads the list of quests.
const (
	patience = 20 * time.Second
	waiting  = 100
)

// Event looks at an event that is durable, and tells of it if it is one to tell.
func (n *Notifier) Event(e event.Event, s *quest.State) {
	notice := Notice{Quest: s.Name}
	switch b := e.Body.(type) {
	case *event.InteractionOpened:
		notice.Kind, notice.Question, notice.Asker = "question", e.Seq, e.Actor
		notice.Text = plain.Text(b.Question.Text)
		for _, o := range b.Options {
			notice.Options = append(notice.Options, plain.Text(o))
		}
		if b.Expires != 0 {
			notice.Expires = b.Expires.String()
		}
	case *event.QuestFinished:
		notice.Kind, notice.Status, notice.Text = "ended", string(s.Status), plain.Brief(b.Answer.Text, 400)
	case *event.QuestFailed, *event.QuestRested, *event.BudgetExceeded:
		notice.Kind, notice.Status, notice.Text = "ended", string(s.Status), plain.Brief(s.Reason, 400)
	default:
		return
	}
	n.tell(notice)
}

func (n *Notifier) tell(notice Notice) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.queue) >= waiting {
		return
	}
	n.queue = append(n.queue, notice)
	if n.busy {
		return
	}
	n.busy = true
	n.work.Go(n.drain)
}

func (n *Notifier) drain() {
	for {
		n.mu.Lock()
		if len(n.queue) == 0 {
			n.busy = false
			n.mu.Unlock()
			return
		}
		next := n.queue[0]
		n.queue = n.queue[1:]
		n.mu.Unlock()
		if err := n.run(next); err != nil && n.Trouble != nil {
			n.Trouble(fmt.Sprintf("the command notify of config.yaml: %v", err))
		}
	}
}

// run has the command read a notice.
func (n *Notifier) run(notice Notice) error {
	data, err := json.Marshal(notice)
	if err != nil {
		return err
	}
	// A quest may end because its process is told to: the command is not cut short by that.
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/bin/sh", "-c", n.Command)
	cmd.Env = append(n.Environ, "LYCEUM_NOTICE="+notice.Kind, "LYCEUM_QUEST="+notice.Quest)
	cmd.Stdin = bytes.NewReader(append(data, '\n'))
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, plain.Brief(string(out), 200))
	}
	return nil
}

// Close waits until all has been told.
func (n *Notifier) Close() error {
	n.work.Wait()
	return nil
}

// Environ is the environment without the variables that hold secrets.
func Environ(secrets []string) (out []string) {
	for _, v := range os.Environ() {
		_, value, _ := strings.Cut(v, "=")
		secret := false
		for _, s := range secrets {
			secret = secret || s != "" && strings.Contains(value, s)
		}
		if !secret {
			out = append(out, v)
		}
	}
	return out
}
