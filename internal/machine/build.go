package machine

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"

	"calib/internal/files"
)

// Version is the version of the calib module in this binary, which Go makes of the commit. A build that knows none is
// "devel".
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "(devel)" {
		return cmp.Or(info.Main.Version, "devel")
	}
	return "devel"
}

// BuildHash is the SHA-256 of the running executable in hexadecimal: two hosts with the same run the same code.
var BuildHash = sync.OnceValues(func() (string, error) {
	path, err := os.Executable()
	if runtime.GOOS == "linux" {
		path, err = "/proc/self/exe", nil // the running image, also after the file was replaced
	}
	if err != nil {
		return "", fmt.Errorf("find the executable: %w", err)
	}
	sum, _, err := files.SHA256(path)
	return sum, err
})

// Boot identifies this machine and its boot: the kernel's random boot id. Containers and network namespaces of one
// machine share it. It is empty where there is none.
func Boot() string {
	b, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	return strings.TrimSpace(string(b))
}

// Clock identifies the monotonic clock of this process: that of a boot, moved by the time namespace. It is empty where
// the boot is not known, or whether there is such a namespace.
func Clock() string {
	boot := Boot()
	namespace, err := os.Readlink("/proc/self/ns/time")
	if boot == "" || err != nil {
		return ""
	}
	return boot + " " + namespace
}
