package proxy

import (
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"lyceum/internal/plain"
)

// Rules say which hosts may be reached. The zero value allows none.
type Rules struct{ rules []rule }

// rule is one entry: a name, or addresses.
type rule struct {
	// name is exact, or begins with a dot and stands for all names below it; a star
	// alone stands for every name.
	name string
	net  netip.Prefix
	// port is 0 for the two of the web.
	port int
}

// Refused says that something may not be reached, and why.
type Refused struct {
	Host string
	Port int
	Why  string
}

func (r *Refused) Error() string {
	return fmt.Sprintf("%s port %d is refused: %s. Which hosts can be reached is decided by network.allow of the quest", clean(r.Host), r.Port, r.Why)
}

// Parse reads the entries of network.allow. An entry is one of
//
//	pypi.org             that name
//	*.example.com        all names below it, but not example.com itself
//	*                    every name
//	93.184.215.14        an address, IPv4 or IPv6
//	10.1.0.0/16          a range of addresses
//
// with ports 80 and 443, or the one that follows after a colon. An IPv6 address or
// range that is followed by a port is in brackets: [2001:4860::/32]:8443.
//
// A range opens addresses that are not of the public internet only if it lies
// wholly within one such block: 10.0.0.0/8 opens private ones, 0.0.0.0/0 opens
// every public one and nothing else. A metadata service is opened by its own
// address only.
func Parse(allow []string) (*Rules, error) {
	r := &Rules{}
	for _, entry := range allow {
		parsed, err := parseRule(entry)
		if err != nil {
			return nil, fmt.Errorf("network.allow has %q, which is no host: %w; write one like pypi.org, *.example.com, 10.0.0.5 or 10.0.0.0/8, with :port at its end unless it is for 80 and 443", clean(entry), err)
		}
		r.rules = append(r.rules, parsed)
	}
	return r, nil
}

func parseRule(entry string) (rule, error) {
	if net, ok := parseNet(entry); ok {
		return rule{net: net}, checkNet(net)
	}
	text, portText := split(entry)
	var r rule
	if portText != "" {
		var ok bool
		if r.port, ok = parsePort(portText); !ok {
			return r, errors.New("its port is not a number from 1 to 65535")
		}
	}
	if net, ok := parseNet(text); ok {
		r.net = net
		return r, checkNet(net)
	}
	if text == "*" {
		r.name = "*"
		return r, nil
	}
	below, wild := strings.CutPrefix(text, "*.")
	name, err := parseName(below)
	if wild {
		name = "." + name
	}
	r.name = name
	return r, err
}

func parseNet(s string) (netip.Prefix, bool) {
	if a, err := netip.ParseAddr(s); err == nil {
		if a.Zone() != "" {
			return netip.Prefix{}, true // PrefixFrom would drop the zone
		}
		return netip.PrefixFrom(a, a.BitLen()), true
	}
	net, err := netip.ParsePrefix(s)
	return net, err == nil
}

func checkNet(net netip.Prefix) error {
	switch {
	case !net.IsValid():
		return errors.New("an address here has no zone")
	case net.Addr().Is4In6():
		return errors.New("an IPv4 address is written as such")
	case net.Masked() != net:
		return fmt.Errorf("the range begins at %s", net.Masked())
	}
	return nil
}

// host is what a program asks for: a name, or an address.
type host struct {
	name string
	addr netip.Addr
}

// parseHost takes for an address only what netip does. All other ways to write one
// (0177.1, 2130706433, 0x7f.1) are names then, of a kind that parseName refuses.
func parseHost(s string) (host, error) {
	a, err := netip.ParseAddr(s)
	if err != nil {
		name, err := parseName(s)
		return host{name: name}, err
	}
	if a.Zone() != "" {
		return host{}, errors.New("an address with a zone cannot be reached")
	}
	return host{addr: a.Unmap()}, nil
}

var (
	labelRule  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$`) })
	numberRule = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9]+|0x[0-9a-f]*)$`) })
)

