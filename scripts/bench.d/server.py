"""redis-server under redis-benchmark, on loopback, in memory only; ended over its own connection."""
import json
import shutil
import socket
import subprocess
import time

from programs import environment

TESTS = "set,get,incr,lpush,lpop,sadd,hset,zadd"


def missing_server():
    absent = [name for name in ("redis-server", "redis-benchmark") if not shutil.which(name)]
    return f"no {' and '.join(absent)}: apt-get install redis-server redis-tools" if absent else None


class Server:
    def __init__(self, workshop, requests, depth):
        self.workshop = workshop
        self.each = requests // (TESTS.count(",") + 1)
        self.requests = self.each * (TESTS.count(",") + 1)
        self.depth = depth

    def connect(self, process, port):
        for _ in range(400):
            if process.poll() is not None:
                break
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=60)
            except OSError:
                time.sleep(0.025)
        raise SystemExit("bench: redis-server does not answer")

    def cpu_ns(self, connection):
        """User and system time of all its threads, as the server tells it."""
        connection.sendall(b"INFO cpu\r\n")
        text = connection.recv(65536)
        while b"used_cpu_user_children" not in text:
            text += connection.recv(65536)
        told = dict(line.split(":", 1) for line in text.decode().split("\r\n") if ":" in line)
        return int((float(told["used_cpu_user"]) + float(told["used_cpu_sys"])) * 1e9)

    def once(self, recorder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        result = self.workshop.fresh("measured")
        command = recorder.argv(result, ["redis-server", "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                                         "--dir", self.workshop.place])
        process = subprocess.Popen([str(c) for c in command], env=environment(), stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        connection = self.connect(process, port)
        before_ns = self.cpu_ns(connection)
        start = time.perf_counter()
        subprocess.run(["redis-benchmark", "-h", "127.0.0.1", "-p", str(port), "-q", "--csv", "-t", TESTS, "-n", str(self.each),
                        "-r", "100000", "-d", "100", "-P", str(self.depth)], env=environment(), stdout=subprocess.DEVNULL,
                       check=True)
        wall = time.perf_counter() - start
        cpu_ns = self.cpu_ns(connection) - before_ns
        connection.sendall(b"SHUTDOWN NOSAVE\r\n")
        connection.recv(64)  # ends with the server
        connection.close()
        if process.wait() != 0:
            raise SystemExit("bench: redis-server failed")
        took = json.loads(result.read_text())
        return {**took, **recorder.cost(), "cpu_ns": cpu_ns, "requests_per_s": self.requests / wall}
