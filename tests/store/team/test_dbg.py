import collections

from support.git_server import *
from support.team import *

from store.team.collect import ShareChoice
from store.team.exchange import Team


def test_x(join, remote, tmp_path):
    C = collections.defaultdict(list)
    with http(remote.parent) as s, wire(s.server_port) as cable:
        ana, bob, cleo = join("Ana"), join("Bob"), join("Cleo")
        for n in range(40):
            ana.remember(
                f"Service {n} answers to " + " ".join(f"{(n * 7919 + p * 104729) % 1_000_003:06d}" for p in range(12))
            )
        ana.sync()
        for person in (bob, cleo):
            with Team(person.memory) as team:
                team.choose(ShareChoice(), remote=f"http://127.0.0.1:{cable.port}/remote.git")
        cable.reset()
        cleo.sync()
        whole = cable.received
        print("whole", whole)
        cuts = [
            1,
            50,
            200,
            240,
            258,
            262,
            270,
            276,
            290,
            300,
            350,
            384,
            400,
            409,
            420,
            500,
            600,
            660,
            668,
            690,
            700,
            720,
            730,
            740,
            750,
            800,
            900,
            1000,
            1100,
            1200,
            1300,
            1500,
            whole - 200,
            whole - 60,
            whole - 30,
            whole - 10,
            whole - 3,
            whole - 1,
        ]
        for c in cuts:
            cable.reset(cut_received=c)
            try:
                d = bob.sync()
                C[f"none {d.received} {d.warnings}"].append(c)
            except Exception as e:
                C[str(e)].append(c)
            if bob.view():
                break
    for m, n in C.items():
        print(n, m[:230])
    assert 0
