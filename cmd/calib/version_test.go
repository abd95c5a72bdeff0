package main

import (
	"runtime/debug"
	"testing"
)

func TestBuildLine(t *testing.T) {
	b := build{Version: "v1.2.3", Go: "go1.26.8", OS: "linux", Arch: "arm64"}
	if got, want := b.String(), "calib v1.2.3 (go1.26.8, linux/arm64)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	b = buildOf([]debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"},
		{Key: "vcs.modified", Value: "true"},
		{Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "CGO_ENABLED", Value: "0"}})
	b.Version, b.Go, b.OS, b.Arch = "v1.2.3", "go1.26.8", "linux", "arm64"
	const want = "calib v1.2.3 (commit 0123456789ab, 2026-01-02, dirty, go1.26.8, linux/arm64)"
	if got := b.String(); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if b.Time != "2026-01-02T03:04:05Z" {
		t.Errorf("time %s", b.Time)
	}
}
