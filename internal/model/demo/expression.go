package demo

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// expressions works out arithmetic that is written down.
type expressions struct{}

var (
	asking    = late(`(?i)^(please |what('s| is| are)|how much (is|are)|compute|calculate|evaluate|work out|simplify|determine|find|the value of|the result of|the expression)\s*:?\s*`)
	asked     = late(`(?i)(\s*(=|equals?|equal to|等于多少|等于几|是多少)?\s*[?？.!。]?\s*|,? and (check|verify|show|explain)\b.*)$`)
	arith     = late(`[-+*/^]|\d!`)
	arithOnly = late(`^[-+*/^!(). \d]+$`)
	thousands = late(`(\d),(\d{3})\b`)
	// date tells 2024-05-01 and 1/2/2024 from arithmetic.
	date  = late(`^\s*(\d{4}-\d\d?-\d\d?|\d\d?/\d\d?/\d{4})\s*$`)
	signs = strings.NewReplacer("×", "*", "·", "*", "÷", "/", "−", "-", "–", "-", "**", "^", "（", "(", "）", ")")
)

func (expressions) recognise(s sentence) (inquiry, bool) {
	text := s.raw
	for {
		rest := asking.ReplaceAllString(text, "")
		if rest == text {
			break
		}
		text = rest
	}
	// A factorial at the end looks like an exclamation.
	end := asked.FindStringIndex(strings.TrimRight(text, "?？ "))
	text = strings.TrimRight(text, "?？ ")
	if !strings.HasSuffix(text, "!") && end != nil {
		text = text[:end[0]]
	}
	text = strings.Trim(text, "`\"$ ")
	text = signs.Replace(text)
	text = thousands.ReplaceAllString(text, "$1$2")
	if !arith.MatchString(text) || !arithOnly.MatchString(text) || date.MatchString(text) {
		return nil, false
	}
	p := &parser{rest: strings.ReplaceAll(text, " ", "")}
	tree, err := p.parse()
	asks := "the value of " + brief(strings.ReplaceAll(text, " ", ""))
	switch {
	case errors.Is(err, errBeyond):
		return &task{refused: "I did not compute this: " + err.Error() + ".", looked: "I take the question to be: " + asks + ". No number is given because none was computed."}, true
	case err != nil:
		return nil, false
	}
	return expressionTask(tree, asks), true
}

// node is an expression: a literal, or an operator with its operands.
type node struct {
	op       string
	literal  string
	operands []*node
	// bits is at least how many the numerator or the denominator may have.
	bits float64
}

var (
	errSyntax = errors.New("not an expression")
	errBeyond = errors.New("beyond reach")
)

func beyond(text string) error { return fmt.Errorf("%w: %s", errBeyond, text) }

// maxBits is how large a value may become.
const maxBits = 1900

// parser reads sums of products of powers, in the usual order.
type parser struct {
	rest  string
	depth int
}

func (p *parser) parse() (*node, error) {
	n, err := p.sum()
	if err == nil && p.rest != "" {
		return nil, errSyntax
	}
	return n, err
}

// take removes one of the operators from the front.
func (p *parser) take(operators string) string {
	if p.rest == "" || !strings.Contains(operators, p.rest[:1]) {
		return ""
	}
	op := p.rest[:1]
	p.rest = p.rest[1:]
	return op
}

func (p *parser) sum() (*node, error) { return p.chain("+-", p.product) }

func (p *parser) product() (*node, error) { return p.chain("*/", p.signed) }

func (p *parser) chain(operators string, part func() (*node, error)) (*node, error) {
	left, err := part()
	for err == nil {
		op := p.take(operators)
		if op == "" {
			return left, nil
		}
		var right *node
		if right, err = part(); err == nil {
			left = &node{op: op, operands: []*node{left, right}, bits: left.bits + right.bits + 1}
			err = left.check()
		}
	}
	return nil, err
}

func (n *node) check() error {
	if n.bits > maxBits {
		return beyond("the value may have more than about 570 digits, which is as far as I go")
	}
	return nil
}

func (p *parser) signed() (*node, error) {
	if p.depth++; p.depth > 200 {
		return nil, beyond("the expression is nested more than 200 deep")
	}
	defer func() { p.depth-- }()
	switch p.take("+-") {
	case "-":
		n, err := p.signed()
		if err != nil {
			return nil, err
		}
		return &node{op: "-", operands: []*node{{literal: "0", bits: 1}, n}, bits: n.bits + 1}, nil
	case "+":
		return p.signed()
	}
	return p.power()
}

