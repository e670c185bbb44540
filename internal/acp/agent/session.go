package agent

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lyceum/internal/acp"
	"lyceum/internal/event"
	"lyceum/internal/ledger"
	"lyceum/internal/mcp/setting"
	"lyceum/internal/plain"
	"lyceum/internal/quest"
	"lyceum/internal/runtime"

	sdk "github.com/coder/acp-go-sdk"
)

// session is one that the client has open. The agent's lock guards turn and choices; all else
// belongs to the work of the one request that is under way for it.
type session struct {
	id, folder string
	choices    choices
	turn       *turn // the prompt that is being worked on

	// seen is the last event that the client was told of, voice what it has heard.
	seen  uint64
	voice *acp.Voice
	// run is the last run of the quest here; own are the numbers in the inbox of what the
	// client said itself, and need not be told.
	run *run
	own map[int64]bool
	// servers are the client's, for a quest that is not made yet, and left says what is not
	// used of them.
	servers setting.Servers
	left    []string
}

func (a *Agent) add(id, folder string, c choices) (*session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.sessions) >= maxSessions {
		return nil, acp.Errorf(acp.InvalidRequest, "%d sessions are open: close some", maxSessions)
	}
	if old := a.sessions[id]; old != nil && old.turn != nil {
		return nil, acp.Errorf(acp.InvalidRequest, "the session %s is working on a prompt: wait for its end, or cancel it", id)
	}
	s := &session{id: id, folder: folder, choices: c, voice: acp.NewVoice(id, &records{rt: a.rt, name: id}), own: map[int64]bool{}}
	if old := a.sessions[id]; old != nil {
		s.run = old.run
	}
	a.sessions[id] = s
	return s, nil
}

// unknown says that there is no session of an id. The id is a stranger's.
func unknown(id sdk.SessionId) error {
	return acp.Errorf(acp.NotFound, "there is no session %s: list them, or begin a new one", plain.Quoted(string(id), 80))
}

func (a *Agent) open(id sdk.SessionId) (*session, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s := a.sessions[string(id)]; s != nil {
		return s, nil
	}
	return nil, unknown(id)
}

// checkFolder refuses what is no absolute path of a folder.
func checkFolder(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return "", acp.Errorf(acp.InvalidParams, "cwd: %s is not an absolute path", plain.Quoted(path, 200))
	}
	path = filepath.Clean(path)
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return "", acp.Errorf(acp.InvalidParams, "cwd: there is no folder %s", plain.Quoted(path, 200))
	}
	return path, nil
}

func (a *Agent) newSession(p *sdk.NewSessionRequest) (func(context.Context) (any, error), error) {
	folder, err := checkFolder(p.Cwd)
	if err != nil {
		return nil, err
	}
	s, err := a.add(nameFor(folder), folder, a.defaults())
	if err != nil {
		return nil, err
	}
	s.servers, s.left = offered(p.McpServers)
	return acp.Done(a.opened(s, sdk.NewSessionResponse{SessionId: sdk.SessionId(s.id), ConfigOptions: a.show(s.choices), Modes: a.modes(s.choices)}))
}

// ignored says that servers of tools are left alone: a quest has those that it was made with.
func (a *Agent) ignored(servers []sdk.McpServer) {
	if len(servers) > 0 {
		a.opts.Say("The quest keeps the MCP servers that it was made with: the client's are for new sessions.")
	}
}

// nameFor makes a name of a folder that no quest has.
func nameFor(folder string) string {
	base := slugOf(filepath.Base(folder), 30)
	return cmp.Or(base, "session") + "-" + strings.ToLower(rand.Text()[:12])
}

// found opens the session of a quest that is there.
func (a *Agent) found(ctx context.Context, id sdk.SessionId, cwd string) (*session, *quest.State, error) {
	folder, err := checkFolder(cwd)
	if err != nil {
		return nil, nil, err
	}
	if !event.ValidName(string(id)) {
		return nil, nil, unknown(id)
	}
	st, err := a.rt.Load(ctx, string(id))
	if errors.Is(err, ledger.ErrNoQuest) {
		return nil, nil, unknown(id)
	} else if err != nil {
		return nil, nil, err
	}
	c := a.standing(st)
	if _, c.mode, err = a.rt.Modes(ctx, string(id), st); err != nil {
		return nil, nil, err
	}
	s, err := a.add(string(id), folder, c)
	if err == nil && a.works(ctx, s, st) == nil {
		s.voice.Folder = folder
	}
	return s, st, err
}

