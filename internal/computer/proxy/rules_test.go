package proxy

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func parse(t testing.TB, allow ...string) *Rules {
	t.Helper()
	r, err := Parse(allow)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestParseTakesHosts(t *testing.T) {
	t.Parallel()
	for entry, probe := range map[string]struct {
		host string
		port int
	}{
		"pypi.org": {"pypi.org", 443}, "PyPI.org.": {"pypi.org", 80}, "pypi.org:8080": {"pypi.org", 8080},
		"*.example.com": {"a.b.example.com", 443}, "*.Example.com.:99": {"x.example.com", 99}, "localhost": {"localhost", 80},
		"xn--bcher-kva.example": {"XN--bcher-kva.example", 443}, "_dmarc.example.com": {"_dmarc.example.com", 443},
		"10.0.0.5": {"10.0.0.5", 80}, "10.0.0.5:81": {"10.0.0.5", 81}, "10.0.0.0/8": {"10.255.0.1", 443},
		"10.0.0.0/8:5000": {"10.2.3.4", 5000}, "::1": {"::1", 443}, "[::1]:9": {"0:0::1", 9}, "fd00::/8": {"fd12::1", 80},
		"[fd00::/8]:5": {"fd12::1", 5}, "169.254.169.254": {"169.254.169.254", 80}, "1.1.1.1": {"::ffff:1.1.1.1", 443},
		"0.0.0.0/0": {"93.184.215.14", 443}, "*": {"any.example", 443}, "*:8080": {"any.example", 8080}, "1.example": {"1.example", 80}, "0x7f.example": {"0x7f.example", 80},
	} {
		if err := parse(t, entry).Allows(probe.host, probe.port); err != nil {
			t.Errorf("what the entry itself names was refused, %s: %v", entry, err)
		}
	}
}

func TestParseRefusesWhatIsNoHost(t *testing.T) {
	t.Parallel()
	for _, entry := range []string{
		"", ".", "*.", "**.example.com", "*example.com", "a.*.example.com", "*.*.com", "https://example.com", "example.com/",
		"example.com/path", "user@example.com", "user:pw@example.com", "example.com:", "example.com:0", "example.com:65536", "example.com:+80",
		"example.com:080", "example.com:http", "example.com:80:80", " example.com", "example.com ", "exa mple.com", "example..com",
		".example.com", "example.com..", "-a.example", "a-.example", "bücher.example", "ⓔxample.com", "exam\u212Ale.com", "a\x00.example", "a\nb.example",
		"127.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.0.0.01", "1.2.3.4.5", "10.0.0.5/8", "10.0.0.0/33", "10.0.0.0/08", "10/8", "fe80::1%eth0",
		"[::1]", "[10.0.0.1]:80", "[example.com]:80", "[::1]:0", "[::1:80", "fd00::/8:443", "::ffff:10.0.0.1", "::ffff:10.0.0.0/104",
		"*.1", "*.0x7f", "foo.0x", strings.Repeat("a", 64) + ".example", strings.Repeat("a.", 127) + "example", "*:0", "*.10.0.0.1",
	} {
		_, err := Parse([]string{"pypi.org", entry})
		if err == nil {
			t.Errorf("%q is taken", entry)
			continue
		}
		if text := err.Error(); !strings.Contains(text, clean(entry)[:min(len(entry), 40)]) && entry == clean(entry) || !strings.Contains(text, "write one like") {
			t.Errorf("%q: the error does not help: %v", entry, err)
		}
	}
}

// spellings are ways to write a host that is not listed.
var spellings = []string{
	"", ".", "..", "*", "*.example.com", "example.com", "example.com.", "EXAMPLE.COM", "notexample.com", "xexample.com", "a.example.com.evil.org",
	"evil.org", "evil.org#.example.com", "evil.org/.example.com", "evil.org?.example.com", "evil.org\\.example.com", "evil.org@a.example.com", "a.example.com@evil.org",
	"evil.org\x00.example.com", "evil.org\n.example.com", "evil.org\r\nHost: a.example.com", "evil.org .example.com", "evil.org%00.example.com", "evil.org%2e.example.com",
	".example.com", "a..example.com", "..a.example.com", "a.example.com..", "-.example.com", "a。example.com", "a．example.com", "ａ.example.com", "a.example.ⅽom", "a.exampl\u212A.com",
	"api.listed", "listed.", "xlisted.org", "listed.org.", "listed.org:443", "[listed.org]", "http://listed.org", "listed.org/", "listed.org%", "\tlisted.orgg",
	"127.0.0.1", "127.1", "127.0.1", "127.0.0.1.", "127.000.000.001", "0177.0.0.1", "0x7f.0.0.1", "0x7f000001", "0X7F000001", "2130706433", "017700000001", "127.0.0.0x1",
	"0", "0.0.0.0", "00", "0x", "0.0.0.0.", "1", "::1", "::", "[::1]", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1", "::ffff:7f00:1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::127.0.0.1", "2002:7f00:1::", "2001:0:7f00:1::",
	"fe80::1", "fe80::1%lo", "fe80::1%25lo", "::1%lo", "8.8.8.8%eth0", "2606:4700::1%a.example.com", "169.254.169.254", "169.254.43518", "2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "::ffff:169.254.169.254", "fd00:ec2::254", "fd00:0ec2:0:0::254",
	"10.1.2.3", "192.168.0.1", "172.16.0.1", "100.64.0.1", "224.0.0.1", "255.255.255.255", "198.18.0.1", "203.0.113.1", "ff02::1", "8.8.8.8", "8.8.4.4.", "1.1.1.1\x00", "12.0.0.1 ", "9.9.9.09", "12.0.0.256", "12.0.0.-1", "+12.0.0.1",
	"localhost", "localhost.", "LOCALHOST", "a.localhost", "ip6-localhost", "127.0.0.1.example.net", "metadata.google.internal", "１２７.0.0.1", "127。0。0。1", "①.1.1.1",
	strings.Repeat("a", 64) + ".example.com", strings.Repeat("a.", 130) + "example.com", strings.Repeat("x", 70000), "\xff\xfe.example.com", "a\x7f.example.com",
}

func TestAllowsNoOtherSpelling(t *testing.T) {
	t.Parallel()
	r := parse(t, "*.example.com", "listed.org:8443", "12.0.0.0/24:8443")
	for _, s := range spellings {
		err := r.Allows(s, 443)
		if err == nil {
			t.Errorf("%q is allowed", s)
			continue
		}
		if text := err.Error(); len(text) > 600 || clean(text[:min(len(text), 255)]) != text[:min(len(text), 255)] || !strings.Contains(text, "network.allow of the quest") {
			t.Errorf("a refusal that is long or not clean: %q: %q", s, text)
		}
	}
}

func TestAllowsWhatIsListed(t *testing.T) {
	t.Parallel()
	r := parse(t, "*.example.com", "listed.org:8443", "10.0.0.0/8", "[::1]:99")
	for _, c := range []struct {
		host string
		port int
		why  string
	}{
		{"a.example.com", 443, ""}, {"A.b.EXAMPLE.com.", 80, ""}, {"listed.org", 8443, ""}, {"LISTED.org.", 8443, ""}, {"10.9.8.7", 80, ""}, {"::1", 99, ""},
		{"a.example.com", 22, "not with this port"}, {"listed.org", 443, "not with this port"}, {"10.9.8.7", 22, "not with this port"}, {"::1", 80, "not with this port"},
		{"a.example.com", 0, "not with this port"}, {"10.9.8.7", 65536 + 80, "not with this port"}, {"listed.org", -1, "not with this port"},
		{"example.com", 443, "it is not listed"}, {"11.0.0.1", 443, "this address is not listed"},
	} {
		err := r.Allows(c.host, c.port)
		if (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s port %d: %v, want %q", c.host, c.port, err, c.why)
		}
	}
	if (*Rules)(nil).Allows("a.example.com", 443) == nil || (&Rules{}).Allows("", 0) == nil {
		t.Error("no rules allow something")
	}
}

func TestANameReachesPublicAddressesOnly(t *testing.T) {
	t.Parallel()
	asked := host{name: "a.example.com"}
	r := parse(t, "a.example.com")
	for _, s := range []string{"8.8.8.8", "::ffff:8.8.8.8", "2606:4700::1111", "2a00:1450::1", "172.32.0.1", "100.128.0.1", "198.20.0.1", "223.255.255.255", "2003::1"} {
		if err := r.reaches(asked, netip.MustParseAddr(s), 443); err != nil {
			t.Error(err)
		}
	}
	for _, s := range []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254", "169.254.0.1", "169.254.169.254", "172.16.0.1", "172.31.255.255",
		"192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "168.63.129.16",
		"::", "::1", "::8.8.8.8", "::ffff:10.0.0.1", "::ffff:127.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::8.8.8.8", "64:ff9b:1::1", "100::1", "2001::1", "2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1", "2002:808:808::1", "3fff::1", "5f00::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "2606:4700::1111%eth0", "fec0::1", "ff02::1",
	} {
		if err := r.reaches(asked, netip.MustParseAddr(s), 443); err == nil {
			t.Errorf("%s can be reached by a name", s)
		}
		if err := r.reaches(host{addr: netip.MustParseAddr(s)}, netip.MustParseAddr(s), 443); err == nil {
			t.Errorf("%s can be reached by itself", s)
		}
	}
}

