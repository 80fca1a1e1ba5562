# A report over a log: every line is split and counted, then only the totals stay while the answer is served.
my (%seen, @kept);
srand 1;
for my $line (1 .. 45_000) {
    my @words = map { 'w' . int(rand(40_000)) } 1 .. 6;
    push @kept, join ' ', @words;
    $seen{$_}{$line} = 1 for @words[0, 1];
}
my %total = map { $_ => scalar keys %{$seen{$_}} } keys %seen;
%seen = ();
@kept = ();
print scalar(keys %total), "\n";
