# A test for ReFrame 4: the latency and rate between the nodes of a job, against a reference from an earlier run.
#
#     calib run --slurm --nodes 8 --plan quick --out good      # then take alpha and r_inf of good/params.json
#     reframe -c calib_test.py -r
#
# The references below are examples: put in those of your cluster. A tenth more latency, or less rate, fails the test.
import json
import os

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.backends import getlauncher


@rfm.simple_test
class CalibTest(rfm.RunOnlyRegressionTest):
    descr = 'latency and rate between the nodes of a job'
    valid_systems = ['*']
    valid_prog_environs = ['*']
    executable = 'calib'
    executable_opts = ['run', '--slurm', '--plan', 'quick', '--quiet', '--out', 'run']
    num_tasks = 8
    num_tasks_per_node = 1
    time_limit = '10m'
    reference = {'*': {'alpha': (25e-6, None, 0.1, 's'), 'r_inf': (1.15e9, -0.1, None, 'B/s')}}

    @run_before('run')
    def start_once(self):
        # calib starts its agents itself, as a step of the job.
        self.job.launcher = getlauncher('local')()

    @sanity_function
    def measured(self):
        return sn.path_isfile(os.path.join(self.stagedir, 'run', 'params.json'))

    def number(self, name):
        with open(os.path.join(self.stagedir, 'run', 'params.json')) as f:
            return json.load(f)['parameters'][name]['value']

    @performance_function('s')
    def alpha(self):
        return self.number('alpha')

    @performance_function('B/s')
    def r_inf(self):
        return self.number('r_inf')