// power is an operand with a whole exponent that is written out.
func (p *parser) power() (*node, error) {
	base, err := p.operand()
	if err != nil || p.take("^") == "" {
		return base, err
	}
	sign := p.take("-")
	text := p.digits()
	if text == "" || strings.HasPrefix(p.rest, "^") || strings.HasPrefix(p.rest, ".") {
		return nil, beyond("an exponent must be a whole number that is written out, such as 2^10")
	}
	e, err := strconv.ParseInt(text, 10, 32)
	n := &node{op: "^", literal: sign + text, operands: []*node{base}, bits: base.bits * math.Max(1, float64(e))}
	if err != nil {
		return nil, beyond("the exponent is too large")
	}
	return n, n.check()
}

func (p *parser) operand() (*node, error) {
	if p.take("(") != "" {
		if p.depth++; p.depth > 200 {
			return nil, beyond("the expression is nested more than 200 deep")
		}
		defer func() { p.depth-- }()
		n, err := p.sum()
		if err == nil && p.take(")") == "" {
			err = errSyntax
		}
		return n, err
	}
	text := p.digits()
	if p.take(".") != "" {
		after := p.digits()
		if text == "" || after == "" {
			return nil, errSyntax
		}
		text += "." + after
	}
	if text == "" {
		return nil, errSyntax
	}
	n := &node{literal: text, bits: bitsOf(text)}
	if p.take("!") != "" {
		k, err := strconv.Atoi(text)
		if err != nil || k > 200 {
			return nil, beyond("a factorial must be of a whole number up to 200")
		}
		n = &node{op: "!", literal: text, bits: float64(k) * 8}
	}
	return n, n.check()
}

// bitsOf is at least the logarithm of a literal's numerator and denominator.
func bitsOf(literal string) float64 {
	if x, err := strconv.ParseFloat(literal, 64); err == nil && len(literal) < 15 && !strings.Contains(literal, ".") {
		return math.Log2(math.Max(2, x))
	}
	return float64(len(literal)) * 3.33
}

func (p *parser) digits() string {
	n := 0
	for n < len(p.rest) && p.rest[n] >= '0' && p.rest[n] <= '9' {
		n++
	}
	text := p.rest[:n]
	p.rest = p.rest[n:]
	return text
}

// fraction is a literal as numerator and denominator.
func fraction(literal string) string {
	before, after, _ := strings.Cut(literal, ".")
	if before = strings.TrimLeft(before+after, "0"); before == "" {
		before = "0"
	}
	return fmt.Sprintf("(%s, 1%s)", before, strings.Repeat("0", len(after)))
}

