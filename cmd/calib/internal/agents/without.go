//go:build !agents

package agents

import "embed"

var packed embed.FS
