package cli

import (
	"lyceum/internal/quest"
	"lyceum/internal/society/contract"
	"lyceum/internal/society/lab"
	"lyceum/internal/society/solo"
)

// register has the societies of this binary: their rules, and how they are shown.
var register = []struct {
	rules quest.Society
	shown society
}{
	{solo.Society{}, alone{}},
	{lab.Society{}, laboratory{}},
	{contract.Society{}, contractNet{}},
}
