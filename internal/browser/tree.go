package browser

import (
	"context"
	"fmt"
	"strconv"

	"lyceum/internal/event"
	"lyceum/internal/plain"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// axNode is a node of the accessibility tree, as the browser tells it.
type axNode struct {
	ID          string     `json:"nodeId"`
	Ignored     bool       `json:"ignored"`
	Role        axValue    `json:"role"`
	Name        axValue    `json:"name"`
	Value       axValue    `json:"value"`
	Description axValue    `json:"description"`
	Properties  []property `json:"properties"`
	Children    []string   `json:"childIds"`
	Parent      string     `json:"parentId"`
	Element     int64      `json:"backendDOMNodeId"`
}

type property struct {
	Name  string  `json:"name"`
	Value axValue `json:"value"`
}

type axValue struct {
	Value any `json:"value"`
}

// String is the value as a text.
func (v axValue) String() string {
	switch x := v.Value.(type) {
	case string:
		return plain.Brief(plain.Line(x), maxName)
	case bool:
		return strconv.FormatBool(x)
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return ""
}

// tree is the accessibility tree; cut says that there is more.
func (p *page) tree(ctx context.Context) (nodes []Node, cut bool, err error) {
	var all struct {
		Nodes []axNode `json:"nodes"`
	}
	if err := p.call(ctx, "Accessibility.getFullAXTree", nil, &all); err != nil {
		return nil, false, err
	}
	frames, left, err := p.frames(ctx)
	if err != nil {
		return nil, false, err
	}
	inside := map[int64][]axNode{}
	for _, frame := range frames {
		owner, below, err := p.framed(ctx, frame)
		switch {
		case refused(err):
			left = true // a frame that is gone, or in another process
		case err != nil:
			return nil, false, err
		default:
			inside[owner] = below
		}
	}
	nodes, cut = order(all.Nodes, inside)
	return nodes, cut || left, nil
}

// maxFrames is how many frames of a page are looked into.
const maxFrames = 30

// frames are the frames inside the page, in the order of the tree; more says that there are more
// than are looked into. What is in them came with the page: everything else is refused.
func (p *page) frames(ctx context.Context) (ids []string, more bool, err error) {
	type frame struct {
		Frame struct {
			ID string `json:"id"`
		} `json:"frame"`
		Children []jsontext.Value `json:"childFrames"`
	}
	var tree struct {
		Top frame `json:"frameTree"`
	}
	if err := p.call(ctx, "Page.getFrameTree", nil, &tree); err != nil {
		return nil, false, err
	}
	for next := tree.Top.Children; len(next) > 0; {
		if len(ids) == maxFrames {
			return ids, true, nil
		}
		var f frame
		if err := json.Unmarshal(next[0], &f, lenient); err != nil {
			return nil, false, fmt.Errorf("read the frames of a page: %w", err)
		}
		ids, next = append(ids, f.Frame.ID), append(f.Children, next[1:]...)
	}
	return ids, false, nil
}

// framed is the tree of a frame, and the element that it is in.
func (p *page) framed(ctx context.Context, frame string) (owner int64, nodes []axNode, err error) {
	var element struct {
		ID int64 `json:"backendNodeId"`
	}
	if err := p.call(ctx, "DOM.getFrameOwner", params{"frameId": frame}, &element); err != nil {
		return 0, nil, err
	}
	var all struct {
		Nodes []axNode `json:"nodes"`
	}
	err = p.call(ctx, "Accessibility.getFullAXTree", params{"frameId": frame}, &all)
	return element.ID, all.Nodes, err
}

// order puts nodes into the order of the tree. What means nothing by itself is left out, what is
// inside it is not. inside are the trees of frames, by the elements that they are in. No node comes
// twice, whatever the browser says.
func order(all []axNode, inside map[int64][]axNode) (nodes []Node, cut bool) {
	o := &ordering{inside: inside}
	o.tree(all, 0, 0)
	return o.nodes, o.cut
}

type ordering struct {
	inside map[int64][]axNode // a frame's is taken out when it is gone through
	nodes  []Node
	cut    bool
}

// tree goes through the nodes of one document, whose ids are its own.
func (o *ordering) tree(all []axNode, depth, level int) {
	byID, seen := make(map[string]*axNode, len(all)), map[string]bool{}
	for i := range all {
		byID[all[i].ID] = &all[i]
	}
	var add func(id string, depth, level int)
	add = func(id string, depth, level int) {
		n := byID[id]
		if n == nil || seen[id] {
			return
		}
		seen[id] = true
		if len(o.nodes) >= maxNodes || level > 5*maxDepth {
			o.cut = true
			return
		}
		if n.means() {
			if o.nodes = append(o.nodes, n.node(depth)); depth < maxDepth {
				depth++
			}
		}
		for _, child := range n.Children {
			add(child, depth, level+1)
		}
		if frame, ok := o.inside[n.Element]; ok && n.Element != 0 {
			delete(o.inside, n.Element)
			o.tree(frame, depth, level+1)
		}
	}
	for i := range all {
		if all[i].Parent == "" {
			add(all[i].ID, depth, level)
		}
	}
}

func (n *axNode) means() bool {
	if n.Ignored {
		return false
	}
	switch n.Role.String() {
	case "", "none", "InlineTextBox", "LineBreak":
		return false
	case "generic":
		return n.Name.String() != ""
	}
	return true
}

func (n *axNode) node(depth int) Node {
	out := Node{Depth: depth, Role: n.Role.String(), Name: n.Name.String(), Value: n.Value.String(), Description: n.Description.String(), id: n.Element}
	for _, p := range n.Properties {
		text := p.Value.String()
		switch p.Name {
		case "checked":
			out.Checked = text
		case "pressed":
			out.Pressed = text
		case "expanded":
			out.Expanded = text
		case "selected":
			out.Selected = text
		case "invalid":
			if text != "false" {
				out.Invalid = text
			}
		case "disabled":
			out.Disabled = text == "true"
		case "focused":
			out.Focused = text == "true"
		case "readonly":
			out.Readonly = text == "true"
		case "required":
			out.Required = text == "true"
		case "level":
			out.Level, _ = strconv.Atoi(text)
		}
	}
	return out
}

// At reports whether a node is at a place. A part of the place that is empty fits every node;
// white space in a name is one space.
func (n *Node) At(at event.WorldPlace) bool {
	return (at.Role == "" || n.Role == at.Role) && (at.Name == "" || n.Name == plain.Brief(plain.Line(at.Name), maxName))
}

// find finds the node at a place, the first of several.
func (p *page) find(ctx context.Context, at event.WorldPlace) (*Node, error) {
	if at.Role == "" && at.Name == "" {
		return nil, &ending{Missing, "the step does not say where: give a role, a name or both"}
	}
	nodes, _, err := p.tree(ctx)
	if err != nil {
		return nil, err
	}
	for i := range nodes {
		if nodes[i].At(at) && nodes[i].id != 0 {
			return &nodes[i], nil
		}
	}
	return nil, &ending{Missing, fmt.Sprintf("there is no %s", placed(at))}
}

// placed are words for a place.
func placed(at event.WorldPlace) string {
	switch {
	case at.Name == "":
		return plain.Brief(plain.Line(at.Role), 50)
	case at.Role == "":
		return "node named " + plain.Quoted(at.Name, 100)
	}
	return plain.Brief(plain.Line(at.Role), 50) + " named " + plain.Quoted(at.Name, 100)
}
