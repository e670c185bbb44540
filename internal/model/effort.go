package model

import (
	"fmt"
	"strconv"
)

// Effort is how much a model is to think before it answers: low, medium, high, or a
// number of tokens. Providers want the one or the other, so each can be had of both. The
// empty effort leaves it to the provider.
type Effort string

// NoEffort is the word for not thinking at all. It is no effort that a request has.
const NoEffort = "none"

// MinEffort and MaxEffort are the limits of an effort that is a number: providers take no less, and no model thinks
// more.
const (
	MinEffort = 1024
	MaxEffort = 1 << 20
)

// efforts are the words, and how many tokens each stands for.
var efforts = []struct {
	word   Effort
	tokens int64
}{{"low", 2048}, {"medium", 8192}, {"high", 24576}}

// CheckEffort finds what is no effort: neither none, nor a word, nor a number.
func CheckEffort(text string) error {
	if text == NoEffort {
		return nil
	}
	for _, e := range efforts {
		if text == string(e.word) {
			return nil
		}
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= MinEffort && n <= MaxEffort && text == strconv.FormatInt(n, 10) {
		return nil
	}
	return fmt.Errorf("%.40q is no amount of thinking: there are none, low, medium, high, and a number of tokens from %d to %d", text, MinEffort, MaxEffort)
}

// Tokens is how many tokens a model may think for, 0 if that is left to the provider.
func (e Effort) Tokens() int64 {
	for _, x := range efforts {
		if e == x.word {
			return x.tokens
		}
	}
	n, _ := strconv.ParseInt(string(e), 10, 64) // of what is no number, 0
	return max(n, 0)
}

// Word is low, medium or high: the word itself, or the largest that is no more than the
// number. It is empty if it is left to the provider.
func (e Effort) Word() string {
	if e == "" {
		return ""
	}
	word := efforts[0].word
	for _, x := range efforts {
		if x.tokens <= e.Tokens() {
			word = x.word
		}
	}
	return string(word)
}
