package browser

import (
	"context"
	"fmt"
	"strings"

	"lyceum/internal/event"
	"lyceum/internal/plain"
)

// maxTyped is how many characters are typed one by one; what is longer comes at once.
const maxTyped = 200

// click clicks at the middle of what is at a place, whatever is there for the mouse.
func (p *page) click(ctx context.Context, at event.WorldPlace) error {
	n, err := p.find(ctx, at)
	if err != nil {
		return err
	}
	return p.clickNode(ctx, n)
}

func (p *page) clickNode(ctx context.Context, n *Node) error {
	where := event.WorldPlace{Role: n.Role, Name: n.Name}
	if err := p.gone(p.call(ctx, "DOM.scrollIntoViewIfNeeded", params{"backendNodeId": n.id}, nil), where); err != nil {
		return err
	}
	var box struct {
		Quads [][]float64 `json:"quads"`
	}
	if err := p.gone(p.call(ctx, "DOM.getContentQuads", params{"backendNodeId": n.id}, &box), where); err != nil {
		return err
	}
	if len(box.Quads) == 0 || len(box.Quads[0]) != 8 {
		return &ending{Missing, placed(where) + " has no place on the page"}
	}
	q := box.Quads[0]
	x, y := (q[0]+q[2]+q[4]+q[6])/4, (q[1]+q[3]+q[5]+q[7])/4
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		v := params{"type": kind, "x": x, "y": y}
		if kind != "mouseMoved" {
			v["button"], v["clickCount"] = "left", 1
		}
		if err := p.call(ctx, "Input.dispatchMouseEvent", v, nil); err != nil {
			return err
		}
	}
	return nil
}

// gone turns what the browser refuses, as the element is not to be seen or not there any more,
// into a missing place.
func (p *page) gone(err error, at event.WorldPlace) error {
	if err == nil || !refused(err) {
		return err
	}
	return &ending{Missing, fmt.Sprintf("%s cannot be reached: %s", placed(at), plain.Brief(plain.Line(err.Error()), 200))}
}

// typed types a text in place of what is there.
func (p *page) typed(ctx context.Context, at event.WorldPlace, text string) error {
	n, err := p.find(ctx, at)
	if err != nil {
		return err
	}
	if err := p.focus(ctx, n); err != nil {
		return err
	}
	if err := p.key(ctx, "Control+a"); err != nil {
		return err
	}
	if text == "" {
		return p.key(ctx, "Delete")
	}
	runes := []rune(text)
	if len(runes) > maxTyped {
		return p.call(ctx, "Input.insertText", params{"text": text}, nil)
	}
	for _, r := range runes {
		name := string(r)
		switch r {
		case '\n':
			name = "Enter"
		case '\t':
			name = "Tab"
		}
		if err := p.key(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// focus gives the keyboard to a node, as the key Tab would.
func (p *page) focus(ctx context.Context, n *Node) error {
	where := event.WorldPlace{Role: n.Role, Name: n.Name}
	if n.Disabled {
		return &ending{Missing, placed(where) + " is disabled"}
	}
	return p.gone(p.call(ctx, "DOM.focus", params{"backendNodeId": n.id}, nil), where)
}

// press presses a key, at a place if one is given.
func (p *page) press(ctx context.Context, at event.WorldPlace, name string) error {
	if at.Role != "" || at.Name != "" {
		n, err := p.find(ctx, at)
		if err != nil {
			return err
		}
		if err := p.focus(ctx, n); err != nil {
			return err
		}
	}
	return p.key(ctx, name)
}

// options says of a list which of its options are shown by which words, and which is chosen.
const options = `function() {
	if (!(this instanceof HTMLSelectElement)) return null;
	const get = (name) => Object.getOwnPropertyDescriptor(HTMLSelectElement.prototype, name).get.call(this);
	const all = Array.from(get('options')).filter(o => !o.disabled && !(o.parentElement instanceof HTMLOptGroupElement && o.parentElement.disabled)).slice(0, 1000);
	return { words: all.map(o => o.label.trim()), now: all.findIndex(o => o.selected), list: get('multiple') || get('size') > 1 };
}`

// choose chooses an option by its words: of a list of the browser's own by the keys, as its menu
// is no part of the page; of any other by clicks.
func (p *page) choose(ctx context.Context, at event.WorldPlace, option string) error {
	n, err := p.find(ctx, at)
	if err != nil {
		return err
	}
	if err := p.focus(ctx, n); err != nil && !isMissing(err) {
		return err
	}
	var list struct {
		Words []string `json:"words"`
		Now   float64  `json:"now"`
		List  bool     `json:"list"`
	}
	own, err := p.about(ctx, n, options, &list)
	switch {
	case err != nil:
		return err
	case own && !list.List:
		return p.arrows(ctx, at, list.Words, int(list.Now), option)
	}
	target := func() (*Node, error) {
		for _, role := range []string{"option", "menuitem", "menuitemradio", "radio", "treeitem", "tab"} {
			if o, err := p.find(ctx, event.WorldPlace{Role: role, Name: option}); err == nil || !isMissing(err) {
				return o, err
			}
		}
		return nil, &ending{Missing, fmt.Sprintf("%s has no option %s", placed(at), plain.Quoted(option, 100))}
	}
	o, err := target()
	if isMissing(err) && !own {
		if err := p.clickNode(ctx, n); err != nil {
			return err
		}
		if err := p.pass(ctx, settled); err != nil {
			return err
		}
		o, err = target()
	}
	if err != nil {
		return err
	}
	return p.clickNode(ctx, o)
}

// arrows goes to an option with the keys up and down.
func (p *page) arrows(ctx context.Context, at event.WorldPlace, words []string, now int, option string) error {
	to := -1
	for i, w := range words {
		if strings.TrimSpace(option) == w {
			to = i
			break
		}
	}
	if to < 0 {
		return &ending{Missing, fmt.Sprintf("%s has no option %s", placed(at), plain.Quoted(option, 100))}
	}
	for ; now != to; now += sign(to - now) {
		name := "ArrowDown"
		if to < now {
			name = "ArrowUp"
		}
		if err := p.key(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}
