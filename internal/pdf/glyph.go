package pdf

import (
	"strconv"
	"strings"
	"sync"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/unicode/norm"
)

// The names of glyphs, by which fonts without a table of their own say what they show: the
// characters of ASCII from the blank on, those of Latin-1 from ¡ on, and others.
const (
	asciiNames = "space exclam quotedbl numbersign dollar percent ampersand quotesingle parenleft parenright asterisk plus comma hyphen period slash " +
		"zero one two three four five six seven eight nine colon semicolon less equal greater question at " +
		"A B C D E F G H I J K L M N O P Q R S T U V W X Y Z bracketleft backslash bracketright asciicircum underscore grave " +
		"a b c d e f g h i j k l m n o p q r s t u v w x y z braceleft bar braceright asciitilde"
	latinNames = "exclamdown cent sterling currency yen brokenbar section dieresis copyright ordfeminine guillemotleft logicalnot sfthyphen registered macron " +
		"degree plusminus twosuperior threesuperior acute mu paragraph periodcentered cedilla onesuperior ordmasculine guillemotright onequarter onehalf threequarters questiondown " +
		"Agrave Aacute Acircumflex Atilde Adieresis Aring AE Ccedilla Egrave Eacute Ecircumflex Edieresis Igrave Iacute Icircumflex Idieresis " +
		"Eth Ntilde Ograve Oacute Ocircumflex Otilde Odieresis multiply Oslash Ugrave Uacute Ucircumflex Udieresis Yacute Thorn germandbls " +
		"agrave aacute acircumflex atilde adieresis aring ae ccedilla egrave eacute ecircumflex edieresis igrave iacute icircumflex idieresis " +
		"eth ntilde ograve oacute ocircumflex otilde odieresis divide oslash ugrave uacute ucircumflex udieresis yacute thorn ydieresis"
	otherNames = "quoteleft ‘ quoteright ’ quotedblleft “ quotedblright ” quotesinglbase ‚ quotedblbase „ endash – emdash — bullet • ellipsis … dagger † daggerdbl ‡ " +
		"perthousand ‰ guilsinglleft ‹ guilsinglright › fraction ⁄ fi fi fl fl ff ff ffi ffi ffl ffl dotlessi ı dotlessj ȷ lslash ł Lslash Ł OE Œ oe œ florin ƒ " +
		"circumflex ˆ tilde ˜ caron ˇ breve ˘ dotaccent ˙ ring ˚ ogonek ˛ hungarumlaut ˝ minus − Euro € trademark ™ dcroat đ Dcroat Đ eng ŋ Eng Ŋ ij ij IJ IJ " +
		"Alpha Α Beta Β Gamma Γ Delta Δ Epsilon Ε Zeta Ζ Eta Η Theta Θ Iota Ι Kappa Κ Lambda Λ Mu Μ Nu Ν Xi Ξ Omicron Ο Pi Π Rho Ρ Sigma Σ Tau Τ Upsilon Υ Phi Φ Chi Χ Psi Ψ Omega Ω " +
		"alpha α beta β gamma γ delta δ epsilon ε epsilon1 ε zeta ζ eta η theta θ theta1 ϑ iota ι kappa κ lambda λ nu ν xi ξ omicron ο pi π pi1 ϖ rho ρ rho1 ϱ sigma σ sigma1 ς " +
		"tau τ upsilon υ phi φ phi1 ϕ chi χ psi ψ omega ω partialdiff ∂ summation ∑ product ∏ integral ∫ radical √ infinity ∞ lessequal ≤ greaterequal ≥ notequal ≠ " +
		"approxequal ≈ equivalence ≡ similar ∼ proportional ∝ element ∈ notelement ∉ propersubset ⊂ reflexsubset ⊆ propersuperset ⊃ reflexsuperset ⊇ union ∪ intersection ∩ " +
		"universal ∀ existential ∃ emptyset ∅ nabla ∇ gradient ∇ logicaland ∧ logicalor ∨ arrowleft ← arrowright → arrowup ↑ arrowdown ↓ arrowboth ↔ arrowdblright ⇒ arrowdblleft ⇐ arrowdblboth ⇔ " +
		"circlemultiply ⊗ circleplus ⊕ asteriskmath ∗ dotmath · bardbl ‖ angbracketleft ⟨ angbracketright ⟩ floorleft ⌊ floorright ⌋ ceilingleft ⌈ ceilingright ⌉ lscript ℓ prime ′ " +
		"plusminus ± minusplus ∓ lozenge ◊ openbullet ◦ circlecopyrt ○ hyphenminus - softhyphen - visiblespace ␣ suppress ̸"
	accents = "grave ̀ acute ́ circumflex ̂ tilde ̃ macron ̄ breve ̆ dotaccent ̇ dieresis ̈ ring ̊ hungarumlaut ̋ caron ̌ cedilla ̧ ogonek ̨ commaaccent ̦"
)