// nested writes the expression as calls within calls.
func (n *node) nested() string {
	switch n.op {
	case "":
		return fraction(n.literal)
	case "^":
		return fmt.Sprintf("power(%s, %s)", n.operands[0].nested(), n.literal)
	case "!":
		return fmt.Sprintf("factorial(%s)", n.literal)
	}
	name := map[string]string{"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}[n.op]
	return fmt.Sprintf("%s(%s, %s)", name, n.operands[0].nested(), n.operands[1].nested())
}

// postfix writes the expression as a list of steps.
func (n *node) postfix(list []string) []string {
	for _, o := range n.operands {
		list = o.postfix(list)
	}
	switch n.op {
	case "":
		return append(list, fraction(n.literal))
	case "^", "!":
		return append(list, fmt.Sprintf("(%q, %s)", n.op, n.literal))
	}
	return append(list, strconv.Quote(n.op))
}

// term finds a literal that is added or taken away at the top: to misread it is
// sure to change the value.
func (n *node) term() *node {
	for n.op == "+" || n.op == "-" {
		for _, o := range []int{1, 0} {
			if x := n.operands[o]; x.op == "" && !strings.Contains(x.literal, ".") && strings.Trim(x.literal, "0") != "" {
				return x
			}
		}
		n = n.operands[0]
	}
	return nil
}

const fractionEnd = `
		if value == None:
			print("undefined: a division by zero")
		else:
			n, d = value
			print(str(n) if d == 1 else str(n) + "/" + str(d))
`

func expressionTask(tree *node, asks string) *task {
	t := &task{asks: asks, show: func(r string) string {
		if strings.HasPrefix(r, "undefined") {
			return fmt.Sprintf("**Undefined**: there is a division by zero in %s.", strings.TrimPrefix(asks, "the value of "))
		}
		return fmt.Sprintf("**%s** is %s.", r, asks)
	}}
	t.methods = [3]method{
		{name: "evaluating nested exact fractions", code: nestedCode(tree)},
		{name: "a stack machine on whole numbers", code: stackCode(tree)},
		{name: "rebuilding the value from its remainder modulo a large prime", code: residueCode(tree)},
	}
	if x := tree.term(); x != nil {
		right := x.literal
		x.literal = misread(right)
		what := fmt.Sprintf("I had copied %s as %s", right, x.literal)
		t.methods[0].slips = []slip{{nestedCode(tree), what}}
		t.methods[1].slips = []slip{{stackCode(tree), what}}
		x.literal = right
	}
	return t
}

// misread swaps the last two digits, or doubles one.
func misread(digits string) string {
	n := len(digits)
	if n > 1 && digits[n-1] != digits[n-2] {
		return digits[:n-2] + digits[n-1:] + digits[n-2:n-1]
	}
	return digits + digits[n-1:]
}

func nestedCode(tree *node) string {
	return program(`
		# Exact fractions (numerator, denominator), reduced at every step.
		def reduced(n, d):
			if d == 0:
				return None
			a, b = abs(n), abs(d)
			while b:
				a, b = b, a % b
			sign = -1 if d < 0 else 1
			return (sign * n // a, sign * d // a)
		def add(x, y):
			return x and y and reduced(x[0] * y[1] + y[0] * x[1], x[1] * y[1])
		def subtract(x, y):
			return x and y and reduced(x[0] * y[1] - y[0] * x[1], x[1] * y[1])
		def multiply(x, y):
			return x and y and reduced(x[0] * y[0], x[1] * y[1])
		def divide(x, y):
			return x and y and reduced(x[0] * y[1], x[1] * y[0])
		def power(x, e):
			if x and e < 0:
				x, e = divide((1, 1), x), -e
			return x and reduced(pow(x[0], e), pow(x[1], e))
		def factorial(n):
			return (1, 1) if n < 2 else multiply((n, 1), factorial(n - 1))
		value = multiply((1, 1), {expression})
	`+fractionEnd, "expression", tree.nested())
}

func stackCode(tree *node) string {
	return program(`
		# A stack machine. Numerators and denominators are only reduced at the end.
		steps = [{steps}]
		stack = []
		defined = True
		for step in steps:
			if type(step) == "tuple" and type(step[0]) == "int":
				stack.append(list(step))
				continue
			if type(step) == "tuple":
				op, k = step
				if op == "!":
					product = 1
					for i in range(2, k + 1):
						product *= i
					stack.append([product, 1])
					continue
				n, d = stack.pop()
				if k < 0:
					n, d, k = d, n, -k
				result = [1, 1]
				for i in range(k):
					result = [result[0] * n, result[1] * d]
			else:
				c, d = stack.pop()
				a, b = stack.pop()
				if step == "+":
					result = [a * d + c * b, b * d]
				elif step == "-":
					result = [a * d - c * b, b * d]
				elif step == "*":
					result = [a * c, b * d]
				else:
					result = [a * d, b * c]
			if result[1] == 0:
				defined = False
				break
			stack.append(result)
		value = None
		if defined:
			n, d = stack.pop()
			if d < 0:
				n, d = -n, -d
			g, r = abs(n), d
			while r:
				g, r = r, g % r
			value = [n // g, d // g]
	`+fractionEnd, "steps", strings.Join(tree.postfix(nil), ", "))
}

func residueCode(tree *node) string {
	// Two numbers of so many bits are told apart by a prime of twice as many.
	exponent := 4423
	for _, e := range []int{521, 1279, 2203} {
		if float64(e) > 2*tree.bits+4 {
			exponent = e
			break
		}
	}
	return program(`
		# Everything modulo one prime, where a division is a multiplication. At the
		# end the one small fraction with that remainder is found.
		prime = pow(2, {exponent}) - 1
		def inverse(x):
			a, b, u, v = prime, x, 0, 1
			while b:
				q = a // b
				a, b, u, v = b, a - q * b, v, u - q * v
			return u % prime
		stack = []
		defined = True
		for step in [{steps}]:
			if type(step) == "tuple" and type(step[0]) == "int":
				stack.append(step[0] * inverse(step[1]) % prime)
				continue
			if type(step) == "tuple" and step[0] == "!":
				product = 1
				for i in range(1, step[1] + 1):
					product = product * i % prime
				stack.append(product)
				continue
			y = stack.pop()
			if type(step) == "tuple":
				k = step[1]
				if k < 0:
					defined = defined and y != 0
					y, k = inverse(y), -k
				result = 1
				while k > 0:
					if k % 2 == 1:
						result = result * y % prime
					y, k = y * y % prime, k // 2
			elif step == "/":
				defined = defined and y != 0
				result = stack.pop() * inverse(y) % prime
			else:
				x = stack.pop()
				result = x + y if step == "+" else x - y if step == "-" else x * y
			stack.append(result % prime)
		value = None
		if defined:
			a, b, u, v = prime, stack.pop(), 0, 1
			while b * b * 2 > prime:
				q = a // b
				a, b, u, v = b, a - q * b, v, u - q * v
			value = (b, v) if v > 0 else (-b, -v)
	`+fractionEnd, "exponent", exponent, "steps", strings.Join(tree.postfix(nil), ", "))
}
