package model

// Memo is of one agent, and used by one call at a time.
type Memo struct{ Kept any }

// Begin reports whether messages begin with the very ones of before: not others that are equal,
// for messages are never changed once they were given out.
func Begin(messages, before []Message) bool {
	if len(before) > len(messages) {
		return false
	}
	if len(before) == 0 || &messages[0] == &before[0] {
		return true
	}
	for i := range before {
		a, b := &messages[i], &before[i]
		if a.Role != b.Role || len(a.Parts) != len(b.Parts) || len(a.Parts) > 0 && &a.Parts[0] != &b.Parts[0] {
			return false
		}
	}
	return true
}
