"""Programs whose own code walks what they allocated, for scripts/bench placement: one in each language that is here."""
import shutil
import subprocess

from programs import HERE, PYTHON_ENV, PYTHON_JSON

PYTHON_TREE = """
def grow(depth):
    return [grow(depth - 1), grow(depth - 1), depth] if depth else [None, None, 0]
def count(at):
    return at[2] + (count(at[0]) + count(at[1]) if at[0] else 0)
kept = [grow(11) for i in range(20)]
print(sum(count(grow(10 + i % 3)) + count(kept[i % 20]) for i in range(60)))
"""
PYTHON_DICT = """
table = {}
for i in range(250000):
    table["key %d" % (i * 7919 % 100003)] = [i, "name %d" % i]
    if i % 3 == 0:
        table.pop("key %d" % (i * 31 % 100003), None)
total = 0
for turn in range(8):
    for key, value in table.items():
        total += value[0] + len(value[1])
print(total)
"""
LUA = """
local t, total = {}, 0
for i = 1, 300000 do
  t["k" .. (i * 7919 % 100003)] = {i, name = "n" .. i}
  if i % 3 == 0 then t["k" .. (i * 31 % 100003)] = nil end
end
for turn = 1, 8 do for k, v in pairs(t) do total = total + v[1] + #v.name end end
print(total)
"""
PERL = """
my (%t, $total);
for my $i (1 .. 250000) {
    $t{"k" . ($i * 7919 % 100003)} = [$i, "name $i"];
    delete $t{"k" . ($i * 31 % 100003)} if $i % 3 == 0;
}
for my $turn (1 .. 6) { for my $k (keys %t) { $total += $t{$k}[0] + length $t{$k}[1] } }
print "$total\\n";
"""
RUBY = """
words = Hash.new { |hash, key| hash[key] = [] }
150000.times { |i| words["word#{i * 7919 % 5003}"] << "line #{i} of the text that is long enough" }
total = 0
10.times { words.each { |word, lines| lines.each { |line| total += line.getbyte(5) + word.size } } }
puts total
"""
TCL = """
for {set i 0} {$i < 120000} {incr i} {
    dict set t k[expr {$i * 7919 % 50021}] [list $i "name $i"]
    if {$i % 3 == 0} {dict unset t k[expr {$i * 31 % 50021}]}
}
set total 0
for {set turn 0} {$turn < 6} {incr turn} {dict for {k v} $t {incr total [string length [lindex $v 1]]}}
puts $total
"""
SQL = """CREATE TABLE t(a INTEGER PRIMARY KEY, b TEXT, c REAL);
WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 150000)
INSERT INTO t SELECT x, printf('%d-%d', x * 7919 % 100003, x), x * 0.5 FROM n;
CREATE INDEX i ON t(b);
DELETE FROM t WHERE a % 3 = 0;
SELECT count(*), sum(c) FROM t JOIN (SELECT b AS d FROM t WHERE a % 2 = 0) ON b = d;
SELECT a % 1000 AS g, count(*), length(group_concat(b)) FROM t GROUP BY g ORDER BY 2 LIMIT 3;"""
JQ = 'reduce range(60000) as $i ({}; .["k\\($i * 7919 % 20011)"] = [$i, "name \\($i)"]) | [.[] | .[0] + (.[1] | length)] | add'
AWK = """BEGIN { for (i = 0; i < 400000; i++) { t["k" (i * 7919 % 100003)] = "name " i; if (i % 3 == 0) delete t["k" (i * 31 % 100003)] }
for (turn = 0; turn < 6; turn++) for (k in t) total += length(t[k]) + length(k); print total }"""


def loads(workshop, note):
    """(name, command, environment) of all that can run here; what cannot is noted. In this order every other one is fitted on,
    so that neither half has all of a kind."""
    files = {}
    for name, text in (("t.lua", LUA), ("t.pl", PERL), ("t.rb", RUBY), ("t.tcl", TCL)):
        files[name] = workshop.place / name
        files[name].write_text(text)
    known = [
        ("lua", "lua", ["lua", files["t.lua"]], {}),
        ("perl", "perl", ["perl", files["t.pl"]], {"PERL_HASH_SEED": "0"}),
        ("python json", "/usr/bin/python3", ["/usr/bin/python3", "-c", PYTHON_JSON], PYTHON_ENV),
        ("python tree", "/usr/bin/python3", ["/usr/bin/python3", "-c", PYTHON_TREE], PYTHON_ENV),
        ("sqlite3", "sqlite3", ["sqlite3", ":memory:", SQL], {}),
        ("python dict", "/usr/bin/python3", ["/usr/bin/python3", "-c", PYTHON_DICT], PYTHON_ENV),
        ("cc1", "gcc", [None], {}),
        ("ruby", "ruby", ["ruby", files["t.rb"]], {}),
        ("awk", "awk", ["awk", AWK], {}),
        ("tcl", "tclsh", ["tclsh", files["t.tcl"]], {}),
        ("jq", "jq", ["jq", "-n", JQ], {}),
    ]
    for name, needed, command, env in known:
        if not shutil.which(needed):
            note(f"placement: no {needed}: {name} is left out")
            continue
        yield name, workshop.programs()["cc1"][0] if name == "cc1" else command, env
    if not shutil.which("g++"):
        note("placement: no g++: the C++ programs are left out")
        return
    walks = workshop.place / "walks"
    subprocess.run(["g++", "-O2", "-std=c++17", "-o", walks, HERE / "walks.cc"], check=True)
    for kind in ("map", "hash", "list", "tree", "graph", "words"):
        yield f"C++ {kind}", [walks, kind], {}
