package provider

// Info tells what is known of a model, without looking for its key.
func (r *Registry) Info(name string) (Info, error) {
	p, bare, err := r.resolve(name)
	if err != nil {
		return Info{}, err
	}
	return r.info(p, bare), nil
}
