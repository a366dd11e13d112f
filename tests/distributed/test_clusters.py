"""Several hosts: what is started where, and how a rank learns which one it is."""

import subprocess
import sys

import pytest

from vistorch.ranks import slurm

from .launched import ROOT, environment, program

SHOW = r"""
t = torch.ones(3) * (rank + 1); dist.all_reduce(t)
said = [os.environ[name] for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")]
sys.stdout.write(f"{rank} {size} {t.tolist()} {' '.join(said)} {os.environ.get('HOST_OF_TEST')}\n")
"""
# in place of ssh: notes what it is asked to start and where, and starts it here
SSH = r"""#!/bin/sh
while [ "$1" = -x ]; do shift; done
host=$1; shift
echo "$host: $*" >> "$STARTED"
HOST_OF_TEST=$host exec sh -c "$*"
"""
# as srun: that many tasks, in blocks on the nodes, with the variables of Slurm's documentation
SRUN = r"""#!PYTHON
import argparse, os, subprocess, sys
parser = argparse.ArgumentParser()
parser.add_argument("-n", type=int); parser.add_argument("-N", type=int, default=1); parser.add_argument("--mpi")
parser.add_argument("command", nargs=argparse.REMAINDER)
given = parser.parse_args()
each = given.n // given.N
nodes = f"node[01-{given.N:02d}]" if given.N > 1 else "node01"
common = {"SLURM_JOB_ID": str(os.getpid()), "SLURM_STEP_ID": "0", "SLURM_STEP_NUM_TASKS": str(given.n)}
common |= {"SLURM_STEP_NODELIST": nodes, "SLURM_STEP_TASKS_PER_NODE": f"{each}(x{given.N})"}
if given.mpi == "pmix":
    common["PMIX_RANK"] = "0"
print(given.command, file=open(os.environ["STARTED"], "w"))
tasks = []
for i in range(given.n):
    own = {"SLURM_PROCID": str(i), "SLURM_LOCALID": str(i % each), "SLURM_NODEID": str(i // each)}
    tasks.append(subprocess.Popen(given.command, env={**os.environ, **common, **own}))
sys.exit(max([one.wait() for one in tasks]))
"""


