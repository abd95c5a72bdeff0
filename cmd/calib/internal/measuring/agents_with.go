//go:build agents

package measuring

import "embed"

//go:embed calib-agent-*.gz
var packed embed.FS
