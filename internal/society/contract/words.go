package contract

import (
	"slices"
	"strings"
	"unicode"
)

// The planner without a model reads words: whole ones, never parts of them. Where a
// script has no spaces, words are those of the lists, the longest first.

var (
	researchWords = []string{
		"find", "search", "look", "explain", "describe", "what", "which", "why", "how", "who", "when", "where", "compare", "summarise", "summarize",
		"review", "literature", "source", "sources", "cite", "cited", "according", "evidence", "method", "methods", "paper", "papers", "document", "documents",
		"查找", "搜索", "检索", "研究", "文献", "解释", "说明", "比较", "什么", "为什么", "如何", "哪些", "方法", "资料",
	}
	computeWords = []string{
		"calculate", "compute", "fit", "fitted", "regression", "median", "deviation",
		"slope", "statistics", "arrhenius", "kissinger", "activation energy",
		"计算", "拟合", "估算", "求出", "平均值", "平均", "标准差", "回归", "统计", "活化能",
	}
	// weakWords ask for a computation only where another word does, or where the task
	// names data: what something means, and how it is determined, is mostly written down.
	weakWords  = []string{"estimate", "determine", "evaluate", "mean", "average"}
	dataWords  = []string{"data", "dataset", "csv", "tsv", "column", "columns", "measurements", "readings"}
	auditWords = []string{
		"audit", "audited", "verify", "verified", "check", "checked", "validate", "confirm", "prove",
		"验证", "审核", "检查", "核实", "确认", "审计",
	}
	// methods are what programs are chosen by. A general one is not wanted where a
	// particular one is.
	methods = []method{
		{"arrhenius", []string{"arrhenius", "阿伦尼乌斯", "阿累尼乌斯"}, false},
		{"kissinger", []string{"kissinger", "基辛格"}, false},
		{"statistics", []string{"mean", "average", "median", "deviation", "statistics", "平均值", "平均", "标准差", "统计"}, false},
		{"linear", []string{"regression", "linear", "trend", "回归", "线性"}, false},
		{"activation-energy", []string{"activation energy", "activation energies", "活化能"}, true},
		{"linear", []string{"slope", "斜率"}, true},
	}
	// stopWords say nothing about what a text is about.
	stopWords = []string{
		"a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "give", "given", "has", "have", "in", "into", "is", "it", "its",
		"me", "of", "on", "or", "our", "out", "please", "should", "tell", "that", "the", "their", "them", "then", "there", "these", "this", "those", "to",
		"use", "used", "using", "was", "we", "were", "will", "with", "you", "your", "about", "each", "all", "any", "also", "but", "if", "not", "than",
		"find", "search", "look", "explain", "describe", "what", "which", "why", "how", "who", "when", "where", "calculate", "compute", "determine", "estimate",
		"evaluate", "audit", "verify", "check", "data", "file", "table", "result", "results", "answer", "cite", "sources", "source", "according",
		"的", "和", "是", "在", "请", "并", "用", "从", "与", "了", "对", "给", "出", "计算", "查找", "搜索", "检索", "验证", "检查", "数据", "什么", "如何", "资料",
	}
)

// method is a program and the words that ask for it. One that is general is run only if
// no other is.
type method struct {
	program string
	words   []string
	general bool
}

// wordsOf splits a text into words in lower case.
func wordsOf(text string) (words []string) {
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, string(word))
			word = word[:0]
		}
	}
	var run []rune // of a script without spaces
	flushRun := func() {
		words = append(words, segment(run)...)
		run = run[:0]
	}
	for _, r := range strings.ToLower(text) {
		switch {
		case spaceless(r):
			flush()
			run = append(run, r)
			continue
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			flushRun()
			word = append(word, r)
			continue
		}
		flush()
		flushRun()
	}
	flush()
	flushRun()
	return words
}

// spaceless reports whether a character is of a script that is written without spaces.
// Taken apart, what it stands in would not be found any more.
func spaceless(r rune) bool { return unicode.Is(unicode.Han, r) }

// segment splits a run of a script without spaces into words of the lists, the
// longest that fits each time, and single characters.
func segment(run []rune) (words []string) {
	for len(run) > 0 {
		n := 1
		for size := min(len(run), maxHan); size > 1; size-- {
			if known(string(run[:size])) {
				n = size
				break
			}
		}
		words = append(words, string(run[:n]))
		run = run[n:]
	}
	return words
}

// maxHan is the longest word of a script without spaces that the lists have.
const maxHan = 6

func known(word string) bool {
	for _, list := range [][]string{researchWords, computeWords, weakWords, auditWords, stopWords} {
		if slices.Contains(list, word) {
			return true
		}
	}
	return slices.ContainsFunc(methods, func(m method) bool { return slices.Contains(m.words, word) })
}

// among returns the entries of a list that occur in a text's words, in the order of
// the text. An entry of several words must occur as they follow each other.
func among(words, list []string) (found []string) {
	for i := range words {
		for _, entry := range list {
			parts := strings.Fields(entry)
			if i+len(parts) <= len(words) && slices.Equal(words[i:i+len(parts)], parts) && !slices.Contains(found, entry) {
				found = append(found, entry)
			}
		}
	}
	return found
}

// methodsOf are the programs that a task's words ask for.
func methodsOf(words []string) (out []string) {
	for _, m := range methods {
		if len(among(words, m.words)) > 0 && !slices.Contains(out, m.program) && (!m.general || len(out) == 0) {
			out = append(out, m.program)
		}
	}
	return out
}

// content are the words of a text that say what it is about, each once.
func content(words []string) (out []string) {
	for _, w := range words {
		if !slices.Contains(stopWords, w) && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// names reports whether a text names something: a word with a digit or with a capital
// letter inside it, or words in quotes. Such things are found by their letters.
func names(text string) bool {
	if strings.ContainsAny(text, "\"“”`_") {
		return true
	}
	for i, w := range strings.Fields(text) {
		for j, r := range strings.TrimFunc(w, unicode.IsPunct) {
			if unicode.IsDigit(r) || unicode.IsUpper(r) && (j > 0 || i > 0) {
				return true
			}
		}
	}
	return false
}
