package api

import (
	"fmt"
	"net/http"
)

// Format is the number of this API. It changes when a program that was made for the one
// before would misunderstand or be misunderstood.
const Format = 1

// The headers by which the command line and the server tell each other what they are.
const (
	VersionHeader = "Lyceum-Version"
	FormatHeader  = "Lyceum-Api"
)

// greet says what this server is, and refuses a program that speaks another format. One that
// says nothing is taken at its requests.
func greet(answer, request http.Header, version string) error {
	answer.Set(VersionHeader, version)
	answer.Set(FormatHeader, fmt.Sprint(Format))
	if theirs := request.Get(FormatHeader); theirs != "" && theirs != fmt.Sprint(Format) {
		return badParameter(FormatHeader, "you speak format %.20q of this API (lyceum %.40q), and this server format %d (lyceum %q): start the server again with your lyceum, or use the server's", theirs, request.Get(VersionHeader), Format, version)
	}
	return nil
}
