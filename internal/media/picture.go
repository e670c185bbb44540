package media

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
)

// Each of these walks through a picture from its first byte to its last, and returns
// how large it is. 0 and 0 say that the bytes are none, or not all of one. Pixels are
// not looked at: a picture can be made to hold more of them than there is memory.

// png wants a head, data, and an end, each with its checksum.
func png(data []byte) (width, height int) {
	rest, ok := bytes.CutPrefix(data, []byte("\x89PNG\r\n\x1a\n"))
	if !ok {
		return 0, 0
	}
	filled := false
	for first := true; len(rest) >= 12; first = false {
		n := uint64(binary.BigEndian.Uint32(rest))
		if n > uint64(len(rest)-12) {
			return 0, 0
		}
		kind, body := string(rest[4:8]), rest[8:8+n]
		if crc32.ChecksumIEEE(rest[4:8+n]) != binary.BigEndian.Uint32(rest[8+n:]) || first != (kind == "IHDR") {
			return 0, 0
		}
		switch kind {
		case "IHDR":
			if n != 13 {
				return 0, 0
			}
			width, height = int(binary.BigEndian.Uint32(body)), int(binary.BigEndian.Uint32(body[4:]))
		case "IDAT":
			filled = true
		case "IEND":
			if filled {
				return width, height
			}
			return 0, 0
		}
		rest = rest[12+n:]
	}
	return 0, 0
}

// jpeg wants a frame, a scan behind it, and an end. Cameras write more behind the end.
func jpeg(data []byte) (width, height int) {
	rest, ok := bytes.CutPrefix(data, []byte("\xff\xd8"))
	if !ok {
		return 0, 0
	}
	for len(rest) >= 4 && rest[0] == 0xff {
		kind := rest[1]
		if kind == 0xff { // it may be filled up
			rest = rest[1:]
			continue
		}
		n := int(binary.BigEndian.Uint16(rest[2:]))
		if n < 2 || n+2 > len(rest) {
			return 0, 0
		}
		body := rest[4 : n+2]
		switch {
		case kind == 0xda:
			if bytes.Contains(rest[n+2:], []byte("\xff\xd9")) {
				return width, height
			}
			return 0, 0
		case kind >= 0xc0 && kind <= 0xcf && kind != 0xc4 && kind != 0xc8 && kind != 0xcc:
			if len(body) < 6 {
				return 0, 0
			}
			height, width = int(binary.BigEndian.Uint16(body[1:])), int(binary.BigEndian.Uint16(body[3:]))
		}
		rest = rest[n+2:]
	}
	return 0, 0
}

// gif wants at least one frame, and an end.
func gif(data []byte) (width, height int) {
	if len(data) < 13 || !bytes.HasPrefix(data, []byte("GIF87a")) && !bytes.HasPrefix(data, []byte("GIF89a")) {
		return 0, 0
	}
	width, height = int(binary.LittleEndian.Uint16(data[6:])), int(binary.LittleEndian.Uint16(data[8:]))
	at, filled := 13+colours(data[10]), false
	for at < len(data) {
		kind := data[at]
		at++
		switch kind {
		case 0x3b:
			if filled {
				return width, height
			}
			return 0, 0
		case 0x21: // an extension: its label, then blocks
			at++
		case 0x2c: // a frame: its place, its colours, how codes begin, then blocks
			if at+9 > len(data) {
				return 0, 0
			}
			at += 9 + colours(data[at+8]) + 1
			filled = true
		default:
			return 0, 0
		}
		for at < len(data) && data[at] != 0 {
			at += 1 + int(data[at])
		}
		at++
	}
	return 0, 0
}

// colours is how long the table is that a GIF's flags announce.
func colours(flags byte) int {
	if flags&0x80 == 0 {
		return 0
	}
	return 3 << (flags&7 + 1)
}

// webp wants as many bytes as its container says, and one of three kinds of head.
func webp(data []byte) (width, height int) {
	if len(data) < 30 || string(data[:4]) != "RIFF" || string(data[8:12]) != "WEBP" {
		return 0, 0
	}
	if n := uint64(binary.LittleEndian.Uint32(data[4:])); n+8 > uint64(len(data)) {
		return 0, 0
	}
	body := data[20:]
	switch string(data[12:16]) {
	case "VP8 ":
		if string(body[3:6]) != "\x9d\x01\x2a" {
			return 0, 0
		}
		return int(binary.LittleEndian.Uint16(body[6:]) & 0x3fff), int(binary.LittleEndian.Uint16(body[8:]) & 0x3fff)
	case "VP8L":
		if body[0] != 0x2f {
			return 0, 0
		}
		bits := binary.LittleEndian.Uint32(body[1:])
		return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
	case "VP8X":
		three := func(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
		return three(body[4:]) + 1, three(body[7:]) + 1
	}
	return 0, 0
}