func TestARangeOpensOneBlockAtMost(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		entry, addr string
		open        bool
	}{
		{"10.0.0.0/8", "10.1.1.1", true}, {"10.1.0.0/16", "10.1.1.1", true}, {"10.1.1.1", "10.1.1.1", true}, {"10.0.0.0/7", "10.1.1.1", false}, {"10.0.0.0/7", "11.1.1.1", true},
		{"0.0.0.0/0", "127.0.0.1", false}, {"0.0.0.0/0", "8.8.8.8", true}, {"::/0", "::1", false}, {"::/0", "2606:4700::1", true}, {"::/0", "8.8.8.8", false},
		{"169.254.0.0/16", "169.254.1.1", true}, {"169.254.0.0/16", "169.254.169.254", false}, {"169.254.169.254", "169.254.169.254", true},
		{"fd00::/8", "fd00::1", true}, {"fd00::/8", "fd00:ec2::254", false}, {"168.63.0.0/16", "168.63.129.16", false}, {"::1", "::1", true},
		{"10.0.0.0/8:8080", "10.1.1.1", false}, {"127.0.0.0/8", "::ffff:127.0.0.1", true}, {"fe80::/10", "fe80::1%eth0", false},
	} {
		err := parse(t, "a.example", c.entry).reaches(host{name: "a.example"}, netip.MustParseAddr(c.addr), 443)
		if c.open != (err == nil) && !(c.addr == "8.8.8.8" && err == nil) {
			t.Errorf("decided wrongly: %s, %s: %v", c.entry, c.addr, err)
		}
		addr := netip.MustParseAddr(c.addr)
		if listed, _ := parse(t, c.entry).lists(host{addr: addr.Unmap()}, 443); listed != c.open {
			t.Errorf("%s lists %s: %v", c.entry, c.addr, listed)
		}
	}
}

