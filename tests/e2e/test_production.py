"""What scripts/production has for systemd and Kubernetes: systemd itself, first process of a namespace, starts services with the
drop-in and each of the settings that confine services, and every call is recorded; what the Deployment runs is run."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import unittest

import lab

try:
    import yaml
except ImportError:
    yaml = None

PRODUCTION = lab.SOURCE / "scripts" / "production"
SYSTEMD = pathlib.Path("/lib/systemd/systemd")
TURNS = 20_000
CHURN = f"/opt/shim_churn {TURNS}"
SETTINGS = {
    "plain": "",
    "tmp": "PrivateTmp=yes",
    "strict": "ProtectSystem=strict\nProtectHome=yes",
    "devices": "PrivateDevices=yes",
    "execute": "MemoryDenyWriteExecute=yes\nNoNewPrivileges=yes\nLockPersonality=yes",
    "calls": "SystemCallFilter=@system-service\nSystemCallErrorNumber=EPERM",
    "ends": "SystemCallFilter=@system-service",
    "mincore": "SystemCallFilter=@system-service\nSystemCallFilter=mincore",
    "families": "RestrictAddressFamilies=AF_INET AF_INET6",
    "dynamic": "DynamicUser=yes",
    "user": "User=nobody",
    "namespaces": "RestrictNamespaces=yes\nPrivateNetwork=yes\nPrivateUsers=yes\nPrivateIPC=yes",
    "proc": "ProtectProc=invisible\nProcSubset=pid\nProtectKernelTunables=yes",
    "powers": "CapabilityBoundingSet=\nUMask=0077\nRestrictSUIDSGID=yes\nRestrictRealtime=yes",
    "memory": "InaccessiblePaths=/dev/shm",
    "sockets": "RestrictAddressFamilies=none",
    "limits": "LimitNOFILE=64\nLimitCORE=0\nLimitMEMLOCK=0",
    "all": "DynamicUser=yes\nProtectSystem=strict\nProtectHome=yes\nPrivateDevices=yes\nMemoryDenyWriteExecute=yes\n"
           "NoNewPrivileges=yes\nSystemCallFilter=@system-service\nProtectProc=invisible\nPrivateUsers=yes\nUMask=0077\n"
           "RestrictNamespaces=yes\nPrivateNetwork=yes\nCapabilityBoundingSet=\nLockPersonality=yes\nRestrictAddressFamilies=AF_UNIX",
}
BOOT = """
mount --make-rprivate /
umount -R /sys/fs/cgroup; mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t tmpfs tmpfs /run; mkdir /run/units; mount --bind "$1/units" /run/units
mount --bind "$1/opt" /opt; mount --bind "$1/lib" /var/lib
exec env -i PATH=/usr/bin:/bin container=mallab SYSTEMD_UNIT_PATH=/run/units SYSTEMD_LOG_TARGET=console \
    "$2" --system --unit=all.target --show-status=no
