# Copyright 2026 The calib authors
# SPDX-License-Identifier: Apache-2.0
"""calib for Spack 1.0 and newer: copy this file to packages/calib/package.py of a repository of Spack.

git is to be the address of your clone. Without one: spack develop --path CLONE calib@main
Go downloads modules while it builds.
"""

from spack_repo.builtin.build_systems.generic import Package

from spack.package import *


class Calib(Package):
    """Measures the network of a cluster in minutes, and fits the parameters of published cost models to it."""

    homepage = "https://example.org/calib"
    git = "https://example.org/calib.git"

    license("Apache-2.0")

    version("main", branch="main")

    depends_on("go@1.26:", type="build")
    depends_on("gmake", type="build")
    depends_on("gzip", type="build")
    depends_on("openssh", type="run")

    sanity_check_is_file = ["bin/calib", "share/man/man1/calib.1"]

    def install(self, spec, prefix):
        make("build")
        mkdirp(prefix.bin)
        install("bin/calib", prefix.bin)
        calib = Executable(prefix.bin.calib)
        calib("man", "--dir", prefix.share.man.man1)
        for shell, directory, name in (
            ("bash", bash_completion_path(prefix), "calib"),
            ("zsh", zsh_completion_path(prefix), "_calib"),
            ("fish", fish_completion_path(prefix), "calib.fish"),
        ):
            mkdirp(directory)
            with open(join_path(directory, name), "w") as script:
                calib("completion", shell, output=script)
        install_tree("examples", prefix.share.calib.examples)

    def test_local(self):
        """two agents on this machine"""
        which(self.prefix.bin.calib, required=True)("run", "--local", "2", "--plan", "quick", "--budget", "10s")