def tool(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    path.chmod(0o755)
    return path


def ran(command, tmp_path, **more):
    clean = {k: v for k, v in environment(**more).items() if not k.startswith(("SLURM", "WORLD", "LOCAL"))}
    clean["STARTED"] = str(tmp_path / "started")
    done = subprocess.run(
        [str(word) for word in command], cwd=ROOT, env=clean, capture_output=True, text=True, timeout=60
    )
    started = tmp_path / "started"
    done.started = started.read_text().splitlines() if started.exists() else []
    done.lines = sorted(line for line in done.stdout.splitlines() if line[:1].isdigit())
    return done


RUN = [sys.executable, "-m", "vistorch", "run"]


@pytest.mark.mpi
def test_mpiexec_on_the_hosts_of_a_file(tmp_path):
    ssh, hosts = tool(tmp_path, "ssh", SSH), tmp_path / "hosts"
    hosts.write_text("node0:1\nnode1:2\n")
    path = program(tmp_path, SHOW)
    done = ran(
        ["mpiexec", "-n", "3", "--hostfile", hosts, *RUN, path],
        tmp_path,
        HYDRA_LAUNCHER="ssh",
        HYDRA_IFACE="lo",
        HYDRA_LAUNCHER_EXEC=str(ssh),
    )
    assert done.returncode == 0, done.stderr
    assert sorted(line.partition(":")[0] for line in done.started) == ["node0", "node1"]
    assert done.lines == [
        "0 3 [6.0, 6.0, 6.0] 0 3 0 1 node0",
        "1 3 [6.0, 6.0, 6.0] 1 3 0 2 node1",
        "2 3 [6.0, 6.0, 6.0] 2 3 1 2 node1",
    ]


@pytest.mark.mpi
def test_srun_without_a_plugin_for_mpi(tmp_path):
    srun = tool(tmp_path, "srun", SRUN.replace("PYTHON", sys.executable))
    path = program(tmp_path, SHOW)
    done = ran([srun, "-n", "2", "--mpi", "none", *RUN, path], tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.started == [str([*RUN, str(path)])]
    assert done.lines == [f"{rank} 2 [3.0, 3.0, 3.0] {rank} 2 {rank} 2 None" for rank in range(2)]


@pytest.mark.mpi
def test_an_mpi_that_does_not_speak_pmix_is_named(tmp_path):
    srun = tool(tmp_path, "srun", SRUN.replace("PYTHON", sys.executable))
    done = ran([srun, "-n", "2", "--mpi", "pmix", *RUN, program(tmp_path, SHOW)], tmp_path)
    assert done.returncode != 0 and not done.lines
    assert done.stderr.count("The ranks were started, but not by this process's MPI") == 2
    assert "srun --mpi=none" in done.stderr


@pytest.mark.mpi
def test_an_mpi_that_sees_itself_alone_is_named(tmp_path):
    """As MPICH does in a job of Open MPI's mpiexec: each rank would train on its own."""
    more = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"}
    done = ran(["env", *(f"{k}={v}" for k, v in more.items()), *RUN, program(tmp_path, SHOW)], tmp_path)
    assert done.returncode != 0 and not done.lines
    assert "2 ranks were started, but not by this process's MPI" in done.stderr


STEP = {
    "SLURM_JOB_ID": "1234",
    "SLURM_STEP_ID": "2",
    "SLURM_PROCID": "5",
    "SLURM_LOCALID": "1",
    "SLURM_NODEID": "2",
    "SLURM_STEP_NUM_TASKS": "7",
    "SLURM_STEP_NODELIST": "gpu[08-10],big1",
    "SLURM_STEP_TASKS_PER_NODE": "2(x3),1",
}


def test_a_task_of_slurm_is_a_rank():
    found = slurm.rank_environment(STEP)
    port = int(found.pop("MASTER_PORT"))
    assert found == {
        "RANK": "5",
        "WORLD_SIZE": "7",
        "LOCAL_RANK": "1",
        "LOCAL_WORLD_SIZE": "2",
        "MASTER_ADDR": "gpu08",
    }
    # the same in all tasks of the step, another in the next
    assert slurm.rank_environment({**STEP, "SLURM_PROCID": "0"})["MASTER_PORT"] == str(port)
    assert slurm.rank_environment({**STEP, "SLURM_STEP_ID": "3"})["MASTER_PORT"] != str(port)
    assert 1024 < port < 32768


def test_one_node_stays_on_the_loopback():
    assert slurm.rank_environment({**STEP, "SLURM_STEP_NODELIST": "gpu08"})["MASTER_ADDR"] == "127.0.0.1"


def test_what_was_said_stays():
    assert slurm.rank_environment({**STEP, "RANK": "3"}) == {}
    found = slurm.rank_environment({**STEP, "MASTER_ADDR": "elsewhere", "MASTER_PORT": "1"})
    assert "MASTER_ADDR" not in found and "MASTER_PORT" not in found
    batch = {k: v for k, v in STEP.items() if k not in ("SLURM_STEP_ID", "SLURM_STEP_NUM_TASKS")}
    assert slurm.rank_environment(batch) == {}, "a batch script is not a task of its step"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("node1", ["node1"]),
        ("a,b", ["a", "b"]),
        ("n[1-3]", ["n1", "n2", "n3"]),
        ("n[08-10,12],x", ["n08", "n09", "n10", "n12", "x"]),
        ("r[0-1]n[1-2]", ["r0n1", "r0n2", "r1n1", "r1n2"]),
        ("a[1]-ib", ["a1-ib"]),
        ("", []),
    ],
)
def test_lists_of_hosts(text, names):
    assert slurm.hosts(text) == names
