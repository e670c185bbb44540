package view

// architects is how the work of an architect is shown: by its tasks.
type architects struct{ agents }
