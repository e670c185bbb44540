package event

// TokenPassed says that a runner, the actor, gives the token to another.
type TokenPassed struct {
	To string `json:"to"`
}

// TokenCount asks for the next number.
type TokenCount struct {
	So int64 `json:"so"`
}

// TokenCounted is the next number.
type TokenCounted struct {
	Call  uint64 `json:"call"`
	Count int64  `json:"count"`
}

// Type implements Body.
func (*TokenPassed) Type() Type { return "token.passed" }

// Type implements Body.
func (*TokenCount) Type() Type { return "token.count" }

// Type implements Body.
func (*TokenCounted) Type() Type { return "token.counted" }

// Answers implements Result.
func (b *TokenCounted) Answers() uint64 { return b.Call }
