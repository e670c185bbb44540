package runtime

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"lyceum/internal/computer"
	"lyceum/internal/computer/proxy"
	"lyceum/internal/event"
	"lyceum/internal/mcp/setting"
	"lyceum/internal/quest"
	"lyceum/internal/workspace"

	"github.com/go-json-experiment/json"
)

// A quest that was imported is a stranger's: what its agents' computers may do was chosen
// by whoever made it. For each such quest there is a file in the home's folder imported,
// with the hash of the quest's first event and what the owner of this home has allowed.
// The word is no event of the ledger, which is the stranger's too and goes on to others.
// A fork has the file of its origin. The file is on disk before the quest is.

// Allowance is what the owner of a home lets a quest do that came from elsewhere. The zero
// value allows nothing but what happens within computers without a network.
type Allowance struct {
	// Network lets its computers connect to the hosts of the public internet that it asks
	// for, by the filtering proxy. Addresses of private networks are never among them.
	Network bool `json:"network,omitzero"`
	// OpenNetwork gives an open network, that of this machine and its surroundings
	// included, to a quest that asks for one.
	OpenNetwork bool `json:"open_network,omitzero"`
	// Hosts are further ones that its computers may connect to, as the owner named them:
	// entries like those of network.allow, private addresses included.
	Hosts []string `json:"hosts,omitempty"`
	// Build lets an image be built from the Dockerfile that it brings, without a network;
	// BuildNetwork with one.
	Build        bool `json:"build,omitzero"`
	BuildNetwork bool `json:"build_network,omitzero"`
	// Servers lets its MCP servers be used, but for those that want a value of this machine's
	// environment or a login: these are used only as the owner's own config.yaml has them.
	Servers bool `json:"servers,omitzero"`
}

// Imported is what the home knows of a quest that came from elsewhere.
type Imported struct {
	First   event.Hash `json:"first"`
	Allowed Allowance  `json:"allowed"`
}

func (r *Runtime) importedPath(name string) string { return filepath.Join(r.Home, "imported", name) }

// Imported returns what is known of a quest that came from elsewhere, nil for one that was
// made here.
func (r *Runtime) Imported(ctx context.Context, name string) (*Imported, error) {
	im := new(Imported)
	there, err := readNote(r.importedPath(name), im)
	if there {
		_, err = proxy.Parse(im.Allowed.Hosts)
	}
	if err != nil {
		return nil, fmt.Errorf("read what quest %s, which was imported, is allowed: %w; remove the quest with lyceum clean %s --data and import it again", name, err, name)
	}
	if there {
		there, err = r.isAbout(ctx, name, im.First)
	}
	if !there {
		return nil, err
	}
	return im, nil
}

// Allow records what the owner of the home lets an imported quest do: what it is allowed
// already, changed. Computers that are up are as they were begun.
func (r *Runtime) Allow(ctx context.Context, name string, change func(*Allowance)) error {
	im, err := r.Imported(ctx, name)
	if err != nil {
		return err
	}
	if im == nil {
		return BadPlan("quest %s was made here: it may do what its quest.yaml says, and there is nothing to allow", name)
	}
	change(&im.Allowed)
	if _, err := proxy.Parse(im.Allowed.Hosts); err != nil {
		return &PlanError{err}
	}
	return r.keepImported(name, im)
}

// keepImported makes what is known of an imported quest durable: should it be lost in a
// crash and the quest not, a stranger's quest would count as the owner's.
func (r *Runtime) keepImported(name string, im *Imported) error {
	if err := r.keepNote(r.importedPath(name), im); err != nil {
		return fmt.Errorf("note that quest %s was imported: %w", name, err)
	}
	return nil
}

// bequeath has a fork be as much of a stranger's as its origin is.
func (r *Runtime) bequeath(ctx context.Context, from, to string) error {
	im, err := r.Imported(ctx, from)
	if err != nil || im == nil {
		return err
	}
	return r.keepImported(to, im)
}

// Reaches reports whether a quest that came from elsewhere may have a host of the public internet
// asked that it names by itself.
func (a Allowance) Reaches(host string) bool {
	rules, err := proxy.Parse(a.Hosts)
	return a.Network || err == nil && rules.Allows(host, 443) == nil
}

// restrict takes from the computers of an imported quest what nobody here has allowed.
// own says that the quest brings a Dockerfile of its own.
func (a Allowance) restrict(s *computer.Spec, name string, own bool, owner workspace.Bounds) {
	// Its maker may have hidden less than the owner of this home does.
	s.Bounds = s.Bounds.Narrow(owner)
	asked := s.Network
	s.Network = computer.Network{Allow: slices.Clone(a.Hosts)}
	switch {
	case asked.Open && a.OpenNetwork:
		s.Network = asked
	case asked.Open && a.Network:
		s.Network.Allow = append(s.Network.Allow, proxy.Public...)
	case a.Network:
		s.Network.Allow = append(s.Network.Allow, proxy.WithoutPrivate(asked.Allow)...)
	}
	switch {
	case !own, a.BuildNetwork: // Lyceum's own Dockerfile, or the owner's word
	case a.Build:
		s.Build.Offline = true
	default:
		s.Build.Refused = fmt.Sprintf("quest %s was imported and brings a Dockerfile, and what a stranger wrote is not built unasked: see what it asks for with lyceum show %s --asks, then allow it with lyceum run %s --build, or with --build-network if its build needs the network", name, name, name)
	}
}

