package api

import (
	"context"
	"fmt"
	"strings"
)

// nodeFigures writes what there is to say of the nodes that share the store, which a home's own has none of.
func (s *Server) nodeFigures(ctx context.Context, b *strings.Builder, family func(name, kind, help string)) error {
	pool := s.keeper.pool
	if pool == nil {
		return nil
	}
	nodes, err := pool.Nodes(ctx)
	if err != nil {
		return err
	}
	waiting, err := pool.Waiting(ctx)
	if err != nil {
		return err
	}
	stranded, err := pool.Stranded(ctx)
	if err != nil {
		return err
	}
	family("lyceum_nodes", "gauge", "Processes that share the ledger.")
	fmt.Fprintf(b, "lyceum_nodes %d\n", len(nodes))
	for _, f := range []struct {
		name, help string
		of         func(i int) float64
	}{
		{"lyceum_node_room", "How many quests a node runs at once; 0 of a process that takes none.", func(i int) float64 { return float64(nodes[i].Room) }},
		{"lyceum_node_quests", "Quests that a node owns.", func(i int) float64 { return float64(nodes[i].Quests) }},
		{"lyceum_node_beat_age_seconds", "How long ago a node last said that it is there.", func(i int) float64 { return nodes[i].Silent.Seconds() }},
		{"lyceum_node_clock_offset_seconds", "By how much the database's clock is ahead of a node's.", func(i int) float64 { return nodes[i].Ahead.Seconds() }},
	} {
		family(f.name, "gauge", f.help)
		for i, n := range nodes {
			fmt.Fprintf(b, "%s{node=\"%d\",address=%q} %g\n", f.name, n.ID, n.Address, f.of(i))
		}
	}
	family("lyceum_quests_waiting", "gauge", "Quests that are to run and that no node owns.")
	fmt.Fprintf(b, "lyceum_quests_waiting %d\n", waiting)
	family("lyceum_quests_stranded", "gauge", "Those of them that no node can run; their trouble in the API says why.")
	fmt.Fprintf(b, "lyceum_quests_stranded %d\n", len(stranded))
	return nil
}
