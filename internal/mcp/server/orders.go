package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxWait is how long run waits at most.
const maxWait = 60 * time.Second

type createIn struct {
	Question string          `json:"question,omitempty" jsonschema:"what to find out; give this, or spec, yaml or example"`
	Society  string          `json:"society,omitempty" jsonschema:"with question: solo (one agent), lab (several write papers and review each other) or contract (a planner, workers and an auditor)"`
	Model    string          `json:"model,omitempty" jsonschema:"the model, such as anthropic:<name>; that of config.yaml if not said"`
	Name     string          `json:"name,omitempty" jsonschema:"what the quest is called: small letters, digits and hyphens"`
	Spec     json.RawMessage `json:"spec,omitempty" jsonschema:"the members of a quest.yaml, as an object"`
	YAML     string          `json:"yaml,omitempty" jsonschema:"a quest.yaml"`
	Example  string          `json:"example,omitempty" jsonschema:"an example of Lyceum's, such as lab-number"`
	Files    []fileIn        `json:"files,omitempty" jsonschema:"files beside the quest.yaml"`
}

type fileIn struct {
	Path   string  `json:"path" jsonschema:"a plain path below the quest's folder"`
	Text   *string `json:"text,omitempty"`
	Base64 *string `json:"base64,omitempty"`
}

type createOut struct {
	Notice string `json:"notice"`
	glance
	Next string `json:"next" jsonschema:"what to do now"`
}

// create makes a quest.
func (s *Server) create(ctx context.Context, c *call, in createIn) (*createOut, error) {
	body := map[string]any{}
	set := func(name, value string) {
		if value != "" {
			body[name] = value
		}
	}
	set("yaml", in.YAML)
	set("example", in.Example)
	set("name", in.Name)
	set("model", in.Model)
	if len(in.Spec) > 0 {
		body["spec"] = in.Spec
	}
	if len(in.Files) > 0 {
		body["files"] = in.Files
	}
	if in.Question != "" {
		if len(in.Spec) > 0 || in.YAML != "" || in.Example != "" {
			return nil, errors.New("question: give one of question, spec, yaml and example")
		}
		if in.Name == "" {
			name, err := s.nameFor(ctx, in.Question)
			if err != nil {
				return nil, err
			}
			body["name"] = name
		}
		spec := map[string]any{"problem": in.Question}
		if in.Society != "" {
			spec["society"] = in.Society
		}
		body["spec"] = spec
	} else if in.Society != "" {
		return nil, errors.New("society: it goes with question; a spec has its own")
	}
	d := new(detailJSON)
	if err := s.order(ctx, http.MethodPost, "/api/quests", body, maxText, d); err != nil {
		return nil, err
	}
	out := &createOut{Notice: notice, glance: d.glance()}
	out.Open = len(d.Questions)
	if out.CostLimit == "" {
		out.CostLimit = s.opts.Cost
	}
	out.Next = fmt.Sprintf("run it: it may cost up to $%s, unless run is given another cost_usd", out.CostLimit)
	return out, nil
}