// glyphs are the characters by the names of glyphs, marks those of accents.
var glyphs, marks = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for i, n := range strings.Fields(asciiNames) {
		out[n] = string(rune(0x20 + i))
	}
	for i, n := range strings.Fields(latinNames) {
		out[n] = string(rune(0xa1 + i))
	}
	out["sfthyphen"], out["nbspace"] = "-", " "
	pairs(otherNames, out)
	return out
}), sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	pairs(accents, out)
	return out
})

func pairs(s string, out map[string]string) {
	list := strings.Split(s, " ")
	for i := 0; i+1 < len(list); i += 2 {
		out[list[i]] = list[i+1]
	}
}

// glyph is what a glyph shows by its name, empty if nobody knows.
func glyph(n string) string {
	n, _, _ = strings.Cut(n, ".") // its form
	if s, ok := glyphs()[n]; ok {
		return s
	}
	for _, head := range []string{"uni", "u"} {
		hex, ok := strings.CutPrefix(n, head)
		if v, err := strconv.ParseUint(hex, 16, 32); ok && err == nil && len(hex) >= 4 && len(hex) <= 6 && v < 0xd800 {
			return string(rune(v))
		}
	}
	if len(n) > 2 { // a letter and an accent
		if mark, ok := marks()[n[1:]]; ok && (n[0]|0x20 >= 'a' && n[0]|0x20 <= 'z') {
			return norm.NFC.String(n[:1] + mark)
		}
	}
	if strings.Contains(n, "_") { // several, as one
		all := ""
		for part := range strings.SplitSeq(n, "_") {
			s, ok := glyphs()[part]
			if !ok {
				return ""
			}
			all += s
		}
		return all
	}
	return ""
}

// standard is where Adobe's own encoding is not ASCII.
const standard = "27 quoteright 60 quoteleft a1 exclamdown a2 cent a3 sterling a4 fraction a5 yen a6 florin a7 section a8 currency a9 quotesingle aa quotedblleft ab guillemotleft " +
	"ac guilsinglleft ad guilsinglright ae fi af fl b1 endash b2 dagger b3 daggerdbl b4 periodcentered b6 paragraph b7 bullet b8 quotesinglbase b9 quotedblbase ba quotedblright " +
	"bb guillemotright bc ellipsis bd perthousand bf questiondown c1 grave c2 acute c3 circumflex c4 tilde c5 macron c6 breve c7 dotaccent c8 dieresis ca ring cb cedilla " +
	"cd hungarumlaut ce ogonek cf caron d0 emdash e1 AE e3 ordfeminine e8 Lslash e9 Oslash ea OE eb ordmasculine f1 ae f5 dotlessi f8 lslash f9 oslash fa oe fb germandbls"

// encoding is what each code of a simple font shows; what is empty, nobody knows.
type encoding [256]string

// named is one of the encodings that have a name.
func named(n name) (e encoding, ok bool) {
	switch n {
	case "WinAnsiEncoding":
		for i := 32; i < 256; i++ {
			if r := charmap.Windows1252.DecodeByte(byte(i)); r != '�' {
				e[i] = string(r)
			}
		}
	case "MacRomanEncoding":
		for i := 32; i < 256; i++ {
			e[i] = string(charmap.Macintosh.DecodeByte(byte(i)))
		}
	case "StandardEncoding":
		for i := range strings.Fields(asciiNames) {
			e[' '+i] = string(rune(' ' + i))
		}
		list := strings.Fields(standard)
		for i := 0; i < len(list); i += 2 {
			code, _ := strconv.ParseUint(list[i], 16, 8)
			e[code] = glyphs()[list[i+1]]
		}
	default:
		return e, false
	}
	e[127] = ""
	return e, true
}
