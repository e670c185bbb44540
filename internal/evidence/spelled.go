package evidence

import (
	"slices"
	"strings"
)

var (
	numberWords  = strings.Fields("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion")
	joiningWords = []string{"and", "point"}
	// hanUnits are those that stand behind Han numerals. Some begin with one.
	hanUnits = strings.Fields("千焦 焦 千卡 大卡 卡路里 摄氏度 攝氏度 开尔文 千克 公斤 毫克 微克 克 毫升 微升 升 摩尔 摩爾 モル 千帕 兆帕 帕 电子伏 赫兹 毫米 厘米 纳米 微米 米 秒 分钟 小时")
)

const hanNumerals = "零〇一二三四五六七八九十百千万亿萬億两兩点點壹贰叁肆伍陆柒捌玖拾佰仟"

func hanNumeral(c rune) bool { return c >= 0x80 && strings.ContainsRune(hanNumerals, c) }

// spelled reads a number in words that a unit of measure or percent follows. It is
// not evaluated: the same words must stand before the same unit in a source.
func (s *scanner) spelled() bool {
	if hanNumeral(s.peek(s.at)) {
		return s.spelledHan()
	}
	if s.at < s.spelt || !letter(s.peek(s.at)) {
		return false
	}
	words, end := s.words()
	if len(words) == 0 {
		return false
	}
	unit, ok := s.unitOfWords(end)
	if ok && slices.Equal(words, []string{"one"}) && unit == "d" {
		ok = false // one day is a way to speak
	}
	if !ok {
		// The rest of these words ends at the same place.
		s.spelt = end
		return false
	}
	s.addWords(end, strings.Join(words, " "), unit)
	return true
}

// words are the number words from s.at on, in small letters.
func (s *scanner) words() (words []string, end int) {
	end = s.at
	joining := ""
	for i := s.at; ; {
		stop := i
		for stop-i < 12 && letter(s.peek(stop)) {
			stop++
		}
		if n := stop - i; n < 3 || n > 9 { // as long as number words are
			return words, end
		}
		w := strings.ToLower(string(s.plain[i:stop]))
		switch {
		case word(s.peek(stop)) || digit(s.peek(stop)):
			return words, end
		case slices.Contains(numberWords, w):
			if joining != "" {
				words = append(words, joining)
			}
			words, end, joining = append(words, w), stop, ""
		case len(words) > 0 && joining == "" && slices.Contains(joiningWords, w):
			joining = w
		default:
			return words, end
		}
		if c := s.peek(stop); c != ' ' && c != '-' && c != '\u00a0' {
			return words, end
		}
		i = stop + 1
	}
}

func (s *scanner) unitOfWords(end int) (unit string, ok bool) {
	r := reading{s: s, at: end}
	if r.percentSign(); r.percent {
		return "%", true
	}
	start := r.spaces(end)
	if unit, ok = s.measured(start); ok && unit == "" {
		unit = strings.ToLower(string(s.plain[start:s.letters(start)]))
	}
	return unit, ok && start > end
}

func (s *scanner) addWords(end int, words, unit string) {
	s.found = append(s.found, found{number: textual(string(s.text[s.at:end]), "words "+words+" "+unit), unit: unit})
	s.at = end
}

// spelledHan reads Han numerals: 九十九 kJ, 百分之九十九. It passes over them in any
// case.
func (s *scanner) spelledHan() bool {
	start, end := s.at, s.at
	for hanNumeral(s.peek(end)) {
		end++
	}
	unit, ok := s.hanUnit(end)
	if end-start == 1 && hanUnitAt(s.plain, start) != "" {
		ok = false // the unit's own, as in 125千焦
	}
	if !ok && start >= 3 && string(s.plain[start-3:start]) == "百分之" {
		unit, ok = "%", true
	}
	if ok {
		s.addWords(end, string(s.plain[start:end]), unit)
	}
	s.at = end
	return true
}

func (s *scanner) hanUnit(end int) (unit string, ok bool) {
	r := reading{s: s, at: end}
	if r.percentSign(); r.percent {
		return "%", true
	}
	if unit, ok = s.measured(end); ok {
		return unit, true
	}
	start := r.spaces(end)
	// The last numeral may belong to the unit, as in 九十九千焦.
	for _, i := range []int{end - 1, start} {
		if u := hanUnitAt(s.plain, i); u != "" {
			return u, true
		}
	}
	return "", false
}

func hanUnitAt(text []rune, i int) string {
	next := string(text[i:min(i+4, len(text))])
	for _, u := range hanUnits {
		if strings.HasPrefix(next, u) {
			return u
		}
	}
	return ""
}
