package proxy

import "net/netip"

// blocks are the addresses that are not hosts of the public internet: a name must
// not lead there, unless the address itself is listed. Blocks within blocks are
// there so that a range which holds the outer one does not open the inner.
//
// What cannot be known here: a network's own NAT64 prefix, and services of the host
// itself on an address of its own that is public.
var blocks = []block{
	at("0.0.0.0/8", "of this network"), at("10.0.0.0/8", "private"), at("100.64.0.0/10", "a carrier's own"),
	at("127.0.0.0/8", "loopback"), at("169.254.0.0/16", "link-local"), at("172.16.0.0/12", "private"),
	at("192.0.0.0/24", "reserved"), at("192.0.2.0/24", "for documentation"), at("192.88.99.0/24", "a 6to4 relay"),
	at("192.168.0.0/16", "private"), at("198.18.0.0/15", "for benchmarks"), at("198.51.100.0/24", "for documentation"),
	at("203.0.113.0/24", "for documentation"), at("224.0.0.0/4", "multicast"), at("240.0.0.0/4", "reserved"),

	// Only 2000::/3 is given out. These three are all the rest.
	at("::/3", "reserved"), at("4000::/2", "reserved"), at("8000::/1", "reserved"),
	at("::/128", "unspecified"), at("::1/128", "loopback"), at("::/96", "IPv4 within IPv6"),
	at("64:ff9b::/96", "IPv4 within NAT64"), at("64:ff9b:1::/48", "IPv4 within NAT64"), at("100::/64", "discarded"),
	at("2001::/23", "reserved"), at("2001::/32", "IPv4 within Teredo"), at("2001:2::/48", "for benchmarks"),
	at("2001:db8::/32", "for documentation"), at("2002::/16", "IPv4 within 6to4"), at("3fff::/20", "for documentation"),
	at("fc00::/7", "private"), at("fe80::/10", "link-local"), at("fec0::/10", "site-local"), at("ff00::/8", "multicast"),

	// Whoever reaches one of these can have the keys of the machine.
	at("169.254.169.254/32", metadata), at("169.254.170.2/32", metadata), at("100.100.100.200/32", metadata),
	at("168.63.129.16/32", metadata), at("192.0.0.192/32", metadata), at("fd00:ec2::254/128", metadata), at("fd20:ce::254/128", metadata),
}

const metadata = "a cloud's metadata service"

type block struct {
	net  netip.Prefix
	what string
}

func at(net, what string) block { return block{netip.MustParsePrefix(net), what} }

// special gives the smallest block that a lies in, and what that is. The block is
// not valid if a is a public address without a zone.
func special(a netip.Addr) (netip.Prefix, string) {
	found := block{what: "one that no name can have"}
	for _, b := range blocks {
		if b.net.Contains(a.WithZone("")) && (!found.net.IsValid() || b.net.Bits() > found.net.Bits()) {
			found = b
		}
	}
	return found.net, found.what
}
