package contract

// Score is what a bid is worth.
func Score(cost, latency, probability, capability int64) int64 {
	return offer{cost, latency, probability, capability}.score()
}
