#!/bin/sh
# Makes the corpus that the questions of this folder are asked of, in a folder that is
# not there yet: the documents beside this script in own/, and what `go doc -all` says of
# packages of Go's standard library in go/, one text file each. The texts of Go are not
# kept in the repository: they are its authors'. Usage: corpus.sh <folder>
set -eu
to=${1:?usage: corpus.sh <folder>}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$(dirname "$to")"
mkdir "$to"
cp -R "$here/documents" "$to/own"
for p in archive/tar archive/zip bufio bytes cmp compress/flate compress/gzip container/heap \
	container/list context crypto/aes crypto/cipher crypto/hmac crypto/rand crypto/sha256 \
	crypto/subtle database/sql embed encoding/base64 encoding/binary encoding/csv encoding/hex \
	encoding/json encoding/xml errors expvar flag fmt hash/crc32 hash/fnv hash/maphash html \
	html/template io io/fs iter log log/slog maps math math/big math/bits math/rand/v2 mime \
	mime/multipart net/mail net/netip net/textproto net/url os/exec os/signal os/user path \
	path/filepath regexp runtime/debug slices sort strconv strings sync sync/atomic \
	testing/fstest testing/iotest text/scanner text/tabwriter text/template time time/tzdata \
	unicode unicode/utf16 unicode/utf8 unique weak; do
	mkdir -p "$to/go/$(dirname "$p")"
	go doc -all "$p" >"$to/go/$p.txt"
done
