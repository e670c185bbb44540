package bundle

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"lyceum/internal/plain"
)

// The vocabularies that a drawing may use: its own, and those that programs describe it in.
const (
	spaceSVG   = "http://www.w3.org/2000/svg"
	spaceXLink = "http://www.w3.org/1999/xlink"
	spaceXML   = "http://www.w3.org/XML/1998/namespace"
)

var describing = []string{
	"http://www.w3.org/1999/02/22-rdf-syntax-ns#", "http://creativecommons.org/ns#", "http://web.resource.org/cc/", "http://purl.org/dc/elements/1.1/",
}

// drawn are the elements of a drawing. None of them runs, moves or loads anything.
var drawn = strings.Fields("svg g defs symbol use path rect circle ellipse line polyline polygon text tspan textPath title desc metadata style " +
	"linearGradient radialGradient stop clipPath mask pattern marker image filter feGaussianBlur feOffset feBlend feColorMatrix feFlood feComposite feMerge feMergeNode switch")

// Bounds of a drawing.
const (
	maxElements = 500_000
	maxDrawn    = 64
)

// harmless says what is wrong with a drawing, if something is. Whoever opens one in a browser
// runs what is in it; so only what draws may be in it.
func harmless(data []byte) error {
	dec := xml.NewDecoder(bytes.NewReader(data))
	depth, elements := 0, 0
	style := false
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("it is no SVG: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			depth++
			if elements++; elements > maxElements || depth > maxDrawn {
				return errors.New("it is no SVG that can be shown: it has too many elements")
			}
			if elements == 1 && t.Name.Local != "svg" {
				return errors.New("it is no SVG: it does not begin with svg")
			}
			if err := drawing(t); err != nil {
				return err
			}
			style = t.Name.Local == "style"
		case xml.EndElement:
			depth--
			style = false
		case xml.CharData:
			if style && !inside(string(t)) {
				return errors.New("its style loads something from elsewhere")
			}
		case xml.ProcInst:
			if t.Target != "xml" {
				return fmt.Errorf("it has a processing instruction %s", plain.Quoted(t.Target, 40))
			}
		case xml.Directive:
			if bytes.ContainsAny(t, "[%") || !bytes.HasPrefix(bytes.ToUpper(t), []byte("DOCTYPE")) {
				return errors.New("it defines entities")
			}
		}
	}
	if elements == 0 {
		return errors.New("it is no SVG: it is empty")
	}
	return nil
}

// drawing says what is wrong with an element.
func drawing(t xml.StartElement) error {
	switch {
	case slices.Contains(describing, t.Name.Space):
	case t.Name.Space != spaceSVG:
		return fmt.Errorf("it has an element %s of another vocabulary than SVG", plain.Quoted(t.Name.Local, 40))
	case !slices.Contains(drawn, t.Name.Local):
		return fmt.Errorf("it has an element %s: a figure has only what draws", plain.Quoted(t.Name.Local, 40))
	}
	for _, a := range t.Attr {
		name := strings.ToLower(a.Name.Local)
		switch {
		case a.Name.Space == "xmlns" || a.Name.Space == "" && name == "xmlns":
		case strings.HasPrefix(name, "on"):
			return fmt.Errorf("it has an attribute %s, which runs a script", plain.Quoted(name, 40))
		case name == "href" || name == "src":
			if !strings.HasPrefix(a.Value, "#") && (t.Name.Local != "image" || !embedded(a.Value)) {
				return errors.New("it refers to something outside of itself")
			}
		case a.Name.Space != "" && a.Name.Space != spaceXLink && a.Name.Space != spaceXML && a.Name.Space != spaceSVG && !slices.Contains(describing, a.Name.Space):
			return fmt.Errorf("it has an attribute %s of another vocabulary than SVG", plain.Quoted(name, 40))
		case !inside(a.Value):
			return fmt.Errorf("its attribute %s loads something from elsewhere", plain.Quoted(name, 40))
		}
	}
	return nil
}

// embedded reports whether an address is a picture in itself.
func embedded(s string) bool {
	for _, kind := range []string{"png", "jpeg", "gif"} {
		if strings.HasPrefix(s, "data:image/"+kind+";base64,") {
			return true
		}
	}
	return false
}

// inside reports whether a style refers to nothing outside of the drawing. A backslash can write
// any word in other letters.
func inside(s string) bool {
	low := strings.ToLower(s)
	if strings.Contains(low, "@import") || strings.Contains(low, "javascript:") || strings.Contains(low, "expression(") {
		return false
	}
	if strings.ContainsRune(low, '\\') && strings.ContainsAny(low, "(:@") {
		return false
	}
	for rest := low; ; {
		i := strings.Index(rest, "url(")
		if i < 0 {
			return true
		}
		rest = strings.TrimLeft(rest[i+len("url("):], " \t\n\"'")
		if !strings.HasPrefix(rest, "#") {
			return false
		}
	}
}
