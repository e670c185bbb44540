package runtimetest

import "lyceum/internal/event"

// deliveryResult is the row of delivery.call.
func deliveryResult(w *World, call event.Event) event.Body {
	r := &event.DeliveryResult{Call: call.Seq}
	if w.Chance(100) {
		r.Error = "no room"
	}
	w.Saw("deliveries")
	return r
}
