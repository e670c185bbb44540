package bundle

import _ "embed"

// FolderStyle is where the style of figures lies in the home of the computer that makes them;
// EnvStyle is the variable of the environment that says where that is.
const (
	FolderStyle = ".figures"
	EnvStyle    = "LYCEUM_STYLE"
)

//go:embed style/matplotlibrc
var matplotlibrc []byte

//go:embed style/palette.csv
var palette []byte

// Style are the files that all figures of a paper are made by: settings for matplotlib, and the
// colours, dashes and marks for any other program.
func Style() []File {
	return []File{{FolderStyle + "/matplotlibrc", matplotlibrc}, {FolderStyle + "/palette.csv", palette}}
}
