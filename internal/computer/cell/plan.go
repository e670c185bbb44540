package cell

import (
	"slices"
	"strings"
)

// Kind says what a part of a root is.
type Kind string

// The kinds of parts.
const (
	// Show is a file or folder of the host, to be read, with all that is mounted in it.
	Show Kind = "show"
	// Home is a folder of the host that can be written to, unless it is Fixed.
	Home Kind = "home"
	// Link is a symbolic link to From.
	Link Kind = "link"
	// Text is a file that can be read, of the text From.
	Text Kind = "text"
	// Dir is an empty folder.
	Dir Kind = "dir"
	// Memory is a folder in memory, of at most Size bytes, that everybody can write to.
	Memory Kind = "memory"
	// Proc is the /proc of the computer's own processes, whose settings of the kernel
	// can only be read.
	Proc Kind = "proc"
	// Mask hides a file.
	Mask Kind = "mask"
	// Cover hides a folder: an empty one, to be read, takes its place.
	Cover Kind = "cover"
	// Devices is a /dev with the devices that programs need and that are nobody's.
	Devices Kind = "devices"
	// Close makes what stands at a path, or was laid out in it, unchangeable. File systems
	// mounted below it are not concerned.
	Close Kind = "close"
)

// Part is one step of laying out the root of a computer.
type Part struct {
	Kind Kind `json:"kind"`
	// Path is where it stands inside. Folders above it that are not there yet are made.
	Path string `json:"path"`
	// From is what stands there: a path of the host, the target of a link, or a text.
	From string `json:"from,omitempty"`
	Size int64  `json:"size,omitempty"`
	// Fixed says of a home that it can only be read.
	Fixed bool `json:"fixed,omitempty"`
}

// Plan says what the cell is to be.
type Plan struct {
	Parts []Part `json:"parts"`
	// Open says that the network is the host's, and left alone.
	Open bool `json:"open,omitempty"`
	// Read and Write are what Landlock lets pass.
	Read  []string `json:"read"`
	Write []string `json:"write"`
	// Args are those of the helper.
	Args []string `json:"args"`
}

// divided is the path of the home, if a part of the plan stands in it.
func (p *Plan) divided() string {
	for _, home := range p.Parts {
		within := func(part Part) bool { return strings.HasPrefix(part.Path, home.Path+"/") }
		if home.Kind == Home && slices.ContainsFunc(p.Parts, within) {
			return home.Path
		}
	}
	return ""
}

// User is what a computer's programs run as, by the numbers that hold inside.
const User = 1000

// Hostname is what every computer is called.
const Hostname = "lyceum"
