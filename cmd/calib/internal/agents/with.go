//go:build agents

package agents

import "embed"

//go:embed calib-agent-*.gz
var packed embed.FS