// FuzzHost: whatever is allowed is what was listed, in ASCII, and nothing else.
func FuzzHost(f *testing.F) {
	for _, s := range spellings {
		f.Add(s)
	}
	f.Add("a.example.com")
	r := parse(f, "*.example.com", "listed.org", "10.0.0.0/8")
	f.Fuzz(func(t *testing.T, s string) {
		if r.Allows(s, 443) != nil {
			return
		}
		lower := strings.TrimSuffix(strings.ToLower(s), ".")
		if a, err := netip.ParseAddr(s); err == nil && netip.MustParsePrefix("10.0.0.0/8").Contains(a.Unmap()) {
			return
		}
		if clean(s) != s || strings.ContainsAny(s, " /\\@:#?%[]") || lower != "listed.org" && !strings.HasSuffix(lower, ".example.com") {
			t.Errorf("%q is allowed", s)
		}
	})
}

// FuzzParse: an entry that is taken allows itself, and never a wider world.
func FuzzParse(f *testing.F) {
	for _, s := range append(spellings, "pypi.org:8080", "*.example.com", "10.0.0.0/8", "[fd00::/8]:5", "[::1]:9", "0.0.0.0/0") {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		r, err := Parse([]string{s})
		if err != nil {
			if len(err.Error()) > 1000 {
				t.Errorf("a long error for %q", s)
			}
			return
		}
		name, isName := r.rules[0].name, r.rules[0].net == netip.Prefix{}
		if isName == (name == "") || isName && (name == "." || strings.Contains(name, "..") || clean(name) != name) {
			t.Fatalf("%q became %+v", s, r.rules[0])
		}
		port := max(r.rules[0].port, 0)
		if port == 0 {
			port = 443
		}
		probe := strings.TrimPrefix(name, ".")
		if name == "*" {
			if s != "*" && !strings.HasPrefix(s, "*:") {
				t.Errorf("%q allows every name", s)
			}
			probe = "any.example"
		}
		if strings.HasPrefix(name, ".") {
			if r.Allows(probe, port) == nil {
				t.Errorf("%q allows the bare %q", s, probe)
			}
			probe = "x" + name
		}
		if isName && len(probe) < 254 && r.Allows(probe, port) != nil {
			t.Errorf("%q does not allow %q", s, probe)
		}
		if r.Allows("127.0.0.1", port) == nil && !netip.MustParsePrefix("127.0.0.0/8").Contains(r.rules[0].net.Addr()) {
			t.Errorf("%q opens loopback", s)
		}
	})
}