// nameFor makes a name of the first words of a question that no quest has yet.
func (s *Server) nameFor(ctx context.Context, question string) (string, error) {
	words := strings.FieldsFunc(strings.ToLower(question), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	base := ""
	for _, w := range words {
		if len(base)+len(w) > 40 {
			break
		}
		base = strings.TrimPrefix(base+"-"+w, "-")
	}
	if base == "" {
		base = "question"
	}
	all, err := s.quests(ctx)
	if err != nil {
		return "", err
	}
	taken := map[string]bool{}
	for _, q := range all {
		taken[q.Name] = true
	}
	name := base
	for n := 2; taken[name]; n++ {
		name = base + "-" + strconv.Itoa(n)
	}
	return name, nil
}

type runIn struct {
	Quest  string  `json:"quest" jsonschema:"the quest's name"`
	Cost   string  `json:"cost_usd,omitempty" jsonschema:"a limit on what it may cost in all, in dollars, such as 2.50"`
	Turns  int64   `json:"turns,omitempty" jsonschema:"a limit on the turns of its agents"`
	Tokens int64   `json:"tokens,omitempty" jsonschema:"a limit on tokens"`
	Wait   float64 `json:"wait,omitempty" jsonschema:"how many seconds to wait for it to rest, 0 to 60; without it run returns at once and the quest goes on"`
}

type runOut struct {
	standing
	Limit string `json:"limit" jsonschema:"the limit on its cost, in words, and where it comes from"`
}

// limitsIn are limits as the API takes them.
type limitsIn struct {
	Cost   string `json:"cost_usd,omitempty"`
	Turns  *int64 `json:"turns,omitempty"`
	Tokens *int64 `json:"tokens,omitempty"`
}

// limits are what a quest is run with. One that has a limit on its cost keeps it, unless the
// request has another; one that has none gets the usual one.
func (s *Server) limits(in *runIn, d *detailJSON) (l limitsIn, words string) {
	if in.Turns != 0 {
		l.Turns = &in.Turns
	}
	if in.Tokens != 0 {
		l.Tokens = &in.Tokens
	}
	switch has := d.Limits.Cost; {
	case in.Cost != "":
		l.Cost, words = in.Cost, fmt.Sprintf("it may cost up to $%s, as asked for", s.told(in.Cost, 30))
	case has != nil:
		words = fmt.Sprintf("it may cost up to $%s, the quest's own limit", *has)
	default:
		l.Cost, words = s.opts.Cost, fmt.Sprintf("it may cost up to $%s, the limit for work that is started from outside", s.opts.Cost)
	}
	return l, words
}

// run starts a quest, or goes on with it, and waits for it if that is wanted.
func (s *Server) run(ctx context.Context, c *call, in runIn) (*runOut, error) {
	if in.Wait < 0 || in.Wait > maxWait.Seconds() {
		return nil, fmt.Errorf("wait: want 0 to %.0f seconds; call run again to wait longer", maxWait.Seconds())
	}
	d, err := s.detail(ctx, in.Quest)
	if err != nil {
		return nil, err
	}
	var words string
	if d.Running {
		words, err = s.runs(&in, d)
	} else {
		var l limitsIn
		l, words = s.limits(&in, d)
		words, err = s.start(ctx, in.Quest, l, words, in.Cost == "")
		if refusal, ok := errors.AsType[*refused](err); ok && refusal.status == http.StatusConflict {
			// Whoever calls again to wait longer may find that it has ended, just now perhaps; or
			// that somebody has just started it.
			now, problem := s.detail(ctx, in.Quest)
			switch {
			case problem == nil && answered(now.Status):
				words, in.Wait, err = refusal.message, 0, nil
			case problem == nil && now.Running:
				words, err = s.runs(&in, now)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	if in.Wait > 0 {
		if err := c.rest(ctx, in.Quest, d.Events, time.Duration(in.Wait*float64(time.Second))); err != nil {
			return nil, err
		}
	}
	st, err := c.standing(ctx, in.Quest)
	if err != nil {
		return nil, err
	}
	return &runOut{*st, words}, nil
}

// runs says of a quest that runs already under which limit.
func (s *Server) runs(in *runIn, d *detailJSON) (string, error) {
	if in.Cost != "" || in.Turns != 0 || in.Tokens != 0 {
		return "", fmt.Errorf("quest %s runs already, with the limits that it has: stop it first to give it others", in.Quest)
	}
	if d.Limits.Cost == nil {
		return "it runs already, and was started without a limit on its cost", nil
	}
	_, words := s.limits(in, d)
	return words, nil
}

// answered reports whether a quest has ended with an answer.
func answered(status string) bool { return status == "finished" || status == "completed_with_warnings" }

// start has a quest run. Where nobody knows the price of its model a limit on the cost means
// nothing: then one on turns or tokens must stand for the usual one.
func (s *Server) start(ctx context.Context, name string, l limitsIn, words string, usual bool) (string, error) {
	order := func() error {
		body := map[string]any{"action": "start"}
		if l != (limitsIn{}) {
			body["limits"] = l
		}
		return s.order(ctx, http.MethodPost, questPath(name, "control"), body, maxText, nil)
	}
	err := order()
	refusal, ok := errors.AsType[*refused](err)
	if ok && usual && refusal.field == "limits.cost_usd" && (l.Turns != nil || l.Tokens != nil) {
		l.Cost = ""
		return "nobody knows what its model costs: it is limited by turns or tokens, as asked for", order()
	}
	return words, err
}

// rest waits until a quest rests: it has ended, is paused, or waits for a person.
func (c *call) rest(ctx context.Context, name string, after uint64, most time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	told := c.progress()
	err := c.server.follow(ctx, name, after, func(n *news) (bool, error) {
		told.tell(ctx, n.seq, n.line())
		switch {
		case n.kind == "end":
			return false, nil
		case !strings.HasPrefix(n.eventType(), "quest.") && !strings.HasPrefix(n.eventType(), "interaction."):
			return true, nil
		}
		var q summaryJSON
		err := c.server.ask(ctx, questPath(name), maxWord, &q)
		return q.Status == "running" || q.Status == "created" || q.Status == "interrupted", err
	})
	if ctx.Err() != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil // it goes on
	}
	return err
}

// news is one entry of a quest's stream.
type news struct {
	kind string
	seq  uint64
	data []byte
}

func (n *news) eventType() string {
	var e struct{ Type string }
	_ = json.Unmarshal(n.data, &e) // what is none has no type
	return e.Type
}

func (n *news) line() string {
	var e struct{ Type, Actor string }
	_ = json.Unmarshal(n.data, &e)
	return strings.TrimSpace(cut(e.Actor, 100) + " " + cut(e.Type, 100))
}

// maxFrame is how long a line of a stream may be.
const maxFrame = 16 << 20

// follow has each event of a quest after one told, until tell says that it is enough, the
// stream ends, or the context does.
func (s *Server) follow(ctx context.Context, name string, after uint64, tell func(*news) (more bool, err error)) error {
	resp, err := s.send(ctx, http.MethodGet, questPath(name, "events")+"?after="+strconv.FormatUint(after, 10), nil, "text/event-stream")
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, maxFrame)
	n := news{kind: "message"}
	for lines.Scan() {
		name, value, _ := bytes.Cut(lines.Bytes(), []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "id":
			n.seq, _ = strconv.ParseUint(string(value), 10, 64)
		case "event":
			n.kind = string(value)
		case "data":
			n.data = bytes.Clone(value)
		case "":
			if n.data != nil && n.kind != "delta" {
				if more, err := tell(&n); !more || err != nil {
					return err
				}
			}
			n = news{kind: "message"}
		}
	}
	return lines.Err()
}

type messageIn struct {
	Quest string `json:"quest" jsonschema:"the quest's name"`
	Text  string `json:"text" jsonschema:"what to say"`
	To    string `json:"to,omitempty" jsonschema:"one agent; all if not said"`
}

type postedOut struct {
	Quest   string `json:"quest"`
	ID      int64  `json:"id" jsonschema:"its number in the quest's inbox"`
	Running bool   `json:"running" jsonschema:"somebody runs the quest and takes it soon; if not, run does"`
}

func (s *Server) message(ctx context.Context, _ *call, in messageIn) (*postedOut, error) {
	out := &postedOut{}
	err := s.order(ctx, http.MethodPost, questPath(in.Quest, "messages"), map[string]any{"text": in.Text, "to": in.To}, maxText, out)
	out.Quest = in.Quest
	return out, err
}

type answerIn struct {
	Quest    string `json:"quest" jsonschema:"the quest's name"`
	Question uint64 `json:"question" jsonschema:"the id of the question, as status shows it"`
	Choice   string `json:"choice,omitempty" jsonschema:"one of the question's options"`
	Text     string `json:"text,omitempty" jsonschema:"an answer in words, or what there is to say with the choice"`
}

func (s *Server) answer(ctx context.Context, _ *call, in answerIn) (*postedOut, error) {
	out := &postedOut{}
	err := s.order(ctx, http.MethodPost, questPath(in.Quest, "answers"), map[string]any{"question": in.Question, "choice": in.Choice, "text": in.Text}, maxText, out)
	out.Quest = in.Quest
	return out, err
}

type stopIn struct {
	Quest string `json:"quest" jsonschema:"the quest's name"`
	Pause bool   `json:"pause,omitempty" jsonschema:"pause it instead: what is under way comes in, nothing new begins"`
}

type controlledOut struct {
	Notice string `json:"notice"`
	glance
	Told bool `json:"told" jsonschema:"another process has the quest, and acts soon"`
}

func (s *Server) stop(ctx context.Context, _ *call, in stopIn) (*controlledOut, error) {
	action := "stop"
	if in.Pause {
		action = "pause"
	}
	return s.control(ctx, in.Quest, map[string]any{"action": action})
}

func (s *Server) control(ctx context.Context, name string, order map[string]any) (*controlledOut, error) {
	var got struct {
		Quest summaryJSON `json:"quest"`
		Told  bool        `json:"told"`
	}
	if err := s.order(ctx, http.MethodPost, questPath(name, "control"), order, maxText, &got); err != nil {
		return nil, err
	}
	return &controlledOut{notice, got.Quest.glance(), got.Told}, nil
}

type forkIn struct {
	Quest   string `json:"quest" jsonschema:"the quest to begin as"`
	At      uint64 `json:"at,omitempty" jsonschema:"the last event to take over; all if not said"`
	Name    string `json:"name,omitempty" jsonschema:"what the new quest is called"`
	Model   string `json:"model,omitempty" jsonschema:"another model"`
	Seed    string `json:"seed,omitempty" jsonschema:"another seed"`
	Message string `json:"message,omitempty" jsonschema:"something to say to the agents first"`
}

func (s *Server) fork(ctx context.Context, _ *call, in forkIn) (*controlledOut, error) {
	order := map[string]any{"action": "fork"}
	for name, value := range map[string]string{"name": in.Name, "model": in.Model, "seed": in.Seed, "message": in.Message} {
		if value != "" {
			order[name] = value
		}
	}
	if in.At > 0 {
		order["at"] = in.At
	}
	return s.control(ctx, in.Quest, order)
}

func (s *Server) addOrders() {
	offer(s, "create", "Make a quest", "Make a quest of a question, a quest.yaml or an example. It does not run yet, and costs nothing: use run.",
		hints{access: Own}, s.create)
	offer(s, "run", "Run a quest", "Start a quest, or go on with one that rests. It runs in the background and costs money, up to a limit that the result shows. With wait the call waits up to 60 seconds for the quest to rest; call it again to wait longer.",
		hints{access: Steer, destructive: true, world: true}, s.run)
	offer(s, "message", "Say something to agents", "Say something to the agents of a quest, as a person.", hints{access: Steer, world: true}, s.message)
	offer(s, "answer", "Answer a question", "Answer a question that a quest asks a person, such as whether an agent may do what it proposes. It cannot be taken back: ask your user first.",
		hints{access: Steer, destructive: true, again: true, world: true}, s.answer)
	offer(s, "stop", "Stop or pause a quest", "Stop a quest, or pause it. run goes on with it; nothing that is recorded is lost.", hints{access: Steer, again: true}, s.stop)
	offer(s, "fork", "Fork a quest", "Make a new quest that begins as another did, up to any event, to go another way: with another model, another seed or a message. It does not run yet.",
		hints{access: Own}, s.fork)
}