// parseName gives a DNS name as names are compared: in lower case, without a dot
// at the end.
func parseName(s string) (string, error) {
	name := strings.TrimSuffix(s, ".")
	if name == "" || len(name) > 253 {
		return "", errors.New("a name has 1 to 253 characters")
	}
	// Before lower case, which turns some letters of other scripts into ASCII.
	for _, c := range []byte(name) {
		if c >= 0x80 {
			return "", errors.New("a name that is not ASCII is written in its xn-- form")
		}
	}
	labels := strings.Split(strings.ToLower(name), ".")
	for _, l := range labels {
		if !labelRule().MatchString(l) {
			return "", errors.New("it is neither a DNS name nor an IP address")
		}
	}
	if numberRule().MatchString(labels[len(labels)-1]) {
		return "", errors.New("it ends in a number and is no IP address in its usual form")
	}
	return strings.Join(labels, "."), nil
}

// split takes the port off, if there is one. Brackets come off with it, if they
// hold something like IPv6; otherwise they stay and nothing takes them for a host.
func split(s string) (host, port string) {
	i := strings.LastIndexByte(s, ':')
	if i < 0 {
		return s, ""
	}
	host, port = s[:i], s[i+1:]
	inner, bracketed := strings.CutPrefix(host, "[")
	if bracketed {
		inner, bracketed = strings.CutSuffix(inner, "]")
	}
	switch {
	case port == "":
		return s, ""
	case bracketed && strings.Contains(inner, ":"):
		return inner, port
	case strings.ContainsAny(host, ":[]"):
		return s, ""
	}
	return host, port
}

func parsePort(s string) (int, bool) {
	n, err := strconv.ParseUint(s, 10, 16)
	return int(n), err == nil && n > 0 && s == strconv.FormatUint(n, 10)
}

// Public are entries that open every host of the public internet, and none besides: a name
// leads to no other address, and a range as wide as these opens no other.
var Public = []string{"*", "0.0.0.0/0", "::/0"}

// WithoutPrivate leaves out the entries that open addresses which are not of the public
// internet: private ones, loopback, metadata services. What is no entry at all stays, for
// Parse to refuse.
func WithoutPrivate(allow []string) []string {
	var out []string
	for _, entry := range allow {
		if r, err := parseRule(entry); err == nil && r.net.IsValid() && private(r.net) {
			continue
		}
		out = append(out, entry)
	}
	return out
}

// private reports whether a range opens addresses of a block: it lies wholly within it.
func private(net netip.Prefix) bool {
	return slices.ContainsFunc(blocks, func(b block) bool { return b.net.Bits() <= net.Bits() && b.net.Contains(net.Addr()) })
}

// Allows reports whether a program may ask for that host, by a *Refused if not. Of
// a name this is the first half: the address that it has must pass as well.
func (r *Rules) Allows(hostname string, port int) error {
	h, err := parseHost(hostname)
	if err != nil {
		return &Refused{hostname, port, err.Error()}
	}
	if listed, other := r.lists(h, port); !listed {
		why := "it is not listed"
		if h.addr.IsValid() {
			why = "this address is not listed"
		}
		if other {
			why = "it is listed, but not with this port"
		}
		return &Refused{hostname, port, why}
	}
	return nil
}

// reaches checks an address right before it is connected to.
func (r *Rules) reaches(asked host, a netip.Addr, port int) error {
	a = a.Unmap()
	listed, _ := r.lists(host{addr: a}, port)
	block, what := special(a)
	switch {
	case listed, asked.name != "" && a.Zone() == "" && !block.IsValid():
		return nil
	case asked.name == "":
		return &Refused{a.String(), port, "this address is not listed"}
	}
	return &Refused{asked.name, port, fmt.Sprintf("its address %s is %s, and that address is not listed with this port", a.WithZone(""), what)}
}

// lists reports whether there is an entry for h, and if not, whether there is one
// that has another port.
func (r *Rules) lists(h host, port int) (listed, other bool) {
	if r == nil {
		return false, false
	}
	for _, rule := range r.rules {
		if !rule.matches(h) {
			continue
		}
		if rule.port == 0 && (port == 80 || port == 443) || rule.port != 0 && rule.port == port {
			return true, false
		}
		other = true
	}
	return false, other
}

func (r rule) matches(h host) bool {
	if h.name != "" {
		return h.name == r.name || r.name == "*" || strings.HasPrefix(r.name, ".") && strings.HasSuffix(h.name, r.name)
	}
	if !r.net.Contains(h.addr) {
		return false
	}
	block, _ := special(h.addr)
	return !block.IsValid() || block.Bits() <= r.net.Bits() && block.Contains(r.net.Addr())
}

// clean makes a stranger's text fit for a log.
func clean(s string) string { return plain.ASCII(s, 255) }