// Whatever is asked for, through the public entries nobody comes to an address that is not of
// the public internet, by its number or by a name that leads there.
func TestPublicOpensNothingPrivate(t *testing.T) {
	t.Parallel()
	r := parse(t, Public...)
	for _, b := range blocks {
		a := b.net.Addr()
		if err := r.Allows(a.String(), 80); err == nil {
			t.Errorf("%s, which is %s, may be asked for", a, b.what)
		}
		if err := r.reaches(host{name: "any.example"}, a, 80); err == nil {
			t.Errorf("a name leads to %s, which is %s", a, b.what)
		}
	}
	for _, public := range []string{"any.example", "93.184.215.14", "2606:4700::1"} {
		if err := r.Allows(public, 443); err != nil {
			t.Errorf("%s is refused: %v", public, err)
		}
		if err := r.Allows(public, 22); err == nil {
			t.Errorf("%s is open at port 22", public)
		}
	}
}

func TestWithoutPrivateKeepsWhatIsPublic(t *testing.T) {
	t.Parallel()
	kept := []string{"pypi.org", "*.example.com:8080", "localhost", "93.184.215.14", "0.0.0.0/0", "100.0.0.0/8", "2606:4700::/32", "no host"}
	private := []string{
		"10.0.0.5", "10.0.0.0/8", "127.0.0.1:8080", "169.254.169.254", "169.254.169.254/31", "192.168.0.0/16:5000", "100.100.100.200",
		"168.63.129.16", "::1", "[::1]:9", "fd00::/8", "[fe80::/10]:5", "0.0.0.0", "224.0.0.1", "64:ff9b::7f00:1",
	}
	got := WithoutPrivate(slices.Concat(private, kept))
	if !slices.Equal(got, kept) {
		t.Errorf("got %q, want %q", got, kept)
	}
	// What is left opens no block, however it is asked.
	r := parse(t, WithoutPrivate(slices.Concat(private, kept[:len(kept)-1]))...)
	for _, b := range blocks {
		if err := r.reaches(host{name: "localhost"}, b.net.Addr(), 80); err == nil {
			t.Errorf("a name leads to %s, which is %s", b.net.Addr(), b.what)
		}
	}
}
