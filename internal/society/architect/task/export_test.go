package task

// ReadOwn reads what was encoded here, without YAML.
func ReadOwn(data []byte, into any) bool { return readOwn(data, into) }
