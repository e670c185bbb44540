// Package society lists the societies of this binary. A further one has a line here, and
// whoever shows it may have a line for it in a table of their own.
package society

import (
	"lyceum/internal/quest"
	"lyceum/internal/society/architect"
	"lyceum/internal/society/contract"
	"lyceum/internal/society/lab"
	"lyceum/internal/society/solo"
	"lyceum/internal/society/stages"
	"lyceum/internal/society/world"
)

// All are the rules that this binary has. The first are those of a quest.yaml that names
// none.
func All() quest.Societies {
	return quest.Societies{solo.Society{}, lab.Society{}, contract.Society{}, architect.Society{}, stages.Society{}, world.Society{}}
}