// load tells the client all that a quest has said, and then answers.
func (a *Agent) load(p *sdk.LoadSessionRequest) (func(context.Context) (any, error), error) {
	return func(ctx context.Context) (any, error) {
		s, st, err := a.found(ctx, p.SessionId, p.Cwd)
		if err != nil {
			return nil, err
		}
		a.ignored(p.McpServers)
		for e, err := range a.rt.Ledger.Read(ctx, s.id, 1) {
			if err != nil {
				return nil, err
			}
			if e.Seq > st.Seq {
				break
			}
			for _, n := range s.voice.Event(ctx, e) {
				if err := a.conn.Update(n); err != nil {
					return nil, err
				}
			}
			s.seen = e.Seq
		}
		if err := a.tellTitle(s, st); err != nil {
			return nil, err
		}
		return a.opened(s, sdk.LoadSessionResponse{ConfigOptions: a.show(s.choices), Modes: a.modes(s.choices)}), a.tellUsage(s, st)
	}, nil
}

// resume goes on with a session without telling what was said before.
func (a *Agent) resume(p *sdk.ResumeSessionRequest) (func(context.Context) (any, error), error) {
	return func(ctx context.Context) (any, error) {
		s, st, err := a.found(ctx, p.SessionId, p.Cwd)
		if err != nil {
			return nil, err
		}
		a.ignored(p.McpServers)
		s.seen = st.Seq
		return a.opened(s, sdk.ResumeSessionResponse{ConfigOptions: a.show(s.choices), Modes: a.modes(s.choices)}), nil
	}, nil
}

// close lets go of a session, and cancels what it works on. Its quest stays.
func (a *Agent) close(p *sdk.CloseSessionRequest) (func(context.Context) (any, error), error) {
	s, err := a.open(p.SessionId)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if s.turn != nil {
		s.turn.cancel()
	}
	delete(a.sessions, s.id)
	return acp.Done(sdk.CloseSessionResponse{})
}

// maxListed is how many sessions a page has.
const maxListed = 50

// list gives the quests of a folder, or all, by name. A page begins after the name that its
// cursor is.
func (a *Agent) list(p *sdk.ListSessionsRequest) (func(context.Context) (any, error), error) {
	after := ""
	if p.Cursor != nil {
		data, err := base64.RawURLEncoding.DecodeString(*p.Cursor)
		if after = string(data); err != nil || !event.ValidName(after) {
			return nil, acp.Errorf(acp.InvalidParams, "the cursor is none of this agent's")
		}
	}
	if p.Cwd != nil && !filepath.IsAbs(*p.Cwd) {
		return nil, acp.Errorf(acp.InvalidParams, "cwd: %s is not an absolute path", plain.Quoted(*p.Cwd, 200))
	}
	return func(ctx context.Context) (any, error) {
		heads, err := a.rt.Ledger.Quests(ctx)
		if err != nil {
			return nil, err
		}
		slices.SortFunc(heads, func(a, b ledger.Head) int { return cmp.Compare(a.Quest, b.Quest) })
		out := sdk.ListSessionsResponse{Sessions: []sdk.SessionInfo{}}
		for _, h := range heads {
			folder := a.folderOf(h.Quest)
			if h.Quest <= after || p.Cwd != nil && folder != filepath.Clean(*p.Cwd) {
				continue
			}
			if len(out.Sessions) == maxListed {
				last := out.Sessions[maxListed-1].SessionId
				out.NextCursor = new(base64.RawURLEncoding.EncodeToString([]byte(last)))
				break
			}
			info, err := a.info(ctx, h.Quest, folder)
			if err != nil {
				continue // it cannot be read; lyceum verify says why
			}
			out.Sessions = append(out.Sessions, info)
		}
		return out, nil
	}, nil
}

func (a *Agent) info(ctx context.Context, name, folder string) (info sdk.SessionInfo, err error) {
	st, err := a.rt.Load(ctx, name)
	if err != nil {
		return info, err
	}
	info = sdk.SessionInfo{SessionId: sdk.SessionId(name), Cwd: cmp.Or(folder, a.rt.QuestDir(name)), UpdatedAt: new(st.Time.Time().UTC().Format(time.RFC3339))}
	if title := titleOf(st); title != "" {
		info.Title = &title
	}
	return info, nil
}

// titleOf is what a session is called: how its question begins.
func titleOf(st *quest.State) string {
	first, _, _ := strings.Cut(strings.TrimSpace(st.Problem.Text), "\n")
	return plain.Brief(first, 80)
}

// The folder of a session is noted beside the files of its quest: it is a path of this
// machine, which no ledger should take elsewhere. It is gone when the quest is.

func (a *Agent) folderFile(name string) string {
	return filepath.Join(a.rt.QuestDir(name), "session")
}

func (a *Agent) noteFolder(name, folder string) error {
	return runtime.ReplaceFile(a.folderFile(name), []byte(folder))
}

// folderOf is the folder of a session, empty for a quest that was made elsewhere.
func (a *Agent) folderOf(name string) string {
	data, err := os.ReadFile(a.folderFile(name))
	if err != nil {
		return ""
	}
	return string(data)
}