// Asks is what a quest asks for that its agents could not do by words alone.
type Asks struct {
	// Models are those that its agents work with, at whose providers it costs money.
	Models []string `json:"models"`
	// Computer is the kind of computers its agents have, empty for none.
	Computer string `json:"computer,omitempty"`
	// Network is none, allow or open; Hosts are those of the list.
	Network string   `json:"network"`
	Hosts   []string `json:"hosts,omitempty"`
	// Dockerfile is what its image is built from, if it brings one.
	Dockerfile string `json:"dockerfile,omitempty"`
	// Servers are the MCP servers that it names, in its own words.
	Servers []AskedServer `json:"servers,omitempty"`
}

// AskedServer is an MCP server that a quest names.
type AskedServer struct {
	Name string `json:"name"`
	// Run is the line that starts it in the agents' computers, URL where it is otherwise.
	Run string `json:"run,omitempty"`
	URL string `json:"url,omitempty"`
	// Withheld says why it is not used, of a quest that came from elsewhere.
	Withheld string `json:"withheld,omitempty"`
}

// askedServers are the servers of a quest. allowed is nil of a quest that was made here.
func (r *Runtime) askedServers(ctx context.Context, s *quest.State, allowed *Allowance) (out []AskedServer, err error) {
	for _, pin := range s.Servers {
		set, err := r.serverOf(ctx, pin)
		if err != nil {
			return nil, err
		}
		asked := AskedServer{Name: pin.Name, Run: Clean(set.Run), URL: Clean(set.URL)}
		if allowed != nil {
			asked.Withheld = r.foreign(*allowed, pin.Name, set)
		}
		out = append(out, asked)
	}
	return out, nil
}

// serverOf is what is pinned of a server.
func (r *Runtime) serverOf(ctx context.Context, pin event.ServerPin) (set setting.Server, err error) {
	data, err := r.Blob(ctx, pin.Settings)
	if err == nil {
		err = json.Unmarshal(data, &set)
	}
	if err != nil {
		err = fmt.Errorf("read what is said of the server %s: %w", pin.Name, err)
	}
	return set, err
}

// foreign says why a server of a quest that came from elsewhere is not used, empty if it is. What
// this home's config.yaml has in the same words is the owner's.
func (r *Runtime) foreign(a Allowance, name string, set setting.Server) string {
	mine, ok := r.Servers.Known[name]
	if ok && sameServer(mine, set) {
		return ""
	}
	// A stranger would else name a variable of this machine, and where its value is sent.
	own := set.Login != nil || len(set.Headers) > 0
	switch {
	case own:
		return "the quest came from elsewhere, and the server wants a login or a value of this machine's environment: it is used only if config.yaml of this home has the same under mcp"
	case !a.Servers:
		return "the quest came from elsewhere, and its servers are not used unless config.yaml of this home has the same under mcp, or lyceum run <quest> --allow-servers says so; lyceum show <quest> --asks names them"
	}
	return ""
}

// Asks says what a quest asks for.
func (r *Runtime) Asks(ctx context.Context, s *quest.State) (Asks, error) {
	out := Asks{Models: []string{}, Network: computer.Network{}.Mode()}
	var err error
	if out.Servers, err = r.askedServers(ctx, s, nil); err != nil {
		return out, err
	}
	for _, a := range s.Agents {
		if a.Model != "" && !slices.Contains(out.Models, a.Model) {
			out.Models = append(out.Models, a.Model)
		}
	}
	c := s.Computer
	if c == nil {
		return out, nil
	}
	network := computer.Network{Open: c.Network.Open, Allow: c.Network.Allow}
	out.Computer, out.Network, out.Hosts = c.Driver, network.Mode(), network.Allow
	if c.Dockerfile == nil {
		return out, nil
	}
	text, err := r.Blob(ctx, *c.Dockerfile)
	out.Dockerfile = Clean(string(text))
	return out, err
}

// Restrictions says, in lines for a person, what an imported quest asks for and does not
// get. A quest that was made here has none.
func (r *Runtime) Restrictions(ctx context.Context, name string, s *quest.State) ([]string, error) {
	im, err := r.Imported(ctx, name)
	if im == nil || err != nil {
		return nil, err
	}
	var out []string
	servers, err := r.askedServers(ctx, s, &im.Allowed)
	for _, asked := range servers {
		if asked.Withheld != "" {
			out = append(out, fmt.Sprintf("Quest %s was imported and names the MCP server %s, which is not used: %s.", name, asked.Name, asked.Withheld))
		}
	}
	if err != nil || s.Computer == nil {
		return out, err
	}
	asks, err := r.Asks(ctx, s)
	if err != nil {
		return nil, err
	}
	switch a := im.Allowed; {
	case asks.Network == "open" && !a.OpenNetwork && !a.Network:
		out = append(out, fmt.Sprintf("Quest %s was imported and asks for an open network: its computers have none. Allow the hosts of the public internet with --allow-network, or also this machine and its surroundings with --allow-open-network.", name))
	case asks.Network == "open" && !a.OpenNetwork:
		out = append(out, fmt.Sprintf("Quest %s was imported and asks for an open network: its computers reach the hosts of the public internet alone, on ports 80 and 443.", name))
	case asks.Network == "allow" && !a.Network:
		out = append(out, fmt.Sprintf("Quest %s was imported and asks for a network (%d hosts): its computers have none of it. Allow it with --allow-network.", name, len(asks.Hosts)))
	case asks.Network == "allow":
		if n := len(asks.Hosts) - len(proxy.WithoutPrivate(asks.Hosts)); n > 0 {
			out = append(out, fmt.Sprintf("Quest %s was imported and asks for %d addresses that are not of the public internet: its computers do not reach them. Name those that you want to open yourself: --allow-host <address>.", name, n))
		}
	}
	return out, nil
}
