//go:build !agents

package measuring

import "embed"

var packed embed.FS
