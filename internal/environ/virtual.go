package environ

import (
	"io/fs"
	"slices"
	"strings"
)

// vendors are what the firmware says of itself under each hypervisor, in the order to look: sys_vendor, product_name and
// bios_vendor of the DMI tables, as systemd-detect-virt reads them.
var vendors = []struct{ text, name string }{
	{"KVM", "kvm"},
	{"OpenStack", "kvm"},
	{"KubeVirt", "kvm"},
	{"Amazon EC2", "amazon"},
	{"Google Compute Engine", "google"},
	{"QEMU", "qemu"},
	{"VMware", "vmware"},
	{"VMW", "vmware"},
	{"innotek GmbH", "oracle"},
	{"VirtualBox", "oracle"},
	{"Xen", "xen"},
	{"Bochs", "bochs"},
	{"Parallels", "parallels"},
	{"BHYVE", "bhyve"},
	{"Hyper-V", "microsoft"},
	{"Virtual Machine", "microsoft"},
	{"Apple Virtualization", "apple"},
}

// virtual sets "virt" to the hypervisor, "other" where the CPU says there is one and the firmware does not say which,
// "none" where the CPU says there is none; and "container" where the host is one.
func (c collector) virtual(env map[string]string) {
	hypervisor := slices.Contains(strings.Fields(c.cpuinfo("flags")), "hypervisor")
	name := c.firmware()
	switch {
	// Amazon's and Google's machines without a hypervisor carry the same vendor as those with one.
	case name != "" && (hypervisor || c.cpuinfo("flags") == ""):
		env["virt"] = name
	case hypervisor:
		env["virt"] = "other"
	case c.cpuinfo("flags") != "":
		env["virt"] = "none"
	}
	for _, m := range []struct{ path, name string }{{".dockerenv", "docker"}, {"run/.containerenv", "podman"}} {
		if _, err := fs.Stat(c.root, m.path); err == nil {
			env["container"] = m.name
		}
	}
}

func (c collector) firmware() string {
	for _, f := range []string{"product_name", "sys_vendor", "bios_vendor"} {
		text := c.read("sys/class/dmi/id/" + f)
		for _, v := range vendors {
			if strings.HasPrefix(text, v.text) {
				return v.name
			}
		}
	}
	return ""
}
