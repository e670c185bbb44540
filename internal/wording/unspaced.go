package wording

import (
	"slices"
	"strings"
	"unicode"
)

// Unspaced reports whether a character is of a script that is written without spaces
// between words, or whose words are found by pairs of characters.
func Unspaced(r rune) bool {
	return r >= 0x2e80 && (unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || r == 'ー')
}

// asking are the words of such scripts that only ask, the longer ones first.
var asking = byLength(strings.Fields(`
	请问 请 计算 说明 解释 描述 求 为什么 什么 如何 怎么 怎样 多少 哪里 哪个 哪些 何时 谁 是否 并且 并 以及 的 了 吗 呢 是
	教えて ください なぜ どのように どこ いつ だれ 何 とは ですか
	무엇 어떻게 왜 언제 어디 누구 설명 계산`))

func byLength(words []string) []string {
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	return words
}

// pairsOf are what a run of such characters is about: without what only asks, each
// character with its right neighbour, as a search finds them. One that stands alone is a
// pair of its own.
func pairsOf(run string) (out []string) {
	for _, w := range asking {
		run = strings.ReplaceAll(run, w, " ")
	}
	for _, piece := range strings.Fields(run) {
		runes := []rune(piece)
		if len(runes) == 1 {
			out = append(out, piece)
		}
		for i := range len(runes) - 1 {
			out = append(out, string(runes[i:i+2]))
		}
	}
	return out
}

// Stems are the stems of a text's words, and of scripts without spaces each character with
// its right neighbour: what terms are compared with.
func Stems(text string) (out []string) {
	for _, w := range Words(text) {
		w = strings.ToLower(w)
		if strings.IndexFunc(w, Unspaced) != 0 {
			out = append(out, Stem(w))
			continue
		}
		runes := []rune(w)
		for i := range runes {
			out = append(out, string(runes[i:min(i+2, len(runes))]))
		}
	}
	return out
}
