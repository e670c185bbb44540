package cli

// SetRelease makes the test binary one of another release.
func SetRelease(version string) { release = version }
