"""Files that ask for far more than they hold, made here: footprints and workloads by docs/format.md, with right checksums."""
import struct
import subprocess

MASK = (1 << 64) - 1
PRIMES = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)


def rotate(value, bits):
    return (value << bits | value >> (64 - bits)) & MASK


def mix(accumulator, value):
    return rotate((accumulator + value * PRIMES[1]) & MASK, 31) * PRIMES[0] & MASK


def xxh64(data):
    """XXH64 with seed 0, as its specification has it."""
    at, length = 0, len(data)
    if length >= 32:
        lanes = [(PRIMES[0] + PRIMES[1]) & MASK, PRIMES[1], 0, -PRIMES[0] & MASK]
        while at + 32 <= length:
            lanes = [mix(lane, value) for lane, value in zip(lanes, struct.unpack_from("<4Q", data, at))]
            at += 32
        total = sum(rotate(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            total = ((total ^ mix(0, lane)) * PRIMES[0] + PRIMES[3]) & MASK
    else:
        total = PRIMES[4]
    total = (total + length) & MASK
    while at + 8 <= length:
        total = (rotate(total ^ mix(0, struct.unpack_from("<Q", data, at)[0]), 27) * PRIMES[0] + PRIMES[3]) & MASK
        at += 8
    if at + 4 <= length:
        total = (rotate(total ^ struct.unpack_from("<I", data, at)[0] * PRIMES[0] & MASK, 23) * PRIMES[1] + PRIMES[2]) & MASK
        at += 4
    for byte in data[at:]:
        total = rotate(total ^ byte * PRIMES[4] & MASK, 11) * PRIMES[0] & MASK
    for shift, prime in ((33, PRIMES[1]), (29, PRIMES[2])):
        total = (total ^ total >> shift) * prime & MASK
    return total ^ total >> 32


def frame(data):
    return subprocess.run(["zstd", "-q", "-c", "--no-check"], input=data, stdout=subprocess.PIPE, check=True).stdout


def packed(data):
    """One zstd frame where that is shorter, else the bytes."""
    if len(data) < 64:
        return data
    made = frame(data)
    return made if len(made) < len(data) else data


def varint(value):
    out = b""
    while value > 0x7f:
        out += bytes((value & 0x7f | 0x80,))
        value >>= 7
    return out + bytes((value,))


def file_header(magic, version, process=1, unit=64):
    head = struct.pack("<8sHHIII24xQ", magic, version, 64, 0, process, unit, 0)[:24]
    head += struct.pack("<Q24x", 0)
    return head + struct.pack("<Q", xxh64(head))


def block(kind, columns, count=0, lane=0, sequence=0, base=0, time=0):
    stored = [packed(column) for column in columns]
    payload = b"".join(struct.pack("<II", len(raw), len(kept)) for raw, kept in zip(columns, stored)) + b"".join(stored)
    head = struct.pack("<IBBHIIIIQQQQ", 0x4b4c424d, kind, 0, len(columns), lane, count, len(payload), 0, sequence, base,
                       time, xxh64(payload))
    return head + struct.pack("<Q", xxh64(head)) + payload


BLOCK_MARKS = 65536


def footprint_of_mallocs(blocks, program=b"program=greedy\n"):
    """A footprint of one thread that makes 65,536 objects of 16 bytes a block, and releases none: some 200 bytes a block."""
    parts = [file_header(b"MALLABFP", 1), block(1, [program + b"clock=tsc\norder=epoch\n"])]
    for number in range(blocks):
        address = (1 << 32) + number * BLOCK_MARKS * 16
        literals = varint(address << 1) + varint(16 << 1) * (BLOCK_MARKS - 1)
        zeroes = bytes(BLOCK_MARKS)
        parts.append(block(2, [bytes((1, 16, 0)), zeroes, b"", zeroes, literals, zeroes, b"\0", b"\0"],
                           count=BLOCK_MARKS, sequence=number, base=1 + number, time=1 + number))
    trailer = b"".join(varint(value) for value in (1 << 20, 6, 0, 0, 0, 0, 0, 0, 1, 1, 1, blocks * BLOCK_MARKS))
    return b"".join(parts) + block(3, [trailer], count=1)


def workload_of_threads(threads):
    """A workload without an op that names so many threads: a kilobyte."""
    facts = b"".join(varint(value) for value in [0] * 11 + [threads, 0, 33] + [0] * 33)
    parts = file_header(b"MALLABWL", 1, process=64, unit=16) + block(1, [b"program=crowd\n"])
    summary = block(17, [facts, bytes(5 * threads), b""], count=threads)
    footer = struct.pack("<8sQ", b"MALLABWE", len(parts))
    return parts + summary + footer + struct.pack("<Q", xxh64(footer))