"""
NAMESPACES = ["unshare", "-fpmCiu", "--kill-child", "--mount-proc"]


def runs_systemd():
    """Why not; None where it does."""
    if os.geteuid() != 0 or not SYSTEMD.exists() or shutil.which("unshare") is None:
        return "needs root, systemd and unshare"
    tried = subprocess.run([*NAMESPACES, "sh", "-ec", "mount --make-rprivate /; umount -R /sys/fs/cgroup; mount -t cgroup2 c /sys/fs/cgroup;"
                            "mkdir /sys/fs/cgroup/mallab.$$; rmdir /sys/fs/cgroup/mallab.$$"], capture_output=True, check=False)
    return None if tried.returncode == 0 else f"no namespaces or control groups of our own: {tried.stderr.decode().strip()}"


class Systemd(lab.Lab):
    def setUp(self):
        super().setUp()
        for name in ("units", "opt", "lib"):
            (self.place / name).mkdir()
        self.units = self.place / "units"
        for path in ("mallab", "mallab-collect", "libmallab.so", "tests/shim/shim_churn"):
            shutil.copy(lab.BUILD / path, self.place / "opt")
        for name in ("sysinit", "basic", "shutdown"):
            (self.units / f"{name}.target").write_text("[Unit]\nDefaultDependencies=no\n")

    def add(self, name, settings, drop_in, kind="oneshot", command=CHURN):
        (self.units / f"{name}.service").write_text(f"[Service]\nType={kind}\nTimeoutStartSec=infinity\nExecStart={command}\n{settings}\n"
                                                    f"StandardOutput=null\nStandardError=file:/var/lib/{name}.err\n")
        folder = self.units / f"{name}.service.d"
        folder.mkdir()
        (folder / "mallab.conf").write_text(drop_in)

    def boot(self, names):
        """All of them, as systemd starts them; until all that ends has ended, and what serves on has been stopped."""
        names = " ".join(f"{name}.service" for name in names)
        (self.units / "last.service").write_text(f"[Unit]\nAfter={names}\n[Service]\nType=oneshot\nExecStart=/bin/systemctl stop {names}\n"
                                                 "ExecStart=/bin/touch /var/lib/last\n")
        (self.units / "all.target").write_text(f"[Unit]\nWants={names} last.service\n")
        with open(self.place / "log", "w+b") as log:
            manager = subprocess.Popen([*NAMESPACES, "sh", "-ec", BOOT, "sh", self.place, SYSTEMD], stdin=subprocess.DEVNULL,
                                       stdout=log, stderr=log)
            try:
                lab.wait_for(lambda: (self.place / "lib/last").exists() or manager.poll() is not None, "systemd's services")
            finally:
                manager.kill()
                manager.wait()
            log.seek(0)
            self.log = log.read().decode(errors="replace")
        self.assertTrue((self.place / "lib/last").exists(), self.log)

    def drop_in(self, preload=False, command=CHURN):
        text = (PRODUCTION / "systemd.conf").read_text()
        for was, now in (("/usr/bin/mallab ", "/opt/mallab "), ("/usr/sbin/SERVER --ITS-OWN-ARGUMENTS", command)):
            self.assertEqual(text.count(was), 1, was)
            text = text.replace(was, now)
        if preload:
            lines = [line for line in text.splitlines() if not line.startswith("ExecStart") and not line.startswith("    /opt")]
            text = "\n".join(lines).replace("#Environment=LD_PRELOAD=/usr/lib/x86_64-linux-gnu/mallab/", "Environment=LD_PRELOAD=/opt/") \
                .replace("MALLAB_ONLY=SERVER", "MALLAB_ONLY=shim_churn")
            self.assertIn("\nEnvironment=LD_PRELOAD=/opt/libmallab.so ", text)
        return text

    def check(self, name):
        said = (self.place / f"lib/{name}.err").read_text()
        recording = (self.place / f"lib/mallab/{name}/recording").resolve()
        if not recording.exists(): # a dynamic user's, behind an absolute link
            recording = self.place / f"lib/private/mallab/{name}/recording"
        self.assertTrue(recording.exists(), said + self.log)
        info = json.loads(self.mallab("info", "--json", "--trust-owner", str(recording.stat().st_uid), recording).stdout)
        self.assert_whole(info)
        if "SystemCallFilter" not in SETTINGS.get(name, "") or name == "mincore": # else it is a confined process
            ended = [process for process in info["process_list"] if process["end"]["how"] == "exit"] # a signal may come before the first look
            self.assertTrue(ended and all(process.get("rss_peak_bytes") for process in ended), info["process_list"])
        events = sum(process["events"] for process in info["process_list"] if process["name"] == "shim_churn")
        self.assertEqual(events, 2 * TURNS, said)

    @unittest.skipIf(runs_systemd(), runs_systemd())
    def test_settings(self):
        for name, settings in SETTINGS.items():
            self.add(name, settings, self.drop_in())
        self.boot(SETTINGS)
        for name in SETTINGS:
            with self.subTest(settings=name):
                self.check(name)

    @unittest.skipIf(runs_systemd(), runs_systemd())
    def test_preloaded(self):
        """By the environment alone; what the unit runs beside its server leaves no recording."""
        preloaded = {name: SETTINGS[name] for name in ("plain", "strict", "dynamic", "families", "proc")}
        for name, settings in preloaded.items():
            self.add(name, settings + "\nExecStartPost=/bin/sh -c /bin/true", self.drop_in(preload=True))
        self.boot(preloaded)
        for name in preloaded:
            with self.subTest(settings=name):
                self.check(name)

    @unittest.skipIf(runs_systemd(), runs_systemd())
    def test_types(self):
        """A server that tells when it is ready, and one that forks: systemd learns it from them, and stops them at the end."""
        serves = "exec sleep infinity"
        notify = f"/bin/sh -c '{CHURN}; systemd-notify --ready; {serves}'"
        forking = f"/bin/sh -c '{{ {CHURN}; >/var/lib/up; {serves}; }} & echo $$! >/var/lib/pid; until [ -e /var/lib/up ]; do sleep 0.1; done'"
        ready = "ExecStartPost=/bin/touch /var/lib/{0}.ready\nExecStop=/bin/mv /var/lib/{0}.ready /var/lib/{0}.stopped"
        self.add("notify", ready.format("notify"), self.drop_in(command=notify), "notify", notify)
        self.add("forking", ready.format("forking") + "\nPIDFile=/var/lib/pid", self.drop_in(preload=True), "forking", forking)
        self.boot(["notify", "forking"])
        for name in ("notify", "forking"):
            with self.subTest(type=name):
                self.assertTrue((self.place / f"lib/{name}.stopped").exists(), self.log)
                self.check(name)

    @unittest.skipIf(runs_systemd(), runs_systemd())
    def test_what_cannot_be_recorded_runs(self):
        """Where the recorder has no memory or no directory the server runs all the same, and the journal has the reason."""
        drop_in = self.drop_in().replace(CHURN, f"/bin/sh -c '{CHURN} && mkdir $$STATE_DIRECTORY/ran'")
        self.add("addresses", "LimitAS=48M", drop_in)
        self.add("files", "LimitFSIZE=1M", drop_in)
        self.add("elsewhere", "ProtectSystem=strict", drop_in.replace("%S/mallab/%N/recording", "/var/lib/other"))
        self.boot(["addresses", "files", "elsewhere"])
        for name, why in (("addresses", "no shared memory"), ("files", "raise 'ulimit -f'"), ("elsewhere", "Read-only")):
            with self.subTest(settings=name):
                said = (self.place / f"lib/{name}.err").read_text()
                self.assertTrue((self.place / f"lib/mallab/{name}/ran").exists(), said)
                self.assertIn(why, said)
                self.assertIn("as --best-effort asks", said)


@unittest.skipIf(yaml is None, "not installed: python3-yaml")
class Kubernetes(lab.Lab):
    def test_its_commands(self):
        """What the pod runs, in places of our own: the recorder is copied, and records the server."""
        pod = yaml.safe_load((PRODUCTION / "kubernetes.yaml").read_text())["spec"]["template"]["spec"]
        volumes = {volume["name"] for volume in pod["volumes"]}
        for container in pod["initContainers"] + pod["containers"]:
            self.assertLessEqual({mount["name"] for mount in container["volumeMounts"]}, volumes)
        image = self.place / "opt" / "mallab"
        for folder in (image, self.place / "mallab", self.place / "recordings"):
            folder.mkdir(parents=True)
        for name in ("mallab", "mallab-collect", "libmallab.so"):
            shutil.copy(lab.BUILD / name, image)
        copy, record = ([re.sub(r"^/(?=opt/|mallab|recordings)", f"{self.place}/", word) for word in container["command"]]
                        for container in (pod["initContainers"][0], pod["containers"][0]))
        subprocess.run(copy, check=True)
        self.assertEqual(record[-1], "/usr/bin/server")
        result = lab.run([*record[:-1], lab.BUILD / "tests" / "shim" / "shim_churn", TURNS], cwd=self.place)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        self.assert_whole(self.info(self.place / "recordings" / "server"))
