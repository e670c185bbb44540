package bundle

import (
	"maps"
	"strings"
)

// The names of a formula, each with its character. There are no others.
const (
	mathLetters = `alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ lambda λ mu μ nu ν xi ξ pi π varpi ϖ
		rho ρ varrho ϱ sigma σ varsigma ς tau τ upsilon υ phi ϕ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω
		infty ∞ partial ∂ nabla ∇ ell ℓ hbar ℏ emptyset ∅ Re ℜ Im ℑ aleph ℵ`
	mathRelations = `le ≤ leq ≤ ge ≥ geq ≥ ne ≠ neq ≠ approx ≈ equiv ≡ sim ∼ simeq ≃ cong ≅ propto ∝ ll ≪ gg ≫`
	mathSigns     = `in ∈ notin ∉ ni ∋ subset ⊂ subseteq ⊆ supset ⊃ supseteq ⊇ cup ∪ cap ∩ setminus ∖ to → rightarrow → leftarrow ← leftrightarrow ↔ Rightarrow ⇒ Leftarrow ⇐
		Leftrightarrow ⇔ iff ⟺ mapsto ↦ uparrow ↑ downarrow ↓ forall ∀ exists ∃ neg ¬ land ∧ wedge ∧ lor ∨ vee ∨ times × cdot ⋅ div ÷ pm ± mp ∓ ast ∗ star ⋆ circ ∘ bullet ∙
		oplus ⊕ otimes ⊗ mid ∣ parallel ∥ perp ⊥ dots … ldots … cdots ⋯ vdots ⋮ ddots ⋱ prime ′ langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ vert | Vert ‖ int ∫ oint ∮`
	mathLarge     = `sum ∑ prod ∏ coprod ∐ bigcup ⋃ bigcap ⋂`
	mathFunctions = `sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh exp log ln lg det dim ker deg gcd hom arg`
	mathLimits    = `lim max min sup inf Pr`
)

// symbols are all single things of a formula by how TeX has them, and by their characters. They are
// shared by all formulas, and never changed.
var symbols = func() map[string]*formula {
	out := map[string]*formula{}
	add := func(kind mathKind, limits, relation bool, list string) {
		words := strings.Fields(list)
		for i := 0; i+1 < len(words); i += 2 {
			f := &formula{kind: kind, tex: `\` + words[i], char: words[i+1], limits: limits, relation: relation}
			out[f.tex] = f
			if f.char[0] >= 0x80 {
				out[f.char] = f
			}
		}
	}
	add(mathLetter, false, false, mathLetters)
	add(mathSign, false, true, mathRelations)
	add(mathSign, false, false, mathSigns)
	add(mathSign, true, false, mathLarge)
	for _, w := range strings.Fields(mathFunctions) {
		out[`\`+w] = &formula{kind: mathFunction, tex: `\` + w, char: w}
	}
	for _, w := range strings.Fields(mathLimits) {
		out[`\`+w] = &formula{kind: mathFunction, tex: `\` + w, char: w, limits: true}
	}
	for _, c := range "+/()[]|!?,.;:" {
		out[string(c)] = &formula{kind: mathSign, tex: string(c), char: string(c)}
	}
	for _, c := range "=<>" {
		out[string(c)] = &formula{kind: mathSign, tex: string(c), char: string(c), relation: true}
	}
	for _, c := range "{}%$&#_" {
		out[`\`+string(c)] = &formula{kind: mathSign, tex: `\` + string(c), char: string(c)}
	}
	for tex, width := range map[string]string{`\,`: "0.167em", `\:`: "0.222em", `\;`: "0.278em", `\!`: "-0.167em", `\ `: "0.333em", "~": "0.333em", `\quad`: "1em", `\qquad`: "2em"} {
		out[tex] = &formula{kind: mathSpace, tex: tex, char: width}
	}
	maps.Copy(out, map[string]*formula{
		"-": {kind: mathSign, tex: "-", char: "−"}, "−": {kind: mathSign, tex: "-", char: "−"}, "*": {kind: mathSign, tex: "*", char: "∗"}, `\|`: {kind: mathSign, tex: `\|`, char: "‖"},
		"·": {kind: mathSign, tex: `\cdot`, char: "⋅"}, "µ": {kind: mathLetter, tex: `\mu`, char: "μ"},
	})
	return out
}()

// mathAccents are what stands above a part, or below it, by their names.
var mathAccents = map[string]string{
	"hat": "^", "widehat": "^", "bar": "¯", "overline": "¯", "tilde": "~", "widetilde": "~", "vec": "→", "dot": "˙", "ddot": "¨", "underline": "_",
}

// styles are how a letter looks in each, 0 for one that the style does not have.
var styles = map[string]func(rune) rune{
	"text": inWords, "textrm": inWords, "mathrm": inRoman, "operatorname": inRoman, "mathbf": inBold, "mathbb": inBoard, "mathcal": inScript,
}

func inWords(c rune) rune {
	if asciiLetter(c) || c >= '0' && c <= '9' || strings.ContainsRune(" .,:;()/+=-", c) || c >= 'À' && c <= 'ž' && !strings.ContainsRune(rare+unset+"×÷", c) {
		return c
	}
	return 0
}

func inRoman(c rune) rune {
	if asciiLetter(c) || c >= '0' && c <= '9' || strings.ContainsRune(" .,/-", c) {
		return c
	}
	return 0
}

func inBold(c rune) rune {
	switch {
	case c >= 'A' && c <= 'Z':
		return c - 'A' + 0x1D400
	case c >= 'a' && c <= 'z':
		return c - 'a' + 0x1D41A
	case c >= '0' && c <= '9':
		return c - '0' + 0x1D7CE
	}
	return 0
}

// capitalIn is a capital in a style whose alphabet begins somewhere, but for those that were there
// before it: pairs of a letter and its character.
func capitalIn(c, first rune, before string) rune {
	if c < 'A' || c > 'Z' {
		return 0
	}
	list := []rune(before)
	for i := 0; i+1 < len(list); i += 2 {
		if list[i] == c {
			return list[i+1]
		}
	}
	return c - 'A' + first
}

func inBoard(c rune) rune { return capitalIn(c, 0x1D538, "CℂHℍNℕPℙQℚRℝZℤ") }

func inScript(c rune) rune { return capitalIn(c, 0x1D49C, "BℬEℰFℱHℋIℐLℒMℳRℛ") }
